//! Lowers arithmetic: operators, comparisons, casts and special registers.
//!
//! Every intrinsic used here is lowered to PTX instructions for every type that the verifier accepts; none becomes a
//! call of libdevice or the C library. A test emits each of them.

use cuda_llvm::inkwell;
use inkwell::builder::Builder;
use inkwell::intrinsics::Intrinsic;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicMetadataValueEnum, BasicValue, BasicValueEnum, FastMathFlags, FloatValue, IntValue};
use inkwell::{FloatPredicate, IntPredicate};

use super::EmitError;
use super::function::{Body, Lowering, Result};
use crate::kir::{Axis, BinaryOp, CompareOp, Scalar, Special, TernaryOp, UnaryOp, Value};

impl<'ctx> Lowering<'ctx, '_> {
    /// Calls an overloaded intrinsic that returns a value.
    pub(super) fn intrinsic(
        &self,
        name: &str,
        types: &[BasicTypeEnum<'ctx>],
        arguments: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>> {
        let yielded = self.call_intrinsic(name, types, arguments)?;
        yielded.ok_or_else(|| EmitError::Llvm(format!("{name} yields nothing")))
    }

    /// Calls an overloaded intrinsic.
    pub(super) fn call_intrinsic(
        &self,
        name: &str,
        types: &[BasicTypeEnum<'ctx>],
        arguments: &[BasicValueEnum<'ctx>],
    ) -> Result<Option<BasicValueEnum<'ctx>>> {
        let declared = Intrinsic::find(name).and_then(|intrinsic| intrinsic.get_declaration(self.module, types));
        let declared = declared.ok_or_else(|| EmitError::Llvm(format!("there is no intrinsic {name}")))?;
        let arguments: Vec<BasicMetadataValueEnum<'ctx>> = arguments.iter().map(|&value| value.into()).collect();
        let call = self.builder.build_call(declared, &arguments, "")?;
        Ok(call.try_as_basic_value().basic())
    }

    pub(super) fn special(&self, special: Special) -> Result<BasicValueEnum<'ctx>> {
        let letter = |axis: Axis| match axis {
            Axis::X => "x",
            Axis::Y => "y",
            Axis::Z => "z",
        };
        let register = match special {
            Special::ThreadIdx(axis) => format!("tid.{}", letter(axis)),
            Special::BlockIdx(axis) => format!("ctaid.{}", letter(axis)),
            Special::BlockDim(axis) => format!("ntid.{}", letter(axis)),
            Special::GridDim(axis) => format!("nctaid.{}", letter(axis)),
            Special::LaneId => "laneid".to_owned(),
            Special::WarpSize => "warpsize".to_owned(),
            Special::ClusterBlockIdx(axis) => format!("cluster.ctaid.{}", letter(axis)),
            Special::ClusterDim(axis) => format!("cluster.nctaid.{}", letter(axis)),
            Special::ClusterRank => "cluster.ctarank".to_owned(),
            Special::ClusterRanks => "cluster.nctarank".to_owned(),
            Special::LaneMask(CompareOp::Ne) => {
                let own = self.special(Special::LaneMask(CompareOp::Eq))?.into_int_value();
                return Ok(self.builder.build_not(own, "")?.into());
            }
            Special::LaneMask(order) => {
                let name = match order {
                    CompareOp::Eq | CompareOp::Ne => "eq",
                    CompareOp::Lt => "lt",
                    CompareOp::Le => "le",
                    CompareOp::Gt => "gt",
                    CompareOp::Ge => "ge",
                };
                format!("lanemask.{name}")
            }
            Special::ComputeCapability => {
                let number = 10 * self.capability.major + self.capability.minor;
                return Ok(self.context.i32_type().const_int(number.into(), false).into());
            }
            // LLVM has no intrinsic for this register
            Special::DynamicSharedBytes => {
                let ty = self.context.i32_type().fn_type(&[], false);
                let (text, result) = ("mov.u32 $0, %dynamic_smem_size;".to_owned(), "=r".to_owned());
                let read = self.context.create_inline_asm(ty, text, result, false, false, None, false);
                let call = self.builder.build_indirect_call(ty, read, &[], "")?;
                let read = call.try_as_basic_value().basic();
                let read = read.ok_or_else(|| EmitError::Llvm("an instruction yields nothing".to_owned()))?;
                // spilled arrays are not part of the launch's own dynamic memory
                let arrays = self.spilled.as_ref().map_or(0, |spilled| spilled.bytes);
                let arrays = self.context.i32_type().const_int(arrays.into(), false);
                return Ok(self.builder.build_int_sub(read.into_int_value(), arrays, "")?.into());
            }
        };
        self.intrinsic(&format!("llvm.nvvm.read.ptx.sreg.{register}"), &[], &[])
    }

    /// Sets the fast-math flags of a float operation; a folded constant has none.
    pub(super) fn relax(&self, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        let mut flags = FastMathFlags::empty();
        flags.set(FastMathFlags::AllowContract, self.contract);
        flags.set(FastMathFlags::ApproxFunc, self.options.fast_math);
        if let (Some(inst), false) = (value.as_instruction_value(), flags.is_empty()) {
            inst.set_fast_math_flags(flags).map_err(|error| EmitError::Llvm(error.to_string()))?;
        }
        Ok(value)
    }
}

impl<'ctx> Body<'ctx, '_> {
    fn scalar_of(&self, value: Value) -> Result<Scalar> {
        self.ty(value).scalar().ok_or_else(|| self.unverified("operand"))
    }

    pub(super) fn unary(&self, op: UnaryOp, a: Value) -> Result<BasicValueEnum<'ctx>> {
        let (ty, value) = (self.scalar_of(a)?, self.value(a));
        if ty.is_half() || ty.is_pair() {
            return self.half_unary(op, ty, a);
        }
        if let BasicValueEnum::FloatValue(value) = value {
            return self.float_unary(op, value);
        }
        let llvm = self.lowering.scalar(ty);
        let no = self.lowering.context.bool_type().const_zero().into();
        let plain = |name: &str| self.lowering.intrinsic(name, &[llvm], &[value]);
        let defined_at_zero = |name: &str| self.lowering.intrinsic(name, &[llvm], &[value, no]);
        match op {
            UnaryOp::Neg => Ok(self.builder().build_int_neg(value.into_int_value(), "")?.into()),
            UnaryOp::Not => Ok(self.builder().build_not(value.into_int_value(), "")?.into()),
            UnaryOp::Abs => defined_at_zero("llvm.abs"),
            UnaryOp::CountOnes => plain("llvm.ctpop"),
            UnaryOp::LeadingZeros => defined_at_zero("llvm.ctlz"),
            UnaryOp::TrailingZeros => defined_at_zero("llvm.cttz"),
            UnaryOp::ReverseBits => plain("llvm.bitreverse"),
            UnaryOp::SwapBytes if ty.bits() == 8 => Ok(value),
            UnaryOp::SwapBytes => plain("llvm.bswap"),
            UnaryOp::Sqrt | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::RoundTiesEven => {
                Err(self.unverified("operator on integers"))
            }
        }
    }

    pub(super) fn float_unary(&self, op: UnaryOp, value: FloatValue<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        let float = |name: &str| self.lowering.intrinsic(name, &[value.get_type().into()], &[value.into()]);
        match op {
            UnaryOp::Neg => Ok(self.builder().build_float_neg(value, "")?.into()),
            UnaryOp::Abs => float("llvm.fabs"),
            UnaryOp::Sqrt => self.lowering.relax(float("llvm.sqrt")?),
            UnaryOp::Floor => float("llvm.floor"),
            UnaryOp::Ceil => float("llvm.ceil"),
            UnaryOp::Trunc => float("llvm.trunc"),
            UnaryOp::RoundTiesEven => float("llvm.roundeven"),
            _ => Err(self.unverified("operator on floats")),
        }
    }

    pub(super) fn binary(&self, op: BinaryOp, a: Value, b: Value) -> Result<BasicValueEnum<'ctx>> {
        let ty = self.scalar_of(a)?;
        if ty.is_half() || ty.is_pair() {
            return self.half_binary(op, ty, a, b);
        }
        match (self.value(a), self.value(b)) {
            (BasicValueEnum::FloatValue(a), BasicValueEnum::FloatValue(b)) => self.float_binary(op, ty, a, b),
            (BasicValueEnum::IntValue(a), BasicValueEnum::IntValue(b)) => self.int_binary(op, ty, a, b),
            _ => Err(self.unverified("operand")),
        }
    }

    pub(super) fn float_binary(
        &self,
        op: BinaryOp,
        ty: Scalar,
        a: FloatValue<'ctx>,
        b: FloatValue<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let builder = self.builder();
        let call = |name: &str| self.lowering.intrinsic(name, &[self.lowering.scalar(ty)], &[a.into(), b.into()]);
        match op {
            BinaryOp::Add => self.lowering.relax(builder.build_float_add(a, b, "")?.into()),
            BinaryOp::Sub => self.lowering.relax(builder.build_float_sub(a, b, "")?.into()),
            BinaryOp::Mul => self.lowering.relax(builder.build_float_mul(a, b, "")?.into()),
            BinaryOp::Div => self.lowering.relax(builder.build_float_div(a, b, "")?.into()),
            BinaryOp::Min => call("llvm.minimumnum"),
            BinaryOp::Max => call("llvm.maximumnum"),
            BinaryOp::CopySign => call("llvm.copysign"),
            // `float_rem` has expanded `rem` to a call
            BinaryOp::Rem | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => {
                Err(self.unverified("operator on floats"))
            }
        }
    }

    fn int_binary(
        &self,
        op: BinaryOp,
        ty: Scalar,
        a: IntValue<'ctx>,
        b: IntValue<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let builder: &Builder<'ctx> = self.builder();
        let signed = ty.is_signed();
        let call = |name: &str| self.lowering.intrinsic(name, &[self.lowering.scalar(ty)], &[a.into(), b.into()]);
        let masked = || builder.build_and(b, b.get_type().const_int(u64::from(ty.bits()) - 1, false), "");
        Ok(match op {
            BinaryOp::Add => builder.build_int_add(a, b, "")?,
            BinaryOp::Sub => builder.build_int_sub(a, b, "")?,
            BinaryOp::Mul => builder.build_int_mul(a, b, "")?,
            BinaryOp::Div if signed => builder.build_int_signed_div(a, b, "")?,
            BinaryOp::Div => builder.build_int_unsigned_div(a, b, "")?,
            BinaryOp::Rem if signed => builder.build_int_signed_rem(a, b, "")?,
            BinaryOp::Rem => builder.build_int_unsigned_rem(a, b, "")?,
            BinaryOp::And => builder.build_and(a, b, "")?,
            BinaryOp::Or => builder.build_or(a, b, "")?,
            BinaryOp::Xor => builder.build_xor(a, b, "")?,
            BinaryOp::Shl => builder.build_left_shift(a, masked()?, "")?,
            BinaryOp::Shr => builder.build_right_shift(a, masked()?, signed, "")?,
            BinaryOp::Min => return call(if signed { "llvm.smin" } else { "llvm.umin" }),
            BinaryOp::Max => return call(if signed { "llvm.smax" } else { "llvm.umax" }),
            BinaryOp::CopySign => return Err(self.unverified("operator on integers")),
        }
        .into())
    }

    pub(super) fn fma(&self, a: Value, b: Value, c: Value) -> Result<BasicValueEnum<'ctx>> {
        let scalar = self.scalar_of(a)?;
        if scalar.is_half() || scalar.is_pair() {
            return self.half_fma(scalar, [a, b, c]);
        }
        let ty = self.lowering.scalar(scalar);
        self.lowering.intrinsic("llvm.fma", &[ty], &[self.value(a), self.value(b), self.value(c)])
    }

    pub(super) fn ternary(&self, op: TernaryOp, operands: [Value; 3]) -> Result<BasicValueEnum<'ctx>> {
        let (word, signed) = (self.lowering.context.i32_type(), self.scalar_of(operands[0])?.is_signed());
        let [a, b, c] = operands.map(|value| self.value(value));
        let call = |name: &str, arguments: &[BasicValueEnum<'ctx>]| self.lowering.intrinsic(name, &[], arguments);
        match op {
            TernaryOp::BytePerm => call("llvm.nvvm.prmt", &[a, b, c]),
            // LLVM's funnel shifts take the high word first
            TernaryOp::FunnelLeft => self.lowering.intrinsic("llvm.fshl", &[word.into()], &[b, a, c]),
            TernaryOp::FunnelRight => self.lowering.intrinsic("llvm.fshr", &[word.into()], &[b, a, c]),
            TernaryOp::DotBytes if self.lowering.capability >= (6, 1).into() => {
                let name = if signed { "llvm.nvvm.idp4a.s.s" } else { "llvm.nvvm.idp4a.u.u" };
                call(name, &[a, b, c])
            }
            TernaryOp::DotBytes => self.dot_bytes(signed, [a, b, c].map(BasicValueEnum::into_int_value)),
        }
    }

    /// Computes the dot product of four bytes, one by one.
    fn dot_bytes(&self, signed: bool, [a, b, c]: [IntValue<'ctx>; 3]) -> Result<BasicValueEnum<'ctx>> {
        let (builder, context) = (self.builder(), self.lowering.context);
        let mut sum = c;
        for index in 0..4 {
            let mut bytes = [a, b];
            for word in &mut bytes {
                let at = context.i32_type().const_int(8 * index, false);
                let low = builder.build_right_shift(*word, at, false, "")?;
                let byte = builder.build_int_truncate(low, context.i8_type(), "")?;
                *word = builder.build_int_cast_sign_flag(byte, context.i32_type(), signed, "")?;
            }
            let product = builder.build_int_mul(bytes[0], bytes[1], "")?;
            sum = builder.build_int_add(sum, product, "")?;
        }
        Ok(sum.into())
    }

    pub(super) fn overflows(&self, op: BinaryOp, a: Value, b: Value) -> Result<BasicValueEnum<'ctx>> {
        let ty = self.scalar_of(a)?;
        let sign = if ty.is_signed() { 's' } else { 'u' };
        let name = match op {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            _ => "mul",
        };
        let name = format!("llvm.{sign}{name}.with.overflow");
        let pair = self.lowering.intrinsic(&name, &[self.lowering.scalar(ty)], &[self.value(a), self.value(b)])?;
        Ok(self.builder().build_extract_value(pair.into_struct_value(), 1, "")?)
    }

    pub(super) fn compare(&self, op: CompareOp, a: Value, b: Value) -> Result<BasicValueEnum<'ctx>> {
        let ty = self.scalar_of(a)?;
        if ty.is_half() {
            return self.half_compare(op, ty, a, b);
        }
        Ok(match (self.value(a), self.value(b)) {
            (BasicValueEnum::FloatValue(a), BasicValueEnum::FloatValue(b)) => {
                self.builder().build_float_compare(float_predicate(op), a, b, "")?.into()
            }
            (BasicValueEnum::IntValue(a), BasicValueEnum::IntValue(b)) => {
                self.builder().build_int_compare(int_predicate(op, ty.is_signed()), a, b, "")?.into()
            }
            _ => return Err(self.unverified("operand")),
        })
    }

    pub(super) fn cast(&self, a: Value, to: Scalar) -> Result<BasicValueEnum<'ctx>> {
        let (from, value) = (self.scalar_of(a)?, self.value(a));
        if from.is_half() || to.is_half() {
            return self.half_cast(a, from, to);
        }
        if from.is_float() != to.is_float() && from.bits().max(to.bits()) > 64 {
            return self.wide_cast(value, from, to);
        }
        let builder = self.builder();
        let saturate = |name: &str| {
            self.lowering.intrinsic(name, &[self.lowering.scalar(to), self.lowering.scalar(from)], &[value])
        };
        Ok(match (value, self.lowering.scalar(to)) {
            (BasicValueEnum::FloatValue(value), BasicTypeEnum::FloatType(ty)) if from.bits() < to.bits() => {
                builder.build_float_ext(value, ty, "")?.into()
            }
            (BasicValueEnum::FloatValue(value), BasicTypeEnum::FloatType(ty)) if from.bits() > to.bits() => {
                builder.build_float_trunc(value, ty, "")?.into()
            }
            (BasicValueEnum::FloatValue(_), BasicTypeEnum::FloatType(_)) => value,
            (BasicValueEnum::FloatValue(_), _) if to.is_signed() => saturate("llvm.fptosi.sat")?,
            (BasicValueEnum::FloatValue(_), _) => saturate("llvm.fptoui.sat")?,
            (BasicValueEnum::IntValue(value), BasicTypeEnum::FloatType(ty)) if from.is_signed() => {
                builder.build_signed_int_to_float(value, ty, "")?.into()
            }
            (BasicValueEnum::IntValue(value), BasicTypeEnum::FloatType(ty)) => {
                builder.build_unsigned_int_to_float(value, ty, "")?.into()
            }
            (BasicValueEnum::IntValue(value), BasicTypeEnum::IntType(ty)) => {
                builder.build_int_cast_sign_flag(value, ty, from.is_signed(), "")?.into()
            }
            _ => return Err(self.unverified("cast")),
        })
    }
}

pub(super) fn float_predicate(op: CompareOp) -> FloatPredicate {
    match op {
        CompareOp::Eq => FloatPredicate::OEQ,
        CompareOp::Ne => FloatPredicate::UNE,
        CompareOp::Lt => FloatPredicate::OLT,
        CompareOp::Le => FloatPredicate::OLE,
        CompareOp::Gt => FloatPredicate::OGT,
        CompareOp::Ge => FloatPredicate::OGE,
    }
}

fn int_predicate(op: CompareOp, signed: bool) -> IntPredicate {
    match (op, signed) {
        (CompareOp::Eq, _) => IntPredicate::EQ,
        (CompareOp::Ne, _) => IntPredicate::NE,
        (CompareOp::Lt, true) => IntPredicate::SLT,
        (CompareOp::Le, true) => IntPredicate::SLE,
        (CompareOp::Gt, true) => IntPredicate::SGT,
        (CompareOp::Ge, true) => IntPredicate::SGE,
        (CompareOp::Lt, false) => IntPredicate::ULT,
        (CompareOp::Le, false) => IntPredicate::ULE,
        (CompareOp::Gt, false) => IntPredicate::UGT,
        (CompareOp::Ge, false) => IntPredicate::UGE,
    }
}
