//! Memory that graphs allocate. Its address is fixed when the node is created. It can be used between the nodes that
//! allocate and free it, or outside of the graph until the client frees it.
//!
//! Its pages are inaccessible while it is not allocated, so an access too early or too late faults. The pages stay with
//! the graph, so there is no cache that could be trimmed.
//!
//! Invariant: memory is `live` from a launch that allocates and does not free it until the call or launch that does.
//! These states follow the order of calls, not of execution.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use super::{INVALID, Status, api, get, put};
use crate::driver::memory::failure;
use crate::driver::state::{Context, device};
use crate::memory::{AllocationKind, MEMORY, Owner};
use cuda_sys::{CUdevice, CUgraphMem_attribute, CUmemPoolProps, CUresult};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

/// An allocation of a graph.
pub(in crate::driver) struct GraphMemory {
    number: u64,
    pub(in crate::driver) base: u64,
    pub(in crate::driver) bytes: u64,
    mapped: u64,
    pub(super) device: usize,
    accessible: AtomicBool,
}

/// The state of an allocation for clients.
struct State {
    memory: Weak<GraphMemory>,
    /// True if a node frees it; no other node may.
    freed: bool,
    /// Set until the client frees it, even after the graph is destroyed.
    live: Option<Arc<GraphMemory>>,
}

/// The current and the highest number of bytes.
#[derive(Clone, Copy, Default)]
struct Level {
    now: u64,
    most: u64,
}

#[derive(Default)]
struct Memories {
    by_address: HashMap<u64, State>,
    /// Used and reserved bytes, by device.
    used: HashMap<usize, Level>,
    reserved: HashMap<usize, Level>,
    last: u64,
}

static MEMORIES: Lazy<Mutex<Memories>> = Lazy::new(Mutex::default);

impl Level {
    fn add(&mut self, bytes: u64) {
        self.now += bytes;
        self.most = self.most.max(self.now);
    }
}

impl GraphMemory {
    /// Reserves memory on a device for a context.
    pub(in crate::driver) fn new(context: &Context, device: usize, bytes: usize) -> Result<Arc<GraphMemory>, CUresult> {
        if bytes == 0 {
            return Err(INVALID);
        }
        let mut memories = MEMORIES.lock();
        memories.last += 1;
        let number = memories.last;
        let owner = Owner { context: context.id, device };
        let base = MEMORY.alloc_for(owner, bytes as u64, AllocationKind::Graph(number), 0).map_err(failure)?;
        let mapped = MEMORY.find(base).map_or(bytes as u64, |a| a.mapped);
        let accessible = AtomicBool::new(false);
        MEMORY.set_accessible(base, AllocationKind::Graph(number), false).map_err(failure)?;
        let new = Arc::new(GraphMemory { number, base, bytes: bytes as u64, mapped, device, accessible });
        memories.reserved.entry(device).or_default().add(mapped);
        let state = State { memory: Arc::downgrade(&new), freed: false, live: None };
        memories.by_address.insert(base, state);
        Ok(new)
    }

    /// Makes it accessible or inaccessible, in the order of a stream.
    pub(in crate::driver) fn set_accessible(&self, accessible: bool) -> Result<(), CUresult> {
        if self.accessible.swap(accessible, Ordering::AcqRel) == accessible {
            return Ok(());
        }
        let mut memories = MEMORIES.lock();
        let used = memories.used.entry(self.device).or_default();
        match accessible {
            true => used.add(self.mapped),
            false => used.now -= self.mapped,
        }
        drop(memories);
        MEMORY.set_accessible(self.base, AllocationKind::Graph(self.number), accessible).map_err(failure)
    }

    fn is_live(&self) -> bool {
        MEMORIES.lock().by_address.get(&self.base).is_some_and(|state| state.live.is_some())
    }
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        let mut memories = MEMORIES.lock();
        memories.by_address.remove(&self.base);
        if self.accessible.load(Ordering::Acquire) {
            memories.used.entry(self.device).or_default().now -= self.mapped;
        }
        memories.reserved.entry(self.device).or_default().now -= self.mapped;
        drop(memories);
        // The end of its context may have freed it already.
        let _ = MEMORY.free(self.base, |kind| kind == AllocationKind::Graph(self.number));
    }
}

/// Returns the allocation that a new node frees. No other node may free it.
pub(in crate::driver) fn freed_by_node(address: u64) -> Result<Arc<GraphMemory>, CUresult> {
    let mut memories = MEMORIES.lock();
    let state = memories.by_address.get_mut(&address).filter(|state| !state.freed).ok_or(INVALID)?;
    state.freed = true;
    state.memory.upgrade().ok_or(INVALID)
}

/// Returns the live allocation that the client frees.
pub(in crate::driver) fn freed_by_client(address: u64) -> Result<Arc<GraphMemory>, CUresult> {
    MEMORIES.lock().by_address.get_mut(&address).and_then(|state| state.live.take()).ok_or(INVALID)
}

/// Checks and records what a launch allocates and frees. With `auto_free`, memory that is still allocated counts as freed.
pub(super) fn launched(allocates: &[Arc<GraphMemory>], frees: &[Arc<GraphMemory>], auto_free: bool) -> Status {
    let lives_in = |m: &Arc<GraphMemory>, list: &[Arc<GraphMemory>]| list.iter().any(|other| Arc::ptr_eq(m, other));
    if !auto_free && allocates.iter().any(|m| m.is_live()) {
        return Err(INVALID);
    }
    if frees.iter().any(|m| !lives_in(m, allocates) && !m.is_live()) {
        return Err(INVALID);
    }
    let mut dropped = Vec::new();
    let mut memories = MEMORIES.lock();
    for memory in allocates.iter().chain(frees) {
        let stays = lives_in(memory, allocates) && !lives_in(memory, frees);
        if let Some(state) = memories.by_address.get_mut(&memory.base) {
            dropped.push(std::mem::replace(&mut state.live, stays.then(|| Arc::clone(memory))));
        }
    }
    // Dropping the last reference to an allocation takes the lock.
    drop(memories);
    drop(dropped);
    Ok(())
}

/// Returns the device of an allocation node's pool properties.
pub(super) fn device_of(props: &CUmemPoolProps) -> Result<usize, CUresult> {
    use cuda_sys::{CUmemAllocationHandleType, CUmemAllocationType, CUmemLocationType};
    if props.allocType != CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED
        || props.location.type_ != CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE
    {
        return Err(INVALID);
    }
    if props.handleTypes != CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    device(props.location.id).map_err(|_| INVALID)
}

api! {
    fn cuDeviceGraphMemTrim(dev: CUdevice) { device(dev).map(|_| ()) }
    fn cuDeviceGetGraphMemAttribute(dev: CUdevice, which: CUgraphMem_attribute, value: *mut c_void) {
        let device = device(dev)?;
        let memories = MEMORIES.lock();
        let level = |levels: &HashMap<usize, Level>| levels.get(&device).copied().unwrap_or_default();
        put(value.cast::<u64>(), match which {
            CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT => level(&memories.used).now,
            CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH => level(&memories.used).most,
            CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT => level(&memories.reserved).now,
            CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH => level(&memories.reserved).most,
            _ => return Err(INVALID),
        })
    }
    fn cuDeviceSetGraphMemAttribute(dev: CUdevice, which: CUgraphMem_attribute, value: *mut c_void) {
        let device = device(dev)?;
        // The high-water marks can be reset, to the current values.
        if get(value.cast::<u64>())? != 0 {
            return Err(INVALID);
        }
        let mut memories = MEMORIES.lock();
        let levels = match which {
            CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH => &mut memories.used,
            CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH => &mut memories.reserved,
            _ => return Err(INVALID),
        };
        let level = levels.entry(device).or_default();
        level.most = level.now;
        Ok(())
    }
}
