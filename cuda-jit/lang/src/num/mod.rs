//! Numbers: the bounds of generic kernels, and the methods of numbers and other ordered types.
//!
//! Methods of one instruction are operations, which the compiler lowers; the others are functions of the device library. A
//! typing probe finds both by the hidden methods of the traits here.

pub mod arithmetic;
pub mod ascii;
mod bounds;
pub mod bytes;
pub mod cast;
#[expect(clippy::eq_op, clippy::neg_cmp_op_on_partial_ord, reason = "NaN is unequal to itself")]
pub mod floats;
pub mod integers;
pub mod mixed;
pub mod order;
pub mod strict;

pub use ascii::{CharMethods, TextCodes};
pub(crate) use bounds::to_odd;
pub use bounds::{Float, Integer, Num, Vector};
pub use bytes::{FloatBytes, IntegerBytes};
pub use cast::CastNumber;
pub use floats::{FloatConversions, FloatMethods, HalfMethods};
pub use integers::{IntegerMethods, SignedMethods, UnsignedMethods};
pub use mixed::{ProductMethods, SignedMixed, UnsignedMixed, WidestProductMethods};
pub use order::{EqualityMethods, OrderMethods, PartialOrderMethods};
pub use strict::StrictMethods;
