//! The number types that Rust itself does not have: 16-bit floats, which are `half`'s, and short vectors.

mod half;
mod vector;

pub(crate) use half::fused_to_odd;
pub(crate) use vector::MISALIGNED;
pub use vector::*;
