//! What rustc made of a captured function: the types of its bindings, its callees, its constants.
//!
//! The macro emits, beside each function, a twin whose body is never run. In the twin an [`Observer`] stands for each
//! binding and a [`Callee`] for each call; rustc's own inference fixes their type variables, and instantiating the
//! twin for given generics reads them out as a [`Harvest`]. There is no second inference.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::kir::{AtomicOp, BarrierOp, Scalar, Scope, ShuffleOp, Space, VoteOp};
use crate::syntax::Definition;

/// A type as the front end sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// `()`, and the type of expressions that do not return.
    Unit,
    /// A number or `bool`; `usize` is `u64`, `isize` is `i64`.
    Scalar(Scalar),
    /// `&[T]` or, if true, `&mut [T]`.
    Slice(Scalar, bool, Space),
    /// `&[[T; N]; M]` or, if true, `&mut [[T; N]; M]`: an array in memory with its extents, outermost first.
    Array(Scalar, Vec<u64>, bool, Space),
    /// `[[T; N]; M]` with its extents, outermost first: an array of the thread's own.
    Owned(Scalar, Vec<u64>),
    /// `&T` or, if true, `&mut T`.
    Ref(Scalar, bool, Space),
    /// An ndarray view of so many dimensions, mutable if true.
    View(Scalar, usize, bool),
    /// A tuple.
    Tuple(Vec<Ty>),
    /// A struct with its fields in order.
    Struct(&'static str, Vec<(&'static str, Ty)>),
    /// `Option`.
    Option(Box<Ty>),
}

/// A type's name without its lifetimes: what specialisations are told apart by.
pub trait Key: 'static {
    /// The type.
    fn ty() -> Ty;
}

/// A type that values in a kernel can have.
///
/// The numbers, `bool`, `()`, arrays, tuples, `Option`, slices and ndarray views of numbers.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot hold a value of type `{Self}`",
    label = "this value's type is not known to the device",
    note = "kernels know the integers, `f32`, `f64`, `bool`, arrays, tuples and `Option` of them, and references to numbers, arrays, slices and ndarray views of numbers"
)]
pub trait DeviceType {
    /// The type without its lifetimes.
    type K: Key;
}

/// A [`DeviceType`] that is one number or `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number or `bool`",
    note = "constants, casts and the results of device functions are single numbers"
)]
pub trait ScalarType: ResultType + Copy + 'static {
    /// Which one.
    const SCALAR: Scalar;

    /// The value's bits, zero-extended.
    fn bits(self) -> u64;
}

/// What a device function can return: a number, `bool`, or nothing.
#[diagnostic::on_unimplemented(
    message = "a device function cannot return `{Self}`",
    note = "device functions return one number, one `bool`, or nothing"
)]
pub trait ResultType: DeviceType {}

impl ResultType for () {}

macro_rules! scalars {
    ($($ty:ty => $scalar:ident, |$v:ident| $bits:expr;)*) => { $(
        impl Key for $ty { fn ty() -> Ty { Ty::Scalar(Scalar::$scalar) } }
        impl DeviceType for $ty { type K = $ty; }
        impl ResultType for $ty {}
        impl ScalarType for $ty {
            const SCALAR: Scalar = Scalar::$scalar;
            fn bits(self) -> u64 { let $v = self; $bits }
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
    u8 => U8, |v| u64::from(v);
    u16 => U16, |v| u64::from(v);
    u32 => U32, |v| u64::from(v);
    u64 => U64, |v| v;
    usize => U64, |v| v as u64;
    f32 => F32, |v| u64::from(v.to_bits());
    f64 => F64, |v| v.to_bits();
}

/// The key of `&[T]`, or of `&mut [T]` if `MUTABLE`.
#[derive(Debug)]
pub struct SliceKey<K, const MUTABLE: bool>(PhantomData<K>);

impl<K: ScalarType, const MUTABLE: bool> Key for SliceKey<K, MUTABLE> {
    fn ty() -> Ty {
        Ty::Slice(K::SCALAR, MUTABLE, Space::Global)
    }
}

impl<T: ScalarType> DeviceType for &[T] {
    type K = SliceKey<T, false>;
}

impl<T: ScalarType> DeviceType for &mut [T] {
    type K = SliceKey<T, true>;
}

/// An array of numbers, or of such arrays.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array of numbers",
    note = "shared memory holds arrays of numbers, nested or not, such as `[[f32; 16]; 16]`"
)]
pub trait ArrayType: 'static {
    /// The numbers' type.
    const SCALAR: Scalar;

    /// Appends the extents, outermost first.
    fn extents(extents: &mut Vec<u64>);
}

impl<T: ArrayElement, const N: usize> ArrayType for [T; N] {
    const SCALAR: Scalar = T::SCALAR;

    fn extents(extents: &mut Vec<u64>) {
        extents.push(N as u64);
        T::extents(extents);
    }
}

/// What an [`ArrayType`] holds: numbers or arrays.
pub trait ArrayElement: 'static {
    /// The numbers' type.
    const SCALAR: Scalar;

    /// Appends the extents below this one.
    fn extents(extents: &mut Vec<u64>);
}

impl<T: ScalarType> ArrayElement for T {
    const SCALAR: Scalar = <T as ScalarType>::SCALAR;

    fn extents(_: &mut Vec<u64>) {}
}

impl<T: ArrayElement, const N: usize> ArrayElement for [T; N] {
    const SCALAR: Scalar = T::SCALAR;

    fn extents(extents: &mut Vec<u64>) {
        <Self as ArrayType>::extents(extents);
    }
}

/// The key of `&[T; N]`, or of `&mut [T; N]` if `MUTABLE`.
#[derive(Debug)]
pub struct ArrayKey<A, const MUTABLE: bool>(PhantomData<A>);

impl<A: ArrayType, const MUTABLE: bool> Key for ArrayKey<A, MUTABLE> {
    fn ty() -> Ty {
        let (scalar, extents) = array_of::<A>();
        Ty::Array(scalar, extents, MUTABLE, Space::Shared)
    }
}

/// The key of `[T; N]`.
#[derive(Debug)]
pub struct OwnedKey<A>(PhantomData<A>);

impl<A: ArrayType> Key for OwnedKey<A> {
    fn ty() -> Ty {
        let (scalar, extents) = array_of::<A>();
        Ty::Owned(scalar, extents)
    }
}

impl<T: ArrayElement, const N: usize> DeviceType for [T; N] {
    type K = OwnedKey<[T; N]>;
}

impl<T: ArrayElement, const N: usize> DeviceType for &[T; N] {
    type K = ArrayKey<[T; N], false>;
}

impl<T: ArrayElement, const N: usize> DeviceType for &mut [T; N] {
    type K = ArrayKey<[T; N], true>;
}

/// The key of `&T`, or of `&mut T` if `MUTABLE`.
#[derive(Debug)]
pub struct RefKey<K, const MUTABLE: bool>(PhantomData<K>);

impl<K: ScalarType, const MUTABLE: bool> Key for RefKey<K, MUTABLE> {
    fn ty() -> Ty {
        Ty::Ref(K::SCALAR, MUTABLE, Space::Global)
    }
}

impl<T: ScalarType> DeviceType for &T {
    type K = RefKey<T, false>;
}

impl<T: ScalarType> DeviceType for &mut T {
    type K = RefKey<T, true>;
}

/// The key of an ndarray view of `DIMS` dimensions, mutable if `MUTABLE`.
#[derive(Debug)]
pub struct ViewKey<K, const DIMS: usize, const MUTABLE: bool>(PhantomData<K>);

impl<K: ScalarType, const DIMS: usize, const MUTABLE: bool> Key for ViewKey<K, DIMS, MUTABLE> {
    fn ty() -> Ty {
        Ty::View(K::SCALAR, DIMS, MUTABLE)
    }
}

macro_rules! views {
    ($($dims:literal $dimension:ident)*) => { $(
        impl<T: ScalarType> DeviceType for ndarray::ArrayView<'_, T, ndarray::$dimension> {
            type K = ViewKey<T, $dims, false>;
        }
        impl<T: ScalarType> DeviceType for ndarray::ArrayViewMut<'_, T, ndarray::$dimension> {
            type K = ViewKey<T, $dims, true>;
        }
    )* };
}

views! { 1 Ix1 2 Ix2 3 Ix3 4 Ix4 5 Ix5 6 Ix6 }

/// The key of `Option`.
#[derive(Debug)]
pub struct OptionKey<K>(PhantomData<K>);

impl<K: Key> Key for OptionKey<K> {
    fn ty() -> Ty {
        Ty::Option(Box::new(K::ty()))
    }
}

impl<T: DeviceType> DeviceType for Option<T> {
    type K = OptionKey<T::K>;
}

/// The key of a tuple of the types with these keys.
#[derive(Debug)]
pub struct TupleKey<K>(PhantomData<K>);

macro_rules! tuples {
    ($(($($name:ident),+))*) => { $(
        impl<$($name: Key),+> Key for TupleKey<($($name,)+)> {
            fn ty() -> Ty { Ty::Tuple(vec![$($name::ty()),+]) }
        }
        impl<$($name: DeviceType),+> DeviceType for ($($name,)+) { type K = TupleKey<($($name::K,)+)>; }
    )* };
}

tuples! { (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) (A, B, C, D, E, F, G) (A, B, C, D, E, F, G, H) }

impl Key for () {
    fn ty() -> Ty {
        Ty::Unit
    }
}

impl DeviceType for () {
    type K = ();
}

/// A type variable that rustc unifies with the type of a binding.
#[derive(Debug)]
pub struct Observer<K>(PhantomData<Cell<K>>);

impl<K> Default for Observer<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Observer<K> {
    /// A fresh variable.
    pub const fn new() -> Self {
        Observer(PhantomData)
    }

    /// Ties the variable to the type of a value.
    pub fn see<T: DeviceType<K = K>>(&self, _: &T) {}

    /// What the variable became.
    pub fn ty(&self) -> Ty
    where
        K: Key,
    {
        K::ty()
    }
}

/// The type that stands beside a device function under the same name.
pub trait DeviceFn {
    /// The types of its parameters, as a tuple.
    type Args;

    /// This specialisation.
    fn instance() -> Instance;
}

/// A function value that can be called with `Args`, a tuple.
pub trait FnLike<Args> {}

macro_rules! fn_like {
    ($(($($name:ident),*))*) => { $(
        impl<Func, Out, $($name),*> FnLike<($($name,)*)> for Func where Func: Fn($($name),*) -> Out {}
    )* };
}

fn_like! { () (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) (A, B, C, D, E, F, G)
(A, B, C, D, E, F, G, H) (A, B, C, D, E, F, G, H, I) (A, B, C, D, E, F, G, H, I, J)
(A, B, C, D, E, F, G, H, I, J, K) (A, B, C, D, E, F, G, H, I, J, K, L) }

/// A device function whose generic arguments rustc infers from a call.
#[derive(Debug)]
pub struct Callee<F>(PhantomData<Cell<F>>);

impl<F: DeviceFn> Default for Callee<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: DeviceFn> Callee<F> {
    /// A callee whose generic arguments are still open.
    pub const fn new() -> Self {
        Callee(PhantomData)
    }

    /// Ties the generic arguments to those of a function value.
    pub fn see<V: FnLike<F::Args>>(&self, _: &V) {}

    /// The specialisation that is called.
    pub fn instance(&self) -> Instance {
        F::instance()
    }
}

/// A generic argument of a specialisation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GenericArg {
    /// A type.
    Type(Ty),
    /// The bits of a constant.
    Const(u64),
}

/// What a device function is.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Captured Rust.
    Captured(&'static Definition, fn() -> Harvest),
    /// Something that the front end lowers itself.
    Intrinsic(Intrinsic),
}

/// Functions that kernels call and that are not written in Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// The thread's position in the grid, in this many dimensions.
    Grid(usize),
    /// The grid's extent in threads, in this many dimensions.
    GridSize(usize),
    /// The thread's index in its block.
    ThreadIdx,
    /// The block's index in the grid.
    BlockIdx,
    /// The block's extent in threads.
    BlockDim,
    /// The grid's extent in blocks.
    GridDim,
    /// The lane in the warp.
    LaneId,
    /// The number of lanes in a warp.
    WarpSize,
    /// Waits for the block.
    Barrier,
    /// Waits for the block and combines a `bool`.
    BarrierReduce(BarrierOp),
    /// Orders memory operations.
    Fence(Scope),
    /// Changes a number at once.
    Atomic(AtomicOp),
    /// Replaces a number if it is the expected one.
    CompareExchange,
    /// Takes a number from another lane.
    Shuffle(ShuffleOp),
    /// Combines a `bool` of the lanes.
    Vote(VoteOp),
    /// Finds the lanes with the same number.
    MatchAny,
    /// Waits for lanes.
    SyncWarp,
    /// The lanes that run together.
    ActiveMask,
}

/// One specialisation of a device function or kernel.
#[derive(Clone, Debug)]
pub struct Instance {
    /// What it is.
    pub body: Body,
    /// Its generic arguments, which together with the definition's address tell specialisations apart.
    pub generics: Vec<GenericArg>,
}

/// The answers of one specialisation's twin, by the numbers in the captured syntax.
#[derive(Clone, Debug)]
pub struct Harvest {
    /// The type of each parameter.
    pub params: Vec<Ty>,
    /// The type of the result.
    pub result: Ty,
    /// The type of each binding; `None` for closures.
    pub bindings: Vec<Option<Ty>>,
    /// Each constant's type and bits.
    pub consts: Vec<(Scalar, u64)>,
    /// The function that each call calls.
    pub callees: Vec<Instance>,
    /// The types named in casts.
    pub types: Vec<Scalar>,
    /// The arrays in shared memory: the numbers' type and the extents, outermost first.
    pub arrays: Vec<(Scalar, Vec<u64>)>,
}

/// The type of a parameter or result, by name.
pub fn ty_of<T: DeviceType>() -> Ty {
    T::K::ty()
}

/// The type of a device function's result.
pub fn result_of<T: ResultType>() -> Ty {
    T::K::ty()
}

/// A constant's type and bits.
pub fn const_of<T: ScalarType>(value: T) -> (Scalar, u64) {
    (T::SCALAR, value.bits())
}

/// The numbers' type of an array, and its extents, outermost first.
pub fn array_of<A: ArrayType>() -> (Scalar, Vec<u64>) {
    let mut extents = Vec::new();
    A::extents(&mut extents);
    (A::SCALAR, extents)
}

/// The type named in a cast.
pub fn scalar_of<T: ScalarType>() -> Scalar {
    T::SCALAR
}
