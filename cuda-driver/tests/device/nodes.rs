//! Graphs node by node: removal, copies between host and device, memory that a graph allocates, and the objects that
//! executable graphs keep for each launch.
//!
//! # Safety
//!
//! Nodes get memory that the test owns and waits for.

use cuda_driver::{
    Arguments, CopySide, Error, Fill, Graph, GraphError, InstantiateOptions, LaunchConfig, LaunchKind, MemoryCopy,
    Stream, driver_call,
};
use cuda_sys::CUresult;

use crate::support::{BYTES, Numbers, context, function};

fn config() -> LaunchConfig {
    LaunchConfig::new(1, 32)
}

fn launch_and_wait(exec: &cuda_driver::GraphExec) {
    let stream = Stream::new(exec.context()).unwrap();
    exec.launch(&stream, ()).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn a_removed_node_is_gone_and_its_handle_is_refused() {
    let context = context();
    let numbers = Numbers::new(&context);
    let graph = Graph::new(&context).unwrap();
    let fill = |after: &[_], value| {
        // SAFETY: the numbers are that many, and outlive the launches.
        unsafe { graph.add_memset(after, numbers.address, Fill::U32(value), 32) }.unwrap()
    };
    let first = fill(&[], 1);
    let second = fill(&[first], 2);
    let third = graph.add_empty(&[second]).unwrap();
    let before = graph.instantiate().unwrap();
    // SAFETY: the first node's numbers are then the last.
    unsafe { graph.remove_node(second) }.unwrap();
    assert_eq!((graph.nodes().unwrap(), graph.edges().unwrap()), (vec![first, third], vec![]));
    launch_and_wait(&graph.instantiate().unwrap());
    assert_eq!(numbers.value(), 1);
    // An executable graph that was instantiated before has the node and runs it, but refuses updates of it.
    launch_and_wait(&before);
    assert_eq!(numbers.value(), 2);
    let text = "the node was removed from its graph; nodes that were added later have handles of their own";
    let refused = [
        graph.kind(second).map(|_| ()),
        graph.add_empty(&[second]).map(|_| ()),
        graph.add_dependency(first, second),
        before.set_enabled(second, false),
        // SAFETY: it is not removed.
        unsafe { graph.remove_node(second) },
    ];
    for refused in refused {
        assert_eq!(refused.unwrap_err().to_string(), text);
    }
    // SAFETY: there is no such dependency.
    let error = unsafe { graph.remove_dependency(first, third) }.unwrap_err();
    assert!(error.to_string().starts_with("cuGraphRemoveDependencies: CUDA_ERROR_INVALID_VALUE (1)"), "{error}");
    // SAFETY: it is not removed.
    let error = unsafe { Graph::new(&context).unwrap().remove_node(first) }.unwrap_err();
    assert_eq!(error.to_string(), "the node belongs to another graph");
}

#[test]
fn objects_of_a_removed_node_are_dropped_with_it() {
    let context = context();
    let graph = Graph::new(&context).unwrap();
    let held = std::sync::Arc::new(());
    let in_closure = held.clone();
    let node = graph.add_host_fn(&[], move || drop(in_closure.clone())).unwrap();
    let exec = graph.instantiate().unwrap();
    // SAFETY: nothing needs what it does.
    unsafe { graph.remove_node(node) }.unwrap();
    assert_eq!(std::sync::Arc::strong_count(&held), 2, "the executable graph calls it");
    launch_and_wait(&exec);
    drop(exec);
    assert_eq!(std::sync::Arc::strong_count(&held), 1);
}

#[test]
fn copies_of_two_and_three_dimensions_go_to_the_device_and_back() {
    let context = context();
    let device = Numbers::new(&context);
    // Boxes of 2 x 3 x 4 bytes: out of one of 3 x 5 x 6, through the device with a pitch, into one of 4 x 3 x 7.
    let mut from: Vec<u8> = (0..3 * 5 * 6).collect();
    let mut to = vec![0xff_u8; 4 * 3 * 7];
    let source = CopySide::host(from.as_mut_ptr().cast()).pitch(6).rows(5).at(1, 2, 1);
    let middle = CopySide::device(device.address).pitch(16).rows(3);
    let target = CopySide::host(to.as_mut_ptr().cast()).pitch(7).rows(3).at(3, 0, 2);
    let graph = Graph::new(&context).unwrap();
    // SAFETY: all boxes are within their memory, which outlives the launches.
    let up = unsafe { graph.add_copy(&[], &MemoryCopy::volume(middle, source, [4, 3, 2])) }.unwrap();
    // SAFETY: all boxes are within their memory, which outlives the launches.
    let down = unsafe { graph.add_copy(&[up], &MemoryCopy::volume(target, middle, [4, 3, 2])) }.unwrap();
    let exec = graph.instantiate().unwrap();
    launch_and_wait(&exec);
    let expected = |slice: usize, row: usize, byte: usize| match (slice.checked_sub(2), byte.checked_sub(3)) {
        (Some(slice), Some(byte)) => ((slice + 1) * 30 + (row + 2) * 6 + byte + 1) as u8,
        _ => 0xff,
    };
    for (at, value) in to.iter().enumerate() {
        assert_eq!(*value, expected(at / 21, at / 7 % 3, at % 7), "byte {at}");
    }
    // The driver updates copies of one row only.
    // SAFETY: the copy is refused.
    let error = unsafe { exec.set_copy(down, &MemoryCopy::rows(target, middle, 4, 3)) }.unwrap_err();
    assert!(error.to_string().starts_with("cuGraphExecMemcpyNodeSetParams: CUDA_ERROR_INVALID_VALUE"), "{error}");
    // A row that exceeds its allocation.
    let short = CopySide::device(device.address).pitch(3);
    // SAFETY: the copy is refused.
    let error = unsafe { graph.add_copy(&[], &MemoryCopy::rows(short, source, 4, 2)) }.unwrap_err();
    assert!(error.to_string().starts_with("cuGraphAddMemcpyNode: CUDA_ERROR_INVALID_VALUE"), "{error}");
}

#[test]
fn a_copy_from_the_host_reads_it_at_each_launch_and_can_be_changed() {
    let context = context();
    let numbers = Numbers::new(&context);
    let (mut one, mut other) = ([1_u32; 32], [5_u32; 32]);
    let up = |host: &mut [u32; 32]| {
        MemoryCopy::line(CopySide::device(numbers.address), CopySide::host(host.as_mut_ptr().cast()), BYTES)
    };
    let graph = Graph::new(&context).unwrap();
    // SAFETY: both sides have that many bytes, and outlive the launches.
    let node = unsafe { graph.add_copy(&[], &up(&mut one)) }.unwrap();
    let exec = graph.instantiate().unwrap();
    launch_and_wait(&exec);
    assert_eq!(numbers.value(), 1);
    one = [2; 32];
    launch_and_wait(&exec);
    assert_eq!((numbers.value(), one[0]), (2, 2));
    // SAFETY: both sides have that many bytes, and outlive the launches.
    unsafe { exec.set_copy(node, &up(&mut other)) }.unwrap();
    launch_and_wait(&exec);
    assert_eq!(numbers.value(), 5);
}

#[test]
fn memory_of_a_graph_lives_between_its_nodes() {
    let context = context();
    let numbers = Numbers::new(&context);
    let used = || context.device().graph_memory().unwrap().used;
    let before = used();
    let graph = Graph::new(&context).unwrap();
    let (allocated, memory) = graph.add_alloc(&[], BYTES).unwrap();
    // SAFETY: the graph's memory is used between its nodes.
    let filled = unsafe { graph.add_memset(&[allocated], memory, Fill::U32(3), 32) }.unwrap();
    // SAFETY: the graph's memory is used between its nodes, and the numbers outlive the launches.
    let copied = unsafe { graph.add_memcpy(&[filled], numbers.address, memory, BYTES) }.unwrap();
    // SAFETY: everything comes before.
    let freed = unsafe { graph.add_free(&[copied], memory) }.unwrap();
    let exec = graph.instantiate().unwrap();
    let error = graph.instantiate().unwrap_err();
    assert!(
        error.to_string().starts_with("cuGraphInstantiateWithFlags: CUDA_ERROR_INVALID_VALUE"),
        "one at a time: {error}"
    );
    launch_and_wait(&exec);
    launch_and_wait(&exec);
    assert_eq!((numbers.value(), used()), (3, before));
    let errors = [
        (graph.add_alloc(&[], 0).map(|_| ()), "cuGraphAddMemAllocNode: CUDA_ERROR_INVALID_VALUE"),
        // SAFETY: it is refused.
        (unsafe { graph.add_free(&[], memory) }.map(|_| ()), "cuGraphAddMemFreeNode: CUDA_ERROR_INVALID_VALUE"),
        // SAFETY: it is refused.
        (unsafe { graph.add_free(&[], numbers.address) }.map(|_| ()), "cuGraphAddMemFreeNode: CUDA_ERROR_INVALID"),
        // SAFETY: it is refused.
        (unsafe { graph.remove_node(freed) }, "cuGraphDestroyNode: CUDA_ERROR_NOT_SUPPORTED"),
    ];
    for (result, text) in errors {
        let error = result.unwrap_err();
        assert!(error.to_string().starts_with(text), "{error}");
    }
    context.device().trim_graph_memory().unwrap();
}

#[test]
fn memory_that_a_graph_leaves_is_freed_outside_or_by_its_next_launch() {
    let context = context();
    let graph = Graph::new(&context).unwrap();
    let (_, memory) = graph.add_alloc(&[], BYTES).unwrap();
    let stream = Stream::new(&context).unwrap();
    let free = || {
        // SAFETY: a launch has allocated it, and nothing uses it.
        unsafe { driver_call!(&*context, cuMemFreeAsync(memory, stream.as_raw())) }.unwrap();
    };
    let exec = graph.instantiate().unwrap();
    exec.launch(&stream, ()).unwrap();
    let error = exec.launch(&stream, ()).unwrap_err();
    assert!(error.to_string().starts_with("cuGraphLaunch: CUDA_ERROR_INVALID_VALUE"), "{error}");
    free();
    exec.launch(&stream, ()).unwrap();
    free();
    drop(exec);
    let exec = graph.instantiate_with(InstantiateOptions::new().auto_free()).unwrap();
    exec.launch(&stream, ()).unwrap();
    exec.launch(&stream, ()).unwrap();
    free();
    stream.synchronize().unwrap();
}

#[test]
fn a_kernel_in_clusters_can_be_changed_for_another_in_the_same() {
    let context = context();
    let (numbers, kernel) = (Numbers::new(&context), function(&context, "add"));
    let graph = Graph::new(&context).unwrap();
    let clustered = |grid: u32, cluster: u32| LaunchConfig::new(grid, 32).cluster(cluster);
    let node = (numbers.address, 1_u32)
        // SAFETY: the parameters are the kernel's, and the numbers outlive the launches. Blocks race, with atomic words.
        .with_pointers(|params, _| unsafe { graph.add_kernel(&[], &kernel, &clustered(2, 2), params) })
        .unwrap();
    let exec = graph.instantiate().unwrap();
    let set = |config: &LaunchConfig| {
        (numbers.address, 5_u32)
            // SAFETY: the parameters are the kernel's, and the numbers outlive the launches. Blocks race, with atomic words.
            .with_pointers(|params, _| unsafe { exec.set_kernel(node, &kernel, config, params) })
    };
    set(&clustered(4, 2)).unwrap();
    launch_and_wait(&exec);
    assert!(matches!(numbers.value(), 5 | 10 | 15 | 20));
    let error = set(&clustered(4, 4)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "function `add` would be launched in clusters of (4, 1, 1) blocks, and the node was added in clusters of (2, 1, 1) \
         blocks; an executable graph cannot change that: build and instantiate the graph with this launch"
    );
    let Err(Error::Graph(error)) = set(&config().cooperative()) else { panic!() };
    let launch = LaunchKind { cluster: None, cooperative: true };
    let fixed = LaunchKind { cluster: Some([2, 1, 1]), cooperative: false };
    assert_eq!(*error, GraphError::LaunchKind { function: "add".into(), launch, node: fixed });
    assert!(error.to_string().contains("launched cooperatively without clusters, and"), "{error}");
    // As before.
    launch_and_wait(&exec);
}

#[test]
fn a_cooperative_kernel_stays_cooperative() {
    let context = context();
    let (graph, kernel) = (Graph::new(&context).unwrap(), function(&context, "nothing"));
    // SAFETY: the kernel touches nothing.
    let node = unsafe { graph.add_kernel(&[], &kernel, &config().cooperative(), &mut []) }.unwrap();
    let exec = graph.instantiate().unwrap();
    // SAFETY: the kernel touches nothing.
    let set = |config: &LaunchConfig| unsafe { exec.set_kernel(node, &kernel, config, &mut []) };
    let Err(Error::Graph(error)) = set(&config()) else { panic!() };
    let kind = |cooperative| LaunchKind { cluster: None, cooperative };
    let expected = GraphError::LaunchKind { function: "nothing".into(), launch: kind(false), node: kind(true) };
    assert_eq!(*error, expected);
    set(&config().cooperative()).unwrap();
    launch_and_wait(&exec);
}

#[test]
fn a_refused_update_names_the_reason_and_the_node() {
    let context = context();
    let (numbers, kernel) = (Numbers::new(&context), function(&context, "add"));
    let build = |config: &LaunchConfig, count: usize, fill: bool| {
        let graph = Graph::new(&context).unwrap();
        let first = match fill {
            // SAFETY: the numbers outlive what is launched, which is nothing.
            true => unsafe { graph.add_memset(&[], numbers.address, Fill::U32(0), count) }.unwrap(),
            false => graph.add_empty(&[]).unwrap(),
        };
        (numbers.address, 1_u32)
            // SAFETY: the numbers outlive what is launched, which is nothing.
            .with_pointers(|params, _| unsafe { graph.add_kernel(&[first], &kernel, config, params) })
            .unwrap();
        graph
    };
    let exec = build(&config(), 32, true).instantiate().unwrap();
    exec.update(&build(&config(), 16, true)).unwrap();
    let cases = [
        (
            build(&config(), 32, false),
            "a node is of another type, at its node 0 (CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED)",
        ),
        (
            build(&LaunchConfig::new(2, 32).cluster(2), 32, true),
            "attributes of a launch differ that are fixed, such as the extents of clusters, at its node 1 \
             (CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED)",
        ),
        (
            Graph::new(&context).unwrap(),
            "it has other nodes, or other dependencies (CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED)",
        ),
    ];
    for (graph, reason) in cases {
        let Err(error) = exec.update(&graph) else { panic!("it is updated, although {reason}") };
        assert_eq!(
            error.to_string(),
            format!(
                "the executable graph cannot be updated from this graph: {reason}; it is unchanged, and the other graph can be \
                 instantiated instead"
            )
        );
    }
    assert_eq!(CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE.0, 910);
}
