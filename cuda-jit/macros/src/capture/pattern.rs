//! Patterns: names, paths, tuples, structs, slices, references, literals, constants, ranges, alternatives.
//!
//! rustc resolves the paths, and decides whether a single name is a binding or a constant: the typing probe queries it
//! where the pattern's names are in scope. A name in an irrefutable pattern needs no query: if it is a constant, the value
//! it would bind equals the constant. A name in upper camel case is taken for a path, so that its type need not be known.

use cuda_jit_syntax::owned as s;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Ident, Lit, Pat, Path, RangeLimits, Stmt};

use super::expr::{POINTERS, byte_literals, is_negative, member};
use super::scopes::spelling;
use super::span::begin_path;
use super::witnesses::{names_crate, unify_binding, witness, written};
use super::{BindingKind, Capture};

/// The context of a pattern.
struct Context<'o> {
    /// True if the pattern is refutable: a name in it may be a constant's.
    refutable: bool,
    /// The names that previous alternatives bind, which this one binds again.
    bound: Vec<(String, u32)>,
    /// The typing probe's statements after the pattern.
    witnesses: &'o mut Vec<Stmt>,
}

impl Context<'_> {
    /// In the typing probe: adds a statement where the pattern's names are in scope.
    fn observe(&mut self, tokens: TokenStream) {
        self.witnesses.push(written(tokens));
    }
}

impl Capture {
    /// Captures an irrefutable pattern; its witnesses are appended to `witnesses`.
    pub(super) fn pattern(&mut self, pattern: &Pat, witnesses: &mut Vec<Stmt>) -> s::Pattern {
        self.pattern_within(pattern, &mut Context { refutable: false, bound: Vec::new(), witnesses })
    }

    /// Captures a refutable pattern.
    pub(super) fn refutable(&mut self, pattern: &Pat, witnesses: &mut Vec<Stmt>) -> s::Pattern {
        self.pattern_within(pattern, &mut Context { refutable: true, bound: Vec::new(), witnesses })
    }

    fn pattern_within(&mut self, pattern: &Pat, within: &mut Context<'_>) -> s::Pattern {
        match pattern {
            Pat::Wild(_) => s::Pattern::Wild,
            Pat::Paren(inner) => self.pattern_within(&inner.pat, within),
            Pat::Type(typed) if matches!(&*typed.ty, syn::Type::Ptr(_)) => self.refuse_pattern(&typed.ty, POINTERS),
            Pat::Type(typed) => self.pattern_within(&typed.pat, within),
            Pat::Ident(pat) => self.ident_pattern(pat, within),
            Pat::Path(path) => self.path_pattern(path, begin_path(path), within),
            Pat::Lit(literal) => self.literal_pattern(&Expr::Lit(literal.clone())),
            Pat::Tuple(tuple) => {
                s::Pattern::Tuple(tuple.elems.iter().map(|pat| self.pattern_within(pat, within)).collect())
            }
            Pat::TupleStruct(pat) => {
                let fields = s::Pattern::Tuple(pat.elems.iter().map(|pat| self.pattern_within(pat, within)).collect());
                self.variant_pattern(&pat.qself, &pat.path, fields, within)
            }
            Pat::Struct(pat) if pat.fields.is_empty() && pat.rest.is_none() => {
                self.path_pattern(&quote!((#pat)), pat.path.span(), within)
            }
            Pat::Struct(pat) => {
                let field = |field: &syn::FieldPat| (member(&field.member), self.pattern_within(&field.pat, within));
                let fields = s::Pattern::Struct(pat.fields.iter().map(field).collect());
                self.variant_pattern(&pat.qself, &pat.path, fields, within)
            }
            Pat::Slice(slice) => {
                s::Pattern::Slice(slice.elems.iter().map(|pat| self.pattern_within(pat, within)).collect())
            }
            Pat::Reference(reference) => s::Pattern::Ref(Box::new(self.pattern_within(&reference.pat, within))),
            Pat::Rest(_) => s::Pattern::Rest,
            Pat::Or(or) => self.or_pattern(or, within),
            Pat::Range(range) => self.range_pattern(range),
            other => self.refuse_pattern(
                other,
                "this pattern is not supported in a kernel; there are names, `_`, tuples, structs, slices, references, \
                 variants, literals, constants, ranges and `|`",
            ),
        }
    }

    fn ident_pattern(&mut self, pat: &syn::PatIdent, within: &mut Context<'_>) -> s::Pattern {
        let alone = pat.by_ref.is_none() && pat.mutability.is_none() && pat.subpat.is_none();
        if alone && within.refutable && is_type_case(&pat.ident) {
            return self.path_pattern(&pat.ident, pat.ident.span(), within);
        }
        let (number, new) = self.bind(&pat.ident, pat.mutability.is_some(), within);
        if new && alone && within.refutable {
            let (ident, span) = (&pat.ident, pat.ident.span());
            let (query, query_witness) = self.query(span, false);
            let witness = witness(number, span);
            self.scopes.binding_mut(number).query = Some(query);
            within.observe(quote_spanned!(span =>
                __cuda_jit_name(#witness, &#ident, #query_witness, || __cuda_jit_value(&#ident));
            ));
        } else if new {
            within.witnesses.push(unify_binding(number, &pat.ident));
        }
        self.scopes.binding_mut(number).by_ref |= pat.by_ref.is_some();
        match &pat.subpat {
            Some((_, inner)) => s::Pattern::At(number, Box::new(self.pattern_within(inner, within))),
            None => s::Pattern::Bind(number),
        }
    }

    /// Adds a binding, unless a previous alternative of the or-pattern has it; returns its number, and true if it is new.
    fn bind(&mut self, ident: &Ident, mutable: bool, within: &Context<'_>) -> (u32, bool) {
        let known = spelling(ident);
        match within.bound.iter().find(|(name, _)| *name == known) {
            Some((_, number)) => {
                self.rebound(ident, *number);
                (*number, false)
            }
            None => (self.declare(ident, mutable, BindingKind::Local, within.refutable), true),
        }
    }

    /// Alternatives: all bind the names that the first binds.
    fn or_pattern(&mut self, or: &syn::PatOr, within: &mut Context<'_>) -> s::Pattern {
        let depth = self.scopes.depth();
        let mut within = Context { refutable: true, bound: within.bound.clone(), witnesses: within.witnesses };
        let cases = or.cases.iter().map(|case| {
            let case = self.pattern_within(case, &mut within);
            within.bound.extend(self.scopes.bound_since(depth));
            case
        });
        s::Pattern::Or(cases.collect())
    }

    /// A path, or a struct without fields: a constant or a variant's value.
    fn path_pattern(&mut self, path: &impl ToTokens, span: Span, within: &mut Context<'_>) -> s::Pattern {
        let (query, query_witness) = self.query(span, true);
        within.observe(quote_spanned!(span =>
            __cuda_jit_path(#query_witness, || __cuda_jit_Path(&#path).__cuda_jit_resolved());
        ));
        s::Pattern::Path(query)
    }

    /// The pattern of a struct's or variant's fields. If it is refutable, rustc applies its path to a value of each
    /// variant.
    fn variant_pattern(
        &mut self,
        qself: &Option<syn::QSelf>,
        path: &Path,
        fields: s::Pattern,
        within: &mut Context<'_>,
    ) -> s::Pattern {
        if !within.refutable {
            return fields;
        }
        let block = self.scopes.block();
        let known = self.queries.known_variant(path, block).filter(|_| qself.is_none() && !names_crate(path));
        let query = match known {
            Some(query) => query,
            None => {
                let span = path.span();
                let (query, query_witness) = self.query(span, true);
                let applied = applied(&syn::ExprPath { attrs: Vec::new(), qself: qself.clone(), path: path.clone() });
                within.observe(quote_spanned!(span =>
                    __cuda_jit_path(#query_witness, || #applied.__cuda_jit_resolved());
                ));
                self.queries.note_variant(path.clone(), block, query);
                query
            }
        };
        s::Pattern::Variant(query, Box::new(fields))
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
            Expr::Lit(ExprLit { lit: Lit::ByteStr(bytes), .. }) => {
                let bytes = byte_literals(bytes).map(|byte| s::Pattern::Lit(byte, false));
                s::Pattern::Ref(Box::new(s::Pattern::Slice(bytes.collect())))
            }
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

/// The closure by which the typing probe tests whether a value is the struct or variant that a path names.
pub(super) fn applied(path: &syn::ExprPath) -> TokenStream {
    let span = path.span();
    let value = Ident::new("__v", Span::mixed_site().located_at(span));
    let fields = if path.qself.is_some() { quote!((..)) } else { quote!({ .. }) };
    quote_spanned!(span => __cuda_jit_applied(|#value| match #value { #path #fields => true, _ => false }))
}

/// Returns true for a name in upper camel case, as Rust's types and variants have.
pub(super) fn is_type_case(ident: &Ident) -> bool {
    let name = ident.to_string();
    name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

/// Returns true if a name in a pattern is a constant's by Rust's naming conventions: upper case throughout.
pub(super) fn is_constant(ident: &Ident) -> bool {
    let name = ident.to_string();
    name.len() > 1 && name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}
