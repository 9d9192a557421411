//! LLVM for the CUDA stack: the one place that finds, loads and initialises it.
//!
//! A program that uses this crate names no LLVM library, and needs none to be built or to start. [`initialize`] loads one when
//! something is first compiled: LLVM 22 or 23, whichever is found first of
//!
//! 1. what `CUDA_LLVM_PATH` names, a library or its folder; nothing else is tried then,
//! 2. the executable's folder and `../lib`, and those of the shared library that this crate is in,
//! 3. the Rust toolchain that built the program, and the one that `rustc` is,
//! 4. the system's libraries, such as Debian's `libllvm22`.
//!
//! LLVM 24 is taken with a warning. Set `LLVM_SYS_221_PREFIX` to an installed LLVM 22 when the program is built, or turn on the
//! feature `static`, to link that one instead; an executable linked statically runs on machines without any.
//!
//! This crate adds no abstraction: users take [`inkwell`] from here and call [`initialize`] first. [`parse_ir`] stands in for one
//! of its functions, and [`flushing_attribute`] for what differs between releases. A function of LLVM that is called before, or that the loaded LLVM lacks, ends the process with a message.
//!
//! # Safety
//!
//! The calls register targets and read a version; they take no pointers but to live locals.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use inkwell;
pub use inkwell::llvm_sys;

#[cfg(not(cuda_llvm_linked))]
mod adapt;
#[cfg(not(cuda_llvm_linked))]
mod functions;
mod ir;
#[cfg(not(cuda_llvm_linked))]
mod late;
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

/// Loads LLVM and initialises the NVPTX and the host target, once per process. Cheap to call again; after an error it is tried anew.
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
/// There is no LLVM that fits; the error names all places.
pub fn initialize() -> Result<(), Error> {
    loaded().map(drop)
}

/// The LLVM that [`initialize`] loads, and where it was found.
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
        keep_freed_memory();
        Ok(loaded)
    })
}

static INITIALIZED: OnceCell<Loaded> = OnceCell::new();

/// An LLVM that this process has.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The library's file; none where LLVM is linked into the program.
    pub library: Option<PathBuf>,
    /// Its version, such as `(22, 1, 2)`.
    pub version: (u32, u32, u32),
}

/// There is no LLVM that fits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "kernels are compiled by LLVM 22 or 23, and none was found:\n  {}\nA Rust toolchain of rustup's has one; so have Debian's packages \
     `libllvm22` and `libllvm23`; or set `CUDA_LLVM_PATH` to a `libLLVM.so`", .tried.join("\n  ")
)]
pub struct Error {
    /// Each place that was tried, and what was wrong there.
    pub tried: Vec<String>,
}

/// The functions of LLVM that a library must have to be loaded, for tests.
#[doc(hidden)]
#[cfg(not(cuda_llvm_linked))]
pub use needed::NEEDED;

#[cfg(not(cuda_llvm_linked))]
use late::load;

/// The LLVM that is linked.
#[cfg(cuda_llvm_linked)]
fn load() -> Result<Loaded, Error> {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: LLVMGetVersion writes three integers through pointers to live, distinct locals, and needs no
    // initialised target or context.
    unsafe { llvm_sys::core::LLVMGetVersion(&mut major, &mut minor, &mut patch) };
    Ok(Loaded { library: None, version: (major, minor, patch) })
}

/// Compilations allocate a few MiB and free them all at their end. glibc would give that back to the system each time, and
/// a tenth of the next compilation would be pages that come anew. Once a block of this size was freed, it keeps up to twice
/// as much, as in any process that frees large blocks; to other allocators this is one call that does nothing.
const KEPT: usize = 8 << 20;

fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(KEPT)));
}

/// The options of LLVM's that only a command line can set, as [`initialize`] sets them. They hold for the process, and so
/// for both targets.
///
/// - `-lsr-drop-solution`: strength reduction of a loop's addresses is dropped where its own estimate says that the loop
///   was better before. Without it a tiled matrix product keeps five counters of 64 bits in registers, 39 registers in
///   place of 32. On the host's side no difference was found.
const OPTIONS: &[&CStr] = &[c"-lsr-drop-solution"];

/// The last release that is known to have the options: LLVM ends the process at one that it does not know.
const HAS_OPTIONS: u32 = 23;

fn set_options(major: u32) {
    if major > HAS_OPTIONS {
        return;
    }
    let arguments: Vec<_> = [c"cuda-llvm"].iter().chain(OPTIONS).map(|argument| argument.as_ptr()).collect();
    // SAFETY: the arguments and the overview are strings that end with a zero and live as long as the program, as many as
    // is said. The cell runs this once and before this crate's users compile anything; this release knows the options.
    unsafe { llvm_sys::support::LLVMParseCommandLineOptions(arguments.len() as i32, arguments.as_ptr(), c"".as_ptr()) };
}

/// Whether [`initialize`] has loaded LLVM. What should work without LLVM can be tested by it.
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

/// What tells the LLVM that [`initialize`] loads, or has loaded, from others that make other code of the same module: the library's name,
/// which has its version in it, its size, and the options that are set. Where none can be found, the one of the build is told: what it has
/// compiled still runs. For keys of caches; it loads nothing.
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

/// The library's name and size, as the build script writes those of the toolchain's.
#[cfg(not(cuda_llvm_linked))]
fn library() -> String {
    let built = || format!("{} {}", env!("CUDA_LLVM_BUILD"), env!("CUDA_LLVM_BUILD_SIZE"));
    let named =
        |path: PathBuf| Some(format!("{} {}", path.file_name()?.to_string_lossy(), path.metadata().ok()?.len()));
    late::first().and_then(named).unwrap_or_else(built)
}

/// The version that the build script has found.
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
