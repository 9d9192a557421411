//! cudarc, another Rust library for the driver, on `libcuda_sim.so`.
//!
//! # Safety
//!
//! The launches pass the parameters of the kernel of that name: for `add_arrays` three arrays with their lengths, and the panic
//! record and number that every kernel of this workspace takes; for `scale` those that its PTX declares.

use cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg, sys};

use crate::support::{add_arrays, in_own_process};

/// Runs a test in a process in which cudarc finds the software device.
fn on_library(test: &str, body: impl FnOnce()) {
    let folder = crate::c_client::with_library();
    in_own_process(test, &[("LD_LIBRARY_PATH", folder.path().to_str())], body);
}

#[test]
fn a_kernel_of_ours_runs() {
    on_library("cudarc::a_kernel_of_ours_runs", || {
        let context = CudaContext::new(0).unwrap();
        let stream = context.new_stream().unwrap();
        let ptx = add_arrays::<f32>::compile_ptx((7, 5)).unwrap();
        let function = context.load_module(ptx.into()).unwrap().load_function("add_arrays_f32").unwrap();
        let host: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let x = stream.clone_htod(&host).unwrap();
        let mut out = stream.alloc_zeros::<f32>(host.len()).unwrap();
        let mut record = stream.alloc_zeros::<u64>(7).unwrap();
        let (len, id) = (host.len() as u64, 1_u32);
        let mut launch = stream.launch_builder(&function);
        launch.arg(&x).arg(&len).arg(&x).arg(&len).arg(&mut out).arg(&len).arg(&mut record).arg(&id);
        // SAFETY: the arguments are the parameters of this kernel, and the arrays outlive the launch.
        unsafe { launch.launch(LaunchConfig::for_num_elems(1000)) }.unwrap();
        assert_eq!(stream.clone_dtoh(&out).unwrap(), host.iter().map(|v| v + v).collect::<Vec<_>>());
        assert_eq!(stream.clone_dtoh(&record).unwrap(), [0; 7]);
    });
}

#[test]
fn a_captured_graph_runs_and_errors_have_their_codes() {
    on_library("cudarc::a_captured_graph_runs_and_errors_have_their_codes", || {
        let context = CudaContext::new(0).unwrap();
        let refused = context.load_module("not PTX".into()).unwrap_err();
        assert_eq!(refused, DriverError(sys::CUresult::CUDA_ERROR_INVALID_PTX));
        assert_eq!(CudaContext::new(7).unwrap_err(), DriverError(sys::CUresult::CUDA_ERROR_INVALID_DEVICE));

        // SAFETY: all work is in one stream, so no launch needs to wait for another. cudarc's tracking would make a captured
        // launch wait for an event from before the capture, which is an error.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().unwrap();
        let module = context.load_module(SCALE.into()).unwrap();
        let scale = module.load_function("scale").unwrap();
        let mut x = stream.clone_htod(&[1.0_f64, 2.0, 3.0]).unwrap();
        stream.synchronize().unwrap();
        let mode = sys::CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        stream.begin_capture(mode).unwrap();
        let mut launch = stream.launch_builder(&scale);
        launch.arg(&mut x).arg(&2.0_f64);
        // SAFETY: the arguments are the parameters of this kernel, and the arrays outlive the launch.
        unsafe { launch.launch(LaunchConfig { grid_dim: (1, 1, 1), block_dim: (3, 1, 1), shared_mem_bytes: 0 }) }
            .unwrap();
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
        let graph = stream.end_capture(flags).unwrap().expect("a launch was captured");
        for _ in 0..3 {
            graph.launch().unwrap();
        }
        assert_eq!(stream.clone_dtoh(&x).unwrap(), [8.0, 16.0, 24.0]);
    });
}

/// `x[tid] *= by`
const SCALE: &str = include_str!("../cuda/scale.ptx");
