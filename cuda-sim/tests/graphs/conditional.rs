//! Conditional nodes: the body that runs and how often, the contents of a body, and errors.

use crate::order::Fixture;
use crate::{INVALID, Made, fill_of, nodes_of};
use cuda_sys::*;
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering;

/// `set(handle, value)`; `down(at, handle)` decrements a word and sets the value to the result; `wild(handle)` writes
/// to an invalid address.
const KERNELS: &CStr = c".version 7.8\n.target sm_75\n.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry set(.param .u64 handle, .param .u32 value) { .reg .b32 %v; .reg .b64 %h;
  ld.param.u64 %h, [handle]; ld.param.u32 %v, [value];
  { .param .b64 p0; .param .b32 p1; st.param.b64 [p0], %h; st.param.b32 [p1], %v;
    call.uni cudaGraphSetConditional, (p0, p1); }
  ret; }
.visible .entry down(.param .u64 at, .param .u64 handle) { .reg .b32 %v; .reg .b64 %h, %a;
  ld.param.u64 %a, [at]; ld.param.u64 %h, [handle];
  ld.global.u32 %v, [%a]; sub.u32 %v, %v, 1; st.global.u32 [%a], %v;
  { .param .b64 p0; .param .b32 p1; st.param.b64 [p0], %h; st.param.b32 [p1], %v;
    call.uni cudaGraphSetConditional, (p0, p1); }
  ret; }
.visible .entry up(.param .u64 at) { .reg .b32 %v; .reg .b64 %a;
  ld.param.u64 %a, [at]; ld.global.u32 %v, [%a]; add.u32 %v, %v, 1; st.global.u32 [%a], %v; ret; }
.visible .entry wild() { st.global.u32 [16], 1; ret; }";

use CUgraphConditionalNodeType as T;
const IF: T = T::CU_GRAPH_COND_TYPE_IF;
const WHILE: T = T::CU_GRAPH_COND_TYPE_WHILE;
const SWITCH: T = T::CU_GRAPH_COND_TYPE_SWITCH;

/// A fixture with the kernels above.
fn fixture() -> Fixture {
    let mut f = Fixture::new();
    ok!(cuModuleLoadData(&mut f.module, KERNELS.as_ptr().cast()));
    f
}

fn number(made: &Made<'_>, default: Option<u32>) -> u64 {
    let mut handle = 0;
    let (value, flags) = (default.unwrap_or(0), default.is_some().into());
    ok!(cuGraphConditionalHandleCreate(&mut handle, made.graph, made.f.context, value, flags));
    handle
}

fn params(made: &Made<'_>, handle: u64, type_: T, size: u32) -> CUgraphNodeParams {
    let mut any: CUgraphNodeParams = unsafe { std::mem::zeroed() };
    any.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
    any.anon_1.conditional =
        CUDA_CONDITIONAL_NODE_PARAMS { handle, type_, size, phGraph_out: null_mut(), ctx: made.f.context };
    any
}

/// Adds a conditional node; returns it and its bodies.
fn choose<'a>(made: &Made<'a>, after: &[CUgraphNode], handle: u64, kind: T, size: u32) -> (CUgraphNode, Vec<Made<'a>>) {
    let (mut any, mut node) = (params(made, handle, kind, size), null_mut());
    ok!(cuGraphAddNode_v2(&mut node, made.graph, after.as_ptr(), null(), after.len(), &mut any));
    let list = unsafe { any.anon_1.conditional.phGraph_out };
    let bodies = unsafe { std::slice::from_raw_parts(list, size as usize) };
    (node, bodies.iter().map(|graph| Made { f: made.f, graph: *graph }).collect())
}

fn kernel(made: &Made<'_>, name: &CStr, first: u64, second: Option<u64>, after: &[CUgraphNode]) -> CUgraphNode {
    let (mut first, mut second) = (first, second);
    let mut pointers: Vec<*mut c_void> = vec![(&raw mut first).cast()];
    pointers.extend(second.as_mut().map(|second| std::ptr::from_mut(second).cast::<c_void>()));
    made.kernel(name, &mut pointers, after)
}

/// Counts its runs in a word.
fn up(made: &Made<'_>, word: u64, after: &[CUgraphNode]) -> CUgraphNode {
    kernel(made, c"up", made.f.at(word), None, after)
}

fn run(exec: CUgraphExec) {
    ok!(cuGraphLaunch(exec, null_mut()));
    ok!(cuStreamSynchronize(null_mut()));
}

fn words<const N: usize>(f: &Fixture) -> [u32; N] {
    std::array::from_fn(|at| f.word(at).load(Ordering::Acquire))
}

#[test]
fn the_number_that_a_kernel_sets_says_which_body_runs() {
    let f = fixture();
    let made = Made::new(&f);
    // The next value is in word 0: `down` decrements it.
    let (one, two, three) = (number(&made, None), number(&made, None), number(&made, None));
    let first = kernel(&made, c"down", f.at(0), Some(one), &[]);
    let second = kernel(&made, c"down", f.at(0), Some(two), &[first]);
    let third = kernel(&made, c"down", f.at(0), Some(three), &[second]);
    let (_, if_) = choose(&made, &[third], one, IF, 1);
    let (_, if_else) = choose(&made, &[third], two, IF, 2);
    let (switch, cases) = choose(&made, &[third], three, SWITCH, 2);
    for (word, body) in (1..).zip(if_.iter().chain(&if_else).chain(&cases)) {
        up(body, word, &[]);
    }
    // The dependents run afterwards, whichever body ran.
    up(&made, 6, &[switch]);
    let exec = made.executable();
    // Values 3, 2, 1: the second case.
    f.word(0).store(4, Ordering::Release);
    run(exec);
    assert_eq!(words(&f), [1, 1, 1, 0, 0, 1, 1]);
    // Values 1, 0, and one beyond all cases.
    f.word(0).store(2, Ordering::Release);
    run(exec);
    assert_eq!(words(&f), [u32::MAX, 2, 1, 1, 0, 1, 2]);
    // Values 2, 1, 0.
    f.word(0).store(3, Ordering::Release);
    run(exec);
    assert_eq!(words(&f), [0, 3, 2, 1, 1, 1, 3]);
}

#[test]
fn a_loop_runs_until_its_number_is_0_and_begins_anew_with_its_default() {
    let f = fixture();
    let made = Made::new(&f);
    let outer = number(&made, Some(1));
    let (_, bodies) = choose(&made, &[], outer, WHILE, 1);
    let body = &bodies[0];
    let refill = {
        let mut node = null_mut();
        ok!(cuGraphAddMemsetNode(&mut node, body.graph, null(), 0, &fill_of(f.at(1), 3, 1), f.context));
        node
    };
    // A loop of three iterations in the loop.
    let inner = number(body, Some(1));
    let (inner_node, inner_bodies) = choose(body, &[refill], inner, WHILE, 1);
    let counted = up(&inner_bodies[0], 2, &[]);
    kernel(&inner_bodies[0], c"down", f.at(1), Some(inner), &[counted]);
    kernel(body, c"down", f.at(0), Some(outer), &[inner_node]);
    let exec = made.executable();
    for launches in 1..3 {
        f.word(0).store(5, Ordering::Release);
        run(exec);
        assert_eq!(words(&f), [0, 0, launches * 15]);
    }
}

#[test]
fn a_number_without_a_default_stays_as_kernels_left_it() {
    let f = fixture();
    let made = Made::new(&f);
    let handle = number(&made, None);
    let (node, bodies) = choose(&made, &[], handle, IF, 1);
    up(&bodies[0], 0, &[]);
    kernel(&made, c"set", handle, Some(1), &[node]);
    let exec = made.executable();
    run(exec);
    assert_eq!(words(&f), [0]);
    run(exec);
    assert_eq!(words(&f), [1]);
}

#[test]
fn an_executable_graph_outlives_its_graph_and_its_bodies_can_be_changed() {
    let f = fixture();
    let build = |word: u64| {
        let made = Made::new(&f);
        let handle = number(&made, Some(1));
        let (_, bodies) = choose(&made, &[], handle, IF, 1);
        let node = up(&bodies[0], word, &[]);
        (made, node)
    };
    let ((old, node), (new, _)) = (build(1), build(2));
    let exec = old.executable();
    let mut at = f.at(3);
    let mut pointers = [(&raw mut at).cast()];
    let launch = crate::launch_of(old.function(c"up"), &mut pointers);
    ok!(cuGraphExecKernelNodeSetParams_v2(exec, node, &launch));
    run(exec);
    ok!(cuGraphNodeSetEnabled(exec, node, 0));
    run(exec);
    assert_eq!(words(&f), [0, 0, 0, 1]);
    let mut info: CUgraphExecUpdateResultInfo = unsafe { std::mem::zeroed() };
    ok!(cuGraphNodeSetEnabled(exec, node, 1));
    ok!(cuGraphExecUpdate_v2(exec, new.graph, &mut info));
    ok!(cuGraphDestroy(old.graph));
    ok!(cuGraphDestroy(new.graph));
    run(exec);
    assert_eq!(words(&f), [0, 0, 1, 1]);
    // Another type, another number of bodies, another body.
    for (kind, size, longer) in [(SWITCH, 1, false), (IF, 2, false), (IF, 1, true)] {
        let made = Made::new(&f);
        let handle = number(&made, Some(1));
        let (_, bodies) = choose(&made, &[], handle, kind, size);
        let first = up(&bodies[0], 1, &[]);
        if longer {
            up(&bodies[0], 1, &[first]);
        }
        let refused = CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
        assert_eq!(call!(cuGraphExecUpdate_v2(exec, made.graph, &mut info)), refused);
    }
    run(exec);
    assert_eq!(words(&f), [0, 0, 2, 1]);
}

#[test]
fn what_cannot_be_is_refused() {
    let f = fixture();
    let (made, other) = (Made::new(&f), Made::new(&f));
    let (handle, foreign) = (number(&made, None), number(&other, None));
    let (mut node, mut number) = (null_mut(), 0);
    assert_eq!(call!(cuGraphConditionalHandleCreate(&mut number, made.graph, f.context, 0, 2)), INVALID);
    assert_eq!(call!(cuGraphConditionalHandleCreate(null_mut(), made.graph, f.context, 0, 0)), INVALID);
    let mut refused = |handle, kind, size| {
        let mut any = params(&made, handle, kind, size);
        assert_eq!(call!(cuGraphAddNode_v2(&mut node, made.graph, null(), null(), 0, &mut any)), INVALID);
        assert!(made.nodes().is_empty());
    };
    refused(foreign, IF, 1);
    refused(handle, IF, 0);
    refused(handle, IF, 3);
    refused(handle, WHILE, 2);
    refused(handle, T(7), 1);
    let (node, bodies) = choose(&made, &[], handle, WHILE, 1);
    // A value belongs to one node, a body to its node, and neither can be copied.
    let mut again = params(&made, handle, IF, 1);
    assert_eq!(call!(cuGraphAddNode_v2(&mut null_mut(), made.graph, null(), null(), 0, &mut again)), INVALID);
    assert_eq!(call!(cuGraphDestroy(bodies[0].graph)), INVALID);
    let unsupported = CUresult::CUDA_ERROR_NOT_SUPPORTED;
    assert_eq!(call!(cuGraphClone(&mut null_mut(), made.graph)), unsupported);
    assert_eq!(call!(cuGraphAddChildGraphNode(&mut null_mut(), other.graph, null(), 0, made.graph)), unsupported);
    let mut same = params(&made, handle, IF, 1);
    assert_eq!(call!(cuGraphNodeSetParams(node, &mut same)), unsupported);
    // A node that is not allowed in a body is reported at instantiation.
    let host = CUDA_HOST_NODE_PARAMS { fn_: Some(crate::count), userData: f.words };
    let mut wrong = null_mut();
    ok!(cuGraphAddHostNode(&mut wrong, bodies[0].graph, null(), 0, &host));
    let mut p: CUDA_GRAPH_INSTANTIATE_PARAMS = unsafe { std::mem::zeroed() };
    assert_eq!(call!(cuGraphInstantiateWithParams(&mut null_mut(), made.graph, &mut p)), INVALID);
    assert_eq!(p.hErrNode_out, wrong);
    ok!(cuGraphDestroyNode(wrong));
    ok!(cuGraphInstantiateWithParams(&mut null_mut(), made.graph, &mut p));
    // The bodies are destroyed with their node.
    let body = bodies[0].graph;
    ok!(cuGraphDestroyNode(node));
    let mut count = 0;
    assert_eq!(call!(cuGraphGetNodes(body, null_mut(), &mut count)), INVALID);
    assert!(nodes_of(made.graph).is_empty());
}

#[test]
fn a_fault_in_a_loop_ends_it() {
    let f = fixture();
    let made = Made::new(&f);
    let handle = number(&made, Some(1));
    let (_, bodies) = choose(&made, &[], handle, WHILE, 1);
    bodies[0].kernel(c"wild", &mut [], &[]);
    ok!(cuGraphLaunch(made.executable(), null_mut()));
    assert_eq!(call!(cuStreamSynchronize(null_mut())), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    std::mem::forget(f);
}

/// A loop in a body uses a value of the outer graph, which is reset once in each launch; other graphs cannot use it.
#[test]
fn a_conditional_node_in_a_body_looks_at_a_number_of_the_graph_around_it() {
    let f = fixture();
    let (made, stranger) = (Made::new(&f), Made::new(&f));
    let (outer, inner) = (number(&made, Some(1)), number(&made, Some(1)));
    let (_, bodies) = choose(&made, &[], outer, IF, 1);
    let mut refused = params(&stranger, inner, WHILE, 1);
    let mut node = null_mut();
    let status = call!(cuGraphAddNode_v2(&mut node, stranger.graph, null(), null(), 0, &mut refused));
    assert_eq!(status, INVALID);
    let (_, loops) = choose(&bodies[0], &[], inner, WHILE, 1);
    let counted = up(&loops[0], 1, &[]);
    kernel(&loops[0], c"down", f.at(0), Some(inner), &[counted]);
    let exec = made.executable();
    for turns in [3, 5] {
        f.word(0).store(turns, Ordering::Release);
        f.word(1).store(0, Ordering::Release);
        run(exec);
        assert_eq!(words(&f), [0, turns]);
    }
}
