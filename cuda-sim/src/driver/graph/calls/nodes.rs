//! Functions that read and change the parameters of nodes.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use super::super::nodes::Node;
use super::super::params::NewNode;
use super::{GRAPHS, INVALID, Status, Work, api, get, initialised, params, put, raw_graph};
use crate::driver::launch::LaunchKind;
use cuda_sys::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1, CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUdeviceptr, CUevent, CUgraph, CUgraphNode, CUgraphNodeParams,
    CUgraphNodeType as Kind, CUkernelNodeAttrID, CUkernelNodeAttrValue, CUresult,
};

/// Writes a property of a node.
fn put_property<T>(of: CUgraphNode, to: *mut T, what: impl FnOnce(&mut Node) -> Result<T, CUresult>) -> Status {
    initialised()?;
    let answer = what(GRAPHS.lock().node(of.addr())?)?;
    put(to, answer)
}

/// Replaces a node's parameters; context and launch kind stay if the new parameters do not specify them.
fn change(
    of: CUgraphNode,
    kind: Kind,
    work: impl FnOnce(cuda_sys::CUcontext, LaunchKind) -> Result<Work, CUresult>,
) -> Status {
    initialised()?;
    let (context, launch) = params::kept(&GRAPHS.lock().node(of.addr())?.work);
    let work = work(context, launch)?;
    GRAPHS.lock().change(of.addr(), kind, work)
}

/// Refuses kinds of nodes whose parameters are fixed: allocations, frees, child graphs and conditional nodes.
pub(super) fn changeable(kind: Kind) -> Status {
    match kind {
        Kind::CU_GRAPH_NODE_TYPE_MEM_ALLOC
        | Kind::CU_GRAPH_NODE_TYPE_MEM_FREE
        | Kind::CU_GRAPH_NODE_TYPE_GRAPH
        | Kind::CU_GRAPH_NODE_TYPE_CONDITIONAL => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
        _ => Ok(()),
    }
}

/// Returns the work for parameters of any kind that can be changed.
pub(super) fn any(mut p: CUgraphNodeParams, kind: LaunchKind) -> Result<Work, CUresult> {
    changeable(p.type_)?;
    match params::any(&mut p, kind)? {
        NewNode::Work(work) => Ok(work),
        NewNode::Child(_) | NewNode::Conditional(_) => Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
    }
}

fn set_kernel(of: CUgraphNode, p: impl FnOnce() -> Result<CUDA_KERNEL_NODE_PARAMS, CUresult>) -> Status {
    change(of, Kind::CU_GRAPH_NODE_TYPE_KERNEL, |_, kind| params::kernel(&p()?, kind))
}

/// Checks that a node exists, before any client pointer is read.
fn known(of: CUgraphNode) -> Status {
    initialised()?;
    GRAPHS.lock().node(of.addr()).map(|_| ())
}

fn copy_attributes(to: CUgraphNode, from: CUgraphNode) -> Status {
    initialised()?;
    let mut graphs = GRAPHS.lock();
    let source = graphs.node(from.addr())?;
    let kind = params::kind_of(source)?;
    let attributes = source.attributes.clone();
    let target = graphs.node(to.addr())?;
    params::set_kind(target, kind)?;
    target.attributes = attributes;
    Ok(())
}

api! {
    fn cuGraphKernelNodeGetParams(of: CUgraphNode, to: *mut CUDA_KERNEL_NODE_PARAMS_v1) {
        put_property(of, to, |node| Ok(params::to_v1(&params::kernel_of(node)?)))
    }
    fn cuGraphKernelNodeGetParams_v2(of: CUgraphNode, to: *mut CUDA_KERNEL_NODE_PARAMS) {
        put_property(of, to, params::kernel_of)
    }
    fn cuGraphKernelNodeSetParams(of: CUgraphNode, p: *const CUDA_KERNEL_NODE_PARAMS_v1) {
        set_kernel(of, || get(p).map(params::of_v1))
    }
    fn cuGraphKernelNodeSetParams_v2(of: CUgraphNode, p: *const CUDA_KERNEL_NODE_PARAMS) { set_kernel(of, || get(p)) }
    fn cuGraphMemcpyNodeGetParams(of: CUgraphNode, to: *mut CUDA_MEMCPY3D) {
        put_property(of, to, |node| params::memcpy_of(node))
    }
    fn cuGraphMemcpyNodeSetParams(of: CUgraphNode, p: *const CUDA_MEMCPY3D) {
        change(of, Kind::CU_GRAPH_NODE_TYPE_MEMCPY, |context, _| params::memcpy(&get(p)?, context))
    }
    fn cuGraphMemsetNodeGetParams(of: CUgraphNode, to: *mut CUDA_MEMSET_NODE_PARAMS) {
        put_property(of, to, |node| params::memset_of(node))
    }
    fn cuGraphMemsetNodeSetParams(of: CUgraphNode, p: *const CUDA_MEMSET_NODE_PARAMS) {
        change(of, Kind::CU_GRAPH_NODE_TYPE_MEMSET, |context, _| params::memset(&get(p)?, context))
    }
    fn cuGraphHostNodeGetParams(of: CUgraphNode, to: *mut CUDA_HOST_NODE_PARAMS) {
        put_property(of, to, |node| params::host_of(node))
    }
    fn cuGraphHostNodeSetParams(of: CUgraphNode, p: *const CUDA_HOST_NODE_PARAMS) {
        change(of, Kind::CU_GRAPH_NODE_TYPE_HOST, |_, _| params::host(get(p)?))
    }
    fn cuGraphChildGraphNodeGetGraph(of: CUgraphNode, to: *mut CUgraph) {
        put_property(of, to, |node| params::child_of(node).map(raw_graph))
    }
    fn cuGraphEventRecordNodeGetEvent(of: CUgraphNode, to: *mut CUevent) {
        put_property(of, to, |node| params::event_of(node, Kind::CU_GRAPH_NODE_TYPE_EVENT_RECORD))
    }
    fn cuGraphEventRecordNodeSetEvent(of: CUgraphNode, event: CUevent) {
        change(of, Kind::CU_GRAPH_NODE_TYPE_EVENT_RECORD, |_, _| params::record(event))
    }
    fn cuGraphEventWaitNodeGetEvent(of: CUgraphNode, to: *mut CUevent) {
        put_property(of, to, |node| params::event_of(node, Kind::CU_GRAPH_NODE_TYPE_WAIT_EVENT))
    }
    fn cuGraphEventWaitNodeSetEvent(of: CUgraphNode, event: CUevent) {
        change(of, Kind::CU_GRAPH_NODE_TYPE_WAIT_EVENT, |_, _| params::wait(event))
    }
    fn cuGraphMemAllocNodeGetParams(of: CUgraphNode, to: *mut CUDA_MEM_ALLOC_NODE_PARAMS) {
        put_property(of, to, |node| params::alloc_of(node))
    }
    fn cuGraphMemFreeNodeGetParams(of: CUgraphNode, to: *mut CUdeviceptr) { put_property(of, to, |node| params::free_of(node)) }
    fn cuGraphNodeSetParams(of: CUgraphNode, p: *mut CUgraphNodeParams) {
        known(of)?;
        let new = get(p)?;
        change(of, new.type_, |_, kind| any(new, kind))
    }
    fn cuGraphKernelNodeCopyAttributes(to: CUgraphNode, from: CUgraphNode) { copy_attributes(to, from) }
    fn cuGraphKernelNodeGetAttribute(of: CUgraphNode, which: CUkernelNodeAttrID, to: *mut CUkernelNodeAttrValue) {
        put_property(of, to, |node| params::attribute(node, which))
    }
    fn cuGraphKernelNodeSetAttribute(
        of: CUgraphNode,
        which: CUkernelNodeAttrID,
        value: *const CUkernelNodeAttrValue,
    ) {
        known(of)?;
        let value = get(value)?;
        params::set_attribute(GRAPHS.lock().node(of.addr()).map_err(|_| INVALID)?, which, value)
    }
}
