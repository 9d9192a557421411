//! The tracing driver's graphs: streams that are captured, graphs and executable graphs by number.
//!
//! A captured stream does nothing; a graph stores no work, only the number of its nodes.

use std::ffi::{c_uint, c_ulonglong};

use cuda_sys::{
    CUDA_HOST_NODE_PARAMS, CUevent, CUgraph, CUgraphExec, CUgraphExecUpdateResult, CUgraphExecUpdateResultInfo,
    CUgraphNode, CUgraphNodeType, CUresult, CUstream, CUstreamCaptureMode, DriverFns,
};

use super::functions::{OK, call, call_on, pointer, put};
use super::state::State;

fn new_graph(state: &mut State, out: *mut CUgraph) -> CUresult {
    let handle = state.handle();
    state.graphs.insert(handle, Vec::new());
    put(out, pointer(handle));
    OK
}

/// A violation unless the graph is live.
fn expect_graph(state: &mut State, what: &str, graph: CUgraph) {
    if !state.graphs.contains_key(&graph.addr()) {
        state.violations.push(format!("{what}: graph {graph:p} is not live"));
    }
}

fn expect_exec(state: &mut State, what: &str, exec: CUgraphExec) {
    if !state.execs.contains(&exec.addr()) {
        state.violations.push(format!("{what}: executable graph {exec:p} is not live"));
    }
}

unsafe extern "C" fn begin(stream: CUstream, _mode: CUstreamCaptureMode) -> CUresult {
    call_on("cuStreamBeginCapture_v2", stream, |state, stream| {
        state.capturing.insert(stream);
        OK
    })
}

unsafe extern "C" fn end(stream: CUstream, out: *mut CUgraph) -> CUresult {
    // A capture that has failed has also ended.
    super::state(|state| state.capturing.remove(&stream.addr()));
    call_on("cuStreamEndCapture", stream, |state, _| new_graph(state, out))
}

/// A node that records an event at each launch, which the model does not follow.
unsafe extern "C" fn record_node(_event: CUevent, stream: CUstream, _flags: c_uint) -> CUresult {
    call_on("cuEventRecordWithFlags", stream, |_, _| OK)
}

unsafe extern "C" fn create(out: *mut CUgraph, _flags: c_uint) -> CUresult {
    call("cuGraphCreate", |state| new_graph(state, out))
}

unsafe extern "C" fn destroy(graph: CUgraph) -> CUresult {
    call("cuGraphDestroy", |state| {
        expect_graph(state, "cuGraphDestroy", graph);
        state.graphs.remove(&graph.addr());
        OK
    })
}

/// Adds a node; reuses the address of a removed node, if there is any.
fn add_node(name: &'static str, out: *mut CUgraphNode, graph: CUgraph) -> CUresult {
    call(name, |state| {
        expect_graph(state, name, graph);
        let node = state.free_nodes.pop().unwrap_or_else(|| state.handle());
        state.graphs.entry(graph.addr()).or_default().push(node);
        put(out, pointer(node));
        OK
    })
}

/// The nodes of the graph of a live node; a violation if there is no such node.
fn siblings<'a>(state: &'a mut State, what: &str, node: CUgraphNode) -> Option<&'a mut Vec<usize>> {
    if !state.graphs.values().any(|nodes| nodes.contains(&node.addr())) {
        state.violations.push(format!("{what}: node {node:p} is not live"));
    }
    state.graphs.values_mut().find(|nodes| nodes.contains(&node.addr()))
}

unsafe extern "C" fn add_host(
    out: *mut CUgraphNode,
    graph: CUgraph,
    _after: *const CUgraphNode,
    _count: usize,
    _params: *const CUDA_HOST_NODE_PARAMS,
) -> CUresult {
    add_node("cuGraphAddHostNode", out, graph)
}

unsafe extern "C" fn add_empty(
    out: *mut CUgraphNode,
    graph: CUgraph,
    _after: *const CUgraphNode,
    _count: usize,
) -> CUresult {
    add_node("cuGraphAddEmptyNode", out, graph)
}

unsafe extern "C" fn destroy_node(node: CUgraphNode) -> CUresult {
    call("cuGraphDestroyNode", |state| {
        if let Some(siblings) = siblings(state, "cuGraphDestroyNode", node) {
            siblings.retain(|other| *other != node.addr());
            state.free_nodes.push(node.addr());
        }
        OK
    })
}

unsafe extern "C" fn node_type(node: CUgraphNode, out: *mut CUgraphNodeType) -> CUresult {
    call("cuGraphNodeGetType", |state| {
        siblings(state, "cuGraphNodeGetType", node);
        put(out, CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY);
        OK
    })
}

unsafe extern "C" fn set_enabled(exec: CUgraphExec, node: CUgraphNode, _enabled: c_uint) -> CUresult {
    call("cuGraphNodeSetEnabled", |state| {
        expect_exec(state, "cuGraphNodeSetEnabled", exec);
        siblings(state, "cuGraphNodeSetEnabled", node);
        OK
    })
}

unsafe extern "C" fn instantiate(out: *mut CUgraphExec, graph: CUgraph, _flags: c_ulonglong) -> CUresult {
    call("cuGraphInstantiateWithFlags", |state| {
        expect_graph(state, "cuGraphInstantiateWithFlags", graph);
        let handle = state.handle();
        state.execs.insert(handle);
        put(out, pointer(handle));
        OK
    })
}

unsafe extern "C" fn destroy_exec(exec: CUgraphExec) -> CUresult {
    call("cuGraphExecDestroy", |state| {
        expect_exec(state, "cuGraphExecDestroy", exec);
        state.execs.remove(&exec.addr());
        OK
    })
}

unsafe extern "C" fn launch(exec: CUgraphExec, stream: CUstream) -> CUresult {
    call_on("cuGraphLaunch", stream, |state, stream| {
        expect_exec(state, "cuGraphLaunch", exec);
        state.clocks.step(stream);
        OK
    })
}

unsafe extern "C" fn update(exec: CUgraphExec, graph: CUgraph, out: *mut CUgraphExecUpdateResultInfo) -> CUresult {
    let null = std::ptr::null_mut();
    let result = CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    put(out, CUgraphExecUpdateResultInfo { result, errorNode: null, errorFromNode: null });
    call("cuGraphExecUpdate_v2", |state| {
        expect_exec(state, "cuGraphExecUpdate_v2", exec);
        expect_graph(state, "cuGraphExecUpdate_v2", graph);
        OK
    })
}

/// Puts the functions into the table.
pub(super) fn fill(fns: &mut DriverFns) {
    fns.cuStreamBeginCapture_v2 = Some(begin);
    fns.cuStreamEndCapture = Some(end);
    fns.cuEventRecordWithFlags = Some(record_node);
    fns.cuGraphCreate = Some(create);
    fns.cuGraphDestroy = Some(destroy);
    fns.cuGraphAddHostNode = Some(add_host);
    fns.cuGraphAddEmptyNode = Some(add_empty);
    fns.cuGraphDestroyNode = Some(destroy_node);
    fns.cuGraphNodeGetType = Some(node_type);
    fns.cuGraphNodeSetEnabled = Some(set_enabled);
    fns.cuGraphInstantiateWithFlags = Some(instantiate);
    fns.cuGraphExecDestroy = Some(destroy_exec);
    fns.cuGraphLaunch = Some(launch);
    fns.cuGraphExecUpdate_v2 = Some(update);
}
