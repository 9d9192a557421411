//! What libraries have to agree on to share an array: the element type's name, and what can be wrong with what one gets.

use cuda_mem_element::{Exchanged, NumberKind};

/// How many numbers an element is, and the bits of each.
///
/// Lanes that do not fill an element, or of no width that other libraries know, do not compile.
pub(crate) fn lanes_of<T: Exchanged>() -> (u16, u8) {
    const {
        let lanes = T::LANES as usize;
        assert!(lanes != 0 && size_of::<T>().is_multiple_of(lanes), "`Exchanged::LANES` numbers fill an element");
        assert!(8 * size_of::<T>() / lanes < 256, "a number of an element has less than 256 bits");
    }
    let bits = 8 * size_of::<T>() / usize::from(T::LANES);
    (T::LANES, bits as u8)
}

/// NumPy's letter for a number of so many bytes, where it has one.
fn letter(kind: NumberKind, bytes: usize) -> Option<char> {
    match kind {
        NumberKind::Int if bytes <= 8 => Some('i'),
        NumberKind::UInt if bytes <= 8 => Some('u'),
        NumberKind::Float => Some('f'),
        NumberKind::Complex => Some('c'),
        _ => None,
    }
}

/// NumPy's name of the type, such as `<f4`, where it has one.
pub(crate) fn type_string<T: Exchanged>() -> Result<String, ExchangeError> {
    let letter = letter(T::KIND, size_of::<T>()).filter(|_| T::LANES == 1);
    let letter = letter.ok_or(ExchangeError::NoTypeString(std::any::type_name::<T>()))?;
    let order = if size_of::<T>() == 1 { '|' } else { '<' };
    Ok(format!("{order}{letter}{}", size_of::<T>()))
}

/// Why an array is not shared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// Elements are of another type.
    #[error("the array's elements are `{found}`, not `{wanted}`")]
    ElementType {
        /// What the description says.
        found: String,
        /// What was asked for.
        wanted: String,
    },
    /// The other side has no name for the element type.
    #[error(
        "NumPy has no type string for `{0}`; share the array by `into_dlpack`, or see it as another type by `view_as`"
    )]
    NoTypeString(&'static str),
    /// The number of axes differs.
    #[error("the array has {found} axes, not {wanted}")]
    Axes {
        /// How many it has.
        found: usize,
        /// How many were asked for.
        wanted: usize,
    },
    /// Strides in bytes lie between elements.
    #[error("the strides {strides:?} in bytes are no multiples of the element's {element_bytes} bytes")]
    Strides {
        /// The strides.
        strides: Vec<isize>,
        /// Bytes of an element.
        element_bytes: usize,
    },
    /// The array may only be read.
    #[error("the array is read-only; import it as one that is only read")]
    ReadOnly,
    /// Some elements are masked.
    #[error("masked arrays are not supported; fill in what is masked first")]
    Masked,
    /// The protocol's version is not known.
    #[error("version {0} of the protocol is not supported")]
    Version(u32),
    /// Stream 0 may mean either default stream.
    #[error("stream 0 is ambiguous and not allowed; 1 is the legacy default stream, 2 the per-thread one")]
    StreamZero,
    /// The array lies elsewhere.
    #[error("the array is on DLPack device {found:?} (type, number), which device {wanted} cannot use")]
    Device {
        /// DLPack's type and number.
        found: (i32, i32),
        /// The number of the device that was asked for.
        wanted: usize,
    },
    /// Elements are vectors of another length.
    #[error(
        "the array's elements are vectors of {found} numbers, not of {wanted}; import it as an array of such vectors"
    )]
    Lanes {
        /// How many numbers an element has.
        found: u16,
        /// How many were asked for.
        wanted: u16,
    },
    /// A text is no array interface.
    #[error("the text is no CUDA Array Interface: {0}")]
    Json(String),
    /// Memory was shared with its own process.
    #[error("an IPC handle is for other processes, and this one was made here; use the array itself")]
    OwnProcess,
    /// The memory is open already.
    #[error("the IPC handle is open already in this process; use the array that it was opened as, or drop it first")]
    OpenTwice,
    /// The memory cannot be opened any more.
    #[error("the IPC handle's memory cannot be opened: its array, or the process that made it, is gone ({0})")]
    Gone(String),
    /// The bytes are no handle.
    #[error("these {0} bytes are no IPC handle of an array of this type and number of axes")]
    NoHandle(usize),
    /// The memory cannot be shared with processes.
    #[error("memory of a stream-ordered pool cannot be shared with other processes; allocate it by `shareable_array`")]
    NotShareable,
}
