//! Errors for invalid launches, indices out of bounds, a missing driver and invalid PTX: the errors name the value and the
//! limit, and nothing is launched.

use std::sync::Arc;

use cuda_driver::cuda_sys::{CUresult, DriverApi};
use cuda_driver::{Driver, LaunchConfigError, Module};
use cuda_prelude::*;
use ndarray::Array1;

use crate::support::{add_arrays, in_own_process};

#[kernel]
fn mark(out: &mut [u32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = 1;
    }
}

/// Launches `mark` with an invalid configuration and returns the error; fails if anything was launched.
#[track_caller]
fn refusal(config: impl Into<LaunchConfig>) -> LaunchConfigError {
    let mut out = zeros::<u32, _>(64).expect("a few bytes");
    let error = mark::launch(config.into(), &mut out).expect_err("the configuration is impossible");
    let text = error.to_string();
    let Error::Driver(cuda_driver::Error::LaunchConfig(refusal)) = error else { panic!("{text}") };
    assert!(text.ends_with("nothing was launched"), "{text}");
    synchronize().expect("nothing is left to be reported");
    assert_eq!(out.copy_to_host().expect("it is there").sum(), 0, "launched in spite of: {text}");
    *refusal
}

/// The device's limits.
fn limits() -> cuda_driver::DeviceLimits {
    current_device().and_then(|device| Ok(device.limits()?.clone())).expect("there is a device")
}

#[test]
fn a_block_of_no_threads() {
    let limit = limits().max_block[0];
    assert_eq!(
        refusal((1, 0)).to_string(),
        format!("block of 0 threads: x is 0, it must be from 1 to {limit}; nothing was launched")
    );
    assert!(refusal((1, (32, 0))).to_string().starts_with("block of (32, 0) threads: y is 0,"));
    assert!(refusal((0, 32)).to_string().starts_with("grid of 0 blocks: x is 0,"));
    assert!(refusal((1, -5)).to_string().contains("x is -5,"));
}

#[test]
fn a_block_of_too_many_threads() {
    let limits = limits();
    let over = limits.max_block[0] + 1;
    let text = refusal((1, over)).to_string();
    assert!(text.contains(&format!("x is {over}, it must be from 1 to {}", limits.max_block[0])), "{text}");
    let half = limits.max_threads_per_block / 2 + 1;
    let LaunchConfigError::BlockThreads { threads, limit, .. } = refusal((1, (half, 2))) else { panic!() };
    assert_eq!((threads, limit), (u64::from(half) * 2, limits.max_threads_per_block));
}

#[test]
fn a_grid_that_is_too_large() {
    let [x, y, _] = limits().max_grid;
    let text = refusal(((1, u64::from(y) + 1), 1)).to_string();
    assert!(text.contains(&format!("y is {}, it must be from 1 to {y}", u64::from(y) + 1)), "{text}");
    let text = refusal((u64::from(x) + 1, 1)).to_string();
    assert!(text.contains(&format!("x is {}, it must be from 1 to {x}", u64::from(x) + 1)), "{text}");
    // A value that does not fit in 32 bits is refused and not truncated.
    assert!(refusal(((1_u64 << 32) + 1, 1)).to_string().contains("x is 4294967297,"));
    assert!(refusal((usize::MAX, 1)).to_string().contains("x is 18446744073709551615,"));
}

#[test]
fn the_wrong_number_of_dimensions() {
    assert_eq!(
        refusal((vec![1, 1, 1, 1], 32)).to_string(),
        "grid in 4 dimensions: it must be in 1 to 3; nothing was launched"
    );
    assert!(refusal((1, &[] as &[usize])).to_string().starts_with("block in 0 dimensions: it must be in 1 to 3"));
    // `mark` uses a one-dimensional position, which several threads of a two-dimensional launch would share.
    let LaunchConfigError::Dimensions { kernel, given, used } = refusal((1, (8, 8))) else { panic!() };
    assert_eq!((kernel.as_deref(), given, used), (Some("mark"), 2, 1));
}

#[test]
fn too_much_shared_memory() {
    let limit = limits().shared_per_block_optin;
    let text = refusal(LaunchConfig::new(1, 32).shared_bytes(limit + 1)).to_string();
    assert!(text.contains(&format!("{} bytes of dynamic shared memory", limit + 1)), "{text}");
    assert!(text.contains(&format!("at most {limit} bytes")), "{text}");
}

/// Reads one element beyond the end.
const LINE: u32 = line!() + 5;
#[kernel]
fn next(x: &[i32], out: &mut [i32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i + 1];
    }
}

// A context reports a panic to the first thread that synchronises, so the kernels that panic run in a process of their own.

#[test]
fn an_index_out_of_bounds() {
    in_own_process("bad_input::an_index_out_of_bounds", &[], || index_out_of_bounds().expect("the rest works"));
}

fn index_out_of_bounds() -> Result<()> {
    let n = 1000;
    let x = to_device(&Array1::from_iter(0..n as i32))?;
    let mut out = zeros::<i32, _>(n)?;
    next::launch((8, 128), &x, &mut out)?;
    let error = synchronize().expect_err("the last thread reads too far");
    let panic = error.kernel_panic().unwrap_or_else(|| panic!("{error}"));
    assert_eq!(panic.kernel, "next");
    assert!(panic.file.ends_with("bad_input.rs"), "{}", panic.file);
    assert_eq!(panic.line, LINE);
    assert_eq!(panic.message, "index out of bounds: the len is 1000 but the index is 1000");
    assert_eq!((panic.block, panic.thread), ([7, 0, 0], [103, 0, 0]));
    let text = error.to_string();
    for part in ["`next`", "bad_input.rs", "the index is 1000", "the len is 1000", "block 7, 0, 0", "thread 103, 0, 0"]
    {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    // The panic is reported once; the other threads have written their results, and the context stays usable.
    synchronize()?;
    let host = out.copy_to_host()?;
    assert_eq!(host.slice(ndarray::s![..n - 1]), Array1::from_iter(1..n as i32));
    assert_eq!(host[n - 1], 0, "the thread that panicked wrote nothing");
    let mut sum = device_array_like(&x)?;
    add_arrays::launch((8, 128), &x, &x, &mut sum)?;
    assert_eq!(sum.copy_to_host()?, Array1::from_iter((0..n as i32).map(|i| 2 * i)));
    Ok(())
}

#[test]
fn copying_the_output_of_a_panicked_kernel_reports_the_panic() {
    in_own_process("bad_input::copying_the_output_of_a_panicked_kernel_reports_the_panic", &[], || {
        let x = to_device(&Array1::from_iter(0..32)).expect("there is room");
        let mut out = zeros::<i32, _>(32).expect("there is room");
        next::launch((1, 32), &x, &mut out).expect("it is launched");
        let error = Error::from(out.copy_to_host().expect_err("the kernel panicked"));
        assert!(error.kernel_panic().is_some(), "{error}");
        assert_eq!(out.copy_to_host().expect("it was reported")[0], 1);
    });
}

#[test]
fn a_missing_driver() {
    let path = "/nowhere/libcuda.so.1";
    in_own_process("bad_input::a_missing_driver", &[("CUDA_DRIVER_PATH", Some(path))], || {
        let error = to_device(&Array1::<f32>::zeros(1)).expect_err("there is no such driver").to_string();
        assert!(error.contains(path), "{error}");
        assert!(!is_available(), "a test for it must not fail");
    });
}

/// A driver's error for invalid PTX.
fn refused(driver: &Driver, ptx: &str) -> Result<cuda_driver::JitError> {
    let context = driver.device(0)?.primary_context()?;
    // SAFETY: the driver refuses the module, so none of its code can run.
    let error = unsafe { Module::load_ptx(&context, ptx) }.expect_err("it is no PTX");
    let text = error.to_string();
    let cuda_driver::Error::Jit(error) = error else { panic!("{text}") };
    Ok(*error)
}

const HEAD: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";

#[test]
fn invalid_ptx() -> Result<()> {
    let error = refused(driver()?, &format!("{HEAD}.visible .entry k()\n{{\n\tfrobnicate.b32 %r1;\n\tret;\n}}\n"))?;
    assert_eq!(error.code, CUresult::CUDA_ERROR_INVALID_PTX);
    assert_eq!(error.line, Some(6), "{error}");
    Ok(())
}

/// The software device's log also names the column.
#[test]
fn invalid_ptx_on_the_software_device() -> Result<()> {
    let driver = Driver::new(cuda_sim::driver_api())?;
    let cases = [
        (format!("{HEAD}.visible .entry k()\n{{\n\tfrobnicate.b32 %r1;\n\tret;\n}}\n"), 6, "frobnicate"),
        (format!("{HEAD}nonsense\n"), 4, "nonsense"),
        (format!("{HEAD}.visible .entry k()\n{{\n\tadd.u32 %r1, %r2, %r3;\n\tret;\n}}\n"), 6, "%r1"),
    ];
    for (ptx, line, word) in cases {
        let error = refused(&driver, &ptx)?;
        assert_eq!(error.code, CUresult::CUDA_ERROR_INVALID_PTX, "{error}");
        assert_eq!(error.line, Some(line), "{error}");
        assert!(error.column.is_some(), "{error}");
        assert!(error.log.contains(word), "`{word}` is not in the log of: {error}");
    }
    Ok(())
}

/// Opening a library that is not a driver is an error that names the missing function.
#[test]
fn a_library_that_is_no_driver() {
    // SAFETY: the library is already open, and has none of the driver's functions.
    let api = unsafe { DriverApi::load_from("libc.so.6") }.expect("every Linux has it");
    let error = Driver::new(Arc::new(api)).expect_err("libc has no cuInit").to_string();
    assert!(error.contains("cuInit") && error.contains("libc.so.6"), "{error}");
}
