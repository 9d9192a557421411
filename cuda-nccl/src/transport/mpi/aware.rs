//! [`knows_device_memory`]: whether MPI can access the memory of devices, which is called CUDA-aware.
//!
//! # Safety
//!
//! The function that is looked up by name is an extension of MPI's libraries, which declare it like this; it asks for nothing.

use crate::error::{Error, Result};

/// The environment variable that says where MPI accesses the data of a communicator: in `device` memory, or on the `host`, to which
/// they are copied. Without it, MPI is asked.
///
/// # Examples
///
/// ```
/// match std::env::var(cuda_nccl::MPI_MEMORY_VARIABLE) {
///     Ok(memory) => println!("MPI accesses data on the {memory}"),
///     Err(_) => println!("MPI says whether it can access device memory"),
/// }
/// ```
pub const MPI_MEMORY_VARIABLE: &str = "CUDA_NCCL_MPI_MEMORY";

/// Returns true if MPI can access the memory of devices.
pub(super) fn knows_device_memory() -> Result<bool> {
    choose(std::env::var(MPI_MEMORY_VARIABLE).ok().as_deref(), is_aware)
}

/// The variable's choice, or else what MPI says.
fn choose(variable: Option<&str>, is_aware: impl FnOnce() -> bool) -> Result<bool> {
    match variable {
        Some("device") => Ok(true),
        Some("host") => Ok(false),
        None | Some("") => Ok(is_aware()),
        Some(other) => Err(Error::invalid(format!(
            "`{other}` is no place for the data that MPI moves; {MPI_MEMORY_VARIABLE} is `device` or `host`"
        ))),
    }
}

/// Asks MPI. Open MPI and MPICH have a function for that, which other libraries lack.
#[cfg(unix)]
fn is_aware() -> bool {
    // SAFETY: the name ends in a null, and no library is opened.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"MPIX_Query_cuda_support".as_ptr()) };
    if found.is_null() {
        return false;
    }
    type Query = unsafe extern "C" fn() -> std::ffi::c_int;
    // SAFETY: the function has this type wherever it exists.
    let query = unsafe { std::mem::transmute::<*mut std::ffi::c_void, Query>(found) };
    // SAFETY: it may be called at any time while MPI runs, and has no arguments.
    unsafe { query() == 1 }
}

#[cfg(not(unix))]
fn is_aware() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_decides_and_else_mpi() {
        assert!(choose(Some("device"), || unreachable!("the variable decides")).unwrap());
        assert!(!choose(Some("host"), || true).unwrap());
        assert!(
            choose(None, || true).unwrap() && choose(Some(""), || true).unwrap() && !choose(None, || false).unwrap()
        );
        let text = choose(Some("gpu"), || true).unwrap_err().to_string();
        assert_eq!(text, "`gpu` is no place for the data that MPI moves; CUDA_NCCL_MPI_MEMORY is `device` or `host`");
    }
}
