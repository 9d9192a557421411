//! The identity of a generic argument: rustc's `TypeId`, since several types may have one name.
//!
//! # Safety
//!
//! The one unsafe block computes the `TypeId` of a type with its lifetimes erased, on which a `TypeId` does not depend.

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

/// The type that a function is a method of, as a generic argument, independent of its lifetimes.
pub fn owner_arg<T: ?Sized>() -> GenericArg {
    GenericArg::Of(type_name::<T>(), identity::<T>())
}

/// A type whose `TypeId` is available once its lifetimes are erased.
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

/// The `TypeId` of a type, independent of its lifetimes.
fn identity<T: ?Sized>() -> TypeId {
    let marker = PhantomData::<T>;
    let marker: &dyn Identified = &marker;
    // SAFETY: only the lifetime in the trait object's type changes. The method that is called through it reads nothing,
    // since the marker has no value, and code generation does not depend on lifetimes.
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
