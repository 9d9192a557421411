//! Texts that exceed limits, and texts that a fuzzer found: each gives a result or an error, never a crash.
//!
//! Findings of the fuzz target `ptx` are reduced and kept here.

use super::{Buffer, HEADER, run};
use crate::exec::launch::Fault;
use crate::module::image;
use std::fmt::Write;

/// Returns the message with which a text is refused.
#[track_caller]
fn refused(text: &str) -> String {
    match image(&format!("{HEADER}{text}")) {
        Err(error) => error.message,
        Ok(_) => panic!("it was accepted"),
    }
}

/// Compiles the kernel `k` of a text for both engines, runs it on a buffer of one word, and returns the word.
#[track_caller]
fn result(text: &str) -> Result<u64, Fault> {
    let image = image(&format!("{HEADER}{text}")).unwrap_or_else(|error| panic!("{error}"));
    let kernel = &image.kernels["k"];
    kernel.fibers(&[], false).unwrap_or_else(|why| panic!("{why}"));
    let out = Buffer::new(&[0]);
    run(&image, "k", [1, 1, 1], [1, 1, 1], &[out.0])?;
    Ok(out.read(1)[0])
}

fn kernel(body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 out) {{ .reg .pred %p<4>; .reg .b32 %r<400>; .reg .b64 %rd<4>;
        ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1];
        {body} st.global.u32 [%rd1], %r1; ret; }}"
    )
}

/// Found: memory orders that are invalid for an access reached LLVM, which rejected them.
#[test]
fn orders_that_an_access_cannot_have() {
    for text in [
        "st.acquire.gpu.u32 [%rd1], 1;",
        "ld.release.gpu.u32 %r1, [%rd1];",
        "ld.sc.gpu.u32 %r1, [%rd1];",
        "red.acquire.gpu.add.u32 [%rd1], 1;",
        "atom.volatile.add.u32 %r1, [%rd1], 1;",
    ] {
        assert!(refused(&kernel(text)).contains("is not allowed here"), "{text}");
    }
}

/// Found: a loop that is entered only from unreachable code got a region that was not emitted.
#[test]
fn loops_entered_from_unreachable_text() {
    let text = "bra GO; DEAD: setp.eq.u32 %p2, %r3, 7; @%p2 bra TURN; bra OUT;
        GO: mov.u32 %r2, 0; TURN: add.u32 %r1, %r1, %r2; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 5; @%p1 bra TURN;
        bra END; OUT: add.u32 %r1, %r1, 100; END:";
    assert_eq!(result(&kernel(text)), Ok(10));
}

#[test]
fn accesses_outside_of_parameters() {
    let call = ".param .b32 a; st.param.b32 [a+4], 1;";
    for text in
        ["ld.param.u64 %rd2, [out+1];", "ld.param.v2.u64 {%rd2, %rd3}, [out];", "ld.param.u8 %r2, [out-1];", call]
    {
        assert!(refused(&kernel(text)).contains("are not in the parameters"), "{text}");
    }
    assert_eq!(result(&kernel("ld.param.u32 %r1, [out+4]; ld.param.u8 %r2, [out+7]; mov.u32 %r1, 5;")), Ok(5));
}

#[test]
fn memory_that_no_device_has() {
    assert!(refused(".global .b8 a[4294967295]; .global .b8 b[4294967295];").contains("exceed 4 GiB"));
    assert!(refused(".global .b64 a[4294967295][4294967295][4294967295];").contains("exceed 4 GiB"));
    assert!(refused(&kernel(".local .b8 a[1000000];")).contains("524288 bytes of local memory"));
    assert!(refused(&kernel(".shared .b8 a[3000000000];")).contains("larger than 2 GiB"));
    assert!(refused(&kernel(".param .b8 a[2000000];")).contains("1 MiB"));
    assert!(refused(&kernel(".reg .b32 %a<1000000>; .reg .b32 %b<1000000>;")).contains("1048576 registers"));
}

/// Registers that are declared and unused cost nothing.
#[test]
fn a_million_registers() {
    assert_eq!(
        result(&kernel(".reg .b64 %many<1000000>; mov.b64 %many999999, 3; cvt.u32.u64 %r1, %many999999;")),
        Ok(3)
    );
}

#[test]
fn nesting_without_end() {
    assert!(refused(&format!(".global .b8 a[4] = {}1{};", "{".repeat(9000), "}".repeat(9000))).contains("too deeply"));
    assert_eq!(result(&kernel(&format!("{}add.u32 %r1, %r1, 2;{}", "{".repeat(9000), "}".repeat(9000)))), Ok(2));
}

/// Loop nests that are deeper than LLVM's optimisers can handle.
#[test]
fn loops_in_loops() {
    let mut text = String::new();
    for depth in 0..300 {
        let _ = write!(text, "mov.u32 %r{}, 0; L{depth}: ", depth + 10);
    }
    for depth in (0..300).rev() {
        let counter = depth + 10;
        // The innermost loop has five iterations, the others one.
        let turns = if depth == 299 { 5 } else { 1 };
        let _ = write!(
            text,
            "add.u32 %r1, %r1, 1; add.u32 %r{counter}, %r{counter}, 1; setp.lt.u32 %p1, %r{counter}, {turns};
            @%p1 bra L{depth};"
        );
    }
    assert_eq!(result(&kernel(&text)), Ok(304));
    let labels: String = (0..5000).map(|label| format!("L{label}: add.u32 %r1, %r1, 1;")).collect();
    let jumps: String = (0..5000).map(|label| format!("setp.eq.u32 %p1, %r1, {label}; @%p1 bra L{label};")).collect();
    assert!(refused(&kernel(&format!("{labels}{jumps}"))).contains("too many loops"));
}

/// A kernel that LLVM would need minutes to optimise.
#[test]
fn forty_thousand_instructions() {
    assert_eq!(result(&kernel(&"add.u32 %r1, %r1, 3; xor.b32 %r1, %r1, 1;".repeat(20_000))), {
        Ok(u64::from((0..20_000).fold(0u32, |x, _| x.wrapping_add(3) ^ 1)))
    });
}

/// The longest chain that is still optimised: LLVM recurses along it, deeper than a thread's usual stack.
#[test]
fn eight_thousand_instructions() {
    assert_eq!(result(&kernel(&"add.u32 %r1, %r1, 3; xor.b32 %r1, %r1, 1;".repeat(4_000))), {
        Ok(u64::from((0..4_000).fold(0u32, |x, _| x.wrapping_add(3) ^ 1)))
    });
}

/// Found: LLVM's vectoriser took twice as long with each of these steps on a value that all threads load.
#[test]
fn a_hundred_rounds_on_a_value_that_all_threads_load() {
    let rounds = |body: &str| {
        let text = format!(
            ".visible .entry k(.param .u64 out) {{ .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
            ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1]; mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4;
            add.u64 %rd3, %rd1, %rd2; {} add.u32 %r1, %r1, %r2; st.global.u32 [%rd3+512], %r1; ret;
            T: st.global.u32 [%rd1], 5; trap; }}",
            body.repeat(100)
        );
        let image = image(&format!("{HEADER}{text}")).unwrap_or_else(|error| panic!("{error}"));
        let out = Buffer::new(&[1_057_803_469; 256]);
        run(&image, "k", [1, 1, 1], [128, 1, 1], &[out.0]).unwrap();
        (0..128).map(|at| (out.read(128)[64 + at / 2] >> (32 * (at % 2))) as u32).collect::<Vec<_>>()
    };
    let each = |last: u32| (0..128).map(|at| last.wrapping_add(at)).collect::<Vec<u32>>();
    let xor = (0..100).fold(1_057_803_469u32, |mut x, _| {
        x ^= x << 13;
        x ^= x >> 17;
        x ^ x << 5
    });
    let shift = |how: &str, by: u32| format!("{how} %r3, %r1, {by}; xor.b32 %r1, %r1, %r3;");
    let text = [shift("shl.b32", 13), shift("shr.u32", 17), shift("shl.b32", 5)].concat();
    assert_eq!(rounds(&format!("{text} setp.eq.u32 %p1, %r1, 77; @%p1 bra T;")), each(xor));
    assert_eq!(rounds(&text), each(xor));
    let map = (0..100).fold(f32::from_bits(1_057_803_469), |x, _| 3.75 * x * (1.0 - x));
    let text = "mul.rn.f32 %r3, %r1, 0f40700000; sub.rn.f32 %r4, 0f3F800000, %r1; mul.rn.f32 %r1, %r3, %r4;
        setp.gt.f32 %p1, %r1, 0f40000000; @%p1 bra T;";
    assert_eq!(rounds(text), each(map.to_bits()));
}
