//! use cuda_prelude::*: GPU kernels in Rust, on a GPU or on the software device
