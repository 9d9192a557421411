//! Planted races.

use super::Program;

/// Name, code, kind, lines of both accesses, blocks, threads of a block.
type Race = (&'static str, &'static str, &'static str, [u32; 2], u32, u32);

const RACES: &[Race] = &[
    ("two writes", "st.global.u32 [%rd1], %r2;", "two writes", [0, 0], 1, 2),
    ("two writes of blocks", "st.global.u32 [%rd1], %r3;", "two writes", [0, 0], 2, 1),
    ("the same value", "st.global.u32 [%rd1], 7;", "two writes", [0, 0], 1, 64),
    (
        "bytes of one word in part",
        "mul.wide.u32 %rd5, %r2, 1; add.s64 %rd5, %rd1, %rd5;\nst.global.u8 [%rd5], 1;\nld.global.u32 %r5, [%rd1];",
        "race",
        [1, 2],
        1,
        4,
    ),
    (
        "a shared neighbour without a barrier",
        "mul.lo.u32 %r5, %r2, 4;\nmov.u32 %r6, window; add.u32 %r5, %r5, %r6;\nst.shared.u32 [%r5], 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra D;\nld.shared.u32 %r7, [%r5+-4];\nD:",
        "race",
        [2, 5],
        1,
        64,
    ),
    ("shared, the barrier too early", "bar.sync 0;\nst.shared.u32 [window], %r2;", "two writes", [1, 1], 1, 64),
    (
        "write after read",
        "setp.eq.u32 %p1, %r2, 0;\n@%p1 st.shared.u32 [window], 1;\nbar.sync 0;\nld.shared.u32 %r5, [window];\n@%p1 st.shared.u32 [window], 2;",
        "race",
        [3, 4],
        1,
        64,
    ),
    (
        "a reduction without its barrier",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; st.shared.u32 [%r5], %r2;\nbar.sync 0;\nmov.u32 %r7, 64;\nL: setp.ge.u32 %p1, %r2, %r7; shl.b32 %r8, %r7, 2; add.u32 %r8, %r5, %r8;\n@%p1 bra N;\nld.shared.u32 %r9, [%r8];\nld.shared.u32 %r10, [%r5];\nadd.u32 %r9, %r9, %r10;\nst.shared.u32 [%r5], %r9;\nN: shr.u32 %r7, %r7, 1;\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 bra L;",
        "race",
        [5, 8],
        1,
        128,
    ),
    (
        "an atomic and a weak write",
        "setp.eq.u32 %p1, %r2, 0;\n@%p1 st.global.u32 [%rd1], 5;\nred.global.add.u32 [%rd1], 1;",
        "race",
        [1, 2],
        1,
        64,
    ),
    ("an atomic and a weak read", "red.global.add.u32 [%rd1], 1;\nld.global.u32 %r5, [%rd1];", "race", [0, 1], 2, 32),
    (
        "a block's barrier does not order another block",
        "red.global.add.u32 [%rd1], 1;\nbar.sync 0;\nld.global.u32 %r5, [%rd1];",
        "race",
        [0, 2],
        2,
        32,
    ),
    ("an atomic of the block's scope", "red.relaxed.cta.global.add.u32 [%rd1], 1;", "two writes", [0, 0], 2, 1),
    (
        "volatile against weak",
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.volatile.global.u32 [%rd1], 1;\n@!%p1 ld.global.u32 %r5, [%rd1];",
        "race",
        [1, 2],
        2,
        1,
    ),
    // Message passing, by ways that are broken.
    (
        "no fence",
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nst.relaxed.gpu.global.u32 [%rd1], 1;\nbra D;\nR: ld.relaxed.gpu.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nld.global.u32 %r6, [%rd1+64];\nD:",
        "race",
        [2, 8],
        2,
        1,
    ),
    (
        "no fence of the writer",
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nst.relaxed.gpu.global.u32 [%rd1], 1;\nbra D;\nR: ld.acquire.gpu.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nld.global.u32 %r6, [%rd1+64];\nD:",
        "race",
        [2, 8],
        2,
        1,
    ),
    (
        "no fence of the reader",
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nfence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd1], 1;\nbra D;\nR: ld.relaxed.gpu.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nld.global.u32 %r6, [%rd1+64];\nD:",
        "race",
        [2, 8],
        2,
        1,
    ),
    (
        "a fence of the block's scope",
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nmembar.cta; st.relaxed.gpu.global.u32 [%rd1], 1;\nbra D;\nR: ld.relaxed.gpu.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nmembar.gl; ld.global.u32 %r6, [%rd1+64];\nD:",
        "race",
        [2, 8],
        2,
        1,
    ),
    (
        "the fence before the data",
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nmembar.gl; st.global.u32 [%rd1+64], 5;\nst.relaxed.gpu.global.u32 [%rd1], 1;\nbra D;\nR: ld.relaxed.gpu.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nmembar.gl; ld.global.u32 %r6, [%rd1+64];\nD:",
        "race",
        [2, 8],
        2,
        1,
    ),
    (
        "a relaxed store after a release store, and the data in between",
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.release.gpu.global.u32 [%rd1], 1;\nst.global.u32 [%rd1+64], 5;\nst.relaxed.gpu.global.u32 [%rd1], 2;\nbra D;\nR: ld.acquire.gpu.global.u32 %r5, [%rd1];\nsetp.ne.u32 %p2, %r5, 2;\n@%p2 bra R;\nld.global.u32 %r6, [%rd1+64];\nD:",
        "race",
        [3, 9],
        2,
        1,
    ),
    (
        "a relaxed store of another thread after a release store",
        "setp.eq.u32 %p1, %r3, 1;\n@%p1 bra O;\nsetp.eq.u32 %p1, %r3, 2;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nst.release.gpu.global.u32 [%rd1], 1;\nbra D;\nO: ld.relaxed.gpu.global.u32 %r5, [%rd1];\nsetp.ne.u32 %p2, %r5, 1;\n@%p2 bra O;\nst.relaxed.gpu.global.u32 [%rd1], 2;\nst.relaxed.gpu.global.u32 [%rd1+128], 1;\nbra D;\nR: ld.relaxed.gpu.global.u32 %r5, [%rd1+128];\nsetp.ne.u32 %p2, %r5, 1;\n@%p2 bra R;\nld.acquire.gpu.global.u32 %r5, [%rd1];\nld.global.u32 %r6, [%rd1+64];\nD:",
        "race",
        [4, 17],
        3,
        1,
    ),
    (
        "no fence before a flag that is an element of a vector",
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nst.volatile.global.v2.u32 [%rd1], {1, 1};\nbra D;\nR: ld.volatile.global.u32 %r5, [%rd1+4];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nmembar.gl; ld.global.u32 %r6, [%rd1+64];\nD:",
        "race",
        [2, 8],
        2,
        1,
    ),
    (
        "an acquire of another location than the flag",
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nst.release.gpu.global.u32 [%rd1], 1;\nbra D;\nR: ld.relaxed.gpu.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nld.acquire.gpu.global.u32 %r5, [%rd1+4];\nld.global.u32 %r6, [%rd1+64];\nD:",
        "race",
        [2, 9],
        2,
        1,
    ),
    (
        "a fence of the writer that only acquires",
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nfence.acquire.gpu; st.relaxed.gpu.global.u32 [%rd1], 1;\nbra D;\nR: ld.relaxed.gpu.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nfence.acquire.gpu; ld.global.u32 %r6, [%rd1+64];\nD:",
        "race",
        [2, 8],
        2,
        1,
    ),
    (
        "a fence of the reader that only releases",
        "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.u32 [%rd1+64], 5;\nfence.release.gpu; st.relaxed.gpu.global.u32 [%rd1], 1;\nbra D;\nR: ld.relaxed.gpu.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nfence.release.gpu; ld.global.u32 %r6, [%rd1+64];\nD:",
        "race",
        [2, 8],
        2,
        1,
    ),
    (
        "a lock without fences",
        "L: atom.global.cas.b32 %r5, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra L;\nld.global.u32 %r6, [%rd1+64];\nadd.u32 %r6, %r6, 1;\nst.global.u32 [%rd1+64], %r6;\natom.global.exch.b32 %r7, [%rd1], 0;",
        "race",
        [3, 5],
        4,
        1,
    ),
    (
        "a lock without the fence of its release",
        "L: atom.global.cas.b32 %r5, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra L;\nmembar.gl; ld.global.u32 %r6, [%rd1+64];\nadd.u32 %r6, %r6, 1;\nst.global.u32 [%rd1+64], %r6;\natom.global.exch.b32 %r7, [%rd1], 0;",
        "race",
        [3, 5],
        4,
        1,
    ),
    // Warps.
    (
        "a warp without its synchronisation",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6;\nst.shared.u32 [%r5], %r2;\nxor.b32 %r7, %r2, 1; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];",
        "race",
        [1, 3],
        1,
        32,
    ),
    (
        "a shuffle orders nothing",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6;\nst.shared.u32 [%r5], %r2;\nshfl.sync.idx.b32 %r9, %r2, 0, 31, 0xffffffff; xor.b32 %r7, %r2, 1; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];",
        "race",
        [1, 3],
        1,
        32,
    ),
    (
        "synchronised warps do not order each other",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6;\nst.shared.u32 [%r5], %r2;\nbar.warp.sync 0xffffffff; xor.b32 %r7, %r2, 32; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];",
        "race",
        [1, 3],
        1,
        64,
    ),
    (
        "half a warp is synchronised",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6;\nst.shared.u32 [%r5], %r2;\nsetp.lt.u32 %p1, %r2, 16; selp.b32 %r10, 0xffff, 0xffff0000, %p1; bar.warp.sync %r10; xor.b32 %r7, %r2, 16; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];",
        "race",
        [1, 3],
        1,
        32,
    ),
    (
        "a barrier of a part of the block",
        "setp.ge.u32 %p1, %r2, 64;\n@!%p1 st.shared.u32 [window], 1;\n@%p1 bra S;\nbar.sync 1, 64;\nbra D;\nS: ld.shared.u32 %r5, [window];\nD:",
        "race",
        [1, 5],
        1,
        96,
    ),
    (
        "an asynchronous copy that nobody waits for",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6;\ncp.async.ca.shared.global [%r5], [%rd4], 4;\nbar.sync 0;\nxor.b32 %r7, %r2, 1; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];\ncp.async.wait_all;",
        "race",
        [1, 4],
        1,
        32,
    ),
    (
        "a group of copies that nobody waits for",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6;\ncp.async.ca.shared.global [%r5], [%rd4], 4;\ncp.async.commit_group;\ncp.async.ca.shared.global [%r5+256], [%rd4], 4;\ncp.async.commit_group;\ncp.async.wait_group 1;\nbar.sync 0;\nxor.b32 %r7, %r2, 1; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7+256];\ncp.async.wait_all;",
        "race",
        [3, 8],
        1,
        32,
    ),
    (
        "a copy that nobody waits for, read behind a barrier",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 1; mul.wide.u32 %rd5, %r7, 4; add.s64 %rd5, %rd1, %rd5; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\ncp.async.ca.shared.global [%r5], [%rd4], 4;\nbar.sync 0;\nld.shared.u32 %r8, [%r7];\nbar.sync 0;",
        "race",
        [1, 3],
        1,
        32,
    ),
    (
        "a copy that its own thread reads before it waits",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 1; mul.wide.u32 %rd5, %r7, 4; add.s64 %rd5, %rd1, %rd5; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nst.shared.u32 [%r5], 7;\ncp.async.ca.shared.global [%r5], [%rd4], 4;\nld.shared.u32 %r8, [%r5];\ncp.async.wait_all;",
        "race",
        [2, 3],
        1,
        32,
    ),
    (
        "a copy to what its own thread writes before it waits",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 1; mul.wide.u32 %rd5, %r7, 4; add.s64 %rd5, %rd1, %rd5; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\ncp.async.ca.shared.global [%r5], [%rd4], 4;\nst.shared.u32 [%r5], 7;\ncp.async.wait_all;",
        "race",
        [1, 2],
        1,
        32,
    ),
    (
        "a copy of what another thread writes before the wait",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 1; mul.wide.u32 %rd5, %r7, 4; add.s64 %rd5, %rd1, %rd5; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\ncp.async.ca.shared.global [%r5], [%rd4], 4;\nbar.sync 0;\nst.global.u32 [%rd5], 7;\ncp.async.wait_all;",
        "race",
        [1, 3],
        1,
        32,
    ),
    (
        "a copy that is read before its barrier object is tested",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 1; mul.wide.u32 %rd5, %r7, 4; add.s64 %rd5, %rd1, %rd5; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nmov.u32 %r9, window; add.u32 %r9, %r9, 512; setp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\nmbarrier.init.shared.b64 [%r9], 32;\nW: bar.sync 0;\ncp.async.ca.shared.global [%r5], [%rd4], 4;\ncp.async.mbarrier.arrive.noinc.shared.b64 [%r9];\nld.shared.u32 %r8, [%r5];\nL: mbarrier.test_wait.parity.shared.b64 %p2, [%r9], 0;\n@!%p2 bra L;",
        "race",
        [5, 7],
        1,
        32,
    ),
    (
        "a pipeline of copies that waits for the last group too little",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 1; mul.wide.u32 %rd5, %r7, 4; add.s64 %rd5, %rd1, %rd5; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\ncp.async.ca.shared.global [%r5], [%rd4], 4;\ncp.async.commit_group;\nmov.u32 %r10, 0;\nL: add.u32 %r11, %r10, 1; and.b32 %r12, %r11, 1; mul.lo.u32 %r12, %r12, 256; add.u32 %r12, %r12, %r5; setp.ge.u32 %p1, %r11, 4;\n@%p1 bra N;\ncp.async.ca.shared.global [%r12], [%rd4], 4;\ncp.async.commit_group;\nN:\ncp.async.wait_group 1;\nbar.sync 0;\nand.b32 %r12, %r10, 1; mul.lo.u32 %r12, %r12, 256; add.u32 %r12, %r12, %r7;\nld.shared.u32 %r8, [%r12];\nbar.sync 0;\nmov.u32 %r10, %r11; setp.lt.u32 %p2, %r10, 4;\n@%p2 bra L;",
        "race",
        [6, 12],
        1,
        32,
    ),
    (
        "a wait for the phase before",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6;\nsetp.ne.u32 %p1, %r2, 0;\nadd.u32 %r9, %r6, 512;\n@%p1 bra W;\nmbarrier.init.shared.b64 [%r9], 64;\nW: bar.sync 0;\nst.shared.u32 [%r5], %r2;\nL: mbarrier.test_wait.parity.shared.b64 %p2, [%r9], 1;\n@!%p2 bra L;\nmbarrier.arrive.shared.b64 %rd7, [%r9];\nxor.b32 %r7, %r2, 63; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];",
        "race",
        [6, 11],
        1,
        64,
    ),
    (
        "a write for the phase of a barrier object after the one that was waited for",
        "mov.u32 %r9, window; add.u32 %r9, %r9, 512; setp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\nmbarrier.init.shared.b64 [%r9], 2; st.shared.u32 [window], 0; st.shared.u32 [window+4], 0;\nW: bar.sync 0;\nsetp.eq.u32 %p2, %r2, 32;\n@%p2 bra B;\n@%p1 bra D;\nmbarrier.arrive.shared.b64 %rd7, [%r9];\nL: ld.volatile.shared.u32 %r5, [window+4];\nsetp.eq.u32 %p3, %r5, 0;\n@%p3 bra L;\nM: mbarrier.test_wait.shared.b64 %p3, [%r9], %rd7;\n@!%p3 bra M;\nld.shared.u32 %r6, [window];\nbra D;\nB: mbarrier.arrive.shared.b64 %rd7, [%r9];\nN: mbarrier.test_wait.shared.b64 %p3, [%r9], %rd7;\n@!%p3 bra N;\nst.shared.u32 [window], 1;\nmbarrier.arrive.shared.b64 %rd7, [%r9];\nst.volatile.shared.u32 [window+4], 1;\nD:",
        "race",
        [13, 18],
        1,
        64,
    ),
    (
        "rounds with one phase of a barrier object for each",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 63; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6; mov.u32 %r10, 0;\nmov.u32 %r9, window; add.u32 %r9, %r9, 512; setp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\nmbarrier.init.shared.b64 [%r9], 64; \nW: bar.sync 0;\nR: st.shared.u32 [%r5], %r10;\nmbarrier.arrive.shared.b64 %rd7, [%r9];\nL: mbarrier.test_wait.shared.b64 %p3, [%r9], %rd7;\n@!%p3 bra L;\nld.shared.u32 %r8, [%r7];\nadd.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 4;\n@%p2 bra R;",
        "race",
        [5, 9],
        1,
        64,
    ),
    (
        "a relaxed arrival at a barrier object and a relaxed wait",
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r7, %r2, 63; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6; mov.u32 %r10, 0;\nmov.u32 %r9, window; add.u32 %r9, %r9, 512; setp.ne.u32 %p1, %r2, 0;\n@%p1 bra W;\nmbarrier.init.shared.b64 [%r9], 64; \nW: bar.sync 0;\nst.shared.u32 [%r5], %r2;\nmbarrier.arrive.relaxed.cta.shared::cta.b64 %rd7, [%r9];\nL: mbarrier.test_wait.relaxed.cta.shared::cta.b64 %p3, [%r9], %rd7;\n@!%p3 bra L;\nld.shared.u32 %r8, [%r7];",
        "race",
        [5, 9],
        1,
        64,
    ),
    (
        "a relaxed arrival at the barrier of a cluster",
        "st.global.u32 [%rd4], %r1;\nbarrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned; xor.b32 %r5, %r1, 32; mul.wide.u32 %rd5, %r5, 4; add.s64 %rd5, %rd1, %rd5;\nld.global.u32 %r6, [%rd5];",
        "race",
        [0, 2],
        2,
        32,
    ),
];

#[test]
fn planted_races_are_found() {
    for (name, code, kind, lines, grid, block) in RACES {
        // Of several races of a program, one is at these lines.
        let program = Program { name, code, grid: *grid, block: *block };
        program.run(
            || [super::Memory::zeros(64 << 10), super::Memory::zeros(4096)],
            |engine, result, reports, _| {
                let texts: Vec<String> = reports.iter().map(crate::check::Report::text).collect();
                let texts = texts.join("\n");
                let at = |report: &crate::check::Report| {
                    let mut at: Vec<u32> = report.accesses.iter().map(|access| access.line - super::FIRST).collect();
                    at.sort_unstable();
                    report.check == "race" && report.kind.contains(kind) && at == lines
                };
                assert!(reports.iter().any(at), "{name} ({engine}): no race at {lines:?}: {texts}");
                assert!(
                    reports.iter().all(|report| report.check == "race" || report.kind.contains("uninitialised")),
                    "{name} ({engine}): {texts}"
                );
                assert_eq!(result, Ok(()), "{name} ({engine})");
            },
        );
    }
}

/// A loop around a loop with a barrier in it, which is left at once in the first iteration of the outer one, with a barrier at its
/// end or without.
fn nested(ends_with: &str) -> String {
    format!(
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6; xor.b32 %r6, %r5, 4; mov.u32 %r7, 0;\nO: mov.u32 %r8, 0;\nI: setp.ge.u32 %p1, %r8, %r7;\n@%p1 bra X;\nst.shared.u32 [%r5], %r8;\nbar.sync 0;\nld.shared.u32 %r9, [%r6];\n{ends_with}\nadd.u32 %r8, %r8, 1; bra I;\nX: add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 4;\n@%p2 bra O;"
    )
}

#[test]
fn loops_around_barriers_are_checked() {
    let (right, wrong) = (nested("bar.sync 0;"), nested(""));
    Program { name: "nested loops", code: &right, grid: 4, block: 64 }.is_correct();
    Program { name: "nested loops", code: &wrong, grid: 4, block: 64 }.has("race", "race", &[4, 6]);
}

/// Loads of shared memory by threads whose words are no neighbours, and stores after them, behind a barrier or not.
fn scattered(between: &str) -> String {
    format!(
        "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; mul.lo.u32 %r7, %r2, 20; and.b32 %r7, %r7, 252; add.u32 %r7, %r7, %r6;\nadd.u32 %r5, %r5, %r6; st.shared.u32 [%r5], %r2;\nbar.sync 0;\nld.shared.u32 %r8, [%r7];\nld.shared.u32 %r9, [%r7];\n{between}\nsetp.eq.u32 %p1, %r2, 9;\n@%p1 st.shared.u32 [%r5], 1;"
    )
}

#[test]
fn loads_in_any_pattern_are_remembered_until_the_next_barrier() {
    let (right, wrong) = (scattered("bar.sync 0;"), scattered(""));
    Program { name: "scattered", code: &right, grid: 2, block: 64 }.is_correct();
    let program = Program { name: "scattered", code: &wrong, grid: 2, block: 64 };
    // Thread 53 has read the word of thread 9.
    program.has("race", "race", &[]);
    program.run(
        || [super::Memory::zeros(64 << 10), super::Memory::zeros(4096)],
        |engine, _, reports, _| {
            let is_it = |at: &crate::check::Accessed, line, thread| {
                (at.line, at.thread) == (super::FIRST + line, Some([thread, 0, 0]))
            };
            let found = |at: &[crate::check::Accessed]| {
                at.iter().any(|at| is_it(at, 7, 9)) && at.iter().any(|at| is_it(at, 3, 53) || is_it(at, 4, 53))
            };
            assert!(
                engine != "regions" || reports.iter().any(|report| found(&report.accesses)),
                "{engine}: {reports:?}"
            );
        },
    );
}

/// All blocks read two pages, which one thread of a late block writes.
#[test]
fn a_write_to_memory_that_was_only_read_races() {
    let loads = "ld.global.u32 %r5, [%rd5];\nld.global.u32 %r6, [%rd5+4096];\n".repeat(8);
    let code = |written: &str| {
        format!(
            "mul.wide.u32 %rd5, %r2, 4; add.s64 %rd5, %rd1, %rd5;\n{loads}setp.eq.u32 %p1, %r1, 61445;\n@%p1 st.global.u32 {written}, 1;\n{loads}"
        )
    };
    Program { name: "only read", code: &code("[%rd1+8192]"), grid: 64, block: 1024 }.is_correct();
    Program { name: "read and written", code: &code("[%rd1+4000]"), grid: 64, block: 1024 }.has("race", "race", &[]);
}

#[test]
fn a_race_names_both_threads_and_values() {
    let code = "setp.eq.u32 %p1, %r2, 3;\n@%p1 st.global.u32 [%rd1+8], 17;\nsetp.eq.u32 %p2, %r2, 40;\n@%p2 st.global.u32 [%rd1+8], 19;";
    Program { name: "named", code, grid: 1, block: 64 }.run(
        || [super::Memory::zeros(64), super::Memory::zeros(64)],
        |engine, _, reports, _| {
            let [report] = reports.as_slice() else { panic!("{engine}: {reports:?}") };
            let text = report.text();
            assert!(text.contains("offset 8 of allocation "), "{text}");
            let mut found: Vec<_> = report.accesses.iter().map(|at| (at.line, at.thread, at.value)).collect();
            found.sort_unstable();
            assert_eq!(
                found,
                [(super::FIRST + 1, Some([3, 0, 0]), Some(17)), (super::FIRST + 3, Some([40, 0, 0]), Some(19))],
                "{engine}: {text}"
            );
        },
    );
}
