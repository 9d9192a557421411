//! Iterators over ndarray's views: their parts along an axis, and their elements.

use ndarray::{ArrayView, ArrayViewMut, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6};

use super::{DeviceDoubleEnded, DeviceExactSize, DeviceIterator, Enumerate};
use crate::device;
use crate::device::library::{Parts, elements_in, first_place, lane_at, lanes_in, next_element};
use crate::harvest::DeviceType;
use crate::lang::structs::device_struct;

/// The parts of a view along its first axis.
#[derive(Debug)]
pub struct Lanes<V> {
    view: V,
    front: usize,
    back: usize,
}
device_struct!(Lanes [V] [V: DeviceType] { view: V, front: usize, back: usize });

#[device(library)]
impl<V: Parts> Lanes<V> {
    /// The parts of a view.
    pub fn new(view: V) -> Self {
        let back = lanes_in::<V>(&view);
        Lanes { view, front: 0, back }
    }
}

#[device(library)]
impl<V: Parts> DeviceIterator for Lanes<V> {
    type Item = V::Lane;

    fn next(&mut self) -> Option<V::Lane> {
        if self.front < self.back {
            let at = self.front;
            self.front = at + 1;
            Some(lane_at::<V>(&self.view, at))
        } else {
            None
        }
    }

    fn next_known(&mut self) -> V::Lane {
        let at = self.front;
        self.front = at + 1;
        lane_at::<V>(&self.view, at)
    }

    fn advance(&mut self, n: usize) -> usize {
        let len = self.back - self.front;
        if n <= len {
            self.front += n;
            0
        } else {
            self.front = self.back;
            n - len
        }
    }

    fn nth(&mut self, n: usize) -> Option<V::Lane> {
        if n < self.back - self.front {
            let at = self.front + n;
            self.front = at + 1;
            Some(lane_at::<V>(&self.view, at))
        } else {
            self.front = self.back;
            None
        }
    }

    fn count(self) -> usize {
        self.back - self.front
    }

    fn has_trusted_len() -> bool {
        true
    }

    fn trusted_len(&self) -> usize {
        self.back - self.front
    }

    fn is_random_access() -> bool {
        true
    }

    fn is_fused() -> bool {
        true
    }

    fn is_pure() -> bool {
        true
    }
}

#[device(library)]
impl<V: Parts> DeviceDoubleEnded for Lanes<V> {
    fn next_back(&mut self) -> Option<V::Lane> {
        if self.front < self.back {
            let at = self.back - 1;
            self.back = at;
            Some(lane_at::<V>(&self.view, at))
        } else {
            None
        }
    }

    fn advance_back(&mut self, n: usize) -> usize {
        let len = self.back - self.front;
        if n <= len {
            self.back -= n;
            0
        } else {
            self.back = self.front;
            n - len
        }
    }
}

#[device(library)]
impl<V: Parts> DeviceExactSize for Lanes<V> {
    fn len(&self) -> usize {
        self.back - self.front
    }
}

/// The elements of a view of several dimensions, the last index first to change.
#[expect(missing_debug_implementations, reason = "places need not be shown")]
pub struct Elements<V: Parts> {
    view: V,
    place: V::Place,
    left: usize,
}
device_struct!(Elements [V] [V: Parts] { view: V, place: V::Place, left: usize });

#[device(library)]
impl<V: Parts> Elements<V> {
    /// The elements of a view.
    pub fn new(view: V) -> Self {
        let left = elements_in::<V>(&view);
        Elements { view, place: first_place::<V>(), left }
    }
}

#[device(library)]
impl<V: Parts> DeviceIterator for Elements<V> {
    type Item = V::Element;

    fn next(&mut self) -> Option<V::Element> {
        if self.left > 0 {
            self.left -= 1;
            Some(next_element::<V>(&self.view, &mut self.place))
        } else {
            None
        }
    }

    fn count(self) -> usize {
        self.left
    }

    fn has_trusted_len() -> bool {
        true
    }

    fn trusted_len(&self) -> usize {
        self.left
    }

    fn is_fused() -> bool {
        true
    }

    fn is_pure() -> bool {
        true
    }
}

#[device(library)]
impl<V: Parts> DeviceExactSize for Elements<V> {
    fn len(&self) -> usize {
        self.left
    }
}

/// The elements of a view with their places.
#[expect(missing_debug_implementations, reason = "places need not be shown")]
pub struct IndexedElements<V: Parts> {
    elements: Elements<V>,
}
device_struct!(IndexedElements [V] [V: Parts] { elements: Elements<V> });

/// A view whose elements are iterated over.
///
/// Nothing unsafe relies on an implementation: what reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait ViewIterators: Parts {
    /// Over its elements.
    type Iter: DeviceIterator;
    /// Over its elements and their places.
    type IndexedIter: DeviceIterator;

    /// `iter`
    fn elements(self) -> Self::Iter;
    /// `indexed_iter`
    fn indexed_elements(self) -> Self::IndexedIter;
}

macro_rules! of_one_dimension {
    ($($view:ident)*) => { $(
        #[device(library)]
        impl<'a, T: DeviceType> ViewIterators for $view<'a, T, Ix1> {
            type Iter = Lanes<$view<'a, T, Ix1>>;
            type IndexedIter = Enumerate<Lanes<$view<'a, T, Ix1>>>;

            fn elements(self) -> Lanes<$view<'a, T, Ix1>> {
                Lanes::new(self)
            }

            fn indexed_elements(self) -> Enumerate<Lanes<$view<'a, T, Ix1>>> {
                Enumerate { iter: Lanes::new(self), index: 0 }
            }
        }
    )* };
}

of_one_dimension! { ArrayView ArrayViewMut }

macro_rules! of_dimensions {
    ($($view:ident<$dim:ident> ($($index:tt)*) ($($ty:ty),*);)*) => { $(
        #[device(library)]
        impl<'a, T: DeviceType> ViewIterators for $view<'a, T, $dim> {
            type Iter = Elements<$view<'a, T, $dim>>;
            type IndexedIter = IndexedElements<$view<'a, T, $dim>>;

            fn elements(self) -> Elements<$view<'a, T, $dim>> {
                Elements::new(self)
            }

            fn indexed_elements(self) -> IndexedElements<$view<'a, T, $dim>> {
                IndexedElements { elements: Elements::new(self) }
            }
        }

        #[device(library)]
        impl<'a, T: DeviceType> DeviceIterator for IndexedElements<$view<'a, T, $dim>> {
            type Item = (($($ty,)*), <$view<'a, T, $dim> as Parts>::Element);

            fn next(&mut self) -> Option<(($($ty,)*), <$view<'a, T, $dim> as Parts>::Element)> {
                let at = self.elements.place;
                match self.elements.next() {
                    Some(element) => Some((($(at[$index],)*), element)),
                    None => None,
                }
            }
        }
    )* };
}

of_dimensions! {
    ArrayView<Ix2> (0 1) (usize, usize);
    ArrayView<Ix3> (0 1 2) (usize, usize, usize);
    ArrayView<Ix4> (0 1 2 3) (usize, usize, usize, usize);
    ArrayView<Ix5> (0 1 2 3 4) (usize, usize, usize, usize, usize);
    ArrayView<Ix6> (0 1 2 3 4 5) (usize, usize, usize, usize, usize, usize);
    ArrayViewMut<Ix2> (0 1) (usize, usize);
    ArrayViewMut<Ix3> (0 1 2) (usize, usize, usize);
    ArrayViewMut<Ix4> (0 1 2 3) (usize, usize, usize, usize);
    ArrayViewMut<Ix5> (0 1 2 3 4) (usize, usize, usize, usize, usize);
    ArrayViewMut<Ix6> (0 1 2 3 4 5) (usize, usize, usize, usize, usize, usize);
}
