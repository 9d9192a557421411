//! Regions of kernels that synchronise: `region(ctx, first, count)` runs a range of the current block's threads.
//!
//! The thread loop is inside, row by row of the block, so that LLVM vectorises over `tid.x`. Each thread spills its
//! live registers to the frame and stores the state in which it continues in `next`. If that state is the same for
//! every thread by construction, `next` is not written and the region returns the state instead of [`abi::DIVERGED`].
//!
//! The same instructions also make the fiber of a thread, `fiber(ctx, thread)`: all regions in one function, with a
//! switch to the scheduler where a region would end.

use super::abi;
use super::emit::Emitter;
use super::kernel::{PARALLEL, calls, emit_blocks, frame_array, frame_slot, param_slots, register_slots};
use crate::ir::regions::{RegionKind, Regions, reachable};
use crate::ir::sync::{self, Arg, Plan, Site};
use crate::ir::{BlockId, Inst, Reg, Terminator, Value};
use crate::ptx::Result;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Returns the frame slot of an argument or result of the current thread.
fn sync_slot(emitter: &mut Emitter<'_>, offset: u64) -> String {
    let frame = emitter.field(abi::FRAME, "ptr");
    let threads = emitter.field(abi::THREADS, "i64");
    let start = emitter.uniform(format_args!("mul i64 {threads}, {offset}"));
    let array = emitter.uniform(format_args!("getelementptr i8, ptr {frame}, i64 {start}"));
    emitter.def(format_args!("getelementptr i32, ptr {array}, i64 %thread"))
}

/// Stores a synchronisation's arguments in the frame.
pub(super) fn arguments(emitter: &mut Emitter<'_>, inst: &Inst, site: &Site) -> Result<()> {
    emitter.position = inst.position;
    for (i, input) in sync::inputs(inst).into_iter().enumerate() {
        let Some(input) = input.filter(|_| site.args[i] == Arg::Frame) else { continue };
        argument(emitter, input, 4 * i as u64)?;
    }
    for (i, word) in sync::fragments(inst).into_iter().enumerate() {
        argument(emitter, word, sync::FRAME_BYTES + 4 * i as u64)?;
    }
    Ok(())
}

/// Stores one word of a value in the frame.
fn argument(emitter: &mut Emitter<'_>, (value, bits, high): (&Value, u32, bool), offset: u64) -> Result<()> {
    let value = emitter.int(value, bits)?;
    let value = if high { emitter.def(format_args!("lshr i64 {value}, 32")) } else { value };
    let value = emitter.resize(&value, bits, 32, false);
    let pointer = sync_slot(emitter, offset);
    emitter.line(format_args!("store i32 {value}, ptr {pointer}, align 4{PARALLEL}"));
    Ok(())
}

/// Loads fragments of matrices from the frame.
fn fragments(emitter: &mut Emitter<'_>, inst: &Inst) -> Result<()> {
    let mut offset = sync::FRAME_BYTES;
    for (dest, bits) in sync::results(inst) {
        let mut words = Vec::new();
        for _ in 0..bits / 32 {
            let pointer = sync_slot(emitter, offset);
            words.push(emitter.def(format_args!("load i32, ptr {pointer}, align 4{PARALLEL}")));
            offset += 4;
        }
        let value = emitter.join(&words, 32);
        emitter.write(dest, bits, &value, false)?;
    }
    Ok(())
}

/// Emits the inputs and outputs of a synchronisation, for [`super::check`].
pub(super) fn check(emitter: &mut Emitter<'_>, inst: &Inst) -> Result<()> {
    emitter.position = inst.position;
    let mut words = sync::inputs(inst).into_iter().flatten().chain(sync::fragments(inst));
    words.try_for_each(|(value, bits, _)| emitter.int(value, bits).map(drop))?;
    results(emitter, inst)
}

/// Loads a synchronisation's results from the frame.
fn results(emitter: &mut Emitter<'_>, inst: &Inst) -> Result<()> {
    let (word, truth) = sync::outputs(inst);
    for (dest, bits, offset) in [(word, 32, sync::RESULT), (truth, 1, sync::RESULT + 4)] {
        let Some(dest) = dest.filter(|d| **d != Value::Sink) else { continue };
        let pointer = sync_slot(emitter, offset);
        let value = emitter.def(format_args!("load i32, ptr {pointer}, align 4{PARALLEL}"));
        let value = emitter.resize(&value, 32, bits, false);
        emitter.write(dest, bits, &value, false)?;
    }
    fragments(emitter, inst)
}

/// Returns the registers that these blocks and instructions write.
fn defined(emitter: &Emitter<'_>, blocks: &[BlockId], resumed: Option<&Inst>) -> BTreeSet<Reg> {
    let mut defs = BTreeSet::new();
    let insts = blocks.iter().flat_map(|b| &emitter.function.blocks[*b].insts);
    insts.chain(resumed).for_each(|inst| {
        inst.visit(
            &mut |r| {
                defs.insert(r);
            },
            &mut |_| {},
        )
    });
    defs
}

/// Returns the states, as stored in `next`, in which threads can leave a region from these blocks.
fn exits(emitter: &Emitter<'_>, regions: &Regions, region: usize, blocks: &[BlockId]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for block in blocks {
        match &emitter.function.blocks[*block].term {
            Terminator::Sync(..) => {
                found.insert(regions.waiting_state(regions.site_of[block]));
            }
            Terminator::Exit | Terminator::Return | Terminator::Trap(_) => {
                found.insert(0);
            }
            term => found.extend(term.successors().into_iter().filter_map(|next| regions.split(region, *block, next))),
        }
    }
    if calls(emitter.function, blocks) {
        // The thread may end in a callee.
        found.insert(0);
    }
    found
}

fn store_state(emitter: &mut Emitter<'_>, state: usize) {
    emitter.line(format_args!("store i32 {state}, ptr %state"));
    emitter.line(format_args!("br label %thread.done"));
}

/// Returns the synchronisation whose results a region begins with.
fn resumed<'a>(emitter: &Emitter<'a>, regions: &Regions, region: usize) -> Option<&'a Inst> {
    let RegionKind::Resume(block) = regions.kinds[region] else { return None };
    match &emitter.function.blocks[block].term {
        Terminator::Sync(inst, _) => Some(inst),
        _ => None,
    }
}

/// Loads the registers that are live at the head of a region from the frame.
fn load_registers(emitter: &mut Emitter<'_>, regions: &Regions, region: usize) {
    for reg in &regions.live[region] {
        let width = emitter.function.registers[*reg as usize];
        let stored = width.max(8);
        let value = if regions.is_barrier_uniform(region, *reg) {
            let array = frame_array(emitter, regions, *reg);
            let pointer = emitter.uniform(format_args!("getelementptr i{stored}, ptr {array}, i64 %first"));
            emitter.uniform(format_args!("load i{stored}, ptr {pointer}, align 1"))
        } else {
            let pointer = frame_slot(emitter, regions, *reg);
            emitter.def(format_args!("load i{stored}, ptr {pointer}, align 1{PARALLEL}"))
        };
        let value = emitter.resize(&value, stored, width, false);
        emitter.line(format_args!("store i{width} {value}, ptr %r{reg}"));
    }
}

/// Emits the start of a thread: its coordinates for callees, its local memory, its registers.
fn thread_start(emitter: &mut Emitter<'_>, regions: &Regions, region: usize, blocks: &[BlockId]) -> Result<()> {
    let function = emitter.function;
    super::kernel::thread_environment(emitter, calls(function, blocks));
    if region == 0 {
        super::kernel::zero_registers(emitter, regions.live[region].iter().copied());
    } else {
        load_registers(emitter, regions, region);
    }
    for (block, at) in &regions.remat_insts[region] {
        emitter.inst(&function.blocks[*block].insts[*at])?;
    }
    if let Some(inst) = resumed(emitter, regions, region) {
        results(emitter, inst)?;
    }
    let states = exits(emitter, regions, region, blocks);
    if states.iter().any(|state| polls_inside(regions, blocks, *state)) {
        emitter.prologue.push_str("  %polls = alloca i32\n");
        emitter.line(format_args!("store i32 {POLL_BUDGET}, ptr %polls"));
    }
    emitter.line(format_args!("br label %b{}", regions.heads[region]));
    Ok(())
}

/// Emits the exit of a region to `state`: live registers are spilled to the frame.
fn emit_exit(
    emitter: &mut Emitter<'_>,
    regions: &Regions,
    region: usize,
    blocks: &[BlockId],
    state: usize,
    defs: &BTreeSet<Reg>,
) {
    let (label, target) = match state.checked_sub(regions.heads.len()) {
        Some(site) => (format!("wait{site}"), regions.sites[site].region),
        None => (format!("split{state}"), state),
    };
    emitter.text.push_str(&format!("{label}:\n"));
    if polls_inside(regions, blocks, state) {
        poll_again(emitter, regions, state);
    }
    for reg in &regions.live[target] {
        // A register that was loaded from the frame and not written is still there.
        if region > 0 && !defs.contains(reg) && regions.live[region].contains(reg) {
            continue;
        }
        let width = emitter.function.registers[*reg as usize];
        let value = emitter.def(format_args!("load i{width}, ptr %r{reg}"));
        let stored = width.max(8);
        let value = emitter.resize(&value, width, stored, false);
        let pointer = frame_slot(emitter, regions, *reg);
        emitter.line(format_args!("store i{stored} {value}, ptr {pointer}, align 1{PARALLEL}"));
    }
    store_state(emitter, state);
}

/// The number of iterations of polling loops before other threads run. Most such loops wait for nobody, and a switch to
/// the scheduler and back costs as much as tens of iterations.
const POLL_BUDGET: u32 = 256;
/// The part of the budget that an iteration uses if all iterations begin with the same values: only other threads can
/// end such a loop.
const UNCHANGED: u32 = 16;

/// Returns true if `state` is that of the next iteration of a polling loop whose header is among these blocks.
fn polls_inside(regions: &Regions, blocks: &[BlockId], state: usize) -> bool {
    regions.polls.contains_key(&state) && blocks.contains(&regions.heads[state])
}

/// Continues with the next iteration of a polling loop unless the budget is used up.
fn poll_again(emitter: &mut Emitter<'_>, regions: &Regions, state: usize) {
    let cost = if regions.entered(state).is_some_and(|found| found.advances) { 1 } else { UNCHANGED };
    let left = emitter.def(format_args!("load i32, ptr %polls"));
    let left = emitter.def(format_args!("sub i32 {left}, {cost}"));
    emitter.line(format_args!("store i32 {left}, ptr %polls"));
    let more = emitter.def(format_args!("icmp sgt i32 {left}, 0"));
    emitter.line(format_args!("br i1 {more}, label %b{}, label %away{state}", regions.heads[state]));
    emitter.text.push_str(&format!("away{state}:\n"));
}

/// Allocates stack slots for all registers that a region names.
fn slots(emitter: &mut Emitter<'_>, regions: &Regions, region: usize, blocks: &[BlockId], states: &BTreeSet<usize>) {
    let mut used = register_slots(emitter, blocks);
    let mut add = |reg: Reg, emitter: &mut Emitter<'_>| {
        if used.insert(reg) {
            let width = emitter.function.registers[reg as usize];
            let _ = writeln!(emitter.prologue, "  %r{reg} = alloca i{width}");
        }
    };
    let mut named: Vec<Reg> = regions.live[region].clone();
    let remat_insts = regions.remat_insts[region].iter().map(|(block, at)| &emitter.function.blocks[*block].insts[*at]);
    for inst in remat_insts.chain(resumed(emitter, regions, region)) {
        inst.visit(&mut |r| named.push(r), &mut |_| {});
    }
    for state in states {
        let target = state.checked_sub(regions.heads.len()).map_or(*state, |site| regions.sites[site].region);
        named.extend(if *state == 0 { &[] } else { regions.live[target].as_slice() });
    }
    named.into_iter().for_each(|reg| add(reg, emitter));
    param_slots(emitter, 0);
    let _ = writeln!(emitter.prologue, "  %thread.record = alloca [5 x i64]\n  %state = alloca i32");
}

/// Emits the function of one region. If the region is a lockstep loop and `whole`, each thread runs all iterations, and otherwise one.
pub(super) fn range(emitter: &mut Emitter<'_>, regions: &Regions, region: usize, whole: bool) -> Result<String> {
    let blocks = regions.blocks(emitter.function, region);
    let mut states = exits(emitter, regions, region, &blocks);
    let repeats = whole && states.remove(&region);
    slots(emitter, regions, region, &blocks, &states);
    if regions.kinds[region] != RegionKind::Cold && !emitter.flavour.exact {
        emitter.parallel = PARALLEL;
    }
    emitter.exit_label = "thread.exit";
    emitter.begin_batch(true);
    thread_start(emitter, regions, region, &blocks)?;
    emit_blocks(emitter, &blocks, Some((regions, region)))?;
    if repeats {
        emitter.text.push_str(&format!("split{region}:\n  br label %b{}\n", regions.heads[region]));
    }
    let defs = defined(emitter, &blocks, resumed(emitter, regions, region));
    for state in states.iter().filter(|s| **s != 0) {
        emit_exit(emitter, regions, region, &blocks, *state, &defs);
    }
    emitter.text.push_str("thread.return:\n  br label %thread.exit\nthread.exit:\n");
    store_state(emitter, 0);
    let only = states.first().filter(|_| states.len() == 1);
    let record = match only {
        Some(_) => String::new(),
        None => {
            let next = emitter.field(abi::NEXT, "ptr");
            format!(
                "  %state.now = load i32, ptr %state\n  %next.at = getelementptr i32, ptr {next}, i64 %thread\n  \
                 store i32 %state.now, ptr %next.at, align 4{PARALLEL}\n"
            )
        }
    };
    let result = only.map_or(abi::DIVERGED, |state| *state as u64);
    Ok(range_loop(emitter, &record, result))
}

/// Loads the coordinates of a block from the context.
pub(super) fn block_coordinates(emitter: &mut Emitter<'_>) {
    for (axis, at) in [0, 4, 8].into_iter().enumerate() {
        let pointer = emitter.uniform(format_args!("getelementptr i8, ptr %ctx, i64 {}", abi::CTAID + at));
        let _ = writeln!(emitter.prologue, "  %ctaid{axis} = load i32, ptr {pointer}");
    }
}

/// The loop over the threads `first` to `first + count`, in rows of equal `tid.y` and `tid.z`.
fn range_loop(emitter: &mut Emitter<'_>, record: &str, result: u64) -> String {
    let [nx, ny] = [0, 4].map(|at| emitter.field(abi::BLOCK + at, "i32"));
    block_coordinates(emitter);
    let batch = emitter.end_batch("%first", "%count");
    // A block has at most 1024 threads. The mask lets LLVM see that addresses do not wrap.
    format!(
        "define i64 @kernel(ptr noalias %ctx, i64 %first, i64 %count) #0 {{\nentry:\n{prologue}  \
%end = add i64 %first, %count
  %first.any = trunc i64 %first to i32
  %first.small = and i32 %first.any, 1023
  %begins = icmp ult i32 %first.small, {nx}
  br i1 %begins, label %row, label %inside
inside:
  %x.inside = urem i32 %first.small, {nx}
  %row.inside = udiv i32 %first.small, {nx}
  %y.inside = urem i32 %row.inside, {ny}
  %z.inside = udiv i32 %row.inside, {ny}
  br label %row
row:
  %row.thread = phi i64 [ %first, %entry ], [ %first, %inside ], [ %row.after, %row.next ]
  %x.start = phi i32 [ %first.small, %entry ], [ %x.inside, %inside ], [ 0, %row.next ]
  %tid1 = phi i32 [ 0, %entry ], [ %y.inside, %inside ], [ %y.new, %row.next ]
  %tid2 = phi i32 [ 0, %entry ], [ %z.inside, %inside ], [ %z.new, %row.next ]
  %left.wide = sub i64 %end, %row.thread
  %left = trunc i64 %left.wide to i32
  %x.most = add i32 %x.start, %left
  %x.cut = icmp ult i32 %x.most, {nx}
  %x.end = select i1 %x.cut, i32 %x.most, i32 {nx}
  %x.wide = zext i32 %x.start to i64
  %row.start = sub i64 %row.thread, %x.wide
  br label %thread.head
thread.head:
  %tid0 = phi i32 [ %x.start, %row ], [ %tid0.next, %thread.done ]
  %tid0.wide = zext i32 %tid0 to i64
  %thread = add nuw nsw i64 %row.start, %tid0.wide
{text}thread.done:
{record}  %tid0.next = add nuw nsw i32 %tid0, 1
  %threads.left = icmp ult i32 %tid0.next, %x.end
  br i1 %threads.left, label %thread.head, label %row.next, !llvm.loop !1
row.next:
  %x.end.wide = zext i32 %x.end to i64
  %row.after = add i64 %row.start, %x.end.wide
  %y.up = add i32 %tid1, 1
  %y.over = icmp eq i32 %y.up, {ny}
  %y.new = select i1 %y.over, i32 0, i32 %y.up
  %z.carry = zext i1 %y.over to i32
  %z.new = add i32 %tid2, %z.carry
  %rows.left = icmp ult i64 %row.after, %end
  br i1 %rows.left, label %row, label %finished
finished:
{batch}  ret i64 {result}
}}
",
        prologue = emitter.prologue,
        text = emitter.text,
    )
}

/// Emits the blocks of a kernel or function with a switch to the scheduler where a thread waits or polls, and adds
/// those places to the plan.
pub(super) fn fiber_blocks(
    emitter: &mut Emitter<'_>,
    blocks: &[BlockId],
    regions: &Regions,
    plan: &mut Plan,
) -> Result<()> {
    emit_blocks(emitter, blocks, Some((regions, 0)))?;
    let function = emitter.function;
    let waiting = plan.polls.len() + plan.sites.len();
    plan.sites.extend(regions.sites.iter().map(|site| Site { region: sync::FIBER_READY, ..site.clone() }));
    for (block, site) in &regions.site_of {
        let Terminator::Sync(inst, next) = &function.blocks[*block].term else { continue };
        emitter.text.push_str(&format!("wait{site}:\n"));
        switch(emitter, waiting + site);
        results(emitter, inst)?;
        emitter.line(format_args!("br label %b{next}"));
    }
    for (head, region) in &regions.splits {
        if matches!(regions.kinds[*region], RegionKind::Resume(_)) {
            continue;
        }
        emitter.text.push_str(&format!("split{region}:\n"));
        match (regions.polls.get(region), regions.kinds[*region]) {
            (Some(poll), _) => switch(emitter, poll.watched.of_fiber()),
            (None, RegionKind::PollExit) => switch(emitter, sync::FIBER_READY),
            (None, _) => {}
        }
        emitter.line(format_args!("br label %b{head}"));
    }
    Ok(())
}

/// Emits a thread of the kernel from start to end, as `kernel(ctx, thread, 0)`.
pub(super) fn fiber(emitter: &mut Emitter<'_>, regions: &Regions, plan: &mut Plan) -> Result<String> {
    let function = emitter.function;
    let blocks = reachable(function, 0, |_| true);
    let mut used = register_slots(emitter, &blocks);
    for reg in &regions.live[0] {
        if used.insert(*reg) {
            let _ = writeln!(emitter.prologue, "  %r{reg} = alloca i{}", function.registers[*reg as usize]);
        }
    }
    param_slots(emitter, 0);
    let _ = writeln!(emitter.prologue, "  %thread.record = alloca [5 x i64]");
    super::kernel::thread_environment(emitter, calls(function, &blocks));
    super::kernel::zero_registers(emitter, regions.live[0].iter().copied());
    emitter.line(format_args!("br label %b0"));
    fiber_blocks(emitter, &blocks, regions, plan)?;
    let [nx, ny] = [0, 4].map(|at| emitter.field(abi::BLOCK + at, "i32"));
    block_coordinates(emitter);
    Ok(format!(
        "define i64 @kernel(ptr %ctx, i64 %thread, i64 %unused) #0 {{\nentry:\n{prologue}  \
%small = trunc i64 %thread to i32
  %tid0 = urem i32 %small, {nx}
  %row.index = udiv i32 %small, {nx}
  %tid1 = urem i32 %row.index, {ny}
  %tid2 = udiv i32 %row.index, {ny}
{text}thread.return:
  br label %thread.done
thread.done:
  ret i64 0
}}
",
        prologue = emitter.prologue,
        text = emitter.text,
    ))
}

/// Switches to the scheduler, with `state` in `next`.
fn switch(emitter: &mut Emitter<'_>, state: usize) {
    let next = emitter.field(abi::NEXT, "ptr");
    let pointer = emitter.def(format_args!("getelementptr i32, ptr {next}, i64 %thread"));
    emitter.line(format_args!("store volatile i32 {state}, ptr {pointer}, align 4"));
    emitter.declares.insert("declare void @sim.switch(ptr) #3".to_owned());
    emitter.line(format_args!("call void @sim.switch(ptr %ctx)"));
}
