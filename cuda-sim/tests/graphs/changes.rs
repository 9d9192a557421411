//! Changes of graphs: updates, memory allocated by graphs, user objects, generic node functions, and drawings.

use crate::order::Fixture;
use crate::{INVALID, Made, copy_of, count, fill_of, launch_of, wait_for};
use cuda_sys::*;
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering;

use CUgraphExecUpdateResult as Result;

fn updated(exec: CUgraphExec, graph: CUgraph) -> (CUresult, CUgraphExecUpdateResultInfo) {
    let mut info: CUgraphExecUpdateResultInfo = unsafe { std::mem::zeroed() };
    info.result = Result(99);
    (call!(cuGraphExecUpdate_v2(exec, graph, &mut info)), info)
}

#[test]
fn an_update_takes_over_what_the_nodes_of_a_like_graph_do() {
    let f = Fixture::new();
    let stream = f.stream(1);
    let build = |first: u32, word: u64| {
        let made = Made::new(&f);
        let one = made.follow(word, first, &[]);
        let two = made.follow(word, first + 1, &[one]);
        let mut fill = null_mut();
        ok!(cuGraphAddMemsetNode(&mut fill, made.graph, &two, 1, &fill_of(f.at(word + 1), first, 1), f.context));
        made
    };
    let (old, new) = (build(1, 1), build(5, 3));
    let exec = old.executable();
    f.word(3).store(4, Ordering::Release);
    let (status, info) = updated(exec, new.graph);
    assert_eq!((status, info.result), (CUresult::CUDA_SUCCESS, Result::CU_GRAPH_EXEC_UPDATE_SUCCESS));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    let word = |at: usize| f.word(at).load(Ordering::Acquire);
    assert_eq!([word(1), word(2), word(3), word(4)], [0, 0, 6, 5]);
    // An update is refused as a whole.
    let failed = CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    let shorter = Made::new(&f);
    shorter.follow(1, 1, &[]);
    let (status, info) = updated(exec, shorter.graph);
    assert_eq!((status, info.result), (failed, Result::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED));
    assert!(info.errorNode.is_null());
    let other = build(1, 1);
    let nodes = other.nodes();
    ok!(cuGraphRemoveDependencies(other.graph, &nodes[1], &nodes[2], 1));
    let (status, info) = updated(exec, other.graph);
    assert_eq!((status, info.result), (failed, Result::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED));
    assert_eq!(info.errorNode, nodes[2]);
    ok!(cuGraphAddDependencies(other.graph, &nodes[0], &nodes[2], 1));
    let (status, info) = updated(exec, other.graph);
    assert_eq!((status, info.errorNode, info.errorFromNode), (failed, nodes[2], nodes[0]));
    let kind = Made::new(&f);
    let one = kind.follow(1, 1, &[]);
    let two = kind.empty(&[one]);
    kind.empty(&[two]);
    let mut node = null_mut();
    let mut result = Result(99);
    assert_eq!(call!(cuGraphExecUpdate(exec, kind.graph, &mut node, &mut result)), failed);
    assert_eq!((node, result), (two, Result::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED));
    let (status, info) = updated(exec, null_mut());
    assert_eq!((status, info.result), (INVALID, Result::CU_GRAPH_EXEC_UPDATE_ERROR));
    // The refused updates had no effect.
    f.word(3).store(4, Ordering::Release);
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(word(3), 6);
}

#[test]
fn an_update_keeps_the_kind_of_work() {
    let f = Fixture::new();
    let made = Made::new(&f);
    let (mut plane, mut copy) = (null_mut(), null_mut());
    let p = CUDA_MEMSET_NODE_PARAMS { pitch: 16, height: 2, ..fill_of(f.at(1), 1, 2) };
    ok!(cuGraphAddMemsetNode(&mut plane, made.graph, null(), 0, &p, f.context));
    ok!(cuGraphAddMemcpyNode(&mut copy, made.graph, &plane, 1, &copy_of(f.at(9), f.at(1), 4), f.context));
    let (exec, step) = (made.executable(), made.follow(1, 1, &[]));
    let other = CUDA_MEMSET_NODE_PARAMS { value: 7, dst: f.at(2), ..p };
    ok!(cuGraphExecMemsetNodeSetParams(exec, plane, &other, f.context));
    let wider = CUDA_MEMSET_NODE_PARAMS { width: 3, ..p };
    assert_eq!(call!(cuGraphExecMemsetNodeSetParams(exec, plane, &wider, f.context)), INVALID, "its rows are fixed");
    ok!(cuGraphExecMemcpyNodeSetParams(exec, copy, &copy_of(f.at(10), f.at(2), 8), f.context));
    let rows = CUDA_MEMCPY3D { Height: 2, ..copy_of(f.at(9), f.at(1), 4) };
    assert_eq!(call!(cuGraphExecMemcpyNodeSetParams(exec, copy, &rows, f.context)), INVALID, "one row only");
    assert_eq!(call!(cuGraphExecMemcpyNodeSetParams(exec, plane, &copy_of(f.at(9), f.at(1), 4), f.context)), INVALID);
    ok!(cuGraphLaunch(exec, null_mut()));
    ok!(cuStreamSynchronize(null_mut()));
    let word = |at: usize| f.word(at).load(Ordering::Acquire);
    assert_eq!([word(1), word(2), word(3), word(6), word(10), word(11)], [0, 7, 7, 7, 7, 7]);
    // Parameters are returned as they were set.
    let (mut told, mut told_copy) = (fill_of(0, 0, 0), copy_of(0, 0, 0));
    ok!(cuGraphMemsetNodeGetParams(plane, &mut told));
    assert_eq!(told, p);
    ok!(cuGraphMemcpyNodeGetParams(copy, &mut told_copy));
    assert_eq!((told_copy.WidthInBytes, told_copy.Height, told_copy.Depth), (4, 1, 1));
    let host = CUmemorytype::CU_MEMORYTYPE_HOST;
    assert_eq!((told_copy.dstMemoryType, told_copy.dstHost), (host, f.at(9) as *mut c_void), "mapped host memory");
    ok!(cuGraphMemcpyNodeSetParams(copy, &told_copy));
    assert_eq!(call!(cuGraphMemsetNodeGetParams(copy, &mut told)), INVALID);
    // An attribute makes a launch cooperative, permanently; a grid that is too large for that is refused.
    let id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    let mut value = CUlaunchAttributeValue { cooperative: 1 };
    ok!(cuGraphKernelNodeSetAttribute(step, id, &value));
    let mut large = launch_of(null_mut(), &mut []);
    ok!(cuGraphKernelNodeGetParams_v2(step, &mut large));
    large.gridDimX = 1 << 20;
    let too_large = CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    assert_eq!(call!(cuGraphKernelNodeSetParams_v2(step, &large)), too_large);
    let plain = made.follow(1, 2, &[]);
    ok!(cuGraphKernelNodeCopyAttributes(plain, step));
    value.cooperative = 9;
    ok!(cuGraphKernelNodeGetAttribute(plain, id, &mut value));
    assert_eq!(unsafe { value.cooperative }, 1);
    assert_eq!(call!(cuGraphKernelNodeGetAttribute(copy, id, &mut value)), INVALID);
}

/// An allocation of `bytes` on device 0.
fn allocation(bytes: usize) -> CUDA_MEM_ALLOC_NODE_PARAMS {
    let mut p: CUDA_MEM_ALLOC_NODE_PARAMS = unsafe { std::mem::zeroed() };
    p.poolProps.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    p.poolProps.location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
    p.bytesize = bytes;
    p
}

#[test]
fn memory_outlives_its_graph_until_it_is_freed() {
    let f = Fixture::new();
    let stream = f.stream(1);
    let made = Made::new(&f);
    let (mut alloc, mut fill, mut p) = (null_mut(), null_mut(), allocation(64));
    ok!(cuGraphAddMemAllocNode(&mut alloc, made.graph, null(), 0, &mut p));
    ok!(cuGraphAddMemsetNode(&mut fill, made.graph, &alloc, 1, &fill_of(p.dptr, 3, 16), f.context));
    let mut told = allocation(0);
    ok!(cuGraphMemAllocNodeGetParams(alloc, &mut told));
    assert_eq!((told.dptr, told.bytesize), (p.dptr, 64));
    // Such a graph cannot be copied or changed, and has one executable graph at a time.
    let unsupported = CUresult::CUDA_ERROR_NOT_SUPPORTED;
    assert_eq!(call!(cuGraphClone(&mut null_mut(), made.graph)), unsupported);
    assert_eq!(call!(cuGraphDestroyNode(fill)), unsupported);
    assert_eq!(call!(cuGraphRemoveDependencies(made.graph, &alloc, &fill, 1)), INVALID);
    let outer = Made::new(&f);
    assert_eq!(call!(cuGraphAddChildGraphNode(&mut fill, outer.graph, null(), 0, made.graph)), unsupported);
    let exec = made.executable();
    assert_eq!(call!(cuGraphInstantiateWithFlags(&mut null_mut(), made.graph, 0)), INVALID);
    assert_eq!(call!(cuMemFreeAsync(p.dptr, stream)), INVALID, "it is not allocated");
    ok!(cuGraphLaunch(exec, stream));
    assert_eq!(call!(cuGraphLaunch(exec, stream)), INVALID, "it is still allocated");
    ok!(cuMemFreeAsync(p.dptr, stream));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(made.graph));
    let mut word = 0u32;
    ok!(cuMemcpyDtoHAsync_v2((&raw mut word).cast(), p.dptr + 60, 4, stream));
    assert_eq!(word, 3, "the memory is still there");
    ok!(cuMemFree_v2(p.dptr));
    assert_eq!(call!(cuMemFree_v2(p.dptr)), INVALID);
    assert_eq!(call!(cuMemcpyDtoH_v2((&raw mut word).cast(), p.dptr, 4)), INVALID, "and now it is not");
}

#[test]
fn memory_is_freed_by_a_node_or_by_the_next_launch() {
    let f = Fixture::new();
    let stream = f.stream(1);
    let (made, freeing) = (Made::new(&f), Made::new(&f));
    let (mut node, mut p) = (null_mut(), allocation(5000));
    ok!(cuGraphAddMemAllocNode(&mut node, made.graph, null(), 0, &mut p));
    ok!(cuGraphAddMemFreeNode(&mut node, freeing.graph, null(), 0, p.dptr));
    assert_eq!(call!(cuGraphAddMemFreeNode(&mut node, made.graph, null(), 0, p.dptr)), INVALID, "freed elsewhere");
    assert_eq!(call!(cuGraphAddMemFreeNode(&mut node, made.graph, null(), 0, f.at(0))), INVALID);
    let mut address = 0;
    ok!(cuGraphMemFreeNodeGetParams(freeing.nodes()[0], &mut address));
    assert_eq!(address, p.dptr);
    let (exec, free) = (made.executable(), freeing.executable());
    assert_eq!(call!(cuGraphLaunch(free, stream)), INVALID, "there is nothing to be freed");
    for _ in 0..2 {
        ok!(cuGraphLaunch(exec, stream));
        ok!(cuGraphLaunch(free, stream));
    }
    // A graph that may be launched repeatedly.
    ok!(cuGraphExecDestroy(exec));
    let mut again = null_mut();
    for unknown_or_exclusive in [16, 1 | 4] {
        assert_eq!(call!(cuGraphInstantiateWithFlags(&mut again, made.graph, unknown_or_exclusive)), INVALID);
    }
    ok!(cuGraphInstantiateWithFlags(&mut again, made.graph, 1));
    let mut flags = 0;
    ok!(cuGraphExecGetFlags(again, &mut flags));
    assert_eq!(flags, 1);
    ok!(cuGraphLaunch(again, stream));
    ok!(cuGraphLaunch(again, stream));
    ok!(cuStreamSynchronize(stream));
    let read = |which: CUgraphMem_attribute| {
        let mut value = 0u64;
        ok!(cuDeviceGetGraphMemAttribute(0, which, (&raw mut value).cast()));
        value
    };
    // Other tests may use some too.
    assert!(read(CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) >= 8192);
    assert!(read(CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) >= 8192);
    ok!(cuDeviceGraphMemTrim(0));
    let mut some = 1u64;
    let high = CUgraphMem_attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    assert_eq!(call!(cuDeviceSetGraphMemAttribute(0, high, (&raw mut some).cast())), INVALID);
    ok!(cuMemFreeAsync(p.dptr, stream));
    ok!(cuStreamSynchronize(stream));
}

#[test]
fn user_objects_live_as_long_as_somebody_has_them() {
    let f = Fixture::new();
    let stream = f.stream(1);
    let made = Made::new(&f);
    let ended = f.word(1);
    let data = f.at(1) as *mut c_void;
    let (mut object, mut second) = (null_mut(), null_mut());
    assert_eq!(call!(cuUserObjectCreate(&mut object, data, Some(count), 1, 0)), INVALID, "the flag is demanded");
    assert_eq!(call!(cuUserObjectCreate(&mut object, data, None, 1, 1)), INVALID);
    ok!(cuUserObjectCreate(&mut object, data, Some(count), 1, 1));
    ok!(cuUserObjectRetain(object, 2));
    assert_eq!(call!(cuUserObjectRelease(object, 4)), INVALID, "there are three");
    ok!(cuUserObjectRelease(object, 2));
    ok!(cuGraphRetainUserObject(made.graph, object, 1, 1));
    assert_eq!(call!(cuUserObjectRelease(object, 1)), INVALID, "it was moved");
    ok!(cuUserObjectCreate(&mut second, data, Some(count), 1, 1));
    ok!(cuGraphRetainUserObject(made.graph, second, 3, 0));
    // References are counted, not listed.
    ok!(cuGraphRetainUserObject(made.graph, second, i32::MAX as u32, 0));
    ok!(cuGraphReleaseUserObject(made.graph, second, i32::MAX as u32));
    ok!(cuUserObjectRelease(second, 1));
    assert_eq!(call!(cuGraphReleaseUserObject(made.graph, second, 4)), INVALID);
    assert_eq!(ended.load(Ordering::Acquire), 0);
    ok!(cuGraphReleaseUserObject(made.graph, second, 3));
    wait_for(ended, 1);
    // The executable graph, and then its launch, retain the first one.
    made.hold(&[]);
    let exec = made.executable();
    ok!(cuGraphDestroy(made.graph));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuGraphExecDestroy(exec));
    assert_eq!(ended.load(Ordering::Acquire), 1);
    f.open();
    ok!(cuStreamSynchronize(stream));
    wait_for(ended, 2);
}

#[test]
fn one_function_adds_and_changes_any_node() {
    let f = Fixture::new();
    let stream = f.stream(1);
    let made = Made::new(&f);
    let blank = |kind: u32| {
        let mut p: CUgraphNodeParams = unsafe { std::mem::zeroed() };
        p.type_ = CUgraphNodeType(kind);
        p
    };
    let mut last: Option<CUgraphNode> = None;
    let mut add = |mut p: CUgraphNodeParams| {
        let (mut node, after) = (null_mut(), last);
        let from = after.as_ref().map_or(null(), std::ptr::from_ref);
        ok!(cuGraphAddNode_v2(&mut node, made.graph, from, null(), after.iter().count(), &mut p));
        last = Some(node);
        (node, p)
    };
    let mut p = blank(10);
    p.anon_1.alloc.poolProps = allocation(0).poolProps;
    p.anon_1.alloc.bytesize = 256;
    let address = unsafe { add(p).1.anon_1.alloc.dptr };
    let mut p = blank(2);
    p.anon_1.memset.dst = address;
    (unsafe { &mut p.anon_1.memset }).elementSize = 4;
    (unsafe { &mut p.anon_1.memset }).value = 1;
    (unsafe { &mut p.anon_1.memset }).width = 64;
    (unsafe { &mut p.anon_1.memset }).height = 1;
    let (fill, mut as_it_was) = add(p);
    let mut p = blank(1);
    (unsafe { &mut p.anon_1.memcpy }).copyParams = copy_of(f.at(1), address, 4);
    add(p);
    let (mut at, mut value) = (f.at(1), 8u32);
    let mut params = [(&raw mut at).cast(), (&raw mut value).cast()];
    let launch = launch_of(made.function(c"follow"), &mut params);
    let mut p = blank(0);
    let k = unsafe { &mut p.anon_1.kernel };
    (k.func, k.kernelParams) = (launch.func, launch.kernelParams);
    (k.gridDimX, k.gridDimY, k.gridDimZ, k.blockDimX, k.blockDimY, k.blockDimZ) = (1, 1, 1, 1, 1, 1);
    let (step, mut kernel) = add(p);
    let mut p = blank(3);
    p.anon_1.host =
        CUDA_HOST_NODE_PARAMS_v2 { fn_: Some(count), userData: f.at(2) as *mut c_void, ..Default::default() };
    add(p);
    let empty = Made::new(&f);
    empty.follow(3, 1, &[]);
    let mut p = blank(4);
    p.anon_1.graph.graph = empty.graph;
    add(p);
    add(blank(5));
    let event = f.event(0);
    let mut p = blank(7);
    p.anon_1.eventRecord.event = event;
    add(p);
    let mut p = blank(6);
    p.anon_1.eventWait.event = event;
    add(p);
    let mut p = blank(11);
    p.anon_1.free.dptr = address;
    let (free, mut freed) = add(p);
    let exec = made.executable();
    (unsafe { &mut as_it_was.anon_1.memset }).value = 7;
    ok!(cuGraphNodeSetParams(fill, &mut as_it_was));
    ok!(cuGraphExecNodeSetParams(exec, fill, &mut as_it_was));
    ok!(cuGraphExecNodeSetParams(exec, step, &mut kernel));
    assert_eq!(call!(cuGraphNodeSetParams(step, &mut as_it_was)), INVALID, "another kind");
    assert_eq!(call!(cuGraphNodeSetParams(free, &mut freed)), CUresult::CUDA_ERROR_NOT_SUPPORTED);
    ok!(cuGraphUpload(exec, stream));
    ok!(cuGraphLaunch(exec, stream));
    ok!(cuEventSynchronize(event));
    ok!(cuStreamSynchronize(stream));
    let word = |at: usize| f.word(at).load(Ordering::Acquire);
    assert_eq!([word(1), word(2), word(3)], [8, 1, 1]);
}

#[test]
fn a_drawing_tells_kernels_and_their_launches() {
    let f = Fixture::new();
    let (made, inner) = (Made::new(&f), Made::new(&f));
    let mut node = null_mut();
    inner.hold(&[]);
    let step = made.follow(1, 0x1234, &[]);
    ok!(cuGraphAddChildGraphNode(&mut node, made.graph, &step, 1, inner.graph));
    ok!(cuGraphAddMemsetNode(&mut node, made.graph, &node, 1, &fill_of(f.at(1), 5, 2), f.context));
    let path = std::env::temp_dir().join(format!("cuda-sim-{}.dot", std::process::id()));
    let name = CString::new(path.to_str().unwrap()).unwrap();
    let drawn = |flags: u32| {
        ok!(cuGraphDebugDotPrint(made.graph, name.as_ptr(), flags));
        std::fs::read_to_string(&path).unwrap()
    };
    let (brief, full) = (drawn(0), drawn(1));
    std::fs::remove_file(&path).unwrap();
    assert!(brief.starts_with("digraph") && brief.trim_end().ends_with('}'), "{brief}");
    assert_eq!(brief.matches('{').count() - 1, brief.matches('}').count() - 1);
    for expected in ["follow", "hold", "<<<(1, 1, 1), (1, 1, 1), 0>>>", "MEMSET", "GRAPH", "subgraph"] {
        assert!(brief.contains(expected), "{expected}: {brief}");
    }
    assert_eq!(brief.matches(" -> ").count(), 3, "two edges, and the child's tie: {brief}");
    assert!(!brief.contains("parameter") && full.contains("parameter 1: 0x00001234"), "{full}");
    assert!(full.contains(&format!("{:#x} = 0x5", f.at(1))) && full.contains("2 x 1 values of 4 bytes"), "{full}");
    let nowhere = c"/nowhere/at/all.dot";
    let status = call!(cuGraphDebugDotPrint(made.graph, nowhere.as_ptr(), 0));
    assert_eq!(status, CUresult::CUDA_ERROR_OPERATING_SYSTEM);
}

/// Set in the child process, which runs the graph.
const CHILD: &str = "CUDA_SIM_GRAPH_TIMELINE";

#[test]
fn the_timeline_shows_launches_and_branches() {
    if std::env::var_os(CHILD).is_none() {
        let path = std::env::temp_dir().join(format!("cuda-sim-graph-{}.json", std::process::id()));
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["changes::the_timeline_shows_launches_and_branches", "--exact"]);
        command.env(CHILD, "1").env("CUDA_SIM_TRACE", &path);
        assert!(command.status().unwrap().success());
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let events: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}"));
        let of = |category: &str| events.iter().filter(|e| e["cat"] == category).collect::<Vec<_>>();
        let (launches, kernels) = (of("graph"), of("kernel"));
        assert_eq!((launches.len(), kernels.len()), (1, 3), "{text}");
        assert_eq!(launches[0]["args"]["nodes"], 3);
        let time = |e: &serde_json::Value, key: &str| e[key].as_f64().unwrap();
        let end = |e: &serde_json::Value| time(e, "ts") + time(e, "dur");
        for kernel in &kernels {
            assert!(time(kernel, "ts") >= time(launches[0], "ts") && end(kernel) <= end(launches[0]) + 0.002, "{text}");
        }
        assert_eq!(kernels.iter().filter(|e| e["tid"] == launches[0]["tid"]).count(), 2, "the other is a branch");
        let rows = events.iter().filter(|e| e["name"] == "thread_name").map(|e| e["args"]["name"].to_string());
        assert_eq!(rows.filter(|name| name.contains("branch 1")).count(), 1, "{text}");
        return;
    }
    let f = Fixture::new();
    let made = Made::new(&f);
    let one = made.follow(1, 1, &[]);
    made.follow(2, 1, &[one]);
    made.follow(3, 1, &[one]);
    let stream = f.stream(1);
    ok!(cuGraphLaunch(made.executable(), stream));
    ok!(cuStreamSynchronize(stream));
}
