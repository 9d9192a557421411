//! Compiled kernels in this process: decides when each part is compiled, and returns addresses to call.
//!
//! Code lives as long as its [`Compiled`], so a process that keeps loading new modules does not grow.
//!
//! # Safety
//!
//! An address is valid as long as the [`Code`] that it came with: a [`Compiled`] owns the code of every address that it
//! returns, and a launch holds the [`Compiled`].

use super::abi::{BlocksFn, RangeFn, RegionFn};
use super::background::{Queue, Task};
use super::loader::{Code, load};
use super::object::Mode;
use super::object_cache::{self, ObjectStore};
use super::texts::Texts;
use super::{Effort, KernelCode, LoopCode, Part, Shape, warm};
use crate::environment::{ENVIRONMENT, Tier};
use crate::exec::pool::POOL;
use crate::ir::sync::Plan;
use crate::parallel::in_parallel;
use once_cell::sync::{Lazy, OnceCell};
use parking_lot::Mutex;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A kernel as machine code.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) entry: EntryPoint,
    pub(crate) shape: Shape,
    /// True if the code asks the checkers about each access.
    pub(crate) checked: bool,
    pub(crate) has_fences: bool,
    /// Keeps the code of `entry` alive if that is a function.
    _first: Option<Arc<Code>>,
    regions: Vec<Arc<LazyPart>>,
    /// For each region its loops, by [`LoopCode`].
    loops: Vec<[Option<Arc<LazyPart>>; 3]>,
    plan: Arc<Plan>,
}

/// A part that is compiled when it is first needed.
#[derive(Debug)]
struct LazyPart {
    part: Part,
    texts: Arc<Texts>,
    mode: Mode,
    /// The object files on disk: optimised ones, and quick ones.
    stores: [Arc<ObjectStore>; 2],
    /// True if the part is compiled quickly at first, and with optimisation in the background.
    tiered: bool,
    /// The first code of a tiered part: quick code, or `None` if optimised code was on disk.
    quick: OnceCell<Option<Code>>,
    code: OnceCell<Code>,
}

/// The work that a request for an address required.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    None,
    /// The part was compiled with optimisation.
    Optimised,
    /// Unoptimised code was loaded or compiled.
    Quick,
}

impl LazyPart {
    /// Returns true if there is code to run.
    fn is_ready(&self) -> bool {
        self.code.get().is_some() || self.quick.get().is_some()
    }

    /// Returns the address of the best code that exists. If there is none, the first caller compiles it while others
    /// wait.
    fn address(self: &Arc<Self>) -> Result<usize, String> {
        let (address, work) = self.now()?;
        match work {
            Work::None => {}
            Work::Optimised => self.keep(),
            Work::Quick => {
                self.keep();
                background(&[self]);
            }
        }
        Ok(address)
    }

    /// As [`LazyPart::address`], and also returns the work that this call did.
    fn now(&self) -> Result<(usize, Work), String> {
        if let Some(code) = self.code.get() {
            return Ok((code.address, Work::None));
        }
        let mut work = Work::None;
        if self.tiered {
            let quick = self.quick.get_or_try_init(|| {
                let quick = self.begin()?;
                work = if quick.is_some() { Work::Quick } else { Work::None };
                Ok::<_, String>(quick)
            })?;
            if let Some(code) = quick {
                return Ok((code.address, work));
            }
        }
        let code = self.code.get_or_try_init(|| {
            if let Some(code) = self.find(&self.stores[0]) {
                return Ok(code);
            }
            work = Work::Optimised;
            self.make(&self.stores[0], self.mode)
        })?;
        Ok((code.address, work))
    }

    /// Returns the quick code of a tiered part; `None` if optimised code is on disk, which then becomes the part's
    /// code.
    fn begin(&self) -> Result<Option<Code>, String> {
        if let Some(code) = self.find(&self.stores[0]) {
            // Nobody else sets the cell: a background task exists only for a part with quick code, which this one
            // lacks.
            let _ = self.code.set(code);
            return Ok(None);
        }
        let (store, mode) = (&self.stores[1], Mode { effort: Effort::Least, ..self.mode });
        self.find(store).map_or_else(|| self.make(store, mode), Ok).map(Some)
    }

    /// Returns true if the part's code is on disk.
    fn is_kept(&self) -> bool {
        let stores = if self.tiered { 2 } else { 1 };
        self.stores[..stores].iter().any(|store| store.find(self.part.number).is_some())
    }

    /// Loads an object file from disk. A file that cannot be loaded into memory is a miss.
    fn find(&self, store: &ObjectStore) -> Option<Code> {
        let code = store.find(self.part.number).map(load)?;
        code.inspect_err(|why| tracing::debug!("machine code on disk is not used: {why}")).ok()
    }

    fn make(&self, store: &ObjectStore, mode: Mode) -> Result<Code, String> {
        let ir = self.texts.get(self.part.number)?;
        with_deep_stack(ir, || load(&store.make(self.part.number, ir, mode)?))
    }

    /// Writes the new object files of all parts to disk.
    fn keep(&self) {
        self.stores.iter().for_each(|store| store.keep());
    }
}

impl Task for LazyPart {
    fn run(&self) {
        // The disk was searched before the quick code was compiled.
        if let Err(why) = self.code.get_or_try_init(|| self.make(&self.stores[0], self.mode)) {
            tracing::error!("a kernel keeps its unoptimised code: {why}");
        }
        self.stores[0].expect_no_more();
        end_with_process();
    }
}

/// The queue of optimised compilations.
static BACKGROUND: Lazy<Arc<Queue<LazyPart>>> = Lazy::new(Arc::default);

/// Parts whose optimised compilation waits until a launch loads LLVM ([`start_deferred`]).
static DEFERRED: Mutex<Vec<Weak<LazyPart>>> = Mutex::new(Vec::new());
/// True if there are such parts. Every launch reads this.
static IS_DEFERRED: AtomicBool = AtomicBool::new(false);

/// The delay before background compilation starts after quick code was compiled: a short launch ends before it has to
/// share the processor.
const GRACE: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 20 });

/// Queues the optimised compilation of parts that run quick code. If the quick code came from disk and this process has
/// no LLVM yet, the compilation is deferred until a kernel is launched again ([`start_deferred`]).
fn background(parts: &[&Arc<LazyPart>]) {
    if parts.is_empty() {
        return;
    }
    if !cuda_llvm::is_initialized() {
        DEFERRED.lock().extend(parts.iter().map(|part| Arc::downgrade(part)));
        IS_DEFERRED.store(true, Ordering::Relaxed);
        return;
    }
    parts.iter().for_each(|part| part.stores[0].expect());
    // Exit handlers run in reverse order of registration. The launching thread therefore makes LLVM create its static
    // tables first, and then registers the handler that waits for the background; each task registers the handler
    // again, for the tables that it adds.
    static WARM: AtomicBool = AtomicBool::new(false);
    if !WARM.swap(true, Ordering::Relaxed) {
        warm::run();
        end_with_process();
    }
    BACKGROUND.push(parts.iter().map(|part| Arc::downgrade(part)), POOL.workers(), GRACE);
}

/// Queues the deferred compilations and loads LLVM for them. It runs on a thread that is in a driver call, since a
/// process does not end during its calls.
pub(crate) fn start_deferred() {
    if !IS_DEFERRED.load(Ordering::Relaxed) || !IS_DEFERRED.swap(false, Ordering::Relaxed) {
        return;
    }
    let deferred = std::mem::take(&mut *DEFERRED.lock());
    let parts: Vec<_> = deferred.iter().filter_map(Weak::upgrade).collect();
    if !parts.is_empty() && cuda_llvm::initialize().is_ok() {
        background(&parts.iter().collect::<Vec<_>>());
    }
}

/// The time for which the end of a process waits without a word.
const PATIENCE: Duration = Duration::from_secs(10);

/// Registers an exit handler that waits for the background. It runs before the destructors that have been registered so
/// far.
fn end_with_process() {
    /// The process that registered the handler: forked children have no background threads.
    static PROCESS: AtomicU32 = AtomicU32::new(0);
    /// The registrations that are left: later tasks use no new table of LLVM.
    static LEFT: AtomicUsize = AtomicUsize::new(64);
    extern "C" fn end() {
        if PROCESS.load(Ordering::Relaxed) == std::process::id() {
            BACKGROUND.close(PATIENCE, || {
                let seconds = PATIENCE.as_secs();
                // Nobody may read it.
                let _ = writeln!(
                    std::io::stderr(),
                    "cuda-sim: the program has ended, and its process waits for LLVM, which has been optimising a kernel for more than \
                     {seconds} s"
                );
            });
        }
    }
    if LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err() {
        return;
    }
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    // SAFETY: `end` is a function of this library that takes no arguments; when the library is unloaded, the C library
    // runs the handler first.
    if unsafe { libc::atexit(end) } != 0 {
        tracing::warn!("atexit failed: the end of the process does not wait for background compilation");
    }
}

/// Texts up to this size can be compiled on any thread's stack.
const SHALLOW: usize = 128 << 10;

/// The stack size for larger texts. Unused pages take no memory.
const DEEP: usize = 1 << 30;

/// Compiles on a thread whose stack is large enough for the text: LLVM recurses along chains of dependent instructions.
fn with_deep_stack<T: Send>(ir: &str, compile: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    if ir.len() <= SHALLOW {
        return compile();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(DEEP).spawn_scoped(scope, compile);
        let thread = thread.map_err(|error| format!("no thread to compile a large kernel on: {error}"))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Returns the function address in the table that a vectorised loop's module returns.
fn table_entry(entry: usize) -> usize {
    // SAFETY: the code generator gives the entry of such a module this signature; it returns the address of its table.
    let table = unsafe { std::mem::transmute::<usize, extern "C" fn() -> *const usize>(entry) }();
    // SAFETY: the table has one word and is part of the code, which the caller keeps alive.
    unsafe { table.read() }
}

/// The entry point of a kernel.
#[derive(Clone, Debug)]
pub(crate) enum EntryPoint {
    /// A loop over blocks ([`Compiled::blocks`]).
    Blocks,
    /// Regions that a scheduler runs.
    Regions,
    /// A function that runs one thread as a fiber. With a seed, schedules are random.
    Fiber { function: usize, seed: Option<u64> },
}

impl Compiled {
    /// Compiles the entry of a kernel, for blocks whose rows are `whole` vectors or for any; the rest is compiled when
    /// a thread needs it.
    ///
    /// # Errors
    ///
    /// LLVM's message and the text that it rejected, which is a defect of the code generator.
    pub(crate) fn new(code: &KernelCode, registered: bool, whole: bool) -> Result<Compiled, String> {
        let tier = tier(code);
        let effort = if tier == Tier::Quick { Effort::Least } else { code.effort };
        let mode = Mode { effort, registered, repeats: false, whole };
        let identity = code.texts.identity();
        let quick = Mode { effort: Effort::Least, ..mode };
        let stores = [mode, quick].map(|mode| Arc::new(ObjectStore::new(identity, mode)));
        let lazy = |part: &Part| {
            Arc::new(LazyPart {
                part: *part,
                texts: Arc::clone(&code.texts),
                mode: Mode { repeats: part.repeats, ..mode },
                stores: stores.clone(),
                tiered: tier == Tier::Both,
                quick: OnceCell::new(),
                code: OnceCell::new(),
            })
        };
        let this = Compiled {
            entry: if code.scheduled { EntryPoint::Regions } else { EntryPoint::Blocks },
            shape: code.shape,
            checked: code.checked,
            has_fences: code.has_fences,
            _first: None,
            regions: code.regions.iter().map(lazy).collect(),
            loops: code.loops.iter().map(|all| all.each_ref().map(|part| part.as_ref().map(lazy))).collect(),
            plan: Arc::clone(&code.plan),
        };
        this.regions[0].address()?;
        Ok(this)
    }

    /// Returns the loop over blocks, of a kernel that has one.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn blocks(&self) -> Result<BlocksFn, String> {
        let address = self.regions[0].address()?;
        // SAFETY: the address is that of region 0 of a kernel that is not scheduled, which the code generator defines
        // with this signature.
        Ok(unsafe { std::mem::transmute::<usize, BlocksFn>(address) })
    }

    /// Returns the address of a part's code. A thread that continues in a hot part will reach the other hot parts, so
    /// they are compiled with it, on as many threads as the pool has.
    fn address(&self, part: &Arc<LazyPart>) -> Result<usize, String> {
        if let Some(code) = part.code.get() {
            return Ok(code.address);
        }
        if part.part.hot && !part.is_ready() && !part.is_kept() {
            let loops = self.loops.iter().flatten().flatten();
            let open = self.regions.iter().chain(loops).filter(|other| other.part.hot && !other.is_ready());
            compile_all(&open.collect::<Vec<_>>());
        }
        part.address()
    }

    /// Compiles the function that runs a kernel's thread as a fiber.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn fiber(ir: &str, plan: Plan, code: &KernelCode, registered: bool) -> Result<Compiled, String> {
        let mode = Mode { effort: code.effort, registered, repeats: false, whole: false };
        let first = Arc::new(load(&object_cache::object(ir, mode)?)?);
        let entry = EntryPoint::Fiber { function: first.address, seed: None };
        let (shape, plan) = (code.shape, Arc::new(plan));
        Ok(Compiled {
            entry,
            shape,
            checked: code.checked,
            has_fences: code.has_fences,
            _first: Some(first),
            regions: Vec::new(),
            loops: Vec::new(),
            plan,
        })
    }

    /// Returns the same code with another seed for its schedules.
    #[cfg(test)]
    pub(crate) fn seeded(&self, seed: Option<u64>) -> Compiled {
        let EntryPoint::Fiber { function, .. } = self.entry else { panic!("only fibers have schedules") };
        let entry = EntryPoint::Fiber { function, seed };
        let (first, plan) = (self._first.clone(), Arc::clone(&self.plan));
        Compiled {
            entry,
            shape: self.shape,
            checked: self.checked,
            has_fences: self.has_fences,
            _first: first,
            regions: Vec::new(),
            loops: Vec::new(),
            plan,
        }
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the code of a scheduled region. The first caller compiles it while others wait.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn range(&self, region: usize) -> Result<RangeFn, String> {
        let address = self.address(&self.regions[region])?;
        // SAFETY: the address is that of a scheduled region, which the code generator defines with this signature.
        Ok(unsafe { std::mem::transmute::<usize, RangeFn>(address) })
    }

    /// Returns a vectorised loop of a region that begins with a lockstep loop. The second value is true if it runs all
    /// threads of a block together.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn vector_loop(&self, region: usize, code: LoopCode) -> Result<Option<(RangeFn, bool)>, String> {
        debug_assert!(code != LoopCode::ByThread, "it is no vectorised loop");
        let Some(part) = &self.loops[region][code as usize] else { return Ok(None) };
        let address = table_entry(self.address(part)?);
        // SAFETY: the address is that of a vectorised loop, which the code generator defines with this signature.
        Ok(Some((unsafe { std::mem::transmute::<usize, RangeFn>(address) }, part.part.wide)))
    }

    /// Returns the code of a lockstep loop for threads that fill no vector: all iterations, unless the code is checked.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn loop_by_thread(&self, region: usize) -> Result<RangeFn, String> {
        let Some(part) = &self.loops[region][LoopCode::ByThread as usize] else { return self.range(region) };
        let address = self.address(part)?;
        // SAFETY: the address is that of a scheduled region's code, which the code generator defines with this signature.
        Ok(unsafe { std::mem::transmute::<usize, RangeFn>(address) })
    }

    /// Returns the code of a region other than 0 of a kernel that is not scheduled. The first caller compiles it while
    /// others wait.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn region(&self, region: usize) -> Result<RegionFn, String> {
        let address = self.regions[region].address()?;
        // SAFETY: the address is that of a cold region, which the code generator defines with this signature.
        Ok(unsafe { std::mem::transmute::<usize, RegionFn>(address) })
    }

    /// The numbers of parts that have quick code and optimised code.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn tiers(&self) -> [usize; 2] {
        let parts = || self.regions.iter().chain(self.loops.iter().flatten().flatten());
        let quick = |part: &&Arc<LazyPart>| matches!(part.quick.get(), Some(Some(_)));
        [parts().filter(quick).count(), parts().filter(|part| part.code.get().is_some()).count()]
    }

    /// Compiles every region now.
    #[cfg(fuzzing)]
    pub(crate) fn complete(&self) -> Result<(), String> {
        self.regions.iter().chain(self.loops.iter().flatten().flatten()).try_for_each(|part| {
            part.now()?;
            part.code.get_or_try_init(|| part.make(&part.stores[0], part.mode)).map(drop)
        })
    }
}

/// The smallest kernel, in instructions, whose first launch runs quick code. For smaller ones the optimised compilation
/// takes less than 0.1 s, and loops that are not vectorised are up to 36 times slower.
const TIERED: usize = 500;

/// Returns the kind of code that a kernel is compiled to.
///
/// Quick code has larger stack frames than the stack checks assume ([`super::kernel::frame`]), so a kernel with calls
/// has none.
fn tier(code: &KernelCode) -> Tier {
    if code.effort == Effort::Least || code.shape.calls || ENVIRONMENT.print_llvm {
        return Tier::Good;
    }
    match ENVIRONMENT.tier {
        Tier::Both if code.instructions < TIERED => Tier::Good,
        tier => tier,
    }
}

/// Compiles parts of a kernel on several threads. A failure is reported when the part's address is requested.
fn compile_all(parts: &[&Arc<LazyPart>]) {
    let work = in_parallel(parts, parts.len(), |part| part.now().map_or(Work::None, |(_, work)| work));
    // Not earlier, since the launch waits for the other parts.
    let quick = parts.iter().zip(work).filter(|(_, work)| *work == Work::Quick);
    background(&quick.map(|(part, _)| *part).collect::<Vec<_>>());
    if let Some(part) = parts.first() {
        part.keep();
    }
}

/// Waits until no background compilation is left.
#[cfg(all(test, not(loom)))]
pub(crate) fn wait_idle() {
    BACKGROUND.wait_idle();
}

/// As [`wait_for_background`], and excludes other tests that call this until the guard is dropped.
#[cfg(all(test, not(loom)))]
pub(crate) fn background_idle() -> parking_lot::MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock();
    wait_idle();
    guard
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use cuda_jit_cache::Key;

    const RETURNS: &str = "define i64 @kernel(ptr %ctx, i64 %first, i64 %last) {\n  ret i64 %last\n}\n";

    fn part(ir: &str) -> Arc<LazyPart> {
        let mode = Mode { effort: Effort::Full, registered: false, repeats: false, whole: false };
        let identity = Key::new(&[ir.as_bytes()]);
        let store = |effort| Arc::new(ObjectStore::new(&identity, Mode { effort, ..mode }));
        Arc::new(LazyPart {
            part: Part { number: 0, hot: true, repeats: false, wide: false },
            texts: Arc::new(Texts::new(identity, vec![ir.to_owned()])),
            mode,
            stores: [store(Effort::Full), store(Effort::Least)],
            tiered: true,
            quick: OnceCell::new(),
            code: OnceCell::new(),
        })
    }

    #[test]
    fn a_part_that_cannot_be_optimised_keeps_its_quick_code() {
        let _one_at_a_time = background_idle();
        let broken = part("no IR");
        broken.quick.set(Some(load(&object_cache::object(RETURNS, broken.mode).unwrap()).unwrap())).unwrap();
        let before = broken.address().unwrap();
        background(&[&broken]);
        wait_idle();
        assert!(broken.code.get().is_none());
        assert_eq!(broken.address(), Ok(before));
    }

    #[test]
    fn a_dropped_part_is_not_compiled() {
        let _one_at_a_time = background_idle();
        // Another run may have left optimised code on disk.
        let gone = part(&format!("{RETURNS}; {}\n", std::process::id()));
        assert!(gone.address().is_ok());
        let weak = Arc::downgrade(&gone);
        drop(gone);
        wait_idle();
        assert!(weak.upgrade().is_none());
    }
}
