//! Nodes that allocate and free memory. The address is known when the node is added; the memory exists between the two
//! nodes.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are those of all nodes, and pointers that live through the call.

use std::ffi::c_void;

use cuda_sys::{
    CUDA_MEM_ALLOC_NODE_PARAMS, CUdeviceptr, CUgraphMem_attribute as Attribute, CUmemAllocationHandleType,
    CUmemAllocationType, CUmemLocation, CUmemLocationType, CUmemPoolProps,
};

use super::{Graph, GraphNode};
use crate::device::Device;
use crate::driver_call;
use crate::error::Result;

impl Graph {
    /// Adds a node that allocates memory on the graph's device. Returns the node and the address.
    ///
    /// The memory exists for nodes that come after this one, until a node that [frees](Graph::add_free) it. Without
    /// such a node it stays after the launch, until `cuMemFree` or `cuMemFreeAsync`, and the graph cannot be launched
    /// again before, unless it was instantiated with [`auto_free`](super::InstantiateOptions::auto_free). A graph that
    /// allocates or frees has one executable graph at a time, and neither nodes nor dependencies can be removed from
    /// it.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::{CopySide, Driver, Fill, Graph, MemoryCopy, Stream};
    ///
    /// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let mut host = [0_u8; 64];
    /// let graph = Graph::new(&context)?;
    /// let (allocated, memory) = graph.add_alloc(&[], 64)?;
    /// // SAFETY: the memory lives from the first node to the last one, and the host's until the graph has run.
    /// unsafe {
    ///     let filled = graph.add_memset(&[allocated], memory, Fill::U8(7), 64)?;
    ///     let down = MemoryCopy::line(CopySide::host(host.as_mut_ptr().cast()), CopySide::device(memory), 64);
    ///     let copied = graph.add_copy(&[filled], &down)?;
    ///     graph.add_free(&[copied], memory)?;
    /// }
    /// let stream = Stream::new(&context)?;
    /// graph.instantiate()?.launch(&stream, ())?;
    /// stream.synchronize()?;
    /// assert_eq!(host, [7; 64]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) for a dependency of another graph; [`Error::Driver`](crate::Error::Driver)
    /// with the driver's status, such as `CUDA_ERROR_INVALID_VALUE` for 0 bytes.
    pub fn add_alloc(&self, after: &[GraphNode], bytes: usize) -> Result<(GraphNode, CUdeviceptr)> {
        let device = self.context().device().as_raw()?;
        let location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device };
        let mut wanted = CUDA_MEM_ALLOC_NODE_PARAMS {
            poolProps: CUmemPoolProps {
                allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
                handleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
                location,
                ..CUmemPoolProps::default()
            },
            accessDescs: std::ptr::null(),
            accessDescCount: 0,
            bytesize: bytes,
            dptr: 0,
        };
        let node = self.add(after, None, |node, graph, after, count| {
            // SAFETY: the graph is live, the dependencies are its own, and the driver writes the address into
            // parameters that live through the call.
            unsafe { driver_call!(self.context(), cuGraphAddMemAllocNode(node, graph, after, count, &mut wanted)) }
        })?;
        Ok((node, wanted.dptr))
    }

    /// Adds a node that frees memory which a node of a graph [allocates](Graph::add_alloc).
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) for a dependency of another graph; [`Error::Driver`](crate::Error::Driver)
    /// with `CUDA_ERROR_INVALID_VALUE` for other memory, and for memory that another node frees.
    ///
    /// # Safety
    ///
    /// At every launch of the graph, everything that accesses the memory comes before this node.
    pub unsafe fn add_free(&self, after: &[GraphNode], memory: CUdeviceptr) -> Result<GraphNode> {
        self.add(after, None, |node, graph, after, count| {
            // SAFETY: the graph is live and the dependencies are its own; the driver checks the address, and the caller
            // answers for the order.
            unsafe { driver_call!(self.context(), cuGraphAddMemFreeNode(node, graph, after, count, memory)) }
        })
    }
}

/// The memory of a device that graphs hold, in bytes.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// let device = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?;
/// let memory = device.graph_memory()?;
/// assert!(memory.used <= memory.reserved && memory.used <= memory.used_most);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphMemory {
    /// Bytes that are allocated now.
    pub used: u64,
    /// The peak of the allocated bytes.
    pub used_most: u64,
    /// Bytes that are reserved for graphs now.
    pub reserved: u64,
    /// The peak of the reserved bytes.
    pub reserved_most: u64,
}

impl Device {
    /// The memory of the device that the graphs of the process hold.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn graph_memory(&self) -> Result<GraphMemory> {
        let device = self.as_raw()?;
        let ask = |attribute| {
            let mut bytes = 0_u64;
            let to = (&raw mut bytes).cast::<c_void>();
            // SAFETY: the value of each of these attributes is one number of 64 bits, which lives through the call.
            unsafe { driver_call!(self.driver(), cuDeviceGetGraphMemAttribute(device, attribute, to)) }.map(|()| bytes)
        };
        Ok(GraphMemory {
            used: ask(Attribute::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT)?,
            used_most: ask(Attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)?,
            reserved: ask(Attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT)?,
            reserved_most: ask(Attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)?,
        })
    }

    /// Returns unused memory that is reserved for graphs to the system.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.trim_graph_memory()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    pub fn trim_graph_memory(&self) -> Result<()> {
        let device = self.as_raw()?;
        // SAFETY: the device exists.
        unsafe { driver_call!(self.driver(), cuDeviceGraphMemTrim(device)) }
    }
}
