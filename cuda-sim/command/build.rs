//! Builds the shared library that an installed command contains.
//!
//! cargo installs programs, but no shared libraries. In release builds, which `cargo install` makes, the library is therefore
//! part of the program. The program of a debug build takes the library that lies beside it, so that nothing is built twice.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders with the library's sources.
const SOURCES: [&str; 6] =
    ["../src", "../build.rs", "../cdylib", "../../cuda-llvm", "../../cuda-sys", "../../cuda-jit/cache"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(embedded)");
    println!("cargo::rerun-if-changed=build.rs");
    if variable("PROFILE") != "release" {
        return;
    }
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    let folder = Path::new(&variable("OUT_DIR")).join("library");
    let target = variable("TARGET");
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["build", "--release", "--quiet", "--lib", "--manifest-path", "../cdylib/Cargo.toml", "--target"]);
    cargo.arg(&target).arg("--target-dir").arg(&folder);
    let status = cargo.status().expect("cargo runs this script, so that it can be started");
    assert!(status.success(), "the software device's library could not be built");
    let library: PathBuf = folder.join(target).join("release/libcuda_sim.so");
    println!("cargo::rustc-cfg=embedded");
    println!("cargo::rustc-env=CUDA_SIM_EMBEDDED={}", library.display());
}

/// A variable that cargo sets for build scripts.
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for a build script"))
}
