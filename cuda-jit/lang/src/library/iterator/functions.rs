//! Functions of `std::iter`, `std::array` and `std::mem` that create iterators and arrays or measure types, and the iterators over
//! an `Option` or `Result`.

use super::calls::DeviceCalls;
use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIntoIterator, DeviceIterator, Indexed, IndexedSource, Zip};
use crate::device;
use crate::device::library::duplicate;
use crate::library::structs::device_struct;
use crate::typeinfo::{Closure, DeviceType};

/// The functions, as associated functions of the type of the elements, or of the type that is measured.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait Making: Sized + DeviceType {
    #[doc(hidden)]
    const SIZE: usize = size_of::<Self>();
    #[doc(hidden)]
    const ALIGN: usize = align_of::<Self>();

    /// `mem::size_of`
    fn size_of() -> usize {
        Self::SIZE
    }

    /// `mem::align_of`
    fn align_of() -> usize {
        Self::ALIGN
    }

    /// `iter::empty`
    fn empty() -> OptionElements<Self> {
        OptionElements { item: None }
    }

    /// `iter::once`
    fn once(item: Self) -> OptionElements<Self> {
        OptionElements { item: Some(item) }
    }

    /// `iter::repeat`
    fn repeat(item: Self) -> Repeat<Self> {
        Repeat { item, left: usize::MAX }
    }

    /// `iter::repeat_n`
    fn repeat_n(item: Self, count: usize) -> RepeatN<Self> {
        Indexed::new(Copies { item, count })
    }

    /// `iter::from_fn`
    fn from_fn<F: FnMut() -> Option<Self>>(f: F) -> FromFn<F> {
        FromFn { f }
    }

    /// `iter::successors`
    fn successors<F: FnMut(&Self) -> Option<Self>>(first: Option<Self>, f: F) -> Successors<Self, F> {
        Successors { next: first, f }
    }

    /// `array::from_fn`
    fn array_from_fn<F: FnMut(usize) -> Self, const N: usize>(mut f: F) -> [Self; N] {
        let mut index = 0;
        [(); N].map(|_| {
            index += 1;
            f(index - 1)
        })
    }
}

#[device(library)]
impl<T: DeviceType> Making for T {}

/// `iter::zip`, as an associated function of the type of its first argument.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait Pairing: DeviceIntoIterator {
    /// `iter::zip`
    fn zip_both<U: DeviceIntoIterator>(a: Self, b: U) -> Zip<Self::IntoIter, U::IntoIter> {
        Zip { a: a.into_iter(), b: b.into_iter() }
    }
}

#[device(library)]
impl<T: DeviceIntoIterator> Pairing for T {}

/// The element of an `Option`, if there is one.
#[derive(Clone, Debug)]
pub struct OptionElements<T> {
    item: Option<T>,
}
device_struct!(OptionElements [T] [T: DeviceType] { item: Option<T> });

#[device(library)]
impl<T: DeviceType> DeviceIterator for OptionElements<T> {
    type Item = T;
    const HAS_TRUSTED_LEN: bool = true;
    const IS_FUSED: bool = true;
    const IS_PURE: bool = true;

    fn next(&mut self) -> Option<T> {
        self.item.take()
    }

    fn trusted_len(&self) -> usize {
        self.item.is_some() as usize
    }
}

#[device(library)]
impl<T: DeviceType> DeviceDoubleEnded for OptionElements<T> {
    fn next_back(&mut self) -> Option<T> {
        self.item.take()
    }
}

#[device(library)]
impl<T: DeviceType> DeviceExactSize for OptionElements<T> {
    fn len(&self) -> usize {
        self.item.is_some() as usize
    }
}

#[device(library)]
impl<T: DeviceType> DeviceIntoIterator for Option<T> {
    type Item = T;
    type IntoIter = OptionElements<T>;

    fn into_iter(self) -> OptionElements<T> {
        OptionElements { item: self }
    }
}

#[device(library)]
impl<T: DeviceType, E: DeviceType> DeviceIntoIterator for Result<T, E> {
    type Item = T;
    type IntoIter = OptionElements<T>;

    fn into_iter(self) -> OptionElements<T> {
        OptionElements { item: self.ok() }
    }
}

/// An `Option`, `Result` or reference to one, whose value is iterated over.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait ValueSources: Sized + DeviceType {
    /// A reference to the value.
    type Value: DeviceType;

    /// `iter`
    fn iter(self) -> OptionElements<Self::Value>;
}

/// A mutable reference to an `Option` or `Result`, whose value is iterated over.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait ValueSourcesMut: Sized + DeviceType {
    /// A reference to the value.
    type Value: DeviceType;

    /// `iter_mut`
    fn iter_mut(self) -> OptionElements<Self::Value>;
}

/// Implements the iterators over a reference to the value of an `Option` or `Result`.
macro_rules! value_sources {
    ($([$($error:ident)?] $of:ty: $($ok:ident)?;)*) => { $(
        #[device(library)]
        impl<'a, T: DeviceType $(, $error: DeviceType)?> ValueSources for &'a $of {
            type Value = &'a T;

            fn iter(self) -> OptionElements<&'a T> {
                OptionElements { item: self.as_ref()$(.$ok())? }
            }
        }

        #[device(library)]
        impl<'a, T: DeviceType $(, $error: DeviceType)?> ValueSourcesMut for &'a mut $of {
            type Value = &'a mut T;

            fn iter_mut(self) -> OptionElements<&'a mut T> {
                OptionElements { item: self.as_mut()$(.$ok())? }
            }
        }

        #[device(library)]
        impl<'a, T: DeviceType $(, $error: DeviceType)?> DeviceIntoIterator for &'a $of {
            type Item = &'a T;
            type IntoIter = OptionElements<&'a T>;

            fn into_iter(self) -> OptionElements<&'a T> {
                OptionElements { item: self.as_ref()$(.$ok())? }
            }
        }

        #[device(library)]
        impl<'a, T: DeviceType $(, $error: DeviceType)?> DeviceIntoIterator for &'a mut $of {
            type Item = &'a mut T;
            type IntoIter = OptionElements<&'a mut T>;

            fn into_iter(self) -> OptionElements<&'a mut T> {
                OptionElements { item: self.as_mut()$(.$ok())? }
            }
        }
    )* };
}

value_sources! {
    [] Option<T>:;
    [E] Result<T, E>: ok;
}

/// One element repeated endlessly, or until the end that a `take` from the back has set.
#[derive(Clone, Debug)]
pub struct Repeat<T> {
    item: T,
    /// `usize::MAX` if there is no end.
    left: usize,
}
device_struct!(Repeat [T] [T: DeviceType] { item: T, left: usize });

#[device(library)]
impl<T: DeviceType> DeviceIterator for Repeat<T> {
    type Item = T;
    const HAS_TRUSTED_LEN: bool = true;
    const IS_FUSED: bool = true;
    const IS_PURE: bool = true;

    fn next(&mut self) -> Option<T> {
        if self.left == usize::MAX { Some(duplicate(&self.item)) } else { self.device_next_back() }
    }

    fn advance(&mut self, n: usize) -> usize {
        if self.left == usize::MAX { 0 } else { self.advance_back(n) }
    }

    fn nth(&mut self, n: usize) -> Option<T> {
        self.advance(n);
        self.device_next()
    }

    fn trusted_len(&self) -> usize {
        self.left
    }
}

#[device(library)]
impl<T: DeviceType> DeviceDoubleEnded for Repeat<T> {
    fn next_back(&mut self) -> Option<T> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        Some(duplicate(&self.item))
    }

    fn advance_back(&mut self, n: usize) -> usize {
        let advanced = if n < self.left { n } else { self.left };
        self.left -= advanced;
        n - advanced
    }

    fn nth_back(&mut self, n: usize) -> Option<T> {
        self.advance_back(n);
        self.device_next_back()
    }
}

// std implements this only for a `take` of it
#[device(library)]
impl<T: DeviceType> DeviceExactSize for Repeat<T> {
    fn len(&self) -> usize {
        self.left
    }
}

/// Copies of an element.
#[derive(Clone, Debug)]
pub struct Copies<T> {
    item: T,
    count: usize,
}
device_struct!(Copies [T] [T: DeviceType] { item: T, count: usize });

#[device(library)]
impl<T: DeviceType> IndexedSource for Copies<T> {
    type Item = T;
    const IS_RANDOM_ACCESS: bool = false;

    fn end(&self) -> usize {
        self.count
    }

    fn at(&mut self, _number: usize) -> T {
        duplicate(&self.item)
    }
}

/// An element repeated a given number of times.
pub type RepeatN<T> = Indexed<Copies<T>>;

/// The results of a closure, until one is `None`.
#[derive(Clone, Debug)]
pub struct FromFn<F> {
    f: F,
}
device_struct!(FromFn [F] [F] { f: Closure });

#[device(library)]
impl<T: DeviceType, F: FnMut() -> Option<T>> DeviceIterator for FromFn<F> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        (self.f)()
    }
}

/// Elements that a closure computes from their predecessors.
#[derive(Clone, Debug)]
pub struct Successors<T, F> {
    next: Option<T>,
    f: F,
}
device_struct!(Successors [T, F] [T: DeviceType, F] { next: Option<T>, f: Closure });

#[device(library)]
impl<T: DeviceType, F: FnMut(&T) -> Option<T>> DeviceIterator for Successors<T, F> {
    type Item = T;
    const IS_FUSED: bool = true;

    fn next(&mut self) -> Option<T> {
        match self.next.take() {
            Some(item) => {
                self.next = (self.f)(&item);
                Some(item)
            }
            None => None,
        }
    }
}
