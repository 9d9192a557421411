//! First launches: from PTX text to a kernel's result, each in a new process.

use std::time::Instant;

use anyhow::{Result, bail};
use cuda_driver::Module;

use super::device::context;
use super::large;
use crate::kernels::{TILE, matmul_tiled};
use crate::ten::softmax;

/// That process: loads a kernel's text, launches it and launches it again, and prints the seconds of these.
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
    if let Some(file) = std::env::var_os("PTX_OUT") { std::fs::write(file, &ptx)?; }
    let start = Instant::now();
    // SAFETY: our own compiler's text.
    let _module = unsafe { Module::load_ptx(&context, &ptx) }?;
    let loaded = start.elapsed().as_secs_f64();
    match name {
        "conjugate_gradient" => drop(large::conjugate_gradient::compile()?),
        "attention" => drop(large::attention::compile()?),
        "matmul_tiled" => drop(matmul_tiled::<TILE>::compile()?),
        "softmax" => drop(softmax::compile()?),
        _ => {}
    }
    let start = Instant::now();
    run()?;
    let first = start.elapsed().as_secs_f64();
    let mut second = f64::INFINITY;
    for _ in 0..10 {
        let start = Instant::now();
        run()?;
        second = second.min(start.elapsed().as_secs_f64());
    }
    println!("{name}: load {:.2} first {:.2} later {:.2} ms", loaded*1e3, first*1e3, second*1e3);
    Ok(())
}
