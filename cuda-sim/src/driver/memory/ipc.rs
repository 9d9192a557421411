//! Interprocess communication: memory and events that other processes open.
//!
//! A handle names a process, a file descriptor in it and the file's inode. A process that may read `/proc` of that one
//! (as the same user may) can open it. The exporting process must be alive at that time, as for NVIDIA's driver; after
//! that the file stays open whatever the exporter does. Events are counters in a page of such a file: the number of
//! records that were enqueued, and of the latest one that was reached.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract. Handles are plain bytes, which
//! are checked before use.

use super::failure;
use crate::driver::event::{Event, event, insert};
use crate::driver::state::{healthy, require_current};
use crate::driver::{Status, api, put};
use crate::memory::shared::SharedFile;
use crate::memory::{Allocation, AllocationKind, MEMORY, Owner};
use cuda_sys::{CUdeviceptr, CUevent, CUipcEventHandle, CUipcMemHandle, CUresult};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{c_char, c_uint};
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The first word of a handle, which tells its kind.
const MEMORY_HANDLE: u64 = u64::from_le_bytes(*b"sim-mem1");
const EVENT_HANDLE: u64 = u64::from_le_bytes(*b"sim-evt1");

/// The contents of a handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HandleContents {
    kind: u64,
    process: u64,
    descriptor: u64,
    inode: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    device: u64,
    /// The inode of the file of its memory pool; 0 for memory of none.
    pub(super) pool: u64,
}

impl HandleContents {
    /// Describes an allocation, which is in a file.
    pub(super) fn of_allocation(kind: u64, allocation: &Allocation, file: &SharedFile) -> HandleContents {
        HandleContents { offset: allocation.offset(), bytes: allocation.bytes, ..HandleContents::of(kind, file) }
    }

    fn of(kind: u64, file: &SharedFile) -> HandleContents {
        let (process, descriptor) = (u64::from(std::process::id()), file.descriptor().as_raw_fd() as u64);
        HandleContents {
            kind,
            process,
            descriptor,
            inode: file.inode,
            device: file.device as u64,
            ..HandleContents::default()
        }
    }

    pub(super) fn bytes(self) -> [c_char; 64] {
        let HandleContents { kind, process, descriptor, inode, offset, bytes, device, pool } = self;
        let words = [kind, process, descriptor, inode, offset, bytes, device, pool];
        let mut bytes = [0; 64];
        for (at, byte) in words.iter().flat_map(|word| word.to_le_bytes()).enumerate() {
            bytes[at] = byte as c_char;
        }
        bytes
    }

    /// Decodes a handle of this kind, which must be of another process.
    fn read(kind: u64, bytes: &[c_char; 64]) -> Result<HandleContents, CUresult> {
        let found = HandleContents::read_any(kind, bytes)?;
        if found.process == u64::from(std::process::id()) {
            return Err(CUresult::CUDA_ERROR_INVALID_CONTEXT);
        }
        Ok(found)
    }

    /// Decodes a handle of this kind, of this process or another one.
    pub(super) fn read_any(kind: u64, bytes: &[c_char; 64]) -> Result<HandleContents, CUresult> {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at * 8 + i] as u8));
        let [found, process, descriptor, inode, offset, bytes, device, pool] = std::array::from_fn(word);
        if found != kind {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        Ok(HandleContents { kind, process, descriptor, inode, offset, bytes, device, pool })
    }

    /// Returns the device of the memory, if there is one with that number.
    pub(super) fn device(self) -> Option<usize> {
        usize::try_from(self.device).ok().filter(|device| *device < *crate::device::DEVICES)
    }

    /// Opens the file, if it still exists.
    pub(super) fn open(self) -> Result<SharedFile, CUresult> {
        let path = format!("/proc/{}/fd/{}", self.process, self.descriptor);
        let file = std::fs::File::options().read(true).write(true).open(path);
        let file = file.and_then(|file| SharedFile::open(file.into())).ok();
        file.filter(|file| file.inode == self.inode).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }
}

/// A context, and the inode and offset of a file that it has open.
type OpenKey = (u32, u64, u64);

/// Opened memory of other processes: its address, and the number of times that it was opened.
static OPEN: Lazy<Mutex<HashMap<OpenKey, (CUdeviceptr, usize)>>> = Lazy::new(Mutex::default);

/// Forgets the memory that a context has open, at its end; the context frees it.
pub(in crate::driver) fn forget(context: u32) {
    OPEN.lock().retain(|(of, ..), _| *of != context);
}

fn export(handle: *mut CUipcMemHandle, address: CUdeviceptr) -> Status {
    healthy()?;
    let (allocation, file) = MEMORY.share(address, |kind| kind == AllocationKind::Device).map_err(failure)?;
    let name = HandleContents::of_allocation(MEMORY_HANDLE, &allocation, &file);
    put(handle, CUipcMemHandle { reserved: name.bytes() })
}

fn open(out: *mut CUdeviceptr, handle: &CUipcMemHandle, flags: c_uint) -> Status {
    let context = healthy()?;
    // Lazy peer access is the only flag and must be set; peer access is enabled as needed.
    if flags != 1 || out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let name = HandleContents::read(MEMORY_HANDLE, &handle.reserved)?;
    let mut opened = OPEN.lock();
    if let Some((address, count)) = opened.get_mut(&(context.id, name.inode, name.offset)) {
        *count += 1;
        return put(out, *address);
    }
    let file = Arc::new(name.open()?);
    let device = name.device().unwrap_or(context.device);
    let owner = Owner { device, ..context.owner() };
    let address = MEMORY.import(owner, &file, name.offset, name.bytes, AllocationKind::Imported);
    let address = address.map_err(|_| CUresult::CUDA_ERROR_MAP_FAILED)?;
    opened.insert((context.id, name.inode, name.offset), (address, 1));
    put(out, address)
}

fn close(address: CUdeviceptr) -> Status {
    let context = healthy()?;
    let mut opened = OPEN.lock();
    let entry = opened.iter_mut().find(|((of, ..), (at, _))| *of == context.id && *at == address);
    let (key, (_, count)) = entry.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    *count -= 1;
    if *count > 0 {
        return Ok(());
    }
    let key = *key;
    opened.remove(&key);
    drop(opened);
    context.synchronize()?;
    MEMORY.free(address, |kind| kind == AllocationKind::Imported).map_err(failure)
}

/// An event's counters, in memory that all its processes map.
#[derive(Debug)]
pub(in crate::driver) struct SharedEvent {
    file: SharedFile,
    counters: NonNull<Counters>,
}

#[repr(C)]
#[derive(Debug)]
struct Counters {
    /// The number of records that were enqueued.
    enqueued: AtomicU64,
    /// The number of the latest record that was reached.
    reached: AtomicU64,
}

// SAFETY: the counters are atomic, and mapped as long as the event lives.
unsafe impl Send for SharedEvent {}
// SAFETY: the counters are atomic, and mapped as long as the event lives.
unsafe impl Sync for SharedEvent {}

/// Bytes of the file and of its mapping; the system rounds both up to pages.
const PAGE: usize = 4096;

impl SharedEvent {
    /// Creates an event that was never recorded.
    pub(in crate::driver) fn new(device: usize) -> Result<SharedEvent, CUresult> {
        let file = SharedFile::new(device, PAGE as u64).map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        SharedEvent::over(file)
    }

    fn over(file: SharedFile) -> Result<SharedEvent, CUresult> {
        let (access, descriptor) = (libc::PROT_READ | libc::PROT_WRITE, file.descriptor().as_raw_fd());
        // SAFETY: maps a page of a file that is at least as long, at an address that the system chooses, so no existing
        // memory changes.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), PAGE, access, libc::MAP_SHARED, descriptor, 0) };
        let counters = NonNull::new(at).filter(|_| at != libc::MAP_FAILED);
        let counters = counters.ok_or(CUresult::CUDA_ERROR_MAP_FAILED)?.cast();
        Ok(SharedEvent { file, counters })
    }

    fn counters(&self) -> &Counters {
        // SAFETY: mapped as long as `self` lives, page-aligned, and all bytes are valid for atomics.
        unsafe { self.counters.as_ref() }
    }

    /// Counts a record that is being enqueued, and returns its number.
    pub(in crate::driver) fn enqueue(&self) -> u64 {
        self.counters().enqueued.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Records that a record was reached.
    pub(in crate::driver) fn reach(&self, number: u64) {
        self.counters().reached.fetch_max(number, Ordering::AcqRel);
    }

    /// Returns the last record, if it was not reached yet.
    pub(in crate::driver) fn pending(&self) -> Option<u64> {
        let last = self.counters().enqueued.load(Ordering::Acquire);
        (self.counters().reached.load(Ordering::Acquire) < last).then_some(last)
    }

    /// Waits until a record is reached, possibly in another process, or until `lost`.
    pub(in crate::driver) fn wait(&self, number: u64, lost: impl Fn() -> bool) {
        let mut rounds = 0;
        while self.counters().reached.load(Ordering::Acquire) < number && !lost() {
            rounds += 1;
            if rounds < 1000 { std::thread::yield_now() } else { std::thread::sleep(Duration::from_micros(50)) }
        }
    }
}

impl Drop for SharedEvent {
    fn drop(&mut self) {
        // SAFETY: the mapping is this event's own, and no reference to it is left.
        unsafe { libc::munmap(self.counters.as_ptr().cast(), PAGE) };
    }
}

fn export_event(handle: *mut CUipcEventHandle, of: CUevent) -> Status {
    require_current()?;
    let event = event(of)?;
    let shared = event.shared.as_ref().ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
    put(handle, CUipcEventHandle { reserved: HandleContents::of(EVENT_HANDLE, &shared.file).bytes() })
}

fn open_event(out: *mut CUevent, handle: &CUipcEventHandle) -> Status {
    healthy()?;
    let file = HandleContents::read(EVENT_HANDLE, &handle.reserved)?.open()?;
    if file.bytes < PAGE as u64 {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    insert(out, Event::shared(SharedEvent::over(file)?))
}

api! {
    fn cuIpcGetMemHandle(handle: *mut CUipcMemHandle, address: CUdeviceptr) { export(handle, address) }
    fn cuIpcOpenMemHandle(out: *mut CUdeviceptr, handle: CUipcMemHandle, flags: c_uint) { open(out, &handle, flags) }
    fn cuIpcOpenMemHandle_v2(out: *mut CUdeviceptr, handle: CUipcMemHandle, flags: c_uint) {
        open(out, &handle, flags)
    }
    fn cuIpcCloseMemHandle(address: CUdeviceptr) { close(address) }
    fn cuIpcGetEventHandle(handle: *mut CUipcEventHandle, of: CUevent) { export_event(handle, of) }
    fn cuIpcOpenEventHandle(out: *mut CUevent, handle: CUipcEventHandle) { open_event(out, &handle) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn handles_are_read_as_they_were_written_and_refused_otherwise() {
        let name =
            HandleContents { kind: EVENT_HANDLE, process: 1, inode: u64::MAX, bytes: 300, ..HandleContents::default() };
        assert_eq!(HandleContents::read(EVENT_HANDLE, &name.bytes()), Ok(name));
        assert_eq!(HandleContents::read(MEMORY_HANDLE, &name.bytes()), Err(CUresult::CUDA_ERROR_INVALID_VALUE));
        assert_eq!(name.open().unwrap_err(), CUresult::CUDA_ERROR_INVALID_HANDLE);
        let own = HandleContents { process: u64::from(std::process::id()), ..name };
        assert_eq!(HandleContents::read(EVENT_HANDLE, &own.bytes()), Err(CUresult::CUDA_ERROR_INVALID_CONTEXT));
    }
}
