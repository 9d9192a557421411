//! Memory managers: the choice of the allocator, the order in which streams reuse freed memory, and errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cuda_driver::Stream;
use cuda_mem::{
    Buffer, CachingManager, Error, MemoryManager, Result, defer_cleanup, device_array, free_pending, memory_info,
    memory_statistics, set_memory_manager,
};
use cuda_sys::{CUdeviceptr, CUresult};

use crate::support::Session;

#[test]
fn a_cached_block_is_reused_on_its_stream_at_once_and_on_another_after_the_free() {
    let session = Session::new();
    let context = session.context();
    let manager = Arc::new(CachingManager::new());
    set_memory_manager(&context, manager.clone()).unwrap();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let used = |stream: &Stream| {
        let mut buffer = Buffer::new(stream, 100).unwrap();
        buffer.fill(1, stream).unwrap();
        buffer.address()
    };
    let first = used(&a);
    session.forget();
    assert_eq!(used(&a), first);
    assert_eq!(session.names(), ["cuMemsetD8Async", "cuEventRecord"], "no wait on the same stream");
    session.forget();
    assert_eq!(used(&b), first);
    assert_eq!(session.names(), ["cuStreamWaitEvent", "cuMemsetD8Async", "cuEventRecord"]);
    assert_eq!(manager.cached_bytes(), 512);
    manager.trim(&context).unwrap();
    assert_eq!((manager.cached_bytes(), session.live().device), (0, 0));
    used(&a);
    drop((a, b, context));
    session.finish();
}

#[test]
fn a_failing_wait_or_record_loses_no_block() {
    let session = Session::new();
    let context = session.context();
    let manager = Arc::new(CachingManager::new());
    set_memory_manager(&context, manager.clone()).unwrap();
    let (a, b) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    drop(Buffer::new(&a, 100).unwrap());
    session.fail("cuStreamWaitEvent", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    let error = Buffer::new(&b, 100).unwrap_err();
    let expected =
        "the memory manager `caching manager` could not allocate: cuStreamWaitEvent: CUDA_ERROR_INVALID_VALUE";
    assert!(error.to_string().starts_with(expected), "{error}");
    assert_eq!(manager.cached_bytes(), 512);
    let buffer = Buffer::new(&b, 100).unwrap();
    session.fail("cuEventRecord", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    session.forget();
    drop(buffer);
    assert_eq!((manager.cached_bytes(), session.live().device), (0, 0));
    let calls = ["cuEventRecord", "cuCtxSynchronize", "cuEventDestroy_v2", "cuMemFree_v2"];
    assert_eq!(session.names(), calls, "what cannot be marked is waited for, and not kept");
    session.fail("cuMemAlloc_v2", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(Buffer::new(&b, 100).is_err());
    drop((a, b, context));
    session.finish();
}

#[test]
fn a_caching_manager_without_room_returns_its_cached_blocks() {
    let session = Session::new();
    let context = session.context();
    set_memory_manager(&context, Arc::new(CachingManager::new())).unwrap();
    drop(device_array::<u8, _>(&context, 5000).unwrap());
    session.fail("cuMemAlloc_v2", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let small = device_array::<u8, _>(&context, 10).unwrap();
    assert_eq!(session.live().device, 1);
    let guard = defer_cleanup(&context);
    drop(small);
    assert_eq!(memory_statistics(&context).pending_frees, 1);
    drop(guard);
    free_pending(&context).unwrap();
    assert_eq!(memory_statistics(&context).pending_frees, 0);
    drop(context);
    session.finish();
}

/// A manager without memory, which counts its calls.
#[derive(Debug, Default)]
struct Empty {
    asked: AtomicUsize,
    flushed: AtomicUsize,
}

// SAFETY: it allocates no memory.
unsafe impl MemoryManager for Empty {
    fn name(&self) -> &'static str {
        "empty"
    }

    fn allocate(&self, _bytes: usize, _stream: &Stream) -> Result<CUdeviceptr> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Err(Error::Driver(cuda_driver::Error::other(std::fmt::Error)))
    }

    unsafe fn free(&self, _address: CUdeviceptr, _bytes: usize, _stream: &Stream) -> Result<()> {
        unreachable!("it has not allocated memory")
    }

    fn memory_info(&self, _context: &cuda_driver::Context) -> Result<cuda_driver::MemoryInfo> {
        Err(Error::Driver(cuda_driver::Error::other(std::fmt::Error)))
    }

    fn flush(&self, _context: &cuda_driver::Context) -> Result<()> {
        self.flushed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn errors_of_a_manager_have_its_name_and_it_is_flushed_at_the_end() {
    let session = Session::new();
    let context = session.context();
    let manager = Arc::new(Empty::default());
    set_memory_manager(&context, manager.clone()).unwrap();
    let error = device_array::<u8, _>(&context, 10).unwrap_err();
    assert!(error.to_string().starts_with("the memory manager `empty` could not allocate: "), "{error}");
    let error = memory_info(&context).unwrap_err();
    assert!(error.to_string().starts_with("the memory manager `empty` could not report its memory: "), "{error}");
    assert!(device_array::<u8, _>(&context, 0).is_ok(), "no bytes are no allocation");
    assert_eq!(manager.asked.load(Ordering::Relaxed), 1, "only no room is asked for twice");
    assert_eq!(memory_statistics(&context).allocations, 0);
    drop(context);
    assert_eq!(manager.flushed.load(Ordering::Relaxed), 1);
    session.finish();
}

#[test]
fn a_manager_is_set_once_and_before_the_first_allocation() {
    let session = Session::new();
    let context = session.context();
    let array = device_array::<u8, _>(&context, 10).unwrap();
    let error = set_memory_manager(&context, Arc::new(CachingManager::new())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the memory manager `caching manager` comes too late: the driver allocates the memory of device 0 already; set it \
         before the first array"
    );
    drop((array, context));
    let context = session.context();
    set_memory_manager(&context, Arc::new(CachingManager::new())).unwrap();
    let error = set_memory_manager(&context, Arc::new(Empty::default())).unwrap_err();
    assert!(error.to_string().contains("`caching manager` allocates the memory of device 0 already"), "{error}");
    drop(context);
    session.finish();
}

#[test]
fn a_caching_manager_frees_only_its_own_blocks_and_once() {
    let session = Session::new();
    let context = session.context();
    let (manager, stream) = (CachingManager::new(), context.default_stream());
    let address = manager.allocate(100, &stream).unwrap();
    // SAFETY: it was just allocated, and nothing uses it.
    unsafe { manager.free(address, 100, &stream) }.unwrap();
    // SAFETY: it is refused.
    let error = unsafe { manager.free(address, 100, &stream) }.unwrap_err();
    assert!(error.to_string().contains(&format!("the manager has not allocated memory at {address:#x}")), "{error}");
    assert_eq!(manager.cached_bytes(), 512);
    manager.flush(&context).unwrap();
    drop((stream, context));
    session.finish();
}
