//! The number types that Rust itself does not have: 16-bit floats, which are `half`'s, short vectors, and num-complex's
//! numbers.

#[doc(hidden)]
pub mod complex;
#[doc(hidden)]
pub mod halves;
mod vector;

pub(crate) use halves::fused_to_odd;
pub(crate) use vector::MISALIGNED;
pub use vector::*;
