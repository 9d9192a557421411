//! Calls of NVIDIA's toolkit libraries through their tables, without a driver and a device.
//!
//! The libraries are those that `cargo xtask setup --all` unpacks below `target/compilers`; where they are absent each test
//! prints that it is skipped. `cargo test -p cuda-sys --all-features` enables the features.
//!
//! # Safety
//!
//! The libraries' functions are called with pointers to variables of the types that their headers declare.
#![cfg(all(feature = "runtime", feature = "nvrtc", feature = "nvjitlink", feature = "nvml"))]

use std::ffi::{CStr, c_char, c_int};
use std::path::PathBuf;

use cuda_sys::nvjitlink::{NvJitLinkApi, nvJitLinkInputType, nvJitLinkResult};
use cuda_sys::nvml::NvmlApi;
use cuda_sys::nvrtc::{NvrtcApi, nvrtcResult};
use cuda_sys::runtime::{self, cudaError, v12};
use cuda_sys::toolkit::Environment;

/// The toolkit of a version of CUDA, `cuda12` or `cuda13`.
///
/// A library that is opened by its path stays in the process, and the loader then finds it by its name: a test that needs
/// a particular version gives the path.
fn toolkit(name: &str) -> Option<Environment> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/compilers")).join(name);
    if root.join("lib64").is_dir() {
        return Some(Environment::only(root));
    }
    println!("skipped: {name} (`cargo xtask setup --all` downloads it)");
    None
}

/// NVRTC of a version of CUDA, by its path.
fn nvrtc(environment: &Environment) -> NvrtcApi {
    let file = environment.library("libnvrtc.so.13").or_else(|_| environment.library("libnvrtc.so.12")).unwrap();
    // SAFETY: NVIDIA's library, which is what its name says.
    unsafe { NvrtcApi::load_from(file) }.unwrap()
}

const KERNEL: &CStr = c"extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }";

/// Compiles [`KERNEL`] to PTX.
fn ptx(nvrtc: &NvrtcApi) -> Vec<u8> {
    let mut program = std::ptr::null_mut();
    let none = std::ptr::null();
    let create = nvrtc.nvrtcCreateProgram().unwrap();
    // SAFETY: C strings and a variable that live through the call; there are no headers.
    let status = unsafe { create(&mut program, KERNEL.as_ptr(), c"twice.cu".as_ptr(), 0, none, none) };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    let options = [c"--gpu-architecture=compute_90".as_ptr()];
    // SAFETY: the program is there, and so is as much of options as said.
    let status = unsafe { (nvrtc.nvrtcCompileProgram().unwrap())(program, 1, options.as_ptr()) };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS, "{}", nvrtc.origin());
    let mut size = 0;
    // SAFETY: the program is compiled, and the size is a variable.
    let status = unsafe { (nvrtc.nvrtcGetPTXSize().unwrap())(program, &mut size) };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    let mut text = vec![0_u8; size];
    // SAFETY: the buffer has the size that was asked for.
    let status = unsafe { (nvrtc.nvrtcGetPTX().unwrap())(program, text.as_mut_ptr().cast::<c_char>()) };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    // SAFETY: the program is there and is not used again.
    let status = unsafe { (nvrtc.nvrtcDestroyProgram().unwrap())(&mut program) };
    assert_eq!(status, nvrtcResult::NVRTC_SUCCESS);
    text
}

/// NVRTC also finds its builtins, which are in its own folder and not in the loader's path.
#[test]
fn nvrtc_of_both_versions_compiles_a_kernel() {
    for name in ["cuda12", "cuda13"] {
        let Some(environment) = toolkit(name) else { continue };
        let text = ptx(&nvrtc(&environment));
        let text = CStr::from_bytes_until_nul(&text).unwrap().to_str().unwrap();
        assert!(text.contains(".visible .entry twice"), "{text}");
    }
}

#[test]
fn nvjitlink_of_both_versions_links_what_nvrtc_compiled() {
    for name in ["cuda12", "cuda13"] {
        let Some(environment) = toolkit(name) else { continue };
        let text = ptx(&nvrtc(&environment));
        let file = environment.library("libnvJitLink.so.13").or_else(|_| environment.library("libnvJitLink.so.12"));
        // SAFETY: NVIDIA's library, which is what its name says.
        let linker = unsafe { NvJitLinkApi::load_from(file.unwrap()) }.unwrap();
        let mut handle = std::ptr::null_mut();
        let mut options = [c"-arch=sm_90".as_ptr()];
        // SAFETY: the handle is a variable, and there is as much of options as said.
        let status = unsafe { (linker.nvJitLinkCreate().unwrap())(&mut handle, 1, options.as_mut_ptr()) };
        assert_eq!(status, nvJitLinkResult::NVJITLINK_SUCCESS);
        let kind = nvJitLinkInputType::NVJITLINK_INPUT_PTX;
        let add = linker.nvJitLinkAddData().unwrap();
        // SAFETY: the text lives through the call, and has that size.
        let status = unsafe { add(handle, kind, text.as_ptr().cast(), text.len(), c"twice".as_ptr()) };
        assert_eq!(status, nvJitLinkResult::NVJITLINK_SUCCESS);
        // SAFETY: the handle is there.
        let status = unsafe { (linker.nvJitLinkComplete().unwrap())(handle) };
        assert_eq!(status, nvJitLinkResult::NVJITLINK_SUCCESS);
        let mut size = 0;
        // SAFETY: the handle is linked, and the size is a variable.
        let status = unsafe { (linker.nvJitLinkGetLinkedCubinSize().unwrap())(handle, &mut size) };
        assert_eq!(status, nvJitLinkResult::NVJITLINK_SUCCESS);
        let mut cubin = vec![0_u8; size];
        // SAFETY: the buffer has the size that was asked for.
        let status = unsafe { (linker.nvJitLinkGetLinkedCubin().unwrap())(handle, cubin.as_mut_ptr().cast()) };
        assert_eq!(status, nvJitLinkResult::NVJITLINK_SUCCESS);
        assert!(cubin.starts_with(b"\x7fELF"));
        // SAFETY: the handle is there and is not used again.
        let status = unsafe { (linker.nvJitLinkDestroy().unwrap())(&mut handle) };
        assert_eq!(status, nvJitLinkResult::NVJITLINK_SUCCESS);
    }
}

#[test]
fn the_runtime_tells_its_version() {
    if let Some(environment) = toolkit("cuda12") {
        // SAFETY: NVIDIA's library, which is what its name says.
        let api = unsafe { v12::RuntimeApi::load_from(environment.library("libcudart.so.12").unwrap()) }.unwrap();
        assert_eq!(api.version(), Some(12090));
    }
    let Some(environment) = toolkit("cuda13") else { return };
    let mut version: c_int = 0;
    // SAFETY: NVIDIA's library, which is what its name says.
    let api = unsafe { runtime::RuntimeApi::load_from(environment.library("libcudart.so.13").unwrap()) }.unwrap();
    // SAFETY: the version is a variable.
    let status = unsafe { (api.cudaRuntimeGetVersion().unwrap())(&mut version) };
    assert_eq!((status, version), (cudaError::cudaSuccess, 13000));
    // SAFETY: the function takes a number.
    let name = unsafe { (api.cudaGetErrorName().unwrap())(cudaError::cudaErrorMemoryAllocation) };
    // SAFETY: the result is a C string of the library.
    let name = unsafe { CStr::from_ptr(name) };
    assert_eq!(name, c"cudaErrorMemoryAllocation");
}

/// A library of CUDA 12 in the table of CUDA 13, and the other way round.
#[test]
fn a_table_refuses_functions_with_other_parameters_in_a_runtime_of_another_major_version() {
    if let Some(environment) = toolkit("cuda12") {
        let library = environment.library("libcudart.so.12").unwrap();
        // SAFETY: NVIDIA's library, which is what its name says.
        let api = unsafe { runtime::RuntimeApi::load_from(&library) }.unwrap();
        // The library exports it, but with a number for the location.
        let missing = api.cudaMemAdvise().unwrap_err().to_string();
        for part in ["cudaMemAdvise", "CUDA 12.9", "which came with CUDA 13.0", "libcudart.so.12"] {
            assert!(missing.contains(part), "`{part}` is not in: {missing}");
        }
        assert!(api.cudaGetDeviceProperties().is_err(), "its structure has another layout");
        assert!(api.cudaMalloc().is_ok(), "alike in both");
        // SAFETY: NVIDIA's library, which is what its name says.
        let own = unsafe { v12::RuntimeApi::load_from(&library) }.unwrap();
        assert!(
            own.cudaMemAdvise().is_ok() && own.cudaGetDeviceProperties_v2().is_ok() && own.cudaThreadExit().is_ok()
        );
    }
    if let Some(environment) = toolkit("cuda13") {
        let library = environment.library("libcudart.so.13").unwrap();
        // SAFETY: NVIDIA's library, which is what its name says.
        let api = unsafe { v12::RuntimeApi::load_from(library) }.unwrap();
        let missing = api.cudaMemAdvise().unwrap_err().to_string();
        assert!(missing.contains("was removed in CUDA 13.0"), "{missing}");
    }
}

#[test]
fn a_function_newer_than_the_library_is_an_error_with_both_versions() {
    let Some(environment) = toolkit("cuda13") else { return };
    let missing = nvrtc(&environment).nvrtcGetTileIR().unwrap_err().to_string();
    for part in ["NVRTC", "CUDA 13.0", "nvrtcGetTileIR", "NVRTC for CUDA 13."] {
        assert!(missing.contains(part), "`{part}` is not in: {missing}");
    }
}

/// Functions that CUDA 13 removed are found in the libraries of CUDA 12.
#[test]
fn removed_functions_are_found_in_the_older_libraries() {
    let Some(environment) = toolkit("cuda12") else { return };
    assert!(nvrtc(&environment).nvrtcGetNVVM().is_ok());
    let Some(environment) = toolkit("cuda13") else { return };
    let missing = nvrtc(&environment).nvrtcGetNVVM().unwrap_err().to_string();
    assert!(missing.contains("was removed in CUDA 13.0"), "{missing}");
}

#[test]
fn a_missing_library_is_an_error_with_every_place_that_was_searched() {
    // SAFETY: there is nothing in that folder.
    let error = match unsafe { NvJitLinkApi::load_with(&Environment::only("/nowhere")) } {
        Err(error) => error.to_string(),
        // It is in the loader's path, or another test has opened it.
        Ok(api) => return assert!(!api.origin().contains('/')),
    };
    for part in ["`libnvJitLink.so.13`", "`libnvJitLink.so.12`", "/nowhere/lib64/libnvJitLink.so.13", "CUDA_HOME"] {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

/// NVML comes with the driver and not with a toolkit.
#[test]
fn nvml_is_found_by_the_loader_only() {
    match NvmlApi::load() {
        Ok(api) => assert_eq!(api.origin(), "libnvidia-ml.so.1"),
        Err(error) => assert!(!error.to_string().contains("CUDA_HOME"), "{error}"),
    }
}
