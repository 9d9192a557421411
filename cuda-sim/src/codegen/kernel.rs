//! The code around instructions: kernels with their block and thread loops, cold regions, callable functions.
//!
//! Region 0 is `kernel(ctx, first, last)`: a loop over blocks that contains the thread loop, so that LLVM vectorises
//! over threads. If threads leave it by a split edge, it returns after that block, and the scheduler runs the other
//! regions, `kernel(ctx, threads, count)` in modules of their own, for the waiting threads.

use super::emit::Emitter;
use super::{Part, abi, region, vector_loop};
use crate::ir::callees::{reached, reached_from};
use crate::ir::liveness::live_in;
use crate::ir::lower::Program;
use crate::ir::regions::{RegionKind, Regions, reachable};
use crate::ir::sync::{Plan, synchronises};
use crate::ir::{BlockId, Function, Inst, Reg, Terminator};
use crate::ptx::{Opcode, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Attributes, and the metadata that marks loops over threads as parallel: those that run each thread once, and those inside of
/// another loop. Stacks are probed, so that deep calls hit the guard page.
const TRAILER: &str = r#"
attributes #0 = { nounwind null_pointer_is_valid "prefer-vector-width"="512" "probe-stack"="inline-asm" }
attributes #1 = { nounwind willreturn memory(none) }
attributes #2 = { nounwind willreturn }
attributes #3 = { nounwind }
attributes #4 = { nounwind willreturn speculatable memory(none) }
!0 = distinct !{}
!1 = distinct !{!1, !2, !8}
!2 = !{!"llvm.loop.parallel_accesses", !0}
!3 = !{}
!4 = !{i32 1, i32 1025}
!5 = !{i32 0, i32 16}
!6 = !{!"branch_weights", i32 31, i32 1}
!7 = !{!"branch_weights", i32 1, i32 31}
!8 = !{!"sim.once"}
!9 = distinct !{!9, !2}
"#;

pub(super) const PARALLEL: &str = ", !llvm.access.group !0";

/// The variant of the code that is emitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flavour {
    /// The code asks the runtime about each access, except for regions that record theirs ([`super::batch`]).
    pub(crate) exact: bool,
    /// The runtime that is asked is that of the checkers (`check/`), and not a search for a fault.
    pub(crate) checked: bool,
    /// Checked code does not ask about an access within the bounds that its place in the code found last.
    pub(crate) bounded: bool,
    /// The code is for launches in clusters: shared-memory addresses contain the rank of their block.
    pub(crate) clustered: bool,
}

/// A kernel and the functions that it calls, which are emitted once.
pub(crate) struct Functions<'a> {
    program: &'a Program,
    index: usize,
    pub(super) flavour: Flavour,
    /// Text and declarations of each function that can be called outside of fibers.
    callable: BTreeMap<usize, (String, BTreeSet<String>)>,
}

/// The code of a lockstep loop beside that of its region, which is one iteration.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoopCode {
    /// Vectorised, with speculation.
    Speculative,
    /// Vectorised without speculation, where that differs.
    Conservative,
    /// All iterations of one thread after the other: for threads that fill no vector.
    ByThread,
}

impl LoopCode {
    pub(crate) const ALL: [LoopCode; 3] = [LoopCode::Speculative, LoopCode::Conservative, LoopCode::ByThread];
}

impl<'a> Functions<'a> {
    /// Emits the functions that kernel `index` reaches through calls.
    pub(crate) fn emit(program: &'a Program, index: usize, flavour: Flavour) -> Result<Functions<'a>> {
        let mut callable = BTreeMap::new();
        for callee in reached(&program.functions, index) {
            let function = &program.functions[callee];
            // Functions that synchronise are emitted with fibers.
            if !synchronises(function) {
                let mut emitter = Emitter::new(function, flavour);
                let text = self::callable(&mut emitter, callee, None)?;
                callable.insert(callee, (text, emitter.declares));
            }
        }
        Ok(Functions { program, index, flavour, callable })
    }

    fn kernel(&self) -> &'a Function {
        &self.program.functions[self.index]
    }

    /// Returns the start of a region's code. Checked code records its accesses if it is `batched` and that is possible.
    fn emitter(&self, regions: &Regions, region: usize, batched: bool) -> Emitter<'a> {
        let Flavour { checked, clustered, .. } = self.flavour;
        let batches = checked && !clustered && batched && regions.is_batchable(self.kernel(), region);
        let exact = self.flavour.exact && !batches;
        let mut emitter = Emitter::new(self.kernel(), Flavour { exact, ..self.flavour });
        emitter.batches = batches;
        emitter
    }

    /// Appends the LLVM modules of the kernel to its texts, one for each region.
    pub(crate) fn modules(&self, regions: &Regions, texts: &mut Vec<String>) -> Result<Vec<Part>> {
        let emit_region = |emitter: &mut Emitter<'_>, id| match regions.scheduled {
            true => region::range(emitter, regions, id, false),
            false => region_text(emitter, regions, id),
        };
        let mut module = |id: usize| {
            let mut emitter = self.emitter(regions, id, regions.scheduled || id == 0);
            let mut text = emit_region(&mut emitter, id)?;
            if emitter.refused {
                emitter = Emitter::new(self.kernel(), self.flavour);
                text = emit_region(&mut emitter, id)?;
            }
            // Threads begin with the vectorised loop if there is one.
            let hot = !matches!(regions.kinds[id], RegionKind::Cold | RegionKind::Restart)
                && !regions.lockstep.contains_key(&id);
            let repeats = matches!(regions.kinds[id], RegionKind::Resume(_));
            texts.push(self.complete(text, emitter));
            Ok(Part { number: texts.len() - 1, hot, repeats, wide: false })
        };
        (0..regions.heads.len()).map(&mut module).collect()
    }

    /// As [`Functions::modules`], for each region's loops, by [`LoopCode`].
    pub(crate) fn loops(&self, regions: &Regions, texts: &mut Vec<String>) -> Result<Vec<[Option<Part>; 3]>> {
        let mut emit_loop = |region, code| {
            if !regions.lockstep.contains_key(&region) {
                return Ok(None);
            }
            let mut emitter = self.emitter(regions, region, code != LoopCode::ByThread);
            let hot = code == LoopCode::Speculative;
            let text = match code {
                // Checked code has the accesses of one iteration in a call.
                LoopCode::ByThread if self.flavour.checked => None,
                LoopCode::ByThread => Some((region::range(&mut emitter, regions, region, true)?, false)),
                _ if emitter.flavour.exact => None,
                _ => vector_loop::emit(&mut emitter, regions, region, hot)?.map(|(text, wide)| {
                    let table = table_text(&[format!("ptr @vector_loop{region}")]);
                    (text + &table, wide)
                }),
            };
            let text = text.filter(|_| !emitter.refused);
            Ok(text.map(|(text, wide)| {
                texts.push(self.complete(text, emitter));
                Part { number: texts.len() - 1, hot, repeats: false, wide }
            }))
        };
        let mut all = |region| {
            let [first, second, third] = LoopCode::ALL;
            Ok([emit_loop(region, first)?, emit_loop(region, second)?, emit_loop(region, third)?])
        };
        (0..regions.heads.len()).map(&mut all).collect()
    }

    /// Emits the LLVM module in which a kernel's threads are fibers, and the plan of the places where they wait.
    pub(crate) fn fiber(&self) -> Result<(String, Plan)> {
        let function = self.kernel();
        let mut plan = Plan::of_fibers();
        let mut emitter = Emitter::new(function, self.flavour);
        let text = region::fiber(&mut emitter, &Regions::of_fibers(function), &mut plan)?;
        if !function.signature.only_fibers {
            return Ok((self.complete(text, emitter), plan));
        }
        // Everything that the kernel calls may wait, so those functions are emitted for fibers as well.
        let (mut text, mut declares) = (text, emitter.declares);
        for callee in reached(&self.program.functions, self.index) {
            let function = &self.program.functions[callee];
            let mut emitter = Emitter::new(function, self.flavour);
            text.push_str(&callable(&mut emitter, callee, Some((&Regions::of_fibers(function), &mut plan)))?);
            declares.extend(emitter.declares);
        }
        finish(&mut text, declares);
        Ok((text, plan))
    }

    /// Adds the functions that a module calls, its declarations, and attributes.
    fn complete(&self, mut text: String, emitter: Emitter<'_>) -> String {
        let mut declares = emitter.declares;
        for callee in reached_from(&self.program.functions, emitter.callees) {
            let Some((function, needs)) = self.callable.get(&callee) else { continue };
            text.push_str(function);
            declares.extend(needs.iter().cloned());
        }
        finish(&mut text, declares);
        text
    }
}

/// The entry of a module that has several functions: it returns the table of their addresses.
fn table_text(table: &[String]) -> String {
    format!(
        "@table = internal constant [{} x ptr] [{}]\ndefine ptr @kernel() #0 {{\n  ret ptr @table\n}}\n",
        table.len(),
        table.join(", ")
    )
}

/// Adds declarations and attributes.
fn finish(text: &mut String, declares: BTreeSet<String>) {
    for declare in declares {
        text.push_str(&declare);
        text.push('\n');
    }
    text.push_str(TRAILER);
}

/// Allocates stack slots for the registers that these blocks name.
pub(super) fn register_slots(emitter: &mut Emitter<'_>, blocks: &[BlockId]) -> BTreeSet<Reg> {
    let function = emitter.function;
    let mut used = BTreeSet::new();
    for block in blocks.iter().map(|b| &function.blocks[*b]) {
        let (mut defs, mut uses) = (Vec::new(), Vec::new());
        block.insts.iter().for_each(|inst| inst.visit(&mut |r| defs.push(r), &mut |r| uses.push(r)));
        if let Terminator::Sync(inst, _) = &block.term {
            inst.visit(&mut |r| defs.push(r), &mut |r| uses.push(r));
        }
        used.extend(defs.into_iter().chain(uses).chain(block.term.used()));
    }
    for reg in &used {
        let width = function.registers[*reg as usize];
        let _ = writeln!(emitter.prologue, "  %r{reg} = alloca i{width}");
    }
    used
}

pub(super) fn param_slots(emitter: &mut Emitter<'_>, from: usize) {
    for (i, slot) in emitter.function.slots.iter().enumerate().skip(from) {
        if emitter.function.local_slots.contains_key(&i) {
            continue;
        }
        let align = slot.align.max(8);
        let _ = writeln!(emitter.prologue, "  %slot{i} = alloca [{} x i8], align {align}", slot.bytes.max(1));
    }
}

/// Returns the metadata of a branch at the end of a region's block, if only one of its targets is on a rarely taken path.
///
/// Without it LLVM takes both targets of a branch for equally likely, and a block behind five bounds checks for one that a
/// 32nd of the threads reaches, for which vector code would not pay. The weights are below those from which LLVM leaves
/// branches as they are.
fn branch_weights(regions: &Regions, (from, block): (usize, BlockId), yes: BlockId, no: BlockId) -> &'static str {
    let rare = |target| {
        let region = regions.split(from, block, target);
        region.is_some_and(|region| matches!(regions.kinds[region], RegionKind::Cold | RegionKind::Restart))
    };
    match (rare(yes), rare(no)) {
        (false, true) => ", !prof !6",
        (true, false) => ", !prof !7",
        _ => "",
    }
}

/// Emits basic blocks. An edge that leaves the region branches to the label `split` of its target region.
pub(super) fn emit_blocks(
    emitter: &mut Emitter<'_>,
    blocks: &[BlockId],
    regions: Option<(&Regions, usize)>,
) -> Result<()> {
    let function: &Function = emitter.function;
    // Accesses are recorded in program order.
    let ordered = regions.filter(|_| emitter.batches).map(|(regions, from)| regions.in_order(function, from, blocks));
    for id in ordered.as_deref().unwrap_or(blocks) {
        let target = |block: BlockId| match regions.and_then(|(r, from)| r.split(from, *id, block)) {
            Some(region) => format!("split{region}"),
            None => format!("b{block}"),
        };
        let block = &function.blocks[*id];
        emitter.text.push_str(&format!("b{id}:\n"));
        if emitter.flavour.exact && !emitter.flavour.checked {
            emitter.declares.insert("declare void @sim.tick() #3".to_owned());
            emitter.line(format_args!("call void @sim.tick()"));
        }
        let without_effects = emitter.without_effects;
        let acts = |inst: &Inst| inst.opcode == Opcode::St || inst.is_atomic();
        for (at, inst) in block.insts.iter().enumerate().filter(|(_, inst)| !(without_effects && acts(inst))) {
            match emitter.selects.get(&(*id, at)).copied() {
                Some(selected) => vector_loop::assumed_select(emitter, inst, selected)?,
                None => emitter.inst(inst)?,
            }
        }
        match &block.term {
            Terminator::Jump(to) => emitter.line(format_args!("br label %{}", target(*to))),
            Terminator::Branch(reg, negated, yes, no) => {
                let truth = emitter.def(format_args!("load i1, ptr %r{reg}"));
                let (yes, no) = if *negated { (no, yes) } else { (yes, no) };
                // Not `unreachable`: each one would leave an assumption in every lane.
                let (yes, no) = if emitter.unreachable_blocks.contains(yes) { (no, no) } else { (yes, no) };
                let (yes, no) = if emitter.unreachable_blocks.contains(no) { (yes, yes) } else { (yes, no) };
                let weights = regions.map_or("", |(regions, from)| branch_weights(regions, (from, *id), *yes, *no));
                emitter.line(format_args!("br i1 {truth}, label %{}, label %{}{weights}", target(*yes), target(*no)));
            }
            Terminator::Switch(reg, targets) => {
                let index = emitter.def(format_args!("load i32, ptr %r{reg}"));
                let last = targets.last().map_or_else(|| "thread.done".to_owned(), |t| target(*t));
                let cases: String =
                    targets.iter().enumerate().map(|(i, t)| format!(" i32 {i}, label %{}", target(*t))).collect();
                emitter.line(format_args!("switch i32 {index}, label %{last} [{cases} ]"));
            }
            Terminator::Sync(inst, _) => {
                emitter.position = inst.position;
                let Some((regions, _)) = regions else {
                    return emitter.unsupported("a function that synchronises is supported in fibers only");
                };
                let site = regions.site_of[id];
                region::arguments(emitter, inst, &regions.sites[site])?;
                emitter.line(format_args!("br label %wait{site}"));
            }
            Terminator::Return => emitter.line(format_args!("br label %thread.return")),
            Terminator::Exit => {
                let label = emitter.exit_label;
                emitter.line(format_args!("br label %{label}"));
            }
            Terminator::Trap(position) => {
                stop(emitter, abi::encode_position(*position), crate::service::TRAP);
                let label = emitter.exit_label;
                emitter.line(format_args!("br label %{label}"));
            }
        }
    }
    Ok(())
}

/// Stops the launch at the current thread; the runtime records the position.
fn stop(emitter: &mut Emitter<'_>, position: u64, how: u32) {
    emitter.declares.insert("declare void @sim.stop(ptr, i64, i64, i32) #3".to_owned());
    emitter.line(format_args!("call void @sim.stop(ptr %ctx, i64 %thread, i64 {position}, i32 {how})"));
}

/// Emits a function, which returns true if the thread ended in it. With regions and a plan it may wait, in a kernel
/// whose threads are fibers.
fn callable(emitter: &mut Emitter<'_>, index: usize, fiber: Option<(&Regions, &mut Plan)>) -> Result<String> {
    let function = emitter.function;
    let blocks = reachable(function, 0, |_| true);
    let formals = function.returns + function.formals;
    let params: String = (0..formals).map(|i| format!(", ptr %slot{i}")).collect();
    register_slots(emitter, &blocks);
    zero_registers(emitter, live_in(function)[0].iter());
    let zeros = std::mem::take(&mut emitter.text);
    emitter.prologue.push_str(&zeros);
    param_slots(emitter, formals);
    for (i, name) in ["tid0", "tid1", "tid2", "ctaid0", "ctaid1", "ctaid2"].iter().enumerate() {
        let pointer = emitter.uniform(format_args!("getelementptr i32, ptr %thread.record, i64 {i}"));
        let _ = writeln!(emitter.prologue, "  %{name} = load i32, ptr {pointer}");
    }
    let pointer = emitter.uniform(format_args!("getelementptr i8, ptr %thread.record, i64 24"));
    let _ = writeln!(emitter.prologue, "  %thread = load i64, ptr {pointer}");
    let zero = emitter.field(abi::ZERO, "ptr");
    for (slot, at) in &function.local_slots {
        let address = emitter.uniform(format_args!("add i64 %local, {at}"));
        let _ = writeln!(emitter.prologue, "  %slot{slot} = getelementptr i8, ptr {zero}, i64 {address}");
    }
    let size = function.stack_bytes();
    match fiber {
        Some((regions, plan)) => region::fiber_blocks(emitter, &blocks, regions, plan)?,
        None => emit_blocks(emitter, &blocks, None)?,
    }
    let limit = emitter.field(abi::STACK_LIMIT, "i64");
    let body = std::mem::take(&mut emitter.text);
    emitter.text.push_str("overflow:\n");
    stop(emitter, 0, crate::service::OVERFLOW);
    emitter.line(format_args!("br label %thread.done"));
    Ok(format!(
        "define internal i1 @f{index}(ptr %ctx, ptr %thread.record, i64 %local, i64 %local.end{params}) #0 {{\n\
         entry:\n{prologue}  %stack = alloca i8\n  %stack.at = ptrtoint ptr %stack to i64\n  \
         %stack.left = sub i64 %stack.at, {limit}\n  %stack.fits = icmp sgt i64 %stack.left, {frame}\n  \
         %need = add i64 %local, {size}\n  %local.fits = icmp ule i64 %need, %local.end\n  \
         %fits = and i1 %local.fits, %stack.fits\n  br i1 %fits, label %b0, label %overflow\n{overflow}{body}\
         thread.return:\n  ret i1 false\nthread.done:\n  ret i1 true\n}}\n",
        prologue = emitter.prologue,
        overflow = emitter.text,
        frame = frame(function),
    ))
}

/// Returns an upper bound of a function's stack frame: twice the size of all its registers and variables.
pub(super) fn frame(function: &Function) -> u64 {
    let slots: u64 = function.slots.iter().map(|slot| slot.bytes + 16).sum();
    2 * (slots + 16 * function.registers.len() as u64)
}

pub(super) fn calls(function: &Function, blocks: &[BlockId]) -> bool {
    blocks.iter().any(|b| function.blocks[*b].insts.iter().any(|i| i.call.is_some()))
}

/// Emits the start of a thread: its local memory, and the record that is passed to callees.
pub(super) fn thread_environment(emitter: &mut Emitter<'_>, calls: bool) {
    if emitter.function.local_bytes > 0 || calls {
        let (base, stride) = (emitter.field(abi::LOCAL, "i64"), emitter.field(abi::LOCAL_STRIDE, "i64"));
        let offset = emitter.def(format_args!("mul i64 %thread, {stride}"));
        emitter.line(format_args!("%local = add i64 {base}, {offset}"));
        emitter.line(format_args!("%local.end = add i64 %local, {stride}"));
    }
    let zero = emitter.field(abi::ZERO, "ptr");
    for (slot, at) in &emitter.function.local_slots {
        let address = emitter.def(format_args!("add i64 %local, {at}"));
        emitter.line(format_args!("%slot{slot} = getelementptr i8, ptr {zero}, i64 {address}"));
    }
    if calls {
        for (i, name) in ["tid0", "tid1", "tid2", "ctaid0", "ctaid1", "ctaid2"].iter().enumerate() {
            let pointer = emitter.uniform(format_args!("getelementptr i32, ptr %thread.record, i64 {i}"));
            emitter.line(format_args!("store i32 %{name}, ptr {pointer}"));
        }
        let pointer = emitter.uniform(format_args!("getelementptr i8, ptr %thread.record, i64 24"));
        emitter.line(format_args!("store i64 %thread, ptr {pointer}"));
    }
}

/// Gives a value to registers that are read before they are written on some path. Any value is valid; 0 makes runs
/// reproducible. Other registers get none: LLVM takes quadratic time to promote the slots of a long block that have two
/// stores.
pub(super) fn zero_registers(emitter: &mut Emitter<'_>, live: impl Iterator<Item = Reg>) {
    for reg in live {
        let width = emitter.function.registers[reg as usize];
        emitter.line(format_args!("store i{width} {}, ptr %r{reg}", super::emit::int_constant(0, width)));
    }
}

/// Emits the start of a thread: its environment and its live registers.
fn thread_start(emitter: &mut Emitter<'_>, regions: &Regions, region: usize, blocks: &[BlockId]) {
    let function = emitter.function;
    thread_environment(emitter, calls(function, blocks));
    if regions.starts_kernel(region) {
        zero_registers(emitter, regions.live[region].iter().copied());
    } else {
        for reg in &regions.live[region] {
            let width = function.registers[*reg as usize];
            let pointer = frame_slot(emitter, regions, *reg);
            let width_in_memory = if width == 1 { 8 } else { width };
            let value = emitter.def(format_args!("load i{width_in_memory}, ptr {pointer}, align 1"));
            let value = emitter.resize(&value, width_in_memory, width, false);
            emitter.line(format_args!("store i{width} {value}, ptr %r{reg}"));
        }
    }
    emitter.line(format_args!("br label %b{}", regions.heads[region]));
}

/// Returns the array of a register's frame slots, one for each thread.
pub(super) fn frame_array(emitter: &mut Emitter<'_>, regions: &Regions, reg: Reg) -> String {
    let frame = emitter.field(abi::FRAME, "ptr");
    let threads = emitter.field(abi::THREADS, "i64");
    let start = emitter.uniform(format_args!("mul i64 {threads}, {}", regions.frame[&reg]));
    emitter.uniform(format_args!("getelementptr i8, ptr {frame}, i64 {start}"))
}

/// Returns the frame slot of a register of the current thread.
pub(super) fn frame_slot(emitter: &mut Emitter<'_>, regions: &Regions, reg: Reg) -> String {
    let array = frame_array(emitter, regions, reg);
    let width = emitter.function.registers[reg as usize].max(8);
    emitter.def(format_args!("getelementptr i{width}, ptr {array}, i64 %thread"))
}

/// Emits the exits of the region: live registers are spilled to the frame, and the next region's id is stored in
/// `next`.
fn split_blocks(emitter: &mut Emitter<'_>, regions: &Regions) {
    for region in 1..regions.heads.len() {
        emitter.text.push_str(&format!("split{region}:\n"));
        // A thread that restarts needs no registers.
        for reg in regions.live[region].iter().filter(|_| !regions.starts_kernel(region)) {
            let width = emitter.function.registers[*reg as usize];
            let value = emitter.def(format_args!("load i{width}, ptr %r{reg}"));
            let stored = width.max(8);
            let value = emitter.resize(&value, width, stored, false);
            let pointer = frame_slot(emitter, regions, *reg);
            emitter.line(format_args!("store i{stored} {value}, ptr {pointer}, align 1{PARALLEL}"));
        }
        let next = emitter.field(abi::NEXT, "ptr");
        let pointer = emitter.def(format_args!("getelementptr i32, ptr {next}, i64 %thread"));
        emitter.line(format_args!("store i32 {region}, ptr {pointer}, align 4{PARALLEL}"));
        emitter.line(format_args!("store i32 1, ptr %cold"));
        emitter.line(format_args!("br label %thread.done"));
    }
}

fn region_text(emitter: &mut Emitter<'_>, regions: &Regions, region: usize) -> Result<String> {
    let function = emitter.function;
    let blocks = regions.blocks(function, region);
    let mut used = register_slots(emitter, &blocks);
    for reg in regions.live.iter().flatten() {
        if used.insert(*reg) {
            let _ = writeln!(emitter.prologue, "  %r{reg} = alloca i{}", function.registers[*reg as usize]);
        }
    }
    param_slots(emitter, 0);
    let _ =
        writeln!(emitter.prologue, "  %thread.record = alloca [5 x i64]\n  %cold = alloca i32\n  %any = alloca i32");
    if region == 0 && !emitter.flavour.exact {
        emitter.parallel = PARALLEL;
    }
    let split = regions.heads.len() > 1 && region == 0;
    if split {
        emitter.line(format_args!("store i32 0, ptr %cold"));
    }
    emitter.begin_batch(true);
    thread_start(emitter, regions, region, &blocks);
    emit_blocks(emitter, &blocks, Some((regions, region)))?;
    if split {
        split_blocks(emitter, regions);
    }
    if region == 0 { Ok(block_loop(emitter, split)) } else { Ok(list_loop(emitter)) }
}

/// Region 0: loops over blocks and over the rows of a block's threads, in the order z, y, x. There is a single loop
/// over rows, since LLVM's passes take time for each loop.
fn block_loop(emitter: &mut Emitter<'_>, split: bool) -> String {
    let [nx, ny, nz] = [0, 4, 8].map(|at| emitter.field(abi::BLOCK + at, "i32"));
    let [gx, gy] = [0, 4].map(|at| emitter.field(abi::GRID + at, "i32"));
    let [cx, cy, cz] = [0, 4, 8].map(|at| emitter.field(abi::CTAID + at, "i32"));
    let rows = emitter.uniform(format_args!("mul nuw nsw i32 {ny}, {nz}"));
    let nx = emitter.uniform(format_args!("call i32 @sim.row(i32 {nx})"));
    let running = emitter.uniform(format_args!("getelementptr i8, ptr %ctx, i64 {}", abi::RUNNING));
    let threads = emitter.field(abi::THREADS, "i64");
    let batch = emitter.end_batch("0", &threads);
    let (reset, collect, check) = if split {
        (
            "  store i32 0, ptr %any\n",
            "  %cold.now = load i32, ptr %cold\n  %any.old = load i32, ptr %any\n  \
             %any.new = add i32 %any.old, %cold.now\n  store i32 %any.new, ptr %any\n",
            "  %any.end = load i32, ptr %any\n  %waits = icmp ne i32 %any.end, 0\n  \
             br i1 %waits, label %pending, label %block.next\n",
        )
    } else {
        ("", "", "  br label %block.next\n")
    };
    format!(
        "define i64 @kernel(ptr noalias %ctx, i64 %first, i64 %last) #0 {{\nentry:\n{prologue}  br label %block\n\
block:
  %b = phi i64 [ %first, %entry ], [ %b.next, %block.step ]
  %ctaid0 = phi i32 [ {cx}, %entry ], [ %x.new, %block.step ]
  %ctaid1 = phi i32 [ {cy}, %entry ], [ %y.new, %block.step ]
  %ctaid2 = phi i32 [ {cz}, %entry ], [ %z.new, %block.step ]
  store volatile i64 %b, ptr {running}
{reset}  br label %row
row:
  %row.index = phi i32 [ 0, %block ], [ %row.up, %row.next ]
  %tid1 = phi i32 [ 0, %block ], [ %tid1.new, %row.next ]
  %tid2 = phi i32 [ 0, %block ], [ %tid2.new, %row.next ]
  %row.first = mul i32 %row.index, {nx}
  %row.start = zext i32 %row.first to i64
  br label %thread.head
thread.head:
  %tid0 = phi i32 [ 0, %row ], [ %tid0.next, %thread.done ]
  %tid0.wide = zext i32 %tid0 to i64
  %thread = add nuw nsw i64 %row.start, %tid0.wide
{text}thread.return:
  br label %thread.done
thread.done:
{collect}  %tid0.next = add nuw nsw i32 %tid0, 1
  %threads.left = icmp ult i32 %tid0.next, {nx}
  br i1 %threads.left, label %thread.head, label %row.next, !llvm.loop !1
row.next:
  %tid1.up = add nuw nsw i32 %tid1, 1
  %tid1.end = icmp eq i32 %tid1.up, {ny}
  %tid1.new = select i1 %tid1.end, i32 0, i32 %tid1.up
  %tid1.carry = zext i1 %tid1.end to i32
  %tid2.new = add nuw nsw i32 %tid2, %tid1.carry
  %row.up = add nuw nsw i32 %row.index, 1
  %rows.left = icmp ult i32 %row.up, {rows}
  br i1 %rows.left, label %row, label %block.done
block.done:
{batch}{check}block.next:
  %b.next = add nuw i64 %b, 1
  %blocks.left = icmp ult i64 %b.next, %last
  br i1 %blocks.left, label %block.step, label %finished
block.step:
  %x.up = add i32 %ctaid0, 1
  %x.end = icmp eq i32 %x.up, {gx}
  %x.new = select i1 %x.end, i32 0, i32 %x.up
  %x.carry = zext i1 %x.end to i32
  %y.up = add i32 %ctaid1, %x.carry
  %y.end = icmp eq i32 %y.up, {gy}
  %y.new = select i1 %y.end, i32 0, i32 %y.up
  %y.carry = zext i1 %y.end to i32
  %z.new = add i32 %ctaid2, %y.carry
  br label %block
{pending}finished:
  ret i64 %last
}}
",
        prologue = emitter.prologue,
        text = emitter.text,
        pending = if split {
            format!(
                "pending:\n  %pending.at = getelementptr i8, ptr %ctx, i64 {}\n  store i32 1, ptr %pending.at\n  \
                 %b.after = add i64 %b, 1\n  ret i64 %b.after\n",
                abi::PENDING
            )
        } else {
            String::new()
        },
    )
}

/// A cold region: loops over the listed threads.
fn list_loop(emitter: &mut Emitter<'_>) -> String {
    let [nx, ny] = [0, 4].map(|at| emitter.field(abi::BLOCK + at, "i32"));
    for (axis, at) in [0, 4, 8].into_iter().enumerate() {
        let pointer = emitter.uniform(format_args!("getelementptr i8, ptr %ctx, i64 {}", abi::CTAID + at));
        let _ = writeln!(emitter.prologue, "  %ctaid{axis} = load i32, ptr {pointer}");
    }
    format!(
        "define i64 @kernel(ptr noalias %ctx, ptr %list, i64 %count) #0 {{\nentry:\n{prologue}  \
br label %thread.head
thread.head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %thread.done ]
  %list.at = getelementptr i32, ptr %list, i64 %i
  %thread.small = load i32, ptr %list.at
  %thread = zext i32 %thread.small to i64
  %tid0 = urem i32 %thread.small, {nx}
  %row.index = udiv i32 %thread.small, {nx}
  %tid1 = urem i32 %row.index, {ny}
  %tid2 = udiv i32 %row.index, {ny}
{text}thread.return:
  br label %thread.done
thread.done:
  %i.next = add nuw i64 %i, 1
  %more = icmp ult i64 %i.next, %count
  br i1 %more, label %thread.head, label %finished
finished:
  ret i64 0
}}
",
        prologue = emitter.prologue,
        text = emitter.text,
    )
}
