//! An operation that repeats the one before it allocates nothing: a program of its own, whose allocator counts.
//!
//! # Safety
//!
//! The allocator forwards every call to the system's unchanged. NCCL's functions write what NCCL's do.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::Arc;

use cuda_driver::{Driver, Stream};
use cuda_nccl::{Communicator, Nccl, Options, Reduction, group};
use cuda_sys::nccl::{
    NcclApi, NcclFns, cudaStream_t, ncclComm_t, ncclConfig_t, ncclDataType_t, ncclRedOp_t, ncclResult_t, ncclUniqueId,
};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: `System` is a global allocator, and counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`; the memory is `System`'s, as all memory of this allocator is.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const OK: ncclResult_t = ncclResult_t::ncclSuccess;

unsafe extern "C" fn unique_id(_: *mut ncclUniqueId) -> ncclResult_t {
    OK
}

unsafe extern "C" fn init(
    out: *mut ncclComm_t,
    _: c_int,
    _: ncclUniqueId,
    _: c_int,
    _: *mut ncclConfig_t,
) -> ncclResult_t {
    // SAFETY: the caller passes a handle; nobody follows this one.
    unsafe { out.write(std::ptr::dangling_mut()) };
    OK
}

unsafe extern "C" fn async_error(_: ncclComm_t, out: *mut ncclResult_t) -> ncclResult_t {
    // SAFETY: the caller passes a status.
    unsafe { out.write(OK) };
    OK
}

unsafe extern "C" fn nothing() -> ncclResult_t {
    OK
}

unsafe extern "C" fn destroy(_: ncclComm_t) -> ncclResult_t {
    OK
}

unsafe extern "C" fn all_reduce(
    _: *const std::ffi::c_void,
    _: *mut std::ffi::c_void,
    _: usize,
    _: ncclDataType_t,
    _: ncclRedOp_t,
    _: ncclComm_t,
    _: cudaStream_t,
) -> ncclResult_t {
    OK
}

#[test]
fn a_repeated_operation_allocates_nothing() {
    let fns = NcclFns {
        ncclGetUniqueId: Some(unique_id),
        ncclCommInitRankConfig: Some(init),
        ncclCommGetAsyncError: Some(async_error),
        ncclCommDestroy: Some(destroy),
        ncclGroupStart: Some(nothing),
        ncclGroupEnd: Some(nothing),
        ncclAllReduce: Some(all_reduce),
        ..NcclFns::default()
    };
    // SAFETY: the functions write what NCCL's do; the memory of operations stays as it is.
    let nccl = Nccl::new(Arc::new(unsafe { NcclApi::from_fns(&fns) }));
    let context = Driver::new(cuda_sim::driver_api()).unwrap().device(0).unwrap().primary_context().unwrap();
    let id = nccl.unique_id().unwrap();
    let communicator = Communicator::from_id(&nccl, &context, id, 0, 1, &Options::new()).unwrap();
    let stream = Stream::new(&context).unwrap();
    let x = cuda_mem::zeros::<f32, _>(&stream, 64).unwrap();
    let mut y = cuda_mem::zeros::<f32, _>(&stream, 64).unwrap();
    let mut single = || communicator.all_reduce(&x, &mut y, Reduction::Sum, &stream).unwrap();
    single();
    let before = ALLOCATIONS.get();
    single();
    assert_eq!(ALLOCATIONS.get() - before, 0);
    let mut grouped = || group(|g| g.all_reduce(&communicator, &x, &mut y, Reduction::Sum, &stream)).unwrap();
    grouped();
    let before = ALLOCATIONS.get();
    grouped();
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert_eq!(
        ALLOCATIONS.get(),
        {
            drop(Box::new(1));
            ALLOCATIONS.get() - 1
        },
        "the allocator counts"
    );
}
