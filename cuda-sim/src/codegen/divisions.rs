//! Divisions of values that a loop does not change, in its conditional code: they move in front of the loop.
//!
//! LLVM moves no division that might not be executed, since one by zero is undefined, even if the divisor cannot be zero. The
//! divisors of kernels never are: emitted code replaces zero. What is computed from the quotient, such as the reciprocal of a
//! uniform divisor of 128 bits, then leaves the loop too.

use super::loops::successors;
use cuda_llvm::inkwell::IntPredicate;
use cuda_llvm::inkwell::basic_block::BasicBlock;
use cuda_llvm::inkwell::context::Context;
use cuda_llvm::inkwell::module::Module;
use cuda_llvm::inkwell::values::{BasicValueEnum, InstructionOpcode, InstructionValue, IntValue};
use std::collections::HashSet;

/// The passes that move what depends on a division.
pub(super) const PASSES: &str = "function(loop-mssa(licm<allowspeculation>))";

/// The limit on the depth of a divisor's computation.
const DEPTH: u32 = 4;

fn operand(inst: InstructionValue<'_>, index: u32) -> Option<IntValue<'_>> {
    match inst.get_operand(index)?.value()? {
        BasicValueEnum::IntValue(value) => Some(value),
        _ => None,
    }
}

/// Returns true if a value cannot be zero, wherever it is computed.
fn is_never_zero(value: IntValue<'_>, depth: u32) -> bool {
    use InstructionOpcode::{Or, Select, ZExt};
    if let Some(constant) = value.get_zero_extended_constant() {
        return constant != 0;
    }
    let Some(inst) = value.as_instruction().filter(|_| depth > 0) else { return false };
    let of = |index| operand(inst, index).is_some_and(|value| is_never_zero(value, depth - 1));
    match inst.get_opcode() {
        Or => of(0) || of(1),
        ZExt => of(0),
        // The replacement of zero.
        Select => of(1) && (of(2) || is_zero_test(inst)),
        _ => false,
    }
}

/// Returns true if an instruction selects its third operand only where that is not zero.
fn is_zero_test(select: InstructionValue<'_>) -> bool {
    let tests = || {
        let test = operand(select, 0)?.as_instruction()?;
        let zero = operand(test, 1)?.get_zero_extended_constant()? == 0;
        Some(zero && test.get_icmp_predicate()? == IntPredicate::EQ && operand(test, 0)? == operand(select, 2)?)
    };
    tests() == Some(true)
}

/// Returns true if control can come from a block back to it without passing another one.
fn repeats_without(block: BasicBlock<'_>, other: BasicBlock<'_>) -> bool {
    let (mut seen, mut open) = (HashSet::from([other]), successors(block));
    while let Some(next) = open.pop() {
        if next == block {
            return true;
        }
        if seen.insert(next) {
            open.extend(successors(next));
        }
    }
    false
}

/// Returns the instruction behind which a division can move out of a loop: the one that computes the only operand that is
/// not a constant.
fn place(division: InstructionValue<'_>) -> Option<InstructionValue<'_>> {
    let [a, b] = [operand(division, 0)?, operand(division, 1)?];
    let computed = match (a.as_instruction(), b.as_instruction()) {
        (Some(computed), None) if b.is_const() => computed,
        (None, Some(computed)) if a.is_const() => computed,
        _ => return None,
    };
    let (own, there) = (division.get_parent()?, computed.get_parent()?);
    let leaves = own != there && is_never_zero(b, DEPTH) && repeats_without(own, there);
    // Nothing but phis may be between phis.
    (leaves && computed.get_opcode() != InstructionOpcode::Phi).then_some(computed)
}

/// Moves unsigned divisions out of loops. Returns true if there are any.
pub(super) fn hoist<'c>(context: &'c Context, module: &Module<'c>) -> bool {
    let builder = context.create_builder();
    let insts = module.get_functions().flat_map(|f| f.get_basic_block_iter()).flat_map(|b| b.get_instructions());
    let divides =
        |inst: &InstructionValue<'c>| matches!(inst.get_opcode(), InstructionOpcode::UDiv | InstructionOpcode::URem);
    let found: Vec<_> = insts.filter(divides).filter_map(|inst| Some((inst, place(inst)?))).collect();
    for (division, after) in &found {
        let Some(next) = after.get_next_instruction() else { continue };
        division.remove_from_basic_block();
        builder.position_before(&next);
        builder.insert_instruction(division, None);
    }
    !found.is_empty()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Returns true if the division of a loop's conditional block, by a value that an instruction computes, leaves the loop.
    fn leaves(divisor: &str, division: &str) -> bool {
        let ir = format!(
            "define i32 @kernel(i32 %d) {{
entry:
  %zero = icmp eq i32 %d, 0
  %some = {divisor}
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %done ]
  %sum = phi i32 [ 0, %entry ], [ %after, %done ]
  %odd = trunc i32 %i to i1
  br i1 %odd, label %divides, label %done
divides:
  %q = {division}
  %more = add i32 %sum, %q
  br label %done
done:
  %after = phi i32 [ %sum, %head ], [ %more, %divides ]
  %next = add i32 %i, 1
  %left = icmp ult i32 %next, 100
  br i1 %left, label %head, label %end
end:
  ret i32 %after
}}
"
        );
        cuda_llvm::initialize().unwrap();
        let context = Context::create();
        let module = cuda_llvm::parse_ir(&context, &ir).unwrap();
        let hoisted = hoist(&context, &module);
        assert!(module.verify().is_ok());
        let text = module.print_to_string().to_string();
        let moved = text.find(" = udiv").or_else(|| text.find(" = sdiv")).unwrap() < text.find("head:").unwrap();
        assert_eq!(hoisted, moved, "{text}");
        moved
    }

    #[test]
    fn divisions_by_what_is_never_zero_leave_the_loop() {
        for divisor in ["or i32 %d, 256", "select i1 %zero, i32 1, i32 %d"] {
            assert!(leaves(divisor, "udiv i32 523520, %some"), "{divisor}");
        }
        assert!(leaves("add i32 %d, 7", "udiv i32 %some, 10"));
    }

    #[test]
    fn other_divisions_stay() {
        for divisor in ["add i32 %d, 1", "select i1 %zero, i32 %d, i32 1", "select i1 %zero, i32 0, i32 %d"] {
            assert!(!leaves(divisor, "udiv i32 523520, %some"), "{divisor}");
        }
        // The least number by -1 is undefined too.
        assert!(!leaves("or i32 %d, 256", "sdiv i32 523520, %some"));
        // It changes in the loop.
        assert!(!leaves("or i32 %d, 256", "udiv i32 %i, %some"));
    }
}
