//! Kernels written as plain Rust functions, compiled to PTX when they are first launched.

pub mod back;
pub mod front;
pub mod harvest;
pub mod kir;
pub mod syntax;
pub mod target;
pub mod valid;
