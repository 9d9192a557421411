//! A facade crate, which re-exports the stack and depends on it under another name.

/// The prelude under a name of the facade.
pub use cp as gpu;

/// The prelude's names together with the facade's own.
pub mod prelude {
    pub use crate::Pair;
    pub use cp::*;
}

use cp::*;

/// A type of the facade that its users' kernels take.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Pair {
    /// The first number.
    pub a: f32,
    /// The second number.
    pub b: f32,
}

#[device]
impl Pair {
    /// The sum of both.
    pub fn sum(&self) -> f32 {
        self.a + self.b
    }
}

/// A kernel of the facade: doubles each element.
#[kernel]
pub fn double(x: &mut [f32]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] *= 2.0;
    }
}
