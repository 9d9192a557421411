//! The CUDA driver API: C functions on top of the modules of this crate.
//!
//! The folders follow CUDA's groups of functions. Each file defines functions inside the macro `api!`, which creates
//! the C function, catches panics, adds it to the table and, in the shared library, exports it. Functions that the
//! device does not support are in [`unsupported`]. The operations of streams are enqueued as [`operations`] and run by
//! [`crate::queue`].
//!
//! # Safety
//!
//! Pointers come from C callers, whose contract is the CUDA documentation: a pointer is null or valid for what the
//! function does with it. [`put`] and [`get`] rest on that; null pointers are errors, never dereferenced. Handles are
//! numbers that are looked up, never pointers to Rust objects. A function looks its handles up before it follows any
//! pointer: with a null or stale handle it reads and writes nothing, as NVIDIA's driver does (`tests/nulls.rs`).

#[cfg(all(test, not(loom)))]
mod audit;
mod context;
mod coredump;
mod error;
mod event;
mod extension;
mod graph;
mod init;
mod launch;
mod memory;
mod module;
mod of_context;
mod operations;
mod rest;
mod state;
mod stream;
mod trace;
mod unsupported;

use cuda_sys::{CUresult, DriverApi, DriverFns};
use once_cell::sync::Lazy;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

pub(crate) type Status = Result<(), CUresult>;

/// Defines C functions of the driver, whose bodies return a [`Status`].
///
/// A second name after a slash is the variant with the per-thread default stream.
macro_rules! api {
    ($(fn $name:ident $(/ $own:ident)? ($($args:tt)*) $body:block)+) => {
        $(crate::driver::function! { $name [$($own)?] ($($args)*) $body })+
        /// Adds this file's functions to the table.
        pub(in crate::driver) fn fill(fns: &mut cuda_sys::DriverFns) {
            $(
                fns.$name = Some($name);
                $(fns.$own = Some($own);)?
            )+
        }
    };
}

/// Defines one C function, and its variant with the per-thread default stream.
macro_rules! function {
    ($name:ident [] ($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        #[cfg_attr(feature = "exports", unsafe(no_mangle))]
        #[cfg_attr(not(feature = "exports"), expect(non_snake_case, reason = "the names are CUDA's"))]
        pub(in crate::driver) unsafe extern "C" fn $name($($arg: $ty),*) -> cuda_sys::CUresult {
            crate::driver::guarded(stringify!($name), move || -> crate::driver::Status { $body })
        }
    };
    ($name:ident [$own:ident] ($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        crate::driver::function! { $name [] ($($arg: $ty),*) $body }

        #[cfg_attr(feature = "exports", unsafe(no_mangle))]
        #[cfg_attr(not(feature = "exports"), expect(non_snake_case, reason = "the names are CUDA's"))]
        pub(in crate::driver) unsafe extern "C" fn $own($($arg: $ty),*) -> cuda_sys::CUresult {
            // SAFETY: both functions have the same contract, which the caller keeps.
            crate::driver::stream::per_thread(|| unsafe { $name($($arg),*) })
        }
    };
}
use api;
use function;

/// Runs the body of a C function. A panic, which is a defect, becomes `CUDA_ERROR_UNKNOWN`.
fn guarded(name: &str, body: impl FnOnce() -> Status) -> CUresult {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => CUresult::CUDA_SUCCESS,
        Ok(Err(code)) => {
            tracing::debug!("{name}: {code:?}");
            code
        }
        Err(_) => {
            tracing::error!("{name} panicked: a defect of the software device");
            CUresult::CUDA_ERROR_UNKNOWN
        }
    }
}

/// Writes a result through a pointer that a C caller passed.
fn put<T>(to: *mut T, value: T) -> Status {
    if to.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: the pointer is not null, and by CUDA's contract valid for a write of this type.
    unsafe { to.write_unaligned(value) };
    Ok(())
}

/// Reads a value through a pointer that a C caller passed.
fn get<T: Copy>(from: *const T) -> Result<T, CUresult> {
    if from.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: the pointer is not null, and by CUDA's contract valid for a read of this type.
    Ok(unsafe { from.read_unaligned() })
}

/// Reads a string that a C caller passed.
fn text<'a>(from: *const std::ffi::c_char) -> Result<&'a str, CUresult> {
    if from.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: the pointer is not null, and by CUDA's contract a NUL-terminated string that outlives the call.
    let text = unsafe { std::ffi::CStr::from_ptr(from) };
    text.to_str().map_err(|_| CUresult::CUDA_ERROR_INVALID_VALUE)
}

/// Every function of the table.
static FNS: Lazy<DriverFns> = Lazy::new(|| {
    let mut fns = implemented();
    unsupported::fill(&mut fns);
    fns
});

/// The functions that are implemented.
fn implemented() -> DriverFns {
    let mut fns = DriverFns::default();
    init::fill(&mut fns);
    memory::ipc::fill(&mut fns);
    memory::virtual_memory::fill(&mut fns);
    memory::external::fill(&mut fns);
    error::fill(&mut fns);
    context::fill(&mut fns);
    coredump::fill(&mut fns);
    memory::fill(&mut fns);
    memory::copy::fill(&mut fns);
    memory::pool::fill(&mut fns);
    memory::pointer::fill(&mut fns);
    module::fill(&mut fns);
    module::link::fill(&mut fns);
    module::library::fill(&mut fns);
    launch::fill(&mut fns);
    launch::occupancy::fill(&mut fns);
    stream::fill(&mut fns);
    stream::memory_operations::fill(&mut fns);
    stream::attributes::fill(&mut fns);
    event::fill(&mut fns);
    graph::fill(&mut fns);
    of_context::fill(&mut fns);
    fns
}

/// The software device's driver, one for the process.
///
/// # Examples
///
/// ```
/// let api = cuda_sim::driver_api();
/// let mut count = 0;
/// // SAFETY: CUDA's contract: `count` is a live local.
/// unsafe {
///     assert_eq!((api.cuInit()?)(0), cuda_sys::CUresult::CUDA_SUCCESS);
///     assert_eq!((api.cuDeviceGetCount()?)(&mut count), cuda_sys::CUresult::CUDA_SUCCESS);
/// }
/// assert_eq!(count, 1);
/// # Ok::<(), cuda_sys::MissingSymbol>(())
/// ```
#[must_use]
pub fn driver_api() -> Arc<DriverApi> {
    static API: Lazy<Arc<DriverApi>> = Lazy::new(|| {
        // SAFETY: the functions of this module implement CUDA's contract.
        Arc::new(unsafe { DriverApi::from_fns(&FNS) }.named("the software device"))
    });
    Arc::clone(&API)
}
