//! Upper-case paths as arguments: that of a constant, `LIMIT`, or of a constructor, `E::A`.
//!
//! rustc distinguishes them by the type of the path's value: a function is a constructor, and its path has the variant's
//! name.
//!
//! # Safety
//!
//! The `DeviceFn` implementation, which describes the item to the compiler, and the call of a closure that captures
//! nothing.

use std::any::type_name;
use std::marker::PhantomData;

use super::{
    Body, ConstItem, ConstValue, DeviceFn, DeviceType, FnReturning, Instance, Key, Unconstrained, const_of, run,
};

/// The value of an upper-case path.
#[derive(Debug)]
pub struct UpperCasePath<'a, V>(pub &'a V);

impl<'a, V: ConstItem<'a>> UpperCasePath<'a, V> {
    /// Reads the constant.
    pub fn reported(self) -> (ConstValue, PhantomData<V>) {
        (const_of(self.0), PhantomData)
    }
}

/// The path does not name a constant. Nothing unsafe relies on an implementation.
pub trait UpperCaseConstructor<V> {
    #[doc(hidden)]
    fn reported<Args, T>(self) -> ConstructorByPath<V, T>
    where
        Self: Sized,
        V: UpperCaseArgument<Args, T>,
    {
        ConstructorByPath(PhantomData)
    }
}

impl<V> UpperCaseConstructor<V> for &UpperCasePath<'_, V> {}

/// A constructor. Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a constant of the device language",
    note = "there are numbers, `bool`, tuples, arrays and `Option` of them, structs and enums with `#[derive(DeviceType)]`, slices and arrays of all these behind a `&` and arrays of such references, and `static` items of type `Constant`"
)]
pub trait UpperCaseArgument<Args, T> {}

#[diagnostic::do_not_recommend]
impl<Args, T, V: FnReturning<Args, T>> UpperCaseArgument<Args, T> for V {}

/// The constructor of a `T` whose function value is a `V`.
#[derive(Debug)]
pub struct ConstructorByPath<V, T>(PhantomData<(V, T)>);

/// The resolution of an upper-case path whose value is a `V`. Nothing unsafe relies on an implementation.
pub trait ResolvedUpperCase<V> {
    /// The constant or constructor.
    fn body<C: Fn() -> Self>() -> Body
    where
        Self: Sized;
}

impl<V> ResolvedUpperCase<V> for (ConstValue, PhantomData<V>) {
    fn body<C: Fn() -> Self>() -> Body {
        Body::Constant(|| {
            const { assert!(size_of::<C>() == 0, "a variable is named where a constant is expected") };
            // SAFETY: the closure has no size, as the assertion above ensures. The macros write it: it only names a path, and
            // captures a variable of that name by reference.
            unsafe { run::<Self, C>() }.0
        })
    }
}

impl<V, T: DeviceType> ResolvedUpperCase<V> for ConstructorByPath<V, T> {
    fn body<C: Fn() -> Self>() -> Body {
        match variant::<V, T>() {
            Some(_) => Body::Constructor(T::K::ty, variant::<V, T>),
            None => Body::None,
        }
    }
}

/// The number of the variant of `T` that the constructor `V` makes, according to the path that rustc prints for it; 0 for a
/// struct.
fn variant<V, T: DeviceType>() -> Option<usize> {
    let (function, made) = (type_name::<V>(), type_name::<T>());
    let path = function.strip_suffix("::{{constructor}}").unwrap_or(function);
    if path == made {
        return Some(0);
    }
    let name = path.strip_prefix(made)?.strip_prefix("::")?;
    T::K::ty().as_sum()?.variants.iter().position(|variant| variant.name == name)
}

/// The callee of an upper-case path whose value is a `V`, resolved by the closure `C`.
#[derive(Debug)]
pub struct ByUpperCasePath<V, C>(PhantomData<(V, C)>);

/// Relates the value of an upper-case path to the closure that resolves it, and unifies both with a witness.
pub fn upper_case_path<V, R: ResolvedUpperCase<V>, C: Fn() -> R>(_: &V, _: C, _: *const ByUpperCasePath<V, C>) {}

// SAFETY: the instance is no function, but the constant or constructor that rustc resolved the path to.
#[diagnostic::do_not_recommend]
unsafe impl<V, R: ResolvedUpperCase<V>, C: Fn() -> R> DeviceFn for ByUpperCasePath<V, C> {
    type Args = Unconstrained;
    type Output = Unconstrained;

    fn instance() -> Instance {
        Instance { body: R::body::<C>(), generics: Vec::new() }
    }
}
