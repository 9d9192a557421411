//! Functions that add nodes to graphs.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use super::super::params::NewNode;
use super::{GRAPHS, INVALID, Status, Work, api, get, initialised, params, plain, put, raw_node};
use crate::driver::launch::LaunchKind;
use cuda_sys::{
    CUDA_BATCH_MEM_OP_NODE_PARAMS, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, CUDA_EXT_SEM_WAIT_NODE_PARAMS,
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1, CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdeviceptr, CUevent, CUgraph, CUgraphEdgeData, CUgraphNode,
    CUgraphNodeParams, CUgraphNodeType, CUresult,
};

/// The position of a new node in its graph.
struct NodePosition {
    out: *mut CUgraphNode,
    graph: CUgraph,
    after: *const CUgraphNode,
    count: usize,
}

impl NodePosition {
    /// Checks that the graph exists, before any client pointer is read.
    fn known(&self) -> Status {
        initialised()?;
        GRAPHS.lock().graph(self.graph.addr()).map(|_| ())
    }

    /// Adds the node. Its parameters are read once graph and dependencies have been checked.
    fn add(&self, wanted: impl FnOnce() -> Result<NewNode, CUresult>) -> Status {
        initialised()?;
        if self.out.is_null() {
            return Err(INVALID);
        }
        self.known()?;
        let after = params::handles(self.after, self.count)?;
        GRAPHS.lock().graph(self.graph.addr())?.check(&after)?;
        let wanted = wanted()?;
        put(self.out, raw_node(params::create(&mut GRAPHS.lock(), self.graph.addr(), &after, wanted)?))
    }

    fn add_work(&self, work: impl FnOnce() -> Result<Work, CUresult>) -> Status {
        self.add(|| work().map(NewNode::Work))
    }

    /// Adds a node of any kind. The address of an allocation, or the bodies of a conditional node, are written to the
    /// parameters.
    fn add_any(&self, p: *mut CUgraphNodeParams) -> Status {
        self.known()?;
        let mut new = get(p)?;
        self.add(|| params::any(&mut new, LaunchKind::default()))?;
        if new.type_ == CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL {
            let mut graphs = GRAPHS.lock();
            let node = graphs.node(get(self.out)?.addr())?;
            new.anon_1.conditional.phGraph_out = node.exposed.as_mut_ptr().cast();
        }
        put(p, new)
    }

    /// Refuses nodes of an unsupported kind.
    fn missing(&self, kind: &str) -> Status {
        self.known()?;
        tracing::warn!("graph nodes of {kind} are not supported");
        Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
    }
}

/// Defines functions whose first arguments are the position of the new node.
macro_rules! adders {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) |$place:ident| $body:block)+) => {
        api! {
            $(fn $name(
                out: *mut CUgraphNode,
                graph: CUgraph,
                after: *const CUgraphNode,
                count: usize,
                $($arg: $ty),*
            ) {
                let $place = NodePosition { out, graph, after, count };
                $body
            })+
            fn cuGraphAddNode_v2(
                out: *mut CUgraphNode,
                graph: CUgraph,
                after: *const CUgraphNode,
                edges: *const CUgraphEdgeData,
                count: usize,
                p: *mut CUgraphNodeParams,
            ) {
                let place = NodePosition { out, graph, after, count };
                place.known()?;
                plain(edges, count)?;
                place.add_any(p)
            }
        }
    };
}

adders! {
    fn cuGraphAddKernelNode(p: *const CUDA_KERNEL_NODE_PARAMS_v1) |place| {
        place.add_work(|| params::kernel(&params::of_v1(get(p)?), LaunchKind::default()))
    }
    fn cuGraphAddKernelNode_v2(p: *const CUDA_KERNEL_NODE_PARAMS) |place| {
        place.add_work(|| params::kernel(&get(p)?, LaunchKind::default()))
    }
    fn cuGraphAddMemcpyNode(p: *const CUDA_MEMCPY3D, on: CUcontext) |place| {
        place.add_work(|| params::memcpy(&get(p)?, on))
    }
    fn cuGraphAddMemsetNode(p: *const CUDA_MEMSET_NODE_PARAMS, on: CUcontext) |place| {
        place.add_work(|| params::memset(&get(p)?, on))
    }
    fn cuGraphAddHostNode(p: *const CUDA_HOST_NODE_PARAMS) |place| { place.add_work(|| params::host(get(p)?)) }
    fn cuGraphAddChildGraphNode(child: CUgraph) |place| { place.add(|| Ok(NewNode::Child(child.addr()))) }
    fn cuGraphAddEmptyNode() |place| { place.add_work(|| Ok(Work::Empty)) }
    fn cuGraphAddEventRecordNode(event: CUevent) |place| { place.add_work(|| params::record(event)) }
    fn cuGraphAddEventWaitNode(event: CUevent) |place| { place.add_work(|| params::wait(event)) }
    fn cuGraphAddMemAllocNode(p: *mut CUDA_MEM_ALLOC_NODE_PARAMS) |place| {
        place.known()?;
        let mut new = get(p)?;
        place.add_work(|| params::alloc(&mut new))?;
        put(p, new)
    }
    fn cuGraphAddMemFreeNode(address: CUdeviceptr) |place| { place.add_work(|| params::free(address)) }
    fn cuGraphAddNode(p: *mut CUgraphNodeParams) |place| { place.add_any(p) }
    fn cuGraphAddExternalSemaphoresSignalNode(_p: *const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS) |place| {
        place.missing("external semaphores")
    }
    fn cuGraphAddExternalSemaphoresWaitNode(_p: *const CUDA_EXT_SEM_WAIT_NODE_PARAMS) |place| {
        place.missing("external semaphores")
    }
    fn cuGraphAddBatchMemOpNode(_p: *const CUDA_BATCH_MEM_OP_NODE_PARAMS) |place| {
        place.missing("batches of operations on memory")
    }
}
