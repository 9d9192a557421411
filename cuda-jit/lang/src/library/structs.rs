//! Structs that may contain references, closures and other such structs: the device library's, and those of the user that
//! contain closures. Of enums, those of the user that contain closures.
//!
//! # Safety
//!
//! The only unsafe code is the implementations, which describe a struct or enum to the compiler: its fields' names and keys,
//! in order. The front end chooses its layout, since it is never in memory that Rust sees.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::typeinfo::{Arithmetic, Closure, DeviceType, Field, Key, StructTy, SumIdentity, SumTy, Ty, VariantTy};

/// The names of a struct and its fields.
///
/// Nothing unsafe relies on an implementation: keys are distinguished by the type that implements this.
pub trait Names: 'static {
    /// The struct's name.
    fn name() -> &'static str;
    /// The fields' names, in order.
    const FIELDS: &'static [&'static str];
}

/// The keys of a struct's fields.
///
/// Nothing unsafe relies on an implementation: it only lists keys, whose own contracts hold.
pub trait Keys: 'static {
    /// The fields' types, in order.
    fn types() -> Vec<Ty>;
}

macro_rules! keys {
    ($(($($key:ident)*))*) => { $(
        impl<$($key: Key),*> Keys for ($($key,)*) {
            fn types() -> Vec<Ty> {
                vec![$($key::ty()),*]
            }
        }
    )* };
}

keys! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) (A B C D E F G H I)
(A B C D E F G H I J) (A B C D E F G H I J K) (A B C D E F G H I J K L) }

/// The key of a struct with these names and fields.
#[derive(Debug)]
pub struct StructKey<N, F>(PhantomData<(N, F)>);

// SAFETY: the fields' types come from their own keys, and the implementor of `DeviceType` that uses this key guarantees
// that they are the struct's. The layout is the front end's, so that no size, alignment or offset has to match rustc's.
unsafe impl<N: Names, F: Keys> Key for StructKey<N, F> {
    fn ty() -> Ty {
        struct_ty(N::name(), N::FIELDS, F::types())
    }
}

/// The type of a struct without a layout. It is compiled once, and not for each struct.
fn struct_ty(name: &'static str, names: &[&'static str], types: Vec<Ty>) -> Ty {
    let fields = names.iter().zip(types).map(|(name, ty)| Field { name, ty, offset: 0 });
    Ty::Struct(Arc::new(StructTy {
        name,
        fields: fields.collect(),
        size: 0,
        align: 0,
        operators: Vec::new,
        arithmetic: Arithmetic::Listed,
    }))
}

/// The names of an enum, its variants and their fields.
///
/// Nothing unsafe relies on an implementation: keys are distinguished by the type that implements this.
pub trait VariantNames: 'static {
    /// The enum's name.
    fn name() -> &'static str;
    /// The name of each variant, with the names of its fields, in order.
    const VARIANTS: &'static [(&'static str, &'static [&'static str])];
}

/// The key of an enum with these names and the fields of all its variants.
#[derive(Debug)]
pub struct SumKey<N, F>(PhantomData<(N, F)>);

// SAFETY: the fields' types come from their own keys, and the implementor of `DeviceType` that uses this key guarantees
// that they are the enum's. The layout is the front end's.
unsafe impl<N: VariantNames, F: Keys> Key for SumKey<N, F> {
    fn ty() -> Ty {
        sum_ty(N::name(), N::VARIANTS, F::types())
    }
}

/// The type of an enum. It is compiled once, and not for each enum.
fn sum_ty(name: &'static str, variants: &'static [(&'static str, &'static [&'static str])], types: Vec<Ty>) -> Ty {
    let mut types = types.into_iter();
    let variant = |(name, fields): &(&'static str, &'static [&'static str])| {
        VariantTy::new(name, fields, types.by_ref().take(fields.len()).collect())
    };
    Ty::Sum(Arc::new(SumTy {
        identity: SumIdentity::Own(name),
        variants: variants.iter().map(variant).collect(),
        operators: Vec::new,
        arithmetic: Arithmetic::Listed,
    }))
}

// SAFETY: it has no values, and represents the type of a closure.
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for Closure {
    type K = Closure;
}

/// `device_struct!(Name [arguments] [parameters] { field: Type, .. })`: implements `DeviceType` for a struct; a field that
/// contains a closure is a `Closure`.
macro_rules! device_struct {
    ($name:ident [$($arguments:tt)*] [$($parameters:tt)*] { $($field:ident: $ty:ty),* $(,)? }) => {
        const _: () = {
            #[derive(Debug)]
            pub enum Name {}

            impl $crate::library::structs::Names for Name {
                fn name() -> &'static str {
                    stringify!($name)
                }

                const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];
            }

            // SAFETY: these are the struct's fields, in order, as listed in the macro call beside the struct.
            #[diagnostic::do_not_recommend]
            unsafe impl<$($parameters)*> $crate::typeinfo::DeviceType for $name<$($arguments)*> {
                type K = $crate::library::structs::StructKey<Name, ($(<$ty as $crate::typeinfo::DeviceType>::K,)*)>;
            }
        };
    };
}
pub(crate) use device_struct;
