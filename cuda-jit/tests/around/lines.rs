//! Line tables in the PTX: the lines of this file that the instructions have.

use std::collections::BTreeSet;

use cuda_jit::device::grid;
use cuda_jit::{device, kernel};

use crate::device::{context, on_device, on_host};

const TWICE_LINE: u32 = line!() + 3;
#[device]
fn twice(v: f32) -> f32 {
    v * 2.0 + 1.0
}

const KERNEL_LINE: u32 = line!() + 2;
#[kernel(lineinfo)]
fn profiled(x: &mut [f32]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] = twice(x[i]);
    }
}

#[kernel(debug)]
fn debugged(x: &mut [f32]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] = twice(x[i]);
    }
}

#[kernel]
fn plain(x: &mut [f32]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] = twice(x[i]);
    }
}

/// The lines of this file in `.loc` directives.
fn lines(ptx: &str) -> BTreeSet<u32> {
    let file = ptx.lines().find_map(|line| {
        let (number, name) = line.trim().strip_prefix(".file")?.trim().split_once(' ')?;
        name.contains("tests/around/lines.rs").then(|| number.trim().to_owned())
    });
    let file = file.unwrap_or_else(|| panic!("no .file in\n{ptx}"));
    let place = |line: &str| {
        let rest = line.trim().strip_prefix(".loc")?.trim().strip_prefix(&file)?.trim();
        rest.split(' ').next()?.parse().ok()
    };
    ptx.lines().filter_map(place).collect()
}

#[test]
fn a_profiler_finds_the_lines_of_the_kernel_and_of_what_was_inlined() {
    for cc in ["7.5", "9.0", "12.0"] {
        let ptx = profiled::compile_ptx(cc).unwrap();
        let lines = lines(&ptx);
        assert!(lines.contains(&(KERNEL_LINE + 2)), "{lines:?}\n{ptx}");
        assert!(lines.contains(&(KERNEL_LINE + 3)), "{lines:?}\n{ptx}");
        assert!(lines.contains(&TWICE_LINE), "{lines:?}\n{ptx}");
        assert!(!ptx.contains(", debug"), "{ptx}");
    }
}

/// A device function that the kernel calls through another.
const INNER_LINE: u32 = line!() + 3;
#[device]
fn inner(v: f32) -> f32 {
    v.sqrt() * 3.0
}

const OUTER_LINE: u32 = line!() + 3;
#[device]
fn outer(v: f32) -> f32 {
    inner(v)
}

const NESTED_LINE: u32 = line!() + 3;
#[kernel(lineinfo)]
fn nested(x: &mut [f32]) {
    x[0] = outer(x[0]);
}

/// A function that takes a closure is inlined by the front end, before LLVM.
const APPLY_LINE: u32 = line!() + 3;
#[device]
fn apply<F: Fn(f32) -> f32>(v: f32, f: F) -> f32 {
    f(v.sqrt() * 5.0)
}

const CLOSURE_LINE: u32 = line!() + 3;
#[kernel(lineinfo)]
fn with_closure(x: &mut [f32]) {
    x[0] = apply(x[0], |v| v + 7.0);
}

#[test]
fn inlined_instructions_have_their_call_sites() {
    let ptx = profiled::compile_ptx((9, 0)).unwrap();
    let inlined = |ptx: &str, name: &str| {
        let bytes: Vec<String> = name.bytes().chain([0]).map(|byte| byte.to_string()).collect();
        let label = ptx.split_once(&format!(":\n.b8 {}\n", bytes.join(","))).expect("its name").0;
        let label = label.rsplit('\n').next().expect("a label").to_owned();
        let told = format!(", function_name {label}, inlined_at ");
        let line = ptx.lines().find(|line| line.contains(&told)).unwrap_or_else(|| panic!("{ptx}"));
        let (place, at) = line.split_once(&told).expect("it was found");
        let number = |place: &str, part: usize| place.split_whitespace().nth(part).and_then(|n| n.parse::<u32>().ok());
        [number(place, 2).expect("a line"), number(at, 1).expect("a line")]
    };
    assert_eq!(inlined(&ptx, "twice"), [TWICE_LINE, KERNEL_LINE + 3]);
    let ptx = nested::compile_ptx((9, 0)).unwrap();
    assert_eq!(inlined(&ptx, "outer"), [OUTER_LINE, NESTED_LINE]);
    assert_eq!(inlined(&ptx, "inner"), [INNER_LINE, OUTER_LINE]);
    assert!(!ptx.contains(" 107374"), "{ptx}");
    let ptx = with_closure::compile_ptx((9, 0)).unwrap();
    assert_eq!(inlined(&ptx, "apply"), [APPLY_LINE, CLOSURE_LINE]);
    match cuda_jit::inspect::assemble::<nested>((9, 0)) {
        Ok(assembled) => assert!(assembled.registers > 0),
        Err(error) => assert!(error.to_string().starts_with("found no `ptxas`"), "{error}"),
    }
}

#[test]
fn line_tables_change_no_instruction() {
    let instructions = |ptx: &str, name: &str| {
        let code = ptx.replace(name, "kernel");
        let kept =
            |line: &&str| !line.starts_with(['.', '/', '$', '}', ']']) && !line.is_empty() && !line.contains("debug");
        code.lines().map(str::trim).filter(kept).map(str::to_owned).collect::<Vec<_>>()
    };
    let (with, without) = (profiled::compile_ptx((9, 0)).unwrap(), plain::compile_ptx((9, 0)).unwrap());
    assert!(!without.contains(".loc"), "{without}");
    let body = |text: &str, name: &str| {
        let body = text.split_once('{').and_then(|(_, rest)| rest.split_once("\n}")).expect("a body").0;
        instructions(body, name)
    };
    assert_eq!(body(&with, "profiled"), body(&without, "plain"));
}

#[test]
fn a_debugger_gets_unoptimised_code_with_its_functions() {
    let ptx = debugged::compile_ptx((9, 0)).unwrap();
    assert!(ptx.contains(".target sm_90, debug") && ptx.contains(".section\t.debug_info"), "{ptx}");
    assert!(ptx.contains(".func") && ptx.contains("twice"), "{ptx}");
    assert!(lines(&ptx).contains(&TWICE_LINE), "{ptx}");
}

#[test]
fn kernels_with_line_tables_run() {
    let context = context();
    let _selected = context.select();
    let mut x = on_device(&[1.0_f32, 2.0, 3.0]);
    profiled::launch((1, 4), &mut x).unwrap();
    debugged::launch((1, 4), &mut x).unwrap();
    assert_eq!(on_host(&x), [7.0, 11.0, 15.0]);
}

#[test]
fn ptxas_takes_line_tables() {
    for cc in ["7.5", "9.0", "12.0"] {
        let assembled = [cuda_jit::inspect::assemble::<profiled>(cc), cuda_jit::inspect::assemble::<debugged>(cc)];
        for assembled in assembled {
            match assembled {
                Ok(assembled) => assert!(assembled.registers > 0),
                Err(error) => assert!(error.to_string().starts_with("found no `ptxas`"), "{error}"),
            }
        }
    }
}
