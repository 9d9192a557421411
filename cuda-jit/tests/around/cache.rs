//! The disk cache, as new processes see it.

use std::fs;
use std::path::Path;

use cuda_jit::cache::{self, Stats};
use cuda_jit::device::grid;
use cuda_jit::{Kernel, Num, device_fn, kernel};
use cuda_jit_cache::Cache;

use super::{child, is_child};
use crate::device::{context, on_device, on_host};

#[kernel]
fn double<T: Num>(x: &mut [T]) {
    let i = grid::<1>();
    x[i] = x[i] + x[i];
}

#[kernel(cache = false)]
fn not_kept(x: &mut [u32]) {
    x[0] = 1;
}

const INDEX_LINE: u32 = line!() - 8;

/// Launches [`double`] for two types, makes it panic, and prints the numbers of cache hits and misses.
fn launches() {
    let (mut x, mut y) = (on_device(&[1_u32, 2, 3]), on_device(&[1.5_f32]));
    double::launch((1, 3), &mut x).unwrap();
    double::launch((1, 1), &mut y).unwrap();
    assert_eq!((on_host(&x), on_host(&y)), (vec![2, 4, 6], vec![3.0]));
    double::launch((1, 4), &mut x).unwrap();
    let error = context().synchronize().unwrap_err();
    let cuda_driver::Error::KernelPanic(panic) = error else { panic!("{error}") };
    assert_eq!((panic.kernel.as_str(), panic.line, panic.thread[0]), ("double_u32", INDEX_LINE, 3));
    assert!(panic.message.contains("index out of bounds: the len is 3 but the index is 3"), "{}", panic.message);
    not_kept::launch((1, 1), &mut x).unwrap();
    assert_eq!(not_kept::stats(), Stats::default());
    assert_eq!(double::<u32>::stats(), cache::stats());
    let Stats { hits, misses } = cache::stats();
    println!("hits {hits} misses {misses}");
}

fn run(name: &str, folder: &Path) -> String {
    let text = child(&format!("around::cache::{name}"), &[("CUDA_JIT_CACHE_DIR", folder.as_os_str())]);
    text.lines().find_map(|line| Some(line[line.find("hits ")?..].to_owned())).expect("the child prints its statistics")
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// The number of kernels in a folder, without the software device's entries.
fn kernels(folder: &Path) -> usize {
    let labels = Cache::new(folder, u64::MAX).list().into_iter().filter_map(|entry| entry.label);
    labels.filter(|label| !label.ends_with("of the software device")).count()
}

#[test]
fn a_new_process_finds_cached_kernels() {
    if is_child() {
        return launches();
    }
    let name = "a_new_process_finds_cached_kernels";
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("kernels");
    assert_eq!(run(name, &inside), "hits 0 misses 2");
    assert_eq!(kernels(&inside), 2);
    assert!(files(&inside).len() > 2, "the software device keeps its machine code there too");
    assert_eq!(run(name, &inside), "hits 2 misses 0");
    // With damaged files the kernels still run, and the next process finds repaired ones.
    for damage in [&|bytes: &[u8]| bytes[..bytes.len() / 2].to_vec(), &|_: &[u8]| Vec::new(), &|bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        bytes
    }] as [&dyn Fn(&[u8]) -> Vec<u8>; 3]
    {
        for file in files(&inside) {
            fs::write(&file, damage(&fs::read(&file).unwrap())).unwrap();
        }
        assert_eq!(run(name, &inside), "hits 0 misses 2");
        assert_eq!(run(name, &inside), "hits 2 misses 0");
    }
    // The folder cannot be created.
    let blocked = folder.path().join("file");
    fs::write(&blocked, b"").unwrap();
    assert_eq!(run(name, &blocked), "hits 0 misses 2");
}

#[kernel]
fn changed<F: Fn(u32) -> u32>(f: F, x: &mut [u32]) {
    x[0] = f(x[0]);
}

#[test]
fn a_closure_is_part_of_what_is_kept_and_its_captures_are_not() {
    if is_child() {
        let k = std::process::id() % 1000;
        let mut x = on_device(&[5_u32]);
        changed::launch((1, 1), device_fn!(|v: u32| v + k), &mut x).unwrap();
        assert_eq!(on_host(&x), [5 + k]);
        changed::launch((1, 1), device_fn!(|v: u32| v - k), &mut x).unwrap();
        assert_eq!(on_host(&x), [5]);
        let Stats { hits, misses } = cache::stats();
        println!("hits {hits} misses {misses}");
        return;
    }
    let name = "a_closure_is_part_of_what_is_kept_and_its_captures_are_not";
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run(name, folder.path()), "hits 0 misses 2");
    assert_eq!(run(name, folder.path()), "hits 2 misses 0");
}

#[test]
fn a_recompiled_kernel_replaces_its_cache_entry() {
    if is_child() {
        let cc = context().device().compute_capability().unwrap();
        let ptx = cuda_jit::recompile::<double<u32>>(cc).unwrap();
        assert_eq!(cuda_jit::recompile::<not_kept>(cc).unwrap(), not_kept::compile_ptx(cc).unwrap());
        assert_eq!(ptx, double::<u32>::compile_ptx(cc).unwrap());
        assert_eq!(cache::stats(), Stats::default(), "nothing was asked for");
        cuda_jit::recompile::<double<u32>>((1, 0)).unwrap_err();
        return launches();
    }
    let name = "a_recompiled_kernel_replaces_its_cache_entry";
    let folder = tempfile::tempdir().unwrap();
    // One of the two kernels is cached when it is launched.
    assert_eq!(run(name, folder.path()), "hits 1 misses 1");
    let whole = files(folder.path()).into_iter().map(|file| (fs::read(&file).unwrap(), file)).collect::<Vec<_>>();
    for (bytes, file) in &whole {
        fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
    }
    assert_eq!(run(name, folder.path()), "hits 1 misses 1");
    assert!(whole.iter().all(|(bytes, file)| fs::read(file).unwrap() == *bytes), "they are whole again");
}

#[test]
fn the_environment_or_the_program_switches_it_off() {
    if is_child() {
        cache::set_enabled(false);
        assert_eq!(cache::folder(), None);
        cache::set_enabled(true);
        match std::env::var_os("CUDA_JIT_CACHE") {
            Some(_) => assert_eq!(cache::folder(), None),
            None => cache::set_enabled(false),
        }
        double::launch((1, 1), &mut on_device(&[1_u32])).unwrap();
        assert_eq!(cache::stats(), Stats::default());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let name = "around::cache::the_environment_or_the_program_switches_it_off";
    let dir = ("CUDA_JIT_CACHE_DIR", folder.path().as_os_str());
    child(name, &[dir, ("CUDA_JIT_CACHE", "off".as_ref())]);
    assert_eq!(files(folder.path()).len(), 0);
    child(name, &[dir]);
    assert_eq!(kernels(folder.path()), 0, "the program switches off what cuda-jit keeps");
}

/// Neither the compiler nor the software device needs LLVM: both have cached its output. Without LLVM a kernel that
/// must be compiled is an error, and cached ones run.
#[test]
fn cached_kernels_need_no_llvm() {
    if is_child() {
        let mut x = on_device(&[1_u32, 2, 3]);
        double::launch((1, 3), &mut x).unwrap();
        assert_eq!(on_host(&x), [2, 4, 6]);
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let error = match std::env::var_os("CUDA_LLVM_PATH") {
            Some(_) => not_kept::launch((1, 1), &mut x).unwrap_err().to_string(),
            None => String::new(),
        };
        println!("LLVM is mapped: {}\n{error}", maps.contains("libLLVM"));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let name = "around::cache::cached_kernels_need_no_llvm";
    let dir = ("CUDA_JIT_CACHE_DIR", folder.path().as_os_str());
    assert!(child(name, &[dir]).contains("LLVM is mapped: true"));
    assert!(child(name, &[dir]).contains("LLVM is mapped: false"));
    let text = child(name, &[dir, ("CUDA_LLVM_PATH", "/nowhere/libLLVM.so".as_ref())]);
    for part in [
        "LLVM is mapped: false",
        "kernel `not_kept`: kernels are compiled by LLVM 22 or 23, and none was found",
        "/nowhere/libLLVM.so: cannot open shared object file",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}
