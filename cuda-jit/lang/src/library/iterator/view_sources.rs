//! The methods of ndarray's views that create iterators.

use ndarray::{ArrayView, ArrayViewMut, Axis, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6};

use super::views::{Lanes, ViewIterators, ViewLanes};
use super::{DeviceIntoIterator, DeviceIterator};
use crate::device;
use crate::device::library::with_first_axis;
use crate::typeinfo::DeviceType;

/// Iterators over a view.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait ViewSources: Sized + DeviceType {
    /// Over references to its elements.
    type Iter: DeviceIterator;
    /// Over references to its elements, with their indices.
    type IndexedIter: DeviceIterator;
    /// Over its subviews along an axis.
    type AxisIter: DeviceIterator;

    /// `iter`
    fn iter(self) -> Self::Iter;
    /// `indexed_iter`
    fn indexed_iter(self) -> Self::IndexedIter;
    /// `outer_iter`
    fn outer_iter(self) -> Self::AxisIter;
    /// `axis_iter`
    fn axis_iter(self, axis: Axis) -> Self::AxisIter;
}

/// Iterators over a mutable view.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait ViewSourcesMut: Sized + DeviceType {
    /// Over references to its elements.
    type IterMut: DeviceIterator;
    /// Over its subviews along an axis.
    type AxisIterMut: DeviceIterator;

    /// `iter_mut`
    fn iter_mut(self) -> Self::IterMut;
    /// `outer_iter_mut`
    fn outer_iter_mut(self) -> Self::AxisIterMut;
    /// `axis_iter_mut`
    fn axis_iter_mut(self, axis: Axis) -> Self::AxisIterMut;
}

/// Iterators over the rows and columns of a two-dimensional view.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait PlaneSources: Sized + DeviceType {
    /// Over rows or columns.
    type Lanes: DeviceIterator;

    /// `rows`
    fn rows(self) -> Self::Lanes;
    /// `columns`
    fn columns(self) -> Self::Lanes;
}

/// Iterators over the rows and columns of a mutable two-dimensional view.
///
/// Nothing unsafe relies on an implementation: code that reads memory bounds its indices by fields of its own.
#[device(library)]
pub trait PlaneSourcesMut: Sized + DeviceType {
    /// Over rows or columns.
    type LanesMut: DeviceIterator;

    /// `rows_mut`
    fn rows_mut(self) -> Self::LanesMut;
    /// `columns_mut`
    fn columns_mut(self) -> Self::LanesMut;
}

macro_rules! shared {
    ($($view:ident<$dim:ident>)*) => { $(
        #[device(library)]
        impl<'b, 'a, T: DeviceType> ViewSources for &'b $view<'a, T, $dim> {
            type Iter = <ArrayView<'b, T, $dim> as ViewIterators>::Iter;
            type IndexedIter = <ArrayView<'b, T, $dim> as ViewIterators>::IndexedIter;
            type AxisIter = Lanes<ArrayView<'b, T, $dim>>;

            fn iter(self) -> <ArrayView<'b, T, $dim> as ViewIterators>::Iter {
                self.view().elements()
            }

            fn indexed_iter(self) -> <ArrayView<'b, T, $dim> as ViewIterators>::IndexedIter {
                self.view().indexed_elements()
            }

            fn outer_iter(self) -> Lanes<ArrayView<'b, T, $dim>> {
                ViewLanes::of(self.view())
            }

            fn axis_iter(self, axis: Axis) -> Lanes<ArrayView<'b, T, $dim>> {
                ViewLanes::of(with_first_axis::<ArrayView<'b, T, $dim>>(self.view(), axis))
            }
        }
    )* };
}

shared! {
    ArrayView<Ix1> ArrayView<Ix2> ArrayView<Ix3> ArrayView<Ix4> ArrayView<Ix5> ArrayView<Ix6>
    ArrayViewMut<Ix1> ArrayViewMut<Ix2> ArrayViewMut<Ix3> ArrayViewMut<Ix4> ArrayViewMut<Ix5> ArrayViewMut<Ix6>
}

macro_rules! converted {
    ($($view:ident<$dim:ident>)*) => { $(
        #[device(library)]
        impl<'a, T: DeviceType> DeviceIntoIterator for $view<'a, T, $dim> {
            type Item = <<$view<'a, T, $dim> as ViewIterators>::Iter as DeviceIterator>::Item;
            type IntoIter = <$view<'a, T, $dim> as ViewIterators>::Iter;

            fn into_iter(self) -> <$view<'a, T, $dim> as ViewIterators>::Iter {
                self.elements()
            }
        }

        #[device(library)]
        impl<'b, 'a, T: DeviceType> DeviceIntoIterator for &'b $view<'a, T, $dim> {
            type Item = <<ArrayView<'b, T, $dim> as ViewIterators>::Iter as DeviceIterator>::Item;
            type IntoIter = <ArrayView<'b, T, $dim> as ViewIterators>::Iter;

            fn into_iter(self) -> <ArrayView<'b, T, $dim> as ViewIterators>::Iter {
                self.view().elements()
            }
        }
    )* };
}

converted! {
    ArrayView<Ix1> ArrayView<Ix2> ArrayView<Ix3> ArrayView<Ix4> ArrayView<Ix5> ArrayView<Ix6>
    ArrayViewMut<Ix1> ArrayViewMut<Ix2> ArrayViewMut<Ix3> ArrayViewMut<Ix4> ArrayViewMut<Ix5> ArrayViewMut<Ix6>
}

macro_rules! unique {
    ($($dim:ident)*) => { $(
        #[device(library)]
        impl<'b, 'a, T: DeviceType> DeviceIntoIterator for &'b mut ArrayViewMut<'a, T, $dim> {
            type Item = <<ArrayViewMut<'b, T, $dim> as ViewIterators>::Iter as DeviceIterator>::Item;
            type IntoIter = <ArrayViewMut<'b, T, $dim> as ViewIterators>::Iter;

            fn into_iter(self) -> <ArrayViewMut<'b, T, $dim> as ViewIterators>::Iter {
                self.view_mut().elements()
            }
        }

        #[device(library)]
        impl<'b, 'a, T: DeviceType> ViewSourcesMut for &'b mut ArrayViewMut<'a, T, $dim> {
            type IterMut = <ArrayViewMut<'b, T, $dim> as ViewIterators>::Iter;
            type AxisIterMut = Lanes<ArrayViewMut<'b, T, $dim>>;

            fn iter_mut(self) -> <ArrayViewMut<'b, T, $dim> as ViewIterators>::Iter {
                self.view_mut().elements()
            }

            fn outer_iter_mut(self) -> Lanes<ArrayViewMut<'b, T, $dim>> {
                ViewLanes::of(self.view_mut())
            }

            fn axis_iter_mut(self, axis: Axis) -> Lanes<ArrayViewMut<'b, T, $dim>> {
                ViewLanes::of(with_first_axis::<ArrayViewMut<'b, T, $dim>>(self.view_mut(), axis))
            }
        }
    )* };
}

unique! { Ix1 Ix2 Ix3 Ix4 Ix5 Ix6 }

macro_rules! planes {
    ($($view:ident)*) => { $(
        #[device(library)]
        impl<'b, 'a, T: DeviceType> PlaneSources for &'b $view<'a, T, Ix2> {
            type Lanes = Lanes<ArrayView<'b, T, Ix2>>;

            fn rows(self) -> Lanes<ArrayView<'b, T, Ix2>> {
                ViewLanes::of(self.view())
            }

            fn columns(self) -> Lanes<ArrayView<'b, T, Ix2>> {
                ViewLanes::of(self.view().reversed_axes())
            }
        }
    )* };
}

planes! { ArrayView ArrayViewMut }

#[device(library)]
impl<'b, 'a, T: DeviceType> PlaneSourcesMut for &'b mut ArrayViewMut<'a, T, Ix2> {
    type LanesMut = Lanes<ArrayViewMut<'b, T, Ix2>>;

    fn rows_mut(self) -> Lanes<ArrayViewMut<'b, T, Ix2>> {
        ViewLanes::of(self.view_mut())
    }

    fn columns_mut(self) -> Lanes<ArrayViewMut<'b, T, Ix2>> {
        ViewLanes::of(self.view_mut().reversed_axes())
    }
}
