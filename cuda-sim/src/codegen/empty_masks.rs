//! Masked loads of shared memory whose mask may be empty: they read the context instead, which is accessible.
//!
//! The shared window lies between guard areas, and threads that do not take part in an access mostly have addresses
//! outside of it. On some CPUs (AMD's Zen 4) a masked load of an inaccessible page takes hundreds of cycles even if its
//! mask is empty. Loads of other memory stay as they are: they rarely meet such a page, and the selection is not free.

use super::abi;
use cuda_llvm::inkwell::IntPredicate;
use cuda_llvm::inkwell::builder::{Builder, BuilderError};
use cuda_llvm::inkwell::context::Context;
use cuda_llvm::inkwell::module::Module;
use cuda_llvm::inkwell::values::{
    AnyValueEnum, BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, PointerValue,
    VectorValue,
};
use std::num::NonZeroU32;

/// The limit on the depth of an address's computation.
const DEPTH: u32 = 8;

/// Selects the address of every masked load from the shared window by whether its mask is empty.
pub(super) fn redirect<'c>(context: &'c Context, module: &Module<'c>) -> Result<(), String> {
    let builder = context.create_builder();
    for function in module.get_functions() {
        let name = function.get_name().to_string_lossy();
        // Before LLVM 22 the alignment is an argument of its own.
        if !name.starts_with("llvm.masked.load.") || function.count_params() != 3 {
            continue;
        }
        let mut used = function.as_global_value().as_pointer_value().get_first_use();
        while let Some(this) = used {
            if let AnyValueEnum::VectorValue(call) = this.get_user()
                && let Some(call) = call.as_instruction()
            {
                redirect_load(context, &builder, call).map_err(|e| e.to_string())?;
            }
            used = this.get_next_use();
        }
    }
    Ok(())
}

fn redirect_load<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    call: InstructionValue<'c>,
) -> Result<(), BuilderError> {
    let (Some(BasicValueEnum::PointerValue(pointer)), Some(BasicValueEnum::VectorValue(mask))) =
        (value(call, 0), value(call, 1))
    else {
        return Ok(());
    };
    let Some(readable) = context_of(call).filter(|readable| !mask.is_const() && is_shared(pointer, *readable)) else {
        return Ok(());
    };
    builder.position_before(&call);
    let bits = bits(context, builder, mask)?;
    let some = builder.build_int_compare(IntPredicate::NE, bits, bits.get_type().const_zero(), "")?;
    let address = builder.build_select(some, pointer, readable, "")?;
    if call.set_operand(0, address) { Ok(()) } else { Err(BuilderError::UnsetPosition) }
}

/// Returns the mask as an integer.
fn bits<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    mask: VectorValue<'c>,
) -> Result<cuda_llvm::inkwell::values::IntValue<'c>, BuilderError> {
    let lanes = NonZeroU32::new(mask.get_type().get_size()).ok_or(BuilderError::UnsetPosition)?;
    let ty = context.custom_width_int_type(lanes).map_err(|_| BuilderError::UnsetPosition)?;
    Ok(builder.build_bit_cast(mask, ty, "")?.into_int_value())
}

fn value(inst: InstructionValue<'_>, index: u32) -> Option<BasicValueEnum<'_>> {
    inst.get_operand(index)?.value()
}

/// Returns the context, the first parameter of the function of an instruction.
fn context_of(inst: InstructionValue<'_>) -> Option<PointerValue<'_>> {
    let function: FunctionValue<'_> = inst.get_parent()?.get_parent()?;
    match function.get_first_param()? {
        BasicValueEnum::PointerValue(context) => Some(context),
        _ => None,
    }
}

/// Returns true if an address is computed from that of the block's shared window.
fn is_shared(pointer: PointerValue<'_>, context: PointerValue<'_>) -> bool {
    pointer.as_instruction().is_some_and(|inst| derives_from_window(inst, context, DEPTH))
}

fn derives_from_window(inst: InstructionValue<'_>, context: PointerValue<'_>, depth: u32) -> bool {
    if inst.get_opcode() == InstructionOpcode::Load {
        return is_window(inst, context);
    }
    let computes = matches!(
        inst.get_opcode(),
        InstructionOpcode::GetElementPtr | InstructionOpcode::Add | InstructionOpcode::Select | InstructionOpcode::Or
    );
    let operands = (0..inst.get_num_operands()).filter_map(|index| match value(inst, index)? {
        BasicValueEnum::IntValue(value) => value.as_instruction(),
        BasicValueEnum::PointerValue(value) => value.as_instruction(),
        _ => None,
    });
    computes && depth > 0 && operands.into_iter().any(|operand| derives_from_window(operand, context, depth - 1))
}

/// Returns true for a load of the window's address from the context.
fn is_window(load: InstructionValue<'_>, context: PointerValue<'_>) -> bool {
    let Some(BasicValueEnum::PointerValue(field)) = value(load, 0) else { return false };
    let Some(field) = field.as_instruction() else { return false };
    field.get_opcode() == InstructionOpcode::GetElementPtr
        && value(field, 0) == Some(context.into())
        && matches!(value(field, 1), Some(BasicValueEnum::IntValue(offset))
            if offset.get_zero_extended_constant() == Some(abi::SHARED as u64))
}
