//! The intrinsics of the device library, which no kernel names.
//!
//! # Safety
//!
//! There is no unsafe code but the promises that the compiler is told the truth about the functions here. None of them is
//! ever run on the host: its iterators are the standard library's.

use ndarray::{ArrayView, ArrayViewMut, Axis, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6};

use crate::typeinfo::operation::untied_operations;
use crate::typeinfo::{
    Body, Callee, DeviceFn, DeviceType, Instance, Intrinsic, Operation, ScalarType, ShapeOp, Untied, ValueType, ViewOp,
    type_arg,
};

/// Gives a reference a lifetime that the compiler cannot follow.
///
/// # Safety
///
/// The referent lives as long, and no other reference to it is used meanwhile.
pub(crate) unsafe fn extend_mut<'a, T: ?Sized>(_: &mut T) -> &'a mut T {
    unreachable!("the device's own function")
}

/// Returns true if the first of two values is ordered after the second, as by `Ord`.
pub(crate) fn comes_after<T>(_: &T, _: &T) -> bool {
    unreachable!("the device's own function")
}

/// Another value like this one, as `Clone` of what kernels hold makes it.
pub(crate) fn duplicate<T>(_: &T) -> T {
    unreachable!("the device's own function")
}

/// The character with a code, which is one's.
pub(crate) fn char_of(_: u32) -> char {
    unreachable!("the device's own function")
}

/// An array of any values.
///
/// # Safety
///
/// Each element is written before it is read.
pub(crate) unsafe fn unfilled<A>() -> A {
    unreachable!("the device's own function")
}

untied_operations! {
    /// The function that stands beside it.
    pub(crate) unfilled[A]() -> A => Operation::Unfilled;
}

macro_rules! beside {
    ($($name:ident => $intrinsic:ident;)*) => { $(
        /// The function that stands beside it.
        #[expect(non_camel_case_types, reason = "it is named as the function beside it")]
        #[derive(Debug)]
        pub(crate) enum $name {}

        impl $name {
            #[doc(hidden)]
            pub(crate) fn __callee() -> Callee<Self> {
                Callee::new()
            }

            $crate::__private::see! { pub(crate), }
        }

        // SAFETY: the instance is the function that this type stands beside.
        unsafe impl DeviceFn for $name {
            type Args = Untied;
            type Output = Untied;

            fn instance() -> Instance {
                Instance { body: Body::Intrinsic(Intrinsic::$intrinsic), generics: Vec::new() }
            }
        }
    )* };
}

beside! {
    extend_mut => Identity;
    char_of => Identity;
    comes_after => ComesAfter;
    duplicate => Duplicate;
}

/// A view that is taken apart: along its first axis, or by its elements.
///
/// Nothing unsafe relies on an implementation: the front end takes views apart, and refuses what is none.
pub trait Parts: DeviceType {
    /// A part along the first axis: a view of one dimension less, or an element of one of one dimension.
    type Lane: DeviceType;
    /// A reference to an element.
    type Element: DeviceType;
    /// The place of an element.
    type Place: ValueType;
    /// The place of the first element.
    const FIRST: Self::Place;
}

macro_rules! parts {
    ($($dims:literal $dim:ty: $smaller:ty;)*) => { $(
        impl<'a, T: DeviceType> Parts for ArrayView<'a, T, $dim> {
            type Lane = ArrayView<'a, T, $smaller>;
            type Element = &'a T;
            type Place = [usize; $dims];
            const FIRST: [usize; $dims] = [0; $dims];
        }

        impl<'a, T: DeviceType> Parts for ArrayViewMut<'a, T, $dim> {
            type Lane = ArrayViewMut<'a, T, $smaller>;
            type Element = &'a mut T;
            type Place = [usize; $dims];
            const FIRST: [usize; $dims] = [0; $dims];
        }
    )* };
}

parts! { 2 Ix2: Ix1; 3 Ix3: Ix2; 4 Ix4: Ix3; 5 Ix5: Ix4; 6 Ix6: Ix5; }

impl<'a, T: DeviceType> Parts for ArrayView<'a, T, Ix1> {
    type Lane = &'a T;
    type Element = &'a T;
    type Place = [usize; 1];
    const FIRST: [usize; 1] = [0];
}

impl<'a, T: DeviceType> Parts for ArrayViewMut<'a, T, Ix1> {
    type Lane = &'a mut T;
    type Element = &'a mut T;
    type Place = [usize; 1];
    const FIRST: [usize; 1] = [0];
}

macro_rules! intrinsics {
    ($($(#[$doc:meta])* $name:ident[$of:ident: $bound:path]($($param:ty),*) -> $output:ty => $intrinsic:expr;)*) => { $(
        $(#[$doc])*
        pub(crate) fn $name<$of: $bound>($(_: $param),*) -> $output {
            unreachable!("the device's own function")
        }

        /// The function that stands beside it.
        #[expect(non_camel_case_types, reason = "it is named as the function beside it")]
        #[derive(Debug)]
        pub(crate) struct $name<$of> {
            _of: std::marker::PhantomData<fn() -> $of>,
        }

        impl<$of> $name<$of> {
            #[doc(hidden)]
            pub(crate) fn __callee() -> Callee<Self> {
                Callee::new()
            }

            $crate::__private::see! { pub(crate), }
        }

        // SAFETY: the instance is the function that this type stands beside, with these arguments and this result.
        unsafe impl<$of: $bound> DeviceFn for $name<$of> {
            type Args = Untied;
            type Output = Untied;

            fn instance() -> Instance {
                Instance { body: Body::Intrinsic($intrinsic), generics: vec![type_arg::<$output>()] }
            }
        }
    )* };
}

intrinsics! {
    /// An index as a number, as by `as`.
    number_of[T: ScalarType](usize) -> T => Intrinsic::Number(usize::SCALAR);
    /// A number as an index, as by `as`.
    index_of[T: ScalarType](T) -> usize => Intrinsic::Number(T::SCALAR);
    /// The number of parts along the first axis.
    lanes_in[V: Parts](&V) -> usize => Intrinsic::ViewOp(ViewOp::Shape(ShapeOp::Rows));
    /// The part at a place of the first axis, which there is.
    lane_at[V: Parts](&V, usize) -> V::Lane => Intrinsic::ViewOp(ViewOp::Lane);
    /// The number of elements.
    elements_in[V: Parts](&V) -> usize => Intrinsic::ViewOp(ViewOp::Shape(ShapeOp::Len));
    /// The element at a place, which there is; the place becomes the next.
    next_element[V: Parts](&V, &mut V::Place) -> V::Element => Intrinsic::ViewOp(ViewOp::NextElement);
    /// The same view with an axis before the others.
    with_first_axis[V: Parts](V, Axis) -> V => Intrinsic::ViewOp(ViewOp::WithFirst);
}
