//! Other targets than this machine's, from Debian's suite sid, whose Rust has their standard libraries or its source: AArch64, whose
//! tests QEMU runs, and Windows, for which the crates are only checked.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::system::{CreatedSystem, System, WORKSPACE};
use crate::workspace;

/// Cross compilers for AArch64, with the libraries that its programs load and QEMU, and for Windows, with the source of Rust's standard
/// library.
const CROSS: System = System {
    name: "cross",
    suite: "sid",
    foreign: Some("arm64"),
    packages: &[
        "rustc",
        "cargo",
        "rust-src",
        "libstd-rust-dev:arm64",
        "gcc-aarch64-linux-gnu",
        "libc6-dev-arm64-cross",
        "libllvm22:arm64",
        "qemu-user",
        "gcc-mingw-w64-x86-64-win32",
    ],
};

const AARCH64: &str = "aarch64-unknown-linux-gnu";
const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// The manifest of the standard library's source, to which a link below the sysroot leads.
const LIBRARY: &str = "/usr/lib/rustlib/src/rust/library/Cargo.toml";

/// The tests that QEMU runs: arguments of `cargo test`. Those of KIR files hold the PTX against the text that x86-64 gives.
const TESTS: &[&[&str]] =
    &[&["--package", "cuda-jit", "--test", "all", "--", "kir_files"], &["--package", "cuda-sim", "--lib"]];

/// The packages that a program with a bundle needs, with the features that it takes.
const BUNDLE: &[&str] = &[
    "--package",
    "cuda-sys",
    "--package",
    "cuda-driver",
    "--package",
    "cuda-mem",
    "--package",
    "cuda-jit",
    "--package",
    "cuda-prelude",
    "--no-default-features",
    "--features",
    "cuda-jit/bundle,cuda-prelude/bundle",
];

pub(super) fn aarch64() -> Result<()> {
    let system = CROSS.create()?;
    fetch(AARCH64)?;
    let check = ["check", "--workspace", "--all-targets", "--target", AARCH64];
    cargo(&system, &check).context("the workspace does not build for AArch64")?;
    println!("containers  AArch64: the workspace, all targets");
    for tests in TESTS {
        cargo(&system, &[&["test", "--target", AARCH64], *tests].concat())
            .context("tests fail on AArch64 under QEMU")?;
        println!("containers  AArch64, under QEMU: {}", tests.join(" "));
    }
    Ok(())
}

pub(super) fn windows() -> Result<()> {
    let system = CROSS.create()?;
    fetch(WINDOWS)?;
    // Those of the standard library, whose manifest has settings that are not stable yet.
    let library = system.inside(LIBRARY);
    ensure!(library.is_file(), "the source of the standard library is not at {}", library.display());
    let mut fetch = workspace::cargo();
    fetch.args(["fetch", "--quiet", "--locked", "--manifest-path"]).arg(library).env("RUSTC_BOOTSTRAP", "1");
    workspace::run(&mut fetch)?;
    cargo(&system, &[&["check", "-Zbuild-std", "--target", WINDOWS], BUNDLE].concat())
        .context("the crates do not build for Windows")?;
    println!("containers  Windows: cuda-sys, cuda-driver, cuda-mem, and cuda-jit and cuda-prelude with a bundle");
    Ok(())
}

/// Downloads the crates that a target needs, since commands in a system have no network.
fn fetch(target: &str) -> Result<()> {
    workspace::run(workspace::cargo().args(["fetch", "--quiet", "--locked", "--target", target]))
}

/// Runs cargo in the workspace.
fn cargo(system: &CreatedSystem, arguments: &[&str]) -> Result<()> {
    let mut cargo = system.cargo(None, WORKSPACE, arguments)?;
    settings(&mut cargo);
    workspace::run(&mut cargo)
}

/// The settings of cross compilation.
fn settings(cargo: &mut Command) {
    for (name, value) in [
        ("CARGO_TARGET_DIR", "/target"),
        ("CARGO_TERM_QUIET", "true"),
        ("CARGO_PROFILE_DEV_DEBUG", "false"),
        ("CARGO_PROFILE_TEST_DEBUG", "false"),
        ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc"),
        ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64 -cpu max"),
        ("CC_aarch64_unknown_linux_gnu", "aarch64-linux-gnu-gcc"),
        ("CUDA_LLVM_PATH", "/usr/lib/aarch64-linux-gnu/libLLVM.so.22.1"),
        // `-Zbuild-std` of a stable cargo.
        ("RUSTC_BOOTSTRAP", "1"),
    ] {
        cargo.env(name, value);
    }
}
