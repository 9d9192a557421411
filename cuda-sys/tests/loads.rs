//! Calls of a real driver, which `CUDA_DRIVER_PATH` names, through the table and the types of this build.
//!
//! `cargo xtask check generate` runs it with the software device's library, for bindings of each version of CUDA;
//! `EXPECTED_CUDA_VERSION` is that version, and `EXPECTED_BINDINGS` names a folder with the same bindings. Without a driver the
//! test prints that it is skipped.
//!
//! # Safety
//!
//! The driver's functions are called with pointers to variables of the types that the headers declare, which live through
//! the call.

use std::collections::BTreeSet;
use std::path::Path;

use cuda_sys::{CUDA_VERSION, CUresult, DriverApi};

/// Calls a function of the table and asserts that it succeeds.
macro_rules! call {
    ($api:ident.$name:ident($($argument:expr),*)) => {{
        let function = $api.$name().unwrap();
        // SAFETY: pointer arguments are to variables of the declared types, which live through the call.
        let status = unsafe { function($($argument),*) };
        assert_eq!(status, CUresult::CUDA_SUCCESS, stringify!($name));
    }};
}

/// The words of a file, which formatting does not change.
fn words(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The words of a file's code that are not numbers, which include every name.
fn names(file: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| word.starts_with(|c: char| c.is_alphabetic())).map(str::to_owned).collect()
}

#[test]
fn the_bindings_of_the_build_are_those_that_gen_bindings_writes() {
    let Some(expected) = std::env::var_os("EXPECTED_BINDINGS") else {
        return println!("skipped: other bindings (EXPECTED_BINDINGS names none)");
    };
    for file in ["driver/types.rs", "driver/table.rs"] {
        let (made, expected) = (Path::new(env!("CUDA_SYS_GENERATED")).join(file), Path::new(&expected).join(file));
        assert!(words(&made) == words(&expected), "{} and {} differ", made.display(), expected.display());
    }
}

/// The crates above cuda-sys use the committed declarations.
#[test]
fn the_bindings_of_the_build_have_every_committed_declaration() {
    for file in ["driver", "runtime", "runtime12", "nvtx"].map(|module| [module, "types.rs"].join("/")) {
        let folders = [env!("CUDA_SYS_GENERATED"), concat!(env!("CARGO_MANIFEST_DIR"), "/src/generated")];
        for file in [file.clone(), file.replace("types", "table")] {
            let [made, committed] = folders.map(|folder| names(&Path::new(folder).join(&file)));
            let lost: Vec<_> = committed.difference(&made).collect();
            assert!(lost.is_empty(), "{file}: {lost:?}");
        }
    }
}

#[test]
fn a_kernel_runs_through_the_table() {
    if let Ok(expected) = std::env::var("EXPECTED_CUDA_VERSION") {
        assert_eq!(CUDA_VERSION.to_string(), expected, "the bindings are those of other headers");
    }
    let path = std::env::var("CUDA_DRIVER_PATH").unwrap_or_default();
    if path.is_empty() || path == "sim" {
        return println!("skipped: a driver (CUDA_DRIVER_PATH names none)");
    }
    let api = DriverApi::from_environment().unwrap().unwrap();
    call!(api.cuInit(0));
    let (mut version, mut devices, mut device) = (0, 0, -1);
    call!(api.cuDriverGetVersion(&mut version));
    call!(api.cuDeviceGetCount(&mut devices));
    assert!(version >= 12000 && devices >= 1, "{version} {devices}");
    call!(api.cuDeviceGet(&mut device, 0));
    let mut context = std::ptr::null_mut();
    call!(api.cuDevicePrimaryCtxRetain(&mut context, device));
    call!(api.cuCtxSetCurrent(context));
    let (mut memory, mut words) = (0, [0_u32; 4]);
    call!(api.cuMemAlloc_v2(&mut memory, size_of_val(&words)));
    call!(api.cuMemsetD32_v2(memory, 7, words.len()));
    call!(api.cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), memory, size_of_val(&words)));
    call!(api.cuMemFree_v2(memory));
    call!(api.cuDevicePrimaryCtxRelease_v2(device));
    assert_eq!(words, [7; 4]);
}
