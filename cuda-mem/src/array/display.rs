//! `Display` of device arrays: shape, element type, device, and the first elements, which are copied for it.

use std::fmt;
use std::mem::MaybeUninit;

use ndarray::Dimension;

use crate::Element;
use crate::array::DeviceArray;
use crate::array::storage::Storage;
use crate::error::Result;

/// The number of printed elements.
const PRINTED: usize = 6;

/// Prints the shape and the first elements. Waits for work that writes the array, and copies those elements.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = cuda_mem::from_slice(&context, &[1_u8, 2, 3])?;
/// assert_eq!(x.to_string(), "device array [3] of u8 on device 0: 1, 2, 3");
/// # Ok(())
/// # }
/// ```
impl<T: Element + fmt::Display, D: Dimension, S: Storage> fmt::Display for DeviceArray<T, D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, element) = (self.shape(), std::any::type_name::<T>());
        write!(f, "device array {shape:?}")?;
        if !self.is_c_contiguous() {
            write!(f, " with strides {:?}", self.strides())?;
        }
        write!(f, " of {element} on device {}: ", self.context().device().ordinal())?;
        match first(self) {
            Err(error) => write!(f, "({error})"),
            Ok(values) if values.is_empty() => f.write_str("(no elements)"),
            Ok(values) => {
                for (index, value) in values.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{value}")?;
                }
                f.write_str(if self.len() > values.len() { ", .." } else { "" })
            }
        }
    }
}

/// The first elements in the order of indices.
fn first<T: Element, D: Dimension, S: Storage>(array: &DeviceArray<T, D, S>) -> Result<Vec<T>> {
    let mut values = [const { MaybeUninit::<T>::uninit() }; PRINTED];
    let printed = array.len().min(PRINTED);
    let byte_offset = |element: usize| element * size_of::<T>();
    if array.is_c_contiguous() {
        return Ok(array.buffer().read(byte_offset(array.layout().offset()), &mut values[..printed])?.to_vec());
    }
    let offsets = array.layout().first(printed);
    offsets.map(|element| Ok(array.buffer().read(byte_offset(element), &mut values[..1])?[0])).collect()
}
