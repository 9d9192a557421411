//! Host memory that devices can access: pinned, mapped, managed and temporarily pinned; and deferred frees of device memory.

use cuda_prelude::*;
use ndarray::{Array1, Array2, ArrayViewMut2};

use crate::support::in_own_process;

#[kernel]
fn square(x: &mut [f64]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] *= x[i];
    }
}

#[kernel]
fn add_row_numbers(mut x: ArrayViewMut2<'_, i64>) {
    let (j, i) = grid::<2>();
    if i < x.nrows() && j < x.ncols() {
        x[[i, j]] += i as i64;
    }
}

/// Asynchronous copies in and out, in stream order.
#[test]
fn pinned_memory_is_copied_asynchronously() -> Result<()> {
    let stream = stream()?;
    let mut staging = pinned_array::<f64, _>(1000)?;
    staging.view_mut()?.assign(&Array1::from_iter((0..1000).map(f64::from)));
    let mut x = device_array::<f64, _>(1000)?;
    let sent = x.copy_from_pinned(staging, &stream)?;
    square::launch((8, 128, &stream), &mut x)?;
    let staging = sent.wait()?;
    let received = pollster::block_on(x.copy_to_pinned(staging, &stream)?)?;
    assert_eq!(received.view()?, Array1::from_iter((0..1000).map(|i| f64::from(i * i))));
    Ok(())
}

#[test]
fn mapped_and_managed_memory_is_used_in_place() -> Result<()> {
    let mut mapped = mapped_array::<i64, _>((3, 4))?;
    mapped.view_mut()?.fill(10);
    add_row_numbers::launch(((1, 1), (8, 8)), &mut mapped)?;
    let expected = Array2::from_shape_fn((3, 4), |(i, _)| 10 + i as i64);
    assert_eq!(mapped.view()?, expected);

    let mut managed = managed_array_like(&expected)?;
    managed.view_mut()?.assign(&expected);
    managed.prefetch(cuda_mem::MemoryLocation::Device(current_device()?.ordinal()), &default_stream()?)?;
    add_row_numbers::launch(((1, 1), (8, 8)), &mut managed)?;
    managed.prefetch(cuda_mem::MemoryLocation::Host, &default_stream()?)?;
    assert_eq!(managed.view()?, Array2::from_shape_fn((3, 4), |(i, _)| 10 + 2 * i as i64));
    Ok(())
}

/// The same memory can be pinned again immediately, also inside `defer_cleanup` and after a panic.
#[test]
fn memory_is_pinned_and_mapped_for_a_while() -> Result<()> {
    let mut host = Array1::from_elem(500, 3.0);
    let _deferred = defer_cleanup()?;
    for _ in 0..2 {
        mapped(&mut host, |x| square::launch((4, 128), x))??;
    }
    assert_eq!(host[499], 81.0);
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pinned(&mut host, |_| panic!("on purpose"))));
    assert!(panicked.is_err());
    let device = to_device(&host)?;
    let stream = stream()?;
    pinned(&mut host, |x| device.copy_to_pinned_mut(x, &stream).and_then(|()| Ok(stream.synchronize()?)))??;
    assert_eq!(host[0], 81.0);
    Ok(())
}

#[test]
fn frees_are_deferred() {
    in_own_process("manual::host_memory::frees_are_deferred", &[], || {
        let context = current_context().unwrap();
        let outer = defer_cleanup().unwrap();
        for _ in 0..20 {
            let _inner = defer_cleanup().unwrap();
            zeros::<u8, _>(1000).unwrap();
        }
        free_pending(&context).unwrap();
        assert_eq!(memory_statistics(&context).pending_frees, 20, "not even asked for, inside");
        drop(outer);
        assert_eq!(memory_statistics(&context).pending_frees, 20, "its end frees nothing by itself");
        free_pending(&context).unwrap();
        assert_eq!(memory_statistics(&context).live_bytes, 0);
    });
}
