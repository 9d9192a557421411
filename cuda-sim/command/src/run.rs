//! `cuda-sim run`: starts a program that finds the software device wherever it looks for NVIDIA's driver.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Args;

use crate::library;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) device: Device,
    /// The checkers to turn on, separated by commas: memory, race, init, sync, leak, or all
    #[arg(long, value_name = "CHECKERS")]
    check: Option<String>,
    /// The effect of the checkers' reports: report, error for the launch's failure, or the program's exit code
    #[arg(long, value_name = "EFFECT", requires = "check")]
    check_result: Option<String>,
    /// The file for the checkers' reports, as JSON
    #[arg(long, value_name = "FILE", requires = "check")]
    report: Option<PathBuf>,
    /// The file that hides some of the checkers' reports
    #[arg(long, value_name = "FILE", requires = "check")]
    suppressions: Option<PathBuf>,
    /// The file for the timeline, for Perfetto
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Messages on standard error: off, error, warn, info or debug
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// The properties of the software devices, each of which is also an environment variable.
#[derive(Args)]
pub(crate) struct Device {
    /// The number of devices, from 1 to 16
    #[arg(long, value_name = "N")]
    devices: Option<u32>,
    /// The card whose limits the devices have: sm_75, sm_80, sm_90 or sm_120
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Bytes of memory of each device
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,
    /// The number of CPU threads that run blocks
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    /// The way threads run: regions, or fibers, which is slow and exact
    #[arg(long, value_name = "NAME")]
    engine: Option<String>,
    /// The seed of a random order of the threads
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl Device {
    /// The environment variables of the options that are given. The library checks the values.
    pub(crate) fn variables(&self) -> Vec<(&'static str, OsString)> {
        let text = |value: &Option<String>| value.as_ref().map(OsString::from);
        let number = |value: Option<u64>| value.map(|value| value.to_string().into());
        given([
            ("CUDA_SIM_DEVICES", number(self.devices.map(u64::from))),
            ("CUDA_SIM_PROFILE", text(&self.profile)),
            ("CUDA_SIM_MEMORY", number(self.memory)),
            ("CUDA_SIM_THREADS", number(self.threads.map(u64::from))),
            ("CUDA_SIM_ENGINE", text(&self.engine)),
            ("CUDA_SIM_SEED", number(self.seed)),
        ])
    }
}

/// The variables that have a value.
fn given<const N: usize>(variables: [(&'static str, Option<OsString>); N]) -> Vec<(&'static str, OsString)> {
    variables.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Replaces this process by the program.
///
/// # Errors
///
/// There is no library, or the program cannot be started.
pub(crate) fn run(options: &Options) -> Result<()> {
    let [program, arguments @ ..] = options.program.as_slice() else { unreachable!("clap requires a program") };
    let mut command = Command::new(program);
    command.args(arguments).envs(options.device.variables()).envs(given([
        ("CUDA_SIM_CHECK", options.check.as_ref().map(OsString::from)),
        ("CUDA_SIM_CHECK_RESULT", options.check_result.as_ref().map(OsString::from)),
        ("CUDA_SIM_REPORT", options.report.as_ref().map(OsString::from)),
        ("CUDA_SIM_SUPPRESSIONS", options.suppressions.as_ref().map(OsString::from)),
        ("CUDA_SIM_TRACE", options.trace.as_ref().map(OsString::from)),
        ("CUDA_SIM_LOG", options.log.as_ref().map(OsString::from)),
    ]));
    let searched = std::env::var_os("LD_LIBRARY_PATH");
    command.envs(found_by(&library::folder()?, searched.as_deref())?);
    Err(command.exec()).with_context(|| format!("`{}` cannot be started", program.display()))
}

/// The variables by which programs find a driver in a folder: the loader's, and those of libraries that look elsewhere first.
fn found_by(folder: &Path, searched: Option<&OsStr>) -> Result<[(&'static str, OsString); 3]> {
    let rest = searched.filter(|paths| !paths.is_empty()).into_iter().flat_map(std::env::split_paths);
    let paths = std::env::join_paths([folder.to_path_buf()].into_iter().chain(rest));
    let paths = paths.with_context(|| format!("{} cannot stand in LD_LIBRARY_PATH", folder.display()))?;
    let library: OsString = folder.join(library::NAMES[0]).into();
    // Numba's name for the driver's file, and ours
    Ok([("LD_LIBRARY_PATH", paths), ("NUMBA_CUDA_DRIVER", library.clone()), ("CUDA_DRIVER_PATH", library)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_comes_first_in_the_loaders_path() {
        let path = |searched: Option<&str>| {
            let [(_, path), ..] = found_by(Path::new("/sim"), searched.map(OsStr::new)).unwrap();
            path
        };
        assert_eq!(path(None), "/sim");
        assert_eq!(path(Some("")), "/sim");
        assert_eq!(path(Some("/a:/b")), "/sim:/a:/b");
        assert!(found_by(Path::new("/with:colon"), None).is_err());
    }
}
