//! Functions of `std::mem`, `std::iter` and `std::cmp` that kernels support, and how the typing probe distinguishes them from other
//! functions that are not device functions.
//!
//! Each function has a type of its own, which is the same under each name that it is imported by. So the typing probe
//! passes the supported functions with the same number of arguments along with the callee, and calls a method that only
//! exists if the callee's type equals one of theirs. The method returns the device library's replacement, which the typing
//! probe calls instead.
//!
//! # Safety
//!
//! The only unsafe code is the implementations that describe the types here to the compiler.

use std::iter::{Empty, FromFn, Once, Repeat, RepeatN, Successors};
use std::marker::PhantomData;

use crate::device;
use crate::library::default::DeviceDefault;
use crate::library::iterator::{
    self, __Making_align_of, __Making_array_from_fn, __Making_empty, __Making_from_fn, __Making_once, __Making_repeat,
    __Making_repeat_n, __Making_size_of, __Making_successors, __Pairing_zip_both, DeviceIntoIterator, Making,
    OptionElements,
};
use crate::num::order;
use crate::typeinfo::non_device::{
    CalleeKind, CompiledForDevice, MakesArray, NoFunction, NonDeviceFunction, NonDeviceFunctionOfArray,
};
use crate::typeinfo::{
    Body, Callee, Closure, Constructs, DeviceFn, DeviceType, Exchange, FnLike, FnReturning, Instance, Intrinsic,
    NoCallee, ValueType, type_arg,
};

macro_rules! callees {
    ($($(#[$doc:meta])* $name:ident)*) => { $(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<T>(PhantomData<fn(T)>);

        // SAFETY: the instance is the exchange function that the type is named after.
        unsafe impl<T: DeviceType> DeviceFn for $name<T> {
            type Args = crate::typeinfo::Unconstrained;
            type Output = crate::typeinfo::Unconstrained;

            fn instance() -> Instance {
                Instance { body: Body::Intrinsic(Intrinsic::Exchange(Exchange::$name)), generics: vec![type_arg::<T>()] }
            }
        }
    )* };
}

callees! {
    /// The callee of `mem::swap`.
    Swap
    /// The callee of `mem::replace`.
    Replace
}

/// The callee of `mem::take`.
#[derive(Debug)]
pub struct Take<T>(PhantomData<fn(T)>);

// SAFETY: the instance is `mem::take` for this type, which the contract of `Taken` guarantees.
unsafe impl<T: Taken> DeviceFn for Take<T> {
    type Args = crate::typeinfo::Unconstrained;
    type Output = crate::typeinfo::Unconstrained;

    fn instance() -> Instance {
        T::take()
    }
}

/// A type that `mem::take` replaces by its default value.
///
/// # Safety
///
/// [`take`](Self::take) is the function `mem::take` of this type.
#[diagnostic::on_unimplemented(
    message = "kernels cannot make the default value of `{Self}`",
    label = "this type has no `#[device] impl Default`",
    note = "write `#[device]` before an `impl Default` of the type, or `#[derived(Default)]` in place of `#[derive(Default)]`, which is not captured"
)]
pub unsafe trait Taken: Sized {
    /// The function.
    fn take() -> Instance;
}

#[device(library)]
fn take_default<T: DeviceDefault + ValueType>(place: &mut T) -> T {
    let value = T::default();
    std::mem::replace(place, value)
}

// SAFETY: the function replaces the value by the default value.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceDefault + ValueType> Taken for T {
    fn take() -> Instance {
        take_default::<T>::instance()
    }
}

macro_rules! slices {
    ($($slice:ty;)*) => { $(
        // SAFETY: the compiler replaces a slice by an empty one, its default value.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: DeviceType> Taken for $slice {
            fn take() -> Instance {
                Instance { body: Body::Intrinsic(Intrinsic::Exchange(Exchange::Take)), generics: vec![type_arg::<$slice>()] }
            }
        }
    )* };
}

slices! {
    &[T];
    &mut [T];
}

/// The witness of a refused callee.
type Witness = *const NoCallee;
/// The callee of a call that is refused already.
type RefusedCallee = NoFunction;
/// The type arguments of a function that is not one of the supported ones.
type Any = u8;
/// The placeholder for `iter::from_fn`'s closure.
type Next = fn() -> Option<Any>;
/// The placeholder for `iter::successors`'s closure.
type After = fn(&Any) -> Option<Any>;
/// The placeholder for `array::from_fn`'s closure.
type At = fn(usize) -> Any;
/// The placeholder for an argument of `iter::zip`.
type Items = [Any; 0];

/// The supported functions without arguments, and the type argument of those whose results do not show it.
type Nullary<T> = (fn() -> Empty<Any>, fn() -> usize, fn() -> usize, PhantomData<T>);
/// The supported functions of one argument.
type Unary =
    (fn(&mut Any) -> Any, fn(Any) -> Once<Any>, fn(Any) -> Repeat<Any>, fn(Next) -> FromFn<Next>, fn(At) -> [Any; 1]);
/// The supported functions of two arguments.
type Binary = (
    fn(&mut Any, &mut Any),
    fn(&mut Any, Any) -> Any,
    fn(Any, usize) -> RepeatN<Any>,
    fn(Option<Any>, After) -> Successors<Any, After>,
    fn(Items, Items) -> std::iter::Zip<<Items as IntoIterator>::IntoIter, <Items as IntoIterator>::IntoIter>,
    fn(Any, Any) -> Any,
    fn(Any, Any) -> Any,
);

/// The methods of a callee with 0, 1 or 2 arguments that is none of the supported functions. `unify_*` unifies the generic
/// arguments with those of a function value; `accept_*` does not, since the call's closures fix them.
macro_rules! unknown {
    ($([$($generics:tt)*] $ty:ty, [$($params:tt)*] where [$($bounds:tt)*];)*) => { $(
        impl<$($generics)*> $ty {
            /// Unifies the generic arguments with those of a function value that is called without arguments.
            pub fn unify_nullary<$($params)*, MEASURED>(self, function: &V, _: Nullary<MEASURED>) -> Self where $($bounds)* {
                self.unify(function)
            }

            /// Unifies the generic arguments with those of a function value that is called with one argument.
            pub fn unify_unary<$($params)*>(self, function: &V, _: Unary) -> Self where $($bounds)* {
                self.unify(function)
            }

            /// Unifies the generic arguments with those of a function value that is called with two arguments.
            pub fn unify_binary<$($params)*>(self, function: &V, _: Binary) -> Self where $($bounds)* {
                self.unify(function)
            }

            /// Accepts a function value that is called with one argument, a closure, and is none of the supported
            /// functions.
            pub fn accept_unary<V>(self, _: &V, _: Unary) -> Self {
                self
            }

            /// Accepts a function value that is called with two arguments, among them a closure, and is none of the
            /// supported functions.
            pub fn accept_binary<V>(self, _: &V, _: Binary) -> Self {
                self
            }

            /// The function value that the typing probe calls.
            pub fn replacement<V>(&self, _: &V, function: V) -> V {
                function
            }

            /// The function value that the typing probe calls with closures.
            pub fn tie<V>(&self, _: &V, function: V) -> V {
                function
            }

            /// The call's result.
            pub fn result<R>(&self, result: R) -> R {
                result
            }
        }
    )* };
}

unknown! {
    [F] Callee<F>, [V] where [F: DeviceFn, V: FnLike<F::Args, Output = F::Output>];
    [T, const VARIANT: usize] Constructs<T, VARIANT>, [Args, V] where [V: FnReturning<Args, T>];
    [] NoFunction, [V] where [];
}

/// A function `F` without device code, the supported functions `S` with as many arguments, and their generic arguments `A`.
#[derive(Debug)]
pub struct Candidates<F, S, A>(PhantomData<(F, S, A)>);

impl NonDeviceFunction {
    /// Compares the function with those without arguments.
    pub fn unify_nullary<F, E: Fn() -> Empty<A>, S, L, A, T>(
        self,
        _: &F,
        _: (E, S, L, PhantomData<T>),
    ) -> Candidates<F, (E, S, L), (A, T)> {
        Candidates(PhantomData)
    }
}

macro_rules! compared {
    ($([$($of:tt)*] $ty:ty, [$($bound:tt)*]: $one:ident $two:ident;)*) => { $(
        impl<$($of)*> $ty {
            /// Compares the function with those of one argument.
            pub fn $one<F: $($bound)*, T, O, R, N, W, A, B, C, D, E, G, const LEN: usize>(
                self,
                _: &F,
                _: (T, O, R, N, W),
            ) -> Candidates<F, (T, O, R, N, W), (A, B, C, D, E, [G; LEN])>
            where
                T: Fn(&mut A) -> A,
                O: Fn(B) -> Once<B>,
                R: Fn(C) -> Repeat<C>,
                N: Fn(D) -> FromFn<D>,
                W: Fn(E) -> [G; LEN],
            {
                Candidates(PhantomData)
            }

            /// Compares the function with those of two arguments.
            pub fn $two<F: $($bound)*, S, R, N, U, Z, M, L, A, B, C, D, E, G, H, I: IntoIterator, J: IntoIterator>(
                self,
                _: &F,
                _: (S, R, N, U, Z, M, L),
            ) -> Candidates<F, (S, R, N, U, Z, M, L), (A, B, C, D, E, I, J, G, H)>
            where
                S: Fn(&mut A, &mut A),
                R: Fn(&mut B, B) -> B,
                N: Fn(C, usize) -> RepeatN<C>,
                U: Fn(Option<D>, E) -> Successors<D, E>,
                Z: Fn(I, J) -> std::iter::Zip<I::IntoIter, J::IntoIter>,
                M: Fn(G, G) -> G,
                L: Fn(H, H) -> H,
            {
                Candidates(PhantomData)
            }
        }
    )* };
}

compared! {
    [] NonDeviceFunction, []: unify_unary unify_binary;
    [] NonDeviceFunction, []: accept_unary accept_binary;
    [X, const COUNT: usize, Y] NonDeviceFunctionOfArray<X, COUNT, Y>, [MakesArray<X, COUNT, Y>]: unify_unary unify_binary;
    [X, const COUNT: usize, Y] NonDeviceFunctionOfArray<X, COUNT, Y>, [MakesArray<X, COUNT, Y>]: accept_unary accept_binary;
}

/// The device library's replacement for a supported function.
#[derive(Debug)]
pub struct Replacement<F>(PhantomData<F>);

impl<F> Replacement<F> {
    /// The function value that the typing probe calls.
    ///
    /// # Panics
    ///
    /// Always: the typing probe is never run.
    pub fn replacement<V>(&self, _: &V, _: V) -> F {
        unreachable!("a typing probe is never run")
    }

    /// The function value that the typing probe calls with closures: the original, from which rustc infers the closures'
    /// types.
    pub fn tie<V>(&self, _: &V, function: V) -> V {
        function
    }
}

impl<A, R> Replacement<fn(A) -> R> {
    /// The call's result.
    ///
    /// # Panics
    ///
    /// Always: the typing probe is never run.
    pub fn result<V>(&self, _: V) -> R {
        unreachable!("a typing probe is never run")
    }
}

impl<A, B, R> Replacement<fn(A, B) -> R> {
    /// The call's result.
    ///
    /// # Panics
    ///
    /// Always: the typing probe is never run.
    pub fn result<V>(&self, _: V) -> R {
        unreachable!("a typing probe is never run")
    }
}

/// The function is a supported one, with the callee `C`. Nothing unsafe relies on an implementation.
pub trait IsStdFunction<C>: Sized {
    #[doc(hidden)]
    type Function;

    #[doc(hidden)]
    fn by<V>(self, _: *const C, _: &V) -> Replacement<Self::Function> {
        Replacement(PhantomData)
    }
}

macro_rules! std_functions {
    ($([$($generics:tt)*] $callee:ty, $function:ty, $known:ty, $arguments:ty;)*) => { $(
        #[diagnostic::do_not_recommend]
        impl<F, $($generics)*> IsStdFunction<$callee> for Candidates<F, $known, $arguments> {
            type Function = $function;
        }
    )* };
}

/// The element type of an iterator over what `A` converts into.
type Both<A, B> = iterator::Zip<<A as DeviceIntoIterator>::IntoIter, <B as DeviceIntoIterator>::IntoIter>;

std_functions! {
    [A: Making, S, L, T] __Making_empty<A>, fn() -> OptionElements<A>, (F, S, L), (A, T);
    [T: Making, E, L] __Making_size_of<T>, fn() -> usize, (E, F, L), (Any, T);
    [T: Making, E, S] __Making_align_of<T>, fn() -> usize, (E, S, F), (Any, T);
    [A, O, R, N, W] Take<A>, fn(&mut A) -> A, (F, O, R, N, W), (A, Any, Any, Next, At, [Any; 1]);
    [A: Making, T, R, N, W] __Making_once<A>, fn(A) -> OptionElements<A>, (T, F, R, N, W), (Any, A, Any, Next, At, [Any; 1]);
    [A: Making, T, O, N, W] __Making_repeat<A>, fn(A) -> iterator::Repeat<A>, (T, O, F, N, W), (Any, Any, A, Next, At, [Any; 1]);
    [A: Making, C: FnMut() -> Option<A>, T, O, R, W] __Making_from_fn<A, Closure>, fn(C) -> iterator::FromFn<C>, (T, O, R, F, W), (Any, Any, Any, C, At, [Any; 1]);
    [A: Making, C: FnMut(usize) -> A, T, O, R, N, const LEN: usize]
        __Making_array_from_fn<A, Closure, LEN>, fn(C) -> [A; LEN], (T, O, R, N, F), (Any, Any, Any, Next, C, [A; LEN]);
    [A, R, N, U, Z, M, L] Swap<A>, fn(&mut A, &mut A), (F, R, N, U, Z, M, L), (A, Any, Any, Any, After, Items, Items, Any, Any);
    [A, S, N, U, Z, M, L] Replace<A>, fn(&mut A, A) -> A, (S, F, N, U, Z, M, L), (Any, A, Any, Any, After, Items, Items, Any, Any);
    [A: Making, S, R, U, Z, M, L] __Making_repeat_n<A>, fn(A, usize) -> iterator::RepeatN<A>, (S, R, F, U, Z, M, L), (Any, Any, A, Any, After, Items, Items, Any, Any);
    [A: Making, C: FnMut(&A) -> Option<A>, S, R, N, Z, M, L]
        __Making_successors<A, Closure>, fn(Option<A>, C) -> iterator::Successors<A, C>, (S, R, N, F, Z, M, L), (Any, Any, Any, A, C, Items, Items, Any, Any);
    // the standard library's function takes other types of iterators
    [A: DeviceIntoIterator, B: DeviceIntoIterator, S, R, N, U, M, L] __Pairing_zip_both<A, B>, fn(A, B) -> Both<A, B>, (S, R, N, U, F, M, L), (Any, Any, Any, Any, After, Items, Items, Any, Any);
    [A: Ord, S, R, N, U, Z, L] order::max<A>, fn(A, A) -> A, (S, R, N, U, Z, F, L), (Any, Any, Any, Any, After, Items, Items, A, Any);
    [A: Ord, S, R, N, U, Z, M] order::min<A>, fn(A, A) -> A, (S, R, N, U, Z, M, F), (Any, Any, Any, Any, After, Items, Items, Any, A);
}

/// The function is none of the supported ones. Nothing unsafe relies on an implementation.
pub trait IsOtherFunction {
    #[doc(hidden)]
    type Function;

    #[doc(hidden)]
    fn by<V>(&self, _: Witness, _: &V) -> RefusedCallee
    where
        Self::Function: CompiledForDevice,
    {
        NoFunction
    }
}

impl<F, S, A> IsOtherFunction for Candidates<F, S, A> {
    type Function = F;
}

#[diagnostic::do_not_recommend]
impl<F, D> CalleeKind<F> for Replacement<D> {}
