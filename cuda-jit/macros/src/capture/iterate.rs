//! What `for` runs over: ranges, and the elements of slices and arrays, each with a few adaptors.

use cuda_jit_syntax::owned as s;
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, RangeLimits};

use super::methods::makes_iterator;
use super::{Capture, node};

const HINT: &str = "`for` runs over a range (`a..b`, `a..=b`, with `.rev()` and `.step_by(n)`) or over a slice or array \
                    (`&x`, `&mut x`, `x.iter()`, `.iter_mut()`, `.chunks_exact(n)`, then `.copied()`, `.rev()`, \
                    `.enumerate()`) here";

/// The adaptors of elements, in the order in which they may stand.
const ADAPTORS: &[&str] =
    &["iter", "iter_mut", "chunks_exact", "chunks_exact_mut", "copied", "cloned", "rev", "enumerate"];

impl Capture {
    /// `for pattern in source { .. }`
    pub(super) fn for_loop(&mut self, looped: &mut ExprForLoop) -> s::Expr {
        let span = looped.label.as_ref().map_or(looped.for_token.span(), |label| label.name.span());
        let source = if is_range(&looped.expr) { self.range(&mut looped.expr) } else { self.items(&mut looped.expr) };
        let Some(source) = source else { return self.refuse(looped.expr.span(), HINT) };
        let number = self.enter(looped.label.as_ref(), true);
        let (pattern, body) = self.scoped(|walk| {
            let mut observers = Vec::new();
            let pattern = walk.pattern(&looped.pat, &mut observers);
            (pattern, walk.block_after(&mut looped.body, observers))
        });
        self.labels.pop();
        node(span, s::ExprKind::For(number, pattern, Box::new(source), body))
    }

    /// A range with its adaptors as a `syntax::Source`.
    fn range(&mut self, expr: &mut Expr) -> Option<s::Source> {
        let mut reversed = false;
        let mut step = None;
        let mut inner = expr;
        loop {
            match inner {
                Expr::Paren(paren) => inner = &mut paren.expr,
                Expr::Group(group) => inner = &mut group.expr,
                Expr::MethodCall(call) => {
                    // outermost first: `(a..b).rev().step_by(n)` steps through the reversed range
                    match (call.method.to_string().as_str(), call.args.len()) {
                        ("rev", 0) if !reversed => reversed = true,
                        ("step_by", 1) if step.is_none() && !reversed => step = Some(self.expr(&mut call.args[0])),
                        _ => return None,
                    }
                    inner = &mut call.receiver;
                }
                Expr::Range(range) => {
                    let inclusive = matches!(range.limits, RangeLimits::Closed(_));
                    let start = self.expr(range.start.as_mut()?);
                    let end = self.expr(range.end.as_mut()?);
                    return Some(s::Source::Range(s::Range { start, end, inclusive, reversed, step }));
                }
                _ => return None,
            }
        }
    }

    /// Elements with their adaptors as a `syntax::Source`.
    fn items(&mut self, expr: &mut Expr) -> Option<s::Source> {
        let (mut reversed, mut copied, mut enumerated, mut iterated) = (false, false, false, false);
        let mut chunk = None;
        let mut last = ADAPTORS.len();
        let mut inner = expr;
        while adapted(inner) {
            match inner {
                Expr::Paren(paren) => inner = &mut paren.expr,
                Expr::Group(group) => inner = &mut group.expr,
                Expr::MethodCall(call) => {
                    let name = call.method.to_string();
                    let place = ADAPTORS.iter().position(|adaptor| *adaptor == name)?;
                    if place >= last || iterated || call.args.len() != usize::from(name.starts_with("chunks")) {
                        return None;
                    }
                    last = place;
                    match name.as_str() {
                        "enumerate" => enumerated = true,
                        "rev" => reversed = true,
                        "copied" | "cloned" => copied = true,
                        "iter" | "iter_mut" => iterated = true,
                        _ => {
                            chunk = Some(self.expr(&mut call.args[0]));
                            iterated = true;
                        }
                    }
                    inner = &mut call.receiver;
                }
                _ => return None,
            }
        }
        if last != ADAPTORS.len() && !iterated || copied && chunk.is_some() || iterates(inner) {
            return None;
        }
        let of = self.expr(inner);
        Some(s::Source::Items(s::Items { of, iterated, chunk, reversed, copied, enumerated }))
    }
}

/// Whether an adaptor, or parentheses, stand outermost.
fn adapted(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(_) | Expr::Group(_) => true,
        Expr::MethodCall(call) => ADAPTORS.iter().any(|adaptor| call.method == adaptor),
        _ => false,
    }
}

/// Whether an iterator is made here or before, and something else than an adaptor done with it.
fn iterates(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(paren) => iterates(&paren.expr),
        Expr::Group(group) => iterates(&group.expr),
        Expr::MethodCall(call) => makes_iterator(&call.method.to_string()) || iterates(&call.receiver),
        _ => false,
    }
}

/// Whether a range stands at the beginning of the adaptors.
fn is_range(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(paren) => is_range(&paren.expr),
        Expr::Group(group) => is_range(&group.expr),
        Expr::MethodCall(call) => is_range(&call.receiver),
        Expr::Range(_) => true,
        _ => false,
    }
}
