//! Memory that several mappings and processes share: unnamed files behind pages of the reserved range.
//!
//! Allocations are private at first, since that is faster. One that another process requests gets a file with its
//! contents behind the same pages; virtual memory that clients map themselves has one from the start. Only mappings are
//! here; access rights are checked by the driver's functions.
//!
//! # Safety
//!
//! Only pages inside the reserved range are replaced, under its lock, and they belong to the allocation or mapping that
//! changes.

use super::chunks::EACH;
use super::partitions::COMMON;
use super::{Allocation, AllocationKind, Memory, MemoryError, Owner, PAGE, USED, release};
use parking_lot::RwLock;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Locked for reading by everything that accesses the devices' memory, and for writing while an allocation's pages get
/// a file.
pub(crate) static MOVING: RwLock<()> = RwLock::new(());

/// The prefix of the files' names, which are visible in `/proc`; the device's number follows.
const NAME: &str = "cuda-sim-device-";

/// A file that backs pages.
#[derive(Debug)]
pub(crate) struct SharedFile {
    file: std::fs::File,
    pub(crate) device: usize,
    pub(crate) bytes: u64,
    /// The file's inode number, which distinguishes it from a later file with the same name.
    pub(crate) inode: u64,
    /// The bytes that it takes from its device, if it is physical memory of its own.
    _charge: Option<Charge>,
}

/// Bytes that count against a device's total as long as this lives.
#[derive(Debug)]
struct Charge {
    device: usize,
    bytes: u64,
}

impl Drop for Charge {
    fn drop(&mut self) {
        USED[self.device].fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

impl SharedFile {
    /// Creates a file of zeros.
    pub(crate) fn new(device: usize, bytes: u64) -> io::Result<SharedFile> {
        let name = std::ffi::CString::new(format!("{NAME}{device}"))?;
        // SAFETY: the name is a live NUL-terminated string; the call creates a new descriptor.
        let descriptor = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and owned by nobody else.
        let file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
        file.set_len(bytes)?;
        let inode = file.metadata()?.ino();
        Ok(SharedFile { file, device, bytes, inode, _charge: None })
    }

    /// Opens a file of this or another process, which must be a regular one. Its device is derived from its name, else
    /// 0.
    pub(crate) fn open(descriptor: OwnedFd) -> io::Result<SharedFile> {
        let link = std::fs::read_link(format!("/proc/self/fd/{}", descriptor.as_raw_fd()))?;
        let file = std::fs::File::from(descriptor);
        let known = file.metadata()?;
        if !known.is_file() || known.len() == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let link = link.to_string_lossy();
        let digits = link.strip_prefix("/memfd:").and_then(|name| name.strip_prefix(NAME));
        let digits = digits.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        let device = digits.and_then(|n| n.parse().ok()).filter(|d| *d < *crate::device::DEVICES).unwrap_or(0);
        Ok(SharedFile { file, device, bytes: known.len(), inode: known.ino(), _charge: None })
    }

    /// Writes a word to its start, which tells what the file is for.
    pub(crate) fn mark(&self, word: u64) -> io::Result<()> {
        self.file.write_all_at(&word.to_le_bytes(), 0)
    }

    /// Returns true if its first word is this one.
    pub(crate) fn is_marked(&self, word: u64) -> bool {
        let mut found = [0; 8];
        self.file.read_exact_at(&mut found, 0).is_ok() && found == word.to_le_bytes()
    }

    /// Returns its descriptor in this process.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Maps the file over pages that have no file.
    fn place(&self, at: u64, bytes: u64, offset: u64, access: i32) -> Result<(), MemoryError> {
        let flags = libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_NORESERVE;
        let (to, length, from) = (at as *mut libc::c_void, bytes as usize, offset.cast_signed());
        // SAFETY: the caller passes pages of the reserved range that belong to the mapping being made.
        let mapped = unsafe { libc::mmap(to, length, access, flags, self.file.as_raw_fd(), from) };
        if mapped == libc::MAP_FAILED { Err(MemoryError::OutOfMemory) } else { Ok(()) }
    }
}

/// The access rights of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    None,
    Read,
    ReadWrite,
}

impl Access {
    fn protection(self) -> i32 {
        match self {
            Access::None => libc::PROT_NONE,
            Access::Read => libc::PROT_READ,
            Access::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
        }
    }
}

impl Memory {
    /// Returns the file behind a live allocation of an allowed kind, and creates it if there is none.
    ///
    /// It waits for running accesses to memory and blocks new ones, so that no write is lost.
    pub(crate) fn share(
        &self,
        address: u64,
        allowed: impl Fn(AllocationKind) -> bool,
    ) -> Result<(Allocation, Arc<SharedFile>), MemoryError> {
        let _still = MOVING.write();
        let allocation = self.find(address).filter(|a| allowed(a.kind)).ok_or(MemoryError::Unknown)?;
        let mut state = self.state.lock();
        if !state.live.contains_key(&allocation.base) {
            return Err(MemoryError::Unknown);
        }
        if let Some(file) = state.files.get(&allocation.base) {
            return Ok((allocation, Arc::clone(file)));
        }
        let Allocation { pages, mapped, owner, base, .. } = allocation;
        if state.live.get(&base).is_some_and(|live| live.mappings == 0) {
            // The file's pages are a separate mapping among the chunk's.
            state.chunks.charge()?;
            if let Some(live) = state.live.get_mut(&base) {
                live.mappings = EACH;
            }
        }
        let file = SharedFile::new(owner.device, mapped).map_err(|_| MemoryError::OutOfMemory)?;
        // SAFETY: the allocation is live, so its pages are readable, and the lock keeps everyone from writing to them.
        let contents = unsafe { std::slice::from_raw_parts(pages as *const u8, mapped as usize) };
        file.file.write_all_at(contents, 0).map_err(|_| MemoryError::OutOfMemory)?;
        file.place(pages, mapped, 0, Access::ReadWrite.protection())?;
        let file = Arc::new(file);
        state.files.insert(base, Arc::clone(&file));
        Ok((allocation, file))
    }

    /// Maps `bytes` of a file, from `offset` on, as an allocation of a kind.
    pub(crate) fn import(
        &self,
        owner: Owner,
        file: &Arc<SharedFile>,
        offset: u64,
        bytes: u64,
        kind: AllocationKind,
    ) -> Result<u64, MemoryError> {
        let (first, into) = (offset / *PAGE * *PAGE, offset % *PAGE);
        let end = offset.checked_add(bytes).filter(|end| *end <= file.bytes).ok_or(MemoryError::Unknown)?;
        let mapped = (end - first).next_multiple_of(*PAGE);
        let taken = mapped + 2 * *PAGE;
        let mut state = self.state.lock();
        state.chunks.charge()?;
        let start = state.partitions.all[COMMON].take(taken);
        let placed = start
            .ok_or(MemoryError::OutOfMemory)
            .and_then(|start| file.place(start + *PAGE, mapped, first, Access::ReadWrite.protection()).map(|()| start));
        let start = match placed {
            Ok(start) => start,
            Err(error) => {
                state.chunks.discharge(EACH);
                state.partitions.all[COMMON].free.extend(start.map(|start| (start, taken)));
                return Err(error);
            }
        };
        let pages = start + *PAGE;
        let base = pages + into;
        state.id += 1;
        let id = state.id;
        let (chunk, mappings) = (None, EACH);
        let new = Allocation { base, bytes, kind, owner, id, start, taken, pages, mapped, chunk, mappings };
        state.live.insert(base, new);
        state.files.insert(base, Arc::clone(file));
        Ok(base)
    }

    /// Creates memory of a device that is not mapped yet.
    pub(crate) fn physical(&self, device: usize, bytes: u64) -> Result<SharedFile, MemoryError> {
        let charge = {
            let _state = self.state.lock();
            if USED[device].load(Ordering::Acquire).saturating_add(bytes) > self.total {
                return Err(MemoryError::OutOfMemory);
            }
            USED[device].fetch_add(bytes, Ordering::AcqRel);
            Charge { device, bytes }
        };
        let file = SharedFile::new(device, bytes).map_err(|_| MemoryError::OutOfMemory)?;
        Ok(SharedFile { _charge: Some(charge), ..file })
    }

    /// Reserves an address range without memory; `bytes` and `align` are multiples of the page size.
    pub(crate) fn reserve_range(&self, bytes: u64, align: u64) -> Result<u64, MemoryError> {
        let taken = bytes.checked_add(align).and_then(|n| n.checked_add(2 * *PAGE)).ok_or(MemoryError::OutOfMemory)?;
        // No device can access it until a mapping in it has access rights.
        let partition = self.open_partition(0);
        let mut state = self.state.lock();
        let Some(start) = state.partitions.all[partition].take(taken) else {
            drop(state);
            self.close_partition(partition);
            return Err(MemoryError::OutOfMemory);
        };
        let base = (start + *PAGE).next_multiple_of(align);
        state.reserved.insert(base, (bytes, start, taken));
        Ok(base)
    }

    /// Frees a whole reserved range, which must have no mappings.
    pub(crate) fn free_range(&self, base: u64, bytes: u64) -> Result<(), MemoryError> {
        let mut state = self.state.lock();
        let (_, start, taken) = *state.reserved.get(&base).filter(|r| r.0 == bytes).ok_or(MemoryError::Unknown)?;
        if state.live.range(base..base + bytes).next().is_some() {
            return Err(MemoryError::Unknown);
        }
        state.reserved.remove(&base);
        state.partitions.containing(start).free.push_back((start, taken));
        drop(state);
        self.close_partition(self.partition_of(start));
        Ok(())
    }

    /// Maps a part of a file into a reserved range, inaccessible at first.
    pub(crate) fn map_range(
        &self,
        owner: Owner,
        at: u64,
        bytes: u64,
        file: &Arc<SharedFile>,
        offset: u64,
    ) -> Result<(), MemoryError> {
        let mut state = self.state.lock();
        let end = at.checked_add(bytes).ok_or(MemoryError::Unknown)?;
        let within = state.reserved.range(..=at).next_back().is_some_and(|(base, (room, ..))| end <= base + room);
        let before = state.live.range(..end).next_back();
        let partition = offset.checked_add(bytes).is_some_and(|end| end <= file.bytes);
        if !within || !partition || before.is_some_and(|(_, a)| a.base + a.bytes > at) {
            return Err(MemoryError::Unknown);
        }
        state.chunks.charge()?;
        if let Err(error) = file.place(at, bytes, offset, Access::None.protection()) {
            state.chunks.discharge(EACH);
            return Err(error);
        }
        state.id += 1;
        let (id, kind) = (state.id, AllocationKind::Mapped(Access::None));
        let (base, start, pages, mapped, chunk, mappings) = (at, at, at, bytes, None, EACH);
        let new = Allocation { base, bytes, kind, owner, id, start, taken: 0, pages, mapped, chunk, mappings };
        state.live.insert(at, new);
        state.files.insert(at, Arc::clone(file));
        Ok(())
    }

    /// Returns the mappings that exactly cover a range, in order.
    pub(crate) fn mappings(&self, at: u64, bytes: u64) -> Result<Vec<Allocation>, MemoryError> {
        let state = self.state.lock();
        let (mut next, mut found) = (at, Vec::new());
        let end = at.checked_add(bytes).ok_or(MemoryError::Unknown)?;
        while next < end {
            let mapping = state.live.get(&next).filter(|a| matches!(a.kind, AllocationKind::Mapped(_)));
            let mapping = *mapping.ok_or(MemoryError::Unknown)?;
            next += mapping.bytes;
            found.push(mapping);
        }
        if next == end { Ok(found) } else { Err(MemoryError::Unknown) }
    }

    /// Removes the mappings of a range.
    pub(crate) fn unmap_range(&self, at: u64, bytes: u64) -> Result<(), MemoryError> {
        let found = self.mappings(at, bytes)?;
        let mut state = self.state.lock();
        found.into_iter().for_each(|mapping| release(&mut state, mapping));
        Ok(())
    }

    /// Sets the access rights of the mappings of a range.
    pub(crate) fn set_access(&self, at: u64, bytes: u64, access: Access) -> Result<(), MemoryError> {
        let found = self.mappings(at, bytes)?;
        let mut state = self.state.lock();
        for mapping in found {
            let (to, length) = (mapping.base as *mut libc::c_void, mapping.bytes as usize);
            // SAFETY: pages of the reserved range that belong to a live mapping.
            if unsafe { libc::mprotect(to, length, access.protection()) } != 0 {
                return Err(MemoryError::OutOfMemory);
            }
            if let Some(mapping) = state.live.get_mut(&mapping.base) {
                mapping.kind = AllocationKind::Mapped(access);
            }
        }
        Ok(())
    }

    /// Returns the file behind an address.
    pub(crate) fn file(&self, base: u64) -> Option<Arc<SharedFile>> {
        self.state.lock().files.get(&base).cloned()
    }

    /// Returns the allocation of an address if all bytes up to `end` are in it, or in contiguous mappings.
    pub(crate) fn covering(&self, address: u64, end: u64) -> Option<Allocation> {
        let first = self.find(address)?;
        let mut reached = first.base + first.bytes;
        while reached < end {
            let next = self.find(reached).filter(|a| a.base == reached && a.kind == first.kind);
            reached += next.filter(|a| matches!(a.kind, AllocationKind::Mapped(_)))?.bytes;
        }
        Some(first)
    }
}
