//! The version of the CUDA runtime, with fake libraries: each case runs in its own process, since an opened library
//! stays open.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that marks the processes that the tests start.
const CHILD: &str = "CUDA_DRIVER_RUNTIME_CHILD";

/// A folder with a runtime library of this name, which returns this version.
fn library(case: &str, name: &str, answer: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("runtime-{case}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let source = folder.join("runtime.c");
    std::fs::write(&source, format!("int cudaRuntimeGetVersion(int *version) {{ {answer} }}\n")).expect("a file");
    let (file, soname) = (folder.join(name), format!("-Wl,-soname,{name}"));
    let status = Command::new("cc").args(["-shared", "-fPIC", &soname, "-o"]).arg(file).arg(source).status();
    assert!(status.expect("a C compiler").success());
    folder
}

/// The output of the process below, with this folder first in the loader's search path.
fn told(folder: &Path) -> String {
    let mut child = Command::new(std::env::current_exe().expect("this test"));
    child.args(["--exact", "what_a_program_is_told", "--nocapture"]).env(CHILD, "1").env("LD_LIBRARY_PATH", folder);
    let output = child.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("told: ")).expect("a line").to_owned()
}

#[test]
fn what_a_program_is_told() {
    if std::env::var_os(CHILD).is_some() {
        let version = cuda_driver::runtime::version().map_err(|error| error.to_string());
        println!("\ntold: {version:?}, supported: {}", cuda_driver::runtime::is_supported_version());
    }
}

#[test]
fn the_version_is_that_of_the_library() {
    let folder = library("13", "libcudart.so.13", "*version = 13020; return 0;");
    assert_eq!(told(&folder), "Ok((13, 2)), supported: true");
    let folder = library("14", "libcudart.so.13", "*version = 14010; return 0;");
    assert_eq!(told(&folder), "Ok((14, 1)), supported: false");
}

#[test]
fn a_library_without_a_version_is_an_error() {
    let folder = library("none", "libcudart.so.13", "return 1;");
    assert_eq!(
        told(&folder),
        "Err(\"the CUDA runtime library does not report its version; it may be damaged\"), supported: false"
    );
}

/// NVIDIA's own, where `cargo xtask setup --all` has laid them out.
#[test]
fn the_libraries_of_cuda_12_and_13_tell_theirs() {
    for (name, version) in [("cuda12", "12, 9"), ("cuda13", "13, 0")] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/compilers").join(name).join("lib64");
        if !folder.is_dir() {
            println!("skipped: {name} (`cargo xtask setup --all` downloads it)");
            continue;
        }
        assert_eq!(told(&folder), format!("Ok(({version})), supported: true"));
    }
}
