//! Lowers panics: one cold block in each function, to which all of its panics go with site and arguments.
//!
//! The block claims the record by a relaxed compare-and-exchange; only the thread that claims it writes the rest, so
//! these writes are plain ones. The host reads the record only after the kernel has ended and it has synchronised,
//! which makes all of the kernel's writes visible to it: no fence is needed. The record's layout is in
//! [`super`](self::super).

use cuda_llvm::inkwell;
use inkwell::basic_block::BasicBlock;
use inkwell::types::IntType;
use inkwell::values::{BasicValueEnum, FunctionValue, IntValue, PhiValue, PointerValue};

use super::function::{Lowering, Result};
use super::raw;
use crate::kir::{Axis, SiteId, Special};

/// Byte offsets in the record.
const KERNEL: u64 = 4;
const SITE: u64 = 8;
const BLOCK: u64 = 12;
const THREAD: u64 = 24;
const ARGUMENTS: u64 = 40;

/// A function's cold block, made when the first panic is lowered.
#[derive(Default)]
pub(super) struct PanicBlock<'ctx> {
    block: Option<BasicBlock<'ctx>>,
    /// From where it is entered, with which site and arguments.
    entries: Vec<(BasicBlock<'ctx>, SiteId, Vec<IntValue<'ctx>>)>,
}

impl<'ctx> PanicBlock<'ctx> {
    /// Notes a panic at the end of `from`, and returns the block to go to.
    pub(super) fn enter(
        &mut self,
        lowering: &Lowering<'ctx, '_>,
        function: FunctionValue<'ctx>,
        from: BasicBlock<'ctx>,
        site: SiteId,
        arguments: Vec<IntValue<'ctx>>,
    ) -> BasicBlock<'ctx> {
        self.entries.push((from, site, arguments));
        *self.block.get_or_insert_with(|| lowering.context.append_basic_block(function, "panic"))
    }

    /// Fills the block, if there is one.
    pub(super) fn finish(
        self,
        lowering: &Lowering<'ctx, '_>,
        function: FunctionValue<'ctx>,
        (record, kernel): (PointerValue<'ctx>, IntValue<'ctx>),
        is_kernel: bool,
    ) -> Result<()> {
        let Some(block) = self.block else { return Ok(()) };
        let (context, builder) = (lowering.context, &lowering.builder);
        builder.position_at_end(block);
        let site = self.phi(lowering, context.i32_type(), |_, site, _| Some(context.i32_type().const_int(site.0.into(), false)))?;
        let argument = |index: usize| {
            self.phi(lowering, context.i64_type(), |_, _, arguments| arguments.get(index).copied())
        };
        let arguments = [argument(0)?, argument(1)?];
        let (claimed, end) = (context.append_basic_block(function, "claimed"), context.append_basic_block(function, "end"));
        let (free, taken) = (context.i32_type().const_zero(), context.i32_type().const_int(1, false));
        let pair = raw::compare_exchange(context, builder, record, free, taken);
        let won = builder.build_extract_value(pair, 1, "")?.into_int_value();
        builder.build_conditional_branch(won, claimed, end)?;

        builder.position_at_end(claimed);
        let write = |offset: u64, value: BasicValueEnum<'ctx>| -> Result<()> {
            let offset = context.i64_type().const_int(offset, false);
            let field = raw::element(builder, context.i8_type().into(), record, offset);
            builder.build_store(field, value)?;
            Ok(())
        };
        write(KERNEL, kernel.into())?;
        write(SITE, site.into())?;
        for (axis, offset) in [Axis::X, Axis::Y, Axis::Z].into_iter().zip([0, 4, 8]) {
            write(BLOCK + offset, lowering.special(Special::BlockIdx(axis))?)?;
            write(THREAD + offset, lowering.special(Special::ThreadIdx(axis))?)?;
        }
        write(ARGUMENTS, arguments[0].into())?;
        write(ARGUMENTS + 8, arguments[1].into())?;
        builder.build_unconditional_branch(end)?;

        builder.position_at_end(end);
        end_thread(lowering, is_kernel)
    }

    /// What the entries bring, one value each; zero where an entry brings nothing.
    fn phi(
        &self,
        lowering: &Lowering<'ctx, '_>,
        ty: IntType<'ctx>,
        brought: impl Fn(BasicBlock<'ctx>, SiteId, &[IntValue<'ctx>]) -> Option<IntValue<'ctx>>,
    ) -> Result<IntValue<'ctx>> {
        let phi: PhiValue<'ctx> = lowering.builder.build_phi(ty, "")?;
        for (from, site, arguments) in &self.entries {
            let value = brought(*from, *site, arguments).unwrap_or_else(|| ty.const_zero());
            phi.add_incoming(&[(&value, *from)]);
        }
        Ok(phi.as_basic_value().into_int_value())
    }
}

/// Ends the thread. A device function has to leave its callers too, which only the instruction `exit` does.
fn end_thread(lowering: &Lowering<'_, '_>, is_kernel: bool) -> Result<()> {
    if is_kernel {
        lowering.builder.build_return(None)?;
        return Ok(());
    }
    let ty = lowering.context.void_type().fn_type(&[], false);
    let exit = lowering.context.create_inline_asm(ty, "exit;".to_owned(), String::new(), true, false, None, false);
    lowering.builder.build_indirect_call(ty, exit, &[], "")?;
    lowering.builder.build_unreachable()?;
    Ok(())
}
