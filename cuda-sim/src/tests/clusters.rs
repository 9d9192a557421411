//! Clusters, on regions and on fibers: positions of blocks, the cluster barrier, distributed shared memory.

use super::sync::{Engine, seeds};
use super::{Buffer, HEADER, launch_of};
use crate::exec::launch::{Fault, Launch};
use crate::memory::IllegalAccess;
use crate::module::image;
use std::sync::Arc;

/// The extents of a launch.
struct Extents {
    grid: [u32; 3],
    cluster: [u32; 3],
    threads: u32,
}

const PAIRS: Extents = Extents { grid: [4, 1, 1], cluster: [2, 1, 1], threads: 64 };

/// Returns the text of a kernel with a buffer: `%rd1` is the address of the thread's word, `%r1` the thread's index in
/// the grid, `%r2` that in the block, `%r3` the block's rank. The final value of `%r10` is written to the buffer.
fn kernel(variables: &str, code: &str) -> String {
    format!(
        "{HEADER}{variables}.visible .entry k(.param .u64 p) {{
.reg .pred %p<8>; .reg .b32 %r<24>; .reg .b64 %rd<16>;
mov.u32 %r4, %nctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.x; mad.lo.u32 %r4, %r4, %r5, %r6;
mov.u32 %r5, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r4, %r5, %r2; mov.u32 %r3, %cluster_ctarank;
ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 8; add.u64 %rd1, %rd1, %rd2;
{code}
cvt.u64.u32 %rd3, %r10; st.global.u64 [%rd1], %rd3; ret; }}"
    )
}

/// Runs a [`kernel`] with regions, fibers and random schedules. Returns the buffers, or the texts of faults.
fn runs(variables: &str, code: &str, extents: &Extents) -> Vec<Result<Vec<u64>, (Fault, String)>> {
    let text = kernel(variables, code);
    let image = image(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let kernel = &image.kernels["k"];
    let block = [extents.threads, 1, 1];
    let fibers = kernel.fibers(&[], true).unwrap_or_else(|why| panic!("{why}"));
    let regions = kernel.compiled(&[], block, true).unwrap_or_else(|why| panic!("{why}"));
    let plain = [("regions", None, Arc::clone(regions)), ("fibers", None, Arc::clone(fibers))];
    let random = seeds().take(20).map(|seed| ("fibers", Some(seed), Arc::new(fibers.seeded(Some(seed)))));
    let threads = extents.grid.iter().product::<u32>() * extents.threads;
    let one = |(name, seed, code)| {
        let _engine = Engine { name, seed };
        let out = Buffer::new(&vec![0; threads as usize]);
        let (_module, launch) = launch_of(&image, &code, extents.grid, block, &[out.0]);
        let launch = Arc::new(Launch { cluster: Some(extents.cluster), ..launch });
        match Arc::clone(&launch).run() {
            Ok(()) => Ok(out.read(threads as usize)),
            Err(fault) => Err((fault, kernel.explain(&launch, &fault))),
        }
    };
    plain.into_iter().chain(random).map(one).collect()
}

/// Checks the result of each thread of the grid.
#[track_caller]
fn check(variables: &str, code: &str, extents: &Extents, want: impl Fn(u32) -> u32) {
    for left in runs(variables, code, extents) {
        let left = left.unwrap_or_else(|(_, text)| panic!("{text}\nin\n{code}"));
        for (thread, got) in left.into_iter().enumerate() {
            assert_eq!(got, u64::from(want(thread as u32)), "thread {thread} of {code}");
        }
    }
}

/// Returns the text of the fault with regions. Every engine must report one.
#[track_caller]
fn fault(variables: &str, code: &str, extents: &Extents) -> (Fault, String) {
    let mut all: Vec<_> = runs(variables, code, extents).into_iter().map(|left| left.expect_err(code)).collect();
    all.swap_remove(0)
}

const BUFFER: &str = ".shared .align 4 .b8 s[256];";
/// Writes `%r10` to the thread's word of shared memory; `%r11` is its address.
const WRITE: &str = "mov.u32 %r11, s; shl.b32 %r12, %r2, 2; add.u32 %r11, %r11, %r12; st.shared.u32 [%r11], %r10;";
const SYNC: &str = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";

#[test]
fn blocks_know_where_they_are() {
    // A grid of 6 x 4 blocks in clusters of 3 x 2.
    let extents = Extents { grid: [6, 4, 1], cluster: [3, 2, 1], threads: 1 };
    type Want = fn(u32, u32) -> u32;
    let cases: [(&str, Want); 14] = [
        ("%cluster_ctaid.x", |x, _| x % 3),
        ("%cluster_ctaid.y", |_, y| y % 2),
        ("%cluster_ctaid.z", |_, _| 0),
        ("%cluster_nctaid.x", |_, _| 3),
        ("%cluster_nctaid.y", |_, _| 2),
        ("%cluster_nctaid.z", |_, _| 1),
        ("%clusterid.x", |x, _| x / 3),
        ("%clusterid.y", |_, y| y / 2),
        ("%clusterid.z", |_, _| 0),
        ("%nclusterid.x", |_, _| 2),
        ("%nclusterid.y", |_, _| 2),
        ("%nclusterid.z", |_, _| 1),
        ("%cluster_ctarank", |x, y| x % 3 + y % 2 * 3),
        ("%cluster_nctarank", |_, _| 6),
    ];
    for (register, want) in cases {
        check("", &format!("mov.u32 %r10, {register};"), &extents, |block| want(block % 6, block / 6));
    }
    check("", "mov.pred %p1, %is_explicit_cluster; selp.u32 %r10, 1, 0, %p1;", &extents, |_| 1);
}

#[test]
fn blocks_read_and_write_each_others_shared_memory() {
    // Thread t of block b writes b * 64 + t and reads what the next block of its cluster of four wrote.
    let four = Extents { grid: [8, 1, 1], cluster: [4, 1, 1], threads: 64 };
    let next = "add.u32 %r13, %r3, 1; and.b32 %r13, %r13, 3;";
    let want = |i: u32| (i & !255) | ((i + 64) & 255);
    for read in [
        "mapa.shared::cluster.u32 %r14, %r11, %r13; ld.shared::cluster.u32 %r10, [%r14];",
        "mapa.shared::cluster.u32 %r14, s, %r13; add.u32 %r14, %r14, %r12; ld.shared::cluster.u32 %r10, [%r14];",
        "cvt.u64.u32 %rd4, %r11; mapa.shared::cluster.u64 %rd4, %rd4, %r13; ld.shared::cluster.u32 %r10, [%rd4];",
        "cvt.u64.u32 %rd4, %r11; cvta.shared.u64 %rd4, %rd4; mapa.u64 %rd4, %rd4, %r13; ld.u32 %r10, [%rd4];",
        "mapa.shared::cluster.u32 %r14, %r11, %r13; cvt.u64.u32 %rd4, %r14; cvta.shared::cluster.u64 %rd4, %rd4;
         ld.u32 %r10, [%rd4];",
    ] {
        let code = format!("mov.u32 %r10, %r1; {WRITE} {SYNC} {next} {read} {SYNC}");
        check(BUFFER, &code, &four, want);
    }
    // Written by the preceding block.
    for write in [
        "st.shared::cluster.u32 [%r14], %r1;",
        "atom.shared::cluster.exch.b32 %r15, [%r14], %r1;",
        "red.shared::cluster.add.u32 [%r14], %r1;",
        "red.release.cluster.shared::cluster.max.u32 [%r14], %r1;",
    ] {
        let code = format!(
            "mov.u32 %r10, 0; {WRITE} {SYNC} {next} mapa.shared::cluster.u32 %r14, %r11, %r13; {write} {SYNC}
             ld.shared.u32 %r10, [%r11];"
        );
        check(BUFFER, &code, &four, |i| (i & !255) | (i.wrapping_sub(64) & 255));
    }
}

/// All threads of a cluster count in one block's memory, with a number of 32 bits and one that is floating-point.
#[test]
fn atomics_meet_in_one_block() {
    let sixteen = Extents { grid: [32, 1, 1], cluster: [16, 1, 1], threads: 64 };
    for (one, read) in [
        ("red.shared::cluster.add.u32 [%r14], 1;", "ld.shared::cluster.u32 %r10, [%r14];"),
        (
            "red.shared::cluster.add.f32 [%r14], 0f3F800000;",
            "ld.shared::cluster.u32 %r10, [%r14]; cvt.rzi.u32.f32 %r10, %r10;",
        ),
        (
            "cvt.u64.u32 %rd4, %r14; cvta.shared::cluster.u64 %rd4, %rd4; red.add.f32 [%rd4], 0f3F800000;",
            "ld.shared::cluster.u32 %r10, [%r14]; cvt.rzi.u32.f32 %r10, %r10;",
        ),
    ] {
        let code =
            format!("mov.u32 %r10, 0; {WRITE} {SYNC} mapa.shared::cluster.u32 %r14, s, 5; {one} {SYNC} {read} {SYNC}");
        check(BUFFER, &code, &sixteen, |_| 1024);
    }
}

/// Threads write to the next block and arrive at its barrier, by an address in shared memory or a generic one.
#[test]
fn threads_arrive_at_barriers_of_other_blocks() {
    let code = |arrive: &str| {
        format!(
            "mov.u32 %r10, 0; setp.ne.u32 %p1, %r2, 0; @%p1 bra READY; mbarrier.init.shared.b64 [bar], 64;
             fence.mbarrier_init.release.cluster; READY: {SYNC}
             add.u32 %r13, %r3, 1; and.b32 %r13, %r13, 1; mov.u32 %r11, s; shl.b32 %r12, %r2, 2; add.u32 %r11, %r11, %r12;
             mapa.shared::cluster.u32 %r11, %r11, %r13; st.shared::cluster.u32 [%r11], %r1; {arrive}
             WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0; @!%p2 bra WAIT;
             mov.u32 %r11, s; add.u32 %r11, %r11, %r12; ld.shared.u32 %r10, [%r11]; {SYNC}"
        )
    };
    let variables = format!("{BUFFER} .shared .align 8 .b64 bar;");
    for arrive in [
        "mov.u32 %r14, bar; mapa.shared::cluster.u32 %r14, %r14, %r13; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14];",
        "mov.u64 %rd5, bar; cvta.shared.u64 %rd5, %rd5; mapa.u64 %rd5, %rd5, %r13; mbarrier.arrive.release.cluster.b64 _, [%rd5];",
        "mov.u32 %r14, bar; mapa.shared::cluster.u32 %r14, %r14, %r13; @!%p1 mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r14], 4;
         mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14]; @!%p1 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r14], 4;",
    ] {
        check(&variables, &code(arrive), &PAIRS, |thread| thread ^ 64);
    }
    // The rank is beyond the cluster.
    let code = "mov.u32 %r14, bar; mapa.shared::cluster.u32 %r14, %r14, 5; mbarrier.arrive.shared::cluster.b64 _, [%r14]; mov.u32 %r10, 0;";
    let (_, text) = fault(&variables, code, &PAIRS);
    assert!(
        text.contains("atomic operation of 8 bytes at offset 256 of the shared memory of block 5 of its cluster"),
        "{text}"
    );
}

/// One block's copy goes to both windows, and each block waits for the bytes at its own barrier; or it goes to the
/// other one.
#[test]
fn bulk_copies_reach_other_blocks() {
    let code = |copy: &str| {
        format!(
            "mov.u32 %r10, 0; setp.ne.u32 %p1, %r2, 0; setp.ne.u32 %p3, %r3, 0; ld.param.u64 %rd8, [p];
             mov.u32 %r11, s; shl.b32 %r12, %r2, 2; add.u32 %r11, %r11, %r12; st.shared.u32 [%r11], %r2;
             @%p1 bra READY; mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
             mbarrier.expect_tx.shared.b64 [bar], 0; fence.mbarrier_init.release.cluster; READY: {SYNC} @%p1 bra WAIT; {copy}
             WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0; @!%p2 bra WAIT;
             mov.u32 %r11, t; and.b32 %r12, %r12, 127; add.u32 %r11, %r11, %r12; ld.shared.u32 %r10, [%r11]; {SYNC}"
        )
    };
    let variables = ".shared .align 128 .b8 s[256]; .shared .align 128 .b8 t[128]; .shared .align 8 .b64 bar;";
    // Each block copies the second half of its own numbers to the other one.
    let other = "xor.b32 %r13, %r3, 1; mov.u32 %r14, t; mapa.shared::cluster.u32 %r14, %r14, %r13; mov.u32 %r15, bar;
        mapa.shared::cluster.u32 %r15, %r15, %r13;
        cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r14], [s+128], 128, [%r15];";
    check(variables, &code(other), &PAIRS, |thread| 32 + thread % 32);
    // One block copies to both, from global memory that the grid's other blocks have not written: zeros.
    let both = "@%p3 bra WAIT; mov.b16 %h, 3;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [t], [%rd8], 128, [bar], %h;";
    let both = code(both).replacen("mov.u32 %r10, 0;", ".reg .b16 %h; mov.u32 %r10, 0;", 1);
    check(variables, &both, &PAIRS, |_| 0);
    // An invalid barrier.
    let none = both.replacen("[bar], %h", "[bar+4194304], %h", 1);
    let (_, text) = fault(variables, &none, &PAIRS);
    assert!(text.contains("atomic operation of 8 bytes at offset 41946"), "{text}");
    let far = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r14], [s+128], 128, [bar];";
    let far = format!("mov.u32 %r14, t; mapa.shared::cluster.u32 %r14, %r14, 5; {far}");
    let (_, text) = fault(variables, &code(&far), &PAIRS);
    let beyond = "store of 16 bytes at offset 256 of the shared memory of block 5 of its cluster";
    assert!(text.contains(beyond), "{text}");
    // An offset outside of all windows is invalid in the others too.
    let spread = both.replacen("[t]", "[%r14]", 1);
    assert_ne!(spread, both);
    let spread = format!("mov.u32 %r14, t; mapa.shared::cluster.u32 %r14, %r14, 5; {spread}");
    assert!(fault(variables, &spread, &PAIRS).1.contains(beyond));
}

#[test]
fn addresses_tell_of_which_block_they_are() {
    let code = "mov.u32 %r11, s; mapa.shared::cluster.u32 %r12, %r11, 3; getctarank.shared::cluster.u32 %r13, %r11;
        getctarank.shared::cluster.u32 %r14, %r12; cvt.u64.u32 %rd4, %r12; cvta.shared::cluster.u64 %rd4, %rd4;
        getctarank.u64 %r15, %rd4; isspacep.shared::cluster %p1, %rd4; isspacep.shared %p2, %rd4;
        isspacep.global %p3, %rd4; cvta.to.shared::cluster.u64 %rd5, %rd4; cvt.u32.u64 %r16, %rd5;
        setp.eq.u32 %p4, %r16, %r12; mad.lo.u32 %r10, %r13, 10, %r14; mad.lo.u32 %r10, %r10, 10, %r15;
        @%p1 add.u32 %r10, %r10, 1000; @%p2 add.u32 %r10, %r10, 2000; @%p3 add.u32 %r10, %r10, 4000;
        @%p4 add.u32 %r10, %r10, 8000;";
    let four = Extents { grid: [4, 1, 1], cluster: [4, 1, 1], threads: 1 };
    check(BUFFER, code, &four, |rank| 9000 + 100 * rank + 33 + if rank == 3 { 2000 } else { 0 });
    // Dynamic shared memory follows.
    let dynamic = ".extern .shared .align 4 .b8 d[]; .shared .align 4 .b8 s[256];";
    let code = format!(
        "mov.u32 %r10, %r1; mov.u32 %r11, d; shl.b32 %r12, %r2, 2; add.u32 %r11, %r11, %r12; st.shared.u32 [%r11], %r10;
         {SYNC} xor.b32 %r13, %r3, 1; mapa.shared::cluster.u32 %r14, %r11, %r13; ld.shared::cluster.u32 %r10, [%r14];
         st.shared.u32 [s], %r10; {SYNC}"
    );
    check(dynamic, &code, &PAIRS, |i| i ^ 64);
}

/// A thread that has arrived continues to the code that the others wait for before they arrive: arrival and wait are
/// separate.
#[test]
fn arriving_is_not_waiting() {
    let code = "setp.eq.u32 %p1, %r3, 0; mov.u32 %r10, 7; @%p1 bra FIRST;
        barrier.cluster.arrive; barrier.cluster.wait; bra END;
        FIRST: barrier.cluster.arrive.release;
        mapa.shared::cluster.u32 %r14, s, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra END1; st.shared::cluster.u32 [%r14], 1;
        END1: barrier.cluster.wait.acquire;
        END: barrier.cluster.arrive.relaxed; barrier.cluster.wait;
        setp.eq.u32 %p1, %r3, 1; @%p1 ld.shared.u32 %r10, [s];";
    check(BUFFER, code, &PAIRS, |i| if i / 64 % 2 == 0 { 7 } else { 1 });
    // A thread that has arrived and does not wait yet sets the flag that the other block polls before it arrives.
    let code = "mov.u32 %r10, 0; setp.eq.u32 %p1, %r3, 0; @%p1 bra FIRST;
        SPIN: ld.volatile.shared.u32 %r10, [s+4]; setp.eq.u32 %p2, %r10, 99; @!%p2 bra SPIN;
        barrier.cluster.arrive; barrier.cluster.wait; bra END;
        FIRST: barrier.cluster.arrive; mapa.shared::cluster.u32 %r14, s, 1; st.shared::cluster.u32 [%r14+4], 99;
        barrier.cluster.wait; END: mov.u32 %r12, %r12;";
    check(BUFFER, code, &PAIRS, |i| if i / 64 % 2 == 0 { 0 } else { 99 });
}

#[test]
fn threads_that_have_exited_are_not_waited_for() {
    // All of the last block, and half of each other one.
    let four = Extents { grid: [4, 1, 1], cluster: [4, 1, 1], threads: 64 };
    let code = format!(
        "mov.u32 %r10, 5; setp.eq.u32 %p1, %r3, 3; setp.gt.or.u32 %p1, %r2, 31, %p1; @%p1 ret; {SYNC} {SYNC}
         add.u32 %r10, %r10, %r3;"
    );
    check("", &code, &four, |i| if i / 64 == 3 || i % 64 > 31 { 0 } else { 5 + i / 64 });
}

#[test]
fn blocks_meet_many_times() {
    // The sum of all that neighbours wrote, in 50 rounds.
    let code = format!(
        "mov.u32 %r10, %r2; mov.u32 %r16, 0;
         LOOP: {WRITE} {SYNC} xor.b32 %r13, %r3, 1; mapa.shared::cluster.u32 %r14, %r11, %r13;
         ld.shared::cluster.u32 %r15, [%r14]; add.u32 %r10, %r15, 1; {SYNC}
         add.u32 %r16, %r16, 1; setp.lt.u32 %p1, %r16, 50; @%p1 bra LOOP;"
    );
    check(BUFFER, &code, &PAIRS, |i| i % 64 + 50);
}

#[test]
fn what_is_not_in_the_cluster_is_a_fault() {
    let at = |text: &str| text.split("offset").nth(1).unwrap_or(text).to_owned();
    let missing = format!(
        "mov.u32 %r10, 1; {WRITE} {SYNC} mapa.shared::cluster.u32 %r14, s, 2; ld.shared::cluster.u32 %r10, [%r14+8]; {SYNC}"
    );
    let (_, text) = fault(BUFFER, &missing, &PAIRS);
    let place = " 8 of the shared memory of block 2 of its cluster (the cluster has 2 blocks): block (0, 0, 0), thread (0, 0, 0)";
    assert_eq!(at(&text), place, "{text}");
    // Eight bits of the rank count.
    let far = missing.replace("s, 2;", "s, 70000;");
    assert!(at(&fault(BUFFER, &far, &PAIRS).1).contains("block 112 of its cluster (the cluster has 2 blocks)"));
    // The window has 256 bytes of its own and 1024 dynamic ones.
    let beyond = missing.replace("s, 2;", "s, 1;").replace("%r14+8", "%r14+1280");
    let text = fault(BUFFER, &beyond, &PAIRS).1;
    assert_eq!(
        at(&text),
        " 1280 of the shared memory of block 1 of its cluster (each has 1280 bytes): block (0, 0, 0), thread (0, 0, 0)",
        "{text}"
    );
    let (odd, text) = fault(BUFFER, &missing.replace("s, 2;", "s, 1;").replace("%r14+8", "%r14+2"), &PAIRS);
    assert!(matches!(odd, Fault::Memory { illegal: IllegalAccess::Misaligned, .. }), "{odd:?}");
    assert!(text.contains("not aligned to 4 bytes"), "{text}");
}

/// A block must not exit while others use its shared memory.
#[test]
fn memory_of_a_block_that_has_exited_is_a_fault() {
    let code = format!(
        "mov.u32 %r10, %r1; {WRITE} {SYNC} setp.eq.u32 %p1, %r3, 1; @%p1 ret; {SYNC}
         mapa.shared::cluster.u32 %r14, %r11, 1; ld.shared::cluster.u32 %r10, [%r14];"
    );
    let text = fault(BUFFER, &code, &PAIRS).1;
    assert!(text.contains("of the shared memory of block 1 of its cluster (that block has exited)"), "{text}");
    assert!(text.contains("block (0, 0, 0), thread (0, 0, 0)"), "{text}");
}

#[test]
fn clusters_that_wait_for_ever_are_a_fault() {
    for code in [
        // One block waits for its cluster, the other one for itself.
        "mov.u32 %r10, 0; setp.eq.u32 %p1, %r3, 0; @%p1 bra FIRST; setp.lt.u32 %p2, %r2, 3; @%p2 bar.sync 1; bar.sync 2;
         FIRST: barrier.cluster.arrive; barrier.cluster.wait;",
        // No thread has arrived.
        "mov.u32 %r10, 0; barrier.cluster.wait;",
        // One block waits once more than the other one arrives.
        "mov.u32 %r10, 0; barrier.cluster.arrive; barrier.cluster.wait; setp.eq.u32 %p1, %r2, 5; @%p1 barrier.cluster.wait;",
    ] {
        let (fault, text) = fault("", code, &PAIRS);
        assert!(matches!(fault, Fault::Deadlock { .. }), "{fault:?}: {text}");
    }
}

/// Threads poll shared memory that no thread of the cluster is left to write: their own, another block's, or a barrier.
#[test]
fn clusters_that_poll_for_ever_are_a_fault() {
    let variables = ".shared .align 4 .b8 s[256]; .shared .align 8 .b64 bar;";
    let start = format!(
        "mov.u32 %r10, 0; setp.ne.u32 %p1, %r2, 0; @%p1 bra READY; mbarrier.init.shared.b64 [bar], 65;
         st.shared.u32 [s], 0; READY: {SYNC} setp.eq.u32 %p3, %r3, 0; xor.b32 %r13, %r3, 1;
         mapa.shared::cluster.u32 %r14, s, %r13;"
    );
    let own = "WAIT: ld.volatile.shared.u32 %r10, [s]; setp.eq.u32 %p2, %r10, 0; @%p2 bra WAIT;";
    let other = "OTHER: ld.relaxed.cluster.shared::cluster.u32 %r10, [%r14]; setp.eq.u32 %p2, %r10, 0; @%p2 bra OTHER;";
    let arrive = "mov.u32 %r15, bar; mapa.shared::cluster.u32 %r15, %r15, %r13; \
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];";
    let test = "TEST: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0; @!%p2 bra TEST;";
    for code in [
        own.to_owned(),
        other.to_owned(),
        // One arrival of each thread of the other block is one too few.
        format!("{arrive} {test}"),
        // One block has exited, waits for the cluster, or polls something else.
        format!("@%p3 ret; {own}"),
        format!("@!%p3 bra WAIT; {SYNC} {own}"),
        format!("@!%p3 bra WAIT; {test} mov.u32 %r16, 1; {own}"),
    ] {
        let (fault, text) = fault(variables, &format!("{start} {code}"), &PAIRS);
        assert!(matches!(fault, Fault::Deadlock { .. }), "{fault:?}: {text}");
    }
    // What is awaited comes late: through a chain of waits, each for the other block.
    let set = |word: u32| format!("@!%p1 st.shared::cluster.u32 [%r14+{word}], 1;");
    let wait = |label: &str, word: u32| {
        format!("{label}: ld.volatile.shared.u32 %r10, [s+{word}]; setp.eq.u32 %p2, %r10, 0; @%p2 bra {label};")
    };
    let chain = format!(
        "@!%p1 st.shared.u32 [s+4], 0; @!%p1 st.shared.u32 [s+8], 0; {SYNC} @!%p3 bra SECOND;
         mov.u32 %r16, 0; SPIN: add.u32 %r16, %r16, 1; setp.lt.u32 %p4, %r16, 5000; @%p4 bra SPIN;
         {} {} {} bra END; SECOND: {} {} {} END: {SYNC}",
        set(0),
        wait("A", 4),
        set(8),
        wait("B", 0),
        set(4),
        wait("C", 8),
    );
    check(variables, &format!("{start} {chain}"), &PAIRS, |_| 1);
}

#[test]
fn a_launch_without_clusters_is_made_of_clusters_of_one() {
    let text = kernel(
        BUFFER,
        "mov.u32 %r10, %r1; mov.u32 %r11, s; mapa.shared::cluster.u32 %r12, %r11, 0; st.shared.u32 [%r11], 4;
         barrier.cluster.arrive; barrier.cluster.wait; ld.shared::cluster.u32 %r10, [%r12];
         getctarank.shared::cluster.u32 %r13, %r12; mad.lo.u32 %r10, %r13, 10, %r10; mov.u32 %r13, %cluster_nctarank;
         mad.lo.u32 %r10, %r13, 100, %r10; mov.u32 %r13, %clusterid.x; mad.lo.u32 %r10, %r13, 1000, %r10;
         mov.u32 %r13, %nclusterid.x; mad.lo.u32 %r10, %r13, 10000, %r10;
         mov.pred %p1, %is_explicit_cluster; @%p1 add.u32 %r10, %r10, 100000;",
    );
    let image = image(&text).unwrap_or_else(|error| panic!("{error}"));
    let out = Buffer::new(&[0; 3]);
    super::run(&image, "k", [3, 1, 1], [1, 1, 1], &[out.0]).unwrap();
    assert_eq!(out.read(3), [30104, 31104, 32104]);
}
