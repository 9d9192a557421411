//! Planted mistakes in the use of the device's heap.

use super::{FIRST, Memory, Program};

/// 600 blocks of the device's heap are freed, and one block over several pages takes their place, of which each word up
/// to `last` is written.
fn heap(bytes: u32, last: u32) -> String {
    format!(
        "mov.u32 %r5, 0;
M: {{ .param .b64 n; .param .b64 r; st.param.b64 [n], 16; call.uni (r), malloc, (n); ld.param.b64 %rd5, [r]; }}
mul.wide.u32 %rd6, %r5, 8;\nadd.s64 %rd6, %rd6, %rd1;\nst.global.u64 [%rd6], %rd5;
add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 600;\n@%p1 bra M;\nmov.u32 %r5, 0;
F: mul.wide.u32 %rd6, %r5, 8;\nadd.s64 %rd6, %rd6, %rd1;\nld.global.u64 %rd5, [%rd6];
{{ .param .b64 p; st.param.b64 [p], %rd5; call.uni free, (p); }}
add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 600;\n@%p1 bra F;\nmov.u32 %r5, 0;
{{ .param .b64 n; .param .b64 r; st.param.b64 [n], {bytes}; call.uni (r), malloc, (n); ld.param.b64 %rd5, [r]; }}
W: cvt.u64.u32 %rd6, %r5;\nadd.s64 %rd6, %rd6, %rd5;\nst.u32 [%rd6], %r5;\nld.u32 %r6, [%rd6];
add.u32 %r5, %r5, 4;\nsetp.le.u32 %p1, %r5, {last};\n@%p1 bra W;
{{ .param .b64 p; st.param.b64 [p], %rd5; call.uni free, (p); }}"
    )
}

#[test]
fn memory_of_the_heap_that_was_freed_can_be_a_part_of_a_larger_block() {
    let code = heap(9000, 8996);
    Program { name: "heap", code: &code, grid: 1, block: 1 }.is_correct();
    let code = heap(9000, 9000);
    Program { name: "beyond the block", code: &code, grid: 1, block: 1 }.has("memory", "out of bounds", &[]);
}

/// The text of a call of `malloc` for `%rd5`, and of one of `free`.
const MALLOC: &str =
    "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 40; call.uni (r), malloc, (n); ld.param.b64 %rd5, [r]; }";

fn free(address: &str) -> String {
    format!("{{ .param .b64 p; st.param.b64 [p], {address}; call.uni free, (p); }}")
}

/// Runs a program with one mistake, whose report has these lines, and returns its text.
#[track_caller]
fn text_of(code: &str, kind: &str, lines: &[u32]) -> String {
    let mut text = String::new();
    Program { name: kind, code, grid: 1, block: 1 }.run(
        || [Memory::zeros(64), Memory::zeros(64)],
        |engine, _, reports, _| {
            let [report] = reports.as_slice() else { panic!("{kind} ({engine}): {reports:?}") };
            text = report.text();
            assert!(report.check == "memory" && report.kind == kind && report.kernel == "k", "{engine}: {text}");
            let at: Vec<u32> = report.accesses.iter().map(|at| at.line - FIRST).collect();
            assert_eq!(at, lines, "{engine}: {text}");
        },
    );
    text
}

#[test]
fn mistakes_with_blocks_of_the_heap_name_the_block_and_the_earlier_free() {
    let (free, inside) = (free("%rd5"), free("%rd6"));
    let correct = format!("{MALLOC}\nst.u32 [%rd5+36], 1;\nld.u32 %r5, [%rd5+36];\n{free}\n{MALLOC}\n{free}");
    Program { name: "correct", code: &correct, grid: 2, block: 32 }.is_correct();
    let text = text_of(&format!("{MALLOC}\n{free}\n{free}"), "double free", &[2, 1]);
    assert!(text.contains("offset 0 of 40 bytes of `malloc`, which were freed"), "{text}");
    assert!(text.contains("`free` at PTX line 12"), "{text}");
    let code = format!("{MALLOC}\nadd.s64 %rd6, %rd5, 8;\n{inside}\n{free}");
    let text = text_of(&code, "free of an address inside a block of `malloc`", &[2]);
    assert!(text.contains("offset 8 of 40 bytes of `malloc`"), "{text}");
    text_of(
        &format!("{MALLOC}\nmov.u64 %rd6, %rd1;\n{inside}"),
        "free of an address that `malloc` did not return",
        &[2],
    );
    let text = text_of(&format!("{MALLOC}\n{free}\nld.u32 %r5, [%rd5+4];"), "use after free", &[2, 1]);
    assert!(text.contains("offset 4 of 40 bytes of `malloc`, which were freed"), "{text}");
    let text = text_of(&format!("{MALLOC}\n{MALLOC}\nst.u8 [%rd5+40], 1;"), "out of bounds", &[2]);
    assert!(text.contains("offset 40, 0 bytes past the end of 40 bytes of `malloc`"), "{text}");
}

/// The blocks' length is a multiple of the alignment.
#[test]
fn neighbouring_blocks_are_told_apart() {
    let malloc = MALLOC.replace("40", "48");
    let code = |at| {
        format!("{malloc}\nmov.u64 %rd6, %rd5;\n{malloc}\nst.u32 [%rd5], 1;\nst.u32 [%rd6+{at}], 1;\n{}", free("%rd5"))
    };
    Program { name: "within", code: &code(44), grid: 1, block: 1 }.is_correct();
    text_of(&code(48), "out of bounds", &[4]);
}
