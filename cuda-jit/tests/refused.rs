//! What the macros refuse, with the whole of rustc's output, and what they must accept.
//!
//! `TRYBUILD=overwrite` blesses the `.stderr` files. A type error in a kernel must be printed once, although the twin
//! has it too: the files show it.

use std::fmt::Write;

#[test]
fn diagnostics() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/refused/*.rs");
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let large = folder.join("large_kernel.rs");
    std::fs::write(&large, large_kernel(500)).expect("the target folder can be written");
    cases.pass(large.to_str().expect("the path is UTF-8"));
}

/// A program with a kernel of so many lines.
fn large_kernel(lines: usize) -> String {
    let mut text = String::from("#[cuda_jit::kernel]\nfn large(x: &[f32], out: &mut [f32]) {\n    let mut v = 0.0;\n");
    for line in 0..lines - 3 {
        match line % 5 {
            0 => writeln!(text, "    let a{line} = x[{line}] * 2.0 + v;"),
            1 => writeln!(text, "    let b{line} = if a{} > 1.0 {{ a{} }} else {{ v }};", line - 1, line - 1),
            2 => writeln!(text, "    for k in 0..{line}u32 {{ v += (k as f32).sqrt() * b{}; }}", line - 1),
            3 => writeln!(text, "    let (c{line}, d{line}) = (v as u32 & {line}, out.len() + {line});"),
            _ => writeln!(text, "    if (c{} as usize) < d{} {{ out[d{} - 1] = v; }}", line - 1, line - 1, line - 1),
        }
        .expect("writing to a string");
    }
    text.push_str("}\nfn main() { assert!(large::compile_ptx((9, 0)).unwrap().contains(\".entry large\")); }\n");
    text
}
