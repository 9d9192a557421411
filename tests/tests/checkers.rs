//! The software device's checkers under programs of the prelude: reports name the lines of the kernels' source, and a launch
//! with a report fails where that is asked for.

use cuda_prelude::*;

use crate::support::in_own_process;

/// Every thread writes the first element.
#[kernel]
fn racy(out: &mut [u32]) {
    out[0] = thread_idx().x as u32;
}

/// Every thread writes its own element.
#[kernel]
fn apart(out: &mut [u32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = i as u32;
    }
}

const RACES: [(&str, Option<&str>); 3] =
    [("CUDA_DRIVER_PATH", Some("sim")), ("CUDA_SIM_CHECK", Some("race")), ("CUDA_SIM_CHECK_RESULT", Some("error"))];

#[test]
fn a_report_names_the_line_and_the_launch_fails() {
    let text = in_own_process("checkers::a_report_names_the_line_and_the_launch_fails", &RACES, || {
        let mut out = zeros::<u32, _>(64).unwrap();
        assert!(racy::launch((1, 64), &mut out).and_then(|()| synchronize()).is_err());
    });
    if text.is_empty() {
        return;
    }
    assert_eq!(text.matches("cuda-sim: race: race of two writes in `racy`").count(), 1, "{text}");
    assert!(text.contains("tests/checkers.rs:11"), "{text}");
}

#[test]
fn a_kernel_without_a_race_has_no_report() {
    let text = in_own_process("checkers::a_kernel_without_a_race_has_no_report", &RACES, || {
        let mut out = zeros::<u32, _>(64).unwrap();
        apart::launch((1, 64), &mut out).unwrap();
        assert_eq!(out.copy_to_host().unwrap()[63], 63);
    });
    assert!(!text.contains("cuda-sim: race"), "{text}");
}
