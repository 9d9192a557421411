//! Slices of numbers as slices of vectors.
//!
//! # Safety
//!
//! Slices of vectors are created from slices of numbers whose address is a multiple of the vector's alignment, and whose
//! bytes are those of the vectors.

use crate::num::Vector;
use crate::typeinfo::Intrinsic;

/// The panic message of [`as_vectors`].
#[doc(hidden)]
pub const MISALIGNED: &str = "the numbers do not begin at a multiple of {0} bytes, as vectors do";

/// Splits a slice of numbers into a slice of vectors, and the numbers after the last whole vector. A load of a vector is
/// one instruction for up to 16 bytes.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{as_vectors, atomic_add, grid}, f32x4, kernel};
///
/// #[kernel]
/// fn sum(x: &[f32], total: &mut [f32]) {
///     let (vectors, rest) = as_vectors::<f32x4>(x);
///     let i = grid::<1>();
///     if i < vectors.len() {
///         atomic_add(&mut total[0], vectors[i].dot(f32x4::splat(1.0)));
///     } else if i - vectors.len() < rest.len() {
///         atomic_add(&mut total[0], rest[i - vectors.len()]);
///     }
/// }
///
/// assert!(sum::compile_ptx((9, 0))?.contains("ld.global.nc.v4.b32"));
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = cuda_mem::from_slice(&context, &[1.0; 10])?;
/// let mut total = cuda_mem::from_slice(&context, &[0.0])?;
/// sum::launch((1, 32), &x, &mut total)?;
/// assert_eq!(total.copy_to_host()?[0], 10.0);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// If the slice does not begin at a multiple of the vector's alignment. Device arrays do.
pub fn as_vectors<V: Vector>(numbers: &[V::Number]) -> (&[V], &[V::Number]) {
    let (whole, rest) = numbers.split_at(whole::<V>(numbers));
    // SAFETY: `whole` has checked the alignment and returned a length within the slice; a vector consists of its numbers in
    // order without padding, and is plain data.
    let vectors = unsafe { std::slice::from_raw_parts(whole.as_ptr().cast(), whole.len() / V::COUNT) };
    (vectors, rest)
}

/// [`as_vectors`] of a mutable slice.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{as_vectors_mut, grid}, f32x4, kernel};
///
/// #[kernel]
/// fn double(x: &mut [f32]) {
///     let (vectors, rest) = as_vectors_mut::<f32x4>(x);
///     let i = grid::<1>();
///     if i < vectors.len() {
///         vectors[i] *= 2.0;
///     } else if i - vectors.len() < rest.len() {
///         rest[i - vectors.len()] *= 2.0;
///     }
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x = cuda_mem::from_slice(&context, &[1.5; 10])?;
/// double::launch((1, 32), &mut x)?;
/// assert_eq!(x.copy_to_host()?.to_vec(), [3.0; 10]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Panics
///
/// As [`as_vectors`].
pub fn as_vectors_mut<V: Vector>(numbers: &mut [V::Number]) -> (&mut [V], &mut [V::Number]) {
    let (whole, rest) = numbers.split_at_mut(whole::<V>(numbers));
    // SAFETY: `whole` has checked the alignment and returned a length within the slice; a vector consists of its numbers in
    // order without padding. The slice is mutably borrowed as long as the vectors exist.
    let vectors = unsafe { std::slice::from_raw_parts_mut(whole.as_mut_ptr().cast(), whole.len() / V::COUNT) };
    (vectors, rest)
}

/// The number of elements in whole vectors.
fn whole<V: Vector>(numbers: &[V::Number]) -> usize {
    let align = align_of::<V>();
    assert!(numbers.as_ptr().addr().is_multiple_of(align), "{}", MISALIGNED.replace("{0}", &align.to_string()));
    numbers.len() - numbers.len() % V::COUNT
}

calls! {
    <V: Vector> as_vectors(&'static [<V as Vector>::Number]) -> (&'static [V], &'static [<V as Vector>::Number])
        => Intrinsic::AsVectors;
    <V: Vector> as_vectors_mut(&'static mut [<V as Vector>::Number])
        -> (&'static mut [V], &'static mut [<V as Vector>::Number]) => Intrinsic::AsVectors;
}
