//! Objects that are dropped in unusual orders, on other threads, or never: whatever safe code does is an error or
//! harmless.
//!
//! # Safety
//!
//! Kernels get memory that outlives them.

use std::any::Any;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use cuda_driver::{Arguments, Context, Event, Fill, Graph, LaunchConfig, Stream, driver_call};

use crate::support::{Numbers, Turn, context, function};

fn add_one(count: &AtomicU32) {
    count.fetch_add(1, Ordering::SeqCst);
}

/// Pseudo-random numbers from a seed.
fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

/// Everything that work in flight may use, with that work.
fn in_flight(context: &Turn, numbers: &Arc<Numbers>, called: &Arc<AtomicU32>) -> Vec<Box<dyn Any + Send>> {
    let (kernel, config) = (function(context, "add"), LaunchConfig::new(1, 32));
    let (stream, event) = (Stream::new(context).unwrap(), Event::new(context).unwrap());
    let graph = Graph::new(context).unwrap();
    // SAFETY: the graph keeps the numbers.
    let filled = unsafe { graph.add_memset(&[], numbers.address, Fill::U32(1), 32) }.unwrap();
    let counted = called.clone();
    let host = graph.add_host_fn(&[filled], move || add_one(&counted)).unwrap();
    (numbers.address, 1_u32)
        // SAFETY: the graph keeps the numbers, and the parameters are the kernel's.
        .with_pointers(|params, _| unsafe { graph.add_kernel(&[host], &kernel, &config, params) })
        .unwrap();
    let (_, body) = graph.add_if(&[], graph.conditional_handle(Some(1)).unwrap()).unwrap();
    body.add_empty(&[]).unwrap();
    graph.keep(numbers.clone());
    let exec = graph.instantiate().unwrap();
    exec.launch(&stream, ()).unwrap();
    event.record(&stream).unwrap();
    let child = Graph::new(context).unwrap();
    child.add_event_wait(&[], &event).unwrap();
    let capture = Graph::capture(context, |c| c.launch_host_fn(|| ())).unwrap();
    let (held, in_stream) = (stream.clone(), event.clone());
    // The last clone of an event may be dropped in a callback.
    stream.launch_host_fn(move || drop(in_stream)).unwrap();
    let done = held.done();
    let module = kernel.module().clone();
    vec![
        Box::new(kernel),
        Box::new(module),
        Box::new(stream),
        Box::new(event),
        Box::new(graph),
        Box::new(body),
        Box::new(exec),
        Box::new(child),
        Box::new(capture),
        Box::new(done),
        Box::new(held),
        Box::new((**context).clone()),
    ]
}

#[test]
fn objects_end_in_any_order_on_any_thread_with_work_in_flight() {
    let context = context();
    let called = Arc::new(AtomicU32::new(0));
    for seed in 0..60 {
        let numbers = Arc::new(Numbers::new(&context));
        let mut objects = in_flight(&context, &numbers, &called);
        let mut state = seed;
        let mut elsewhere = Vec::new();
        while !objects.is_empty() {
            let object = objects.swap_remove(random(&mut state) % objects.len());
            match random(&mut state) % 8 {
                // It is leaked.
                0 => std::mem::forget(object),
                1 => elsewhere.push(object),
                _ => drop(object),
            }
        }
        std::thread::spawn(move || drop(elsewhere)).join().unwrap();
        context.synchronize().unwrap();
        assert_eq!(numbers.value(), 2, "seed {seed}");
    }
    assert_eq!(called.load(Ordering::SeqCst), 60);
}

#[test]
fn a_closed_context_stays_for_its_objects() {
    let context = context();
    let (stream, numbers) = (Stream::new(&context).unwrap(), Numbers::new(&context));
    let kernel = function(&context, "add");
    (*context).clone().set_current();
    (*context).clone().close().unwrap();
    assert!(Context::current().is_none());
    // SAFETY: the numbers outlive the launch.
    unsafe { kernel.launch_with(&LaunchConfig::new(1, 32), &stream, (numbers.address, 3_u32)) }.unwrap();
    stream.synchronize().unwrap();
    assert_eq!(numbers.value(), 3);
}

#[test]
fn one_graph_is_built_changed_launched_and_drawn_by_many_threads() {
    let context = context();
    let graph = Graph::new(&context).unwrap();
    let count = Arc::new(AtomicU32::new(0));
    let (threads, turns) = (4, 25);
    let start = Barrier::new(threads);
    let all = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                start.wait();
                let stream = Stream::new(&context).unwrap();
                for _ in 0..turns {
                    let count = count.clone();
                    let node = graph.add_host_fn(&[], move || add_one(&count)).unwrap();
                    let other = graph.add_empty(&[node]).unwrap();
                    // SAFETY: the node does nothing.
                    unsafe { graph.remove_node(other) }.unwrap();
                    all.lock().unwrap().push(node);
                    let exec = graph.instantiate().unwrap();
                    exec.set_host_fn(node, || ()).unwrap();
                    exec.launch(&stream, ()).unwrap();
                    graph.edges().unwrap();
                }
                stream.synchronize().unwrap();
            });
        }
    });
    let (mut nodes, mut added) = (graph.nodes().unwrap(), all.into_inner().unwrap());
    nodes.sort_by_key(|node| node.as_raw().addr());
    added.sort_by_key(|node| node.as_raw().addr());
    assert_eq!(nodes, added);
    let before = count.load(Ordering::SeqCst);
    let stream = Stream::new(&context).unwrap();
    graph.instantiate().unwrap().launch(&stream, ()).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(count.load(Ordering::SeqCst) - before, (threads * turns) as u32);
}

/// A scope promises a wait, which no host function can make: it is refused before its closure runs.
#[test]
fn a_scope_inside_a_host_function_is_refused() {
    let context = context();
    let (stream, other) = (Stream::new(&context).unwrap(), Stream::new(&context).unwrap());
    let (send, receive) = std::sync::mpsc::channel();
    stream
        .launch_host_fn(move || {
            let scoped = other.scope(|_| -> cuda_driver::Result<()> { unreachable!("the closure does not run") });
            send.send(scoped.map_err(|error| error.to_string())).unwrap();
        })
        .unwrap();
    stream.synchronize().unwrap();
    let error = receive.recv().unwrap().unwrap_err();
    let text = "a stream's scope cannot begin inside a host function of a stream, where nothing can be enqueued or waited for; \
                begin it on another thread";
    assert_eq!(error, text);
}

#[test]
fn a_callback_that_calls_cuda_or_drops_objects_is_harmless() {
    let context = context();
    let (stream, told) = (Stream::new(&context).unwrap(), Arc::new(Mutex::new(None)));
    let (other, in_callback) = (Stream::new(&context).unwrap(), told.clone());
    stream
        .launch_host_fn(move || {
            // The driver refuses calls of a callback; the stream is dropped here, whose calls it refuses too.
            *in_callback.lock().unwrap() = Some(other.synchronize().map_err(|error| error.to_string()));
        })
        .unwrap();
    stream.synchronize().unwrap();
    let error = told.lock().unwrap().take().unwrap().unwrap_err();
    let text = "CUDA_ERROR_NOT_PERMITTED (800): operation not permitted; the call is not allowed here; in a host callback no \
                CUDA call is";
    assert!(error.ends_with(text), "{error}");
    // A panic whose payload panics when it is dropped.
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            if std::thread::panicking() {
                return;
            }
            panic!("again");
        }
    }
    stream.launch_host_fn(|| std::panic::panic_any(Loud)).unwrap();
    stream.synchronize().unwrap();
    // SAFETY: the call has no arguments.
    unsafe { driver_call!(&*context, cuCtxSynchronize()) }.unwrap();
}
