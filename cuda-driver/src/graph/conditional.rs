//! Conditional nodes: body graphs that run depending on a value that kernels set.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are those of all nodes, and pointers that live through the
//! call. The list of bodies that the driver returns is the driver's, and has the requested length.

use cuda_sys::{
    CU_GRAPH_COND_ASSIGN_DEFAULT, CUDA_CONDITIONAL_NODE_PARAMS, CUgraph, CUgraphConditionalHandle,
    CUgraphConditionalNodeType as Type, CUgraphNodeParams, CUgraphNodeParams_anon_1, CUgraphNodeType,
};

use super::{Graph, GraphError, GraphNode};
use crate::driver_call;
use crate::error::Result;

/// The value that a conditional node tests, from [`Graph::conditional_handle`].
///
/// Kernels set it: they take [`as_raw`](ConditionalHandle::as_raw) as a parameter of 64 bits, and pass it with the new
/// value to `cudaGraphSetConditional(handle, value)`, a function of CUDA's device runtime. On NVIDIA's driver their
/// module is linked with `libcudadevrt.a` (see [`Linker`](crate::Linker)); the software device has the function built
/// in.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::Graph;
///
/// let graph = Graph::new(&context)?;
/// let number = graph.conditional_handle(Some(1))?;
/// let mut parameter: u64 = number.as_raw();               // a parameter of the kernel that sets it
/// assert_ne!(parameter, 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConditionalHandle {
    raw: CUgraphConditionalHandle,
    graph: u64,
}

impl ConditionalHandle {
    /// The handle as kernels take it; valid while its graph or an executable graph of it lives.
    #[must_use]
    pub fn as_raw(self) -> CUgraphConditionalHandle {
        self.raw
    }
}

/// The handle as kernels take it.
impl From<ConditionalHandle> for u64 {
    fn from(handle: ConditionalHandle) -> Self {
        handle.raw
    }
}

impl Graph {
    /// Creates a value for one conditional node of this graph. With a `default`, each launch begins with that; without
    /// one, with the value that kernels have set last.
    ///
    /// # Errors
    ///
    /// [`Error::MissingSymbol`](crate::Error::MissingSymbol) where the driver is older than CUDA 12.3;
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn conditional_handle(&self, default: Option<u32>) -> Result<ConditionalHandle> {
        let (context, mut raw) = (self.context(), 0);
        let flags = if default.is_some() { CU_GRAPH_COND_ASSIGN_DEFAULT } else { 0 };
        let (on, value) = (context.as_raw(), default.unwrap_or(0));
        let _contents = self.0.contents.lock();
        // SAFETY: the graph is live, and `raw` lives through the call.
        unsafe { driver_call!(context, cuGraphConditionalHandleCreate(&mut raw, self.0.raw, on, value, flags)) }?;
        Ok(ConditionalHandle { raw, graph: self.0.id })
    }

    /// Adds a node that runs its body if the value is not 0. Returns the body, without nodes; it takes kernels, copies
    /// and fills on this device, empty nodes, child graphs and [captures](Graph::add_captured) of those, and further
    /// conditional nodes.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::{CopySide, Driver, Fill, Graph, MemoryCopy, Stream, cuda_sys::CUdeviceptr, driver_call};
    ///
    /// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut device: CUdeviceptr = 0;
    /// // SAFETY: the address lives through the call.
    /// unsafe { driver_call!(&context, cuMemAlloc_v2(&mut device, 4)) }?;
    ///
    /// let graph = Graph::new(&context)?;
    /// let yes = graph.conditional_handle(Some(1))?;
    /// let (_, body) = graph.add_if(&[], yes)?;
    /// // SAFETY: the memory lives until the graph has run.
    /// unsafe { body.add_memset(&[], device, Fill::U32(7), 1) }?;
    ///
    /// let stream = Stream::new(&context)?;
    /// graph.instantiate()?.launch(&stream, ())?;
    /// stream.synchronize()?;
    /// let mut host = 0_u32;
    /// // SAFETY: both sides have four bytes.
    /// unsafe { driver_call!(&context, cuMemcpyDtoH_v2((&raw mut host).cast(), device, 4)) }?;
    /// assert_eq!(host, 7);
    /// // SAFETY: the graph has run, and nothing else uses the memory.
    /// unsafe { driver_call!(&context, cuMemFree_v2(device)) }?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) for a dependency or a handle of another graph;
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status, such as `CUDA_ERROR_INVALID_VALUE` for a
    /// handle that another node has, or `CUDA_ERROR_NOT_SUPPORTED` where the driver has no conditional nodes.
    pub fn add_if(&self, after: &[GraphNode], number: ConditionalHandle) -> Result<(GraphNode, Graph)> {
        let (node, [body]) = self.add_conditional(after, number, Type::CU_GRAPH_COND_TYPE_IF)?;
        Ok((node, body))
    }

    /// Adds a node that runs the first body if the value is not 0, else the second; on drivers from CUDA 12.8 on.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Graph;
    ///
    /// let graph = Graph::new(&context)?;
    /// let (_, then, otherwise) = graph.add_if_else(&[], graph.conditional_handle(Some(0))?)?;
    /// then.add_empty(&[])?;
    /// otherwise.add_empty(&[])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`add_if`](Graph::add_if).
    pub fn add_if_else(&self, after: &[GraphNode], number: ConditionalHandle) -> Result<(GraphNode, Graph, Graph)> {
        let (node, [then, otherwise]) = self.add_conditional(after, number, Type::CU_GRAPH_COND_TYPE_IF)?;
        Ok((node, then, otherwise))
    }

    /// Adds a node that runs its body as long as the value is not 0, which is tested before each iteration.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Graph, LaunchConfig, Module, Stream};
    ///
    /// // A kernel that ends the loop in which it runs.
    /// let ptx = "
    ///     .version 7.8
    ///     .target sm_75
    ///     .address_size 64
    ///     .extern .func cudaGraphSetConditional(.param .b64 number, .param .b32 value);
    ///     .visible .entry once(.param .u64 number) {
    ///         .reg .b64 %n;
    ///         ld.param.u64 %n, [number];
    ///         .param .b64 p0;
    ///         .param .b32 p1;
    ///         st.param.b64 [p0], %n;
    ///         st.param.b32 [p1], 0;
    ///         call.uni cudaGraphSetConditional, (p0, p1);
    ///         ret;
    ///     }";
    /// // SAFETY: the kernel only sets the value of its handle.
    /// let once = unsafe { Module::load_ptx(&context, ptx) }?.function("once")?;
    ///
    /// let graph = Graph::new(&context)?;
    /// let again = graph.conditional_handle(Some(1))?;
    /// let (_, body) = graph.add_while(&[], again)?;
    /// let config = LaunchConfig::new(1, 1);
    /// // SAFETY: the kernel's parameter is a handle of this graph.
    /// unsafe { body.add_kernel_with(&[], &once, &config, (again.as_raw(),)) }?;
    /// let stream = Stream::new(&context)?;
    /// graph.instantiate()?.launch(&stream, ())?;
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`add_if`](Graph::add_if).
    pub fn add_while(&self, after: &[GraphNode], number: ConditionalHandle) -> Result<(GraphNode, Graph)> {
        let (node, [body]) = self.add_conditional(after, number, Type::CU_GRAPH_COND_TYPE_WHILE)?;
        Ok((node, body))
    }

    /// Adds a node that runs the body with the value as its index, and none if there are fewer bodies; on drivers from
    /// CUDA 12.8 on.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Graph;
    ///
    /// let graph = Graph::new(&context)?;
    /// let (_, [zero, one, two]) = graph.add_switch(&[], graph.conditional_handle(Some(2))?)?;
    /// for case in [zero, one, two] {
    ///     case.add_empty(&[])?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`add_if`](Graph::add_if).
    pub fn add_switch<const N: usize>(
        &self,
        after: &[GraphNode],
        number: ConditionalHandle,
    ) -> Result<(GraphNode, [Graph; N])> {
        self.add_conditional(after, number, Type::CU_GRAPH_COND_TYPE_SWITCH)
    }

    fn add_conditional<const N: usize>(
        &self,
        after: &[GraphNode],
        number: ConditionalHandle,
        kind: Type,
    ) -> Result<(GraphNode, [Graph; N])> {
        if number.graph != self.0.id {
            return Err(GraphError::OtherGraph.into());
        }
        let context = self.context();
        let mut params = CUgraphNodeParams {
            type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
            reserved0: [0; 3],
            anon_1: CUgraphNodeParams_anon_1 { reserved1: [0; 29] },
            reserved2: 0,
        };
        params.anon_1.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
            handle: number.raw,
            type_: kind,
            size: N as u32,
            phGraph_out: std::ptr::null_mut(),
            ctx: context.as_raw(),
        };
        let edges = std::ptr::null();
        let node = self.add(after, None, |node, graph, after, count| {
            // SAFETY: the graph is live, the dependencies are its own, no edge data is passed, and the parameters live
            // through the call.
            unsafe { driver_call!(context, cuGraphAddNode_v2(node, graph, after, edges, count, &mut params)) }
        })?;
        // SAFETY: this variant of the union was written, and the driver has added its list.
        let bodies: *mut CUgraph = unsafe { params.anon_1.conditional.phGraph_out };
        // SAFETY: the list has the requested number of graphs, and lives as long as the node, which cannot be removed.
        let bodies: [CUgraph; N] = unsafe { bodies.cast::<[CUgraph; N]>().read() };
        Ok((node, bodies.map(|body| self.body(node, body))))
    }

    /// If this graph is the body of a conditional node, orders that node after all nodes of its graph but its own
    /// dependents, so that what is added to the body is ordered after that graph's work. The caller holds the lock.
    pub(super) fn order_owner(&self) -> Result<()> {
        let Some((owner, GraphNode { raw: node, .. })) = &self.0.owner else { return Ok(()) };
        let edges = owner.raw_edges()?;
        let mut later = vec![*node];
        while let Some((_, next)) = edges.iter().find(|(from, to)| later.contains(from) && !later.contains(to)) {
            later.push(*next);
        }
        let graph = owner.0.raw;
        for before in owner.raw_nodes()?.iter().filter(|other| !later.contains(other)) {
            if !edges.contains(&(*before, *node)) {
                // SAFETY: the graph is live and both nodes are its own; the lists of one element live through the call.
                unsafe { driver_call!(self.context(), cuGraphAddDependencies(graph, before, node, 1)) }?;
            }
        }
        owner.order_owner()
    }
}
