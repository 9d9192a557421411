//! Reductions into one place: threads whose last access is an atomic operation on the same integer, of which none uses the
//! old value.
//!
//! A thread loop that executes them one by one waits for each of them. Here the loop combines their operands, and the
//! function executes one atomic operation at its end. Threads are unordered, so none can tell; within a thread nothing
//! that accesses memory follows, so that its own order does not change either. Integer operations give the same result
//! in any order.

use super::loops::{Loop, innermost_parallel, successors};
use cuda_llvm::inkwell::basic_block::BasicBlock;
use cuda_llvm::inkwell::builder::{Builder, BuilderError};
use cuda_llvm::inkwell::context::Context;
use cuda_llvm::inkwell::module::Module;
use cuda_llvm::inkwell::types::IntType;
use cuda_llvm::inkwell::values::{
    BasicValue, BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue, IntValue, PointerValue,
};
use cuda_llvm::inkwell::{AtomicOrdering, AtomicRMWBinOp, IntPredicate};
use std::collections::HashSet;

/// The passes that make values of the variables that this file adds.
pub(super) const PASSES: &str = "function(sroa<modify-cfg>,simplifycfg)";

/// An operation, with the value that changes nothing.
#[derive(Clone, Copy)]
struct Operation {
    code: AtomicRMWBinOp,
    keeps: u64,
}

impl Operation {
    fn of(inst: InstructionValue<'_>, bits: u32) -> Option<Operation> {
        use AtomicRMWBinOp::{Add, And, Max, Min, Or, UMax, UMin, Xor};
        let code = inst.get_atomic_rmw_bin_op()?;
        // Those of 128 bits are exchanges.
        let least = 1_u64.checked_shl(bits - 1)?;
        let keeps = match code {
            Add | Or | Xor | UMax => 0,
            And | UMin => u64::MAX,
            Max => least,
            Min => least - 1,
            _ => return None,
        };
        Some(Operation { code, keeps })
    }

    fn build<'c>(self, builder: &Builder<'c>, a: IntValue<'c>, b: IntValue<'c>) -> Result<IntValue<'c>, BuilderError> {
        use AtomicRMWBinOp::{And, Max, Min, Or, UMax, UMin, Xor};
        let order = match self.code {
            And => return builder.build_and(a, b, ""),
            Or => return builder.build_or(a, b, ""),
            Xor => return builder.build_xor(a, b, ""),
            Max => IntPredicate::SGT,
            Min => IntPredicate::SLT,
            UMax => IntPredicate::UGT,
            UMin => IntPredicate::ULT,
            _ => return builder.build_int_add(a, b, ""),
        };
        let keeps = builder.build_int_compare(order, a, b, "")?;
        builder.build_select(keeps, a, b, "").map(BasicValueEnum::into_int_value)
    }
}

/// An atomic operation that a loop need not execute.
struct Found<'c> {
    inst: InstructionValue<'c>,
    operation: Operation,
    pointer: PointerValue<'c>,
    operand: IntValue<'c>,
}

fn value(inst: InstructionValue<'_>, index: u32) -> Option<BasicValueEnum<'_>> {
    inst.get_operand(index)?.value()
}

/// Returns true for an instruction that neither accesses memory nor calls a function.
fn is_plain(inst: InstructionValue<'_>) -> bool {
    use InstructionOpcode::{AtomicCmpXchg, AtomicRMW, Call, Fence, Invoke, Load, Store, VAArg};
    !matches!(inst.get_opcode(), AtomicCmpXchg | AtomicRMW | Call | Fence | Invoke | Load | Store | VAArg)
}

/// Returns the blocks that control can reach from a block, without itself.
fn reachable<'c>(from: BasicBlock<'c>) -> HashSet<BasicBlock<'c>> {
    let mut seen = HashSet::new();
    let mut open = successors(from);
    while let Some(block) = open.pop() {
        if seen.insert(block) {
            open.extend(successors(block));
        }
    }
    seen
}

/// Returns true if nothing accesses memory between an instruction and the end of its iteration.
fn is_last(inst: InstructionValue<'_>, found: &Loop<'_>) -> bool {
    let mut next = inst.get_next_instruction();
    while let Some(after) = next {
        if !is_plain(after) {
            return false;
        }
        next = after.get_next_instruction();
    }
    let Some(own) = inst.get_parent() else { return false };
    let (mut seen, mut open) = (HashSet::new(), successors(own));
    while let Some(block) = open.pop() {
        if block == found.header || !found.blocks.contains(&block) || !seen.insert(block) {
            continue;
        }
        if !block.get_instructions().all(is_plain) {
            return false;
        }
        open.extend(successors(block));
    }
    true
}

/// Returns an atomic operation of a loop that can be executed after it.
fn find<'c>(found: &Loop<'c>) -> Option<Found<'c>> {
    let repeated = reachable(found.header);
    let insts = found.blocks.iter().flat_map(|block| block.get_instructions());
    insts.filter(|inst| inst.get_opcode() == InstructionOpcode::AtomicRMW).find_map(|inst| {
        let (Some(BasicValueEnum::PointerValue(pointer)), Some(BasicValueEnum::IntValue(operand))) =
            (value(inst, 0), value(inst, 1))
        else {
            return None;
        };
        let operation = Operation::of(inst, operand.get_type().get_bit_width())?;
        // Neither this loop nor one around it changes the address.
        let fixed = match pointer.as_instruction_value() {
            // Nothing but phis may be between phis.
            Some(at) => at.get_opcode() != InstructionOpcode::Phi && !repeated.contains(&at.get_parent()?),
            None => true,
        };
        (fixed && inst.get_first_use().is_none() && is_last(inst, found)).then_some(Found {
            inst,
            operation,
            pointer,
            operand,
        })
    })
}

/// Executes the atomic operations of thread loops that can be combined at the end of their function. Returns true if there
/// are any.
pub(super) fn combine<'c>(context: &'c Context, module: &Module<'c>) -> Result<bool, String> {
    let loop_kind = context.get_kind_id("llvm.loop");
    let builder = context.create_builder();
    let mut changed = false;
    let has_any = |function: &FunctionValue<'c>| {
        let mut insts = function.get_basic_block_iter().flat_map(|block| block.get_instructions());
        insts.any(|inst| inst.get_opcode() == InstructionOpcode::AtomicRMW)
    };
    for function in module.get_functions().filter(has_any) {
        // In other loops a thread may come by again.
        for l in innermost_parallel(function, loop_kind).into_iter().filter(|l| l.once) {
            while let Some(found) = find(&l) {
                replace(context, &builder, function, &found).map_err(|e| e.to_string())?;
                changed = true;
            }
        }
    }
    Ok(changed)
}

fn replace<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    function: FunctionValue<'c>,
    found: &Found<'c>,
) -> Result<(), BuilderError> {
    let (ty, flag): (IntType<'c>, IntType<'c>) = (found.operand.get_type(), context.i8_type());
    let entry = function.get_first_basic_block().and_then(|block| block.get_first_instruction());
    builder.position_before(&entry.ok_or(BuilderError::UnsetPosition)?);
    let (total, any) = (builder.build_alloca(ty, "")?, builder.build_alloca(flag, "")?);
    builder.build_store(total, ty.const_int(found.operation.keeps, false))?;
    builder.build_store(any, flag.const_zero())?;

    let address = builder.build_alloca(found.pointer.get_type(), "")?;
    if let Some(at) = found.pointer.as_instruction_value() {
        // It may not have been computed where the function returns early.
        builder.position_before(&at.get_next_instruction().ok_or(BuilderError::UnsetPosition)?);
    }
    builder.build_store(address, found.pointer)?;

    builder.position_before(&found.inst);
    let before = builder.build_load(ty, total, "")?.into_int_value();
    builder.build_store(total, found.operation.build(builder, before, found.operand)?)?;
    builder.build_store(any, flag.const_int(1, false))?;
    found.inst.erase_from_basic_block();

    let returns: Vec<_> = function
        .get_basic_block_iter()
        .filter_map(|block| block.get_terminator())
        .filter(|end| end.get_opcode() == InstructionOpcode::Return)
        .collect();
    for end in returns {
        let (Some(block), result) = (end.get_parent(), value(end, 0)) else { continue };
        let [some, done] = ["", ""].map(|name| context.append_basic_block(function, name));
        end.erase_from_basic_block();
        builder.position_at_end(block);
        let is_any = builder.build_load(flag, any, "")?.into_int_value();
        let is_any = builder.build_int_compare(IntPredicate::NE, is_any, flag.const_zero(), "")?;
        builder.build_conditional_branch(is_any, some, done)?;
        builder.position_at_end(some);
        let sum = builder.build_load(ty, total, "")?.into_int_value();
        let order = AtomicOrdering::SequentiallyConsistent;
        let at = builder.build_load(found.pointer.get_type(), address, "")?.into_pointer_value();
        builder.build_atomicrmw(found.operation.code, at, sum, order)?;
        builder.build_unconditional_branch(done)?;
        builder.position_at_end(done);
        builder.build_return(result.as_ref().map(|value| value as &dyn BasicValue<'c>))?;
    }
    Ok(())
}
