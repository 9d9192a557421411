//! Rust types that are device types: numbers, references, slices, arrays, tuples, `Option`, `Result`.
//!
//! A [`Key`] is the `'static` identity of a type, without its lifetimes. `#[derive(DeviceType)]` generates those of structs
//! and enums.
//!
//! # Safety
//!
//! The compiler and typed launches rely on the descriptions of types here, so these traits are `unsafe` or sealed. The only
//! unsafe code in this file is their implementations.

use std::cell::Cell;
use std::marker::PhantomData;
use std::num::FpCategory;

use super::types::{EnumTy, Memory, Ty};
use crate::kir::Scalar;
use cuda_mem_element::Element;

/// The `'static` identity of a type, by which specialisations are distinguished.
///
/// # Safety
///
/// [`ty`](Self::ty) describes the type whose key this is: its numbers in order and, for a struct, its fields with their
/// offsets, and the size and alignment that rustc gave it. It always returns the same value. `#[derive(DeviceType)]`
/// implements it.
pub unsafe trait Key: 'static {
    /// The type.
    fn ty() -> Ty;
}

/// A type of values in a kernel.
///
/// The numbers, `bool`, `()`, arrays, tuples, `Option`, references, slices, ndarray views, and the structs and enums that
/// derive it.
///
/// # Examples
///
/// ```
/// use cuda_jit::{DeviceType, kernel};
///
/// /// A step, which a kernel computes with but does not keep in memory.
/// #[derive(Clone, Copy, DeviceType)]
/// enum Step {
///     Forward(u32),
///     Stay,
/// }
///
/// #[kernel]
/// fn advance(x: &mut [u32], step: Step) {
///     x[0] += match step {
///         Step::Forward(by) => by,
///         Step::Stay => 0,
///     };
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x = [40];
/// advance::launch((1, 1), &mut x, Step::Forward(2))?;
/// advance::launch((1, 1), &mut x, Step::Stay)?;
/// assert_eq!(x, [42]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Safety
///
/// [`K`](Self::K) describes this type. `#[derive(DeviceType)]` implements it.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot hold a value of type `{Self}`",
    label = "this value's type is not known to the device",
    note = "kernels know the integers, `f32`, `f64`, `half`'s `f16` and `bf16`, num-complex's `Complex`, `bool`, vectors such as `f32x4`, arrays, tuples and `Option` of them, references, slices, ndarray views, and structs and enums with `#[derive(DeviceType)]`, if they are generic where the bounds of each operator that they list hold"
)]
pub unsafe trait DeviceType {
    /// The type's identity without its lifetimes.
    type K: Key;

    /// Calls `push` with the bits of each number in the value, in order; for a slice, with its length first.
    #[doc(hidden)]
    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        let _ = push;
    }

    /// A value of each variant in order, or one value of a type that is no enum; `None` for a value that the host cannot
    /// construct.
    #[doc(hidden)]
    fn __variants() -> Vec<Option<Self>>
    where
        Self: Sized,
    {
        vec![None]
    }
}

/// A value of a type, if the host can construct one.
pub fn any_value<T: DeviceType>() -> Option<T> {
    T::__variants().into_iter().flatten().next()
}

/// The maximum size in bytes of arrays that are constructed as values of their types.
const LARGEST_VALUE: usize = 4096;

/// A [`DeviceType`] without references, whose values are self-contained.
///
/// # Examples
///
/// ```
/// use cuda_jit::ValueType;
///
/// fn numbers<T: ValueType>(_: T) -> usize {
///     T::CELLS
/// }
/// assert_eq!((numbers(1.5_f32), numbers((1_u8, [2_i64; 3]))), (1, 4));
/// ```
///
/// # Safety
///
/// [`cells`](Self::cells) pushes [`CELLS`](Self::CELLS) numbers: those that the key's type consists of, in order, none of
/// which is an address. `#[derive(DeviceType)]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value of the device language",
    note = "there are numbers, `bool`, tuples, arrays and `Option` of them, and structs and enums with `#[derive(DeviceType)]`"
)]
pub unsafe trait ValueType: DeviceType + Copy + 'static {
    /// The number of cells in a value.
    const CELLS: usize;

    /// Calls `push` with the bits of each number in the value, in order.
    fn cells(&self, push: &mut dyn FnMut(u128)) {
        self.__cells(push);
    }
}

/// A [`ValueType`] that can lie in uninitialised memory: every bit pattern is a value.
///
/// # Examples
///
/// ```
/// use cuda_jit::{DeviceType, ElementType, device::grid, kernel};
///
/// #[derive(Clone, Copy, Debug, Default, PartialEq, DeviceType)]
/// #[repr(C)]
/// struct Point {
///     x: f32,
///     y: f32,
/// }
///
/// #[kernel]
/// fn fill<T: ElementType>(out: &mut [T], value: T) {
///     out[grid::<1>()] = value;
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut points = cuda_mem::from_slice(&context, &[Point::default(); 2])?;
/// fill::launch((1, 2), &mut points, Point { x: 1.0, y: 2.0 })?;
/// assert_eq!(points.copy_to_host()?.to_vec(), [Point { x: 1.0, y: 2.0 }; 2]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Safety
///
/// Every bit pattern of the numbers that it consists of is a value of the type, and its key has the layout that rustc gave
/// it. `#[derive(DeviceType)]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain data",
    label = "slices, views and shared memory cannot hold this",
    note = "memory holds numbers, arrays of them, and `#[derive(DeviceType)] #[repr(C)]` structs of such: not `Option`, tuples, enums or references, which have bit patterns that are no value"
)]
pub unsafe trait ElementType: ValueType + KernelParam {}

/// A type that a kernel's parameter can have.
///
/// Nothing unsafe relies on an implementation: `KernelArg` defines the types that a launch may pass for a parameter.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take a parameter of type `{Self}`",
    label = "this type cannot be passed to a kernel",
    note = "kernels take numbers, slices and ndarray views of plain data, `Option` of values, tuples and arrays of such, and `#[derive(DeviceType)]` structs; a slice stands for an array in memory"
)]
pub trait KernelParam: DeviceType {}

/// A [`DeviceType`] that is one number or `bool`; sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number or `bool`",
    note = "const parameters are single numbers"
)]
pub trait ScalarType: ElementType + CastType + sealed::Sealed {
    /// The number's type.
    const SCALAR: Scalar;

    /// The value's bits, zero-extended.
    fn bits(self) -> u128;
}

/// A type that `as` can name; sealed.
#[diagnostic::on_unimplemented(message = "`as` converts to numbers, not to `{Self}`")]
pub trait CastType: sealed::Sealed {
    /// The number's type.
    const TARGET: Scalar;
}

mod sealed {
    /// Seals [`ScalarType`](super::ScalarType) and [`CastType`](super::CastType).
    #[diagnostic::on_unimplemented(message = "`{Self}` cannot implement this trait of `cuda_jit`, which is sealed")]
    pub trait Sealed {}
}

thread_local! {
    /// True while types are reported as the source spells them.
    static SPELLED: Cell<bool> = const { Cell::new(false) };
}

/// Calls `report`, with `usize` and `isize` reported as the source spells them: as enums of these names, without variants.
/// Kernels treat them as `u64` and `i64`; only a debugger shows the difference.
pub fn spelled<R>(report: impl FnOnce() -> R) -> R {
    SPELLED.set(true);
    let reported = report();
    SPELLED.set(false);
    reported
}

/// The number type with this name.
fn number(name: &'static str, scalar: Scalar) -> Ty {
    match name {
        "usize" | "isize" if SPELLED.get() => {
            let comparisons = super::compare::of_ordering;
            Ty::Enum(EnumTy { name, variants: &[], comparisons, operators: Vec::new }, scalar)
        }
        _ => Ty::Scalar(scalar),
    }
}

macro_rules! scalars {
    ($($ty:ty => $scalar:ident, |$v:ident| $bits:expr;)*) => { $(
        // SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
        unsafe impl Key for $ty { fn ty() -> Ty { number(stringify!($ty), Scalar::$scalar) } }
        // SAFETY: the key describes this very type.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceType for $ty {
            type K = $ty;
            fn __cells(&self, push: &mut dyn FnMut(u128)) { push(self.bits()); }
            fn __variants() -> Vec<Option<Self>> { vec![Some(Self::default())] }
        }
        // SAFETY: the one cell is the number's bits, as its key describes.
        unsafe impl ValueType for $ty { const CELLS: usize = 1; }
        // SAFETY: every bit pattern of a number is a value; of a `bool` in memory only the lowest bit counts (KIR).
        #[diagnostic::do_not_recommend]
        unsafe impl ElementType for $ty {}
        #[diagnostic::do_not_recommend]
        impl KernelParam for $ty {}
        impl sealed::Sealed for $ty {}
        impl CastType for $ty { const TARGET: Scalar = Scalar::$scalar; }
        impl ScalarType for $ty {
            const SCALAR: Scalar = Scalar::$scalar;
            fn bits(self) -> u128 { let $v = self; u128::from($bits) }
        }
    )* };
}

scalars! {
    bool => Bool, |v| u64::from(v);
    i8 => I8, |v| u64::from(v as u8);
    i16 => I16, |v| u64::from(v as u16);
    i32 => I32, |v| u64::from(v as u32);
    i64 => I64, |v| v as u64;
    isize => I64, |v| v as u64;
    i128 => I128, |v| v as u128;
    u8 => U8, |v| u64::from(v);
    u16 => U16, |v| u64::from(v);
    u32 => U32, |v| u64::from(v);
    u64 => U64, |v| v;
    usize => U64, |v| v as u64;
    u128 => U128, |v| v;
    f32 => F32, |v| u64::from(v.to_bits());
    f64 => F64, |v| v.to_bits();
    half::f16 => F16, |v| u64::from(v.to_bits());
    half::bf16 => Bf16, |v| u64::from(v.to_bits());
}

/// On the device a `char` is its code point: it is compared, and converted from a `u8`, as a `u32`.
// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl Key for char {
    fn ty() -> Ty {
        Ty::Scalar(Scalar::U32)
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for char {
    type K = char;

    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        push(u128::from(u32::from(*self)));
    }

    fn __variants() -> Vec<Option<Self>> {
        vec![Some('\0')]
    }
}

// SAFETY: the one cell is the code point, as the key describes.
unsafe impl ValueType for char {
    const CELLS: usize = 1;
}

#[diagnostic::do_not_recommend]
impl KernelParam for char {}
impl sealed::Sealed for char {}
impl CastType for char {
    const TARGET: Scalar = Scalar::U32;
}

/// The key of `&[T]`, or of `&mut [T]` if `MUTABLE`.
#[derive(Debug)]
pub struct SliceKey<K, const MUTABLE: bool>(PhantomData<K>);

// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl<K: Key, const MUTABLE: bool> Key for SliceKey<K, MUTABLE> {
    fn ty() -> Ty {
        Ty::Slice(Box::new(K::ty()), Memory::unknown(MUTABLE))
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType> DeviceType for &[T] {
    type K = SliceKey<T::K, false>;

    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        push(self.len() as u128);
        self.iter().for_each(|element| element.__cells(push));
    }

    fn __variants() -> Vec<Option<Self>> {
        vec![Some(&[])]
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType> DeviceType for &mut [T] {
    type K = SliceKey<T::K, true>;

    fn __variants() -> Vec<Option<Self>> {
        vec![Some(&mut [])]
    }
}

#[diagnostic::do_not_recommend]
impl<T: ElementType + Element> KernelParam for &[T] {}

#[diagnostic::do_not_recommend]
impl<T: ElementType + Element> KernelParam for &mut [T] {}

/// The key of `&T`, or of `&mut T` if `MUTABLE`.
#[derive(Debug)]
pub struct RefKey<K: ?Sized, const MUTABLE: bool>(PhantomData<K>);

// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl<K: Key + ?Sized, const MUTABLE: bool> Key for RefKey<K, MUTABLE> {
    fn ty() -> Ty {
        Ty::Ref(Box::new(K::ty()), Memory::unknown(MUTABLE))
    }
}

// SAFETY: the key describes this very type.
unsafe impl Key for str {
    fn ty() -> Ty {
        Ty::Str
    }
}

/// A text that is known at compile time, such as the argument of `expect`.
// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for &str {
    type K = RefKey<str, false>;

    fn __variants() -> Vec<Option<Self>> {
        vec![Some("")]
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType> DeviceType for &T {
    type K = RefKey<T::K, false>;

    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        (**self).__cells(push);
    }

    fn __variants() -> Vec<Option<Self>> {
        T::__variants().into_iter().map(|value| Some(&*Box::leak(Box::new(value?)))).collect()
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType> DeviceType for &mut T {
    type K = RefKey<T::K, true>;

    fn __variants() -> Vec<Option<Self>> {
        T::__variants().into_iter().map(|value| Some(Box::leak(Box::new(value?)))).collect()
    }
}

/// The key of `[T; N]`.
#[derive(Debug)]
pub struct ArrayKey<K, const N: usize>(PhantomData<K>);

// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl<K: Key, const N: usize> Key for ArrayKey<K, N> {
    fn ty() -> Ty {
        Ty::Array(Box::new(K::ty()), N as u64)
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType, const N: usize> DeviceType for [T; N] {
    type K = ArrayKey<T::K, N>;

    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        self.iter().for_each(|element| element.__cells(push));
    }

    fn __variants() -> Vec<Option<Self>> {
        let elements = || (0..N).map(|_| any_value()).collect::<Option<Vec<T>>>()?.try_into().ok();
        vec![if size_of::<Self>() <= LARGEST_VALUE { elements() } else { None }]
    }
}

// SAFETY: the cells are those of the elements, in order, as the key describes.
unsafe impl<T: ValueType, const N: usize> ValueType for [T; N] {
    const CELLS: usize = N * T::CELLS;
}

// SAFETY: the elements are plain data, and an array has no padding between them.
#[diagnostic::do_not_recommend]
unsafe impl<T: ElementType, const N: usize> ElementType for [T; N] {}
#[diagnostic::do_not_recommend]
impl<T: KernelParam, const N: usize> KernelParam for [T; N] {}

/// The key of `Option`.
#[derive(Debug)]
pub struct OptionKey<K>(PhantomData<K>);

// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl<K: Key> Key for OptionKey<K> {
    fn ty() -> Ty {
        Ty::option(K::ty())
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType> DeviceType for Option<T> {
    type K = OptionKey<T::K>;

    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        push(u128::from(self.is_some()));
        match self {
            Some(value) => value.__cells(push),
            None => (0..T::K::ty().cells()).for_each(|_| push(0)),
        }
    }

    fn __variants() -> Vec<Option<Self>> {
        vec![Some(None), any_value().map(Some)]
    }
}

// SAFETY: the cells are the tag and the value's, or zeros instead, as the key describes.
unsafe impl<T: ValueType> ValueType for Option<T> {
    const CELLS: usize = 1 + T::CELLS;
}

#[diagnostic::do_not_recommend]
impl<T: ValueType> KernelParam for Option<T> {}

/// The key of `Result`.
#[derive(Debug)]
pub struct ResultKey<K, E>(PhantomData<(K, E)>);

// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl<K: Key, E: Key> Key for ResultKey<K, E> {
    fn ty() -> Ty {
        Ty::result(K::ty(), E::ty())
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType, E: DeviceType> DeviceType for Result<T, E> {
    type K = ResultKey<T::K, E::K>;

    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        push(u128::from(self.is_err()));
        match self {
            Ok(value) => {
                value.__cells(push);
                (0..E::K::ty().cells()).for_each(|_| push(0));
            }
            Err(error) => {
                (0..T::K::ty().cells()).for_each(|_| push(0));
                error.__cells(push);
            }
        }
    }

    fn __variants() -> Vec<Option<Self>> {
        vec![any_value().map(Ok), any_value().map(Err)]
    }
}

// SAFETY: the cells are the tag and those of both variants, with zeros for the other one, as the key describes.
unsafe impl<T: ValueType, E: ValueType> ValueType for Result<T, E> {
    const CELLS: usize = 1 + T::CELLS + E::CELLS;
}

#[diagnostic::do_not_recommend]
impl<T: ValueType, E: ValueType> KernelParam for Result<T, E> {}

/// The key of a tuple of the types with these keys.
#[derive(Debug)]
pub struct TupleKey<K>(PhantomData<K>);

macro_rules! tuples {
    ($(($($name:ident $index:tt),+))*) => { $(
        // SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
        unsafe impl<$($name: Key),+> Key for TupleKey<($($name,)+)> {
            fn ty() -> Ty { Ty::Tuple(vec![$($name::ty()),+]) }
        }
        // SAFETY: the key describes this very type.
        #[diagnostic::do_not_recommend]
        unsafe impl<$($name: DeviceType),+> DeviceType for ($($name,)+) {
            type K = TupleKey<($($name::K,)+)>;
            fn __cells(&self, push: &mut dyn FnMut(u128)) { $(self.$index.__cells(push);)+ }
            fn __variants() -> Vec<Option<Self>> {
                let value = || Some(($(any_value::<$name>()?,)+));
                vec![value()]
            }
        }
        // SAFETY: the cells are those of the elements, in order, as the key describes.
        unsafe impl<$($name: ValueType),+> ValueType for ($($name,)+) {
            const CELLS: usize = 0 $(+ $name::CELLS)+;
        }
        #[diagnostic::do_not_recommend]
        impl<$($name: KernelParam),+> KernelParam for ($($name,)+) {}
    )* };
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}

// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl Key for () {
    fn ty() -> Ty {
        Ty::Unit
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for () {
    type K = ();

    fn __variants() -> Vec<Option<Self>> {
        vec![Some(())]
    }
}

/// A marker has no data.
// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl<T: ?Sized> DeviceType for PhantomData<T> {
    type K = ();

    fn __variants() -> Vec<Option<Self>> {
        vec![Some(PhantomData)]
    }
}

// SAFETY: a marker has no cells, and its key describes none.
unsafe impl<T: ?Sized + 'static> ValueType for PhantomData<T> {
    const CELLS: usize = 0;
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + 'static> KernelParam for PhantomData<T> {}
// SAFETY: a marker has no bytes, so that there is only one bit pattern.
#[diagnostic::do_not_recommend]
unsafe impl<T: ?Sized + 'static> ElementType for PhantomData<T> {}

// SAFETY: `()` has no cells, and its key describes none.
unsafe impl ValueType for () {
    const CELLS: usize = 0;
}

// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl Key for std::cmp::Ordering {
    fn ty() -> Ty {
        Ty::ORDERING
    }
}

// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl Key for FpCategory {
    fn ty() -> Ty {
        Ty::FP_CATEGORY
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for FpCategory {
    type K = Self;

    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        push(*self as u128);
    }

    fn __variants() -> Vec<Option<Self>> {
        [Self::Nan, Self::Infinite, Self::Zero, Self::Subnormal, Self::Normal].map(Some).to_vec()
    }
}

// SAFETY: the one cell is the variant's number, as the key describes.
unsafe impl ValueType for FpCategory {
    const CELLS: usize = 1;
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for std::cmp::Ordering {
    type K = Self;

    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        push(u128::from(*self as i8 as u8));
    }

    fn __variants() -> Vec<Option<Self>> {
        vec![Some(Self::Less), Some(Self::Equal), Some(Self::Greater)]
    }
}

// SAFETY: the one cell is the variant's number, as the key describes.
unsafe impl ValueType for std::cmp::Ordering {
    const CELLS: usize = 1;
}
