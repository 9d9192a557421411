//! Launches in clusters through the driver's functions: valid requests, kernels' requirements, occupancy, graphs, and
//! devices without clusters.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{function, in_child, launch_attribute, launch_config, primary};
use cuda_sys::CUfunction_attribute as F;
use cuda_sys::CUlaunchAttributeID as A;
use cuda_sys::*;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

/// Each thread writes the number of blocks of its cluster; the other kernels have requirements on their clusters.
const KERNELS: &CStr = c".version 8.0\n.target sm_90\n.address_size 64
.visible .entry size(.param .u64 p) { .reg .b32 %r<8>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [p];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; mov.u32 %r4, %cluster_nctarank; st.global.u32 [%rd1], %r4;
  barrier.cluster.arrive; barrier.cluster.wait; ret; }
.visible .entry pairs(.param .u64 p) .reqnctapercluster 2, 1, 1 { .reg .b32 %r<5>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p]; mov.u32 %r4, %cluster_nctarank; st.global.u32 [%rd1], %r4; ret; }
.visible .entry given() .explicitcluster { ret; }
.visible .entry both() .explicitcluster .reqnctapercluster 2 { ret; }
.visible .entry four() .maxclusterrank 4 { ret; }
.visible .entry large() .maxntid 1024 { ret; }";

fn cluster(extents: [u32; 3]) -> CUlaunchAttribute {
    launch_attribute(A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &extents)
}

/// Launches this many blocks of 64 threads in clusters of these extents. The kernel gets a pointer.
fn launch(f: CUfunction, blocks: u32, extents: Option<[u32; 3]>, p: CUdeviceptr, stream: CUstream) -> CUresult {
    let (mut p, mut attributes) = (p, extents.map(cluster).into_iter().collect::<Vec<_>>());
    let mut params: [*mut c_void; 1] = [(&raw mut p).cast()];
    let config = launch_config(blocks, &mut attributes, stream);
    call!(cuLaunchKernelEx(&config, f, params.as_mut_ptr(), null_mut()))
}

fn words(at: CUdeviceptr, count: usize) -> Vec<u32> {
    let mut words = vec![0; count];
    ok!(cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), at, 4 * count));
    words
}

fn buffer(count: usize) -> CUdeviceptr {
    let mut at = 0;
    ok!(cuMemAlloc_v2(&mut at, 4 * count));
    ok!(cuMemsetD32_v2(at, 77, count));
    // Streams that do not wait for the default one use it.
    ok!(cuCtxSynchronize());
    at
}

#[test]
fn a_launch_has_the_clusters_that_it_asks_for() {
    const WRONG: CUresult = CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE;
    primary(0);
    let size = function(KERNELS, c"size");
    let out = buffer(64 * 48);
    for (blocks, extents, code, found) in [
        (8, None, CUresult::CUDA_SUCCESS, 1),
        (8, Some([1, 1, 1]), CUresult::CUDA_SUCCESS, 1),
        (8, Some([2, 1, 1]), CUresult::CUDA_SUCCESS, 2),
        (9, Some([3, 1, 1]), CUresult::CUDA_SUCCESS, 3),
        (48, Some([8, 1, 1]), CUresult::CUDA_SUCCESS, 8),
        // The cluster does not divide the grid, is too large, or is empty.
        (8, Some([3, 1, 1]), WRONG, 0),
        (8, Some([2, 2, 1]), WRONG, 0),
        (48, Some([16, 1, 1]), WRONG, 0),
        (48, Some([u32::MAX, u32::MAX, 1]), WRONG, 0),
        (8, Some([2, 0, 1]), WRONG, 0),
    ] {
        assert_eq!(launch(size, blocks, extents, out, null_mut()), code, "{blocks} blocks, {extents:?}");
        if found != 0 {
            assert_eq!(words(out, 64 * blocks as usize), vec![found; 64 * blocks as usize], "{extents:?}");
        }
    }
    // Sixteen blocks, once the function allows non-portable sizes.
    gives!(
        CUDA_ERROR_INVALID_VALUE,
        cuFuncSetAttribute(size, F::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 2)
    );
    ok!(cuFuncSetAttribute(size, F::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    assert_eq!(launch(size, 48, Some([16, 1, 1]), out, null_mut()), CUresult::CUDA_SUCCESS);
    assert_eq!(words(out, 64 * 48), vec![16; 64 * 48]);
    assert_eq!(launch(size, 34, Some([17, 1, 1]), out, null_mut()), WRONG);
    // Preferred clusters are multiples of the others.
    let both = |large: [u32; 3]| {
        let mut p = out;
        let mut attributes =
            [cluster([2, 1, 1]), launch_attribute(A::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, &large)];
        let mut params: [*mut c_void; 1] = [(&raw mut p).cast()];
        call!(cuLaunchKernelEx(&launch_config(8, &mut attributes, null_mut()), size, params.as_mut_ptr(), null_mut()))
    };
    assert_eq!(both([4, 1, 1]), CUresult::CUDA_SUCCESS);
    assert_eq!(both([3, 1, 1]), CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(words(out, 1), [2]);
}

#[test]
fn kernels_require_clusters() {
    const WRONG: CUresult = CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE;
    primary(0);
    let [pairs, given, four, size] = [c"pairs", c"given", c"four", c"size"].map(|name| function(KERNELS, name));
    let out = buffer(64 * 4);
    assert_eq!(launch(pairs, 4, None, out, null_mut()), CUresult::CUDA_SUCCESS, "as the kernel says");
    assert_eq!(words(out, 1), [2]);
    let mut params: [*mut c_void; 1] = [(&raw const out).cast_mut().cast()];
    ok!(cuLaunchKernel(pairs, 4, 1, 1, 64, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()));
    gives!(
        CUDA_ERROR_INVALID_CLUSTER_SIZE,
        cuLaunchKernel(pairs, 3, 1, 1, 64, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut())
    );
    assert_eq!(launch(pairs, 4, Some([2, 1, 1]), out, null_mut()), CUresult::CUDA_SUCCESS);
    assert_eq!(launch(pairs, 4, Some([4, 1, 1]), out, null_mut()), WRONG);
    assert_eq!(launch(given, 4, None, out, null_mut()), WRONG, "the launch has to say");
    assert_eq!(launch(given, 4, Some([4, 1, 1]), out, null_mut()), CUresult::CUDA_SUCCESS);
    assert_eq!(launch(function(KERNELS, c"both"), 4, None, out, null_mut()), CUresult::CUDA_SUCCESS, "the kernel says");
    assert_eq!(launch(four, 4, Some([4, 1, 1]), out, null_mut()), CUresult::CUDA_SUCCESS);
    assert_eq!(launch(four, 8, Some([8, 1, 1]), out, null_mut()), WRONG, "more than the kernel takes");

    let read = |f, which| {
        let mut value = -1;
        ok!(cuFuncGetAttribute(&mut value, which, f));
        value
    };
    let extents = [
        F::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
        F::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        F::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
    ];
    assert_eq!(extents.map(|which| read(pairs, which)), [2, 1, 1]);
    assert_eq!(extents.map(|which| read(size, which)), [0, 0, 0]);
    let must = F::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET;
    assert_eq!([read(pairs, must), read(given, must)], [0, 1]);
    gives!(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(size, must, 1));
    gives!(CUDA_ERROR_NOT_PERMITTED, cuFuncSetAttribute(pairs, extents[0], 4));
    // Set for a function without requirements: all three extents, or none.
    ok!(cuFuncSetAttribute(size, extents[0], 4));
    assert_eq!(launch(size, 4, None, out, null_mut()), WRONG);
    ok!(cuFuncSetAttribute(size, extents[1], 1));
    ok!(cuFuncSetAttribute(size, extents[2], 1));
    gives!(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(size, extents[2], -1));
    assert_eq!(launch(size, 4, None, out, null_mut()), CUresult::CUDA_SUCCESS);
    assert_eq!(words(out, 256), [4; 256]);
    assert_eq!(extents.map(|which| read(size, which)), [4, 1, 1]);
    let policy = F::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
    ok!(cuFuncSetAttribute(size, policy, 2));
    gives!(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(size, policy, 3));
    assert_eq!(read(size, policy), 2);
}

#[test]
fn occupancy_counts_clusters() {
    primary(0);
    let [size, pairs, four, large] = [c"size", c"pairs", c"four", c"large"].map(|name| function(KERNELS, name));
    let active = |f, extents: Option<[u32; 3]>, shared| {
        let (mut count, mut attributes) = (-1, extents.map(cluster).into_iter().collect::<Vec<_>>());
        let mut config = launch_config(8, &mut attributes, null_mut());
        config.sharedMemBytes = shared;
        (call!(cuOccupancyMaxActiveClusters(&mut count, f, &config)), count)
    };
    let good = CUresult::CUDA_SUCCESS;
    // 32 blocks of 64 threads on each of 132 multiprocessors: 8 groups of 16, and 4.
    assert_eq!(active(size, Some([1, 1, 1]), 0), (good, 132 * 32));
    assert_eq!(active(size, Some([2, 1, 1]), 0), (good, 132 * 16));
    assert_eq!(active(size, Some([7, 1, 1]), 0), (good, 8 * 73 + 18));
    // Each block fills a multiprocessor.
    ok!(cuFuncSetAttribute(large, F::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200 << 10));
    assert_eq!(active(large, Some([8, 1, 1]), 200 << 10), (good, 16));
    assert_eq!(active(large, Some([5, 1, 1]), 200 << 10), (good, 8 * 3));
    assert_eq!(active(size, None, 0).0, CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE, "of which extents?");
    assert_eq!(active(pairs, None, 0), (good, 132 * 16));
    assert_eq!(active(pairs, Some([4, 1, 1]), 0).0, CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE);
    let largest = |f| {
        let (mut size, mut none) = (-1, []);
        ok!(cuOccupancyMaxPotentialClusterSize(&mut size, f, &launch_config(8, &mut none, null_mut())));
        size
    };
    assert_eq!([size, pairs, four].map(largest), [8, 2, 4]);
    ok!(cuFuncSetAttribute(size, F::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    assert_eq!([size, pairs, four].map(largest), [16, 2, 4]);
    assert_eq!(common::attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0), 1);
}

#[test]
fn graphs_keep_the_clusters_of_a_launch() {
    // Another test that waits for the whole context would invalidate the capture.
    if !in_child("graphs_keep_the_clusters_of_a_launch", &[]) {
        return;
    }
    primary(0);
    let size = function(KERNELS, c"size");
    let (mut stream, mut graph, mut exec, mut node, mut count) = (null_mut(), null_mut(), null_mut(), null_mut(), 1);
    let out = buffer(64 * 8);
    ok!(cuStreamCreate(&mut stream, 1));
    ok!(cuStreamBeginCapture_v2(stream, CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    assert_eq!(launch(size, 8, Some([4, 1, 1]), out, stream), CUresult::CUDA_SUCCESS);
    ok!(cuStreamEndCapture(stream, &mut graph));
    ok!(cuGraphGetNodes(graph, &mut node, &mut count));
    let run = |exec: &mut CUgraphExec| {
        ok!(cuGraphInstantiateWithFlags(exec, graph, 0));
        ok!(cuGraphLaunch(*exec, stream));
        ok!(cuStreamSynchronize(stream));
        words(out, 512)
    };
    assert_eq!(run(&mut exec), [4; 512]);
    let which = A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    let mut value = CUlaunchAttributeValue { pad: [0; 64] };
    ok!(cuGraphKernelNodeGetAttribute(node, which, &mut value));
    let CUlaunchAttributeValue_clusterDim { x, y, z } = unsafe { value.clusterDim };
    assert_eq!([x, y, z], [4, 1, 1]);
    value.clusterDim = CUlaunchAttributeValue_clusterDim { x: 3, y: 1, z: 1 };
    gives!(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuGraphKernelNodeSetAttribute(node, which, &value));
    value.clusterDim = CUlaunchAttributeValue_clusterDim { x: 8, y: 0, z: 1 };
    gives!(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeSetAttribute(node, which, &value));
    value.clusterDim = CUlaunchAttributeValue_clusterDim { x: 8, y: 1, z: 1 };
    ok!(cuGraphKernelNodeSetAttribute(node, which, &value));
    // An earlier executable graph keeps its clusters, and cannot be updated to the other.
    let mut info = CUgraphExecUpdateResultInfo {
        result: CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS,
        errorNode: null_mut(),
        errorFromNode: null_mut(),
    };
    gives!(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, graph, &mut info));
    assert_eq!(info.result, CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
    assert_eq!(run(&mut exec), [8; 512]);
    // New parameters specify no clusters: they stay.
    let mut params = unsafe { std::mem::zeroed::<CUDA_KERNEL_NODE_PARAMS>() };
    ok!(cuGraphKernelNodeGetParams_v2(node, &mut params));
    ok!(cuGraphKernelNodeSetParams_v2(node, &params));
    assert_eq!(run(&mut exec), [8; 512]);
}

#[test]
fn older_devices_have_no_clusters() {
    if !in_child("older_devices_have_no_clusters", &[("CUDA_SIM_PROFILE", "sm_80")]) {
        return;
    }
    primary(0);
    let text = c".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }";
    let k = function(text, c"k");
    assert_eq!(common::attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0), 0);
    assert_eq!(launch(k, 4, Some([1, 1, 1]), 0, null_mut()), CUresult::CUDA_SUCCESS);
    assert_eq!(launch(k, 4, Some([2, 1, 1]), 0, null_mut()), CUresult::CUDA_ERROR_NOT_SUPPORTED);
    let (mut size, mut none) = (-1, []);
    ok!(cuOccupancyMaxPotentialClusterSize(&mut size, k, &launch_config(8, &mut none, null_mut())));
    assert_eq!(size, 1);
}
