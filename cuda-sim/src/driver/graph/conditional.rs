//! Conditional nodes: body graphs, and a value that decides which of them runs, and how often.
//!
//! The value is a word of device memory whose address is the conditional handle, so kernels set it by a plain store
//! (`cudaGraphSetConditional` of the device library). A node reads it when its dependencies are complete, and runs its
//! bodies immediately, node by node in topological order: the nodes of a body never overlap.
//!
//! Invariant: a body has only kernels, copies, fills, empty nodes, child graphs of those, and conditional nodes, which
//! is checked at instantiation. Only one node uses a value.
//!
//! # Safety
//!
//! A value's word is allocated as long as its [`ConditionalValue`] lives, and is accessed only by atomic operations. Pointers
//! from C are null or valid, by CUDA's contract.

use super::{GRAPHS, Graphs, INVALID, Work, api, initialised, put};
use crate::driver::memory::failure;
use crate::driver::operations::{Item, Op};
use crate::driver::state::{Context, context, healthy};
use crate::memory::{AllocationKind, MEMORY};
use crate::queue::Task;
use cuda_sys::{
    CU_GRAPH_COND_ASSIGN_DEFAULT, CUDA_CONDITIONAL_NODE_PARAMS, CUcontext, CUgraph, CUgraphConditionalHandle,
    CUgraphConditionalNodeType, CUresult,
};
use std::ffi::c_uint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The value of a conditional node.
pub(in crate::driver) struct ConditionalValue {
    address: u64,
    /// Its value at the start of each execution of its graph.
    default: Option<u32>,
    /// True if a node uses it.
    in_use: AtomicBool,
}

impl ConditionalValue {
    fn new(default: Option<u32>) -> Result<ConditionalValue, CUresult> {
        let address = MEMORY.alloc(4, AllocationKind::Internal).map_err(failure)?;
        let value = ConditionalValue { address, default, in_use: AtomicBool::new(false) };
        value.word().store(0, Ordering::Release);
        Ok(value)
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: the word is allocated and aligned as long as `self` lives, and every access to it is atomic.
        unsafe { AtomicU32::from_ptr(self.address as *mut u32) }
    }

    pub(in crate::driver) fn begin(&self) {
        if let Some(default) = self.default {
            self.word().store(default, Ordering::Release);
        }
    }
}

impl Drop for ConditionalValue {
    fn drop(&mut self) {
        // Allocated by `new`, so freeing it cannot fail.
        let _ = MEMORY.free(self.address, |kind| kind == AllocationKind::Internal);
    }
}

/// The type of a conditional node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConditionalKind {
    If,
    While,
    Switch,
}

/// The parameters of a conditional node.
pub(in crate::driver) struct Conditional {
    pub(super) context: Arc<Context>,
    pub(super) value: Arc<ConditionalValue>,
    pub(super) kind: ConditionalKind,
    /// Handles of its body graphs.
    pub(super) bodies: Vec<usize>,
}

/// The parameters that a client passed.
pub(super) struct ConditionalParams {
    context: Arc<Context>,
    handle: u64,
    kind: ConditionalKind,
    bodies: usize,
}

/// Reads the parameters of a node.
pub(super) fn read_params(p: &CUDA_CONDITIONAL_NODE_PARAMS) -> Result<ConditionalParams, CUresult> {
    use CUgraphConditionalNodeType as T;
    let (kind, most) = match p.type_ {
        T::CU_GRAPH_COND_TYPE_IF => (ConditionalKind::If, 2),
        T::CU_GRAPH_COND_TYPE_WHILE => (ConditionalKind::While, 1),
        T::CU_GRAPH_COND_TYPE_SWITCH => (ConditionalKind::Switch, c_uint::MAX),
        _ => return Err(INVALID),
    };
    if p.size == 0 || p.size > most {
        return Err(INVALID);
    }
    let context = if p.ctx.is_null() { healthy()? } else { context(p.ctx)? };
    Ok(ConditionalParams { context, handle: p.handle, kind, bodies: p.size as usize })
}

/// Adds the node, with new graphs as its bodies.
pub(super) fn add(
    graphs: &mut Graphs,
    graph: usize,
    after: &[usize],
    params: ConditionalParams,
) -> Result<usize, CUresult> {
    graphs.graph(graph)?.check(after)?;
    let value = value_in(graphs, graph, params.handle)?;
    if value.in_use.swap(true, Ordering::Relaxed) {
        return Err(INVALID);
    }
    let bodies: Vec<usize> = (0..params.bodies).map(|_| graphs.create()).collect();
    for body in &bodies {
        let body = graphs.graph(*body)?;
        (body.owned, body.around) = (true, Some(graph));
    }
    let shown = bodies.clone();
    let ConditionalParams { context, kind, .. } = params;
    let node = graphs.add(graph, after, Work::Conditional(Arc::new(Conditional { context, value, kind, bodies })))?;
    // The client reads the handles here as long as the node exists.
    graphs.node(node)?.exposed = shown;
    Ok(node)
}

/// Returns the value with this handle that belongs to a graph or an enclosing one.
fn value_in(graphs: &mut Graphs, mut graph: usize, handle: u64) -> Result<Arc<ConditionalValue>, CUresult> {
    loop {
        let found = graphs.graph(graph)?;
        if let Some(value) = found.values.iter().find(|value| value.address == handle) {
            return Ok(Arc::clone(value));
        }
        graph = found.around.ok_or(INVALID)?;
    }
}

/// Returns true if a node is allowed in a body.
pub(super) fn allowed(work: &Work) -> bool {
    match work {
        Work::Op(_, op) => matches!(op, Op::Kernel { .. } | Op::Copy(_) | Op::Fill(_)),
        Work::Empty | Work::Child(_) | Work::Conditional(_) => true,
        Work::Record(..) | Work::Wait(..) => false,
    }
}

/// A conditional node during a launch.
pub(in crate::driver) struct ConditionalRun {
    pub(super) node: Arc<Conditional>,
    pub(super) bodies: Vec<ConditionalBody>,
    /// The stream and lane of the launch, for the timeline.
    pub(super) stream: u64,
    pub(super) lane: u32,
}

/// A body during a launch.
pub(super) struct ConditionalBody {
    /// Values that are reset at the start of each run.
    pub(super) values: Vec<Arc<ConditionalValue>>,
    /// The operations, in topological order.
    pub(super) ops: Vec<Op>,
}

impl ConditionalRun {
    /// Runs the bodies as the value says, until that is done or the context has faulted.
    pub(in crate::driver) fn run(&self) {
        let Conditional { value, kind, context, .. } = &*self.node;
        let current = || value.word().load(Ordering::Acquire);
        let chosen = match (kind, current()) {
            (ConditionalKind::If, 0) => 1,
            (ConditionalKind::If, _) => 0,
            (ConditionalKind::Switch, at) => at as usize,
            (ConditionalKind::While, _) => {
                while current() != 0 && context.lost().is_ok() {
                    self.body(0);
                }
                return;
            }
        };
        self.body(chosen);
    }

    /// Runs the body with this index, if there is one.
    fn body(&self, at: usize) {
        let Some(ConditionalBody { values, ops }) = self.bodies.get(at) else { return };
        values.iter().for_each(|value| value.begin());
        for op in ops {
            let context = Arc::clone(&self.node.context);
            Item::new(context, self.stream, self.lane, op.for_relaunch()).run();
        }
    }
}

api! {
    fn cuGraphConditionalHandleCreate(
        out: *mut CUgraphConditionalHandle,
        graph: CUgraph,
        on: CUcontext,
        value: c_uint,
        flags: c_uint,
    ) {
        initialised()?;
        if flags > CU_GRAPH_COND_ASSIGN_DEFAULT || out.is_null() {
            return Err(INVALID);
        }
        // The context selects the device whose kernels can set the value; here all of them can.
        if on.is_null() { healthy()? } else { context(on)? };
        let default = (flags == CU_GRAPH_COND_ASSIGN_DEFAULT).then_some(value);
        let mut graphs = GRAPHS.lock();
        let found = graphs.graph(graph.addr())?;
        let value = Arc::new(ConditionalValue::new(default)?);
        put(out, value.address)?;
        found.values.push(value);
        Ok(())
    }
}
