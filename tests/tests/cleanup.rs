//! Deferred frees, pools and managers through the prelude, with kernels. Each test checks the statistics of its context, and so
//! runs in a process of its own.

use std::sync::Arc;

use cuda_prelude::*;
use ndarray::Array1;

use crate::support::{add_arrays, in_own_process};

/// Adds on the device, with three arrays that are dropped on return.
fn add(stream: &Stream) -> Result<Array1<f32>> {
    let x = to_device(&Array1::<f32>::ones(64))?;
    let mut out = zeros::<f32, _>(64)?;
    add_arrays::launch((1, 64, stream), &x, &from_slice(&[2.0; 64])?, &mut out)?;
    Ok(out.copy_to_host()?)
}

#[test]
fn frees_wait_while_they_are_deferred() {
    in_own_process("cleanup::frees_wait_while_they_are_deferred", &[], || deferred().expect("it works"));
}

fn deferred() -> Result<()> {
    let (context, stream) = (current_context()?, stream()?);
    let pending = || memory_statistics(&context).pending_frees;
    let outer = defer_cleanup()?;
    {
        let _inner = defer_cleanup()?;
        for _ in 0..20 {
            assert_eq!(add(&stream)?, Array1::from_elem(64, 3.0));
        }
    }
    free_pending(&context)?;
    assert_eq!(pending(), 60, "the outer guard is there");
    let mut host = Array1::<f32>::zeros(64);
    for _ in 0..3 {
        // Page-locked memory is unlocked at the end of its borrow, or locking it a second time would fail.
        let ones = from_slice(&[1.0; 64])?;
        pinned(&mut host, |host| ones.copy_to_pinned_mut(host, &stream))??;
        assert_eq!(host.sum(), 64.0);
    }
    let panicked = std::panic::catch_unwind(|| {
        let _guard = defer_cleanup();
        panic!("inside a guard");
    });
    assert!(panicked.is_err() && pending() == 63);
    drop(outer);
    free_pending(&context)?;
    assert_eq!((pending(), memory_statistics(&context).live_bytes), (0, 0));
    assert_eq!(add(&stream)?, Array1::from_elem(64, 3.0));
    synchronize()
}

#[test]
fn the_memory_of_launches_comes_from_the_manager() {
    in_own_process("cleanup::the_memory_of_launches_comes_from_the_manager", &[], || managed().expect("it works"));
}

fn managed() -> Result<()> {
    let (context, manager) = (current_context()?, Arc::new(CachingManager::new()));
    set_memory_manager(&context, manager.clone())?;
    let (a, b) = (stream()?, stream()?);
    for turn in 0..6 {
        assert_eq!(add(if turn % 2 == 0 { &a } else { &b })?, Array1::from_elem(64, 3.0));
    }
    assert_eq!(manager.cached_bytes(), 3 * 512, "the blocks of the first turn served all");
    let pool = MemoryPool::with_limit(&context, 8 << 20)?;
    drop(cuda_mem::zeros::<u8, _>(&pool, 1 << 20)?);
    assert_eq!(manager.cached_bytes(), 3 * 512, "a chosen pool's memory is not the manager's");
    manager.trim(&context)?;
    assert_eq!(manager.cached_bytes(), 0);
    Ok(())
}
