//! Constructors: resolves the struct or variant that a call constructs.
//!
//! A path that ends with a capitalised name may name a constructor or a function. rustc decides by a struct pattern of that
//! path: its type is the struct, the enum, or the type beside a device function, and matching it against a value of each
//! variant resolves the variant. Within a type, as in `Shape::Circle`, a variant has hidden functions beside it as a method
//! has. A tuple struct with a lower-case name is resolved as a device function is, by the same hidden `__callee`.
//!
//! # Safety
//!
//! The implementations that describe the types here to the compiler, and the call of a closure that captures nothing, as the
//! callers of the functions that take it guarantee.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::ControlFlow;

use super::pattern::{Answer, VariantOf, answer};
use super::{Body, ByPath, DeviceFn, DeviceType, FnLike, Instance, Key, Resolved, Unconstrained};

/// The callee of a constructor of the type with key `K`, of the variant that `N` resolves.
#[derive(Debug)]
pub struct Constructor<K, N>(PhantomData<fn() -> (K, N)>);

/// A type-level variant number. Nothing unsafe relies on an implementation.
pub trait Variant {
    /// The number, or `None` if it is unknown.
    fn number() -> Option<usize>;
}

/// The variant with this number, or a struct.
#[derive(Debug)]
pub struct VariantIndex<const NUMBER: usize>;

impl<const NUMBER: usize> Variant for VariantIndex<NUMBER> {
    fn number() -> Option<usize> {
        Some(NUMBER)
    }
}

/// The variant that a query closure resolves.
#[derive(Debug)]
pub struct QueriedVariant<F>(PhantomData<fn() -> F>);

impl<R: Answer, F: Fn() -> R> Variant for QueriedVariant<F> {
    fn number() -> Option<usize> {
        // SAFETY: the type reaches a witness only through `called_path` or `value_path`, whose callers guarantee that the closure
        // captures nothing.
        variant(unsafe { answer(std::ptr::null::<F>()) })
    }
}

/// The number of a resolved variant. It is compiled once, and not for each constructor.
fn variant(resolved: Option<Resolved>) -> Option<usize> {
    match resolved {
        Some(Resolved::Variant(variant)) => Some(variant),
        _ => None,
    }
}

// SAFETY: the instance is the constructor of the type with this key; its call's path has all generic arguments.
unsafe impl<K: Key, N: Variant> DeviceFn for Constructor<K, N> {
    type Args = Unconstrained;
    type Output = Unconstrained;

    fn instance() -> Instance {
        Instance { body: Body::Constructor(K::ty, N::number), generics: Vec::new() }
    }
}

/// The value of a called path, of type `V`, which returns an `R`; `T` is the type of the path as a struct pattern.
#[derive(Debug)]
pub struct CalledPath<T, R, V, F>(PhantomData<(T, R, V, F)>);

/// Relates the value of a called path to the path as a struct pattern.
///
/// # Safety
///
/// The closure captures nothing.
pub unsafe fn called_path<Args, R, T, V: FnReturning<Args, R>, F: Fn() -> VariantOf<T>>(
    _: &V,
    _: F,
) -> CalledPath<T, R, V, F> {
    CalledPath(PhantomData)
}

impl<T, V, F> CalledPath<T, T, V, F> {
    /// Unifies the constructor with its witness.
    pub fn of<K>(self, _: *const Constructor<K, QueriedVariant<F>>)
    where
        T: DeviceType<K = K>,
    {
    }
}

/// The path names a device function. Nothing unsafe relies on an implementation.
pub trait CalledFunction<T, V> {
    #[doc(hidden)]
    fn of(self, _: *const ByPath<T, V>)
    where
        Self: Sized,
        T: DeviceFn,
        V: FnLike<T::Args, Output = T::Output>,
    {
    }
}

impl<T, R, V, F> CalledFunction<T, V> for &CalledPath<T, R, V, F> {}

/// The value of a path, of type `V`; `T` is the type of the path as a struct pattern.
#[derive(Debug)]
pub struct ValuePath<T, V, F>(PhantomData<(T, V, F)>);

/// Relates the value of a path, which is a function or a variant without fields, to the path as a struct pattern.
///
/// # Safety
///
/// The closure captures nothing.
pub unsafe fn value_path<T, V, F: Fn() -> VariantOf<T>>(_: &V, _: F) -> ValuePath<T, V, F> {
    ValuePath(PhantomData)
}

impl<T, F> ValuePath<T, T, F> {
    /// Unifies the constructor of a value without fields with its witness.
    pub fn of<K>(self, _: *const Constructor<K, QueriedVariant<F>>)
    where
        T: PathValue<K = K>,
    {
    }
}

/// A type whose value without fields may be an argument of a method.
///
/// Nothing unsafe relies on an implementation: no device function takes a value of a type that is no device type.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot hold a value of type `{Self}`",
    label = "this value's type is not known to the device",
    note = "kernels know C-like enums and structs with `#[derive(DeviceType)]`"
)]
pub trait PathValue {
    /// Its key.
    type K;
}

#[diagnostic::do_not_recommend]
impl<T: DeviceType> PathValue for T {
    type K = T::K;
}

/// The order of an atomic operation of the standard library, which is refused elsewhere.
#[diagnostic::do_not_recommend]
impl PathValue for std::sync::atomic::Ordering {
    type K = <() as DeviceType>::K;
}

/// The path names a device function; rustc finds this before [`ConstructorValue`]. Nothing unsafe relies on an implementation.
pub trait FunctionValue<T, V> {
    #[doc(hidden)]
    fn of(self, _: *const ByPath<T, V>)
    where
        Self: Sized,
        T: DeviceFn,
        V: FnLike<T::Args, Output = T::Output>,
    {
    }
}

impl<T: DeviceFn, V, F> FunctionValue<T, V> for ValuePath<T, V, F> {}

/// The path names a constructor with fields. Nothing unsafe relies on an implementation.
pub trait ConstructorValue<T, V, F> {
    #[doc(hidden)]
    fn of<Args, K>(self, _: *const Constructor<K, QueriedVariant<F>>)
    where
        Self: Sized,
        T: DeviceType<K = K>,
        V: FnReturning<Args, T>,
    {
    }
}

impl<T, V, F> ConstructorValue<T, V, F> for &ValuePath<T, V, F> {}

/// A constructor whose generic arguments rustc infers from a call: of the variant with this number, or of a struct.
#[derive(Debug)]
pub struct Constructs<T, const VARIANT: usize = 0>(PhantomData<Cell<T>>);

impl<T, const VARIANT: usize> Default for Constructs<T, VARIANT> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const VARIANT: usize> Constructs<T, VARIANT> {
    /// A constructor, whose generic arguments may still be inference variables.
    pub const fn new() -> Self {
        Constructs(PhantomData)
    }

    /// Unifies the generic arguments with those of a function value.
    pub fn unify<Args, V: FnReturning<Args, T>>(self, _: &V) -> Self {
        self
    }

    /// Unifies the generic arguments with those of a path that is an argument.
    pub fn argument<'a, Args, V: FnReturning<Args, T> + 'a, C: Fn() -> &'a V>(self, _: &V, _: C) -> Self {
        self
    }

    /// Unifies the constructor with its witness.
    pub fn by<K, V>(self, _: *const Constructor<K, VariantIndex<VARIANT>>, _: &V) -> Self
    where
        T: DeviceType<K = K>,
    {
        self
    }
}

/// The result of a constructor's call, of the variant with this number.
#[derive(Debug)]
pub struct Construction<T, const VARIANT: usize>(PhantomData<Cell<T>>);

impl<T, const VARIANT: usize> Default for Construction<T, VARIANT> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const VARIANT: usize> Construction<T, VARIANT> {
    /// The result of a call in a typing probe.
    pub const fn new() -> Self {
        Construction(PhantomData)
    }

    /// Unifies the constructor with its witness.
    ///
    /// # Panics
    ///
    /// Always: the probe is never run.
    pub fn of<K>(self, _: *const Constructor<K, VariantIndex<VARIANT>>) -> T
    where
        T: DeviceType<K = K>,
    {
        unreachable!("a typing probe is never run")
    }
}

/// A function value that constructs a `T` from `Args`, a tuple.
///
/// Nothing unsafe relies on an implementation: the compiler compares a call's arguments with the struct's fields.
pub trait FnReturning<Args, T> {}

macro_rules! makes {
    ($(($($name:ident),*))*) => { $(
        impl<V, T, $($name),*> FnReturning<($($name,)*), T> for V where V: Fn($($name),*) -> T {}
    )* };
}

makes! { () (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) (A, B, C, D, E, F, G)
(A, B, C, D, E, F, G, H) (A, B, C, D, E, F, G, H, I) (A, B, C, D, E, F, G, H, I, J)
(A, B, C, D, E, F, G, H, I, J, K) (A, B, C, D, E, F, G, H, I, J, K, L) }

macro_rules! variants {
    ($($(#[$doc:meta])* $trait:ident $generics:tt for $ty:ty {
        $($call:ident $path:ident($of:ident) = $number:literal;)*
    })*) => { $(
        variants! { @trait ($($doc)*) $trait $generics for $ty { $($call $path($of) = $number;)* } }
    )* };
    (@trait ($($doc:meta)*) $trait:ident ($($param:ident)*) for $ty:ty {
        $($call:ident $path:ident($of:ident) = $number:literal;)*
    }) => {
        $(#[$doc])*
        ///
        /// Nothing unsafe relies on an implementation.
        #[expect(non_snake_case, reason = "a hidden function has its variant's name")]
        pub trait $trait<$($param),*>: Sized {
            $(
                #[doc(hidden)]
                fn $call(_: $of) -> Construction<$ty, $number> {
                    Construction::new()
                }

                #[doc(hidden)]
                fn $path() -> Constructs<$ty, $number> {
                    Constructs::new()
                }
            )*
        }

        impl<$($param),*> $trait<$($param),*> for $ty {}
    };
}

variants! {
    /// The hidden functions of the variants of `Option`, for paths such as `Option::Some(1)`.
    OptionVariants (T) for Option<T> { __call_Some __fn_Some(T) = 1; }
    /// The hidden functions of the variants of `Result`, for paths such as `Result::Ok(1)`.
    ResultVariants (T E) for Result<T, E> { __call_Ok __fn_Ok(T) = 0; __call_Err __fn_Err(E) = 1; }
    /// The hidden functions of the variants of `ControlFlow`, for paths such as `ControlFlow::Break(1)`.
    ControlFlowVariants (B C) for ControlFlow<B, C> {
        __call_Continue __fn_Continue(C) = 0;
        __call_Break __fn_Break(B) = 1;
    }
}
