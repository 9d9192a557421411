//! Device functions that a call names by a path.
//!
//! The path resolves both to a function, as a value, and to the type beside it. A local function shadows a function that a
//! glob imports, but not the type beside that one: then the path resolves to two different functions.
//!
//! # Safety
//!
//! The `DeviceFn` implementations, which describe the function to the compiler, and the call of a closure that captures
//! nothing.

use std::any::type_name;
use std::marker::PhantomData;

use super::{Body, ConstItem, DeviceFn, Instance, Unconstrained, const_of, run};

/// The device function `F`, by a path that resolves to the function value `V`.
#[derive(Debug)]
pub struct ByPath<F, V>(PhantomData<(F, V)>);

// SAFETY: the instance is `F`'s, or none if the path resolves to another function.
#[diagnostic::do_not_recommend]
unsafe impl<F: DeviceFn, V> DeviceFn for ByPath<F, V> {
    type Args = F::Args;
    type Output = F::Output;

    fn instance() -> Instance {
        instance(type_name::<F>(), type_name::<V>(), F::instance)
    }
}

/// The function's instance, or none if the path resolves to another function. It is compiled once, and not for each path.
fn instance(function: &str, value: &'static str, of_function: fn() -> Instance) -> Instance {
    let value = item(value);
    if item(function) == value {
        return of_function();
    }
    Instance { body: Body::Mismatch(value), generics: Vec::new() }
}

/// Defines the function that unifies the generic arguments of a call, for functions that take no closures, if its arguments
/// include paths of functions or constants.
#[doc(hidden)]
#[macro_export]
macro_rules! __unify {
    ($vis:vis,) => {
        #[doc(hidden)]
        $vis fn __unify<__V>(
            callee: __V,
            _: $crate::__private::Callee<Self>,
            _: *const $crate::__private::ByPath<Self, __V>,
        ) -> __V
        where
            Self: $crate::__private::DeviceFn,
            __V: $crate::__private::FnLike<
                    <Self as $crate::__private::DeviceFn>::Args,
                    Output = <Self as $crate::__private::DeviceFn>::Output,
                >,
        {
            callee
        }
    };
}

/// Defines the callee type of a function, which has the function's name: its generic parameters, the bounds for which it is
/// a callee, the types of its arguments and of its result, and its instance.
macro_rules! callee {
    (
        $(#[$meta:meta])* $vis:vis $name:ident [$($generic:ident),*] $([const $n:ident])?;
        $(#[$of_impl:meta])* where [$($bounds:tt)*] fn $args:ty => $output:ty { $($instance:tt)* }
    ) => {
        $(#[$meta])*
        $vis struct $name<$($generic,)* $(const $n: usize)?> {
            _of: std::marker::PhantomData<fn() -> ($($generic,)*)>,
        }

        impl<$($generic,)* $(const $n: usize)?> $name<$($generic,)* $($n)?> {
            #[doc(hidden)]
            $vis fn __callee() -> $crate::typeinfo::Callee<Self> {
                $crate::typeinfo::Callee::new()
            }

            $crate::__private::unify! { $vis, }
        }

        $(#[$of_impl])*
        // SAFETY: the instance is that of the function of the same name, with these arguments and this result.
        unsafe impl<$($generic,)* $(const $n: usize)?> $crate::typeinfo::DeviceFn for $name<$($generic,)* $($n)?>
        where
            $($bounds)*
        {
            type Args = $args;
            type Output = $output;

            fn instance() -> $crate::typeinfo::Instance {
                $($instance)*
            }
        }
    };
}
pub(crate) use callee;

/// A constant that is named by a path as an argument, where a function could stand. The closure returns it.
#[derive(Debug)]
pub struct ConstantByPath<C>(PhantomData<C>);

impl<C> ConstantByPath<C> {
    /// A constant in a typing probe.
    pub(super) const fn new() -> Self {
        ConstantByPath(PhantomData)
    }

    /// Unifies the constant with its witness.
    pub fn by<V>(self, _: *const Self, _: &V) -> Self {
        self
    }
}

// SAFETY: the instance is no function, but the constant that rustc resolved the path to.
#[diagnostic::do_not_recommend]
unsafe impl<'a, V: ConstItem<'a> + 'a, C: Fn() -> &'a V> DeviceFn for ConstantByPath<C> {
    type Args = Unconstrained;
    type Output = Unconstrained;

    fn instance() -> Instance {
        let value = || {
            const { assert!(size_of::<C>() == 0, "a variable is named where a constant is expected") };
            // SAFETY: the closure has no size, as the assertion above ensures. The macros write it: it only names a path, and
            // captures a variable of that name by reference.
            const_of(unsafe { run::<&V, C>() })
        };
        Instance { body: Body::Constant(value), generics: Vec::new() }
    }
}

/// An item's path without its generic arguments. A function and the type beside it have the same path: rustc prints an
/// item's own path, whatever path named it.
fn item(name: &str) -> &str {
    let mut depth = 0;
    if !name.ends_with('>') {
        return name;
    }
    for (at, char) in name.char_indices().rev() {
        match char {
            '>' if !name[..at].ends_with('-') => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &name[..at];
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The path of a value's type, without generic arguments.
    fn of<V>(_: V) -> &'static str {
        item(type_name::<V>())
    }

    #[derive(Debug)]
    struct Beside<T>(T);

    fn function<F: Fn(u8) -> Beside<u8>, const N: usize>(_: F) {}

    #[test]
    fn generic_arguments_are_no_part_of_a_path() {
        let here = module_path!();
        assert_eq!(of(function::<fn(u8) -> Beside<u8>, 3>), format!("{here}::function"));
        assert_eq!(of(Beside(Beside(|_: u8| 1))), format!("{here}::Beside"));
        assert_eq!(of(of::<Beside<fn() -> u8>>), format!("{here}::of"));
        assert_eq!(item("<a::B<u8> as c::D>::e::f<g::H<i>>"), "<a::B<u8> as c::D>::e::f");
    }
}
