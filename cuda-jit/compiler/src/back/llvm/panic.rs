//! Lowers panics: one cold block in each function, to which its panics go with site and arguments, and another for those
//! that say more than two values.
//!
//! The block claims the record by a relaxed compare-and-exchange; only the thread that claims it writes the rest, so
//! these writes are plain ones. The kernel's number comes last, behind a fence: the host may look at the record when it
//! has waited for another stream only, and then a record without that number is one that is still being written. The
//! record's layout is in [`super`](self::super).
//!
//! All of it is one piece of inline PTX. As LLVM instructions it cost half a millisecond a kernel to compile (a
//! quarter of the vector add), for code that nothing in it could improve.

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
use crate::kir::SiteId;

/// The beginning of the report: `$0` is the record, `$1` the launch's tag, `$2` the site, `$3` and what follows the arguments. The
/// threads that find the record taken end at once. What it works with it declares itself: as outputs, LLVM took time for
/// each register.
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
/// Its end, behind the arguments.
const RELEASE: &str = "\
\tmembar.sys;
\tst.global.b32 [$0+4], kernel;
\t}";
/// What ends the thread, from within callees too.
const END: &str = "exit;";
/// A panic where no launch has brought a record.
const TRAP: &str = "trap;";
/// What a report says beside the site's arguments: record, tag and site.
const ALWAYS: usize = 3;
/// As many of the site's arguments a report has that says no values of the program's choice.
const FEW: usize = 2;
/// How many arguments such a report has.
const ARGUMENTS: usize = ALWAYS + FEW;

/// The report of a site with so many arguments.
fn text(arguments: usize) -> String {
    let store = |index: usize| format!("\tst.global.b64 [$0+{}], ${};\n", 40 + 8 * index, ALWAYS + index);
    let stores: String = (0..arguments).map(store).collect();
    [CLAIM, &stores, RELEASE].concat()
}

/// A report after which all threads go on, also those that find the record taken.
fn without_end(report: &str) -> String {
    let report = report.replace("\t@taken exit;\n", "");
    report.replace("\tst.", "\t@!taken st.").replace("\tmembar.", "\t@!taken membar.")
}

/// A function's cold blocks: one for the panics of few arguments, which nearly all are, and one for the others, so that
/// they take nothing from those.
#[derive(Default)]
pub(super) struct PanicBlocks<'ctx> {
    few: PanicBlock<'ctx>,
    many: PanicBlock<'ctx>,
}

impl<'ctx> PanicBlocks<'ctx> {
    /// Notes a panic at the end of `from`, and returns the block to go to.
    pub(super) fn enter(
        &mut self,
        lowering: &Lowering<'ctx, '_>,
        function: FunctionValue<'ctx>,
        from: BasicBlock<'ctx>,
        site: SiteId,
        arguments: Vec<IntValue<'ctx>>,
    ) -> BasicBlock<'ctx> {
        let blocks = if arguments.len() > FEW { &mut self.many } else { &mut self.few };
        blocks.entries.push((from, site, arguments));
        *blocks.block.get_or_insert_with(|| lowering.context.append_basic_block(function, "panic"))
    }

    /// Fills the blocks that there are.
    pub(super) fn finish(
        self,
        lowering: &Lowering<'ctx, '_>,
        hidden: (PointerValue<'ctx>, IntValue<'ctx>),
    ) -> Result<()> {
        let most = self.many.entries.iter().map(|(.., arguments)| arguments.len()).max().unwrap_or_default();
        self.few.finish(lowering, hidden, FEW)?;
        self.many.finish(lowering, hidden, most)
    }
}

/// A cold block, made when the first panic that goes there is lowered.
#[derive(Default)]
struct PanicBlock<'ctx> {
    block: Option<BasicBlock<'ctx>>,
    /// From where it is entered, with which site and arguments.
    entries: Vec<(BasicBlock<'ctx>, SiteId, Vec<IntValue<'ctx>>)>,
}

impl<'ctx> PanicBlock<'ctx> {
    /// Fills the block, if there is one.
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
            report(context, builder, without_end(&text(most)), &arguments)?;
            lowering.leave()?;
            let ty = context.void_type().fn_type(&[], false);
            let end = context.create_inline_asm(ty, END.to_owned(), String::new(), true, false, None, false);
            builder.build_indirect_call(ty, end, &[], "")?;
        } else {
            report(context, builder, format!("{}\n\t{END}", text(most)), &arguments)?;
        }
        builder.build_unreachable()?;
        Ok(())
    }

    /// What the entries bring, one value each; zero where an entry brings nothing.
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

/// Writes the record.
fn report<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    text: String,
    arguments: &[BasicValueEnum<'ctx>],
) -> Result<()> {
    let inputs: Vec<_> = arguments.iter().map(|argument| BasicMetadataTypeEnum::from(argument.get_type())).collect();
    let ty = context.void_type().fn_type(&inputs, false);
    let constraints = ["l,l,r", &",l".repeat(arguments.len() - ALWAYS), ",~{memory}"].concat();
    let asm = context.create_inline_asm(ty, text, constraints, true, false, None, false);
    let passed: Vec<_> = arguments.iter().copied().map(BasicMetadataValueEnum::from).collect();
    builder.build_indirect_call(ty, asm, &passed, "")?;
    Ok(())
}

/// The report with which a block ends the thread, if it does.
pub(super) fn reported_in<'ctx>(block: BasicBlock<'ctx>) -> Option<InstructionValue<'ctx>> {
    let end = block.get_terminator().filter(|end| end.get_opcode() == InstructionOpcode::Unreachable)?;
    let is_report = |last: &InstructionValue<'ctx>| {
        let asm = CallSiteValue::try_from(*last).is_ok_and(|call| call.get_called_fn_value().is_none());
        asm && last.get_type().is_void_type() && last.get_num_operands() as usize == ARGUMENTS + 1
    };
    end.get_previous_instruction().filter(is_report)
}

/// What a report takes: record, tag, site and the site's two.
pub(super) type Arguments<'ctx> = [BasicValueEnum<'ctx>; ARGUMENTS];

/// The arguments of a report.
pub(super) fn arguments(report: InstructionValue<'_>) -> Option<Arguments<'_>> {
    let arguments: Vec<_> = report.get_operands().flatten().filter_map(Operand::value).take(ARGUMENTS).collect();
    arguments.try_into().ok()
}

/// Reports a panic without ending the thread.
pub(super) fn report_and_go_on<'ctx>(
    context: &'ctx Context,
    builder: &Builder<'ctx>,
    arguments: Arguments<'ctx>,
) -> Result<()> {
    report(context, builder, text(FEW), &arguments)
}

/// Ends the threads for which a condition is `ends`.
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
