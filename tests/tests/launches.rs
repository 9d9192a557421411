//! The ways to launch: tuples, a configuration, occupancy's choice, arrays without elements.

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

#[kernel]
fn shared_numbers(out: &mut [u64]) {
    let numbers = dynamic_shared!([u16]);
    let i = grid::<1>();
    if i < out.len() {
        out[i] = numbers.len() as u64;
    }
}

/// In a stream, in a scope of one, and with dynamic shared memory, which occupancy counts.
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
fn a_compiled_kernel_says_what_it_needs() -> Result<()> {
    let kernel = add_arrays::<f32>::compile()?;
    assert!(kernel.ptx().contains(".entry add_arrays_f32"), "{}", kernel.ptx());
    assert!(kernel.max_threads_per_block() >= 256);
    assert!(kernel.max_active_blocks(128, 0)? > 0);
    assert_eq!(kernel.shared_bytes(), 0);
    Ok(())
}

/// The PTX of a target depends on nothing of this machine: no driver is opened for it.
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
