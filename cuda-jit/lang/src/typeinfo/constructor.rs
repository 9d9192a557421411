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

use super::pattern::{Answer, Valued, answer};
use super::{Body, ByPath, DeviceFn, DeviceType, FnLike, Instance, Key, Resolved, Untied};

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
pub struct Numbered<const NUMBER: usize>;

impl<const NUMBER: usize> Variant for Numbered<NUMBER> {
    fn number() -> Option<usize> {
        Some(NUMBER)
    }
}

/// The variant that a query closure resolves.
#[derive(Debug)]
pub struct Asked<F>(PhantomData<fn() -> F>);

impl<R: Answer, F: Fn() -> R> Variant for Asked<F> {
    fn number() -> Option<usize> {
        // SAFETY: the type reaches a witness only through `made` or `named`, whose callers guarantee that the closure
        // captures nothing.
        match unsafe { answer(std::ptr::null::<F>()) } {
            Some(Resolved::Variant(variant)) => Some(variant),
            _ => None,
        }
    }
}

// SAFETY: the instance is the constructor of the type with this key; its call's path has all generic arguments.
unsafe impl<K: Key, N: Variant> DeviceFn for Constructor<K, N> {
    type Args = Untied;
    type Output = Untied;

    fn instance() -> Instance {
        Instance { body: Body::Constructor(K::ty, N::number), generics: Vec::new() }
    }
}

/// The value of a called path, of type `V`, which returns an `R`; `T` is the type of the path as a struct pattern.
#[derive(Debug)]
pub struct Made<T, R, V, F>(PhantomData<(T, R, V, F)>);

/// Relates the value of a called path to the path as a struct pattern.
///
/// # Safety
///
/// The closure captures nothing.
pub unsafe fn made<Args, R, T, V: Makes<Args, R>, F: Fn() -> Valued<T>>(_: &V, _: F) -> Made<T, R, V, F> {
    Made(PhantomData)
}

impl<T, V, F> Made<T, T, V, F> {
    /// Unifies the constructor with its witness.
    pub fn of<K>(self, _: *const Constructor<K, Asked<F>>)
    where
        T: DeviceType<K = K>,
    {
    }
}

/// The path names a device function. Nothing unsafe relies on an implementation.
pub trait MadeByFunction<T, V> {
    #[doc(hidden)]
    fn of(self, _: *const ByPath<T, V>)
    where
        Self: Sized,
        T: DeviceFn,
        V: FnLike<T::Args, Output = T::Output>,
    {
    }
}

impl<T, R, V, F> MadeByFunction<T, V> for &Made<T, R, V, F> {}

/// The value of a path, of type `V`; `T` is the type of the path as a struct pattern.
#[derive(Debug)]
pub struct Named<T, V, F>(PhantomData<(T, V, F)>);

/// Relates the value of a path, which is a function or a variant without fields, to the path as a struct pattern.
///
/// # Safety
///
/// The closure captures nothing.
pub unsafe fn named<T, V, F: Fn() -> Valued<T>>(_: &V, _: F) -> Named<T, V, F> {
    Named(PhantomData)
}

impl<T, F> Named<T, T, F> {
    /// Unifies the constructor of a value without fields with its witness.
    pub fn of<K>(self, _: *const Constructor<K, Asked<F>>)
    where
        T: NamedValue<K = K>,
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
pub trait NamedValue {
    /// Its key.
    type K;
}

#[diagnostic::do_not_recommend]
impl<T: DeviceType> NamedValue for T {
    type K = T::K;
}

/// The order of an atomic operation of the standard library, which is refused elsewhere.
#[diagnostic::do_not_recommend]
impl NamedValue for std::sync::atomic::Ordering {
    type K = <() as DeviceType>::K;
}

/// The path names a device function; rustc finds this before [`NamedFunction`]. Nothing unsafe relies on an implementation.
pub trait NamedCallee<T, V> {
    #[doc(hidden)]
    fn of(self, _: *const ByPath<T, V>)
    where
        Self: Sized,
        T: DeviceFn,
        V: FnLike<T::Args, Output = T::Output>,
    {
    }
}

impl<T: DeviceFn, V, F> NamedCallee<T, V> for Named<T, V, F> {}

/// The path names a constructor with fields. Nothing unsafe relies on an implementation.
pub trait NamedFunction<T, V, F> {
    #[doc(hidden)]
    fn of<Args, K>(self, _: *const Constructor<K, Asked<F>>)
    where
        Self: Sized,
        T: DeviceType<K = K>,
        V: Makes<Args, T>,
    {
    }
}

impl<T, V, F> NamedFunction<T, V, F> for &Named<T, V, F> {}

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
    pub fn see<Args, V: Makes<Args, T>>(self, _: &V) -> Self {
        self
    }

    /// Unifies the generic arguments with those of a path that is an argument.
    pub fn argument<'a, Args, V: Makes<Args, T> + 'a, C: Fn() -> &'a V>(self, _: &V, _: C) -> Self {
        self
    }

    /// Unifies the constructor with its witness.
    pub fn by<K, V>(self, _: *const Constructor<K, Numbered<VARIANT>>, _: &V) -> Self
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
    pub fn of<K>(self, _: *const Constructor<K, Numbered<VARIANT>>) -> T
    where
        T: DeviceType<K = K>,
    {
        unreachable!("a typing probe is never run")
    }
}

/// A function value that constructs a `T` from `Args`, a tuple.
///
/// Nothing unsafe relies on an implementation: the compiler compares a call's arguments with the struct's fields.
pub trait Makes<Args, T> {}

macro_rules! makes {
    ($(($($name:ident),*))*) => { $(
        impl<V, T, $($name),*> Makes<($($name,)*), T> for V where V: Fn($($name),*) -> T {}
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
}
