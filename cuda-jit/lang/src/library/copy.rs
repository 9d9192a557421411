//! Copies of values.

use crate::device;
use crate::device::library::duplicate;

/// The method of all that can be cloned: what kernels hold can be copied, and a clone is a copy.
#[device(extension)]
impl<T: Clone> CloneMethods<T> for T {
    /// `clone`
    fn clone(&self) -> T {
        duplicate(self)
    }
}
