//! The methods of numbers: those of one instruction are operations, which the compiler lowers, the others functions of the device
//! library.

mod floats;

pub use floats::FloatMethods;
