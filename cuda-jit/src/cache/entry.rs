//! The cache entry of a kernel's PTX: its key, and its use by a compilation.

use cuda_jit_cache::{Cache, Key};

use super::{ALL, Counters, disk};
use crate::back::llvm;
use crate::target::Target;

/// The use of the cache by a compilation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lookup<'a> {
    /// The cache is not used.
    None,
    /// Loads an existing entry and stores a missing one; both are counted.
    Find(&'a Counters),
    /// Replaces the existing entry.
    Replace,
}

impl Lookup<'_> {
    pub(crate) fn is_some(self) -> bool {
        !matches!(self, Lookup::None)
    }
}

/// The cache entry of a kernel's PTX.
pub(crate) struct Entry {
    cache: &'static Cache,
    key: Key,
}

impl Entry {
    /// The entry for the PTX of a module with the bitcode that is linked into it; `None` if the cache is disabled.
    pub(crate) fn of(kir: &str, target: &Target, options: &llvm::Options, linked: &[u8]) -> Option<Self> {
        let cache = disk()?;
        Some(Entry { cache, key: key(&compiler(), kir, target, options, linked) })
    }

    /// The PTX, if it exists and `lookup` allows it; counted for the kernel and the process.
    pub(crate) fn get(&self, lookup: Lookup<'_>) -> Option<String> {
        let Lookup::Find(kernel) = lookup else { return None };
        let ptx = self.cache.get(&self.key).and_then(|contents| String::from_utf8(contents).ok());
        kernel.count(ptx.is_some());
        ALL.count(ptx.is_some());
        ptx
    }

    /// Stores the PTX.
    pub(crate) fn put(&self, name: &str, target: &Target, ptx: &str) {
        self.cache.put(&self.key, &format!("{name} {target}"), ptx.as_bytes());
    }
}

/// The hash of everything that a kernel's PTX depends on.
fn key(compiler: &str, kir: &str, target: &Target, options: &llvm::Options, linked: &[u8]) -> Key {
    let (target, options) = (target.to_string(), format!("{options:?}"));
    Key::new(&[kir.as_bytes(), target.as_bytes(), options.as_bytes(), compiler.as_bytes(), linked])
}

/// The identity of the compiler, with its list of passes and all options that kernels do not set: two compilers with the
/// same identity generate the same PTX from the same KIR. Querying LLVM's version does not initialise LLVM.
fn compiler() -> String {
    format!("{} {}", cuda_jit_compiler::IDENTITY.join(" "), cuda_llvm::identity())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::ComputeCapability;

    #[test]
    fn everything_that_changes_the_code_changes_the_key() {
        let (options, target, compiler) = (llvm::Options::default(), Target::default(), compiler());
        let one = key(&compiler, "kir 1", &target, &options, b"");
        assert_eq!(one, key(&compiler, "kir 1", &target, &options.clone(), b""));
        assert_ne!(one, key("another", "kir 1", &target, &options, b""));
        assert_ne!(one, key(&compiler, "kir 2", &target, &options, b""));
        assert_ne!(one, key(&compiler, "kir 1", &target, &options, b"libdevice"));
        for other in [Target::new((9, 0)).unwrap(), Target::new(ComputeCapability::try_from("9.0a").unwrap()).unwrap()]
        {
            assert_ne!(one, key(&compiler, "kir 1", &other, &options, b""));
        }
        let bounds = llvm::LaunchBounds { max_threads: 128, min_blocks: None, max_cluster: None };
        let others = [
            llvm::Options { opt_level: 2, ..options.clone() },
            llvm::Options { fast_math: true, ..options.clone() },
            llvm::Options { max_registers: Some(32), ..options.clone() },
            llvm::Options { launch_bounds: Some(bounds), ..options.clone() },
            llvm::Options { debug: true, ..options.clone() },
        ];
        for other in others {
            assert_ne!(one, key(&compiler, "kir 1", &target, &other, b""), "{other:?}");
        }
    }

    #[test]
    fn the_compiler_is_told_by_its_sources_and_by_llvm() {
        let compiler = compiler();
        assert!(compiler.ends_with(&cuda_llvm::identity()), "{compiler}");
        assert!(compiler.starts_with(&cuda_jit_compiler::IDENTITY.join(" ")), "{compiler}");
    }
}
