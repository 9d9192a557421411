//! Functions as values, and the methods that call them.

use super::builder::Builder;
use super::function::{Captured, Lowering};
use super::place::Place;
use super::scopes::Scopes;
use super::types::Val;
use crate::harvest::{Memory, Ty};
use crate::kir::{Scalar, UnaryOp, Value};

impl Lowering<'_> {
    /// The number of the closure that a place holds, or refers to, if it is one; one that a `None` holds has none.
    pub(super) fn named_closure(&mut self, place: Place) -> Option<Option<u32>> {
        let place = self.through(place);
        match place.ty() {
            Ty::Closure(Memory::Closure(number)) => Some(*number),
            _ => None,
        }
    }
}

impl Scopes {
    /// The value that names a closure. One closure of one frame is one value, so that branches agree on it.
    pub(super) fn closure_value(&mut self, captured: Captured) -> Val {
        if matches!(captured, Captured::Nowhere) {
            return Val { ty: Ty::CLOSURE, leaves: Vec::new() };
        }
        let same = |known: &Captured| match (known, &captured) {
            (
                Captured::Written { closure, frame, copies, scope, borrowed, .. },
                Captured::Written { closure: other, frame: of, copies: own, scope: within, borrowed: lent, .. },
            ) => std::ptr::eq(*closure, *other) && (frame, copies, scope, borrowed) == (of, own, within, lent),
            (Captured::Function(a, _), Captured::Function(b, _)) => {
                std::ptr::eq(a.definition(), b.definition()) && a.generics == b.generics
            }
            (Captured::Operation(a, typing), Captured::Operation(b, other)) => (a, typing) == (b, other),
            _ => false,
        };
        let known = self.closures.iter().position(same);
        let number = known.unwrap_or_else(|| {
            self.closures.push(captured);
            self.temporaries.insert(self.closures.len() as u32 - 1);
            self.closures.len() - 1
        });
        Val { ty: Ty::Closure(Memory::Closure(Some(number as u32))), leaves: Vec::new() }
    }

    /// A reference to a closure.
    pub(super) fn borrowed_closure(&self, number: u32) -> Captured {
        let mut captured = self.closures[number as usize].clone();
        if let Captured::Written { borrowed, .. } = &mut captured {
            *borrowed = true;
        }
        captured
    }
}

impl Builder {
    /// `Ok` of a value where a condition holds, else the only error of a type.
    pub(super) fn result_of_one_error(&mut self, holds: Value, value: Val, error: Ty) -> Val {
        let tag = self.unary_value(UnaryOp::Not, holds, Scalar::Bool);
        let only = self.constant_value(&error, &mut [0].into_iter());
        let leaves = [tag].into_iter().chain(value.leaves).chain(only.leaves).collect();
        Val { ty: Ty::result(value.ty, error), leaves }
    }
}

/// `Some` of a value where a condition holds.
pub(super) fn optional(tag: Value, held: Val) -> Val {
    let leaves = std::iter::once(tag).chain(held.leaves).collect();
    Val { ty: Ty::option(held.ty), leaves }
}
