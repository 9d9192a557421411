//! Hoists loop-invariant panic checks that are guaranteed to execute before any side effect of the loop.
//!
//! LLVM does this only if nothing but arithmetic precedes the check. In a tiled matrix product the checks follow a
//! conditional load, and its barrier, a convergent operation, prevents unswitching the loop. Since only loads and
//! arithmetic precede the check, panicking in the preheader is equivalent to panicking in the first iteration: the same
//! message, the same location, the same side effects before.
//!
//! The pass runs after LLVM's own, so that redundant checks are gone, and the facts that a check implies ("this thread
//! did not panic") have been used.

use cuda_llvm::inkwell;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::values::{
    BasicValue, BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode, InstructionValue, Operand, PhiValue,
};

use super::cfg::{Cfg, Loop};
use super::function::Result;
use super::{EmitError, panic, raw};

/// Hoists such checks out of the loops of a module.
pub(super) fn checks<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    publication: panic::Publication,
) -> Result<()> {
    let hoist = Hoist { context, builder: context.create_builder(), publication };
    for function in module.get_functions().filter(|function| function.count_basic_blocks() > 0) {
        let mut hoisted = Vec::new();
        while let Some(block) = hoist.one(function)? {
            hoisted.push(block);
        }
        for block in hoisted {
            hoist.reconverge(function, block)?;
        }
    }
    Ok(())
}

/// A check in a loop: a block that ends in a branch to a panic.
struct Check {
    block: usize,
    /// The successor that panics.
    panic: usize,
    /// The other successor.
    good: usize,
}

struct Hoist<'ctx> {
    context: &'ctx Context,
    builder: Builder<'ctx>,
    publication: panic::Publication,
}

impl<'ctx> Hoist<'ctx> {
    /// Hoists one check out of the outermost loop possible; returns the new block with the check.
    fn one(&self, function: FunctionValue<'ctx>) -> Result<Option<BasicBlock<'ctx>>> {
        let cfg = Cfg::of(function);
        for of in cfg.loops() {
            let entering_edges = cfg.successors[of.entry].iter().filter(|target| **target == of.header).count();
            let found = (0..cfg.blocks.len()).filter(|&block| of.body[block]).find_map(|block| {
                let check = cfg.check(&of, block)?;
                (entering_edges == 1 && cfg.runs_unconditionally(&of, block)).then_some(check)
            });
            if let Some(check) = found {
                return self.hoist(&cfg, &of, &check).map(Some);
            }
        }
        Ok(None)
    }

    /// Moves the check's branch to a new block on the loop's entering edge.
    fn hoist(&self, cfg: &Cfg<'ctx>, of: &Loop, check: &Check) -> Result<BasicBlock<'ctx>> {
        let block = |number: usize| cfg.blocks[number];
        let before = self.context.insert_basic_block_after(block(of.entry), "");
        let branch = terminator(block(check.block))?;
        branch.remove_from_basic_block();
        self.builder.position_at_end(before);
        self.builder.insert_instruction(&branch, None);
        redirect(branch, block(check.good), block(of.header));
        self.builder.position_at_end(block(check.block));
        self.builder.build_unconditional_branch(block(check.good))?;
        redirect(terminator(block(of.entry))?, block(of.header), before);
        self.rename_incoming(block(of.header), block(of.entry), Some(before))?;
        self.rename_incoming(block(check.panic), block(check.block), Some(before))?;
        Ok(before)
    }

    /// Reconverges the threads that reported a panic with the others before they end, with a report of the check's own.
    /// NVIDIA's assembler then knows that control is uniform after the check, as without one, and computes warp-uniform
    /// values once per warp. If the report itself ended the threads it would not: five more registers and as many
    /// instructions in the loop of a tiled matrix product.
    fn reconverge(&self, function: FunctionValue<'ctx>, before: BasicBlock<'ctx>) -> Result<()> {
        let cfg = Cfg::of(function);
        let targets = cfg.number(before).map(|number| &cfg.successors[number]);
        let Some([yes, no]) = targets.map(Vec::as_slice) else { return Ok(()) };
        let ends = panic::ending_report(cfg.blocks[*yes]).is_some();
        let (reports, good) = if ends { (*yes, *no) } else { (*no, *yes) };
        let (shared, good) = (cfg.blocks[reports], cfg.blocks[good]);
        let Some(report) = panic::ending_report(shared) else { return Ok(()) };
        let only_entry = cfg.predecessors[reports].len() == 1;
        let arguments = if only_entry { panic::arguments(report) } else { arguments(report, shared, before) };
        let Some(arguments) = arguments else { return Ok(()) };
        let branch = terminator(before)?;
        let Some(Operand::Value(condition)) = branch.get_operand(0) else { return Ok(()) };
        let rejoined = self.context.insert_basic_block_after(before, "");
        self.builder.position_at_end(rejoined);
        panic::end_where(self.context, &self.builder, condition.into_int_value(), ends)?;
        self.builder.build_unconditional_branch(good)?;
        redirect(branch, good, rejoined);
        self.rename_incoming(good, before, Some(rejoined))?;
        if only_entry {
            terminator(shared)?.erase_from_basic_block();
            self.report(shared, arguments, rejoined)?;
            report.erase_from_basic_block();
            return Ok(());
        }
        let own = self.context.append_basic_block(function, "panic");
        self.report(own, arguments, rejoined)?;
        redirect(branch, shared, own);
        self.rename_incoming(shared, before, None)
    }

    /// Emits a panic report at the end of a block, and a jump to `next`.
    fn report(&self, block: BasicBlock<'ctx>, arguments: panic::Arguments<'ctx>, next: BasicBlock<'ctx>) -> Result<()> {
        self.builder.position_at_end(block);
        panic::report_without_end(self.context, &self.builder, arguments, self.publication)?;
        self.builder.build_unconditional_branch(next)?;
        Ok(())
    }

    /// Replaces an incoming block of a block's phis, or removes it.
    fn rename_incoming(
        &self,
        block: BasicBlock<'ctx>,
        from: BasicBlock<'ctx>,
        to: Option<BasicBlock<'ctx>>,
    ) -> Result<()> {
        for (inst, phi) in phis(block) {
            self.builder.position_before(&inst);
            let replacement = self.builder.build_phi(phi.as_basic_value().get_type(), "")?;
            for (value, incoming) in phi.get_incomings() {
                let incoming = if incoming == from { to } else { Some(incoming) };
                incoming.into_iter().for_each(|incoming| replacement.add_incoming(&[(&value, incoming)]));
            }
            phi.replace_all_uses_with(&replacement);
            inst.erase_from_basic_block();
        }
        Ok(())
    }
}

impl<'ctx> Cfg<'ctx> {
    /// The check that a block of a loop ends in, if its condition and panic arguments are loop-invariant.
    fn check(&self, of: &Loop, block: usize) -> Option<Check> {
        let [yes, no] = self.successors[block][..] else { return None };
        let (good, panic) = match (of.body[yes], of.body[no]) {
            (true, false) => (yes, no),
            (false, true) => (no, yes),
            _ => return None,
        };
        let branch = self.blocks[block].get_terminator()?;
        let variant = branch.get_opcode() != InstructionOpcode::Br || self.is_variant(of, branch.get_operand(0)?);
        (!variant && self.panics_invariantly(of, block, panic)).then_some(Check { block, panic, good })
    }

    /// Returns true if the edge from a loop to a block leads to a panic with loop-invariant arguments.
    fn panics_invariantly(&self, of: &Loop, mut from: usize, mut block: usize) -> bool {
        // after that many blocks the path is a cycle
        for _ in &self.blocks {
            for inst in self.blocks[block].get_instructions() {
                let variant = match PhiValue::try_from(inst) {
                    Ok(phi) => phi.get_incomings().any(|(value, incoming)| {
                        incoming == self.blocks[from] && self.is_variant(of, Operand::Value(value))
                    }),
                    Err(_) => inst.get_operands().flatten().any(|operand| self.is_variant(of, operand)),
                };
                if variant {
                    return false;
                }
            }
            match self.successors[block][..] {
                [next] if !of.body[next] => (from, block) = (block, next),
                [] => return panic::ending_report(self.blocks[block]).is_some(),
                _ => return false,
            }
        }
        false
    }

    /// Returns true if an operand is computed in the loop.
    fn is_variant(&self, of: &Loop, operand: Operand<'ctx>) -> bool {
        let Operand::Value(value) = operand else { return false };
        let parent = value.as_instruction_value().and_then(InstructionValue::get_parent);
        let number = parent.and_then(|parent| self.number(parent));
        number.is_some_and(|number| of.body[number])
    }

    /// Returns true if every first iteration of a loop reaches the end of a block, without side effects before. Blocks
    /// are visited in topological order from the header.
    fn runs_unconditionally(&self, of: &Loop, block: usize) -> bool {
        let (mut visited_edges, mut pending, mut ready) = (vec![0; self.blocks.len()], 0, vec![of.header]);
        while let Some(current) = ready.pop() {
            if !self.blocks[current].get_instructions().all(is_speculatable) {
                return false;
            }
            if current == block {
                continue;
            }
            for &next in &self.successors[current] {
                if next == of.header || !of.body[next] {
                    return false;
                }
                pending += usize::from(visited_edges[next] == 0);
                visited_edges[next] += 1;
                if visited_edges[next] == self.predecessors[next].len() {
                    pending -= 1;
                    ready.push(next);
                }
            }
        }
        pending == 0
    }
}

/// Returns true if executing an instruction speculatively has no observable effect.
fn is_speculatable(inst: InstructionValue<'_>) -> bool {
    use InstructionOpcode as Opcode;
    match inst.get_opcode() {
        Opcode::Load => inst.get_volatile() == Ok(false) && raw::is_plain(inst),
        Opcode::Call => {
            let speculatable = Attribute::get_named_enum_kind_id("speculatable");
            let callee = CallSiteValue::try_from(inst).ok().and_then(CallSiteValue::get_called_fn_value);
            callee.is_some_and(|callee| callee.get_enum_attribute(AttributeLoc::Function, speculatable).is_some())
        }
        Opcode::Store
        | Opcode::Fence
        | Opcode::AtomicRMW
        | Opcode::AtomicCmpXchg
        | Opcode::Invoke
        | Opcode::CallBr
        | Opcode::VAArg
        | Opcode::Alloca => false,
        _ => true,
    }
}

/// The arguments of a block's panic report when control comes from `from`, unless they are computed in the block.
fn arguments<'ctx>(
    report: InstructionValue<'ctx>,
    block: BasicBlock<'ctx>,
    from: BasicBlock<'ctx>,
) -> Option<panic::Arguments<'ctx>> {
    let known = |argument: BasicValueEnum<'ctx>| match argument.as_instruction_value() {
        Some(inst) if inst.get_parent() == Some(block) => {
            let phi = PhiValue::try_from(inst).ok()?;
            phi.get_incomings().find(|(_, incoming)| *incoming == from).map(|(value, _)| value)
        }
        _ => Some(argument),
    };
    let arguments: Option<Vec<_>> = panic::arguments(report)?.into_iter().map(known).collect();
    arguments?.try_into().ok()
}

/// A block's phis, as instructions and as phis.
fn phis<'ctx>(block: BasicBlock<'ctx>) -> Vec<(InstructionValue<'ctx>, PhiValue<'ctx>)> {
    let phi = |inst: InstructionValue<'ctx>| Some((inst, PhiValue::try_from(inst).ok()?));
    block.get_instructions().map_while(phi).collect()
}

/// Redirects a terminator from one successor to another.
fn redirect<'ctx>(terminator: InstructionValue<'ctx>, from: BasicBlock<'ctx>, to: BasicBlock<'ctx>) {
    for (index, target) in raw::successors(terminator).into_iter().enumerate() {
        if target == from {
            raw::set_successor(terminator, index, to);
        }
    }
}

fn terminator(block: BasicBlock<'_>) -> Result<InstructionValue<'_>> {
    block.get_terminator().ok_or_else(|| EmitError::Llvm("a block without an end".to_owned()))
}
