//! [`Graph`]: work with dependencies, described once and launched many times.
//!
//! This file is the graph and its contents. `nodes` adds nodes one by one, `copy` copy nodes, `memory` nodes that
//! allocate and free, `conditional` conditional nodes. `capture` records launches as a graph, `exec` is the executable
//! graph, and `bind` borrows the memory that captured kernels access for a launch. `captures` tracks the active
//! captures of a context.
//!
//! A graph does not copy the objects that its nodes use, so it keeps them alive: functions (and with them modules),
//! events, and host closures. It does not keep memory alive. For nodes with raw addresses the caller answers
//! (`unsafe`); memory of captured typed launches is bound again at every launch of the graph, see [`Bind`]. So a graph
//! can dangle only through `unsafe` code.
//!
//! Invariants: a raw graph is used under the lock of its contents, since the driver has none, and shares it with the
//! bodies of its conditional nodes; no two locks of graphs are held at once; the objects that any node needs are in the
//! graph's contents, and in those of its executable graphs; a node's handle is passed to the driver only while the node
//! exists.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are a live graph (owned by `self`), nodes of that graph (checked)
//! and pointers that live through the call.

mod bind;
mod capture;
pub(crate) mod captures;
mod conditional;
mod copy;
mod error;
mod exec;
mod memory;
mod nodes;

use std::any::Any;
use std::collections::HashMap;
use std::ffi::CString;
use std::fmt;
use std::path::Path;

use cuda_sys::{CUgraph, CUgraphDebugDot_flags, CUgraphNode, CUgraphNodeType};

pub use bind::{Access, AroundLaunch, Bind, GraphLaunch, MemoryId};
pub use capture::{Capture, GraphPanicRecord, OpenCapture};
pub use conditional::ConditionalHandle;
pub use copy::{CopySide, MemoryCopy};
pub use error::{GraphError, LaunchKind};
pub use exec::{GraphExec, InstantiateOptions};
pub use memory::GraphMemory;
pub use nodes::Fill;

use crate::context::Context;
use crate::driver_call;
use crate::error::{Error, Result};
use crate::panic::{GraphRecords, StreamPosition};
use crate::stream::Stream;
use crate::stream::deferred_drop::{defer_drop, is_in_host_fn};
use crate::stream::event::Event;
use crate::sync::{Arc, Counter, Mutex};
use bind::MemoryAccess;

/// Work with dependencies, which is launched as one operation of a stream. Clones are cheap and mean the same graph.
///
/// It is [captured](Graph::capture) from launches, or built node by node with explicit dependencies.
/// [`instantiate`](Graph::instantiate) makes an executable graph of it; nodes that are added later are not in that.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use std::sync::{Arc, atomic::{AtomicU32, Ordering::SeqCst}};
/// use cuda_driver::{Driver, Graph, Stream};
///
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let count = Arc::new(AtomicU32::new(0));
/// let counted = count.clone();
/// let graph = Graph::new(&context)?;
/// let first = graph.add_empty(&[])?;
/// graph.add_host_fn(&[first], move || drop(counted.fetch_add(1, SeqCst)))?;
///
/// let exec = graph.instantiate()?;
/// let stream = Stream::new(&context)?;
/// exec.launch(&stream, ())?;
/// exec.launch(&stream, ())?;
/// stream.synchronize()?;
/// assert_eq!(count.load(SeqCst), 2);
/// # Ok(())
/// # }
/// ```
///
/// See the [CUDA driver API, graph management](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__GRAPH.html).
#[derive(Clone)]
pub struct Graph(Arc<GraphInner>);

struct GraphInner {
    context: Context,
    /// The graph's id, which no other graph of the process ever has.
    id: u64,
    raw: CUgraph,
    contents: Arc<Mutex<Contents>>,
    /// The graph that owns this one, and the conditional node there, if this is the body of one.
    owner: Option<(Graph, GraphNode)>,
}

// SAFETY: the raw graph is an address that the driver accepts on any thread; it is used under a lock.
unsafe impl Send for GraphInner {}
// SAFETY: the address is plain data, and it is used under the graph's lock.
unsafe impl Sync for GraphInner {}

/// The objects that the nodes of a graph need, beside the driver's own description.
#[derive(Clone, Default)]
struct Contents {
    kept: Vec<Kept>,
    accesses: Vec<MemoryAccess>,
    around: Vec<Arc<dyn AroundLaunch>>,
    generations: Generations,
    /// The panic records of the kernels.
    panics: Vec<Arc<GraphRecords>>,
    events: RecordedEvents,
}

/// The events that a launch records.
#[derive(Clone, Default)]
struct RecordedEvents {
    /// The events with the addresses of their nodes; 0 for captured nodes.
    events: Vec<(usize, Event)>,
    /// True after the removal of a captured node that recorded one of them, since it is not known which.
    uncertain: bool,
}

impl RecordedEvents {
    /// Notes the removal of a node that may have recorded an event.
    fn remove(&mut self, node: CUgraphNode, kind: CUgraphNodeType) {
        let before = self.events.len();
        self.events.retain(|(known, _)| *known != node.addr());
        let recorded = kind == CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD;
        self.uncertain |= recorded && self.events.len() == before;
    }

    /// Returns the stream's position before a launch, if the launch is known to record events.
    fn position(&self, stream: &Stream) -> Option<StreamPosition> {
        (!self.uncertain && !self.events.is_empty()).then(|| stream.position())
    }

    /// Sets the position of the events that a launch has recorded.
    fn mark(&self, position: &StreamPosition) {
        self.events.iter().for_each(|(_, event)| event.set_position(position.clone()));
    }
}

/// The generation of each node address: the number of nodes that were removed there. Drivers may reuse addresses.
#[derive(Clone, Default)]
struct Generations(HashMap<usize, u32>);

impl Generations {
    fn of(&self, node: CUgraphNode) -> u32 {
        self.0.get(&node.addr()).copied().unwrap_or(0)
    }

    fn removed(&mut self, node: CUgraphNode) {
        *self.0.entry(node.addr()).or_default() += 1;
    }
}

/// An object that is kept alive as long as the graph.
#[derive(Clone)]
struct Kept {
    /// The address of the node that needs it; 0 if it is not one node.
    node: usize,
    _value: Arc<dyn Any + Send + Sync>,
}

impl Contents {
    fn keep(&mut self, node: CUgraphNode, value: Arc<dyn Any + Send + Sync>) {
        self.kept.push(Kept { node: node.addr(), _value: value });
    }

    /// Adds the contents of a child graph.
    fn absorb(&mut self, child: Contents) {
        self.kept.extend(child.kept.into_iter().map(|kept| Kept { node: 0, ..kept }));
        child.accesses.into_iter().for_each(|memory| bind::merge(&mut self.accesses, memory));
        self.around.extend(child.around);
        self.panics.extend(child.panics);
        self.events.events.extend(child.events.events.into_iter().map(|(_, event)| (0, event)));
        self.events.uncertain |= child.events.uncertain;
    }

    /// Returns true if both access the same allocation, and one of them writes it.
    fn conflicts_with(&self, other: &Contents) -> bool {
        self.accesses.iter().any(|a| other.accesses.iter().any(|b| a.id == b.id && (a.writes || b.writes)))
    }
}

static IDS: Counter = Counter::new();

/// A node of a [`Graph`]; valid as long as the graph lives, or until it is [removed](Graph::remove_node).
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::{Graph, cuda_sys::CUgraphNodeType};
///
/// let graph = Graph::new(&context)?;
/// let node = graph.add_empty(&[])?;
/// assert_eq!(graph.nodes()?, [node]);
/// assert_eq!(graph.kind(node)?, CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GraphNode {
    raw: CUgraphNode,
    graph: u64,
    /// The generation of its address when it was added.
    generation: u32,
}

// SAFETY: the raw node is an address that the driver accepts on any thread; it is used under its graph's lock.
unsafe impl Send for GraphNode {}
// SAFETY: the address is plain data, and it is used under the graph's lock.
unsafe impl Sync for GraphNode {}

impl GraphNode {
    /// The raw handle; valid while its graph lives and has the node.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Graph, cuda_sys::CUgraphNodeType, driver_call};
    ///
    /// let graph = Graph::new(&context)?;
    /// let (node, mut kind) = (graph.add_empty(&[])?, CUgraphNodeType::default());
    /// // SAFETY: the node is live, and nothing else uses the graph.
    /// unsafe { driver_call!(&context, cuGraphNodeGetType(node.as_raw(), &mut kind)) }?;
    /// assert_eq!(kind, graph.kind(node)?);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn as_raw(self) -> CUgraphNode {
        self.raw
    }
}

impl Graph {
    /// A graph without nodes.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn new(context: &Context) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` lives through the call, and the flags must be 0.
        unsafe { driver_call!(context, cuGraphCreate(&mut raw, 0)) }?;
        Ok(Self::from_parts(context, raw, Contents::default()))
    }

    /// Takes ownership of a raw graph.
    fn from_parts(context: &Context, raw: CUgraph, contents: Contents) -> Self {
        let contents = Arc::new(Mutex::new(contents));
        Graph(Arc::new(GraphInner { context: context.clone(), id: IDS.next(), raw, contents, owner: None }))
    }

    /// A body of a conditional node, which the driver destroys with this graph.
    fn body(&self, node: GraphNode, raw: CUgraph) -> Graph {
        let (context, contents, owner) = (self.context().clone(), self.0.contents.clone(), Some((self.clone(), node)));
        Graph(Arc::new(GraphInner { context, id: IDS.next(), raw, contents, owner }))
    }

    /// The context that the graph's work runs in.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// assert_eq!(cuda_driver::Graph::new(&context)?.context(), &context);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The raw handle; valid while a clone of the graph lives. The driver does not lock graphs: nothing else may use the
    /// graph during a call with it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Graph, driver_call};
    ///
    /// let (graph, mut count) = (Graph::new(&context)?, 0);
    /// graph.add_empty(&[])?;
    /// // SAFETY: the graph is live, and nothing else uses it; without a list the call returns the count.
    /// unsafe { driver_call!(&context, cuGraphGetNodes(graph.as_raw(), std::ptr::null_mut(), &mut count)) }?;
    /// assert_eq!(count, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn as_raw(&self) -> CUgraph {
        self.0.raw
    }

    /// Keeps `value` alive as long as the graph and its executable graphs: for objects that addresses in nodes point
    /// to.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use std::sync::Arc;
    ///
    /// let table = Arc::new([1, 2, 3]);
    /// let graph = cuda_driver::Graph::new(&context)?;
    /// graph.keep(table.clone());
    /// assert_eq!(Arc::strong_count(&table), 2);
    /// drop(graph);
    /// assert_eq!(Arc::strong_count(&table), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn keep(&self, value: impl Any + Send + Sync) {
        self.0.contents.lock().keep(std::ptr::null_mut(), Arc::new(value));
    }

    /// All nodes, in the driver's order.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn nodes(&self) -> Result<Vec<GraphNode>> {
        let contents = self.0.contents.lock();
        Ok(self.raw_nodes()?.into_iter().map(|raw| self.node(&contents, raw)).collect())
    }

    /// The nodes, for a caller that holds the lock.
    fn raw_nodes(&self) -> Result<Vec<CUgraphNode>> {
        let (context, raw, mut count) = (&self.0.context, self.0.raw, 0);
        // SAFETY: the graph is live; without a list the call only returns the count.
        unsafe { driver_call!(context, cuGraphGetNodes(raw, std::ptr::null_mut(), &mut count)) }?;
        // A driver refuses a list without room.
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut nodes = vec![std::ptr::null_mut(); count];
        // SAFETY: the graph is live, and the list has room for all nodes, whose number cannot change under the lock.
        unsafe { driver_call!(context, cuGraphGetNodes(raw, nodes.as_mut_ptr(), &mut count)) }?;
        Ok(nodes)
    }

    fn node(&self, contents: &Contents, raw: CUgraphNode) -> GraphNode {
        GraphNode { raw, graph: self.0.id, generation: contents.generations.of(raw) }
    }

    /// The type of a node.
    ///
    /// # Errors
    ///
    /// [`Error::Graph`] for a node of another graph; [`Error::Driver`] with the driver's status.
    pub fn kind(&self, node: GraphNode) -> Result<CUgraphNodeType> {
        let contents = self.0.contents.lock();
        self.expect_own(&contents, node)?;
        self.raw_kind(node)
    }

    /// The type of a node of this graph, for a caller that holds the lock.
    fn raw_kind(&self, node: GraphNode) -> Result<CUgraphNodeType> {
        let mut kind = CUgraphNodeType::default();
        // SAFETY: the node is live, and `kind` lives through the call.
        unsafe { driver_call!(&self.0.context, cuGraphNodeGetType(node.raw, &mut kind)) }?;
        Ok(kind)
    }

    /// All dependencies, as (predecessor, successor).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let graph = cuda_driver::Graph::new(&context)?;
    /// let (a, b) = (graph.add_empty(&[])?, graph.add_empty(&[])?);
    /// graph.add_dependency(a, b)?;
    /// assert_eq!(graph.edges()?, [(a, b)]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn edges(&self) -> Result<Vec<(GraphNode, GraphNode)>> {
        let contents = self.0.contents.lock();
        let node = |raw| self.node(&contents, raw);
        Ok(self.raw_edges()?.into_iter().map(|(from, to)| (node(from), node(to))).collect())
    }

    /// The dependencies, for a caller that holds the lock.
    fn raw_edges(&self) -> Result<Vec<(CUgraphNode, CUgraphNode)>> {
        let (context, raw, none, mut count) = (&self.0.context, self.0.raw, std::ptr::null_mut(), 0);
        // SAFETY: the graph is live; without lists the call only returns the count.
        unsafe { driver_call!(context, cuGraphGetEdges(raw, none, none, &mut count)) }?;
        // A driver refuses lists without room.
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut from = vec![std::ptr::null_mut(); count];
        let mut to = from.clone();
        // SAFETY: the graph is live, and the lists have room for all edges, whose number cannot change under the lock.
        unsafe { driver_call!(context, cuGraphGetEdges(raw, from.as_mut_ptr(), to.as_mut_ptr(), &mut count)) }?;
        Ok(from.into_iter().zip(to).collect())
    }

    /// Adds a dependency of `after` on `before`. A cycle is detected at instantiation.
    ///
    /// # Errors
    ///
    /// [`Error::Graph`] for a node of another graph; [`Error::Driver`] if the dependency exists already.
    pub fn add_dependency(&self, before: GraphNode, after: GraphNode) -> Result<()> {
        let contents = self.0.contents.lock();
        self.expect_own(&contents, before)?;
        self.expect_own(&contents, after)?;
        // SAFETY: the graph is live, both nodes are its own, and the lists of one element live through the call.
        unsafe { driver_call!(&self.0.context, cuGraphAddDependencies(self.0.raw, &before.raw, &after.raw, 1)) }
    }

    /// Removes a dependency.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let graph = cuda_driver::Graph::new(&context)?;
    /// let first = graph.add_empty(&[])?;
    /// let second = graph.add_empty(&[first])?;
    /// // SAFETY: both nodes are empty.
    /// unsafe { graph.remove_dependency(first, second) }?;
    /// assert!(graph.edges()?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    ///
    /// The two nodes and their successors need no order between them.
    ///
    /// # Errors
    ///
    /// [`Error::Graph`] for a node of another graph; [`Error::Driver`] if there is no such dependency.
    pub unsafe fn remove_dependency(&self, before: GraphNode, after: GraphNode) -> Result<()> {
        let contents = self.0.contents.lock();
        self.expect_own(&contents, before)?;
        self.expect_own(&contents, after)?;
        // SAFETY: the graph is live, both nodes are its own, and the lists of one element live through the call; the
        // caller promises that the order is not needed.
        unsafe { driver_call!(&self.0.context, cuGraphRemoveDependencies(self.0.raw, &before.raw, &after.raw, 1)) }
    }

    /// Removes a node with its dependencies; its handle is refused from then on. Executable graphs that were
    /// instantiated before keep the node, but it cannot be updated there any more.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let graph = cuda_driver::Graph::new(&context)?;
    /// let first = graph.add_empty(&[])?;
    /// let second = graph.add_empty(&[first])?;
    /// // SAFETY: both nodes are empty.
    /// unsafe { graph.remove_node(first) }?;
    /// assert_eq!(graph.nodes()?, [second]);
    /// assert!(graph.kind(first).unwrap_err().to_string().starts_with("the node was removed"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    ///
    /// The other nodes need neither the work of this one, nor the order that it made between them.
    ///
    /// # Errors
    ///
    /// [`GraphError::BodyInUse`] for a conditional node; [`Error::Graph`] for a node of another graph, or one that was
    /// removed; [`Error::Driver`] with `CUDA_ERROR_NOT_SUPPORTED` in a graph that allocates or frees memory.
    pub unsafe fn remove_node(&self, node: GraphNode) -> Result<()> {
        let mut contents = self.0.contents.lock();
        self.expect_own(&contents, node)?;
        let kind = self.raw_kind(node)?;
        if kind == CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL {
            return Err(GraphError::BodyInUse.into());
        }
        // SAFETY: the node is live, and from here on its handle is refused.
        unsafe { driver_call!(&self.0.context, cuGraphDestroyNode(node.raw)) }?;
        contents.generations.removed(node.raw);
        contents.kept.retain(|kept| kept.node != node.raw.addr());
        contents.events.remove(node.raw, kind);
        Ok(())
    }

    /// Makes an executable graph of the graph in its present state.
    ///
    /// # Errors
    ///
    /// [`GraphError::Body`] for the body of a conditional node; [`Error::Driver`] with the driver's status, such as for a
    /// graph with a cycle.
    pub fn instantiate(&self) -> Result<GraphExec> {
        self.instantiate_with(InstantiateOptions::new())
    }

    /// As [`instantiate`](Graph::instantiate), with options.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Graph, InstantiateOptions};
    ///
    /// let graph = Graph::new(&context)?;
    /// graph.add_alloc(&[], 64)?;             // without a node that frees it
    /// let exec = graph.instantiate_with(InstantiateOptions::new().auto_free())?;
    /// assert_eq!(exec.graph().nodes()?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`instantiate`](Graph::instantiate).
    pub fn instantiate_with(&self, options: InstantiateOptions) -> Result<GraphExec> {
        if self.0.owner.is_some() {
            return Err(GraphError::Body.into());
        }
        let contents = self.0.contents.lock();
        let mut raw = std::ptr::null_mut();
        // SAFETY: the graph is live and `raw` lives through the call.
        unsafe { driver_call!(&self.0.context, cuGraphInstantiateWithFlags(&mut raw, self.0.raw, options.flags())) }?;
        Ok(GraphExec::new(self, raw, contents.clone()))
    }

    /// Writes the graph to a file in the DOT format of [Graphviz](https://graphviz.org); if `verbose`, with all that
    /// the driver knows of each node.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let graph = cuda_driver::Graph::new(&context)?;
    /// graph.add_empty(&[])?;
    /// let file = std::env::temp_dir().join(format!("graph-{}.dot", std::process::id()));
    /// graph.write_dot(&file, false)?;
    /// assert!(std::fs::read_to_string(&file)?.starts_with("digraph"));
    /// # std::fs::remove_file(&file)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a path with a NUL byte; [`Error::Driver`] if the file cannot be written.
    pub fn write_dot(&self, path: impl AsRef<Path>, verbose: bool) -> Result<()> {
        let path = path.as_ref();
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| Error::invalid(format!("{} has a NUL byte, which no path has", path.display())))?;
        let flags = if verbose { CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE.0 } else { 0 };
        let _contents = self.0.contents.lock();
        // SAFETY: the graph is live, and the path ends in NUL and lives through the call.
        unsafe { driver_call!(&self.0.context, cuGraphDebugDotPrint(self.0.raw, name.as_ptr(), flags)) }
    }

    /// Returns an error unless the node is one that this graph has now.
    fn expect_own(&self, contents: &Contents, node: GraphNode) -> Result<()> {
        if node.graph != self.0.id {
            return Err(GraphError::OtherGraph.into());
        }
        if node.generation == contents.generations.of(node.raw) { Ok(()) } else { Err(GraphError::NodeRemoved.into()) }
    }
}

impl Drop for GraphInner {
    fn drop(&mut self) {
        if self.context.is_lost() || self.owner.is_some() {
            return;
        }
        if is_in_host_fn() {
            let (context, id, raw) = (self.context.clone(), self.id, self.raw);
            return defer_drop(Box::new(GraphInner { context, id, raw, contents: self.contents.clone(), owner: None }));
        }
        // SAFETY: the last clone and the bodies, which hold one, are dropped; executable graphs have a copy.
        if let Err(error) = unsafe { driver_call!(&self.context, cuGraphDestroy(self.raw)) } {
            tracing::warn!(%error, "a graph could not be destroyed");
        }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = self.0.context.device().ordinal();
        f.debug_struct("Graph").field("raw", &self.0.raw).field("device", &device).finish_non_exhaustive()
    }
}
