//! The ten kernels that compilers are compared on: in Rust, and the same programs in CUDA C++ and in Python.
//!
//! [`ALL`] lists them. Each is checked on the software device against the host, and so are its twins (`tests.rs`). Those in CUDA C++ are
//! `cuda/NAME.cu`, compiled together with `cuda/common.cuh`; they have the checks that the Rust kernels have. Those in
//! Python are in `python/kernels.py`; Numba checks no index.

mod kernels;
mod nvrtc;
pub(crate) mod peers;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod tests;

use crate::kernels::{TILE, matmul_tiled, reduction, saxpy, vector_add};
pub(crate) use kernels::softmax;
use kernels::{black_scholes, fft, histogram, n_body, stencil};

/// What the twins in CUDA C++ share.
const COMMON: &str = include_str!("../../cuda/common.cuh");

/// A kernel in the languages that are compared.
pub(crate) struct Kernel {
    /// Its name in figures, in Python, and as the symbol of its entry in CUDA C++.
    pub(crate) name: &'static str,
    /// Compiles it for sm_90.
    pub(crate) ptx: fn() -> cuda_jit::Result<String>,
    twin: &'static str,
}

impl Kernel {
    /// The same in CUDA C++, complete.
    pub(crate) fn cuda(&self) -> String {
        format!("{COMMON}\n{}", self.twin)
    }
}

macro_rules! kernels {
    ($($name:literal: $kernel:ty;)*) => {
        &[$(Kernel {
            name: $name,
            ptx: || <$kernel>::compile_ptx((9, 0)),
            twin: include_str!(concat!("../../cuda/", $name, ".cu")),
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
