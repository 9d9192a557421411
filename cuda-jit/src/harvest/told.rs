//! What a twin tells of its bindings: functions, or the type of what it would yield.

use super::{Key, Saw, Ty};

/// What these functions tell.
pub fn tell(types: &[fn() -> Ty]) -> Vec<Ty> {
    types.iter().map(|ty| ty()).collect()
}

/// What a twin that is never called would yield: what each observer saw, in tuples of up to eight. Sealed.
pub trait Told: sealed::Sealed {
    /// Appends the types, in order.
    fn tell(types: &mut Vec<Ty>);
}

/// The types that a twin tells by what it would yield; there never is such a value.
pub fn told<T: Told>(_: Option<T>) -> Vec<Ty> {
    let mut types = Vec::new();
    T::tell(&mut types);
    types
}

mod sealed {
    /// Keeps [`Told`](super::Told) to what twins yield.
    pub trait Sealed {}

    impl<K: super::Key> Sealed for super::Saw<K> {}
}

impl<K: Key> Told for Saw<K> {
    fn tell(types: &mut Vec<Ty>) {
        types.push(K::ty());
    }
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => { $(
        impl<$($name: Told),*> sealed::Sealed for ($($name,)*) {}
        impl<$($name: Told),*> Told for ($($name,)*) {
            fn tell(types: &mut Vec<Ty>) { $( $name::tell(types); )* let _ = types; }
        }
    )* };
}

tuples! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }
