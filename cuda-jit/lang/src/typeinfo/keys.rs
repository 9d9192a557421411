//! Rust types that are device types: numbers, references, slices, views, arrays, tuples, `Option`, `Result`.
//!
//! A [`Key`] is a type's name without its lifetimes. Structs and enums get theirs from `#[derive(DeviceType)]`.
//!
//! # Safety
//!
//! The compiler and typed launches believe what the traits here say of a type, so those are `unsafe` or sealed. There is no
//! unsafe code in this file but their implementations.

use std::cell::Cell;
use std::marker::PhantomData;

use super::types::{EnumTy, Memory, Ty};
use crate::kir::Scalar;
use cuda_mem_element::Element;

/// A type's name without its lifetimes: what specialisations are told apart by.
///
/// # Safety
///
/// [`ty`](Self::ty) describes the type whose key this is: its numbers in order and, of a struct, its fields with their offsets,
/// and the size and alignment that rustc gave it. It returns the same every time. `#[derive(DeviceType)]` implements it.
pub unsafe trait Key: 'static {
    /// The type.
    fn ty() -> Ty;
}

/// A type that values in a kernel can have.
///
/// The numbers, `bool`, `()`, arrays, tuples, `Option`, references, slices, ndarray views, and the structs and enums that
/// derive it.
///
/// # Safety
///
/// [`K`](Self::K) describes this type. `#[derive(DeviceType)]` implements it.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot hold a value of type `{Self}`",
    label = "this value's type is not known to the device",
    note = "kernels know the integers, `f32`, `f64`, `half`'s `f16` and `bf16`, num-complex's `Complex`, `bool`, vectors such as `f32x4`, arrays, tuples and `Option` of them, references, slices, ndarray views, and structs and enums with `#[derive(DeviceType)]`"
)]
pub unsafe trait DeviceType {
    /// The type without its lifetimes.
    type K: Key;

    /// Calls `push` with the bits of each number in the value, in order; of a slice, of its length first.
    #[doc(hidden)]
    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        let _ = push;
    }

    /// A value of each variant in order, of what is no enum one value; none where the host can make none.
    #[doc(hidden)]
    fn __variants() -> Vec<Option<Self>>
    where
        Self: Sized,
    {
        vec![None]
    }
}

/// A value of a type, if the host can make one.
pub fn any_value<T: DeviceType>() -> Option<T> {
    T::__variants().into_iter().flatten().next()
}

/// Arrays up to this size in bytes are made as values of their types.
const LARGEST_VALUE: usize = 4096;

/// A [`DeviceType`] that holds no references, so that it is a value by itself.
///
/// # Safety
///
/// [`cells`](Self::cells) pushes [`CELLS`](Self::CELLS) numbers: those that the key's type consists of, in order, none of which is
/// an address. `#[derive(DeviceType)]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value of the device language",
    note = "there are numbers, `bool`, tuples, arrays and `Option` of them, and structs and enums with `#[derive(DeviceType)]`"
)]
pub unsafe trait ValueType: DeviceType + Copy + 'static {
    /// How many cells a value consists of.
    const CELLS: usize;

    /// Calls `push` with the bits of each number in the value, in order.
    fn cells(&self, push: &mut dyn FnMut(u128)) {
        self.__cells(push);
    }
}

/// A [`ValueType`] that can lie in memory which holds anything at first: every bit pattern is a value.
///
/// # Safety
///
/// Every bit pattern of the numbers that it consists of is a value of the type, and its key tells the layout that rustc gave it.
/// `#[derive(DeviceType)]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain data",
    label = "slices, views and shared memory cannot hold this",
    note = "memory holds numbers, arrays of them, and `#[derive(DeviceType)] #[repr(C)]` structs of such: not `Option`, tuples, enums or references, which have bit patterns that are no value"
)]
pub unsafe trait ElementType: ValueType + KernelParam {}

/// A type that a kernel's parameter can have.
///
/// Nothing unsafe relies on an implementation: what a launch may pass for a parameter is said by
/// `KernelArg`.
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
    /// Which one.
    const SCALAR: Scalar;

    /// The value's bits, zero-extended.
    fn bits(self) -> u128;
}

/// A type that `as` can name; sealed.
#[diagnostic::on_unimplemented(message = "`as` makes numbers, not `{Self}`")]
pub trait CastType: sealed::Sealed {
    /// The number's type.
    const TARGET: Scalar;
}

mod sealed {
    /// Keeps [`ScalarType`](super::ScalarType) and [`CastType`](super::CastType) to the types below.
    #[diagnostic::on_unimplemented(message = "`{Self}` cannot implement this trait of `cuda_jit`, which is sealed")]
    pub trait Sealed {}
}

thread_local! {
    /// Whether types are told as the source spells them.
    static SPELLED: Cell<bool> = const { Cell::new(false) };
}

/// What `tell` tells, with `usize` and `isize` as the source spells them: as enums of these names, without variants. For all
/// that kernels do they are `u64` and `i64`; only a debugger shows the difference.
pub fn spelled<R>(report: impl FnOnce() -> R) -> R {
    SPELLED.set(true);
    let reported = report();
    SPELLED.set(false);
    reported
}

/// The number type of this name.
fn number(name: &'static str, scalar: Scalar) -> Ty {
    match name {
        "usize" | "isize" if SPELLED.get() => {
            Ty::Enum(EnumTy { name, variants: &[], comparisons: super::compare::of_ordering }, scalar)
        }
        _ => Ty::Scalar(scalar),
    }
}

macro_rules! scalars {
    ($($ty:ty => $scalar:ident, |$v:ident| $bits:expr;)*) => { $(
        // SAFETY: the type is the one that rustc knows by this key: the same numbers, in the same order.
        unsafe impl Key for $ty { fn ty() -> Ty { number(stringify!($ty), Scalar::$scalar) } }
        // SAFETY: the key tells this very type.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceType for $ty {
            type K = $ty;
            fn __cells(&self, push: &mut dyn FnMut(u128)) { push(self.bits()); }
            fn __variants() -> Vec<Option<Self>> { vec![Some(Self::default())] }
        }
        // SAFETY: the cells are the numbers that the type consists of, in the order in which its key tells them.
        unsafe impl ValueType for $ty { const CELLS: usize = 1; }
        // SAFETY: every bit pattern is a value, as it is of what the type consists of.
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

/// On the device a `char` is its number: it is compared, and made of a `u8`, as that.
// SAFETY: the type is the one that rustc knows by this key: the same numbers, in the same order.
unsafe impl Key for char {
    fn ty() -> Ty {
        Ty::Scalar(Scalar::U32)
    }
}

// SAFETY: the key tells this very type.
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

// SAFETY: the cells are the numbers that the type consists of, in the order in which its key tells them.
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

// SAFETY: the type is the one that rustc knows by this key: the same numbers, in the same order.
unsafe impl<K: Key, const MUTABLE: bool> Key for SliceKey<K, MUTABLE> {
    fn ty() -> Ty {
        Ty::Slice(Box::new(K::ty()), Memory::unknown(MUTABLE))
    }
}

// SAFETY: the key tells this very type.
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

// SAFETY: the key tells this very type.
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

// SAFETY: the type is the one that rustc knows by this key: the same numbers, in the same order.
unsafe impl<K: Key + ?Sized, const MUTABLE: bool> Key for RefKey<K, MUTABLE> {
    fn ty() -> Ty {
        Ty::Ref(Box::new(K::ty()), Memory::unknown(MUTABLE))
    }
}

// SAFETY: the key tells this very type.
unsafe impl Key for str {
    fn ty() -> Ty {
        Ty::Str
    }
}

/// A text that the compiler knows, as `expect` takes it.
// SAFETY: the key tells this very type.
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for &str {
    type K = RefKey<str, false>;

    fn __variants() -> Vec<Option<Self>> {
        vec![Some("")]
    }
}

// SAFETY: the key tells this very type.
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

// SAFETY: the key tells this very type.
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

// SAFETY: the type is the one that rustc knows by this key: the same numbers, in the same order.
unsafe impl<K: Key, const N: usize> Key for ArrayKey<K, N> {
    fn ty() -> Ty {
        Ty::Array(Box::new(K::ty()), N as u64)
    }
}

// SAFETY: the key tells this very type.
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

// SAFETY: the cells are the numbers that the type consists of, in the order in which its key tells them.
unsafe impl<T: ValueType, const N: usize> ValueType for [T; N] {
    const CELLS: usize = N * T::CELLS;
}

// SAFETY: every bit pattern is a value, as it is of what the type consists of.
#[diagnostic::do_not_recommend]
unsafe impl<T: ElementType, const N: usize> ElementType for [T; N] {}
#[diagnostic::do_not_recommend]
impl<T: KernelParam, const N: usize> KernelParam for [T; N] {}

/// The key of `Option`.
#[derive(Debug)]
pub struct OptionKey<K>(PhantomData<K>);

// SAFETY: the type is the one that rustc knows by this key: the same numbers, in the same order.
unsafe impl<K: Key> Key for OptionKey<K> {
    fn ty() -> Ty {
        Ty::option(K::ty())
    }
}

// SAFETY: the key tells this very type.
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

// SAFETY: the cells are the numbers that the type consists of, in the order in which its key tells them.
unsafe impl<T: ValueType> ValueType for Option<T> {
    const CELLS: usize = 1 + T::CELLS;
}

#[diagnostic::do_not_recommend]
impl<T: ValueType> KernelParam for Option<T> {}

/// The key of `Result`.
#[derive(Debug)]
pub struct ResultKey<K, E>(PhantomData<(K, E)>);

// SAFETY: the type is the one that rustc knows by this key: the same numbers, in the same order.
unsafe impl<K: Key, E: Key> Key for ResultKey<K, E> {
    fn ty() -> Ty {
        Ty::result(K::ty(), E::ty())
    }
}

// SAFETY: the key tells this very type.
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

// SAFETY: the cells are the numbers that the type consists of, in the order in which its key tells them.
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
        // SAFETY: the type is the one that rustc knows by this key: the same numbers, in the same order.
        unsafe impl<$($name: Key),+> Key for TupleKey<($($name,)+)> {
            fn ty() -> Ty { Ty::Tuple(vec![$($name::ty()),+]) }
        }
        // SAFETY: the key tells this very type.
        #[diagnostic::do_not_recommend]
        unsafe impl<$($name: DeviceType),+> DeviceType for ($($name,)+) {
            type K = TupleKey<($($name::K,)+)>;
            fn __cells(&self, push: &mut dyn FnMut(u128)) { $(self.$index.__cells(push);)+ }
            fn __variants() -> Vec<Option<Self>> {
                let value = || Some(($(any_value::<$name>()?,)+));
                vec![value()]
            }
        }
        // SAFETY: the cells are the numbers that the type consists of, in the order in which its key tells them.
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

// SAFETY: the type is the one that rustc knows by this key: the same numbers, in the same order.
unsafe impl Key for () {
    fn ty() -> Ty {
        Ty::Unit
    }
}

// SAFETY: the key tells this very type.
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for () {
    type K = ();

    fn __variants() -> Vec<Option<Self>> {
        vec![Some(())]
    }
}

/// What only marks a type holds nothing.
// SAFETY: the key tells this very type.
#[diagnostic::do_not_recommend]
unsafe impl<T: ?Sized> DeviceType for PhantomData<T> {
    type K = ();

    fn __variants() -> Vec<Option<Self>> {
        vec![Some(PhantomData)]
    }
}

// SAFETY: the cells are the numbers that the type consists of, in the order in which its key tells them.
unsafe impl<T: ?Sized + 'static> ValueType for PhantomData<T> {
    const CELLS: usize = 0;
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + 'static> KernelParam for PhantomData<T> {}
// SAFETY: every bit pattern is a value, as it is of what the type consists of.
#[diagnostic::do_not_recommend]
unsafe impl<T: ?Sized + 'static> ElementType for PhantomData<T> {}

// SAFETY: the cells are the numbers that the type consists of, in the order in which its key tells them.
unsafe impl ValueType for () {
    const CELLS: usize = 0;
}

// SAFETY: the type is the one that rustc knows by this key: the same numbers, in the same order.
unsafe impl Key for std::cmp::Ordering {
    fn ty() -> Ty {
        Ty::ORDERING
    }
}

// SAFETY: the key tells this very type.
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

// SAFETY: the cells are the numbers that the type consists of, in the order in which its key tells them.
unsafe impl ValueType for std::cmp::Ordering {
    const CELLS: usize = 1;
}
