//! The tracing driver's graphs: streams that are captured, graphs and executable graphs by number.
//!
//! A captured stream does nothing; a graph remembers no work, but its nodes are counted.

use std::ffi::{c_uint, c_ulonglong};

use cuda_sys::{
    CUDA_HOST_NODE_PARAMS, CUgraph, CUgraphExec, CUgraphExecUpdateResult, CUgraphExecUpdateResultInfo, CUgraphNode,
    CUresult, CUstream, CUstreamCaptureMode, DriverFns,
};

use super::functions::{OK, call, call_on, pointer, put};
use super::state::State;

fn new_graph(state: &mut State, out: *mut CUgraph) -> CUresult {
    let handle = state.handle();
    state.graphs.insert(handle);
    put(out, pointer(handle));
    OK
}

/// A violation unless the graph is live.
fn expect_graph(state: &mut State, what: &str, graph: CUgraph) {
    if !state.graphs.contains(&graph.addr()) {
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
    // The capture has ended also where it has failed.
    super::state(|state| state.capturing.remove(&stream.addr()));
    call_on("cuStreamEndCapture", stream, |state, _| new_graph(state, out))
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

unsafe extern "C" fn add_host(
    out: *mut CUgraphNode,
    graph: CUgraph,
    _after: *const CUgraphNode,
    _count: usize,
    _params: *const CUDA_HOST_NODE_PARAMS,
) -> CUresult {
    call("cuGraphAddHostNode", |state| {
        expect_graph(state, "cuGraphAddHostNode", graph);
        put(out, pointer(state.handle()));
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
    fns.cuGraphCreate = Some(create);
    fns.cuGraphDestroy = Some(destroy);
    fns.cuGraphAddHostNode = Some(add_host);
    fns.cuGraphInstantiateWithFlags = Some(instantiate);
    fns.cuGraphExecDestroy = Some(destroy_exec);
    fns.cuGraphLaunch = Some(launch);
    fns.cuGraphExecUpdate_v2 = Some(update);
}
