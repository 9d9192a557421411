//! `doctor`: lists the software and devices of this machine that the project can use, with every place that was searched.
//!
//! It changes nothing. A missing optional part is not a failure. The exit code says whether kernels can run: they need an LLVM
//! that compiles them, and a driver with a device or the software device.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use cuda_driver::{Device, Driver};
use cuda_sys::nccl::NcclApi;
use cuda_sys::toolkit::{Environment, NOT_SEARCHED, Tried};
use cuda_sys::{CUdevice_attribute, DriverApi};

use crate::{cache, setup, workspace};

#[derive(Args)]
pub(crate) struct Options {}

pub(crate) fn run(_: &Options) -> Result<()> {
    let chosen = std::env::var_os("CUDA_DRIVER_PATH").filter(|path| !path.is_empty()).map(PathBuf::from);
    let found = driver(chosen.as_deref());
    println!("driver");
    found.lines.iter().for_each(|line| println!("  {line}"));
    println!("software device\n  built in: used where no driver has a device, or with CUDA_DRIVER_PATH=sim");
    simulated_by().iter().for_each(|line| println!("  {line}"));
    println!("rust\n  {}", rust()?);
    let llvm = llvm();
    println!("LLVM\n  {}", llvm.as_ref().map_or_else(|error| format!("{error:#}"), |path| path.display().to_string()));
    println!("compiled kernels\n  {}", cache::summary());
    let environment = Environment::from_process();
    println!("libraries (optional; those of cuda-sys' features)");
    libraries(&environment);
    println!("several processes (optional: cuda-nccl)");
    mpi().iter().for_each(|line| println!("  {line}"));
    println!("toolkit (optional: bindings, libdevice, checks)");
    places("cuda.h", &environment.tried_headers());
    places("libdevice.10.bc", &environment.tried_libdevice());
    for tool in ["ptxas", "nvcc", "nvdisasm"] {
        places(tool, &environment.tried_tool(tool));
    }
    for folder in NOT_SEARCHED.iter().filter(|folder| Path::new(folder).join("include/cuda.h").is_file()) {
        println!("not searched\n  {folder} has a toolkit; CUDA_HOME={folder} chooses it");
    }
    match setup::installed() {
        Some(toolkit) => println!("development toolkit\n  {}", toolkit.root().display()),
        None => println!("development toolkit\n  none; `cargo xtask setup` downloads one"),
    }
    println!("kernels\n  {}", verdict(chosen.as_deref(), &found, llvm)?);
    Ok(())
}

/// The device that kernels run on, or the reason why they cannot run.
fn verdict(chosen: Option<&Path>, found: &Found, llvm: Result<PathBuf>) -> Result<String> {
    llvm.context("kernels cannot be compiled")?;
    let old = found.devices - found.usable;
    match (chosen, found.usable) {
        (Some(path), _) if path == Path::new("sim") => Ok("run on the software device, which was asked for".to_owned()),
        (_, 0) if old > 0 => bail!(
            "kernels cannot run: they need compute capability {}.{}, which no device here has; CUDA_DRIVER_PATH=sim takes the \
             software device",
            MIN_COMPUTE_CAPABILITY.0,
            MIN_COMPUTE_CAPABILITY.1
        ),
        (Some(path), 0) => bail!(
            "kernels cannot run: CUDA_DRIVER_PATH={} has no device; unset it, or set it to `sim` for the software device",
            path.display()
        ),
        (None, 0) => Ok("run on the software device".to_owned()),
        (_, 1) => Ok("run on the driver's device".to_owned()),
        (_, count) => Ok(format!("run on the driver's {count} devices")),
    }
}

/// The lowest compute capability that kernels are compiled for.
const MIN_COMPUTE_CAPABILITY: (u32, u32) = (5, 0);

/// The report on the driver that a program would open first, and the number of its devices.
#[derive(Default)]
struct Found {
    lines: Vec<String>,
    devices: usize,
    /// The number of devices that kernels can run on.
    usable: usize,
}

/// The variables for the software device that are set.
fn simulated_by() -> Vec<String> {
    let mut set: Vec<String> = std::env::vars_os()
        .filter(|(name, _)| name.to_string_lossy().starts_with("CUDA_SIM_"))
        .map(|(name, value)| format!("{}={}", name.display(), value.display()))
        .collect();
    set.sort();
    set
}

fn driver(chosen: Option<&Path>) -> Found {
    driver_of(chosen, || DriverApi::from_environment().map_err(|error| error.to_string()))
}

/// The report on the driver; `named` opens the library that the environment names.
fn driver_of(chosen: Option<&Path>, named: impl FnOnce() -> Result<Option<DriverApi>, String>) -> Found {
    let mut lines: Vec<_> = chosen.iter().map(|path| format!("CUDA_DRIVER_PATH={}", path.display())).collect();
    let named = match chosen {
        Some(path) if path == Path::new("sim") => Ok(None),
        _ => named(),
    };
    let load = || DriverApi::load().map_err(|error| error.to_string());
    let api = match named.and_then(|api| api.map_or_else(load, Ok)) {
        Ok(api) => api,
        Err(error) => {
            lines.push(error);
            return Found { lines, ..Found::default() };
        }
    };
    lines.push(match api.driver_version() {
        Some(version) => format!("{}: CUDA {}.{}", api.origin(), version / 1000, version % 1000 / 10),
        None => format!("{}: found, but reports no CUDA version", api.origin()),
    });
    match Driver::new(Arc::new(api)).and_then(|driver| driver.devices()) {
        Ok(devices) => {
            lines.push(format!("devices: {}", devices.len()));
            lines.extend(devices.iter().flat_map(device));
            let usable = |device: &&Device| {
                device.compute_capability().is_ok_and(|capability| capability >= MIN_COMPUTE_CAPABILITY)
            };
            Found { devices: devices.len(), usable: devices.iter().filter(usable).count(), lines }
        }
        Err(error) => {
            lines.push(error.to_string());
            Found { lines, ..Found::default() }
        }
    }
}

/// Describes a device in a few lines, with the error for each property that it does not report.
fn device(device: &Device) -> Vec<String> {
    let or_error = |value: cuda_driver::Result<String>| value.unwrap_or_else(|error| error.to_string());
    let attribute = |attribute| device.attribute(attribute);
    let name = or_error(device.name());
    let capability = or_error(device.compute_capability().map(|(major, minor)| format!("{major}.{minor}")));
    let memory = or_error(device.total_memory().map(|bytes| format!("{} MiB", bytes >> 20)));
    let multiprocessors = or_error(
        attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).map(|count| count.to_string()),
    );
    let pci = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID).and_then(|domain| {
        let bus = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?;
        let slot = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?;
        Ok(format!("{domain:04x}:{bus:02x}:{slot:02x}.0"))
    });
    let yes =
        |value: cuda_driver::Result<i32>| or_error(value.map(|value| if value == 0 { "no" } else { "yes" }.to_owned()));
    let watchdog = yes(attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT));
    let pools = yes(attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED));
    let ratio = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
    vec![
        format!("device {}: {name}, compute capability {capability}", device.ordinal()),
        format!(
            "  memory {memory}, multiprocessors {multiprocessors}, f32 to f64 speed {}",
            or_error(ratio.map(|r| r.to_string()))
        ),
        format!("  PCI {}, UUID {}", or_error(pci), or_error(device.uuid().map(|uuid| uuid.to_string()))),
        format!("  watchdog for long kernels {watchdog}, memory pools {pools}"),
    ]
}

/// Prints the libraries of cuda-sys' features: the loader's first, then the toolkit's, which is the order of loading their tables.
fn libraries(environment: &Environment) {
    let of_toolkit = [
        ("CUDA runtime", ["libcudart.so.13", "libcudart.so.12"]),
        ("NVRTC", ["libnvrtc.so.13", "libnvrtc.so.12"]),
        ("nvJitLink", ["libnvJitLink.so.13", "libnvJitLink.so.12"]),
    ];
    for (what, names) in of_toolkit {
        println!("  {what}");
        for name in names {
            println!("    loader: {}", in_loader(name));
            environment.tried_library(name).iter().for_each(|place| println!("    {place}"));
        }
    }
    if let Ok((major, minor)) = cuda_driver::runtime::version() {
        println!("  CUDA runtime that programs find\n    version {major}.{minor}");
    }
    println!("  NVML\n    loader: {}", in_loader("libnvidia-ml.so.1"));
    println!("  NCCL");
    nccl(environment).iter().for_each(|line| println!("    {line}"));
}

/// The report on NCCL: the library that the variable names, else the loader's and the toolkit's.
fn nccl(environment: &Environment) -> Vec<String> {
    let named = std::env::var_os("CUDA_NCCL_PATH").filter(|path| !path.is_empty());
    let mut lines: Vec<_> = named.iter().map(|path| format!("CUDA_NCCL_PATH={}", path.display())).collect();
    if named.is_some_and(|path| path == "sim") {
        lines.push("the library of the software device, beside it or beside the program".to_owned());
        return lines;
    }
    if lines.is_empty() {
        lines.push(format!("loader: {}", in_loader("libnccl.so.2")));
        lines.extend(environment.tried_library("libnccl.so.2").iter().map(ToString::to_string));
    }
    let opened = NcclApi::from_environment().and_then(|named| named.map_or_else(NcclApi::load, Ok));
    if let Ok(api) = opened {
        let version = api.version().map(|code| format!("{}.{}.{}", code / 10_000, code % 10_000 / 100, code % 100));
        lines.push(format!("{}: NCCL {}", api.origin(), version.as_deref().unwrap_or("of an unknown version")));
    }
    lines
}

/// The report on MPI: its compiler and its launcher, with their versions.
fn mpi() -> Vec<String> {
    let line = |tool: &str| match workspace::output(Command::new(tool).arg("--version")) {
        Ok(text) => format!("{tool}: {}", version_line(&text)),
        Err(_) => format!("{tool}: none (Debian: `apt install libopenmpi-dev openmpi-bin`)"),
    };
    ["mpicc", "mpirun"].map(line).into()
}

/// The line of a tool's output that names its version: MPICH's launcher prints a heading before it.
fn version_line(text: &str) -> &str {
    let has_number = |line: &&str| line.contains(|c: char| c.is_ascii_digit());
    text.lines().map(str::trim).find(has_number).unwrap_or("of an unknown version")
}

fn in_loader(name: &str) -> String {
    cuda_sys::loader_finds(name).map_or_else(|error| error.to_string(), |()| format!("found {name}"))
}

fn places(what: &str, tried: &[Tried]) {
    println!("  {what}");
    for place in tried {
        println!("    {place}");
    }
}

/// The versions of the Rust toolchain and its LLVM.
fn rust() -> Result<String> {
    let verbose = workspace::output(Command::new("rustc").arg("-vV"))?;
    let value = |key: &str| verbose.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("?").trim().to_owned();
    Ok(format!("{}, LLVM {}", value("release:"), value("LLVM version:")))
}

/// The LLVM that compiles kernels: the installed one that the variable names, or that of the Rust toolchain.
pub(crate) fn llvm() -> Result<PathBuf> {
    if let Some(prefix) = std::env::var_os("LLVM_SYS_221_PREFIX").filter(|prefix| !prefix.is_empty()) {
        return Ok(PathBuf::from(prefix));
    }
    let sysroot = workspace::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let lib = Path::new(sysroot.trim()).join("lib");
    llvm_library(&lib).with_context(|| {
        format!("no shared LLVM in {}: install LLVM 22 and set LLVM_SYS_221_PREFIX to its prefix", lib.display())
    })
}

/// The shared LLVM in a toolchain's `lib`; its name contains the versions of both.
fn llvm_library(lib: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(lib).ok()?.flatten().map(|entry| entry.path());
    let mut libraries: Vec<_> = entries.filter(|path| path.to_string_lossy().contains("/libLLVM")).collect();
    libraries.sort();
    libraries.pop()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(chosen: Option<&str>, devices: usize) -> Result<String> {
        let found = Found { devices, usable: devices, ..Found::default() };
        verdict(chosen.map(Path::new), &found, Ok(PathBuf::from("/lib/libLLVM.so")))
    }

    #[test]
    fn kernels_run_if_there_is_a_device_or_none_is_required() {
        assert_eq!(of(None, 0).unwrap(), "run on the software device");
        assert_eq!(of(Some("sim"), 0).unwrap(), "run on the software device, which was asked for");
        assert_eq!(of(None, 2).unwrap(), "run on the driver's 2 devices");
        let error = of(Some("/nowhere/libcuda.so"), 0).unwrap_err().to_string();
        assert!(error.contains("/nowhere/libcuda.so") && error.contains("unset it"), "{error}");
    }

    #[test]
    fn kernels_do_not_run_without_an_llvm() {
        let found = Found { devices: 1, usable: 1, ..Found::default() };
        let error = verdict(None, &found, Err(anyhow::anyhow!("no shared LLVM"))).unwrap_err();
        assert_eq!(format!("{error:#}"), "kernels cannot be compiled: no shared LLVM");
    }

    #[test]
    fn the_version_of_an_mpi_is_found_in_its_output() {
        assert_eq!(version_line("mpirun (Open MPI) 4.1.4\n\nReport bugs to ..\n"), "mpirun (Open MPI) 4.1.4");
        assert_eq!(version_line("HYDRA build details:\n    Version:    4.2.0\n"), "Version:    4.2.0");
        assert_eq!(version_line("nothing\n"), "of an unknown version");
        assert_eq!(mpi().len(), 2);
    }

    #[test]
    fn a_missing_nccl_is_reported_with_the_places() {
        let lines = nccl(&Environment::only("/nowhere"));
        if std::env::var_os("CUDA_NCCL_PATH").is_none() {
            assert!(lines.iter().any(|line| line.contains("/nowhere/lib64/libnccl.so.2")), "{lines:?}");
        }
    }

    #[test]
    fn a_missing_driver_is_reported_with_its_path() {
        let missing = || Err("`/nowhere/libcuda.so`: No such file or directory".to_owned());
        let found = driver_of(Some(Path::new("/nowhere/libcuda.so")), missing);
        assert_eq!(found.devices, 0);
        assert!(found.lines[1].contains("/nowhere/libcuda.so"), "{:?}", found.lines);
    }
}
