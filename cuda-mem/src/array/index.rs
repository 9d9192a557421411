//! A readable compile error for code that indexes a device array on the host.

use std::ops::{Index, IndexMut};

use ndarray::Dimension;

use crate::{DeviceArray, Element, Storage};

/// An index of a device array on the host. No type implements it, since the elements lie in the device's memory.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "the host cannot index a device array",
    label = "the element lies in the device's memory",
    note = "`x.copy_to_host()?[i]` copies all elements, `x.slice(s![i]).copy_to_host()?` one; `x.slice_mut(s![i]).fill(v)?` sets one"
)]
#[doc(hidden)]
pub trait HostIndex {}

impl<T: Element, D: Dimension, S: Storage, I: HostIndex> Index<I> for DeviceArray<T, D, S> {
    type Output = T;

    fn index(&self, _: I) -> &T {
        unreachable!("there is no index of this kind")
    }
}

impl<T: Element, D: Dimension, S: Storage, I: HostIndex> IndexMut<I> for DeviceArray<T, D, S> {
    fn index_mut(&mut self, _: I) -> &mut T {
        unreachable!("there is no index of this kind")
    }
}
