//! Virtual memory management: reserved address ranges, physical memory behind handles, mappings, and access rights.
//!
//! Physical memory is an unnamed file, so it can be mapped several times and exported to other processes as a
//! descriptor. It counts against its device until the last handle and mapping are gone. The access rights of each
//! device are stored and returned by queries; the page protections allow the union of them, and a device's kernels can
//! access a reserved range if the device may access a mapping in it.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract. A client's descriptors are
//! duplicated before use.

use super::failure;
use crate::driver::state::{device, initialised};
use crate::driver::{Status, api, get, put};
use crate::memory::shared::{Access, SharedFile};
use crate::memory::{AllocationKind, MEMORY, Owner};
use cuda_sys::{
    CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationGranularity_flags, CUmemAllocationHandleType,
    CUmemAllocationProp, CUmemAllocationType, CUmemGenericAllocationHandle, CUmemLocation, CUmemLocationType, CUresult,
};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{c_int, c_ulonglong, c_void};
use std::os::fd::{BorrowedFd, IntoRawFd};
use std::sync::Arc;

/// The allocation granularity of NVIDIA's devices.
const GRANULARITY: usize = 2 << 20;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

struct Physical {
    file: Arc<SharedFile>,
    props: Props,
    /// The number of times that the handle must be released.
    references: usize,
}

/// The properties that a client passed for physical memory.
#[derive(Clone, Copy)]
struct Props(CUmemAllocationProp);
// SAFETY: plain data; the pointer in it is never dereferenced.
unsafe impl Send for Props {}

#[derive(Default)]
struct State {
    physical: HashMap<CUmemGenericAllocationHandle, Physical>,
    /// The access rights of each device to the mapping at an address.
    access: HashMap<(CUdeviceptr, usize), CUmemAccess_flags>,
    next: CUmemGenericAllocationHandle,
}

static STATE: Lazy<Mutex<State>> = Lazy::new(Mutex::default);

impl State {
    fn add(&mut self, file: SharedFile, props: CUmemAllocationProp) -> CUmemGenericAllocationHandle {
        self.next += 1;
        self.physical.insert(self.next, Physical { file: Arc::new(file), props: Props(props), references: 1 });
        self.next
    }

    /// Gives access to a reserved range to the devices that may access a mapping in it.
    fn admit(&self, partition: usize) {
        let none = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE;
        let allowed =
            self.access.iter().filter(|((at, _), flags)| **flags != none && MEMORY.partition_of(*at) == partition);
        MEMORY.admit_to(partition, allowed.fold(0, |devices, ((_, device), _)| devices | 1 << device));
    }

    fn physical(&mut self, handle: CUmemGenericAllocationHandle) -> Result<&mut Physical, CUresult> {
        self.physical.get_mut(&handle).ok_or(INVALID)
    }
}

/// Returns a number of bytes that must be a positive multiple of the granularity.
fn granules(bytes: usize) -> Result<u64, CUresult> {
    if bytes > 0 && bytes.is_multiple_of(GRANULARITY) { Ok(bytes as u64) } else { Err(INVALID) }
}

/// Returns the device of properties that are supported.
fn checked(props: &CUmemAllocationProp) -> Result<usize, CUresult> {
    let handles = props.requestedHandleTypes.0;
    if props.type_ != CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED {
        return Err(INVALID);
    }
    let posix = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.0;
    if handles & !posix != 0 || props.location.type_ != CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    device(props.location.id)
}

fn create(
    out: *mut CUmemGenericAllocationHandle,
    bytes: usize,
    props: *const CUmemAllocationProp,
    flags: u64,
) -> Status {
    initialised()?;
    let props = get(props)?;
    let device = checked(&props)?;
    let bytes = granules(bytes)?;
    if flags != 0 || out.is_null() {
        return Err(INVALID);
    }
    let file = MEMORY.physical(device, bytes).map_err(failure)?;
    put(out, STATE.lock().add(file, props))
}

fn release(handle: CUmemGenericAllocationHandle) -> Status {
    initialised()?;
    let mut state = STATE.lock();
    let physical = state.physical(handle)?;
    physical.references -= 1;
    if physical.references == 0 {
        state.physical.remove(&handle);
    }
    Ok(())
}

fn reserve(out: *mut CUdeviceptr, bytes: usize, align: usize, flags: u64) -> Status {
    initialised()?;
    let bytes = granules(bytes)?;
    let align = align.max(GRANULARITY);
    if flags != 0 || !align.is_power_of_two() || out.is_null() {
        return Err(INVALID);
    }
    // The requested address is a hint, which is ignored.
    put(out, MEMORY.reserve_range(bytes, align as u64).map_err(failure)?)
}

fn map(at: CUdeviceptr, bytes: usize, offset: usize, handle: CUmemGenericAllocationHandle, flags: u64) -> Status {
    initialised()?;
    let length = granules(bytes)?;
    if flags != 0 || !at.is_multiple_of(GRANULARITY as u64) || !offset.is_multiple_of(GRANULARITY) {
        return Err(INVALID);
    }
    let mut state = STATE.lock();
    let file = Arc::clone(&state.physical(handle)?.file);
    // It belongs to no context, since such memory outlives them.
    let owner = Owner { context: 0, device: file.device };
    MEMORY.map_range(owner, at, length, &file, offset as u64).map_err(failure)
}

fn unmap(at: CUdeviceptr, bytes: usize) -> Status {
    initialised()?;
    let length = granules(bytes)?;
    MEMORY.unmap_range(at, length).map_err(failure)?;
    let mut state = STATE.lock();
    state.access.retain(|(of, _), _| !(at..at + length).contains(of));
    state.admit(MEMORY.partition_of(at));
    Ok(())
}

fn page_access(flags: CUmemAccess_flags) -> Result<Access, CUresult> {
    match flags {
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_NONE => Ok(Access::None),
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READ => Ok(Access::Read),
        CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE => Ok(Access::ReadWrite),
        _ => Err(INVALID),
    }
}

/// Returns the device of a location; host locations are not supported.
fn located(location: CUmemLocation) -> Result<usize, CUresult> {
    if location.type_ != CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE {
        return Err(INVALID);
    }
    device(location.id)
}

fn set_access(at: CUdeviceptr, bytes: usize, descriptions: *const CUmemAccessDesc, count: usize) -> Status {
    initialised()?;
    let length = granules(bytes)?;
    let mappings = MEMORY.mappings(at, length).map_err(failure)?;
    let wanted = (0..count).map(|i| {
        let description = get(descriptions.wrapping_add(i))?;
        page_access(description.flags)?;
        Ok((located(description.location)?, description.flags))
    });
    let wanted: Vec<_> = wanted.collect::<Result<_, CUresult>>()?;
    if wanted.is_empty() {
        return Err(INVALID);
    }
    let mut state = STATE.lock();
    for mapping in mappings {
        state.access.extend(wanted.iter().map(|(device, flags)| ((mapping.base, *device), *flags)));
        let all = state.access.iter().filter(|((of, _), _)| *of == mapping.base);
        let most = all.filter_map(|(_, flags)| page_access(*flags).ok()).max().unwrap_or(Access::None);
        MEMORY.set_access(mapping.base, mapping.bytes, most).map_err(failure)?;
    }
    state.admit(MEMORY.partition_of(at));
    Ok(())
}

fn access_of(flags: *mut c_ulonglong, location: *const CUmemLocation, address: CUdeviceptr) -> Status {
    initialised()?;
    let device = located(get(location)?)?;
    let mapping = MEMORY.find(address).filter(|a| matches!(a.kind, AllocationKind::Mapped(_))).ok_or(INVALID)?;
    let found = STATE.lock().access.get(&(mapping.base, device)).copied();
    put(flags, c_ulonglong::from(found.map_or(0, |flags| flags.0)))
}

fn export(
    out: *mut c_void,
    handle: CUmemGenericAllocationHandle,
    kind: CUmemAllocationHandleType,
    flags: u64,
) -> Status {
    initialised()?;
    let mut state = STATE.lock();
    let physical = state.physical(handle)?;
    let wanted = physical.props.0.requestedHandleTypes.0 & kind.0 != 0;
    if flags != 0 || !wanted || out.is_null() {
        return Err(INVALID);
    }
    let copy = physical.file.descriptor().try_clone_to_owned();
    // The client owns the descriptor from here on.
    put(out.cast::<c_int>(), copy.map_err(|_| CUresult::CUDA_ERROR_OPERATING_SYSTEM)?.into_raw_fd())
}

/// Returns a file that a client names by a descriptor, which is duplicated.
pub(in crate::driver) fn file_of(descriptor: c_int) -> Result<SharedFile, CUresult> {
    // SAFETY: `F_GETFD` only queries the descriptor, and fails if it is not open.
    if descriptor < 0 || unsafe { libc::fcntl(descriptor, libc::F_GETFD) } < 0 {
        return Err(INVALID);
    }
    // SAFETY: the descriptor is open, and the client keeps it open during the call.
    let copy = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned();
    copy.and_then(SharedFile::open).map_err(|_| INVALID)
}

fn import(out: *mut CUmemGenericAllocationHandle, descriptor: c_int, kind: CUmemAllocationHandleType) -> Status {
    initialised()?;
    if kind != CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    let file = file_of(descriptor)?;
    granules(file.bytes as usize)?;
    let location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: file.device as c_int };
    let props = CUmemAllocationProp {
        type_: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: kind,
        location,
        win32HandleMetaData: std::ptr::null_mut(),
        allocFlags: Default::default(),
    };
    put(out, STATE.lock().add(file, props))
}

/// Returns the handle of the memory that is mapped at an address, with one more reference.
fn retain(out: *mut CUmemGenericAllocationHandle, address: *mut c_void) -> Status {
    initialised()?;
    let mapping =
        MEMORY.find(address.addr() as u64).filter(|a| matches!(a.kind, AllocationKind::Mapped(_))).ok_or(INVALID)?;
    let file = MEMORY.file(mapping.base).ok_or(INVALID)?;
    let mut state = STATE.lock();
    let found = state.physical.iter_mut().find(|(_, physical)| Arc::ptr_eq(&physical.file, &file));
    // After its last release, mapped memory has no handle any more.
    let (handle, physical) = found.ok_or(INVALID)?;
    put(out, *handle)?;
    physical.references += 1;
    Ok(())
}

api! {
    fn cuMemAddressReserve(
        out: *mut CUdeviceptr,
        bytes: usize,
        align: usize,
        _wish: CUdeviceptr,
        flags: c_ulonglong,
    ) {
        reserve(out, bytes, align, flags)
    }
    fn cuMemAddressFree(address: CUdeviceptr, bytes: usize) {
        initialised()?;
        MEMORY.free_range(address, granules(bytes)?).map_err(failure)
    }
    fn cuMemCreate(
        out: *mut CUmemGenericAllocationHandle,
        bytes: usize,
        props: *const CUmemAllocationProp,
        flags: c_ulonglong,
    ) {
        create(out, bytes, props, flags)
    }
    fn cuMemRelease(handle: CUmemGenericAllocationHandle) { release(handle) }
    fn cuMemMap(
        at: CUdeviceptr,
        bytes: usize,
        offset: usize,
        handle: CUmemGenericAllocationHandle,
        flags: c_ulonglong,
    ) {
        map(at, bytes, offset, handle, flags)
    }
    fn cuMemUnmap(at: CUdeviceptr, bytes: usize) { unmap(at, bytes) }
    fn cuMemSetAccess(at: CUdeviceptr, bytes: usize, descriptions: *const CUmemAccessDesc, count: usize) {
        set_access(at, bytes, descriptions, count)
    }
    fn cuMemGetAccess(flags: *mut c_ulonglong, location: *const CUmemLocation, address: CUdeviceptr) {
        access_of(flags, location, address)
    }
    fn cuMemExportToShareableHandle(
        out: *mut c_void,
        handle: CUmemGenericAllocationHandle,
        kind: CUmemAllocationHandleType,
        flags: c_ulonglong,
    ) {
        export(out, handle, kind, flags)
    }
    fn cuMemImportFromShareableHandle(
        out: *mut CUmemGenericAllocationHandle,
        descriptor: *mut c_void,
        kind: CUmemAllocationHandleType,
    ) {
        // The pointer argument is the descriptor itself.
        import(out, descriptor.addr() as c_int, kind)
    }
    fn cuMemGetAllocationGranularity(
        out: *mut usize,
        props: *const CUmemAllocationProp,
        option: CUmemAllocationGranularity_flags,
    ) {
        initialised()?;
        checked(&get(props)?)?;
        if option.0 > 1 {
            return Err(INVALID);
        }
        put(out, GRANULARITY)
    }
    fn cuMemGetAllocationPropertiesFromHandle(out: *mut CUmemAllocationProp, handle: CUmemGenericAllocationHandle) {
        initialised()?;
        put(out, STATE.lock().physical(handle)?.props.0)
    }
    fn cuMemRetainAllocationHandle(out: *mut CUmemGenericAllocationHandle, address: *mut c_void) {
        retain(out, address)
    }
}
