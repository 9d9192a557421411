//! `cuda-sim info`: the devices that a program would see.
//!
//! # Safety
//!
//! The one `unsafe` block loads the software device's library, which `library.rs` finds.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::Args;
use cuda_driver::{Device, Driver};
use cuda_sys::DriverApi;

use crate::{library, run};

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    device: run::Device,
}

/// Prints the library, the devices and the variables that are set.
///
/// # Errors
///
/// There is no library, or the library refuses a variable's value.
pub(crate) fn info(options: &Options) -> Result<()> {
    let given = options.device.variables();
    if !given.is_empty() {
        return again(given);
    }
    let library = library::folder()?.join(library::NAMES[0]);
    println!("library\n  {}", library.display());
    // SAFETY: The library is the software device, whose functions have the signatures of CUDA's headers: it is the one that
    // this program contains, or that was built beside it.
    let api = unsafe { DriverApi::load_from(&library) }?;
    let version = api.driver_version().unwrap_or_default();
    println!("driver\n  CUDA {}.{}", version / 1000, version % 1000 / 10);
    println!("devices");
    for device in Driver::new(Arc::new(api))?.devices()? {
        println!("  {}", line(&device)?);
    }
    println!("variables");
    variables().iter().for_each(|line| println!("  {line}"));
    Ok(())
}

/// The variables of the software device that are set, a line each.
fn variables() -> Vec<String> {
    let of_device = |(name, _): &(OsString, OsString)| name.to_string_lossy().starts_with("CUDA_SIM_");
    let set = std::env::vars_os().filter(of_device);
    let mut lines: Vec<_> = set.map(|(name, value)| format!("{}={}", name.display(), value.display())).collect();
    lines.sort();
    if lines.is_empty() { vec!["none is set".to_owned()] } else { lines }
}

/// Starts the command again with the options as variables, which the library reads.
fn again(variables: Vec<(&'static str, OsString)>) -> Result<()> {
    let program = std::env::current_exe().context("the system does not tell the program's file")?;
    Err(Command::new(program).arg("info").envs(variables).exec()).context("the command cannot be started again")
}

/// The properties of a device.
fn line(device: &Device) -> cuda_driver::Result<String> {
    let (major, minor) = device.compute_capability()?;
    let limits = device.limits()?;
    Ok(format!(
        "{}: {}, compute capability {major}.{minor}, {} MiB, {} multiprocessors, at most {} threads in a block",
        device.ordinal(),
        device.name()?,
        device.total_memory()? >> 20,
        limits.multiprocessors,
        limits.max_threads_per_block
    ))
}
