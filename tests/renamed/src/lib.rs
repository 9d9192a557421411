//! A facade: a crate through which others have the stack, and which itself has it under another name.

/// The prelude under a name of the facade's.
pub use cp as gpu;

/// The prelude's names among the facade's own.
pub mod prelude {
    pub use crate::Pair;
    pub use cp::*;
}

use cp::*;

/// A type of the facade's that its users' kernels take.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Pair {
    /// The first.
    pub a: f32,
    /// The second.
    pub b: f32,
}

#[device]
impl Pair {
    /// The sum of both.
    pub fn sum(&self) -> f32 {
        self.a + self.b
    }
}

/// A kernel of the facade's: doubles each element.
#[kernel]
pub fn double(x: &mut [f32]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] *= 2.0;
    }
}
