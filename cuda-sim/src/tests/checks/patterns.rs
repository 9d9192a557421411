//! Patterns of CUDA programs, each as it is right and with one mistake: `@` in the code stands for the line that differs.

use super::{Memory, Program};

/// A pattern: the line that is right, the one that is wrong, and the report of that.
struct Pattern {
    name: &'static str,
    code: &'static str,
    right: &'static str,
    wrong: &'static str,
    checker: &'static str,
    kind: &'static str,
    grid: u32,
    block: u32,
}

/// `%r5` is the address of the thread's own word in shared memory, `%r6` that of the first one.
const OWN: &str = "mul.lo.u32 %r5, %r2, 4; mov.u32 %r6, window; add.u32 %r5, %r5, %r6;\n";

/// The bytes of the second parameter, which end within a word.
const ODD: u64 = 63;

const PATTERNS: &[Pattern] = &[
    Pattern {
        name: "warps that exchange their sums",
        code: "st.shared.u32 [%r5], %r2;\n@\nxor.b32 %r7, %r2, 32; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];\nst.global.u32 [%rd4], %r8;",
        right: "bar.sync 0;",
        wrong: "bar.warp.sync 0xffffffff;",
        checker: "race",
        kind: "race",
        grid: 2,
        block: 64,
    },
    Pattern {
        name: "the last steps of a tree of sums in one warp",
        code: "st.shared.u32 [%r5], %r2;\nbar.sync 0;\nsetp.ge.u32 %p1, %r2, 32;\n@%p1 bra D;\nld.shared.u32 %r7, [%r5+128]; ld.shared.u32 %r8, [%r5]; add.u32 %r8, %r8, %r7; st.shared.u32 [%r5], %r8;\n@\nld.shared.u32 %r7, [%r5+64];\nbar.warp.sync 0xffffffff;\nadd.u32 %r8, %r8, %r7; st.shared.u32 [%r5], %r8;\nD:",
        right: "bar.warp.sync 0xffffffff;",
        wrong: "",
        checker: "race",
        kind: "race",
        grid: 2,
        block: 64,
    },
    Pattern {
        name: "a tree of sums with a barrier before each step",
        code: "st.shared.u32 [%r5], %r2;\nbar.sync 0;\nmov.u32 %r7, 64;\nL: setp.ge.u32 %p1, %r2, %r7; shl.b32 %r8, %r7, 2; add.u32 %r8, %r5, %r8;\n@%p1 bra N;\nld.shared.u32 %r9, [%r8]; ld.shared.u32 %r10, [%r5]; add.u32 %r9, %r9, %r10; st.shared.u32 [%r5], %r9;\nN: shr.u32 %r7, %r7, 1;\nsetp.eq.u32 %p3, %r7, 8;\n@\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 bra L;",
        right: "bar.sync 0;",
        wrong: "@!%p3 bar.sync 0;",
        checker: "race",
        kind: "race",
        grid: 2,
        block: 128,
    },
    Pattern {
        name: "a counter of all blocks",
        code: "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra D;\n@\nD:",
        right: "atom.relaxed.gpu.global.add.u32 %r5, [%rd1], 1;",
        wrong: "atom.relaxed.cta.global.add.u32 %r5, [%rd1], 1;",
        checker: "race",
        kind: "two writes",
        grid: 4,
        block: 32,
    },
    Pattern {
        name: "a message of several words and its flag",
        code: "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.global.v4.u32 [%rd1+64], {%r1, %r2, %r3, %r4};\n@\nst.relaxed.gpu.global.u32 [%rd1], 1;\nbra D;\nR: ld.relaxed.gpu.global.u32 %r5, [%rd1];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra R;\nfence.acq_rel.gpu;\nld.global.v2.u32 {%r6, %r7}, [%rd1+72];\nD:",
        right: "fence.acq_rel.gpu;",
        wrong: "fence.acq_rel.cta;",
        checker: "race",
        kind: "race",
        grid: 2,
        block: 1,
    },
    Pattern {
        name: "a lock with the fence of its acquire",
        code: "L: atom.relaxed.gpu.global.cas.b32 %r5, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra L;\n@\nld.global.u32 %r6, [%rd1+64]; add.u32 %r6, %r6, 1; st.global.u32 [%rd1+64], %r6;\nfence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%rd1], 0;",
        right: "fence.acq_rel.gpu;",
        wrong: "",
        checker: "race",
        kind: "race",
        grid: 4,
        block: 1,
    },
    Pattern {
        name: "two buffers in turn",
        code: "mov.u32 %r7, 0;\nxor.b32 %r8, %r2, 63; mul.lo.u32 %r8, %r8, 4; add.u32 %r8, %r8, %r6;\nL: and.b32 %r9, %r7, 1; setp.eq.u32 %p3, %r9, 0; mul.lo.u32 %r9, %r9, 256; add.u32 %r10, %r5, %r9; add.u32 %r11, %r8, %r9;\nst.shared.u32 [%r10], %r7;\n@\nld.shared.u32 %r12, [%r11];\nadd.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 6;\n@%p1 bra L;",
        right: "bar.sync 0;",
        wrong: "@%p3 bar.sync 0;",
        checker: "race",
        kind: "race",
        grid: 2,
        block: 64,
    },
    Pattern {
        name: "counts in shared memory",
        code: "st.shared.u32 [%r5], 0;\nbar.sync 0;\nand.b32 %r7, %r2, 7; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\n@\nbar.sync 0;\nld.shared.u32 %r8, [%r5];",
        right: "red.shared.add.u32 [%r7], 1;",
        wrong: "ld.shared.u32 %r8, [%r7]; add.u32 %r8, %r8, 1; st.shared.u32 [%r7], %r8;",
        checker: "race",
        kind: "race",
        grid: 2,
        block: 64,
    },
    Pattern {
        name: "a tile with a border on both sides",
        code: "st.shared.u32 [%r5+4], %r2;\nsetp.eq.u32 %p1, %r2, 0;\nsetp.eq.u32 %p2, %r2, 63;\n@%p1 st.shared.u32 [%r5], 0;\n@\nbar.sync 0;\nld.shared.u32 %r7, [%r5];\nld.shared.u32 %r8, [%r5+8];",
        right: "@%p2 st.shared.u32 [%r5+8], 0;",
        wrong: "",
        checker: "init",
        kind: "uninitialised",
        grid: 2,
        block: 64,
    },
    Pattern {
        name: "the last bytes by a vector load",
        code: "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra D;\n@\nD:",
        right: "ld.global.v2.u8 {%h1, %h2}, [%rd2+60];",
        wrong: "ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%rd2+60];",
        checker: "memory",
        kind: "out of bounds",
        grid: 1,
        block: 32,
    },
    Pattern {
        name: "four words by a vector load",
        code: "mul.wide.u32 %rd5, %r1, 16; add.s64 %rd5, %rd1, %rd5;\n@\nadd.u32 %r7, %r7, %r10;",
        right: "ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd5+16];",
        wrong: "ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd5+8];",
        checker: "memory",
        kind: "misaligned",
        grid: 2,
        block: 64,
    },
    Pattern {
        name: "a message to another block before the barrier of the cluster",
        code: "xor.b32 %r7, %r1, 32; mul.wide.u32 %rd5, %r7, 4; add.s64 %rd5, %rd1, %rd5;\n@\nld.global.u32 %r8, [%rd5];",
        right: "st.global.u32 [%rd4], %r1; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
        wrong: "barrier.cluster.arrive.aligned; st.global.u32 [%rd4], %r1; barrier.cluster.wait.aligned;",
        checker: "race",
        kind: "race",
        grid: 2,
        block: 32,
    },
    Pattern {
        name: "a message to another block before the arrivals of single threads",
        code: "xor.b32 %r7, %r1, 32; mul.wide.u32 %rd5, %r7, 4; add.s64 %rd5, %rd1, %rd5;\nsetp.lt.u32 %p1, %r2, 5;\n@%p1 bra A;\nbarrier.cluster.arrive;\nbra W;\nA: barrier.cluster.arrive;\nW:\n@\nbarrier.cluster.wait;\nld.global.u32 %r8, [%rd5];",
        right: "st.global.u32 [%rd4+1024], %r1;",
        wrong: "st.global.u32 [%rd4], %r1;",
        checker: "race",
        kind: "race",
        grid: 2,
        block: 32,
    },
    Pattern {
        name: "work between the arrival at the barrier of the cluster and the wait",
        code: "st.shared.u32 [%r5], %r2;\nxor.b32 %r7, %r5, 4;\nbarrier.cluster.arrive.aligned;\n@\nbarrier.cluster.wait.aligned;\nld.shared.u32 %r8, [%r7];\nbarrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\nst.shared.u32 [%r5], 4;",
        right: "ld.shared.u32 %r9, [%r5];",
        wrong: "st.shared.u32 [%r5], 3;",
        checker: "race",
        kind: "race",
        grid: 2,
        block: 64,
    },
    Pattern {
        name: "a message before an arrival that does not wait",
        code: "setp.ge.u32 %p1, %r2, 32;\n@%p1 bra C;\n@\nbra D;\nC: bar.sync 1, 64;\nld.shared.u32 %r8, [%r5+-128];\nD:",
        right: "st.shared.u32 [%r5], 1; bar.arrive 1, 64;",
        wrong: "bar.arrive 1, 64; st.shared.u32 [%r5], 1;",
        checker: "race",
        kind: "race",
        grid: 1,
        block: 64,
    },
    Pattern {
        name: "a message before the arrival at a barrier object",
        code: "setp.ne.u32 %p1, %r2, 0; add.u32 %r9, %r6, 512;\n@!%p1 mbarrier.init.shared.b64 [%r9], 64;\nbar.sync 0;\n@\nL: mbarrier.test_wait.shared.b64 %p2, [%r9], %rd7;\n@!%p2 bra L;\nxor.b32 %r7, %r2, 63; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];",
        right: "st.shared.u32 [%r5], %r2; mbarrier.arrive.shared.b64 %rd7, [%r9];",
        wrong: "mbarrier.arrive.shared.b64 %rd7, [%r9]; st.shared.u32 [%r5], %r2;",
        checker: "race",
        kind: "race",
        grid: 1,
        block: 64,
    },
    Pattern {
        name: "a counter that is read at once",
        code: "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\natom.relaxed.gpu.global.add.u64 %rd5, [%rd1], 1;\nst.relaxed.gpu.global.v2.u32 [%rd1+16], {%r1, %r2};\nbra D;\nR:\n@\nD:",
        right: "ld.relaxed.gpu.global.u64 %rd6, [%rd1]; ld.relaxed.gpu.global.u32 %r7, [%rd1+20];",
        wrong: "ld.relaxed.gpu.global.u32 %r7, [%rd1+4];",
        checker: "race",
        kind: "race",
        grid: 2,
        block: 1,
    },
    Pattern {
        name: "elements of a vector that are read at once",
        code: "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\natom.relaxed.gpu.global.add.u64 %rd5, [%rd1], 1;\nst.relaxed.gpu.global.v2.u32 [%rd1+16], {%r1, %r2};\nbra D;\nR:\n@\nD:",
        right: "ld.relaxed.gpu.global.v4.u32 {%r7, %r8, %r9, %r10}, [%rd1+16];",
        wrong: "ld.relaxed.gpu.global.u64 %rd6, [%rd1+16];",
        checker: "race",
        kind: "race",
        grid: 2,
        block: 1,
    },
    Pattern {
        name: "a byte that is replaced within its word",
        code: "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.relaxed.gpu.global.u8 [%rd1+1], 1;\nbra D;\nR: ld.relaxed.gpu.global.u32 %r7, [%rd1];\n@\nD:",
        right: "atom.relaxed.gpu.global.cas.b32 %r8, [%rd1], %r7, 5;",
        wrong: "atom.relaxed.gpu.global.add.u32 %r8, [%rd1], 5;",
        checker: "race",
        kind: "race",
        grid: 2,
        block: 1,
    },
    Pattern {
        name: "lanes that find others of the same value",
        code: "st.shared.u32 [%r5], %r2;\n@\nxor.b32 %r7, %r2, 3; mul.lo.u32 %r7, %r7, 4; add.u32 %r7, %r7, %r6;\nld.shared.u32 %r8, [%r7];",
        right: "match.any.sync.b32 %r9, %r4, 0xffffffff;",
        wrong: "vote.sync.ballot.b32 %r9, %p1, 0xffffffff;",
        checker: "race",
        kind: "race",
        grid: 2,
        block: 32,
    },
];

#[test]
fn each_pattern_is_right_without_its_mistake_and_found_with_it() {
    for Pattern { name, code, right, wrong, checker, kind, grid, block } in PATTERNS {
        for (line, is_right) in [(right, true), (wrong, false)] {
            let line = format!("\n{line}\n");
            let code = format!("{OWN}{}", code.replace("\n@\n", &line));
            assert!(code.contains(line.as_str()), "{name}");
            Program { name, code: &code, grid: *grid, block: *block }.run(
                || [Memory::zeros(64 << 10), Memory::zeros(ODD)],
                |engine, result, reports, _| {
                    let texts: Vec<String> = reports.iter().map(crate::check::Report::text).collect();
                    if is_right {
                        assert_eq!((result, texts.len()), (Ok(()), 0), "{name} ({engine}): {texts:?}");
                        return;
                    }
                    let expected =
                        |report: &crate::check::Report| report.check == *checker && report.kind.contains(kind);
                    // A read that comes before its write in some order is of memory that nobody wrote, too.
                    let known = |report: &crate::check::Report| expected(report) || report.check == "init";
                    let found = reports.iter().any(expected) && reports.iter().all(known);
                    assert!(found, "{name} ({engine}): {texts:?}");
                },
            );
        }
    }
}
