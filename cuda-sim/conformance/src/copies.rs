//! Asynchronous copies: every form and size, memory before the wait, and groups.

use crate::assembler::is_ptx;
use crate::device::{HEADER, Memory, launch, load, unload};
use crate::instance::{Instance, forms, instances};
use cuda_sim::ptx::isa::Shape;
use cuda_sim::ptx::{Modifier as M, Opcode};
use cuda_sys::CUresult;

/// The instructions that are tested here.
pub(crate) const COVERED: &[Opcode] = &[Opcode::Cp];

/// Returns a kernel in which each thread has 64 bytes of shared memory at `%s`, filled with `0x11`, and of global
/// memory at `%g`. It copies 32 of the former to the grid's output at the end.
fn kernel(body: &str) -> String {
    format!(
        "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 size) {{
        .reg .pred %p<4>; .reg .b32 %r<9>, %s, %n; .reg .b64 %g, %to, %x<9>; .shared .align 16 .b8 s[4096];
        mov.u32 %r0, %tid.x; mul.lo.u32 %r1, %r0, 64; mov.u32 %s, s; add.u32 %s, %s, %r1; cvt.u64.u32 %x0, %r1;
        ld.param.u64 %g, [in]; add.u64 %g, %g, %x0; ld.param.u64 %to, [out]; add.u64 %to, %to, %x0; ld.param.u32 %n, [size];
        mov.u64 %x1, 0x1111111111111111; st.shared.v2.b64 [%s], {{%x1, %x1}}; st.shared.v2.b64 [%s+16], {{%x1, %x1}};
        st.shared.v2.b64 [%s+32], {{%x1, %x1}}; st.shared.v2.b64 [%s+48], {{%x1, %x1}};
        {body}
        ld.shared.v2.b64 {{%x1, %x2}}, [%s+32]; st.global.v2.b64 [%to+32], {{%x1, %x2}};
        ld.shared.v2.b64 {{%x1, %x2}}, [%s+48]; st.global.v2.b64 [%to+48], {{%x1, %x2}}; ret; }}"
    )
}

const OLD: u64 = 0x1111_1111_1111_1111;

/// Returns eight words of global memory for each of this many threads.
fn source(threads: u64) -> Vec<u64> {
    (0..threads * 8).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

/// Runs a kernel and returns its results, eight words for each thread.
#[track_caller]
fn run(text: &str, threads: u32, size: u32) -> Vec<u64> {
    let module = load(text).unwrap_or_else(|log| panic!("{log}\n{text}"));
    let from = Memory::new(&source(u64::from(threads)));
    let to = Memory::new(&vec![0; threads as usize * 8]);
    let code = launch(module, 1, threads, &[from.address(), to.address(), u64::from(size)]);
    assert_eq!(code, CUresult::CUDA_SUCCESS, "{text}");
    unload(module);
    to.read(threads as usize * 8)
}

/// Returns the words of 16 bytes of a thread's shared memory after a copy that reads this many bytes.
fn copied(source: &[u64], bytes: usize, filled: usize) -> [u64; 2] {
    let from: Vec<u8> = source.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut to: Vec<u8> = vec![0x11; 16];
    (0..bytes).for_each(|i| to[i] = if i < filled { from[i] } else { 0 });
    [0, 8].map(|at| u64::from_le_bytes(to[at..at + 8].try_into().unwrap()))
}

/// The old bytes are there before the wait, and the source's after it.
fn check(i: &Instance, bytes: usize) {
    let shapes = i.form.operands;
    let (partly, unless) =
        (shapes.get(3) == Some(&Shape::SourceAs(cuda_sim::ptx::Type::U32)), shapes.get(3) == Some(&Shape::SourcePred));
    let hint = if i.has(M::L2CacheHint) { ", 7" } else { "" };
    let last = if partly {
        ", %n"
    } else if unless {
        ", %p1"
    } else {
        ""
    };
    let copy = format!("{} [%s+32], [%g+16], {bytes}{last}{hint};", i.name());
    let text = kernel(&format!(
        "setp.eq.u32 %p1, %n, 0; {copy} cp.async.commit_group; ld.shared.v2.b64 {{%x3, %x4}}, [%s+32];
        st.global.v2.b64 [%to], {{%x3, %x4}}; cp.async.wait_group 0;"
    ));
    let threads = 40;
    for size in [0, 1, 3, bytes, 100].into_iter().filter(|_| partly || unless).chain([bytes]) {
        let filled = if unless && size != 0 {
            bytes
        } else if partly || unless {
            size.min(bytes)
        } else {
            bytes
        };
        // More than the size of the copy is undefined.
        if partly && size > bytes {
            continue;
        }
        let got = run(&text, threads, size as u32);
        for (t, (got, from)) in got.chunks(8).zip(source(u64::from(threads)).chunks(8)).enumerate() {
            let want = copied(&from[2..4], bytes, filled);
            assert_eq!(got, [OLD, OLD, 0, 0, want[0], want[1], OLD, OLD], "{} of {size}, thread {t}", i.name());
        }
    }
    is_ptx(&text);
}

#[test]
fn copies_are_made_in_the_wait_for_them() {
    let is_copy = |i: &Instance| i.form.operands.len() >= 3 && !i.has(M::Bulk);
    let all: Vec<Instance> = forms().filter(|f| f.opcode == Opcode::Cp).flat_map(instances).filter(is_copy).collect();
    // Caches, spaces, prefetches; with and without a hint; whole, partial, or with an ignore predicate.
    let mut named: Vec<(String, usize)> = all.iter().map(|i| (i.name(), i.form.operands.len())).collect();
    named.dedup();
    assert_eq!(all.len() / 6, 2 * 2 * 2 * 4 * 3, "an immediate has {} values in instances", 6);
    for (at, i) in all.iter().step_by(6).enumerate() {
        let sizes: &[usize] = if i.has(M::Cg) { &[16] } else { &[4, 8, 16] };
        // Prefetches and spaces have no effect: each is tested with one of the sizes.
        check(i, sizes[at % sizes.len()]);
    }
    for bytes in [4, 8, 16] {
        all.iter().filter(|i| i.name() == "cp.async.ca.shared.global").step_by(6).for_each(|i| check(i, bytes));
    }
}

/// Copies of three groups: a wait leaves the last ones pending, and copies without a group stay pending until all are
/// waited for.
#[test]
fn groups_are_finished_in_order() {
    let copy = |at: u32| format!("cp.async.ca.shared.global [%s+{}], [%g+{at}], 8;", 32 + at);
    let commit = "cp.async.commit_group;";
    let see = "ld.shared.v2.b64 {%x3, %x4}, [%s+32]; st.global.v2.b64 [%to], {%x3, %x4};
        ld.shared.v2.b64 {%x3, %x4}, [%s+48]; st.global.v2.b64 [%to+16], {%x3, %x4};";
    let start = format!("{}{commit}{}{commit}{}{commit}{}", copy(0), copy(8), copy(16), copy(24));
    for (wait, finished) in [
        ("cp.async.wait_group 5;", 0),
        ("cp.async.wait_group 3;", 0),
        ("cp.async.wait_group 2;", 1),
        ("cp.async.wait_group 1;", 2),
        ("cp.async.wait_group 0;", 3),
        ("cp.async.wait_group -1;", 0),
        ("cp.async.wait_all;", 4),
        // Empty groups count as well.
        ("cp.async.commit_group; cp.async.commit_group; cp.async.wait_group 1;", 4),
        ("cp.async.commit_group; cp.async.wait_group 1;", 3),
    ] {
        let text = kernel(&format!("{start} {wait} {see}"));
        is_ptx(&text);
        for (got, from) in run(&text, 33, 0).chunks(8).zip(source(33).chunks(8)) {
            let want: Vec<u64> = (0..4).map(|k| if k < finished { from[k] } else { OLD }).collect();
            assert_eq!(got[..4], want, "{wait}");
        }
    }
}

/// Each block has its own copies: a copy that one has not waited for does not reach the next, which has its shared
/// memory.
#[test]
fn what_nobody_waits_for_goes_with_its_block() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .pred %p; .reg .b32 %b, %v; .reg .b64 %g, %to, %x;
        .shared .align 4 .b32 s; mov.u32 %b, %ctaid.x; and.b32 %v, %b, 1; setp.eq.u32 %p, %v, 0;
        ld.param.u64 %g, [in]; ld.param.u64 %to, [out]; mul.wide.u32 %x, %b, 8; add.u64 %to, %to, %x; st.shared.u32 [s], 7;
        @%p cp.async.ca.shared.global [s], [%g], 4; @!%p cp.async.wait_all; ld.shared.u32 %v, [s]; st.global.u32 [%to], %v; ret; }}"
    );
    is_ptx(&text);
    let module = load(&text).unwrap();
    let (from, to) = (Memory::new(&[5]), Memory::new(&[0; 64]));
    assert_eq!(launch(module, 64, 1, &[from.address(), to.address()]), CUresult::CUDA_SUCCESS);
    unload(module);
    assert_eq!(to.read(64), [7; 64]);
}

/// A function that copies, and threads that synchronise: after both, each thread's copies are visible to all.
#[test]
fn other_threads_see_copies_behind_the_wait_and_a_barrier() {
    let text = format!(
        "{HEADER}.func load(.param .b64 to, .param .b64 from) {{ .reg .b64 %a, %b; ld.param.b64 %a, [to]; ld.param.b64 %b, [from];
        cp.async.cg.shared.global [%a], [%b], 16; cp.async.commit_group; ret; }}
        .visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .b32 %r<4>; .reg .b64 %g, %to, %x<9>;
        .shared .align 16 .b8 s[1024]; mov.u32 %r0, %tid.x; mul.wide.u32 %x0, %r0, 16; mov.u64 %x1, s; add.u64 %x1, %x1, %x0;
        ld.param.u64 %g, [in]; add.u64 %g, %g, %x0; ld.param.u64 %to, [out]; add.u64 %to, %to, %x0;
        {{ .param .b64 a; .param .b64 b; st.param.b64 [a], %x1; st.param.b64 [b], %g; call.uni load, (a, b); }}
        cp.async.wait_group 0; bar.sync 0; xor.b32 %r1, %r0, 63; mul.wide.u32 %x0, %r1, 16; mov.u64 %x1, s; add.u64 %x1, %x1, %x0;
        ld.shared.v2.b64 {{%x2, %x3}}, [%x1]; st.global.v2.b64 [%to], {{%x2, %x3}}; ret; }}"
    );
    is_ptx(&text);
    let module = load(&text).unwrap();
    let words = source(16);
    let (from, to) = (Memory::new(&words), Memory::new(&[0; 128]));
    assert_eq!(launch(module, 3, 64, &[from.address(), to.address()]), CUresult::CUDA_SUCCESS);
    unload(module);
    let want: Vec<u64> = (0..64).rev().flat_map(|t| [words[2 * t], words[2 * t + 1]]).collect();
    assert_eq!(to.read(128), want);
}

#[test]
fn copies_that_are_none_are_refused() {
    let with = |target: &str, body: &str| {
        let text = format!(
            ".version 8.8\n.target {target}\n.address_size 64\n.visible .entry k() {{ .reg .b64 %a, %b; .reg .b32 %r; .reg .pred %p; {body} ret; }}"
        );
        (load(&text).unwrap_err(), text)
    };
    for (target, body, what) in [
        (
            "sm_75",
            "cp.async.ca.shared.global [%a], [%b], 16;",
            "'cp.async.ca.shared.global' needs .target sm_80 or a newer one, and this module is for sm_75",
        ),
        ("sm_75", "cp.async.wait_all;", "'cp.async.wait_all' needs .target sm_80 or a newer one"),
        (
            "sm_90",
            "cp.async.ca.shared.global [%a], [%b], 5;",
            "'cp.async.ca.shared.global' copies 4, 8 or 16 bytes, not 5",
        ),
        (
            "sm_90",
            "cp.async.cg.shared.global [%a], [%b], 8;",
            "'cp.async.cg.shared.global' copies 16 bytes, not 8: '.ca' copies fewer",
        ),
        (
            "sm_90",
            "cp.async.ca.global.shared [%a], [%b], 8;",
            "'cp.async.ca.global.shared' is not supported: it copies the other way",
        ),
        (
            "sm_90",
            "cp.async.ca.shared.global.L2::cache_hint [%a], [%b], 8;",
            "'cp.async.ca.shared.global.L2::cache_hint'",
        ),
        ("sm_90", "cp.async.cs.shared.global [%a], [%b], 8;", "the modifier .cs is not allowed here"),
        ("sm_90", "cp.async.ca.shared.shared [%a], [%b], 8;", "the modifier .shared is not allowed here"),
    ] {
        let (log, text) = with(target, body);
        assert!(log.contains(what), "{body}: {log}");
        assert!(crate::assembler::assemble(&text).is_none_or(|told| told.is_err()), "{body}");
    }
}
