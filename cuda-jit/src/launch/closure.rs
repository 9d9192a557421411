//! The value that a launch passes for a kernel's closure: a closure or device function that `device_fn!` captured.
//!
//! The macro is expanded at the closure, inside a host function, so that no item can name the types that rustc infers
//! there. The witnesses' types become part of the value's type instead, as lists. The type alone then identifies the
//! closure's code, and the value only has the captures (`captures.rs`), so that other values of the captures do not need
//! another kernel.
//!
//! # Safety
//!
//! A launch binds captures of the types that the kernel was compiled for, since its traits are sealed or, if `device_fn!`
//! implements them, `unsafe`. The `unsafe` blocks rely on the promises of those implementations.

use std::any::{TypeId, type_name};
use std::marker::PhantomData;
use std::sync::Arc;

use super::{Capturable, Captures, HostCaptures, KernelArg};
use crate::kir::Scalar;
use crate::syntax::Definition;
use crate::typeinfo::non_device;
use crate::typeinfo::pattern::{Answer, answer, item};
use crate::typeinfo::{
    Body, Callee, CastType, Closure, ConstValue, DeviceFn, DeviceType, FnLike, GenericArg, Instance, Key, NoCallee,
    Passed, ProbeResult, Resolved, ToConstant, Ty, TypeInfo, evaluated, owner_arg,
};

/// A closure that a kernel is specialised for: the type that `device_fn!` creates, without lifetimes. Sealed.
#[cfg_attr(doc, doc(hidden))]
pub trait KernelClosure: ClosureArg<Closure = Self> + 'static {
    /// The host's closure.
    type Host;

    /// The type of the kernel's parameter.
    fn ty() -> Ty;

    /// Its part of the kernel's name.
    fn name() -> &'static str;
}

/// A value that a launch can pass for a closure: the result of `device_fn!`, with the arrays that it borrows. Sealed.
#[cfg_attr(doc, doc(hidden))]
#[diagnostic::on_unimplemented(
    message = "a launch passes a closure to a kernel with `device_fn!`, not as `{Self}`",
    label = "this value has no code for the device",
    note = "write `device_fn!(|x: f32| ..)`, or `device_fn!(name)` for a `#[device]` function"
)]
pub trait ClosureArg: KernelArg<Self::Closure> + Sized + sealed::Sealed {
    /// The type that the kernel is specialised for.
    type Closure: KernelClosure;
}

mod sealed {
    /// Seals [`ClosureArg`](super::ClosureArg) and [`KernelClosure`](super::KernelClosure) to the results of `device_fn!`.
    #[diagnostic::on_unimplemented(message = "`{Self}` cannot implement this trait of `cuda_jit`, which is sealed")]
    pub trait Sealed {}

    impl<S, C, H, W> Sealed for super::DeviceClosure<S, C, H, W> {}
    impl<V, F> Sealed for super::DeviceFunction<V, F> {}
    #[diagnostic::do_not_recommend]
    impl<V, F> Sealed for &super::DeviceFunction<V, F> {}
    #[diagnostic::do_not_recommend]
    impl<S, C, H, W> Sealed for &super::DeviceClosure<S, C, H, W> {}
}

/// A closure that a launch passes, as a generic argument.
#[cfg_attr(doc, doc(hidden))]
pub fn closure_arg<F: KernelClosure>() -> GenericArg {
    GenericArg::Of(F::name(), TypeId::of::<F>())
}

/// The part of a captured closure that does not depend on its types: implemented at the closure's source location.
///
/// # Safety
///
/// The definition is that of a closure which rustc has type-checked, and the only value of the type is passed to
/// [`DeviceClosure::new`], with the closure's captures and the types of its witnesses. `device_fn!` implements it.
#[cfg_attr(doc, doc(hidden))]
pub unsafe trait Site: 'static {
    /// A function that takes the captures and returns the closure.
    fn definition() -> &'static Definition;
}

/// The type of a witness, by its key.
#[cfg_attr(doc, doc(hidden))]
#[derive(Debug)]
pub struct WitnessType<K>(PhantomData<fn() -> K>);

/// A witness of a capture.
#[cfg_attr(doc, doc(hidden))]
#[derive(Debug)]
pub struct CaptureWitness<K>(PhantomData<fn() -> K>);

impl<K> Default for CaptureWitness<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> CaptureWitness<K> {
    /// A witness, whose type is still open.
    pub const fn new() -> Self {
        CaptureWitness(PhantomData)
    }

    /// Unifies the witness with the type of a capture; returns the capture, and the value in the closure's body.
    pub fn capture<'a, How, T: Capturable<'a, How, Key = K>>(&self, value: &'a T) -> (T::Captured, T::InBody) {
        value.capture()
    }

    /// The witness's type, as a value.
    #[cfg_attr(doc, doc(hidden))]
    pub fn witness_type(&self) -> WitnessType<K> {
        WitnessType(PhantomData)
    }
}

/// The type of a witness, as a value.
#[cfg_attr(doc, doc(hidden))]
pub fn witness_type<T: DeviceType>(_: *const T) -> WitnessType<T::K> {
    WitnessType(PhantomData)
}

/// The marker of a closure's binding.
#[cfg_attr(doc, doc(hidden))]
pub fn witness_closure() -> WitnessType<Closure> {
    WitnessType(PhantomData)
}

/// The type of a callee's witness.
#[cfg_attr(doc, doc(hidden))]
#[derive(Debug)]
pub struct WitnessCallee<F>(PhantomData<fn() -> F>);

/// The type of a callee's witness, as a value.
#[cfg_attr(doc, doc(hidden))]
pub fn witness_callee<F>(_: *const F) -> WitnessCallee<F> {
    WitnessCallee(PhantomData)
}

/// The type of a closure that returns a constant.
#[cfg_attr(doc, doc(hidden))]
#[derive(Debug)]
pub struct WitnessConstant<F>(PhantomData<fn() -> F>);

/// The type of a constant's witness.
///
/// # Safety
///
/// All captures of the closure are by reference.
#[cfg_attr(doc, doc(hidden))]
pub unsafe fn witness_constant<R: ToConstant, F: Fn() -> R>(_: *const F) -> WitnessConstant<F> {
    WitnessConstant(PhantomData)
}

/// The type of the closure that answers a query about a pattern.
#[cfg_attr(doc, doc(hidden))]
#[derive(Debug)]
pub struct WitnessAnswer<F>(PhantomData<fn() -> F>);

/// The type of the witness of a pattern's query.
///
/// # Safety
///
/// All captures of the closure are by reference.
#[cfg_attr(doc, doc(hidden))]
pub unsafe fn witness_answer<R: Answer, F: Fn() -> R>(_: *const F) -> WitnessAnswer<F> {
    WitnessAnswer(PhantomData)
}

/// The type of the witness of a query about a path.
///
/// # Safety
///
/// All captures of the closure are by reference.
#[cfg_attr(doc, doc(hidden))]
pub unsafe fn witness_path<R: Answer, F: Fn() -> R>(_: *const F) -> WitnessAnswer<F> {
    const { item::<F>() };
    WitnessAnswer(PhantomData)
}

/// The type of a cast.
#[cfg_attr(doc, doc(hidden))]
#[derive(Debug)]
pub struct CastTo<T>(PhantomData<fn() -> T>);

/// The type of a cast's witness.
#[cfg_attr(doc, doc(hidden))]
pub fn witness_cast<T: CastType>(_: *const T) -> CastTo<T> {
    CastTo(PhantomData)
}

/// A list, as nested pairs, of types that each report a `T`. Sealed.
#[cfg_attr(doc, doc(hidden))]
pub trait List<T>: list::Sealed + 'static {
    /// Appends the values that the types report.
    fn report(reported: &mut Vec<T>);
}

mod list {
    /// Seals [`List`](super::List) to the types of witnesses.
    #[diagnostic::on_unimplemented(message = "`{Self}` cannot implement this trait of `cuda_jit`, which is sealed")]
    pub trait Sealed {}

    impl Sealed for () {}
    impl<K, R> Sealed for (super::WitnessType<K>, R) {}
    impl<F, R> Sealed for (super::WitnessCallee<F>, R) {}
    impl<F, R> Sealed for (super::WitnessConstant<F>, R) {}
    impl<T, R> Sealed for (super::CastTo<T>, R) {}
    impl<F, R> Sealed for (super::WitnessAnswer<F>, R) {}

    /// The lists of all witnesses of a closure. Sealed.
    pub trait Witnesses: 'static {
        /// Returns the type information of a closure with this definition and these types of captures.
        fn report(of: &'static super::Definition, captures: Vec<super::Ty>) -> super::TypeInfo;
    }
}
use list::Witnesses;

impl<T> List<T> for () {
    fn report(_: &mut Vec<T>) {}
}

impl<K: Key, R: List<Ty>> List<Ty> for (WitnessType<K>, R) {
    fn report(reported: &mut Vec<Ty>) {
        reported.push(K::ty());
        R::report(reported);
    }
}

impl<F: DeviceFn + 'static, R: List<Instance>> List<Instance> for (WitnessCallee<F>, R) {
    fn report(reported: &mut Vec<Instance>) {
        reported.push(F::instance());
        R::report(reported);
    }
}

impl<A: ToConstant, F: Fn() -> A + 'static, R: List<ConstValue>> List<ConstValue> for (WitnessConstant<F>, R) {
    fn report(reported: &mut Vec<ConstValue>) {
        // SAFETY: the element was created by `witness_constant`, whose caller guarantees that all captures are by reference.
        reported.push(unsafe { evaluated(std::ptr::null::<F>()) });
        R::report(reported);
    }
}

impl<A: Answer, F: Fn() -> A + 'static, R: List<Option<Resolved>>> List<Option<Resolved>> for (WitnessAnswer<F>, R) {
    fn report(reported: &mut Vec<Option<Resolved>>) {
        // SAFETY: the element was created by `witness_answer` or `witness_path`, whose callers guarantee that all captures are by
        // reference.
        reported.push(unsafe { answer(std::ptr::null::<F>()) });
        R::report(reported);
    }
}

impl<T: CastType + 'static, R: List<Scalar>> List<Scalar> for (CastTo<T>, R) {
    fn report(reported: &mut Vec<Scalar>) {
        reported.push(T::TARGET);
        R::report(reported);
    }
}

/// A host closure that kernels can call; [`device_fn!`](crate::device_fn) creates it.
///
/// # Examples
///
/// ```
/// use cuda_jit::device_fn;
///
/// let k = 2.0_f32;
/// let scale = device_fn!(|x: f32| k * x);
/// assert_eq!((scale.host())(3.0), 6.0);
/// ```
#[derive(Debug)]
pub struct DeviceClosure<S, C, H, W> {
    captures: C,
    host: H,
    probe: PhantomData<fn() -> (S, W)>,
}

impl<S, C: Copy, H: Copy, W> Copy for DeviceClosure<S, C, H, W> {}

impl<S, C: Copy, H: Copy, W> Clone for DeviceClosure<S, C, H, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, C, H, W> DeviceClosure<S, C, H, W> {
    /// A closure with its captures and the types of its typing probe's witnesses.
    #[cfg_attr(doc, doc(hidden))]
    pub fn new(_: S, captures: C, host: H, _: W) -> Self {
        DeviceClosure { captures, host, probe: PhantomData }
    }

    /// The closure for calls on the host, unless it captures device arrays, which the host cannot read.
    pub fn host(&self) -> &H
    where
        C: HostCaptures,
    {
        &self.host
    }

    /// The closure's captures.
    pub(crate) fn captures(&self) -> &C {
        &self.captures
    }
}

impl<S: Site, C: Captures, H, W: Witnesses> DeviceClosure<S, C, H, W> {
    fn probe() -> ProbeResult {
        let mut params = Vec::new();
        C::types(&mut params);
        // SAFETY: the lists have the types of the witnesses in the closure's probe, which the contract of [`Site`]
        // guarantees.
        unsafe { ProbeResult::new(W::report(S::definition(), params)) }
    }
}

impl<B, N, F, V, T, P> Witnesses for (B, N, F, V, T, P)
where
    B: List<Ty>,
    N: List<Ty>,
    F: List<Instance>,
    V: List<ConstValue>,
    T: List<Scalar>,
    P: List<Option<Resolved>>,
{
    fn report(of: &'static Definition, params: Vec<Ty>) -> TypeInfo {
        TypeInfo {
            of,
            params,
            result: Ty::CLOSURE,
            bindings: reported::<Ty, B>().into_iter().map(Ty::of_binding).collect(),
            spelled: Vec::new(),
            consts: reported::<ConstValue, V>(),
            patterns: reported::<Option<Resolved>, P>(),
            callees: reported::<Instance, F>(),
            types: reported::<Scalar, T>(),
            named: reported::<Ty, N>(),
            launch_bounds: [0; 3],
        }
    }
}

fn reported<T, L: List<T>>() -> Vec<T> {
    let mut reported = Vec::new();
    L::report(&mut reported);
    reported
}

#[diagnostic::do_not_recommend]
impl<S: Site, C: Captures, H: 'static, W: Witnesses> ClosureArg for DeviceClosure<S, C, H, W> {
    type Closure = DeviceClosure<S, C::Static, H, W>;
}

#[diagnostic::do_not_recommend]
impl<S, C, H, W> KernelClosure for DeviceClosure<S, C, H, W>
where
    S: Site,
    C: Captures<Static = C> + 'static,
    H: 'static,
    W: Witnesses,
{
    type Host = H;

    fn ty() -> Ty {
        let mut captures = Vec::new();
        C::types(&mut captures);
        let body = Body::Captured(S::definition(), Self::probe);
        let instance = Instance { body, generics: vec![owner_arg::<Self>()] };
        Ty::Passed(Arc::new(Passed { id: TypeId::of::<Self>(), instance, captures: Some(captures) }))
    }

    fn name() -> &'static str {
        "closure"
    }
}

/// A device function that can be passed to kernels; [`device_fn!`](crate::device_fn) creates it.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device, device_fn};
///
/// #[device]
/// fn square(x: f32) -> f32 {
///     x * x
/// }
///
/// let square = device_fn!(square);
/// assert_eq!((square.host())(3.0), 9.0);
/// ```
#[derive(Debug)]
pub struct DeviceFunction<V, F> {
    host: V,
    callee: PhantomData<fn() -> F>,
}

impl<V: Copy, F> Copy for DeviceFunction<V, F> {}

impl<V: Copy, F> Clone for DeviceFunction<V, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V, F> DeviceFunction<V, F> {
    /// The function for calls on the host.
    pub fn host(&self) -> &V {
        &self.host
    }
}

/// The callee of a device function that a launch passes.
///
/// Nothing unsafe relies on an implementation: the callee itself is passed.
#[cfg_attr(doc, doc(hidden))]
pub trait PassedCallee<F: DeviceFn> {
    /// The function as an argument of a kernel.
    fn passed<V: FnLike<F::Args, Output = F::Output>>(self, host: V) -> DeviceFunction<V, F>;
}

impl<F: DeviceFn> PassedCallee<F> for Callee<F> {
    fn passed<V: FnLike<F::Args, Output = F::Output>>(self, host: V) -> DeviceFunction<V, F> {
        DeviceFunction { host, callee: PhantomData }
    }
}

/// The callee of a function that is no device function.
///
/// Nothing unsafe relies on an implementation: the function is refused.
#[cfg_attr(doc, doc(hidden))]
pub trait PassedNonDevice {
    /// Refuses the function as an argument of a kernel.
    fn passed<F: non_device::CompiledForDevice>(self, host: F) -> DeviceFunction<F, NoCallee>;
}

impl PassedNonDevice for non_device::NonDeviceFunction {
    fn passed<F: non_device::CompiledForDevice>(self, host: F) -> DeviceFunction<F, NoCallee> {
        DeviceFunction { host, callee: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<V: 'static, F: DeviceFn + 'static> ClosureArg for DeviceFunction<V, F> {
    type Closure = Self;
}

#[diagnostic::do_not_recommend]
impl<V: 'static, F: DeviceFn + 'static> ClosureArg for &DeviceFunction<V, F> {
    type Closure = DeviceFunction<V, F>;
}

#[diagnostic::do_not_recommend]
impl<S, C, H, W> ClosureArg for &DeviceClosure<S, C, H, W>
where
    C: Captures,
    DeviceClosure<S, C, H, W>: ClosureArg<Closure = DeviceClosure<S, C::Static, H, W>>,
    DeviceClosure<S, C::Static, H, W>: KernelClosure,
{
    type Closure = DeviceClosure<S, C::Static, H, W>;
}

#[diagnostic::do_not_recommend]
impl<V: 'static, F: DeviceFn + 'static> KernelClosure for DeviceFunction<V, F> {
    type Host = V;

    fn ty() -> Ty {
        Ty::Passed(Arc::new(Passed { id: TypeId::of::<Self>(), instance: F::instance(), captures: None }))
    }

    fn name() -> &'static str {
        type_name::<F>()
    }
}
