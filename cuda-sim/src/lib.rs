//! A software CUDA driver: runs PTX on this machine's CPU.
mod codegen;
mod exec;
mod ir;
mod memory;
pub mod module;
pub mod ptx;
