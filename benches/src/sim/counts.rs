//! Counts of the final code of the kernels that the group `sim` measures: a change that makes the compiler lose vectors or spill more
//! registers shows here on every machine, and without other work disturbing it.

use anyhow::{Context as _, Result, anyhow};
use cuda_sim::{CodeCounts, code_counts};

use super::entry;
use super::large::{attention, conjugate_gradient};
use super::programs::linear::{scale, sum};
use crate::figures::print;
use crate::kernels::{
    TILE, matmul_naive, matmul_tiled, nested, reduction, roots, saxpy, shuffles, shuffles_loop, vector_add,
};
use crate::suite::kernels::{black_scholes, histogram};

/// The kernels by name, with their PTX.
fn kernels() -> Result<[(&'static str, String); 15]> {
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
        ("grid_stride_saxpy", scale::compile_ptx(CC)?),
        ("grid_stride_sum", sum::compile_ptx(CC)?),
        ("black_scholes", black_scholes::compile_ptx(CC)?),
        ("histogram", histogram::compile_ptx(CC)?),
        ("attention", attention::compile_ptx(CC)?),
        ("conjugate_gradient", conjugate_gradient::compile_ptx(CC)?),
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
        print(&format!("sim.{name}.grouped"), counts.grouped, "gathers");
        print(&format!("sim.{name}.vectorised"), counts.vectorised, "parts");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most regions, bytes of frame and gathers, and the least vectorised parts, that each kernel's code may have.
    const LIMITS: [(&str, [usize; 4]); 15] = [
        ("vector_add", [2, 0, 0, 1]),
        ("saxpy", [2, 0, 0, 1]),
        ("reduction", [4, 52, 8, 3]),
        ("shuffles", [7, 44, 2, 6]),
        ("shuffles_loop", [3, 32, 3, 2]),
        ("nested", [3, 36, 0, 2]),
        ("roots", [2, 28, 0, 0]),
        ("matmul_naive", [9, 181, 5, 8]),
        ("matmul_tiled", [3, 72, 6, 2]),
        ("grid_stride_saxpy", [4, 40, 0, 2]),
        ("grid_stride_sum", [3, 40, 0, 2]),
        ("black_scholes", [2, 36, 0, 1]),
        ("histogram", [7, 40, 0, 4]),
        ("attention", [12, 214, 160, 8]),
        ("conjugate_gradient", [93, 340, 15, 56]),
    ];

    /// Returns true on CPUs with the vectors for which the limits of vector code hold.
    fn has_long_vectors() -> bool {
        #[cfg(target_arch = "x86_64")]
        return std::is_x86_feature_detected!("avx512f") && std::env::var_os("CUDA_SIM_CPU").is_none();
        #[cfg(not(target_arch = "x86_64"))]
        return false;
    }

    #[test]
    fn no_kernel_has_worse_code() {
        let worse = |((name, counts), (known, limits)): (&(&str, CodeCounts), &(&str, [usize; 4]))| {
            assert_eq!(name, known);
            let CodeCounts { regions, frame_bytes, gathers, vectorised, .. } = *counts;
            let [most_regions, most_bytes, most_gathers, least_vectorised] = *limits;
            let vectors = gathers > most_gathers || vectorised < least_vectorised;
            regions > most_regions || frame_bytes > most_bytes as u64 || has_long_vectors() && vectors
        };
        let found = counts().unwrap();
        let worse: Vec<_> = found.iter().zip(&LIMITS).filter(|pair| worse(*pair)).collect();
        assert!(worse.is_empty(), "{worse:?}");
    }
}
