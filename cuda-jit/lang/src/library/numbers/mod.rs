//! The methods of numbers, and of all else that is ordered.
//!
//! Those of one instruction are operations, which the compiler lowers, the others functions of the device library. A typing probe
//! finds both by the hidden methods of the traits here.

pub mod floats;
#[expect(
    clippy::implicit_saturating_sub,
    clippy::manual_div_ceil,
    reason = "these are the methods that clippy would call"
)]
pub mod integers;
pub mod order;

pub use floats::{FloatConversions, FloatMethods, HalfMethods};
pub use integers::{IntegerMethods, SignedMethods, UnsignedMethods};
pub use order::{Ordered, OrderedInteger, OrderedNumber};
