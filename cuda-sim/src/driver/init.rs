//! Initialisation, device management, and entry point access.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use super::state::{INITIALISED, device, initialised};
use super::{FNS, api, extension, put, text};
use crate::device::{DEVICES, MAX_BLOCK, MAX_GRID, MAX_THREADS, PROFILE};
use cuda_sys::{
    CUarray_format, CUdevice, CUdevice_attribute, CUdevprop, CUdriverProcAddressQueryResult,
    CUflushGPUDirectRDMAWritesScope, CUflushGPUDirectRDMAWritesTarget, CUresult, CUuuid, DefaultStream, SYMBOLS,
    cuuint64_t,
};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// The CUDA version that the driver implements.
pub(super) const VERSION: c_int = 13000;

/// True if this process was forked from one that had initialised the driver.
static FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn forked() {
    INITIALISED.store(false, Ordering::Release);
    FORKED.store(true, Ordering::Release);
}

/// Makes the driver permanently uninitialised in children that are forked from now on, since they have no worker
/// threads.
fn watch_forks() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        // SAFETY: `forked` lives as long as the library and only stores to atomics, which is allowed in a forked child.
        if unsafe { libc::pthread_atfork(None, None, Some(forked)) } != 0 {
            tracing::warn!("pthread_atfork failed: a forked child will not be recognised");
        }
    });
}

/// Returns the address of the newest variant of a function that a client of this CUDA version knows.
///
/// A client may ask for variants with per-thread default streams. Functions without such a variant are found
/// nevertheless.
fn find(base: &str, version: c_int, per_thread: bool) -> Option<*mut c_void> {
    let addresses = FNS.addresses();
    SYMBOLS
        .iter()
        .zip(addresses)
        .filter(|(symbol, address)| {
            let own = symbol.stream == DefaultStream::PerThread;
            !address.is_null()
                && symbol.version <= version
                && (symbol.name == base || (symbol.base == base && (per_thread || !own)))
        })
        .max_by_key(|(symbol, _)| ((symbol.stream == DefaultStream::PerThread) == per_thread, symbol.version))
        .map(|(_, address)| address)
        .or_else(|| extension::find(base))
}

/// Returns true if the flags of a query select the per-thread default stream; an error for undefined flags.
fn wants_own_stream(flags: cuuint64_t) -> Result<bool, CUresult> {
    match flags {
        0 | 1 => Ok(false),
        2 => Ok(true),
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}

/// The device's UUID: `cuda-sim`, by which programs recognise a software device, the profile's name, and the device's number.
fn uuid_of(device: usize) -> CUuuid {
    let mut bytes = *b"cuda-sim\0\0\0\0\0\0\0\0";
    bytes[8..8 + PROFILE.name.len()].copy_from_slice(PROFILE.name.as_bytes());
    bytes[15] = device as u8;
    CUuuid { bytes: bytes.map(|b| b as c_char) }
}

fn fill_text(to: *mut c_char, capacity: c_int, name: &str) -> super::Status {
    let capacity = usize::try_from(capacity).ok().filter(|n| *n > 0).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    let bytes = &name.as_bytes()[..name.len().min(capacity - 1)];
    for (i, byte) in bytes.iter().chain(std::iter::once(&0)).enumerate() {
        put(to.wrapping_add(i), *byte as c_char)?;
    }
    Ok(())
}

/// The id of a table that NVIDIA's CUDA runtime needs, whether it is linked statically or shared.
const RUNTIME_TABLE: [u8; 16] =
    [0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9];

/// Tells the process, once, why NVIDIA's runtime does not run on this device. The runtime itself returns a code that
/// says nothing. It asks before it calls `cuInit`.
fn refuse_runtime() {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        #[cfg(feature = "exports")]
        crate::log::start();
        tracing::error!(
            "cuGetExportTable: this process uses NVIDIA's CUDA runtime (libcudart, shared or static), which needs \
             undocumented tables of NVIDIA's driver; the software device has none, so every call of the runtime fails. \
             Programs that use the driver's API run here: load PTX, or CUDA C++ compiled by NVRTC to PTX, by \
             cuModuleLoadData or cuLibraryLoadData and launch it by cuLaunchKernel"
        );
    });
}

api! {
    fn cuInit(flags: c_uint) {
        if flags != 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        if FORKED.load(Ordering::Acquire) {
            return Err(CUresult::CUDA_ERROR_NOT_INITIALIZED);
        }
        if let Some(why) = crate::environment::fault().or_else(super::trace::fault) {
            // Not a log event: whoever set the variable must see it, whatever the program does with error codes.
            eprintln!("the software device does not start: {why}");
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        #[cfg(feature = "exports")]
        crate::log::start();
        crate::exec::fault::install();
        crate::check::initialize();
        watch_forks();
        INITIALISED.store(true, Ordering::Release);
        Ok(())
    }
    fn cuDriverGetVersion(version: *mut c_int) { put(version, VERSION) }
    fn cuDeviceGet(out: *mut CUdevice, ordinal: c_int) { put(out, device(ordinal)? as CUdevice) }
    fn cuDeviceGetName(name: *mut c_char, capacity: c_int, dev: CUdevice) {
        device(dev)?;
        fill_text(name, capacity, &PROFILE.device_name())
    }
    fn cuDeviceGetUuid(uuid: *mut CUuuid, dev: CUdevice) { put(uuid, uuid_of(device(dev)?)) }
    fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice) { put(uuid, uuid_of(device(dev)?)) }
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, dev: CUdevice) {
        let device = device(dev)?;
        if attribute.0 == 0 || attribute.0 >= CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX.0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        put(value, PROFILE.attribute(attribute, device))
    }
    fn cuDeviceGetPCIBusId(id: *mut c_char, capacity: c_int, dev: CUdevice) {
        let device = device(dev)?;
        fill_text(id, capacity, &format!("0000:{:02x}:00.0", device + 1))
    }
    fn cuDeviceGetByPCIBusId(out: *mut CUdevice, id: *const c_char) {
        initialised()?;
        let wanted = text(id)?.to_ascii_lowercase();
        let domainless = |device: usize| format!("{:02x}:00.0", device + 1);
        let found = (0..*DEVICES).find(|d| wanted == domainless(*d) || wanted == format!("0000:{}", domainless(*d)));
        put(out, found.ok_or(CUresult::CUDA_ERROR_INVALID_DEVICE)? as CUdevice)
    }
    fn cuDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, dev: CUdevice) {
        device(dev)?;
        put(major, PROFILE.capability.0 as c_int)?;
        put(minor, PROFILE.capability.1 as c_int)
    }
    fn cuDeviceGetProperties(out: *mut CUdevprop, dev: CUdevice) {
        let device = device(dev)?;
        let value = |attribute| PROFILE.attribute(attribute, device);
        put(out, CUdevprop {
            maxThreadsPerBlock: MAX_THREADS as c_int,
            maxThreadsDim: MAX_BLOCK.map(|n| n as c_int),
            maxGridSize: MAX_GRID.map(|n| n as c_int),
            sharedMemPerBlock: value(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
            totalConstantMemory: value(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
            SIMDWidth: value(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE),
            memPitch: value(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_PITCH),
            regsPerBlock: value(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
            clockRate: value(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            textureAlign: value(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
        })
    }
    fn cuGetExportTable(table: *mut *const c_void, id: *const CUuuid) {
        let id = super::get(id)?;
        put(table, std::ptr::null())?;
        // The tables are undocumented, and no client that uses the documented API needs them.
        if id.bytes.map(|byte| byte as u8) == RUNTIME_TABLE {
            refuse_runtime();
        }
        Err(CUresult::CUDA_ERROR_NOT_FOUND)
    }
    fn cuGetProcAddress(symbol: *const c_char, function: *mut *mut c_void, version: c_int, flags: cuuint64_t) {
        let found = find(text(symbol)?, version, wants_own_stream(flags)?);
        put(function, found.unwrap_or(std::ptr::null_mut()))?;
        found.map(|_| ()).ok_or(CUresult::CUDA_ERROR_NOT_FOUND)
    }
    fn cuGetProcAddress_v2(
        symbol: *const c_char,
        function: *mut *mut c_void,
        version: c_int,
        flags: cuuint64_t,
        status: *mut CUdriverProcAddressQueryResult,
    ) {
        let name = text(symbol)?;
        let own = wants_own_stream(flags)?;
        let found = find(name, version, own);
        put(function, found.unwrap_or(std::ptr::null_mut()))?;
        let result = match (found, find(name, c_int::MAX, own)) {
            (Some(_), _) => CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS,
            (None, Some(_)) => CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT,
            (None, None) => CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
        };
        if !status.is_null() {
            put(status, result)?;
        }
        found.map(|_| ()).ok_or(CUresult::CUDA_ERROR_NOT_FOUND)
    }
    fn cuDeviceGetLuid(_luid: *mut c_char, _nodes: *mut c_uint, dev: CUdevice) {
        device(dev)?;
        Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
    }
    fn cuProfilerInitialize(_config: *const c_char, _output: *const c_char, _mode: cuda_sys::CUoutput_mode) {
        initialised()?;
        // NVIDIA's driver no longer supports it either.
        Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
    }
    fn cuDeviceGetTexture1DLinearMaxWidth(out: *mut usize, format: CUarray_format, channels: c_uint, dev: CUdevice) {
        let device = device(dev)?;
        // 8, 16 and 32-bit integers, and half and single precision.
        if !matches!(format.0, 1..=3 | 8..=10 | 0x10 | 0x20) || !matches!(channels, 1 | 2 | 4) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        put(out, PROFILE.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, device) as usize)
    }
    fn cuFlushGPUDirectRDMAWrites(
        target: CUflushGPUDirectRDMAWritesTarget,
        scope: CUflushGPUDirectRDMAWritesScope,
    ) {
        super::state::ready()?;
        // The memory is host memory, so writes are visible.
        if target.0 == 0 && matches!(scope.0, 100 | 200) { Ok(()) } else { Err(CUresult::CUDA_ERROR_INVALID_VALUE) }
    }
    fn cuProfilerStart() { super::state::ready() }
    fn cuProfilerStop() { super::state::ready() }
}
