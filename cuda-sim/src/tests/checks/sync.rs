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
            || [Memory::zeros(64), Memory::zeros(64)],
            |engine, _, reports, _| {
                let texts: Vec<String> = reports.iter().map(crate::check::Report::text).collect();
                assert!(
                    !reports.is_empty() && reports.iter().all(|r| r.check == "sync" && r.kind.contains(kind)),
                    "{name} ({engine}): {texts:?}"
                );
            },
        );
    }
}
