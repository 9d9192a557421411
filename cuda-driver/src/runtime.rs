//! The version of the CUDA runtime library, `libcudart`, for programs that load other libraries which need it. This
//! crate itself does not need it.
//!
//! The library is searched at the first query. Neither a driver nor a device is needed.

use cuda_sys::runtime::installed_version;

use crate::error::{Error, Result};

/// The major versions of CUDA for which these crates have bindings.
///
/// # Examples
///
/// ```
/// assert!(cuda_driver::runtime::SUPPORTED_MAJORS.contains(&13));
/// ```
pub const SUPPORTED_MAJORS: [u32; 2] = [12, 13];

/// The version of this machine's runtime library, as (major, minor): that of CUDA 13 if there is one, else that of CUDA
/// 12.
///
/// # Examples
///
/// ```
/// match cuda_driver::runtime::version() {
///     Ok((major, minor)) => println!("CUDA runtime {major}.{minor}"),
///     Err(error) => assert!(error.to_string().contains("libcudart.so.13")),
/// }
/// ```
///
/// # Errors
///
/// [`Error::Other`] with a [`LoadError`](cuda_sys::LoadError), which lists every place where the library was looked
/// for; [`Error::Invalid`] for a library that does not report its version.
pub fn version() -> Result<(u32, u32)> {
    match installed_version().map_err(Error::other)? {
        0 => Err(Error::invalid("the CUDA runtime library does not report its version; it may be damaged")),
        version => {
            let version = version.unsigned_abs();
            Ok((version / 1000, version % 1000 / 10))
        }
    }
}

/// Returns true if there is a runtime library of a version in [`SUPPORTED_MAJORS`]. Never fails.
///
/// # Examples
///
/// ```
/// assert_eq!(cuda_driver::runtime::is_supported_version(), cuda_driver::runtime::version().is_ok());
/// ```
#[must_use]
pub fn is_supported_version() -> bool {
    version().is_ok_and(|(major, _)| SUPPORTED_MAJORS.contains(&major))
}
