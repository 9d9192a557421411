//! LLVM for the CUDA stack: the only crate that finds, loads and initialises it.
//!
//! A program that uses this crate links no LLVM library, and needs none to be built or to start. The first compilation calls
//! [`initialize`], which loads the first LLVM 22 or 23 found in:
//!
//! 1. the library or folder that `CUDA_LLVM_PATH` names; if it is set, nothing else is tried,
//! 2. the executable's folder and `../lib`, and those of the shared library that this crate is in,
//! 3. the Rust toolchain that built the program, and the toolchain of `rustc` in the path,
//! 4. the system's libraries, such as Debian's `libllvm22`.
//!
//! LLVM 24 is loaded with a warning. To link an installed LLVM 22 instead, set `LLVM_SYS_221_PREFIX` to its prefix when the
//! program is built, or enable the feature `static`; a statically linked executable runs on machines without any LLVM.
//!
//! This crate adds no abstraction: users take [`inkwell`] from here and call [`initialize`] first. [`parse_ir`] replaces one of
//! its functions, and [`flushing_attribute`] hides a difference between releases. A call of an LLVM function before that, or
//! of one that the loaded LLVM lacks, ends the process with a message.
//!
//! # Safety
//!
//! The calls register targets and read a version; they take no pointers except to live locals.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use inkwell;
pub use inkwell::llvm_sys;

#[cfg(not(cuda_llvm_linked))]
mod adapt;
#[cfg(not(cuda_llvm_linked))]
mod delay_load;
#[cfg(not(cuda_llvm_linked))]
mod functions;
mod ir;
#[cfg(test)]
mod link_flags;
mod native;
#[cfg(not(cuda_llvm_linked))]
mod needed;
#[cfg(not(cuda_llvm_linked))]
mod search;
#[cfg(not(cuda_llvm_linked))]
mod trampolines;

pub use ir::{flushing_attribute, parse_ir};

use std::ffi::CStr;
use std::path::PathBuf;

use once_cell::sync::{Lazy, OnceCell};

/// Loads LLVM and initialises the NVPTX and the host target, once per process. Further calls are cheap; after an error the next
/// call tries again.
///
/// # Examples
///
/// ```
/// cuda_llvm::initialize()?;
/// let nvptx = cuda_llvm::inkwell::targets::Target::from_name("nvptx64");
/// assert!(nvptx.is_some());
/// # Ok::<(), cuda_llvm::Error>(())
/// ```
///
/// # Errors
///
/// If there is no suitable LLVM; the error lists all places that were searched.
pub fn initialize() -> Result<(), Error> {
    loaded().map(drop)
}

/// The LLVM that [`initialize`] loads, with its version and file.
///
/// # Examples
///
/// ```
/// let llvm = cuda_llvm::loaded()?;
/// assert!((22..=24).contains(&llvm.version.0), "{llvm:?}");
/// # Ok::<(), cuda_llvm::Error>(())
/// ```
///
/// # Errors
///
/// Those of [`initialize`].
pub fn loaded() -> Result<&'static Loaded, Error> {
    INITIALIZED.get_or_try_init(|| {
        use inkwell::targets::{InitializationConfig, Target};
        let loaded = load()?;
        let config = InitializationConfig::default();
        Target::initialize_nvptx(&config);
        #[cfg(target_arch = "x86_64")]
        Target::initialize_x86(&config);
        #[cfg(target_arch = "aarch64")]
        Target::initialize_aarch64(&config);
        set_options(loaded.version.0);
        raise_trim_threshold();
        Ok(loaded)
    })
}

static INITIALIZED: OnceCell<Loaded> = OnceCell::new();

/// The LLVM of this process.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The library's file; `None` if LLVM is linked into the program.
    pub library: Option<PathBuf>,
    /// Its version, such as `(22, 1, 2)`.
    pub version: (u32, u32, u32),
}

/// The error if there is no suitable LLVM.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "kernels are compiled by LLVM 22 or 23, and none was found:\n  {}\nA Rust toolchain of rustup's has one; so have Debian's packages \
     `libllvm22` and `libllvm23`; or set `CUDA_LLVM_PATH` to a `libLLVM.so`", .tried.join("\n  ")
)]
pub struct Error {
    /// The places that were tried, each with the reason why it did not suffice.
    pub tried: Vec<String>,
}

/// The functions that a library must have to be loaded, for tests.
#[doc(hidden)]
#[cfg(not(cuda_llvm_linked))]
pub use needed::NEEDED;

#[cfg(not(cuda_llvm_linked))]
use delay_load::load;

/// Returns the linked LLVM.
#[cfg(cuda_llvm_linked)]
fn load() -> Result<Loaded, Error> {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: LLVMGetVersion writes three integers through pointers to live, distinct locals, and needs no
    // initialised target or context.
    unsafe { llvm_sys::core::LLVMGetVersion(&mut major, &mut minor, &mut patch) };
    Ok(Loaded { library: None, version: (major, minor, patch) })
}

/// The size of the block that [`raise_trim_threshold`] frees.
///
/// A compilation allocates a few MiB and frees them at its end. glibc would return them to the system each time, and the page
/// faults would take a tenth of the next compilation. Freeing a block of this size once raises glibc's trim threshold to twice
/// the size, as in any process that frees large blocks. With other allocators the call has no effect.
const FREED_BLOCK: usize = 8 << 20;

fn raise_trim_threshold() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(FREED_BLOCK)));
}

/// The options that [`initialize`] sets and that LLVM accepts only on a command line. They apply to the whole process, hence to
/// both targets.
///
/// - `-lsr-drop-solution`: drops loop strength reduction where its own cost model says that the loop was better before. Without
///   it a tiled matrix product keeps five 64-bit counters in registers and uses 39 registers instead of 32. For the host's
///   code no difference was measured.
const OPTIONS: &[&CStr] = &[c"-lsr-drop-solution"];

/// The last release that is known to have the options: LLVM ends the process at an unknown option.
const HAS_OPTIONS: u32 = 23;

fn set_options(major: u32) {
    if major > HAS_OPTIONS {
        return;
    }
    let arguments: Vec<_> = [c"cuda-llvm"].iter().chain(OPTIONS).map(|argument| argument.as_ptr()).collect();
    // SAFETY: the arguments and the overview are static strings that end with a zero, and the count is that of the array. The
    // cell runs this once, before any user of this crate compiles; this release has the options.
    unsafe { llvm_sys::support::LLVMParseCommandLineOptions(arguments.len() as i32, arguments.as_ptr(), c"".as_ptr()) };
}

/// Returns true if [`initialize`] has loaded LLVM. Tests use it to check that an operation works without LLVM.
///
/// # Examples
///
/// ```
/// assert!(!cuda_llvm::is_initialized());
/// cuda_llvm::initialize()?;
/// assert!(cuda_llvm::is_initialized());
/// # Ok::<(), cuda_llvm::Error>(())
/// ```
pub fn is_initialized() -> bool {
    INITIALIZED.get().is_some()
}

/// A text that identifies the LLVM that [`initialize`] loads or has loaded, for the keys of caches: the library's name, which
/// includes its version, its size, and the options that are set. Two LLVMs that compile a module differently have different
/// texts. If no library is found, it is that of the build, whose compiled code still runs. The call loads nothing.
///
/// # Examples
///
/// ```
/// assert!(cuda_llvm::identity().contains("LLVM"));
/// assert!(cuda_llvm::identity().contains("-lsr-drop-solution"));
/// assert!(!cuda_llvm::is_initialized());
/// ```
pub fn identity() -> &'static str {
    static IDENTITY: Lazy<String> = Lazy::new(|| {
        let options: String = OPTIONS.iter().map(|option| format!(" {}", option.to_string_lossy())).collect();
        format!("{}{options}", library())
    });
    &IDENTITY
}

/// The library's name and size, in the format in which the build script passes those of the toolchain's library.
#[cfg(not(cuda_llvm_linked))]
fn library() -> String {
    let built = || format!("{} {}", env!("CUDA_LLVM_BUILD"), env!("CUDA_LLVM_BUILD_SIZE"));
    let named =
        |path: PathBuf| Some(format!("{} {}", path.file_name()?.to_string_lossy(), path.metadata().ok()?.len()));
    delay_load::first().and_then(named).unwrap_or_else(built)
}

/// The version that the build script found.
#[cfg(cuda_llvm_linked)]
fn library() -> String {
    format!("LLVM {}", env!("CUDA_LLVM_BUILD"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_names_the_library_and_every_option() {
        let library = loaded().unwrap().library.clone();
        let name =
            library.as_ref().map_or(env!("CUDA_LLVM_BUILD").into(), |file| file.file_name().unwrap().to_string_lossy());
        assert!(identity().contains(&*name), "{} of {library:?}", identity());
        let options: String = OPTIONS.iter().map(|option| format!(" {}", option.to_str().unwrap())).collect();
        assert!(identity().ends_with(&options), "{}", identity());
    }

    #[test]
    fn an_error_names_the_places_and_the_ways_out() {
        let tried = ["beside the program, /a: no LLVM there", "CUDA_LLVM_PATH=/b: /b: LLVM 19.1.0 is too old"];
        let text = Error { tried: tried.map(str::to_owned).to_vec() }.to_string();
        for part in tried.iter().chain(&["LLVM 22 or 23", "libllvm23", "CUDA_LLVM_PATH"]) {
            assert!(text.contains(part), "{text}");
        }
    }
}
