//! Counts of the final code of the kernels that the group `sim` measures: a change that makes the compiler lose vectors or spill more
//! registers shows here on every machine, and without other work disturbing it.

use anyhow::{Context as _, Result, anyhow};
use cuda_sim::{CodeCounts, code_counts};

use super::entry;
use crate::figures::print;
use crate::kernels::{
    TILE, matmul_naive, matmul_tiled, nested, reduction, roots, saxpy, shuffles, shuffles_loop, vector_add,
};

/// The kernels by name, with their PTX.
fn kernels() -> Result<[(&'static str, String); 9]> {
    const CC: (u32, u32) = (9, 0);
    Ok([
        ("vector_add", vector_add::<f32>::compile_ptx(CC)?),
        ("saxpy", saxpy::compile_ptx(CC)?),
        ("reduction", reduction::compile_ptx(CC)?),
        ("shuffles", shuffles::compile_ptx(CC)?),
        ("shuffles_loop", shuffles_loop::compile_ptx(CC)?),
        ("nested", nested::compile_ptx(CC)?),
        ("roots", roots::compile_ptx(CC)?),
        ("matmul_naive", matmul_naive::compile_ptx(CC)?),
        ("matmul_tiled", matmul_tiled::<TILE>::compile_ptx(CC)?),
    ])
}

/// The counts of each kernel.
fn counts() -> Result<Vec<(&'static str, CodeCounts)>> {
    let count = |(name, ptx): (&'static str, String)| {
        let counts = code_counts(&ptx, entry(&ptx)?).map_err(|why| anyhow!(why)).context(name)?;
        Ok((name, counts))
    };
    kernels()?.into_iter().map(count).collect()
}

/// Prints the counts as figures.
pub(super) fn figures() -> Result<()> {
    for (name, counts) in counts()? {
        print(&format!("sim.{name}.regions"), counts.regions, "regions");
        print(&format!("sim.{name}.frame_bytes"), counts.frame_bytes, "bytes");
        print(&format!("sim.{name}.gathers"), counts.gathers, "gathers");
        print(&format!("sim.{name}.vectorised"), counts.vectorised, "parts");
    }
    Ok(())
}
