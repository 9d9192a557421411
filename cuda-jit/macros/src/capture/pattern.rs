//! Patterns: names, tuples, structs, slices, references, `Some` and `None`, literals, constants, ranges, alternatives.

use cuda_jit_syntax::owned as s;
use syn::spanned::Spanned;
use syn::{Expr, ExprPath, Ident, Lit, Pat, RangeLimits, Stmt};

use super::Capture;
use super::expr::{POINTERS, is_negative, member};

impl Capture {
    /// Captures a pattern; its observers are appended to `observers`.
    pub(super) fn pattern(&mut self, pattern: &Pat, observers: &mut Vec<Stmt>) -> s::Pattern {
        match pattern {
            Pat::Wild(_) => s::Pattern::Wild,
            Pat::Paren(inner) => self.pattern(&inner.pat, observers),
            Pat::Type(typed) if matches!(&*typed.ty, syn::Type::Ptr(_)) => self.refuse_pattern(&typed.ty, POINTERS),
            Pat::Type(typed) => self.pattern(&typed.pat, observers),
            Pat::Ident(pat) => self.ident_pattern(pat, observers),
            Pat::Path(path) => self.path_pattern(path.clone()),
            Pat::Lit(literal) => self.literal_pattern(&Expr::Lit(literal.clone())),
            Pat::Tuple(tuple) => {
                let elements: Vec<_> = tuple.elems.iter().map(|pat| self.part(pat, observers)).collect();
                s::Pattern::Tuple(elements)
            }
            Pat::TupleStruct(pat) if pat.path.is_ident("Some") && pat.elems.len() == 1 => {
                let inner = self.part(&pat.elems[0], observers);
                s::Pattern::Some(Box::new(inner))
            }
            Pat::TupleStruct(pat) => {
                let elements: Vec<_> = pat.elems.iter().map(|pat| self.part(pat, observers)).collect();
                s::Pattern::Tuple(elements)
            }
            Pat::Struct(pat) => {
                let fields: Vec<_> =
                    pat.fields.iter().map(|field| (member(&field.member), self.part(&field.pat, observers))).collect();
                s::Pattern::Struct(fields)
            }
            Pat::Slice(slice) => {
                let elements: Vec<_> = slice.elems.iter().map(|pat| self.part(pat, observers)).collect();
                s::Pattern::Slice(elements)
            }
            Pat::Reference(reference) => {
                let inner = self.part(&reference.pat, observers);
                s::Pattern::Ref(Box::new(inner))
            }
            Pat::Rest(_) => s::Pattern::Rest,
            Pat::Or(or) => self.or_pattern(or, observers),
            Pat::Range(range) => self.range_pattern(range),
            other => self.refuse_pattern(
                other,
                "this pattern is not supported in a kernel; there are names, `_`, tuples, structs, slices, references, \
                 `Some`, `None`, literals, constants, ranges and `|`",
            ),
        }
    }

    fn ident_pattern(&mut self, pat: &syn::PatIdent, observers: &mut Vec<Stmt>) -> s::Pattern {
        if pat.ident == "None" {
            return s::Pattern::None;
        }
        if is_constant(&pat.ident) {
            return self.path_pattern(path_of(pat.ident.clone()));
        }
        let number = self.bind(&pat.ident, pat.mutability.is_some(), observers);
        self.bindings[number as usize].by_ref |= pat.by_ref.is_some();
        match &pat.subpat {
            Some((_, inner)) => {
                let inner = self.part(inner, observers);
                s::Pattern::At(number, Box::new(inner))
            }
            None => s::Pattern::Bind(number),
        }
    }

    /// A pattern inside another.
    fn part(&mut self, pattern: &Pat, observers: &mut Vec<Stmt>) -> s::Pattern {
        let whole = std::mem::take(&mut self.whole_arm);
        let part = self.pattern(pattern, observers);
        self.whole_arm = whole;
        part
    }

    /// Alternatives that bind names are all of an arm's pattern: each is then an arm of its own.
    fn or_pattern(&mut self, or: &syn::PatOr, observers: &mut Vec<Stmt>) -> s::Pattern {
        let (before, depth) = (self.bindings.len(), self.scope.len());
        let outer = self.alternatives.take();
        let mut cases = Vec::new();
        for case in &or.cases {
            cases.push(self.part(case, observers));
            let names = self.scope[depth..].to_vec();
            self.alternatives.get_or_insert(names);
        }
        self.alternatives = outer;
        if self.bindings.len() != before && !self.whole_arm {
            return self
                .refuse_pattern(or, "alternatives that bind names stand in a `match` only, outermost in their arm");
        }
        s::Pattern::Or(cases)
    }

    fn path_pattern(&mut self, path: ExprPath) -> s::Pattern {
        if path.path.is_ident("None") {
            return s::Pattern::None;
        }
        let number = self.constant(path);
        s::Pattern::Const(number)
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
            Expr::Path(path) => self.path_pattern(path.clone()),
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

/// A name as a path.
fn path_of(ident: Ident) -> ExprPath {
    ExprPath { attrs: Vec::new(), qself: None, path: ident.into() }
}

/// Whether a name in a pattern is a constant's by Rust's naming: upper case throughout.
pub(super) fn is_constant(ident: &Ident) -> bool {
    let name = ident.to_string();
    name.len() > 1 && name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}
