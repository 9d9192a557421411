//! The ends of a vectorised loop: the check before each iteration that no thread leaves in it, the iteration in which
//! all threads leave by one exit, and what happens if only some of them do.

use super::{
    GROUP, Storage, VectorLoop, begin_iteration, combine, load_stored, rename, set_poison, spill, spill_current,
    thread_loop,
};
use crate::codegen::emit::Emitter;
use crate::codegen::kernel::{PARALLEL, emit_blocks, thread_environment};
use crate::ir::lockstep::Ordered;
use crate::ir::{BlockId, Inst, Reg};
use crate::ptx::Result;
use std::collections::BTreeSet;

/// The number of exits that have a bit.
const MOST_BITS: usize = 30;

/// The label of the last iteration of threads that all leave by one exit.
fn last_label(exit: usize) -> String {
    format!("last{exit}")
}

/// Emits an instruction that is assumed to select an operand, or the check of that.
pub(in crate::codegen) fn assumed_select(emitter: &mut Emitter<'_>, inst: &Inst, selected: usize) -> Result<()> {
    if !emitter.without_effects {
        let bits = inst.ty(0).bits();
        let value = emitter.int(&inst.operands[selected], bits)?;
        return emitter.write(&inst.operands[0], bits, &value, false);
    }
    emitter.inst(inst)?;
    let first = emitter.int(&inst.operands[3], 1)?;
    let wrong = if selected == 1 { emitter.def(format_args!("xor i1 {first}, true")) } else { first };
    record_stray(emitter, &wrong);
    Ok(())
}

/// Records that a thread may not do what is assumed of all threads, if the condition is true.
pub(in crate::codegen) fn record_stray(emitter: &mut Emitter<'_>, condition: &str) {
    let wrong = emitter.def(format_args!("zext i1 {condition} to i32"));
    combine(emitter, "strays", &wrong);
}

/// Emits an iteration's branches once, for the largest value of the counter that decides about them. If it stays in the loop
/// and each comparison has the same result for the smallest value, no thread leaves: control continues at `work`, and at
/// `probe.all` otherwise.
fn emit_range_check<'a>(emitter: &mut Emitter<'a>, this: &VectorLoop<'a>, ordered: &'a Ordered) -> Result<()> {
    let outer = std::mem::take(&mut emitter.text);
    for name in ["tid0", "tid1", "tid2"] {
        emitter.line(format_args!("%{name} = add i32 0, 0"));
    }
    for name in ["thread", "slot.at", "lane", "group"] {
        emitter.line(format_args!("%{name} = add i64 0, 0"));
    }
    thread_environment(emitter, false);
    emitter.line(format_args!("store i32 0, ptr %strays"));
    let (uniform, others): (Vec<Reg>, Vec<Reg>) =
        this.live.iter().partition(|reg| this.storage(**reg) == Storage::Uniform);
    uniform.into_iter().try_for_each(|reg| load_stored(emitter, this, reg))?;
    let unset = this.stored.iter().filter(|reg| !this.live.contains(reg));
    set_poison(emitter, others.iter().chain(unset).copied());
    let [most, amount] = ["%most".to_owned(), format!("%once{}", ordered.counter)]
        .map(|variable| emitter.def(format_args!("load i64, ptr {variable}")));
    let most = emitter.def(format_args!("add i64 {most}, {amount}"));
    emitter.line(format_args!("store i64 {most}, ptr %r{}", ordered.counter));
    emitter.line(format_args!("br label %b{}", this.info.header));
    (emitter.without_effects, emitter.ordered) = (true, Some(ordered));
    let blocks = this.regions.blocks(emitter.function, this.region);
    emit_blocks(emitter, &blocks, Some((this.regions, this.region)))?;
    (emitter.without_effects, emitter.ordered) = (false, None);
    for stays in this.info.exits.iter().map(|block| this.regions.splits[block]).chain([this.region]) {
        emitter.text.push_str(&format!("split{stays}:\n  br label %range.end\n"));
    }
    for leaves in this.info.side_exits.iter().map(|block| this.regions.splits[block]) {
        emitter.text.push_str(&format!("split{leaves}:\n  store i32 1, ptr %strays\n  br label %range.end\n"));
    }
    emitter.text.push_str("range.end:\n");
    let strays = emitter.def(format_args!("load i32, ptr %strays"));
    let any = emitter.def(format_args!("icmp ne i32 {strays}, 0"));
    emitter.text.push_str(&format!("  br i1 {any}, label %probe.all, label %work\nprobe.all:\n"));
    let inner = std::mem::replace(&mut emitter.text, outer);
    emitter.text.push_str(&rename(&inner, ".range"));
    Ok(())
}

/// Determines whether a thread will take a side exit in this iteration, or select what it is assumed not to, so that
/// the iteration itself need not handle it. Nothing is stored; dead-code elimination leaves only the computation of the
/// branches.
pub(super) fn emit_side_exit_check<'a>(emitter: &mut Emitter<'a>, this: &VectorLoop<'a>) -> Result<()> {
    if let Some(ordered) = this.ordered(emitter) {
        emit_range_check(emitter, this, ordered)?;
    }
    let region_of = |block: &BlockId| this.regions.splits[block];
    // Of a thread that leaves, bit 0 is set; of one that does not leave by a counted exit, the exit's bit. They are
    // collected for each lane, since a reduction in each group would take longer than the rest. An exit without a bit
    // counts as one that only some threads take.
    let bit = |exit: &BlockId| {
        let at = this.info.counted_exits.iter().position(|counted| counted == exit);
        at.filter(|at| *at < MOST_BITS).map(|at| 2 << at)
    };
    let stay: u32 = this.info.counted_exits.iter().filter_map(bit).sum();
    emitter.line(format_args!("store <{GROUP} x i32> zeroinitializer, ptr %lane.bits"));
    emitter.text.push_str("  br label %probe\nprobe:\n");
    thread_loop(emitter, this, "probe", |emitter| {
        emitter.line(format_args!("store i32 0, ptr %strays"));
        begin_iteration(emitter, this)?;
        let blocks = this.regions.blocks(emitter.function, this.region);
        emitter.without_effects = true;
        emit_blocks(emitter, &blocks, Some((this.regions, this.region)))?;
        emitter.without_effects = false;
        for stays in this.info.exits.iter().map(region_of).chain([this.region]) {
            emitter.text.push_str(&format!("split{stays}:\n"));
            let strays = emitter.def(format_args!("load i32, ptr %strays"));
            let bits = emitter.def(format_args!("or i32 {strays}, {stay}"));
            emitter.text.push_str(&format!("  store i32 {bits}, ptr %leaves\n  br label %probed\n"));
        }
        for side_exit in &this.info.side_exits {
            let (region, bits) = (region_of(side_exit), 1 | (stay & !bit(side_exit).unwrap_or(0)));
            let leave = format!("split{region}:\n  store i32 {bits}, ptr %leaves\n  br label %probed\n");
            emitter.text.push_str(&leave);
        }
        emitter.text.push_str("probed:\n");
        let own = emitter.def(format_args!("load i32, ptr %leaves"));
        let at = emitter.def(format_args!("getelementptr i32, ptr %lane.bits, i64 %lane"));
        let bits = emitter.def(format_args!("load i32, ptr {at}{PARALLEL}"));
        let bits = emitter.def(format_args!("or i32 {bits}, {own}"));
        emitter.line(format_args!("store i32 {bits}, ptr {at}{PARALLEL}"));
        emitter.line(format_args!("br label %probe.done"));
        Ok(())
    })?;
    let bits = emitter.def(format_args!("load <{GROUP} x i32>, ptr %lane.bits"));
    let reduce = format!("llvm.vector.reduce.or.v{GROUP}i32");
    let bits = emitter.call("i32", &reduce, &[(&format!("<{GROUP} x i32>"), &bits)]);
    let leaves = emitter.def(format_args!("trunc i32 {bits} to i1"));
    emitter.text.push_str(&format!("  br i1 {leaves}, label %some.leave, label %work\nsome.leave:\n"));
    for exit in &this.info.counted_exits {
        let Some(bit) = bit(exit) else { continue };
        let others = emitter.def(format_args!("and i32 {bits}, {bit}"));
        let all = emitter.def(format_args!("icmp eq i32 {others}, 0"));
        let region = region_of(exit);
        let (last, next) = (last_label(region), format!("not.all{region}"));
        emitter.text.push_str(&format!("  br i1 {all}, label %{last}, label %{next}\n{next}:\n"));
    }
    emitter.line(format_args!("br label %interrupt"));
    Ok(())
}

/// Emits the last iteration of threads that all leave by the same exit of a counter.
pub(super) fn emit_last_iteration(emitter: &mut Emitter<'_>, this: &VectorLoop<'_>, exit: BlockId) -> Result<()> {
    let region = this.regions.splits[&exit];
    let blocks = this.regions.blocks(emitter.function, this.region);
    let leaving = this.info.exits.iter().chain(&this.info.side_exits).copied().chain([this.info.header]);
    let name = last_label(region);
    emitter.text.push_str(&format!("{name}:\n"));
    emitter.unreachable_blocks = leaving.clone().filter(|block| *block != exit).collect();
    emitter.unreachable_blocks.extend(blocks_without_path(emitter, &blocks, exit));
    emitter.begin_batch(false);
    thread_loop(emitter, this, &name, |emitter| {
        let left: Vec<Reg> = this.regions.live[region].iter().copied().filter(|r| this.written.contains(r)).collect();
        set_poison(emitter, left.iter().copied().filter(|r| !this.live.contains(r)));
        begin_iteration(emitter, this)?;
        emit_blocks(emitter, &blocks, Some((this.regions, this.region)))?;
        let others = leaving.filter(|block| *block != exit).map(|block| this.regions.splits[&block]);
        for other in others.collect::<BTreeSet<usize>>() {
            emitter.text.push_str(&format!("split{other}:\n  unreachable\n"));
        }
        emitter.text.push_str(&format!("split{region}:\n"));
        left.into_iter().for_each(|reg| spill_current(emitter, this, reg));
        emitter.line(format_args!("br label %{name}.done"));
        Ok(())
    })?;
    emitter.unreachable_blocks.clear();
    let batch = emitter.end_batch("%first", "%count");
    emitter.text.push_str(&batch);
    emitter.line(format_args!("ret i64 {region}"));
    Ok(())
}

/// Returns the blocks of a loop from which no path leads to an exit without another iteration.
fn blocks_without_path(emitter: &Emitter<'_>, blocks: &[BlockId], exit: BlockId) -> Vec<BlockId> {
    let header = blocks[0];
    let mut reaching = BTreeSet::from([exit]);
    loop {
        let before = reaching.len();
        for block in blocks {
            let next = emitter.function.blocks[*block].term.successors();
            if next.iter().any(|to| *to != header && reaching.contains(to)) {
                reaching.insert(*block);
            }
        }
        if reaching.len() == before {
            return blocks.iter().copied().filter(|block| !reaching.contains(block)).collect();
        }
    }
}

/// Emits the end of the loop before an iteration in which a thread takes a side exit: the scalar region continues with
/// the registers as they are.
pub(super) fn emit_interrupt(emitter: &mut Emitter<'_>, this: &VectorLoop<'_>) -> Result<()> {
    emitter.text.push_str("interrupt:\n");
    thread_loop(emitter, this, "interrupt", |emitter| {
        for reg in this.regions.live[this.region].iter().filter(|r| this.written.contains(r)) {
            spill(emitter, this, *reg)?;
        }
        emitter.line(format_args!("br label %interrupt.done"));
        Ok(())
    })?;
    emitter.line(format_args!("br label %deoptimise"));
    Ok(())
}
