//! Lowers panics: each function has one cold block for its panics, with site and arguments as phis, and another for
//! those with more than two arguments.
//!
//! The block claims the panic record by a relaxed compare-and-exchange. Only the thread that claims it writes the rest,
//! so these writes are plain. The kernel's number is written last, after a fence: the host may read the record when it
//! has only waited for another stream, and a record without that number is still being written. [`super`](self::super)
//! has the record's layout. In a kernel whose threads look for panics, as at a barrier of the grid, they read that number
//! meanwhile, so it is written by a relaxed store there; elsewhere a strong store after a fence would only look like an order
//! of other accesses.
//!
//! The report is one piece of inline PTX. As LLVM instructions it added half a millisecond to each compilation (a
//! quarter of the vector add's), and LLVM could not improve it.

use cuda_llvm::inkwell;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::types::{BasicMetadataTypeEnum, IntType};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode, InstructionValue,
    IntValue, Operand, PointerValue,
};

use super::function::{Lowering, Result};
use crate::kir::{Module, SiteId};
use crate::target::ComputeCapability;

/// The start of the report: `$0` is the record, `$1` the launch's tag, `$2` the site, `$3` and up the arguments.
/// Threads that find the record taken end immediately. It declares its registers itself: as outputs, each took LLVM
/// time.
const CLAIM: &str = "\
{
\t.reg .pred taken;
\t.reg .b32 a, b, c, d, kernel, launch;
\tatom.global.cas.b32 a, [$0], 0, 1;
\tsetp.ne.b32 taken, a, 0;
\t@taken exit;
\tmov.u32 a, %ctaid.x;
\tst.global.v2.b32 [$0+8], {$2, a};
\tmov.u32 a, %ctaid.y;
\tmov.u32 b, %ctaid.z;
\tmov.u32 c, %tid.x;
\tmov.u32 d, %tid.y;
\tst.global.v4.b32 [$0+16], {a, b, c, d};
\tmov.u32 a, %tid.z;
\tmov.b64 {kernel, launch}, $1;
\tst.global.v2.b32 [$0+32], {a, launch};
";
/// The end of the report, after the arguments.
const RELEASE: [&str; 2] = [
    "\
\tmembar.sys;
\tst",
    ".global.b32 [$0+4], kernel;
\t}",
];

/// The modifier of the store of a report's last word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Publication(&'static str);

impl Publication {
    /// That of a module for a target.
    pub(super) fn of(kir: &Module, capability: ComputeCapability) -> Publication {
        Publication(match kir.looks_for_panics() {
            false => "",
            true if capability < (7, 0).into() => ".volatile",
            true => ".relaxed.sys",
        })
    }
}
/// The instruction that ends the thread, also within callees.
const END: &str = "exit;";
/// The instruction of a panic without a launch and therefore without a record.
const TRAP: &str = "trap;";
/// The fixed arguments of a report: record, tag and site.
const FIXED: usize = 3;
/// The number of a site's arguments in the report of most panics.
const SITE_ARGUMENTS: usize = 2;
/// The number of arguments of that report.
const ARGUMENTS: usize = FIXED + SITE_ARGUMENTS;

/// The report of a site with `arguments` arguments.
fn text(arguments: usize, Publication(how): Publication) -> String {
    let store = |index: usize| format!("\tst.global.b64 [$0+{}], ${};\n", 40 + 8 * index, FIXED + index);
    let stores: String = (0..arguments).map(store).collect();
    [CLAIM, &stores, RELEASE[0], how, RELEASE[1]].concat()
}

/// A report after which all threads continue, also those that find the record taken.
fn without_end(report: &str) -> String {
    let report = report.replace("\t@taken exit;\n", "");
    report.replace("\tst.", "\t@!taken st.").replace("\tmembar.", "\t@!taken membar.")
}

/// A function's cold blocks: one for panics with few arguments, which are nearly all, and one for the others, so that
/// the first has few phis.
#[derive(Default)]
pub(super) struct PanicBlocks<'ctx> {
    few: PanicBlock<'ctx>,
    many: PanicBlock<'ctx>,
}

impl<'ctx> PanicBlocks<'ctx> {
    /// Adds the block `from` as a predecessor that panics; returns the block to jump to.
    pub(super) fn enter(
        &mut self,
        lowering: &Lowering<'ctx, '_>,
        function: FunctionValue<'ctx>,
        from: BasicBlock<'ctx>,
        site: SiteId,
        arguments: Vec<IntValue<'ctx>>,
    ) -> BasicBlock<'ctx> {
        let blocks = if arguments.len() > SITE_ARGUMENTS { &mut self.many } else { &mut self.few };
        blocks.entries.push((from, site, arguments));
        *blocks.block.get_or_insert_with(|| lowering.context.append_basic_block(function, "panic"))
    }

    /// Fills the blocks that were created.
    pub(super) fn finish(
        self,
        lowering: &Lowering<'ctx, '_>,
        hidden: (PointerValue<'ctx>, IntValue<'ctx>),
    ) -> Result<()> {
        let most = self.many.entries.iter().map(|(.., arguments)| arguments.len()).max().unwrap_or_default();
        self.few.finish(lowering, hidden, SITE_ARGUMENTS)?;
        self.many.finish(lowering, hidden, most)
    }
}

/// A cold block, created by the first panic that jumps to it.
#[derive(Default)]
struct PanicBlock<'ctx> {
    block: Option<BasicBlock<'ctx>>,
    /// The predecessors, with the site and arguments of each.
    entries: Vec<(BasicBlock<'ctx>, SiteId, Vec<IntValue<'ctx>>)>,
}

impl<'ctx> PanicBlock<'ctx> {
    /// Fills the block, if it was created.
    fn finish(
        self,
        lowering: &Lowering<'ctx, '_>,
        (record, tag): (PointerValue<'ctx>, IntValue<'ctx>),
        most: usize,
    ) -> Result<()> {
        let Some(block) = self.block else { return Ok(()) };
        let (context, builder) = (lowering.context, &lowering.builder);
        let (word, long) = (context.i32_type(), context.i64_type());
        builder.position_at_end(block);
        if lowering.exported {
            let ty = context.void_type().fn_type(&[], false);
            let trap = context.create_inline_asm(ty, TRAP.to_owned(), String::new(), true, false, None, false);
            builder.build_indirect_call(ty, trap, &[], "")?;
            builder.build_unreachable()?;
            return Ok(());
        }
        let site = self.phi(lowering, word, |site, _| Some(word.const_int(site.0.into(), false)))?;
        let mut arguments: Vec<BasicValueEnum<'ctx>> = vec![record.into(), tag.into(), site.into()];
        for index in 0..most {
            arguments.push(self.phi(lowering, long, |_, arguments| arguments.get(index).copied())?.into());
        }
        if lowering.counters.is_some() {
            report(context, builder, without_end(&text(most, lowering.publication)), &arguments)?;
            lowering.leave()?;
            let ty = context.void_type().fn_type(&[], false);
            let end = context.create_inline_asm(ty, END.to_owned(), String::new(), true, false, None, false);
            builder.build_indirect_call(ty, end, &[], "")?;
        } else {
            report(context, builder, format!("{}\n\t{END}", text(most, lowering.publication)), &arguments)?;
        }
        builder.build_unreachable()?;
        Ok(())
    }

    /// Builds the phi of one argument; zero for predecessors without it.
    fn phi(
        &self,
        lowering: &Lowering<'ctx, '_>,
        ty: IntType<'ctx>,
        brought: impl Fn(SiteId, &[IntValue<'ctx>]) -> Option<IntValue<'ctx>>,
    ) -> Result<IntValue<'ctx>> {
        let phi = lowering.builder.build_phi(ty, "")?;
        for (from, site, arguments) in &self.entries {
            let value = brought(*site, arguments).unwrap_or_else(|| ty.const_zero());
            phi.add_incoming(&[(&value, *from)]);
        }
        Ok(phi.as_basic_value().into_int_value())
    }
}

/// Emits the report.
fn report<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    text: String,
    arguments: &[BasicValueEnum<'ctx>],
) -> Result<()> {
    let inputs: Vec<_> = arguments.iter().map(|argument| BasicMetadataTypeEnum::from(argument.get_type())).collect();
    let ty = context.void_type().fn_type(&inputs, false);
    let constraints = ["l,l,r", &",l".repeat(arguments.len() - FIXED), ",~{memory}"].concat();
    let asm = context.create_inline_asm(ty, text, constraints, true, false, None, false);
    let passed: Vec<_> = arguments.iter().copied().map(BasicMetadataValueEnum::from).collect();
    builder.build_indirect_call(ty, asm, &passed, "")?;
    Ok(())
}

/// The report in a block that ends the thread.
pub(super) fn ending_report<'ctx>(block: BasicBlock<'ctx>) -> Option<InstructionValue<'ctx>> {
    let end = block.get_terminator().filter(|end| end.get_opcode() == InstructionOpcode::Unreachable)?;
    let is_report = |last: &InstructionValue<'ctx>| {
        let asm = CallSiteValue::try_from(*last).is_ok_and(|call| call.get_called_fn_value().is_none());
        asm && last.get_type().is_void_type() && last.get_num_operands() as usize == ARGUMENTS + 1
    };
    end.get_previous_instruction().filter(is_report)
}

/// The arguments of a report: record, tag, site and the site's two.
pub(super) type Arguments<'ctx> = [BasicValueEnum<'ctx>; ARGUMENTS];

/// The arguments of a report.
pub(super) fn arguments(report: InstructionValue<'_>) -> Option<Arguments<'_>> {
    let arguments: Vec<_> = report.get_operands().flatten().filter_map(Operand::value).take(ARGUMENTS).collect();
    arguments.try_into().ok()
}

/// Emits a panic report that does not end the thread.
pub(super) fn report_without_end<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    arguments: Arguments<'ctx>,
    publication: Publication,
) -> Result<()> {
    report(context, builder, text(SITE_ARGUMENTS, publication), &arguments)
}

/// Ends the threads for which the condition equals `ends`.
pub(super) fn end_where<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    condition: IntValue<'ctx>,
    ends: bool,
) -> Result<()> {
    let ty = context.void_type().fn_type(&[context.bool_type().into()], false);
    let text = format!("@{}$0 {END}", if ends { "" } else { "!" });
    let asm = context.create_inline_asm(ty, text, "b".to_owned(), true, false, None, false);
    builder.build_indirect_call(ty, asm, &[condition.into()], "")?;
    Ok(())
}
