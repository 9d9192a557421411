//! Patterns: names, paths, tuples, structs, slices, references, literals, constants, ranges, alternatives.
//!
//! rustc resolves the paths, and decides whether a single name is a binding or a constant: the typing probe asks it where
//! the pattern's names are in scope. A name in a pattern that always matches needs no question: if it is a constant's, what
//! it would bind is the constant's value. `None` alone is taken for a path, so that nothing has to tell its type.

use cuda_jit_syntax::owned as s;
use proc_macro2::Span;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Lit, Pat, RangeLimits, Stmt};

use super::expr::{POINTERS, is_negative, member};
use super::span::begin_path;
use super::{Capture, observer, see, written};

impl Capture {
    /// Captures a pattern; its observers are appended to `observers`.
    pub(super) fn pattern(&mut self, pattern: &Pat, observers: &mut Vec<Stmt>) -> s::Pattern {
        match pattern {
            Pat::Wild(_) => s::Pattern::Wild,
            Pat::Paren(inner) => self.pattern(&inner.pat, observers),
            Pat::Type(typed) if matches!(&*typed.ty, syn::Type::Ptr(_)) => self.refuse_pattern(&typed.ty, POINTERS),
            Pat::Type(typed) => self.pattern(&typed.pat, observers),
            Pat::Ident(pat) => self.ident_pattern(pat, observers),
            Pat::Path(path) => self.path_pattern(path, begin_path(path), observers),
            Pat::Lit(literal) => self.literal_pattern(&Expr::Lit(literal.clone())),
            Pat::Tuple(tuple) => {
                s::Pattern::Tuple(tuple.elems.iter().map(|pat| self.pattern(pat, observers)).collect())
            }
            Pat::TupleStruct(pat) if self.refutable && may_be_err(&pat.path, pat.elems.iter()) => {
                self.applied_pattern(pattern, pat.path.span(), observers)
            }
            Pat::TupleStruct(pat) => {
                s::Pattern::Tuple(pat.elems.iter().map(|pat| self.pattern(pat, observers)).collect())
            }
            Pat::Struct(pat) if pat.fields.is_empty() => self.fieldless_pattern(pat, observers),
            Pat::Struct(pat) if self.refutable && may_be_err(&pat.path, pat.fields.iter().map(|field| &*field.pat)) => {
                self.applied_pattern(pattern, pat.path.span(), observers)
            }
            Pat::Struct(pat) => {
                let field = |field: &syn::FieldPat| (member(&field.member), self.pattern(&field.pat, observers));
                s::Pattern::Struct(pat.fields.iter().map(field).collect())
            }
            Pat::Slice(slice) => {
                s::Pattern::Slice(slice.elems.iter().map(|pat| self.pattern(pat, observers)).collect())
            }
            Pat::Reference(reference) => s::Pattern::Ref(Box::new(self.pattern(&reference.pat, observers))),
            Pat::Rest(_) => s::Pattern::Rest,
            Pat::Or(or) => self.or_pattern(or, observers),
            Pat::Range(range) => self.range_pattern(range),
            other => self.refuse_pattern(
                other,
                "this pattern is not supported in a kernel; there are names, `_`, tuples, structs, slices, references, \
                 variants, literals, constants, ranges and `|`",
            ),
        }
    }

    /// Captures a pattern that may not match.
    pub(super) fn refutable(&mut self, pattern: &Pat, observers: &mut Vec<Stmt>) -> s::Pattern {
        let outer = std::mem::replace(&mut self.refutable, true);
        let pattern = self.pattern(pattern, observers);
        self.refutable = outer;
        pattern
    }

    fn ident_pattern(&mut self, pat: &syn::PatIdent, observers: &mut Vec<Stmt>) -> s::Pattern {
        let alone = pat.by_ref.is_none() && pat.mutability.is_none() && pat.subpat.is_none();
        if alone && pat.ident == "None" {
            return self.path_pattern(&pat.ident, pat.ident.span(), observers);
        }
        let (number, new) = self.bind(&pat.ident, pat.mutability.is_some());
        if new && alone && self.refutable {
            let (ident, span) = (&pat.ident, pat.ident.span());
            let (asked, question) = self.question(span);
            let observer = observer(number, span);
            self.bindings[number as usize].asked = Some(asked);
            observers.push(written(quote_spanned!(span =>
                __cuda_jit_name(#observer, &#ident, #question, || __cuda_jit_value(&#ident));
            )));
        } else if new {
            observers.push(see(number, &pat.ident));
        }
        self.bindings[number as usize].by_ref |= pat.by_ref.is_some();
        match &pat.subpat {
            Some((_, inner)) => s::Pattern::At(number, Box::new(self.pattern(inner, observers))),
            None => s::Pattern::Bind(number),
        }
    }

    /// Alternatives: the names that the first binds are those of all.
    fn or_pattern(&mut self, or: &syn::PatOr, observers: &mut Vec<Stmt>) -> s::Pattern {
        let depth = self.scope.len();
        let outer = self.alternatives.clone();
        let mut cases = Vec::new();
        for case in &or.cases {
            cases.push(self.refutable(case, observers));
            let names = &self.scope[depth..];
            self.alternatives.get_or_insert_default().extend(names.iter().cloned());
        }
        self.alternatives = outer;
        s::Pattern::Or(cases)
    }

    /// A path, or a struct without fields, which is a constant or a variant's value.
    fn path_pattern(&mut self, path: &impl ToTokens, span: Span, observers: &mut Vec<Stmt>) -> s::Pattern {
        let (asked, question) = self.question(span);
        observers.push(written(quote_spanned!(span =>
            __cuda_jit_path(#question, || __cuda_jit_Path(&#path).__cuda_jit_constant());
        )));
        s::Pattern::Path(asked)
    }

    /// `Path {}`, which is a value too, or `Path { .. }`, which rustc applies to the variants there are.
    fn fieldless_pattern(&mut self, pat: &syn::PatStruct, observers: &mut Vec<Stmt>) -> s::Pattern {
        let span = pat.path.span();
        if pat.rest.is_none() {
            return self.path_pattern(&quote!((#pat)), span, observers);
        }
        self.applied_pattern(pat, span, observers)
    }

    /// A pattern that binds nothing, which rustc applies to the variants there are.
    fn applied_pattern(&mut self, pat: &impl ToTokens, span: Span, observers: &mut Vec<Stmt>) -> s::Pattern {
        let (asked, question) = self.question(span);
        let value = Ident::new("__v", Span::mixed_site().located_at(span));
        observers.push(written(quote_spanned!(span =>
            __cuda_jit_path(#question, || {
                __cuda_jit_applied(|#value| match #value { #pat => true, _ => false }).__cuda_jit_constant()
            });
        )));
        s::Pattern::Path(asked)
    }

    fn range_pattern(&mut self, range: &syn::PatRange) -> s::Pattern {
        let mut bound = |bound: &Option<Box<Expr>>| bound.as_ref().map(|bound| Box::new(self.literal_pattern(bound)));
        let (start, end) = (bound(&range.start), bound(&range.end));
        let inclusive = matches!(range.limits, RangeLimits::Closed(_));
        s::Pattern::Range(start, end, inclusive)
    }

    /// A literal, a negated literal or a constant.
    fn literal_pattern(&mut self, bound: &Expr) -> s::Pattern {
        match bound {
            Expr::Path(path) => s::Pattern::Const(self.constant(path.clone())),
            Expr::Lit(literal) => self.lit_pattern(&literal.lit, false),
            Expr::Unary(unary) => match (&unary.op, &*unary.expr) {
                (syn::UnOp::Neg(_), Expr::Lit(literal)) => self.lit_pattern(&literal.lit, true),
                _ => self.refuse_pattern(unary, "a pattern's bound is a literal or a constant"),
            },
            other => self.refuse_pattern(other, "a pattern's bound is a literal or a constant"),
        }
    }

    fn lit_pattern(&mut self, lit: &Lit, negated: bool) -> s::Pattern {
        let negated = negated ^ is_negative(lit);
        match self.lit(lit) {
            Some(lit) => s::Pattern::Lit(lit, negated),
            None => s::Pattern::Wild,
        }
    }

    fn refuse_pattern(&mut self, at: &impl Spanned, hint: &str) -> s::Pattern {
        self.refuse(at.span(), hint);
        s::Pattern::Wild
    }
}

/// Returns true if a pattern may be that of a `Result`'s `Err`, which holds nothing on the device; rustc decides.
fn may_be_err<'p>(path: &syn::Path, mut fields: impl ExactSizeIterator<Item = &'p Pat>) -> bool {
    let is_named = |name: &str| path.segments.last().is_some_and(|last| last.ident == name);
    fields.len() == 1
        && fields.all(|field| matches!(field, Pat::Wild(_) | Pat::Rest(_)))
        && !is_named("Some")
        && !is_named("Ok")
}

/// Whether a name in a pattern is a constant's by Rust's naming: upper case throughout.
pub(super) fn is_constant(ident: &Ident) -> bool {
    let name = ident.to_string();
    name.len() > 1 && name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}
