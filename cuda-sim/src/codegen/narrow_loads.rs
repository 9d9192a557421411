//! Loads of 8 and 16 bits at addresses that follow no stride, in conditional blocks of loops: they become loads of the
//! aligned 32 bits around them.
//!
//! Processors gather elements of 32 and 64 bits only. LLVM's vectoriser makes a branch and a load for each lane of smaller
//! ones that a condition guards, and mostly leaves the loop scalar since that does not pay.
//!
//! Invariant: an aligned word lies in one page, so that a load of it raises a fault only if the narrow load would. Its other
//! bytes are discarded, whatever other threads write to them.

use super::loops::{Loop, innermost_parallel, successors};
use cuda_llvm::inkwell::AtomicOrdering;
use cuda_llvm::inkwell::basic_block::BasicBlock;
use cuda_llvm::inkwell::builder::{Builder, BuilderError};
use cuda_llvm::inkwell::context::Context;
use cuda_llvm::inkwell::module::Module;
use cuda_llvm::inkwell::types::BasicTypeEnum;
use cuda_llvm::inkwell::values::{
    BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, IntValue,
};

/// The limit on the depth of an address's computation.
const DEPTH: u32 = 16;

fn value(inst: InstructionValue<'_>, index: u32) -> Option<BasicValueEnum<'_>> {
    inst.get_operand(index)?.value()
}

fn constant(value: BasicValueEnum<'_>) -> Option<i64> {
    match value {
        BasicValueEnum::IntValue(value) => value.get_sign_extended_constant(),
        _ => None,
    }
}

impl Loop<'_> {
    /// Returns the difference of a value from one iteration to the next, in bytes for an address; `None` if there is none.
    fn stride(&self, value: BasicValueEnum<'_>, depth: u32) -> Option<i64> {
        use InstructionOpcode::{Add, GetElementPtr, Or, Phi, SExt, Shl, Sub, Trunc, ZExt};
        let Some(inst) = value.as_instruction_value() else { return Some(0) };
        if !inst.get_parent().is_some_and(|block| self.blocks.contains(&block)) {
            return Some(0);
        }
        let depth = depth.checked_sub(1)?;
        let of = |index| self.stride(self::value(inst, index)?, depth);
        let disjoint = |inst: InstructionValue<'_>| inst.get_disjoint_flag() == Ok(true);
        match inst.get_opcode() {
            // The induction variable, which counts threads.
            Phi if inst.get_parent() == Some(self.header) => Some(1),
            ZExt | SExt | Trunc => of(0),
            Add => of(0)?.checked_add(of(1)?),
            Or if disjoint(inst) => of(0)?.checked_add(of(1)?),
            Sub => of(0)?.checked_sub(of(1)?),
            Shl => of(0)?.checked_mul(1 << constant(self::value(inst, 1)?).filter(|by| (0..32).contains(by))?),
            GetElementPtr if inst.get_num_operands() == 2 => {
                let BasicTypeEnum::IntType(element) = inst.get_gep_source_element_type().ok()? else { return None };
                let size = i64::from(element.get_bit_width() / 8);
                of(0)?.checked_add(of(1)?.checked_mul(size)?)
            }
            _ => None,
        }
    }

    /// Returns the narrow loads of conditional blocks whose addresses have no stride.
    fn loads(&self) -> Vec<InstructionValue<'_>> {
        let latch_or_header =
            |block: &BasicBlock<'_>| *block == self.header || successors(*block).contains(&self.header);
        let conditional = self.blocks.iter().filter(|block| !latch_or_header(block));
        let insts = conditional.flat_map(|block| block.get_instructions());
        insts
            .filter(|inst| is_narrow(*inst) && value(*inst, 0).is_some_and(|at| self.stride(at, DEPTH).is_none()))
            .collect()
    }
}

fn is_narrow(inst: InstructionValue<'_>) -> bool {
    inst.get_opcode() == InstructionOpcode::Load
        && IntValue::try_from(inst).is_ok_and(|value| matches!(value.get_type().get_bit_width(), 8 | 16))
        && inst.get_volatile() == Ok(false)
        && inst.get_atomic_ordering() == Ok(AtomicOrdering::NotAtomic)
}

/// Widens the narrow loads that would keep a loop from being vectorised.
pub(super) fn widen<'c>(context: &'c Context, module: &Module<'c>) -> Result<(), String> {
    if !crate::cpu::has_long_vectors() {
        return Ok(());
    }
    let [loop_kind, group_kind, invariant_kind] =
        ["llvm.loop", "llvm.access.group", "invariant.load"].map(|name| context.get_kind_id(name));
    let builder = context.create_builder();
    let has_any = |function: &FunctionValue<'_>| {
        function.get_basic_block_iter().flat_map(|block| block.get_instructions()).any(is_narrow)
    };
    for function in module.get_functions().filter(has_any) {
        for found in innermost_parallel(function, loop_kind) {
            for load in found.loads() {
                widen_load(context, &builder, load, &[group_kind, invariant_kind]).map_err(|e| e.to_string())?;
            }
        }
    }
    Ok(())
}

fn widen_load<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    load: InstructionValue<'c>,
    kinds: &[u32],
) -> Result<(), BuilderError> {
    let (Some(BasicValueEnum::PointerValue(address)), Ok(old)) = (value(load, 0), IntValue::try_from(load)) else {
        return Ok(());
    };
    let (i32, i64) = (context.i32_type(), context.i64_type());
    builder.position_before(&load);
    let at = builder.build_ptr_to_int(address, i64, "")?;
    let low = builder.build_and(at, i64.const_int(3, false), "")?;
    let start = builder.build_int_sub(at, low, "")?;
    let word = builder.build_int_to_ptr(start, address.get_type(), "")?;
    let whole = builder.build_load(i32, word, "")?.into_int_value();
    if let Some(inst) = whole.as_instruction() {
        let _ = inst.set_alignment(4);
        for kind in kinds {
            if let Some(metadata) = load.get_metadata(*kind) {
                let _ = inst.set_metadata(metadata, *kind);
            }
        }
    }
    let low = builder.build_int_truncate(low, i32, "")?;
    let shift = builder.build_left_shift(low, i32.const_int(3, false), "")?;
    let shifted = builder.build_right_shift(whole, shift, false, "")?;
    let new = builder.build_int_truncate(shifted, old.get_type(), "")?;
    old.replace_all_uses_with(new);
    load.erase_from_basic_block();
    Ok(())
}
