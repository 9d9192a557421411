//! Numbers: the bounds that generic kernels need, and the methods of numbers and of all else that is ordered.
//!
//! Methods of one instruction are operations, which the compiler lowers, the others functions of the device library. A typing probe
//! finds both by the hidden methods of the traits here.

mod bounds;
pub mod floats;
#[expect(
    clippy::implicit_saturating_sub,
    clippy::manual_div_ceil,
    reason = "these are the methods that clippy would call"
)]
pub mod integers;
pub mod order;

pub(crate) use bounds::to_odd;
pub use bounds::{Float, Integer, Num, Vector};
pub use floats::{FloatConversions, FloatMethods, HalfMethods};
pub use integers::{IntegerMethods, SignedMethods, UnsignedMethods};
pub use order::{Ordered, OrderedInteger, OrderedNumber};
