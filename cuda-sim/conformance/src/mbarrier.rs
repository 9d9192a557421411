//! Barriers in shared memory that count arrivals and bytes: every instance against a model of the manual's rules, and
//! threads that wait for each other.

use crate::assembler::{assemble, is_ptx};
use crate::device::{HEADER, Memory, launch, load, unload};
use crate::instance::{Instance, forms, instances};
use crate::random::Random;
use cuda_sim::ptx::{Modifier as M, Opcode};
use cuda_sys::CUresult;
use std::fmt::Write;

/// The instructions that are tested here.
pub(crate) const COVERED: &[Opcode] = &[Opcode::Mbarrier];

/// A barrier's state by the manual.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Model {
    pending: u32,
    expected: u32,
    bytes: i64,
    phase: u32,
}

impl Model {
    fn new(count: u32) -> Model {
        Model { pending: count, expected: count, bytes: 0, phase: 0 }
    }

    fn end_if_complete(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = self.expected;
        }
    }
}

/// Returns the instruction with operands, where `%n` is a number, `%state` a state and `%p` the result.
fn written(i: &Instance, operands: &str) -> String {
    format!("{} {operands};\n", i.name())
}

/// One thread and many instructions: those without a result are observed through those with one.
struct Script {
    text: String,
    results: Vec<(u64, String)>,
}

impl Script {
    fn result(&mut self, register: &str, value: u64, what: &str) {
        let _ = writeln!(self.text, "cvt.u64.u32 %x, {register}; st.global.b64 [%to+{}], %x;", 8 * self.results.len());
        self.results.push((value, what.to_owned()));
    }

    fn answer(&mut self, truth: bool, what: &str) {
        self.text.push_str("selp.u32 %r, 1, 0, %p;\n");
        self.result("%r", truth.into(), what);
    }

    /// Returns the operand for the object in the instance's space.
    fn object(i: &Instance) -> &'static str {
        if i.has(M::Shared) || i.has(M::SharedCta) || i.has(M::SharedCluster) { "[s]" } else { "[%generic]" }
    }

    /// Tests the phase of the last state, and that of each parity.
    fn look(&mut self, tests: &[&Instance], model: &Model, state: Option<u32>, random: &mut Random) {
        let choose = |random: &mut Random, parity: bool| {
            let fit: Vec<&&Instance> = tests.iter().filter(|i| i.has(M::Parity) == parity).collect();
            *fit[(random.next() >> 20) as usize % fit.len()]
        };
        for parity in 0..2 {
            let i = choose(random, true);
            let hint = if i.form.operands.len() == 4 { ", 20" } else { "" };
            self.text.push_str(&written(i, &format!("%p, {}, {parity}{hint}", Script::object(i))));
            self.answer(model.phase % 2 != parity, &format!("{} of parity {parity}, {model:?}", i.name()));
        }
        if let Some(phase) = state {
            let i = choose(random, false);
            let hint = if i.form.operands.len() == 4 { ", %hint" } else { "" };
            self.text.push_str(&written(i, &format!("%p, {}, %state{hint}", Script::object(i))));
            self.answer(model.phase != phase, &format!("{} of a state of phase {phase}, {model:?}", i.name()));
        }
    }

    /// Applies a change that leaves the barrier in a defined state; returns false if there is none.
    fn change(&mut self, i: &Instance, model: &mut Model, state: &mut Option<u32>, random: &mut Random) -> bool {
        let number = (random.next() >> 30) as u32 % 3 + 1;
        let object = Script::object(i);
        if i.has(M::ExpectTx) && !i.has(M::Arrive) && !i.has(M::ArriveDrop) {
            self.text.push_str(&written(i, &format!("{object}, {}", 16 * number)));
            model.bytes += i64::from(16 * number);
            return true;
        }
        if i.has(M::CompleteTx) {
            let bytes = if model.bytes > 0 { model.bytes as u32 } else { return false };
            self.text.push_str(&written(i, &format!("{object}, {bytes}")));
            model.bytes = 0;
            model.end_if_complete();
            return true;
        }
        let counted = i.form.operands.len() == 3 && !i.has(M::ExpectTx);
        let count = if counted { number } else { 1 };
        let room = if i.has(M::NoComplete) { model.pending.saturating_sub(1) } else { model.pending };
        // A barrier with no expected arrivals is undefined.
        let keeps = model.expected - if i.has(M::ArriveDrop) { count.min(model.expected) } else { 0 };
        if count > room || keeps == 0 {
            return false;
        }
        let bytes = if i.has(M::ExpectTx) { 8 * number } else { 0 };
        let last = if counted {
            format!(", {count}")
        } else if bytes > 0 {
            format!(", {bytes}")
        } else {
            String::new()
        };
        let sunk = i.has(M::SharedCluster);
        let _ = write!(self.text, "{}", written(i, &format!("{}, {object}{last}", if sunk { "_" } else { "%state" })));
        let before = *model;
        model.bytes += i64::from(bytes);
        (model.expected, model.pending) = (keeps, model.pending - count);
        if !i.has(M::NoComplete) {
            model.end_if_complete();
        }
        if !sunk {
            *state = Some(before.phase);
            self.text.push_str("mbarrier.pending_count.b64 %r, %state;\n");
            self.result("%r", before.pending.into(), &format!("pending before {}, {before:?}", i.name()));
        }
        true
    }
}

#[test]
fn objects_follow_the_rules() {
    let all: Vec<Instance> = forms().filter(|f| f.opcode == Opcode::Mbarrier).flat_map(instances).collect();
    let (starts, rest): (Vec<&Instance>, Vec<&Instance>) = all.iter().partition(|i| i.has(M::Init) || i.has(M::Inval));
    let (tests, changes): (Vec<&Instance>, Vec<&Instance>) =
        rest.into_iter().filter(|i| !i.has(M::PendingCount)).partition(|i| i.has(M::TestWait) || i.has(M::TryWait));
    let mut random = Random(0x0f1e_2d3c_4b5a_6978);
    // Unused ones come first, in pseudo-random order.
    let mut left: Vec<&Instance> = changes.clone();
    (1..left.len()).for_each(|at| left.swap(at, (random.next() >> 20) as usize % (at + 1)));
    for (round, begin) in starts.iter().filter(|i| i.has(M::Init)).cycle().take(24).enumerate() {
        let mut script = Script { text: String::new(), results: Vec::new() };
        let count = [1, 2, 5, 60][round % 4];
        script.text.push_str(&written(begin, &format!("{}, {count}", Script::object(begin))));
        let (mut model, mut state) = (Model::new(count), None);
        for _ in 0..40 {
            let fits = left.iter().position(|i| script.change(i, &mut model, &mut state, &mut random));
            if let Some(at) = fits {
                left.remove(at);
            } else {
                let i = changes[(random.next() >> 20) as usize % changes.len()];
                script.change(i, &mut model, &mut state, &mut random);
            }
            // A state is of this phase or of the preceding one.
            state = state.filter(|phase| *phase + 1 >= model.phase);
            script.look(&tests, &model, state, &mut random);
        }
        let end = starts.iter().filter(|i| i.has(M::Inval)).nth(round % 3).unwrap();
        script.text.push_str(&written(end, Script::object(end)));
        run(&script);
    }
    let left: Vec<String> = left.iter().map(|i| i.name()).collect();
    assert!(left.is_empty(), "without a turn: {left:?}");
}

#[track_caller]
fn run(script: &Script) {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 out) {{ .reg .pred %p; .reg .b32 %r, %hint; .reg .b64 %to, %x, %state, %generic;
        .shared .align 8 .b64 s; ld.param.u64 %to, [out]; mov.u64 %generic, s; cvta.shared.u64 %generic, %generic;
        mov.u32 %hint, 5; {} ret; }}",
        script.text
    );
    is_ptx(&text);
    let module = load(&text).unwrap_or_else(|log| panic!("{log}\n{text}"));
    let out = Memory::new(&vec![0xdead; script.results.len()]);
    assert_eq!(launch(module, 1, 1, &[out.address()]), CUresult::CUDA_SUCCESS);
    unload(module);
    for (got, (want, what)) in out.read(script.results.len()).into_iter().zip(&script.results) {
        assert_eq!(got, *want, "{what}\n{}", script.text);
    }
}

/// Threads pass numbers around: in each phase each writes its own, arrives, waits, and reads its neighbour's.
#[test]
fn threads_wait_for_each_other() {
    let arrive = "mbarrier.arrive.shared.b64 %state, [bar];";
    for (way, wait) in [
        ("a state that is tested", format!("{arrive} W: mbarrier.test_wait.shared.b64 %p, [bar], %state; @!%p bra W;")),
        ("a state that is tried", format!("{arrive} W: mbarrier.try_wait.acquire.cta.shared::cta.b64 %p, [bar], %state, 1000; @%p bra D; bra W; D:")),
        (
            "a parity",
            "mbarrier.arrive.release.cta.shared.b64 _, [bar]; and.b32 %r4, %i, 1;
            W: mbarrier.try_wait.parity.shared.b64 %p, [bar], %r4; @!%p bra W;"
                .to_owned(),
        ),
        (
            "a parity, asleep",
            "mbarrier.arrive.shared.b64 _, [bar], 1; and.b32 %r4, %i, 1;
            W: mbarrier.test_wait.parity.shared.b64 %p, [bar], %r4; @%p bra D; nanosleep.u32 20; bra W; D:"
                .to_owned(),
        ),
        (
            "by a function",
            "mbarrier.arrive.shared.b64 %state, [bar]; { .param .b64 a; .param .b64 s; mov.u64 %x, bar; st.param.b64 [a], %x;
            st.param.b64 [s], %state; call.uni wait, (a, s); }"
                .to_owned(),
        ),
    ] {
        let text = format!(
            "{HEADER}.func wait(.param .b64 a, .param .b64 s) {{ .reg .pred %p; .reg .b64 %a, %s; ld.param.b64 %a, [a];
            ld.param.b64 %s, [s]; W: mbarrier.test_wait.shared.b64 %p, [%a], %s; @!%p bra W; ret; }}
            .visible .entry k(.param .u64 out) {{ .reg .pred %p, %q; .reg .b32 %r<9>, %i, %sum; .reg .b64 %to, %x, %state;
            .shared .align 8 .b64 bar; .shared .align 4 .b32 cells[192];
            mov.u32 %r0, %tid.x; mov.u32 %sum, 0; mov.u32 %i, 0; setp.eq.u32 %q, %r0, 0;
            @%q mbarrier.init.shared.b64 [bar], 96; bar.sync 0;
            // Two rows of cells alternate: a thread that is a phase behind still reads the other one.
            LOOP: and.b32 %r1, %i, 1; mad.lo.u32 %r1, %r1, 96, %r0; shl.b32 %r1, %r1, 2; mov.u32 %r2, cells; add.u32 %r1, %r1, %r2;
            mad.lo.u32 %r3, %i, 1000, %r0; st.shared.u32 [%r1], %r3;
            {{ {wait} }}
            add.u32 %r3, %r0, 37; rem.u32 %r3, %r3, 96; and.b32 %r5, %i, 1; mad.lo.u32 %r3, %r5, 96, %r3; shl.b32 %r3, %r3, 2;
            add.u32 %r3, %r3, %r2; ld.shared.u32 %r3, [%r3]; mad.lo.u32 %sum, %sum, 3, %r3;
            add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 7; @%q bra LOOP;
            ld.param.u64 %to, [out]; mad.wide.u32 %to, %r0, 8, %to; cvt.u64.u32 %x, %sum; st.global.b64 [%to], %x; ret; }}"
        );
        is_ptx(&text);
        let module = load(&text).unwrap_or_else(|log| panic!("{log}\n{text}"));
        let out = Memory::new(&vec![0; 96]);
        assert_eq!(launch(module, 3, 96, &[out.address()]), CUresult::CUDA_SUCCESS, "{way}");
        unload(module);
        for (thread, got) in out.read(96).into_iter().enumerate() {
            let want = (0..7).fold(0u32, |sum, i| sum.wrapping_mul(3).wrapping_add(i * 1000 + (thread as u32 + 37) % 96));
            assert_eq!(got, u64::from(want), "{way}, thread {thread}");
        }
    }
}

/// A warp copies, others compute: the copies arrive at one barrier, and the readers at another.
#[test]
fn copies_arrive_when_they_are_made() {
    for (noinc, full) in [(".noinc", 32), ("", 0)] {
        // Without `.noinc` the barrier's count includes the arrival, and one more of each thread ends the phase.
        let more = if noinc.is_empty() { "mbarrier.arrive.shared.b64 _, [%full];" } else { "" };
        let full = full.max(32);
        let text = format!(
            "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .pred %p, %producer; .reg .b32 %t, %i, %slot, %parity,
            %full, %empty, %cell, %r<9>; .reg .b64 %from, %to, %x; .shared .align 8 .b64 bars[4]; .shared .align 16 .b32 ring[64];
            mov.u32 %t, %tid.x; setp.ge.u32 %producer, %t, 32; and.b32 %r0, %t, 31; ld.param.u64 %from, [in]; ld.param.u64 %to, [out];
            setp.ne.u32 %p, %t, 0; @%p bra READY; mbarrier.init.shared.b64 [bars], {full}; mbarrier.init.shared.b64 [bars+8], {full};
            mbarrier.init.shared.b64 [bars+16], 32; mbarrier.init.shared.b64 [bars+24], 32; READY: bar.sync 0; mov.u32 %i, 0;
            LOOP: and.b32 %slot, %i, 1; shr.u32 %parity, %i, 1; and.b32 %parity, %parity, 1; mov.u32 %full, bars; shl.b32 %r1, %slot, 3;
            add.u32 %full, %full, %r1; add.u32 %empty, %full, 16; mad.lo.u32 %r1, %slot, 32, %r0; shl.b32 %r1, %r1, 2; mov.u32 %cell, ring;
            add.u32 %cell, %cell, %r1; mad.lo.u32 %r1, %i, 32, %r0; mul.wide.u32 %x, %r1, 4; @%producer bra COPY;
            WAIT: mbarrier.try_wait.parity.shared.b64 %p, [%full], %parity; @!%p bra WAIT;
            add.u64 %x, %to, %x; ld.shared.u32 %r2, [%cell]; add.u32 %r2, %r2, 1; st.global.u32 [%x], %r2;
            mbarrier.arrive.shared.b64 _, [%empty]; bra NEXT;
            COPY: xor.b32 %parity, %parity, 1;
            FREE: mbarrier.try_wait.parity.shared.b64 %p, [%empty], %parity; @!%p bra FREE;
            add.u64 %x, %from, %x; cp.async.ca.shared.global [%cell], [%x], 4; cp.async.mbarrier.arrive{noinc}.shared.b64 [%full]; {more}
            NEXT: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 12; @%p bra LOOP; ret; }}"
        );
        is_ptx(&text);
        let module = load(&text).unwrap_or_else(|log| panic!("{log}\n{text}"));
        let words: Vec<u64> = (0..12 * 16).map(|k| (k * 2) | (k * 2 + 1) << 32).collect();
        let (from, to) = (Memory::new(&words), Memory::new(&[0; 12 * 16]));
        assert_eq!(launch(module, 1, 64, &[from.address(), to.address()]), CUresult::CUDA_SUCCESS);
        unload(module);
        let want: Vec<u64> = (0..12 * 16).map(|k| (k * 2 + 1) | (k * 2 + 2) << 32).collect();
        assert_eq!(to.read(12 * 16), want, "{noinc}");
    }
}

/// Nothing is copied before the barrier is tested.
#[test]
fn copies_that_arrive_are_made_when_the_barrier_is_tested() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %from, %to;
        .shared .align 8 .b64 bar; .shared .align 8 .b32 cell; ld.param.u64 %from, [in]; ld.param.u64 %to, [out];
        mbarrier.init.shared.b64 [bar], 1; st.shared.u32 [cell], 7; cp.async.ca.shared.global [cell], [%from], 4;
        cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar]; ld.shared.u32 %r0, [cell];
        mbarrier.test_wait.parity.shared.b64 %p, [bar], 0; selp.u32 %r1, 1, 0, %p; ld.shared.u32 %r2, [cell];
        mad.lo.u32 %r1, %r1, 10, %r0; st.global.v2.u32 [%to], {{%r1, %r2}}; ret; }}"
    );
    is_ptx(&text);
    let module = load(&text).unwrap();
    let (from, to) = (Memory::new(&[5]), Memory::new(&[0]));
    assert_eq!(launch(module, 1, 1, &[from.address(), to.address()]), CUresult::CUDA_SUCCESS);
    unload(module);
    assert_eq!(to.read(1), [5 << 32 | 17]);
}

/// Copies that arrive at an object are made, and arrive there, before another object takes its place.
#[test]
fn copies_that_arrive_do_not_arrive_at_a_later_object() {
    for end in
        ["mbarrier.init.shared.b64 [bar], 1;", "mbarrier.inval.shared.b64 [bar]; mbarrier.init.shared.b64 [bar], 1;"]
    {
        let text = format!(
            "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %from, %to;
            .shared .align 8 .b64 bar; .shared .align 8 .b32 cell; ld.param.u64 %from, [in]; ld.param.u64 %to, [out];
            mbarrier.init.shared.b64 [bar], 2; st.shared.u32 [cell], 7; cp.async.ca.shared.global [cell], [%from], 4;
            cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar]; {end} ld.shared.u32 %r0, [cell];
            mbarrier.test_wait.parity.shared.b64 %p, [bar], 0; selp.u32 %r1, 1, 0, %p;
            mad.lo.u32 %r1, %r1, 10, %r0; mbarrier.arrive.shared.b64 _, [bar];
            mbarrier.test_wait.parity.shared.b64 %p, [bar], 0; selp.u32 %r2, 1, 0, %p;
            st.global.v2.u32 [%to], {{%r1, %r2}}; ret; }}"
        );
        is_ptx(&text);
        let module = load(&text).unwrap();
        let (from, to) = (Memory::new(&[5]), Memory::new(&[0]));
        assert_eq!(launch(module, 1, 1, &[from.address(), to.address()]), CUresult::CUDA_SUCCESS);
        unload(module);
        assert_eq!(to.read(1), [1 << 32 | 5], "{end}");
    }
}

#[test]
fn barriers_that_are_none_are_refused() {
    for (target, body, what) in [
        ("sm_75", "mbarrier.init.shared.b64 [s], 1;", "'mbarrier.init.shared.b64' needs .target sm_80 or a newer one"),
        (
            "sm_80",
            "mbarrier.try_wait.shared.b64 %p, [s], %x;",
            "'mbarrier.try_wait.shared.b64' needs .target sm_90 or a newer one",
        ),
        (
            "sm_80",
            "mbarrier.expect_tx.shared.b64 [s], 5;",
            "needs .target sm_90 or a newer one, and this module is for sm_80",
        ),
        (
            "sm_90",
            "mbarrier.arrive.shared::cluster.b64 %x, [%r];",
            "'mbarrier.arrive.shared::cluster.b64' returns no state: write '_' as its destination",
        ),
        ("sm_90", "mbarrier.arrive.release.shared.b64 %x, [s];", "is missing"),
        ("sm_90", "mbarrier.arrive.noComplete.relaxed.cta.shared.b64 %x, [s], 2;", "is not supported: the modifier"),
        (
            "sm_90",
            "mbarrier.try_wait.parity.shared::cluster.b64 %p, [%r], %r;",
            "the modifier .shared::cluster is not allowed here",
        ),
        ("sm_90", "mbarrier.init.shared.b32 [s], 1;", "the type .b32 is not allowed here"),
        ("sm_90", "mbarrier.init.global.b64 [%x], 1;", "the modifier .global is not allowed here"),
    ] {
        let text = format!(
            ".version 8.8\n.target {target}\n.address_size 64\n.visible .entry k() {{ .reg .b64 %x; .reg .b32 %r; .reg .pred %p;
            .shared .align 8 .b64 s; {body} ret; }}"
        );
        let log = load(&text).expect_err(body);
        assert!(log.contains(what), "{body}: {log}");
        assert!(assemble(&text).is_none_or(|told| told.is_err()), "{body}");
    }
}
