//! LLVM, loaded when it is first needed.
//!
//! # Safety
//!
//! A library is opened that LLVM's name, the user or the toolchain names, and stays open; what is taken from it are LLVM's functions
//! by their names.

use std::ffi::{CStr, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::adapt::{DENORMALS, adapted, keep_denormals};
use crate::needed::NEEDED;
use crate::search::{NEXT, TRIED, places};
use crate::{Error, Loaded, trampolines};

/// Loads the first LLVM that fits, and binds its functions.
pub(crate) fn load() -> Result<Loaded, Error> {
    let mut tried = Vec::new();
    for place in places() {
        if place.libraries.is_empty() {
            tried.push(format!("{}: no LLVM there", place.name));
        }
        for path in &place.libraries {
            match open(path) {
                Ok(loaded) => return Ok(loaded),
                Err(why) => tried.push(format!("{}: {}: {why}", place.name, path.display())),
            }
        }
    }
    Err(Error { tried })
}

/// The library that [`load`] tries first, where it can be told without loading one.
pub(crate) fn first() -> Option<PathBuf> {
    places().flat_map(|place| place.libraries).find(|library| library.is_file())
}

/// Opens a library and binds its functions, if it is an LLVM that fits.
fn open(path: &Path) -> Result<Loaded, String> {
    // The loader's names are its own: another LLVM in the process neither takes this one's functions nor lends it any.
    // SAFETY: the library is LLVM by its name or the user's word, whose initialisers register options and nothing else.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| words(&error))?;
    // LLVM is not made to be closed: it has threads' data and handlers of its own
    let library = ManuallyDrop::new(library);
    let find = |name: &CStr| {
        // SAFETY: the symbol is only looked up here.
        let symbol = unsafe { library.get::<unsafe extern "C" fn()>(name.to_bytes_with_nul()) }.ok()?;
        Some(*symbol as *mut c_void)
    };
    let version = version(find(c"LLVMGetVersion").ok_or("this is no LLVM: it has no `LLVMGetVersion`")?);
    let (major, _, _) = version;
    let oldest = TRIED[0];
    if major < oldest || major > NEXT {
        let what = if major < oldest { "too old" } else { "too new" };
        return Err(format!("LLVM {} is {what}", text(version)));
    }
    let later = (major > 22).then_some(DENORMALS);
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
    // SAFETY: they are LLVM's functions, or stand in for them, and the library is never closed.
    unsafe { trampolines::bind(|name| find(name).map(|function| adapted(name, function, major))) };
    if let Some(function) = later.and_then(find) {
        // SAFETY: as above.
        unsafe { keep_denormals(function) };
    }
    Ok(Loaded { library: Some(path.to_owned()), version })
}

/// What `LLVMGetVersion` tells.
fn version(function: *mut c_void) -> (u32, u32, u32) {
    type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint);
    // SAFETY: LLVM's function of this name has had this type since LLVM 16.
    let function = unsafe { std::mem::transmute::<*mut c_void, GetVersion>(function) };
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: it writes three integers through pointers to live, distinct locals.
    unsafe { function(&mut major, &mut minor, &mut patch) };
    (major, minor, patch)
}

fn text((major, minor, patch): (u32, u32, u32)) -> String {
    format!("{major}.{minor}.{patch}")
}

/// The loader's own words, which are one level below libloading's.
fn words(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), |words| words.to_string())
}
