//! ndarray's views: their types, their methods that are compiler intrinsics, and the conversions of slices to views.
//!
//! A hidden method is defined on the same ndarray type as the method that it is named after, so that method lookup finds
//! both in the same order: the methods of `ArrayRef` after those of a view itself.
//!
//! # Safety
//!
//! The only unsafe code is the implementations that describe the types here to the compiler.

use std::marker::PhantomData;
use std::sync::Arc;

use cuda_mem_element::Element;
use ndarray::{
    ArrayBase, ArrayRef, ArrayView, ArrayViewMut, Axis, Data, DataMut, Dim, Dimension, IntoDimension, Ix1, Ix2, Ix3,
    Ix4, Ix5, Ix6, NdIndex, NewAxis, RawData, RemoveAxis, ShapeError, SliceArg, StrideShape,
};

use super::identity::key_arg;
use super::{
    Arithmetic, Body, DeviceFn, DeviceFrom, DeviceType, ElementType, Field, Instance, Intrinsic, KernelParam, Key,
    Memory, RefKey, Returned, StructTy, Ty, Unconstrained, ValueType, type_arg,
};

/// The dimension of a supported view.
///
/// Nothing unsafe relies on an implementation: the type itself has the number of axes.
pub trait ViewDim: Dimension {}

macro_rules! dimensions {
    ($($dimension:ident)*) => { $( impl ViewDim for $dimension {} )* };
}

dimensions! { Ix1 Ix2 Ix3 Ix4 Ix5 Ix6 }

/// The key of an ndarray view of `DIMS` dimensions, mutable if `MUTABLE`.
#[derive(Debug)]
pub struct ViewKey<K, const DIMS: usize, const MUTABLE: bool>(PhantomData<K>);

// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl<K: Key, const DIMS: usize, const MUTABLE: bool> Key for ViewKey<K, DIMS, MUTABLE> {
    fn ty() -> Ty {
        Ty::View(Box::new(K::ty()), DIMS, Memory::unknown(MUTABLE))
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType, const DIMS: usize> DeviceType for ArrayView<'_, T, Dim<[usize; DIMS]>>
where
    Dim<[usize; DIMS]>: ViewDim,
{
    type K = ViewKey<T::K, DIMS, false>;

    fn __variants() -> Vec<Option<Self>> {
        vec![Self::from_shape(<Dim<[usize; DIMS]> as Dimension>::zeros(DIMS), &[]).ok()]
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType, const DIMS: usize> DeviceType for ArrayViewMut<'_, T, Dim<[usize; DIMS]>>
where
    Dim<[usize; DIMS]>: ViewDim,
{
    type K = ViewKey<T::K, DIMS, true>;

    fn __variants() -> Vec<Option<Self>> {
        vec![Self::from_shape(<Dim<[usize; DIMS]> as Dimension>::zeros(DIMS), &mut []).ok()]
    }
}

// SAFETY: on the device this is a reference to a view, which is the only source of such a reference in a kernel.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType, const DIMS: usize> DeviceType for &ArrayRef<T, Dim<[usize; DIMS]>>
where
    Dim<[usize; DIMS]>: ViewDim,
{
    type K = RefKey<ViewKey<T::K, DIMS, true>, false>;
}

// SAFETY: on the device this is a reference to a view, which is the only source of such a reference in a kernel.
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType, const DIMS: usize> DeviceType for &mut ArrayRef<T, Dim<[usize; DIMS]>>
where
    Dim<[usize; DIMS]>: ViewDim,
{
    type K = RefKey<ViewKey<T::K, DIMS, true>, true>;
}

#[diagnostic::do_not_recommend]
impl<T: ElementType + Element, const DIMS: usize> KernelParam for ArrayView<'_, T, Dim<[usize; DIMS]>> where
    Dim<[usize; DIMS]>: ViewDim
{
}

#[diagnostic::do_not_recommend]
impl<T: ElementType + Element, const DIMS: usize> KernelParam for ArrayViewMut<'_, T, Dim<[usize; DIMS]>> where
    Dim<[usize; DIMS]>: ViewDim
{
}

// SAFETY: it is a struct of one number.
unsafe impl Key for Axis {
    fn ty() -> Ty {
        Ty::Struct(Arc::new(StructTy {
            name: "Axis",
            fields: vec![Field { name: "0", ty: Ty::INDEX, offset: 0 }],
            size: size_of::<Axis>(),
            align: align_of::<Axis>(),
            operators: Vec::new,
            arithmetic: Arithmetic::Listed,
        }))
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for Axis {
    type K = Axis;

    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        self.0.__cells(push);
    }

    fn __variants() -> Vec<Option<Self>> {
        vec![Some(Axis(0))]
    }
}

// SAFETY: the cell is the axis' number, which is the struct's only field.
unsafe impl ValueType for Axis {
    const CELLS: usize = 1;
}

// SAFETY: it is a struct without fields.
unsafe impl Key for NewAxis {
    fn ty() -> Ty {
        Ty::Unit
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl DeviceType for NewAxis {
    type K = NewAxis;

    fn __variants() -> Vec<Option<Self>> {
        vec![Some(NewAxis)]
    }
}

// SAFETY: there are no cells.
unsafe impl ValueType for NewAxis {
    const CELLS: usize = 0;
}

/// The value for an axis in `s![..]` that is not written as a range.
///
/// Nothing unsafe relies on an implementation: the compiler checks the value's type.
#[diagnostic::on_unimplemented(
    message = "`s![..]` takes a value of type `{Self}` on the host alone",
    label = "kernels take an index or `NewAxis` here",
    note = "a range is written where the view is sliced: `x.slice(s![a..b, 0])`"
)]
pub trait SectionIndex {}

impl SectionIndex for isize {}
impl SectionIndex for usize {}
impl SectionIndex for i32 {}
impl SectionIndex for NewAxis {}

/// Returns the index, and checks its type, in `s![..]`.
pub fn section_index<T: SectionIndex>(index: T) -> T {
    index
}

/// A type that represents an intrinsic on views.
///
/// Nothing unsafe relies on an implementation: the compiler checks the types of the values.
pub trait ViewIntrinsic: 'static {
    /// The intrinsic.
    const OP: ViewOp;
}

macro_rules! ops {
    (shape { $($(#[$of:meta])* $shape:ident)* } view { $($(#[$doc:meta])* $view:ident)* }) => {
        /// An intrinsic that returns a part of a view's shape.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ShapeOp {
            $($(#[$of])* $shape,)*
        }

        /// An intrinsic on ndarray views.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ViewOp {
            /// A part of the shape.
            Shape(ShapeOp),
            $($(#[$doc])* $view,)*
        }

        /// The types that represent the intrinsics on views.
        pub mod op {
            use super::{ViewIntrinsic, ShapeOp, ViewOp};

            $(
                $(#[$of])*
                #[derive(Debug)]
                pub enum $shape {}

                impl ViewIntrinsic for $shape {
                    const OP: ViewOp = ViewOp::Shape(ShapeOp::$shape);
                }
            )*
            $(
                $(#[$doc])*
                #[derive(Debug)]
                pub enum $view {}

                impl ViewIntrinsic for $view {
                    const OP: ViewOp = ViewOp::$view;
                }
            )*
        }
    };
}

ops! {
    shape {
        /// The number of elements.
        Len
        /// The number of dimensions.
        NDim
        /// The extents, as a tuple.
        Extents
        /// The extents, as a slice.
        ExtentSlice
        /// The strides, as a slice.
        StrideSlice
        /// The extent of an axis.
        LenOf
        /// The stride of an axis.
        StrideOf
        /// The number of rows, which is the length of the first axis.
        Rows
        /// The number of columns.
        Columns
        /// Tests if there are as many rows as columns.
        IsSquare
        /// Tests if the elements are contiguous in row-major order.
        IsStandardLayout
    }
    view {
        /// The same view.
        Same
        /// The view with its axes in reverse order.
        Reversed
        /// The view with its axes permuted.
        Permuted
        /// The view with an axis moved to the front.
        WithFirst
        /// The view with an additional axis of length one.
        InsertAxis
        /// A row.
        Row
        /// A column.
        Column
        /// The subview at an index of an axis.
        IndexAxis
        /// The subview at an index of the first axis, which is in bounds.
        Lane
        /// The subview selected by `s![..]`.
        Sliced
        /// The subviews before and after an index of an axis.
        SplitAt
        /// The diagonal.
        Diagonal
        /// The elements as a slice, if they are contiguous in row-major order.
        AsSlice
        /// The first element.
        First
        /// The last element.
        Last
        /// The element at an index, if there is one.
        Get
        /// Swaps two elements.
        Swap
        /// The element at a position, which is advanced to the next one.
        NextElement
        /// The view, and another one that is broadcast to its shape.
        Beside
    }
}

/// The callee of an intrinsic on views that returns an `R`.
#[derive(Debug)]
pub struct ViewCallee<O, R>(PhantomData<fn() -> (O, R)>);

// SAFETY: the instance is the intrinsic that the type names, with the type of its result.
#[diagnostic::do_not_recommend]
unsafe impl<O: ViewIntrinsic, R: DeviceType> DeviceFn for ViewCallee<O, R> {
    type Args = Unconstrained;
    type Output = Unconstrained;

    fn instance() -> Instance {
        Instance { body: Body::Intrinsic(Intrinsic::ViewOp(O::OP)), generics: vec![type_arg::<R>()] }
    }
}

/// The call of an intrinsic on views that returns an `R`.
pub type ViewCall<O, R> = Returned<ViewCallee<O, R>, R>;

/// Declares the hidden counterparts of ndarray's methods, with the same parameters and results.
macro_rules! methods {
    ($($call:ident[$($generics:tt)*]($($this:tt)*)($($arg:ty),*) -> $result:ty => $op:ident;)*) => { $(
        #[doc(hidden)]
        fn $call<$($generics)*>($($this)* $(, _: $arg)*) -> ViewCall<op::$op, $result> {
            Returned::new()
        }
    )* };
}

/// The hidden methods of `ArrayRef`.
///
/// Nothing unsafe relies on an implementation.
pub trait ViewMethods<A, D: Dimension> {
    methods! {
        __call_len[](&self)() -> usize => Len;
        __call_ndim[](&self)() -> usize => NDim;
        __call_dim[](&self)() -> D::Pattern => Extents;
        __call_shape[](&self)() -> &[usize] => ExtentSlice;
        __call_strides[](&self)() -> &[isize] => StrideSlice;
        __call_len_of[](&self)(Axis) -> usize => LenOf;
        __call_stride_of[](&self)(Axis) -> isize => StrideOf;
        __call_is_standard_layout[](&self)() -> bool => IsStandardLayout;
        __call_view[](&self)() -> ArrayView<'_, A, D> => Same;
        __call_view_mut[](&mut self)() -> ArrayViewMut<'_, A, D> => Same;
        __call_t[](&self)() -> ArrayView<'_, A, D> => Reversed;
        __call_slice[I: SliceArg<D>](&self)(I) -> ArrayView<'_, A, I::OutDim> => Sliced;
        __call_slice_mut[I: SliceArg<D>](&mut self)(I) -> ArrayViewMut<'_, A, I::OutDim> => Sliced;
        __call_diag[](&self)() -> ArrayView<'_, A, Ix1> => Diagonal;
        __call_diag_mut[](&mut self)() -> ArrayViewMut<'_, A, Ix1> => Diagonal;
        __call_as_slice[](&self)() -> Option<&[A]> => AsSlice;
        __call_first[](&self)() -> Option<&A> => First;
        __call_first_mut[](&mut self)() -> Option<&mut A> => First;
        __call_last[](&self)() -> Option<&A> => Last;
        __call_last_mut[](&mut self)() -> Option<&mut A> => Last;
        __call_get[I: NdIndex<D>](&self)(I) -> Option<&A> => Get;
        __call_get_mut[I: NdIndex<D>](&mut self)(I) -> Option<&mut A> => Get;
        __call_swap[I: NdIndex<D>](&mut self)(I, I) -> () => Swap;
    }

    #[doc(hidden)]
    fn __call_index_axis(&self, _: Axis, _: usize) -> ViewCall<op::IndexAxis, ArrayView<'_, A, D::Smaller>>
    where
        D: RemoveAxis,
    {
        Returned::new()
    }

    #[doc(hidden)]
    fn __call_index_axis_mut(&mut self, _: Axis, _: usize) -> ViewCall<op::IndexAxis, ArrayViewMut<'_, A, D::Smaller>>
    where
        D: RemoveAxis,
    {
        Returned::new()
    }
}

impl<A, D: Dimension> ViewMethods<A, D> for ArrayRef<A, D> {}

/// The hidden methods of two-dimensional `ArrayRef`.
///
/// Nothing unsafe relies on an implementation.
pub trait PlaneMethods<A> {
    methods! {
        __call_row[](&self)(usize) -> ArrayView<'_, A, Ix1> => Row;
        __call_row_mut[](&mut self)(usize) -> ArrayViewMut<'_, A, Ix1> => Row;
        __call_column[](&self)(usize) -> ArrayView<'_, A, Ix1> => Column;
        __call_column_mut[](&mut self)(usize) -> ArrayViewMut<'_, A, Ix1> => Column;
    }
}

impl<A> PlaneMethods<A> for ArrayRef<A, Ix2> {}

/// The hidden methods of two-dimensional `ArrayRef` and `ArrayBase`.
///
/// Nothing unsafe relies on an implementation.
pub trait PlaneShape {
    methods! {
        __call_nrows[](&self)() -> usize => Rows;
        __call_ncols[](&self)() -> usize => Columns;
        __call_is_square[](&self)() -> bool => IsSquare;
    }
}

impl<A> PlaneShape for ArrayRef<A, Ix2> {}
impl<S: RawData> PlaneShape for ArrayBase<S, Ix2> {}

/// The hidden method of `ArrayRef` and `ArrayBase`.
///
/// Nothing unsafe relies on an implementation.
pub trait SliceOfView<A> {
    methods! {
        __call_as_slice_mut[](&mut self)() -> Option<&mut [A]> => AsSlice;
    }
}

impl<A, D: Dimension> SliceOfView<A> for ArrayRef<A, D> {}
impl<S: DataMut, D: Dimension> SliceOfView<S::Elem> for ArrayBase<S, D> {}

/// The hidden methods of views themselves.
///
/// Nothing unsafe relies on an implementation.
pub trait WholeView<S: RawData, D: Dimension>: Sized {
    methods! {
        __call_reborrow[](self)() -> Self => Same;
        __call_reversed_axes[](self)() -> Self => Reversed;
        __call_permuted_axes[P: IntoDimension<Dim = D>](self)(P) -> Self => Permuted;
        __call_insert_axis[](self)(Axis) -> ArrayBase<S, D::Larger> => InsertAxis;
        __call_slice_move[I: SliceArg<D>](self)(I) -> ArrayBase<S, I::OutDim> => Sliced;
        __call_split_at[](self)(Axis, usize) -> (Self, Self) => SplitAt;
    }

    #[doc(hidden)]
    fn __call_index_axis_move(self, _: Axis, _: usize) -> ViewCall<op::IndexAxis, ArrayBase<S, D::Smaller>>
    where
        D: RemoveAxis,
    {
        Returned::new()
    }
}

impl<S: Data, D: Dimension> WholeView<S, D> for ArrayBase<S, D> {}

/// The hidden methods of views that return slices of the same lifetime.
///
/// Nothing unsafe relies on an implementation.
pub trait SharedView<'a, A>: Sized {
    methods! {
        __call_to_slice[](&self)() -> Option<&'a [A]> => AsSlice;
    }
}

impl<'a, A, D: Dimension> SharedView<'a, A> for ArrayView<'a, A, D> {}

/// The hidden methods of mutable views that return slices of the same lifetime.
///
/// Nothing unsafe relies on an implementation.
pub trait UniqueView<'a, A: 'a>: Sized {
    methods! {
        __call_into_slice[](self)() -> Option<&'a mut [A]> => AsSlice;
    }
}

impl<'a, A: 'a, D: Dimension> UniqueView<'a, A> for ArrayViewMut<'a, A, D> {}

/// The callee of a function that converts a slice to a view with this key; if `SHAPED`, it also takes a shape.
#[derive(Debug)]
pub struct ViewConversion<K, const SHAPED: bool>(PhantomData<fn() -> K>);
// SAFETY: the instance is the view intrinsic, with the type that the key describes as its result.
unsafe impl<K: Key, const SHAPED: bool> DeviceFn for ViewConversion<K, SHAPED> {
    type Args = Unconstrained;
    type Output = Unconstrained;

    fn instance() -> Instance {
        Instance { body: Body::Intrinsic(Intrinsic::View(SHAPED)), generics: vec![key_arg::<K>()] }
    }
}

/// The hidden counterparts of the functions that are called by the view's path.
///
/// Nothing unsafe relies on an implementation: the front end checks the types of the arguments, and refuses types that it
/// does not know.
pub trait ViewFunctions: DeviceType + Sized {
    /// The slice type that such a view is created from.
    type Slice;
    /// The view's dimension.
    type Dim: Dimension;

    /// `ArrayView2::from_shape`
    fn __call_from_shape<S: Into<StrideShape<Self::Dim>>>(
        _: S,
        _: Self::Slice,
    ) -> Returned<ViewConversion<Self::K, true>, Result<Self, ShapeError>> {
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
        // SAFETY: the instance is the conversion of the slice to a view.
        #[diagnostic::do_not_recommend]
        unsafe impl<'a, S: ?Sized, T, D: Dimension> DeviceFrom<$($reference)+ S> for $view<'a, T, D>
        where
            Self: DeviceType + From<$($reference)+ S>,
        {
            fn instance() -> Instance {
                ViewConversion::<<Self as DeviceType>::K, false>::instance()
            }
        }
    )* };
}

of_slices! {
    ArrayView(&'a)
    ArrayViewMut(&'a mut)
}
