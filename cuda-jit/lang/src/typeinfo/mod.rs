//! What rustc made of a captured function: the types of its bindings, its callees, its constants.
//!
//! The macro emits, beside each function, a typing probe whose body is never run, nor even reached. Beside it a witness, a
//! pointer to a type that is still open, stands for each binding and each call; rustc's own inference fixes those types,
//! and instantiating the typing probe for given generics reads them out as a [`ProbeResult`]. There is no second inference.
//!
//! # Safety
//!
//! A launch is safe because the compiler was told the truth about the kernel's types. Who tells it are the implementations
//! of the `unsafe` traits here and in the files below, which the macros write, and whoever makes a [`ProbeResult`].

mod by_path;
mod capitals;
pub mod checked;
mod closures;
pub mod compare;
mod constructor;
mod convert;
mod errors;
mod fingerprint;
pub mod host_only;
mod identity;
mod keys;
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
mod views;

use std::any::{Any, TypeId};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

pub use by_path::ByPath;
pub use capitals::{Capitals, OtherCapitals, capitals};
pub use closures::{BoxedCallee, OtherCallee, boxed};
pub use compare::{Comparisons, Pairs};
pub use constructor::{
    Construction, Constructor, Constructs, MadeByFunction, Makes, NamedCallee, NamedFunction, OptionVariants,
    ResultVariants, made, named,
};
pub use convert::{
    DeviceFrom, DeviceInto, DeviceTryFrom, DeviceTryInto, Dropped, FromBits, MistypedTrial, Trial, TypedDropped,
    UntypedTrial,
};
pub use fingerprint::Fingerprint;
pub use identity::{owner_arg, type_arg};
pub use keys::{
    ArrayKey, CastType, DeviceType, ElementType, KernelParam, Key, OptionKey, RefKey, ResultKey, ScalarType, SliceKey,
    TupleKey, ValueType, any_value, spelled,
};
pub use no_callee::{MarkedWithDevice, NoCallee, TextMethods};
pub use operation::{Math, Operation, Parameters, Typing};
pub use operator::{
    Derefs, DeviceOperator, KernelsFollowNoDeref, Layout, ListedOperator, NoDeref, NoPadding, PinnedLayout, listed,
    operators, standard,
};
pub use reported::{ToConstant, Typed, constant_like, report};
pub use types::{
    Arithmetic, ClosureId, EnumTy, Field, Memory, Operator, Passed, StructTy, SumIdentity, SumTy, Ty, VariantTy,
};
pub use types::{OPTION_NONE, OPTION_SOME, RESULT_ERR, RESULT_OK};
pub use views::{
    OpOfViews, PlaneMethods, PlaneShape, SectionIndex, ShapeOp, SharedView, SliceOfView, UniqueView, ViewCall,
    ViewCallee, ViewDim, ViewFunctions, ViewKey, ViewMade, ViewMethods, ViewOp, WholeView, op, section_index,
};

use crate::kir::{
    AtomicOp, BarrierOp, BinaryOp, CacheLoad, CacheStore, Clock, CompareOp, Float8, LibFn, Order, ReduceOp, Scalar,
    ShuffleOp, TernaryOp, UnaryOp, VoteOp,
};
use crate::syntax::Definition;

/// What tells the type that a witness saw.
pub fn seen<T: DeviceType>(_: *const T) -> fn() -> Ty {
    ty_of::<T>
}

/// What a closure returns, of the type that its witness sees.
///
/// # Panics
///
/// Always: the typing probe is never run.
pub fn returned<T>(_: *const T) -> T {
    unreachable!("a typing probe is never run")
}

/// What tells the specialisation that a callee's witness saw.
pub fn called<F: DeviceFn>(_: *const F) -> fn() -> Instance {
    F::instance
}

/// The type that stands beside a device function, and names it and its generic arguments.
///
/// # Safety
///
/// [`instance`](Self::instance) is the function that the type is named after, of these arguments and this result, as rustc checked
/// it; it returns the same every time. `#[device]` implements it.
#[diagnostic::on_unimplemented(
    message = "the device has no code for this call",
    label = "called with a type that the function does not take on the device",
    note = "the types that it is called with, and the type whose function it is, derive `DeviceType`"
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
    /// What it returns.
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

/// Stands for the type of a closure that a device function takes: the function is inlined, and the closure with it.
#[derive(Debug)]
pub enum Closure {}

// SAFETY: the type is the one that rustc knows by this key: the same numbers, in the same order.
unsafe impl Key for Closure {
    fn ty() -> Ty {
        Ty::CLOSURE
    }
}

/// Stands for arguments and result where a call's path says all generic arguments.
#[derive(Debug)]
pub struct Untied;

impl<V> FnLike<Untied> for V {
    type Output = Untied;
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
    /// A callee, whose generic arguments may still be open.
    pub const fn new() -> Self {
        Callee(PhantomData)
    }

    /// Shows the callee to its witness.
    pub fn of(self, _: *const F) -> Self {
        self
    }
}

/// What the call of a method would return, of a callee whose generic arguments rustc infers from that call.
#[derive(Debug)]
pub struct Returned<F, R>(PhantomData<Cell<F>>, PhantomData<fn() -> R>);

impl<F, R> Default for Returned<F, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F, R> Returned<F, R> {
    /// Of a call that is only typed.
    pub const fn new() -> Self {
        Returned(PhantomData, PhantomData)
    }

    /// Shows the callee to its witness.
    ///
    /// # Panics
    ///
    /// Always: the typing probe is never run.
    pub fn of(self, _: *const F) -> R {
        unreachable!("a typing probe is never run")
    }
}

impl<F> Callee<F> {
    /// Ties the generic arguments to those of a function value.
    pub fn see<V>(self, _: &V) -> Self
    where
        F: DeviceFn,
        V: FnLike<F::Args, Output = F::Output>,
    {
        self
    }

    /// The same of a path that is an argument.
    pub fn argument<'a, V, C: Fn() -> &'a V>(self, value: &V, _: C) -> Self
    where
        F: DeviceFn,
        V: FnLike<F::Args, Output = F::Output> + 'a,
    {
        self.see(value)
    }

    /// Shows the callee to its witness, and the function value that its path names.
    pub fn by<V>(self, _: *const ByPath<F, V>, _: &V) -> Self {
        self
    }
}

/// A generic argument of a specialisation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GenericArg {
    /// A type, and what tells it from others of its name.
    Type(Ty, TypeId),
    /// The bits of a constant.
    Const(u128),
    /// The name of the type whose method it is, with its generic arguments, and what tells it from others of its name.
    Of(&'static str, TypeId),
}

/// What a device function is.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Captured Rust.
    Captured(&'static Definition, fn() -> ProbeResult),
    /// Something that the front end lowers itself.
    Intrinsic(Intrinsic),
    /// A function or method that the front end lowers itself, of these types.
    Operation(Operation, fn() -> Typing),
    /// The constructor of a tuple struct, or of the variant of this number; none if it is unknown.
    Constructor(fn() -> Ty, fn() -> Option<usize>),
    /// None: the constant that a path in the place of a function names.
    Constant(fn() -> ConstValue),
    /// None: a path names this function as a value, and a device function as a type.
    Another(&'static str),
    /// None: it is refused already, or nothing calls it.
    None,
}

/// What the threads of a group within a warp do with values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupOp {
    /// Takes the value of another.
    Shuffle(ShuffleOp),
    /// Finds those with the same value.
    MatchAny,
    /// Finds whether all have the same value.
    MatchAll,
    /// Combines the values.
    Reduce(BinaryOp),
}

/// A function of `std::mem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Exchange {
    /// `mem::swap`
    Swap,
    /// `mem::replace`
    Replace,
    /// `mem::take`
    Take,
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
    Fence(Order),
    /// Reads a number at once.
    AtomicLoad(Order),
    /// Writes a number at once.
    AtomicStore(Order),
    /// Changes a number at once.
    Atomic(AtomicOp, Order),
    /// The smaller or larger number, where NaN counts as none.
    AtomicNotNan(AtomicOp, Order),
    /// Replaces a number if it is the expected one.
    CompareExchange(Order),
    /// Takes a number from another lane of so many.
    Shuffle(ShuffleOp, u32),
    /// Combines a `bool` of the lanes.
    Vote(VoteOp),
    /// Finds the lanes with the same number.
    MatchAny,
    /// Whether lanes have the same number.
    MatchAll,
    /// Combines a number of the lanes.
    Reduce(ReduceOp),
    /// Lanes, by how they stand to the own one.
    LaneMask(CompareOp),
    /// Waits for lanes.
    SyncWarp,
    /// The lanes that run together.
    ActiveMask,
    /// What time it is.
    Clock(Clock),
    /// Waits for a while.
    Sleep,
    /// Stops in the debugger.
    Breakpoint,
    /// Sets what a conditional node of a graph looks at.
    SetConditional,
    /// An operator of an integer's bits.
    Bits(UnaryOp),
    /// The place of the lowest bit that is one.
    FindFirstSet,
    /// A function of libdevice.
    Library(LibFn),
    /// Tiles of so many threads of a warp.
    Tile(GroupOp, u32),
    /// The threads of a warp that run together.
    Coalesced(GroupOp),
    /// The block's index in its cluster.
    ClusterBlockIdx,
    /// The cluster's extent in blocks.
    ClusterDim,
    /// The block's number in its cluster.
    ClusterRank,
    /// How many blocks the cluster has.
    ClusterRanks,
    /// The shared memory of another block of the cluster.
    MapShared,
    /// Waits for the cluster.
    ClusterBarrier,
    /// The word on which the grid meets.
    GridBarrier,
    /// Whether a thread of the kernel has panicked.
    KernelPanicked,
    /// An operator of three integers.
    Ternary(TernaryOp),
    /// Loads a number with a hint for the caches.
    LoadCached(CacheLoad),
    /// Stores a number with a hint for the caches.
    StoreCached(CacheStore),
    /// A slice of numbers as one of vectors, and the rest.
    AsVectors,
    /// A vector of its numbers, or of one for all.
    Vector,
    /// A view of a slice; of one and a shape, if true.
    View(bool),
    /// An intrinsic on ndarray views.
    ViewOp(ViewOp),
    /// The argument, as it is.
    Identity,
    /// A copy of what the argument refers to.
    Duplicate,
    /// The comparison of two values: true if the first is ordered after the second.
    ComesAfter,
    /// The compute capability that is compiled for.
    ComputeCapability,
    /// Two `f32` as 8-bit floats.
    Narrow(Float8),
    /// Two 8-bit floats as `f16`.
    Widen(Float8),
    /// A number made of another, of this type, as by `as`.
    Number(Scalar),
    /// A float of its bits.
    FromBits,
    /// An integer made of another, of this type, or the error that it does not fit.
    TryNumber(Scalar),
    /// The argument.
    Same,
    /// A vector of an array of its numbers.
    VectorOfArray,
    /// An array of a slice with as many elements, or a reference to one; or the error that there are others.
    ArrayOfSlice,
    /// A function of `std::mem`.
    Exchange(Exchange),
}

/// One specialisation of a device function or kernel.
#[derive(Clone, Debug)]
pub struct Instance {
    /// What it is.
    pub body: Body,
    /// Its generic arguments, which together with the definition's address tell specialisations apart.
    pub generics: Vec<GenericArg>,
}

impl Instance {
    /// The function that a kernel's instance, or that of a device function in Rust, is one of.
    ///
    /// # Panics
    ///
    /// If it is no function that was captured.
    pub fn definition(&self) -> &'static Definition {
        match self.body {
            Body::Captured(definition, _) => definition,
            Body::Intrinsic(_)
            | Body::Operation(..)
            | Body::Constructor(..)
            | Body::Constant(_)
            | Body::Another(_)
            | Body::None => {
                panic!("it is captured Rust")
            }
        }
    }
}

/// A constant that the host updates between launches, as the runtime knows it.
pub type HostConstant = Arc<dyn Any + Send + Sync>;

/// A constant's type and the bits of the numbers in it, in order.
#[derive(Clone, Debug)]
pub struct ConstValue {
    /// Its type.
    pub ty: Ty,
    /// The bits of each number.
    pub cells: Vec<u128>,
    /// The host's part of it, if it is a `Constant`.
    pub held: Option<HostConstant>,
}

/// A name or path of a pattern, or a constructor, as rustc resolved it.
#[derive(Clone, Debug)]
pub enum Resolved {
    /// A constant, or a variant without fields.
    Constant(ConstValue),
    /// The variant of an enum by its number; 0 for a struct.
    Variant(usize),
}

/// An item that a path in a kernel can name.
///
/// # Safety
///
/// The value is of its type; what the host holds of it is a `Constant` of that type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a constant of the device language",
    note = "there are numbers, `bool`, tuples, arrays and `Option` of them, structs and enums with `#[derive(DeviceType)]`, and `static` items of type `Constant`"
)]
pub unsafe trait ConstItem<'a> {
    /// Its type and value.
    fn value(item: &'a Self) -> ConstValue;
}

#[diagnostic::do_not_recommend]
// SAFETY: the cells are those of the value.
unsafe impl<'a, T: ValueType> ConstItem<'a> for T {
    fn value(item: &'a T) -> ConstValue {
        let mut cells = Vec::with_capacity(T::CELLS);
        item.cells(&mut |cell| cells.push(cell));
        ConstValue { ty: T::K::ty(), cells, held: None }
    }
}

/// The answers of one specialisation's probe, by the numbers in the captured syntax.
///
/// They are read here and made by [`Answers::into_result`], or by the `unsafe` [`ProbeResult::new`].
#[derive(Clone, Debug)]
pub struct ProbeResult(TypeInfo);

impl ProbeResult {
    /// The answers of a typing probe.
    ///
    /// # Safety
    ///
    /// They are what rustc found of that function.
    pub unsafe fn new(reported: TypeInfo) -> Self {
        ProbeResult(reported)
    }

    /// The result for a kernel with launch bounds, of which 0 means unset.
    #[must_use]
    pub fn with_launch_bounds(mut self, bounds: [u32; 3]) -> Self {
        self.0.launch_bounds = bounds;
        self
    }

    /// The answers.
    #[must_use]
    pub fn into_info(self) -> TypeInfo {
        self.0
    }
}

/// The answers of a typing probe, as the compiler reads them.
#[derive(Clone, Debug)]
pub struct TypeInfo {
    /// The function whose typing probe it was.
    pub of: &'static Definition,
    /// The type of each parameter.
    pub params: Vec<Ty>,
    /// The type of the result.
    pub result: Ty,
    /// The types of the bindings, as [`Binding::told`](crate::syntax::Binding::told) counts them; `None` for closures.
    pub bindings: Vec<Option<Ty>>,
    /// The same as the source spells them, where a debugger is to know; else nothing.
    pub spelled: Vec<Option<Ty>>,
    /// Each constant.
    pub consts: Vec<ConstValue>,
    /// The item that each name or path of a pattern, and each constructor, was resolved to; none of a name that is bound.
    pub patterns: Vec<Option<Resolved>>,
    /// The function that each call calls.
    pub callees: Vec<Instance>,
    /// The types named in casts.
    pub types: Vec<Scalar>,
    /// The types of struct expressions and patterns, and of arrays in shared memory.
    pub named: Vec<Ty>,
    /// A kernel's launch bounds: the most threads per block, the least blocks per multiprocessor, the most blocks per cluster; 0
    /// if unset.
    pub launch_bounds: [u32; 3],
}

/// What a typing probe's variables became: functions that tell it, which cost rustc less than values.
#[derive(Clone, Debug)]
pub struct Answers<'a> {
    /// The type of each parameter.
    pub params: &'a [fn() -> Ty],
    /// The type of the result.
    pub result: fn() -> Ty,
    /// The type of each binding behind the parameters.
    pub locals: Vec<Ty>,
    /// The function that each call calls.
    pub callees: &'a [fn() -> Instance],
    /// The types named in casts.
    pub types: &'a [Scalar],
    /// The types of struct expressions and patterns, and of arrays in shared memory.
    pub named: &'a [fn() -> Ty],
    /// The item that each name or path of a pattern, and each constructor, was resolved to.
    pub patterns: Vec<Option<Resolved>>,
}

impl Answers<'_> {
    /// The answers, with the constants, of the typing probe of a function.
    ///
    /// # Safety
    ///
    /// They are what rustc made of that function, in the order in which its definition numbers them, and it has checked the
    /// function.
    #[must_use]
    pub unsafe fn into_result(self, of: &'static Definition, consts: Vec<ConstValue>) -> ProbeResult {
        let params = report(self.params);
        let bindings = params.iter().cloned().chain(self.locals);
        ProbeResult(TypeInfo {
            of,
            bindings: bindings.map(Ty::of_binding).collect(),
            spelled: Vec::new(),
            params,
            result: (self.result)(),
            consts,
            patterns: self.patterns,
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
pub struct Part<T> {
    ty: fn() -> Ty,
    cells: fn(&T, &mut dyn FnMut(u128)),
    value: fn() -> Option<T>,
}

/// The type of a struct's field, by name.
pub fn part<T: DeviceType>() -> Part<T> {
    Part { ty: T::K::ty, cells: T::__cells, value: any_value }
}

impl<T> Part<T> {
    /// The type.
    pub fn ty(self) -> Ty {
        (self.ty)()
    }

    /// A value of the type, if the host can make one.
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

/// The type of a parameter or result, by name.
pub fn ty_of<T: DeviceType>() -> Ty {
    T::K::ty()
}

/// The type of a kernel's parameter, by name.
pub fn param_of<T: KernelParam>() -> Ty {
    T::K::ty()
}

/// Ties a witness to the type of an array in shared memory.
pub fn shared_array<T>(_: *const T) {}

/// A constant's type and bits.
pub fn const_of<'a, T: ConstItem<'a>>(item: &'a T) -> ConstValue {
    T::value(item)
}

/// The bits of a const parameter.
pub fn bits_of<T: ScalarType>(value: T) -> u128 {
    value.bits()
}

/// Ties a witness to the type named in a cast.
pub fn cast_to<T: CastType>(_: *const T) {}

/// The type named in a cast, of its witness.
pub fn cast_type<T: CastType>(_: *const T) -> Scalar {
    T::TARGET
}

/// Ties a witness to the closure that yields a constant, which the typing probe writes where the constant is named: rustc
/// resolves its path there.
pub fn constant<R: ToConstant, F: Fn() -> R>(_: *const F, _: F) {}

/// The constant that a closure yields, of its witness.
///
/// # Safety
///
/// All captures of the closure are by reference, or closures that capture nothing.
pub unsafe fn evaluated<R: ToConstant, F: Fn() -> R>(_: *const F) -> ConstValue {
    const { assert!(size_of::<F>() == 0, "a variable is named where a constant is expected") };
    // SAFETY: the caller promises it.
    let constant = unsafe { run(std::ptr::null::<F>()) };
    constant.unwrap_or_else(|| unreachable!("the closure has no size")).into_constant()
}

/// The result of a closure, unless it captures something.
///
/// # Safety
///
/// All captures of the closure are by reference, or closures that capture nothing.
unsafe fn run<T, F: Fn() -> T>(_: *const F) -> Option<T> {
    if size_of::<F>() != 0 {
        return None;
    }
    // SAFETY: A closure that captured a reference would have a size, and by the caller's promise this one captures nothing
    // else but closures without a value. So it has no bytes, and any well-aligned pointer is one to its value.
    let closure = unsafe { std::ptr::NonNull::<F>::dangling().as_ref() };
    Some(closure())
}
