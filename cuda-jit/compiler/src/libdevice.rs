//! Finds and loads NVIDIA's libdevice bitcode, which is part of the toolkit and not of the driver.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cuda_sys::toolkit::Environment;

/// Returns true if libdevice was found. The toolkit's paths are searched once.
///
/// # Examples
///
/// ```
/// use cuda_jit_compiler::libdevice;
///
/// assert_eq!(libdevice::is_there(), libdevice::bitcode().is_ok());
/// ```
pub fn is_there() -> bool {
    path().is_some()
}

fn path() -> Option<&'static Path> {
    static PATH: OnceLock<Option<PathBuf>> = OnceLock::new();
    PATH.get_or_init(|| Environment::from_process().libdevice().ok()).as_deref()
}

/// Loads the bitcode, once.
///
/// # Examples
///
/// ```
/// use cuda_jit_compiler::libdevice;
///
/// match libdevice::bitcode() {
///     Ok(bitcode) => assert!(!bitcode.is_empty()),
///     Err(error) => assert!(error.contains("libdevice")),
/// }
/// ```
///
/// # Errors
///
/// If it is not found, with every path that was searched, or cannot be read.
pub fn bitcode() -> Result<&'static [u8], String> {
    static BITCODE: OnceLock<Result<Vec<u8>, String>> = OnceLock::new();
    let read = || {
        let path = Environment::from_process().libdevice().map_err(|error| error.to_string())?;
        std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    BITCODE.get_or_init(read).as_deref().map_err(Clone::clone)
}
