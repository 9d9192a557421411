//! One Rust program for each chapter of Numba's CUDA manual, with results that are known without a device.
//!
//! Each file is a chapter, whose examples correspond to those of the manual.
//!
//! | chapter of Numba's manual | file |
//! |---|---|
//! | Overview; Writing CUDA Kernels; Device Management | `kernels`, `devices` |
//! | Memory Management | `memory`, `host_memory` |
//! | Supported Python features | `language` |
//! | Writing Device Functions | `device_functions` |
//! | Fast Math | `fast_math` |
//! | Supported Atomic Operations | `atomics` |
//! | Cooperative Groups | `cooperative_groups` |
//! | Random Number Generation | `random`: the generator itself, as device functions |
//! | CUDA Host API: streams, events | `streams` |
//! | Compiling Python functions for use with other languages | `compiling` |
//! | On-disk Kernel Caching | `caching` |
//! | Debugging CUDA Python with the CUDA Simulator; error handling | `software_device`, `debugging` |
//! | Sharing CUDA Memory | `ipc` |
//! | CUDA Array Interface | `array_interface` |
//! | External Memory Management (EMM) Plugin interface | `external_memory` |
//! | Examples: 1D heat equation, shared memory reduction, sessions of clicks, Monte Carlo, matrix multiplication | `heat`, `reduction`, `sessions`, `monte_carlo`, `matmul` |
//! | Examples: Vector Addition; CUDA Bindings | `crate::programs`, `crate::vectors` |
//! | GPU Reduction; CUDA Ufuncs and Generalized Ufuncs; Calling foreign functions | not implemented yet |

mod array_interface;
mod atomics;
mod caching;
mod compiling;
mod cooperative_groups;
mod debugging;
mod device_functions;
mod devices;
mod external_memory;
mod fast_math;
mod heat;
mod host_memory;
mod ipc;
mod kernels;
mod language;
mod matmul;
mod memory;
mod monte_carlo;
mod random;
mod reduction;
mod sessions;
mod software_device;
mod streams;
