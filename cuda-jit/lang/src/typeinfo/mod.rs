//! Type information: rustc's types of a captured function's bindings, its resolved callees, and its constants.
//!
//! The macro emits, beside each function, a typing probe, whose body is type-checked and never run. In it, each binding and
//! each call has a type witness: a raw pointer whose type is an inference variable that unifies with the subject's type.
//! Instantiating the typing probe for given generic arguments returns these types as a [`ProbeResult`]. There is no second
//! type inference.
//!
//! # Safety
//!
//! A launch is safe because the type information about the kernel is correct. This is the responsibility of the
//! implementations of the `unsafe` traits here and in the files below, which the macros write, and of the code that creates
//! a [`ProbeResult`].

pub(crate) mod by_path;
pub mod checked;
mod closures;
pub mod compare;
mod constructor;
mod convert;
mod errors;
mod fingerprint;
pub mod host_only;
mod identity;
mod instance;
mod intrinsic;
mod keys;
mod launch_bounds;
pub mod layout;
pub mod names;
mod no_callee;
pub mod non_device;
pub(crate) mod operation;
mod operator;
pub mod pattern;
mod queries;
mod reported;
mod types;
mod upper_case;
mod views;

use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

pub use by_path::ByPath;
pub use closures::{BoxedCallee, OtherCallee, boxed};
pub use compare::{Comparisons, Pairs};
pub use constructor::{
    CalledFunction, Construction, Constructor, ConstructorValue, Constructs, ControlFlowVariants, FnReturning,
    FunctionValue, OptionVariants, ResultVariants, called_path, value_path,
};
pub use convert::{
    Conversion, DeviceFrom, DeviceInto, DeviceTryFrom, DeviceTryInto, Dropped, FittedTry, IntoConversion, IntoOnDevice,
    MistypedTry, TryConversion, TryIntoConversion, TryIntoOnDevice, TryOperand, TypedDropped, UntypedFittedTry,
    UntypedTry,
};
pub use fingerprint::Fingerprint;
pub use identity::{owner_arg, type_arg};
pub use instance::{Body, CapturedBody, GenericArg, Instance, no_body};
pub use intrinsic::{Exchange, GroupOp, Intrinsic};
pub use keys::{
    ArrayKey, CastType, DeviceType, ElementType, KernelParam, Key, OptionKey, RefKey, ResultKey, ScalarType, SliceKey,
    TupleKey, ValueType, any_value, spelled,
};
pub use launch_bounds::launch_bound;
pub use no_callee::{MarkedWithDevice, NoCallee, TextMethods};
pub use operation::{Math, Operation, Parameters, Typing};
pub use operator::{
    Derefs, DeviceOperator, KernelsFollowNoDeref, ListedOperator, MemoryLayout, NoDeref, NoPadding, PinnedLayout,
    SameFunction, SameTrait, operators, standard_function, standard_trait,
};
pub use reported::{ToConstant, TypedConstant, constant_like, report};
pub use types::{
    Arithmetic, ClosureId, EnumTy, Field, Memory, Operator, Passed, StructTy, SumIdentity, SumTy, Ty, VariantTy,
};
pub use types::{CONTROL_FLOW_BREAK, CONTROL_FLOW_CONTINUE, OPTION_NONE, OPTION_SOME, RESULT_ERR, RESULT_OK};
pub use upper_case::{UpperCaseConstructor, UpperCasePath, upper_case_path};
pub use views::{
    PlaneMethods, PlaneShape, SectionIndex, ShapeOp, SharedView, SliceOfView, UniqueView, ViewCall, ViewCallee,
    ViewConversion, ViewDim, ViewFunctions, ViewIntrinsic, ViewKey, ViewMethods, ViewOp, WholeView, op, section_index,
};

use crate::kir::Scalar;
use crate::syntax::Definition;

/// The function that reports the type of a witness.
pub fn reported_type<T: DeviceType>(_: *const T) -> fn() -> Ty {
    ty_of::<T>
}

/// Unifies the type of a closure's argument, which may be coerced to the parameter's or have parts that are, with a witness.
pub fn closure_argument<T>(_: *const T, value: T) -> T {
    value
}

/// The result of a closure, with the type of its witness.
///
/// # Panics
///
/// Always: the typing probe is never run.
pub fn closure_result<T>(_: *const T) -> T {
    unreachable!("a typing probe is never run")
}

/// The function that reports the specialisation of a callee's witness.
pub fn resolved_callee<F: DeviceFn>(_: *const F) -> fn() -> Instance {
    F::instance
}

/// The type beside a device function, which names the function and its generic arguments.
///
/// # Safety
///
/// [`instance`](Self::instance) is the function that the type is named after, with these arguments and this result, as
/// rustc has type-checked it; it always returns the same value. `#[device]` implements it.
#[diagnostic::on_unimplemented(
    message = "the device has no code for this call",
    label = "called with a type that the function does not take on the device",
    note = "the types of its arguments, and the type whose function it is, must derive `DeviceType`"
)]
pub unsafe trait DeviceFn {
    /// The types of its parameters, as a tuple.
    type Args;
    /// The type of its result.
    type Output;

    /// This specialisation.
    fn instance() -> Instance;
}

/// A function value that can be called with `Args`, a tuple.
///
/// Nothing unsafe relies on an implementation: the compiler compares a call's arguments with the function's parameters.
pub trait FnLike<Args> {
    /// Its result.
    type Output;
}

macro_rules! fn_like {
    ($(($($name:ident),*))*) => { $(
        impl<Func, Out, $($name),*> FnLike<($($name,)*)> for Func where Func: Fn($($name),*) -> Out {
            type Output = Out;
        }
    )* };
}

fn_like! { () (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) (A, B, C, D, E, F, G)
(A, B, C, D, E, F, G, H) (A, B, C, D, E, F, G, H, I) (A, B, C, D, E, F, G, H, I, J)
(A, B, C, D, E, F, G, H, I, J, K) (A, B, C, D, E, F, G, H, I, J, K, L) }

/// The type of a closure that a device function takes: the function is inlined, and the closure with it.
#[derive(Debug)]
pub enum Closure {}

// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl Key for Closure {
    fn ty() -> Ty {
        Ty::CLOSURE
    }
}

/// Unconstrained arguments and result, for callees whose path has all generic arguments.
#[derive(Debug)]
pub struct Unconstrained;

impl<V> FnLike<Unconstrained> for V {
    type Output = Unconstrained;
}

/// The arguments of a trait's method that takes only a receiver: of a path such as `Option::unwrap`, rustc infers the type that has
/// the method.
#[derive(Debug)]
pub struct OnlySelf<S>(PhantomData<fn(S)>);

impl<V, Out, S> FnLike<OnlySelf<S>> for V
where
    V: Fn(S) -> Out,
{
    type Output = Unconstrained;
}

/// The same for a method that takes only a reference, and returns none.
#[derive(Debug)]
pub struct OnlyRefSelf<S: ?Sized>(PhantomData<fn(*const S)>);

impl<V, Out, S: ?Sized> FnLike<OnlyRefSelf<S>> for V
where
    V: for<'a> Fn(&'a S) -> Out,
{
    type Output = Unconstrained;
}

/// A device function whose generic arguments rustc infers from a call.
#[derive(Debug)]
pub struct Callee<F>(PhantomData<Cell<F>>);

impl<F> Default for Callee<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F> Callee<F> {
    /// A callee, whose generic arguments may still be inference variables.
    pub const fn new() -> Self {
        Callee(PhantomData)
    }

    /// Unifies the callee with its witness.
    pub fn of(self, _: *const F) -> Self {
        self
    }
}

/// The result of a method's call, with a callee whose generic arguments rustc infers from that call.
#[derive(Debug)]
pub struct Returned<F, R>(PhantomData<Cell<F>>, PhantomData<fn() -> R>);

impl<F, R> Default for Returned<F, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F, R> Returned<F, R> {
    /// The result of a call in a typing probe.
    pub const fn new() -> Self {
        Returned(PhantomData, PhantomData)
    }

    /// Unifies the callee with its witness.
    ///
    /// # Panics
    ///
    /// Always: the typing probe is never run.
    pub fn of(self, _: *const F) -> R {
        unreachable!("a typing probe is never run")
    }
}

impl<F> Callee<F> {
    /// Unifies the generic arguments with those of a function value.
    pub fn unify<V>(self, _: &V) -> Self
    where
        F: DeviceFn,
        V: FnLike<F::Args, Output = F::Output>,
    {
        self
    }

    /// Unifies the generic arguments with those of a path that is an argument.
    pub fn argument<'a, V, C: Fn() -> &'a V>(self, value: &V, _: C) -> Self
    where
        F: DeviceFn,
        V: FnLike<F::Args, Output = F::Output> + 'a,
    {
        self.unify(value)
    }

    /// Unifies the callee, and the function value that its path names, with a witness.
    pub fn by<V>(self, _: *const ByPath<F, V>, _: &V) -> Self {
        self
    }
}

/// A host-updatable constant, as the runtime represents it.
pub type HostConstant = Arc<dyn Any + Send + Sync>;

/// A constant's type and the bits of the numbers in it, in order.
#[derive(Clone, Debug)]
pub struct ConstValue {
    /// Its type.
    pub ty: Ty,
    /// The bits of each number.
    pub cells: Vec<u128>,
    /// The host's representation of it, if it is a `Constant`.
    pub host_constant: Option<HostConstant>,
}

/// A name or path in a pattern, or a constructor, as rustc resolved it.
#[derive(Clone, Debug)]
pub enum Resolved {
    /// A constant, or a variant without fields.
    Constant(ConstValue),
    /// The number of an enum's variant; 0 for a struct.
    Variant(usize),
}

/// An item that a path in a kernel can name.
///
/// # Safety
///
/// The value is of the type `ty`; `host_constant`, if it is set, is a `Constant` of that type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a constant of the device language",
    note = "there are numbers, `bool`, tuples, arrays and `Option` of them, structs and enums with `#[derive(DeviceType)]`, slices and arrays of all these behind a `&` and arrays of such references, and `static` items of type `Constant`"
)]
pub unsafe trait ConstItem<'a> {
    /// Its type and value.
    fn value(item: &'a Self) -> ConstValue;
}

#[diagnostic::do_not_recommend]
// SAFETY: the type is described by its key, and the cells are those of the value by the contract of `ValueType`.
unsafe impl<'a, T: ValueType> ConstItem<'a> for T {
    fn value(item: &'a T) -> ConstValue {
        let mut cells = Vec::with_capacity(T::CELLS);
        item.cells(&mut |cell| cells.push(cell));
        ConstValue { ty: T::K::ty(), cells, host_constant: None }
    }
}

/// Implements `ConstItem` for types of constants that refer to others. No user can implement `ValueType` for them.
macro_rules! referring {
    ($([$($generics:tt)*] $ty:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: the type is described by its key, and the cells of a reference are those of what it refers to.
        unsafe impl<$($generics)*> ConstItem<'_> for $ty {
            fn value(item: &Self) -> ConstValue {
                let mut cells = Vec::new();
                item.__cells(&mut |cell| cells.push(cell));
                ConstValue { ty: <$ty as DeviceType>::K::ty(), cells, host_constant: None }
            }
        }
    )*};
}

referring! {
    [T: ValueType] &'static [T];
    [T: ValueType, const N: usize] &'static [T; N];
    [T: ValueType, const M: usize] [&'static [T]; M];
    [T: ValueType, const N: usize, const M: usize] [&'static [T; N]; M];
}

/// The type information of one specialisation, by the numbers in the captured syntax.
///
/// It is created by [`Answers::into_result`], or by the `unsafe` [`ProbeResult::new`], and only read otherwise.
#[derive(Clone, Debug)]
pub struct ProbeResult(TypeInfo);

impl ProbeResult {
    /// The type information of a typing probe.
    ///
    /// # Safety
    ///
    /// The type information is rustc's for the function `reported.of`.
    pub unsafe fn new(reported: TypeInfo) -> Self {
        ProbeResult(reported)
    }

    /// The type information.
    #[must_use]
    pub fn into_info(self) -> TypeInfo {
        self.0
    }
}

/// The type information of a function, as the compiler reads it.
#[derive(Clone, Debug)]
pub struct TypeInfo {
    /// The function that the typing probe belongs to.
    pub of: &'static Definition,
    /// The type of each parameter.
    pub params: Vec<Ty>,
    /// The type of the result.
    pub result: Ty,
    /// The types of the bindings, by [`Binding::reported`](crate::syntax::Binding::reported); `None` for closures.
    pub bindings: Vec<Option<Ty>>,
    /// The types of the bindings as the source spells them, for debug information; otherwise empty.
    pub spelled: Vec<Option<Ty>>,
    /// Each constant.
    pub consts: Vec<ConstValue>,
    /// The item that each name or path in a pattern, and each constructor, resolves to; `None` for a name that is a
    /// binding.
    pub patterns: Vec<Option<Resolved>>,
    /// The function that each call resolves to.
    pub callees: Vec<Instance>,
    /// The types in casts.
    pub types: Vec<Scalar>,
    /// The types of struct expressions and patterns, and of arrays in shared memory.
    pub named: Vec<Ty>,
    /// A kernel's launch bounds: the most threads per block, the least blocks per multiprocessor, the most blocks per cluster; 0
    /// if unset.
    pub launch_bounds: [u32; 3],
}

/// The results of a typing probe's witnesses. Types are represented by functions that report them, which cost rustc less
/// than values.
#[derive(Clone, Debug)]
pub struct Answers<'a> {
    /// The type of each parameter.
    pub params: &'a [fn() -> Ty],
    /// The type of the result.
    pub result: fn() -> Ty,
    /// The type of each binding after the parameters.
    pub locals: Vec<Ty>,
    /// The function that each call resolves to.
    pub callees: &'a [fn() -> Instance],
    /// The types in casts.
    pub types: &'a [Scalar],
    /// The types of struct expressions and patterns, and of arrays in shared memory.
    pub named: &'a [fn() -> Ty],
    /// The item that each name or path in a pattern, and each constructor, resolves to.
    pub patterns: &'a [Option<Resolved>],
}

impl Answers<'_> {
    /// Combines the witnesses' results with the constants.
    ///
    /// # Safety
    ///
    /// They are the results for the function `of`, in the order in which its definition numbers them, and rustc has
    /// type-checked that function.
    #[must_use]
    pub unsafe fn into_result(self, of: &'static Definition, consts: &[ConstValue]) -> ProbeResult {
        let params = report(self.params);
        let bindings = params.iter().cloned().chain(self.locals);
        ProbeResult(TypeInfo {
            of,
            bindings: bindings.map(Ty::of_binding).collect(),
            spelled: Vec::new(),
            params,
            result: (self.result)(),
            consts: consts.to_vec(),
            patterns: self.patterns.to_vec(),
            callees: self.callees.iter().map(|instance| instance()).collect(),
            types: self.types.to_vec(),
            named: report(self.named),
            launch_bounds: [0; 3],
        })
    }
}

/// The type of a closure's binding.
pub fn closure_ty() -> Ty {
    Ty::CLOSURE
}

/// The type of a struct's field.
#[derive(Debug)]
pub struct FieldType<T> {
    ty: fn() -> Ty,
    cells: fn(&T, &mut dyn FnMut(u128)),
    value: fn() -> Option<T>,
}

/// The type of a struct's field, by name.
pub fn field_type<T: DeviceType>() -> FieldType<T> {
    FieldType { ty: T::K::ty, cells: T::__cells, value: any_value }
}

impl<T> FieldType<T> {
    /// The type.
    pub fn ty(self) -> Ty {
        (self.ty)()
    }

    /// A value of the type, if the host can construct one.
    pub fn value(self) -> Option<T> {
        (self.value)()
    }

    /// Calls `push` with as many zeros as a value has numbers.
    pub fn zeros(self, push: &mut dyn FnMut(u128)) {
        (0..(self.ty)().cells()).for_each(|_| push(0));
    }

    /// Calls `push` with the bits of each number in a field's value.
    pub fn cells(self, value: &T, push: &mut dyn FnMut(u128)) {
        (self.cells)(value, push);
    }
}

/// The type of a parameter or result.
pub fn ty_of<T: DeviceType>() -> Ty {
    T::K::ty()
}

/// The type of a kernel's parameter.
pub fn param_of<T: KernelParam>() -> Ty {
    T::K::ty()
}

/// Unifies a witness with the type of an array in shared memory.
pub fn shared_array<T>(_: *const T) {}

/// A constant's type and bits.
pub fn const_of<'a, T: ConstItem<'a>>(item: &'a T) -> ConstValue {
    T::value(item)
}

/// The bits of a const parameter.
pub fn bits_of<T: ScalarType>(value: T) -> u128 {
    value.bits()
}

/// Unifies a witness with the type in a cast.
pub fn cast_to<T>(_: *const T) {}

/// Unifies a witness with the type of a cast to `_`, and returns the value.
pub fn inferred_cast<T: CastType>(_: *const T, value: T) -> T {
    value
}

/// The type in a cast, from its witness.
pub fn cast_type<T: CastType>(_: *const T) -> Scalar {
    T::TARGET
}

/// Unifies a witness with the closure that returns a constant. The typing probe has the closure where the constant is
/// named, so that rustc resolves its path there.
pub fn constant<R: ToConstant, F: Fn() -> R>(_: *const F, _: F) {}

/// The constant that a closure returns, by the closure's witness.
///
/// # Safety
///
/// The closure captures only by reference, except for closures that capture nothing.
pub unsafe fn evaluated<R: ToConstant, F: Fn() -> R>(_: *const F) -> ConstValue {
    const { assert!(size_of::<F>() == 0, "a variable is named where a constant is expected") };
    // SAFETY: the closure has no size, as the assertion above ensures, and the caller guarantees that all captures are by
    // reference or of closures without captures.
    unsafe { run::<R, F>() }.into_constant()
}

/// The result of a closure that captures nothing.
///
/// # Safety
///
/// The closure has no size. It captures only by reference, except for closures that capture nothing.
unsafe fn run<T, F: Fn() -> T>() -> T {
    // SAFETY: A closure that captured a reference would have a size, and the caller guarantees that it captures nothing
    // else except closures without captures. So it has no bytes, and any well-aligned pointer points to a value of it.
    let closure = unsafe { &*const { std::ptr::dangling::<F>() } };
    closure()
}
