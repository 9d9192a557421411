//! Kernel panics: the records that kernels write, and the waits that report them.
//!
//! A launch passes its kernel the address of a record, in host memory that is mapped into the device. `record` is that
//! memory, `log` the launches of a stream with their panics, `set` a set of launches, `waiter` decides what a wait
//! reports, `stream` the launches that a wait covers, `graph` the records of a graph's kernels, `detached` those of
//! synchronous launches, and `context` the state that a context shares. The code here does not know how kernels are
//! compiled: a kernel is an id and a decoder, registered by its compiler.

mod context;
mod detached;
mod exit;
mod graph;
mod log;
mod record;
mod set;
mod stream;
mod waiter;

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

pub(crate) use context::ContextPanics;
pub use detached::DetachedPanicRecord;
pub(crate) use graph::GraphRecords;
pub(crate) use set::{LaunchId, LaunchSet};
pub(crate) use stream::StreamPanics;
pub use stream::{PanicRecord, StreamPosition};
pub use waiter::Writers;
#[cfg(all(test, loom))]
pub(crate) use {log::LaunchLog, log::RecordSlots, log::slot_of, record::COUNT, waiter::Waiter};

/// The number of arguments in a panic record.
const ARGUMENTS: usize = 8;

/// Turns the raw record of a kernel's panic into its message.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use cuda_driver::{KernelPanic, PanicDecoder, RawPanic};
///
/// let decoder: PanicDecoder = Arc::new(|raw: &RawPanic| KernelPanic {
///     kernel: "add".into(),
///     message: format!("the len is {} but the index is {}", raw.args[1], raw.args[0]),
///     file: "src/main.rs".into(),
///     line: 12,
///     column: 9,
///     block: raw.block,
///     thread: raw.thread,
///     others: Vec::new(),
/// });
/// let raw = RawPanic { kernel: 1, site: 0, block: [0; 3], thread: [8, 0, 0], args: [8, 8, 0, 0, 0, 0, 0, 0] };
/// assert_eq!(decoder(&raw).message, "the len is 8 but the index is 8");
/// ```
pub type PanicDecoder = Arc<dyn Fn(&RawPanic) -> KernelPanic + Send + Sync>;

/// A kernel's panic as the device wrote it into the launch's record.
///
/// The record has 104 bytes, is aligned to 16, and is zero before the launch:
///
/// | offset | field | |
/// |---|---|---|
/// | 0 | `state: u32` | 0 free, 1 claimed |
/// | 4 | `kernel: u32` | the low half of the launch's [tag](PanicRecord::tag), never 0 |
/// | 8 | `site: u32` | the number of the failed check |
/// | 12 | `block: [u32; 3]` | x, y, z |
/// | 24 | `thread: [u32; 3]` | x, y, z |
/// | 36 | `launch: u32` | the high half of the launch's tag |
/// | 40 | `args: [u64; 8]` | arguments of the message, such as index and length |
///
/// A panicking thread claims the record (compare and swap of `state` from 0 to 1, device scope). If it succeeds, it
/// writes every field but `kernel`, then a system-wide fence, then `kernel`. The host reads the record after it has
/// waited for the launch, takes the panic if `kernel` is not 0, and frees the record in the opposite order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawPanic {
    /// The id under which the kernel was registered.
    pub kernel: u32,
    /// The number of the failed check, given by the kernel's compiler.
    pub site: u32,
    /// The block's index: x, y, z.
    pub block: [u32; 3],
    /// The thread's index in its block: x, y, z.
    pub thread: [u32; 3],
    /// Arguments of the message, such as index and length; unused ones have values of earlier panics.
    pub args: [u64; ARGUMENTS],
}

/// The first panic of a launch, reported by the wait that followed it.
///
/// # Examples
///
/// ```
/// let panic = cuda_driver::KernelPanic {
///     kernel: "add".into(),
///     message: "index out of bounds: the len is 8 but the index is 8".into(),
///     file: "src/main.rs".into(),
///     line: 12,
///     column: 9,
///     block: [1, 0, 0],
///     thread: [4, 0, 0],
///     others: Vec::new(),
/// };
/// assert_eq!(
///     panic.to_string(),
///     "kernel `add` panicked at src/main.rs:12:9: index out of bounds: the len is 8 but the index is 8 \
///      (block 1, 0, 0; thread 4, 0, 0)"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPanic {
    /// The kernel's name.
    pub kernel: String,
    /// The panic message.
    pub message: String,
    /// The source file; empty where it is not known.
    pub file: String,
    /// The line in that file, from 1.
    pub line: u32,
    /// The column in that line, from 1.
    pub column: u32,
    /// The block's index: x, y, z.
    pub block: [u32; 3],
    /// The thread's index in its block: x, y, z.
    pub thread: [u32; 3],
    /// The panics of other launches that the same wait has found, in the order of their streams' ids. A decoder leaves it
    /// empty.
    pub others: Vec<KernelPanic>,
}

impl fmt::Display for KernelPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        write!(f, "kernel `{}` panicked", self.kernel)?;
        if !self.file.is_empty() {
            write!(f, " at {}:{}:{}", self.file, self.line, self.column)?;
        }
        write!(f, ": {} (block {bx}, {by}, {bz}; thread {tx}, {ty}, {tz})", self.message)?;
        self.others.iter().try_for_each(|other| write!(f, "; also {other}"))
    }
}

impl std::error::Error for KernelPanic {}

/// A panic and those that were found with it.
fn with_others(mut first: KernelPanic, others: Vec<KernelPanic>) -> KernelPanic {
    first.others = others;
    first
}

thread_local! {
    static WITHHELD: Cell<bool> = const { Cell::new(false) };
}

/// Returns true while the calling thread's waits report no panics.
fn are_withheld() -> bool {
    WITHHELD.get()
}

/// Runs `work`, whose waits report no panics: they leave them for the next wait that covers them. For a synchronous
/// launch, which reports its own panic only.
#[doc(hidden)]
pub fn withholding_panics<R>(work: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            WITHHELD.set(self.0);
        }
    }
    let _restore = Restore(WITHHELD.replace(true));
    work()
}
