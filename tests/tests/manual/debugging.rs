//! Debugging: the error of a kernel names its line, block and thread, without a special mode.

use cuda_prelude::*;

use crate::support::in_own_process;

#[kernel]
fn off_by_one(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i + 1];
    }
}

#[kernel]
fn divides(x: &[i32], by: &[i32], out: &mut [i32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i] / by[i];
    }
}

#[test]
fn an_index_beyond_the_end() {
    in_own_process("manual::debugging::an_index_beyond_the_end", &[], || {
        let x = zeros::<f32, _>(40).unwrap();
        let mut out = device_array_like(&x).unwrap();
        off_by_one::launch((2, 32), &x, &mut out).unwrap();
        let error = synchronize().unwrap_err().to_string();
        for part in
            ["off_by_one", "debugging.rs:11", "the index is 40", "the len is 40", "block 1, 0, 0; thread 7, 0, 0"]
        {
            assert!(error.contains(part), "no `{part}` in: {error}");
        }
    });
}

#[test]
fn a_division_by_zero() {
    in_own_process("manual::debugging::a_division_by_zero", &[], || {
        let one = to_device(&ndarray::array![1, 1, 1]).unwrap();
        let by = to_device(&ndarray::array![1, 0, 1]).unwrap();
        let mut out = zeros::<i32, _>(3).unwrap();
        divides::launch((1, 32), &one, &by, &mut out).unwrap();
        let error = synchronize().unwrap_err().to_string();
        assert!(error.contains("division by zero") && error.contains("thread 1, 0, 0"), "{error}");
        assert_eq!(out.copy_to_host().unwrap(), ndarray::array![1, 0, 1]);
    });
}
