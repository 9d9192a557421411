//! Vectorised lockstep loops: `vector_loop(ctx, first, count)` runs `count` threads from the loop's header to its exit:
//! 32, or for a wide loop any multiple of that.
//!
//! The loop is outside. Inside are groups of 16 consecutive threads of a row, as loops of constant trip count that
//! LLVM turns into straight vector code. Uniform registers are stored once, the others in arrays; those of 32 threads
//! become vectors.
//! The assumptions of [`crate::ir::lockstep`] are checked on entry. If they do not hold, or if a thread takes a side
//! exit, the function deoptimises: it returns [`abi::DEOPTIMISED`], and the scalar region runs the threads from the
//! header. Side exits that can be precomputed are checked before an iteration, and the threads continue with that
//! iteration, unless all of them leave by the same exit of a counter. With other side exits they run the loop again,
//! which is possible because the frame is unchanged and such a loop has no stores. If only a speculation failed it
//! returns [`abi::MISSPECULATED`], and the vectorised loop that does not speculate, which is compiled on demand, is
//! tried first.

mod ends;

use super::abi;
use super::emit::Emitter;
use super::kernel::{PARALLEL, emit_blocks, frame_slot, register_slots, thread_environment};
use crate::device::MAX_THREADS;
use crate::ir::Reg;
use crate::ir::lockstep::{Lockstep, Ordered, Selects};
use crate::ir::regions::Regions;
use crate::ptx::Result;
pub(super) use ends::{assumed_select, record_stray};
use ends::{emit_interrupt, emit_last_iteration, emit_side_exit_check};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The threads of a group: the lanes of a vector of 32-bit elements.
const GROUP: u64 = 16;
/// The number of threads that a vectorised loop runs, or a factor of that.
pub(crate) const THREADS: u64 = 32;
/// The limit on the bytes per thread of a wide loop's arrays, which are on the stack.
const WIDE_BYTES: u32 = 32;

/// The storage of a loop-carried register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Storage {
    /// One value for all threads.
    Uniform,
    /// One base value for each group, plus a uniform amount; the threads of a group differ by this stride.
    Strided(i64),
    /// An array with one element for each thread.
    PerThread,
}

struct VectorLoop<'a> {
    regions: &'a Regions,
    region: usize,
    info: &'a Lockstep,
    /// True if speculative strides are used.
    speculates: bool,
    /// True if the number of threads is a parameter.
    wide: bool,
    /// Registers that are live at the header, loaded from the frame or rematerialised.
    live: Vec<Reg>,
    /// The registers that are stored between iterations: those, and the ones that are live after the loop.
    stored: Vec<Reg>,
    written: BTreeSet<Reg>,
}

impl<'a> VectorLoop<'a> {
    /// Returns the counter whose range is checked before each iteration: its threads have ascending values of 64 bits.
    fn ordered(&self, emitter: &Emitter<'_>) -> Option<&'a Ordered> {
        let ordered = self.info.ordered.as_ref().filter(|_| self.checks_iterations())?;
        let strided = matches!(self.storage(ordered.counter), Storage::Strided(_));
        (strided && width(emitter, ordered.counter) == 64).then_some(ordered)
    }

    fn storage(&self, reg: Reg) -> Storage {
        if self.info.uniform.contains(&reg) || self.speculates && self.info.assumed_uniform.contains(&reg) {
            Storage::Uniform
        } else {
            let counts = self.live.contains(&reg) && (self.speculates || !self.info.speculative.contains(&reg));
            let stride = self.info.strides.get(&reg).filter(|_| counts);
            stride.map_or(Storage::PerThread, |stride| Storage::Strided(*stride))
        }
    }

    /// The number of groups, as an operand.
    fn groups(&self) -> String {
        if self.wide { "%groups".to_owned() } else { (THREADS / GROUP).to_string() }
    }

    /// The largest number of threads.
    fn capacity(&self) -> u64 {
        if self.wide { MAX_THREADS.into() } else { THREADS }
    }

    /// True if side exits and assumptions are checked before each iteration.
    fn checks_iterations(&self) -> bool {
        self.info.exits_can_be_precomputed && !(self.info.side_exits.is_empty() && self.info.selects.is_empty())
    }

    /// The regions in which all threads continue after the loop.
    fn exit_regions(&self) -> impl Iterator<Item = usize> {
        self.info.exits.iter().map(|block| self.regions.splits[block])
    }

    /// Returns true if a register is computed anew from what is equal for all threads, so that it need not be compared.
    fn is_recomputed(&self, reg: Reg) -> bool {
        self.info.uniform.contains(&reg) && self.regions.rematerialised[self.region].contains(&reg)
    }

    /// Returns true if the storage of a live register is speculative.
    fn needs_speculation(&self) -> bool {
        let speculative = |reg: &Reg| self.info.speculative.contains(reg) && self.storage(*reg) != Storage::PerThread;
        self.live.iter().any(speculative)
    }
}

/// Returns true if a label is that of a basic block of the kernel, or of an exit of a region.
fn is_block(name: &str) -> bool {
    let number = name.strip_prefix("split").or_else(|| name.strip_prefix('b'));
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Appends a suffix to the names that each thread loop defines, so that they are unique.
fn rename(text: &str, suffix: &str) -> String {
    let names = ["tid0", "tid1", "tid2", "thread", "slot.at", "lane", "group", "local", "local.end"];
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive('\n') {
        if let Some(label) = line.strip_suffix(":\n").filter(|label| is_block(label)) {
            out.extend([label, suffix, ":\n"]);
            continue;
        }
        let mut rest = line;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            let end = rest[at + 1..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_'));
            let end = end.map_or(rest.len(), |n| at + 1 + n);
            let name = &rest[at + 1..end];
            out.push_str(&rest[at..end]);
            let slot = name.strip_prefix("slot").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
            if slot || names.contains(&name) || is_block(name) {
                out.push_str(suffix);
            }
            rest = &rest[end..];
        }
        out.push_str(rest);
    }
    out
}

/// Emits a loop over the threads around the text of `body`. It follows the label `{name}`, and continues at
/// `{name}.end`.
fn thread_loop(
    emitter: &mut Emitter<'_>,
    this: &VectorLoop<'_>,
    name: &str,
    body: impl FnOnce(&mut Emitter<'_>) -> Result<()>,
) -> Result<()> {
    let outer = std::mem::take(&mut emitter.text);
    thread_environment(emitter, false);
    body(emitter)?;
    let inner = std::mem::replace(&mut emitter.text, outer);
    let text = format!(
        "  br label %{name}.group
{name}.group:
  %{name}.g = phi i64 [ 0, %{name} ], [ %{name}.g.next, %{name}.group.next ]
  %{name}.xs = getelementptr i32, ptr %group.x, i64 %{name}.g
  %{name}.ys = getelementptr i32, ptr %group.y, i64 %{name}.g
  %{name}.zs = getelementptr i32, ptr %group.z, i64 %{name}.g
  %{name}.x = load i32, ptr %{name}.xs
  %tid1 = load i32, ptr %{name}.ys
  %tid2 = load i32, ptr %{name}.zs
  %{name}.first = mul i64 %{name}.g, {GROUP}
  br label %{name}.lane
{name}.lane:
  %{name}.l = phi i64 [ 0, %{name}.group ], [ %{name}.l.next, %{name}.done ]
  %{name}.l.small = trunc i64 %{name}.l to i32
  %tid0 = add nuw nsw i32 %{name}.x, %{name}.l.small
  %slot.at = add nuw nsw i64 %{name}.first, %{name}.l
  %lane = add i64 %{name}.l, 0
  %group = add i64 %{name}.g, 0
  %thread = add nuw nsw i64 %first, %slot.at
{inner}{name}.done:
  %{name}.l.next = add nuw nsw i64 %{name}.l, 1
  %{name}.l.more = icmp ult i64 %{name}.l.next, {GROUP}
  br i1 %{name}.l.more, label %{name}.lane, label %{name}.group.next, !llvm.loop !9
{name}.group.next:
  %{name}.g.next = add nuw nsw i64 %{name}.g, 1
  %{name}.g.more = icmp ult i64 %{name}.g.next, {groups}
  br i1 %{name}.g.more, label %{name}.group, label %{name}.end
{name}.end:
",
        groups = this.groups(),
    );
    emitter.text.push_str(&rename(&text, &format!(".{name}")));
    Ok(())
}

fn width(emitter: &Emitter<'_>, reg: Reg) -> u32 {
    emitter.function.registers[reg as usize].max(8)
}

/// Returns the address of the current thread's element of an array.
fn element(emitter: &mut Emitter<'_>, array: &str, reg: Reg) -> String {
    let width = width(emitter, reg);
    emitter.def(format_args!("getelementptr i{width}, ptr %{array}{reg}, i64 %slot.at"))
}

/// Returns the current value of a register, in the width in which it is stored.
fn value(emitter: &mut Emitter<'_>, reg: Reg) -> String {
    let (has, wide) = (emitter.function.registers[reg as usize], width(emitter, reg));
    let value = emitter.def(format_args!("load i{has}, ptr %r{reg}"));
    emitter.resize(&value, has, wide, false)
}

fn set(emitter: &mut Emitter<'_>, reg: Reg, value: &str) {
    let (has, wide) = (emitter.function.registers[reg as usize], width(emitter, reg));
    let value = emitter.resize(value, wide, has, false);
    emitter.line(format_args!("store i{has} {value}, ptr %r{reg}"));
}

/// Returns the difference of a strided value from that of the group's first thread.
fn risen(emitter: &mut Emitter<'_>, wide: u32, stride: i64) -> String {
    let lane = emitter.resize("%lane", 64, wide, false);
    let stride = super::emit::int_constant(i128::from(stride), wide);
    emitter.def(format_args!("mul i{wide} {lane}, {stride}"))
}

/// Returns the current thread's value of a strided register, and the uniform amount in it.
fn strided_value(emitter: &mut Emitter<'_>, reg: Reg, stride: i64) -> (String, String) {
    let wide = width(emitter, reg);
    let at = emitter.def(format_args!("getelementptr i{wide}, ptr %base{reg}, i64 %group"));
    let base = emitter.def(format_args!("load i{wide}, ptr {at}"));
    let amount = emitter.def(format_args!("load i{wide}, ptr %once{reg}"));
    let first = emitter.def(format_args!("add i{wide} {base}, {amount}"));
    let rise = risen(emitter, wide, stride);
    (emitter.def(format_args!("add i{wide} {first}, {rise}")), amount)
}

/// Loads a register from its storage.
fn load_stored(emitter: &mut Emitter<'_>, this: &VectorLoop<'_>, reg: Reg) -> Result<()> {
    let wide = width(emitter, reg);
    let value = match this.storage(reg) {
        Storage::Uniform => emitter.def(format_args!("load i{wide}, ptr %once{reg}")),
        Storage::Strided(stride) => strided_value(emitter, reg, stride).0,
        Storage::PerThread => {
            let at = element(emitter, "each", reg);
            emitter.def(format_args!("load i{wide}, ptr {at}{PARALLEL}"))
        }
    };
    set(emitter, reg, &value);
    Ok(())
}

/// Writes a register from its storage to the frame.
fn spill(emitter: &mut Emitter<'_>, this: &VectorLoop<'_>, reg: Reg) -> Result<()> {
    load_stored(emitter, this, reg)?;
    spill_current(emitter, this, reg);
    Ok(())
}

/// Writes the current value of a register to the frame.
fn spill_current(emitter: &mut Emitter<'_>, this: &VectorLoop<'_>, reg: Reg) {
    let wide = width(emitter, reg);
    let value = value(emitter, reg);
    let pointer = frame_slot(emitter, this.regions, reg);
    emitter.line(format_args!("store i{wide} {value}, ptr {pointer}, align 1{PARALLEL}"));
}

/// Loads the frame, rematerialises registers that are not in it, and checks the assumptions.
fn emit_entry(emitter: &mut Emitter<'_>, this: &VectorLoop<'_>) -> Result<()> {
    let function = emitter.function;
    emitter.text.push_str("enter:\n");
    thread_loop(emitter, this, "enter", |emitter| {
        for (block, at) in &this.regions.remat_insts[this.region] {
            emitter.inst(&function.blocks[*block].insts[*at])?;
        }
        for reg in &this.live {
            let wide = width(emitter, *reg);
            let value = if this.regions.live[this.region].contains(reg) {
                let pointer = frame_slot(emitter, this.regions, *reg);
                emitter.def(format_args!("load i{wide}, ptr {pointer}, align 1{PARALLEL}"))
            } else {
                value(emitter, *reg)
            };
            if this.is_recomputed(*reg) {
                emitter.line(format_args!("store i{wide} {value}, ptr %once{reg}"));
                continue;
            }
            let at = element(emitter, "each", *reg);
            emitter.line(format_args!("store i{wide} {value}, ptr {at}{PARALLEL}"));
            if let Storage::Strided(stride) = this.storage(*reg) {
                // The same for every thread of the group, as will be checked.
                let rise = risen(emitter, wide, stride);
                let base = emitter.def(format_args!("sub i{wide} {value}, {rise}"));
                let at = emitter.def(format_args!("getelementptr i{wide}, ptr %base{reg}, i64 %group"));
                emitter.line(format_args!("store i{wide} {base}, ptr {at}"));
            }
        }
        emitter.line(format_args!("br label %enter.done"));
        Ok(())
    })?;
    emitter.line(format_args!("store i64 0, ptr %violated"));
    emitter.line(format_args!("store i64 0, ptr %misguess"));
    for reg in this.live.iter().filter(|reg| !this.is_recomputed(**reg)) {
        let wide = width(emitter, *reg);
        match this.storage(*reg) {
            Storage::PerThread => {}
            Storage::Uniform => {
                let first = emitter.def(format_args!("load i{wide}, ptr %each{reg}"));
                emitter.line(format_args!("store i{wide} {first}, ptr %once{reg}"));
            }
            Storage::Strided(_) => emitter.line(format_args!("store i{wide} 0, ptr %once{reg}")),
        }
    }
    let ordered = this.ordered(emitter).map(|ordered| ordered.counter);
    if ordered.is_some() {
        emitter.line(format_args!("store i64 -1, ptr %least"));
        emitter.line(format_args!("store i64 0, ptr %most"));
    }
    emitter.text.push_str("  br label %check\ncheck:\n");
    thread_loop(emitter, this, "check", |emitter| {
        let assumed = |reg: &&Reg| this.storage(**reg) != Storage::PerThread && !this.is_recomputed(**reg);
        for reg in this.live.iter().filter(assumed) {
            let wide = width(emitter, *reg);
            let at = element(emitter, "each", *reg);
            let found = emitter.def(format_args!("load i{wide}, ptr {at}{PARALLEL}"));
            for (variable, function) in [("least", "llvm.umin.i64"), ("most", "llvm.umax.i64")] {
                if ordered == Some(*reg) {
                    let before = emitter.def(format_args!("load i64, ptr %{variable}"));
                    let after = emitter.call("i64", function, &[("i64", &before), ("i64", &found)]);
                    emitter.line(format_args!("store i64 {after}, ptr %{variable}"));
                }
            }
            load_stored(emitter, this, *reg)?;
            let expected = value(emitter, *reg);
            let differs = emitter.def(format_args!("xor i{wide} {found}, {expected}"));
            let differs = emitter.resize(&differs, wide, 64, false);
            let flag = if this.info.speculative.contains(reg) { "misguess" } else { "violated" };
            let bad = emitter.def(format_args!("load i64, ptr %{flag}"));
            let bad = emitter.def(format_args!("or i64 {bad}, {differs}"));
            emitter.line(format_args!("store i64 {bad}, ptr %{flag}"));
        }
        emitter.line(format_args!("br label %check.done"));
        Ok(())
    })?;
    if ordered.is_some() {
        let [least, most] = ["least", "most"].map(|end| emitter.def(format_args!("load i64, ptr %{end}")));
        let span = emitter.def(format_args!("sub i64 {most}, {least}"));
        emitter.line(format_args!("store i64 {span}, ptr %span"));
    }
    let bad = emitter.def(format_args!("load i64, ptr %violated"));
    let bad = emitter.def(format_args!("icmp ne i64 {bad}, 0"));
    emitter.line(format_args!("br i1 {bad}, label %deoptimise, label %speculation"));
    emitter.text.push_str("speculation:\n");
    let wrong = emitter.def(format_args!("load i64, ptr %misguess"));
    let wrong = emitter.def(format_args!("icmp ne i64 {wrong}, 0"));
    emitter.line(format_args!("br i1 {wrong}, label %misspeculated, label %iteration"));
    Ok(())
}

/// Emits a side exit. The registers of this iteration are no longer needed. They are written nevertheless, since a
/// value that only some threads write cannot be vectorised.
fn emit_side_exit(emitter: &mut Emitter<'_>, this: &VectorLoop<'_>) {
    for reg in this.stored.iter().filter(|r| this.written.contains(r) && this.storage(**r) != Storage::PerThread) {
        let wide = width(emitter, *reg);
        emitter.line(format_args!("store i{wide} poison, ptr %next{reg}"));
    }
    for exit in this.exit_regions() {
        emitter.line(format_args!("store i1 poison, ptr %out{exit}"));
    }
    emitter.text.push_str("  store i32 1, ptr %leaves\n  br label %latch\n");
}

/// Records the exit by which all threads leave the loop after this iteration. There is one flag for each exit rather
/// than a number, so that the branch on a flag is the loop's own branch.
fn record_exit(emitter: &mut Emitter<'_>, this: &VectorLoop<'_>, way: Option<usize>) {
    for exit in this.exit_regions() {
        emitter.line(format_args!("store i1 {}, ptr %out{exit}", way == Some(exit)));
    }
}

/// Combines the current thread's side-exit flag with that of the others.
fn record_side_exit(emitter: &mut Emitter<'_>) {
    let own = emitter.def(format_args!("load i32, ptr %leaves"));
    combine(emitter, "side_exit", &own);
}

/// Branches to `leaves` if any thread takes a side exit.
fn deoptimise_on_side_exit(emitter: &mut Emitter<'_>, leaves: &str, stays: &str) {
    let side_exit = emitter.def(format_args!("load i32, ptr %side_exit"));
    let side_exit = emitter.def(format_args!("icmp ne i32 {side_exit}, 0"));
    emitter.text.push_str(&format!("  br i1 {side_exit}, label %{leaves}, label %{stays}\n{stays}:\n"));
}

/// Begins an iteration: registers are loaded from their storage.
fn begin_iteration(emitter: &mut Emitter<'_>, this: &VectorLoop<'_>) -> Result<()> {
    emitter.line(format_args!("store i32 0, ptr %leaves"));
    for reg in &this.live {
        load_stored(emitter, this, *reg)?;
    }
    // A register that an iteration may leave unwritten must not keep another thread's value.
    set_poison(emitter, this.stored.iter().copied().filter(|r| !this.live.contains(r)));
    emitter.line(format_args!("br label %b{}", this.info.header));
    Ok(())
}

/// Makes the values of registers undefined.
fn set_poison(emitter: &mut Emitter<'_>, registers: impl Iterator<Item = Reg>) {
    for reg in registers {
        let width = emitter.function.registers[reg as usize];
        emitter.line(format_args!("store i{width} poison, ptr %r{reg}"));
    }
}

/// Adds the bits of a value to those of a variable.
fn combine(emitter: &mut Emitter<'_>, variable: &str, value: &str) {
    let before = emitter.def(format_args!("load i32, ptr %{variable}"));
    let after = emitter.def(format_args!("or i32 {before}, {value}"));
    emitter.line(format_args!("store i32 {after}, ptr %{variable}"));
}

/// Emits one iteration of the loop.
fn emit_iteration<'a>(emitter: &mut Emitter<'a>, this: &VectorLoop<'a>) -> Result<()> {
    let function = emitter.function;
    emitter.text.push_str("iteration:\n  store i32 0, ptr %side_exit\n");
    let checked = this.checks_iterations();
    emitter.selects = if checked { this.info.selects.clone() } else { Selects::new() };
    match checked {
        true => emit_side_exit_check(emitter, this)?,
        false => emitter.line(format_args!("br label %work")),
    }
    emitter.text.push_str("work:\n");
    emitter.unreachable_blocks = if checked { this.info.side_exits.clone() } else { BTreeSet::new() };
    emitter.begin_batch(false);
    thread_loop(emitter, this, "work", |emitter| {
        begin_iteration(emitter, this)?;
        let blocks: Vec<_> = this.regions.blocks(function, this.region);
        emit_blocks(emitter, &blocks, Some((this.regions, this.region)))?;
        let region_of = |block: &usize| this.regions.splits[block];
        emitter.text.push_str(&format!("split{}:\n", this.region));
        record_exit(emitter, this, None);
        emitter.text.push_str("  br label %keep\n");
        for exit in this.exit_regions() {
            emitter.text.push_str(&format!("split{exit}:\n"));
            // A register that is dead after the loop may have any value there.
            let live = &this.regions.live[exit];
            set_poison(emitter, this.stored.iter().copied().filter(|r| !live.contains(r)));
            record_exit(emitter, this, Some(exit));
            emitter.text.push_str("  br label %keep\n");
        }
        for side_exit in this.info.side_exits.iter().map(region_of) {
            emitter.text.push_str(&format!("split{side_exit}:\n"));
            match checked {
                true => emitter.line(format_args!("unreachable")),
                false => emit_side_exit(emitter, this),
            }
        }
        emitter.text.push_str("keep:\n");
        for reg in this.stored.iter().filter(|r| this.written.contains(r)) {
            let wide = width(emitter, *reg);
            let mut value = value(emitter, *reg);
            match this.storage(*reg) {
                Storage::PerThread => {
                    let at = element(emitter, "each", *reg);
                    emitter.line(format_args!("store i{wide} {value}, ptr {at}{PARALLEL}"));
                    continue;
                }
                Storage::Uniform => {}
                Storage::Strided(stride) => {
                    let (before, amount) = strided_value(emitter, *reg, stride);
                    let more = emitter.def(format_args!("sub i{wide} {value}, {before}"));
                    value = emitter.def(format_args!("add i{wide} {amount}, {more}"));
                }
            }
            emitter.line(format_args!("store i{wide} {value}, ptr %next{reg}"));
        }
        emitter.text.push_str("  br label %latch\nlatch:\n");
        record_side_exit(emitter);
        emitter.line(format_args!("br label %work.done"));
        Ok(())
    })?;
    emitter.unreachable_blocks.clear();
    emitter.selects.clear();
    let batch = emitter.end_batch("%first", "%count");
    emitter.text.push_str(&batch);
    deoptimise_on_side_exit(emitter, "deoptimise", "take");
    for reg in this.stored.iter().filter(|r| this.written.contains(r) && this.storage(**r) != Storage::PerThread) {
        let wide = width(emitter, *reg);
        let next = emitter.def(format_args!("load i{wide}, ptr %next{reg}"));
        emitter.line(format_args!("store i{wide} {next}, ptr %once{reg}"));
    }
    for exit in this.exit_regions() {
        let out = emitter.def(format_args!("load i1, ptr %out{exit}"));
        emitter.text.push_str(&format!("  br i1 {out}, label %leave{exit}, label %stay{exit}\nstay{exit}:\n"));
    }
    emitter.line(format_args!("br label %iteration"));
    if !checked {
        return Ok(());
    }
    this.info.counted_exits.iter().try_for_each(|exit| emit_last_iteration(emitter, this, *exit))?;
    emit_interrupt(emitter, this)
}

/// Emits the function that runs a lockstep loop, with speculative strides or without; `None` if the version without
/// would be the same. The second value is true if it runs any number of threads.
pub(super) fn emit<'a>(
    emitter: &mut Emitter<'a>,
    regions: &'a Regions,
    region: usize,
    speculates: bool,
) -> Result<Option<(String, bool)>> {
    let function = emitter.function;
    let info = &regions.lockstep[&region];
    let blocks = regions.blocks(function, region);
    let mut written = BTreeSet::new();
    for inst in blocks.iter().flat_map(|b| &function.blocks[*b].insts) {
        inst.visit(
            &mut |r| {
                written.insert(r);
            },
            &mut |_| {},
        );
    }
    // Registers that the loop does not use stay in the frame.
    let mut touched = written.clone();
    for block in blocks.iter().map(|b| &function.blocks[*b]) {
        touched.extend(block.term.used());
        block.insts.iter().for_each(|inst| {
            inst.visit(&mut |_| {}, &mut |r| {
                touched.insert(r);
            });
        });
    }
    let live = regions.live[region].iter().chain(&regions.rematerialised[region]);
    let live: Vec<Reg> = live.copied().filter(|r| touched.contains(r)).collect();
    let left = info.exits.iter().flat_map(|b| &regions.live[regions.splits[b]]).copied();
    let mut stored: Vec<Reg> = live.iter().copied().chain(left.filter(|r| written.contains(r))).collect();
    stored.sort_unstable();
    stored.dedup();
    let mut this = VectorLoop { regions, region, info, speculates: true, wide: false, live, stored, written };
    let bytes: u32 = this.stored.iter().filter(|r| !this.is_recomputed(**r)).map(|r| width(emitter, *r) / 8).sum();
    let repeats = !info.side_exits.is_empty() && !info.exits_can_be_precomputed;
    this.wide = info.wide && !repeats && bytes <= WIDE_BYTES;
    if !speculates && !this.needs_speculation() {
        return Ok(None);
    }
    this.speculates = speculates;
    slots(emitter, &this, &blocks);
    emitter.parallel = PARALLEL;
    emitter.exit_label = "deoptimise";
    emit_entry(emitter, &this)?;
    emit_iteration(emitter, &this)?;
    for exit in this.exit_regions() {
        let name = format!("leave{exit}");
        emitter.text.push_str(&format!("{name}:\n"));
        thread_loop(emitter, &this, &name, |emitter| {
            for reg in regions.live[exit].iter().filter(|r| this.written.contains(r)) {
                spill(emitter, &this, *reg)?;
            }
            emitter.line(format_args!("br label %{name}.done"));
            Ok(())
        })?;
        emitter.line(format_args!("ret i64 {exit}"));
    }
    Ok(Some((function_text(emitter, &this), this.wide)))
}

/// Allocates stack slots for registers and for their storage.
fn slots(emitter: &mut Emitter<'_>, this: &VectorLoop<'_>, blocks: &[usize]) {
    let function = emitter.function;
    let mut used = register_slots(emitter, blocks);
    let mut named = this.stored.clone();
    let chain = this.regions.remat_insts[this.region].iter();
    chain.for_each(|(block, at)| function.blocks[*block].insts[*at].visit(&mut |r| named.push(r), &mut |_| {}));
    for reg in named {
        if used.insert(reg) {
            let _ = writeln!(emitter.prologue, "  %r{reg} = alloca i{}", function.registers[reg as usize]);
        }
    }
    let (capacity, groups) = (this.capacity(), this.capacity() / GROUP);
    for reg in &this.stored {
        let wide = width(emitter, *reg);
        let _ = writeln!(emitter.prologue, "  %once{reg} = alloca i{wide}\n  %next{reg} = alloca i{wide}");
        if this.is_recomputed(*reg) {
            continue;
        }
        let _ = writeln!(emitter.prologue, "  %each{reg} = alloca [{capacity} x i{wide}], align 64");
        let _ = writeln!(emitter.prologue, "  %base{reg} = alloca [{groups} x i{wide}]");
    }
    let _ = writeln!(
        emitter.prologue,
        "  %group.x = alloca [{groups} x i32]\n  %group.y = alloca [{groups} x i32]\n  \
         %group.z = alloca [{groups} x i32]\n  %violated = alloca i64\n  %misguess = alloca i64\n  \
         %least = alloca i64\n  %most = alloca i64\n  %span = alloca i64\n  \
         %lane.bits = alloca [{GROUP} x i32], align 64\n  %side_exit = alloca i32\n  %leaves = alloca i32\n  %strays = alloca i32"
    );
    for exit in this.exit_regions() {
        let _ = writeln!(emitter.prologue, "  %out{exit} = alloca i1");
    }
}

/// Emits the function around the loop: it determines the position of each group, whose threads must be in one row.
fn function_text(emitter: &mut Emitter<'_>, this: &VectorLoop<'_>) -> String {
    let [nx, ny] = [0, 4].map(|at| emitter.field(abi::BLOCK + at, "i32"));
    super::region::block_coordinates(emitter);
    format!(
        "define internal i64 @vector_loop{region}(ptr noalias %ctx, i64 %first, i64 %count) #0 {{\nentry:\n\
         {prologue}  %groups = udiv exact i64 %count, {GROUP}
  br label %place
place:
  %p = phi i64 [ 0, %entry ], [ %p.next, %placed ]
  %p.at = mul i64 %p, {GROUP}
  %p.wide = add i64 %first, %p.at
  %p.any = trunc i64 %p.wide to i32
  %p.small = and i32 %p.any, 1023
  %p.x = urem i32 %p.small, {nx}
  %p.w = udiv i32 %p.small, {nx}
  %p.y = urem i32 %p.w, {ny}
  %p.z = udiv i32 %p.w, {ny}
  %p.x.at = getelementptr i32, ptr %group.x, i64 %p
  %p.y.at = getelementptr i32, ptr %group.y, i64 %p
  %p.z.at = getelementptr i32, ptr %group.z, i64 %p
  store i32 %p.x, ptr %p.x.at
  store i32 %p.y, ptr %p.y.at
  store i32 %p.z, ptr %p.z.at
  %p.end = add nuw nsw i32 %p.x, {GROUP}
  %p.fits = icmp ule i32 %p.end, {nx}
  br i1 %p.fits, label %placed, label %deoptimise
placed:
  %p.next = add nuw nsw i64 %p, 1
  %p.more = icmp ult i64 %p.next, {groups}
  br i1 %p.more, label %place, label %enter
{text}deoptimise:
  ret i64 {deoptimised}
misspeculated:
  ret i64 {misspeculated}
}}
",
        region = this.region,
        prologue = emitter.prologue,
        groups = this.groups(),
        text = emitter.text,
        deoptimised = abi::DEOPTIMISED,
        misspeculated = abi::MISSPECULATED,
    )
}
