//! Planted mistakes of `sync`.

use super::{Memory, Program};

/// Name, code, kind, threads of a block.
const MISTAKES: &[(&str, &str, &str, u32)] = &[
    (
        "two barriers for one warp",
        "and.b32 %r5, %r2, 1; setp.eq.u32 %p1, %r5, 0;\n@%p1 bra A;\nbar.sync 0;\nbra D;\nA: bar.sync 0;\nD:",
        "divergent barrier",
        32,
    ),
    (
        "a lane of the mask waits elsewhere",
        "setp.eq.u32 %p1, %r2, 7;\n@%p1 bra A;\nbar.warp.sync 0xffffffff;\nA: bar.sync 0;",
        "deadlock",
        32,
    ),
    ("the mask names a lane that does not exist", "bar.warp.sync 0x1ffff;", "not there", 16),
    (
        "the mask lacks the caller",
        "setp.lt.u32 %p1, %r2, 2;\n@!%p1 exit;\nshfl.sync.idx.b32 %r5, %r2, 0, 31, 1;",
        "without the calling lane",
        2,
    ),
    (
        "a shuffle from a lane that has ended",
        "setp.ge.u32 %p1, %r2, 16;\n@%p1 exit;\nshfl.sync.down.b32 %r5, %r2, 1, 31, 0xffffffff;\nadd.u32 %r5, %r5, 1;\nst.global.u32 [%rd1], %r5;",
        "shuffle from a lane that is not there",
        32,
    ),
    (
        "a shuffle from a lane that the block does not have",
        "mov.u32 %r6, 20;\nshfl.sync.idx.b32 %r5|%p1, %r2, %r6, 31, 0xffffffff;\nst.global.u32 [%rd1], %r5;",
        "shuffle from a lane that is not there",
        16,
    ),
    (
        "a shuffle from a lane that is not in the mask",
        "setp.ge.u32 %p1, %r2, 16;\n@%p1 bra D;\nadd.u32 %r6, %r2, 16;\nshfl.sync.idx.b32 %r5, %r2, %r6, 31, 0xffff;\nst.global.u32 [%rd1], %r5;\nD:",
        "shuffle from a lane that is not there",
        32,
    ),
    ("too few threads", "setp.ge.u32 %p1, %r2, 32;\n@%p1 bra D;\nbar.sync 1, 64;\nD:", "deadlock", 64),
    ("too many threads", "bar.sync 1, 64;", "deadlock", 96),
    (
        "a producer that arrives twice",
        "setp.ge.u32 %p1, %r2, 32;\n@%p1 bra C;\nbar.arrive 1, 64;\nbar.arrive 1, 64;\nbra D;\nC: bar.sync 2, 64;\nbar.sync 1, 64;\nD:",
        "deadlock",
        64,
    ),
    (
        "producers and consumers with different numbers",
        "setp.ge.u32 %p1, %r2, 32;\n@%p1 bra C;\nbar.arrive 1, 96;\nbra D;\nC: bar.sync 1, 64;\nD:",
        "different numbers",
        96,
    ),
    (
        "two parts of a block with different numbers",
        "setp.ge.u32 %p1, %r2, 64;\n@%p1 bra C;\nbar.sync 1, 64;\nbra D;\nC: bar.sync 1, 96;\nD:",
        "different numbers",
        96,
    ),
    ("no multiple of a warp", "bar.sync 1, 48;", "no barrier can have", 48),
];

#[test]
fn mistakes_of_synchronisation_are_found() {
    for (name, code, kind, block) in MISTAKES {
        Program { name, code, grid: 1, block: *block }.run(
            || [Memory::zeros(512), Memory::zeros(64)],
            |engine, _, reports, _| {
                // Some store to one word.
                let reports: Vec<_> = reports.into_iter().filter(|report| report.check != "race").collect();
                let texts: Vec<String> = reports.iter().map(crate::check::Report::text).collect();
                assert!(
                    !reports.is_empty() && reports.iter().all(|r| r.check == "sync" && r.kind.contains(kind)),
                    "{name} ({engine}): {texts:?}"
                );
            },
        );
    }
}

/// Programs that read behind the last lane, and use only what the others have got.
#[test]
fn a_shuffle_from_a_lane_that_is_not_there_may_be_discarded() {
    let begin = "setp.ge.u32 %p1, %r2, 13;\n@%p1 exit;\n";
    let end = "st.global.u32 [%rd4], %r5;";
    for (mask, use_) in [
        ("0xffffffff", "setp.lt.u32 %p2, %r2, 12;\nselp.u32 %r5, %r6, %r2, %p2;"),
        ("0x1fff", "mov.u32 %r5, %r2;\nsetp.lt.u32 %p2, %r2, 12;\n@%p2 add.u32 %r5, %r6, 1;"),
        ("0x1fff", "setp.eq.u32 %p2, %r2, 12;\nmov.u32 %r5, 0;\n@%p2 bra D;\nadd.u32 %r5, %r6, %r2;\nD:"),
    ] {
        let code = format!("{begin}shfl.sync.down.b32 %r6, %r2, 1, 31, {mask};\n{use_}\n{end}");
        Program { name: "discarded", code: &code, grid: 2, block: 32 }.is_correct();
    }
    let within = "shfl.sync.down.b32 %r5, %r2, 1, 0x101f, 0xffffffff;\nst.global.u32 [%rd4], %r5;";
    Program { name: "within", code: within, grid: 1, block: 16 }.is_correct();
    let own = "shfl.sync.up.b32 %r5, %r2, 1, 0, 0xffff;\nst.global.u32 [%rd4], %r5;";
    Program { name: "its own", code: own, grid: 1, block: 16 }.is_correct();
}
