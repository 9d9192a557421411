//! CUDA graphs: operations with dependencies, built explicitly or captured from streams, launched as one item of a
//! stream.
//!
//! A node holds the operation that a stream would enqueue ([`Op`]), so graphs and streams share the code of copies and
//! launches. [`nodes`] has the graphs, [`exec`] executable graphs, [`capture`] stream capture, [`conditional`]
//! conditional nodes, [`memory`] memory allocated by graphs, [`object`] user objects. [`params`] converts between C's
//! parameter structs and operations. The functions of the API are thin wrappers in `calls/`.
//!
//! Graphs belong to no context; each node with an operation has its own. External semaphores and device-side launches
//! are not supported.
//!
//! Invariant: all graphs are under one lock, [`GRAPHS`]. Node handles ascend in the order of creation, over all graphs.
//! Locks are taken in the order: captures, graphs, program of an executable graph, marks of events, queues.

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
use super::operations::Op;
use super::state::{Context, initialised};
use super::{Status, api, get, put, text};
use conditional::Conditional;
use cuda_sys::{CUgraph, CUgraphExec, CUgraphNode, CUgraphNodeType, CUresult, DriverFns};
use exec::Exec;
use nodes::Graph;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The work of a node.
#[derive(Clone)]
pub(super) enum Work {
    /// An operation, as in a stream.
    Op(Arc<Context>, Op),
    /// No work: an empty node only orders others.
    Empty,
    /// A child graph, by the handle of the node's own copy.
    Child(usize),
    /// Records the event with that handle.
    Record(usize, Arc<Event>),
    /// Waits for the last record of an event at the time of the launch.
    Wait(usize, Arc<Event>),
    /// Runs one of its body graphs, or none, depending on a value.
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
                // Operations of streams and launches only.
                Op::Record(_)
                | Op::WaitEnded(_)
                | Op::AwaitRemote(..)
                | Op::Freed(_)
                | Op::GraphStart(_)
                | Op::GraphEnd(_)
                | Op::ConditionalRun(_) => T::CU_GRAPH_NODE_TYPE_EMPTY,
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

    /// Returns the graphs that the node owns.
    fn graphs(&self) -> &[usize] {
        match self {
            Work::Child(child) => std::slice::from_ref(child),
            Work::Conditional(node) => &node.bodies,
            _ => &[],
        }
    }
}

/// All graphs and executable graphs.
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
    /// Returns a new handle. Handles of other kinds of objects have other ranges.
    fn number(&mut self) -> usize {
        self.last += 0x10;
        0x6_0000_0000 + self.last
    }

    fn graph(&mut self, handle: usize) -> Result<&mut Graph, CUresult> {
        self.graphs.get_mut(&handle).ok_or(INVALID)
    }

    /// Returns the graph of a node.
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

/// Returns the executable graph with this handle.
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

/// Adds the functions to the table.
pub(super) fn fill(fns: &mut DriverFns) {
    calls::fill(fns);
    conditional::fill(fns);
    object::fill(fns);
    memory::fill(fns);
}
