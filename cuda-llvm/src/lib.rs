//! LLVM for the CUDA stack: the one place that finds, links and initialises it.
//!
//! By default this links the LLVM that the Rust toolchain itself ships, so nothing has to be installed. Set
//! `LLVM_SYS_221_PREFIX` to an installed LLVM 22, or turn on the feature `static`, to link that one instead;
//! an executable linked statically runs on machines without a Rust toolchain. So does one that was built with
//! `CUDA_LLVM_SONAME=relocatable` in the environment: it asks for the toolchain's library by its plain name, and finds
//! it through an rpath or `LD_LIBRARY_PATH` wherever the two have been copied.
//!
//! This crate adds no abstraction: users take [`inkwell`] from here and call [`initialize`] first. [`parse_ir`] stands in for one
//! of its functions.
//!
//! # Safety
//!
//! The calls register targets and read a version; they take no pointers but to live locals.

pub use inkwell;
pub use inkwell::llvm_sys;

mod ir;
mod native;

pub use ir::parse_ir;

use std::ffi::CStr;

use once_cell::sync::Lazy;

/// Initialises the NVPTX and the host target, once per process. Cheap to call again.
///
/// # Examples
///
/// ```
/// cuda_llvm::initialize();
/// let nvptx = cuda_llvm::inkwell::targets::Target::from_name("nvptx64");
/// assert!(nvptx.is_some());
/// ```
pub fn initialize() {
    Lazy::force(&INITIALIZED);
}

static INITIALIZED: Lazy<()> = Lazy::new(|| {
    use inkwell::targets::{InitializationConfig, Target};
    let config = InitializationConfig::default();
    Target::initialize_nvptx(&config);
    Target::initialize_x86(&config);
    set_options();
    keep_freed_memory();
});

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

fn set_options() {
    let arguments: Vec<_> = [c"cuda-llvm"].iter().chain(OPTIONS).map(|argument| argument.as_ptr()).collect();
    // SAFETY: the arguments and the overview are strings that end with a zero and live as long as the program, as many as
    // is said. `Lazy` runs this once and before this crate's users compile anything; the option is one of LLVM 22's.
    unsafe { llvm_sys::support::LLVMParseCommandLineOptions(arguments.len() as i32, arguments.as_ptr(), c"".as_ptr()) };
}

/// Whether [`initialize`] has been called. What should work without LLVM can be tested by it.
///
/// # Examples
///
/// ```
/// assert!(!cuda_llvm::is_initialized());
/// cuda_llvm::initialize();
/// assert!(cuda_llvm::is_initialized());
/// ```
pub fn is_initialized() -> bool {
    Lazy::get(&INITIALIZED).is_some()
}

/// What tells this LLVM from others that make other code of the same module: its version, which build of it this was
/// linked with, and the options that [`initialize`] sets. For keys of caches; it initialises nothing.
///
/// # Examples
///
/// ```
/// assert!(cuda_llvm::identity().starts_with("LLVM 22."));
/// assert!(cuda_llvm::identity().contains("-lsr-drop-solution"));
/// ```
pub fn identity() -> String {
    let (major, minor, patch) = version();
    let build = option_env!("CUDA_LLVM_BUILD").unwrap_or_default();
    let options: String = OPTIONS.iter().map(|option| format!(" {}", option.to_string_lossy())).collect();
    format!("LLVM {major}.{minor}.{patch} {build}{options}")
}

/// The version of the linked LLVM, such as `(22, 1, 2)`.
///
/// # Examples
///
/// ```
/// assert_eq!(cuda_llvm::version().0, 22);
/// ```
pub fn version() -> (u32, u32, u32) {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: LLVMGetVersion writes three integers through pointers to live, distinct locals, and needs no
    // initialised target or context.
    unsafe { llvm_sys::core::LLVMGetVersion(&mut major, &mut minor, &mut patch) };
    (major, minor, patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_names_version_build_and_every_option() {
        let (identity, (major, minor, patch)) = (identity(), version());
        let build = env!("CUDA_LLVM_BUILD");
        assert!(!build.is_empty(), "the build script tells no build");
        let options: String = OPTIONS.iter().map(|option| format!(" {}", option.to_str().unwrap())).collect();
        assert_eq!(identity, format!("LLVM {major}.{minor}.{patch} {build}{options}"));
        assert!(options.contains("-lsr-drop-solution"), "{options}");
    }
}
