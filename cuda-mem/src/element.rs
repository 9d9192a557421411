//! [`Element`]: the types whose values can live in device memory.
//!
//! # Safety
//!
//! The implementations here are for types that are plain data by the language's own definition.

/// Plain data: a type of which every bit pattern is a valid value, without padding, pointers or references.
///
/// That is what makes device memory safe to read whatever is in it: memory that was never written, or that a kernel wrote
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

// SAFETY: `half` makes it a transparent struct of a `u16`, of which every bit pattern is a float.
unsafe impl Element for half::f16 {}
// SAFETY: as for `f16`.
unsafe impl Element for half::bf16 {}

// SAFETY: num-complex makes it a `repr(C)` struct of two fields of one type, so that nothing lies between or behind them.
unsafe impl<T: Element> Element for num_complex::Complex<T> {}

// SAFETY: an array is its elements one after the other, without padding between them.
unsafe impl<T: Element, const N: usize> Element for [T; N] {}
