//! Loops in step: `strip(ctx, first, 0)` runs 32 threads from the loop's header to where it ends.
//!
//! The loop stands outside; inside, two groups of 16 threads in a row of the block each, as loops of constant length
//! that LLVM turns into straight vector code. Registers that are equal among the threads are kept once, others in
//! arrays that become vectors. The assumptions of [`crate::ir::lockstep`] are checked first. Where they do not hold, or
//! where a thread leaves the loop by itself, the strip gives [`abi::REFUSED`] and the plain region does it all again:
//! the frame is as it was, and a loop that single threads may leave stores nothing else.

use super::abi;
use super::emit::Emitter;
use super::kernel::{PARALLEL, emit_blocks, frame_slot, register_slots, thread_environment};
use crate::ir::Reg;
use crate::ir::lockstep::Lockstep;
use crate::ir::regions::Regions;
use crate::ptx::Result;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Threads of a group: those of a vector of 32-bit lanes.
const GROUP: u64 = 16;
/// Threads of a strip.
pub(crate) const STRIP: u64 = 32;

/// How a register is kept from turn to turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Once, for all threads.
    Once,
    /// Once for each group, and an amount that all threads add: threads of a group differ by this slope.
    Slope(i64),
    /// In an array.
    Each,
}

struct Strip<'a> {
    regions: &'a Regions,
    region: usize,
    info: &'a Lockstep,
    /// Live at the header, from the frame or computed again.
    live: Vec<Reg>,
    /// All that is kept: these, and what the loop leaves behind.
    kept: Vec<Reg>,
    written: BTreeSet<Reg>,
}

impl Strip<'_> {
    fn keep(&self, reg: Reg) -> Keep {
        if self.info.uniform.contains(&reg) {
            Keep::Once
        } else {
            let slope = self.info.slopes.get(&reg).filter(|_| self.live.contains(&reg));
            slope.map_or(Keep::Each, |slope| Keep::Slope(*slope))
        }
    }
}

/// Replaces whole names that begin with `%`.
fn rename(text: &str, suffix: &str) -> String {
    let names = ["%tid0", "%tid1", "%tid2", "%thread", "%slot.at", "%lane", "%group", "%local", "%local.end"];
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let end = rest[at + 1..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_'));
        let end = end.map_or(rest.len(), |n| at + 1 + n);
        out.push_str(&rest[at..end]);
        let slot = rest[at..end].strip_prefix("%slot").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        if slot || names.contains(&&rest[at..end]) {
            out.push_str(suffix);
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// A loop over the strip's threads around what `body` emits; the text comes after `{name}` and goes on at `{name}.end`.
fn nest(emitter: &mut Emitter<'_>, name: &str, body: impl FnOnce(&mut Emitter<'_>) -> Result<()>) -> Result<()> {
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
  br i1 %{name}.l.more, label %{name}.lane, label %{name}.group.next, !llvm.loop !1
{name}.group.next:
  %{name}.g.next = add nuw nsw i64 %{name}.g, 1
  %{name}.g.more = icmp ult i64 %{name}.g.next, {groups}
  br i1 %{name}.g.more, label %{name}.group, label %{name}.end
{name}.end:
",
        groups = STRIP / GROUP,
    );
    emitter.text.push_str(&rename(&text, &format!(".{name}")));
    Ok(())
}

fn width(emitter: &Emitter<'_>, reg: Reg) -> u32 {
    emitter.function.registers[reg as usize].max(8)
}

/// The place of the current thread's element of an array.
fn element(emitter: &mut Emitter<'_>, array: &str, reg: Reg) -> String {
    let width = width(emitter, reg);
    emitter.def(format_args!("getelementptr i{width}, ptr %{array}{reg}, i64 %slot.at"))
}

/// The current value of a register, as wide as it is kept.
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

/// What the current thread adds to the value of its group's first thread.
fn rise(emitter: &mut Emitter<'_>, reg: Reg, slope: i64) -> String {
    let wide = width(emitter, reg);
    let lane = emitter.resize("%lane", 64, wide, false);
    emitter.def(format_args!("mul i{wide} {lane}, {}", super::emit::int_constant(i128::from(slope), wide)))
}

/// The place of the current group's value of a register.
fn of_group(emitter: &mut Emitter<'_>, reg: Reg) -> String {
    let wide = width(emitter, reg);
    emitter.def(format_args!("getelementptr i{wide}, ptr %base{reg}, i64 %group"))
}

/// Puts what is kept of a register into the register.
fn restore(emitter: &mut Emitter<'_>, strip: &Strip<'_>, reg: Reg) -> Result<()> {
    let wide = width(emitter, reg);
    let value = match strip.keep(reg) {
        Keep::Once => emitter.def(format_args!("load i{wide}, ptr %once{reg}")),
        Keep::Slope(slope) => {
            let at = of_group(emitter, reg);
            let base = emitter.def(format_args!("load i{wide}, ptr {at}"));
            let amount = emitter.def(format_args!("load i{wide}, ptr %once{reg}"));
            let first = emitter.def(format_args!("add i{wide} {base}, {amount}"));
            let rise = rise(emitter, reg, slope);
            emitter.def(format_args!("add i{wide} {first}, {rise}"))
        }
        Keep::Each => {
            let at = element(emitter, "each", reg);
            emitter.def(format_args!("load i{wide}, ptr {at}{PARALLEL}"))
        }
    };
    set(emitter, reg, &value);
    Ok(())
}

fn to_frame(emitter: &mut Emitter<'_>, strip: &Strip<'_>, reg: Reg) -> Result<()> {
    restore(emitter, strip, reg)?;
    let wide = width(emitter, reg);
    let value = value(emitter, reg);
    let pointer = frame_slot(emitter, strip.regions, reg);
    emitter.line(format_args!("store i{wide} {value}, ptr {pointer}, align 1{PARALLEL}"));
    Ok(())
}

/// Reads the frame, computes what is not in it, and checks what the strip assumes.
fn enter(emitter: &mut Emitter<'_>, strip: &Strip<'_>) -> Result<()> {
    let function = emitter.function;
    emitter.text.push_str("enter:\n");
    nest(emitter, "enter", |emitter| {
        for (block, at) in &strip.regions.again[strip.region] {
            emitter.inst(&function.blocks[*block].insts[*at])?;
        }
        for reg in &strip.live {
            let wide = width(emitter, *reg);
            let value = if strip.regions.live[strip.region].contains(reg) {
                let pointer = frame_slot(emitter, strip.regions, *reg);
                emitter.def(format_args!("load i{wide}, ptr {pointer}, align 1{PARALLEL}"))
            } else {
                value(emitter, *reg)
            };
            let at = element(emitter, "each", *reg);
            emitter.line(format_args!("store i{wide} {value}, ptr {at}{PARALLEL}"));
        }
        emitter.line(format_args!("br label %enter.done"));
        Ok(())
    })?;
    emitter.line(format_args!("store i64 0, ptr %bad"));
    for reg in &strip.live {
        let wide = width(emitter, *reg);
        match strip.keep(*reg) {
            Keep::Each => {}
            Keep::Once => {
                let first = emitter.def(format_args!("load i{wide}, ptr %each{reg}"));
                emitter.line(format_args!("store i{wide} {first}, ptr %once{reg}"));
            }
            Keep::Slope(_) => {
                emitter.line(format_args!("store i{wide} 0, ptr %once{reg}"));
                for group in 0..STRIP / GROUP {
                    let from =
                        emitter.def(format_args!("getelementptr i{wide}, ptr %each{reg}, i64 {}", group * GROUP));
                    let first = emitter.def(format_args!("load i{wide}, ptr {from}"));
                    let to = emitter.def(format_args!("getelementptr i{wide}, ptr %base{reg}, i64 {group}"));
                    emitter.line(format_args!("store i{wide} {first}, ptr {to}"));
                }
            }
        }
    }
    emitter.text.push_str("  br label %check\ncheck:\n");
    nest(emitter, "check", |emitter| {
        for reg in strip.live.iter().filter(|r| strip.keep(**r) != Keep::Each) {
            let wide = width(emitter, *reg);
            let at = element(emitter, "each", *reg);
            let found = emitter.def(format_args!("load i{wide}, ptr {at}{PARALLEL}"));
            restore(emitter, strip, *reg)?;
            let expected = value(emitter, *reg);
            let differs = emitter.def(format_args!("xor i{wide} {found}, {expected}"));
            let differs = emitter.resize(&differs, wide, 64, false);
            let bad = emitter.def(format_args!("load i64, ptr %bad"));
            let bad = emitter.def(format_args!("or i64 {bad}, {differs}"));
            emitter.line(format_args!("store i64 {bad}, ptr %bad"));
        }
        emitter.line(format_args!("br label %check.done"));
        Ok(())
    })?;
    let bad = emitter.def(format_args!("load i64, ptr %bad"));
    let bad = emitter.def(format_args!("icmp ne i64 {bad}, 0"));
    emitter.line(format_args!("br i1 {bad}, label %refused, label %turn"));
    Ok(())
}

/// One turn of the loop.
fn turn(emitter: &mut Emitter<'_>, strip: &Strip<'_>) -> Result<()> {
    let function = emitter.function;
    emitter.text.push_str("turn:\n  store i32 0, ptr %bail\n");
    nest(emitter, "turn", |emitter| {
        for reg in &strip.live {
            restore(emitter, strip, *reg)?;
        }
        emitter.line(format_args!("br label %b{}", strip.info.header));
        let blocks: Vec<_> = strip.regions.blocks(function, strip.region);
        emit_blocks(emitter, &blocks, Some((strip.regions, strip.region)))?;
        let region_of = |block: &usize| strip.regions.splits[block];
        emitter.text.push_str(&format!("split{}:\n  store i32 0, ptr %exit\n  br label %keep\n", strip.region));
        for exit in strip.info.exits.iter().map(region_of) {
            emitter.text.push_str(&format!("split{exit}:\n  store i32 {exit}, ptr %exit\n  br label %keep\n"));
        }
        for bail in strip.info.bails.iter().map(region_of) {
            emitter.text.push_str(&format!("split{bail}:\n  store i32 1, ptr %bail\n  br label %turn.done\n"));
        }
        emitter.text.push_str("keep:\n");
        for reg in strip.kept.iter().filter(|r| strip.written.contains(r)) {
            let wide = width(emitter, *reg);
            let mut value = value(emitter, *reg);
            match strip.keep(*reg) {
                Keep::Each => {
                    let at = element(emitter, "each", *reg);
                    emitter.line(format_args!("store i{wide} {value}, ptr {at}{PARALLEL}"));
                    continue;
                }
                Keep::Once => {}
                Keep::Slope(slope) => {
                    let at = of_group(emitter, *reg);
                    let base = emitter.def(format_args!("load i{wide}, ptr {at}"));
                    let rise = rise(emitter, *reg, slope);
                    let own = emitter.def(format_args!("add i{wide} {base}, {rise}"));
                    value = emitter.def(format_args!("sub i{wide} {value}, {own}"));
                }
            }
            emitter.line(format_args!("store i{wide} {value}, ptr %next{reg}"));
        }
        emitter.line(format_args!("br label %turn.done"));
        Ok(())
    })?;
    if !strip.info.bails.is_empty() {
        let bail = emitter.def(format_args!("load i32, ptr %bail"));
        let bail = emitter.def(format_args!("icmp ne i32 {bail}, 0"));
        emitter.text.push_str(&format!("  br i1 {bail}, label %refused, label %take\ntake:\n"));
    }
    for reg in strip.kept.iter().filter(|r| strip.written.contains(r) && strip.keep(**r) != Keep::Each) {
        let wide = width(emitter, *reg);
        let next = emitter.def(format_args!("load i{wide}, ptr %next{reg}"));
        emitter.line(format_args!("store i{wide} {next}, ptr %once{reg}"));
    }
    let exit = emitter.def(format_args!("load i32, ptr %exit"));
    let cases: String = strip
        .info
        .exits
        .iter()
        .map(|b| strip.regions.splits[b])
        .map(|region| format!(" i32 {region}, label %leave{region}"))
        .collect();
    emitter.line(format_args!("switch i32 {exit}, label %turn.again [{cases} ]"));
    emitter.text.push_str("turn.again:\n  br label %turn\n");
    Ok(())
}

/// The function that runs a loop in step.
pub(super) fn strip(emitter: &mut Emitter<'_>, regions: &Regions, region: usize) -> Result<String> {
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
    // What the loop does not touch stays where it is.
    let mut touched = written.clone();
    for block in blocks.iter().map(|b| &function.blocks[*b]) {
        touched.extend(block.term.used());
        block.insts.iter().for_each(|inst| {
            inst.visit(&mut |_| {}, &mut |r| {
                touched.insert(r);
            });
        });
    }
    let live = regions.live[region].iter().chain(&regions.computed[region]);
    let live: Vec<Reg> = live.copied().filter(|r| touched.contains(r)).collect();
    let left = info.exits.iter().flat_map(|b| &regions.live[regions.splits[b]]).copied();
    let mut kept: Vec<Reg> = live.iter().copied().chain(left.filter(|r| written.contains(r))).collect();
    kept.sort_unstable();
    kept.dedup();
    let strip = Strip { regions, region, info, live, kept, written };
    slots(emitter, &strip, &blocks);
    emitter.parallel = PARALLEL;
    emitter.exit_label = "refused";
    enter(emitter, &strip)?;
    turn(emitter, &strip)?;
    for exit in info.exits.iter().map(|b| regions.splits[b]) {
        let name = format!("leave{exit}");
        emitter.text.push_str(&format!("{name}:\n"));
        nest(emitter, &name, |emitter| {
            for reg in regions.live[exit].iter().filter(|r| strip.written.contains(r)) {
                to_frame(emitter, &strip, *reg)?;
            }
            emitter.line(format_args!("br label %{name}.done"));
            Ok(())
        })?;
        emitter.line(format_args!("ret i64 {exit}"));
    }
    Ok(function_text(emitter, region))
}

/// Stack slots of registers and of what is kept.
fn slots(emitter: &mut Emitter<'_>, strip: &Strip<'_>, blocks: &[usize]) {
    let function = emitter.function;
    let mut used = register_slots(emitter, blocks);
    let mut named = strip.kept.clone();
    let chain = strip.regions.again[strip.region].iter();
    chain.for_each(|(block, at)| function.blocks[*block].insts[*at].visit(&mut |r| named.push(r), &mut |_| {}));
    for reg in named {
        if used.insert(reg) {
            let _ = writeln!(emitter.prologue, "  %r{reg} = alloca i{}", function.registers[reg as usize]);
        }
    }
    for reg in &strip.kept {
        let wide = width(emitter, *reg);
        let _ = writeln!(emitter.prologue, "  %each{reg} = alloca [{STRIP} x i{wide}], align 64");
        let _ = writeln!(emitter.prologue, "  %once{reg} = alloca i{wide}\n  %next{reg} = alloca i{wide}");
        let _ = writeln!(emitter.prologue, "  %base{reg} = alloca [{} x i{wide}]", STRIP / GROUP);
    }
    let groups = STRIP / GROUP;
    let _ = writeln!(
        emitter.prologue,
        "  %group.x = alloca [{groups} x i32]\n  %group.y = alloca [{groups} x i32]\n  \
         %group.z = alloca [{groups} x i32]\n  %bad = alloca i64\n  %bail = alloca i32\n  %exit = alloca i32"
    );
}

fn function_text(emitter: &mut Emitter<'_>, region: usize) -> String {
    let [nx, ny] = [0, 4].map(|at| emitter.field(abi::BLOCK + at, "i32"));
    super::region::block_coordinates(emitter);
    let mut groups = String::new();
    for g in 0..STRIP / GROUP {
        let _ = write!(
            groups,
            "  %t{g}.wide = add i64 %first, {at}
  %t{g}.any = trunc i64 %t{g}.wide to i32
  %t{g}.small = and i32 %t{g}.any, 1023
  %x{g} = urem i32 %t{g}.small, {nx}
  %w{g} = udiv i32 %t{g}.small, {nx}
  %y{g} = urem i32 %w{g}, {ny}
  %z{g} = udiv i32 %w{g}, {ny}
  %x{g}.at = getelementptr i32, ptr %group.x, i64 {g}
  %y{g}.at = getelementptr i32, ptr %group.y, i64 {g}
  %z{g}.at = getelementptr i32, ptr %group.z, i64 {g}
  store i32 %x{g}, ptr %x{g}.at
  store i32 %y{g}, ptr %y{g}.at
  store i32 %z{g}, ptr %z{g}.at
  %x{g}.end = add nuw nsw i32 %x{g}, {GROUP}
  %fits{g} = icmp ule i32 %x{g}.end, {nx}
  br i1 %fits{g}, label %fits{g}.yes, label %refused
fits{g}.yes:
",
            at = g * GROUP,
        );
    }
    format!(
        "define internal i64 @strip{region}(ptr noalias %ctx, i64 %first, i64 %unused) #0 {{\nentry:\n\
         {prologue}{groups}  br label %enter\n{text}refused:\n  ret i64 {refused}\n}}\n",
        prologue = emitter.prologue,
        text = emitter.text,
        refused = abi::REFUSED,
    )
}
