//! Exact checkers of kernels: `CUDA_SIM_CHECK=memory,race,init,sync,leak`.
//!
//! With one of them on, kernels are compiled so that they ask about each access ([`access`]) and tell of each fence; the
//! block scheduler tells of barriers ([`sync`]). Such kernels run one after the other, each on one worker, so nothing
//! here needs a lock of its own. `shadow.rs` keeps what is known of each byte, `race.rs` with `clocks.rs` what is ordered,
//! `memory.rs` what is allocated; `events.rs` records what the host does to memory, `report.rs` writes reports and
//! `suppress.rs` hides some. Off, none of this is compiled into kernels.
//!
//! # Safety
//!
//! Compiled code passes the context of its running block, which nothing else accesses during the call. The checker's
//! state is reached by a pointer that is set while the thread that runs the launch holds the lock; only that thread
//! calls in.

mod access;
mod batch;
mod chunks;
mod clocks;
mod copies;
pub(crate) mod events;
pub(crate) mod heap;
pub(crate) mod history;
mod lanes;
mod leak;
mod log;
mod memory;
mod objects;
pub(crate) mod order;
mod pending;
mod phases;
mod race;
mod report;
pub(crate) mod session;
mod shadow;
mod suppress;
pub(crate) mod sync;
mod turns;
mod unfinished;

pub(crate) use access::{access, fence};
pub(crate) use batch::{batched, faulted};
pub(crate) use objects::{arrived, completes_bytes, is_checking, passed, side};
pub use report::{Accessed, Report};
pub use session::check_with;
pub(crate) use turns::give_way;
pub(crate) use unfinished::{copy_begins, copy_ends};
#[cfg(all(test, not(loom)))]
pub(crate) use {memory::name, report::collect};

use crate::codegen::abi::{BATCH_ROW, BATCH_ROWS, BOUNDS_COUNT, Bounds, NOT_ACCESSED};
use crate::environment::{Checks, ENVIRONMENT};
use crate::exec::launch::{Fault, Launch};
use crate::exec::search::Found;
use crate::module::Kernel;
use batch::{CLEAR_AREAS, ClearArea};
use copies::Copies;
use events::Event;
use history::Tracked;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use race::Race;
use shadow::{Pages, position};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The checkers' names, with their bits.
pub(crate) const NAMES: &[(&str, Checks)] = Checks::NAMES;

/// The launch that is checked.
struct Running {
    kernel: Arc<Kernel>,
    launch: Arc<Launch>,
}

/// The state of all checkers.
struct Checker {
    checks: Checks,
    pages: Pages,
    race: Race,
    running: Option<Running>,
    /// The illegal access of the running launch.
    found: Option<Found>,
    /// True if the running launch had a report.
    reported: bool,
    /// The copies of values that nobody wrote, which threads are about to store.
    copies: Copies,
    /// The pages with bytes of asynchronous copies ([`unfinished`]).
    with_copies: Vec<u64>,
    /// The generation of what is known of memory ([`session::generation`]).
    generation: u64,
    /// The running launch, if it is compared with other operations.
    tracked: Option<Tracked>,
    /// The launches that have begun and do not run now ([`turns`]).
    suspended: usize,
    /// True if its code has bounds, and those.
    is_bounded: bool,
    bounds: Box<[Bounds; BOUNDS_COUNT]>,
    /// The accesses that code has recorded ([`batch`]).
    batch: Box<[u64]>,
    /// The memory in which accesses of some places have nothing to record.
    clear: Box<[ClearArea; CLEAR_AREAS]>,
}

/// The state, which the thread that runs a launch owns meanwhile.
struct Owned(Option<Box<Checker>>);
// SAFETY: clocks are shared between parts of this state only, and the lock gives one thread at a time all of it.
unsafe impl Send for Owned {}

static CHECKER: Lazy<Mutex<Owned>> = Lazy::new(|| Mutex::new(Owned(None)));
/// The state while a launch runs.
static RUNNING: AtomicPtr<Checker> = AtomicPtr::new(std::ptr::null_mut());

/// Calls `ask` with the state, if a launch is checked. Only the thread that runs the launch may call this.
#[inline]
fn with<T>(ask: impl FnOnce(&mut Checker) -> T) -> Option<T> {
    // SAFETY: null, or the state that the running launch's thread, which is this one, has locked.
    unsafe { RUNNING.load(Ordering::Relaxed).as_mut() }.map(ask)
}

/// The checkers that the environment turns on.
pub(crate) fn checks() -> Checks {
    ENVIRONMENT.check
}

/// Returns true if `CUDA_SIM_CHECK` turns a checker on, whose reports name source lines where kernels have them.
///
/// # Examples
///
/// ```
/// assert_eq!(cuda_sim::is_checking(), std::env::var_os("CUDA_SIM_CHECK").is_some_and(|checkers| !checkers.is_empty()));
/// ```
pub fn is_on() -> bool {
    checks().any()
}

/// Prepares for what the environment turns on, when the driver is initialised.
pub(crate) fn initialize() {
    if is_on() {
        enable(checks());
        report::watch_end();
    }
}

/// Records what the host does from now on.
pub(crate) fn enable(checks: Checks) {
    events::enable(checks.has(Checks::LEAK), checks.of_kernels());
    if checks.has(Checks::RACE) {
        order::enable();
    }
}

impl Checker {
    fn new() -> Checker {
        Checker {
            checks: Checks::default(),
            pages: Pages::new(),
            race: Race::new(),
            running: None,
            found: None,
            reported: false,
            copies: Copies::default(),
            with_copies: Vec::new(),
            generation: 0,
            tracked: None,
            suspended: 0,
            is_bounded: false,
            bounds: Box::new([Bounds::default(); BOUNDS_COUNT]),
            batch: vec![NOT_ACCESSED; BATCH_ROW * BATCH_ROWS].into_boxed_slice(),
            clear: Box::new(std::array::from_fn(|_| ClearArea::default())),
        }
    }

    /// Sets the checkers of what follows.
    fn change_to(&mut self, checks: Checks) {
        let generation = session::generation();
        let begins = checks.has(Checks::INIT) && !self.checks.has(Checks::INIT);
        if generation != self.generation || begins {
            // What was not recorded before is not known.
            self.pages.retain(|_, page| page.kind != shadow::PageKind::Global);
        }
        (self.checks, self.generation) = (checks, generation);
    }

    /// Forgets where accesses need not be checked.
    fn forget_areas(&mut self) {
        self.bounds.fill(Bounds::default());
        self.clear.fill(ClearArea::default());
    }

    /// Applies what the host has done.
    fn catch_up(&mut self) {
        let new = events::take();
        if !new.is_empty() {
            self.forget_areas();
        }
        for event in new {
            match event {
                Event::Forget { start, bytes } => self.pages.remove(start..start + bytes),
                Event::Written { start, bytes } if self.checks.has(Checks::INIT) => {
                    memory::mark(&mut self.pages, start, bytes);
                }
                Event::Copied { to, from, bytes } if self.checks.has(Checks::INIT) => self.copied(to, from, bytes),
                Event::Written { .. } | Event::Copied { .. } => {}
            }
        }
    }

    fn copied(&mut self, to: u64, from: u64, bytes: u64) {
        let is_tracked = |pages: &mut Pages, at: u64| {
            memory::ensure(pages, at / shadow::PAGE * shadow::PAGE, at).is_some_and(|page| page.written.is_some())
        };
        if is_tracked(&mut self.pages, to) {
            return memory::copy(&mut self.pages, to, from, bytes);
        }
        let Some((first, count)) = memory::unwritten(&mut self.pages, from, bytes) else { return };
        self.report(Report {
            check: "init",
            kind: "copy of uninitialised memory to the host",
            array: Some(memory::name(first)),
            address: Some(first),
            note: Some(format!("nobody wrote {count} of the {bytes} bytes; the first of them is named")),
            ..Report::default()
        });
    }

    fn begin(&mut self, kernel: &Arc<Kernel>, launch: &Arc<Launch>) {
        let checks = launch.checks;
        self.change_to(checks);
        self.catch_up();
        self.is_bounded = !checks.has(Checks::RACE);
        self.forget_areas();
        if self.race.begin(launch, self.suspended == 0) {
            self.pages.retain(|_, _| false);
        }
        (self.found, self.reported) = (None, false);
        self.copies.clear();
        let name = &kernel.signature().name;
        let learns = launch.code.has_fences;
        self.tracked = if checks.has(Checks::RACE) { Tracked::begin(launch.grid_id, name, learns) } else { None };
        self.running = Some(Running { kernel: Arc::clone(kernel), launch: Arc::clone(launch) });
    }

    /// Compares the launch with other operations.
    fn publish(&mut self) {
        if let Some(tracked) = self.tracked.take() {
            let pages = &mut self.pages;
            let take = |number| pages.find(number * shadow::PAGE).and_then(|page| page.seen.take());
            self.reported |= tracked.end(take);
        }
    }

    fn end(&mut self) {
        self.race.end();
        self.forget_copies();
        let own = self.running.take().map_or(0, |running| running.launch.grid_id);
        self.pages.retain(|_, page| page.kind == shadow::PageKind::Global || page.launch != own);
    }

    /// Reports an illegal access that ended the launch before it was checked.
    fn unexplained(&mut self, block: u64) {
        if !self.checks.has(Checks::MEMORY) {
            return;
        }
        let (array, address, accesses) = match self.found {
            Some(Found { thread, address, bytes, access, position, .. }) => {
                let what = access::described(access, bytes as u32);
                let thread = block << clocks::THREAD_BITS | thread;
                let accessed = self.accessed(what, thread, shadow::place(position), None);
                (Some(memory::name(address)), Some(address), vec![accessed])
            }
            None => (None, None, Vec::new()),
        };
        let kernel = self.kernel_name();
        self.report(Report {
            check: "memory",
            kind: "illegal access",
            kernel,
            array,
            address,
            accesses,
            ..Report::default()
        });
    }

    fn report(&mut self, report: Report) {
        self.reported |= report::add(report);
    }

    fn kernel_name(&self) -> String {
        self.running.as_ref().map(|running| running.kernel.signature().name.clone()).unwrap_or_default()
    }

    /// Describes an access of a thread, given by its number in blocks of 1024, at a place.
    fn accessed(&self, what: String, thread: u64, place: u32, value: Option<u64>) -> Accessed {
        let at = position(place);
        let Some(Running { kernel, launch }) = &self.running else { return Accessed::default() };
        let coordinates = |number: u64, [x, y, _]: [u32; 3]| {
            let (x, y) = (u64::from(x), u64::from(y));
            [number % x, number / x % y, number / x / y]
        };
        let own = thread & ((1 << clocks::THREAD_BITS) - 1);
        Accessed {
            what,
            line: (at >> 32) as u32,
            column: at as u32,
            source: kernel.source((at >> 32) as u32),
            block: Some(coordinates(thread >> clocks::THREAD_BITS, launch.grid)),
            thread: Some(coordinates(own, launch.block)),
            value,
        }
    }
}

/// Runs a launch of checked code. Returns its result, and true if there was a report for the environment's checkers.
pub(crate) fn run(kernel: &Arc<Kernel>, launch: Arc<Launch>) -> (Result<(), Fault>, bool) {
    let mut owned = turns::wait();
    let checker = owned.0.get_or_insert_with(|| Box::new(Checker::new()));
    checker.begin(kernel, &launch);
    RUNNING.store(&raw mut **checker, Ordering::Relaxed);
    let result = Arc::clone(&launch).run();
    RUNNING.store(std::ptr::null_mut(), Ordering::Relaxed);
    // Other launches may have had the state meanwhile.
    let checker = owned.0.get_or_insert_with(|| Box::new(Checker::new()));
    if result.is_err() {
        checker.batch.fill(NOT_ACCESSED);
    }
    if let Err(Fault::Memory { block, .. }) = result
        && checker.found.is_none()
    {
        checker.found = kernel.search(&launch, block);
        checker.unexplained(block);
    }
    checker.publish();
    let reported = checker.reported;
    checker.end();
    drop(owned);
    report::write(false);
    (result, reported)
}

/// Applies what the running kernel has done to its heap.
pub(crate) fn catch_up() {
    with(Checker::catch_up);
}

/// Returns the bounds of the code of the launch that runs.
pub(crate) fn bounds() -> *const Bounds {
    with(|checker| checker.bounds.as_ptr()).unwrap_or(std::ptr::null())
}

/// Returns the memory for the accesses that the code of the launch which runs records.
pub(crate) fn batch() -> *mut u64 {
    with(|checker| checker.batch.as_mut_ptr()).unwrap_or(std::ptr::null_mut())
}

/// Takes the illegal access that the last launch was stopped at.
pub(crate) fn found() -> Option<Found> {
    CHECKER.lock().0.as_mut().and_then(|checker| checker.found.take())
}

/// Applies what the host has done, unless a kernel runs; then its end does.
pub(crate) fn host_copied(to: u64, from: u64, bytes: u64) {
    let checks = session::checks();
    if !events::enabled() || !checks.has(Checks::INIT) {
        return;
    }
    events::copied(to, from, bytes);
    if let Some(mut owned) = CHECKER.try_lock() {
        let checker = owned.0.get_or_insert_with(|| Box::new(Checker::new()));
        if checker.running.is_none() {
            checker.change_to(checks);
            checker.catch_up();
        }
    }
}

/// The host frees an address that is not the start of a live allocation.
pub(crate) fn bad_free(address: u64, function: &str) {
    if !session::checks().has(Checks::MEMORY) {
        return;
    }
    let freed = events::allocation(address).filter(|(named, live)| named.base == address && !live);
    report::add(Report {
        check: "memory",
        kind: if freed.is_some() { "double free" } else { "free of an address that is no allocation's start" },
        kernel: function.to_owned(),
        array: Some(memory::name(address)),
        address: Some(address),
        ..Report::default()
    });
}

/// A context ends with memory that was not freed.
pub(crate) fn left_in_context(bases: &[u64]) {
    if checks().has(Checks::LEAK) {
        let left = events::leaked();
        left.iter().filter(|named| bases.contains(&named.base)).for_each(|named| leak::report(named, "its context"));
    }
}

/// The end of the process.
fn end_of_process() {
    if checks().has(Checks::LEAK) {
        events::leaked().iter().for_each(|named| leak::report(named, "the process"));
        heap::left(0..u64::MAX, "the process");
    }
    if let Some(mut owned) = CHECKER.try_lock()
        && let Some(checker) = &mut owned.0
    {
        checker.catch_up();
    }
}
