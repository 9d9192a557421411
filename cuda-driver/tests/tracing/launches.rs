//! Modules, functions and launches: one call each, checked before.

use std::ffi::c_void;

use cuda_driver::{Context, Error, Function, JitOptions, LaunchConfig, LaunchConfigError, Module};

use crate::support::Session;

fn function(context: &Context, name: &str) -> Function {
    // SAFETY: the traced driver runs no code.
    let module = unsafe { Module::load_ptx(context, ".version 7.8") }.unwrap();
    module.function(name).unwrap()
}

/// Launches a function without parameters.
fn launch(function: &Function, config: impl Into<LaunchConfig>) -> cuda_driver::Result<()> {
    // SAFETY: the function has no parameters and touches nothing.
    unsafe { function.launch(&config.into(), &function.context().default_stream(), &mut []) }
}

#[test]
fn a_launch_is_one_call() {
    let session = Session::new();
    let context = session.context();
    let f = function(&context, "k_");
    session.forget();
    launch(&f, (4, 128)).unwrap();
    launch(&f, LaunchConfig::new((2, 2), (8, 8)).cooperative()).unwrap();
    assert_eq!(session.names(), ["cuLaunchKernel", "cuLaunchCooperativeKernel"]);
    drop((f, context));
    session.finish();
}

#[test]
fn clusters_beyond_the_portable_size_are_allowed_once() {
    let session = Session::new();
    let f = function(&session.context(), "k_");
    session.forget();
    launch(&f, LaunchConfig::new(16, 32).cluster(8).non_portable()).unwrap();
    assert_eq!(session.names(), ["cuLaunchKernelEx"]);
    launch(&f, LaunchConfig::new(16, 32).cluster(16).non_portable()).unwrap();
    launch(&f, LaunchConfig::new(16, 32).cluster(16).non_portable()).unwrap();
    assert_eq!(session.names()[1..], ["cuFuncSetAttribute", "cuLaunchKernelEx", "cuLaunchKernelEx"]);
    let f = function(f.context(), "k_");
    session.forget();
    assert_eq!(f.max_cluster_blocks(&LaunchConfig::new(16, 32).non_portable()).unwrap(), 16);
    assert_eq!(session.names(), ["cuFuncSetAttribute", "cuOccupancyMaxPotentialClusterSize"]);
}

#[test]
fn an_impossible_configuration_launches_nothing() {
    let session = Session::new();
    let f = function(&session.context(), "k_");
    session.forget();
    let device = launch(&f, (1, 2048)).unwrap_err().to_string();
    assert!(device.contains("x is 2048, it must be from 1 to 1024"), "{device}");
    let kernel = launch(&f, (1, 1024)).unwrap_err().to_string();
    assert!(kernel.contains("1024 together, kernel `k_` allows at most 512"), "{kernel}");
    let shared = launch(&f, LaunchConfig::new(1, 1).shared_bytes(99 << 10)).unwrap_err();
    let Error::LaunchConfig(shared) = shared else { panic!("{shared}") };
    assert!(matches!(*shared, LaunchConfigError::SharedMemory { dynamic: 101_376, fixed: 1024, limit: 101_376, .. }));
    assert_eq!(session.names(), [""; 0]);
}

#[test]
fn more_shared_memory_is_requested_once() {
    let session = Session::new();
    let f = function(&session.context(), "k_");
    session.forget();
    // 1 KiB of 48 is the kernel's static shared memory: up to 47 KiB no attribute has to be set.
    launch(&f, LaunchConfig::new(1, 1).shared_bytes(47 << 10)).unwrap();
    assert_eq!(session.names(), ["cuLaunchKernel"]);
    launch(&f, LaunchConfig::new(1, 1).shared_bytes((47 << 10) + 1)).unwrap();
    launch(&f, LaunchConfig::new(1, 1).shared_bytes(20 << 10)).unwrap();
    assert_eq!(session.names(), ["cuLaunchKernel", "cuFuncSetAttribute", "cuLaunchKernel", "cuLaunchKernel"]);
}

#[test]
fn a_stream_of_another_context_is_refused() {
    let session = Session::new();
    let f = function(&session.context(), "k_");
    let other = session.driver().device(1).unwrap().primary_context().unwrap();
    // SAFETY: the function has no parameters, and it is not launched.
    let error = unsafe { f.launch(&LaunchConfig::new(1, 1), &other.default_stream(), &mut []) }.unwrap_err();
    assert!(error.to_string().starts_with("default stream belongs to the context of device 1"), "{error}");
    assert_eq!(session.count("cuLaunchKernel"), 0);
}

#[test]
fn parameters_reach_the_driver() {
    let session = Session::new();
    let f = function(&session.context(), "k_r");
    let mut nowhere = 0xdead_0000_u64;
    let stream = f.context().default_stream();
    // SAFETY: one parameter, as the function has; the traced driver only looks whether it is live.
    unsafe { f.launch(&LaunchConfig::new(1, 1), &stream, &mut [(&raw mut nowhere).cast::<c_void>()]) }.unwrap();
    assert_eq!(session.take_violations(), ["cuLaunchKernel: 1 bytes at 0xdead0000 are not live"]);
}

#[test]
fn attributes_and_occupancy_are_the_drivers() {
    let session = Session::new();
    let f = function(&session.context(), "k_");
    let attributes = f.attributes();
    assert_eq!((attributes.registers, attributes.shared_bytes, attributes.max_threads_per_block), (12, 1024, 512));
    assert_eq!(f.max_active_blocks(256, 0).unwrap(), 8);
    assert_eq!(f.max_potential_block_size(0, 0).unwrap(), (4, 512));
    assert_eq!(f.max_potential_block_size(0, 100).unwrap(), (4, 100));
}

#[test]
fn refused_ptx_is_an_error_with_the_drivers_log() {
    let session = Session::new();
    let context = session.context();
    let options = JitOptions::new().max_registers(32).opt_level(3).line_info(true).debug(true);
    // SAFETY: the module is refused.
    let error = unsafe { Module::load_ptx_with(&context, ".version 7.8\nnonsense", &options) }.unwrap_err();
    let Error::Jit(error) = error else { panic!("{error}") };
    assert_eq!((error.line, error.column), (Some(3), Some(9)));
    assert_eq!(
        error.to_string(),
        "the driver refuses the module: CUDA_ERROR_INVALID_PTX (218) at line 3, column 9; its log:\nline 3, column 9: \
         what is this"
    );
}

#[test]
fn missing_names_are_errors() {
    let session = Session::new();
    let context = session.context();
    // SAFETY: the traced driver runs no code.
    let module = unsafe { Module::load_ptx(&context, ".version 7.8") }.unwrap();
    let error = module.function("other").unwrap_err();
    assert!(error.to_string().contains("cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500)"), "{error}");
    assert!(module.function("k\0").unwrap_err().to_string().contains("NUL"));
    // SAFETY: the text is refused before the driver is asked.
    assert!(unsafe { Module::load_ptx(&context, "a\0") }.unwrap_err().to_string().contains("offset 1"));
}
