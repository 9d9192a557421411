//! The number types that Rust itself lacks: `half`'s 16-bit floats, 8-bit floats, short vectors, and num-complex's numbers; and the
//! standard library's `Wrapping`, `Saturating` and `Reverse`.

#[doc(hidden)]
pub mod complex;
pub mod cuda_vectors;
pub(crate) mod float8;
#[doc(hidden)]
pub mod halves;
pub mod vector;
#[doc(hidden)]
pub mod wrapping;

pub use float8::{e4m3, e4m3x2, e5m2, e5m2x2, e8m0, e8m0x2};
pub use vector::*;
