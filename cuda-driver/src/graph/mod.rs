//! [`Graph`]: work with dependencies, described once and launched many times.
//!
//! This file is the graph and what it holds; `nodes` adds nodes one by one, `capture` fills a graph by what is launched,
//! `exec` is what it becomes to be launched, `lend` how a launch borrows the memory that captured kernels use.
//!
//! A graph makes no copy of what its nodes lead to, so it holds it: functions (and with them modules), events, and host
//! closures. Memory it does not hold. Nodes that were added with raw addresses are their caller's promise (`unsafe`); what
//! was captured from typed launches is lent again to every launch of the graph, see [`Lend`]. So a graph dangles at most
//! where somebody wrote `unsafe`.
//!
//! Invariants: a raw graph is used under the lock of its contents, since the driver has none; no two graphs' locks are held
//! at once; what any node of a graph needs is in its contents, and in those of everything made of it.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are a live graph (owned by `self`), nodes of that graph (checked)
//! and pointers that live through the call.

mod capture;
mod exec;
mod lend;
mod nodes;

use std::any::Any;
use std::ffi::CString;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use cuda_sys::{CUgraph, CUgraphDebugDot_flags, CUgraphExecUpdateResult, CUgraphNode, CUgraphNodeType};

pub use capture::{Capture, OpenCapture};
pub use exec::GraphExec;
pub use lend::{Access, AroundLaunch, GraphLaunch, Lend, MemoryId};
pub use nodes::Fill;

use crate::context::Context;
use crate::driver_call;
use crate::error::{Error, Result};
use crate::sync::{Arc, Counter, Mutex};
use lend::MemoryUse;

/// Work with dependencies, which is launched as one item of a stream. Clones are cheap and mean the same graph.
///
/// It is [captured](Graph::capture) from launches, or built of nodes that name the nodes they come after.
/// [`instantiate`](Graph::instantiate) makes of it what can be launched; what is added later is not in that.
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
    /// A number that no other graph of the process has or will have.
    id: u64,
    raw: CUgraph,
    contents: Mutex<Contents>,
}

// SAFETY: the raw graph is an address that the driver accepts on any thread; it is used under a lock.
unsafe impl Send for GraphInner {}
// SAFETY: as above.
unsafe impl Sync for GraphInner {}

/// What the nodes of a graph need beside the driver's own description.
#[derive(Clone, Default)]
struct Contents {
    kept: Vec<Kept>,
    uses: Vec<MemoryUse>,
    around: Vec<Arc<dyn AroundLaunch>>,
}

/// Something that lives as long as the graph.
#[derive(Clone)]
struct Kept {
    /// The address of the node that needs it; 0 where that is not one node.
    node: usize,
    _value: Arc<dyn Any + Send + Sync>,
}

impl Contents {
    fn keep(&mut self, node: CUgraphNode, value: Arc<dyn Any + Send + Sync>) {
        self.kept.push(Kept { node: node.addr(), _value: value });
    }

    /// Takes in what the contents of a child need.
    fn absorb(&mut self, child: Contents) {
        self.kept.extend(child.kept.into_iter().map(|kept| Kept { node: 0, ..kept }));
        child.uses.into_iter().for_each(|memory| lend::merge(&mut self.uses, memory));
        self.around.extend(child.around);
    }

    /// Whether both use one piece of memory, and one of them writes it.
    fn conflicts_with(&self, other: &Contents) -> bool {
        self.uses.iter().any(|a| other.uses.iter().any(|b| a.id == b.id && (a.writes || b.writes)))
    }
}

static IDS: Counter = Counter::new();

/// A node of a [`Graph`]; valid as long as that.
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
}

// SAFETY: the raw node is an address that the driver accepts on any thread; it is used under its graph's lock.
unsafe impl Send for GraphNode {}
// SAFETY: as above.
unsafe impl Sync for GraphNode {}

impl GraphNode {
    /// The raw handle; valid while its graph lives.
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

    /// The owner of a raw graph that nobody else has.
    fn from_parts(context: &Context, raw: CUgraph, contents: Contents) -> Self {
        let id = IDS.next();
        Graph(Arc::new(GraphInner { context: context.clone(), id, raw, contents: Mutex::new(contents) }))
    }

    /// The context that the graph's work runs in.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The raw handle; valid while a clone of the graph lives. The driver does not lock graphs: nothing else may use the
    /// graph during a call with it.
    #[must_use]
    pub fn as_raw(&self) -> CUgraph {
        self.0.raw
    }

    /// Keeps `value` alive as long as the graph and all that is made of it: what addresses in nodes lead to.
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

    /// All nodes, in the order in which the driver has them.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    pub fn nodes(&self) -> Result<Vec<GraphNode>> {
        let _contents = self.0.contents.lock();
        Ok(self.raw_nodes()?.into_iter().map(|raw| self.node(raw)).collect())
    }

    /// The nodes, for a caller that holds the lock.
    fn raw_nodes(&self) -> Result<Vec<CUgraphNode>> {
        let (context, raw, mut count) = (&self.0.context, self.0.raw, 0);
        // SAFETY: the graph is live; without a list only the number is asked for.
        unsafe { driver_call!(context, cuGraphGetNodes(raw, std::ptr::null_mut(), &mut count)) }?;
        let mut nodes = vec![std::ptr::null_mut(); count];
        // SAFETY: as above; the list has room for as many as there are, since the lock is held.
        unsafe { driver_call!(context, cuGraphGetNodes(raw, nodes.as_mut_ptr(), &mut count)) }?;
        Ok(nodes)
    }

    fn node(&self, raw: CUgraphNode) -> GraphNode {
        GraphNode { raw, graph: self.0.id }
    }

    /// What a node does.
    ///
    /// # Errors
    ///
    /// [`Error::Graph`] for a node of another graph; [`Error::Driver`] with the driver's status.
    pub fn kind(&self, node: GraphNode) -> Result<CUgraphNodeType> {
        self.expect_own(node)?;
        let _contents = self.0.contents.lock();
        let mut kind = CUgraphNodeType::default();
        // SAFETY: the node is live, and `kind` lives through the call.
        unsafe { driver_call!(&self.0.context, cuGraphNodeGetType(node.raw, &mut kind)) }?;
        Ok(kind)
    }

    /// Each dependency as the node that comes before and the one that comes after.
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
        let _contents = self.0.contents.lock();
        let (context, raw, none, mut count) = (&self.0.context, self.0.raw, std::ptr::null_mut(), 0);
        // SAFETY: the graph is live; without lists only the number is asked for.
        unsafe { driver_call!(context, cuGraphGetEdges(raw, none, none, &mut count)) }?;
        let mut from = vec![std::ptr::null_mut(); count];
        let mut to = from.clone();
        // SAFETY: as above; the lists have room for as many as there are, since the lock is held.
        unsafe { driver_call!(context, cuGraphGetEdges(raw, from.as_mut_ptr(), to.as_mut_ptr(), &mut count)) }?;
        Ok(from.into_iter().zip(to).map(|(from, to)| (self.node(from), self.node(to))).collect())
    }

    /// Makes `after` come after `before`. A cycle is found when the graph is instantiated.
    ///
    /// # Errors
    ///
    /// [`Error::Graph`] for a node of another graph; [`Error::Driver`] if the dependency is there already.
    pub fn add_dependency(&self, before: GraphNode, after: GraphNode) -> Result<()> {
        self.expect_own(before)?;
        self.expect_own(after)?;
        let _contents = self.0.contents.lock();
        // SAFETY: the graph is live, both nodes are its own, and the lists of one live through the call.
        unsafe { driver_call!(&self.0.context, cuGraphAddDependencies(self.0.raw, &before.raw, &after.raw, 1)) }
    }

    /// Takes a dependency away.
    ///
    /// # Safety
    ///
    /// What the two nodes do, and what comes after them, needs no order between them.
    ///
    /// # Errors
    ///
    /// [`Error::Graph`] for a node of another graph; [`Error::Driver`] if there is no such dependency.
    pub unsafe fn remove_dependency(&self, before: GraphNode, after: GraphNode) -> Result<()> {
        self.expect_own(before)?;
        self.expect_own(after)?;
        let _contents = self.0.contents.lock();
        // SAFETY: as for adding one; that the order is not needed is the caller's promise.
        unsafe { driver_call!(&self.0.context, cuGraphRemoveDependencies(self.0.raw, &before.raw, &after.raw, 1)) }
    }

    /// Makes of the graph, as it is now, what can be launched.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status, such as for a graph with a cycle.
    pub fn instantiate(&self) -> Result<GraphExec> {
        let contents = self.0.contents.lock();
        let mut raw = std::ptr::null_mut();
        // SAFETY: the graph is live and `raw` lives through the call.
        unsafe { driver_call!(&self.0.context, cuGraphInstantiateWithFlags(&mut raw, self.0.raw, 0)) }?;
        Ok(GraphExec::new(self, raw, contents.clone()))
    }

    /// Writes the graph to a file that [Graphviz](https://graphviz.org) draws; `verbose` with all that the driver knows of
    /// each node.
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
        let name = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| Error::invalid(format!("{} has a NUL byte, which no path has", path.display())))?;
        let flags = if verbose { CUgraphDebugDot_flags::CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE.0 } else { 0 };
        let _contents = self.0.contents.lock();
        // SAFETY: the graph is live, and the path ends in NUL and lives through the call.
        unsafe { driver_call!(&self.0.context, cuGraphDebugDotPrint(self.0.raw, name.as_ptr(), flags)) }
    }

    fn expect_own(&self, node: GraphNode) -> Result<()> {
        if node.graph == self.0.id { Ok(()) } else { Err(GraphError::OtherGraph.into()) }
    }
}

impl Drop for GraphInner {
    fn drop(&mut self) {
        if self.context.is_lost() {
            return;
        }
        // SAFETY: the last clone is gone; what was instantiated has a copy.
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

/// What cannot be done with a graph. Nothing was launched, and no graph changed.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::{Error, Graph, GraphError};
///
/// let (one, two) = (Graph::new(&context)?, Graph::new(&context)?);
/// let node = one.add_empty(&[])?;
/// let Err(Error::Graph(error)) = two.add_empty(&[node]) else { panic!() };
/// assert_eq!(*error, GraphError::OtherGraph);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A node belongs to another graph.
    #[error("the node belongs to another graph")]
    OtherGraph,
    /// Memory that the graph uses was not lent to the launch.
    #[error("the graph uses {memory}, which was not lent to this launch; pass `{}` to `launch`", hint(.writes))]
    NotLent {
        /// Where the graph uses it, and its size.
        memory: String,
        /// Whether the graph writes it.
        writes: bool,
    },
    /// Memory that the graph writes was lent for reading.
    #[error("the graph writes {memory}, which was lent to this launch for reading; lend it by `&mut`")]
    LentForReading {
        /// Where the graph uses it, and its size.
        memory: String,
    },
    /// A capture was used after its closure had returned.
    #[error("this capture has ended; what is launched by it belongs inside the closure of `Graph::capture`")]
    CaptureEnded,
    /// A capture was used together with another one.
    #[error("the two belong to different captures")]
    OtherCapture,
    /// What cannot be part of a graph.
    #[error("{0} cannot be part of a graph")]
    NotCapturable(String),
    /// The driver refuses to replace what an executable graph does.
    #[error(
        "the executable graph cannot take over this graph ({}); it must have the same nodes with the same dependencies: \
         instantiate it instead",
        .0.name().unwrap_or("for a reason that is newer than this crate")
    )]
    Update(CUgraphExecUpdateResult),
}

/// How memory is lent.
fn hint(writes: &bool) -> &'static str {
    if *writes { "&mut it" } else { "&it" }
}

impl From<GraphError> for Error {
    fn from(error: GraphError) -> Self {
        Error::Graph(Box::new(error))
    }
}
