//! Closures: bound to a name, or passed to a device function. The compiler inlines them where they are called.

use cuda_jit_syntax::owned as s;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, Ident, Macro, Pat, PatIdent, Stmt, UnOp};

use super::expr::repeats;
use super::pattern::is_constant;
use super::witnesses::{after, named};
use super::{BindingKind, Capture, node, nothing, span::begin};

/// The hint for a variable that all threads would write.
pub(super) const SHARED: &str = "threads share elements of a `&mut [T]` parameter, written with `atomic_add` and its kin where several do, \
                      and the host updates a `Constant<T>`";

impl Capture {
    /// `let name = |params| body;`
    pub(super) fn named_closure(&mut self, pat: &PatIdent, closure: &mut ExprClosure) -> s::Stmt {
        let captured = self.closure(closure);
        let number = self.declare(&pat.ident, pat.mutability.is_some(), BindingKind::Closure, false);
        s::Stmt::Closure(number, Box::new(captured))
    }

    /// `let name = other;`, where `other` names a closure.
    pub(super) fn renamed_closure(&mut self, pattern: &Pat, init: &mut Expr) -> Option<s::Stmt> {
        self.names_closure(init)?;
        let Pat::Ident(pat @ PatIdent { by_ref: None, subpat: None, .. }) = pattern else { return None };
        let closure = self.argument(init);
        let number = self.declare(&pat.ident, pat.mutability.is_some(), BindingKind::Closure, false);
        Some(s::Stmt::Let(s::Pattern::Bind(number), Some(Box::new(closure)), None))
    }

    /// An argument of a device function: a closure, or a value.
    pub(super) fn argument(&mut self, arg: &mut Expr) -> s::Expr {
        let span = begin(arg);
        match arg {
            Expr::Closure(closure) => {
                let closure = self.closure(closure);
                node(span, s::ExprKind::Closure(Box::new(closure)))
            }
            Expr::Reference(reference) if self.is_closure_place(&reference.expr) => {
                let closure = self.argument(&mut reference.expr);
                node(span, s::ExprKind::Reborrow(Box::new(closure), reference.mutability.is_some()))
            }
            Expr::Unary(unary) if self.is_closure_place(&unary.expr) && matches!(unary.op, UnOp::Deref(_)) => {
                let closure = self.argument(&mut unary.expr);
                node(span, s::ExprKind::Deref(Box::new(closure)))
            }
            _ => match (self.names_closure(arg), arg) {
                (Some(number), Expr::Path(path)) => self.binding(span, path, number),
                (_, arg) => self.expr(arg),
            },
        }
    }

    /// The value of a struct's field: a value, or a closure whose result type is queried, since the context does not fix
    /// it.
    pub(super) fn field_value(&mut self, value: &mut Expr) -> s::Expr {
        let span = begin(value);
        match value {
            Expr::Closure(closure) => {
                let closure = self.queried_closure(closure);
                self.holds_closures = true;
                node(span, s::ExprKind::Closure(Box::new(closure)))
            }
            _ if self.boxes => self.expr(value),
            _ => self.argument(value),
        }
    }

    /// Returns true if an argument is a closure expression or the name of a closure.
    pub(super) fn is_closure(&mut self, arg: &Expr) -> bool {
        match arg {
            Expr::Closure(_) => true,
            Expr::Reference(reference) => self.is_closure_place(&reference.expr),
            _ => self.names_closure(arg).is_some(),
        }
    }

    /// Returns true for the name of a closure, or a dereference of a reference to one.
    fn is_closure_place(&self, place: &Expr) -> bool {
        match place {
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.is_closure_place(&unary.expr),
            place => self.names_closure(place).is_some(),
        }
    }

    /// In the typing probe: boxes a closure, so that it has a type for which this crate can implement traits.
    pub(super) fn boxed(&mut self, closure: &mut Expr) {
        if !self.boxes {
            return;
        }
        let span = begin(closure);
        *closure = Expr::Verbatim(quote_spanned!(span => __cuda_jit_boxed(#closure)));
        self.holds_closures = true;
    }

    /// A closure expression in the position of a value.
    pub(super) fn closure_value(&mut self, expr: &mut Expr) -> s::Expr {
        let span = begin(expr);
        let Expr::Closure(closure) = expr else { return nothing() };
        let captured = self.queried_closure(closure);
        self.boxed(expr);
        node(span, s::ExprKind::Closure(Box::new(captured)))
    }

    /// The binding that an expression names, if it is a closure's.
    pub(super) fn names_closure(&self, expr: &Expr) -> Option<u32> {
        let Expr::Path(path) = expr else { return None };
        let number = self.lookup(path.path.get_ident()?)?;
        (self.scopes.binding(number).kind == BindingKind::Closure).then_some(number)
    }

    /// Refuses an assignment to a place that a launch's closure captures, or to an item.
    pub(super) fn refuse_assigned(&mut self, place: &Expr) {
        match root(place) {
            Some(name) if is_constant(name) && self.lookup(name).is_none() => {
                self.errors.refuse_item(name, format!("`{name}` cannot be written; {SHARED}"));
            }
            _ => self.refuse_captured(place),
        }
    }

    /// Refuses an expression that would write a place that a launch's closure captures.
    pub(super) fn refuse_captured(&mut self, place: &Expr) {
        if self.scopes.is_launched()
            && let Some(name) = root(place)
            && let Some(number) = self.lookup(name).or_else(|| self.capture_host_variable(name))
            && self.scopes.binding(number).kind == BindingKind::HostCapture
        {
            let hint = format!(
                "`{name}` is captured, and a launch's closure only reads what it captures; what it writes it returns, or \
                 takes as a parameter: `|out: &mut [f32], i: usize| ..`"
            );
            self.refuse(name.span(), hint);
        }
    }

    /// Refuses an `unsafe` block that only reads an item, which must be a `static mut`. rustc refuses other reads of one,
    /// since they need `unsafe`.
    pub(super) fn refuse_static(&mut self, block: &syn::Block) {
        if let [syn::Stmt::Expr(Expr::Path(path), _)] = &block.stmts[..]
            && let Some(last) = path.path.segments.last()
            && is_constant(&last.ident)
            && path.path.get_ident().is_none_or(|name| self.lookup(name).is_none())
        {
            let name = &last.ident;
            let hint =
                format!("kernels cannot read the `static mut` `{name}`, and a constant needs no `unsafe`; {SHARED}");
            self.errors.refuse_item(&last.ident, hint);
        }
    }

    pub(super) fn closure(&mut self, closure: &mut ExprClosure) -> s::Closure {
        self.captured(closure, false)
    }

    /// A closure whose result type is queried, since the context does not fix it.
    pub(super) fn queried_closure(&mut self, closure: &mut ExprClosure) -> s::Closure {
        self.captured(closure, true)
    }

    /// A closure; its result type is also queried if it has a `return`, or if its result holds the array of a `[e; N]`, whose
    /// length nothing else tells.
    fn captured(&mut self, closure: &mut ExprClosure, ask: bool) -> s::Closure {
        if let Some(token) = &closure.asyncness {
            self.refuse(token.span(), "closures in kernels cannot be `async`");
        }
        self.scopes.enter_closure(closure.capture.is_some());
        // a body that diverges has the type that its context expects
        let asks = (ask || repeats(&closure.body)) && !diverges(&closure.body);
        let (params, body, probe) = self.scoped(|walk| {
            let mut witnesses = Vec::new();
            let params: Vec<_> = closure.inputs.iter().map(|pat| walk.pattern(pat, &mut witnesses)).collect();
            let (body, before) = walk.with_preceding(|walk| walk.expr(&mut closure.body));
            witnesses.extend(before);
            (params, body, after(witnesses, &closure.body))
        });
        let ((returns, moved), span) = (self.scopes.leave_closure(), closure.or1_token.span());
        let result = (asks || returns).then(|| self.queries.named(span));
        // `return` tells the result type: a value before the body would be typed without its context
        let witness = result.map(|number| named(number, span)).into_iter();
        // the block begins where the body does, so that an error about the closure is identical to the one in the function
        let begins = begin(&closure.body);
        *closure.body = Expr::Verbatim(
            quote_spanned!(begins => { loop {} #(return __cuda_jit_closure_result(#witness);)* #probe }),
        );
        s::Closure { params, body: Box::new(body), moved, result }
    }
}

/// Returns true if an expression is a panic.
fn diverges(expr: &Expr) -> bool {
    match expr {
        Expr::Macro(call) => is_panic(&call.mac),
        Expr::Block(block) => match block.block.stmts.last() {
            Some(Stmt::Expr(last, _)) => diverges(last),
            Some(Stmt::Macro(call)) => is_panic(&call.mac),
            _ => false,
        },
        _ => false,
    }
}

fn is_panic(call: &Macro) -> bool {
    let panics = |name: &Ident| ["panic", "unreachable", "todo", "unimplemented"].iter().any(|known| name == known);
    call.path.segments.last().is_some_and(|last| panics(&last.ident))
}

/// The variable at the root of a place expression.
fn root(place: &Expr) -> Option<&Ident> {
    match place {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Index(index) => root(&index.expr),
        Expr::Field(field) => root(&field.base),
        Expr::Paren(inner) => root(&inner.expr),
        Expr::Unary(unary) => root(&unary.expr),
        _ => None,
    }
}
