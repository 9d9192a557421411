//! Patterns: names, paths, tuples, structs, slices, references, literals, constants, ranges, alternatives.
//!
//! rustc resolves the paths, and decides whether a single name is a binding or a constant: the typing probe asks it where
//! the pattern's names are in scope. A name in a pattern that always matches needs no question: if it is a constant's, what
//! it would bind is the constant's value. A name in the case of types is taken for a path, so that nothing has to tell its type.

use cuda_jit_syntax::owned as s;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Lit, Pat, Path, RangeLimits, Stmt};

use super::expr::{POINTERS, is_negative, member};
use super::span::begin_path;
use super::{Capture, names_crate, observer, see, written};

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
            Pat::TupleStruct(pat) => {
                let fields = s::Pattern::Tuple(pat.elems.iter().map(|pat| self.pattern(pat, observers)).collect());
                self.variant_pattern(&pat.qself, &pat.path, fields, observers)
            }
            Pat::Struct(pat) if pat.fields.is_empty() && pat.rest.is_none() => {
                self.path_pattern(&quote!((#pat)), pat.path.span(), observers)
            }
            Pat::Struct(pat) => {
                let field = |field: &syn::FieldPat| (member(&field.member), self.pattern(&field.pat, observers));
                let fields = s::Pattern::Struct(pat.fields.iter().map(field).collect());
                self.variant_pattern(&pat.qself, &pat.path, fields, observers)
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
        if alone && self.refutable && is_type_case(&pat.ident) {
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
            __cuda_jit_path(#question, || __cuda_jit_Path(&#path).__cuda_jit_resolved());
        )));
        s::Pattern::Path(asked)
    }

    /// The pattern of the fields of a struct or variant. Where it may not match, rustc applies its path to the variants there are.
    fn variant_pattern(
        &mut self,
        qself: &Option<syn::QSelf>,
        path: &Path,
        fields: s::Pattern,
        observers: &mut Vec<Stmt>,
    ) -> s::Pattern {
        if !self.refutable {
            return fields;
        }
        let same = |(known, of, _): &(Path, u32, u32)| *of == self.items && known == path && !names_crate(path);
        let asked = match self.variants.iter().find(|known| qself.is_none() && same(known)) {
            Some((.., asked)) => *asked,
            None => {
                let span = path.span();
                let (asked, question) = self.question(span);
                let applied = applied(&syn::ExprPath { attrs: Vec::new(), qself: qself.clone(), path: path.clone() });
                observers.push(written(quote_spanned!(span =>
                    __cuda_jit_path(#question, || #applied.__cuda_jit_resolved());
                )));
                self.variants.push((path.clone(), self.items, asked));
                asked
            }
        };
        s::Pattern::Variant(asked, Box::new(fields))
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

/// A closure that tells whether a value is the struct or variant that a path names, as the typing probe asks it.
pub(super) fn applied(path: &syn::ExprPath) -> TokenStream {
    let span = path.span();
    let value = Ident::new("__v", Span::mixed_site().located_at(span));
    let fields = if path.qself.is_some() { quote!((..)) } else { quote!({ .. }) };
    quote_spanned!(span => __cuda_jit_applied(|#value| match #value { #path #fields => true, _ => false }))
}

/// Returns true for a name in the case of Rust's types and variants.
pub(super) fn is_type_case(ident: &Ident) -> bool {
    let name = ident.to_string();
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

/// Whether a name in a pattern is a constant's by Rust's naming: upper case throughout.
pub(super) fn is_constant(ident: &Ident) -> bool {
    let name = ident.to_string();
    name.len() > 1 && name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}
