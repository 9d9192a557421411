//! Planted mistakes of `memory` and `init`.

use super::{Memory, Program, all};
use crate::check::{self, Report};
use crate::environment::Checks;
use crate::exec::launch::Fault;
use crate::memory::MEMORY;

/// Name, code, kind, line.
const ILLEGAL: &[(&str, &str, &str, u32)] = &[
    ("one byte beyond", "st.global.u8 [%rd2+4095], %r2;\nst.global.u8 [%rd2+4096], %r2;", "out of bounds", 1),
    ("one byte before", "ld.global.u8 %r5, [%rd2+-1];", "out of bounds", 0),
    (
        "the last word of many",
        "add.s64 %rd5, %rd2, 4092;\nld.global.u32 %r5, [%rd5];\nld.global.u32 %r5, [%rd5+4];",
        "out of bounds",
        2,
    ),
    ("misaligned", "ld.global.u32 %r5, [%rd1+2];", "misaligned", 0),
    ("misaligned vector", "ld.global.v2.u32 {%r5, %r6}, [%rd1+4];", "misaligned", 0),
    ("null", "mov.u64 %rd5, 0;\nst.global.u32 [%rd5], 1;", "null pointer", 1),
    ("shared", "st.shared.u32 [window+1020], 1;\nst.shared.u32 [window+1024], 1;", "out of bounds", 1),
    ("shared by index", "mov.u32 %r5, window;\nst.shared.u8 [%r5+1024], 1;", "out of bounds", 1),
    ("atomic", "atom.global.add.u32 %r5, [%rd2+4096], 1;", "out of bounds", 0),
    ("reduction", "red.global.add.u32 [%rd2+4096], 1;", "out of bounds", 0),
    (
        "another thread's local memory",
        "mov.u64 %rd5, stack;\ncvta.local.u64 %rd5, %rd5;\nsetp.eq.u32 %p1, %r2, 1;\n@%p1 sub.s64 %rd5, %rd5, 64;\nst.u32 [%rd5], 1;",
        "another thread's local memory",
        4,
    ),
    (
        "a local address as global",
        "mov.u64 %rd5, stack;\ncvta.local.u64 %rd5, %rd5;\nst.global.u32 [%rd5], 1;",
        "another space",
        2,
    ),
    (
        "a shared address as global",
        "mov.u64 %rd5, window;\ncvta.shared.u64 %rd5, %rd5;\nst.global.u32 [%rd5], 1;",
        "another space",
        2,
    ),
    ("a global address as local", "st.local.u32 [%rd1], 1;", "another space", 0),
    ("after a barrier", "bar.sync 0;\nld.global.u32 %r5, [%rd2+4096];", "out of bounds", 1),
    (
        "asynchronous copy",
        "mov.u32 %r5, window;\ncp.async.ca.shared.global [%r5], [%rd2+4096], 4;\ncp.async.wait_all;",
        "out of bounds",
        1,
    ),
];

#[test]
fn illegal_accesses_are_found() {
    for (name, code, kind, line) in ILLEGAL {
        let program = Program { name, code, grid: 1, block: 2 };
        program.has("memory", kind, &[*line]);
        program.run(
            || [Memory::zeros(64 << 10), Memory::zeros(4096)],
            |engine, result, _, _| {
                assert!(matches!(result, Err(Fault::Memory { .. })), "{name} ({engine}): {result:?}")
            },
        );
    }
}

#[test]
fn freed_memory_and_the_host_s_are_named() {
    let host = Box::new([0u32; 64]);
    let freed = || {
        let memory = Memory::zeros(100);
        memory.0
    };
    for (kind, address) in [("use after free", freed()), ("host pointer", host.as_ptr() as u64)] {
        let code = format!("mov.u64 %rd5, {address};\nld.global.u32 %r5, [%rd5];");
        Program { name: kind, code: &code, grid: 1, block: 1 }.has("memory", kind, &[1]);
    }
}

#[test]
fn a_report_names_array_offset_block_and_thread() {
    let code = "setp.eq.u32 %p1, %r1, 37;\n@%p1 st.global.u32 [%rd2+4096], %r1;";
    let program = Program { name: "named", code, grid: 2, block: 32 };
    program.run(
        || [Memory::zeros(64), Memory::zeros(4096)],
        |_, _, reports, _| {
            let [report] = reports.as_slice() else { panic!("{reports:?}") };
            let text = report.text();
            assert!(text.contains("out of bounds in `k`: offset 4096, 0 bytes past the end of allocation "), "{text}");
            assert!(text.contains("(4096 bytes, made by cuMemAlloc_v2)"), "{text}");
            assert!(
                text.contains("store of 4 bytes at PTX line 11, column 1: block (1, 0, 0), thread (5, 0, 0)"),
                "{text}"
            );
        },
    );
}

/// Other tests allocate at the same time, so which allocation is the nearest is not known.
#[test]
fn a_wild_access_is_told_relative_to_an_allocation_of_the_program() {
    let code = "mov.u64 %rd5, 1099511627776;\nadd.s64 %rd5, %rd5, %rd1;\nst.global.u32 [%rd5], 1;";
    Program { name: "wild", code, grid: 1, block: 1 }.run(
        || [Memory::zeros(4096), Memory::zeros(4096)],
        |engine, _, reports, own| {
            let [report] = reports.as_slice() else { panic!("{engine}: {reports:?}") };
            let text = report.text();
            assert!(
                text.contains("(memory that was never allocated, ") || !MEMORY.owns(own[0].0 + (1 << 40)),
                "{text}"
            );
            assert!(!text.contains("shared memory"), "{engine}: {text}");
        },
    );
}

/// Name, code, line of the read.
const UNINITIALISED: &[(&str, &str, u32)] = &[
    ("global", "ld.global.u32 %r5, [%rd2];", 0),
    ("one byte of a word", "st.global.u8 [%rd2], %r2;\nst.global.u16 [%rd2+2], %h1;\nld.global.u32 %r5, [%rd2];", 2),
    ("vector", "st.global.u32 [%rd2], %r2;\nld.global.v2.u32 {%r5, %r6}, [%rd2];", 1),
    ("atomic", "atom.global.add.u32 %r5, [%rd2], 1;", 0),
    ("exchange", "atom.global.exch.b32 %r5, [%rd2], 1;\nadd.u32 %r6, %r5, 1;\nst.global.u32 [%rd4], %r6;", 0),
    ("exchange in shared memory", "atom.shared.exch.b32 %r5, [window], 1;\nst.global.u32 [%rd4], %r5;", 0),
    ("after an exchange beside it", "atom.global.exch.b32 _, [%rd2], 1;\nld.global.u32 %r5, [%rd2+4];", 1),
    ("shared", "ld.shared.u32 %r5, [window+8];", 0),
    ("shared, the neighbour", "st.shared.u32 [window], %r2;\nld.shared.u32 %r5, [window+4];", 1),
    ("local", "ld.local.u32 %r5, [stack+4];", 0),
    (
        "local, generic",
        "mov.u64 %rd5, stack;\nst.local.u32 [stack], %r2;\ncvta.local.u64 %rd5, %rd5;\nld.u64 %rd6, [%rd5];",
        3,
    ),
    ("local, stored as it is", "ld.local.u32 %r5, [stack+4];\nst.u32 [%rd4], %r5;", 0),
    (
        "local, stored as it is beside a value",
        "st.local.u32 [stack], %r2;\nmov.u64 %rd5, stack;\ncvta.local.u64 %rd5, %rd5;\nadd.s64 %rd6, %rd5, 16;\nld.u64 %rd7, [%rd6+-8];\nst.u64 [%rd1], %rd7;\nld.u32 %r5, [%rd5];\nst.u32 [%rd2], %r5;",
        4,
    ),
    (
        "local, stored to shared memory",
        "mov.u64 %rd5, window;\ncvta.shared.u64 %rd5, %rd5;\nld.local.u16 %h1, [stack+2];\nst.u16 [%rd5], %h1;",
        2,
    ),
    (
        "local, of another variable",
        "ld.local.u32 %r5, [stack+4];\nst.local.u32 [stack+8], %r5;\nld.local.u32 %r6, [stack+8];\nadd.u32 %r6, %r6, 1;",
        2,
    ),
    (
        "local, stored by some",
        "setp.eq.u32 %p1, %r1, 1;\n@%p1 st.local.u32 [stack+4], %r1;\nld.local.u32 %r5, [stack+4];\nst.u32 [%rd4], %r5;",
        2,
    ),
];

#[test]
fn uninitialised_reads_are_found() {
    for (name, code, line) in UNINITIALISED {
        // Alone, `init` does not look again at memory that it knows as written.
        for checks in [all(), Checks::INIT] {
            Program { name, code, grid: 3, block: 1 }.run_with(
                checks,
                || [Memory::zeros(64), Memory::unwritten(64)],
                |engine, result, reports, _| {
                    // Blocks race at the global memory of some of these programs.
                    let reports: Vec<_> = reports.into_iter().filter(|report| report.check == "init").collect();
                    let [report] = reports.as_slice() else { panic!("{name} ({engine}): {reports:?}") };
                    assert_eq!(report.accesses[0].line, super::FIRST + line, "{name} ({engine}): {}", report.text());
                    assert_eq!(result, Ok(()));
                },
            );
        }
    }
}

#[test]
fn an_exchange_whose_old_value_nobody_reads_is_no_read() {
    for code in [
        "atom.global.exch.b32 %r5, [%rd2], 1;\nld.volatile.global.u32 %r6, [%rd2];",
        "atom.global.exch.b64 _, [%rd2+8], %rd1;\nld.volatile.global.u64 %rd6, [%rd2+8];",
        "atom.shared.exch.b32 %r5, [window], 1;\nld.volatile.shared.u32 %r6, [window];",
    ] {
        for checks in [all(), Checks::INIT] {
            Program { name: "exchange", code, grid: 3, block: 1 }.run_with(
                checks,
                || [Memory::zeros(64), Memory::unwritten(64)],
                |engine, result, reports, _| assert_eq!((result, reports.len()), (Ok(()), 0), "{code} ({engine})"),
            );
        }
    }
}

/// All threads but one store a value to memory that is known as written.
#[test]
fn a_copy_is_followed_to_memory_that_was_written() {
    let code = "setp.ne.u32 %p1, %r1, 81;\n@%p1 st.local.u32 [stack+4], %r2;\nld.local.u32 %r5, [stack+4];\nst.u32 [%rd4], %r5;";
    for checks in [all(), Checks::INIT] {
        Program { name: "copies", code, grid: 2, block: 64 }.run_with(
            checks,
            || [Memory::zeros(512), Memory::zeros(64)],
            |engine, _, reports, _| {
                let [report] = reports.as_slice() else { panic!("{engine}: {reports:?}") };
                let lines: Vec<u32> = report.accesses.iter().map(|access| access.line - super::FIRST).collect();
                assert_eq!(lines, [2, 3], "{engine}: {}", report.text());
                assert!(report.array.as_ref().is_some_and(|array| array.ends_with("of thread 17")), "{reports:?}");
            },
        );
    }
}

#[test]
fn every_byte_that_was_written_can_be_read() {
    let code = "st.global.u8 [%rd2], %r2;\nst.global.u8 [%rd2+1], %r2;\nst.global.u16 [%rd2+2], %h1;\nld.global.u32 %r5, [%rd2];
st.shared.v2.u32 [window], {%r2, %r2};\nld.shared.u64 %rd5, [window];\nst.local.u64 [stack+8], %rd5;\nld.local.u8 %r5, [stack+15];";
    Program { name: "written", code, grid: 1, block: 1 }.run(
        || [Memory::unwritten(64), Memory::unwritten(64)],
        |engine, result, reports, _| {
            assert!(reports.is_empty() && result.is_ok(), "{engine}: {reports:?}");
        },
    );
}

/// A read of bytes of which some were not written, and the same with a use of those.
#[test]
fn bytes_that_nothing_uses_are_not_read() {
    const OF_FOUR: &str = "st.shared.v2.u32 [window], {%r1, %r2};\nst.shared.u32 [window+8], %r3;\nld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [window];\nadd.u32 %r9, %r5, %r7;";
    const BYTE: &str = "st.global.u8 [%rd2], %r2;\nst.global.u8 [%rd2+2], %r2;\nld.global.u32 %r5, [%rd2];";
    const HALF: &str = "st.global.u32 [%rd2], %r2;\nld.global.u64 %rd5, [%rd2];";
    const END: &str = "st.global.u32 [%rd4], %r9;";
    let programs = [
        (OF_FOUR, "", "add.u32 %r9, %r9, %r8;"),
        (
            OF_FOUR,
            "st.shared.v4.u32 [window+16], {%r5, %r6, %r7, %r8};\nld.shared.u32 %r10, [window+28];",
            "mov.b32 %r9, %r8; add.u32 %r9, %r9, 1;",
        ),
        (BYTE, "and.b32 %r9, %r5, 0xff00ff;", "and.b32 %r9, %r5, 0x1ff; setp.eq.u32 %p1, %r9, 3;"),
        (BYTE, "st.global.u32 [%rd2+8], %r5;", "add.u32 %r9, %r5, 1;"),
        (
            BYTE,
            "shr.u32 %r6, %r5, 16; and.b32 %r9, %r6, 255; add.u32 %r9, %r9, 1;",
            "shr.u32 %r6, %r5, 24; add.u32 %r9, %r6, 1;",
        ),
        (
            BYTE,
            "cvt.u8.u32 %h1, %r5; cvt.u32.u8 %r9, %h1; add.u32 %r9, %r9, 1;",
            "cvt.u16.u32 %h1, %r5; cvt.u32.u16 %r9, %h1; add.u32 %r9, %r9, 1;",
        ),
        (
            BYTE,
            "or.b32 %r5, %r5, 0xff00ff00; add.u32 %r9, %r5, 1;",
            "or.b32 %r5, %r5, 0xff000000; add.u32 %r9, %r5, 1;",
        ),
        (HALF, "mov.b64 {%r9, %r10}, %rd5; add.u32 %r9, %r9, 1;", "mov.b64 {%r10, %r9}, %rd5; add.u32 %r9, %r9, 1;"),
        (
            HALF,
            "cvt.u32.u64 %r9, %rd5; add.u32 %r9, %r9, 1;",
            "cvt.s64.s32 %rd6, %r9; add.s64 %rd5, %rd5, %rd6; cvt.u32.u64 %r9, %rd5;",
        ),
    ];
    for (begin, correct, wrong) in programs {
        for (middle, expected) in [(correct, 0), (wrong, 1)] {
            let code = format!("mov.u32 %r9, 0;\n{begin}\n{middle}\n{END}");
            for checks in [all(), Checks::INIT] {
                Program { name: "parts", code: &code, grid: 1, block: 1 }.run_with(
                    checks,
                    || [Memory::zeros(64), Memory::unwritten(64)],
                    |engine, result, reports, _| {
                        assert_eq!((result, reports.len()), (Ok(()), expected), "{code} ({engine}): {reports:?}");
                        assert!(reports.iter().all(|report| report.check == "init"), "{code} ({engine}): {reports:?}");
                    },
                );
            }
        }
    }
}

/// nvcc copies the padding of a structure by a load of its own.
#[test]
fn padding_that_is_copied_beside_the_members_is_not_read() {
    let code = |last: &str| {
        format!(
            "mov.u32 %r4, window;\nst.shared.v2.u32 [window], {{%r1, %r2}};\nst.shared.u32 [window+8], %r3;
ld.shared.v4.u32 {{%r5, %r6, %r7, %r8}}, [%r4];\nld.shared.u32 %r9, [%r4+12];
st.shared.v4.u32 [%r4+16], {{%r5, %r6, %r7, %r9}};\n{last}"
        )
    };
    Program { name: "copied", code: &code(""), grid: 1, block: 1 }.is_correct();
    Program { name: "used", code: &code("add.u32 %r10, %r9, 1;"), grid: 1, block: 1 }.has(
        "init",
        "uninitialised",
        &[4],
    );
    // Without another member, and where nobody wrote one.
    let alone = "st.shared.u32 [window], 1;\nld.shared.u32 %r9, [window+4];\nst.global.u32 [%rd4], %r9;";
    Program { name: "alone", code: alone, grid: 1, block: 1 }.has("init", "uninitialised", &[1]);
    let both = "mov.u32 %r4, window;\nld.shared.u32 %r8, [%r4];\nld.shared.u32 %r9, [%r4+4];\nst.global.v2.u32 [%rd1], {%r8, %r9};";
    Program { name: "both", code: both, grid: 1, block: 1 }.has("init", "uninitialised", &[1]);
}

/// Of a value of which nobody wrote a byte, a copy is reported, and so is a byte that is only masked.
#[test]
fn a_value_that_nobody_wrote_is_reported_whatever_is_done_with_it() {
    for code in [
        "ld.global.u32 %r5, [%rd2];\nst.global.u32 [%rd4], %r5;",
        "ld.global.u8 %r5, [%rd2];\nand.b32 %r6, %r5, 1;\nst.global.u32 [%rd4], %r6;",
        "ld.global.v2.u32 {%r5, %r6}, [%rd2];\nst.global.u32 [%rd4], %r5;",
    ] {
        Program { name: "whole", code, grid: 1, block: 1 }.run(
            || [Memory::zeros(64), Memory::unwritten(64)],
            |engine, _, reports, _| {
                let [report] = reports.as_slice() else { panic!("{code} ({engine}): {reports:?}") };
                assert_eq!((report.check, report.accesses[0].line), ("init", super::FIRST), "{code} ({engine})");
            },
        );
    }
}

/// A block reads in its shared memory what an earlier one has written.
#[test]
fn a_block_does_not_inherit_shared_memory() {
    let code = "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra R;\nst.shared.u32 [window], 1;\nbra D;\nR: ld.shared.u32 %r5, [window];\nD:";
    Program { name: "inherited", code, grid: 2, block: 1 }.has("init", "uninitialised", &[4]);
}

#[test]
fn a_double_free_and_a_foreign_one_are_told_apart() {
    check::enable(all());
    let freed = Memory::zeros(64).0;
    let name = |address| check::name(address);
    assert!(name(freed).contains("which was freed"), "{}", name(freed));
    let live = Memory::zeros(64);
    assert!(name(live.0 + 8).starts_with("offset 8 of allocation "), "{}", name(live.0 + 8));
    let _: fn(&Report) -> String = Report::text;
}

/// Each place in the code of this loop goes from one array to another one, over pages and beyond the end.
#[test]
fn bounds_that_a_place_has_found_are_those_of_one_array() {
    let code = "mov.u32 %r5, 0;\nL: and.b32 %r6, %r5, 1;\nsetp.eq.u32 %p1, %r6, 0;\nselp.b64 %rd5, %rd1, %rd2, %p1;\nmul.wide.u32 %rd6, %r5, 4;\nadd.s64 %rd5, %rd5, %rd6;\nld.global.u32 %r7, [%rd5];\nst.global.u32 [%rd5], %r5;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 2048;\n@%p1 bra L;";
    for (bytes, expected) in [(8192, 0), (8188, 1), (4096, 1)] {
        for checks in [Checks::MEMORY, Checks::MEMORY.and(Checks::INIT), all()] {
            Program { name: "bounds", code, grid: 1, block: 1 }.run_with(
                checks,
                || [Memory::zeros(8192), Memory::zeros(bytes)],
                |engine, _, reports, _| assert_eq!(reports.len(), expected, "{bytes} ({engine}): {reports:?}"),
            );
        }
    }
    // Half of the second array was not written.
    Program { name: "bounds", code, grid: 1, block: 1 }.run_with(
        Checks::INIT,
        || {
            let half = Memory::unwritten(8192);
            check::events::written(half.0, 4096 + 8);
            [Memory::zeros(8192), half]
        },
        |engine, _, reports, _| {
            assert_eq!(reports.len(), 1, "{engine}: {reports:?}");
            assert!(reports[0].array.as_ref().is_some_and(|array| array.starts_with("offset 4108 ")), "{reports:?}");
        },
    );
}

/// A kernel with 41 bytes of shared memory: libraries make atomic operations on bytes from ones on their words.
#[test]
fn an_atomic_operation_on_a_word_of_which_a_byte_is_in_bounds_is_correct() {
    let small = |code: &str| format!("// window[41]\n{code}");
    for code in [
        "atom.shared.cas.b32 %r5, [window+40], 0, 1;",
        "mov.u64 %rd5, window;\ncvta.shared.u64 %rd5, %rd5;\natom.relaxed.cta.or.b32 %r5, [%rd5+40], 1;",
        "ld.relaxed.cta.shared.u32 %r5, [window+40];\natom.shared.cas.b32 %r6, [window+40], %r5, 1;",
        "st.shared.u8 [window+40], 1;",
    ] {
        Program { name: "in part", code: &small(&format!("st.shared.u8 [window+40], 0;\n{code}")), grid: 3, block: 1 }
            .is_correct();
    }
    for code in [
        "st.shared.u8 [window+41], 1;",
        "ld.shared.u32 %r5, [window+40];",
        "st.shared.u32 [window+40], 1;",
        "st.volatile.shared.u32 [window+40], 1;",
        "atom.shared.cas.b32 %r5, [window+44], 0, 1;",
    ] {
        let code = small(code);
        let program = Program { name: "beyond", code: &code, grid: 1, block: 1 };
        program.run(
            || [Memory::zeros(64), Memory::zeros(64)],
            |engine, result, reports, _| {
                assert_eq!(reports.len(), 1, "{code} ({engine})");
                let text = reports[0].text();
                assert!(text.contains("of shared memory (41 bytes)"), "{code} ({engine}): {text}");
                assert!(matches!(result, Err(Fault::Memory { .. })), "{code} ({engine}): {result:?}");
                assert_eq!(check::found().map(|found| found.shared.1), Some(41), "{code} ({engine})");
            },
        );
    }
}

/// Cooperative groups of more than a warp have their state in shared memory that is reserved in each block.
#[test]
fn reserved_shared_memory_is_a_block_s_own() {
    let place = "mov.u32 %r5, %reserved_smem_offset_1;\ncvt.u64.u32 %rd5, %r5;\ncvta.shared.u64 %rd5, %rd5;
setp.eq.u32 %p1, %r2, 0;\nst.shared.u32 [window], 7;\nbar.sync 0;";
    let correct =
        "@%p1 red.and.release.cta.b32 [%rd5+4], -2;\nbar.sync 0;\n@%p1 atom.or.acq_rel.cta.b32 %r6, [%rd5+4], 1;
mul.wide.u32 %rd6, %r2, 4;\nadd.s64 %rd6, %rd6, %rd5;\nst.u32 [%rd6+64], %r2;\nld.u32 %r6, [%rd6+64];
ld.shared.u32 %r7, [window];\nst.global.u32 [%rd4], %r7;";
    let begin = place.replace("st.shared.u32 [window], 7;", "@%p1 st.shared.u32 [window], 7;");
    for cluster in ["", "barrier.cluster.arrive;\nbarrier.cluster.wait;"] {
        let code = format!("{begin}\n{correct}\n{cluster}");
        let program = Program { name: "reserved", code: &code, grid: 4, block: 32 };
        program.is_correct();
        program.run(
            || [Memory::zeros(512), Memory::zeros(64)],
            |engine, _, _, own| {
                // SAFETY: the launch has ended, and the memory has this many words.
                let words = unsafe { std::slice::from_raw_parts(own[0].0 as *const u32, 128) };
                assert!(words.iter().all(|word| *word == 7), "{engine}: {words:?}");
            },
        );
    }
    let beyond = format!("{begin}\n@%p1 st.u32 [%rd5+508], 1;\n@%p1 st.u32 [%rd5+512], 1;");
    Program { name: "beyond", code: &beyond, grid: 1, block: 32 }.has("memory", "out of bounds", &[]);
    // The library's own accesses are not compared, those to the program's arrays beside it are.
    let code = format!("{begin}\nst.u32 [%rd5], 1;");
    Program { name: "one value", code: &code, grid: 1, block: 32 }.is_correct();
    let code = format!("{begin}\nst.shared.u32 [window+1020], 1;");
    Program { name: "race", code: &code, grid: 1, block: 32 }.has("race", "two writes", &[]);
}

/// An access past the end of a variable of a module is not one to the next variable.
#[test]
fn variables_of_a_module_are_told_apart() {
    let code = |at: u32| {
        format!(
            ".global .align 4 .b8 a[16] = {{1}}; .global .align 4 .b8 b[16] = {{2}}; .const .align 4 .b8 c[8] = {{3}}; .const .align 4 .b8 d[8] = {{4}};
mov.u32 %r5, {at};\nmul.wide.u32 %rd5, %r5, 4;\nmov.u64 %rd6, a;\nadd.s64 %rd6, %rd6, %rd5;\nld.global.u32 %r6, [%rd6];
mov.u64 %rd6, c;\nand.b64 %rd5, %rd5, 4;\nadd.s64 %rd6, %rd6, %rd5;\nld.const.u32 %r7, [%rd6];\nld.global.u32 %r7, [b+12];\nld.const.u32 %r7, [d+4];"
        )
    };
    Program { name: "within", code: &code(3), grid: 1, block: 1 }.is_correct();
    for at in [4, 5, 8] {
        Program { name: "past the end", code: &code(at), grid: 1, block: 1 }.has("memory", "out of bounds", &[5]);
    }
    Program { name: "past the end", code: &code(4), grid: 1, block: 1 }.run(
        || [Memory::zeros(64), Memory::zeros(64)],
        |engine, _, reports, _| {
            let text = reports[0].text();
            assert!(text.contains("0 bytes past the end of variable `k 0` (16 bytes)"), "{engine}: {text}");
        },
    );
}
