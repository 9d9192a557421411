//! `Default`: implemented for the numbers, tuples, arrays and `Option`. Other types have a `#[device] impl Default`.
//!
//! # Safety
//!
//! The only unsafe code is the implementations, which describe the functions here to the compiler.

use std::marker::PhantomData;

use crate::device;
use crate::syntax::Definition;
use crate::typeinfo::{Body, Callee, DeviceFn, DeviceType, Instance, ProbeResult, Returned, ValueType, owner_arg};

/// The captured body of an `impl Default`.
///
/// # Safety
///
/// The definition and the type information are those of the type's `default`. `#[device]` implements it.
pub unsafe trait CapturedDefault {
    /// The function as written.
    fn definition() -> &'static Definition;

    /// The function's type information.
    fn probe() -> ProbeResult;
}

/// A type with a default value on the device.
///
/// Nothing unsafe relies on an implementation: its function is that of the [`CapturedDefault`].
///
/// # Examples
///
/// ```
/// use cuda_jit::{DeviceDefault, DeviceType, device, kernel};
///
/// #[derive(Clone, Copy, DeviceType)]
/// struct Gain(f32);
///
/// #[device]
/// impl Default for Gain {
///     fn default() -> Self {
///         Gain(2.0)
///     }
/// }
///
/// #[device]
/// fn or_default<T: DeviceDefault>(value: Option<T>) -> T {
///     value.unwrap_or_default()
/// }
///
/// #[kernel]
/// fn amplify(x: &mut [f32]) {
///     x[0] *= or_default::<Gain>(None).0;
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let mut x = [1.5];
/// amplify::launch((1, 1), &mut x)?;
/// assert_eq!(x, [3.0]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "kernels cannot make the default value of `{Self}`",
    label = "this type has no `#[device] impl Default`",
    note = "write `#[device]` before an `impl Default` of the type, or `#[derived(Default)]` in place of `#[derive(Default)]`, which is not captured"
)]
pub trait DeviceDefault: Default + DeviceType + CapturedDefault {}

#[diagnostic::do_not_recommend]
impl<T: Default + DeviceType + CapturedDefault> DeviceDefault for T {}

/// The hidden functions beside `default`.
///
/// Nothing unsafe relies on an implementation.
pub trait DefaultFunctions: Sized {
    /// `default` in a call.
    fn __call_default() -> Returned<DefaultOf<Self>, Self>;

    /// `default`, as a value.
    fn __fn_default() -> Callee<DefaultOf<Self>>;
}

#[diagnostic::do_not_recommend]
impl<T: DeviceDefault> DefaultFunctions for T {
    fn __call_default() -> Returned<DefaultOf<T>, T> {
        Returned::new()
    }

    fn __fn_default() -> Callee<DefaultOf<T>> {
        Callee::new()
    }
}

/// The function `default` of a type.
#[derive(Debug)]
pub struct DefaultOf<T>(PhantomData<fn() -> T>);

// SAFETY: the instance is the type's `default`, which the contract of `CapturedDefault` guarantees.
unsafe impl<T: DeviceDefault> DeviceFn for DefaultOf<T> {
    type Args = ();
    type Output = T;

    fn instance() -> Instance {
        let generics = vec![owner_arg::<Self>()];
        Instance { body: Body::Captured(T::definition(), T::probe), generics }
    }
}

macro_rules! defaults {
    ($([$($generics:tt)*] $ty:ty, $name:ident::<$($arg:ty),*>;)*) => { $(
        // SAFETY: the definition and the probe are those of the function, which returns the type's default value.
        unsafe impl<$($generics)*> CapturedDefault for $ty {
            fn definition() -> &'static Definition { $name::<$($arg),*>::__definition() }
            fn probe() -> ProbeResult { $name::<$($arg),*>::__probe() }
        }
    )* };
}

macro_rules! plain {
    ($($name:ident $ty:ty: $value:expr;)*) => { $(
        #[device(library)]
        fn $name() -> $ty {
            $value
        }
        defaults! { [] $ty, $name::<>; }
    )* };
}

plain! {
    of_unit (): ();
    of_bool bool: false;
    of_char char: '\0';
    of_i8 i8: 0;
    of_i16 i16: 0;
    of_i32 i32: 0;
    of_i64 i64: 0;
    of_i128 i128: 0;
    of_isize isize: 0;
    of_u8 u8: 0;
    of_u16 u16: 0;
    of_u32 u32: 0;
    of_u64 u64: 0;
    of_u128 u128: 0;
    of_usize usize: 0;
    of_f32 f32: 0.0;
    of_f64 f64: 0.0;
    of_f16 half::f16: half::f16::ZERO;
    of_bf16 half::bf16: half::bf16::ZERO;
}

#[device(library)]
fn of_one<A: DeviceDefault>() -> (A,) {
    (A::default(),)
}

#[device(library)]
fn of_two<A: DeviceDefault, B: DeviceDefault>() -> (A, B) {
    (A::default(), B::default())
}

#[device(library)]
fn of_three<A: DeviceDefault, B: DeviceDefault, C: DeviceDefault>() -> (A, B, C) {
    (A::default(), B::default(), C::default())
}

#[device(library)]
fn of_four<A: DeviceDefault, B: DeviceDefault, C: DeviceDefault, D: DeviceDefault>() -> (A, B, C, D) {
    (A::default(), B::default(), C::default(), D::default())
}

#[device(library)]
fn of_array<A: DeviceDefault + Copy, const N: usize>() -> [A; N] {
    [A::default(); N]
}

#[device(library)]
fn of_option<A: DeviceType>() -> Option<A> {
    None
}

defaults! {
    [A: DeviceDefault + ValueType] (A,), of_one::<A>;
    [A: DeviceDefault + ValueType, B: DeviceDefault + ValueType] (A, B), of_two::<A, B>;
    [A: DeviceDefault + ValueType, B: DeviceDefault + ValueType, C: DeviceDefault + ValueType] (A, B, C),
        of_three::<A, B, C>;
    [
        A: DeviceDefault + ValueType, B: DeviceDefault + ValueType, C: DeviceDefault + ValueType,
        D: DeviceDefault + ValueType
    ] (A, B, C, D), of_four::<A, B, C, D>;
    [A: DeviceDefault + ValueType] Option<A>, of_option::<A>;
}

// SAFETY: the definition and the probe are those of the function, which returns the type's default value.
unsafe impl<A: DeviceDefault + ValueType, const N: usize> CapturedDefault for [A; N]
where
    [A; N]: Default,
{
    fn definition() -> &'static Definition {
        of_array::<A, N>::__definition()
    }

    fn probe() -> ProbeResult {
        of_array::<A, N>::__probe()
    }
}
