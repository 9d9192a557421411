//! What tells a generic argument from every other: rustc's own identity of a type, since several may have one name.
//!
//! # Safety
//!
//! The one block asks a type for its identity with the lifetimes taken off, which identities do not have.

use std::any::{TypeId, type_name};
use std::marker::PhantomData;

use super::{DeviceType, GenericArg, Key};

/// A type as a generic argument.
pub fn type_arg<T: DeviceType>() -> GenericArg {
    key_arg::<T::K>()
}

/// The type with this key as a generic argument.
pub(crate) fn key_arg<K: Key>() -> GenericArg {
    GenericArg::Type(K::ty(), TypeId::of::<K>())
}

/// The type whose method a function is, as a generic argument: with any lifetimes one and the same.
pub fn owner_arg<T: ?Sized>() -> GenericArg {
    GenericArg::Of(type_name::<T>(), identity::<T>())
}

/// A type that has an identity once its lifetimes are forgotten.
trait Identified {
    fn identity(&self) -> TypeId
    where
        Self: 'static;
}

impl<T: ?Sized> Identified for PhantomData<T> {
    fn identity(&self) -> TypeId
    where
        Self: 'static,
    {
        TypeId::of::<T>()
    }
}

/// The identity of a type, whatever its lifetimes.
fn identity<T: ?Sized>() -> TypeId {
    let marker = PhantomData::<T>;
    let marker: &dyn Identified = &marker;
    // SAFETY: only the lifetime in the trait object's type changes, and what is called with it reads nothing: a marker holds
    // no value, and code is generated for types without their lifetimes.
    let marker = unsafe { std::mem::transmute::<&dyn Identified, &(dyn Identified + 'static)>(marker) };
    marker.identity()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_lifetime<'a>(_: &'a u32) -> GenericArg {
        owner_arg::<&'a u32>()
    }

    #[test]
    fn types_of_one_name_differ_and_lifetimes_do_not() {
        let first = {
            struct Same;
            owner_arg::<Same>()
        };
        let second = {
            struct Same;
            owner_arg::<Same>()
        };
        let names = [&first, &second].map(|arg| match arg {
            GenericArg::Of(name, _) => *name,
            _ => unreachable!("it is an owner"),
        });
        assert_eq!(names[0], names[1]);
        assert_ne!(first, second);
        assert_eq!(with_lifetime(&1), owner_arg::<&'static u32>());
    }
}
