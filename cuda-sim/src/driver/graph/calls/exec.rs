//! Functions of executable graphs.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use super::nodes::any;
use super::{Exec, GRAPHS, INVALID, Status, Work, api, exec_of, get, initialised, params, put, raw_node};
use crate::driver::launch::LaunchKind;
use crate::driver::stream;
use cuda_sys::{
    CUDA_GRAPH_INSTANTIATE_PARAMS, CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v1,
    CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUevent, CUgraph, CUgraphExec, CUgraphExecUpdateResult,
    CUgraphExecUpdateResultInfo, CUgraphInstantiateResult, CUgraphNode, CUgraphNodeParams, CUresult, CUstream,
    cuuint64_t,
};
use std::ffi::{c_char, c_uint, c_ulonglong};
use std::sync::Arc;
use stream::{put_optional, target};

/// Checks that a graph exists, before any client pointer is accessed.
fn known(graph: CUgraph) -> Status {
    initialised()?;
    GRAPHS.lock().graph(graph.addr()).map(|_| ())
}

/// Instantiates a graph; the error has the node that caused it.
fn make(out: *mut CUgraphExec, graph: CUgraph, flags: u64) -> Result<(), (CUresult, usize)> {
    initialised().map_err(|code| (code, 0))?;
    if out.is_null() {
        return Err((INVALID, 0));
    }
    let exec = Exec::new(&mut GRAPHS.lock(), graph.addr(), flags)?;
    put(out, std::ptr::without_provenance_mut(exec.handle)).map_err(|code| (code, 0))
}

fn instantiate(out: *mut CUgraphExec, graph: CUgraph, flags: u64) -> Status {
    make(out, graph, flags).map_err(|(code, _)| code)
}

/// As [`instantiate`], with the node that caused an error and a log, for the older functions.
fn instantiate_old(
    out: *mut CUgraphExec,
    graph: CUgraph,
    fault: *mut CUgraphNode,
    log: *mut c_char,
    room: usize,
) -> Status {
    known(graph)?;
    let made = make(out, graph, 0);
    let (node, text) = match &made {
        Ok(()) => (0, ""),
        Err((_, 0)) => (0, "the graph cannot be made executable"),
        Err((_, node)) => (*node, "the graph has a cycle"),
    };
    if !log.is_null() && room > 0 {
        let bytes = text.bytes().take(room - 1).chain([0]);
        bytes.enumerate().try_for_each(|(at, byte)| put(log.wrapping_add(at), byte as c_char))?;
    }
    put_optional(fault, raw_node(node))?;
    made.map_err(|(code, _)| code)
}

fn instantiate_with(out: *mut CUgraphExec, graph: CUgraph, p: *mut CUDA_GRAPH_INSTANTIATE_PARAMS) -> Status {
    use CUgraphInstantiateResult as R;
    known(graph)?;
    let mut asked = get(p)?;
    let made = make(out, graph, asked.flags);
    let (result, node) = match made {
        Ok(()) => (R::CUDA_GRAPH_INSTANTIATE_SUCCESS, 0),
        Err((CUresult::CUDA_ERROR_NOT_SUPPORTED, node)) => {
            (R::CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, node)
        }
        Err((_, 0)) => (R::CUDA_GRAPH_INSTANTIATE_ERROR, 0),
        Err((_, node)) => (R::CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, node),
    };
    (asked.result_out, asked.hErrNode_out) = (result, raw_node(node));
    put(p, asked)?;
    made.map_err(|(code, _)| code)
}

/// Replaces a node's parameters for later launches; its context and launch kind stay.
fn change(
    exec: CUgraphExec,
    node: CUgraphNode,
    work: impl FnOnce(CUcontext, LaunchKind) -> Result<Work, CUresult>,
) -> Status {
    let exec = exec_of(exec)?;
    let (context, kind) = params::kept(&exec.work(node.addr())?);
    exec.change(node.addr(), work(context, kind)?)
}

/// Updates an executable graph from a graph, and returns what prevented it, including an invalid graph.
fn update(exec: CUgraphExec, graph: CUgraph) -> Result<(Status, CUgraphExecUpdateResultInfo), CUresult> {
    let exec = exec_of(exec)?;
    let mut info = CUgraphExecUpdateResultInfo {
        result: CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS,
        errorNode: raw_node(0),
        errorFromNode: raw_node(0),
    };
    let updated = exec.update(&GRAPHS.lock(), graph.addr());
    let Err(refused) = updated else { return Ok((Ok(()), info)) };
    (info.result, info.errorNode, info.errorFromNode) = (refused.0, raw_node(refused.1), raw_node(refused.2));
    let wrong = refused.0 == CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR;
    Ok((Err(if wrong { INVALID } else { CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE }), info))
}

fn launch(exec: CUgraphExec, on: CUstream) -> Status {
    let (context, stream) = target(on)?;
    exec_of(exec)?.launch(&context, &stream)
}

/// Checks an upload. There is nothing to transfer.
fn upload(exec: CUgraphExec, on: CUstream) -> Status {
    let (_, stream) = target(on)?;
    super::super::capture::refuse(&stream)?;
    exec_of(exec).map(|_| ())
}

api! {
    fn cuGraphInstantiate(
        out: *mut CUgraphExec,
        graph: CUgraph,
        fault: *mut CUgraphNode,
        log: *mut c_char,
        room: usize,
    ) {
        instantiate_old(out, graph, fault, log, room)
    }
    fn cuGraphInstantiate_v2(
        out: *mut CUgraphExec,
        graph: CUgraph,
        fault: *mut CUgraphNode,
        log: *mut c_char,
        room: usize,
    ) {
        instantiate_old(out, graph, fault, log, room)
    }
    fn cuGraphInstantiateWithFlags(out: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong) {
        instantiate(out, graph, flags)
    }
    fn cuGraphInstantiateWithParams / cuGraphInstantiateWithParams_ptsz(
        out: *mut CUgraphExec,
        graph: CUgraph,
        p: *mut CUDA_GRAPH_INSTANTIATE_PARAMS,
    ) {
        instantiate_with(out, graph, p)
    }
    fn cuGraphExecGetFlags(exec: CUgraphExec, flags: *mut cuuint64_t) { put(flags, exec_of(exec)?.flags) }
    fn cuGraphExecDestroy(exec: CUgraphExec) {
        initialised()?;
        let old: Arc<Exec> = GRAPHS.lock().execs.remove(&exec.addr()).ok_or(INVALID)?;
        drop(old);
        Ok(())
    }
    fn cuGraphLaunch / cuGraphLaunch_ptsz(exec: CUgraphExec, on: CUstream) { launch(exec, on) }
    fn cuGraphUpload / cuGraphUpload_ptsz(exec: CUgraphExec, on: CUstream) { upload(exec, on) }
    fn cuGraphExecUpdate(
        exec: CUgraphExec,
        graph: CUgraph,
        node: *mut CUgraphNode,
        result: *mut CUgraphExecUpdateResult,
    ) {
        let (status, info) = update(exec, graph)?;
        put_optional(node, info.errorNode)?;
        put(result, info.result)?;
        status
    }
    fn cuGraphExecUpdate_v2(exec: CUgraphExec, graph: CUgraph, to: *mut CUgraphExecUpdateResultInfo) {
        let (status, info) = update(exec, graph)?;
        put(to, info)?;
        status
    }
    fn cuGraphNodeSetEnabled(exec: CUgraphExec, node: CUgraphNode, enabled: c_uint) {
        exec_of(exec)?.enabled(node.addr(), Some(enabled != 0)).map(|_| ())
    }
    fn cuGraphNodeGetEnabled(exec: CUgraphExec, node: CUgraphNode, enabled: *mut c_uint) {
        put(enabled, exec_of(exec)?.enabled(node.addr(), None)?.into())
    }
    fn cuGraphExecKernelNodeSetParams(
        exec: CUgraphExec,
        node: CUgraphNode,
        p: *const CUDA_KERNEL_NODE_PARAMS_v1,
    ) {
        change(exec, node, |_, kind| params::kernel(&params::of_v1(get(p)?), kind))
    }
    fn cuGraphExecKernelNodeSetParams_v2(
        exec: CUgraphExec,
        node: CUgraphNode,
        p: *const CUDA_KERNEL_NODE_PARAMS,
    ) {
        change(exec, node, |_, kind| params::kernel(&get(p)?, kind))
    }
    fn cuGraphExecMemcpyNodeSetParams(
        exec: CUgraphExec,
        node: CUgraphNode,
        p: *const CUDA_MEMCPY3D,
        on: CUcontext,
    ) {
        change(exec, node, |_, _| params::memcpy(&get(p)?, on))
    }
    fn cuGraphExecMemsetNodeSetParams(
        exec: CUgraphExec,
        node: CUgraphNode,
        p: *const CUDA_MEMSET_NODE_PARAMS,
        on: CUcontext,
    ) {
        change(exec, node, |_, _| params::memset(&get(p)?, on))
    }
    fn cuGraphExecHostNodeSetParams(exec: CUgraphExec, node: CUgraphNode, p: *const CUDA_HOST_NODE_PARAMS) {
        change(exec, node, |_, _| params::host(get(p)?))
    }
    fn cuGraphExecEventRecordNodeSetEvent(exec: CUgraphExec, node: CUgraphNode, event: CUevent) {
        change(exec, node, |_, _| params::record(event))
    }
    fn cuGraphExecEventWaitNodeSetEvent(exec: CUgraphExec, node: CUgraphNode, event: CUevent) {
        change(exec, node, |_, _| params::wait(event))
    }
    fn cuGraphExecChildGraphNodeSetParams(exec: CUgraphExec, node: CUgraphNode, child: CUgraph) {
        exec_of(exec)?.change_child(&GRAPHS.lock(), node.addr(), child.addr())
    }
    fn cuGraphExecNodeSetParams(exec: CUgraphExec, node: CUgraphNode, p: *mut CUgraphNodeParams) {
        change(exec, node, |_, kind| any(get(p)?, kind))
    }
}
