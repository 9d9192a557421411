//! The suite of ten kernels on which compilers are compared: in Rust, CUDA C++ and Python.
//!
//! [`ALL`] lists them. `tests.rs` runs each on the software device in all three languages and compares it with the host. The CUDA C++
//! versions are `cuda/NAME.cu`, compiled together with `cuda/common.cuh`; they have the bounds checks of the Rust kernels. The Python
//! versions are in `python/kernels.py`; Numba checks no bounds.

pub(crate) mod kernels;
pub(crate) mod launch;
pub(crate) mod nvrtc;
pub(crate) mod peers;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod tests;

use crate::kernels::{TILE, matmul_tiled, reduction, saxpy, vector_add};
pub(crate) use kernels::softmax;
use kernels::{black_scholes, fft, histogram, n_body, stencil};

/// The common part of the CUDA C++ kernels.
const COMMON: &str = include_str!("../../cuda/common.cuh");

/// A kernel in the languages that are compared.
pub(crate) struct Kernel {
    /// Its name in figures, in Python, and as the symbol of its entry in CUDA C++.
    pub(crate) name: &'static str,
    /// Compiles it for sm_90.
    pub(crate) ptx: fn() -> cuda_jit::Result<String>,
    cuda_source: &'static str,
}

impl Kernel {
    /// The complete source in CUDA C++.
    pub(crate) fn cuda(&self) -> String {
        format!("{COMMON}\n{}", self.cuda_source)
    }
}

macro_rules! kernels {
    ($($name:literal: $kernel:ty;)*) => {
        &[$(Kernel {
            name: $name,
            ptx: || <$kernel>::compile_ptx((9, 0)),
            cuda_source: include_str!(concat!("../../cuda/", $name, ".cu")),
        }),*]
    };
}

/// The ten kernels.
pub(crate) const ALL: &[Kernel] = kernels! {
    "vector_add": vector_add<f32>;
    "saxpy": saxpy;
    "tiled_matmul": matmul_tiled<TILE>;
    "reduction": reduction;
    "histogram": histogram;
    "black_scholes": black_scholes;
    "softmax": softmax;
    "stencil": stencil;
    "fft": fft;
    "n_body": n_body;
};
