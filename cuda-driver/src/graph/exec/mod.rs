//! [`GraphExec`]: an executable graph, whose nodes can be updated between launches.
//!
//! Invariant: everything that a launch needs lives until it has finished. Objects in use are in the contents; objects
//! that an update has replaced are retired, behind an event that completes after the last launch that may use them.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are a live executable graph, used under its lock, nodes of the
//! graph it was made of (checked, and that graph is held), and parameters that live through the call.

mod options;

use std::ffi::c_void;
use std::fmt;

use cuda_sys::{CUdeviceptr, CUgraphExec, CUgraphExecUpdateResultInfo, CUgraphNode, CUresult};

use super::bind::{Bind, GraphLaunch, enclosed};
use super::copy::{CopySide, MemoryCopy};
use super::nodes::{Fill, host_params, kernel_params};
use super::{Contents, Generations, Graph, GraphError, GraphNode, Kept, LaunchKind};
use crate::context::Context;
use crate::driver_call;
use crate::error::Result;
use crate::launch::config::LaunchConfig;
use crate::module::function::Function;
use crate::module::params::Arguments;
use crate::panic::LaunchId;
use crate::stream::Stream;
use crate::stream::deferred_drop::{defer_drop, is_in_host_fn};
use crate::stream::event::Event;
use crate::sync::{Arc, Mutex};

pub use options::InstantiateOptions;

/// A [`Graph`] that can be launched, from [`Graph::instantiate`].
///
/// Dropping it waits for its last launch, if that needs objects that are dropped with it.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, Event, Graph, Stream};
///
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let (start, end) = (Event::new(&context)?, Event::new(&context)?);
/// let graph = Graph::capture(&context, |c| {
///     c.record(&start)?;
///     c.launch_host_fn(|| println!("in the graph"))?;
///     c.record(&end)
/// })?;
/// let exec = graph.instantiate()?;
/// let stream = Stream::new(&context)?;
/// exec.launch(&stream, ())?;
/// stream.synchronize()?;
/// assert!(start.elapsed_ms(&end)? >= 0.0);
/// # Ok(())
/// # }
/// ```
pub struct GraphExec {
    /// The graph that it was instantiated from; its nodes identify the nodes to update.
    graph: Graph,
    state: Mutex<State>,
}

struct State {
    raw: CUgraphExec,
    contents: Contents,
    /// For each memory access, true once it is bound; kept here so that launches allocate nothing.
    bound: Vec<bool>,
    /// The stream and number of the last launch. Launches of one executable graph run in order.
    last: Option<(Stream, LaunchId)>,
    /// The generations of the graph's nodes at instantiation.
    generations: Generations,
    /// Objects that launches before the events may still use.
    retired: Vec<(Event, Contents)>,
}

// SAFETY: the raw executable graph is an address that the driver accepts on any thread; it is used under a lock.
unsafe impl Send for State {}

impl GraphExec {
    pub(super) fn new(graph: &Graph, raw: CUgraphExec, contents: Contents) -> Self {
        let generations = contents.generations.clone();
        let state = State { raw, contents, bound: Vec::new(), last: None, generations, retired: Vec::new() };
        GraphExec { graph: graph.clone(), state: Mutex::new(state) }
    }

    /// The context that the graph's work runs in.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let exec = cuda_driver::Graph::new(&context)?.instantiate()?;
    /// assert_eq!(exec.context(), &context);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn context(&self) -> &Context {
        self.graph.context()
    }

    /// The graph that it was instantiated from.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let exec = cuda_driver::Graph::capture(&context, |c| c.launch_host_fn(|| ()))?.instantiate()?;
    /// let node = exec.graph().nodes()?[0];
    /// exec.set_host_fn(node, || println!("in the graph"))?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Launches the graph in `stream`: after the stream's earlier work, before its later work, and after its own last
    /// launch.
    ///
    /// `bound` is the memory that captured kernels access, as `&` if they read it and `&mut` if they write it, in any
    /// order: `(&x, &y, &mut out)`. The accesses are ordered and recorded as for a launch of one kernel. A graph
    /// without captured typed launches takes `()`.
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) if memory that the graph accesses was not bound, which the error names;
    /// [`Error::Invalid`](crate::Error::Invalid) for a stream of another context;
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status, such as `CUDA_ERROR_INVALID_VALUE` while
    /// memory that the last launch has allocated was not freed. Nothing is launched then.
    pub fn launch(&self, stream: &Stream, bound: impl Bind) -> Result<()> {
        let context = self.context();
        context.expect_same(stream.context(), stream)?;
        // A forked child is refused before the lock, which another thread of the parent may have held.
        context.0.admit("cuGraphLaunch")?;
        let _span = tracing::trace_span!("launch_graph", %stream).entered();
        let state = &mut *self.state.lock();
        state.bound.clear();
        state.bound.resize(state.contents.accesses.len(), false);
        let mut launch = GraphLaunch { stream, accesses: &state.contents.accesses, bound: &mut state.bound };
        bound.bind(&mut launch)?;
        launch.finish()?;
        state.free_records(context)?;
        let panics = &state.contents.panics;
        let launch = stream.begin_graph(panics);
        // Before the launch, so that it is known however the launch ends.
        state.last = Some((stream.clone(), launch));
        let position = state.contents.events.position(stream);
        let raw = state.raw;
        let mut enqueue = || {
            // SAFETY: executable graph and stream are live and of one context. Memory and objects of the nodes are kept
            // by the contents, or bound: ordered in this stream and borrowed until now; for nodes with raw addresses,
            // the caller who added them answers.
            unsafe { driver_call!(context, cuGraphLaunch(raw, stream.as_raw())) }
        };
        let launched = enclosed(&state.contents.around, stream, &mut enqueue);
        stream.end_graph();
        if let (Ok(()), Some(position)) = (&launched, position) {
            state.contents.events.mark(&position.with(launch));
        }
        launched
    }

    /// Uploads the graph to the device, so that its first launch need not.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Graph, Stream};
    ///
    /// let exec = Graph::capture(&context, |c| c.launch_host_fn(|| println!("in the graph")))?.instantiate()?;
    /// let stream = Stream::new(&context)?;
    /// exec.upload(&stream)?;
    /// exec.launch(&stream, ())?;
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) for a stream of another context; [`Error::Driver`](crate::Error::Driver)
    /// with the driver's status.
    pub fn upload(&self, stream: &Stream) -> Result<()> {
        self.context().expect_same(stream.context(), stream)?;
        let state = self.state.lock();
        // SAFETY: executable graph and stream are live and of one context.
        unsafe { driver_call!(self.context(), cuGraphUpload(state.raw, stream.as_raw())) }
    }

    /// Updates all nodes for later launches from `graph`, which has the same nodes with the same dependencies: the same
    /// capture with other arrays or numbers.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Graph;
    ///
    /// let saying = |text: &'static str| Graph::capture(&context, |c| c.launch_host_fn(move || println!("{text}")));
    /// let exec = saying("one")?.instantiate()?;
    /// exec.update(&saying("two")?)?;
    /// let error = exec.update(&Graph::new(&context)?).unwrap_err();
    /// assert!(error.to_string().contains("it has other nodes, or other dependencies"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError::Update`] if the graphs differ in other ways; [`Error::Invalid`](crate::Error::Invalid) for a graph
    /// of another context; [`Error::Driver`](crate::Error::Driver) with the driver's status. Nothing changes then.
    pub fn update(&self, graph: &Graph) -> Result<()> {
        let context = self.context();
        context.expect_same(graph.context(), &"the graph")?;
        let state = &mut *self.state.lock();
        let contents = graph.0.contents.lock();
        let null = std::ptr::null_mut();
        let mut info = CUgraphExecUpdateResultInfo { result: Default::default(), errorNode: null, errorFromNode: null };
        // SAFETY: executable graph and graph are live and locked, and `info` lives through the call.
        match unsafe { driver_call!(context, cuGraphExecUpdate_v2(state.raw, graph.0.raw, &mut info)) } {
            Ok(()) => state.replace(contents.clone()),
            Err(error) if error.code() == Some(CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) => {
                // If the nodes cannot be listed, the error has no position.
                let nodes = if info.errorNode.is_null() { None } else { graph.raw_nodes().ok() };
                let node = nodes.and_then(|nodes| nodes.into_iter().position(|node| node == info.errorNode));
                Err(GraphError::Update { result: info.result, node }.into())
            }
            Err(error) => Err(error),
        }
    }

    /// Updates a node with `change`, which gets the executable graph and the node.
    fn change(
        &self,
        node: GraphNode,
        change: impl FnOnce(&Context, CUgraphExec, CUgraphNode) -> Result<()>,
    ) -> Result<()> {
        self.changed(node, None, change)
    }

    /// As `change`, and replaces the objects kept for the node.
    fn changed(
        &self,
        node: GraphNode,
        needed: Option<Kept>,
        change: impl FnOnce(&Context, CUgraphExec, CUgraphNode) -> Result<()>,
    ) -> Result<()> {
        let state = &mut *self.state.lock();
        let graph = self.graph.0.contents.lock();
        self.graph.expect_own(&graph, node)?;
        if state.generations.of(node.raw) != node.generation {
            return Err(GraphError::NodeIsNewer.into());
        }
        let Some(needed) = needed else { return change(self.context(), state.raw, node.raw) };
        let mut contents = state.contents.clone();
        contents.kept.retain(|kept| kept.node != needed.node);
        contents.kept.push(needed);
        change(self.context(), state.raw, node.raw)?;
        state.replace(contents)
    }

    /// Sets the function and the parameters of a kernel node for later launches.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// # // SAFETY: the kernel touches no memory.
    /// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// use cuda_driver::{Graph, LaunchConfig};
    ///
    /// let graph = Graph::new(&context)?;
    /// // SAFETY: the kernel has no parameters.
    /// let node = unsafe { graph.add_kernel(&[], &nothing, &LaunchConfig::new(1, 32), &mut []) }?;
    /// let exec = graph.instantiate()?;
    /// // SAFETY: the kernel has no parameters.
    /// unsafe { exec.set_kernel(node, &nothing, &LaunchConfig::new(2, 64), &mut []) }?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Graph::add_kernel`]; [`GraphError::LaunchKind`] for other cluster dimensions than the node was added
    /// with, or if only one of the two launches is cooperative; [`Error::Driver`](crate::Error::Driver) if the node is
    /// not a kernel node.
    ///
    /// # Safety
    ///
    /// As for [`Graph::add_kernel`].
    pub unsafe fn set_kernel(
        &self,
        node: GraphNode,
        function: &Function,
        config: &LaunchConfig,
        params: &mut [*mut c_void],
    ) -> Result<()> {
        self.context().expect_same(function.context(), &format_args!("function `{}`", function.name()))?;
        let launch = function.check_config(config)?;
        launch.prepare_for_graph(params)?;
        let kind = LaunchKind { cluster: launch.cluster(), cooperative: launch.is_cooperative() };
        let kernel = kernel_params(&launch, params);
        let needed = Kept { node: node.raw.addr(), _value: Arc::new(function.clone()) };
        self.changed(node, Some(needed), |context, exec, node| {
            let fixed = launch_kind(context, node)?;
            if kind != fixed {
                let function = function.name().to_owned();
                return Err(GraphError::LaunchKind { function, launch: kind, node: fixed }.into());
            }
            // SAFETY: executable graph and node are live; the caller answers for the parameters.
            unsafe { driver_call!(context, cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel)) }
        })
    }

    /// As [`set_kernel`](GraphExec::set_kernel), with a tuple of values, whose number and sizes are checked as those of
    /// [`Function::launch_with`].
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Graph, LaunchConfig, Module};
    ///
    /// let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry ignore(.param .u32 n)\n{\n\tret;\n}\n";
    /// // SAFETY: the kernel touches no memory.
    /// let ignore = unsafe { Module::load_ptx(&context, ptx) }?.function("ignore")?;
    /// let (graph, config) = (Graph::new(&context)?, LaunchConfig::new(1, 32));
    /// // SAFETY: the kernel has one parameter of four bytes.
    /// let node = unsafe { graph.add_kernel_with(&[], &ignore, &config, (1_u32,)) }?;
    /// let exec = graph.instantiate()?;
    /// // SAFETY: the kernel has one parameter of four bytes.
    /// unsafe { exec.set_kernel_with(node, &ignore, &config, (2_u32,)) }?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`set_kernel`](GraphExec::set_kernel) and [`Function::launch_with`].
    ///
    /// # Safety
    ///
    /// As for [`set_kernel`](GraphExec::set_kernel).
    pub unsafe fn set_kernel_with(
        &self,
        node: GraphNode,
        function: &Function,
        config: &LaunchConfig,
        values: impl Arguments,
    ) -> Result<()> {
        // SAFETY: the caller keeps the contract of the wrapped call, with the same arguments.
        function.with_values(values, |pointers| unsafe { self.set_kernel(node, function, config, pointers) })
    }

    /// Sets the ranges of a copy node for later launches: one row of bytes, in memory of the same kinds.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let mut memory = 0;
    /// # // SAFETY: the address lives through the call.
    /// # unsafe { cuda_driver::driver_call!(&context, cuMemAlloc_v2(&mut memory, 64)) }?;
    /// use cuda_driver::{CopySide, Graph, MemoryCopy, Stream};
    ///
    /// let mut host = [0_u8; 64];
    /// let address = host.as_mut_ptr();
    /// let down = |bytes| MemoryCopy::line(CopySide::host(address.cast()), CopySide::device(memory), bytes);
    /// let (graph, stream) = (Graph::new(&context)?, Stream::new(&context)?);
    /// // SAFETY: both sides have 64 bytes, and nothing else uses them until the graph has run.
    /// let node = unsafe { graph.add_copy(&[], &down(64)) }?;
    /// let exec = graph.instantiate()?;
    /// // SAFETY: both sides have 64 bytes, and nothing else uses them until the graph has run.
    /// unsafe { exec.set_copy(node, &down(32)) }?;
    /// exec.launch(&stream, ())?;
    /// stream.synchronize()?;
    /// # context.synchronize()?;
    /// # // SAFETY: nothing uses it any more.
    /// # unsafe { cuda_driver::driver_call!(&context, cuMemFree_v2(memory)) }?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) for a node of another graph; [`Error::Driver`](crate::Error::Driver) if
    /// the node is not a copy node, or either copy has more than one row.
    ///
    /// # Safety
    ///
    /// As for [`Graph::add_copy`].
    pub unsafe fn set_copy(&self, node: GraphNode, copy: &MemoryCopy) -> Result<()> {
        let copy = copy.params();
        self.change(node, |context, exec, node| {
            let on = context.as_raw();
            // SAFETY: executable graph and node are live; the caller answers for the memory.
            unsafe { driver_call!(context, cuGraphExecMemcpyNodeSetParams(exec, node, &copy, on)) }
        })
    }

    /// Sets the ranges of a copy node within device memory for later launches.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let mut memory = 0;
    /// # // SAFETY: the address lives through the call.
    /// # unsafe { cuda_driver::driver_call!(&context, cuMemAlloc_v2(&mut memory, 64)) }?;
    /// let graph = cuda_driver::Graph::new(&context)?;
    /// // SAFETY: there are 64 bytes of memory, which nothing else uses.
    /// let node = unsafe { graph.add_memcpy(&[], memory + 32, memory, 32) }?;
    /// let exec = graph.instantiate()?;
    /// // SAFETY: there are 64 bytes of memory, which nothing else uses.
    /// unsafe { exec.set_memcpy(node, memory, memory + 32, 16) }?;
    /// exec.launch(&context.default_stream(), ())?;
    /// # context.synchronize()?;
    /// # // SAFETY: nothing uses it any more.
    /// # unsafe { cuda_driver::driver_call!(&context, cuMemFree_v2(memory)) }?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) for a node of another graph; [`Error::Driver`](crate::Error::Driver) if
    /// the node is not a copy node.
    ///
    /// # Safety
    ///
    /// As for [`Graph::add_memcpy`].
    pub unsafe fn set_memcpy(&self, node: GraphNode, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Result<()> {
        // SAFETY: the caller keeps the contract of the wrapped call, with the same arguments.
        unsafe { self.set_copy(node, &MemoryCopy::line(CopySide::device(to), CopySide::device(from), bytes)) }
    }

    /// Sets the range and value of a memset node for later launches.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let mut memory = 0;
    /// # // SAFETY: the address lives through the call.
    /// # unsafe { cuda_driver::driver_call!(&context, cuMemAlloc_v2(&mut memory, 64)) }?;
    /// use cuda_driver::{Fill, Graph};
    ///
    /// let graph = Graph::new(&context)?;
    /// // SAFETY: there are 64 bytes of memory, which nothing else uses.
    /// let node = unsafe { graph.add_memset(&[], memory, Fill::U8(1), 64) }?;
    /// let exec = graph.instantiate()?;
    /// // SAFETY: there are 64 bytes of memory, which nothing else uses.
    /// unsafe { exec.set_memset(node, memory, Fill::U8(2), 64) }?;
    /// exec.launch(&context.default_stream(), ())?;
    /// # context.synchronize()?;
    /// # // SAFETY: nothing uses it any more.
    /// # unsafe { cuda_driver::driver_call!(&context, cuMemFree_v2(memory)) }?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) for a node of another graph; [`Error::Driver`](crate::Error::Driver) if
    /// the node is not a memset node.
    ///
    /// # Safety
    ///
    /// As for [`Graph::add_memset`].
    pub unsafe fn set_memset(&self, node: GraphNode, to: CUdeviceptr, value: Fill, count: usize) -> Result<()> {
        let fill = value.params(to, count);
        self.change(node, |context, exec, node| {
            let on = context.as_raw();
            // SAFETY: executable graph and node are live; the caller answers for the range.
            unsafe { driver_call!(context, cuGraphExecMemsetNodeSetParams(exec, node, &fill, on)) }
        })
    }

    /// Sets the function of a host node for later launches.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Graph;
    ///
    /// let graph = Graph::new(&context)?;
    /// let node = graph.add_host_fn(&[], || println!("one"))?;
    /// let exec = graph.instantiate()?;
    /// exec.set_host_fn(node, || println!("two"))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) for a node of another graph; [`Error::Driver`](crate::Error::Driver) if
    /// the node is not a host node.
    pub fn set_host_fn(&self, node: GraphNode, work: impl Fn() + Send + Sync + 'static) -> Result<()> {
        let (host, work) = host_params(work);
        self.changed(node, Some(Kept { node: node.raw.addr(), _value: work }), |context, exec, node| {
            // SAFETY: executable graph and node are live, and the closure is kept.
            unsafe { driver_call!(context, cuGraphExecHostNodeSetParams(exec, node, &host)) }
        })
    }

    /// Enables or disables a kernel, copy or memset node in later launches; a disabled node still orders its
    /// neighbours.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// # // SAFETY: the kernel touches no memory.
    /// # let nothing = unsafe { cuda_driver::Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// use cuda_driver::{Graph, LaunchConfig};
    ///
    /// let graph = Graph::new(&context)?;
    /// // SAFETY: the kernel has no parameters.
    /// let node = unsafe { graph.add_kernel(&[], &nothing, &LaunchConfig::new(1, 32), &mut []) }?;
    /// let exec = graph.instantiate()?;
    /// exec.set_enabled(node, false)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) for a node of another graph; [`Error::Driver`](crate::Error::Driver) for other
    /// nodes.
    pub fn set_enabled(&self, node: GraphNode, enabled: bool) -> Result<()> {
        self.change(node, |context, exec, node| {
            // SAFETY: executable graph and node are live.
            unsafe { driver_call!(context, cuGraphNodeSetEnabled(exec, node, enabled.into())) }
        })
    }
}

/// The launch properties that a kernel node fixes.
fn launch_kind(context: &Context, node: CUgraphNode) -> Result<LaunchKind> {
    use cuda_sys::CUlaunchAttributeID as Id;
    let ask = |attribute| {
        let mut value = cuda_sys::CUlaunchAttributeValue { pad: [0; 64] };
        // SAFETY: the node is live, and the value lives through the call.
        unsafe { driver_call!(context, cuGraphKernelNodeGetAttribute(node, attribute, &mut value)) }.map(|()| value)
    };
    // SAFETY: the value of this attribute is this field of the union, all of whose bytes are initialised.
    let cluster = unsafe { ask(Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)?.clusterDim };
    // SAFETY: the value of this attribute is this field of the union, all of whose bytes are initialised.
    let cooperative = unsafe { ask(Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE)?.cooperative } != 0;
    let cluster = (cluster.x != 0).then_some([cluster.x, cluster.y, cluster.z]);
    Ok(LaunchKind { cluster, cooperative })
}

impl State {
    /// Frees all records, so that a cooperative kernel does not mistake a panic of an earlier launch for its own. Waits
    /// for the last launch if a record is claimed, and for all work of the context if another launch claimed it.
    fn free_records(&self, context: &Context) -> Result<()> {
        if self.contents.panics.iter().all(|records| records.are_free()) {
            return Ok(());
        }
        self.wait(context)?;
        if let Some((last, launch)) = &self.last {
            last.find_panics(*launch);
        }
        if self.contents.panics.iter().all(|records| records.are_free()) {
            return Ok(());
        }
        // Launches in other streams, or of other executable graphs of the same graph, may have claimed them.
        context.wait_for_all()?;
        self.contents.panics.iter().for_each(|records| records.free());
        Ok(())
    }

    /// Replaces the contents; the old ones live until no launch can use them.
    fn replace(&mut self, contents: Contents) -> Result<()> {
        let old = std::mem::replace(&mut self.contents, contents);
        self.retired.retain(|(event, _)| !event.query().unwrap_or(false));
        let Some((last, _)) = &self.last else { return Ok(()) };
        let passed = Event::without_timing(last.context()).and_then(|event| event.record(last).map(|()| event));
        match passed {
            Ok(event) => self.retired.push((event, old)),
            // There is no way to know when it is unused.
            Err(error) => {
                tracing::warn!(%error, "objects that an executable graph used before an update are leaked");
                std::mem::forget(old);
            }
        }
        Ok(())
    }

    /// Waits for the last launch, after which nothing uses the contents.
    fn wait(&self, context: &Context) -> Result<()> {
        let Some((last, _)) = &self.last else { return Ok(()) };
        // SAFETY: the stream is live, since it is held.
        unsafe { driver_call!(context, cuStreamSynchronize(last.as_raw())) }
    }
}

impl Drop for GraphExec {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        if is_in_host_fn() {
            let State { raw, contents, bound, last, generations, retired } = state;
            let (contents, bound, last) = (std::mem::take(contents), std::mem::take(bound), last.take());
            let (raw, generations, retired) = (*raw, std::mem::take(generations), std::mem::take(retired));
            let state = Mutex::new(State { raw, contents, bound, last, generations, retired });
            return defer_drop(Box::new(GraphExec { graph: self.graph.clone(), state }));
        }
        let context = self.graph.context();
        let needed = !(state.contents.kept.is_empty() && state.retired.is_empty());
        if context.is_lost() {
            // The driver may still read them.
            std::mem::forget((std::mem::take(&mut state.contents), std::mem::take(&mut state.retired)));
            return;
        }
        // SAFETY: nothing else has the executable graph; the driver lets a running launch finish.
        if let Err(error) = unsafe { driver_call!(context, cuGraphExecDestroy(state.raw)) } {
            tracing::warn!(%error, "an executable graph could not be destroyed");
        }
        if needed && let Err(error) = state.wait(context) {
            tracing::warn!(%error, "waiting for a graph failed; the objects that its nodes use are leaked");
            std::mem::forget((std::mem::take(&mut state.contents), std::mem::take(&mut state.retired)));
        }
    }
}

impl fmt::Debug for GraphExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphExec").field("graph", &self.graph).finish_non_exhaustive()
    }
}
