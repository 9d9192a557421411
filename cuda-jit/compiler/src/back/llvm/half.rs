//! Lowers arithmetic on 16-bit floats and on pairs of them: to native instructions if the target has them, else to
//! `f32` arithmetic with a second rounding. Both give the result that [`crate::kir`] specifies.
//!
//! Rounding a sum, product, quotient or root of two such floats to `f32` first does not change the result. (This also
//! holds for `bf16`, whose exponent range is that of `f32`: a product or quotient that is subnormal in `f32` is never
//! close enough to the midpoint of two `bf16`.) A fused multiply-add has too many bits for that. It is computed in
//! `f32` with rounding to odd: of the two neighbouring `f32`, the one whose last bit is set, which makes the second
//! rounding correct.

use cuda_llvm::inkwell;
use inkwell::values::{BasicValueEnum, FloatValue};

use super::function::{Body, Result};
use super::ops::float_predicate;
use crate::kir::{BinaryOp, CompareOp, Lane, Scalar, UnaryOp, Value};
use crate::target::ComputeCapability;

/// A group of instructions that a target may have natively.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Native {
    /// Sums, differences and products.
    Sum,
    Fused,
    Extremum,
    Comparison,
}

impl<'ctx> Body<'ctx, '_> {
    fn has(&self, what: Native, half: Scalar) -> bool {
        let since = match (what, half) {
            (Native::Extremum, _) | (Native::Fused, Scalar::Bf16) => (8, 0),
            (_, Scalar::Bf16) => (9, 0),
            _ => (5, 3),
        };
        self.lowering.capability >= ComputeCapability::from(since)
    }

    /// Extends a 16-bit float to `f32`, exactly.
    fn widen(&self, value: BasicValueEnum<'ctx>) -> Result<FloatValue<'ctx>> {
        let single = self.lowering.context.f32_type();
        Ok(self.builder().build_float_ext(value.into_float_value(), single, "")?)
    }

    /// Rounds a float to 16 bits.
    fn narrow(&self, half: Scalar, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        let ty = self.lowering.scalar(half).into_float_type();
        Ok(self.builder().build_float_trunc(value.into_float_value(), ty, "")?.into())
    }

    /// Packs two values.
    pub(super) fn pair(&self, low: BasicValueEnum<'ctx>, high: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        let index = |index| self.lowering.context.i32_type().const_int(index, false);
        let empty = low.into_float_value().get_type().vec_type(2).get_poison();
        let half = self.builder().build_insert_element(empty, low, index(0), "")?;
        Ok(self.builder().build_insert_element(half, high, index(1), "")?.into())
    }

    /// Extracts a half of a pair.
    pub(super) fn lane(&self, pair: Value, lane: Lane) -> Result<BasicValueEnum<'ctx>> {
        self.lane_of(self.value(pair), lane)
    }

    fn lane_of(&self, pair: BasicValueEnum<'ctx>, lane: Lane) -> Result<BasicValueEnum<'ctx>> {
        let index = self.lowering.context.i32_type().const_int(u64::from(lane == Lane::High), false);
        Ok(self.builder().build_extract_element(pair.into_vector_value(), index, "")?)
    }

    /// Applies an operation to each half of pairs.
    fn each_lane<const N: usize>(
        &self,
        pairs: [BasicValueEnum<'ctx>; N],
        op: impl Fn([BasicValueEnum<'ctx>; N]) -> Result<BasicValueEnum<'ctx>>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let half = |lane| {
            let mut halves = pairs;
            for (half, pair) in halves.iter_mut().zip(pairs) {
                *half = self.lane_of(pair, lane)?;
            }
            op(halves)
        };
        let low = half(Lane::Low)?;
        let high = half(Lane::High)?;
        self.pair(low, high)
    }

    /// Lowers a unary operator on 16-bit floats or a pair.
    pub(super) fn half_unary(&self, op: UnaryOp, ty: Scalar, a: Value) -> Result<BasicValueEnum<'ctx>> {
        let value = self.value(a);
        match (op, value) {
            (UnaryOp::Neg, BasicValueEnum::VectorValue(pair)) => Ok(self.builder().build_float_neg(pair, "")?.into()),
            (UnaryOp::Neg, value) => Ok(self.builder().build_float_neg(value.into_float_value(), "")?.into()),
            (UnaryOp::Abs, value) => self.lowering.intrinsic("llvm.fabs", &[self.lowering.scalar(ty)], &[value]),
            (op, value) => {
                let wide = self.float_unary(op, self.widen(value)?)?;
                self.narrow(ty, wide)
            }
        }
    }

    /// Lowers a binary operator on 16-bit floats or pairs.
    pub(super) fn half_binary(&self, op: BinaryOp, ty: Scalar, a: Value, b: Value) -> Result<BasicValueEnum<'ctx>> {
        let operands = [self.value(a), self.value(b)];
        let half = ty.lane().unwrap_or(ty);
        let native = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => self.has(Native::Sum, half),
            BinaryOp::Min | BinaryOp::Max => self.has(Native::Extremum, half),
            BinaryOp::CopySign => true,
            _ => false,
        };
        if native {
            return self.native_binary(op, ty, operands);
        }
        let one = |[a, b]: [BasicValueEnum<'ctx>; 2]| {
            let wide = self.float_binary(op, Scalar::F32, self.widen(a)?, self.widen(b)?)?;
            self.narrow(half, wide)
        };
        if ty.is_pair() { self.each_lane(operands, one) } else { one(operands) }
    }

    fn native_binary(
        &self,
        op: BinaryOp,
        ty: Scalar,
        operands: [BasicValueEnum<'ctx>; 2],
    ) -> Result<BasicValueEnum<'ctx>> {
        match operands {
            [BasicValueEnum::FloatValue(a), BasicValueEnum::FloatValue(b)] => self.float_binary(op, ty, a, b),
            [BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)] => {
                let builder = self.builder();
                match op {
                    BinaryOp::Add => self.lowering.relax(builder.build_float_add(a, b, "")?.into()),
                    BinaryOp::Sub => self.lowering.relax(builder.build_float_sub(a, b, "")?.into()),
                    BinaryOp::Mul => self.lowering.relax(builder.build_float_mul(a, b, "")?.into()),
                    _ => {
                        let name = if op == BinaryOp::Min { "llvm.minimumnum" } else { "llvm.maximumnum" };
                        self.lowering.intrinsic(name, &[self.lowering.scalar(ty)], &operands)
                    }
                }
            }
            _ => Err(self.unverified("operand")),
        }
    }

    /// Lowers `a * b + c` of 16-bit floats or pairs, rounded once.
    pub(super) fn half_fma(&self, ty: Scalar, operands: [Value; 3]) -> Result<BasicValueEnum<'ctx>> {
        let operands = operands.map(|value| self.value(value));
        let half = ty.lane().unwrap_or(ty);
        if self.has(Native::Fused, half) {
            return self.lowering.intrinsic("llvm.fma", &[self.lowering.scalar(ty)], &operands);
        }
        if ty.is_pair() {
            return self.each_lane(operands, |halves| self.fused(half, halves));
        }
        self.fused(half, operands)
    }

    /// Computes a fused multiply-add of 16-bit floats through `f32` with rounding to odd.
    fn fused(&self, half: Scalar, operands: [BasicValueEnum<'ctx>; 3]) -> Result<BasicValueEnum<'ctx>> {
        let (builder, word) = (self.builder(), self.lowering.context.i32_type());
        let mut wide = operands;
        for (wide, narrow) in wide.iter_mut().zip(operands) {
            *wide = self.widen(narrow)?.into();
        }
        let below = self.lowering.intrinsic("llvm.nvvm.fma.rm.f", &[], &wide)?;
        let above = self.lowering.intrinsic("llvm.nvvm.fma.rp.f", &[], &wide)?;
        let bits = builder.build_bit_cast(below, word, "")?.into_int_value();
        let last = builder.build_int_truncate(bits, self.lowering.context.bool_type(), "")?;
        // if both neighbours are equal, either; if they are zeros of both signs, that of rounding to nearest
        let odd = builder.build_select(last, below, above, "")?;
        self.narrow(half, odd)
    }

    /// Lowers a comparison of 16-bit floats.
    pub(super) fn half_compare(&self, op: CompareOp, ty: Scalar, a: Value, b: Value) -> Result<BasicValueEnum<'ctx>> {
        let (a, b) = (self.value(a), self.value(b));
        let (a, b) = match self.has(Native::Comparison, ty) {
            true => (a.into_float_value(), b.into_float_value()),
            false => (self.widen(a)?, self.widen(b)?),
        };
        Ok(self.builder().build_float_compare(float_predicate(op), a, b, "")?.into())
    }

    /// Lowers a cast between floats, at least one of which has 16 bits.
    pub(super) fn half_cast(&self, a: Value, from: Scalar, to: Scalar) -> Result<BasicValueEnum<'ctx>> {
        if from == to {
            return Ok(self.value(a));
        }
        if !from.is_half() {
            return self.narrow(to, self.value(a));
        }
        let wide = self.widen(self.value(a))?;
        match to {
            Scalar::F32 => Ok(wide.into()),
            Scalar::F64 => Ok(self.builder().build_float_ext(wide, self.lowering.context.f64_type(), "")?.into()),
            _ => self.narrow(to, wide.into()),
        }
    }
}
