//! One walk over a body that yields two things: the captured syntax, and the typing probe whose witnesses see rustc's types.
//!
//! The walk numbers bindings, constants, callees and cast types as it meets them; the captured syntax holds the
//! numbers, the typing probe the witnesses of the same numbers. The typing probe is the body itself, mutated in place: tokens keep
//! their spans, so that rustc merges the typing probe's errors with the original's. Scopes are tracked only far enough to tell a local name from an item's; what is
//! outside the grammar becomes a spanned error with a hint.
//!
//! The walk is [`Capture`]'s methods, one file for each part of the language. Its state is apart, by task: [`Scopes`] for what
//! names mean, [`Questions`] for what rustc is asked, [`Imports`] for the names of the typing probe, [`Preceding`] for its statements,
//! [`NameProbe`] for names that spellings do not tell apart, [`Errors`].

mod assign;
mod attributes;
mod call;
mod callee;
mod closure;
mod errors;
mod expr;
mod imports;
mod iterate;
mod methods;
mod one_place;
mod panics;
mod pattern;
mod questions;
mod resolution;
mod scopes;
mod slicing;
mod span;
mod stmt;
mod typed;
mod witnesses;

use cuda_jit_syntax::owned as s;
use proc_macro2::Span;
use syn::{Block, ExprClosure, Ident, Lifetime, Pat, PatType};

pub(crate) use call::PRIMITIVES;
pub(crate) use callee::hidden;
pub(crate) use imports::{Imports, named_alone};
pub(crate) use methods::{device_methods, host_methods};
pub(crate) use one_place::{is_in_one_place, is_run};
pub(crate) use questions::Questions;
pub(crate) use resolution::Answers;
pub(crate) use scopes::{BindingInfo, BindingKind};
pub(crate) use witnesses::{declared, unreached, witness};

use crate::checked;
use crate::signature::Signature;
use errors::Errors;
use resolution::NameProbe;
use scopes::Scopes;
use witnesses::Preceding;

/// A body, captured.
pub(crate) struct Captured {
    /// The bindings in order.
    pub(crate) bindings: Vec<BindingInfo>,
    /// The parameters' patterns, as captured syntax.
    pub(crate) params: Vec<s::Pattern>,
    /// The body, as captured syntax.
    pub(crate) body: s::Block,
    /// The body with witnesses, for the typing probe.
    pub(crate) probe: Block,
    /// The meaning of names, where rustc is asked.
    pub(crate) answers: Option<Answers>,
    /// The typing probe's questions.
    pub(crate) questions: Questions,
    /// The names that the typing probe calls by.
    pub(crate) imports: Imports,
    /// True for a method of the device library.
    pub(crate) library: bool,
}

/// The walk, and what it has collected so far.
#[derive(Default)]
pub(crate) struct Capture {
    scopes: Scopes,
    questions: Questions,
    imports: Imports,
    preceding: Preceding,
    names: NameProbe,
    errors: Errors,
    /// True if a value of the body may hold a closure, so that any argument of a call may be one.
    holds_closures: bool,
    /// True if the probe boxes the closures that are values.
    boxes: bool,
}

/// Captures `body`; all errors are collected before it gives up.
pub(crate) fn capture(signature: &Signature, mut body: Block) -> syn::Result<Captured> {
    let globs = attributes::remove(&mut body)?;
    let names = NameProbe::new(globs || !signature.in_one_place);
    let imports = Imports::new(checked::is_told(signature));
    let boxes = signature.boxes_closures();
    let holds_closures = boxes && signature.holds_closures();
    let mut walk = Capture { names, imports, boxes, holds_closures, ..Capture::default() };
    let params = (0..).zip(&signature.params).map(|(index, param)| walk.param(signature, index, param)).collect();
    crate::signature::forget_lifetimes(&mut body, &signature.lifetimes);
    let captured = walk.block(&mut body);
    Ok(walk.finish(signature.params.len(), params, captured, body)?.0)
}

/// Captures a closure of the host's as a function of the names that it captures, which yields the closure; and tells
/// those names and their bindings.
pub(crate) fn capture_closure(
    mut closure: ExprClosure,
    in_one_place: bool,
) -> syn::Result<(Captured, Vec<(Ident, u32)>)> {
    let asks = attributes::remove_in_closure(&mut closure)? || !in_one_place;
    let (names, scopes) = (NameProbe::new(asks), Scopes::of_launched(asks));
    let mut walk = Capture { names, scopes, boxes: true, ..Capture::default() };
    let span = closure.or1_token.span;
    let captured = node(span, s::ExprKind::Closure(Box::new(walk.closure(&mut closure))));
    let body = s::Block { stmts: Vec::new(), tail: Some(Box::new(captured)) };
    let all = walk.scopes.bindings().len();
    let (mut captured, carried) = walk.finish(all, Vec::new(), body, syn::parse_quote!({ #closure }))?;
    captured.params = carried.iter().map(|(_, number)| s::Pattern::Bind(*number)).collect();
    Ok((captured, carried))
}

impl Capture {
    /// The result of the walk, with the types of the first so many bindings numbered whatever they are; and the names of the
    /// host's that a launch's closure captures. Or all errors.
    fn finish(
        self,
        all: usize,
        params: Vec<s::Pattern>,
        body: s::Block,
        probe: Block,
    ) -> syn::Result<(Captured, Vec<(Ident, u32)>)> {
        let Capture { mut scopes, questions, imports, names, errors, .. } = self;
        errors.finish()?;
        scopes.number_types(all);
        let answers = names.answers(scopes.bindings());
        let (bindings, carried) = scopes.into_bindings();
        Ok((Captured { bindings, params, body, probe, answers, questions, imports, library: false }, carried))
    }

    /// The binding of a name of the host's, where a launch's closure captures such.
    fn carry(&mut self, ident: &Ident) -> Option<u32> {
        let number = self.scopes.carry(ident)?;
        if ident == "self" {
            self.refuse(ident.span(), "bind what the closure needs of `self` to a name of its own: `let k = self.k;`");
        }
        Some(number)
    }

    /// Records an error and yields a harmless expression, so that the walk can go on.
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

    /// Adds a binding and brings it into scope; in a refutable pattern it may turn out to be a constant.
    fn declare(&mut self, ident: &Ident, mutable: bool, kind: BindingKind, refutable: bool) -> u32 {
        let number = self.scopes.declare(ident, mutable, kind);
        self.names.declare(number, ident, refutable);
        number
    }

    /// The innermost binding of a name's spelling.
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

    /// Runs `walk` within a loop, or a block with a label, and yields its number too.
    fn labelled<T>(&mut self, label: Option<&Lifetime>, is_loop: bool, walk: impl FnOnce(&mut Self) -> T) -> (u32, T) {
        let number = self.scopes.enter_label(label, is_loop);
        self.names.enter();
        let result = walk(self);
        self.names.leave(label.map(|label| (label, number)));
        self.scopes.leave_label();
        (number, result)
    }
}

/// What stands for what is refused.
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
