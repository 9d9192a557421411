//! Copies of values.

use crate::device;
use crate::device::library::duplicate;

/// The method of `Clone`: all types that kernels support can be copied, and a clone is a copy.
#[device(extension)]
impl<T: Clone> CloneMethods<T> for T {
    /// `clone`
    fn clone(&self) -> T {
        duplicate(self)
    }
}
