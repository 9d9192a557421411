//! Delayed loading of LLVM: opens a library on first use and binds its functions.
//!
//! # Safety
//!
//! The library that is opened has LLVM's name, or is named by the user or the toolchain, and stays open. LLVM's functions are
//! taken from it by their names.

use std::ffi::{CStr, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::adapt::{CREATE_DENORMAL_FP_ENV, set_create_denormal_fp_env, shim};
use crate::needed::NEEDED;
use crate::search::{NEXT, SUPPORTED, locations};
use crate::{Error, Loaded, trampolines};

/// Loads the first suitable LLVM, and binds its functions.
pub(crate) fn load() -> Result<Loaded, Error> {
    let mut tried = Vec::new();
    for location in locations() {
        if location.libraries.is_empty() {
            tried.push(format!("{}: no LLVM there", location.name));
        }
        for path in &location.libraries {
            match open(path) {
                Ok(loaded) => return Ok(loaded),
                Err(why) => tried.push(format!("{}: {}: {why}", location.name, path.display())),
            }
        }
    }
    Err(Error { tried })
}

/// The library file that [`load`] tries first. Libraries that only the system's loader finds are not considered.
pub(crate) fn first() -> Option<PathBuf> {
    locations().flat_map(|location| location.libraries).find(|library| library.is_file())
}

/// Opens a library and binds its functions, if it is a suitable LLVM.
fn open(path: &Path) -> Result<Loaded, String> {
    // Its symbols are local: another LLVM in the process neither uses this one's functions nor provides any to it.
    // SAFETY: the library is LLVM, by its name or by the user's choice. LLVM's initialisers only register options.
    let library =
        unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| loader_message(&error))?;
    // LLVM cannot be closed safely: it registers thread-local data and signal handlers.
    let library = ManuallyDrop::new(library);
    let find = |name: &CStr| {
        // SAFETY: the symbol is only looked up here.
        let symbol = unsafe { library.get::<unsafe extern "C" fn()>(name.to_bytes_with_nul()) }.ok()?;
        Some(*symbol as *mut c_void)
    };
    let version = version(find(c"LLVMGetVersion").ok_or("this is no LLVM: it has no `LLVMGetVersion`")?);
    let (major, _, _) = version;
    let oldest = SUPPORTED[0];
    if major < oldest || major > NEXT {
        let what = if major < oldest { "too old" } else { "too new" };
        return Err(format!("LLVM {} is {what}", text(version)));
    }
    let later = (major > 22).then_some(CREATE_DENORMAL_FP_ENV);
    let lacks = |name: &&CStr| find(name).is_none();
    let missing = NEEDED.iter().copied().chain(later).filter(lacks).map(CStr::to_string_lossy);
    let missing: Vec<_> = missing.collect();
    if !missing.is_empty() {
        return Err(format!("LLVM {} lacks functions that are needed: {}", text(version), missing.join(", ")));
    }
    if major == NEXT {
        let (version, path) = (text(version), path.display());
        eprintln!("cuda-llvm: warning: {path} is LLVM {version}; kernels are tested with LLVM 22 and 23");
    }
    // SAFETY: they are LLVM's functions or their shims, which have the same types, and the library is never closed.
    unsafe { trampolines::bind(|name| find(name).map(|function| shim(name, function, major))) };
    if let Some(function) = later.and_then(find) {
        // SAFETY: it is LLVM's function of that name, and the library is never closed.
        unsafe { set_create_denormal_fp_env(function) };
    }
    Ok(Loaded { library: Some(path.to_owned()), version })
}

/// Calls `LLVMGetVersion`.
fn version(function: *mut c_void) -> (u32, u32, u32) {
    type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint);
    // SAFETY: LLVM's function of this name has had this type since LLVM 16.
    let function = unsafe { std::mem::transmute::<*mut c_void, GetVersion>(function) };
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: the function writes three integers through pointers to live, distinct locals.
    unsafe { function(&mut major, &mut minor, &mut patch) };
    (major, minor, patch)
}

fn text((major, minor, patch): (u32, u32, u32)) -> String {
    format!("{major}.{minor}.{patch}")
}

/// The loader's own message, which is the source of libloading's error.
fn loader_message(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |source| source.to_string())
}
