//! Iterators over ndarray's views: their subviews along an axis, and their elements.

use ndarray::{ArrayView, ArrayViewMut, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6};

use super::calls::DeviceCalls;
use super::{DeviceExactSize, DeviceIterator, Enumerate, Indexed, IndexedSource};
use crate::device;
use crate::device::library::{TraversedView, elements_in, lane_at, lanes_in, next_element};
use crate::library::structs::device_struct;
use crate::typeinfo::DeviceType;

/// The subviews of a view along its first axis.
#[derive(Clone, Debug)]
pub struct ViewLanes<V> {
    view: V,
}
device_struct!(ViewLanes [V] [V: DeviceType] { view: V });

#[device(library)]
impl<V: TraversedView> IndexedSource for ViewLanes<V> {
    type Item = V::Lane;
    const IS_RANDOM_ACCESS: bool = false;

    fn end(&self) -> usize {
        lanes_in::<V>(&self.view)
    }

    fn at(&mut self, number: usize) -> V::Lane {
        lane_at::<V>(&self.view, number)
    }
}

/// An iterator over the subviews.
pub(super) type Lanes<V> = Indexed<ViewLanes<V>>;

#[device(library)]
impl<V: TraversedView> ViewLanes<V> {
    /// The subviews of a view.
    pub(super) fn of(view: V) -> Lanes<V> {
        Indexed::new(ViewLanes { view })
    }
}

/// The elements of a view with several dimensions, in row-major order.
#[expect(missing_debug_implementations, reason = "places need not be shown")]
pub struct Elements<V: TraversedView> {
    view: V,
    place: V::Position,
    left: usize,
}
device_struct!(Elements [V] [V: TraversedView] { view: V, place: V::Position, left: usize });

#[device(library)]
impl<V: TraversedView> Elements<V> {
    /// The elements of a view.
    pub fn new(view: V) -> Self {
        let left = elements_in::<V>(&view);
        Elements { view, place: V::FIRST, left }
    }
}

#[device(library)]
impl<V: TraversedView> DeviceIterator for Elements<V> {
    type Item = V::Element;
    const HAS_TRUSTED_LEN: bool = true;
    const IS_FUSED: bool = true;
    const IS_PURE: bool = true;

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

    fn trusted_len(&self) -> usize {
        self.left
    }
}

#[device(library)]
impl<V: TraversedView> DeviceExactSize for Elements<V> {
    fn len(&self) -> usize {
        self.left
    }
}

/// The elements of a view with their indices.
#[expect(missing_debug_implementations, reason = "places need not be shown")]
pub struct IndexedElements<V: TraversedView> {
    elements: Elements<V>,
}
device_struct!(IndexedElements [V] [V: TraversedView] { elements: Elements<V> });

/// A view whose elements are iterated over.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait ViewIterators: TraversedView {
    /// Over its elements.
    type Iter: DeviceIterator;
    /// Over its elements and their indices.
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
                ViewLanes::of(self)
            }

            fn indexed_elements(self) -> Enumerate<Lanes<$view<'a, T, Ix1>>> {
                Enumerate { iter: ViewLanes::of(self), index: 0 }
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
            type Item = (($($ty,)*), <$view<'a, T, $dim> as TraversedView>::Element);

            fn next(&mut self) -> Option<(($($ty,)*), <$view<'a, T, $dim> as TraversedView>::Element)> {
                let at = self.elements.place;
                match self.elements.device_next() {
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
