//! Slices, subslices and their elements.

use super::function::{Lowering, Result};
use super::index::{IndexBy, RangeIndex};
use super::place::{Access, Place};
use super::types::Val;
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, Type, Value};
use crate::syntax::{Expr, Pos};
use crate::typeinfo::{Exchange, Memory, Ty};
use cuda_jit_lang::library::iterator::RANGES;

/// The elements of an array or slice.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    pub(super) ptr: Value,
    pub(super) element: Ty,
    pub(super) memory: Memory,
    pub(super) len: Value,
}

impl Lowering<'_> {
    /// Lowers `base[start..end]`.
    pub(super) fn subslice(
        &mut self,
        base: &'static Expr,
        (start, end, inclusive): RangeIndex,
        access: Access,
    ) -> Result<Place> {
        if self.scopes.has_own_index(base) {
            return self.index_by_impl(base, IndexBy::Range((start, end, inclusive)), access);
        }
        let of = self.elements(base, access)?;
        let start = match start {
            Some(start) => self.scalar(start, Scalar::U64)?,
            None => self.build.constant(Scalar::U64, 0),
        };
        let end = match end {
            Some(end) => self.scalar(end, Scalar::U64)?,
            None => of.len,
        };
        Ok(Place::Fixed(self.subslice_at(base.0, &of, start, end, inclusive)))
    }

    /// Lowers `base[range]` for a range value; `None` if the index is no range.
    pub(super) fn subslice_by_range(
        &mut self,
        base: &'static Expr,
        index: &'static Expr,
        access: Access,
    ) -> Result<Option<Val>> {
        let Some(range) = self.ty_of(index).filter(is_range) else { return Ok(None) };
        let of = self.elements(base, access)?;
        let value = self.expr(index, Some(&range))?;
        let part = |name: &str| range.field(name).map(|index| value.part(index).only());
        let end = part("end").unwrap_or(of.len);
        let mut start = part("start").unwrap_or_else(|| self.build.constant(Scalar::U64, 0));
        if let Some(exhausted) = part("exhausted") {
            // an exhausted range is empty; one with start > end is out of bounds
            let ordered = self.build.compare(CompareOp::Le, start, end);
            let one = self.build.constant(Scalar::U64, 1);
            let after = self.build.index_op(BinaryOp::Add, end, one);
            let ended = self.build.value(Op::Binary(BinaryOp::And, exhausted, ordered), Scalar::Bool);
            start = self.build.value(Op::Select(ended, after, start), Scalar::U64);
        }
        let inclusive = matches!(&range, Ty::Struct(of) if of.name.ends_with("Inclusive"));
        Ok(Some(self.subslice_at(base.0, &of, start, end, inclusive)))
    }

    /// The elements of the slice or array that an expression is or refers to.
    fn elements(&mut self, base: &'static Expr, access: Access) -> Result<Elements> {
        let place = self.place_for(base, access)?;
        let (ptr, element, memory, len) = self.slice_of(&place)?;
        Ok(Elements { ptr, element, memory, len })
    }

    fn subslice_at(&mut self, at: Pos, of: &Elements, start: Value, mut end: Value, inclusive: bool) -> Val {
        let len = of.len;
        if inclusive {
            let inside = self.build.compare(CompareOp::Lt, end, len);
            self.check_subslice(at, inside, "range end index {0} out of range for slice of length {1}", &[end, len]);
            let one = self.build.constant(Scalar::U64, 1);
            end = self.build.index_op(BinaryOp::Add, end, one);
        }
        let ordered = self.build.compare(CompareOp::Le, start, end);
        self.check_subslice(at, ordered, "slice index starts at {0} but ends at {1}", &[start, end]);
        let inside = self.build.compare(CompareOp::Le, end, len);
        self.check_subslice(at, inside, "range end index {0} out of range for slice of length {1}", &[end, len]);
        let count = self.build.index_op(BinaryOp::Sub, end, start);
        self.slice_at(of.ptr, &of.element, of.memory, start, count)
    }

    /// The slice of `len` elements from `start` on.
    pub(super) fn slice_at(&mut self, ptr: Value, element: &Ty, memory: Memory, start: Value, len: Value) -> Val {
        let offset = self.build.scaled_by(start, element.count());
        let ptr = self.build.value(Op::Offset(ptr, offset), Type::Ptr(memory.space(), element.pointee()));
        Val { ty: Ty::Slice(Box::new(element.clone()), memory), leaves: vec![ptr, len] }
    }

    pub(super) fn check_subslice(&mut self, at: Pos, holds: Value, message: &str, args: &[Value]) {
        if self.scopes.checks_bounds() {
            self.check(at, holds, message, args);
        }
    }

    /// The slice that an expression is or refers to; an array is coerced.
    pub(super) fn slice_value(&mut self, expr: &'static Expr) -> Result<Val> {
        let place = self.place(expr)?;
        self.as_slice_value(&place)
    }

    /// The slice that a place is or refers to; an array is coerced.
    pub(super) fn as_slice_value(&mut self, place: &Place) -> Result<Val> {
        let (ptr, element, memory, len) = self.slice_of(place)?;
        Ok(Val { ty: Ty::Slice(Box::new(element), memory), leaves: vec![ptr, len] })
    }

    /// The element at an index, which is in bounds.
    pub(super) fn nth(&mut self, of: &Elements, index: Value) -> Place {
        let offset = self.build.scaled_by(index, of.element.count());
        self.build.place_at(of.ptr, offset, of.element.clone(), of.memory)
    }

    /// Swaps the values of two places.
    pub(super) fn swap_places(&mut self, at: Pos, places: &[Place; 2]) -> Result<()> {
        let [first, second] = [self.read_copied(&places[0]), self.read_copied(&places[1])];
        self.write(at, &places[0], second)?;
        self.write(at, &places[1], first)
    }

    /// Lowers `mem::swap`, `mem::replace`, and `mem::take` of a slice.
    pub(super) fn exchange(&mut self, at: Pos, exchange: Exchange, ty: &Ty, args: &'static [Expr]) -> Result<Val> {
        let target = self.expr(&args[0], None)?;
        let target = self.pointee_place(target);
        let old = self.read_copied(&target);
        match exchange {
            Exchange::Swap => {
                let other = self.expr(&args[1], None)?;
                let other = self.pointee_place(other);
                let value = self.read_copied(&other);
                self.write(at, &target, value)?;
                self.write(at, &other, old)?;
                Ok(Val::unit())
            }
            Exchange::Replace => {
                let new = self.expr_as(&args[1], ty)?;
                self.write(at, &target, new)?;
                Ok(old)
            }
            Exchange::Take => {
                let len = self.build.constant(Scalar::U64, 0);
                let empty = Val { ty: old.ty.clone(), leaves: vec![old.leaves[0], len] };
                self.write(at, &target, empty)?;
                Ok(old)
            }
        }
    }
}

/// Returns true for the type of a range value, a struct of the device library.
pub(super) fn is_range(ty: &Ty) -> bool {
    matches!(ty, Ty::Struct(of) if RANGES.contains(&of.name))
}
