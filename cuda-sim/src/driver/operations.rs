//! The operations of streams and graphs: one [`Item`] for each enqueued operation.
//!
//! An item runs on any thread once its dependencies have finished. It is skipped if its context has faulted, and sets
//! the context's error if it faults itself.
//!
//! # Safety
//!
//! Copies and fills access ranges that were checked when they were enqueued, or whose validity the client guarantees.
//! They run inside [`fault::call`], which catches illegal accesses, so an access to memory that was freed since is an
//! error and not a crash. Host functions are the client's, and are called as documented.

use super::graph::conditional::{ConditionalRun, ConditionalValue};
use super::graph::memory::GraphMemory;
use super::graph::object::Retained;
use super::launch::{code_of, renew, report};
use super::memory::ipc::SharedEvent;
use super::state::{Context, FunctionObject, GRIDS, IN_HOST_FUNCTION};
use super::trace;
use crate::check;
use crate::check::order::Operation;
use crate::check::session::{Session, within};
use crate::environment::{CheckResult, Checks, ENVIRONMENT};
use crate::exec::fault;
use crate::exec::launch::{Fault, Launch};
use crate::memory::shared::MOVING;
use crate::queue::{Point, Task};
use cuda_sys::{CUresult, CUstream};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A box of rows: the start addresses, and the distances of rows and slices on both sides.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copy3D {
    pub(super) to: u64,
    pub(super) from: u64,
    pub(super) row: usize,
    pub(super) rows: usize,
    pub(super) slices: usize,
    pub(super) to_pitch: usize,
    pub(super) from_pitch: usize,
    pub(super) to_slice: usize,
    pub(super) from_slice: usize,
}

/// Rows that are filled with a value of 1, 2 or 4 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fill {
    pub(super) to: u64,
    pub(super) value: u32,
    pub(super) size: usize,
    /// The number of values in a row.
    pub(super) width: usize,
    pub(super) rows: usize,
    pub(super) pitch: usize,
}

/// A client's pointer that is stored in an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientPointer(pub(super) *mut c_void);
// SAFETY: the pointer is never dereferenced here; it is passed to the client's function, which CUDA may call on any
// thread.
unsafe impl Send for ClientPointer {}
// SAFETY: the pointer is never dereferenced here; a graph that is launched again passes the same pointer again.
unsafe impl Sync for ClientPointer {}

/// A condition on memory that a stream waits for, or a value that it writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) at: u64,
    pub(super) value: u64,
    pub(super) wide: bool,
    /// The comparison of a wait; `None` for a write.
    pub(super) wait: Option<u32>,
}

/// An operation, in a stream or in a graph.
#[derive(Clone)]
pub(super) enum Op {
    Kernel {
        launch: Box<Launch>,
        function: Arc<FunctionObject>,
    },
    Copy(Copy3D),
    /// A copy from a staging buffer that it owns.
    Staged(Copy3D, Arc<Vec<u8>>),
    Fill(Fill),
    Record(Arc<Recorded>),
    /// Marks that the wait for a record has ended; used by the timeline only.
    WaitEnded(Arc<Recorded>),
    /// Waits for a record of another process.
    AwaitRemote(Arc<SharedEvent>, u64),
    Host(unsafe extern "C" fn(*mut c_void), ClientPointer),
    Callback(unsafe extern "C" fn(CUstream, CUresult, *mut c_void), usize, ClientPointer),
    Value(Value),
    /// Makes a graph's memory accessible or inaccessible.
    Memory(Arc<GraphMemory>, bool),
    /// Tells the checkers that memory of a pool was freed.
    Freed(check::events::Freed),
    /// Runs a conditional node.
    ConditionalRun(Arc<ConditionalRun>),
    /// The start of a graph launch, and its end.
    GraphStart(Arc<Run>),
    GraphEnd(Arc<Run>),
}

/// A running launch of a graph.
pub(super) struct Run {
    /// Its name in the timeline.
    pub(super) name: String,
    pub(super) nodes: usize,
    pub(super) stream: u64,
    pub(super) span: Mutex<Option<trace::OpenSlice>>,
    /// The user objects that the graph retains while it runs.
    #[expect(dead_code, reason = "it is there to be dropped with this")]
    pub(super) kept: Retained,
    /// The values of its conditional nodes.
    pub(super) values: Vec<Arc<ConditionalValue>>,
}

/// A record of an event: its stream, and the time at which it was reached (0 before).
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) track: trace::Track,
    pub(super) time: AtomicU64,
    /// Its number among the records of an interprocess event.
    pub(super) shared: Option<(Arc<SharedEvent>, u64)>,
}

/// An enqueued operation.
pub(super) struct Item {
    pub(super) context: Arc<Context>,
    /// The id of the stream, and the lane of a graph launched in it, for the timeline.
    pub(super) stream: u64,
    pub(super) lane: u32,
    pub(super) op: Op,
    /// The checkers of the thread that enqueued it.
    session: Option<Arc<Session>>,
    /// Its place in the order of operations, if that is recorded.
    operation: Option<Arc<Operation>>,
}

impl Item {
    pub(super) fn new(context: Arc<Context>, stream: u64, lane: u32, op: Op) -> Item {
        Item { context, stream, lane, op, session: check::session::current(), operation: None }
    }
}

/// The failure of an operation, and what is examined once nothing else of the context runs.
struct Failed {
    code: CUresult,
    examine: Option<Box<dyn FnOnce()>>,
}

impl Failed {
    fn with(code: CUresult) -> Failed {
        Failed { code, examine: None }
    }
}

/// The origin of time stamps.
static EPOCH: Lazy<Instant> = Lazy::new(Instant::now);

/// Returns the nanoseconds since the first time stamp; never 0.
pub(super) fn now() -> u64 {
    EPOCH.elapsed().as_nanos() as u64 + 1
}

impl Copy3D {
    /// Returns a copy of a single row.
    pub(super) fn line(to: u64, from: u64, bytes: usize) -> Copy3D {
        Copy3D { to, from, row: bytes, rows: 1, slices: 1, ..Copy3D::default() }
    }

    /// Returns true if it has no bytes.
    pub(super) fn is_empty(&self) -> bool {
        [self.row, self.rows, self.slices].contains(&0)
    }

    /// Returns the number of bytes copied, for a copy whose extents were checked.
    pub(super) fn bytes(&self) -> usize {
        self.row * self.rows * self.slices
    }

    /// Returns the start of each row on both sides.
    fn starts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let place = |base: u64, slice: usize, row: usize, by: (usize, usize)| base + (slice * by.0 + row * by.1) as u64;
        (0..self.slices).flat_map(move |slice| {
            (0..self.rows).map(move |row| {
                let to = place(self.to, slice, row, (self.to_slice, self.to_pitch));
                (to, place(self.from, slice, row, (self.from_slice, self.from_pitch)))
            })
        })
    }

    /// Copies the rows' present contents to a staging buffer, and returns the copy from there.
    pub(super) fn stage(&self) -> (Copy3D, Arc<Vec<u8>>) {
        let mut buffer = vec![0u8; self.bytes()];
        let (row, slice) = (self.row, self.row * self.rows);
        let own = Copy3D { to: buffer.as_mut_ptr() as u64, to_pitch: row, to_slice: slice, ..*self };
        own.copy();
        (Copy3D { from: buffer.as_ptr() as u64, from_pitch: row, from_slice: slice, ..*self }, Arc::new(buffer))
    }

    fn copy(&self) {
        for (to, from) in self.starts() {
            // SAFETY: both ranges were checked when the copy was enqueued, or the client guarantees them, and illegal
            // accesses are caught; they may overlap.
            unsafe { std::ptr::copy(from as *const u8, to as *mut u8, self.row) };
        }
    }

    /// Tells the checkers of the copy, after it was made.
    fn tell(&self) {
        if check::events::enabled() && self.bytes() > 0 {
            let row = self.row as u64;
            self.starts().for_each(|(to, from)| {
                check::history::accessed("copy", false, from, row);
                check::history::accessed("copy", true, to, row);
                check::host_copied(to, from, row);
            });
        }
    }
}

impl Fill {
    /// Tells the checkers of the fill, after it was made.
    fn tell(&self) {
        if check::events::enabled() {
            let row = (self.width * self.size) as u64;
            (0..self.rows).map(|at| self.to + (at * self.pitch) as u64).for_each(|at| {
                check::history::accessed("fill", true, at, row);
                check::events::written(at, row);
            });
        }
    }

    fn run(&self) {
        for row in 0..self.rows {
            let at = self.to + (row * self.pitch) as u64;
            match self.size {
                // SAFETY: the row is in the range that was checked when the fill was enqueued, and illegal accesses are
                // caught.
                1 => unsafe { std::ptr::write_bytes(at as *mut u8, self.value as u8, self.width) },
                // SAFETY: the row is in the range that was checked when the fill was enqueued, its address is aligned,
                // and illegal accesses are caught.
                2 => unsafe { std::slice::from_raw_parts_mut(at as *mut u16, self.width) }.fill(self.value as u16),
                // SAFETY: the row is in the range that was checked when the fill was enqueued, its address is aligned,
                // and illegal accesses are caught.
                _ => unsafe { std::slice::from_raw_parts_mut(at as *mut u32, self.width) }.fill(self.value),
            }
        }
    }
}

impl Value {
    /// Tells the checkers of a write, or of the end of a wait.
    fn tell(&self) {
        if self.wait.is_none() {
            check::events::written(self.at, if self.wide { 8 } else { 4 });
        } else {
            check::history::forget();
        }
    }

    /// Writes the value, or waits for it until `lost`.
    fn run(&self, lost: impl Fn() -> bool) {
        // SAFETY: the address was checked to be in memory of the device and aligned to 4 bytes.
        let narrow = || unsafe { std::sync::atomic::AtomicU32::from_ptr(self.at as *mut u32) };
        // SAFETY: the address was checked to be in memory of the device and, for a wide value, aligned to 8 bytes.
        let wide = || unsafe { AtomicU64::from_ptr(self.at as *mut u64) };
        let Some(how) = self.wait else {
            return if self.wide {
                wide().store(self.value, Ordering::Release);
            } else {
                narrow().store(self.value as u32, Ordering::Release);
            };
        };
        let met = || {
            let (found, ahead) = if self.wide {
                let found = wide().load(Ordering::Acquire);
                (found, found.wrapping_sub(self.value).cast_signed() >= 0)
            } else {
                let found = narrow().load(Ordering::Acquire);
                (u64::from(found), found.wrapping_sub(self.value as u32).cast_signed() >= 0)
            };
            let mask = if self.wide { u64::MAX } else { u64::from(u32::MAX) };
            match how {
                0 => ahead,
                1 => found == self.value,
                2 => found & self.value != 0,
                _ => !(found | self.value) & mask != 0,
            }
        };
        let mut rest = super::rest::Rest::new();
        let mut is_met = crate::sync::spin(met);
        while !(is_met || lost()) {
            rest.pause();
            is_met = met();
        }
    }
}

/// Runs an operation on memory such that illegal accesses are caught.
fn guarded<W>(work: &W, run: extern "C" fn(*const W, u64, u64) -> u64) -> Result<(), u64> {
    // SAFETY: the function takes a pointer to the work and two numbers, and owns nothing that would have to be dropped
    // on a fault.
    unsafe { fault::call(run as *const () as usize, std::ptr::from_ref(work) as usize, 0, 0) }.map(|_| ())
}

extern "C" fn run_copy(copy: *const Copy3D, _: u64, _: u64) -> u64 {
    // SAFETY: `guarded` passes a live reference.
    unsafe { &*copy }.copy();
    0
}

extern "C" fn run_fill(fill: *const Fill, _: u64, _: u64) -> u64 {
    // SAFETY: `guarded` passes a live reference.
    unsafe { &*fill }.run();
    0
}

extern "C" fn run_value(work: *const (Value, &Context), _: u64, _: u64) -> u64 {
    // SAFETY: `guarded` passes a live reference.
    let (value, context) = unsafe { &*work };
    value.run(|| context.lost().is_err());
    0
}

/// Calls a client's function. It may not call this driver, and a panic does not unwind out of it.
pub(super) fn host_function(call: impl FnOnce()) {
    IN_HOST_FUNCTION.set(true);
    let ended = catch_unwind(AssertUnwindSafe(call));
    IN_HOST_FUNCTION.set(false);
    if let Err(panic) = ended {
        tracing::error!("a host function in a stream panicked");
        std::mem::forget(panic);
    }
}

impl Op {
    /// Returns the operation for another launch; a kernel launch gets an identity of its own.
    pub(super) fn for_relaunch(&self) -> Op {
        let mut again = self.clone();
        if let Op::Kernel { launch, function } = &mut again {
            renew(launch, function);
            launch.grid_id = GRIDS.fetch_add(1, Ordering::Relaxed);
        }
        again
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Op::Kernel { function, .. } => &function.kernel.signature().name,
            Op::Copy(_) => "copy",
            Op::Staged(..) => "copy from a staging buffer",
            Op::Fill(_) => "fill",
            Op::Record(_) => "event",
            Op::WaitEnded(_) | Op::AwaitRemote(..) => "wait for an event",
            Op::Host(..) | Op::Callback(..) => "host function",
            Op::Value(value) if value.wait.is_some() => "wait for a value",
            Op::Value(_) => "write a value",
            Op::Memory(_, true) => "allocate",
            Op::Memory(_, false) | Op::Freed(_) => "free",
            Op::ConditionalRun(_) => "conditional node",
            Op::GraphStart(run) | Op::GraphEnd(run) => &run.name,
        }
    }

    fn category(&self) -> &'static str {
        match self {
            Op::Kernel { .. } => "kernel",
            Op::Copy(_) | Op::Staged(..) | Op::Fill(_) | Op::Memory(..) | Op::Freed(_) => "memory",
            Op::GraphStart(_) | Op::GraphEnd(_) | Op::ConditionalRun(_) => "graph",
            Op::Record(_) => "event",
            Op::Host(..) | Op::Callback(..) => "host",
            Op::WaitEnded(_) | Op::AwaitRemote(..) | Op::Value(_) => "order",
        }
    }

    fn arguments(&self) -> String {
        match self {
            Op::Kernel { launch, .. } => {
                format!("\"grid\":{:?},\"block\":{:?},\"shared\":{}", launch.grid, launch.block, launch.dynamic_shared)
            }
            Op::Copy(copy) | Op::Staged(copy, _) => format!("\"bytes\":{}", copy.bytes()),
            Op::Fill(fill) => format!("\"bytes\":{}", fill.width * fill.size * fill.rows),
            Op::Memory(memory, _) => format!("\"bytes\":{}", memory.bytes),
            _ => String::new(),
        }
    }

    /// Returns true if it accesses memory whose pages may be exchanged. Waits for the host do not.
    fn accesses_memory(&self) -> bool {
        matches!(self, Op::Kernel { .. } | Op::Copy(_) | Op::Staged(..) | Op::Fill(_))
    }

    /// Returns true if it runs even if the context has faulted.
    fn runs_after_fault(&self) -> bool {
        matches!(self, Op::Record(_) | Op::Callback(..) | Op::GraphStart(_) | Op::GraphEnd(_))
    }

    /// Returns true if it accesses memory of the device, so that a lost context is not idle before it has ended.
    fn accesses_device(&self) -> bool {
        self.accesses_memory() || matches!(self, Op::Value(_) | Op::Memory(..))
    }

    fn run(self, context: &Context) -> Result<(), Failed> {
        let illegal = |what: &'static str| {
            move |address: u64| {
                tracing::error!(
                    "{what}: illegal access to address {address:#x}: memory freed before its use in a stream"
                );
                Failed::with(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS)
            }
        };
        match self {
            Op::Kernel { mut launch, function } => {
                launch.slots = context.slots();
                let launch: Arc<Launch> = Arc::from(launch);
                let ended = if launch.code.checked {
                    let (ended, reported) = check::run(&function.kernel, Arc::clone(&launch));
                    if ended.is_ok() && reported && ENVIRONMENT.check_result == CheckResult::Error {
                        return Err(Failed::with(CUresult::CUDA_ERROR_LAUNCH_FAILED));
                    }
                    ended
                } else {
                    Arc::clone(&launch).run()
                };
                if let Some(text) = function.kernel.breakpoint_report(&launch) {
                    eprint!("{text}");
                }
                match ended {
                    // It has no fault of its own; that of the context is stored.
                    Ok(()) | Err(Fault::Stopped) => Ok(()),
                    // The session has a report of it, and other users of the context go on.
                    Err(Fault::Memory { .. }) if check::session::covers(Checks::MEMORY) => Ok(()),
                    Err(fault) => {
                        let examine = move || report(&function.kernel, &launch, &fault);
                        Err(Failed { code: code_of(&fault), examine: Some(Box::new(examine)) })
                    }
                }
            }
            Op::Copy(copy) | Op::Staged(copy, _) if copy.bytes() == 0 => Ok(()),
            Op::Copy(copy) => guarded(&copy, run_copy).map(|()| copy.tell()).map_err(illegal("a copy")),
            Op::Staged(copy, buffer) => {
                let copied = guarded(&copy, run_copy).map(|()| copy.tell()).map_err(illegal("a copy"));
                drop(buffer);
                copied
            }
            Op::Fill(fill) => guarded(&fill, run_fill).map(|()| fill.tell()).map_err(illegal("a fill")),
            Op::Value(value) => {
                guarded(&(value, context), run_value).map(|()| value.tell()).map_err(illegal("a value in memory"))
            }
            Op::Record(record) => {
                record.time.store(now(), Ordering::Release);
                if let Some((shared, number)) = &record.shared {
                    shared.reach(*number);
                }
                Ok(())
            }
            Op::WaitEnded(_) => Ok(()),
            Op::AwaitRemote(shared, number) => {
                shared.wait(number, || context.lost().is_err());
                check::history::forget();
                Ok(())
            }
            Op::Freed(freed) => {
                check::events::freed(freed);
                Ok(())
            }
            Op::Memory(memory, open) => {
                check::history::forget_range(memory.base, memory.bytes);
                memory.set_accessible(open).map_err(Failed::with)
            }
            Op::ConditionalRun(branch) => {
                branch.run();
                Ok(())
            }
            Op::GraphStart(run) => {
                run.values.iter().for_each(|number| number.begin());
                *run.span.lock() = trace::begin(|| trace::Span {
                    track: trace::Track { device: context.device, stream: run.stream, lane: 0 },
                    after: None,
                    name: run.name.clone(),
                    category: "graph",
                    arguments: format!("\"nodes\":{}", run.nodes),
                });
                Ok(())
            }
            Op::GraphEnd(run) => {
                if let Some(span) = run.span.lock().take() {
                    span.end();
                }
                Ok(())
            }
            Op::Host(function, data) => {
                check::order::tells_host();
                // SAFETY: the client's function is called with the client's data, in a stream whose earlier work has
                // finished.
                host_function(|| unsafe { function(data.0) });
                Ok(())
            }
            Op::Callback(function, stream, data) => {
                check::order::tells_host();
                let status = context.lost().err().unwrap_or(CUresult::CUDA_SUCCESS);
                let stream = std::ptr::without_provenance_mut(stream);
                // SAFETY: the client's function is called with the client's data, in a stream whose earlier work has
                // finished.
                host_function(|| unsafe { function(stream, status, data.0) });
                Ok(())
            }
        }
    }
}

impl Task for Item {
    fn run(self) {
        let Item { context, stream, lane, op, session, operation } = self;
        if context.lost().is_err() && !op.runs_after_fault() {
            return;
        }
        let working = if op.accesses_device() { context.begin() } else { None };
        if op.accesses_device() && working.is_none() {
            return;
        }
        let describe = || trace::Span {
            track: trace::Track { device: context.device, stream, lane },
            name: op.name().to_owned(),
            category: op.category(),
            arguments: op.arguments(),
            after: match &op {
                Op::WaitEnded(record) => Some((record.track, record.time.load(Ordering::Acquire))),
                _ => None,
            },
        };
        let bracket = matches!(op, Op::GraphStart(_) | Op::GraphEnd(_));
        let span = if bracket { None } else { trace::begin(describe) };
        // Pages are not exchanged meanwhile. The lock is recursive, since the operation that a wait depends on must not
        // be held up by an exchange that waits for this one.
        let _still = op.accesses_memory().then(|| MOVING.read_recursive());
        // A panic here would be a defect; the queue must continue nevertheless.
        let ended =
            catch_unwind(AssertUnwindSafe(|| within(session, || check::order::within(operation, || op.run(&context)))))
                .unwrap_or_else(|_| {
                    tracing::error!("work of a stream panicked: a defect of the software device");
                    Err(Failed::with(CUresult::CUDA_ERROR_UNKNOWN))
                });
        if let Err(Failed { code, examine }) = ended {
            context.fail(code, working, || {
                if catch_unwind(AssertUnwindSafe(|| examine.map_or((), |examine| examine()))).is_err() {
                    tracing::error!("the report of a fault panicked: a defect of the software device");
                }
            });
        }
        if let Some(span) = span {
            span.end();
        }
    }

    fn runs_on_any_thread(&self) -> bool {
        match &self.op {
            // A client's thread may have a small stack: recursion and the client's own code run on our threads.
            Op::Kernel { launch, .. } => launch.code.shape.local_bytes < 16 << 10,
            Op::Host(..) | Op::Callback(..) | Op::AwaitRemote(..) | Op::Value(_) | Op::ConditionalRun(_) => false,
            _ => true,
        }
    }

    fn records_order() -> bool {
        check::order::is_recorded()
    }

    fn submitted(task: Option<&mut Item>, point: Point, after: &[Point]) {
        let stream = task.as_ref().map_or(0, |item| item.stream);
        let operation = check::order::submitted(point.numbers(), after.iter().map(|point| point.numbers()), stream);
        if let Some(item) = task {
            item.operation = Some(operation);
        }
    }

    fn waited(point: Point) {
        check::order::waited(point.numbers());
    }
}
