//! The functions of the tracing driver, each a few lines over the state.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use cuda_sys::{
    CUcontext, CUdevice, CUdevice_attribute as DeviceAttribute, CUdeviceptr, CUevent, CUfunction,
    CUfunction_attribute as FunctionAttribute, CUhostFn, CUjit_option, CUlaunchConfig, CUmemoryPool, CUmodule,
    CUoccupancyB2DSize, CUresult, CUstream, CUstreamCallback, CUuuid, DriverFns,
};

use super::clocks::HOST;
use super::copies;
use super::state::{Call, State, TOTAL};

pub(super) const OK: CUresult = CUresult::CUDA_SUCCESS;
pub(super) const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// Records a call without stream or object, and does its work unless it must fail.
pub(super) fn call(name: &'static str, work: impl FnOnce(&mut State) -> CUresult) -> CUresult {
    call_about(Call { name, stream: None, object: 0, bytes: 0 }, work)
}

pub(super) fn call_about(call: Call, work: impl FnOnce(&mut State) -> CUresult) -> CUresult {
    super::state(|state| match state.enter(call) {
        Some(code) => code,
        None => work(state),
    })
}

/// Writes a result of a C function.
pub(super) fn put<T>(out: *mut T, value: T) {
    // SAFETY: callers of the driver hand in pointers to live results; nothing else writes them meanwhile.
    unsafe { out.write(value) }
}

pub(super) fn pointer<T>(handle: usize) -> *mut T {
    std::ptr::without_provenance_mut(handle)
}

unsafe extern "C" fn init(_flags: c_uint) -> CUresult {
    call("cuInit", |_| OK)
}

unsafe extern "C" fn driver_version(out: *mut c_int) -> CUresult {
    put(out, 13_000);
    call("cuDriverGetVersion", |_| OK)
}

unsafe extern "C" fn error_name(code: CUresult, out: *mut *const c_char) -> CUresult {
    put(out, if code == INVALID { c"CUDA_ERROR_INVALID_VALUE".as_ptr() } else { std::ptr::null() });
    if code == INVALID { OK } else { INVALID }
}

unsafe extern "C" fn error_string(_code: CUresult, out: *mut *const c_char) -> CUresult {
    put(out, c"text of the traced driver".as_ptr());
    OK
}

unsafe extern "C" fn device_count(out: *mut c_int) -> CUresult {
    put(out, 2);
    call("cuDeviceGetCount", |_| OK)
}

unsafe extern "C" fn device_get(out: *mut CUdevice, ordinal: c_int) -> CUresult {
    put(out, ordinal);
    call("cuDeviceGet", |_| OK)
}

unsafe extern "C" fn device_name(out: *mut c_char, _len: c_int, _device: CUdevice) -> CUresult {
    for (index, byte) in b"traced\0".iter().enumerate() {
        put(out.wrapping_add(index), *byte as c_char);
    }
    call("cuDeviceGetName", |_| OK)
}

unsafe extern "C" fn device_uuid(out: *mut CUuuid, _device: CUdevice) -> CUresult {
    let mut uuid = CUuuid::default();
    uuid.bytes[0] = 0x1f;
    put(out, uuid);
    call("cuDeviceGetUuid_v2", |_| OK)
}

unsafe extern "C" fn device_bus(out: *mut c_char, _len: c_int, device: CUdevice) -> CUresult {
    for (index, byte) in format!("0000:AB:0{device}.0\0").bytes().enumerate() {
        put(out.wrapping_add(index), byte as c_char);
    }
    call("cuDeviceGetPCIBusId", |_| OK)
}

unsafe extern "C" fn device_total(out: *mut usize, _device: CUdevice) -> CUresult {
    put(out, TOTAL);
    call("cuDeviceTotalMem_v2", |_| OK)
}

unsafe extern "C" fn device_attribute(out: *mut c_int, attribute: DeviceAttribute, _device: CUdevice) -> CUresult {
    call("cuDeviceGetAttribute", |state| {
        let value = match attribute {
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK => 1024,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X => 1024,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y => 1024,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z => 64,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X => i32::MAX,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y => 65535,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z => 65535,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK => 48 << 10,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => 99 << 10,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE => 32,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => 2,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => 9,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => 0,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH => 1,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH => 1,
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS => state.traits.memory_pools.into(),
            DeviceAttribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED => state.traits.memory_pools.into(),
            _ => return INVALID,
        };
        put(out, value);
        OK
    })
}

unsafe extern "C" fn retain(out: *mut CUcontext, device: CUdevice) -> CUresult {
    call("cuDevicePrimaryCtxRetain", |state| {
        state.contexts += 1;
        put(out, pointer(0xC000 + device as usize));
        OK
    })
}

unsafe extern "C" fn release(_device: CUdevice) -> CUresult {
    call("cuDevicePrimaryCtxRelease_v2", |state| {
        state.contexts -= 1;
        OK
    })
}

unsafe extern "C" fn set_current(context: CUcontext) -> CUresult {
    call("cuCtxSetCurrent", |state| {
        state.current.insert(std::thread::current().id(), context.addr());
        OK
    })
}

unsafe extern "C" fn context_synchronize() -> CUresult {
    call("cuCtxSynchronize", |state| {
        if !state.capturing.is_empty() {
            state.violations.push("cuCtxSynchronize: a stream is being captured".to_owned());
        }
        state.clocks.host_waits_for_all();
        OK
    })
}

unsafe extern "C" fn memory_info(free: *mut usize, total: *mut usize) -> CUresult {
    call("cuMemGetInfo_v2", |state| {
        put(free, TOTAL - state.used());
        put(total, TOTAL);
        OK
    })
}

unsafe extern "C" fn stream_create(out: *mut CUstream, _flags: c_uint) -> CUresult {
    call("cuStreamCreate", |state| new_stream(state, out))
}

unsafe extern "C" fn stream_create_with_priority(out: *mut CUstream, _flags: c_uint, _priority: c_int) -> CUresult {
    call("cuStreamCreateWithPriority", |state| new_stream(state, out))
}

fn new_stream(state: &mut State, out: *mut CUstream) -> CUresult {
    let handle = state.handle();
    state.streams.insert(handle);
    put(out, pointer(handle));
    OK
}

/// Records a call about a stream, which must be live.
pub(super) fn call_on(
    name: &'static str,
    stream: CUstream,
    work: impl FnOnce(&mut State, usize) -> CUresult,
) -> CUresult {
    call_about(Call { name, stream: Some(stream.addr()), object: 0, bytes: 0 }, |state| {
        state.expect_stream(name, stream.addr());
        work(state, stream.addr())
    })
}

unsafe extern "C" fn stream_destroy(stream: CUstream) -> CUresult {
    call_on("cuStreamDestroy_v2", stream, |state, stream| {
        state.streams.remove(&stream);
        OK
    })
}

unsafe extern "C" fn stream_synchronize(stream: CUstream) -> CUresult {
    call_on("cuStreamSynchronize", stream, |state, stream| {
        let clock = state.clocks.of(stream);
        state.clocks.learn(HOST, &clock);
        OK
    })
}

unsafe extern "C" fn stream_query(stream: CUstream) -> CUresult {
    call_on("cuStreamQuery", stream, |_, _| OK)
}

unsafe extern "C" fn stream_wait_event(stream: CUstream, event: CUevent, _flags: c_uint) -> CUresult {
    let call = Call { name: "cuStreamWaitEvent", stream: Some(stream.addr()), object: event.addr() as u64, bytes: 0 };
    call_about(call, |state| {
        state.expect_stream("cuStreamWaitEvent", stream.addr());
        match state.events.get(&event.addr()).cloned() {
            Some(clock) => state.clocks.learn(stream.addr(), &clock.unwrap_or_default()),
            None => state.violations.push(format!("cuStreamWaitEvent: event {event:p} is not live")),
        }
        OK
    })
}

unsafe extern "C" fn launch_host_func(stream: CUstream, function: CUhostFn, data: *mut c_void) -> CUresult {
    let code = call_on("cuLaunchHostFunc", stream, |state, stream| {
        state.clocks.step(stream);
        OK
    });
    if let (OK, Some(function)) = (code, function) {
        // SAFETY: the caller passes a function with the data that it expects, to be called once.
        unsafe { function(data) };
    }
    code
}

unsafe extern "C" fn profiler_start() -> CUresult {
    call("cuProfilerStart", |_| OK)
}

unsafe extern "C" fn profiler_stop() -> CUresult {
    call("cuProfilerStop", |_| OK)
}

unsafe extern "C" fn stream_add_callback(
    stream: CUstream,
    callback: CUstreamCallback,
    data: *mut c_void,
    _flags: c_uint,
) -> CUresult {
    let code = call_on("cuStreamAddCallback", stream, |state, stream| {
        state.clocks.step(stream);
        let clock = state.clocks.of(stream);
        state.clocks.learn(HOST, &clock);
        OK
    });
    if let (OK, Some(callback)) = (code, callback) {
        // SAFETY: the caller passes a function with the data that it expects, to be called once.
        unsafe { callback(stream, OK, data) };
    }
    code
}

unsafe extern "C" fn event_create(out: *mut CUevent, _flags: c_uint) -> CUresult {
    call("cuEventCreate", |state| {
        let handle = state.handle();
        state.events.insert(handle, None);
        put(out, pointer(handle));
        OK
    })
}

/// Records a call about an event, which must be live.
fn call_event(name: &'static str, event: CUevent, work: impl FnOnce(&mut State, usize) -> CUresult) -> CUresult {
    call_about(Call { name, stream: None, object: event.addr() as u64, bytes: 0 }, |state| {
        if !state.events.contains_key(&event.addr()) {
            state.violations.push(format!("{name}: event {event:p} is not live"));
        }
        work(state, event.addr())
    })
}

unsafe extern "C" fn event_destroy(event: CUevent) -> CUresult {
    call_event("cuEventDestroy_v2", event, |state, event| {
        state.events.remove(&event);
        OK
    })
}

unsafe extern "C" fn event_record(event: CUevent, stream: CUstream) -> CUresult {
    let call = Call { name: "cuEventRecord", stream: Some(stream.addr()), object: event.addr() as u64, bytes: 0 };
    call_about(call, |state| {
        state.expect_stream("cuEventRecord", stream.addr());
        state.clocks.step(stream.addr());
        let clock = state.clocks.of(stream.addr());
        state.events.insert(event.addr(), Some(clock));
        OK
    })
}

unsafe extern "C" fn event_query(event: CUevent) -> CUresult {
    call_event("cuEventQuery", event, |_, _| OK)
}

unsafe extern "C" fn event_synchronize(event: CUevent) -> CUresult {
    call_event("cuEventSynchronize", event, |state, event| {
        let clock = state.events.get(&event).cloned().flatten().unwrap_or_default();
        state.clocks.learn(HOST, &clock);
        OK
    })
}

unsafe extern "C" fn event_elapsed(out: *mut f32, start: CUevent, _end: CUevent) -> CUresult {
    put(out, 0.5);
    call_event("cuEventElapsedTime_v2", start, |_, _| OK)
}

unsafe extern "C" fn module_load(
    out: *mut CUmodule,
    image: *const c_void,
    options: c_uint,
    keys: *mut CUjit_option,
    values: *mut *mut c_void,
) -> CUresult {
    // SAFETY: the image is PTX, a text that ends in NUL.
    let ptx = unsafe { CStr::from_ptr(image.cast()) };
    if ptx.to_bytes().ends_with(b"nonsense") {
        write_log(options, keys, values);
        return call("cuModuleLoadDataEx", |_| CUresult::CUDA_ERROR_INVALID_PTX);
    }
    call("cuModuleLoadDataEx", |state| {
        let handle = state.handle();
        state.modules.insert(handle);
        put(out, pointer(handle));
        OK
    })
}

/// Writes into the buffer that the options name as the error log.
fn write_log(options: c_uint, keys: *mut CUjit_option, values: *mut *mut c_void) {
    for index in 0..options as usize {
        // SAFETY: there are `options` keys.
        let key = unsafe { keys.wrapping_add(index).read() };
        // SAFETY: there are as many values.
        let value = unsafe { values.wrapping_add(index).read() };
        if key == CUjit_option::CU_JIT_ERROR_LOG_BUFFER {
            for (at, byte) in b"line 3, column 9: what is this\0".iter().enumerate() {
                put(value.cast::<u8>().wrapping_add(at), *byte);
            }
        }
    }
}

unsafe extern "C" fn module_unload(module: CUmodule) -> CUresult {
    call("cuModuleUnload", |state| {
        state.modules.remove(&module.addr());
        OK
    })
}

unsafe extern "C" fn module_function(out: *mut CUfunction, _module: CUmodule, name: *const c_char) -> CUresult {
    // SAFETY: the name ends in NUL.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    call("cuModuleGetFunction", |state| {
        let Some(letters) = name.strip_prefix("k_") else {
            return CUresult::CUDA_ERROR_NOT_FOUND;
        };
        let handle = state.handle();
        state.functions.insert(handle, letters.to_owned());
        put(out, pointer(handle));
        OK
    })
}

unsafe extern "C" fn function_attribute(out: *mut c_int, which: FunctionAttribute, _function: CUfunction) -> CUresult {
    put(
        out,
        match which {
            FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => 512,
            FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => 1024,
            FunctionAttribute::CU_FUNC_ATTRIBUTE_NUM_REGS => 12,
            FunctionAttribute::CU_FUNC_ATTRIBUTE_PTX_VERSION => 78,
            FunctionAttribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION => 90,
            _ => 0,
        },
    );
    call("cuFuncGetAttribute", |_| OK)
}

unsafe extern "C" fn set_function_attribute(
    _function: CUfunction,
    _which: FunctionAttribute,
    _value: c_int,
) -> CUresult {
    call("cuFuncSetAttribute", |_| OK)
}

unsafe extern "C" fn active_blocks(out: *mut c_int, _function: CUfunction, block: c_int, _shared: usize) -> CUresult {
    put(out, 2048 / block);
    call("cuOccupancyMaxActiveBlocksPerMultiprocessor", |_| OK)
}

unsafe extern "C" fn potential_block(
    grid: *mut c_int,
    block: *mut c_int,
    _function: CUfunction,
    _shared_of: CUoccupancyB2DSize,
    _shared: usize,
    limit: c_int,
) -> CUresult {
    put(grid, 4);
    put(block, if limit == 0 { 512 } else { limit.min(512) });
    call("cuOccupancyMaxPotentialBlockSize", |_| OK)
}

unsafe extern "C" fn largest_cluster(
    blocks: *mut c_int,
    _function: CUfunction,
    _config: *const CUlaunchConfig,
) -> CUresult {
    put(blocks, 16);
    call("cuOccupancyMaxPotentialClusterSize", |_| OK)
}

/// The effect of every launch: reads or writes each pointer, by the letters of the function's name.
fn launch(name: &'static str, function: CUfunction, stream: CUstream, params: *mut *mut c_void) -> CUresult {
    call_on(name, stream, |state, stream| {
        let letters = state.functions.get(&function.addr()).cloned().unwrap_or_default();
        state.clocks.step(stream);
        for (index, letter) in letters.chars().enumerate() {
            // SAFETY: the caller passes one pointer for each parameter.
            let param = unsafe { params.wrapping_add(index).read() };
            // SAFETY: every parameter of these functions is a device pointer.
            let address = unsafe { param.cast::<CUdeviceptr>().read() };
            state.touch(name, address, 1, stream, letter == 'w');
        }
        OK
    })
}

unsafe extern "C" fn launch_kernel(
    function: CUfunction,
    _gx: c_uint,
    _gy: c_uint,
    _gz: c_uint,
    _bx: c_uint,
    _by: c_uint,
    _bz: c_uint,
    _shared: c_uint,
    stream: CUstream,
    params: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> CUresult {
    launch("cuLaunchKernel", function, stream, params)
}

unsafe extern "C" fn launch_cooperative(
    function: CUfunction,
    _gx: c_uint,
    _gy: c_uint,
    _gz: c_uint,
    _bx: c_uint,
    _by: c_uint,
    _bz: c_uint,
    _shared: c_uint,
    stream: CUstream,
    params: *mut *mut c_void,
) -> CUresult {
    launch("cuLaunchCooperativeKernel", function, stream, params)
}

unsafe extern "C" fn launch_extended(
    config: *const CUlaunchConfig,
    function: CUfunction,
    params: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> CUresult {
    // SAFETY: the caller hands in a live configuration.
    let stream = unsafe { (*config).hStream };
    launch("cuLaunchKernelEx", function, stream, params)
}

unsafe extern "C" fn alloc(out: *mut CUdeviceptr, bytes: usize) -> CUresult {
    call_about(Call { name: "cuMemAlloc_v2", stream: None, object: 0, bytes }, |state| {
        let address = state.allocate(bytes);
        state.touch("cuMemAlloc_v2", address, bytes, HOST, true);
        put(out, address);
        OK
    })
}

unsafe extern "C" fn free(address: CUdeviceptr) -> CUresult {
    call_about(Call { name: "cuMemFree_v2", stream: None, object: address, bytes: 0 }, |state| {
        state.touch_all("cuMemFree_v2", address, HOST);
        if state.device.remove(&address).is_some() { OK } else { INVALID }
    })
}

unsafe extern "C" fn alloc_async(out: *mut CUdeviceptr, bytes: usize, stream: CUstream) -> CUresult {
    let call = Call { name: "cuMemAllocAsync", stream: Some(stream.addr()), object: 0, bytes };
    call_about(call, |state| {
        state.expect_stream("cuMemAllocAsync", stream.addr());
        let address = state.allocate(bytes);
        state.touch("cuMemAllocAsync", address, bytes, stream.addr(), true);
        put(out, address);
        OK
    })
}

unsafe extern "C" fn free_async(address: CUdeviceptr, stream: CUstream) -> CUresult {
    let call = Call { name: "cuMemFreeAsync", stream: Some(stream.addr()), object: address, bytes: 0 };
    call_about(call, |state| {
        state.expect_stream("cuMemFreeAsync", stream.addr());
        state.touch_all("cuMemFreeAsync", address, stream.addr());
        if state.device.remove(&address).is_some() { OK } else { INVALID }
    })
}

/// Copies bytes, after the state has checked that the device's side is live.
pub(super) fn copy(state: &State, from: *const u8, to: *mut u8, bytes: usize) {
    if state.violations.is_empty() {
        // SAFETY: the state found the device's side live and large enough, the caller vouches for the host's side, and
        // the two are different allocations.
        unsafe { to.copy_from_nonoverlapping(from, bytes) };
    }
}

pub(super) fn device_pointer(address: CUdeviceptr) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

unsafe extern "C" fn copy_in(to: CUdeviceptr, from: *const c_void, bytes: usize) -> CUresult {
    call_about(Call { name: "cuMemcpyHtoD_v2", stream: None, object: to, bytes }, |state| {
        // Blocking copies run in the order of the default stream. From pageable memory, the call may return before the
        // bytes have reached the device, so the host knows nothing new.
        state.touch("cuMemcpyHtoD_v2", to, bytes, 0, true);
        copy(state, from.cast(), device_pointer(to), bytes);
        OK
    })
}

unsafe extern "C" fn copy_out(to: *mut c_void, from: CUdeviceptr, bytes: usize) -> CUresult {
    call_about(Call { name: "cuMemcpyDtoH_v2", stream: None, object: from, bytes }, |state| {
        state.touch("cuMemcpyDtoH_v2", from, bytes, 0, false);
        let clock = state.clocks.of(0);
        state.clocks.learn(HOST, &clock);
        copy(state, device_pointer(from), to.cast(), bytes);
        OK
    })
}

unsafe extern "C" fn copy_within(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream) -> CUresult {
    let call = Call { name: "cuMemcpyDtoDAsync_v2", stream: Some(stream.addr()), object: to, bytes };
    call_about(call, |state| {
        state.touch("cuMemcpyDtoDAsync_v2", from, bytes, stream.addr(), false);
        state.touch("cuMemcpyDtoDAsync_v2", to, bytes, stream.addr(), true);
        copy(state, device_pointer(from), device_pointer(to), bytes);
        OK
    })
}

unsafe extern "C" fn fill(to: CUdeviceptr, value: u8, bytes: usize, stream: CUstream) -> CUresult {
    let call = Call { name: "cuMemsetD8Async", stream: Some(stream.addr()), object: to, bytes };
    call_about(call, |state| {
        state.touch("cuMemsetD8Async", to, bytes, stream.addr(), true);
        for at in 0..bytes {
            put(device_pointer(to).wrapping_add(at), value);
        }
        OK
    })
}

unsafe extern "C" fn default_pool(out: *mut CUmemoryPool, _device: CUdevice) -> CUresult {
    put(out, pointer(0xD000));
    call("cuDeviceGetDefaultMemPool", |_| OK)
}

unsafe extern "C" fn trim_pool(_pool: CUmemoryPool, _keep: usize) -> CUresult {
    call("cuMemPoolTrimTo", |_| OK)
}

/// The table.
pub(super) fn table() -> DriverFns {
    let mut fns = DriverFns {
        cuInit: Some(init),
        cuDriverGetVersion: Some(driver_version),
        cuGetErrorName: Some(error_name),
        cuGetErrorString: Some(error_string),
        cuDeviceGetCount: Some(device_count),
        cuDeviceGet: Some(device_get),
        cuDeviceGetName: Some(device_name),
        cuDeviceGetUuid_v2: Some(device_uuid),
        cuDeviceGetPCIBusId: Some(device_bus),
        cuDeviceTotalMem_v2: Some(device_total),
        cuDeviceGetAttribute: Some(device_attribute),
        cuDevicePrimaryCtxRetain: Some(retain),
        cuDevicePrimaryCtxRelease_v2: Some(release),
        cuCtxSetCurrent: Some(set_current),
        cuCtxSynchronize: Some(context_synchronize),
        cuMemGetInfo_v2: Some(memory_info),
        cuStreamCreate: Some(stream_create),
        cuStreamCreateWithPriority: Some(stream_create_with_priority),
        cuStreamDestroy_v2: Some(stream_destroy),
        cuStreamSynchronize: Some(stream_synchronize),
        cuStreamQuery: Some(stream_query),
        cuStreamWaitEvent: Some(stream_wait_event),
        cuLaunchHostFunc: Some(launch_host_func),
        cuStreamAddCallback: Some(stream_add_callback),
        cuProfilerStart: Some(profiler_start),
        cuProfilerStop: Some(profiler_stop),
        cuEventCreate: Some(event_create),
        cuEventDestroy_v2: Some(event_destroy),
        cuEventRecord: Some(event_record),
        cuEventQuery: Some(event_query),
        cuEventSynchronize: Some(event_synchronize),
        cuEventElapsedTime_v2: Some(event_elapsed),
        cuModuleLoadDataEx: Some(module_load),
        cuModuleUnload: Some(module_unload),
        cuModuleGetFunction: Some(module_function),
        cuFuncGetAttribute: Some(function_attribute),
        cuFuncSetAttribute: Some(set_function_attribute),
        cuOccupancyMaxActiveBlocksPerMultiprocessor: Some(active_blocks),
        cuOccupancyMaxPotentialBlockSize: Some(potential_block),
        cuOccupancyMaxPotentialClusterSize: Some(largest_cluster),
        cuLaunchKernel: Some(launch_kernel),
        cuLaunchCooperativeKernel: Some(launch_cooperative),
        cuLaunchKernelEx: Some(launch_extended),
        cuMemAlloc_v2: Some(alloc),
        cuMemFree_v2: Some(free),
        cuMemAllocAsync: Some(alloc_async),
        cuMemFreeAsync: Some(free_async),
        cuMemcpyHtoD_v2: Some(copy_in),
        cuMemcpyDtoH_v2: Some(copy_out),
        cuMemcpyDtoDAsync_v2: Some(copy_within),
        cuMemsetD8Async: Some(fill),
        cuMemsetD16Async: Some(copies::fill_16),
        cuMemsetD32Async: Some(copies::fill_32),
        cuMemcpy3D_v2: Some(copies::planes),
        cuMemcpy3DAsync_v2: Some(copies::planes_async),
        cuDeviceGetDefaultMemPool: Some(default_pool),
        cuMemPoolTrimTo: Some(trim_pool),
        ..DriverFns::default()
    };
    super::graphs::fill(&mut fns);
    super::host::fill(&mut fns);
    super::settings::fill(&mut fns);
    super::sharing::fill(&mut fns);
    fns
}
