//! Conversions of 8-bit floats, by instructions of compute capability 8.9 and above. Kernels test the capability
//! before, so on older targets these operations are unreachable and lowered to a placeholder.

use cuda_llvm::inkwell;
use inkwell::values::BasicValueEnum;

use super::function::{Body, Result};
use crate::kir::{Float8, Value};

/// The oldest target with these instructions, in the form in which kernels test it.
pub(super) const SINCE: (u32, u32) = (8, 9);

fn name(float: Float8) -> &'static str {
    match float {
        Float8::E4m3 => "e4m3x2",
        Float8::E5m2 => "e5m2x2",
    }
}

impl<'ctx> Body<'ctx, '_> {
    fn converts(&self) -> bool {
        self.lowering.capability >= SINCE.into()
    }

    /// Converts two `f32` to 8-bit floats, by inline PTX: LLVM 24 changed the intrinsic's parameters.
    pub(super) fn narrow8(&self, float: Float8, low: Value, high: Value) -> Result<BasicValueEnum<'ctx>> {
        if !self.converts() {
            return Ok(self.lowering.context.i16_type().const_zero().into());
        }
        let context = self.lowering.context;
        let single = context.f32_type();
        let ty = context.i16_type().fn_type(&[single.into(), single.into()], false);
        let text = format!("cvt.rn.satfinite.{}.f32 $0, $1, $2;", name(float));
        let narrow = context.create_inline_asm(ty, text, "=h,f,f".to_owned(), false, false, None, false);
        let operands = [self.value(high).into(), self.value(low).into()];
        let call = self.builder().build_indirect_call(ty, narrow, &operands, "")?;
        call.try_as_basic_value().basic().ok_or_else(|| self.unverified("8-bit floats"))
    }

    /// Converts two 8-bit floats to `f16`.
    pub(super) fn widen8(&self, float: Float8, bytes: Value) -> Result<BasicValueEnum<'ctx>> {
        if !self.converts() {
            return Ok(self.lowering.context.f16_type().vec_type(2).const_zero().into());
        }
        self.lowering.intrinsic(&format!("llvm.nvvm.{}.to.f16x2.rn", name(float)), &[], &[self.value(bytes)])
    }
}
