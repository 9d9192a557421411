//! The common part of the exchange formats: names of element types, and the errors of an exchange.

use cuda_mem_element::{Exchanged, NumberKind};

/// The number of numbers in an element, and the bits of each.
///
/// Lanes that do not fill an element, or have no width that other libraries know, do not compile.
pub(crate) fn lanes_of<T: Exchanged>() -> (u16, u8) {
    const {
        let lanes = T::LANES as usize;
        assert!(lanes != 0 && size_of::<T>().is_multiple_of(lanes), "`Exchanged::LANES` numbers fill an element");
        assert!(8 * size_of::<T>() / lanes < 256, "a number of an element has less than 256 bits");
    }
    let bits = 8 * size_of::<T>() / usize::from(T::LANES);
    (T::LANES, bits as u8)
}

/// NumPy's letter for a number of `bytes` bytes; `None` if it has none.
fn letter(kind: NumberKind, bytes: usize) -> Option<char> {
    match kind {
        NumberKind::Int if bytes <= 8 => Some('i'),
        NumberKind::UInt if bytes <= 8 => Some('u'),
        NumberKind::Float => Some('f'),
        NumberKind::Complex => Some('c'),
        _ => None,
    }
}

/// NumPy's type string, such as `<f4`; an error if there is none.
pub(crate) fn type_string<T: Exchanged>() -> Result<String, ExchangeError> {
    let letter = letter(T::KIND, size_of::<T>()).filter(|_| T::LANES == 1);
    let letter = letter.ok_or(ExchangeError::NoTypeString(std::any::type_name::<T>()))?;
    let order = if size_of::<T>() == 1 { '|' } else { '<' };
    Ok(format!("{order}{letter}{}", size_of::<T>()))
}

/// The reason why an array is not exchanged.
///
/// # Examples
///
/// ```
/// use cuda_mem::{DeviceArray, Error, ExchangeError, ReadOnly};
/// use ndarray::Ix1;
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = cuda_mem::zeros::<f32, _>(&context, 3)?;
/// let described = x.cuda_array_interface(&context.default_stream())?;
/// // SAFETY: the array lives longer.
/// let refused = unsafe { DeviceArray::<f64, Ix1, ReadOnly>::from_cuda_array_interface_read_only(&context, &described, ()) };
/// let expected = ExchangeError::ElementType { found: "<f4".to_owned(), wanted: "<f8".to_owned() };
/// assert!(matches!(refused, Err(Error::Exchange(error)) if error == expected));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The elements have another type.
    #[error("the array's elements are `{found}`, not `{wanted}`")]
    ElementType {
        /// The type in the description.
        found: String,
        /// The requested type.
        wanted: String,
    },
    /// NumPy has no type string for the element type.
    #[error(
        "NumPy has no type string for `{0}`; share the array by `into_dlpack`, or view it as another type by `view_as`"
    )]
    NoTypeString(&'static str),
    /// The number of axes differs.
    #[error("the array has {found} axes, not {wanted}")]
    Axes {
        /// The array's number of axes.
        found: usize,
        /// The requested number.
        wanted: usize,
    },
    /// Strides in bytes are no multiples of the element size.
    #[error("the strides {strides:?} in bytes are no multiples of the element's {element_bytes} bytes")]
    Strides {
        /// The strides.
        strides: Vec<isize>,
        /// Bytes of an element.
        element_bytes: usize,
    },
    /// The array is read-only.
    #[error("the array is read-only; import it as a read-only array")]
    ReadOnly,
    /// Some elements are masked.
    #[error("masked arrays are not supported; fill in the masked elements first")]
    Masked,
    /// The protocol's version is not supported.
    #[error("version {0} of the protocol is not supported")]
    Version(u32),
    /// Stream 0 is ambiguous between the two default streams.
    #[error("stream 0 is ambiguous and not allowed; 1 is the legacy default stream, 2 the per-thread one")]
    StreamZero,
    /// The array is on another device.
    #[error("the array is on DLPack device {found:?} (type, number), which device {wanted} cannot use")]
    Device {
        /// DLPack's device type and number.
        found: (i32, i32),
        /// The ordinal of the requested device.
        wanted: usize,
    },
    /// The elements are vectors of another length.
    #[error(
        "the array's elements are vectors of {found} numbers, not of {wanted}; import it as an array of such vectors"
    )]
    Lanes {
        /// The number of numbers in an element.
        found: u16,
        /// The requested number.
        wanted: u16,
    },
    /// The text is not a CUDA Array Interface.
    #[error("the text is no CUDA Array Interface: {0}")]
    Json(String),
    /// The IPC handle was made in this process.
    #[error("an IPC handle is for other processes, and this one was made here; use the array itself")]
    OwnProcess,
    /// The memory is already open.
    #[error("the IPC handle is open already in this process; use the array that it was opened as, or drop it first")]
    OpenTwice,
    /// The memory no longer exists.
    #[error("the IPC handle's memory cannot be opened: its array, or the process that made it, is gone ({0})")]
    Gone(String),
    /// The bytes are not a handle of this type.
    #[error("these {0} bytes are no IPC handle of an array of this type and number of axes")]
    NoHandle(usize),
    /// The memory cannot be shared with other processes.
    #[error("memory of a stream-ordered pool cannot be shared with other processes; allocate it by `shareable_array`")]
    NotShareable,
}
