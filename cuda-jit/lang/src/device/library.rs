//! The intrinsics of the device library, which kernels do not name.
//!
//! # Safety
//!
//! The only unsafe code is the `DeviceFn` implementations, which describe the functions here to the compiler. None of these
//! functions is ever run on the host: there the standard library's iterators run.

use std::ops::RangeInclusive;

use ndarray::{ArrayView, ArrayViewMut, Axis, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6};

use crate::typeinfo::by_path::callee;
use crate::typeinfo::operation::unconstrained_operations;
use crate::typeinfo::{
    Body, DeviceType, Instance, Intrinsic, Operation, ScalarType, ShapeOp, Unconstrained, ValueType, ViewOp, type_arg,
};

/// Extends the lifetime of a reference.
///
/// # Safety
///
/// The referent lives as long as the new lifetime, and no other reference to it is used meanwhile.
pub(crate) unsafe fn extend_mut<'a, T: ?Sized>(_: &mut T) -> &'a mut T {
    unreachable!("the device's own function")
}

/// Returns true if the first of two values is ordered after the second, as by `Ord`.
pub(crate) fn comes_after<T>(_: &T, _: &T) -> bool {
    unreachable!("the device's own function")
}

/// Clones a value by copying it, as `Clone` of all types that kernels support does.
pub(crate) fn duplicate<T>(_: &T) -> T {
    unreachable!("the device's own function")
}

/// The character with a code point, which must be valid.
pub(crate) fn char_of(_: u32) -> char {
    unreachable!("the device's own function")
}

/// The fields of a [`RangeInclusive`], which the standard library keeps to itself: the device has them by their names.
#[derive(Debug)]
pub(crate) struct Ends<T> {
    pub(crate) start: T,
    pub(crate) end: T,
    /// True once no value remains. Otherwise `start` and `end` bound the remaining values.
    pub(crate) exhausted: bool,
}

/// The fields of a range.
pub(crate) fn ends<T>(_: &RangeInclusive<T>) -> &Ends<T> {
    unreachable!("the device's own function")
}

/// The fields of a range, to be changed.
pub(crate) fn ends_mut<T>(_: &mut RangeInclusive<T>) -> &mut Ends<T> {
    unreachable!("the device's own function")
}

/// An uninitialised array.
///
/// # Safety
///
/// Each element is written before it is read.
pub(crate) unsafe fn uninit_array<A>() -> A {
    unreachable!("the device's own function")
}

/// The memory of a slice as a slice of `len` elements of another type.
///
/// # Safety
///
/// The elements are arrays of `U`, or `U` is an array of them, and `len` elements of `U` are as many numbers as the slice has.
pub(crate) unsafe fn regroup<T, U>(_: &[T], _len: usize) -> &[U] {
    unreachable!("the device's own function")
}

/// The memory of a mutable slice as a slice of `len` elements of another type.
///
/// # Safety
///
/// As of [`regroup()`].
pub(crate) unsafe fn regroup_mut<T, U>(_: &mut [T], _len: usize) -> &mut [U] {
    unreachable!("the device's own function")
}

unconstrained_operations! {
    /// The callee of the function of the same name.
    pub(crate) uninit_array[A]() -> A => Operation::UninitArray;
    /// The callee of the function of the same name.
    pub(crate) regroup[T, U](&[T], usize) -> &[U] => Operation::Regroup;
    /// The callee of the function of the same name.
    pub(crate) regroup_mut[T, U](&mut [T], usize) -> &mut [U] => Operation::Regroup;
}

macro_rules! beside {
    ($($name:ident => $intrinsic:ident;)*) => { $(
        callee! {
            /// The callee of the function of the same name.
            #[expect(non_camel_case_types, reason = "it is named as the function beside it")]
            pub(crate) $name[];
            where [] fn Unconstrained => Unconstrained {
                Instance { body: Body::Intrinsic(Intrinsic::$intrinsic), generics: Vec::new() }
            }
        }
    )* };
}

beside! {
    extend_mut => Identity;
    char_of => Identity;
    ends => Identity;
    ends_mut => Identity;
    comes_after => ComesAfter;
    duplicate => Duplicate;
}

/// A view that iterators traverse along its first axis, or by elements.
///
/// Nothing unsafe relies on an implementation: the front end lowers the traversal of views, and refuses other types.
#[cfg_attr(doc, doc(hidden))]
pub trait TraversedView: DeviceType {
    /// A subview along the first axis, with one dimension less; an element if the view has one dimension.
    type Lane: DeviceType;
    /// A reference to an element.
    type Element: DeviceType;
    /// The position of an element.
    type Position: ValueType;
    /// The position of the first element.
    const FIRST: Self::Position;
}

macro_rules! traversed_views {
    ($($dims:literal $dim:ty: $smaller:ty;)*) => { $(
        impl<'a, T: DeviceType> TraversedView for ArrayView<'a, T, $dim> {
            type Lane = ArrayView<'a, T, $smaller>;
            type Element = &'a T;
            type Position = [usize; $dims];
            const FIRST: [usize; $dims] = [0; $dims];
        }

        impl<'a, T: DeviceType> TraversedView for ArrayViewMut<'a, T, $dim> {
            type Lane = ArrayViewMut<'a, T, $smaller>;
            type Element = &'a mut T;
            type Position = [usize; $dims];
            const FIRST: [usize; $dims] = [0; $dims];
        }
    )* };
}

traversed_views! { 2 Ix2: Ix1; 3 Ix3: Ix2; 4 Ix4: Ix3; 5 Ix5: Ix4; 6 Ix6: Ix5; }

impl<'a, T: DeviceType> TraversedView for ArrayView<'a, T, Ix1> {
    type Lane = &'a T;
    type Element = &'a T;
    type Position = [usize; 1];
    const FIRST: [usize; 1] = [0];
}

impl<'a, T: DeviceType> TraversedView for ArrayViewMut<'a, T, Ix1> {
    type Lane = &'a mut T;
    type Element = &'a mut T;
    type Position = [usize; 1];
    const FIRST: [usize; 1] = [0];
}

macro_rules! intrinsics {
    ($($(#[$doc:meta])* $name:ident[$of:ident: $bound:path]($($param:ty),*) -> $output:ty => $intrinsic:expr;)*) => { $(
        $(#[$doc])*
        pub(crate) fn $name<$of: $bound>($(_: $param),*) -> $output {
            unreachable!("the device's own function")
        }

        callee! {
            /// The callee of the function of the same name.
            #[expect(non_camel_case_types, reason = "it is named as the function beside it")]
            pub(crate) $name[$of];
            where [$of: $bound] fn Unconstrained => Unconstrained {
                Instance { body: Body::Intrinsic($intrinsic), generics: vec![type_arg::<$output>()] }
            }
        }
    )* };
}

intrinsics! {
    /// Converts an index to a number, as by `as`.
    number_of[T: ScalarType](usize) -> T => Intrinsic::Number(usize::SCALAR);
    /// Converts a number to an index, as by `as`.
    index_of[T: ScalarType](T) -> usize => Intrinsic::Number(T::SCALAR);
    /// The length of the first axis.
    lanes_in[V: TraversedView](&V) -> usize => Intrinsic::ViewOp(ViewOp::Shape(ShapeOp::Rows));
    /// The subview at an index of the first axis, which must be in bounds.
    lane_at[V: TraversedView](&V, usize) -> V::Lane => Intrinsic::ViewOp(ViewOp::Lane);
    /// The number of elements.
    elements_in[V: TraversedView](&V) -> usize => Intrinsic::ViewOp(ViewOp::Shape(ShapeOp::Len));
    /// The element at a position, which must be in bounds; advances the position to the next element.
    next_element[V: TraversedView](&V, &mut V::Position) -> V::Element => Intrinsic::ViewOp(ViewOp::NextElement);
    /// The view with the given axis moved to the front.
    with_first_axis[V: TraversedView](V, Axis) -> V => Intrinsic::ViewOp(ViewOp::WithFirst);
}
