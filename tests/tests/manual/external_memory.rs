//! External memory management: a program's own allocator for all arrays of a context.
//!
//! # Safety
//!
//! The arena hands out each part of its allocation once, and keeps the allocation as long as the context.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cuda_driver::{MemoryInfo, driver_call};
use cuda_mem::{MemoryManager, memory_info};
use cuda_prelude::*;
use cuda_sys::CUdeviceptr;

use crate::support::{add_arrays, in_own_process};

/// A bump allocator over one allocation.
#[derive(Debug)]
struct Arena {
    start: CUdeviceptr,
    used: AtomicUsize,
    frees: AtomicUsize,
}

#[derive(Debug)]
struct Full(usize);

impl std::fmt::Display for Full {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the arena has no room for {} bytes", self.0)
    }
}

impl std::error::Error for Full {}

impl Arena {
    const BYTES: usize = 1 << 20;

    fn new(context: &Context) -> Result<Self> {
        let mut start = 0;
        // SAFETY: `start` lives through the call.
        unsafe { driver_call!(context, cuMemAlloc_v2(&mut start, Self::BYTES)) }?;
        Ok(Arena { start, used: AtomicUsize::new(0), frees: AtomicUsize::new(0) })
    }

    fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

// SAFETY: it returns parts of a live allocation, aligned to 256 bytes, and none of them twice.
unsafe impl MemoryManager for Arena {
    fn name(&self) -> &'static str {
        "arena"
    }

    fn allocate(&self, bytes: usize, _stream: &Stream) -> cuda_mem::Result<CUdeviceptr> {
        let wanted = bytes.next_multiple_of(256);
        let take = |used: usize| Some(used + wanted).filter(|end| *end <= Self::BYTES);
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        let begin = taken.map_err(|_| cuda_driver::Error::other(Full(bytes)))?;
        Ok(self.start + begin as CUdeviceptr)
    }

    unsafe fn free(&self, _address: CUdeviceptr, _bytes: usize, _stream: &Stream) -> cuda_mem::Result<()> {
        self.frees.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn memory_info(&self, _context: &Context) -> cuda_mem::Result<MemoryInfo> {
        Ok(MemoryInfo { free: Self::BYTES - self.used(), total: Self::BYTES })
    }
}

#[test]
fn every_array_comes_from_the_programs_own_allocator() {
    in_own_process("manual::external_memory::every_array_comes_from_the_programs_own_allocator", &[], || {
        let context = current_context().unwrap();
        let arena = Arc::new(Arena::new(&context).unwrap());
        set_memory_manager(&context, arena.clone()).unwrap();

        let x = from_slice(&[1.5_f32; 1000]).unwrap();
        let mut out = device_array_like(&x).unwrap();
        let within = arena.start..arena.start + Arena::BYTES as CUdeviceptr;
        assert!(within.contains(&x.device_ptr()) && within.contains(&out.device_ptr()));
        add_arrays::launch((8, 128), &x, &x, &mut out).unwrap();
        assert_eq!(out.copy_to_host().unwrap().sum(), 3000.0);
        // Host arrays as arguments need device memory too.
        let mut host = vec![0.0; 1000];
        add_arrays::launch((8, 128), &x, &x, &mut host).unwrap();
        assert_eq!(host, [3.0; 1000]);
        assert_eq!(arena.used(), 3 * 4096);
        assert_eq!(memory_info(&context).unwrap().free, Arena::BYTES - 3 * 4096);

        let error = zeros::<u8, _>(Arena::BYTES).unwrap_err().to_string();
        assert!(error.contains("arena") && error.contains("no room for 1048576 bytes"), "{error}");
        assert_eq!(out.copy_to_host().unwrap().sum(), 3000.0, "nothing is lost by it");

        drop((x, out));
        synchronize().unwrap();
        free_pending(&context).unwrap();
        assert_eq!(arena.frees.load(Ordering::Relaxed), 3);

        let late = set_memory_manager(&context, arena.clone()).unwrap_err().to_string();
        assert!(late.contains("arena"), "{late}");
    });
}
