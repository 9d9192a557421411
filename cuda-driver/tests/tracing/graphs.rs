//! Graphs: the calls of a capture, the cleanup when one fails, and lost contexts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cuda_driver::{Capture, Error, Graph, Result, Stream};
use cuda_sys::CUresult;

use crate::support::Session;

fn nothing(_: &Capture) -> Result<()> {
    Ok(())
}

#[test]
fn a_capture_uses_a_private_stream() {
    let session = Session::new();
    let context = session.context();
    let own = Stream::new(&context).unwrap();
    session.forget();
    let graph = own.capture(|c| c.fork().map(|_| ())).unwrap();
    assert_eq!(
        session.names(),
        [
            "cuStreamCreate",
            "cuStreamBeginCapture_v2",
            "cuStreamCreate",
            "cuEventCreate",
            "cuEventRecord",
            "cuStreamWaitEvent",
            "cuEventRecord",
            "cuStreamWaitEvent",
            "cuStreamEndCapture",
            "cuStreamQuery",
            "cuStreamQuery",
        ]
    );
    assert!(session.calls().iter().all(|call| call.stream != Some(own.as_raw().addr())));
    session.forget();
    let exec = graph.instantiate().unwrap();
    exec.launch(&own, ()).unwrap();
    exec.launch(&own, ()).unwrap();
    drop(exec);
    drop(graph);
    // No part of it needs a wait.
    assert_eq!(
        session.names(),
        ["cuGraphInstantiateWithFlags", "cuGraphLaunch", "cuGraphLaunch", "cuGraphExecDestroy", "cuGraphDestroy"]
    );
}

#[test]
fn streams_of_a_failed_capture_are_not_reused() {
    let session = Session::new();
    let context = session.context();
    session.fail("cuStreamBeginCapture_v2", 1, CUresult::CUDA_ERROR_ILLEGAL_STATE);
    let error = Graph::capture(&context, nothing).unwrap_err();
    assert!(error.to_string().starts_with("cuStreamBeginCapture_v2: CUDA_ERROR_ILLEGAL_STATE (401)"), "{error}");
    assert_eq!(session.live().streams, 0);
    session.fail("cuStreamEndCapture", 1, CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    let error = Graph::capture(&context, nothing).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cuStreamEndCapture: CUDA_ERROR_STREAM_CAPTURE_INVALIDATED (901): text of the traced driver; something that a \
         capture forbids was done while it ran, such as synchronising the context through another library"
    );
    assert_eq!(session.live().streams, 0);
    session.fail("cuEventRecord", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(Graph::capture(&context, |c| c.fork().map(|_| ())).is_err());
    context.synchronize().unwrap();
    Graph::capture(&context, nothing).unwrap();
}

#[test]
fn the_error_of_the_closure_precedes_that_of_the_end() {
    let session = Session::new();
    let context = session.context();
    session.fail("cuStreamEndCapture", 1, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    let error = Graph::capture(&context, |_| Err(Error::Invalid("mine".into()))).unwrap_err();
    assert_eq!(error.to_string(), "mine");
    let panicked = catch_unwind(AssertUnwindSafe(|| drop(Graph::capture(&context, |_| panic!("out")))));
    assert!(panicked.is_err());
    assert_eq!(session.live().graphs, 0);
    context.synchronize().unwrap();
}

#[test]
fn objects_of_a_refused_node_are_dropped() {
    let session = Session::new();
    let context = session.context();
    let graph = Graph::new(&context).unwrap();
    let held = Arc::new(());
    let closure = |held: Arc<()>| move || drop(held.clone());
    session.fail("cuGraphAddHostNode", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    assert!(graph.add_host_fn(&[], closure(held.clone())).unwrap_err().is_out_of_memory());
    assert_eq!(Arc::strong_count(&held), 1);
    graph.add_host_fn(&[], closure(held.clone())).unwrap();
    session.fail("cuGraphInstantiateWithFlags", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    assert!(graph.instantiate().unwrap_err().is_out_of_memory());
    assert_eq!((Arc::strong_count(&held), session.live().execs), (2, 0));
    drop(graph);
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn an_executable_graph_waits_for_its_last_launch_before_it_drops_its_objects() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    let graph = Graph::new(&context).unwrap();
    graph.add_host_fn(&[], || ()).unwrap();
    let exec = graph.instantiate().unwrap();
    session.forget();
    drop(graph.instantiate().unwrap());
    assert_eq!(session.names(), ["cuGraphInstantiateWithFlags", "cuGraphExecDestroy"], "one that was never launched");
    exec.launch(&stream, ()).unwrap();
    session.forget();
    exec.update(&graph).unwrap();
    // Objects that the update replaces are dropped behind an event.
    assert_eq!(session.names(), ["cuGraphExecUpdate_v2", "cuEventCreate", "cuEventRecord"]);
    session.forget();
    drop(exec);
    assert_eq!(session.names(), ["cuGraphExecDestroy", "cuStreamSynchronize"]);
}

#[test]
fn a_failing_wait_leaks_objects_that_a_launch_may_use() {
    let session = Session::new();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    let held = Arc::new(());
    let in_closure = held.clone();
    let graph = Graph::new(&context).unwrap();
    graph.add_host_fn(&[], move || drop(in_closure.clone())).unwrap();
    let exec = graph.instantiate().unwrap();
    exec.launch(&stream, ()).unwrap();
    session.fail("cuStreamSynchronize", 1, CUresult::CUDA_ERROR_UNKNOWN);
    drop((graph, exec));
    assert_eq!(Arc::strong_count(&held), 2);
}

#[test]
fn a_refused_update_names_the_reason_and_changes_nothing() {
    let session = Session::new();
    let context = session.context();
    let graph = Graph::new(&context).unwrap();
    let exec = graph.instantiate().unwrap();
    session.fail("cuGraphExecUpdate_v2", 1, CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    let error = exec.update(&graph).unwrap_err().to_string();
    assert!(error.contains("(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED)"), "{error}");
    session.fail("cuGraphExecUpdate_v2", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(exec.update(&graph).unwrap_err().code(), Some(CUresult::CUDA_ERROR_INVALID_VALUE));
    exec.update(&graph).unwrap();
}

#[test]
fn graphs_of_two_contexts_do_not_mix() {
    let session = Session::new();
    let (context, other) = (session.context(), session.driver().device(1).unwrap().primary_context().unwrap());
    let (graph, foreign) = (Graph::new(&context).unwrap(), Graph::new(&other).unwrap());
    let exec = graph.instantiate().unwrap();
    let refused = [
        graph.add_child(&[], &foreign).map(|_| ()),
        exec.update(&foreign),
        exec.launch(&other.default_stream(), ()),
        exec.upload(&other.default_stream()),
        graph.add_event_record(&[], &cuda_driver::Event::new(&other).unwrap()).map(|_| ()),
    ];
    for refused in refused {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("belongs to the context of device 1, not to that of device 0"), "{text}");
    }
}

#[test]
fn a_lost_context_destroys_no_graphs() {
    let session = Session::new();
    session.leaves();
    let context = session.context();
    let stream = Stream::new(&context).unwrap();
    let held = Arc::new(());
    let in_closure = held.clone();
    let graph = Graph::new(&context).unwrap();
    graph.add_host_fn(&[], move || drop(in_closure.clone())).unwrap();
    let exec = graph.instantiate().unwrap();
    session.fail("cuGraphLaunch", 1, CUresult::CUDA_ERROR_LAUNCH_FAILED);
    assert!(exec.launch(&stream, ()).unwrap_err().is_sticky());
    session.forget();
    assert!(Graph::capture(&context, nothing).unwrap_err().to_string().contains("is lost since cuGraphLaunch"));
    drop((exec, graph, stream));
    assert_eq!(session.names(), [""; 0]);
    assert_eq!(Arc::strong_count(&held), 2, "the driver may look at it still");
}

#[test]
fn a_node_at_the_address_of_a_removed_one_is_another_node() {
    let session = Session::new();
    let context = session.context();
    let graph = Graph::new(&context).unwrap();
    let first = graph.add_empty(&[]).unwrap();
    let exec = graph.instantiate().unwrap();
    exec.set_enabled(first, false).unwrap();
    // SAFETY: the node does nothing.
    unsafe { graph.remove_node(first) }.unwrap();
    let second = graph.add_empty(&[]).unwrap();
    assert_eq!(first.as_raw(), second.as_raw(), "the driver gives the address again");
    assert_ne!(first, second);
    let removed = "the node was removed from its graph; nodes that were added later have handles of their own";
    assert_eq!(graph.kind(first).unwrap_err().to_string(), removed);
    assert_eq!(exec.set_enabled(first, false).unwrap_err().to_string(), removed);
    assert_eq!(
        exec.set_enabled(second, false).unwrap_err().to_string(),
        "the node was added after the executable graph was made; instantiate the graph again to launch it"
    );
    graph.instantiate().unwrap().set_enabled(second, false).unwrap();
    graph.kind(second).unwrap();
}
