//! ndarray's views: the methods that read or write every element, and arithmetic on shapes.
//!
//! Elements are visited in row-major order of their indices.
//!
//! # Safety
//!
//! The only unsafe code is the implementation that describes a type here to the compiler.

use std::marker::PhantomData;
use std::ops::{Add, Div, Mul};

use ndarray::{ArrayRef, ArrayView, ArrayViewMut, Dim, Ix1};
use num_complex::Complex;

use crate::device;
use crate::device::library::{duplicate, index_of, number_of};
use crate::kir::Scalar;
use crate::library::loops::LoopItems;
use crate::num::{Float, Num};
use crate::typeinfo::{
    DeviceType, NoCallee, Returned, ScalarType, TupleKey, ValueType, ViewCall, ViewDim, ViewKey, op,
};

/// A number, real or complex, with sums and products in kernels.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(
    message = "kernels have no sums and products of `{Self}`",
    note = "write `x.fold(first, |all, element| ..)`"
)]
pub trait Neutral: ValueType + Add<Output = Self> + Mul<Output = Self> {
    /// The sum of no numbers.
    const EMPTY_SUM: Self;
    /// The product of no numbers.
    const EMPTY_PRODUCT: Self;
}

impl<T: Num> Neutral for T {
    const EMPTY_SUM: T = T::ZERO;
    const EMPTY_PRODUCT: T = T::ONE;
}

macro_rules! complex {
    ($($part:ty)*) => { $(
        impl Neutral for Complex<$part> {
            const EMPTY_SUM: Self = Complex::new(0.0, 0.0);
            const EMPTY_PRODUCT: Self = Complex::new(1.0, 0.0);
        }
    )* };
}

complex! { f32 f64 }

/// A number with means in kernels.
///
/// Nothing unsafe relies on an implementation.
#[diagnostic::on_unimplemented(message = "kernels have no means of `{Self}`", note = "divide the sum: `x.sum() / n`")]
pub trait Mean: Neutral + ScalarType + Div<Output = Self> {
    /// True for integers.
    const IS_WHOLE: bool;
}

impl<T: Num> Mean for T {
    const IS_WHOLE: bool = !matches!(T::SCALAR, Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64);
}

/// A view, and another one that was broadcast to its shape, for a loop over the pairs of their elements.
#[derive(Debug)]
pub(crate) struct SameShape<'a, A, B, const N: usize>(PhantomData<(&'a mut A, &'a B)>);

// SAFETY: the compiler represents it as this pair, and Rust has no values of it.
unsafe impl<A: DeviceType, B: DeviceType, const N: usize> DeviceType for SameShape<'_, A, B, N> {
    type K = TupleKey<(ViewKey<A::K, N, true>, ViewKey<B::K, N, false>)>;
}

impl<'a, A, B, const N: usize> Iterator for SameShape<'a, A, B, N> {
    type Item = (&'a mut A, &'a B);

    fn next(&mut self) -> Option<Self::Item> {
        unreachable!("the device's own iterator")
    }
}

/// Broadcasts views.
///
/// Nothing unsafe relies on an implementation.
pub(crate) trait Broadcast<'a, A, const N: usize>: Sized {
    /// This view, and another one, which is broadcast to its shape.
    ///
    /// # Panics
    ///
    /// If it cannot be broadcast.
    fn beside<B, const M: usize>(self, _: ArrayView<'a, B, Dim<[usize; M]>>) -> SameShape<'a, A, B, N>
    where
        Dim<[usize; M]>: ViewDim,
    {
        unreachable!("the device's own function")
    }

    #[doc(hidden)]
    fn __call_beside<B, const M: usize>(
        self,
        _: ArrayView<'a, B, Dim<[usize; M]>>,
    ) -> ViewCall<op::Beside, SameShape<'a, A, B, N>>
    where
        Dim<[usize; M]>: ViewDim,
    {
        Returned::new()
    }
}

impl<'a, A, const N: usize> Broadcast<'a, A, N> for ArrayViewMut<'a, A, Dim<[usize; N]>> where Dim<[usize; N]>: ViewDim {}

impl<'a, A, B, const N: usize> LoopItems for SameShape<'a, A, B, N> {
    type Item = (&'a mut A, &'a B);
    type Into = NoCallee;
    type Next = NoCallee;
}

/// The methods of views that read every element.
#[device(extension)]
impl<T, const N: usize> ViewElements<T, N> for &ArrayRef<T, Dim<[usize; N]>>
where
    Dim<[usize; N]>: ViewDim,
{
    /// `is_empty`
    fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// `fold`
    fn fold<B, F: FnMut(B, &T) -> B>(self, init: B, mut f: F) -> B {
        let mut folded = init;
        for element in self.view() {
            folded = f(folded, element);
        }
        folded
    }

    /// `for_each`
    fn for_each<F: FnMut(&T)>(self, mut f: F) {
        for element in self.view() {
            f(element);
        }
    }

    /// `sum`
    #[track_caller]
    fn sum(self) -> T
    where
        T: Neutral,
    {
        let mut sum = T::EMPTY_SUM;
        for element in self.view() {
            sum = sum + *element;
        }
        sum
    }

    /// `product`
    #[track_caller]
    fn product(self) -> T
    where
        T: Neutral,
    {
        let mut product = T::EMPTY_PRODUCT;
        for element in self.view() {
            product = product * *element;
        }
        product
    }

    /// `mean`
    #[track_caller]
    fn mean(self) -> Option<T>
    where
        T: Mean,
    {
        let len = self.len();
        if len == 0 {
            return None;
        }
        let count = number_of::<T>(len);
        if T::IS_WHOLE && index_of::<T>(count) != len {
            panic!("a view of {len} elements has no mean: its numbers do not reach {len}");
        }
        Some(ViewElements::sum(self) / count)
    }

    /// `var`
    #[track_caller]
    fn var(self, ddof: T) -> T
    where
        T: Float,
    {
        let len = self.len();
        let count = number_of::<T>(len);
        if ddof < T::ZERO || ddof > count {
            panic!("`ddof` is negative, or more than the {len} elements of the view");
        }
        let (mut mean, mut squares, mut seen) = (T::ZERO, T::ZERO, 0);
        for element in self.view() {
            seen += 1;
            let delta = *element - mean;
            mean += delta / number_of::<T>(seen);
            squares = (*element - mean).mul_add(delta, squares);
        }
        squares / (count - ddof)
    }

    /// `std`
    #[track_caller]
    fn std(self, ddof: T) -> T
    where
        T: Float,
    {
        ViewElements::var(self, ddof).sqrt()
    }
}

/// The methods of views that write every element.
#[device(extension)]
impl<T, const N: usize> ViewElementsMut<T, N> for &mut ArrayRef<T, Dim<[usize; N]>>
where
    Dim<[usize; N]>: ViewDim,
{
    /// `fill`
    fn fill(self, x: T)
    where
        T: Clone,
    {
        for element in self.view_mut() {
            *element = duplicate(&x);
        }
    }

    /// `assign`
    #[track_caller]
    fn assign<const M: usize>(self, rhs: &ArrayRef<T, Dim<[usize; M]>>)
    where
        T: Clone,
        Dim<[usize; M]>: ViewDim,
    {
        for (element, other) in self.view_mut().beside(rhs.view()) {
            *element = duplicate(other);
        }
    }

    /// `map_inplace`
    fn map_inplace<F: FnMut(&mut T)>(self, mut f: F) {
        for element in self.view_mut() {
            f(element);
        }
    }

    /// `mapv_inplace`
    fn mapv_inplace<F: FnMut(T) -> T>(self, mut f: F)
    where
        T: Clone,
    {
        for element in self.view_mut() {
            *element = f(duplicate(element));
        }
    }

    /// `zip_mut_with`
    #[track_caller]
    fn zip_mut_with<B, const M: usize, F: FnMut(&mut T, &B)>(self, rhs: &ArrayRef<B, Dim<[usize; M]>>, mut f: F)
    where
        Dim<[usize; M]>: ViewDim,
    {
        for (element, other) in self.view_mut().beside(rhs.view()) {
            f(element, other);
        }
    }
}

/// The method of views of one dimension.
#[device(extension, unchecked)]
impl<T> ViewDot<T> for &ArrayRef<T, Ix1> {
    /// `dot`
    #[track_caller]
    fn dot(self, rhs: &ArrayRef<T, Ix1>) -> T
    where
        T: Neutral,
    {
        let (len, other) = (self.len(), rhs.len());
        if len != other {
            panic!("views of length {len} and {other} have no dot product");
        }
        let mut sum = T::EMPTY_SUM;
        for i in 0..len {
            sum = sum + self[i] * rhs[i];
        }
        sum
    }
}
