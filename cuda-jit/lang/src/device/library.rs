//! The intrinsics of the device library, which no kernel names.
//!
//! # Safety
//!
//! There is no unsafe code but the promises that the compiler is told the truth about the functions here. None of them is
//! ever run on the host: its iterators are the standard library's.

use ndarray::{ArrayView, ArrayViewMut, Axis, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6};

use crate::harvest::operation::untied_operations;
use crate::harvest::{Body, Callee, DeviceFn, DeviceType, Instance, Intrinsic, Operation, Untied, ViewPart};

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
    type Place: DeviceType + Copy;
}

macro_rules! parts {
    ($($dims:literal $dim:ty: $smaller:ty;)*) => { $(
        impl<'a, T: DeviceType> Parts for ArrayView<'a, T, $dim> {
            type Lane = ArrayView<'a, T, $smaller>;
            type Element = &'a T;
            type Place = [usize; $dims];
        }

        impl<'a, T: DeviceType> Parts for ArrayViewMut<'a, T, $dim> {
            type Lane = ArrayViewMut<'a, T, $smaller>;
            type Element = &'a mut T;
            type Place = [usize; $dims];
        }
    )* };
}

parts! { 2 Ix2: Ix1; 3 Ix3: Ix2; 4 Ix4: Ix3; 5 Ix5: Ix4; 6 Ix6: Ix5; }

impl<'a, T: DeviceType> Parts for ArrayView<'a, T, Ix1> {
    type Lane = &'a T;
    type Element = &'a T;
    type Place = [usize; 1];
}

impl<'a, T: DeviceType> Parts for ArrayViewMut<'a, T, Ix1> {
    type Lane = &'a mut T;
    type Element = &'a mut T;
    type Place = [usize; 1];
}

macro_rules! view_parts {
    ($($(#[$doc:meta])* $name:ident($($param:ty),*) -> $output:ty => $part:ident;)*) => { $(
        $(#[$doc])*
        pub(crate) fn $name<V: Parts>($(_: $param),*) -> $output {
            unreachable!("the device's own function")
        }

        /// The function that stands beside it.
        #[expect(non_camel_case_types, reason = "it is named as the function beside it")]
        #[derive(Debug)]
        pub(crate) struct $name<V> {
            _of: std::marker::PhantomData<fn() -> V>,
        }

        impl<V> $name<V> {
            #[doc(hidden)]
            pub(crate) fn __callee() -> Callee<Self> {
                Callee::new()
            }
        }

        // SAFETY: the instance is the function that this type stands beside, with these arguments and this result.
        unsafe impl<V: Parts> DeviceFn for $name<V> {
            type Args = Untied;
            type Output = Untied;

            fn instance() -> Instance {
                let generics = vec![crate::harvest::type_arg::<V>()];
                Instance { body: Body::Intrinsic(Intrinsic::ViewPart(ViewPart::$part)), generics }
            }
        }
    )* };
}

// SAFETY: it is its number, and lies in no memory that Rust sees.
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for Axis {
    type K = <usize as DeviceType>::K;
}

view_parts! {
    /// The number of parts along the first axis.
    lanes_in(&V) -> usize => Lanes;
    /// The part at a place of the first axis, which there is.
    lane_at(&V, usize) -> V::Lane => Lane;
    /// The number of elements.
    elements_in(&V) -> usize => Elements;
    /// The place of the first element.
    first_place() -> V::Place => FirstPlace;
    /// The element at a place, which there is; the place becomes the next.
    next_element(&V, &mut V::Place) -> V::Element => NextElement;
    /// The same view with an axis, which is a constant, before the others.
    with_first_axis(V, Axis) -> V => FirstAxis;
}
