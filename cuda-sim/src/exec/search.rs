//! Finds the thread and the source position of an illegal access: the block runs again as fibers of exact code.
//!
//! Compiled code is fast because it does not track which thread it runs when an access faults. Exact code asks about
//! each access before it is made; its writes go to copies of the pages, so a search changes no memory. It starts from
//! the memory that the launch left behind and runs no other block, so it may meet no fault, or not end: then nothing is
//! found, and the report says so. The checkers (`check/`) have code and a question of their own.
//!
//! # Safety
//!
//! The context of the running block, which compiled code passes, outlives the call. Pages are copied after they were
//! found to be accessible, while no launch of the context runs any more.

use super::block::Outcome;
use super::cluster::WorkerSlot;
use super::fault;
use super::launch::{Fault, Launch, Progress, Scratch, shared_guard};
use crate::codegen::abi::{Access, ClusterPosition, Context, NO_RANK, WINDOW};
use crate::codegen::jit::Compiled;
use crate::memory::MEMORY;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time limit of a search.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// An illegal access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) thread: u64,
    pub(crate) address: u64,
    pub(crate) bytes: u64,
    pub(crate) access: Access,
    /// Line and column in the PTX.
    pub(crate) position: u64,
    /// The number of its block.
    pub(crate) block: u64,
    /// The start of the cluster's first shared window, or of the block's without clusters, and the bytes of a window.
    pub(crate) shared: (u64, u64),
    pub(crate) cluster: ClusterPosition,
    /// True if its instruction is known to be one for global memory.
    pub(crate) is_global: bool,
}

impl Found {
    /// Returns the rank of a block of the cluster and an offset in its shared memory, if the address can be in it.
    pub(crate) fn distributed(&self) -> Option<(u64, u64)> {
        distributed(self.address, self.shared.0, self.cluster)
    }
}

/// As [`Found::distributed`].
fn distributed(address: u64, window: u64, cluster: ClusterPosition) -> Option<(u64, u64)> {
    let offset = address.wrapping_sub(window);
    let rank = offset >> WINDOW;
    (cluster.ranks > 0 && rank <= u64::from(NO_RANK)).then_some((rank, offset & ((1 << WINDOW) - 1)))
}

/// Returns true if an access is to accessible shared memory, of the block or of another one of its cluster.
pub(crate) fn is_shared(own: &Context, address: u64, bytes: u64) -> bool {
    let total = u64::from(own.total_shared_bytes);
    match distributed(address, own.shared, own.cluster) {
        Some((rank, offset)) => rank < 32 && own.cluster.open & 1 << rank != 0 && offset + bytes <= total,
        None => address.wrapping_sub(own.shared) < total,
    }
}

/// The granularity at which memory is copied.
const PAGE: u64 = 4096;

#[repr(align(4096))]
struct Page([u8; PAGE as usize]);

struct Search {
    pages: HashMap<u64, Box<Page>>,
    /// The accessible memory that was used last.
    known: Range<u64>,
    end: Instant,
    found: Option<Found>,
}

thread_local! {
    /// Taken out while it is used: a fault in between ends the search.
    static SEARCH: Cell<Option<Box<Search>>> = const { Cell::new(None) };
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if this thread searches. It repeats what has happened, so it must have no visible effects.
pub(crate) fn active() -> bool {
    ACTIVE.get()
}

impl Search {
    /// Returns the accessible memory around an access.
    fn accessible(&mut self, address: u64, bytes: u64) -> Option<Range<u64>> {
        let fits = |accessible: &Range<u64>| accessible.contains(&address) && accessible.end - address >= bytes;
        if !fits(&self.known) {
            self.known = MEMORY.accessible(address).filter(fits)?;
        }
        Some(self.known.clone())
    }

    /// Returns the address at which an access is made instead: in the page's copy, if it has one.
    fn redirect(&mut self, address: u64, writes: bool, accessible: &Range<u64>) -> u64 {
        let start = address & !(PAGE - 1);
        if !writes && !self.pages.contains_key(&start) {
            return address;
        }
        let page = self.pages.entry(start).or_insert_with(|| {
            let mut page = Box::new(Page([0; PAGE as usize]));
            let from = start.max(accessible.start);
            let count = (start + PAGE).min(accessible.end) - from;
            let to = page.0[(from - start) as usize..].as_mut_ptr();
            // SAFETY: the source is the part of the page that is in accessible memory; the copy has accessible for the whole
            // page.
            unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to, count as usize) };
            page
        });
        page.0.as_ptr() as u64 + (address - start)
    }
}

/// Called by exact code before each access: returns the address to use. It does not return from an illegal access.
pub(crate) extern "C" fn access(
    context: *const Context,
    thread: u64,
    address: u64,
    bytes: u64,
    access: u32,
    position: u64,
) -> u64 {
    let outside = MEMORY.guards().outside;
    let instead = SEARCH.take().map_or(outside, |mut search| {
        let access = Access::new(access);
        // SAFETY: compiled code passes the live context of its block, which nothing else accesses during the call.
        let own = unsafe { &*context };
        let shared = (own.shared, u64::from(own.total_shared_bytes));
        let own_or_near = is_shared(own, address, bytes);
        let beside = !own_or_near && distributed(address, own.shared, own.cluster).is_some();
        let local = own.local_stride * own.threads;
        let possible =
            !beside && address.is_multiple_of(bytes) && (!MEMORY.owns(address) || MEMORY.reaches(own.slots, address));
        let instead = match search.accessible(address, bytes).filter(|_| possible) {
            Some(_) if (address.wrapping_sub(own.local)) < local || own_or_near => address,
            Some(accessible) => search.redirect(address, access != Access::Load, &accessible),
            None => {
                let (block, cluster) = (own.running, own.cluster);
                search.found =
                    Some(Found { thread, address, bytes, access, position, block, shared, cluster, is_global: false });
                outside
            }
        };
        SEARCH.set(Some(search));
        instead
    });
    if instead == outside {
        fault::raise(outside);
    }
    instead
}

/// Called by exact code at the start of every basic block: ends a search that takes too long.
pub(crate) extern "C" fn tick() {
    let search = SEARCH.take();
    let over = search.as_ref().is_none_or(|search| Instant::now() > search.end);
    SEARCH.set(search);
    if over {
        fault::raise(MEMORY.guards().outside);
    }
}

impl Launch {
    /// Runs a block again, with the others of its cluster, by exact code, and returns the illegal access.
    pub(crate) fn search(&self, exact: Compiled, number: u64) -> Option<Found> {
        let launch = Launch { code: Arc::new(exact), ..self.clone() };
        let search = Search { pages: HashMap::new(), known: 0..0, end: Instant::now() + TIME_LIMIT, found: None };
        SEARCH.set(Some(Box::new(search)));
        ACTIVE.set(true);
        let _ended = launch.again(number);
        ACTIVE.set(false);
        let found = SEARCH.take().and_then(|search| search.found);
        found.map(|found| Found { shared: (found.shared.0, self.exact_shared_bytes()), ..found })
    }

    fn again(&self, number: u64) -> Result<(), Fault> {
        let progress = Progress::of(self)?;
        let slot = WorkerSlot { worker: 0, progress: &progress };
        let memory = || Scratch::new(shared_guard());
        let mut cluster = self.begin(self.cluster_of(number), &slot, false, memory)?;
        let end = Instant::now() + TIME_LIMIT;
        // If all threads poll, they wait for another block, which does not run.
        let ended = loop {
            match cluster.run() {
                Ok(Outcome::Polling) if Instant::now() < end => {}
                ended => break ended.map(|_| ()),
            }
        };
        drop(cluster);
        progress.free();
        ended
    }
}
