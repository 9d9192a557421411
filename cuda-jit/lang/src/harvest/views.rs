//! Views that kernels make of slices: `ArrayView::from`, and the hidden function of `ArrayView::from_shape`.
//!
//! # Safety
//!
//! There is no unsafe code but the promises that the compiler is told the truth about the types here.

use std::marker::PhantomData;

use ndarray::{ArrayView, ArrayViewMut, Dimension, ShapeError, StrideShape};

use super::identity::key_arg;
use super::{Body, DeviceFn, DeviceFrom, DeviceType, Instance, Intrinsic, Key, Returned, Untied};

/// What stands for a function that makes a view with this key, of a slice; of one and a shape, if `SHAPED`.
#[derive(Debug)]
pub struct ViewMade<K, const SHAPED: bool>(PhantomData<fn() -> K>);

// SAFETY: the instance is the function that this type stands beside, with these arguments and this result.
unsafe impl<K: Key, const SHAPED: bool> DeviceFn for ViewMade<K, SHAPED> {
    type Args = Untied;
    type Output = Untied;

    fn instance() -> Instance {
        Instance { body: Body::Intrinsic(Intrinsic::View(SHAPED)), generics: vec![key_arg::<K>()] }
    }
}

/// The hidden functions of the functions that are called by the view's path.
///
/// Nothing unsafe relies on an implementation: the front end knows the methods of the types that it knows, and refuses
/// others.
pub trait ViewFunctions: DeviceType + Sized {
    /// The slice that such a view can be of.
    type Slice;
    /// The view's dimension.
    type Dim: Dimension;

    /// `ArrayView2::from_shape`
    fn __call_from_shape<S: Into<StrideShape<Self::Dim>>>(
        _: S,
        _: Self::Slice,
    ) -> Returned<ViewMade<Self::K, true>, Result<Self, ShapeError>> {
        Returned::new()
    }
}

impl<'a, T, D: Dimension> ViewFunctions for ArrayView<'a, T, D>
where
    Self: DeviceType,
{
    type Slice = &'a [T];
    type Dim = D;
}

impl<'a, T, D: Dimension> ViewFunctions for ArrayViewMut<'a, T, D>
where
    Self: DeviceType,
{
    type Slice = &'a mut [T];
    type Dim = D;
}

macro_rules! of_slices {
    ($($view:ident($($reference:tt)+))*) => { $(
        // SAFETY: the instance makes the view of the slice.
        #[diagnostic::do_not_recommend]
        unsafe impl<'a, S: ?Sized, T, D: Dimension> DeviceFrom<$($reference)+ S> for $view<'a, T, D>
        where
            Self: DeviceType + From<$($reference)+ S>,
        {
            fn instance() -> Instance {
                ViewMade::<<Self as DeviceType>::K, false>::instance()
            }
        }
    )* };
}

of_slices! {
    ArrayView(&'a)
    ArrayViewMut(&'a mut)
}
