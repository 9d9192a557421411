//! `doctor`: what this machine has of what the project can use, and where each thing was looked for. It changes nothing,
//! and a thing that is not there is not a failure.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Args;
use cuda_sys::DriverApi;
use cuda_sys::toolkit::{Environment, Tried};

use crate::{cache, setup, workspace};

#[derive(Args)]
pub(crate) struct Options {}

pub(crate) fn run(_: &Options) -> Result<()> {
    println!("driver");
    for line in driver() {
        println!("  {line}");
    }
    println!("software device\n  built in: used where no driver has a device, or with CUDA_DRIVER_PATH=sim");
    println!("rust\n  {}", rust()?);
    println!("compiled kernels\n  {}", cache::summary());
    let environment = Environment::from_process();
    println!("toolkit (optional: bindings, libdevice, checks)");
    places("cuda.h", &environment.tried_headers());
    places("libdevice.10.bc", &environment.tried_libdevice());
    for tool in ["ptxas", "nvcc", "nvdisasm"] {
        places(tool, &environment.tried_tool(tool));
    }
    match setup::installed() {
        Some(toolkit) => println!("development toolkit\n  {}", toolkit.root().display()),
        None => println!("development toolkit\n  none; `cargo xtask setup` downloads one"),
    }
    Ok(())
}

fn places(what: &str, tried: &[Tried]) {
    println!("  {what}");
    for place in tried {
        println!("    {place}");
    }
}

/// The driver library that a program would open first.
fn driver() -> Vec<String> {
    let chosen = std::env::var_os("CUDA_DRIVER_PATH").filter(|path| !path.is_empty());
    let mut lines = Vec::new();
    if let Some(path) = &chosen {
        lines.push(format!("CUDA_DRIVER_PATH={}", Path::new(path).display()));
    }
    let loaded = match chosen {
        Some(path) if path != "sim" => DriverApi::load_from(path),
        _ => DriverApi::load(),
    };
    lines.push(match loaded {
        Ok(api) => match api.driver_version() {
            Some(version) => format!("{}: CUDA {}.{}", api.origin(), version / 1000, version % 1000 / 10),
            None => format!("{}: found, but does not tell its CUDA version", api.origin()),
        },
        Err(error) => error.to_string(),
    });
    lines
}

/// The Rust toolchain and the LLVM that it carries, which compiles kernels.
fn rust() -> Result<String> {
    let verbose = workspace::output(Command::new("rustc").arg("-vV"))?;
    let value = |key: &str| verbose.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("?").trim().to_owned();
    let library = llvm().map_or_else(|error| error.to_string(), |library| library.display().to_string());
    Ok(format!("{}, LLVM {}, {library}", value("release:"), value("LLVM version:")))
}

/// The shared LLVM of the Rust toolchain.
pub(crate) fn llvm() -> Result<PathBuf> {
    let sysroot = workspace::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let lib = Path::new(sysroot.trim()).join("lib");
    llvm_library(&lib).with_context(|| {
        format!("no shared LLVM in {}: install LLVM 22 and set LLVM_SYS_221_PREFIX to its prefix", lib.display())
    })
}

/// The shared LLVM in a toolchain's `lib`; its name carries the versions of both.
fn llvm_library(lib: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(lib).ok()?.flatten().map(|entry| entry.path());
    let mut libraries: Vec<_> = entries.filter(|path| path.to_string_lossy().contains("/libLLVM")).collect();
    libraries.sort();
    libraries.pop()
}
