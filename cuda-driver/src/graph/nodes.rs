//! Nodes that are added to a graph one by one, with explicit dependencies.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are a live graph, dependencies that are its nodes (checked),
//! and parameters that live through the call, since the driver copies them. The callers of the `unsafe` functions
//! answer for the memory behind raw addresses; the graph keeps all other objects alive.

use std::any::Any;
use std::ffi::c_void;

use cuda_sys::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUdeviceptr, CUgraph, CUgraphNode,
    CUlaunchAttributeID, CUlaunchAttributeValue,
};

use super::{Capture, Contents, Graph, GraphNode};
use crate::driver_call;
use crate::error::Result;
use crate::launch::config::LaunchConfig;
use crate::launch::extended;
use crate::module::function::{CheckedLaunch, Function};
use crate::module::params::Arguments;
use crate::stream::event::Event;
use crate::stream::host_fn::{self, Repeated};
use crate::sync::Arc;

/// The value that a memset node repeats: one, two or four bytes.
///
/// # Examples
///
/// ```
/// use cuda_driver::Fill;
///
/// assert_ne!(Fill::U8(0), Fill::U32(0));          // another width sets another number of bytes
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// A byte.
    U8(u8),
    /// Two bytes.
    U16(u16),
    /// Four bytes.
    U32(u32),
}

impl Fill {
    /// The node's parameters for `count` values from `to` on.
    pub(super) fn params(self, to: CUdeviceptr, count: usize) -> CUDA_MEMSET_NODE_PARAMS {
        let (value, size) = match self {
            Fill::U8(value) => (value.into(), 1),
            Fill::U16(value) => (value.into(), 2),
            Fill::U32(value) => (value, 4),
        };
        CUDA_MEMSET_NODE_PARAMS { dst: to, pitch: 0, value, elementSize: size, width: count, height: 1 }
    }
}

/// The parameters of a kernel node; `params` must outlive the call that they are passed to.
pub(super) fn kernel_params(launch: &CheckedLaunch<'_>, params: &mut [*mut c_void]) -> CUDA_KERNEL_NODE_PARAMS {
    let ([gx, gy, gz], [bx, by, bz]) = (launch.grid(), launch.block());
    CUDA_KERNEL_NODE_PARAMS {
        func: launch.function().as_raw(),
        gridDimX: gx,
        gridDimY: gy,
        gridDimZ: gz,
        blockDimX: bx,
        blockDimY: by,
        blockDimZ: bz,
        sharedMemBytes: launch.dynamic_shared_bytes(),
        kernelParams: params.as_mut_ptr(),
        extra: std::ptr::null_mut(),
        kern: std::ptr::null_mut(),
        ctx: std::ptr::null_mut(),
    }
}

/// The parameters of a host node for a closure, and the object that keeps the closure alive.
pub(super) fn host_params(work: impl Fn() + Send + Sync + 'static) -> (CUDA_HOST_NODE_PARAMS, Arc<Repeated>) {
    let work: Arc<Repeated> = Arc::new(Box::new(work));
    let data = Arc::as_ptr(&work).cast_mut().cast::<c_void>();
    (CUDA_HOST_NODE_PARAMS { fn_: Some(host_fn::run_repeated), userData: data }, work)
}

impl Graph {
    /// Adds a node with `add`, which gets the graph, the dependencies and their number, and keeps `needed` for it.
    pub(super) fn add(
        &self,
        after: &[GraphNode],
        needed: Option<Arc<dyn Any + Send + Sync>>,
        add: impl FnOnce(&mut CUgraphNode, CUgraph, *const CUgraphNode, usize) -> Result<()>,
    ) -> Result<GraphNode> {
        let mut contents = self.0.contents.lock();
        let after = self.raw_dependencies(&contents, after)?;
        let mut raw = std::ptr::null_mut();
        add(&mut raw, self.0.raw, after.as_ptr(), after.len())?;
        if let Some(needed) = needed {
            contents.keep(raw, needed);
        }
        Ok(self.node(&contents, raw))
    }

    /// The raw handles without duplicates, if all nodes are this graph's.
    fn raw_dependencies(&self, contents: &Contents, after: &[GraphNode]) -> Result<Vec<CUgraphNode>> {
        let mut nodes = Vec::with_capacity(after.len());
        for node in after {
            self.expect_own(contents, *node)?;
            if !nodes.contains(&node.raw) {
                nodes.push(node.raw);
            }
        }
        Ok(nodes)
    }

    /// Adds an empty node, which only orders its successors after its dependencies.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let graph = cuda_driver::Graph::new(&context)?;
    /// let (a, b) = (graph.add_host_fn(&[], || println!("a"))?, graph.add_host_fn(&[], || println!("b"))?);
    /// let both = graph.add_empty(&[a, b])?;
    /// graph.add_host_fn(&[both], || println!("after both"))?;
    /// assert_eq!(graph.edges()?.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) for a dependency of another graph; [`Error::Driver`](crate::Error::Driver)
    /// with the driver's status.
    pub fn add_empty(&self, after: &[GraphNode]) -> Result<GraphNode> {
        self.add(after, None, |node, graph, after, count| {
            // SAFETY: the graph is live and the dependencies are its own; `node` lives through the call.
            unsafe { driver_call!(self.context(), cuGraphAddEmptyNode(node, graph, after, count)) }
        })
    }

    /// Adds a kernel node; the stream in the configuration is ignored.
    ///
    /// The values of the parameters are copied now.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::{Driver, Graph, LaunchConfig, Module, Stream};
    ///
    /// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n";
    /// // SAFETY: the kernel touches no memory.
    /// let nothing = unsafe { Module::load_ptx(&context, ptx) }?.function("nothing")?;
    /// let graph = Graph::new(&context)?;
    /// // SAFETY: the kernel has no parameters.
    /// let first = unsafe { graph.add_kernel(&[], &nothing, &LaunchConfig::new(4, 32), &mut []) }?;
    /// // SAFETY: the kernel has no parameters.
    /// unsafe { graph.add_kernel(&[first], &nothing, &LaunchConfig::new(1, 32), &mut []) }?;
    /// let stream = Stream::new(&context)?;
    /// graph.instantiate()?.launch(&stream, ())?;
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::LaunchConfig`](crate::Error::LaunchConfig) if the device or the function cannot run the configuration;
    /// [`Error::Graph`](crate::Error::Graph) for a dependency of another graph;
    /// [`Error::Invalid`](crate::Error::Invalid) for another number of parameters than the function has, or a function
    /// of another context; [`Error::Driver`](crate::Error::Driver) with the driver's status.
    ///
    /// # Safety
    ///
    /// As for [`Function::launch`], at every launch of the graph.
    pub unsafe fn add_kernel(
        &self,
        after: &[GraphNode],
        function: &Function,
        config: &LaunchConfig,
        params: &mut [*mut c_void],
    ) -> Result<GraphNode> {
        self.context().expect_same(function.context(), &format_args!("function `{}`", function.name()))?;
        let launch = function.check_config(config)?;
        launch.prepare_for_graph(params)?;
        let kernel = kernel_params(&launch, params);
        let node = self.add(after, Some(Arc::new(function.clone())), |node, graph, after, count| {
            // SAFETY: the graph is live, the dependencies are its own, and the parameters live through the call; the
            // caller answers for them.
            unsafe { driver_call!(self.context(), cuGraphAddKernelNode_v2(node, graph, after, count, &kernel)) }
        })?;
        if launch.is_cooperative() {
            self.set_attribute(node, extended::cooperative())?;
        }
        if let Some(extents) = launch.cluster() {
            self.set_attribute(node, extended::cluster_dimension(extents))?;
        }
        Ok(node)
    }

    /// Adds a kernel node with a tuple of values, whose number and sizes are checked as in [`Function::launch_with`].
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # use cuda_driver::{Driver, Graph, LaunchConfig, Module};
    /// # let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let ptx = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry ignore(.param .u32 n)\n{\n\tret;\n}\n";
    /// // SAFETY: the kernel touches no memory.
    /// let ignore = unsafe { Module::load_ptx(&context, ptx) }?.function("ignore")?;
    /// let (graph, config) = (Graph::new(&context)?, LaunchConfig::new(1, 32));
    /// // SAFETY: the kernel has one parameter of four bytes.
    /// let node = unsafe { graph.add_kernel_with(&[], &ignore, &config, (7_u32,)) }?;
    /// // SAFETY: the kernel has one parameter of four bytes.
    /// unsafe { graph.instantiate()?.set_kernel_with(node, &ignore, &config, (8_u32,)) }?;
    /// // SAFETY: nothing is added.
    /// let error = unsafe { graph.add_kernel_with(&[], &ignore, &config, (7_u64,)) }.unwrap_err();
    /// assert!(error.to_string().starts_with("parameter 0 of function `ignore` has 4 bytes, and a value of 8 was given"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`add_kernel`](Graph::add_kernel) and [`Function::launch_with`].
    ///
    /// # Safety
    ///
    /// As for [`add_kernel`](Graph::add_kernel).
    pub unsafe fn add_kernel_with(
        &self,
        after: &[GraphNode],
        function: &Function,
        config: &LaunchConfig,
        values: impl Arguments,
    ) -> Result<GraphNode> {
        // SAFETY: the caller keeps the contract of `add_kernel`.
        function.with_values(values, |pointers| unsafe { self.add_kernel(after, function, config, pointers) })
    }

    /// Sets a launch attribute of a kernel node.
    fn set_attribute(
        &self,
        node: GraphNode,
        (attribute, value): (CUlaunchAttributeID, CUlaunchAttributeValue),
    ) -> Result<()> {
        let _contents = self.0.contents.lock();
        // SAFETY: the node is a kernel of this graph, and the value is of the attribute's type.
        unsafe { driver_call!(self.context(), cuGraphKernelNodeSetAttribute(node.raw, attribute, &value)) }
    }

    /// Adds a memset node: sets `count` values from `to` on.
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
    /// // SAFETY: there are 64 bytes of memory, aligned for that, which nothing else uses.
    /// unsafe { graph.add_memset(&[], memory, Fill::U32(u32::MAX), 16) }?;
    /// graph.instantiate()?.launch(&context.default_stream(), ())?;
    /// # context.synchronize()?;
    /// # // SAFETY: nothing uses it any more.
    /// # unsafe { cuda_driver::driver_call!(&context, cuMemFree_v2(memory)) }?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`add_copy`](Graph::add_copy).
    ///
    /// # Safety
    ///
    /// At every launch of the graph, the range is live device memory of this context, aligned to the value's size, and
    /// nothing else accesses it meanwhile.
    pub unsafe fn add_memset(
        &self,
        after: &[GraphNode],
        to: CUdeviceptr,
        value: Fill,
        count: usize,
    ) -> Result<GraphNode> {
        let (fill, context) = (value.params(to, count), self.context());
        self.add(after, None, |node, graph, after, count| {
            // SAFETY: the graph is live and the dependencies are its own; the caller answers for the range.
            unsafe { driver_call!(context, cuGraphAddMemsetNode(node, graph, after, count, &fill, context.as_raw())) }
        })
    }

    /// Adds a host node, which calls `work` on a thread of the driver at each launch.
    ///
    /// `work` must not call CUDA: the driver refuses it or hangs. A panic in it is caught and reported through
    /// [`tracing`].
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Graph;
    ///
    /// let graph = Graph::new(&context)?;
    /// let first = graph.add_host_fn(&[], || println!("first"))?;
    /// graph.add_host_fn(&[first], || println!("then"))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) for a dependency of another graph; [`Error::Driver`](crate::Error::Driver)
    /// with the driver's status.
    pub fn add_host_fn(&self, after: &[GraphNode], work: impl Fn() + Send + Sync + 'static) -> Result<GraphNode> {
        let (host, work) = host_params(work);
        self.add(after, Some(work), |node, graph, after, count| {
            // SAFETY: the graph is live, the dependencies are its own, and the graph keeps the closure that the
            // parameters point to.
            unsafe { driver_call!(self.context(), cuGraphAddHostNode(node, graph, after, count, &host)) }
        })
    }

    /// Adds a node that records `event` at each launch.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Event, Graph, Stream};
    ///
    /// let (stream, reached) = (Stream::new(&context)?, Event::new(&context)?);
    /// let graph = Graph::new(&context)?;
    /// graph.add_event_record(&[], &reached)?;
    /// graph.instantiate()?.launch(&stream, ())?;
    /// stream.synchronize()?;
    /// assert!(reached.query()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) for an event of another context; else as for
    /// [`add_empty`](Graph::add_empty).
    pub fn add_event_record(&self, after: &[GraphNode], event: &Event) -> Result<GraphNode> {
        self.context().expect_same(event.context(), event)?;
        let raw = event.raw_to_record();
        let added = self.add(after, None, |node, graph, after, count| {
            // SAFETY: the graph is live, the dependencies are its own, and the graph keeps the event.
            unsafe { driver_call!(self.context(), cuGraphAddEventRecordNode(node, graph, after, count, raw)) }
        })?;
        self.0.contents.lock().events.events.push((added.raw.addr(), event.clone()));
        Ok(added)
    }

    /// Adds a node that waits for `event`, in the state that it has when the graph is launched.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Event, Graph, Stream};
    ///
    /// let (first, second, ready) = (Stream::new(&context)?, Stream::new(&context)?, Event::without_timing(&context)?);
    /// let graph = Graph::new(&context)?;
    /// let wait = graph.add_event_wait(&[], &ready)?;
    /// graph.add_host_fn(&[wait], || println!("used"))?;
    /// let exec = graph.instantiate()?;
    /// first.launch_host_fn(|| println!("made"))?;
    /// ready.record(&first)?;
    /// exec.launch(&second, ())?;             // "used" comes after "made"
    /// second.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`add_event_record`](Graph::add_event_record).
    pub fn add_event_wait(&self, after: &[GraphNode], event: &Event) -> Result<GraphNode> {
        self.context().expect_same(event.context(), event)?;
        let raw = event.as_raw();
        self.add(after, Some(Arc::new(event.clone())), |node, graph, after, count| {
            // SAFETY: the graph is live, the dependencies are its own, and the graph keeps the event.
            unsafe { driver_call!(self.context(), cuGraphAddEventWaitNode(node, graph, after, count, raw)) }
        })
    }

    /// Adds `child`, in its present state, as one node.
    ///
    /// If captured kernels of both access the same memory, and one of them writes it, the child is ordered after all
    /// present nodes; in the body of a conditional node, that node is then ordered after the nodes of its own graph.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Graph;
    ///
    /// let (graph, child) = (Graph::new(&context)?, Graph::capture(&context, |c| c.launch_host_fn(|| ()))?);
    /// let first = graph.add_child(&[], &child)?;
    /// graph.add_child(&[first], &child)?;
    /// assert_eq!(graph.nodes()?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`](crate::Error::Invalid) for a graph of another context; else as for
    /// [`add_empty`](Graph::add_empty).
    pub fn add_child(&self, after: &[GraphNode], child: &Graph) -> Result<GraphNode> {
        self.context().expect_same(child.context(), &"the child graph")?;
        // A copy, so that the locks of two graphs, which may be the same graph, are never held together.
        let (copy, needed) = child.copy()?;
        let mut contents = self.0.contents.lock();
        let mut after = self.raw_dependencies(&contents, after)?;
        if contents.conflicts_with(&needed) {
            after = self.raw_nodes()?;
            self.order_owner()?;
        }
        let (mut raw, graph, child) = (std::ptr::null_mut(), self.0.raw, copy.0.raw);
        let (list, count) = (after.as_ptr(), after.len());
        // SAFETY: both graphs are live, nothing else uses the copy, and the dependencies are this graph's own.
        unsafe { driver_call!(self.context(), cuGraphAddChildGraphNode(&mut raw, graph, list, count, child)) }?;
        contents.absorb(needed);
        Ok(self.node(&contents, raw))
    }

    /// Captures `work` and adds the result as one node: [`capture`](Graph::capture) and [`add_child`](Graph::add_child)
    /// in one. On an error nothing is added.
    ///
    /// It brings typed launches into a graph that is built of nodes, and into the bodies of conditional nodes.
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
    /// let (_, body) = graph.add_if(&[], graph.conditional_handle(Some(1))?)?;
    /// body.add_captured(&[], |c| {
    ///     // SAFETY: the kernel has no parameters.
    ///     unsafe { c.launch(&nothing, &LaunchConfig::new(4, 32), &mut []) }
    /// })?;
    /// graph.instantiate()?.launch(&context.default_stream(), ())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Graph::capture`] and [`add_child`](Graph::add_child).
    ///
    /// # Panics
    ///
    /// With the panic of `work`, after the capture has ended.
    pub fn add_captured(&self, after: &[GraphNode], work: impl FnOnce(&Capture) -> Result<()>) -> Result<GraphNode> {
        self.add_child(after, &Graph::capture(self.context(), work)?)
    }

    /// Clones the graph with the contents that its nodes need.
    fn copy(&self) -> Result<(Graph, Contents)> {
        let contents = self.0.contents.lock();
        let mut raw = std::ptr::null_mut();
        // SAFETY: the graph is live, and `raw` lives through the call.
        unsafe { driver_call!(self.context(), cuGraphClone(&mut raw, self.0.raw)) }?;
        Ok((Graph::from_parts(self.context(), raw, contents.clone()), contents.clone()))
    }
}
