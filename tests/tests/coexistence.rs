//! The stack in processes that contain another LLVM, or another software device.
//!
//! The other LLVMs are Debian's `libllvm14` and its successors; without any, the tests are skipped.
//! `cuda-llvm/src/trampolines.rs` explains how the stack's calls are bound to its own LLVM.

use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_prelude::*;
use cuda_tests_support::software_device;

use crate::support::{add_arrays, combined_output, in_own_process, skip};

/// The other LLVM libraries of this machine, one for each release.
fn others() -> Vec<PathBuf> {
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = ["/usr/lib", "/usr/lib64"]
        .iter()
        .flat_map(|root| entries(Path::new(root)).chain([PathBuf::from(root)]))
        .flat_map(|folder| entries(&folder).collect::<Vec<_>>())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libLLVM")))
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    found.sort();
    found.dedup();
    found
}

/// A kernel that is in no cache.
#[kernel(cache = false)]
fn doubled(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = 2 * x[i];
    }
}

/// The other library comes first in the lookup of every symbol.
#[test]
fn kernels_compile_with_the_stacks_own_llvm() {
    let test = "coexistence::kernels_compile_with_the_stacks_own_llvm";
    let found = others();
    if found.is_empty() {
        return skip(test, "no other LLVM; Debian's package `libllvm15` has one");
    }
    for other in found {
        let variables = [("LD_PRELOAD", other.to_str()), ("CUDA_DRIVER_PATH", None)];
        in_own_process(test, &variables, || {
            let mut out = [0; 4];
            doubled::launch((1, 32), &[1, 2, 3, 4], &mut out).expect("it runs");
            assert_eq!(out, [2, 4, 6, 8]);
            let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux provides it");
            let mut loaded: Vec<&str> = maps.lines().filter_map(|line| line.split('/').next_back()).collect();
            loaded.retain(|name| name.starts_with("libLLVM"));
            loaded.dedup();
            assert!(loaded.len() > 1, "{loaded:?}");
        });
    }
}

/// Each other LLVM is in the global scope alone, then all of them together.
#[test]
fn the_library_works_together_with_other_llvms() {
    let test = "coexistence::the_library_works_together_with_other_llvms";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("other_llvm");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/other_llvm.c");
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-O1", "-o"]).arg(&program).arg(source).arg("-ldl");
    let Ok(output) = cc.output() else { return skip(test, "no C compiler") };
    assert!(output.status.success(), "{}", combined_output(&output));
    let library = software_device();
    let run = |others: &[PathBuf]| {
        let output = Command::new(&program).arg(&library).args(others).output().expect("it starts");
        let text = combined_output(&output);
        assert!(text.contains(&format!("the answer is 42 beside {}\n", others.len())), "{others:?}: {text}");
    };
    run(&[]);
    let found = others();
    if found.is_empty() {
        return skip(test, "no other LLVM; Debian's package `libllvm15` has one");
    }
    found.iter().for_each(|other| run(std::slice::from_ref(other)));
    run(&found);
}

/// The device that is linked in and the one of the library share nothing: each has its own memory and compiler.
#[test]
fn two_software_devices_work_side_by_side() {
    let test = "coexistence::two_software_devices_work_side_by_side";
    let library = software_device();
    in_own_process(test, &[("CUDA_DRIVER_PATH", library.to_str())], || {
        assert!(is_simulated().expect("there is a driver"), "the library is a software device");
        let linked = cuda_driver::Driver::new(cuda_sim::driver_api()).expect("it starts");
        let linked = linked.device(0).expect("it has a device").primary_context().expect("it has a context");
        let opened = current_context().expect("there is one");
        for round in 0..3_u32 {
            let host: Vec<u32> = (0..1000).map(|i| i + round).collect();
            let arrays = [&linked, &opened].map(|context| {
                let x = cuda_mem::from_slice(context, &host).expect("there is room");
                let mut out = cuda_mem::zeros::<u32, _>(context, 1000).expect("there is room");
                add_arrays::launch((8, 128), &x, &x, &mut out).expect("it runs");
                out
            });
            for out in arrays {
                assert!(out.copy_to_host().expect("it ran").iter().zip(&host).all(|(sum, x)| *sum == 2 * x));
            }
        }
        // Each refuses memory of the other.
        let far = cuda_mem::zeros::<u32, _>(&linked, 1000).expect("there is room");
        let mut out = cuda_mem::zeros::<u32, _>(&opened, 1000).expect("there is room");
        assert!(add_arrays::launch((8, 128), &far, &far, &mut out).is_err());
    });
}
