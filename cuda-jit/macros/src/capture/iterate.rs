//! Iterators: what makes them, what adapts them, and what drives them to their end.
//!
//! They are told by their form: a range, or a method that makes an iterator, and then methods of iterators. rustc types
//! the chain as it stands, in the twin too; it is asked for what a consumer yields and what each closure does.

use cuda_jit_syntax::owned as s;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, ExprMethodCall, ExprRange, Pat, RangeLimits};

use super::call::method_by_path;
use super::{BindingKind, Capture, node, nothing, span::begin};

/// What a method of iterators takes.
#[derive(Clone, Copy)]
enum Arg {
    /// A number.
    Number,
    /// A value.
    Value,
    /// A closure, a device function, or a primitive's method.
    Function,
    /// Something to iterate over.
    Items,
    /// ndarray's `Axis`, by a constant.
    Axis,
}

/// Methods that make an iterator of what holds items.
const SOURCES: &[(&str, &[Arg])] = &[
    ("iter", &[]),
    ("iter_mut", &[]),
    ("into_iter", &[]),
    ("chunks", &[Arg::Number]),
    ("chunks_mut", &[Arg::Number]),
    ("chunks_exact", &[Arg::Number]),
    ("chunks_exact_mut", &[Arg::Number]),
    ("windows", &[Arg::Number]),
    ("indexed_iter", &[]),
    ("outer_iter", &[]),
    ("outer_iter_mut", &[]),
    ("axis_iter", &[Arg::Axis]),
    ("axis_iter_mut", &[Arg::Axis]),
];

/// Methods that make what `for` and `into_iter` take, and is no iterator yet.
const LANES: &[&str] = &["rows", "rows_mut", "columns", "columns_mut"];

/// Methods that make an iterator of another.
const ADAPTORS: &[(&str, &[Arg])] = &[
    ("by_ref", &[]),
    ("chain", &[Arg::Items]),
    ("cloned", &[]),
    ("copied", &[]),
    ("enumerate", &[]),
    ("filter", &[Arg::Function]),
    ("filter_map", &[Arg::Function]),
    ("fuse", &[]),
    ("inspect", &[Arg::Function]),
    ("map", &[Arg::Function]),
    ("map_while", &[Arg::Function]),
    ("rev", &[]),
    ("scan", &[Arg::Value, Arg::Function]),
    ("skip", &[Arg::Number]),
    ("skip_while", &[Arg::Function]),
    ("step_by", &[Arg::Number]),
    ("take", &[Arg::Number]),
    ("take_while", &[Arg::Function]),
    ("zip", &[Arg::Items]),
];

/// Methods that take an iterator's items.
const CONSUMERS: &[(&str, &[Arg])] = &[
    ("all", &[Arg::Function]),
    ("any", &[Arg::Function]),
    ("count", &[]),
    ("find", &[Arg::Function]),
    ("find_map", &[Arg::Function]),
    ("fold", &[Arg::Value, Arg::Function]),
    ("for_each", &[Arg::Function]),
    ("last", &[]),
    ("max", &[]),
    ("max_by", &[Arg::Function]),
    ("max_by_key", &[Arg::Function]),
    ("min", &[]),
    ("min_by", &[Arg::Function]),
    ("min_by_key", &[Arg::Function]),
    ("next", &[]),
    ("nth", &[Arg::Number]),
    ("position", &[Arg::Function]),
    ("product", &[]),
    ("reduce", &[Arg::Function]),
    ("sum", &[]),
];

/// Adaptors whose items are the same as before: what `for` binds then tells a range's type.
const SAME_ITEMS: &[&str] = &["rev", "step_by", "skip", "take", "fuse", "by_ref"];

impl Capture {
    /// `for pattern in source { .. }`
    pub(super) fn for_loop(&mut self, looped: &mut ExprForLoop) -> s::Expr {
        let span = looped.label.as_ref().map_or(looped.for_token.span(), |label| label.name.span());
        let told = matches!(*looped.pat, Pat::Ident(_)) && is_numbers(&looped.expr);
        let source = self.items(&mut looped.expr, !told);
        let (number, (pattern, body)) = self.labelled(looped.label.as_ref(), true, |walk| {
            walk.scoped(|walk| {
                let mut observers = Vec::new();
                let pattern = walk.pattern(&looped.pat, &mut observers);
                (pattern, walk.block_after(&mut looped.body, observers))
            })
        });
        node(span, s::ExprKind::For(number, pattern, Box::new(source), body))
    }

    /// Whether an expression is an iterator, by its form.
    pub(super) fn is_iterator(&mut self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(paren) => self.is_iterator(&paren.expr),
            Expr::Group(group) => self.is_iterator(&group.expr),
            Expr::Range(range) => range.start.is_some(),
            Expr::Path(path) => path
                .path
                .get_ident()
                .and_then(|ident| self.lookup(ident))
                .is_some_and(|number| self.bindings[number as usize].kind == BindingKind::Iterator),
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                known(SOURCES, &name).is_some() || known(ADAPTORS, &name).is_some() && self.is_iterator(&call.receiver)
            }
            _ => false,
        }
    }

    /// Returns true if the items of an iterator come out of closures, and an adaptor behind these leaves some out: from
    /// the back, the standard library calls the closures for those too. `cut` says that an adaptor outside does.
    pub(super) fn is_cut_behind_calls(&mut self, expr: &Expr, cut: bool) -> bool {
        match expr {
            Expr::Paren(inner) => self.is_cut_behind_calls(&inner.expr, cut),
            Expr::Group(inner) => self.is_cut_behind_calls(&inner.expr, cut),
            Expr::Path(path) => {
                let number = path.path.get_ident().and_then(|ident| self.lookup(ident));
                cut && number.is_some_and(|number| self.bindings[number as usize].calls)
            }
            Expr::MethodCall(call) => {
                let calls = call.args.iter().any(|arg| self.names_function(arg));
                let cuts = ["step_by", "take", "zip"].iter().any(|name| call.method == name);
                cut && calls
                    || self.is_cut_behind_calls(&call.receiver, cut || cuts)
                    || call.args.iter().any(|arg| cuts && self.is_cut_behind_calls(arg, true))
            }
            _ => false,
        }
    }

    /// What a loop runs over, or an adaptor takes beside its own: an iterator, or what one is made of.
    fn items(&mut self, expr: &mut Expr, ask: bool) -> s::Expr {
        if self.is_iterator(expr) {
            return self.iterator(expr, ask);
        }
        match expr {
            Expr::MethodCall(call) if LANES.iter().any(|lanes| call.method == lanes) && call.args.is_empty() => {
                let of = self.expr(&mut call.receiver);
                node(begin(&call.receiver), s::ExprKind::Iterate(call.method.to_string(), Box::new(of), Vec::new()))
            }
            Expr::MethodCall(call) if self.is_iterator(&call.receiver) => {
                self.refuse(call.method.span(), unknown(&call.method.to_string()))
            }
            _ => self.typed(expr),
        }
    }

    /// An expression that is an iterator; if `ask`, rustc is asked for the type of a range's numbers.
    pub(super) fn iterator(&mut self, expr: &mut Expr, ask: bool) -> s::Expr {
        let span = begin(expr);
        match expr {
            Expr::Paren(paren) => self.iterator(&mut paren.expr, ask),
            Expr::Group(group) => self.iterator(&mut group.expr, ask),
            Expr::Range(range) => self.range(range, ask),
            Expr::Path(path) => {
                let number = path.path.get_ident().and_then(|ident| self.lookup(ident)).unwrap_or_default();
                self.binding(span, path, number)
            }
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                if name == "rev" && self.is_cut_behind_calls(&call.receiver, false) {
                    return self.refuse(call.method.span(), CUT_BEHIND_CALLS);
                }
                let (of, args) = match (known(SOURCES, &name), known(ADAPTORS, &name)) {
                    (_, Some(args)) => (self.iterator(&mut call.receiver, ask), args),
                    // an iterator is its own
                    (_, None) if name == "into_iter" && self.is_iterator(&call.receiver) => {
                        return self.iterator(&mut call.receiver, ask);
                    }
                    (Some(args), None) if name == "into_iter" => (self.items(&mut call.receiver, ask), args),
                    (Some(args), None) => (self.typed(&mut call.receiver), args),
                    (None, None) => return self.refuse(call.method.span(), unknown(&name)),
                };
                let args = self.iterator_args(call, args);
                node(span, s::ExprKind::Iterate(name, Box::new(of), args))
            }
            _ => nothing(),
        }
    }

    /// A range as an iterator.
    fn range(&mut self, range: &mut ExprRange, ask: bool) -> s::Expr {
        let inclusive = matches!(range.limits, RangeLimits::Closed(_));
        let Some(first) = range.start.as_mut() else { return nothing() };
        let span = begin(first);
        if !matches!(**first, Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(_), .. })) {
            self.say(quote_spanned!(span => __cuda_jit_range(&(#first));));
        }
        let start = Box::new(self.expr(first));
        let end = range.end.as_mut().map(|end| Box::new(self.expr(end)));
        let ty = ask.then(|| self.observe(first, None));
        node(span, s::ExprKind::Range(start, end, inclusive, ty))
    }

    /// A method of an iterator that takes its items, if this is one.
    pub(super) fn consumer(&mut self, expr: &mut Expr) -> Option<s::Expr> {
        let span = begin(expr);
        let Expr::MethodCall(call) = &mut *expr else { return None };
        if !self.is_iterator(&call.receiver) {
            return None;
        }
        let name = call.method.to_string();
        let Some(args) = known(CONSUMERS, &name) else {
            return Some(self.refuse(call.method.span(), unknown(&name)));
        };
        let of = self.iterator(&mut call.receiver, true);
        let args = self.iterator_args(call, args);
        let number = self.observe(expr, None);
        Some(node(span, s::ExprKind::Consume(name, Box::new(of), args, number)))
    }

    /// The arguments of an iterator's method.
    fn iterator_args(&mut self, call: &mut ExprMethodCall, takes: &[Arg]) -> Vec<s::Expr> {
        if call.args.len() != takes.len() {
            // rustc says so
            return Vec::new();
        }
        call.args
            .iter_mut()
            .zip(takes)
            .map(|(arg, takes)| match takes {
                Arg::Number | Arg::Value => self.expr(arg),
                Arg::Function => self.function(arg),
                Arg::Items => self.items(arg, true),
                Arg::Axis => self.axis(arg),
            })
            .collect()
    }

    /// `Axis(k)`: which one must be known when the kernel is compiled.
    pub(super) fn axis(&mut self, arg: &mut Expr) -> s::Expr {
        match arg {
            Expr::Call(call) if is_axis(&call.func) && call.args.len() == 1 => match &mut call.args[0] {
                number @ (Expr::Lit(_) | Expr::Path(_)) => self.expr(number),
                other => self.refuse(other.span(), "which axis is a literal or a constant in kernels"),
            },
            other => self.refuse(other.span(), "write the axis as `Axis(0)`"),
        }
    }

    /// Whether an argument is a closure, or the name of a function by Rust's naming.
    pub(super) fn names_function(&mut self, arg: &Expr) -> bool {
        if self.is_closure(arg) {
            return true;
        }
        let Expr::Path(path) = arg else { return false };
        let local = path.path.get_ident().is_some_and(|ident| self.carried.is_some() || self.lookup(ident).is_some());
        let last = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        !local && last.starts_with(char::is_lowercase)
    }

    /// A function that a method calls.
    pub(super) fn function(&mut self, arg: &mut Expr) -> s::Expr {
        let span = begin(arg);
        match arg {
            Expr::Closure(closure) => {
                let closure = self.asked_closure(closure);
                node(span, s::ExprKind::Closure(Box::new(closure)))
            }
            _ if self.is_closure(arg) => self.argument(arg),
            Expr::Path(path) => {
                let path = path.clone();
                let number = self.callee(span);
                *arg = self.tied(number, &path, None);
                node(
                    span,
                    match method_by_path(&path) {
                        Some(name) => s::ExprKind::MethodOf(name, number),
                        None => s::ExprKind::Function(number),
                    },
                )
            }
            other => {
                self.refuse(
                    other.span(),
                    "an iterator's method takes a closure here, or the name of a `#[device]` function",
                );
                nothing()
            }
        }
    }
}

/// What a method of a table takes, if it is there.
fn known(table: &[(&str, &'static [Arg])], name: &str) -> Option<&'static [Arg]> {
    table.iter().find(|(known, _)| *known == name).map(|(_, args)| *args)
}

/// Whether this is a range, or one whose items stay numbers.
fn is_numbers(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(paren) => is_numbers(&paren.expr),
        Expr::Group(group) => is_numbers(&group.expr),
        Expr::MethodCall(call) => SAME_ITEMS.iter().any(|name| call.method == name) && is_numbers(&call.receiver),
        Expr::Range(_) => true,
        _ => false,
    }
}

/// The reason why such an iterator cannot be reversed.
const CUT_BEHIND_CALLS: &str = "`rev` of an iterator that leaves out items which closures make: the standard library calls the \
                                closures for those too, and kernels do not; call `take`, `step_by` or `zip` before `map`, or `rev` first";

/// Whether this is ndarray's `Axis`, by its name.
pub(super) fn is_axis(callee: &Expr) -> bool {
    matches!(callee, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Axis"))
}

/// Why a method of iterators is not there, with a way out.
fn unknown(name: &str) -> String {
    match name {
        "collect" | "unzip" | "partition" | "to_vec" => {
            format!("kernels have no heap to `{name}` into; write each item where it belongs, in a loop")
        }
        "clone" | "cycle" | "peekable" => format!("iterators in kernels have no `{name}`; make another one"),
        _ => format!("iterators in kernels have no `{name}`; the book's chapter on the language lists what they have"),
    }
}
