//! The disk cache of compiled kernels, and counts of its hits and misses.
//!
//! The key is the kernel's KIR with everything else that its PTX depends on, so that no entry is ever out of date: another
//! source, option, target or compiler is another key. A cached kernel needs no LLVM. Entries are trusted only if their
//! checksum matches; otherwise the kernel is compiled as if the folder were empty.
//!
//! | variable | |
//! |---|---|
//! | `CUDA_JIT_CACHE_DIR` | the folder; unset, `cuda-jit` in `$XDG_CACHE_HOME` or `~/.cache` |
//! | `CUDA_JIT_CACHE_SIZE` | the maximum number of bytes in it, such as `100M`; unset, 512 MiB. The least recently used are
//! evicted |
//! | `CUDA_JIT_CACHE` | `0` or `off` disables it, as [`set_enabled`] does; `#[kernel(cache = false)]` for one kernel |

#[cfg(feature = "compiler")]
mod entry;

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cuda_jit_cache::{Cache, Settings};

#[cfg(feature = "compiler")]
pub(crate) use entry::{Entry, Lookup};

/// Counts of lookups in the disk cache.
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
    /// Kernels that were loaded from the disk.
    pub hits: u64,
    /// Kernels that were missing, and were compiled.
    pub misses: u64,
}

/// Counters of hits and misses.
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

    #[cfg(feature = "compiler")]
    fn count(&self, hit: bool) {
        let counter = if hit { &self.hits } else { &self.misses };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

static ALL: Counters = Counters::new();
static ENABLED: AtomicBool = AtomicBool::new(true);

/// The counts of this process's lookups, for all kernels together.
#[must_use]
pub fn stats() -> Stats {
    ALL.stats()
}

/// Enables or disables the cache for this process. Enabling has no effect if the environment disables it.
pub fn set_enabled(enabled: bool) {
    ENABLED.store(enabled, Ordering::Relaxed);
}

/// The folder, if the cache is enabled. The environment is read once.
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
