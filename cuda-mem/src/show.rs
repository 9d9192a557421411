//! How a device array prints: shape, element type, device, and its first elements, which are copied for it.

use std::fmt;
use std::mem::MaybeUninit;

use ndarray::Dimension;

use crate::array::DeviceArray;
use crate::element::Element;

/// How many elements are printed.
const SHOWN: usize = 6;

/// Prints shape and first elements; waits for work that writes the array and copies those few elements.
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
impl<T: Element + fmt::Display, D: Dimension> fmt::Display for DeviceArray<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, element) = (self.shape(), std::any::type_name::<T>());
        write!(f, "device array {shape:?} of {element} on device {}: ", self.context().device().ordinal())?;
        let mut first = [const { MaybeUninit::<T>::uninit() }; SHOWN];
        let shown = self.len().min(SHOWN);
        match self.buffer().read(0, &mut first[..shown]) {
            Err(error) => write!(f, "({error})"),
            Ok([]) => f.write_str("(no elements)"),
            Ok(values) => {
                for (index, value) in values.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{value}")?;
                }
                f.write_str(if self.len() > shown { ", .." } else { "" })
            }
        }
    }
}
