//! The library of NVIDIA's NCCL, where the loader, the toolkit or `CUDA_NCCL_PATH` has it, through the table. It needs no device; without
//! the library the first test prints that it is skipped.
//!
//! # Safety
//!
//! Opening NCCL runs its initialisers, which are sound. Symbols are looked up, and not used; the functions that are called take
//! pointers to variables that live through the call.
#![cfg(feature = "nccl")]

use std::ffi::{CStr, c_void};

use cuda_sys::nccl::{NcclApi, NcclFns, SYMBOLS, ncclConfig_t, ncclResult_t};
use cuda_sys::toolkit::Environment;

#[test]
fn the_library_has_every_function_of_its_version() {
    let found = NcclApi::from_environment().and_then(|named| named.map_or_else(NcclApi::load, Ok));
    let Ok(api) = found else {
        return println!("skipped: NCCL (`pip install nvidia-nccl-cu13` has one, which CUDA_NCCL_PATH can name)");
    };
    let version = api.version().unwrap();
    assert!(version >= 21801, "{version}");
    // SAFETY: the library is NCCL, and is open already.
    let library = unsafe { libloading::Library::new(api.origin()) }.unwrap();
    for symbol in SYMBOLS.iter().filter(|symbol| symbol.version <= version) {
        // SAFETY: the address is not used.
        let address = unsafe { library.get::<*mut c_void>(symbol.name) };
        assert!(address.is_ok(), "NCCL {version} has no {}, of {}", symbol.name, symbol.version);
    }
    // SAFETY: the function takes a number.
    let text = unsafe { (api.ncclGetErrorString().unwrap())(ncclResult_t::ncclInvalidArgument) };
    // SAFETY: the result is a C string of the library.
    let text = unsafe { CStr::from_ptr(text) }.to_str().unwrap();
    assert!(text.starts_with("invalid argument"), "{text}");
}

#[test]
fn a_function_newer_than_the_library_is_an_error_with_nccls_versions() {
    unsafe extern "C" fn version(out: *mut i32) -> ncclResult_t {
        // SAFETY: the caller passes an integer.
        unsafe { out.write(22105) };
        ncclResult_t::ncclSuccess
    }
    let fns = NcclFns { ncclGetVersion: Some(version), ..NcclFns::default() };
    // SAFETY: the function writes one integer, as the manual says.
    let api = unsafe { NcclApi::from_fns(&fns) }.named("an old one");
    assert_eq!(api.version(), Some(22105));
    let missing = api.ncclGather().unwrap_err().to_string();
    assert_eq!(missing, "NCCL (an old one, NCCL 2.21.5) has no function `ncclGather`, which came with NCCL 2.28.3");
}

#[test]
fn a_missing_library_is_an_error_with_every_place_that_was_searched() {
    // SAFETY: there is nothing in that folder.
    match unsafe { NcclApi::load_with(&Environment::only("/nowhere")) } {
        Ok(api) => assert!(!api.origin().contains('/'), "it is in the loader's path"),
        Err(error) => {
            let error = error.to_string();
            for part in ["`libnccl.so.2`", "/nowhere/lib64/libnccl.so.2", "CUDA_HOME"] {
                assert!(error.contains(part), "`{part}` is not in: {error}");
            }
        }
    }
}

#[test]
fn a_configuration_leaves_every_choice_to_nccl() {
    let config = ncclConfig_t::INITIALIZER;
    // After size, magic number and version there are integers and pointers, all of them undefined.
    let undefined =
        [config.blocking, config.minCTAs, config.splitShare, config.launchOrderImplicit, config.nvlsHostMode];
    assert_eq!(undefined, [i32::MIN; 5]);
    assert!(config.netName.is_null() && config.commName.is_null());
    assert_eq!((config.size, config.version), (size_of::<ncclConfig_t>(), cuda_sys::nccl::NCCL_VERSION_CODE));
}
