//! Kernels as machine code in this process: what is compiled when, and how it is called.
//!
//! Code lives as long as its [`Compiled`], so that a process which loads new texts for ever does not grow.
//!
//! # Safety
//!
//! An address is valid as long as the [`Code`] that it came with: a [`Compiled`] owns the code of every address that it
//! gives, and a launch holds it.

use super::abi::{BlocksFn, RangeFn, RegionFn};
use super::background::{Queue, Task};
use super::kept::{self, ObjectStore};
use super::linked::{Code, load};
use super::object::Mode;
use super::texts::Texts;
use super::{Effort, KernelCode, Part, Shape, warm};
use crate::environment::{ENVIRONMENT, Tier};
use crate::exec::pool::POOL;
use crate::ir::sync::Plan;
use crate::parallel::in_parallel;
use once_cell::sync::{Lazy, OnceCell};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A kernel as machine code.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) entry: Entry,
    pub(crate) shape: Shape,
    /// Keeps the code of `entry`, where that is a function.
    _first: Option<Arc<Code>>,
    regions: Vec<Arc<Later>>,
    /// Each region's loop in step, and that without guesses.
    strips: Vec<[Option<Arc<Later>>; 2]>,
    plan: Arc<Plan>,
}

/// Code that is compiled when it is needed first.
#[derive(Debug)]
struct Later {
    part: Part,
    texts: Arc<Texts>,
    mode: Mode,
    /// The object files on disk: optimised ones, and quick ones.
    stores: [Arc<ObjectStore>; 2],
    /// True if it is translated quickly at first, and well in the background.
    tiered: bool,
    /// The first code of a tiered part: quick code, or `None` where optimised code was on disk.
    quick: OnceCell<Option<Code>>,
    code: OnceCell<Code>,
}

/// The work that a request for an address took.
#[derive(Clone, Copy, PartialEq, Eq)]
enum News {
    None,
    /// It translated with optimisation.
    Good,
    /// It found or made code without optimisation.
    Quick,
}

impl Later {
    /// Returns true if there is code that runs.
    fn is_ready(&self) -> bool {
        self.code.get().is_some() || self.quick.get().is_some()
    }

    /// The best code that there is; if there is none, it is compiled by the first caller while others wait.
    fn address(self: &Arc<Self>) -> Result<usize, String> {
        let (address, news) = self.now()?;
        match news {
            News::None => {}
            News::Good => self.keep(),
            News::Quick => {
                self.keep();
                background(&[self]);
            }
        }
        Ok(address)
    }

    /// The same, and what this call had to do for it.
    fn now(&self) -> Result<(usize, News), String> {
        if let Some(code) = self.code.get() {
            return Ok((code.address, News::None));
        }
        let mut news = News::None;
        if self.tiered {
            let quick = self.quick.get_or_try_init(|| {
                let quick = self.begin()?;
                news = if quick.is_some() { News::Quick } else { News::None };
                Ok::<_, String>(quick)
            })?;
            if let Some(code) = quick {
                return Ok((code.address, news));
            }
        }
        let code = self.code.get_or_try_init(|| {
            if let Some(code) = self.find(&self.stores[0]) {
                return Ok(code);
            }
            news = News::Good;
            self.make(&self.stores[0], self.mode)
        })?;
        Ok((code.address, news))
    }

    /// The quick code of a tiered part; `None` where optimised code is on disk, which is then set.
    fn begin(&self) -> Result<Option<Code>, String> {
        if let Some(code) = self.find(&self.stores[0]) {
            // Nobody else sets it: the background comes behind quick code, of which there is none.
            let _ = self.code.set(code);
            return Ok(None);
        }
        let (store, mode) = (&self.stores[1], Mode { effort: Effort::Least, ..self.mode });
        self.find(store).map_or_else(|| self.make(store, mode), Ok).map(Some)
    }

    /// Returns true if its code is on the disk.
    fn is_kept(&self) -> bool {
        let stores = if self.tiered { 2 } else { 1 };
        self.stores[..stores].iter().any(|store| store.find(self.part.number).is_some())
    }

    /// The code of an object file on disk. One that cannot be placed in memory is a miss.
    fn find(&self, store: &ObjectStore) -> Option<Code> {
        let code = store.find(self.part.number).map(load)?;
        code.inspect_err(|why| tracing::debug!("machine code on the disk is not used: {why}")).ok()
    }

    fn make(&self, store: &ObjectStore, mode: Mode) -> Result<Code, String> {
        let ir = self.texts.get(self.part.number)?;
        deep(ir, || load(&store.make(self.part.number, ir, mode)?))
    }

    /// Writes the new object files of all parts to disk.
    fn keep(&self) {
        self.stores.iter().for_each(|store| store.keep());
    }
}

impl Task for Later {
    fn run(&self) {
        // The disk was asked before the quick code was made.
        if let Err(why) = self.code.get_or_try_init(|| self.make(&self.stores[0], self.mode)) {
            tracing::error!("a kernel stays as it was translated quickly: {why}");
        }
        self.stores[0].expect_no_more();
        end_with_process();
    }
}

/// The optimised translations that wait or run.
static BACKGROUND: Lazy<Arc<Queue<Later>>> = Lazy::new(Arc::default);

/// Parts whose optimised translation waits until a launch loads LLVM ([`improve`]).
static DEFERRED: Mutex<Vec<Weak<Later>>> = Mutex::new(Vec::new());
/// True if there are such parts: every launch reads this.
static IS_DEFERRED: AtomicBool = AtomicBool::new(false);

/// The delay of the background after quick code was made: a short launch ends before it has to share the processor.
const GRACE: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 20 });

/// Queues the optimised translation of parts that run quick code. Where that came from the disk, and this process has no LLVM yet, it is
/// deferred until a kernel is launched again ([`improve`]).
fn background(parts: &[&Arc<Later>]) {
    if parts.is_empty() {
        return;
    }
    if !cuda_llvm::is_initialized() {
        DEFERRED.lock().extend(parts.iter().map(|part| Arc::downgrade(part)));
        IS_DEFERRED.store(true, Ordering::Relaxed);
        return;
    }
    parts.iter().for_each(|part| part.stores[0].expect());
    // The process's end runs first what was registered last. So the launching thread has LLVM create its static tables, and
    // registers the handler that waits for the background then; each task registers it again, for the tables that it adds.
    static WARM: AtomicBool = AtomicBool::new(false);
    if !WARM.swap(true, Ordering::Relaxed) {
        warm::run();
        end_with_process();
    }
    BACKGROUND.push(parts.iter().map(|part| Arc::downgrade(part)), POOL.workers(), GRACE);
}

/// Queues the deferred translations, and loads LLVM for them: on a thread that is in a call of the driver, since a process does not
/// end during its calls.
pub(crate) fn improve() {
    if !IS_DEFERRED.load(Ordering::Relaxed) || !IS_DEFERRED.swap(false, Ordering::Relaxed) {
        return;
    }
    let deferred = std::mem::take(&mut *DEFERRED.lock());
    let parts: Vec<_> = deferred.iter().filter_map(Weak::upgrade).collect();
    if !parts.is_empty() && cuda_llvm::initialize().is_ok() {
        background(&parts.iter().collect::<Vec<_>>());
    }
}

/// Registers a handler that waits for the background at the end of the process, before the destructors that are registered so far run.
fn end_with_process() {
    /// The process that registered it: forked children have no background threads.
    static PROCESS: AtomicU32 = AtomicU32::new(0);
    /// Registrations that are left: later tasks use no table of LLVM for the first time.
    static LEFT: AtomicUsize = AtomicUsize::new(64);
    extern "C" fn end() {
        if PROCESS.load(Ordering::Relaxed) == std::process::id() {
            BACKGROUND.close();
        }
    }
    if LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err() {
        return;
    }
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    // SAFETY: the function is the library's and runs no code of others; a library that is unloaded runs it then.
    if unsafe { libc::atexit(end) } != 0 {
        tracing::warn!("atexit failed: a process may not end while kernels are translated in the background");
    }
}

/// Bytes of the texts that any thread has the stack to compile.
const SHALLOW: usize = 128 << 10;

/// Stack for the others; what is not used takes no memory.
const DEEP: usize = 1 << 30;

/// Compiles on a thread with a stack for the text: LLVM calls itself along chains of instructions that need each other.
fn deep<T: Send>(ir: &str, compile: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    if ir.len() <= SHALLOW {
        return compile();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(DEEP).spawn_scoped(scope, compile);
        let thread = thread.map_err(|error| format!("no thread to compile a large kernel on: {error}"))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The address that the entry of a loop in step tells.
fn told(entry: usize) -> usize {
    // SAFETY: the symbol is what the code generator defines for such a module: it tells where the address stands.
    let table = unsafe { std::mem::transmute::<usize, extern "C" fn() -> *const usize>(entry) }();
    // SAFETY: the word is part of the code, which callers hold.
    unsafe { table.read() }
}

/// How a kernel is begun.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// A loop over blocks ([`Compiled::blocks`]).
    Blocks,
    /// Regions that a scheduler runs.
    Regions,
    /// A function of one thread that runs as a fiber; schedules are random with a seed.
    Fiber { function: usize, seed: Option<u64> },
}

impl Compiled {
    /// Compiles what a kernel begins with, for blocks whose rows are `whole` vectors or for any; the rest follows when a
    /// thread needs it.
    ///
    /// # Errors
    ///
    /// LLVM's message, with the text that it refused; that is a defect of the code generator.
    pub(crate) fn new(code: &KernelCode, registered: bool, whole: bool) -> Result<Compiled, String> {
        let tier = tier(code);
        let effort = if tier == Tier::Quick { Effort::Least } else { code.effort };
        let mode = Mode { effort, registered, repeats: false, whole };
        let identity = code.texts.identity();
        let quick = Mode { effort: Effort::Least, ..mode };
        let stores = [mode, quick].map(|mode| Arc::new(ObjectStore::new(identity, mode)));
        let later = |part: &Part| {
            Arc::new(Later {
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
            entry: if code.scheduled { Entry::Regions } else { Entry::Blocks },
            shape: code.shape,
            _first: None,
            regions: code.regions.iter().map(later).collect(),
            strips: code.strips.iter().map(|both| both.each_ref().map(|part| part.as_ref().map(later))).collect(),
            plan: Arc::clone(&code.plan),
        };
        this.regions[0].address()?;
        Ok(this)
    }

    /// The loop over blocks of a kernel that has one.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn blocks(&self) -> Result<BlocksFn, String> {
        let address = self.regions[0].address()?;
        // SAFETY: the symbol is region 0 of a kernel that is not scheduled, which the code generator defines with exactly
        // this signature.
        Ok(unsafe { std::mem::transmute::<usize, BlocksFn>(address) })
    }

    /// The address of something's code. A thread that goes on to a hot part will come to the others: they are compiled
    /// with it, on as many threads as the pool has.
    fn address(&self, later: &Arc<Later>) -> Result<usize, String> {
        if later.part.hot && !later.is_ready() && !later.is_kept() {
            let strips = self.strips.iter().flatten().flatten();
            let open = self.regions.iter().chain(strips).filter(|other| other.part.hot && !other.is_ready());
            together(&open.collect::<Vec<_>>());
        }
        later.address()
    }

    /// Compiles the fiber of a kernel's thread.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn fiber(ir: &str, plan: Plan, code: &KernelCode, registered: bool) -> Result<Compiled, String> {
        let mode = Mode { effort: code.effort, registered, repeats: false, whole: false };
        let first = Arc::new(load(&kept::object(ir, mode)?)?);
        let entry = Entry::Fiber { function: first.address, seed: None };
        let (shape, plan) = (code.shape, Arc::new(plan));
        Ok(Compiled { entry, shape, _first: Some(first), regions: Vec::new(), strips: Vec::new(), plan })
    }

    /// The same code with another seed for its schedules.
    #[cfg(test)]
    pub(crate) fn seeded(&self, seed: Option<u64>) -> Compiled {
        let Entry::Fiber { function, .. } = self.entry else { panic!("only fibers have schedules") };
        let entry = Entry::Fiber { function, seed };
        let (first, plan) = (self._first.clone(), Arc::clone(&self.plan));
        Compiled { entry, shape: self.shape, _first: first, regions: Vec::new(), strips: Vec::new(), plan }
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The code of a region that is scheduled, compiled by the first caller while others wait.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn range(&self, region: usize) -> Result<RangeFn, String> {
        let address = self.address(&self.regions[region])?;
        // SAFETY: the address is that of a scheduled region, which the code generator defines with this signature.
        Ok(unsafe { std::mem::transmute::<usize, RangeFn>(address) })
    }

    /// The code that runs a strip of threads through the loop that a region begins with, if they may do it in step;
    /// `careful` is the one without guesses, where that is another.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn strip(&self, region: usize, careful: bool) -> Result<Option<RangeFn>, String> {
        let Some(later) = &self.strips[region][usize::from(careful)] else { return Ok(None) };
        let address = told(self.address(later)?);
        // SAFETY: the address is that of a strip, which the code generator defines with this signature.
        Ok(Some(unsafe { std::mem::transmute::<usize, RangeFn>(address) }))
    }

    /// The code of region 1 and up where they are not scheduled, compiled by the first caller while others wait.
    ///
    /// # Errors
    ///
    /// As [`Compiled::new`].
    pub(crate) fn region(&self, region: usize) -> Result<RegionFn, String> {
        let address = self.regions[region].address()?;
        // SAFETY: the symbol is a cold region, which the code generator defines with exactly this signature.
        Ok(unsafe { std::mem::transmute::<usize, RegionFn>(address) })
    }

    /// The numbers of parts that have quick code and good code.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn tiers(&self) -> [usize; 2] {
        let parts = || self.regions.iter().chain(self.strips.iter().flatten().flatten());
        let quick = |part: &&Arc<Later>| matches!(part.quick.get(), Some(Some(_)));
        [parts().filter(quick).count(), parts().filter(|part| part.code.get().is_some()).count()]
    }

    /// Compiles every region now.
    #[cfg(fuzzing)]
    pub(crate) fn complete(&self) -> Result<(), String> {
        self.regions.iter().chain(self.strips.iter().flatten().flatten()).try_for_each(|part| {
            part.now()?;
            part.code.get_or_try_init(|| part.make(&part.stores[0], part.mode)).map(drop)
        })
    }
}

/// The least instructions of a kernel whose first launch runs quick code: below, the optimised translation takes less than 0.1 s, and
/// loops that are not vectorised are up to 36 times slower.
const TIERED: usize = 500;

/// The code that a kernel is translated to.
///
/// Quick code has larger frames than the checks of the stack know of ([`super::kernel::frame`]), so a kernel with calls has none.
fn tier(code: &KernelCode) -> Tier {
    if code.effort == Effort::Least || code.shape.calls || ENVIRONMENT.print_llvm {
        return Tier::Good;
    }
    match ENVIRONMENT.tier {
        Tier::Both if code.instructions < TIERED => Tier::Good,
        tier => tier,
    }
}

/// Compiles parts of a kernel on several threads. What fails says so when it is asked for its address.
fn together(parts: &[&Arc<Later>]) {
    let news = in_parallel(parts, parts.len(), |part| part.now().map_or(News::None, |(_, news)| news));
    // Not earlier, as the launch waits for the rest.
    let quick = parts.iter().zip(news).filter(|(_, news)| *news == News::Quick);
    background(&quick.map(|(part, _)| *part).collect::<Vec<_>>());
    if let Some(part) = parts.first() {
        part.keep();
    }
}

/// Waits until nothing is translated in the background.
#[cfg(all(test, not(loom)))]
pub(crate) fn settle() {
    BACKGROUND.settle();
}

/// The same, and lets no other test that calls this go on meanwhile.
#[cfg(all(test, not(loom)))]
pub(crate) fn settled() -> parking_lot::MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock();
    settle();
    guard
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use cuda_jit_cache::Key;

    const RETURNS: &str = "define i64 @kernel(ptr %ctx, i64 %first, i64 %last) {\n  ret i64 %last\n}\n";

    fn later(ir: &str) -> Arc<Later> {
        let mode = Mode { effort: Effort::Full, registered: false, repeats: false, whole: false };
        let identity = Key::new(&[ir.as_bytes()]);
        let store = |effort| Arc::new(ObjectStore::new(&identity, Mode { effort, ..mode }));
        Arc::new(Later {
            part: Part { number: 0, hot: true, repeats: false },
            texts: Arc::new(Texts::new(identity, vec![ir.to_owned()])),
            mode,
            stores: [store(Effort::Full), store(Effort::Least)],
            tiered: true,
            quick: OnceCell::new(),
            code: OnceCell::new(),
        })
    }

    #[test]
    fn what_cannot_be_translated_well_stays_as_it_is() {
        let _one_at_a_time = settled();
        let broken = later("no IR");
        broken.quick.set(Some(load(&kept::object(RETURNS, broken.mode).unwrap()).unwrap())).unwrap();
        let before = broken.address().unwrap();
        background(&[&broken]);
        settle();
        assert!(broken.code.get().is_none());
        assert_eq!(broken.address(), Ok(before));
    }

    #[test]
    fn what_goes_before_its_turn_is_not_translated() {
        let _one_at_a_time = settled();
        // The disk may have good code of another run.
        let gone = later(&format!("{RETURNS}; {}\n", std::process::id()));
        assert!(gone.address().is_ok());
        let weak = Arc::downgrade(&gone);
        drop(gone);
        settle();
        assert!(weak.upgrade().is_none());
    }
}
