//! Correct programs, of which none is accused.
//!
//! # Safety
//!
//! Memory of a launch is read after it has ended.

use super::Program;

/// `%r5` is the address of the thread's own word in shared memory, `%r6` that of the first one.
const OWN: &str = "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6;\n";

/// Name, true if the code begins with [`OWN`], code, blocks, threads of a block.
const CORRECT: &[(&str, bool, &str, u32, u32)] = &[
    ("each its own word", false, "ld.global.u32 %r5, [%rd4];\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd4], %r5;", 8, 96),
    (
        "each its own byte",
        false,
        "mul.wide.u32 %rd5, %r1, 1; add.s64 %rd5, %rd1, %rd5;\nst.global.u8 [%rd5], %r2;\nld.global.u8 %r5, [%rd5];",
        4,
        33,
    ),
    (
        "all read one word",
        false,
        "ld.global.u32 %r5, [%rd1];\nadd.s64 %rd6, %rd4, 4;\nst.global.u32 [%rd6], %r5;",
        8,
        64,
    ),
    (
        "a reduction of a block",
        true,
        "st.shared.u32 [%r5], %r2;\nmov.u32 %r7, 64;\nL: bar.sync 0;\nsetp.ge.u32 %p1, %r2, %r7; shl.b32 %r8, %r7, 2; add.u32 %r8, %r5, %r8;\n@%p1 bra N;\nld.shared.u32 %r9, [%r8];\nld.shared.u32 %r10, [%r5];\nadd.u32 %r9, %r9, %r10;\nst.shared.u32 [%r5], %r9;\nN: shr.u32 %r7, %r7, 1;\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 bra L;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra D;\nld.shared.u32 %r9, [%r6];\nred.global.add.u32 [%rd1], %r9;\nD:",
        4,
        128,
    ),
    (
        "a reduction by shuffles",
        false,
        "mov.u32 %r7, %r2;\nmov.u32 %r8, 16;\nL: shfl.sync.bfly.b32 %r9, %r7, %r8, 31, 0xffffffff;\nadd.u32 %r7, %r7, %r9;\nshr.u32 %r8, %r8, 1;\nsetp.ne.u32 %p1, %r8, 0;\n@%p1 bra L;\nand.b32 %r9, %r2, 31; setp.ne.u32 %p1, %r9, 0;\n@%p1 bra D;\nred.global.add.u32 [%rd1], %r7;\nD:",
        4,
        64,
    ),
    (
        "a histogram",
        true,
        "st.shared.u32 [%r5], 0;\nbar.sync 0;\nand.b32 %r7, %r2, 7; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nred.shared.add.u32 [%r7], 1;\nbar.sync 0;\nsetp.ge.u32 %p1, %r2, 8;\n@%p1 bra D;\nld.shared.u32 %r8, [%r5];\nmul.wide.u32 %rd5, %r2, 4; add.s64 %rd5, %rd1, %rd5;\nred.global.add.u32 [%rd5], %r8;\nD:",
        4,
        128,
    ),
    (
        "message passing with fences",
        false,
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nmembar.gl;\nst.volatile.global.u32 [%rd1], 1;\nbra D;\nR: ld.volatile.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nmembar.gl;\nld.global.u32 %r6, [%rd1+64];\nD:",
        2,
        1,
    ),
    (
        "message passing with release and acquire",
        false,
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nst.release.gpu.global.u32 [%rd1], 1;\nbra D;\nR: ld.acquire.gpu.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nld.global.u32 %r6, [%rd1+64];\nD:",
        2,
        1,
    ),
    (
        "a relaxed store after a release store to the same flag",
        false,
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nst.release.gpu.global.u32 [%rd1], 1;\nst.relaxed.gpu.global.u32 [%rd1], 2;\nbra D;\nR: ld.acquire.gpu.global.u32 %r5, [%rd1];\nsetp.ne.u32 %p2, %r5, 2;\n@%p2 bra R;\nld.global.u32 %r6, [%rd1+64];\nD:",
        2,
        1,
    ),
    (
        "a relaxed store after an atomic release of the same flag",
        false,
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\natom.release.gpu.global.add.u32 %r7, [%rd1], 1;\nst.relaxed.gpu.global.u32 [%rd1], 2;\nbra D;\nR: ld.acquire.gpu.global.u32 %r5, [%rd1];\nsetp.ne.u32 %p2, %r5, 2;\n@%p2 bra R;\nld.global.u32 %r6, [%rd1+64];\nD:",
        2,
        1,
    ),
    (
        "a flag that is written as an element of a vector",
        false,
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nmembar.gl;\nst.volatile.global.v2.u32 [%rd1], {1, 1};\nbra D;\nR: ld.volatile.global.u32 %r5, [%rd1+4];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nmembar.gl;\nld.global.u32 %r6, [%rd1+64];\nD:",
        2,
        1,
    ),
    (
        "a flag that is read as an element of a vector",
        false,
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nst.release.gpu.global.u32 [%rd1+12], 1;\nbra D;\nR: ld.acquire.gpu.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd1];\nsetp.eq.u32 %p2, %r8, 0;\n@%p2 bra R;\nld.global.u32 %r6, [%rd1+64];\nD:",
        2,
        1,
    ),
    (
        "message passing with fences of one direction",
        false,
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nfence.release.gpu;\nst.relaxed.gpu.global.u32 [%rd1], 1;\nbra D;\nR: ld.relaxed.gpu.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nfence.acquire.gpu;\nld.global.u32 %r6, [%rd1+64];\nD:",
        2,
        1,
    ),
    (
        "a relaxed read of a flag before an acquire of it",
        false,
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nst.release.gpu.global.u32 [%rd1], 1;\nbra D;\nR: ld.relaxed.gpu.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nst.relaxed.gpu.global.u32 [%rd1], 2;\nld.acquire.gpu.global.u32 %r5, [%rd1];\nld.global.u32 %r6, [%rd1+64];\nD:",
        2,
        1,
    ),
    (
        "relaxed reads of many flags before a fence",
        false,
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+4096], 5;\nmembar.gl;\nmov.u32 %r7, 0;\nmov.u64 %rd5, %rd1;\nW: st.relaxed.gpu.global.u32 [%rd5], 1;\nadd.s64 %rd5, %rd5, 4; add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 40;\n@%p2 bra W;\nbra D;\nR: mov.u32 %r7, 0;\nmov.u64 %rd5, %rd1;\nL: ld.relaxed.gpu.global.u32 %r5, [%rd5];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra L;\nadd.s64 %rd5, %rd5, 4; add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 40;\n@%p2 bra L;\nmembar.gl;\nld.global.u32 %r6, [%rd1+4096];\nD:",
        2,
        1,
    ),
    (
        "message passing from block to block",
        false,
        "setp.eq.u32 %p1, %r3, 0;\n@%p1 bra W;\nR: sub.u32 %r8, %r3, 1; mul.wide.u32 %rd5, %r8, 4; add.s64 %rd5, %rd1, %rd5;\nL: ld.acquire.gpu.global.u32 %r5, [%rd5];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra L;\nW: ld.global.u32 %r6, [%rd2];\nadd.u32 %r6, %r6, 1;\nst.global.u32 [%rd2], %r6;\nst.release.gpu.global.u32 [%rd4], 1;",
        6,
        1,
    ),
    (
        "message passing in a block, of its scope",
        false,
        "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra R;\nst.shared.u32 [window+64], 5;\nst.relaxed.cta.shared.u32 [window], 0;\nmembar.cta;\nst.relaxed.cta.global.u32 [%rd1], 1;\nbra D;\nR: ld.relaxed.cta.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nmembar.cta;\nld.shared.u32 %r6, [window+64];\nD:",
        1,
        33,
    ),
    (
        "a spin lock",
        false,
        "L: atom.global.cas.b32 %r5, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra L;\nmembar.gl;\nld.global.u32 %r6, [%rd1+64];\nadd.u32 %r6, %r6, 1;\nst.global.u32 [%rd1+64], %r6;\nmembar.gl;\natom.global.exch.b32 %r7, [%rd1], 0;",
        4,
        8,
    ),
    (
        "a spin lock with acquire and release",
        false,
        "L: atom.acquire.gpu.global.cas.b32 %r5, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra L;\nld.global.u32 %r6, [%rd1+64];\nadd.u32 %r6, %r6, 1;\nst.global.u32 [%rd1+64], %r6;\nst.release.gpu.global.u32 [%rd1], 0;",
        4,
        8,
    ),
    (
        "a spin lock in a block, with fences of its scope",
        false,
        "setp.ne.u32 %p3, %r2, 0;\n@!%p3 st.shared.u32 [window], 0;\n@!%p3 st.shared.u32 [window+4], 0;\nbar.sync 0;\nL: atom.shared.cas.b32 %r5, [window], 0, 1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra L;\nmembar.cta;\nld.shared.u32 %r6, [window+4];\nadd.u32 %r6, %r6, 1;\nst.shared.u32 [window+4], %r6;\nmembar.cta;\natom.shared.exch.b32 %r7, [window], 0;",
        2,
        40,
    ),
    (
        "the last block adds up",
        false,
        "st.global.u32 [%rd4+128], %r2;\nmembar.gl;\nbar.sync 0;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\natom.global.inc.u32 %r5, [%rd1], 1000;\nst.shared.u32 [window], %r5;\nW: bar.sync 0;\nld.shared.u32 %r5, [window];\nmov.u32 %r6, %nctaid.x; sub.u32 %r6, %r6, 1;\nsetp.ne.u32 %p1, %r5, %r6;\n@%p1 bra D;\nmul.wide.u32 %rd5, %r2, 4; add.s64 %rd5, %rd1, %rd5;\nld.global.u32 %r7, [%rd5+128];\nD:",
        5,
        32,
    ),
    (
        "a barrier of the grid",
        false,
        "st.global.u32 [%rd4+128], %r1;\nbar.sync 0;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\nmembar.gl;\nred.global.add.u32 [%rd1], 1;\nL: ld.volatile.global.u32 %r5, [%rd1];\nmov.u32 %r6, %nctaid.x;\nsetp.lt.u32 %p2, %r5, %r6;\n@%p2 bra L;\nmembar.gl;\nW: bar.sync 0;\nmov.u32 %r6, %nctaid.x; mul.lo.u32 %r6, %r6, %r4; sub.u32 %r6, %r6, %r1; sub.u32 %r6, %r6, 1;\nmul.wide.u32 %rd5, %r6, 4; add.s64 %rd5, %rd1, %rd5;\nld.global.u32 %r7, [%rd5+128];\nmul.wide.u32 %rd5, %r1, 4; add.s64 %rd5, %rd1, %rd5; st.global.u32 [%rd5+8192], %r7;",
        6,
        32,
    ),
    (
        "a synchronised warp",
        true,
        "st.shared.u32 [%r5], %r2;\nbar.warp.sync 0xffffffff;\nxor.b32 %r7, %r2, 1; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];\nbar.warp.sync 0xffffffff;\nst.shared.u32 [%r5], %r8;",
        2,
        96,
    ),
    (
        "a barrier of a part of the block",
        false,
        "setp.ge.u32 %p1, %r2, 64;\n@%p1 bra D;\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 st.shared.u32 [window], 1;\nbar.sync 1, 64;\nld.shared.u32 %r5, [window];\nD:",
        1,
        96,
    ),
    (
        "a producer that does not wait",
        false,
        "setp.ge.u32 %p1, %r2, 32;\n@%p1 bra C;\nsetp.eq.u32 %p2, %r2, 3;\n@%p2 st.shared.u32 [window], 1;\nbar.arrive 1, 64;\nbra D;\nC: bar.sync 1, 64;\nld.shared.u32 %r5, [window];\nD:",
        1,
        64,
    ),
    (
        "two pairs of warps at one barrier in turn",
        true,
        "setp.ge.u32 %p1, %r2, 64;\n@%p1 bra W;\nst.shared.u32 [%r5], %r2;\nbar.sync 1, 64;\nxor.b32 %r7, %r2, 32; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];\nW: bar.sync 2, 128;\nsetp.lt.u32 %p1, %r2, 64;\n@%p1 bra D;\nst.shared.u32 [%r5], %r2;\nbar.sync 1, 64;\nxor.b32 %r7, %r2, 32; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];\nD:",
        1,
        128,
    ),
    (
        "a buffer that a producer fills for each round of a consumer",
        true,
        "mov.u32 %r9, 0;\nsetp.ge.u32 %p1, %r2, 32;\n@%p1 bra C;\nP: bar.sync 2, 64;\nst.shared.u32 [%r5], %r9;\nbar.arrive 1, 64;\nadd.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 4;\n@%p2 bra P;\nbra D;\nC: bar.arrive 2, 64;\nbar.sync 1, 64;\nld.shared.u32 %r8, [%r5+-128];\nadd.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 4;\n@%p2 bra C;\nD:",
        1,
        64,
    ),
    (
        "the number of all threads, given or not",
        true,
        "setp.ge.u32 %p1, %r2, 32;\n@%p1 bra C;\nst.shared.u32 [%r5], %r2;\nbar.sync 1;\nbra D;\nC: bar.sync 1, 64;\nld.shared.u32 %r8, [%r5+-128];\nD:",
        1,
        64,
    ),
    (
        "asynchronous copies",
        true,
        "cp.async.ca.shared.global [%r5], [%rd4], 4;\ncp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\nxor.b32 %r7, %r2, 1; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];\nbar.sync 0;\nst.shared.u32 [%r5], %r8;",
        2,
        64,
    ),
    (
        "copies and a barrier object",
        true,
        "setp.ne.u32 %p1, %r2, 0;\nadd.u32 %r9, %r6, 512;\n@%p1 bra W;\nmbarrier.init.shared.b64 [%r9], 64;\nW: bar.sync 0;\nst.shared.u32 [%r5], %r2;\nmbarrier.arrive.shared.b64 %rd7, [%r9];\nL: mbarrier.test_wait.shared.b64 %p2, [%r9], %rd7;\n@!%p2 bra L;\nxor.b32 %r7, %r2, 63; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];",
        2,
        64,
    ),
    (
        "a group of copies",
        true,
        "cp.async.ca.shared.global [%r5], [%rd4], 4;\ncp.async.commit_group;\ncp.async.ca.shared.global [%r5+256], [%rd4], 4;\ncp.async.commit_group;\ncp.async.wait_group 1;\nbar.sync 0;\nxor.b32 %r7, %r2, 1; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];\ncp.async.wait_all;",
        1,
        32,
    ),
    (
        "a pipeline of copies",
        false,
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 1; mul.wide.u32 %rd5, %r7, 4; add.s64 %rd5, %rd1, %rd5; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\ncp.async.ca.shared.global [%r5], [%rd4], 4;\ncp.async.commit_group;\nmov.u32 %r10, 0;\nL: add.u32 %r11, %r10, 1; and.b32 %r12, %r11, 1; mul.lo.u32 %r12, %r12, 256; add.u32 %r12, %r12, %r5; setp.ge.u32 %p1, %r11, 4;\n@%p1 bra N;\ncp.async.ca.shared.global [%r12], [%rd4], 4;\nN: cp.async.commit_group;\ncp.async.wait_group 1;\nbar.sync 0;\nand.b32 %r12, %r10, 1; mul.lo.u32 %r12, %r12, 256; add.u32 %r12, %r12, %r7;\nld.shared.u32 %r8, [%r12];\nbar.sync 0;\nmov.u32 %r10, %r11; setp.lt.u32 %p2, %r10, 4;\n@%p2 bra L;",
        2,
        64,
    ),
    (
        "a copy that its own thread has written before, and reads after the wait",
        false,
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 1; mul.wide.u32 %rd5, %r7, 4; add.s64 %rd5, %rd1, %rd5; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nst.shared.u32 [%r5], 7;\ncp.async.ca.shared.global [%r5], [%rd4], 4;\nld.global.u32 %r8, [%rd5];\nst.shared.u32 [%r5+256], %r8;\ncp.async.wait_all;\nld.shared.u32 %r8, [%r5];\nst.shared.u32 [%r5], %r8;",
        2,
        64,
    ),
    (
        "copies that nobody waits for or reads",
        false,
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 1; mul.wide.u32 %rd5, %r7, 4; add.s64 %rd5, %rd1, %rd5; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nst.shared.u32 [%r5], 7;\nbar.sync 0;\nld.shared.u32 %r8, [%r7];\nbar.sync 0;\ncp.async.ca.shared.global [%r5], [%rd4], 4;",
        4,
        64,
    ),
    (
        "a copy that arrives at a barrier object",
        false,
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 1; mul.wide.u32 %rd5, %r7, 4; add.s64 %rd5, %rd1, %rd5; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nmov.u32 %r9, window; add.u32 %r9, %r9, 512; setp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\nmbarrier.init.shared.b64 [%r9], 64;\nW: bar.sync 0;\ncp.async.ca.shared.global [%r5], [%rd4], 4;\ncp.async.mbarrier.arrive.noinc.shared.b64 [%r9];\nL: mbarrier.test_wait.parity.shared.b64 %p2, [%r9], 0;\n@!%p2 bra L;\nld.shared.u32 %r8, [%r7];",
        2,
        64,
    ),
    (
        "a phase of a barrier object",
        true,
        "setp.ne.u32 %p1, %r2, 0;\nadd.u32 %r9, %r6, 512;\n@%p1 bra W;\nmbarrier.init.shared.b64 [%r9], 64;\nW: bar.sync 0;\nst.shared.u32 [%r5], %r2;\nmbarrier.arrive.shared.b64 %rd7, [%r9];\nL: mbarrier.test_wait.parity.shared.b64 %p2, [%r9], 0;\n@!%p2 bra L;\nxor.b32 %r7, %r2, 63; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];",
        2,
        64,
    ),
    (
        "a write for a phase of a barrier object that is waited for",
        false,
        "mov.u32 %r9, window; add.u32 %r9, %r9, 512; setp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\nmbarrier.init.shared.b64 [%r9], 2; st.shared.u32 [window], 0; st.shared.u32 [window+4], 0;\nW: bar.sync 0;\nsetp.eq.u32 %p2, %r2, 32;\n@%p2 bra B;\n@%p1 bra D;\nmbarrier.arrive.shared.b64 %rd7, [%r9];\nL: ld.volatile.shared.u32 %r5, [window+4];\nsetp.eq.u32 %p3, %r5, 0;\n@%p3 bra L;\nM: mbarrier.test_wait.shared.b64 %p3, [%r9], %rd7;\n@!%p3 bra M;\nmbarrier.arrive.shared.b64 %rd7, [%r9];\nO: mbarrier.test_wait.shared.b64 %p3, [%r9], %rd7;\n@!%p3 bra O;\nld.shared.u32 %r6, [window];\nbra D;\nB: mbarrier.arrive.shared.b64 %rd7, [%r9];\nN: mbarrier.test_wait.shared.b64 %p3, [%r9], %rd7;\n@!%p3 bra N;\nst.shared.u32 [window], 1;\nmbarrier.arrive.shared.b64 %rd7, [%r9];\nst.volatile.shared.u32 [window+4], 1;\nD:",
        1,
        64,
    ),
    (
        "rounds with two phases of a barrier object for each",
        false,
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 63; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6; mov.u32 %r10, 0;\nmov.u32 %r9, window; add.u32 %r9, %r9, 512; setp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\nmbarrier.init.shared.b64 [%r9], 64; \nW: bar.sync 0;\nR: st.shared.u32 [%r5], %r10;\nmbarrier.arrive.shared.b64 %rd7, [%r9];\nL: mbarrier.test_wait.shared.b64 %p3, [%r9], %rd7;\n@!%p3 bra L;\nld.shared.u32 %r8, [%r7];\nmbarrier.arrive.shared.b64 %rd7, [%r9];\nO: mbarrier.test_wait.shared.b64 %p3, [%r9], %rd7;\n@!%p3 bra O;\nadd.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 4;\n@%p2 bra R;",
        1,
        64,
    ),
    (
        "a relaxed arrival at a barrier object and a relaxed wait, with fences",
        false,
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 63; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6; mov.u32 %r10, 0;\nmov.u32 %r9, window; add.u32 %r9, %r9, 512; setp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\nmbarrier.init.shared.b64 [%r9], 64; \nW: bar.sync 0;\nst.shared.u32 [%r5], %r2;\nfence.acq_rel.cta;\nmbarrier.arrive.relaxed.cta.shared::cta.b64 %rd7, [%r9];\nL: mbarrier.test_wait.relaxed.cta.shared::cta.b64 %p3, [%r9], %rd7;\n@!%p3 bra L;\nfence.acq_rel.cta;\nld.shared.u32 %r8, [%r7];",
        1,
        64,
    ),
    (
        "barriers of a cluster",
        false,
        "st.global.u32 [%rd4], %r1;\nbarrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; xor.b32 %r5, %r1, 32; mul.wide.u32 %rd5, %r5, 4; add.s64 %rd5, %rd1, %rd5;\nld.global.u32 %r6, [%rd5];\nbarrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\nst.global.u32 [%rd4], %r6;",
        4,
        32,
    ),
    (
        "a relaxed arrival at the barrier of a cluster, with a fence",
        false,
        "st.global.u32 [%rd4], %r1;\nfence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned; xor.b32 %r5, %r1, 32; mul.wide.u32 %rd5, %r5, 4; add.s64 %rd5, %rd1, %rd5;\nld.global.u32 %r6, [%rd5];",
        4,
        32,
    ),
    (
        "tickets",
        false,
        "atom.global.add.u32 %r5, [%rd1], 1;\nmul.wide.u32 %rd5, %r5, 4; add.s64 %rd5, %rd1, %rd5;\nst.global.u32 [%rd5+4], %r1;",
        8,
        32,
    ),
    (
        "a thread ends before a barrier of the others",
        true,
        "setp.eq.u32 %p1, %r2, 7;\n@%p1 exit;\nst.shared.u32 [%r5], %r2;\nbar.sync 0;\nld.shared.u32 %r7, [window];",
        2,
        64,
    ),
    (
        "a warp ends before a barrier of the others",
        true,
        "setp.ge.u32 %p1, %r2, 32;\n@%p1 bra D;\nst.shared.u32 [%r5], %r2;\nbar.sync 0;\nld.shared.u32 %r7, [window];\nD:",
        2,
        64,
    ),
    (
        "lanes of the mask have ended",
        true,
        "setp.ge.u32 %p1, %r2, 20;\n@%p1 exit;\nst.shared.u32 [%r5], %r2;\nbar.warp.sync 0xffffffff;\nsub.u32 %r7, 19, %r2; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];\nsetp.eq.u32 %p2, %r2, 3;\nvote.sync.any.pred %p3, %p2, 0xffffffff;\nshfl.sync.bfly.b32 %r9, %r2, 1, 31, 0xffffffff;\nmatch.any.sync.b32 %r10, %r2, 0xffffffff;\nredux.sync.add.s32 %r11, %r2, 0x00ffffff;",
        2,
        32,
    ),
    (
        "a lane of the mask ends while the others wait for it",
        false,
        "setp.eq.u32 %p1, %r2, 7;\n@%p1 bra A;\nbar.warp.sync 0xffffffff;\nshfl.sync.idx.b32 %r5, %r2, 0, 31, 0xff;\nA:",
        2,
        8,
    ),
    (
        "a structure is copied with what has no value",
        false,
        "st.local.u32 [stack], %r2;\nld.local.u64 %rd5, [stack];\nst.local.u64 [stack+16], %rd5;\nld.local.u32 %r5, [stack+16];\nst.global.u32 [%rd4], %r5;",
        2,
        64,
    ),
    (
        "a structure with padding is copied to global memory",
        false,
        "st.local.u8 [stack], %r2;\nst.local.u32 [stack+8], %r2;\nld.local.u32 %r5, [stack];\nld.local.u32 %r6, [stack+4];\nld.local.u32 %r7, [stack+8];\nshl.b64 %rd5, %rd3, 2;\nadd.s64 %rd5, %rd1, %rd5;\nst.u32 [%rd5], %r5;\nst.u32 [%rd5+4], %r6;\nst.u32 [%rd5+8], %r7;\nld.u8 %r8, [%rd5];\nld.u32 %r9, [%rd5+8];\nadd.u32 %r8, %r8, %r9;",
        2,
        64,
    ),
    (
        "members by addresses of their own, of which one has no value",
        false,
        "st.local.u32 [stack], %r2;\nld.local.u32 %r5, [stack];\nshl.b64 %rd5, %rd3, 1;\nadd.s64 %rd5, %rd1, %rd5;\nst.u32 [%rd5], %r5;\nadd.s64 %rd6, %rd5, 4;\nld.local.u32 %r6, [stack+4];\nst.u32 [%rd6], %r6;",
        2,
        64,
    ),
    (
        "a value of which only a part is padding",
        false,
        "st.local.u8 [stack], %r2;\nld.local.u32 %r5, [stack];\nst.u32 [%rd4], %r5;\nld.u8 %r6, [%rd4];\nadd.u32 %r6, %r6, 1;",
        2,
        64,
    ),
    (
        "a structure without members",
        false,
        "ld.local.u8 %h1, [stack];\nadd.s64 %rd5, %rd1, 1;\nst.u8 [%rd5], %h1;",
        1,
        1,
    ),
    (
        "a loop that copies words, of which some have no value",
        false,
        "mov.u64 %rd5, stack;\ncvta.local.u64 %rd5, %rd5;\nst.local.u32 [stack], %r2;\nshl.b64 %rd6, %rd3, 2;\nadd.s64 %rd6, %rd1, %rd6;\nmov.u32 %r6, 0;\nL: ld.u32 %r5, [%rd5];\nst.u32 [%rd6], %r5;\nadd.s64 %rd5, %rd5, 4;\nadd.s64 %rd6, %rd6, 4;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 4;\n@%p1 bra L;",
        2,
        64,
    ),
    (
        "a value that may be missing is copied within local memory",
        false,
        "mov.u64 %rd5, stack;\ncvta.local.u64 %rd5, %rd5;\nand.b32 %r6, %r2, 1;\nmul.wide.u32 %rd6, %r6, 4;\nadd.s64 %rd6, %rd5, %rd6;\nld.local.u32 %r5, [stack+16];\nst.u32 [%rd6], %r5;",
        2,
        64,
    ),
    (
        "a bit field begins with a value",
        false,
        "ld.local.u32 %r5, [stack+8];\nand.b32 %r5, %r5, -256;\nor.b32 %r5, %r5, 7;\nst.local.u32 [stack+8], %r5;\nld.local.u8 %r6, [stack+8];\nst.global.u32 [%rd4], %r6;",
        2,
        64,
    ),
    ("volatile by all", false, "ld.volatile.global.u32 %r5, [%rd1];\nst.volatile.global.u32 [%rd1], %r2;", 3, 32),
];

#[test]
fn correct_programs_are_not_accused() {
    for (name, own, code, grid, block) in CORRECT {
        let code = format!("{}{code}", if *own { OWN } else { "" });
        Program { name, code: &code, grid: *grid, block: *block }.is_correct();
    }
}

/// Each block notes its number at the next place of a list.
#[test]
fn a_seed_draws_the_order_of_blocks() {
    const BLOCKS: u32 = 64;
    let code = "atom.global.add.u32 %r5, [%rd1], 1;\nmul.wide.u32 %rd5, %r5, 4; add.s64 %rd5, %rd1, %rd5;\nst.global.u32 [%rd5+4], %r3;";
    let mut orders = Vec::new();
    Program { name: "order", code, grid: BLOCKS, block: 1 }.run(
        || [super::Memory::zeros(4096), super::Memory::zeros(64)],
        |engine, result, reports, own| {
            assert_eq!((result, reports.len()), (Ok(()), 0), "{engine}");
            // SAFETY: the launch has ended, and the memory has this many words behind the counter.
            let list = unsafe { std::slice::from_raw_parts((own[0].0 + 4) as *const u32, BLOCKS as usize) };
            let mut sorted = list.to_vec();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..BLOCKS), "{engine}: {list:?}");
            assert_eq!(list == sorted, !engine.contains("seed"), "{engine}: {list:?}");
            orders.push(list.to_vec());
        },
    );
    assert_ne!(orders[2], orders[3]);
}
