//! Explicitly built graphs: order and concurrency, observed with kernels that wait for a flag which the test sets,
//! never with a clock; and errors.
//!
//! # Safety
//!
//! Every call passes pointers to live locals or memory that outlives the work, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/order.rs"]
mod order;
#[path = "../common/random.rs"]
mod random;

mod changes;
mod conditional;
mod programs;

use cuda_sys::*;
use order::Fixture;
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

const NOT_READY: CUresult = CUresult::CUDA_ERROR_NOT_READY;
const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// A graph, and functions that add nodes to it.
pub(crate) struct Made<'a> {
    pub(crate) f: &'a Fixture,
    pub(crate) graph: CUgraph,
}

impl<'a> Made<'a> {
    pub(crate) fn new(f: &'a Fixture) -> Made<'a> {
        let mut graph = null_mut();
        ok!(cuGraphCreate(&mut graph, 0));
        Made { f, graph }
    }

    pub(crate) fn function(&self, name: &CStr) -> CUfunction {
        let mut function = null_mut();
        ok!(cuModuleGetFunction(&mut function, self.f.module, name.as_ptr()));
        function
    }

    pub(crate) fn kernel(&self, name: &CStr, params: &mut [*mut c_void], after: &[CUgraphNode]) -> CUgraphNode {
        let p = launch_of(self.function(name), params);
        let mut node = null_mut();
        ok!(cuGraphAddKernelNode_v2(&mut node, self.graph, after.as_ptr(), after.len(), &p));
        node
    }

    pub(crate) fn hold(&self, after: &[CUgraphNode]) -> CUgraphNode {
        let mut flag = self.f.at(0);
        self.kernel(c"hold", &mut [(&raw mut flag).cast()], after)
    }

    /// Adds the step of word `word` from `value - 1` to `value`.
    pub(crate) fn follow(&self, word: u64, mut value: u32, after: &[CUgraphNode]) -> CUgraphNode {
        let mut at = self.f.at(word);
        self.kernel(c"follow", &mut [(&raw mut at).cast(), (&raw mut value).cast()], after)
    }

    pub(crate) fn empty(&self, after: &[CUgraphNode]) -> CUgraphNode {
        let mut node = null_mut();
        ok!(cuGraphAddEmptyNode(&mut node, self.graph, after.as_ptr(), after.len()));
        node
    }

    pub(crate) fn executable(&self) -> CUgraphExec {
        let mut exec = null_mut();
        ok!(cuGraphInstantiateWithFlags(&mut exec, self.graph, 0));
        exec
    }

    pub(crate) fn nodes(&self) -> Vec<CUgraphNode> {
        nodes_of(self.graph)
    }
}

pub(crate) fn nodes_of(graph: CUgraph) -> Vec<CUgraphNode> {
    let mut count = 0;
    ok!(cuGraphGetNodes(graph, null_mut(), &mut count));
    if count == 0 {
        return Vec::new();
    }
    let mut nodes = vec![null_mut(); count];
    ok!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
    nodes
}

pub(crate) fn launch_of(func: CUfunction, params: &mut [*mut c_void]) -> CUDA_KERNEL_NODE_PARAMS {
    CUDA_KERNEL_NODE_PARAMS {
        func,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: params.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    }
}

/// Returns the copy of bytes from one device address to another.
pub(crate) fn copy_of(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: from,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: to,
        WidthInBytes: bytes,
        Height: 1,
        Depth: 1,
        ..CUDA_MEMCPY3D::default()
    }
}

/// Returns the parameters of a fill of words.
pub(crate) fn fill_of(to: CUdeviceptr, value: u32, count: usize) -> CUDA_MEMSET_NODE_PARAMS {
    CUDA_MEMSET_NODE_PARAMS { dst: to, pitch: 0, value, elementSize: 4, width: count, height: 1 }
}

pub(crate) unsafe extern "C" fn count(word: *mut c_void) {
    unsafe { AtomicU32::from_ptr(word.cast()) }.fetch_add(1, Ordering::AcqRel);
}

pub(crate) fn wait_for(word: &AtomicU32, value: u32) {
    while word.load(Ordering::Acquire) != value {
        std::thread::yield_now();
    }
}

#[test]
fn nodes_run_in_the_order_of_their_edges_at_each_launch() {
    let f = Fixture::new();
    let made = Made::new(&f);
    let stream = f.stream(1);
    let (mut fill, mut copy, mut host) = (null_mut(), null_mut(), null_mut());
    // Word 1: 0, then 1, then 2; copied to word 2; the host function counts in word 3.
    ok!(cuGraphAddMemsetNode(&mut fill, made.graph, null(), 0, &fill_of(f.at(1), 0, 1), f.context));
    let one = made.follow(1, 1, &[fill]);
    let two = made.follow(1, 2, &[one]);
    ok!(cuGraphAddMemcpyNode(&mut copy, made.graph, &two, 1, &copy_of(f.at(2), f.at(1), 4), f.context));
    let p = CUDA_HOST_NODE_PARAMS { fn_: Some(count), userData: f.at(3) as *mut c_void };
    ok!(cuGraphAddHostNode(&mut host, made.graph, &copy, 1, &p));
    let exec = made.executable();
    assert_eq!(f.word(3).load(Ordering::Acquire), 0, "nothing runs before a launch");
    for launch in 1..=3 {
        f.word(2).store(0, Ordering::Release);
        ok!(cuGraphLaunch(exec, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!((f.value(), f.word(2).load(Ordering::Acquire)), (2, 2));
        assert_eq!(f.word(3).load(Ordering::Acquire), launch);
    }
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(made.graph));
    assert_eq!(call!(cuGraphLaunch(exec, stream)), INVALID);
    assert_eq!(call!(cuGraphDestroy(made.graph)), INVALID);
}

/// A library's kernel means its function in the node's context, or in the current one.
#[test]
fn a_node_launches_a_kernel_of_a_library() {
    const TEXT: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
        .visible .entry put(.param .u64 at, .param .u32 value) { .reg .b32 %v; .reg .b64 %a;
          ld.param.u64 %a, [at]; ld.param.u32 %v, [value]; st.global.u32 [%a], %v; ret; }";
    let f = Fixture::new();
    let (mut library, mut kern) = (null_mut(), null_mut());
    let text = TEXT.as_ptr().cast();
    ok!(cuLibraryLoadData(&mut library, text, null_mut(), null_mut(), 0, null_mut(), null_mut(), 0));
    ok!(cuLibraryGetKernel(&mut kern, library, c"put".as_ptr()));
    // By the kernel's own field, as a function, and with an explicit context while another is current.
    for (value, func, kern, ctx) in
        [(7, null_mut(), kern, null_mut()), (8, kern.cast(), null_mut(), null_mut()), (9, null_mut(), kern, f.context)]
    {
        let made = Made::new(&f);
        let (mut at, mut value) = (f.at(1), value);
        let mut pointers: [*mut c_void; 2] = [(&raw mut at).cast(), (&raw mut value).cast()];
        let p = CUDA_KERNEL_NODE_PARAMS { func, kern, ctx, ..launch_of(null_mut(), &mut pointers) };
        let mut other = null_mut();
        if !ctx.is_null() {
            ok!(cuCtxCreate_v4(&mut other, null_mut(), 0, 0));
        }
        let mut node = null_mut();
        ok!(cuGraphAddKernelNode_v2(&mut node, made.graph, null(), 0, &p));
        if !other.is_null() {
            ok!(cuCtxDestroy_v2(other));
            ok!(cuCtxSetCurrent(f.context));
        }
        ok!(cuGraphLaunch(made.executable(), null_mut()));
        ok!(cuStreamSynchronize(null_mut()));
        assert_eq!(f.word(1).load(Ordering::Acquire), value);
    }
}

#[test]
fn branches_run_at_the_same_time_and_a_join_waits_for_all() {
    let f = Fixture::new();
    let made = Made::new(&f);
    let stream = f.stream(1);
    let root = made.follow(1, 1, &[]);
    let held = made.hold(&[root]);
    let free = made.follow(2, 1, &[root]);
    let last = made.follow(2, 2, &[free]);
    made.follow(1, 2, &[held, last]);
    let exec = made.executable();
    ok!(cuGraphLaunch(exec, stream));
    f.follow(3, stream);
    wait_for(f.word(2), 2);
    assert_eq!(f.value(), 1, "the join waits for the branch that is held");
    assert_eq!(call!(cuStreamQuery(stream)), NOT_READY);
    f.open();
    ok!(cuStreamSynchronize(stream));
    assert_eq!(f.value(), 3, "and the stream goes on after the graph");
}

#[test]
fn a_launch_is_one_item_of_its_stream() {
    let f = Fixture::new();
    let made = Made::new(&f);
    let stream = f.stream(0);
    // Two roots, each of which must come after the stream's earlier work.
    made.follow(1, 2, &[]);
    made.follow(2, 2, &[]);
    let exec = made.executable();
    f.hold(stream);
    for word in [1, 2] {
        let (mut at, mut value) = (f.at(word), 1u32);
        f.launch(c"follow", &mut [(&raw mut at).cast(), (&raw mut value).cast()], stream);
    }
    ok!(cuGraphLaunch(exec, stream));
    // The legacy stream waits for a blocking one, and so for its graph.
    f.follow(3, null_mut());
    f.open();
    ok!(cuStreamSynchronize(null_mut()));
    assert_eq!((f.value(), f.word(2).load(Ordering::Acquire)), (3, 2));
}

#[test]
fn launches_of_one_executable_graph_follow_each_other() {
    let f = Fixture::new();
    let (one, two) = (f.stream(1), f.stream(1));
    let made = Made::new(&f);
    let held = made.hold(&[]);
    let p = CUDA_HOST_NODE_PARAMS { fn_: Some(count), userData: f.at(1) as *mut c_void };
    let mut host = null_mut();
    ok!(cuGraphAddHostNode(&mut host, made.graph, &held, 1, &p));
    let (first, second) = (made.executable(), made.executable());
    ok!(cuGraphLaunch(first, one));
    ok!(cuGraphLaunch(first, two));
    assert_eq!(call!(cuStreamQuery(two)), NOT_READY);
    // Another stream and another executable graph do not wait for them.
    f.word(2).store(0, Ordering::Release);
    let free = f.stream(1);
    let (mut at, mut value) = (f.at(2), 1u32);
    f.launch(c"follow", &mut [(&raw mut at).cast(), (&raw mut value).cast()], free);
    ok!(cuStreamSynchronize(free));
    ok!(cuGraphLaunch(second, free));
    // An executable graph may be destroyed while it runs.
    ok!(cuGraphExecDestroy(first));
    ok!(cuGraphDestroy(made.graph));
    assert_eq!(f.value(), 0);
    f.open();
    ok!(cuCtxSynchronize());
    assert_eq!(f.value(), 3);
}

#[test]
fn parameters_are_copied_and_changes_are_for_later_launches() {
    let f = Fixture::new();
    let made = Made::new(&f);
    let stream = f.stream(1);
    let (mut at, mut value) = (f.at(1), 1u32);
    let node = made.kernel(c"follow", &mut [(&raw mut at).cast(), (&raw mut value).cast()], &[]);
    at = 0;
    value = 77;
    std::hint::black_box((at, value));
    let exec = made.executable();
    f.hold(stream);
    ok!(cuGraphLaunch(exec, stream));
    // While it waits, the same node is changed to the next step.
    (at, value) = (f.at(1), 2);
    let mut params = [(&raw mut at).cast(), (&raw mut value).cast()];
    let next = launch_of(made.function(c"follow"), &mut params);
    ok!(cuGraphExecKernelNodeSetParams_v2(exec, node, &next));
    ok!(cuGraphLaunch(exec, stream));
    f.open();
    ok!(cuStreamSynchronize(stream));
    assert_eq!(f.value(), 2);
    // The graph's own node is unchanged.
    let mut told = launch_of(null_mut(), &mut []);
    ok!(cuGraphKernelNodeGetParams_v2(node, &mut told));
    assert_eq!(told.func, made.function(c"follow"));
    assert_eq!(told.ctx, f.context);
    let second = unsafe { told.kernelParams.wrapping_add(1).read() };
    let shown = unsafe { second.cast::<u32>().read() };
    assert_eq!(shown, 1);
    // The returned parameters can be set again.
    ok!(cuGraphKernelNodeSetParams_v2(node, &told));
    let foreign = CUDA_KERNEL_NODE_PARAMS { gridDimX: 0, ..told };
    assert_eq!(call!(cuGraphKernelNodeSetParams_v2(node, &foreign)), INVALID);
    assert_eq!(call!(cuGraphExecKernelNodeSetParams_v2(exec, made.empty(&[]), &told)), INVALID);
}

#[test]
fn what_is_no_graph_is_refused() {
    let f = Fixture::new();
    let made = Made::new(&f);
    let other = Made::new(&f);
    let (a, b) = (made.empty(&[]), made.empty(&[]));
    let foreign = other.empty(&[]);
    let mut node = null_mut();
    let twice = [a, a];
    assert_eq!(call!(cuGraphAddEmptyNode(&mut node, made.graph, twice.as_ptr(), 2)), INVALID);
    assert_eq!(call!(cuGraphAddEmptyNode(&mut node, made.graph, &foreign, 1)), INVALID);
    assert_eq!(call!(cuGraphAddDependencies(made.graph, &a, &a, 1)), INVALID, "an edge to itself");
    assert_eq!(call!(cuGraphAddDependencies(made.graph, &a, &foreign, 1)), INVALID);
    ok!(cuGraphAddDependencies(made.graph, &a, &b, 1));
    assert_eq!(call!(cuGraphAddDependencies(made.graph, &a, &b, 1)), INVALID, "an edge that there is");
    assert_eq!(call!(cuGraphRemoveDependencies(made.graph, &b, &a, 1)), INVALID, "an edge that there is not");
    // A cycle is found at instantiation.
    ok!(cuGraphAddDependencies(made.graph, &b, &a, 1));
    let mut exec = null_mut();
    assert_eq!(call!(cuGraphInstantiateWithFlags(&mut exec, made.graph, 0)), INVALID);
    let mut p: CUDA_GRAPH_INSTANTIATE_PARAMS = unsafe { std::mem::zeroed() };
    assert_eq!(call!(cuGraphInstantiateWithParams(&mut exec, made.graph, &mut p)), INVALID);
    assert_eq!(p.result_out, CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    assert!([a, b].contains(&p.hErrNode_out));
    let mut log = [1u8; 8];
    assert_eq!(call!(cuGraphInstantiate_v2(&mut exec, made.graph, &mut node, log.as_mut_ptr().cast(), 8)), INVALID);
    assert!([a, b].contains(&node) && log[7] == 0);
    ok!(cuGraphRemoveDependencies(made.graph, &b, &a, 1));
    ok!(cuGraphInstantiateWithParams(&mut exec, made.graph, &mut p));
    assert_eq!(p.result_out, CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS);
    // Unsupported kinds are reported as such.
    let unsupported = CUresult::CUDA_ERROR_NOT_SUPPORTED;
    p.flags = 4;
    assert_eq!(call!(cuGraphInstantiateWithParams(&mut exec, made.graph, &mut p)), unsupported);
    assert_eq!(p.result_out, CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
    for kind in [8, 9, 12] {
        let mut any: CUgraphNodeParams = unsafe { std::mem::zeroed() };
        any.type_ = CUgraphNodeType(kind);
        assert_eq!(call!(cuGraphAddNode_v2(&mut node, made.graph, null(), null(), 0, &mut any)), unsupported);
    }
    let programmatic = CUgraphEdgeData { type_: 1, ..CUgraphEdgeData::default() };
    assert_eq!(call!(cuGraphAddDependencies_v2(made.graph, &b, &a, &programmatic, 1)), unsupported);
    // Operations that a stream would refuse.
    let wild = copy_of(f.at(0) + (1 << 30), f.at(0), 4);
    assert_eq!(call!(cuGraphAddMemcpyNode(&mut node, made.graph, null(), 0, &wild, f.context)), INVALID);
    let odd = CUDA_MEMSET_NODE_PARAMS { elementSize: 3, ..fill_of(f.at(1), 0, 1) };
    assert_eq!(call!(cuGraphAddMemsetNode(&mut node, made.graph, null(), 0, &odd, f.context)), INVALID);
    let unaligned = fill_of(f.at(1) + 1, 0, 1);
    assert_eq!(call!(cuGraphAddMemsetNode(&mut node, made.graph, null(), 0, &unaligned, f.context)), INVALID);
    let none = CUDA_HOST_NODE_PARAMS { fn_: None, userData: null_mut() };
    assert_eq!(call!(cuGraphAddHostNode(&mut node, made.graph, null(), 0, &none)), INVALID);
    assert_eq!(made.nodes(), [a, b], "nothing of it was added");
    assert_eq!(call!(cuGraphCreate(&mut exec.cast(), 1)), INVALID);
}

#[test]
fn a_graph_tells_its_structure() {
    let f = Fixture::new();
    let made = Made::new(&f);
    let (a, b) = (made.empty(&[]), made.hold(&[]));
    let c = made.empty(&[b, a]);
    let (mut from, mut to, mut count) = ([null_mut(); 3], [null_mut(); 3], 0);
    ok!(cuGraphGetEdges(made.graph, null_mut(), null_mut(), &mut count));
    assert_eq!(count, 2);
    count = 3;
    ok!(cuGraphGetEdges(made.graph, from.as_mut_ptr(), to.as_mut_ptr(), &mut count));
    assert_eq!((from, to, count), ([b, a, null_mut()], [c, c, null_mut()], 2));
    count = 0;
    gives!(CUDA_ERROR_INVALID_VALUE, cuGraphGetEdges(made.graph, from.as_mut_ptr(), to.as_mut_ptr(), &mut count));
    let mut roots = [null_mut(); 1];
    count = 1;
    ok!(cuGraphGetRootNodes(made.graph, roots.as_mut_ptr(), &mut count));
    assert_eq!((roots[0], count), (a, 1), "as many as there is room for");
    count = 2;
    ok!(cuGraphNodeGetDependencies(c, from.as_mut_ptr(), &mut count));
    assert_eq!(from[..2], [b, a]);
    count = 1;
    let mut data = CUgraphEdgeData { type_: 9, ..CUgraphEdgeData::default() };
    ok!(cuGraphNodeGetDependentNodes_v2(a, from.as_mut_ptr(), &mut data, &mut count));
    assert_eq!((from[0], data, count), (c, CUgraphEdgeData::default(), 1));
    let mut kind = CUgraphNodeType(99);
    ok!(cuGraphNodeGetType(b, &mut kind));
    assert_eq!(kind, CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL);
    ok!(cuGraphDestroyNode(b));
    assert_eq!(call!(cuGraphNodeGetType(b, &mut kind)), INVALID);
    ok!(cuGraphNodeGetDependencies(c, null_mut(), &mut count));
    assert_eq!(count, 1, "its edges went with it");
}

#[test]
fn a_clone_is_a_graph_of_its_own() {
    let f = Fixture::new();
    let made = Made::new(&f);
    let stream = f.stream(1);
    let one = made.follow(1, 1, &[]);
    let two = made.follow(1, 2, &[one]);
    let mut clone = null_mut();
    ok!(cuGraphClone(&mut clone, made.graph));
    let mut found = null_mut();
    ok!(cuGraphNodeFindInClone(&mut found, two, clone));
    assert!(nodes_of(clone).contains(&found) && found != two);
    assert_eq!(call!(cuGraphNodeFindInClone(&mut found, two, made.graph)), INVALID);
    made.follow(1, 3, &[two]);
    ok!(cuGraphDestroyNode(found));
    assert_eq!(call!(cuGraphNodeFindInClone(&mut found, two, clone)), INVALID, "it was removed");
    assert_eq!((made.nodes().len(), nodes_of(clone).len()), (3, 1));
    ok!(cuGraphDestroy(made.graph));
    let mut exec = null_mut();
    ok!(cuGraphInstantiateWithFlags(&mut exec, clone, 0));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(f.value(), 1);
}

#[test]
fn a_child_graph_runs_between_its_nodes_neighbours() {
    let f = Fixture::new();
    let stream = f.stream(1);
    let (outer, inner, deepest) = (Made::new(&f), Made::new(&f), Made::new(&f));
    deepest.follow(2, 1, &[]);
    let held = inner.hold(&[]);
    inner.follow(1, 2, &[held]);
    let mut child = null_mut();
    ok!(cuGraphAddChildGraphNode(&mut child, inner.graph, null(), 0, deepest.graph));
    let before = outer.follow(1, 1, &[]);
    ok!(cuGraphAddChildGraphNode(&mut child, outer.graph, &before, 1, inner.graph));
    outer.follow(1, 3, &[child]);
    // The node has a copy: the original may be destroyed.
    ok!(cuGraphDestroy(inner.graph));
    let mut own = null_mut();
    ok!(cuGraphChildGraphNodeGetGraph(child, &mut own));
    assert_eq!(nodes_of(own).len(), 3);
    assert_eq!(call!(cuGraphDestroy(own)), INVALID, "it is the node's");
    let exec = outer.executable();
    ok!(cuGraphLaunch(exec, stream));
    wait_for(f.word(2), 1);
    assert_eq!(f.value(), 1, "what comes after the child waits for all of it");
    f.open();
    ok!(cuStreamSynchronize(stream));
    assert_eq!(f.value(), 3);
    // A node inside can be changed, by its handle in the child's own graph.
    let step = nodes_of(own)[1];
    let (mut at, mut value) = (f.at(1), 5u32);
    let mut params = [(&raw mut at).cast(), (&raw mut value).cast()];
    ok!(cuGraphExecKernelNodeSetParams_v2(exec, step, &launch_of(outer.function(c"follow"), &mut params)));
    f.word(1).store(0, Ordering::Release);
    f.word(2).store(0, Ordering::Release);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(f.value(), 1003, "1, then 1005, then 1003: neither found the step before it");
    // And all of them, by another graph with the same topology.
    let other = Made::new(&f);
    let held = other.hold(&[]);
    other.follow(1, 2, &[held]);
    assert_eq!(call!(cuGraphExecChildGraphNodeSetParams(exec, child, other.graph)), INVALID, "a node is missing");
    ok!(cuGraphAddChildGraphNode(&mut child, other.graph, null(), 0, deepest.graph));
    ok!(cuGraphExecChildGraphNodeSetParams(exec, outer.nodes()[1], other.graph));
    f.word(1).store(0, Ordering::Release);
    f.word(2).store(0, Ordering::Release);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(f.value(), 3);
}

#[test]
fn nodes_record_events_and_wait_for_them() {
    let f = Fixture::new();
    let (stream, other) = (f.stream(1), f.stream(1));
    let (recorded, awaited) = (f.event(0), f.event(2));
    let made = Made::new(&f);
    let (mut wait, mut record, mut told) = (null_mut(), null_mut(), null_mut());
    ok!(cuGraphAddEventWaitNode(&mut wait, made.graph, null(), 0, awaited));
    let one = made.follow(1, 1, &[wait]);
    ok!(cuGraphAddEventRecordNode(&mut record, made.graph, &one, 1, recorded));
    made.follow(1, 2, &[record]);
    ok!(cuGraphEventRecordNodeGetEvent(record, &mut told));
    assert_eq!(told, recorded);
    assert_eq!(call!(cuGraphEventWaitNodeGetEvent(record, &mut told)), INVALID);
    let exec = made.executable();
    f.hold(other);
    ok!(cuEventRecord(awaited, other));
    ok!(cuGraphLaunch(exec, stream));
    assert_eq!(call!(cuEventQuery(recorded)), NOT_READY);
    assert_eq!(f.value(), 0);
    f.open();
    ok!(cuEventSynchronize(recorded));
    assert!(f.value() >= 1);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(f.value(), 2);
    // Another event from now on; it was never recorded, so the graph's record is its first.
    let later = f.event(0);
    ok!(cuGraphExecEventRecordNodeSetEvent(exec, record, later));
    f.word(1).store(0, Ordering::Release);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuEventSynchronize(later));
    let mut time = -1.0;
    ok!(cuEventElapsedTime_v2(&mut time, recorded, later));
    assert!(time > 0.0);
    ok!(cuStreamSynchronize(stream));
}

#[test]
fn a_disabled_node_only_orders() {
    let f = Fixture::new();
    let stream = f.stream(1);
    let made = Made::new(&f);
    let one = made.follow(1, 1, &[]);
    let skipped = made.hold(&[one]);
    let two = made.follow(1, 2, &[skipped]);
    let exec = made.executable();
    let mut enabled = 7;
    ok!(cuGraphNodeGetEnabled(exec, skipped, &mut enabled));
    assert_eq!(enabled, 1);
    ok!(cuGraphNodeSetEnabled(exec, skipped, 0));
    ok!(cuGraphNodeGetEnabled(exec, skipped, &mut enabled));
    assert_eq!(enabled, 0);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(f.value(), 2, "the node that would have waited for ever was left out");
    ok!(cuGraphNodeSetEnabled(exec, skipped, 1));
    f.word(1).store(0, Ordering::Release);
    ok!(cuGraphLaunch(exec, stream));
    assert_eq!(call!(cuStreamQuery(stream)), NOT_READY);
    f.open();
    ok!(cuStreamSynchronize(stream));
    let _ = two;
    assert_eq!(call!(cuGraphNodeSetEnabled(exec, made.empty(&[]), 0)), INVALID, "a node that is not in it");
}

#[test]
fn a_fault_in_a_graph_skips_what_comes_after() {
    let f = Fixture::new();
    let stream = f.stream(1);
    let made = Made::new(&f);
    let mut wild = f.at(0) + (1 << 30);
    let poke = made.kernel(c"poke", &mut [(&raw mut wild).cast()], &[]);
    made.follow(1, 1, &[poke]);
    let exec = made.executable();
    ok!(cuGraphLaunch(exec, stream));
    let illegal = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_eq!(call!(cuStreamSynchronize(stream)), illegal);
    assert_eq!(f.value(), 0);
    assert_eq!(call!(cuGraphLaunch(exec, stream)), illegal);
}
