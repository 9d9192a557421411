//! Short names, on the walk, of what the methods of numbers, slices and views ask most.

use super::function::{Lowering, Result};
use super::place::Place;
use super::types::Val;
use crate::harvest::{Memory, Ty};
use crate::kir::{Scalar, Space, Value};
use crate::syntax::Pos;

impl Lowering<'_> {
    pub(super) fn cast_value(&mut self, value: Value, from: Scalar, to: Scalar) -> Value {
        self.build.cast_value(value, from, to)
    }

    pub(super) fn checks_bounds(&self) -> bool {
        self.scopes.checks_bounds()
    }

    pub(super) fn checks_overflow(&self) -> bool {
        self.scopes.checks_overflow()
    }

    pub(super) fn constant(&mut self, ty: Scalar, bits: u64) -> Value {
        self.build.constant(ty, bits)
    }

    pub(super) fn constant_value(&mut self, ty: &Ty, cells: &mut impl Iterator<Item = u128>) -> Val {
        self.build.constant_value(ty, cells)
    }

    pub(super) fn element_at(&mut self, ptr: Value, element: &Ty, space: Space, index: u64) -> Value {
        self.build.element_at(ptr, element, space, index)
    }

    pub(super) fn elements_in(&mut self, extents: &[Value]) -> Value {
        self.build.elements_in(extents)
    }

    pub(super) fn fresh(&mut self, value: Val) -> Val {
        self.build.fresh(value)
    }

    pub(super) fn load(&mut self, ptr: Value, space: Space, ty: &Ty) -> Val {
        self.build.load(ptr, space, ty)
    }

    pub(super) fn moved(&mut self, ptr: Value, offset: Value, element: Ty, memory: Memory) -> Place {
        self.build.moved(ptr, offset, element, memory)
    }

    pub(super) fn new_array(&mut self, name: &str, ty: &Ty) -> Val {
        self.build.new_array(name, ty)
    }

    pub(super) fn number(&self, at: Pos, value: &Val) -> Result<Scalar> {
        self.scopes.number(at, value)
    }

    pub(super) fn read(&mut self, place: &Place) -> Val {
        self.build.read(place)
    }

    pub(super) fn result_of_one_error(&mut self, holds: Value, value: Val, error: Ty) -> Val {
        self.build.result_of_one_error(holds, value, error)
    }

    pub(super) fn scaled_by(&mut self, index: Value, count: u64) -> Value {
        self.build.scaled_by(index, count)
    }

    pub(super) fn store(&mut self, ptr: Value, space: Space, value: &Val) {
        self.build.store(ptr, space, value)
    }
}
