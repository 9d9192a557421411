//! What libraries have to agree on to share an array: the element type's name, and what can be wrong with what one gets.

use half::{bf16, f16};
use num_complex::Complex;

use crate::element::Element;

/// What kind of number an element is; its value is DLPack's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NumberKind {
    /// A signed integer.
    Int = 0,
    /// An unsigned integer.
    UInt = 1,
    /// A float of IEEE 754.
    Float = 2,
    /// A `bf16`.
    Bfloat = 4,
    /// Two floats.
    Complex = 5,
}

impl NumberKind {
    /// NumPy's letter, where it has one.
    fn letter(self) -> Option<char> {
        match self {
            NumberKind::Int => Some('i'),
            NumberKind::UInt => Some('u'),
            NumberKind::Float => Some('f'),
            NumberKind::Complex => Some('c'),
            NumberKind::Bfloat => None,
        }
    }
}

/// An element type that other libraries know.
pub trait Exchanged: Element {
    /// What kind of number it is.
    const KIND: NumberKind;
}

macro_rules! exchanged {
    ($($kind:ident: $($type:ty),*;)*) => { $($(
        impl Exchanged for $type {
            const KIND: NumberKind = NumberKind::$kind;
        }
    )*)* };
}

exchanged! {
    Int: i8, i16, i32, i64;
    UInt: u8, u16, u32, u64;
    Float: f16, f32, f64;
    Bfloat: bf16;
    Complex: Complex<f32>, Complex<f64>;
}

/// NumPy's name of the type, such as `<f4`, where it has one.
pub(crate) fn type_string<T: Exchanged>() -> Result<String, ExchangeError> {
    let letter = T::KIND.letter().ok_or(ExchangeError::NoTypeString(std::any::type_name::<T>()))?;
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
    #[error("`{0}` has no type string of NumPy; `into_dlpack` shares it")]
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
    /// Elements are vectors.
    #[error("elements of {0} lanes are not supported; view them as numbers with one more axis")]
    Lanes(u16),
    /// Memory was shared with its own process.
    #[error("an IPC handle is for other processes, and this one was made here; use the array itself")]
    OwnProcess,
    /// The memory is open already.
    #[error("the IPC handle is open already in this process; use the array that it was opened as, or drop it first")]
    OpenTwice,
    /// The bytes are no handle.
    #[error("these {0} bytes are no IPC handle of an array of this type and number of axes")]
    NoHandle(usize),
    /// The memory cannot be shared with processes.
    #[error("memory of a stream-ordered pool cannot be shared with other processes; allocate it by `shareable_array`")]
    NotShareable,
}
