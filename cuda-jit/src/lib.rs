//! Kernels written as plain Rust functions, compiled to PTX when they are first launched
