//! `for` loops, ranges, and the functions that methods take.

use cuda_jit_syntax::owned as s;
use proc_macro2::Span;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, ExprRange, Ident, Pat, RangeLimits};

use super::witnesses::callee;
use super::{Capture, node, nothing, span::begin, std_traits};

impl Capture {
    /// `for pattern in source { .. }`
    pub(super) fn for_loop(&mut self, looped: &mut ExprForLoop) -> s::Expr {
        let span = looped.label.as_ref().map_or(looped.for_token.span(), |label| label.name.span());
        let binds = matches!(*looped.pat, Pat::Ident(_));
        let (source, into, next) = self.source(&mut looped.expr, binds);
        let (number, (pattern, body)) = self.labelled(looped.label.as_ref().map(|label| &label.name), true, |walk| {
            walk.scopes.note_valueless();
            walk.scoped(|walk| {
                let mut witnesses = Vec::new();
                let pattern = walk.pattern(&looped.pat, &mut witnesses);
                (pattern, walk.block_after(&mut looped.body, witnesses))
            })
        });
        node(span, s::ExprKind::For(number, pattern, Box::new(source), body, into, next))
    }

    /// The source of a loop and, unless it is a range, the numbers of the callees that convert it into an iterator and return the
    /// next item, which rustc derives from its type. The type of a range's numbers is queried, unless the loop's pattern
    /// `binds` them.
    fn source(&mut self, source: &mut Expr, binds: bool) -> (s::Expr, Option<u32>, Option<u32>) {
        match source {
            Expr::Paren(inner) => self.source(&mut inner.expr, binds),
            Expr::Group(inner) => self.source(&mut inner.expr, binds),
            Expr::Range(range) if range.start.is_some() => {
                let (value, next) = self.numbers(range, !binds);
                (value, None, next)
            }
            source => {
                let (value, span) = (self.typed(source), begin(source));
                let (into, next) = (self.callee(span), self.callee(span));
                let [into_witness, next_witness] = [into, next].map(|number| callee(number, span));
                *source =
                    Expr::Verbatim(quote_spanned!(span => __cuda_jit_items(#source, #into_witness, #next_witness)));
                (value, Some(into), Some(next))
            }
        }
    }

    /// The numbers of a `for` loop over a range; their type is queried if `ask`. Unless the first is an integer literal,
    /// the function that computes the next number is queried too.
    fn numbers(&mut self, range: &mut ExprRange, ask: bool) -> (s::Expr, Option<u32>) {
        let inclusive = matches!(range.limits, RangeLimits::Closed(_));
        let Some(first) = range.start.as_mut() else { return (nothing(), None) };
        let span = begin(first);
        let next = (!matches!(**first, Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(_), .. }))).then(|| {
            let number = self.callee(span);
            let witness = callee(number, span);
            self.prepend(quote_spanned!(span => __cuda_jit_range::<_, #inclusive>(&(#first), #witness);));
            number
        });
        let start = Box::new(self.expr(first));
        let end = range.end.as_mut().map(|end| Box::new(self.expr(end)));
        let ty = ask.then(|| self.observe(first, None));
        (node(span, s::ExprKind::Range(start, end, inclusive, ty)), next)
    }

    /// A range as a value.
    pub(super) fn range(&mut self, expr: &mut Expr) -> s::Expr {
        let Expr::Range(range) = &mut *expr else { return nothing() };
        let span = range.start.as_ref().map_or(range.limits.span(), |first| begin(first));
        let inclusive = matches!(range.limits, RangeLimits::Closed(_));
        let Some(first) = range.start.as_mut() else { return self.range_without_start(expr) };
        let start = Box::new(self.expr(first));
        let end = range.end.as_mut().map(|end| Box::new(self.expr(end)));
        if inclusive {
            let (start, end) = (range.start.iter(), range.end.iter());
            *expr = Expr::Verbatim(quote_spanned!(span => __cuda_jit_inclusive(#(#start)* #(, #end)*)));
        }
        let ty = self.observe(expr, None);
        node(span, s::ExprKind::Range(start, end, inclusive, Some(ty)))
    }

    /// `..`, `..end` or `..=end` as a value: a call of the function that constructs it.
    fn range_without_start(&mut self, expr: &mut Expr) -> s::Expr {
        let Expr::Range(range) = &mut *expr else { return nothing() };
        let span = range.limits.span();
        let name = match (&range.limits, &range.end) {
            (_, None) => "range_full",
            (RangeLimits::HalfOpen(_), _) => "range_to",
            (RangeLimits::Closed(_), _) => "range_to_inclusive",
        };
        let args: Vec<_> = range.end.as_mut().map(|end| self.expr(end)).into_iter().collect();
        let (number, name, end) = (self.callee(span), Ident::new(name, Span::mixed_site()), range.end.iter());
        let witness = callee(number, span);
        *expr = Expr::Verbatim(quote_spanned!(span => __cuda_jit_probe::#name(#(#end)*).of(#witness)));
        node(span, s::ExprKind::Call(number, args))
    }

    /// Returns true if an argument is a closure, the path of a function by Rust's naming conventions, or a reference to
    /// one.
    pub(super) fn names_function(&mut self, arg: &Expr) -> bool {
        if self.is_closure(arg) {
            return true;
        }
        let path = match arg {
            Expr::Reference(reference) if reference.mutability.is_none() => &reference.expr,
            _ => arg,
        };
        let Expr::Path(path) = path else { return false };
        let local = path.path.get_ident().is_some_and(|ident| self.scopes.may_be_local(ident));
        let last = path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        !local && last.starts_with(char::is_lowercase)
    }

    /// A function that a method takes as its argument.
    pub(super) fn function(&mut self, arg: &mut Expr) -> s::Expr {
        let (span, is_closure) = (begin(arg), self.is_closure(arg));
        match arg {
            Expr::Closure(closure) => {
                let closure = self.queried_closure(closure);
                node(span, s::ExprKind::Closure(Box::new(closure)))
            }
            Expr::Path(path) if !is_closure => {
                let path = path.clone();
                if let Some(hint) = std_traits::refused_argument(&path) {
                    return self.refuse(path.span(), hint);
                }
                let number = self.callee(span);
                *arg = self.unified_callee(number, &path, None).0;
                node(span, s::ExprKind::Function(number))
            }
            _ => self.argument(arg),
        }
    }
}
