//! Memory pools that processes share: a pool is exported as a file descriptor, and an allocation as 64 bytes.
//!
//! The file stands for the pool: an allocation can be imported into a pool with the same file only. An allocation is
//! found like the memory of `cuIpcGetMemHandle`, by its process and descriptor. An imported pool allocates nothing.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module). Data of
//! other processes is checked before use.

use super::place::PoolPlace;
use super::{POOLS, Pool, failure};
use crate::driver::memory::ipc::HandleContents;
use crate::driver::memory::virtual_memory::file_of;
use crate::driver::state::{current, healthy};
use crate::driver::{Status, get, put};
use crate::memory::shared::SharedFile;
use crate::memory::{AllocationKind, MEMORY, Owner, PAGE, PoolMemory, partitions};
use cuda_sys::{CUdeviceptr, CUmemAllocationHandleType, CUmemPoolPtrExportData, CUmemoryPool, CUresult};
use std::ffi::{c_char, c_int, c_uchar, c_ulonglong, c_void};
use std::os::fd::IntoRawFd;
use std::sync::Arc;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const FAILED: CUresult = CUresult::CUDA_ERROR_OPERATING_SYSTEM;

/// The first word of a pool's file, and that of an exported allocation.
const POOL_FILE: u64 = u64::from_le_bytes(*b"sim-pool");
const POOLED_HANDLE: u64 = u64::from_le_bytes(*b"sim-plm1");

/// Checks the kind of handle by which pools are shared: file descriptors.
fn checked(kind: CUmemAllocationHandleType, flags: c_ulonglong) -> Status {
    match kind {
        _ if flags != 0 => Err(INVALID),
        CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR => Ok(()),
        _ => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
    }
}

impl Pool {
    /// Returns the pool's file, which is created when the pool is first exported.
    fn file(&mut self) -> Result<Arc<SharedFile>, CUresult> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        let file = SharedFile::new(self.place.device.unwrap_or(0), *PAGE).map_err(|_| FAILED)?;
        file.mark(POOL_FILE).map_err(|_| FAILED)?;
        Ok(Arc::clone(self.file.insert(Arc::new(file))))
    }

    fn is_shareable(&self) -> bool {
        self.handle_types == CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    }
}

/// Returns a new descriptor of a pool's file, which the client owns.
pub(super) fn export(
    out: *mut c_void,
    pool: CUmemoryPool,
    kind: CUmemAllocationHandleType,
    flags: c_ulonglong,
) -> Status {
    current()?;
    checked(kind, flags)?;
    let mut pools = POOLS.lock();
    let pool = pools.open(pool)?;
    if !pool.is_shareable() || out.is_null() {
        return Err(INVALID);
    }
    let copy = pool.file()?.descriptor().try_clone_to_owned();
    put(out.cast::<c_int>(), copy.map_err(|_| FAILED)?.into_raw_fd())
}

/// Opens the pool of a descriptor, which is duplicated.
pub(super) fn import(
    out: *mut CUmemoryPool,
    descriptor: c_int,
    kind: CUmemAllocationHandleType,
    flags: c_ulonglong,
) -> Status {
    healthy()?;
    checked(kind, flags)?;
    let file = file_of(descriptor)?;
    if !file.is_marked(POOL_FILE) || out.is_null() {
        return Err(INVALID);
    }
    let place = PoolPlace { memory: PoolMemory::Imported, device: Some(file.device) };
    let mut pools = POOLS.lock();
    let handle = pools
        .add(place.memory, |id| Pool { file: Some(Arc::new(file)), ..Pool::new(id, place, 0, partitions::COMMON) });
    put(out, std::ptr::without_provenance_mut(handle))
}

/// Describes an allocation of a pool to other processes.
pub(super) fn export_pointer(out: *mut CUmemPoolPtrExportData, address: CUdeviceptr) -> Status {
    healthy()?;
    let found = MEMORY.find(address).ok_or(INVALID)?;
    let AllocationKind::Pooled(id) = found.kind else { return Err(INVALID) };
    let pool = {
        let mut pools = POOLS.lock();
        let pool = pools.get(id.handle).filter(|pool| pool.is_shareable()).ok_or(INVALID)?;
        pool.file()?.inode
    };
    let (allocation, file) = MEMORY.share(address, |kind| kind == AllocationKind::Pooled(id)).map_err(failure)?;
    let mut contents = HandleContents::of_allocation(POOLED_HANDLE, &allocation, &file);
    contents.pool = pool;
    put(out, CUmemPoolPtrExportData { reserved: contents.bytes().map(|byte| byte as c_uchar) })
}

/// Maps an allocation of the pool that was imported.
pub(super) fn import_pointer(out: *mut CUdeviceptr, pool: CUmemoryPool, data: *const CUmemPoolPtrExportData) -> Status {
    let context = healthy()?;
    let mut pools = POOLS.lock();
    let pool = pools.open(pool).ok().filter(|pool| pool.id.memory == PoolMemory::Imported).ok_or(INVALID)?;
    let contents = HandleContents::read_any(POOLED_HANDLE, &get(data)?.reserved.map(|byte| byte as c_char))?;
    if pool.file.as_ref().is_none_or(|file| file.inode != contents.pool) || out.is_null() {
        return Err(INVALID);
    }
    let file = Arc::new(contents.open()?);
    let owner = Owner { device: contents.device().unwrap_or(context.device), ..context.owner() };
    let kind = AllocationKind::Pooled(pool.id);
    let address = MEMORY.import(owner, &file, contents.offset, contents.bytes, kind);
    let address = address.map_err(|_| CUresult::CUDA_ERROR_MAP_FAILED)?;
    let mapped = MEMORY.find(address).map_or(0, |found| found.mapped);
    pool.count(mapped, true);
    put(out, address)
}

/// Returns true if pools can be created with this kind of handle.
pub(super) fn supports(kind: CUmemAllocationHandleType) -> bool {
    [
        CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    ]
    .contains(&kind)
}
