//! The forms of a launch: tuples, a configuration, a block size chosen by occupancy, and empty arrays.

use cuda_prelude::*;
use ndarray::Array1;

use crate::support::add_arrays;

#[kernel]
fn number(out: &mut [u32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = i as u32 + 1;
    }
}

#[test]
fn forall_covers_every_index() -> Result<()> {
    for n in [1, 31, 1024, 100_003] {
        let mut out = zeros::<u32, _>(n)?;
        number::forall(n, &mut out)?;
        assert_eq!(out.copy_to_host()?, Array1::from_iter(1..=n as u32), "{n} elements");
    }
    Ok(())
}

#[test]
fn forall_counts_in_any_integer_type() -> Result<()> {
    let mut out = zeros::<u32, _>(100)?;
    number::forall(100, &mut out)?;
    number::forall(100_u32, &mut out)?;
    number::forall((100_i64, &stream()?), &mut out)?;
    number::forall(0_u64, &mut out)?;
    let error = number::forall(-100, &mut out).expect_err("no grid has so few threads").to_string();
    assert!(error.contains("x is -100, it must be from 1"), "{error}");
    Ok(())
}

#[kernel]
fn shared_numbers(out: &mut [u64]) {
    let numbers = dynamic_shared!([u16]);
    let i = grid::<1>();
    if i < out.len() {
        out[i] = numbers.len() as u64;
    }
}

/// Launches in a stream, in a stream's scope, and with dynamic shared memory, which the occupancy includes.
#[test]
fn forall_takes_a_stream_and_shared_memory() -> Result<()> {
    let s = stream()?;
    let x = to_device(&Array1::from_iter((0..1000).map(f64::from)))?;
    let mut out = device_array_like(&x)?;
    crate::support::add_arrays::forall((1000, &s), &x, &x, &mut out)?;
    s.scope(|s| Ok(crate::support::add_arrays::forall((1000, s), &x, &x, &mut out)?))?;
    assert_eq!(out.copy_to_host()?[999], 1998.0);
    let mut lengths = zeros::<u64, _>(5000)?;
    shared_numbers::forall((5000, &s, 100), &mut lengths)?;
    assert_eq!(lengths.copy_to_host()?, Array1::from_elem(5000, 50));
    s.scope(|s| Ok(shared_numbers::forall((5000, s, 40_000), &mut lengths)?))?;
    assert_eq!(lengths.copy_to_host()?, Array1::from_elem(5000, 20_000));
    Ok(())
}

#[test]
fn forall_of_nothing_launches_nothing() -> Result<()> {
    let mut out = zeros::<u32, _>(4)?;
    number::forall(0, &mut out)?;
    assert_eq!(out.copy_to_host()?.to_vec(), [0; 4]);
    Ok(())
}

#[test]
fn every_form_of_a_configuration_launches_the_same() -> Result<()> {
    let s = stream()?;
    let dims = vec![2_usize];
    let configs = [
        LaunchConfig::from((2, 32)),
        LaunchConfig::from(((2, 1), (32_u32, 1_u64, 1_i64))),
        LaunchConfig::from((2, 32, &s)),
        LaunchConfig::from((2, 32, &s, 1024)),
        LaunchConfig::from((&dims, [32])),
        LaunchConfig::new(2, 32).stream(&s).shared_bytes(64),
    ];
    for config in configs {
        let mut out = zeros::<u32, _>(60)?;
        let text = format!("{config:?}");
        number::launch(config, &mut out)?;
        assert_eq!(out.copy_to_host()?, Array1::from_iter(1..=60), "{text}");
    }
    Ok(())
}

#[test]
fn arrays_without_elements_can_be_passed() -> Result<()> {
    let empty = to_device(&Array1::<f32>::zeros(0))?;
    let mut out = device_array_like(&empty)?;
    add_arrays::launch((1, 32), &empty, &empty, &mut out)?;
    synchronize()?;
    assert_eq!(out.copy_to_host()?.len(), 0);
    Ok(())
}

#[test]
fn a_compiled_kernel_reports_its_resources() -> Result<()> {
    let kernel = add_arrays::<f32>::compile()?;
    assert!(kernel.ptx().contains(".entry add_arrays_f32"), "{}", kernel.ptx());
    assert!(kernel.max_threads_per_block() >= 256);
    assert!(kernel.max_active_blocks(128, 0)? > 0);
    assert_eq!(kernel.shared_bytes(), 0);
    Ok(())
}

/// Compiling for a target depends on nothing of this machine and opens no driver.
#[test]
fn compiling_needs_no_device() {
    let nowhere = [("CUDA_DRIVER_PATH", Some("/nowhere/libcuda.so.1"))];
    crate::support::in_own_process("launches::compiling_needs_no_device", &nowhere, || {
        for (cc, name) in [((7, 5), "sm_75"), ((9, 0), "sm_90"), ((12, 0), "sm_120")] {
            let ptx = add_arrays::<f32>::compile_ptx(cc).expect("no device is needed");
            assert!(ptx.contains(&format!(".target {name}")), "{ptx}");
        }
        assert!(driver().is_err(), "this process has no driver");
    });
}

/// A kernel with the largest number of parameters.
#[kernel]
#[rustfmt::skip]
fn many(a0: u32, a1: u32, a2: u32, a3: u32, a4: u32, a5: u32, a6: u32, a7: u32, a8: u32, a9: u32, a10: u32, a11: u32, a12: u32, a13: u32, a14: u32, a15: u32, a16: u32, a17: u32, a18: u32, a19: u32, a20: u32, a21: u32, a22: u32, a23: u32, a24: u32, a25: u32, a26: u32, a27: u32, a28: u32, a29: u32, a30: u32, out: &mut [u32]) {
    let all = [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30];
    let i = grid::<1>();
    if i < out.len() {
        out[i] = all[i];
    }
}

#[test]
#[rustfmt::skip]
fn a_kernel_has_up_to_32_parameters() -> Result<()> {
    let mut out = [0; 31];
    many::launch((1, 32), 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, &mut out)?;
    assert!(out.iter().copied().eq(100..131), "{out:?}");
    Ok(())
}
