//! Loads and stores with a hint for the caches, as the instructions that LLVM has no word for.

use cuda_llvm::inkwell;
use inkwell::types::BasicTypeEnum;
use inkwell::values::BasicValueEnum;

use super::function::{Body, Result};
use crate::kir::{CacheLoad, CacheStore, Scalar, Value};

impl<'ctx> Body<'ctx, '_> {
    /// The register that holds a number of so many bits in inline assembly, and its letter: there is none of 8.
    fn cell(&self, scalar: Scalar) -> (BasicTypeEnum<'ctx>, char) {
        let context = self.lowering.context;
        match scalar.bits() {
            32 => (context.i32_type().into(), 'r'),
            64 => (context.i64_type().into(), 'l'),
            _ => (context.i16_type().into(), 'h'),
        }
    }

    /// A load from global memory. Others may write there, so it stays where it is among stores and barriers.
    pub(super) fn load_cached(&self, hint: CacheLoad, pointer: Value) -> Result<BasicValueEnum<'ctx>> {
        let scalar = self.behind(pointer).ok_or_else(|| self.unverified("load"))?;
        let (builder, context) = (self.builder(), self.lowering.context);
        let (cell, letter) = self.cell(scalar);
        let pointer = self.value(pointer).into_pointer_value();
        let ty = inkwell::types::BasicType::fn_type(&cell, &[pointer.get_type().into()], false);
        let text = format!("ld.global.{}.b{} $0, [$1];", hint.suffix(), scalar.bits().max(8));
        let constraints = format!("={letter},l,~{{memory}}");
        let load = context.create_inline_asm(ty, text, constraints, true, false, None, false);
        let loaded = builder.build_indirect_call(ty, load, &[pointer.into()], "")?.try_as_basic_value().basic();
        let bits = loaded.ok_or_else(|| self.unverified("load"))?.into_int_value();
        if scalar.bits() < 16 {
            let narrow = self.lowering.scalar(scalar).into_int_type();
            return Ok(builder.build_int_truncate(bits, narrow, "")?.into());
        }
        Ok(builder.build_bit_cast(bits, self.lowering.scalar(scalar), "")?)
    }

    /// A store to global memory.
    pub(super) fn store_cached(&self, hint: CacheStore, pointer: Value, value: Value) -> Result<()> {
        let scalar = self.behind(pointer).ok_or_else(|| self.unverified("store"))?;
        let (builder, context) = (self.builder(), self.lowering.context);
        let (cell, letter) = self.cell(scalar);
        let value = self.value(value);
        let bits = match scalar.bits() < 16 {
            true => builder.build_int_z_extend(value.into_int_value(), cell.into_int_type(), "")?.into(),
            false => builder.build_bit_cast(value, cell, "")?,
        };
        let pointer = self.value(pointer).into_pointer_value();
        let ty = context.void_type().fn_type(&[pointer.get_type().into(), cell.into()], false);
        let text = format!("st.global.{}.b{} [$0], $1;", hint.suffix(), scalar.bits().max(8));
        let constraints = format!("l,{letter},~{{memory}}");
        let store = context.create_inline_asm(ty, text, constraints, true, false, None, false);
        builder.build_indirect_call(ty, store, &[pointer.into(), bits.into()], "")?;
        Ok(())
    }
}
