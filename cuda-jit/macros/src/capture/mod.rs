//! One walk over a body that produces the captured syntax and the typing probe, whose witnesses unify with rustc's types.
//!
//! The walk numbers bindings, constants, callees and cast types as it visits them. The captured syntax has the numbers, the
//! typing probe the witnesses of the same numbers. The typing probe is the body itself, mutated in place: its tokens keep
//! their spans, so that rustc deduplicates the probe's errors with those of the function. Scopes are tracked only as far as
//! needed to distinguish local names from items. Syntax outside the grammar becomes a spanned error with a hint.
//!
//! The walk is the methods of [`Capture`], one file for each part of the language. Its state is split by task: [`Scopes`]
//! resolves names, [`Queries`] numbers the queries to rustc, [`Imports`] has the names that the typing probe uses,
//! [`Preceding`] its statements, [`NameProbe`] resolves names that their spellings do not tell apart, [`Errors`] collects
//! errors.

mod assign;
mod attributes;
mod call;
mod callee;
mod closure;
mod errors;
mod expr;
mod habits;
mod imports;
mod iterate;
mod methods;
mod panics;
mod pattern;
mod queries;
mod resolution;
mod scopes;
mod single_expansion;
mod slicing;
mod span;
mod std_traits;
mod stmt;
mod typed;
mod witnesses;

use cuda_jit_syntax::owned as s;
use proc_macro2::Span;
use syn::{Block, ExprClosure, Ident, Lifetime, Pat, PatType, Stmt};

pub(crate) use call::PRIMITIVES;
pub(crate) use callee::hidden;
pub(crate) use imports::{Imports, named_alone};
pub(crate) use methods::{device_methods, host_methods};
pub(crate) use queries::Queries;
pub(crate) use resolution::Answers;
pub(crate) use scopes::{BindingInfo, BindingKind};
pub(crate) use single_expansion::{is_run, is_single_expansion};
pub(crate) use witnesses::{declared, unreachable_block, witness};

use crate::checked;
use crate::signature::Signature;
use errors::Errors;
use resolution::NameProbe;
use scopes::Scopes;
use witnesses::Preceding;

/// A captured body.
pub(crate) struct Captured {
    /// The bindings in order.
    pub(crate) bindings: Vec<BindingInfo>,
    /// The parameters' patterns, as captured syntax.
    pub(crate) params: Vec<s::Pattern>,
    /// The body, as captured syntax.
    pub(crate) body: s::Block,
    /// The body with witnesses, for the typing probe.
    pub(crate) probe: Block,
    /// The resolution of names, if rustc is queried for it.
    pub(crate) answers: Option<Answers>,
    /// The typing probe's queries.
    pub(crate) queries: Queries,
    /// The names by which the typing probe calls.
    pub(crate) imports: Imports,
    /// True for a method of the device library.
    pub(crate) library: bool,
}

/// The walk, and the state that it has collected so far.
#[derive(Default)]
pub(crate) struct Capture {
    scopes: Scopes,
    queries: Queries,
    imports: Imports,
    preceding: Preceding,
    names: NameProbe,
    errors: Errors,
    /// True if a value of the body may contain a closure, so that any argument of a call may be one.
    holds_closures: bool,
    /// True if the probe boxes closures that are values.
    boxes: bool,
    /// True if the captured function returns nothing.
    returns_nothing: bool,
}

/// Captures `body`; all errors are collected before it fails.
pub(crate) fn capture(signature: &Signature, mut body: Block) -> syn::Result<Captured> {
    let globs = attributes::remove(&mut body)?;
    let names = NameProbe::new(globs || !signature.single_expansion);
    let imports = Imports::new(checked::sees_copy_errors(signature), checked::type_params(signature));
    let boxes = signature.boxes_closures();
    let holds_closures = boxes && signature.holds_closures();
    let returns_nothing = signature.returns_nothing();
    let mut walk = Capture { names, imports, boxes, holds_closures, returns_nothing, ..Capture::default() };
    let params = (0..).zip(&signature.params).map(|(index, param)| walk.param(signature, index, param)).collect();
    crate::signature::forget_lifetimes(&mut body, &signature.lifetimes);
    // that such a body lacks its value is said of the function as written
    let ends = matches!(body.stmts.last(), None | Some(Stmt::Local(_) | Stmt::Expr(_, Some(_))));
    let captured = walk.block(&mut body);
    if ends && !returns_nothing {
        body.stmts.push(syn::parse_quote!(loop {}));
    }
    Ok(walk.finish(signature.params.len(), params, captured, body)?.0)
}

/// Captures a closure of the host as a function that takes the captured names and returns the closure. Also returns those
/// names with their bindings.
pub(crate) fn capture_closure(
    mut closure: ExprClosure,
    single_expansion: bool,
) -> syn::Result<(Captured, Vec<(Ident, u32)>)> {
    let asks = attributes::remove_in_closure(&mut closure)? || !single_expansion;
    let (names, scopes) = (NameProbe::new(asks), Scopes::of_launched_closure(asks));
    let mut walk = Capture { names, scopes, boxes: true, ..Capture::default() };
    let span = closure.or1_token.span;
    let captured = node(span, s::ExprKind::Closure(Box::new(walk.closure(&mut closure))));
    let body = s::Block { stmts: Vec::new(), tail: Some(Box::new(captured)) };
    let all = walk.scopes.bindings().len();
    let (mut captured, captured_names) = walk.finish(all, Vec::new(), body, syn::parse_quote!({ #closure }))?;
    captured.params = captured_names.iter().map(|(_, number)| s::Pattern::Bind(*number)).collect();
    Ok((captured, captured_names))
}

impl Capture {
    /// The result of the walk, and the host variables that a launch's closure captures, or all errors. The types of the
    /// first `all` bindings are numbered whatever their kind.
    fn finish(
        self,
        all: usize,
        params: Vec<s::Pattern>,
        body: s::Block,
        probe: Block,
    ) -> syn::Result<(Captured, Vec<(Ident, u32)>)> {
        let Capture { mut scopes, queries, imports, names, errors, .. } = self;
        errors.finish()?;
        scopes.number_types(all);
        let answers = names.answers(scopes.bindings());
        let (bindings, captured_names) = scopes.into_bindings();
        Ok((Captured { bindings, params, body, probe, answers, queries, imports, library: false }, captured_names))
    }

    /// The binding of a host variable, if a launch's closure is captured.
    fn capture_host_variable(&mut self, ident: &Ident) -> Option<u32> {
        let number = self.scopes.capture_host_variable(ident)?;
        if ident == "self" {
            self.refuse(ident.span(), "bind what the closure needs of `self` to a name of its own: `let k = self.k;`");
        }
        Some(number)
    }

    /// Records an error and returns a harmless expression, so that the walk can continue.
    fn refuse(&mut self, span: Span, message: impl std::fmt::Display) -> s::Expr {
        self.errors.refuse(span, message);
        nothing()
    }

    /// Adds a parameter's binding; its pattern is a plain name.
    fn param(&mut self, signature: &Signature, index: usize, param: &PatType) -> s::Pattern {
        let Pat::Ident(pat) = &*param.pat else { return s::Pattern::Wild };
        let kind = match signature.is_closure(&signature.static_types[index]) {
            true => BindingKind::Closure,
            false => BindingKind::Param(index),
        };
        let number = self.declare(&pat.ident, pat.mutability.is_some(), kind, false);
        s::Pattern::Bind(number)
    }

    /// Adds a binding and brings it into scope; in a refutable pattern the name may resolve to a constant.
    fn declare(&mut self, ident: &Ident, mutable: bool, kind: BindingKind, refutable: bool) -> u32 {
        let number = self.scopes.declare(ident, mutable, kind);
        self.names.declare(number, ident, refutable);
        number
    }

    /// The innermost binding with a name's spelling.
    fn lookup(&self, ident: &Ident) -> Option<u32> {
        self.scopes.lookup(ident)
    }

    /// Runs `walk` in a scope of its own.
    fn scoped<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.enter();
        self.names.enter();
        let result = walk(self);
        self.names.leave(None);
        self.scopes.leave();
        result
    }

    /// Runs `walk` within a loop or labelled block, and also returns its number.
    fn labelled<T>(&mut self, label: Option<&Lifetime>, is_loop: bool, walk: impl FnOnce(&mut Self) -> T) -> (u32, T) {
        let number = self.scopes.enter_label(label, is_loop);
        self.names.enter();
        let result = walk(self);
        self.names.leave(label.map(|label| (label, number)));
        self.scopes.leave_label();
        (number, result)
    }
}

/// The placeholder for a refused expression.
fn nothing() -> s::Expr {
    s::Expr(s::Pos(0, 0), s::ExprKind::Tuple(Vec::new()))
}

/// `Pos(line, column)` of a span.
pub(crate) fn pos(span: Span) -> s::Pos {
    let start = span.start();
    let (line, column) = (start.line as u32, start.column as u32 + 1);
    s::Pos(line, column)
}

/// An expression node at a span.
fn node(span: Span, kind: s::ExprKind) -> s::Expr {
    s::Expr(pos(span), kind)
}
