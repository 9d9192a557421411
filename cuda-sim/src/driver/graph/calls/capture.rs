//! Stream capture functions.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use super::super::capture::{Info, begin, captures_into_existing, check_query, end, exchange, info, update};
use super::{GRAPHS, INVALID, Status, api, get, initialised, params, plain, put, raw_graph};
use crate::driver::stream::{known, put_optional, target};
use cuda_sys::{
    CUgraph, CUgraphEdgeData, CUgraphNode, CUresult, CUstream, CUstreamCaptureMode, CUstreamCaptureStatus, cuuint64_t,
};
use std::ffi::c_uint;

const GLOBAL: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;

/// The outputs that a client requests about a stream's capture.
struct Question {
    status: *mut CUstreamCaptureStatus,
    id: *mut cuuint64_t,
    graph: *mut CUgraph,
    dependencies: *mut *const CUgraphNode,
    edges: *mut *const CUgraphEdgeData,
    count: *mut usize,
}

/// Edge data, which is all zeros here: as many entries as a stream can have dependencies.
static PLAIN: [CUgraphEdgeData; 1024] =
    [CUgraphEdgeData { from_port: 0, to_port: 0, type_: 0, reserved: [0; 5] }; 1024];

fn answer(of: CUstream, q: &Question) -> Status {
    let (_, stream) = known(of)?;
    check_query(&stream)?;
    let none = Info {
        status: CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE,
        number: 0,
        graph: 0,
        frontier: (std::ptr::null(), 0),
    };
    let info = info(&stream).unwrap_or(none);
    put(q.status, info.status)?;
    put_optional(q.id, info.number)?;
    put_optional(q.graph, raw_graph(info.graph))?;
    put_optional(q.dependencies, info.frontier.0)?;
    if info.frontier.1 > PLAIN.len() && !q.edges.is_null() {
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    put_optional(q.edges, PLAIN.as_ptr())?;
    put_optional(q.count, info.frontier.1)
}

fn ask(status: *mut CUstreamCaptureStatus) -> Question {
    Question {
        status,
        id: std::ptr::null_mut(),
        graph: std::ptr::null_mut(),
        dependencies: std::ptr::null_mut(),
        edges: std::ptr::null_mut(),
        count: std::ptr::null_mut(),
    }
}

fn change(of: CUstream, nodes: *const CUgraphNode, count: usize, flags: c_uint) -> Status {
    let (_, stream) = target(of)?;
    if flags > 1 {
        return Err(INVALID);
    }
    update(&stream, &params::handles(nodes, count)?, flags == 1)
}

api! {
    fn cuStreamBeginCapture / cuStreamBeginCapture_ptsz(of: CUstream) { begin(&target(of)?.1, GLOBAL, None) }
    fn cuStreamBeginCapture_v2 / cuStreamBeginCapture_v2_ptsz(of: CUstream, mode: CUstreamCaptureMode) {
        begin(&target(of)?.1, mode, None)
    }
    fn cuStreamBeginCaptureToGraph / cuStreamBeginCaptureToGraph_ptsz(
        of: CUstream,
        graph: CUgraph,
        dependencies: *const CUgraphNode,
        edges: *const CUgraphEdgeData,
        count: usize,
        mode: CUstreamCaptureMode,
    ) {
        let (_, stream) = target(of)?;
        GRAPHS.lock().graph(graph.addr())?;
        plain(edges, count)?;
        begin(&stream, mode, Some((graph.addr(), params::handles(dependencies, count)?)))
    }
    fn cuStreamEndCapture / cuStreamEndCapture_ptsz(of: CUstream, out: *mut CUgraph) {
        let (_, stream) = known(of)?;
        // A client that captures into its own graph knows it.
        if out.is_null() && captures_into_existing(&stream) {
            return end(&stream).map(|_| ());
        }
        put(out, std::ptr::null_mut())?;
        put(out, raw_graph(end(&stream)?))
    }
    fn cuStreamIsCapturing / cuStreamIsCapturing_ptsz(of: CUstream, status: *mut CUstreamCaptureStatus) {
        answer(of, &ask(status))
    }
    fn cuStreamGetCaptureInfo / cuStreamGetCaptureInfo_ptsz(
        of: CUstream,
        status: *mut CUstreamCaptureStatus,
        id: *mut cuuint64_t,
    ) {
        answer(of, &Question { id, ..ask(status) })
    }
    fn cuStreamGetCaptureInfo_v2 / cuStreamGetCaptureInfo_v2_ptsz(
        of: CUstream,
        status: *mut CUstreamCaptureStatus,
        id: *mut cuuint64_t,
        graph: *mut CUgraph,
        dependencies: *mut *const CUgraphNode,
        count: *mut usize,
    ) {
        answer(of, &Question { id, graph, dependencies, count, ..ask(status) })
    }
    fn cuStreamGetCaptureInfo_v3 / cuStreamGetCaptureInfo_v3_ptsz(
        of: CUstream,
        status: *mut CUstreamCaptureStatus,
        id: *mut cuuint64_t,
        graph: *mut CUgraph,
        dependencies: *mut *const CUgraphNode,
        edges: *mut *const CUgraphEdgeData,
        count: *mut usize,
    ) {
        answer(of, &Question { status, id, graph, dependencies, edges, count })
    }
    fn cuStreamUpdateCaptureDependencies / cuStreamUpdateCaptureDependencies_ptsz(
        of: CUstream,
        nodes: *mut CUgraphNode,
        count: usize,
        flags: c_uint,
    ) {
        change(of, nodes, count, flags)
    }
    fn cuStreamUpdateCaptureDependencies_v2 / cuStreamUpdateCaptureDependencies_v2_ptsz(
        of: CUstream,
        nodes: *mut CUgraphNode,
        edges: *const CUgraphEdgeData,
        count: usize,
        flags: c_uint,
    ) {
        target(of)?;
        plain(edges, count)?;
        change(of, nodes, count, flags)
    }
    fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode) {
        initialised()?;
        put(mode, exchange(get(mode)?)?)
    }
}
