//! Conditional nodes: kernels decide the body that runs, and the number of its iterations.
//!
//! # Safety
//!
//! Kernels get the handle of a graph's conditional value, and memory that the test owns and waits for.

use cuda_driver::{
    Arguments, ConditionalHandle, Error, Fill, Function, Graph, GraphError, GraphNode, LaunchConfig, MemoryId, Module,
    Stream,
};
use cuda_sys::CUgraphNodeType as Kind;

use crate::support::{Numbers, Turn, context};

/// `down(x, number)` subtracts one from each of 32 numbers, and sets the value of a node to the result.
const PTX: &str = "
    .version 7.0
    .target sm_75
    .address_size 64
    .extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
    .visible .entry down(.param .u64 x, .param .u64 number) {
        .reg .b32 %r<3>;
        .reg .b64 %rd<4>;
        mov.u32 %r1, %tid.x;
        ld.param.u64 %rd1, [x];
        ld.param.u64 %rd2, [number];
        mul.wide.u32 %rd3, %r1, 4;
        add.u64 %rd1, %rd1, %rd3;
        ld.global.u32 %r2, [%rd1];
        sub.u32 %r2, %r2, 1;
        st.global.u32 [%rd1], %r2;
        {
            .param .b64 p0;
            .param .b32 p1;
            st.param.b64 [p0], %rd2;
            st.param.b32 [p1], %r2;
            call.uni cudaGraphSetConditional, (p0, p1);
        }
        ret;
    }";

fn down(context: &Turn) -> Function {
    // SAFETY: the kernel accesses only the memory behind its parameters.
    unsafe { Module::load_ptx(context, PTX) }.unwrap().function("down").unwrap()
}

fn add_down(graph: &Graph, kernel: &Function, numbers: &Numbers, number: ConditionalHandle) {
    (numbers.address, number.as_raw())
        // SAFETY: the parameters are the kernel's: a conditional handle of this graph, and memory that the test owns
        // and waits for.
        .with_pointers(|params, _| unsafe { graph.add_kernel(&[], kernel, &LaunchConfig::new(1, 32), params) })
        .unwrap();
}

fn add_fill(graph: &Graph, numbers: &Numbers, value: u32) {
    // SAFETY: the numbers are that many, and outlive the launches.
    unsafe { graph.add_memset(&[], numbers.address, Fill::U32(value), 32) }.unwrap();
}

#[test]
fn a_loop_runs_until_its_kernel_ends_it_at_each_launch() {
    let context = context();
    let (left, kernel) = (Numbers::new(&context), down(&context));
    let graph = Graph::new(&context).unwrap();
    // SAFETY: the numbers are that many, and outlive the launches.
    let filled = unsafe { graph.add_memset(&[], left.address, Fill::U32(7), 32) }.unwrap();
    let again = graph.conditional_handle(Some(1)).unwrap();
    let (node, body) = graph.add_while(&[filled], again).unwrap();
    assert_eq!(graph.kind(node).unwrap(), Kind::CU_GRAPH_NODE_TYPE_CONDITIONAL);
    add_down(&body, &kernel, &left, again);
    let exec = graph.instantiate().unwrap();
    // The body holds the graph, the executable graph what the body needs.
    drop((graph, kernel, body));
    let stream = Stream::new(&context).unwrap();
    for _ in 0..2 {
        exec.launch(&stream, ()).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(left.value(), 0);
    }
}

#[test]
fn a_capture_is_one_node_of_a_body() {
    let context = context();
    let (left, kernel) = (Numbers::new(&context), down(&context));
    let graph = Graph::new(&context).unwrap();
    // SAFETY: the numbers are that many, and outlive the launches.
    let filled = unsafe { graph.add_memset(&[], left.address, Fill::U32(9), 32) }.unwrap();
    let again = graph.conditional_handle(Some(1)).unwrap();
    let (_, body) = graph.add_while(&[filled], again).unwrap();
    let config = LaunchConfig::new(1, 32);
    let node = body
        .add_captured(&[], |c| {
            // SAFETY: the parameters are the kernel's: a conditional handle of this graph, and memory that the test
            // owns and waits for.
            let launch = || unsafe { c.launch_with(&kernel, &config, (left.address, again.as_raw())) };
            (0..3).try_for_each(|_| launch())
        })
        .unwrap();
    assert_eq!(body.nodes().unwrap(), [node]);
    assert_eq!(body.kind(node).unwrap(), Kind::CU_GRAPH_NODE_TYPE_GRAPH);
    let stream = Stream::new(&context).unwrap();
    graph.instantiate().unwrap().launch(&stream, ()).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(left.value(), 0, "three turns of three");

    let error = body.add_captured(&[node, filled], |_| Ok(())).unwrap_err();
    assert_eq!(error.to_string(), "the node belongs to another graph");
    let error = body.add_captured(&[], |_| Err(Error::other(std::fmt::Error))).unwrap_err();
    assert!(matches!(error, Error::Other(_)));
    assert_eq!(body.nodes().unwrap(), [node], "of what fails nothing is added");
}

/// The accesses that a typed launch records for its arrays.
fn captured(graph: &Graph, id: MemoryId, writes: bool) -> GraphNode {
    graph.add_captured(&[], |c| c.open()?.record_access(id, writes, || "an array".into())).unwrap()
}

#[test]
fn the_node_of_a_body_comes_after_conflicting_nodes() {
    let context = context();
    let graph = Graph::new(&context).unwrap();
    let (x, y) = (MemoryId::unique(), MemoryId::unique());
    let number = |graph: &Graph| graph.conditional_handle(Some(1)).unwrap();
    let before = graph.add_empty(&[]).unwrap();
    let (node, body) = graph.add_if(&[before], number(&graph)).unwrap();
    let after = graph.add_empty(&[node]).unwrap();
    let (inner, nested) = body.add_if(&[], number(&body)).unwrap();
    let beside = body.add_empty(&[]).unwrap();
    let writer = captured(&graph, x, true);
    let at_first = [(before, node), (node, after)];
    let edges = |graph: &Graph| {
        let mut edges = graph.edges().unwrap();
        edges.retain(|edge| !at_first.contains(edge));
        edges
    };
    captured(&nested, y, true);
    assert_eq!((edges(&graph), edges(&body)), (vec![], vec![]), "they have nothing in common");
    captured(&nested, x, false);
    // At every level, and not after its own successors.
    assert_eq!((edges(&graph), edges(&body)), (vec![(writer, node)], vec![(beside, inner)]));
    captured(&nested, x, true);
    assert_eq!(graph.edges().unwrap().len(), 3, "none twice");
    // Later nodes come after the node.
    let reader = captured(&graph, x, false);
    assert!(graph.edges().unwrap().contains(&(node, reader)));
    graph.instantiate().unwrap();
}

#[test]
fn branches_choose_among_their_bodies() {
    let context = context();
    let out = Numbers::new(&context);
    let run = |number: u32| {
        let graph = Graph::new(&context).unwrap();
        let [a, b] = [0; 2].map(|_| graph.conditional_handle(Some(number)).unwrap());
        let (first, then, otherwise) = graph.add_if_else(&[], a).unwrap();
        add_fill(&then, &out, 10);
        add_fill(&otherwise, &out, 20);
        let (_, [zero, one, two]) = graph.add_switch(&[first], b).unwrap();
        // The case of 1 keeps the value that the branch before has written.
        drop(one);
        add_fill(&zero, &out, 30);
        add_fill(&two, &out, 32);
        let stream = Stream::new(&context).unwrap();
        graph.instantiate().unwrap().launch(&stream, ()).unwrap();
        stream.synchronize().unwrap();
        out.value()
    };
    assert_eq!([0, 1, 2, 3].map(run), [30, 10, 32, 10]);
}

#[test]
fn a_body_cannot_be_instantiated_and_is_dropped_with_its_owner() {
    let context = context();
    let (graph, other) = (Graph::new(&context).unwrap(), Graph::new(&context).unwrap());
    let number = graph.conditional_handle(None).unwrap();
    let error = other.add_if(&[], number).unwrap_err();
    assert_eq!(error.to_string(), "the node belongs to another graph");
    let (node, body) = graph.add_if(&[], number).unwrap();
    let error = body.instantiate().unwrap_err();
    assert_eq!(
        error.to_string(),
        "this graph is the body of a conditional node, and is launched with the graph of that node; instantiate that graph"
    );
    // SAFETY: it is refused.
    let Err(Error::Graph(error)) = (unsafe { graph.remove_node(node) }) else { panic!() };
    assert_eq!(*error, GraphError::BodyInUse);
    assert_eq!(
        error.to_string(),
        "a conditional node cannot be removed, since its bodies would be destroyed with it; build the graph without it"
    );
    let error = graph.add_if(&[], number).unwrap_err();
    assert!(error.to_string().starts_with("cuGraphAddNode_v2: CUDA_ERROR_INVALID_VALUE"), "one node looks at a number");
    let error = other.add_child(&[], &graph).unwrap_err();
    assert!(error.to_string().starts_with("cuGraphClone: CUDA_ERROR_NOT_SUPPORTED"), "{error}");
    drop(graph);
    body.add_host_fn(&[], || ()).unwrap();
    assert_eq!(body.nodes().unwrap().len(), 1);
}

#[test]
fn unsupported_nodes_of_a_body_are_found_at_instantiation() {
    let context = context();
    let graph = Graph::new(&context).unwrap();
    let (_, body) = graph.add_if(&[], graph.conditional_handle(Some(1)).unwrap()).unwrap();
    body.add_host_fn(&[], || ()).unwrap();
    let error = graph.instantiate().unwrap_err();
    assert!(error.to_string().starts_with("cuGraphInstantiateWithFlags: CUDA_ERROR_INVALID_VALUE"), "{error}");
}
