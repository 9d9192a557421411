//! Selects `mul.wide` for 64-bit products of extended 32-bit numbers: one instruction, where a 64-bit product takes
//! three. LLVM does this only at levels at which its code generator also repeats what [`machine`](super::machine) has
//! done before.
//!
//! It is the last pass on a module, since its inline PTX is opaque to LLVM.

use cuda_llvm::inkwell;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::types::AnyTypeEnum;
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, IntValue, Operand};

use super::function::Result;

/// Rewrites the products of a module.
pub(super) fn combine<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<()> {
    let blocks = module.get_functions().flat_map(|function| function.get_basic_block_iter());
    let found: Vec<_> = blocks.flat_map(|block| block.get_instructions()).filter_map(product).collect();
    let (builder, word) = (context.create_builder(), context.i32_type());
    let ty = context.i64_type().fn_type(&[word.into(), word.into()], false);
    for (product, sign, factors) in found {
        let text = format!("mul.wide.{sign}32 $0, $1, $2;");
        let wide = context.create_inline_asm(ty, text, "=l,r,r".to_owned(), false, false, None, false);
        builder.position_before(&product);
        let factors = factors.map(|factor| match factor {
            Factor::Extended(value) => value.into(),
            Factor::Constant(bits) => word.const_int(bits.into(), false).into(),
        });
        let call = builder.build_indirect_call(ty, wide, &factors, "")?;
        if let Some(value) = call.try_as_basic_value().basic().and_then(|value| value.as_instruction_value()) {
            product.replace_all_uses_with(&value);
            product.erase_from_basic_block();
        }
    }
    Ok(())
}

/// The 32-bit operand of a product.
enum Factor<'ctx> {
    Extended(IntValue<'ctx>),
    Constant(u32),
}

/// Matches a product of two extended 32-bit factors, with the type letter in PTX; the first factor is no constant.
fn product(inst: InstructionValue<'_>) -> Option<(InstructionValue<'_>, char, [Factor<'_>; 2])> {
    let long = matches!(inst.get_type(), AnyTypeEnum::IntType(ty) if ty.get_bit_width() == 64);
    if inst.get_opcode() != InstructionOpcode::Mul || !long {
        return None;
    }
    let [Some(Operand::Value(first)), Some(Operand::Value(second))] = [0, 1].map(|index| inst.get_operand(index))
    else {
        return None;
    };
    let (sign, first) = extended(first)?;
    let second = match extended(second) {
        Some((same, value)) if same == sign => Factor::Extended(value),
        Some(_) => return None,
        None => Factor::Constant(constant(second, sign)?),
    };
    Some((inst, sign, [Factor::Extended(first), second]))
}

/// The 32-bit source of a 64-bit extension, and its type letter.
fn extended(value: BasicValueEnum<'_>) -> Option<(char, IntValue<'_>)> {
    let inst = value.as_instruction_value()?;
    let sign = match inst.get_opcode() {
        InstructionOpcode::ZExt => 'u',
        InstructionOpcode::SExt => 's',
        _ => return None,
    };
    let Operand::Value(BasicValueEnum::IntValue(from)) = inst.get_operand(0)? else { return None };
    (from.get_type().get_bit_width() == 32).then_some((sign, from))
}

/// The 32 bits of a constant, if extending them yields it.
fn constant(value: BasicValueEnum<'_>, sign: char) -> Option<u32> {
    let BasicValueEnum::IntValue(value) = value else { return None };
    match sign {
        'u' => u32::try_from(value.get_zero_extended_constant()?).ok(),
        _ => Some(i32::try_from(value.get_sign_extended_constant()?).ok()?.cast_unsigned()),
    }
}
