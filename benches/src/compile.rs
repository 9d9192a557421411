//! Time from the captured Rust to PTX for sm_90 for the ten kernels, compared with Numba and NVRTC in the same run.
//!
//! - `compile.KERNEL.first_ms`: the first compilation of a process, which includes loading LLVM's pages;
//! - `compile.KERNEL.warm_ms`: each further compilation, from the kernel's type to the text, without a cache;
//! - `compile.KERNEL.numba_ms`: numba-cuda's `compile_ptx` in a process that has compiled before, from a Python function
//!   and its argument types to PTX, its device functions included; `.vs_numba`: that divided by `warm_ms`;
//! - `compile.KERNEL.nvrtc_ms`: NVRTC in the same way, from a text without headers; `.vs_nvrtc`;
//! - `compile.vector_add.process_ms`: the whole process that compiles one kernel;
//! - `compile.vector_add.cached_ms`: in a fresh process, from the call of a launch until the driver has the PTX from the disk
//!   cache; `.cached_process_ms`: that whole process.
//!
//! The compilers take turns; each turn returns the fastest of [`RUNS`] compilations, and the figure is the median of the turns. A
//! missing peer is reported on standard error, and its ratios are left out.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use cuda_driver::Driver;
use cuda_jit::Kernel as _;
use cuda_jit::cache::Stats;

use crate::Tools;
use crate::figures::{median, print_measured};
use crate::kernels::vector_add;
use crate::null_driver;
use crate::serve::Server;
use crate::suite::{ALL, peers};

/// Processes for each figure of a first compilation.
const PROCESSES: usize = 11;
/// The number of turns of each compiler.
const ROUNDS: usize = 7;
/// Compilations in a turn.
const RUNS: usize = 8;
/// The option that names the folder of Numba's wheels.
const WHEELS: &str = "numba-cuda";

pub(crate) fn run(tools: &Tools) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut cached = Command::new(std::env::current_exe()?);
    cached.arg("compile-cached").env("CUDA_JIT_CACHE_DIR", folder.path());
    ensure!(!cached.output()?.status.success(), "the first process found a kernel in an empty cache");
    let (cached, whole) = processes(&mut cached)?;
    print_measured("compile.vector_add.cached_ms", cached, "ms");
    print_measured("compile.vector_add.cached_process_ms", whole, "ms");
    for kernel in ALL {
        let mut process = Command::new(std::env::current_exe()?);
        let (first, whole) = processes(process.arg("compile-once").env(KERNEL, kernel.name))?;
        print_measured(&format!("compile.{}.first_ms", kernel.name), first, "ms");
        if kernel.name == "vector_add" {
            print_measured("compile.vector_add.process_ms", whole, "ms");
        }
    }
    warm(tools)
}

/// The processes of the peers, with their names in figures.
fn peers(tools: &Tools) -> Result<Vec<(&'static str, Server)>> {
    let Some(wheels) = tools.get(WHEELS) else {
        eprintln!("without Numba and NVRTC: `cargo xtask bench compile` downloads them and says where with --{WHEELS}");
        return Ok(Vec::new());
    };
    let mut nvrtc = Command::new(std::env::current_exe()?);
    nvrtc.args(["compile-nvrtc", "--numba-cuda"]).arg(wheels);
    Ok(vec![("numba", peers::numba(wheels)?), ("nvrtc", Server::of(&mut nvrtc)?)])
}

/// Measures repeated compilations of each kernel by all compilers in turn.
fn warm(tools: &Tools) -> Result<()> {
    let mut ours = Server::start("compile-ours", &[])?;
    let mut peers = peers(tools)?;
    for kernel in ALL {
        let ask = |server: &mut Server| server.ask(kernel.name, RUNS);
        // The first turn is a warm-up.
        ask(&mut ours)?;
        peers.retain_mut(|(name, server)| match ask(server) {
            Ok(_) => true,
            Err(error) => {
                eprintln!("without {name}: {error:#}");
                false
            }
        });
        let mut times = vec![Vec::new(); 1 + peers.len()];
        for _ in 0..ROUNDS {
            times[0].push(ask(&mut ours)?);
            for ((_, server), times) in peers.iter_mut().zip(&mut times[1..]) {
                times.push(ask(server)?);
            }
        }
        let times: Vec<f64> = times.into_iter().map(|times| median(times) * 1e3).collect();
        let print =
            |figure: &str, value, unit| print_measured(&format!("compile.{}.{figure}", kernel.name), value, unit);
        print("warm_ms", times[0], "ms");
        for ((name, _), time) in peers.iter().zip(&times[1..]) {
            print(&format!("{name}_ms"), *time, "ms");
            print(&format!("vs_{name}"), time / times[0], "ratio");
        }
    }
    Ok(())
}

/// Runs the process that compiles with NVRTC.
pub(crate) fn serve_nvrtc(tools: &Tools) -> Result<()> {
    let wheels: &PathBuf = tools.get(WHEELS).with_context(|| format!("--{WHEELS} says where NVRTC is"))?;
    peers::serve_nvrtc(wheels)
}

/// Runs processes that print a time in milliseconds; returns the medians of the printed times and of the processes' times.
fn processes(command: &mut Command) -> Result<(f64, f64)> {
    let (mut printed, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..PROCESSES {
        let start = Instant::now();
        let output = command.output()?;
        whole.push(start.elapsed().as_secs_f64() * 1e3);
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout)?;
        printed.push(text.trim().parse().with_context(|| format!("`{text}` is no time"))?);
    }
    Ok((median(printed), median(whole)))
}

/// Launches a kernel that another process has compiled, and prints the time to its PTX in milliseconds. Fails if the kernel was
/// compiled, after which it is in the cache for the next process.
pub(crate) fn cached() -> Result<()> {
    let context = Driver::new(null_driver::api())?.device(0)?.primary_context()?;
    let mut arrays = [(); 3].map(|()| cuda_mem::from_slice(&context, &[1.0_f32; 32]));
    let [Ok(x), Ok(y), Ok(out)] = &mut arrays else { bail!("the null driver refuses memory") };
    let start = Instant::now();
    vector_add::launch((1, 32), &*x, &*y, out)?;
    let loaded = null_driver::loaded().context("no module was loaded")?;
    let stats = vector_add::<f32>::stats();
    ensure!(stats == Stats { hits: 1, misses: 0 }, "the kernel was compiled: {stats:?}");
    ensure!(!cuda_llvm::is_initialized(), "LLVM was initialised for a kernel from the cache");
    println!("{}", (loaded - start).as_secs_f64() * 1e3);
    Ok(())
}

/// The variable that names the kernel that [`once`] compiles.
const KERNEL: &str = "CUDA_BENCH_KERNEL";

/// Compiles a kernel once and prints the time in milliseconds.
pub(crate) fn once() -> Result<()> {
    let kernel = peers::find(&std::env::var(KERNEL).with_context(|| format!("{KERNEL} names no kernel"))?)?;
    let start = Instant::now();
    let ptx = (kernel.ptx)()?;
    let time = start.elapsed();
    ensure!(ptx.contains(".entry "), "no kernel in\n{ptx}");
    println!("{}", time.as_secs_f64() * 1e3);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second process finds the kernel that the first has compiled, without loading LLVM, which [`cached`] checks.
    #[test]
    fn a_kernel_from_the_cache_needs_no_llvm() {
        const CHILD: &str = "CUDA_BENCH_TEST_CHILD";
        if std::env::var_os(CHILD).is_some() {
            return cached().unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "compile::tests::a_kernel_from_the_cache_needs_no_llvm"]);
        child.env(CHILD, "1").env("CUDA_JIT_CACHE_DIR", folder.path());
        let mut run = || child.output().unwrap();
        let first = run();
        let text = String::from_utf8_lossy(&first.stdout);
        assert!(!first.status.success() && text.contains("misses: 1"), "{text}");
        let second = run();
        assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stdout));
    }
}
