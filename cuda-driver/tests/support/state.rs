//! The state of the tracing driver: calls, planned faults, and all live objects.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::thread::ThreadId;

use cuda_sys::CUresult;

use super::Traits;
use super::clocks::{Access, Actor, Clock, Clocks};

/// A recorded call, with its object if that is a stream, an event or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) stream: Option<usize>,
    pub(crate) object: u64,
    pub(crate) bytes: usize,
}

/// The number of live objects of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Live {
    pub(crate) device: usize,
    pub(crate) host: usize,
    pub(crate) streams: usize,
    pub(crate) events: usize,
    pub(crate) modules: usize,
    pub(crate) contexts: usize,
    pub(crate) graphs: usize,
    pub(crate) execs: usize,
    pub(crate) links: usize,
    pub(crate) pools: usize,
    /// Memory of other processes.
    pub(crate) opened: usize,
}

/// An allocation of device memory.
pub(super) struct Allocation {
    pub(super) _words: Box<[u64]>,
    pub(super) bytes: usize,
    pub(super) accesses: Vec<Access>,
}

pub(super) struct State {
    pub(super) traits: Traits,
    pub(super) calls: Vec<Call>,
    /// The call's name, the number of calls until the fault, and the code.
    pub(super) faults: Vec<(&'static str, usize, CUresult)>,
    pub(super) device: BTreeMap<u64, Allocation>,
    /// Page-locked memory by its address; registered memory has no words of its own.
    pub(super) host: BTreeMap<u64, Allocation>,
    pub(super) streams: HashSet<usize>,
    /// The clock that each live event has recorded.
    pub(super) events: HashMap<usize, Option<Clock>>,
    pub(super) modules: HashSet<usize>,
    /// Functions by handle: one letter for each pointer.
    pub(super) functions: HashMap<usize, String>,
    pub(super) contexts: usize,
    /// The context of each thread, by its raw handle.
    pub(super) current: HashMap<ThreadId, usize>,
    /// Live graphs and their nodes.
    pub(super) graphs: HashMap<usize, Vec<usize>>,
    /// Addresses of removed nodes, which are reused.
    pub(super) free_nodes: Vec<usize>,
    /// Contexts that a sticky error has lost.
    pub(super) lost: HashSet<usize>,
    pub(super) execs: HashSet<usize>,
    pub(super) links: HashSet<usize>,
    pub(super) pools: HashSet<usize>,
    /// The opened memory of other processes.
    pub(super) opened: Vec<u64>,
    /// Streams that are captured.
    pub(super) capturing: HashSet<usize>,
    pub(super) clocks: Clocks,
    pub(super) violations: Vec<String>,
    /// True if the host cannot wait for a context.
    pub(super) never_waits: bool,
    next_handle: usize,
}

/// Returns true for a sticky code.
fn loses_context(code: CUresult) -> bool {
    let codes = [
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        CUresult::CUDA_ERROR_LAUNCH_FAILED,
        CUresult::CUDA_ERROR_ASSERT,
        CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
    ];
    codes.contains(&code)
}

/// Returns true if a call concerns the driver, a device, or the thread's context.
fn is_of_no_context(name: &str) -> bool {
    let others = ["cuInit", "cuDriverGetVersion", "cuCtxSetCurrent", "cuCtxGetCurrent", "cuCtxGetDevice"];
    name.starts_with("cuDevice") || others.contains(&name)
}

/// Bytes of the traced device.
pub(super) const TOTAL: usize = 1 << 30;

impl State {
    pub(super) fn new(traits: Traits) -> Self {
        State {
            traits,
            calls: Vec::new(),
            faults: Vec::new(),
            device: BTreeMap::new(),
            host: BTreeMap::new(),
            streams: HashSet::new(),
            events: HashMap::new(),
            modules: HashSet::new(),
            functions: HashMap::new(),
            contexts: 0,
            current: HashMap::new(),
            graphs: HashMap::new(),
            free_nodes: Vec::new(),
            lost: HashSet::new(),
            execs: HashSet::new(),
            links: HashSet::new(),
            pools: HashSet::new(),
            opened: Vec::new(),
            capturing: HashSet::new(),
            clocks: Clocks::default(),
            violations: Vec::new(),
            never_waits: false,
            next_handle: 0x1000,
        }
    }

    pub(super) fn live(&self) -> Live {
        Live {
            device: self.device.len(),
            host: self.host.len(),
            streams: self.streams.len(),
            events: self.events.len(),
            modules: self.modules.len(),
            contexts: self.contexts,
            graphs: self.graphs.len(),
            execs: self.execs.len(),
            links: self.links.len(),
            pools: self.pools.len(),
            opened: self.opened.len(),
        }
    }

    /// Records a call. Returns the code with which it must fail, if it must. A call on a lost context is a violation,
    /// except the one that waits there.
    pub(super) fn enter(&mut self, call: Call) -> Option<CUresult> {
        // Every call queries the thread's current context, so it is not recorded.
        if call.name != "cuCtxGetCurrent" {
            self.calls.push(call);
        }
        let current = self.current.get(&std::thread::current().id()).copied();
        let lost = current.is_some_and(|context| self.lost.contains(&context)) && !is_of_no_context(call.name);
        if self.never_waits && call.name == "cuCtxSynchronize" {
            return Some(CUresult::CUDA_ERROR_NOT_PERMITTED);
        }
        if lost && call.name == "cuCtxSynchronize" {
            // The one call that waits in a lost context until its work has been stopped; it then returns the sticky
            // code.
            self.clocks.host_waits_for_all();
            return Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        }
        if lost {
            self.violations.push(format!("{}: the context is lost", call.name));
        }
        let mut due = None;
        for (name, remaining, code) in &mut self.faults {
            if *name == call.name && *remaining > 0 {
                *remaining -= 1;
                due = if *remaining == 0 { Some(*code) } else { due };
            }
        }
        self.faults.retain(|(_, remaining, _)| *remaining > 0);
        if due.is_some_and(loses_context) {
            self.lost.extend(current);
        }
        due
    }

    pub(super) fn handle(&mut self) -> usize {
        self.next_handle += 0x10;
        self.next_handle
    }

    pub(super) fn allocate(&mut self, bytes: usize) -> u64 {
        let mut words = vec![0xA5A5_A5A5_A5A5_A5A5_u64; bytes.div_ceil(8)].into_boxed_slice();
        let address = words.as_mut_ptr().expose_provenance() as u64;
        self.device.insert(address, Allocation { _words: words, bytes, accesses: Vec::new() });
        address
    }

    /// Bytes that are allocated.
    pub(super) fn used(&self) -> usize {
        self.device.values().map(|allocation| allocation.bytes).sum()
    }

    /// Records an access by `actor`; a violation if the memory is not live, too small, or still in use.
    pub(super) fn touch(&mut self, what: &str, address: u64, bytes: usize, actor: Actor, write: bool) {
        let fits = |(start, found): &(&u64, &mut Allocation)| address + bytes as u64 <= **start + found.bytes as u64;
        let device = self.device.range_mut(..=address).next_back().filter(fits);
        let found = device.or_else(|| self.host.range_mut(..=address).next_back().filter(fits));
        let Some((start, allocation)) = found else {
            self.violations.push(format!("{what}: {bytes} bytes at {address:#x} are not live"));
            return;
        };
        let range = address..address + bytes as u64;
        if let Some(earlier) = self.clocks.access(&mut allocation.accesses, range, actor, write) {
            let text = format!("{what} of {start:#x} by {actor:#x} is not ordered after {earlier:?}");
            self.violations.push(text);
        }
    }

    /// Records a write of the host to page-locked memory; other host memory is not tracked.
    pub(super) fn host_touches(&mut self, what: &str, address: u64, bytes: usize) {
        let last = self.host.range(..=address).next_back();
        if last.is_some_and(|(start, found)| address < start + found.bytes as u64) {
            self.touch(what, address, bytes, super::clocks::HOST, true);
        }
    }

    /// Records a write of a whole allocation by `actor`, such as freeing it.
    pub(super) fn touch_all(&mut self, what: &str, address: u64, actor: Actor) {
        let found = self.device.get(&address).or_else(|| self.host.get(&address));
        let bytes = found.map_or(1, |allocation| allocation.bytes);
        self.touch(what, address, bytes, actor, true);
    }

    /// A violation unless `stream` is live or one of the driver's own.
    pub(super) fn expect_stream(&mut self, what: &str, stream: usize) {
        if stream > 2 && !self.streams.contains(&stream) {
            self.violations.push(format!("{what}: stream {stream:#x} is not live"));
        }
    }
}
