//! Value semantics of arrays: where a value gets memory of its own.
//!
//! An array leaf of a value is the address where the array lies. That memory is one of four kinds:
//!
//! - *fresh*: a temporary of the expression that made the value, which nothing else names. The first binding takes it
//!   over; nothing is copied.
//! - *stable*: never written while the value can be used: an immutable binding, a parameter of a function that is
//!   called, a temporary behind a shared reference.
//! - a *home*: where a mutable binding, or the value in which branches meet, keeps an array. Assignments copy into it.
//! - any other place that the program can write.
//!
//! [`Lowering::expr`] yields settled values: fresh or stable ones, which no later code changes.
//! [`Lowering::expr_in_place`] leaves the value of a place where it lies, for whoever uses it before other code of the
//! program runs, or has asked [`Scopes::is_undisturbed`].

use super::function::Lowering;
use super::mentions;
use super::place::Place;
use super::scopes::Scopes;
use super::types::Val;
use crate::kir::Space;
use crate::syntax::{Block, Expr, ExprKind};
use crate::typeinfo::Ty;

impl Lowering<'_> {
    /// The value with a copy of each array that later code could change.
    pub(super) fn copied_value(&mut self, mut value: Val) -> Val {
        for (leaf, ty) in value.ty.arrays() {
            let ptr = value.leaves[leaf];
            if !self.build.ended() && !self.build.is_owned(ptr) {
                value.leaves[leaf] = self.build.load(ptr, Space::Local, &ty).only();
            }
        }
        value
    }

    /// Reads a place expression as a value: later writes do not show in it.
    pub(super) fn read_copied(&mut self, place: &Place) -> Val {
        let value = self.build.read(place);
        self.copied_value(value)
    }

    /// The value as a binding keeps it: temporaries become its own, and one that is never written may lie where a stable
    /// value does.
    pub(super) fn own(&mut self, mut value: Val, mutable: bool) -> Val {
        // a debugger is told one variable for each array
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
    /// Returns true if the value of a place cannot change while later expressions are evaluated.
    pub(super) fn is_undisturbed<'e>(&self, place: &Expr, mut later: impl Iterator<Item = &'e Expr>) -> bool {
        later.all(|expr| is_speculatable(expr) || self.is_unmentioned(place, [expr].into_iter()))
    }

    /// Returns true if a place is a binding, or a part of one, that later expressions do not mention. Whatever else could write
    /// it holds a mutable borrow, and rustc refuses to read the place as long as that is used.
    pub(super) fn is_unmentioned<'e>(&self, place: &Expr, mut later: impl Iterator<Item = &'e Expr>) -> bool {
        self.root(place).is_some_and(|root| later.all(|expr| !mentions::expr(expr, root)))
    }

    /// The same of a block that is run later.
    pub(super) fn is_unmentioned_in(&self, place: &Expr, later: &Block) -> bool {
        self.root(place).is_some_and(|root| !mentions::block(later, root))
    }

    /// The binding that a place is, or is a part of, but for what lies behind references.
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
}

/// Returns true for a place expression.
pub(super) fn is_place(expr: &Expr) -> bool {
    matches!(
        expr.1,
        ExprKind::Binding(_) | ExprKind::Field(..) | ExprKind::Index(..) | ExprKind::IndexAll(..) | ExprKind::Deref(_)
    )
}

/// Returns true if an expression has no side effects, as far as its form shows: it reads places and puts values together.
pub(super) fn is_speculatable(expr: &Expr) -> bool {
    match &expr.1 {
        ExprKind::Lit(_) | ExprKind::Binding(_) | ExprKind::Const(_) => true,
        ExprKind::Field(inner, _)
        | ExprKind::Deref(inner)
        | ExprKind::Cast(inner, _)
        | ExprKind::Reborrow(inner, _)
        | ExprKind::Repeat(inner)
        | ExprKind::Typed(inner, _) => is_speculatable(inner),
        ExprKind::Index(base, index) => is_speculatable(base) && is_speculatable(index),
        ExprKind::IndexAll(base, indices) => is_speculatable(base) && indices.iter().all(is_speculatable),
        ExprKind::Array(elements) | ExprKind::Tuple(elements) => elements.iter().all(is_speculatable),
        ExprKind::Struct(_, _, fields, rest) => {
            fields.iter().all(|(_, field)| is_speculatable(field)) && rest.is_none_or(is_speculatable)
        }
        _ => false,
    }
}

/// Returns true if values of such types give a callee nothing that it could write.
pub(super) fn only_reads(params: &[Ty]) -> bool {
    let reads = |ty: &Ty| {
        !matches!(ty, Ty::Closure(_) | Ty::Passed(_)) && !ty.memories().iter().any(|memory| memory.writable())
    };
    params.iter().all(reads)
}
