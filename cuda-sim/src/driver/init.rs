//! Initialisation, devices, and finding functions by name.
//!
//! # Safety
//!
//! See the parent module: pointers are C's, null or valid.

use super::state::{INITIALISED, device, initialised};
use super::{FNS, api, put, text};
use crate::device::PROFILE;
use crate::memory::MEMORY;
use cuda_sys::{
    CUdevice, CUdevice_attribute, CUdriverProcAddressQueryResult, CUresult, CUuuid, DefaultStream, SYMBOLS, cuuint64_t,
};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::Ordering;

/// The CUDA version that the driver implements.
const VERSION: c_int = 13000;

/// The address of the newest variant of a function that a client of that CUDA version knows.
fn find(base: &str, version: c_int) -> Option<*mut c_void> {
    let addresses = FNS.addresses();
    SYMBOLS
        .iter()
        .zip(addresses)
        .filter(|(symbol, address)| {
            !address.is_null()
                && (symbol.base == base || symbol.name == base)
                && symbol.version <= version
                && symbol.stream == DefaultStream::Legacy
        })
        .max_by_key(|(symbol, _)| symbol.version)
        .map(|(_, address)| address)
}

fn fill_text(to: *mut c_char, capacity: c_int, name: &str) -> super::Status {
    let capacity = usize::try_from(capacity).ok().filter(|n| *n > 0).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    let bytes = &name.as_bytes()[..name.len().min(capacity - 1)];
    for (i, byte) in bytes.iter().chain(std::iter::once(&0)).enumerate() {
        put(to.wrapping_add(i), *byte as c_char)?;
    }
    Ok(())
}

api! {
    fn cuInit(flags: c_uint) {
        if flags != 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        INITIALISED.store(true, Ordering::Release);
        Ok(())
    }
    fn cuDriverGetVersion(version: *mut c_int) { put(version, VERSION) }
    fn cuDeviceGet(out: *mut CUdevice, ordinal: c_int) {
        device(ordinal)?;
        put(out, 0)
    }
    fn cuDeviceGetCount(count: *mut c_int) {
        initialised()?;
        put(count, 1)
    }
    fn cuDeviceGetName(name: *mut c_char, capacity: c_int, dev: CUdevice) {
        device(dev)?;
        fill_text(name, capacity, &PROFILE.device_name())
    }
    fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice) {
        device(dev)?;
        let mut bytes = *b"cuda-sim\0\0\0\0\0\0\0\0";
        bytes[8..8 + PROFILE.name.len()].copy_from_slice(PROFILE.name.as_bytes());
        put(uuid, CUuuid { bytes: bytes.map(|b| b as c_char) })
    }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice) {
        device(dev)?;
        put(bytes, MEMORY.info().1 as usize)
    }
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, dev: CUdevice) {
        device(dev)?;
        if attribute.0 == 0 || attribute.0 >= CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX.0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        put(value, PROFILE.attribute(attribute))
    }
    fn cuDeviceGetPCIBusId(id: *mut c_char, capacity: c_int, dev: CUdevice) {
        device(dev)?;
        fill_text(id, capacity, "0000:00:00.0")
    }
    fn cuDeviceCanAccessPeer(can: *mut c_int, dev: CUdevice, peer: CUdevice) {
        device(dev)?;
        device(peer)?;
        put(can, 0)
    }
    fn cuGetProcAddress(symbol: *const c_char, function: *mut *mut c_void, version: c_int, _flags: cuuint64_t) {
        let found = find(text(symbol)?, version);
        put(function, found.unwrap_or(std::ptr::null_mut()))?;
        found.map(|_| ()).ok_or(CUresult::CUDA_ERROR_NOT_FOUND)
    }
    fn cuGetProcAddress_v2(
        symbol: *const c_char,
        function: *mut *mut c_void,
        version: c_int,
        _flags: cuuint64_t,
        status: *mut CUdriverProcAddressQueryResult,
    ) {
        let name = text(symbol)?;
        let found = find(name, version);
        put(function, found.unwrap_or(std::ptr::null_mut()))?;
        let result = match (found, find(name, c_int::MAX)) {
            (Some(_), _) => CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS,
            (None, Some(_)) => CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT,
            (None, None) => CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
        };
        if !status.is_null() {
            put(status, result)?;
        }
        found.map(|_| ()).ok_or(CUresult::CUDA_ERROR_NOT_FOUND)
    }
    fn cuProfilerStart() { super::state::ready() }
    fn cuProfilerStop() { super::state::ready() }
}
