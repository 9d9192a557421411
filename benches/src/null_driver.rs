//! The null driver: its functions do nothing and count their calls, so that the benchmarks measure the crates above a driver.
//!
//! It has one device; handles are numbers, device memory has addresses but no bytes, and kernels do not run.
//!
//! # Safety
//!
//! The functions write their results through pointers, as a driver does; their callers are the safe wrappers, which pass
//! pointers to live variables. The only memory that callers access, mapped host memory, is a static.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use cuda_sys::{
    CUDA_MEMCPY3D, CUcontext, CUdevice, CUdevice_attribute as DeviceAttribute, CUdeviceptr, CUevent, CUfunction,
    CUfunction_attribute as FunctionAttribute, CUgraph, CUgraphExec, CUjit_option, CUmodule, CUresult, CUstream,
    CUstreamCaptureMode, DriverApi, DriverFns,
};

const OK: CUresult = CUresult::CUDA_SUCCESS;

/// The number of calls so far, of the one thread that measures.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// The number of calls so far.
pub(crate) fn calls() -> u64 {
    CALLS.load(Ordering::Relaxed)
}

/// Counts a successful call. It is not an atomic addition, since a locked instruction would dominate the measured time.
#[inline]
fn done() -> CUresult {
    CALLS.store(CALLS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    OK
}

/// Counts a successful call, and writes its result.
fn put<T>(out: *mut T, value: T) -> CUresult {
    // SAFETY: callers of the driver pass pointers to live variables, which nothing else writes during the call.
    unsafe { out.write(value) };
    done()
}

/// Returns a unique handle.
fn handle<T>() -> *mut T {
    static NEXT: AtomicUsize = AtomicUsize::new(0x1000);
    std::ptr::without_provenance_mut(NEXT.fetch_add(0x1000, Ordering::Relaxed))
}

/// The mapped host memory, large enough for the record of kernel panics.
static MAPPED: [AtomicU64; 2048] = [const { AtomicU64::new(0) }; 2048];

unsafe extern "C" fn init(_: c_uint) -> CUresult {
    done()
}

unsafe extern "C" fn device_count(out: *mut c_int) -> CUresult {
    put(out, 1)
}

unsafe extern "C" fn device_get(out: *mut CUdevice, ordinal: c_int) -> CUresult {
    put(out, ordinal)
}

unsafe extern "C" fn device_attribute(out: *mut c_int, attribute: DeviceAttribute, _: CUdevice) -> CUresult {
    let value = match attribute {
        DeviceAttribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => 9,
        DeviceAttribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => 0,
        DeviceAttribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED => 1,
        DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X => i32::MAX,
        _ => 1024,
    };
    put(out, value)
}

unsafe extern "C" fn retain(out: *mut CUcontext, _: CUdevice) -> CUresult {
    put(out, handle())
}

unsafe extern "C" fn release(_: CUdevice) -> CUresult {
    done()
}

thread_local! {
    static CURRENT: Cell<CUcontext> = const { Cell::new(std::ptr::null_mut()) };
}

/// This call is not counted, since in a real driver it only reads a thread-local variable.
unsafe extern "C" fn get_current(out: *mut CUcontext) -> CUresult {
    // SAFETY: callers pass pointers to live variables.
    unsafe { out.write(CURRENT.get()) };
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn set_current(context: CUcontext) -> CUresult {
    CURRENT.set(context);
    done()
}

unsafe extern "C" fn synchronize() -> CUresult {
    done()
}

unsafe extern "C" fn alloc(out: *mut CUdeviceptr, bytes: usize) -> CUresult {
    static NEXT: AtomicU64 = AtomicU64::new(1 << 32);
    put(out, NEXT.fetch_add((bytes as u64).next_multiple_of(256), Ordering::Relaxed))
}

unsafe extern "C" fn free(_: CUdeviceptr) -> CUresult {
    done()
}

unsafe extern "C" fn alloc_async(out: *mut CUdeviceptr, bytes: usize, _: CUstream) -> CUresult {
    // SAFETY: callers pass pointers to live variables, as `alloc` requires.
    unsafe { alloc(out, bytes) }
}

unsafe extern "C" fn free_async(_: CUdeviceptr, _: CUstream) -> CUresult {
    done()
}

unsafe extern "C" fn host_alloc(out: *mut *mut c_void, bytes: usize, _: c_uint) -> CUresult {
    if bytes > size_of_val(&MAPPED) {
        return CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    }
    put(out, MAPPED.as_ptr().cast_mut().cast())
}

unsafe extern "C" fn host_device_pointer(out: *mut CUdeviceptr, _: *mut c_void, _: c_uint) -> CUresult {
    put(out, 1 << 20)
}

unsafe extern "C" fn free_host(_: *mut c_void) -> CUresult {
    done()
}

unsafe extern "C" fn copy_in(_: CUdeviceptr, _: *const c_void, _: usize) -> CUresult {
    done()
}

unsafe extern "C" fn copy_pitched(_: *const CUDA_MEMCPY3D) -> CUresult {
    done()
}

/// The time of the first load of a module.
static LOADED: OnceLock<Instant> = OnceLock::new();

/// The time of the first load of a module, if one was loaded.
pub(crate) fn loaded() -> Option<Instant> {
    LOADED.get().copied()
}

unsafe extern "C" fn load(
    out: *mut CUmodule,
    _: *const c_void,
    _: c_uint,
    _: *mut CUjit_option,
    _: *mut *mut c_void,
) -> CUresult {
    LOADED.get_or_init(Instant::now);
    put(out, handle())
}

unsafe extern "C" fn unload(_: CUmodule) -> CUresult {
    done()
}

unsafe extern "C" fn function(out: *mut CUfunction, _: CUmodule, _: *const c_char) -> CUresult {
    put(out, handle())
}

unsafe extern "C" fn function_attribute(out: *mut c_int, attribute: FunctionAttribute, _: CUfunction) -> CUresult {
    let threads = attribute == FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    put(out, if threads { 1024 } else { 0 })
}

unsafe extern "C" fn launch(
    _: CUfunction,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: CUstream,
    _: *mut *mut c_void,
    _: *mut *mut c_void,
) -> CUresult {
    done()
}

unsafe extern "C" fn stream_create(out: *mut CUstream, _: c_uint, _: c_int) -> CUresult {
    put(out, handle())
}

unsafe extern "C" fn stream_create_plain(out: *mut CUstream, _: c_uint) -> CUresult {
    put(out, handle())
}

unsafe extern "C" fn of_stream(_: CUstream) -> CUresult {
    done()
}

unsafe extern "C" fn wait_event(_: CUstream, _: CUevent, _: c_uint) -> CUresult {
    done()
}

unsafe extern "C" fn event_create(out: *mut CUevent, _: c_uint) -> CUresult {
    put(out, handle())
}

unsafe extern "C" fn event_record(_: CUevent, _: CUstream) -> CUresult {
    done()
}

unsafe extern "C" fn of_event(_: CUevent) -> CUresult {
    done()
}

unsafe extern "C" fn begin_capture(_: CUstream, _: CUstreamCaptureMode) -> CUresult {
    done()
}

unsafe extern "C" fn end_capture(_: CUstream, out: *mut CUgraph) -> CUresult {
    put(out, handle())
}

unsafe extern "C" fn instantiate(out: *mut CUgraphExec, _: CUgraph, _: c_ulonglong) -> CUresult {
    put(out, handle())
}

unsafe extern "C" fn launch_graph(_: CUgraphExec, _: CUstream) -> CUresult {
    done()
}

unsafe extern "C" fn of_graph(_: CUgraph) -> CUresult {
    done()
}

unsafe extern "C" fn of_exec(_: CUgraphExec) -> CUresult {
    done()
}

unsafe extern "C" fn fill(_: CUdeviceptr, _: u8, _: usize, _: CUstream) -> CUresult {
    done()
}

/// The driver's function table.
pub(crate) fn api() -> Arc<DriverApi> {
    let fns = DriverFns {
        cuInit: Some(init),
        cuDeviceGetCount: Some(device_count),
        cuDeviceGet: Some(device_get),
        cuDeviceGetAttribute: Some(device_attribute),
        cuDevicePrimaryCtxRetain: Some(retain),
        cuDevicePrimaryCtxRelease_v2: Some(release),
        cuCtxGetCurrent: Some(get_current),
        cuCtxSetCurrent: Some(set_current),
        cuCtxSynchronize: Some(synchronize),
        cuMemAlloc_v2: Some(alloc),
        cuMemFree_v2: Some(free),
        cuMemHostAlloc: Some(host_alloc),
        cuMemHostGetDevicePointer_v2: Some(host_device_pointer),
        cuMemFreeHost: Some(free_host),
        cuMemAllocAsync: Some(alloc_async),
        cuMemFreeAsync: Some(free_async),
        cuMemcpyHtoD_v2: Some(copy_in),
        cuMemcpy3D_v2: Some(copy_pitched),
        cuModuleLoadDataEx: Some(load),
        cuModuleUnload: Some(unload),
        cuModuleGetFunction: Some(function),
        cuFuncGetAttribute: Some(function_attribute),
        cuLaunchKernel: Some(launch),
        cuStreamCreate: Some(stream_create_plain),
        cuStreamCreateWithPriority: Some(stream_create),
        cuStreamDestroy_v2: Some(of_stream),
        cuStreamSynchronize: Some(of_stream),
        cuStreamQuery: Some(of_stream),
        cuStreamWaitEvent: Some(wait_event),
        cuEventCreate: Some(event_create),
        cuEventRecord: Some(event_record),
        cuEventQuery: Some(of_event),
        cuEventSynchronize: Some(of_event),
        cuEventDestroy_v2: Some(of_event),
        cuStreamBeginCapture_v2: Some(begin_capture),
        cuStreamEndCapture: Some(end_capture),
        cuGraphInstantiateWithFlags: Some(instantiate),
        cuGraphLaunch: Some(launch_graph),
        cuGraphDestroy: Some(of_graph),
        cuGraphExecDestroy: Some(of_exec),
        cuMemsetD8Async: Some(fill),
        ..DriverFns::default()
    };
    // SAFETY: each function writes no more than the manual's does; nothing reads what the others would write.
    Arc::new(unsafe { DriverApi::from_fns(&fns) }.named("the null driver"))
}
