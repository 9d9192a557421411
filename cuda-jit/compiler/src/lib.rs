//! The kernel compiler: lowers captured syntax and rustc's types to KIR, and compiles KIR to PTX with LLVM.
//!
//! ```text
//! Instance --front--> kir::Module --valid--> kir::Module --back--> PTX
//! ```
//!
//! [`front::lower`] lowers a kernel's specialisation, which `cuda-jit-lang` describes, to a module of KIR;
//! [`back::llvm::emit`] compiles a module to PTX for a [`Target`](cuda_jit_kir::target::Target). Neither knows a
//! driver, a device or a cache. Only [`back`] names LLVM.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod back;
pub mod front;
pub mod libdevice;
pub mod races;

use cuda_jit_kir::{self as kir, target, valid};
use cuda_jit_lang::{libcalls, typeinfo};
use cuda_jit_syntax as syntax;

/// The compiler's name, version and source hash: another compiler may generate different code for the same kernel.
///
/// # Examples
///
/// ```
/// let [name, version, hash] = cuda_jit_compiler::IDENTITY;
/// assert_eq!((name, version), ("cuda-jit-compiler", env!("CARGO_PKG_VERSION")));
/// assert!(!hash.is_empty());
/// ```
pub const IDENTITY: [&str; 3] = [env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"), env!("CUDA_JIT_SOURCES")];

#[cfg(test)]
#[path = "../build.rs"]
#[expect(dead_code, reason = "a build script's `main`")]
mod build;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_compilers_identity_is_its_sources() {
        assert_eq!(IDENTITY[1], env!("CARGO_PKG_VERSION"));
        assert_eq!(IDENTITY[2], build::sources(Path::new("src")));
    }

    #[test]
    fn another_list_of_passes_is_another_compiler() {
        let folder = tempfile::tempdir().unwrap();
        let within = folder.path().join("back");
        let write = |text: &str| {
            fs::create_dir_all(&within).unwrap();
            fs::write(within.join("machine.rs"), text).unwrap();
            build::sources(folder.path())
        };
        let passes = fs::read_to_string("src/back/llvm/machine.rs").unwrap();
        let one = write(&passes);
        assert_eq!(one, write(&passes));
        let changed = passes.replacen("gvn", "newgvn", 1);
        assert!(changed != passes && one != write(&changed));
        fs::rename(within.join("machine.rs"), within.join("other.rs")).unwrap();
        assert_ne!(write(&passes), one);
    }
}
