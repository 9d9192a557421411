//! The choice of a process' driver, and the description of its devices, with made-up drivers in C.

use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_prelude::*;

use crate::support::in_own_process;

/// Compiles the driver of the tests of `doctor` to a file in a new folder.
fn driver(folder: &Path, name: &str, define: Option<&str>) -> PathBuf {
    let library = folder.join(name);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../xtask/tests/doctor/driver.c");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-Wall", "-o"]).arg(&library).arg(source).args(define);
    assert!(cc.status().expect("a C compiler").success());
    library
}

/// The output and the result of `detect` in a process with a made-up driver.
fn detected(test: &str, define: Option<&str>) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = driver(folder.path(), "libmade-up.so", define);
    let variables = [("CUDA_DRIVER_PATH", library.to_str())];
    in_own_process(test, &variables, || {
        assert!(!is_simulated().expect("the driver works"), "a driver that says nothing else is a GPU's");
        println!("detect: {:?}", detect().expect("the driver works"));
    })
}

#[test]
fn a_device_is_described() {
    let text = detected("choice::a_device_is_described", None);
    if text.is_empty() {
        return;
    }
    let expected = "\
Found 1 CUDA device
id 0    Made-up card  [supported]
          compute capability: 8.6
                 PCI address: 0000:65:00.0
                        UUID: GPU-abababab-abab-abab-abab-abababababab
                      memory: 3072 MiB
             multiprocessors: 46
                    watchdog: yes, kernels that run long are ended
                compute mode: exclusive to one process
        f32 : f64 throughput: 0 : 1
              f16, bf16, fp8: yes, yes, no
Summary: kernels run on 1 of 1
detect: true
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_device_that_is_too_old_is_reported_as_unsupported() {
    let text = detected("choice::a_device_that_is_too_old_is_reported_as_unsupported", Some("-DOLD"));
    if text.is_empty() {
        return;
    }
    assert!(text.contains("Made-up card  [not supported: kernels need compute capability 5.0]\n"), "{text}");
    assert!(text.contains("f16, bf16, fp8: no, no, no\nSummary: kernels run on 0 of 1\ndetect: false\n"), "{text}");
}

#[test]
fn a_chosen_driver_may_have_no_device() {
    let text = detected("choice::a_chosen_driver_may_have_no_device", Some("-DNONE"));
    let expected = "Found 0 CUDA devices\nSummary: kernels run on 0 of 0\ndetect: false\n";
    assert!(text.is_empty() || text.contains(expected), "{text}");
}

#[test]
fn where_the_installed_driver_has_no_device_the_software_device_is_used() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    driver(folder.path(), "libcuda.so.1", Some("-DNONE"));
    let others = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let path = format!("{}:{others}", folder.path().display());
    let variables = [("CUDA_DRIVER_PATH", None), ("LD_LIBRARY_PATH", Some(path.as_str()))];
    let test = "choice::where_the_installed_driver_has_no_device_the_software_device_is_used";
    let text = in_own_process(test, &variables, || {
        assert!(is_simulated().expect("the software device works") && is_available());
    });
    let expected = "cuda: the driver has no device; kernels run on the software device. CUDA_DRIVER_PATH=sim silences this \
                    line, CUDA_DRIVER_PATH=libcuda.so.1 makes it an error.\n";
    assert!(text.is_empty() || text.contains(expected), "{text}");
}
