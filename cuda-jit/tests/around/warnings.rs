//! Performance warnings of launches, each in a child process whose standard error is read.

use cuda_driver::LaunchConfig;
use cuda_jit::kernel;
use cuda_jit::launch::InOut;
use cuda_jit::warnings::{self, Warning};

use super::{child, is_child};
use crate::device::{context, on_device};

#[kernel]
fn first(x: &mut [u32]) {
    x[0] = 1;
}

const NAME: &str = "around::warnings::slow_launches_warn_once_per_call_site_and_can_be_silenced";

#[test]
fn slow_launches_warn_once_per_call_site_and_can_be_silenced() {
    if is_child() {
        return launches();
    }
    // a card with so many multiprocessors that these grids are small
    let device = ("CUDA_SIM_PROFILE", "sm_90".as_ref());
    let said = child(NAME, &[device]);
    let lines: Vec<_> = said.lines().filter_map(|line| line.strip_prefix("cuda: ")).collect();
    assert_eq!(lines.len(), 4, "{said}");
    let place = |line: u32, column: u32| format!("cuda-jit/tests/around/warnings.rs:{line}:{column}: kernel `first`: ");
    for line in &lines[..2] {
        assert!(line.starts_with(&place(LOOP_LINE, 9)), "{line}");
    }
    let copied = "40 bytes of host memory are copied for argument 0; `to_device` copies them once (implicit-copy; ";
    let few = "a grid of 1 leaves some of the device's 132 multiprocessors without work (low-occupancy; ";
    assert!(lines[0].contains(few) && lines[1].contains(copied), "{said}");
    let only = |list: &str, count: usize, name: &str| {
        let said = child(NAME, &[device, ("CUDA_JIT_WARNINGS", list.as_ref())]);
        let lines: Vec<_> = said.lines().filter(|line| line.starts_with("cuda: ")).collect();
        assert_eq!(lines.len(), count, "{said}");
        assert!(lines.iter().all(|line| line.contains(name)), "{said}");
    };
    only("none", 0, "");
    only("implicit-copy", 1, "implicit-copy");
    only("low-occupancy", 3, "low-occupancy");
}

const LOOP_LINE: u32 = line!() + 8;

/// Small launches of host arrays.
fn launches() {
    let context = context();
    let _selected = context.select();
    let mut host = vec![0_u32; 10];
    for _ in 0..3 {
        first::launch((1, 1), &mut host).unwrap();
    }
    // Declared as intended: by the launch configuration, and for the copy by the argument.
    first::launch(LaunchConfig::new(1, 1).quiet(), &mut host).unwrap();
    first::launch((1, 1), InOut(&mut host)).unwrap();
    // Enough blocks, and grids that the user did not choose.
    let mut x = on_device(&[0_u32; 1000]);
    first::launch(((10, 10, 2), 1), &mut x).unwrap();
    first::forall(1000, &mut x).unwrap();
    // Another call site warns again, unless the program has disabled the warning.
    first::launch((1, 1), &mut x).unwrap();
    let was = warnings::is_enabled(Warning::LowOccupancy);
    warnings::set_enabled(Warning::LowOccupancy, false);
    first::launch((2, 1), &mut x).unwrap();
    let copies = warnings::is_enabled(Warning::ImplicitCopy);
    warnings::set_enabled(Warning::ImplicitCopy, false);
    first::launch((2, 1), &mut host).unwrap();
    warnings::set_enabled(Warning::ImplicitCopy, copies);
    warnings::set_enabled(Warning::LowOccupancy, was);
}
