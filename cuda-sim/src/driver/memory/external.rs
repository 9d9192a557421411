//! External memory: imported file descriptors, and buffers mapped from them.
//!
//! A descriptor can be imported if its file can be mapped: one of `cuMemExportToShareableHandle`, of this process or
//! another, or any `memfd`. Semaphores of other APIs exist only in their drivers, so they are not supported.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract. The driver owns a descriptor
//! after it was imported, and closes it.

use super::failure;
use super::virtual_memory::file_of;
use crate::driver::state::{handle, healthy, ready};
use crate::driver::{Status, api, get, put};
use crate::memory::shared::SharedFile;
use crate::memory::{AllocationKind, MEMORY};
use cuda_sys::{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, CUdeviceptr, CUexternalMemory,
    CUexternalMemoryHandleType, CUresult,
};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::Arc;

/// A file, and the number of its bytes that the client may map.
type Imported = (Arc<SharedFile>, u64);

/// Imported memory by its handle.
static IMPORTED: Lazy<Mutex<HashMap<usize, Imported>>> = Lazy::new(Mutex::default);

fn import(out: *mut CUexternalMemory, description: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC) -> Status {
    healthy()?;
    let wanted = get(description)?;
    if wanted.type_ != CUexternalMemoryHandleType::CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    // Dedicated memory is the only flag.
    if wanted.flags > 1 || wanted.size == 0 || out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: the type field says that the union holds a descriptor, for which every bit pattern is valid.
    let descriptor = unsafe { wanted.handle.fd };
    let file = file_of(descriptor)?;
    if wanted.size > file.bytes {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let new = handle();
    put(out, std::ptr::without_provenance_mut(new))?;
    IMPORTED.lock().insert(new, (Arc::new(file), wanted.size));
    // SAFETY: the descriptor is open, and by CUDA's contract the driver owns it once the import has succeeded.
    drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
    Ok(())
}

fn buffer(out: *mut CUdeviceptr, of: CUexternalMemory, description: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC) -> Status {
    let context = healthy()?;
    let imported = IMPORTED.lock().get(&of.addr()).cloned();
    let (file, bytes) = imported.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
    let wanted = get(description)?;
    let within = wanted.offset.checked_add(wanted.size).is_some_and(|end| end <= bytes);
    if wanted.flags != 0 || wanted.size == 0 || !within || out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let at = MEMORY.import(context.owner(), &file, wanted.offset, wanted.size, AllocationKind::External);
    put(out, at.map_err(failure)?)
}

api! {
    fn cuImportExternalMemory(out: *mut CUexternalMemory, description: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC) {
        import(out, description)
    }
    fn cuExternalMemoryGetMappedBuffer(
        out: *mut CUdeviceptr,
        of: CUexternalMemory,
        description: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC,
    ) {
        buffer(out, of, description)
    }
    fn cuDestroyExternalMemory(old: CUexternalMemory) {
        ready()?;
        // Mapped buffers keep the file open.
        IMPORTED.lock().remove(&old.addr()).map(|_| ()).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }
}
