//! Kernels written as plain Rust functions, compiled to PTX when they are first launched.

pub mod back;
pub mod kir;
pub mod target;
pub mod valid;
