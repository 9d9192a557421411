//! Value semantics of arrays: where an array is copied.
//!
//! An array leaf of a value is the address of the array's storage, which is of one of four kinds:
//!
//! - *fresh*: a temporary that no binding names. The first binding takes ownership of it without a copy.
//! - *stable*: not written while the value is live: an immutable binding, a parameter of a called function, or a
//!   temporary behind a shared reference.
//! - a *backing array*: the storage of a mutable binding or of a merge. Assignments copy into it.
//! - any other memory that the program can write.
//!
//! [`Lowering::expr`] returns owned values, fresh or stable, which no later code changes. [`Lowering::expr_in_place`]
//! returns a place's arrays without copying them; the caller must use them before other code of the program runs, or
//! must have checked [`Scopes::is_unchanged_by`].

use super::function::Lowering;
use super::place::Place;
use super::scopes::Scopes;
use super::types::Val;
use super::uses;
use crate::kir::Space;
use crate::syntax::{Block, Expr, ExprKind};
use crate::typeinfo::Ty;

impl Lowering<'_> {
    /// Copies each array of a value that later code could change.
    pub(super) fn copied_value(&mut self, mut value: Val) -> Val {
        for (leaf, ty) in value.ty.arrays() {
            let ptr = value.leaves[leaf];
            if !self.build.ended() && !self.build.is_owned(ptr) {
                value.leaves[leaf] = self.build.load(ptr, Space::Local, &ty).only();
            }
        }
        value
    }

    /// Reads a place expression as a value that later writes do not change.
    pub(super) fn read_copied(&mut self, place: &Place) -> Val {
        let value = self.build.read(place);
        self.copied_value(value)
    }

    /// Takes ownership of a value for a binding: it keeps temporaries, and an immutable binding shares stable arrays.
    pub(super) fn take_ownership(&mut self, mut value: Val, mutable: bool) -> Val {
        // debug info has one variable for each array
        let shares = !mutable && !self.program.variables;
        for (leaf, ty) in value.ty.arrays() {
            let ptr = value.leaves[leaf];
            if self.build.ended() || self.build.take_fresh(ptr) || shares && self.build.is_stable(ptr) {
                continue;
            }
            value.leaves[leaf] = self.build.load(ptr, Space::Local, &ty).only();
            self.build.take_fresh(value.leaves[leaf]);
        }
        if mutable { value } else { self.build.stable(value) }
    }
}

impl Scopes {
    /// Returns true if evaluating later expressions cannot change the value of a place.
    pub(super) fn is_unchanged_by<'e>(&self, place: &Expr, mut later: impl Iterator<Item = &'e Expr>) -> bool {
        later.all(|expr| self.is_speculatable(expr) || self.is_unused_in(place, [expr].into_iter()))
    }

    /// Returns true if a place is a binding, or a part of one, that later expressions do not use. Anything else that
    /// could write it holds a mutable borrow, and rustc refuses to read the place while that is live.
    pub(super) fn is_unused_in<'e>(&self, place: &Expr, mut later: impl Iterator<Item = &'e Expr>) -> bool {
        self.root(place).is_some_and(|root| later.all(|expr| !uses::expr(expr, root)))
    }

    /// As [`is_unused_in`](Self::is_unused_in), for a block that runs later.
    pub(super) fn is_unused_in_block(&self, place: &Expr, later: &Block) -> bool {
        self.root(place).is_some_and(|root| !uses::block(later, root))
    }

    /// The binding that a place is a part of, unless the place is behind a reference.
    fn root(&self, place: &Expr) -> Option<u32> {
        match self.ty_of(place)? {
            Ty::Array(..) | Ty::Struct(_) | Ty::Tuple(_) | Ty::Sum(_) => {}
            _ => return None,
        }
        match &place.1 {
            ExprKind::Binding(number) => Some(*number),
            ExprKind::Field(base, _) | ExprKind::Index(base, _) => self.root(base),
            _ => None,
        }
    }

    /// Returns true if an expression has no side effects, judged by its form: it only reads places and builds values.
    pub(super) fn is_speculatable(&self, expr: &Expr) -> bool {
        let all = |exprs: &[Expr]| exprs.iter().all(|expr| self.is_speculatable(expr));
        match &expr.1 {
            ExprKind::Lit(_) | ExprKind::Binding(_) | ExprKind::Const(_) => true,
            ExprKind::Field(inner, _)
            | ExprKind::Deref(inner)
            | ExprKind::Cast(inner, _)
            | ExprKind::Reborrow(inner, _)
            | ExprKind::Repeat(inner)
            | ExprKind::Typed(inner, _) => self.is_speculatable(inner),
            ExprKind::Index(base, index) => {
                !self.has_own_index(base) && self.is_speculatable(base) && self.is_speculatable(index)
            }
            ExprKind::Array(elements) | ExprKind::Tuple(elements) => all(elements),
            ExprKind::Struct(_, _, fields, rest) => {
                fields.iter().all(|(_, field)| self.is_speculatable(field))
                    && rest.is_none_or(|rest| self.is_speculatable(rest))
            }
            _ => false,
        }
    }
}

/// Returns true for a place expression.
pub(super) fn is_place(expr: &Expr) -> bool {
    matches!(expr.1, ExprKind::Binding(_) | ExprKind::Field(..) | ExprKind::Index(..) | ExprKind::Deref(_))
}

/// Returns true if arguments of these types give a callee no way to write memory.
pub(super) fn only_reads(params: &[Ty]) -> bool {
    let reads = |ty: &Ty| {
        !matches!(ty, Ty::Closure(_) | Ty::Passed(_)) && !ty.memories().iter().any(|memory| memory.writable())
    };
    params.iter().all(reads)
}
