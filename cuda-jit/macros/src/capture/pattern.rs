//! Patterns: names, tuples, `Some` and `None`, literals, constants, ranges and alternatives.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Lit, Pat, Path, RangeLimits, Stmt};

use super::Capture;
use super::expr::is_negative;

impl Capture {
    /// Captures a pattern; its observers are appended to `observers`.
    pub(super) fn pattern(&mut self, pattern: &Pat, observers: &mut Vec<Stmt>) -> TokenStream {
        match pattern {
            Pat::Wild(_) => quote!(s::Pattern::Wild),
            Pat::Paren(inner) => self.pattern(&inner.pat, observers),
            Pat::Type(typed) => self.pattern(&typed.pat, observers),
            Pat::Ident(pat) => self.ident_pattern(pat, observers),
            Pat::Path(path) => self.path_pattern(&path.path),
            Pat::Lit(literal) => self.literal_pattern(&Expr::Lit(literal.clone())),
            Pat::Tuple(tuple) => {
                let elements: Vec<_> = tuple.elems.iter().map(|pat| self.pattern(pat, observers)).collect();
                quote!(s::Pattern::Tuple(&[#(#elements),*]))
            }
            Pat::TupleStruct(pat) if pat.path.is_ident("Some") && pat.elems.len() == 1 => {
                let inner = self.pattern(&pat.elems[0], observers);
                quote!(s::Pattern::Some(&#inner))
            }
            Pat::Or(or) => self.or_pattern(or, observers),
            Pat::Range(range) => self.range_pattern(range),
            Pat::Reference(reference) => {
                self.refuse_pattern(reference, "kernels hold values, not references; drop the `&`")
            }
            Pat::Slice(slice) => self.refuse_pattern(slice, "slice patterns are not supported; index the slice"),
            Pat::Rest(rest) => self.refuse_pattern(rest, "`..` is not supported; write `_` for each element"),
            other => self.refuse_pattern(
                other,
                "this pattern is not supported in a kernel; there are names, `_`, tuples, `Some`, `None`, literals, \
                 constants, ranges and `|`",
            ),
        }
    }

    fn ident_pattern(&mut self, pat: &syn::PatIdent, observers: &mut Vec<Stmt>) -> TokenStream {
        if let Some(by_ref) = &pat.by_ref {
            return self.refuse_pattern(by_ref, "kernels hold values, not references; drop the `ref`");
        }
        if let Some((at, _)) = &pat.subpat {
            return self.refuse_pattern(at, "`name @ pattern` is not supported; bind the name with `let`");
        }
        if pat.ident == "None" {
            return quote!(s::Pattern::None);
        }
        if is_constant(&pat.ident) {
            return self.path_pattern(&Path::from(pat.ident.clone()));
        }
        let number = self.bind(&pat.ident, pat.mutability.is_some(), observers);
        quote!(s::Pattern::Bind(#number))
    }

    /// Alternatives may bind no names, since each name would have a number in each of them.
    fn or_pattern(&mut self, or: &syn::PatOr, observers: &mut Vec<Stmt>) -> TokenStream {
        let before = self.bindings.len();
        let cases: Vec<_> = or.cases.iter().map(|case| self.pattern(case, observers)).collect();
        if self.bindings.len() != before {
            return self.refuse_pattern(or, "alternatives cannot bind names here; write an arm for each");
        }
        quote!(s::Pattern::Or(&[#(#cases),*]))
    }

    fn path_pattern(&mut self, path: &Path) -> TokenStream {
        if path.is_ident("None") {
            return quote!(s::Pattern::None);
        }
        let number = self.constant(path);
        quote!(s::Pattern::Const(#number))
    }

    fn range_pattern(&mut self, range: &syn::PatRange) -> TokenStream {
        let mut bound = |bound: &Option<Box<Expr>>| match bound {
            Some(bound) => {
                let bound = self.literal_pattern(bound);
                quote!(::core::option::Option::Some(&#bound))
            }
            None => quote!(::core::option::Option::None),
        };
        let (start, end) = (bound(&range.start), bound(&range.end));
        let inclusive = matches!(range.limits, RangeLimits::Closed(_));
        quote!(s::Pattern::Range(#start, #end, #inclusive))
    }

    /// A literal, a negated literal or a constant.
    fn literal_pattern(&mut self, bound: &Expr) -> TokenStream {
        match bound {
            Expr::Path(path) => self.path_pattern(&path.path),
            Expr::Lit(literal) => self.lit_pattern(&literal.lit, false),
            Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
                (syn::UnOp::Neg(_), Expr::Lit(literal)) => self.lit_pattern(&literal.lit, true),
                _ => self.refuse_pattern(unary, "a pattern's bound is a literal or a constant"),
            },
            other => self.refuse_pattern(other, "a pattern's bound is a literal or a constant"),
        }
    }

    fn lit_pattern(&mut self, lit: &Lit, negated: bool) -> TokenStream {
        let negated = negated ^ is_negative(lit);
        match self.lit(lit) {
            Some(lit) => quote!(s::Pattern::Lit(#lit, #negated)),
            None => quote!(s::Pattern::Wild),
        }
    }

    fn refuse_pattern(&mut self, at: &impl Spanned, hint: &str) -> TokenStream {
        self.refuse(at.span(), hint);
        quote!(s::Pattern::Wild)
    }
}

/// Whether a name in a pattern is a constant's by Rust's naming: upper case throughout.
fn is_constant(ident: &Ident) -> bool {
    let name = ident.to_string();
    name.len() > 1 && name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}
