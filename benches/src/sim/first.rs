//! First launches of large kernels: the load of the module, the first launch and a later one, in a new process.
//!
//! # Safety
//!
//! The loaded texts are our own compiler's.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use cuda_driver::Module;

use super::device::context;
use super::{large, module};
use crate::figures::{print_cpu, print_measured};
use crate::kernels::{TILE, matmul_tiled};
use crate::suite::softmax;

/// The kernels in the order of their size.
const KERNELS: &[&str] = &["matmul_tiled", "softmax", "attention", "conjugate_gradient"];
/// Processes for each figure.
const PROCESSES: usize = 7;
/// Launches after the first.
const LATER: usize = 10;

/// The process that [`figures`] starts. It prints the milliseconds of a kernel's load, first launch and fastest later launch; launches
/// include the copy of the result.
pub(crate) fn run(name: &str) -> Result<()> {
    let context = context()?;
    let _selected = context.select();
    let (ptx, mut run) = match name {
        "conjugate_gradient" => (large::conjugate_gradient::compile_ptx((9, 0))?, large::solve(&context)?),
        "attention" => (large::attention::compile_ptx((9, 0))?, large::attend(&context)?),
        "matmul_tiled" => (matmul_tiled::<TILE>::compile_ptx((9, 0))?, large::multiply(&context)?),
        "softmax" => (softmax::compile_ptx((9, 0))?, large::normalise(&context)?),
        other => bail!("there is no kernel `{other}`"),
    };
    let timed = |work: &mut dyn FnMut() -> Result<()>| {
        let start = Instant::now();
        work().map(|()| start.elapsed().as_secs_f64() * 1e3)
    };
    let mut module = None;
    let load = timed(&mut || {
        // SAFETY: our own compiler wrote the text.
        module = Some(unsafe { Module::load_ptx(&context, &ptx) }?);
        Ok(())
    })?;
    // The kernel is compiled to PTX before it is launched, so that the software device has the text.
    match name {
        "conjugate_gradient" => drop(large::conjugate_gradient::compile()?),
        "attention" => drop(large::attention::compile()?),
        "matmul_tiled" => drop(matmul_tiled::<TILE>::compile()?),
        _ => drop(softmax::compile()?),
    }
    let first = timed(&mut run)?;
    let mut later = f64::INFINITY;
    for _ in 0..LATER {
        later = later.min(timed(&mut run)?);
    }
    println!("{load} {first} {later}");
    Ok(())
}

/// The times from such a process, whose machine code is cached in a folder, or not at all.
fn in_new_process(name: &str, tier: &str, folder: Option<&Path>) -> Result<[f64; 3]> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["sim-first", name]).env("CUDA_SIM_TIER", tier).env("CUDA_JIT_WARNINGS", "none");
    match folder {
        Some(folder) => command.env("CUDA_JIT_CACHE_DIR", folder).env_remove("CUDA_JIT_CACHE"),
        None => command.env("CUDA_JIT_CACHE", "off"),
    };
    let output = command.output()?;
    ensure!(output.status.success(), "launching {name}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let times = text.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    times.try_into().ok().with_context(|| format!("`{text}` is not three times"))
}

/// The fastest of several processes, separately for each of the times.
fn fastest(name: &str, tier: &str, folder: Option<&Path>) -> Result<[f64; 3]> {
    let runs = (0..PROCESSES).map(|_| in_new_process(name, tier, folder)).collect::<Result<Vec<_>>>()?;
    Ok(std::array::from_fn(|i| runs.iter().map(|times| times[i]).fold(f64::INFINITY, f64::min)))
}

/// Runs the group `first-launch`, whose figures [`super`] describes, and prints the CPU to standard error.
pub(crate) fn figures() -> Result<()> {
    print_cpu()?;
    for name in KERNELS {
        let print = |what: &str, value| print_measured(&format!("sim.first_launch.{name}.{what}_ms"), value, "ms");
        let folder = tempfile::tempdir()?;
        let [load, cold, _] = fastest(name, "both", None)?;
        let [_, good, later] = fastest(name, "good", None)?;
        let [_, _, quick] = fastest(name, "quick", None)?;
        in_new_process(name, "good", Some(folder.path()))?;
        let [kept_load, kept, _] = fastest(name, "both", Some(folder.path()))?;
        print("load", load);
        print("cold", cold);
        print("good", good);
        print("kept_load", kept_load);
        print("kept", kept);
        print("later", later);
        print("quick_later", quick);
    }
    module::figures()
}
