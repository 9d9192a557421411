//! Benchmarks: each figure is a line `NAME VALUE UNIT` on standard output. `cargo xtask bench` builds and runs the program.
//!
//! `cuda-bench [GROUP..] [--ptxas FILE] [--nvdisasm FILE] [--nvcc FILE] [--nvrtc FOLDER] [--numba FOLDER] [--numba-cuda FOLDER]`; the groups are
//! the modules. The program asserts no times, since these depend on the machine, but it checks the results of computations.
//! `cuda-bench plot FOLDER` draws figures, which it reads from standard input.

mod allocations;
mod codegen;
mod compile;
mod demo;
mod driver;
mod figures;
mod gpu;
mod iterators;
mod kernels;
mod launch;
mod mem;
mod nccl;
mod null_driver;
mod plot;
mod rustc;
mod serve;
mod sim;
mod suite;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

/// Runs a group on a thread on which no other group has left its context current.
fn on_a_new_thread(group: fn() -> Result<()>) -> Result<()> {
    std::thread::spawn(group).join().expect("a group does not panic")
}

/// NVIDIA's tools by name.
type Tools = BTreeMap<String, PathBuf>;

fn main() -> Result<()> {
    let mut groups = Vec::new();
    let mut tools = Tools::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix("--") {
            Some(tool) => {
                let file = arguments.next().with_context(|| format!("{argument} needs a file"))?;
                tools.insert(tool.to_owned(), file.into());
            }
            None => groups.push(argument),
        }
    }
    if let [command, argument] = groups.as_slice() {
        match command.as_str() {
            // The groups `sim` and `first-launch` start these in processes.
            "sim-load" => return sim::load_once(argument),
            "sim-first" => return sim::first_once(argument),
            "plot" => return plot::run(argument.as_ref()),
            _ => {}
        }
    }
    for group in &groups {
        match group.as_str() {
            "compile" => compile::run(&tools)?,
            // The group `compile` starts this in processes.
            "compile-once" => compile::once()?,
            // The group `compile` starts this in processes, with the disk cache.
            "compile-cached" => compile::cached()?,
            // The group `compile` queries these processes.
            "compile-ours" => suite::peers::serve_ours()?,
            "compile-nvrtc" => compile::serve_nvrtc(&tools)?,
            "codegen" => codegen::run(&tools)?,
            "gpu" => gpu::run(&tools)?,
            "sim" => sim::run(&tools)?,
            "first-launch" => sim::first_launches()?,
            "programs" => sim::program_figures()?,
            // The group `programs` queries this process.
            "sim-programs" => sim::serve_programs()?,
            // The group `sim` queries these processes.
            "sim-device" => sim::serve_device()?,
            "sim-pocl" => sim::serve_pocl()?,
            "driver" => on_a_new_thread(driver::run)?,
            "launch" => on_a_new_thread(launch::run)?,
            "nccl" => on_a_new_thread(nccl::run)?,
            "mem" => on_a_new_thread(mem::run)?,
            "rustc" => rustc::run()?,
            "demo" => demo::run()?,
            "device" => demo::device()?,
            other => {
                bail!(
                    "`{other}` is not a group; the groups are compile, codegen, gpu, rustc, sim, first-launch, programs, driver, launch, mem, nccl, demo and device"
                )
            }
        }
    }
    Ok(())
}
