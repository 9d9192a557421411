//! Compiled kernels on disk, and how often they were found there.
//!
//! The key is the kernel's KIR with everything else that its PTX depends on, so nothing is ever out of date: another
//! source, option, target or compiler is another key. A kernel that is found needs no LLVM. What is in the folder is
//! never trusted further than its checksum, and whatever is wrong with it, the kernel is compiled as if it were empty.
//!
//! | variable | |
//! |---|---|
//! | `CUDA_JIT_CACHE_DIR` | the folder; unset, `cuda-jit` in `$XDG_CACHE_HOME` or `~/.cache` |
//! | `CUDA_JIT_CACHE_SIZE` | the most bytes in it, such as `100M`; unset, 512 MiB. The least recently used make room |
//! | `CUDA_JIT_CACHE` | `0` or `off` switches it off, as [`set_enabled`] does; `#[kernel(cache = false)]` for one kernel |

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cuda_jit_cache::{Cache, Key, Settings};

use crate::back::llvm;
use crate::target::Target;

/// How often compiled kernels were found on disk.
///
/// # Examples
///
/// ```
/// use cuda_jit::{Kernel, cache, kernel};
///
/// #[kernel]
/// fn first(out: &mut [u32]) {
///     out[0] = 1;
/// }
///
/// assert_eq!(first::stats(), cache::Stats::default());
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let _selected = context.select();
/// first::compile()?;
/// let stats = first::stats();
/// assert_eq!(stats.hits + stats.misses, u64::from(cache::folder().is_some()));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Kernels that were taken from the disk.
    pub hits: u64,
    /// Kernels that were not there, and were compiled.
    pub misses: u64,
}

/// Where hits and misses are counted.
#[derive(Debug)]
pub(crate) struct Counters {
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Counters {
    pub(crate) const fn new() -> Self {
        Counters { hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats { hits: self.hits.load(Ordering::Relaxed), misses: self.misses.load(Ordering::Relaxed) }
    }

    fn count(&self, hit: bool) {
        let counter = if hit { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

static ALL: Counters = Counters::new();
static ENABLED: AtomicBool = AtomicBool::new(true);

/// How often this process found its kernels on disk, all kernels together.
#[must_use]
pub fn stats() -> Stats {
    ALL.stats()
}

/// Switches the cache on or off for this process. On has no effect where the environment switches it off.
pub fn set_enabled(enabled: bool) {
    ENABLED.store(enabled, Ordering::Relaxed);
}

/// The folder, if the cache is on. The environment is asked once.
///
/// # Examples
///
/// ```
/// cuda_jit::cache::set_enabled(false);
/// assert_eq!(cuda_jit::cache::folder(), None);
/// ```
#[must_use]
pub fn folder() -> Option<PathBuf> {
    disk().map(|cache| cache.folder().to_owned())
}

fn disk() -> Option<&'static Cache> {
    static DISK: OnceLock<Option<Cache>> = OnceLock::new();
    let disk = DISK.get_or_init(|| Settings::from_process().map(Settings::open)).as_ref();
    disk.filter(|_| ENABLED.load(Ordering::Relaxed))
}

/// How a compilation uses the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lookup<'a> {
    /// Not at all.
    None,
    /// What is there is taken, and counted; what is not is kept.
    Find(&'a Counters),
    /// What is made takes the place of what is there.
    Replace,
}

impl Lookup<'_> {
    pub(crate) fn is_some(self) -> bool {
        !matches!(self, Lookup::None)
    }
}

/// The place of a kernel's PTX on disk.
pub(crate) struct Place {
    cache: &'static Cache,
    key: Key,
}

impl Place {
    /// The place for the PTX of a module with the bitcode that is linked into it; `None` if the cache is off.
    pub(crate) fn of(kir: &str, target: &Target, options: &llvm::Options, linked: &[u8]) -> Option<Self> {
        let cache = disk()?;
        Some(Place { cache, key: key(&compiler(), kir, target, options, linked) })
    }

    /// The PTX, if it is there and wanted; counted by the kernel and for the process.
    pub(crate) fn get(&self, lookup: Lookup<'_>) -> Option<String> {
        let Lookup::Find(kernel) = lookup else { return None };
        let ptx = self.cache.get(&self.key).and_then(|contents| String::from_utf8(contents).ok());
        kernel.count(ptx.is_some());
        ALL.count(ptx.is_some());
        ptx
    }

    /// Keeps the PTX.
    pub(crate) fn put(&self, name: &str, target: &Target, ptx: &str) {
        self.cache.put(&self.key, &format!("{name} {target}"), ptx.as_bytes());
    }
}

/// What a kernel's PTX depends on.
fn key(compiler: &str, kir: &str, target: &Target, options: &llvm::Options, linked: &[u8]) -> Key {
    let (target, options) = (target.to_string(), format!("{options:?}"));
    Key::new(&[kir.as_bytes(), target.as_bytes(), options.as_bytes(), compiler.as_bytes(), linked])
}

/// What compiles, with its list of passes and all options that no kernel sets: two compilers of one name make the same PTX of the same KIR. Asking for LLVM's version does not
/// initialise LLVM.
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
