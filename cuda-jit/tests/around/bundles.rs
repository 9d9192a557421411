//! Bundles: one process records specialisations, and another launches exactly those without compiling.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use cuda_driver::LaunchConfig;
use cuda_jit::device::{grid, this_grid};
use cuda_jit::typeinfo::Fingerprint;
use cuda_jit::{CompiledKernel, Constant, DeviceType, Kernel, Num, bundle, device, device_fn, kernel, record, shared};
use cuda_jit_cache::Bundle;

use super::{child, is_child};
use crate::device::{context, on_device, on_host};

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(u8)]
enum Rank {
    Low,
    High,
}

#[device]
fn scaled<T: Num>(x: T, by: T) -> T {
    x * by
}

#[kernel]
fn scale<T: Num>(x: &mut [T], by: T) {
    let i = grid::<1>();
    x[i] = scaled(x[i], by);
}

#[kernel]
fn map<F: Fn(u32) -> u32>(f: F, x: &mut [u32]) {
    x[grid::<1>()] = f(x[grid::<1>()]);
}

static OFFSETS: Constant<[u32; 2]> = Constant::new([10, 20]);
static FACTOR: Constant<u32> = Constant::new(3);

#[kernel]
fn adjusted(x: &mut [u32]) {
    let i = grid::<1>();
    x[i] = x[i] * FACTOR.get() + OFFSETS.get()[i % 2];
}

#[kernel]
fn turned(x: &mut [u32]) {
    let i = grid::<1>();
    let n = x.len();
    let v = x[n - 1 - i];
    this_grid().sync();
    x[i] = v;
}

#[kernel]
fn large(x: &mut [u32]) {
    let kept = shared!([u32; 16384]);
    let i = grid::<1>();
    kept[i] = x[i];
    cuda_jit::device::sync_threads();
    x[i] = kept[x.len() - 1 - i];
}

#[kernel]
fn ranks(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let rank = if x[i] > 1 { Rank::High } else { Rank::Low };
    let most = x.iter().copied().max().unwrap_or(0);
    out[i] = most * 10
        + match rank {
            Rank::Low => 1,
            Rank::High => 2,
        };
}

/// Launches everything, asserts the results, and returns the targets of the code that ran.
fn launches() -> Vec<String> {
    let mut x = on_device(&[1_u32, 2, 3, 4]);
    scale::launch((1, 4), &mut x, 2).unwrap();
    assert_eq!(on_host(&x), [2, 4, 6, 8]);
    let k = x.len() as u32;
    map::launch((1, 4), device_fn!(|v: u32| v + k), &mut x).unwrap();
    assert_eq!(on_host(&x), [6, 8, 10, 12]);
    adjusted::launch((1, 4), &mut x).unwrap();
    assert_eq!(on_host(&x), [28, 44, 40, 56]);
    OFFSETS.set(&context(), &[0, 1]).unwrap();
    FACTOR.set(&context(), &1).unwrap();
    adjusted::launch((1, 4), &mut x).unwrap();
    assert_eq!(on_host(&x), [28, 45, 40, 57]);
    turned::launch(LaunchConfig::new(2, 2).cooperative(), &mut x).unwrap();
    assert_eq!(on_host(&x), [57, 40, 45, 28]);
    large::launch((1, 4), &mut x).unwrap();
    assert_eq!(on_host(&x), [28, 45, 40, 57]);
    let mut out = on_device(&[0_u32; 2]);
    ranks::launch((1, 2), &on_device(&[1_u32, 2]), &mut out).unwrap();
    assert_eq!(on_host(&out), [21, 22]);
    scale::launch((1, 3), &mut out, 1).unwrap();
    let error = context().synchronize().unwrap_err();
    let cuda_driver::Error::KernelPanic(panic) = error else { panic!("{error}") };
    assert!(panic.message.contains("index out of bounds: the len is 2 but the index is 2"), "{}", panic.message);
    assert!(panic.file.ends_with("bundles.rs") && panic.thread[0] == 2, "{panic:?}");
    let loaded =
        [scale::<u32>::overloads(), adjusted::overloads(), turned::overloads(), large::overloads(), ranks::overloads()];
    loaded.concat().iter().map(|kernel| kernel.target().to_string()).collect()
}

fn in_child(test: &str, file: &Path, more: &[(&str, &OsStr)]) {
    let own = [("BUNDLE", file.as_os_str()), ("CUDA_JIT_CACHE", OsStr::new("off"))];
    child(&format!("around::bundles::{test}"), &[&own, more].concat());
}

/// Launches everything in a child process that records for compute capabilities.
fn recorded(test: &str, file: &Path, targets: &str) {
    in_child(test, file, &[("CUDA_JIT_RECORD", file.as_os_str()), ("CUDA_JIT_RECORD_TARGETS", OsStr::new(targets))]);
}

/// Embeds the file, in a process that does not record.
fn embed() {
    if std::env::var_os("CUDA_JIT_RECORD").is_none() {
        let bytes = fs::read(std::env::var_os("BUNDLE").unwrap()).unwrap();
        // SAFETY: this test recorded the file; damage by a test is detected by the hashes.
        unsafe { bundle::embed(bytes.leak()) }.unwrap();
    }
}

fn labels(file: &Path) -> Vec<String> {
    Bundle::new(fs::read(file).unwrap()).unwrap().labels().map(str::to_owned).collect()
}

#[test]
fn recorded_kernels_are_launched_from_the_bundle() {
    if is_child() {
        embed();
        // The software device has compute capability 9.0, for which only the compiler makes code here.
        let made_for = if std::env::var_os("CUDA_JIT_RECORD").is_some() { "sm_90" } else { "sm_75" };
        assert_eq!(launches(), [made_for; 5]);
        if made_for == "sm_75" {
            assert_eq!(bundle::kernels().len(), 6);
            assert!(scale::<u32>::overloads()[0].kir().unwrap().to_string().contains("kernel scale_u32("));
            scale::launch((1, 1), &mut on_device(&[1_i64]), 2).unwrap();
            assert_eq!(scale::<i64>::overloads()[1].target().to_string(), "sm_90", "it is not in the bundle");
        }
        return;
    }
    let test = "recorded_kernels_are_launched_from_the_bundle";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernels.bundle");
    recorded(test, &file, "7.5");
    let once = labels(&file);
    let own = "cuda_jit_test::around::bundles::scale<u32>(&mut [u32], u32) sm_75";
    assert!(once.iter().any(|label| label.ends_with(&own["cuda_jit_test".len()..])), "{once:#?}");
    in_child(test, &file, &[]);
    recorded(test, &file, "7.5");
    assert_eq!(labels(&file), once, "another run records the same, and nothing twice");
}

#[test]
fn a_bundle_that_is_damaged_or_for_other_devices_is_not_used() {
    if is_child() {
        embed();
        assert_eq!(launches(), ["sm_90"; 5]);
        return;
    }
    let test = "a_bundle_that_is_damaged_or_for_other_devices_is_not_used";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernels.bundle");
    recorded(test, &file, "10.0, 12.0");
    assert_eq!(labels(&file).len(), 12);
    in_child(test, &file, &[]);
    fs::remove_file(&file).unwrap();
    recorded(test, &file, "8.0");
    let mut bytes = fs::read(&file).unwrap();
    let ends: Vec<usize> = bytes.windows(4).enumerate().filter(|(_, at)| at == b"ret;").map(|(at, _)| at).collect();
    assert!(ends.len() >= 6);
    ends.iter().for_each(|at| bytes[*at] ^= 1);
    fs::write(&file, bytes).unwrap();
    in_child(test, &file, &[]);
}

#[test]
fn a_list_of_kernels_is_recorded() {
    let _selected = context().select();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernels.bundle");
    record(&file, &[(7, 5).into(), (8, 0).into()], [scale::<f32>::compile, scale::<f64>::compile]).unwrap();
    let targets: Vec<String> = labels(&file).iter().map(|label| label.rsplit_once(' ').unwrap().1.to_owned()).collect();
    assert_eq!(targets, ["sm_75", "sm_80", "sm_75", "sm_80"]);
    record(&file, &[], [adjusted::compile]).unwrap();
    assert_eq!(labels(&file).len(), 5);
    let none: [fn() -> cuda_jit::Result<CompiledKernel>; 0] = [];
    let error = record(&file, &[(1, 0).into()], none).unwrap_err().to_string();
    assert!(error.starts_with("no code can be generated for sm_10; supported are sm_50, "), "{error}");
    let error = record(folder.path(), &[], [adjusted::compile]).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot record into {}: ", folder.path().display())), "{error}");
}

#[test]
fn specialisations_have_fingerprints_of_their_own_and_always_the_same() {
    let of = |instance: fn() -> cuda_jit::typeinfo::Instance| Fingerprint::of(&instance());
    let instances = [scale::<u32>::instance, scale::<i32>::instance, adjusted::instance, turned::instance];
    for (n, one) in instances.iter().enumerate() {
        for (m, other) in instances.iter().enumerate() {
            assert_eq!(of(*one).bytes == of(*other).bytes, n == m);
        }
    }
    assert_eq!((of(adjusted::instance).constants.len(), of(scale::<u32>::instance).constants.len()), (2, 0));
}
