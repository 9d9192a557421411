//! The number types that Rust itself does not have: 16-bit floats.
//!
//! They are the types of `half`, which rustc's host code computes with as kernels do. What they lack is here.

mod half;

pub(crate) use half::fused_to_odd;
