//! The Rust values that can be passed for a kernel's parameters, and their conversion to the driver's.
//!
//! # Safety
//!
//! The implementations of [`KernelArg`] push exactly the cells of their parameter's type, and addresses only of memory
//! whose accesses the use record orders; this makes a typed launch safe.

use cuda_driver::Context;
use cuda_mem::{DeviceArray, DeviceArrayView, DeviceArrayViewMut, Element, HostArray, OnDevice, Storage};
use ndarray::{ArrayView, ArrayViewMut, Dimension};

use super::{ArgType, DeviceFunction, Launch, Sizes};
use crate::error::Result;
use crate::tuples::{self, each_tuple};
use crate::typeinfo::ElementType;

/// A value that can be passed for a kernel parameter of type `P`.
///
/// Device arrays are passed for slices and views, and so are host arrays (copied in and, if the kernel writes, out again);
/// numbers are passed as they are.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::grid, kernel, launch::KernelArg};
///
/// #[kernel]
/// fn squares(x: &[u32], out: &mut [u32]) {
///     let i = grid::<1>();
///     if i < out.len() {
///         out[i] = x[i] * x[i];
///     }
/// }
///
/// /// Takes an array of the host or of the device.
/// fn squared(x: impl KernelArg<&'static [u32]>) -> cuda_jit::Result<[u32; 3]> {
///     let mut out = [0; 3];
///     squares::launch((1, 32), x, &mut out)?;
///     Ok(out)
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// assert_eq!(squared(&[1, 2, 3])?, [1, 4, 9]);
/// assert_eq!(squared(&cuda_mem::from_slice(&context, &[4, 5, 6])?)?, [16, 25, 36]);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
///
/// # Safety
///
/// `bind` pushes the cells that a parameter of type `P` consists of: for a number its bits, for a slice the address and the
/// number of elements, for a view the address, the extents and the strides in elements. The address is that of live device
/// memory of the launch's context, whose use has been recorded by [`Launch::read`] or [`Launch::write`]; for `&mut [T]` and
/// `ArrayViewMut` no other argument's memory overlaps it, and different indices are different elements.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for a kernel parameter of type `{P}`",
    note = "a `&[T]` takes a `&DeviceArray<T, _>`, `&Array<T, _>`, `&Vec<T>`, `&[T; N]` or `In(..)`; a `&mut [T]` takes the same by `&mut`, `Out(..)` or `InOut(..)`",
    note = "an `ArrayView<T, D>` takes `&DeviceArray<T, D>`, `&Array<T, D>` or `In(..)`; an `ArrayViewMut<T, D>` takes the same by `&mut`, `Out(..)` or `InOut(..)`",
    note = "a number takes a value of exactly its type: write `n as u32`, or a suffix as in `3.0_f32`"
)]
pub unsafe trait KernelArg<P> {
    /// The data that must live until the launch is enqueued, for [`finish`](Self::finish).
    type Bound;

    /// The context of the argument's memory, if it has any.
    fn context(&self) -> Option<&Context> {
        None
    }

    /// Appends the parameters that are known before [`bind`](Self::bind).
    #[doc(hidden)]
    fn measure(&self, sizes: &mut Sizes) {
        sizes.end();
    }

    /// Appends the driver's parameters.
    ///
    /// # Errors
    ///
    /// If the argument belongs to another context, or a copy fails.
    fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound>;

    /// Runs after the launch was enqueued.
    ///
    /// # Errors
    ///
    /// If copying back fails, or the kernel failed.
    fn finish(bound: Self::Bound) -> Result<()> {
        let _ = bound;
        Ok(())
    }
}

// SAFETY: a parameter of the type is its cells, by the contract of `ArgType`, and none of them is an address.
#[diagnostic::do_not_recommend]
unsafe impl<T: ArgType> KernelArg<T> for T {
    type Bound = ();

    fn measure(&self, sizes: &mut Sizes) {
        self.cells(&mut |cell| sizes.push(Some(cell)));
    }

    fn bind(self, launch: &mut Launch<'_>) -> Result<()> {
        self.cells(&mut |cell| launch.push(cell));
        Ok(())
    }
}

macro_rules! functions {
    ($($function:ty)*) => { $(
        // SAFETY: a function has no cells, and its parameter consists of none.
        #[diagnostic::do_not_recommend]
        unsafe impl<V, F> KernelArg<DeviceFunction<V, F>> for $function {
            type Bound = ();

            fn measure(&self, _: &mut Sizes) {}

            fn bind(self, _: &mut Launch<'_>) -> Result<()> {
                Ok(())
            }
        }
    )* };
}

functions! { DeviceFunction<V, F> &DeviceFunction<V, F> }

/// Appends a slice's cells: address and number of elements.
fn push_slice<T: Element, D: Dimension, S: Storage>(
    array: &DeviceArray<T, D, S>,
    launch: &mut Launch<'_>,
) -> Result<()> {
    array.require_c_order("a slice as a kernel's argument, only an `ArrayView`")?;
    launch.push(array.device_ptr());
    launch.push(array.len() as u64);
    Ok(())
}

/// Appends a view's cells: address, extents, strides in elements.
fn push_view<T: Element, D: Dimension, S: Storage>(
    array: &DeviceArray<T, D, S>,
    launch: &mut Launch<'_>,
) -> Result<()> {
    launch.push(array.device_ptr());
    array.shape().iter().for_each(|&extent| launch.push(extent as u64));
    array.strides().iter().for_each(|&stride| launch.push(stride as u64));
    Ok(())
}

/// Appends a slice's cells, as far as the shape tells them.
pub(super) fn measure_slice(shape: &[usize], _: Option<&[isize]>, sizes: &mut Sizes) {
    sizes.push(None);
    sizes.push(Some(shape.iter().map(|&extent| extent as u128).product()));
}

/// Appends a view's cells; without strides if those are not known.
pub(super) fn measure_view(shape: &[usize], strides: Option<&[isize]>, sizes: &mut Sizes) {
    sizes.push(None);
    shape.iter().for_each(|&extent| sizes.push(Some(extent as u128)));
    (0..shape.len()).for_each(|axis| sizes.push(strides.map(|strides| u128::from(strides[axis] as u64))));
}

/// Device arrays as arguments: the parameter's type, the array's, the recorded use, and the cells, measured and pushed.
macro_rules! device_arrays {
    ($($parameter:ty, $array:ty, $record:ident, $measure:ident, $push:ident;)*) => { $(
        // SAFETY: arrays that are pushed as slices are contiguous and in C order, so that address and length describe a
        // slice; address, extents and strides describe a view of any array. The use is recorded, and the memory outlives
        // it, since freeing waits for recorded uses. A mutable parameter takes the array or the view by exclusive borrow,
        // so that no other argument refers to its elements.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: ElementType + Element, D: Dimension> KernelArg<$parameter> for $array {
            type Bound = ();

            fn context(&self) -> Option<&Context> {
                Some(DeviceArray::context(self))
            }

            fn measure(&self, sizes: &mut Sizes) {
                $measure(self.shape(), Some(self.strides()), sizes);
            }

            #[inline]
            fn bind(self, launch: &mut Launch<'_>) -> Result<()> {
                launch.same_context(DeviceArray::context(self))?;
                launch.$record(self)?;
                $push(self, launch)
            }
        }
    )* };
}

device_arrays! {
    &'static [T], &DeviceArray<T, D>, read, measure_slice, push_slice;
    &'static mut [T], &mut DeviceArray<T, D>, write, measure_slice, push_slice;
    ArrayView<'static, T, D>, &DeviceArray<T, D>, read, measure_view, push_view;
    ArrayViewMut<'static, T, D>, &mut DeviceArray<T, D>, write, measure_view, push_view;
    &'static [T], &DeviceArrayView<'_, T, D>, read, measure_slice, push_slice;
    &'static mut [T], &mut DeviceArrayViewMut<'_, T, D>, write, measure_slice, push_slice;
    ArrayView<'static, T, D>, &DeviceArrayView<'_, T, D>, read, measure_view, push_view;
    ArrayViewMut<'static, T, D>, &mut DeviceArrayViewMut<'_, T, D>, write, measure_view, push_view;
    &'static [T], &DeviceArrayViewMut<'_, T, D>, read, measure_slice, push_slice;
    ArrayView<'static, T, D>, &DeviceArrayViewMut<'_, T, D>, read, measure_view, push_view;
}

/// Mapped and managed arrays as arguments: the parameter's type, the array's, and the view of it that is passed.
macro_rules! host_arrays {
    ($($parameter:ty, $array:ty, $view:expr;)*) => { $(
        // SAFETY: it binds the device's view of the array, which satisfies the contract, for as long as the array is
        // borrowed.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: ElementType + Element, D: Dimension, K: OnDevice> KernelArg<$parameter> for $array {
            type Bound = ();

            fn context(&self) -> Option<&Context> {
                Some(HostArray::context(self))
            }

            fn bind(self, launch: &mut Launch<'_>) -> Result<()> {
                let view: fn($array, &mut Launch<'_>) -> Result<()> = $view;
                view(self, launch)
            }
        }
    )* };
}

host_arrays! {
    &'static [T], &HostArray<T, D, K>, |x, launch| KernelArg::<&'static [T]>::bind(&x.device(), launch);
    &'static mut [T], &mut HostArray<T, D, K>,
        |x, launch| KernelArg::<&'static mut [T]>::bind(&mut x.device_mut(), launch);
    ArrayView<'static, T, D>, &HostArray<T, D, K>,
        |x, launch| KernelArg::<ArrayView<'static, T, D>>::bind(&x.device(), launch);
    ArrayViewMut<'static, T, D>, &mut HostArray<T, D, K>,
        |x, launch| KernelArg::<ArrayViewMut<'static, T, D>>::bind(&mut x.device_mut(), launch);
}

// SAFETY: an array's cells are those of its elements, in order, each bound by its own implementation.
#[diagnostic::do_not_recommend]
unsafe impl<P, A: KernelArg<P>, const N: usize> KernelArg<[P; N]> for [A; N] {
    type Bound = Vec<A::Bound>;

    fn context(&self) -> Option<&Context> {
        self.iter().find_map(KernelArg::context)
    }

    fn measure(&self, sizes: &mut Sizes) {
        self.iter().for_each(|element| element.measure(sizes));
    }

    fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound> {
        self.into_iter().map(|element| element.bind(launch)).collect()
    }

    fn finish(bound: Self::Bound) -> Result<()> {
        let results: Vec<Result<()>> = bound.into_iter().map(|bound| A::finish(bound)).collect();
        results.into_iter().collect()
    }
}

macro_rules! tuple_args {
    ($(($($param:ident $arg:ident $index:tt),*))*) => { $(
        // SAFETY: a tuple's cells are those of its elements, in order, each bound by its own implementation.
        #[diagnostic::do_not_recommend]
        unsafe impl<$($param, $arg: KernelArg<$param>),*> KernelArg<($($param,)*)> for ($($arg,)*) {
            type Bound = ($($arg::Bound,)*);

            fn context(&self) -> Option<&Context> {
                None$(.or_else(|| KernelArg::<$param>::context(&self.$index)))*
            }

            fn measure(&self, sizes: &mut Sizes) {
                $(KernelArg::<$param>::measure(&self.$index, sizes);)*
            }

            fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound> {
                Ok(($(KernelArg::<$param>::bind(self.$index, launch)?,)*))
            }

            fn finish(bound: Self::Bound) -> Result<()> {
                let results = [$(<$arg as KernelArg<$param>>::finish(bound.$index)),*];
                results.into_iter().collect()
            }
        }
    )* };
}

tuple_args! {
    (P0 A0 0)
    (P0 A0 0, P1 A1 1)
    (P0 A0 0, P1 A1 1, P2 A2 2)
    (P0 A0 0, P1 A1 1, P2 A2 2, P3 A3 3)
}

/// The arguments of a launch for parameters `P`, both as tuples. Sealed: each argument is a [`KernelArg`].
#[cfg_attr(doc, doc(hidden))]
pub trait KernelArgs<P>: tuples::Sealed {
    /// The data of all arguments for [`finish`](Self::finish).
    type Bound;

    /// The context of the first argument that has one.
    fn context(&self) -> Option<&Context>;

    /// Appends the parameters that are known before the arguments are bound.
    fn measure(&self, sizes: &mut Sizes);

    /// Binds the arguments in order.
    ///
    /// # Errors
    ///
    /// The error of the first argument that cannot be bound.
    fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound>;

    /// Finishes the arguments in order.
    ///
    /// # Errors
    ///
    /// The error of the first argument that fails; the others are finished nevertheless.
    fn finish(bound: Self::Bound) -> Result<()>;
}

macro_rules! tuples {
    ($(($($param:ident $arg:ident $index:tt),*))*) => { $(
        impl<$($param, $arg: KernelArg<$param>),*> KernelArgs<($($param,)*)> for ($($arg,)*) {
            type Bound = ($($arg::Bound,)*);

            fn context(&self) -> Option<&Context> {
                None$(.or_else(|| KernelArg::<$param>::context(&self.$index)))*
            }

            fn measure(&self, sizes: &mut Sizes) {
                $(KernelArg::<$param>::measure(&self.$index, sizes);)*
            }

            fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound> {
                launch.bound = 0;
                Ok(($({
                    let bound = KernelArg::<$param>::bind(self.$index, launch)?;
                    launch.bound += 1;
                    bound
                },)*))
            }

            fn finish(bound: Self::Bound) -> Result<()> {
                let mut result = Ok(());
                $(
                    let finished = <$arg as KernelArg<$param>>::finish(bound.$index);
                    if finished.is_err() && result.is_ok() {
                        result = finished;
                    }
                )*
                result
            }
        }
    )* };
}

each_tuple!(tuples);

impl KernelArgs<()> for () {
    type Bound = ();

    fn context(&self) -> Option<&Context> {
        None
    }

    fn measure(&self, _: &mut Sizes) {}

    fn bind(self, _: &mut Launch<'_>) -> Result<()> {
        Ok(())
    }

    fn finish((): ()) -> Result<()> {
        Ok(())
    }
}
