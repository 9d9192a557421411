//! Breakpoints in kernels: the software device reports each one with its line, and the kernel continues.

use cuda_jit::device::{breakpoint, grid};
use cuda_jit::{device, kernel};

use super::{child, is_child};
use crate::device::{on_device, on_host};

const LINE: u32 = line!() + 4;
#[device]
fn stop_at(value: u32, at: u32) {
    if value == at {
        breakpoint();
    }
}

#[kernel(lineinfo)]
fn watched(x: &mut [u32], at: u32) {
    let i = grid::<1>();
    stop_at(x[i], at);
    x[i] += 1;
}

#[kernel]
fn without_lines(x: &mut [u32]) {
    breakpoint();
    x[0] = 7;
}

#[test]
fn a_breakpoint_is_reported_and_the_kernel_continues() {
    if is_child() {
        let mut x = on_device(&(0..96).collect::<Vec<u32>>());
        watched::launch((3, 32), &mut x, 70).unwrap();
        assert_eq!(on_host(&x), (1..97).collect::<Vec<u32>>());
        without_lines::launch((1, 1), &mut x).unwrap();
        assert_eq!(on_host(&x)[0], 7);
        return;
    }
    let test = "around::breakpoints::a_breakpoint_is_reported_and_the_kernel_continues";
    for engine in ["regions", "fibers"] {
        let said = child(test, &[("CUDA_SIM_ENGINE", engine.as_ref())]);
        let lines: Vec<_> = said.lines().filter(|line| line.contains("breakpoint:")).collect();
        assert_eq!(lines.len(), 2, "{said}");
        let source = format!("breakpoints.rs:{LINE})");
        assert!(lines[0].starts_with("cuda-sim: kernel `watched`, at line ") && lines[0].contains(&source), "{said}");
        assert!(lines[0].ends_with(": breakpoint: block (2, 0, 0), thread (6, 0, 0)"), "{said}");
        assert!(lines[1].starts_with("cuda-sim: kernel `without_lines`, at line "), "{said}");
    }
}

#[test]
fn on_the_host_it_does_nothing() {
    let mut x = [0; 4];
    cuda_jit::host::for_each_thread((1, 4), || watched(&mut x, 0));
    assert_eq!(x, [1; 4]);
}
