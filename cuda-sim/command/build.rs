//! Builds the shared libraries that an installed command contains: the driver's and NCCL's.
//!
//! cargo installs programs, but no shared libraries. In release builds, which `cargo install` makes, they are therefore part
//! of the program. The program of a debug build takes the libraries that lie beside it, so that nothing is built twice.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders with the libraries' sources.
const SOURCES: [&str; 7] =
    ["../src", "../build.rs", "../cdylib", "../nccl", "../../cuda-llvm", "../../cuda-sys", "../../cuda-jit/cache"];

fn main() {
    println!("cargo::rustc-check-cfg=cfg(embedded)");
    println!("cargo::rerun-if-changed=build.rs");
    if variable("PROFILE") != "release" {
        return;
    }
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    println!("cargo::rustc-cfg=embedded");
    println!("cargo::rustc-env=CUDA_SIM_EMBEDDED={}", built("../cdylib/Cargo.toml", "libcuda_sim.so").display());
    println!("cargo::rustc-env=CUDA_NCCL_SIM_EMBEDDED={}", built("../nccl/Cargo.toml", "libnccl_sim.so").display());
}

/// Builds the library of a package, and returns its file.
fn built(manifest: &str, file: &str) -> PathBuf {
    let folder = Path::new(&variable("OUT_DIR")).join("library");
    let target = variable("TARGET");
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["build", "--release", "--quiet", "--lib", "--manifest-path", manifest, "--target"]);
    cargo.arg(&target).arg("--target-dir").arg(&folder);
    let status = cargo.status().expect("cargo runs this script, so that it can be started");
    assert!(status.success(), "{file} could not be built");
    folder.join(target).join("release").join(file)
}

/// A variable that cargo sets for build scripts.
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for a build script"))
}
