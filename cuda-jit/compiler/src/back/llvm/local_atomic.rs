//! Atomic operations on local memory. No other thread can access it, so they are plain loads and stores: the device has
//! no atomic instructions for local memory, and LLVM only removes the atomicity if it sees the `alloca`.

use cuda_llvm::inkwell;
use inkwell::IntPredicate;
use inkwell::values::{BasicValueEnum, IntValue};

use super::atomic::{Number, bits};
use super::function::{Body, Result};
use crate::kir::{AtomicOp, Op, Scalar, Value};

impl<'ctx> Body<'ctx, '_> {
    /// Lowers an atomic operation on local memory; returns its result, if it has one.
    pub(super) fn non_atomic(&self, number: Number<'ctx>, op: &Op) -> Result<Option<BasicValueEnum<'ctx>>> {
        match *op {
            Op::AtomicLoad(..) => self.own(number).map(Some),
            Op::AtomicStore(_, _, value) => self.set_own(number, self.value(value)).map(|()| None),
            Op::Atomic(op, _, _, value) => {
                let old = self.own(number)?;
                let new = self.changed(op, number.scalar, old, self.value(value))?;
                self.set_own(number, new)?;
                Ok(Some(old))
            }
            Op::CompareExchange(_, _, wanted, new) => {
                let old = self.own(number)?;
                let [found, wanted] = [self.bits_of(old, number.scalar)?, self.of_bits(wanted, number.scalar)?];
                let same = self.builder().build_int_compare(IntPredicate::EQ, found, wanted, "")?;
                let new = self.builder().build_select(same, self.value(new), old, "")?;
                self.set_own(number, new)?;
                Ok(Some(old))
            }
            _ => Err(self.unverified("atomic operation")),
        }
    }

    fn own(&self, number: Number<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        let memory = self.lowering.scalar(number.scalar);
        Ok(self.builder().build_load(memory, number.pointer, "")?)
    }

    fn set_own(&self, number: Number<'ctx>, value: BasicValueEnum<'ctx>) -> Result<()> {
        self.builder().build_store(number.pointer, value)?;
        Ok(())
    }

    fn bits_of(&self, value: BasicValueEnum<'ctx>, scalar: Scalar) -> Result<IntValue<'ctx>> {
        Ok(self.builder().build_bit_cast(value, self.lowering.scalar(bits(scalar)), "")?.into_int_value())
    }

    fn of_bits(&self, value: Value, scalar: Scalar) -> Result<IntValue<'ctx>> {
        self.bits_of(self.value(value), scalar)
    }

    /// The new value of a read-modify-write operation.
    fn changed(
        &self,
        op: AtomicOp,
        scalar: Scalar,
        old: BasicValueEnum<'ctx>,
        value: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let builder = self.builder();
        if op == AtomicOp::Exchange {
            return Ok(value);
        }
        if scalar.is_float() {
            let (old, value) = (old.into_float_value(), value.into_float_value());
            let sum = match op {
                AtomicOp::Add => builder.build_float_add(old, value, "")?,
                AtomicOp::Sub => builder.build_float_sub(old, value, "")?,
                _ => return Err(self.unverified("atomic operation")),
            };
            return Ok(sum.into());
        }
        let (old, value) = (old.into_int_value(), value.into_int_value());
        let (less, greater) = match scalar.is_signed() {
            true => (IntPredicate::SLT, IntPredicate::SGT),
            false => (IntPredicate::ULT, IntPredicate::UGT),
        };
        let chosen = |predicate, a: IntValue<'ctx>, b: IntValue<'ctx>, [yes, no]: [IntValue<'ctx>; 2]| {
            let condition = builder.build_int_compare(predicate, a, b, "")?;
            Ok::<_, super::EmitError>(builder.build_select(condition, yes, no, "")?.into_int_value())
        };
        let (zero, one) = (old.get_type().const_zero(), old.get_type().const_int(1, false));
        let new = match op {
            AtomicOp::Add => builder.build_int_add(old, value, "")?,
            AtomicOp::Sub => builder.build_int_sub(old, value, "")?,
            AtomicOp::And => builder.build_and(old, value, "")?,
            AtomicOp::Or => builder.build_or(old, value, "")?,
            AtomicOp::Xor => builder.build_xor(old, value, "")?,
            AtomicOp::Min => chosen(less, old, value, [old, value])?,
            AtomicOp::Max => chosen(greater, old, value, [old, value])?,
            AtomicOp::Exchange => value,
            AtomicOp::Inc => {
                let next = builder.build_int_add(old, one, "")?;
                chosen(IntPredicate::ULT, old, value, [next, zero])?
            }
            AtomicOp::Dec => {
                let next = builder.build_int_sub(old, one, "")?;
                let within = chosen(IntPredicate::UGT, old, value, [value, next])?;
                chosen(IntPredicate::EQ, old, zero, [value, within])?
            }
        };
        Ok(new.into())
    }
}
