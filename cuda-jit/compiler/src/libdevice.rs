//! NVIDIA's libdevice: where it is, and its bitcode. The toolkit has it; no driver does.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cuda_sys::toolkit::Environment;

/// Whether there is one. The places of a toolkit are looked at once.
pub fn is_there() -> bool {
    path().is_some()
}

fn path() -> Option<&'static Path> {
    static PATH: OnceLock<Option<PathBuf>> = OnceLock::new();
    PATH.get_or_init(|| Environment::from_process().libdevice().ok()).as_deref()
}

/// Its bitcode, read once.
///
/// # Errors
///
/// If there is none, with every place that was looked at, or it cannot be read.
pub fn bitcode() -> Result<&'static [u8], String> {
    static BITCODE: OnceLock<Result<Vec<u8>, String>> = OnceLock::new();
    let read = || {
        let path = Environment::from_process().libdevice().map_err(|error| error.to_string())?;
        std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    BITCODE.get_or_init(read).as_deref().map_err(Clone::clone)
}
