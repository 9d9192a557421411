//! The KIR function under construction, and the operations that every part of the front end emits.
//!
//! It knows values, types and memory, but no syntax: no source locations, bindings or errors. Helpers of one part of
//! the language that need nothing else are in an `impl Builder` in that part's file: `memory.rs` has loads and stores,
//! `arrays.rs` the storage of arrays.

use std::ops::{Deref, DerefMut};

use super::arrays::Arrays;
use super::types::Val;
use crate::kir::build::FunctionBuilder;
use crate::kir::{
    Axis, BinaryOp, BlockId, CompareOp, Const, Function, Lane, Op, Scalar, SlotId, Special, Terminator, Type, UnaryOp,
    Value,
};
use crate::typeinfo::Ty;

/// A KIR function under construction.
pub(super) struct Builder {
    function: FunctionBuilder,
    pub(super) arrays: Arrays,
}

impl Deref for Builder {
    type Target = FunctionBuilder;

    fn deref(&self) -> &FunctionBuilder {
        &self.function
    }
}

impl DerefMut for Builder {
    fn deref_mut(&mut self) -> &mut FunctionBuilder {
        &mut self.function
    }
}

impl Builder {
    /// Starts an empty function.
    pub(super) fn new(function: FunctionBuilder) -> Self {
        Builder { function, arrays: Arrays::default() }
    }

    /// Returns the finished function.
    pub(super) fn finish(self) -> Function {
        self.function.finish()
    }

    /// Reads a value from its slots.
    pub(super) fn get(&mut self, ty: &Ty, slots: &[SlotId]) -> Val {
        let types = ty.leaves();
        let leaves = slots.iter().zip(types).map(|(slot, leaf)| self.value(Op::Get(*slot), leaf)).collect();
        Val { ty: ty.clone(), leaves }
    }

    /// Emits a constant.
    pub(super) fn constant(&mut self, ty: Scalar, bits: u64) -> Value {
        self.function.constant(ty, bits.into())
    }

    /// Emits a constant of any type from its bits.
    pub(super) fn constant_bits(&mut self, ty: Scalar, bits: u128) -> Value {
        self.function.constant(ty, bits)
    }

    /// A placeholder for the value of an expression that diverges. It is only made in unreachable code, so its
    /// pointers, for which there is no constant, never reach KIR.
    pub(super) fn placeholder(&mut self, ty: &Ty) -> Val {
        let leaves = ty.leaves().into_iter().map(|leaf| self.value(Op::Const(zero(leaf)), leaf)).collect();
        Val { ty: ty.clone(), leaves }
    }

    /// Compares two values.
    pub(super) fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        self.value(Op::Compare(op, a, b), Scalar::Bool)
    }

    /// Emits a binary operator with a result of type `ty`.
    pub(super) fn binary_value(&mut self, op: BinaryOp, a: Value, b: Value, ty: Scalar) -> Value {
        self.value(Op::Binary(op, a, b), ty)
    }

    /// Emits a binary operator on two `u64`.
    pub(super) fn index_op(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.binary_value(op, a, b, Scalar::U64)
    }

    /// Emits a unary operator with a result of type `ty`.
    pub(super) fn unary_value(&mut self, op: UnaryOp, a: Value, ty: Scalar) -> Value {
        self.value(Op::Unary(op, a), ty)
    }

    /// Selects one of two values of a type.
    pub(super) fn select(&mut self, condition: Value, yes: Value, no: Value, ty: Scalar) -> Value {
        self.value(Op::Select(condition, yes, no), ty)
    }

    /// Packs the two halves of a vector into one register.
    pub(super) fn pack(&mut self, vector: &Val, pair: Scalar) -> Value {
        self.value(Op::Pair(vector.leaves[0], vector.leaves[1]), pair)
    }

    /// Unpacks the two halves of a register.
    pub(super) fn unpack(&mut self, value: Value, pair: Scalar) -> Vec<Value> {
        let half = pair.lane().unwrap_or(pair);
        [Lane::Low, Lane::High].map(|lane| self.value(Op::Lane(value, lane), half)).to_vec()
    }

    /// Casts a number to another type. KIR has no cast between 16-bit floats and integers: it goes through `f32`.
    pub(super) fn cast_value(&mut self, value: Value, from: Scalar, to: Scalar) -> Value {
        if from == to {
            return value;
        }
        if to.is_half() && !from.is_float() || from.is_half() && !to.is_float() {
            let single = self.value(Op::Cast(value, Scalar::F32), Scalar::F32);
            return self.value(Op::Cast(single, to), to);
        }
        self.value(Op::Cast(value, to), to)
    }

    /// Reads a special register as a `usize`.
    pub(super) fn special(&mut self, special: Special) -> Value {
        let value = self.value(Op::Special(special), Scalar::U32);
        self.value(Op::Cast(value, Scalar::U64), Scalar::U64)
    }

    pub(super) fn position(&mut self, axis: Axis) -> Value {
        let block = self.special(Special::BlockIdx(axis));
        let dim = self.special(Special::BlockDim(axis));
        let thread = self.special(Special::ThreadIdx(axis));
        let base = self.value(Op::Binary(BinaryOp::Mul, block, dim), Scalar::U64);
        self.value(Op::Binary(BinaryOp::Add, base, thread), Scalar::U64)
    }

    pub(super) fn extent(&mut self, axis: Axis) -> Value {
        let blocks = self.special(Special::GridDim(axis));
        let dim = self.special(Special::BlockDim(axis));
        self.value(Op::Binary(BinaryOp::Mul, blocks, dim), Scalar::U64)
    }

    /// Ends the block with a branch to two new blocks and returns them.
    pub(super) fn fork(&mut self, condition: Value) -> (BlockId, BlockId) {
        let (yes, no) = (self.block(), self.block());
        self.end(Terminator::Branch(condition, yes, no));
        (yes, no)
    }

    /// Jumps to a block and continues there.
    pub(super) fn jump_into(&mut self, block: BlockId) {
        self.end(Terminator::Jump(block));
        self.select_block(block);
    }

    /// Continues in a new block if a condition holds, else jumps to `otherwise`.
    pub(super) fn continue_if(&mut self, condition: Value, otherwise: BlockId) {
        let next = self.block();
        self.end(Terminator::Branch(condition, next, otherwise));
        self.select_block(next);
    }

    /// Allocates a slot for a counter that starts at 0.
    pub(super) fn counter(&mut self) -> SlotId {
        let slot = self.slot("counter", Scalar::U64);
        let zero = self.constant(Scalar::U64, 0);
        self.effect(Op::Set(slot, zero));
        slot
    }
}

fn zero(leaf: Type) -> Const {
    Const { ty: leaf.scalar().unwrap_or(Scalar::U64), bits: 0 }
}
