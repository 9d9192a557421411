//! Structs that may hold references, closures and each other: the device library's, and those of the user's that hold closures.
//!
//! # Safety
//!
//! There is no unsafe code but the promise that the compiler is told the truth about a struct here: its fields' names and keys,
//! in order. It lies where the front end lays it, never in memory that Rust sees.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::typeinfo::{Arithmetic, Closure, DeviceType, Field, Key, StructTy, Ty};

/// The names of a struct and of its fields.
///
/// Nothing unsafe relies on an implementation: a key is told apart by the type that implements this.
pub trait Names: 'static {
    /// The struct's.
    fn name() -> &'static str;
    /// The fields', in order.
    const FIELDS: &'static [&'static str];
}

/// The keys of a struct's fields.
///
/// Nothing unsafe relies on an implementation: it lists keys, which are to be trusted.
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

/// The key of a struct of such names and fields.
#[derive(Debug)]
pub struct StructKey<N, F>(PhantomData<(N, F)>);

// SAFETY: whoever names the key vouches for the fields; nothing else is said of the layout than that it is the front end's.
unsafe impl<N: Names, F: Keys> Key for StructKey<N, F> {
    fn ty() -> Ty {
        let fields = N::FIELDS.iter().zip(F::types()).map(|(name, ty)| Field { name, ty, offset: 0 });
        Ty::Struct(Arc::new(StructTy {
            name: N::name(),
            fields: fields.collect(),
            size: 0,
            align: 0,
            operators: Vec::new,
            arithmetic: Arithmetic::Listed,
        }))
    }
}

// SAFETY: it has no values, and stands for the type of a closure.
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for Closure {
    type K = Closure;
}

/// `device_struct!(Name [arguments] [parameters] { field: Type, .. })`: tells the compiler of a struct; a field that holds a
/// closure is a `Closure`.
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

            // SAFETY: these are the struct's fields, in order, as the macro's user wrote them beside the struct.
            #[diagnostic::do_not_recommend]
            unsafe impl<$($parameters)*> $crate::typeinfo::DeviceType for $name<$($arguments)*> {
                type K = $crate::library::structs::StructKey<Name, ($(<$ty as $crate::typeinfo::DeviceType>::K,)*)>;
            }
        };
    };
}
pub(crate) use device_struct;
