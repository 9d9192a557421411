//! One program for each chapter of Numba's CUDA manual, in Rust, with answers that are known without a device.
//!
//! Each file is a chapter; the examples do what the manual's examples of that chapter do. Chapters of what this stack
//! does not have yet (algorithms that the host starts, foreign code, sharing between processes) have no file.

mod atomics;
mod caching;
mod compiling;
mod cooperative_groups;
mod debugging;
mod device_functions;
mod devices;
mod fast_math;
mod heat;
mod kernels;
mod language;
mod matmul;
mod memory;
mod monte_carlo;
mod random;
mod reduction;
mod sessions;
mod streams;
