//! The graph functions of the API, grouped by object.

mod add;
mod capture;
mod exec;
mod graph;
mod nodes;

use super::{
    Exec, GRAPHS, INVALID, Status, Work, api, exec_of, get, initialised, params, put, raw_graph, raw_node, text,
};

/// Adds the functions to the table.
pub(super) fn fill(fns: &mut cuda_sys::DriverFns) {
    capture::fill(fns);
    graph::fill(fns);
    add::fill(fns);
    nodes::fill(fns);
    exec::fill(fns);
}

/// Checks that edges have no data: only programmatic launches would, and those are not supported.
fn plain(edges: *const cuda_sys::CUgraphEdgeData, count: usize) -> Status {
    if edges.is_null() {
        return Ok(());
    }
    for at in 0..count {
        if get(edges.wrapping_add(at))? != cuda_sys::CUgraphEdgeData::default() {
            return Err(cuda_sys::CUresult::CUDA_ERROR_NOT_SUPPORTED);
        }
    }
    Ok(())
}
