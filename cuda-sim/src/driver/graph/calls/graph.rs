//! Functions of whole graphs: creation, cloning, edges, contents.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use super::super::dot;
use super::{GRAPHS, INVALID, Status, api, get, initialised, params, plain, put, raw_graph, raw_node, text};
use cuda_sys::{CUgraph, CUgraphEdgeData, CUgraphNode, CUgraphNodeType, CUresult};
use std::ffi::{c_char, c_uint};

/// Returns a list: without an array its length, else as many elements as fit, padded with `empty`, and their number. An array
/// without room is refused, as by NVIDIA's driver.
fn list<T: Copy>(lists: &[(*mut T, Vec<T>)], empty: T, count: *mut usize) -> Status {
    let length = lists[0].1.len();
    if lists.iter().all(|(to, _)| to.is_null()) {
        return put(count, length);
    }
    let room = get(count)?;
    if room == 0 {
        return Err(INVALID);
    }
    for (to, values) in lists {
        for at in 0..room {
            put(to.wrapping_add(at), values.get(at).copied().unwrap_or(empty))?;
        }
    }
    put(count, room.min(length))
}

fn nodes(found: &[usize], to: *mut CUgraphNode, count: *mut usize) -> Status {
    list(&[(to, found.iter().map(|node| raw_node(*node)).collect())], raw_node(0), count)
}

/// Writes zeros as the data of this many edges.
fn no_data(edges: *mut CUgraphEdgeData, count: *mut usize) -> Status {
    if edges.is_null() {
        return Ok(());
    }
    (0..get(count)?).try_for_each(|at| put(edges.wrapping_add(at), CUgraphEdgeData::default()))
}

fn edges(of: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, count: *mut usize) -> Status {
    initialised()?;
    let found = GRAPHS.lock().graph(of.addr())?.edges();
    if from.is_null() != to.is_null() {
        return Err(INVALID);
    }
    let (sources, targets) = found.iter().map(|(from, to)| (raw_node(*from), raw_node(*to))).unzip();
    list(&[(from, sources), (to, targets)], raw_node(0), count)
}

fn dependencies(of: CUgraphNode, to: *mut CUgraphNode, count: *mut usize) -> Status {
    initialised()?;
    let found = GRAPHS.lock().node(of.addr())?.after.clone();
    nodes(&found, to, count)
}

fn dependents(of: CUgraphNode, to: *mut CUgraphNode, count: *mut usize) -> Status {
    initialised()?;
    let edges = GRAPHS.lock().graph_of(of.addr())?.edges();
    let found: Vec<usize> = edges.into_iter().filter(|(from, _)| *from == of.addr()).map(|(_, to)| to).collect();
    nodes(&found, to, count)
}

/// Checks that a graph exists, before any client pointer is read.
fn known(graph: CUgraph) -> Status {
    initialised()?;
    GRAPHS.lock().graph(graph.addr()).map(|_| ())
}

fn pairs(from: *const CUgraphNode, to: *const CUgraphNode, count: usize) -> Result<Vec<(usize, usize)>, CUresult> {
    Ok(params::handles(from, count)?.into_iter().zip(params::handles(to, count)?).collect())
}

fn connect(graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize) -> Status {
    known(graph)?;
    let edges = pairs(from, to, count)?;
    GRAPHS.lock().graph(graph.addr())?.connect(&edges)
}

fn disconnect(graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize) -> Status {
    known(graph)?;
    let edges = pairs(from, to, count)?;
    GRAPHS.lock().graph(graph.addr())?.disconnect(&edges)
}

api! {
    fn cuGraphCreate(out: *mut CUgraph, flags: c_uint) {
        initialised()?;
        if flags != 0 || out.is_null() {
            return Err(INVALID);
        }
        put(out, raw_graph(GRAPHS.lock().create()))
    }
    fn cuGraphDestroy(graph: CUgraph) {
        initialised()?;
        GRAPHS.lock().destroy(graph.addr())
    }
    fn cuGraphClone(out: *mut CUgraph, graph: CUgraph) {
        initialised()?;
        if out.is_null() {
            return Err(INVALID);
        }
        put(out, raw_graph(GRAPHS.lock().copy(graph.addr())?))
    }
    fn cuGraphNodeFindInClone(out: *mut CUgraphNode, original: CUgraphNode, clone: CUgraph) {
        initialised()?;
        put(out, raw_node(GRAPHS.lock().graph(clone.addr())?.cloned_from(original.addr())?))
    }
    fn cuGraphNodeGetType(node: CUgraphNode, kind: *mut CUgraphNodeType) {
        initialised()?;
        put(kind, GRAPHS.lock().node(node.addr())?.work.kind())
    }
    fn cuGraphDestroyNode(node: CUgraphNode) {
        initialised()?;
        GRAPHS.lock().remove_node(node.addr())
    }
    fn cuGraphGetNodes(graph: CUgraph, to: *mut CUgraphNode, count: *mut usize) {
        initialised()?;
        let found: Vec<usize> = GRAPHS.lock().graph(graph.addr())?.nodes.keys().copied().collect();
        nodes(&found, to, count)
    }
    fn cuGraphGetRootNodes(graph: CUgraph, to: *mut CUgraphNode, count: *mut usize) {
        initialised()?;
        let mut graphs = GRAPHS.lock();
        let all = graphs.graph(graph.addr())?.nodes.iter();
        let found: Vec<usize> = all.filter(|(_, node)| node.after.is_empty()).map(|(id, _)| *id).collect();
        nodes(&found, to, count)
    }
    fn cuGraphGetEdges(of: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, count: *mut usize) {
        edges(of, from, to, count)
    }
    fn cuGraphGetEdges_v2(
        of: CUgraph,
        from: *mut CUgraphNode,
        to: *mut CUgraphNode,
        data: *mut CUgraphEdgeData,
        count: *mut usize,
    ) {
        edges(of, from, to, count)?;
        no_data(data, count)
    }
    fn cuGraphNodeGetDependencies(of: CUgraphNode, to: *mut CUgraphNode, count: *mut usize) {
        dependencies(of, to, count)
    }
    fn cuGraphNodeGetDependencies_v2(
        of: CUgraphNode,
        to: *mut CUgraphNode,
        data: *mut CUgraphEdgeData,
        count: *mut usize,
    ) {
        dependencies(of, to, count)?;
        no_data(data, count)
    }
    fn cuGraphNodeGetDependentNodes(of: CUgraphNode, to: *mut CUgraphNode, count: *mut usize) {
        dependents(of, to, count)
    }
    fn cuGraphNodeGetDependentNodes_v2(
        of: CUgraphNode,
        to: *mut CUgraphNode,
        data: *mut CUgraphEdgeData,
        count: *mut usize,
    ) {
        dependents(of, to, count)?;
        no_data(data, count)
    }
    fn cuGraphAddDependencies(graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize) {
        connect(graph, from, to, count)
    }
    fn cuGraphAddDependencies_v2(
        graph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        data: *const CUgraphEdgeData,
        count: usize,
    ) {
        known(graph)?;
        plain(data, count)?;
        connect(graph, from, to, count)
    }
    fn cuGraphRemoveDependencies(graph: CUgraph, from: *const CUgraphNode, to: *const CUgraphNode, count: usize) {
        disconnect(graph, from, to, count)
    }
    fn cuGraphRemoveDependencies_v2(
        graph: CUgraph,
        from: *const CUgraphNode,
        to: *const CUgraphNode,
        data: *const CUgraphEdgeData,
        count: usize,
    ) {
        known(graph)?;
        plain(data, count)?;
        disconnect(graph, from, to, count)
    }
    fn cuGraphDebugDotPrint(graph: CUgraph, path: *const c_char, flags: c_uint) {
        known(graph)?;
        let path = text(path)?;
        let drawn = dot::draw(&mut GRAPHS.lock(), graph.addr(), flags)?;
        std::fs::write(path, drawn).map_err(|error| {
            tracing::warn!("cuGraphDebugDotPrint: {path}: {error}");
            CUresult::CUDA_ERROR_OPERATING_SYSTEM
        })
    }
}
