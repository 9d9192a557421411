//! Loads and stores with a cache hint, by inline PTX, since LLVM has no such instructions: of one number or of several
//! consecutive ones.

use cuda_llvm::inkwell;
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum};

use super::function::{Body, Result};
use crate::kir::{CacheLoad, CacheStore, Scalar, Value};

impl<'ctx> Body<'ctx, '_> {
    /// The register type and constraint letter of a number in inline assembly; there are no 8-bit registers.
    fn register(&self, scalar: Scalar) -> (BasicTypeEnum<'ctx>, char) {
        let context = self.lowering.context;
        match scalar.bits() {
            32 => (context.i32_type().into(), 'r'),
            64 => (context.i64_type().into(), 'l'),
            _ => (context.i16_type().into(), 'h'),
        }
    }

    /// Converts a register's bits to a number.
    fn number_of_register(&self, bits: BasicValueEnum<'ctx>, scalar: Scalar) -> Result<BasicValueEnum<'ctx>> {
        if scalar.bits() < 16 {
            let narrow = self.lowering.scalar(scalar).into_int_type();
            return Ok(self.builder().build_int_truncate(bits.into_int_value(), narrow, "")?.into());
        }
        Ok(self.builder().build_bit_cast(bits, self.lowering.scalar(scalar), "")?)
    }

    fn in_register(&self, value: Value, scalar: Scalar) -> Result<BasicValueEnum<'ctx>> {
        let (value, (register, _)) = (self.value(value), self.register(scalar));
        if scalar.bits() < 16 {
            return Ok(self.builder().build_int_z_extend(value.into_int_value(), register.into_int_type(), "")?.into());
        }
        Ok(self.builder().build_bit_cast(value, register, "")?)
    }

    /// Emits a load of `count` numbers from global memory. Other threads may write it, so the load is not moved across
    /// stores and barriers.
    pub(super) fn load_cached(
        &self,
        hint: CacheLoad,
        pointer: Value,
        count: usize,
    ) -> Result<Vec<BasicValueEnum<'ctx>>> {
        let scalar = self.pointee_scalar(pointer).ok_or_else(|| self.unverified("load"))?;
        let (builder, context) = (self.builder(), self.lowering.context);
        let (register, letter) = self.register(scalar);
        let pointer = self.value(pointer).into_pointer_value();
        let cells: BasicTypeEnum<'_> =
            if count == 1 { register } else { context.struct_type(&vec![register; count], false).into() };
        let ty = cells.fn_type(&[pointer.get_type().into()], false);
        let text = format!("ld.global.{}{} {}, [${count}];", hint.suffix(), width(scalar, count), operands(0, count));
        let constraints = format!("{}l,~{{memory}}", format!("={letter},").repeat(count));
        let load = context.create_inline_asm(ty, text, constraints, true, false, None, false);
        let loaded = builder.build_indirect_call(ty, load, &[pointer.into()], "")?.try_as_basic_value().basic();
        let loaded = loaded.ok_or_else(|| self.unverified("load"))?;
        if count == 1 {
            return Ok(vec![self.number_of_register(loaded, scalar)?]);
        }
        let part = |index| builder.build_extract_value(loaded.into_struct_value(), index, "");
        (0..count as u32).map(|index| self.number_of_register(part(index)?, scalar)).collect()
    }

    /// Emits a store of numbers to global memory.
    pub(super) fn store_cached(&self, hint: CacheStore, pointer: Value, values: &[Value]) -> Result<()> {
        let scalar = self.pointee_scalar(pointer).ok_or_else(|| self.unverified("store"))?;
        let (builder, context) = (self.builder(), self.lowering.context);
        let (register, letter) = self.register(scalar);
        let pointer = self.value(pointer).into_pointer_value();
        let mut passed: Vec<BasicMetadataValueEnum<'_>> = vec![pointer.into()];
        for value in values {
            passed.push(self.in_register(*value, scalar)?.into());
        }
        let mut types = vec![pointer.get_type().into()];
        types.resize(passed.len(), register.into());
        let ty = context.void_type().fn_type(&types, false);
        let count = values.len();
        let text = format!("st.global.{}{} [$0], {};", hint.suffix(), width(scalar, count), operands(1, count));
        let constraints = format!("l,{}~{{memory}}", format!("{letter},").repeat(count));
        let store = context.create_inline_asm(ty, text, constraints, true, false, None, false);
        builder.build_indirect_call(ty, store, &passed, "")?;
        Ok(())
    }
}

/// The instruction's suffix for vector width and type.
fn width(scalar: Scalar, count: usize) -> String {
    let bits = scalar.bits().max(8);
    if count == 1 { format!(".b{bits}") } else { format!(".v{count}.b{bits}") }
}

/// The operand list of inline assembly: `count` operands from `first` on.
fn operands(first: usize, count: usize) -> String {
    let all: Vec<String> = (first..first + count).map(|operand| format!("${operand}")).collect();
    if count == 1 { all.concat() } else { format!("{{{}}}", all.join(", ")) }
}
