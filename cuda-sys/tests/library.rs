//! Lookup in a shared library: through its own `cuGetProcAddress`, through the loader, and of missing functions.
//!
//! The library is a small one in C, compiled here with `cc`; it is not a driver and computes nothing.
//!
//! # Safety
//!
//! The functions called are those of `driver.c`, which has no initialisers; only the one for the version uses its argument.

use std::path::PathBuf;
use std::process::Command;

use cuda_sys::{CUresult, DriverApi};

/// Compiles `driver.c` with these macros into a library of its own.
fn library(name: &str, macros: &[&str]) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("lib{name}.so"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/driver.c");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"]).arg(&file).args(macros).arg(source);
    assert!(cc.status().expect("a C compiler").success());
    file
}

/// The number of calls of the library's own lookup.
fn lookups(file: &PathBuf) -> i32 {
    // SAFETY: the library of this test runs nothing when it is opened, and is open already.
    let library = unsafe { libloading::Library::new(file) }.unwrap();
    // SAFETY: `driver.c` defines the symbol as an `int`.
    let counter = unsafe { library.get::<*const i32>("lookups") }.unwrap();
    // SAFETY: the counter is a static of an open library and no other thread of this test writes it.
    unsafe { **counter }
}

#[test]
fn the_librarys_own_lookup_comes_before_the_loader() {
    let file = library("lookup", &["-DVERSION=13000", "-DLOOKUP"]);
    // SAFETY: `driver.c` has no initialisers, and its functions ignore their arguments.
    let api = unsafe { DriverApi::load_from(&file) }.unwrap();
    // SAFETY: `driver.c` has no initialisers, and its functions ignore their arguments.
    let alloc = unsafe { (api.cuMemAlloc_v2().unwrap())(std::ptr::null_mut(), 0) };
    assert_eq!(alloc, CUresult(3));
    // The lookup does not find this one, so the exported symbol is used.
    // SAFETY: `driver.c` has no initialisers, and its functions ignore their arguments.
    let init = unsafe { (api.cuInit().unwrap())(0) };
    assert_eq!(init, CUresult(1));
}

#[test]
fn the_lookups_flag_selects_the_default_stream() {
    let file = library("streams", &["-DVERSION=13000", "-DLOOKUP"]);
    // SAFETY: `driver.c` has no initialisers, and its functions ignore their arguments.
    let api = unsafe { DriverApi::load_from(&file) }.unwrap();
    // SAFETY: `driver.c` has no initialisers, and its functions ignore their arguments.
    let legacy = unsafe { (api.cuMemcpy().unwrap())(0, 0, 0) };
    // SAFETY: `driver.c` has no initialisers, and its functions ignore their arguments.
    let per_thread = unsafe { (api.cuMemcpy_ptds().unwrap())(0, 0, 0) };
    assert_eq!((legacy, per_thread), (CUresult(5), CUresult(6)));
}

#[test]
fn a_library_without_a_lookup_is_searched_by_exported_symbol() {
    let file = library("exports", &["-DVERSION=11080"]);
    // SAFETY: `driver.c` has no initialisers, and its functions ignore their arguments.
    let api = unsafe { DriverApi::load_from(&file) }.unwrap();
    // SAFETY: `driver.c` has no initialisers, and its functions ignore their arguments.
    let alloc = unsafe { (api.cuMemAlloc_v2().unwrap())(std::ptr::null_mut(), 0) };
    assert_eq!(alloc, CUresult(2));
    assert!(api.cuMemAlloc().is_err(), "the symbol without a version is another function");
}

#[test]
fn the_lookup_of_an_older_driver_is_not_called_for_a_newer_variant() {
    let file = library("older", &["-DVERSION=12020", "-DLOOKUP"]);
    // SAFETY: `driver.c` has no initialisers, and its functions ignore their arguments.
    let api = unsafe { DriverApi::load_from(&file) }.unwrap();
    assert!(api.cuCtxCreate_v3().is_ok());
    let missing = api.cuCtxCreate_v4().unwrap_err();
    assert_eq!((missing.symbol().version, missing.driver_version()), (12050, Some(12020)));
    let text = missing.to_string();
    for part in ["cuCtxCreate_v4", "CUDA 12.2", "CUDA 12.5", "libolder.so"] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn each_function_is_looked_up_once() {
    let file = library("once", &["-DVERSION=13000", "-DLOOKUP"]);
    // SAFETY: `driver.c` has no initialisers, and its functions ignore their arguments.
    let api = unsafe { DriverApi::load_from(&file) }.unwrap();
    assert!(api.cuMemAlloc_v2().is_ok() && api.cuStreamCreate().is_err());
    let first = lookups(&file);
    assert!(api.cuMemAlloc_v2().is_ok() && api.cuStreamCreate().is_err());
    assert_eq!((first, lookups(&file)), (2, 2));
}

#[test]
fn a_file_that_is_no_library_is_an_error_with_its_path_and_the_loaders_reason() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("text.so");
    std::fs::write(&file, "not a library, but long enough that the loader reads a header of an executable from it")
        .unwrap();
    // SAFETY: it is no library, so nothing of it runs.
    let error = unsafe { DriverApi::load_from(&file) }.unwrap_err().to_string();
    assert!(error.contains(&file.display().to_string()) && error.contains("invalid ELF header"), "{error}");
    // SAFETY: there is no such library.
    let error = unsafe { DriverApi::load_from("/nowhere/libcuda.so") }.unwrap_err().to_string();
    assert!(error.contains("/nowhere/libcuda.so") && error.contains("No such file"), "{error}");
}

/// Headers declare functions that real libraries lack (`cuDeviceGetNvSciSyncAttributes`, `cuCheckpointProcessLock`): only the
/// lookup of such a function fails, and the others stay usable.
#[test]
fn each_declared_function_that_the_library_lacks_is_an_error() {
    let file = library("lacking", &["-DVERSION=13000", "-DLOOKUP"]);
    // SAFETY: `driver.c` has no initialisers, and its functions ignore their arguments.
    let api = unsafe { DriverApi::load_from(&file) }.unwrap();
    for missing in [api.cuDeviceGetNvSciSyncAttributes().unwrap_err(), api.cuCheckpointProcessLock().unwrap_err()] {
        let text = missing.to_string();
        assert!(text.contains(missing.symbol().name) && text.contains("CUDA 13.0"), "{text}");
    }
    assert!(api.cuMemAlloc_v2().is_ok());
}

/// A plain name means different functions in different toolkits, so every variant is bound by its own name.
#[test]
fn variants_are_bound_by_explicit_names() {
    let version = |name: &str| cuda_sys::SYMBOLS.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.version);
    assert_eq!([version("cuCtxCreate_v2"), version("cuCtxCreate_v4")], [Some(3020), Some(12050)]);
    assert_eq!([version("cuMemAdvise"), version("cuMemAdvise_v2")], [Some(8000), Some(12020)]);
    assert_eq!([version("cuEventElapsedTime"), version("cuEventElapsedTime_v2")], [Some(2000), Some(12080)]);
}

/// From CUDA 13.2 on the `id` of a location is in an anonymous union. Some generators reduce the union of launch attributes
/// to one byte.
#[test]
fn locations_and_launch_attributes_have_their_layouts() {
    let location = cuda_sys::CUmemLocation { id: 3, ..Default::default() };
    assert_eq!((location.id, size_of_val(&location)), (3, 8));
    assert_eq!((size_of::<cuda_sys::CUlaunchAttributeValue>(), size_of::<cuda_sys::CUlaunchAttribute>()), (64, 72));
}
