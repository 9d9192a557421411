//! CUDA graphs: work with dependencies, made by hand or captured from streams, launched as one item of a stream.
//!
//! A node holds what a stream would have been given ([`Op`]), so a launch enqueues the same work, and there is no second
//! way to copy or to launch. [`nodes`] is the graph, [`exec`] what it becomes to be launched, [`capture`] how streams
//! fill one, [`conditional`] nodes that choose, [`memory`] the memory that graphs allocate, [`object`] what clients give them
//! to keep. [`params`] turns C's descriptions into work and back; the functions of the API are in `calls/`, thin over these.
//!
//! Graphs belong to no context; each node that does something names its own. External semaphores and launches from the
//! device do not exist here: they are refused as not supported.
//!
//! Invariant: all graphs are under one lock, [`GRAPHS`]; the handles of nodes ascend in the order in which they were
//! added, in all graphs together. Locks are taken in the order: captures, graphs, program of an executable graph, marks
//! of events, queues.

mod calls;
pub(super) mod capture;
pub(super) mod conditional;
mod dot;
mod exec;
pub(super) mod memory;
mod nodes;
pub(super) mod object;
mod params;

use super::event::Event;
use super::state::{Context, initialised};
use super::work::Op;
use super::{Status, api, get, put, text};
use conditional::Conditional;
use cuda_sys::{CUgraph, CUgraphExec, CUgraphNode, CUgraphNodeType, CUresult, DriverFns};
use exec::Exec;
use nodes::Graph;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// What a node does.
#[derive(Clone)]
pub(super) enum Work {
    /// What a stream would be given.
    Op(Arc<Context>, Op),
    /// Nothing, but its dependents come after its dependencies.
    Empty,
    /// All of the graph with that handle, which is the node's own.
    Child(usize),
    /// Records the event with that handle.
    Record(usize, Arc<Event>),
    /// Waits for the record that an event has at the launch.
    Wait(usize, Arc<Event>),
    /// Runs one of its graphs, or none, as a number says.
    Conditional(Arc<Conditional>),
}

impl Work {
    fn kind(&self) -> CUgraphNodeType {
        use CUgraphNodeType as T;
        match self {
            Work::Op(_, op) => match op {
                Op::Kernel { .. } => T::CU_GRAPH_NODE_TYPE_KERNEL,
                Op::Copy(_) | Op::Staged(..) => T::CU_GRAPH_NODE_TYPE_MEMCPY,
                Op::Fill(_) => T::CU_GRAPH_NODE_TYPE_MEMSET,
                Op::Host(..) | Op::Callback(..) => T::CU_GRAPH_NODE_TYPE_HOST,
                Op::Value(_) => T::CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                Op::Memory(_, true) => T::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
                Op::Memory(_, false) => T::CU_GRAPH_NODE_TYPE_MEM_FREE,
                // Of streams and launches alone.
                Op::Record(_) | Op::Waited(_) | Op::Await(..) | Op::Began(_) | Op::Ended(_) | Op::Branch(_) => {
                    T::CU_GRAPH_NODE_TYPE_EMPTY
                }
            },
            Work::Empty => T::CU_GRAPH_NODE_TYPE_EMPTY,
            Work::Child(_) => T::CU_GRAPH_NODE_TYPE_GRAPH,
            Work::Record(..) => T::CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            Work::Wait(..) => T::CU_GRAPH_NODE_TYPE_WAIT_EVENT,
            Work::Conditional(_) => T::CU_GRAPH_NODE_TYPE_CONDITIONAL,
        }
    }

    fn context(&self) -> Option<&Arc<Context>> {
        match self {
            Work::Op(context, _) => Some(context),
            Work::Conditional(node) => Some(&node.context),
            _ => None,
        }
    }

    /// Graphs that are the node's own.
    fn graphs(&self) -> &[usize] {
        match self {
            Work::Child(child) => std::slice::from_ref(child),
            Work::Conditional(node) => &node.bodies,
            _ => &[],
        }
    }
}

/// All graphs, and what was made of them.
#[derive(Default)]
pub(super) struct Graphs {
    graphs: HashMap<usize, Graph>,
    /// The graph of each node.
    owner: HashMap<usize, usize>,
    execs: HashMap<usize, Arc<Exec>>,
    last: usize,
}

static GRAPHS: Lazy<Mutex<Graphs>> = Lazy::new(Mutex::default);

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

impl Graphs {
    /// A number that was never a handle before. Handles of other objects are elsewhere.
    fn number(&mut self) -> usize {
        self.last += 0x10;
        0x6_0000_0000 + self.last
    }

    fn graph(&mut self, handle: usize) -> Result<&mut Graph, CUresult> {
        self.graphs.get_mut(&handle).ok_or(INVALID)
    }

    /// A node's graph.
    fn graph_of(&mut self, node: usize) -> Result<&mut Graph, CUresult> {
        let graph = *self.owner.get(&node).ok_or(INVALID)?;
        self.graph(graph)
    }

    fn node(&mut self, node: usize) -> Result<&mut nodes::Node, CUresult> {
        self.graph_of(node)?.nodes.get_mut(&node).ok_or(INVALID)
    }

    fn exec(&self, handle: usize) -> Result<Arc<Exec>, CUresult> {
        self.execs.get(&handle).cloned().ok_or(INVALID)
    }
}

/// The executable graph with that handle.
fn exec_of(handle: CUgraphExec) -> Result<Arc<Exec>, CUresult> {
    initialised()?;
    GRAPHS.lock().exec(handle.addr())
}

fn raw_graph(handle: usize) -> CUgraph {
    std::ptr::without_provenance_mut(handle)
}

fn raw_node(handle: usize) -> CUgraphNode {
    std::ptr::without_provenance_mut(handle)
}

/// Puts the functions into the table.
pub(super) fn fill(fns: &mut DriverFns) {
    calls::fill(fns);
    conditional::fill(fns);
    object::fill(fns);
    memory::fill(fns);
}
