//! The KIR function that is being built, and the operations that every part of the front end writes.
//!
//! It knows values, their types and memory, and nothing of the syntax: no source locations, bindings or errors. A helper
//! that needs no more stands in an `impl Builder` of the file of its part of the language: `memory.rs` has loads and stores,
//! `arrays.rs` the memory of arrays.

use std::ops::{Deref, DerefMut};

use super::arrays::Arrays;
use super::types::Val;
use crate::kir::build::FunctionBuilder;
use crate::kir::{
    Axis, BinaryOp, BlockId, CompareOp, Const, Function, Lane, Op, Scalar, SlotId, Special, Terminator, Type, UnaryOp,
    Value,
};
use crate::typeinfo::Ty;

/// A function of KIR that is being built.
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
    /// Begins with a function that has nothing yet.
    pub(super) fn new(function: FunctionBuilder) -> Self {
        Builder { function, arrays: Arrays::default() }
    }

    /// The function as it is.
    pub(super) fn finish(self) -> Function {
        self.function.finish()
    }

    /// The value in slots.
    pub(super) fn get(&mut self, ty: &Ty, slots: &[SlotId]) -> Val {
        let types = ty.leaves();
        let leaves = slots.iter().zip(types).map(|(slot, leaf)| self.value(Op::Get(*slot), leaf)).collect();
        Val { ty: ty.clone(), leaves }
    }

    /// A constant.
    pub(super) fn constant(&mut self, ty: Scalar, bits: u64) -> Value {
        self.function.constant(ty, bits.into())
    }

    /// A constant of any type from its bits.
    pub(super) fn constant_bits(&mut self, ty: Scalar, bits: u128) -> Value {
        self.function.constant(ty, bits)
    }

    /// A value that stands for one that never comes to be, so that what follows has something to name. It is only made
    /// where control does not come, so pointers, which have no constants, are never seen.
    pub(super) fn never(&mut self, ty: &Ty) -> Val {
        let leaves = ty.leaves().into_iter().map(|leaf| self.value(Op::Const(zero(leaf)), leaf)).collect();
        Val { ty: ty.clone(), leaves }
    }

    /// A comparison of two values.
    pub(super) fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        self.value(Op::Compare(op, a, b), Scalar::Bool)
    }

    /// An operation on two values, with a result of a type.
    pub(super) fn binary_value(&mut self, op: BinaryOp, a: Value, b: Value, ty: Scalar) -> Value {
        self.value(Op::Binary(op, a, b), ty)
    }

    /// An operation on two values of `u64`.
    pub(super) fn index_op(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.binary_value(op, a, b, Scalar::U64)
    }

    /// An operation on one value, with a result of a type.
    pub(super) fn unary_value(&mut self, op: UnaryOp, a: Value, ty: Scalar) -> Value {
        self.value(Op::Unary(op, a), ty)
    }

    /// One of two values of a type.
    pub(super) fn select(&mut self, condition: Value, yes: Value, no: Value, ty: Scalar) -> Value {
        self.value(Op::Select(condition, yes, no), ty)
    }

    /// A vector's halves in one register.
    pub(super) fn pack(&mut self, vector: &Val, pair: Scalar) -> Value {
        self.value(Op::Pair(vector.leaves[0], vector.leaves[1]), pair)
    }

    /// The halves of a register.
    pub(super) fn unpack(&mut self, value: Value, pair: Scalar) -> Vec<Value> {
        let half = pair.lane().unwrap_or(pair);
        [Lane::Low, Lane::High].map(|lane| self.value(Op::Lane(value, lane), half)).to_vec()
    }

    /// A number as another type. Halves and integers are converted to each other by way of `f32`, as no operation does both.
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

    /// A hardware register as a `usize`.
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

    /// Ends the block with a branch to two new blocks and yields them.
    pub(super) fn fork(&mut self, condition: Value) -> (BlockId, BlockId) {
        let (yes, no) = (self.block(), self.block());
        self.end(Terminator::Branch(condition, yes, no));
        (yes, no)
    }

    /// Jumps to a block and goes on there.
    pub(super) fn jump_into(&mut self, block: BlockId) {
        self.end(Terminator::Jump(block));
        self.select_block(block);
    }

    /// Goes on in a new block where a condition holds, elsewhere in `otherwise`.
    pub(super) fn go_on_if(&mut self, condition: Value, otherwise: BlockId) {
        let next = self.block();
        self.end(Terminator::Branch(condition, next, otherwise));
        self.select_block(next);
    }

    /// A slot for a number that begins as 0.
    pub(super) fn counter(&mut self) -> SlotId {
        let slot = self.slot("turn", Scalar::U64);
        let zero = self.constant(Scalar::U64, 0);
        self.effect(Op::Set(slot, zero));
        slot
    }
}

fn zero(leaf: Type) -> Const {
    Const { ty: leaf.scalar().unwrap_or(Scalar::U64), bits: 0 }
}
