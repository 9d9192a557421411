//! Casts between 128-bit integers and floats, which LLVM's NVPTX back end would lower to library calls that no device
//! has, and abort. It lowers all other operations on these integers itself.

use cuda_llvm::inkwell;
use inkwell::IntPredicate;
use inkwell::types::{FloatType, IntType};
use inkwell::values::{BasicValueEnum, FloatValue, IntValue};

use super::function::{Body, Result};
use crate::kir::{Scalar, UnaryOp};

/// The number of fraction bits of an `f64`.
const FRACTION: u64 = 52;
/// The exponent bias of an `f64`.
const BIAS: u64 = 1023;

impl<'ctx> Body<'ctx, '_> {
    /// Lowers a cast between a 128-bit integer and `f32` or `f64`.
    pub(super) fn wide_cast(
        &self,
        value: BasicValueEnum<'ctx>,
        from: Scalar,
        to: Scalar,
    ) -> Result<BasicValueEnum<'ctx>> {
        let context = self.lowering.context;
        match value {
            BasicValueEnum::FloatValue(value) => {
                let value = match from {
                    Scalar::F64 => value,
                    _ => self.builder().build_float_ext(value, context.f64_type(), "")?,
                };
                let number = if to.is_signed() { self.to_signed(value)? } else { self.to_unsigned(value)? };
                Ok(number.into())
            }
            value => {
                let (number, ty) = (value.into_int_value(), self.lowering.scalar(to).into_float_type());
                let float = if from.is_signed() { self.of_signed(number, ty)? } else { self.of_unsigned(number, ty)? };
                Ok(float.into())
            }
        }
    }

    fn wide(&self) -> IntType<'ctx> {
        self.lowering.context.i128_type()
    }

    fn long(&self) -> IntType<'ctx> {
        self.lowering.context.i64_type()
    }

    fn chosen(&self, condition: IntValue<'ctx>, yes: IntValue<'ctx>, no: IntValue<'ctx>) -> Result<IntValue<'ctx>> {
        Ok(self.builder().build_select(condition, yes, no, "")?.into_int_value())
    }

    fn is_negative(&self, number: IntValue<'ctx>) -> Result<IntValue<'ctx>> {
        let zero = number.get_type().const_zero();
        Ok(self.builder().build_int_compare(IntPredicate::SLT, number, zero, "")?)
    }

    /// Shifts the significand by the exponent. Values below one, negative ones and NaN become zero.
    fn to_unsigned(&self, value: FloatValue<'ctx>) -> Result<IntValue<'ctx>> {
        let (builder, long) = (self.builder(), self.long());
        let number = |number| long.const_int(number, false);
        let bits = builder.build_bit_cast(value, long, "")?.into_int_value();
        // a set sign bit makes this exponent larger than any other
        let exponent = builder.build_right_shift(bits, number(FRACTION), false, "")?;
        let fraction = builder.build_and(bits, number((1 << FRACTION) - 1), "")?;
        let significand = builder.build_or(fraction, number(1 << FRACTION), "")?;
        let up = builder.build_int_sub(exponent, number(BIAS + FRACTION), "")?;
        let down = builder.build_int_sub(number(BIAS + FRACTION), exponent, "")?;
        let wide = |amount| builder.build_int_z_extend(amount, self.wide(), "");
        let significand = wide(significand)?;
        let above = builder.build_left_shift(significand, wide(up)?, "")?;
        let below = builder.build_right_shift(significand, wide(down)?, false, "")?;
        // one of the two shift amounts is out of range, and its result is not selected
        let has_fraction = self.is_negative(up)?;
        let moved = self.chosen(has_fraction, below, above)?;
        let one = builder.build_float_compare(inkwell::FloatPredicate::OGE, value, self.double(BIAS), "")?;
        let least = self.chosen(one, moved, self.wide().const_zero())?;
        let beyond = builder.build_float_compare(inkwell::FloatPredicate::OGE, value, self.double(BIAS + 128), "")?;
        self.chosen(beyond, self.wide().const_all_ones(), least)
    }

    fn to_signed(&self, value: FloatValue<'ctx>) -> Result<IntValue<'ctx>> {
        let (builder, wide) = (self.builder(), self.wide());
        let positive = self.float_unary(UnaryOp::Abs, value)?.into_float_value();
        let magnitude = self.to_unsigned(positive)?;
        let minimum = wide.const_int_arbitrary_precision(&[0, 1 << 63]);
        let fits = builder.build_int_compare(IntPredicate::ULT, magnitude, minimum, "")?;
        let maximum = builder.build_not(minimum, "")?;
        let up = self.chosen(fits, magnitude, maximum)?;
        let negated = builder.build_int_neg(magnitude, "")?;
        let down = self.chosen(fits, negated, minimum)?;
        let zero = value.get_type().const_zero();
        let below = builder.build_float_compare(inkwell::FloatPredicate::OLT, value, zero, "")?;
        self.chosen(below, down, up)
    }

    /// The power of two with this biased exponent.
    fn double(&self, exponent: u64) -> FloatValue<'ctx> {
        self.lowering.context.f64_type().const_float(f64::from_bits(exponent << FRACTION))
    }

    /// Rounds the upper 64 bits from the leading one on, with the lower bits ored into the last as a sticky bit, and
    /// scales the result.
    fn of_unsigned(&self, number: IntValue<'ctx>, ty: FloatType<'ctx>) -> Result<FloatValue<'ctx>> {
        let (builder, long) = (self.builder(), self.long());
        let (bits, fraction, bias) = match ty.get_bit_width() {
            32 => (self.lowering.context.i32_type(), 23, 127),
            _ => (long, FRACTION, BIAS),
        };
        let flag = self.lowering.context.bool_type().const_zero();
        let zeros = self.lowering.intrinsic("llvm.ctlz", &[self.wide().into()], &[number.into(), flag.into()])?;
        let zeros = zeros.into_int_value();
        // zero shifted by any amount is zero
        let amount = builder.build_and(zeros, self.wide().const_int(127, false), "")?;
        let raised = builder.build_left_shift(number, amount, "")?;
        let low = builder.build_int_truncate(raised, long, "")?;
        let rest = builder.build_int_compare(IntPredicate::NE, low, long.const_zero(), "")?;
        let high = builder.build_right_shift(raised, self.wide().const_int(64, false), false, "")?;
        let high = builder.build_int_truncate(high, long, "")?;
        let high = builder.build_or(high, builder.build_int_z_extend(rest, long, "")?, "")?;
        let rounded = builder.build_unsigned_int_to_float(high, ty, "")?;
        let zeros = builder.build_int_truncate(zeros, bits, "")?;
        let exponent = builder.build_int_sub(bits.const_int(bias + 64, false), zeros, "")?;
        let scale = builder.build_left_shift(exponent, bits.const_int(fraction, false), "")?;
        let scale = builder.build_bit_cast(scale, ty, "")?.into_float_value();
        Ok(builder.build_float_mul(rounded, scale, "")?)
    }

    fn of_signed(&self, number: IntValue<'ctx>, ty: FloatType<'ctx>) -> Result<FloatValue<'ctx>> {
        let builder = self.builder();
        let negative = self.is_negative(number)?;
        let negated = builder.build_int_neg(number, "")?;
        let magnitude = self.of_unsigned(self.chosen(negative, negated, number)?, ty)?;
        let below = builder.build_float_neg(magnitude, "")?;
        Ok(builder.build_select(negative, below, magnitude, "")?.into_float_value())
    }
}
