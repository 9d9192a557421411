//! Kernels whose expressions nest as deeply as rustc accepts, compiled and launched by a thread with a small stack.
//!
//! Expressions that nest without brackets nest 5,000 times, except where LLVM (conjunctions) or the typing probe
//! (methods) has quadratic time. Brackets nest 400 times: rustc's own parser overflows its stack at some 1,000, and the
//! macros refuse beyond 500.

use std::fmt::Write as _;

use crate::programs::Program;

/// An expression over `x: &[u32]` and `a: u32` with a given nesting depth.
type Shape = fn(usize) -> String;

/// Each expression and its nesting depth.
const SHAPES: [(&str, Shape, usize); 21] = [
    ("operators", |n| terms(n, " ^ ", |k| format!("x[{}]", k % 8)), 5000),
    ("operators_to_the_right", |n| nested(n, |_| "(1 ^ ".to_owned(), "x[0]", ")"), 400),
    ("conjunctions", |n| format!("({}) as u32", terms(n, " && ", |k| format!("x[{}] > {}", k % 8, k % 2))), 1500),
    ("disjunctions", |n| format!("({}) as u32", terms(n, " || ", |k| format!("x[{}] > {}", k % 8, k + 9))), 2000),
    ("else_ifs", |n| terms(n, " else ", |k| format!("if a == {k} {{ {} }}", k + 3)) + " else { 7 }", 5000),
    ("else_if_lets", |n| terms(n, " else ", |k| format!("if let {k} = a {{ {} }}", k + 3)) + " else { 7 }", 1000),
    ("methods", |n| format!("a{}", terms(n, "", |k| format!(".rotate_left({})", k % 32))), 300),
    ("signs", |n| "!".repeat(n) + "a", 5000),
    ("parentheses", |n| nested(n, |_| "(".to_owned(), "a", ")"), 400),
    ("calls", |n| nested(n, |_| "same(".to_owned(), "a", ")"), 400),
    ("casts", |n| "a".to_owned() + &" as u64 as u32".repeat(n), 1000),
    ("references", |n| "*&".repeat(n) + "a", 1000),
    ("indices", |n| nested(n, |_| "x[".to_owned(), "0", " as usize % 8]"), 300),
    ("blocks", |n| nested(n, |k| format!("{{ let a = a ^ {k}; "), "a", " }"), 400),
    ("ifs", |n| nested(n, |k| format!("if x[{}] > {} {{ ", k % 8, k % 2), "a", " } else { 3 }"), 400),
    ("matches", |n| nested(n, |k| format!("match x[{}] {{ {} => 1, _ => ", k % 8, k + 9), "a", " }"), 400),
    ("loops", |n| nested(n, |_| "loop { break ".to_owned(), "a", " }"), 300),
    ("closures", |n| nested(n, |_| "{ let f = |a: u32| ".to_owned(), "a ^ 1", "; f(a) }"), 100),
    ("tuples", |n| format!("{}{}", nested(n, |_| "(".to_owned(), "a", ", 1)"), ".0".repeat(n)), 100),
    ("arrays", |n| format!("{{ let t = {}; t{} }}", nested(n, |_| "[".to_owned(), "a", "]"), "[0]".repeat(n)), 100),
    ("statements", |n| format!("{{ let a = a; {}a }}", terms(n, "", |k| format!("let a = a ^ x[{}]; ", k % 8))), 1000),
];

fn terms(n: usize, between: &str, term: impl Fn(usize) -> String) -> String {
    (0..n).map(term).collect::<Vec<_>>().join(between)
}

fn nested(n: usize, open: impl Fn(usize) -> String, inside: &str, close: &str) -> String {
    (0..n).map(open).collect::<String>() + inside + &close.repeat(n)
}

#[test]
fn kernels_nest_as_deeply_as_rustc_lets_them() {
    Program::new("deep_kernels", program()).succeeds();
}

/// A program with a kernel for each expression, which compares the software device's result with the host's.
fn program() -> String {
    let mut text = String::from(
        "#![allow(warnings)]\nuse cuda_jit::{device, kernel};\n\n#[device]\nfn same(a: u32) -> u32 {\n    a\n}\n\n",
    );
    let mut calls = String::new();
    for (name, shape, times) in SHAPES {
        let body = shape(times);
        writeln!(text, "#[kernel]\nfn {name}(x: &[u32], a: u32, out: &mut [u32]) {{\n    out[0] = {body};\n}}\n")
            .expect("writing to a string");
        writeln!(
            calls,
            "    {name}(&x, 5, &mut expected);\n    {name}::launch((1, 1), &x, 5, &mut out)?;\n    \
                         assert_eq!(out, expected, \"{name}\");"
        )
        .expect("writing to a string");
    }
    let main = "fn main() {\n    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(run).unwrap();\n    \
                thread.join().unwrap().unwrap();\n}\n";
    format!(
        "{text}fn run() -> cuda_jit::Result<()> {{\n    \
         let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;\n    \
         let _selected = context.select();\n    let x: Vec<u32> = (2..10).collect();\n    \
         let (mut out, mut expected) = (vec![0_u32], vec![0_u32]);\n{calls}    Ok(())\n}}\n\n{main}"
    )
}
