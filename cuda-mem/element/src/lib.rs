//! The types whose values can live in device memory ([`Element`]), and their names in exchange formats ([`Exchanged`]).
//!
//! `cuda-mem` re-exports both. They are a separate package for crates that name them and need no driver.
//!
//! # Safety
//!
//! The implementations are for types that are plain data by the language's definition.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

use half::{bf16, f16};
use num_complex::Complex;

/// Plain data: types without padding, pointers or references, for which every bit pattern is a valid value.
///
/// This makes device memory safe to read whatever it contains: memory that was never written, or that a kernel wrote
/// racily, is an unspecified value of the type and nothing worse. `bool` and `char` are not plain data.
///
/// # Safety
///
/// The type has no padding bytes, every bit pattern of its size is a valid value, its layout is defined (a primitive, an
/// array, or a `repr(C)` or `repr(transparent)` struct of such), and it is aligned to at most 256 bytes.
///
/// # Examples
///
/// ```
/// fn bytes_of<T: cuda_mem::Element>() -> usize {
///     size_of::<T>()
/// }
/// assert_eq!(bytes_of::<[f32; 3]>(), 12);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot lie in device memory",
    note = "device memory holds integers, floats, arrays of them and `#[repr(C)]` structs of such; a `bool` is kept as a `u8`"
)]
pub unsafe trait Element: Copy + Send + Sync + 'static {}

macro_rules! elements {
    ($($primitive:ty),*) => {
        $(
            // SAFETY: a primitive integer or float has no padding and no invalid bit pattern.
            unsafe impl Element for $primitive {}
        )*
    };
}

elements!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64);

// SAFETY: the type is a transparent struct of a `u16`, of which every bit pattern is a float.
unsafe impl Element for f16 {}
// SAFETY: the type is a transparent struct of a `u16`, of which every bit pattern is a float.
unsafe impl Element for bf16 {}

// SAFETY: the type is a `repr(C)` struct of two fields of one type, so that it has no padding.
unsafe impl<T: Element> Element for Complex<T> {}

// SAFETY: an array is its elements in sequence, without padding between them.
unsafe impl<T: Element, const N: usize> Element for [T; N] {}

/// The kind of number of an element; the discriminant is DLPack's code.
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
    /// An 8-bit float with 4 bits of exponent, without infinities: OCP's E4M3.
    Float8E4M3 = 10,
    /// An 8-bit float with 5 bits of exponent: OCP's E5M2.
    Float8E5M2 = 12,
    /// An 8-bit power of two: OCP's E8M0.
    Float8E8M0 = 14,
}

/// An element type that exchange formats support: its names in DLPack and the CUDA Array Interface.
///
/// Both support integers, floats and complex numbers. DLPack also supports `bf16`, 8-bit floats and vectors, for which
/// NumPy, and with it the array interface, has no type string. `bool` is a [`u8`] in device memory.
///
/// # Examples
///
/// ```
/// use cuda_mem::{Exchanged, NumberKind};
///
/// /// A number in 64ths.
/// #[derive(Clone, Copy)]
/// #[repr(transparent)]
/// struct Fixed(i32);
///
/// // SAFETY: it is a transparent struct of an integer.
/// unsafe impl cuda_mem::Element for Fixed {}
/// impl Exchanged for Fixed {
///     const KIND: NumberKind = NumberKind::Int;
/// }
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = cuda_mem::from_slice(&context, &[Fixed(64)])?;
/// assert_eq!(x.cuda_array_interface(&context.default_stream())?.typestr, "<i4");
/// # Ok(())
/// # }
/// ```
///
/// Nothing unsafe relies on an implementation: lanes that do not fill an element do not compile, and every bit pattern
/// is a number of any kind.
#[diagnostic::on_unimplemented(
    message = "other libraries have no name for arrays of `{Self}`",
    note = "DLPack and the CUDA Array Interface know numbers and short vectors of them; see arrays of `[T; N]`, and of structs \
            that hold nothing but one type, as numbers with one more axis: `view_as::<f32>()`"
)]
pub trait Exchanged: Element {
    /// The kind of number.
    const KIND: NumberKind;

    /// The number of numbers in an element.
    const LANES: u16 = 1;
}

macro_rules! exchanged {
    ($($kind:ident: $($type:ty),*;)*) => { $($(
        impl Exchanged for $type {
            const KIND: NumberKind = NumberKind::$kind;
        }
    )*)* };
}

exchanged! {
    Int: i8, i16, i32, i64, i128, isize;
    UInt: u8, u16, u32, u64, u128, usize;
    Float: f16, f32, f64;
    Bfloat: bf16;
    Complex: Complex<f32>, Complex<f64>;
}
