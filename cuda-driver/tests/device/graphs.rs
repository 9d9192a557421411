//! Graphs: explicit nodes, captures, updates, the objects that a graph keeps alive, and its errors.
//!
//! # Safety
//!
//! Kernels and nodes get memory of 32 numbers that the test owns and waits for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use cuda_driver::{
    Arguments, Capture, Context, Error, Event, Fill, Function, Graph, GraphError, GraphNode, LaunchConfig, Result,
    Stream,
};
use cuda_sys::CUgraphNodeType as Kind;

use crate::support::{BYTES, Numbers, context, function};

fn config() -> LaunchConfig {
    LaunchConfig::new(1, 32)
}

/// Adds a kernel that adds `value` to the numbers.
fn add(graph: &Graph, after: &[GraphNode], function: &Function, numbers: &Numbers, value: u32) -> GraphNode {
    (numbers.address, value)
        // SAFETY: the parameters are the function's, and the numbers outlive the graph's launches.
        .with_pointers(|params, _| unsafe { graph.add_kernel(after, function, &config(), params) })
        .unwrap()
}

/// Captures the launch of such a kernel.
fn capture_add(capture: &Capture, function: &Function, numbers: &Numbers, value: u32) -> Result<()> {
    // SAFETY: the parameters are the function's, and the numbers outlive the graph's launches.
    (numbers.address, value).with_pointers(|params, _| unsafe { capture.launch(function, &config(), params) })
}

fn add_one(count: &AtomicU32) {
    count.fetch_add(1, Ordering::SeqCst);
}

/// Launches a graph once and waits.
fn run(context: &Context, graph: &Graph) {
    let stream = Stream::new(context).unwrap();
    graph.instantiate().unwrap().launch(&stream, ()).unwrap();
    stream.synchronize().unwrap();
}

fn kinds(graph: &Graph) -> Vec<Kind> {
    graph.nodes().unwrap().into_iter().map(|node| graph.kind(node).unwrap()).collect()
}

#[test]
fn nodes_of_every_kind_run_in_the_order_of_their_dependencies() {
    let context = context();
    let (numbers, copied) = (Numbers::new(&context), Numbers::new(&context));
    let kernel = function(&context, "add");
    let (start, end) = (Event::new(&context).unwrap(), Event::new(&context).unwrap());
    let graph = Graph::new(&context).unwrap();
    let began = graph.add_event_record(&[], &start).unwrap();
    // SAFETY: the numbers are that many, and outlive the launch.
    let filled = unsafe { graph.add_memset(&[began], numbers.address, Fill::U32(40), 32) }.unwrap();
    let added = add(&graph, &[filled, filled], &kernel, &numbers, 2);
    // SAFETY: the numbers are that many, and outlive the launch.
    let moved = unsafe { graph.add_memcpy(&[added], copied.address, numbers.address, BYTES) }.unwrap();
    let called = Arc::new(AtomicU32::new(0));
    let counted = called.clone();
    let host = graph.add_host_fn(&[moved], move || add_one(&counted)).unwrap();
    let empty = graph.add_empty(&[]).unwrap();
    graph.add_dependency(host, empty).unwrap();
    let ended = graph.add_event_record(&[empty], &end).unwrap();
    graph.add_event_wait(&[ended], &start).unwrap();

    assert_eq!(graph.edges().unwrap().len(), 7);
    assert!(graph.edges().unwrap().contains(&(host, empty)));
    assert_eq!(
        kinds(&graph),
        [
            Kind::CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            Kind::CU_GRAPH_NODE_TYPE_MEMSET,
            Kind::CU_GRAPH_NODE_TYPE_KERNEL,
            Kind::CU_GRAPH_NODE_TYPE_MEMCPY,
            Kind::CU_GRAPH_NODE_TYPE_HOST,
            Kind::CU_GRAPH_NODE_TYPE_EMPTY,
            Kind::CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            Kind::CU_GRAPH_NODE_TYPE_WAIT_EVENT,
        ]
    );
    run(&context, &graph);
    assert_eq!((numbers.value(), copied.value(), called.load(Ordering::SeqCst)), (42, 42, 1));
    assert!(start.elapsed_ms(&end).unwrap() >= 0.0);
}

#[test]
fn a_child_is_a_copy_of_another_graph_or_of_itself() {
    let context = context();
    let numbers = Numbers::new(&context);
    let kernel = function(&context, "add");
    let graph = Graph::new(&context).unwrap();
    let first = add(&graph, &[], &kernel, &numbers, 1);
    let child = graph.add_child(&[first], &graph).unwrap();
    assert_eq!(graph.kind(child).unwrap(), Kind::CU_GRAPH_NODE_TYPE_GRAPH);
    graph.add_child(&[child], &graph).unwrap();
    run(&context, &graph);
    assert_eq!(numbers.value(), 1 + 1 + 2);
}

#[test]
fn a_graph_of_another_graphs_nodes_or_with_a_cycle_is_refused() {
    let context = context();
    let (graph, other) = (Graph::new(&context).unwrap(), Graph::new(&context).unwrap());
    let (a, b) = (graph.add_empty(&[]).unwrap(), graph.add_empty(&[]).unwrap());
    let foreign = other.add_empty(&[]).unwrap();
    for refused in
        [graph.add_empty(&[foreign]).map(|_| ()), graph.add_dependency(a, foreign), graph.kind(foreign).map(|_| ())]
    {
        assert_eq!(refused.unwrap_err().to_string(), "the node belongs to another graph");
    }
    let exec = graph.instantiate().unwrap();
    assert!(matches!(exec.set_enabled(foreign, false), Err(Error::Graph(error)) if *error == GraphError::OtherGraph));
    graph.add_dependency(a, b).unwrap();
    graph.add_dependency(b, a).unwrap();
    let error = graph.instantiate().unwrap_err();
    assert!(error.to_string().starts_with("cuGraphInstantiateWithFlags: CUDA_ERROR_INVALID_VALUE"), "{error}");
    // SAFETY: the nodes do nothing.
    unsafe { graph.remove_dependency(b, a) }.unwrap();
    graph.instantiate().unwrap();
}

#[test]
fn nodes_can_be_changed_between_launches() {
    let context = context();
    let (numbers, other) = (Numbers::new(&context), Numbers::new(&context));
    let kernel = function(&context, "add");
    let graph = Graph::new(&context).unwrap();
    // SAFETY: the numbers are that many, and outlive the launches.
    let fill = unsafe { graph.add_memset(&[], numbers.address, Fill::U32(1), 32) }.unwrap();
    let node = add(&graph, &[fill], &kernel, &numbers, 10);
    // SAFETY: the numbers are that many, and outlive the launches.
    let copy = unsafe { graph.add_memcpy(&[node], other.address, numbers.address, BYTES) }.unwrap();
    let (first, second) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (one, two) = (first.clone(), second.clone());
    let host = graph.add_host_fn(&[copy], move || one.store(1, Ordering::SeqCst)).unwrap();
    let exec = graph.instantiate().unwrap();
    let stream = Stream::new(&context).unwrap();
    exec.upload(&stream).unwrap();
    exec.launch(&stream, ()).unwrap();
    stream.synchronize().unwrap();
    assert_eq!((numbers.value(), other.value(), first.swap(0, Ordering::SeqCst)), (11, 11, 1));

    (numbers.address, 20_u32)
        // SAFETY: the parameters are the function's, and the numbers outlive the graph's launches.
        .with_pointers(|params, _| unsafe { exec.set_kernel(node, &kernel, &config(), params) })
        .unwrap();
    // SAFETY: the parameters are the function's, and the numbers outlive the graph's launches.
    unsafe { exec.set_memset(fill, numbers.address, Fill::U32(2), 32) }.unwrap();
    exec.set_host_fn(host, move || two.store(1, Ordering::SeqCst)).unwrap();
    // SAFETY: both sides have that many bytes, and outlive the graph's launches.
    unsafe { exec.set_memcpy(copy, numbers.address, other.address, BYTES) }.unwrap();
    exec.launch(&stream, ()).unwrap();
    stream.synchronize().unwrap();
    assert_eq!((numbers.value(), first.load(Ordering::SeqCst), second.load(Ordering::SeqCst)), (11, 0, 1));

    exec.set_enabled(copy, false).unwrap();
    exec.launch(&stream, ()).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(numbers.value(), 22);
    let error = exec.set_enabled(host, false).unwrap_err();
    assert!(error.to_string().starts_with("cuGraphNodeSetEnabled: CUDA_ERROR_INVALID_VALUE"), "{error}");
}

#[test]
fn an_executable_graph_is_updated_from_a_graph_of_the_same_topology() {
    let context = context();
    let numbers = Numbers::new(&context);
    let kernel = function(&context, "add");
    let adding = |value| Graph::capture(&context, |c| capture_add(c, &kernel, &numbers, value)).unwrap();
    let exec = adding(1).instantiate().unwrap();
    let stream = Stream::new(&context).unwrap();
    exec.launch(&stream, ()).unwrap();
    exec.update(&adding(10)).unwrap();
    exec.launch(&stream, ()).unwrap();
    let longer = Graph::capture(&context, |c| {
        capture_add(c, &kernel, &numbers, 100)?;
        capture_add(c, &kernel, &numbers, 100)
    });
    let error = exec.update(&longer.unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the executable graph cannot be updated from this graph: it has other nodes, or other dependencies \
         (CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED); it is unchanged, and the other graph can be instantiated instead"
    );
    exec.launch(&stream, ()).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(numbers.value(), 1 + 10 + 10);
}

#[test]
fn a_capture_records_launches_and_runs_nothing() {
    let context = context();
    let (numbers, side) = (Numbers::new(&context), Numbers::new(&context));
    let kernel = function(&context, "add");
    let called = Arc::new(AtomicU32::new(0));
    let counted = called.clone();
    let stream = Stream::new(&context).unwrap();
    let graph = stream
        .capture(|c| {
            capture_add(c, &kernel, &numbers, 1)?;
            let fork = c.fork()?;
            capture_add(&fork, &kernel, &side, 5)?;
            capture_add(c, &kernel, &numbers, 2)?;
            c.join(&fork)?;
            c.launch_host_fn(move || add_one(&counted))
        })
        .unwrap();
    stream.synchronize().unwrap();
    assert_eq!((numbers.value(), side.value(), called.load(Ordering::SeqCst)), (0, 0, 0));
    assert_eq!((graph.nodes().unwrap().len(), graph.edges().unwrap().len()), (4, 4));
    let exec = graph.instantiate().unwrap();
    for _ in 0..3 {
        exec.launch(&stream, ()).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!((numbers.value(), side.value(), called.load(Ordering::SeqCst)), (9, 15, 3));
}

#[test]
fn a_capture_that_fails_or_panics_leaves_no_stream_capturing() {
    let context = context();
    let kernel = function(&context, "nothing");
    // SAFETY: the kernel touches nothing.
    let launch = |c: &Capture| unsafe { c.launch(&kernel, &config(), &mut []) };
    let failed = Graph::capture(&context, |c| {
        launch(c)?;
        c.fork()?;
        Err(Error::Invalid("mine".into()))
    });
    assert_eq!(failed.unwrap_err().to_string(), "mine");
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _ = Graph::capture(&context, |c| {
            launch(c)?;
            panic!("out")
        });
    }));
    assert!(panicked.is_err());
    // The context can be synchronised, and pooled streams run their work.
    context.synchronize().unwrap();
    let streams: Vec<Stream> = (0..4).map(|_| Stream::new(&context).unwrap()).collect();
    for stream in &streams {
        // SAFETY: the kernel touches nothing.
        unsafe { kernel.launch(&config(), stream, &mut []) }.unwrap();
        stream.synchronize().unwrap();
    }
}

#[test]
fn a_capture_that_outlives_its_closure_captures_and_runs_nothing() {
    let context = context();
    let numbers = Numbers::new(&context);
    let kernel = function(&context, "add");
    let mut escaped = None;
    let graph = Graph::capture(&context, |c| {
        escaped = Some((c.clone(), c.fork()?));
        Ok(())
    })
    .unwrap();
    let (capture, fork) = escaped.unwrap();
    let refused = [
        capture_add(&capture, &kernel, &numbers, 1),
        capture_add(&fork, &kernel, &numbers, 1),
        capture.launch_host_fn(|| panic!("called")),
        capture.record(&Event::new(&context).unwrap()),
        capture.fork().map(|_| ()),
        capture.join(&fork),
        capture.keep(1),
    ];
    for refused in refused {
        assert_eq!(
            refused.unwrap_err().to_string(),
            "this capture has ended; launches with it belong inside the closure of `Graph::capture`"
        );
    }
    context.synchronize().unwrap();
    assert_eq!((numbers.value(), graph.nodes().unwrap().len()), (0, 0));
}

#[test]
fn two_captures_do_not_mix() {
    let context = context();
    let result = Graph::capture(&context, |outer| Graph::capture(&context, |inner| outer.join(inner)).map(|_| ()));
    assert_eq!(result.unwrap_err().to_string(), "the two belong to different captures");
}

#[test]
fn a_context_is_not_synchronised_during_a_capture_and_modules_are_unloaded_after_it() {
    let context = context();
    let mut waiting = None;
    let kernel = function(&context, "nothing");
    let graph = Graph::capture(&context, |c| {
        let error = context.synchronize().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the context cannot be synchronised inside `Graph::capture`, whose work has not run; synchronise after the graph \
             was launched, or synchronise another stream"
        );
        assert_eq!(context.wait_until_idle().unwrap_err().to_string(), error.to_string());
        // Another thread drops a module, which must not invalidate this capture.
        std::thread::scope(|scope| drop(scope.spawn(|| drop(function(&context, "add")))));
        // Another thread waits.
        let other = (*context).clone();
        let waits = [Context::synchronize, Context::wait_until_idle];
        waiting = Some(waits.map(|wait| {
            let other = other.clone();
            std::thread::spawn(move || wait(&other))
        }));
        // SAFETY: the kernel touches nothing.
        unsafe { c.launch(&kernel, &config(), &mut []) }
    });
    assert_eq!(graph.unwrap().nodes().unwrap().len(), 1);
    waiting.unwrap().into_iter().for_each(|wait| wait.join().unwrap().unwrap());
}

/// Returns true if the objects that a graph keeps are still live.
fn held<T>(value: &Weak<T>) -> bool {
    value.strong_count() > 0
}

#[test]
fn graphs_and_executable_graphs_keep_the_objects_of_their_nodes() {
    let context = context();
    let numbers = Arc::new(Numbers::new(&context));
    let owner = Arc::downgrade(&numbers);
    let kernel = function(&context, "add");
    let value = Arc::new(());
    let (weak, in_closure) = (Arc::downgrade(&value), value);
    let graph = Graph::new(&context).unwrap();
    let added = add(&graph, &[], &kernel, &numbers, 7);
    graph.add_host_fn(&[added], move || drop(in_closure.clone())).unwrap();
    graph.keep(numbers);
    drop(kernel);
    let exec = graph.instantiate().unwrap();
    drop(graph);
    let stream = Stream::new(&context).unwrap();
    exec.launch(&stream, ()).unwrap();
    assert!(held(&owner) && held(&weak));
    // Waits for the launch, which uses the module, the closure and the memory.
    drop(exec);
    assert!(!held(&owner) && !held(&weak));
    assert!(stream.query().unwrap());
}

#[test]
fn replaced_objects_live_until_no_launch_uses_them() {
    let context = context();
    let stream = Stream::new(&context).unwrap();
    let calling = |value: &Arc<AtomicU32>| {
        let value = value.clone();
        Graph::capture(&context, |c| c.launch_host_fn(move || add_one(&value))).unwrap()
    };
    let [zeroth, first, second] = [0; 3].map(|_| Arc::new(AtomicU32::new(0)));
    // The graph that it was instantiated from is kept, and with it the objects that its nodes use.
    let exec = calling(&zeroth).instantiate().unwrap();
    exec.update(&calling(&first)).unwrap();
    let (send, receive) = std::sync::mpsc::channel::<()>();
    let receive = std::sync::Mutex::new(receive);
    stream.launch_host_fn(move || receive.lock().unwrap().recv().unwrap()).unwrap();
    exec.launch(&stream, ()).unwrap();
    exec.update(&calling(&second)).unwrap();
    assert_eq!(Arc::strong_count(&first), 2, "a launch that has not begun will call it");
    send.send(()).unwrap();
    stream.synchronize().unwrap();
    assert_eq!((first.load(Ordering::SeqCst), second.load(Ordering::SeqCst)), (1, 0));
    exec.launch(&stream, ()).unwrap();
    stream.synchronize().unwrap();
    exec.update(&calling(&second)).unwrap();
    assert_eq!(Arc::strong_count(&first), 1, "the next update finds it unused");
    assert_eq!(second.load(Ordering::SeqCst), 1);
}

#[test]
fn a_panic_in_a_graphs_host_function_is_caught_at_each_launch() {
    let context = context();
    let count = Arc::new(AtomicU32::new(0));
    let counted = count.clone();
    let graph = Graph::capture(&context, |c| {
        c.launch_host_fn(move || {
            counted.fetch_add(1, Ordering::SeqCst);
            panic!("in a graph")
        })
    });
    let (exec, stream) = (graph.unwrap().instantiate().unwrap(), Stream::new(&context).unwrap());
    exec.launch(&stream, ()).unwrap();
    exec.launch(&stream, ()).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[test]
fn a_graph_is_written_as_dot() {
    let context = context();
    let graph = Graph::new(&context).unwrap();
    let node = graph.add_empty(&[]).unwrap();
    // SAFETY: the kernel has no parameters.
    unsafe { graph.add_kernel(&[node], &function(&context, "nothing"), &config(), &mut []) }.unwrap();
    let file = std::env::temp_dir().join(format!("graph-of-two-{}.dot", std::process::id()));
    graph.write_dot(&file, true).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(text.starts_with("digraph") && text.contains("nothing") && text.contains("->"), "{text}");
    assert!(graph.write_dot("/nowhere/graph.dot", false).is_err());
    let error = graph.write_dot("a\0b", false).unwrap_err();
    assert_eq!(error.to_string(), "a\0b has a NUL byte, which no path has");
}

#[test]
fn launches_that_no_graph_can_hold_are_refused() {
    let context = context();
    let graph = Graph::new(&context).unwrap();
    let kernel = function(&context, "nothing");
    let programmatic = config().programmatic();
    // SAFETY: nothing is launched.
    let error = unsafe { graph.add_kernel(&[], &kernel, &programmatic, &mut []) }.unwrap_err();
    assert_eq!(error.to_string(), "a programmatic launch cannot be part of a graph");
    // SAFETY: nothing is launched.
    let error = unsafe { graph.add_kernel(&[], &kernel, &LaunchConfig::new(0, 1), &mut []) }.unwrap_err();
    assert!(matches!(error, Error::LaunchConfig(_)), "{error}");
    let mut value = 0_u32;
    // SAFETY: nothing is launched.
    let error = unsafe { graph.add_kernel(&[], &kernel, &config(), &mut [(&raw mut value).cast()]) }.unwrap_err();
    assert_eq!(error.to_string(), "function `nothing` has 0 parameters, and 1 were given; nothing was launched");
}
