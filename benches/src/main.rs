//! Measurements: each figure is a line `NAME VALUE UNIT` on standard output. `cargo xtask bench` builds and runs it.
//!
//! `cuda-bench [GROUP..] [--ptxas FILE] [--nvdisasm FILE] [--nvcc FILE] [--numba FOLDER] [--numba-cuda FOLDER]`; the groups are the modules. It asserts no time:
//! a figure is a fact about a machine, and what is too slow there is for its reader to say. What it computes it checks.

mod allocations;
mod codegen;
mod compile;
mod demo;
mod driver;
mod figures;
mod iterators;
mod kernels;
mod launch;
mod mem;
mod nothing;
mod rustc;
mod serve;
mod sim;
mod ten;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

/// Runs a group where no other has left its context current, so that calls need not change it.
fn on_a_new_thread(group: fn() -> Result<()>) -> Result<()> {
    std::thread::spawn(group).join().expect("a group reports what goes wrong as an error")
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
    // What `sim` and `first-launch` start in a process of its own.
    if let [group, kernel] = groups.as_slice() {
        match group.as_str() {
            "sim-load" => return sim::load_once(kernel),
            "sim-first" => return sim::first_once(kernel),
            _ => {}
        }
    }
    for group in &groups {
        match group.as_str() {
            "compile" => compile::run(&tools)?,
            // What `compile` starts, a process of its own each time.
            "compile-once" => compile::once()?,
            // The same, with the disk cache.
            "compile-cached" => compile::cached()?,
            // What `compile` asks.
            "compile-ours" => ten::peers::serve_ours()?,
            "compile-nvrtc" => compile::serve_nvrtc(&tools)?,
            "codegen" => codegen::run(&tools)?,
            "sim" => sim::run(&tools)?,
            "first-launch" => sim::first_launches()?,
            // What `sim` starts, each in a process of its own.
            "sim-device" => sim::serve_device()?,
            "sim-pocl" => sim::serve_pocl()?,
            "driver" => on_a_new_thread(driver::run)?,
            "launch" => on_a_new_thread(launch::run)?,
            "mem" => on_a_new_thread(mem::run)?,
            "rustc" => rustc::run()?,
            "demo" => demo::run()?,
            "device" => demo::device()?,
            other => {
                bail!(
                    "`{other}` is no group; they are compile, codegen, rustc, sim, first-launch, driver, launch, mem, demo and device"
                )
            }
        }
    }
    Ok(())
}
