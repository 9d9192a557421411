//! Host memory as arguments: copied to the device before the launch and, if the kernel writes it, back after it.
//!
//! # Safety
//!
//! The device arrays for the copies belong to this launch alone, so that nothing overlaps them.

use cuda_driver::Context;
use cuda_mem::{DeviceArray, Element, HostArray, HostKind};
use ndarray::{Array, ArrayBase, ArrayView, ArrayViewMut, Data, DataMut, Dimension, Ix1};

use super::args::{measure_slice, measure_view};
use super::{KernelArg, Launch, Sizes};
use crate::error::Result;
use crate::typeinfo::ElementType;

/// Host memory that the kernel reads, such as `In(&vec)`: copied in, not out.
///
/// # Examples
///
/// ```
/// use cuda_jit::launch::{In, InOut, Out};
/// use cuda_jit::{device::grid, kernel};
///
/// #[kernel]
/// fn add(x: &[i32], sum: &mut [i32], doubled: &mut [i32]) {
///     let i = grid::<1>();
///     if i < x.len() {
///         sum[i] += x[i];
///         doubled[i] = 2 * x[i];
///     }
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// # let _selected = context.select();
/// let (x, mut sum, mut doubled) = (vec![1, 2, 3], vec![10, 20, 30], vec![0; 3]);
/// add::launch((1, 32), In(&x), InOut(&mut sum), Out(&mut doubled))?; // `doubled` is not copied to the device
/// assert_eq!((sum, doubled), (vec![11, 22, 33], vec![2, 4, 6]));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct In<A>(pub A);

/// Host memory that the kernel fills, such as `Out(&mut vec)`: copied out, not in. Elements that the kernel does not write
/// become zero.
#[derive(Debug)]
pub struct Out<A>(pub A);

/// Host memory that the kernel reads and writes, such as `InOut(&mut vec)`: copied in and out.
#[derive(Debug)]
pub struct InOut<A>(pub A);

/// Host memory that a launch can copy to the device: vectors, slices, arrays, ndarray's arrays and views of any dimension and
/// layout, and pinned arrays.
///
/// For a slice the elements are passed in logical order, the last axis fastest; for a view they keep their order in memory.
///
/// Nothing unsafe relies on an implementation: a launch calls it once, that of a `race_free` kernel twice, and the last result is
/// borrowed until the launch's end.
///
/// # Examples
///
/// ```
/// use cuda_jit::launch::{HostMemory, HostMemoryMut};
/// use ndarray::{ArrayView1, ArrayViewMut1, Ix1};
///
/// /// Samples of a sound, which a launch takes as it takes a vector.
/// struct Samples(Vec<f32>);
///
/// impl HostMemory for Samples {
///     type Elem = f32;
///     type Dim = Ix1;
///
///     fn elements(&self) -> cuda_jit::Result<ArrayView1<'_, f32>> {
///         self.0.elements()
///     }
/// }
///
/// impl HostMemoryMut for Samples {
///     fn elements_mut(&mut self) -> cuda_jit::Result<ArrayViewMut1<'_, f32>> {
///         self.0.elements_mut()
///     }
/// }
///
/// let mut samples = Samples(vec![0.5; 3]);
/// samples.elements_mut()?.fill(0.25);
/// assert_eq!(samples.elements()?.sum(), 0.75);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub trait HostMemory {
    /// The type of an element.
    type Elem: Element;
    /// The number of axes.
    type Dim: Dimension;

    /// The elements.
    ///
    /// # Errors
    ///
    /// If an operation of the device that still uses the memory fails.
    fn elements(&self) -> Result<ArrayView<'_, Self::Elem, Self::Dim>>;
}

/// Host memory that a launch can also copy back to.
///
/// Nothing unsafe relies on an implementation: a launch calls it once, and the result is borrowed until the launch's end.
pub trait HostMemoryMut: HostMemory {
    /// The elements, for writing.
    ///
    /// # Errors
    ///
    /// As [`HostMemory::elements`].
    fn elements_mut(&mut self) -> Result<ArrayViewMut<'_, Self::Elem, Self::Dim>>;
}

macro_rules! lists {
    ($([$($extent:tt)*] $list:ty;)*) => { $(
        impl<T: Element, $($extent)*> HostMemory for $list {
            type Elem = T;
            type Dim = Ix1;

            fn elements(&self) -> Result<ArrayView<'_, T, Ix1>> {
                Ok((&self[..]).into())
            }
        }

        impl<T: Element, $($extent)*> HostMemoryMut for $list {
            fn elements_mut(&mut self) -> Result<ArrayViewMut<'_, T, Ix1>> {
                Ok((&mut self[..]).into())
            }
        }
    )* };
}

lists! { [] Vec<T>; [] [T]; [const N: usize] [T; N]; }

#[diagnostic::do_not_recommend]
impl<A: HostMemory + ?Sized> HostMemory for &A {
    type Elem = A::Elem;
    type Dim = A::Dim;

    fn elements(&self) -> Result<ArrayView<'_, Self::Elem, Self::Dim>> {
        (**self).elements()
    }
}

impl<S: Data<Elem: Element>, D: Dimension> HostMemory for ArrayBase<S, D> {
    type Elem = S::Elem;
    type Dim = D;

    fn elements(&self) -> Result<ArrayView<'_, S::Elem, D>> {
        Ok(self.view())
    }
}

impl<S: DataMut<Elem: Element>, D: Dimension> HostMemoryMut for ArrayBase<S, D> {
    fn elements_mut(&mut self) -> Result<ArrayViewMut<'_, S::Elem, D>> {
        Ok(self.view_mut())
    }
}

impl<T: Element, D: Dimension, K: HostKind> HostMemory for HostArray<T, D, K> {
    type Elem = T;
    type Dim = D;

    fn elements(&self) -> Result<ArrayView<'_, T, D>> {
        Ok(self.view()?)
    }
}

impl<T: Element, D: Dimension, K: HostKind> HostMemoryMut for HostArray<T, D, K> {
    fn elements_mut(&mut self) -> Result<ArrayViewMut<'_, T, D>> {
        Ok(self.view_mut()?)
    }
}

/// A device array for one launch, and the host memory to copy it back to.
#[cfg_attr(doc, doc(hidden))]
#[derive(Debug)]
pub struct CopyBack<'a, T: Element, D: Dimension> {
    host: ArrayViewMut<'a, T, D>,
    device: DeviceArray<T, D>,
}

impl<T: Element, D: Dimension> CopyBack<'_, T, D> {
    fn finish(mut self) -> Result<()> {
        Ok(self.device.copy_to_host_into(&mut self.host)?)
    }
}

/// A copy with its elements in logical order, for a slice.
fn in_c_order<T: Element, D: Dimension>(context: &Context, host: &ArrayView<'_, T, D>) -> Result<DeviceArray<T, D>> {
    let mut device = cuda_mem::device_array(context, host.raw_dim())?;
    device.copy_from_host(host)?;
    Ok(device)
}

/// A copy with the host's memory layout, for a view.
fn as_it_lies<T: Element, D: Dimension>(context: &Context, host: &ArrayView<'_, T, D>) -> Result<DeviceArray<T, D>> {
    Ok(cuda_mem::to_device(context, host)?)
}

/// Appends the parameters of host memory that are known before it is copied. Only its layout tells the strides.
fn measured<A: HostMemory + ?Sized>(host: &A, measure: fn(&[usize], Option<&[isize]>, &mut Sizes), sizes: &mut Sizes) {
    match host.elements() {
        Ok(elements) => measure(elements.shape(), None, sizes),
        Err(_) => sizes.end(),
    }
}

/// The wrappers as arguments: the parameter's types, what is known before, and the conversion of a host array to a device array.
macro_rules! wrappers {
    ($($read:ty, $written:ty, $measure:ident, $copy:ident;)*) => { $(
        // SAFETY: it binds a device array of the host memory's shape, which is kept until the launch is enqueued; freeing
        // it waits for the use that binding recorded.
        #[diagnostic::do_not_recommend]
        unsafe impl<'a, A: HostMemory<Elem: ElementType> + ?Sized> KernelArg<$read> for In<&'a A> {
            type Bound = DeviceArray<A::Elem, A::Dim>;

            fn measure(&self, sizes: &mut Sizes) {
                measured(self.0, $measure, sizes);
            }

            fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound> {
                launch.expect_stream()?;
                let device = $copy(launch.context(), &self.0.elements()?)?;
                KernelArg::<$read>::bind(&device, launch)?;
                Ok(device)
            }
        }

        // SAFETY: it binds a device array of the host memory's shape, which no other argument refers to and which is kept
        // until `finish`; copying back waits for the launch.
        #[diagnostic::do_not_recommend]
        unsafe impl<'a, A: HostMemoryMut<Elem: ElementType> + ?Sized> KernelArg<$written> for InOut<&'a mut A> {
            type Bound = CopyBack<'a, A::Elem, A::Dim>;

            fn measure(&self, sizes: &mut Sizes) {
                measured(&*self.0, $measure, sizes);
            }

            fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound> {
                launch.expect_stream()?;
                let host = self.0.elements_mut()?;
                let mut device = $copy(launch.context(), &host.view())?;
                KernelArg::<$written>::bind(&mut device, launch)?;
                launch.copies_back(&device);
                Ok(CopyBack { host, device })
            }

            fn finish(bound: Self::Bound) -> Result<()> {
                bound.finish()
            }
        }

        // SAFETY: it binds a device array of the host memory's shape, which no other argument refers to and which is kept
        // until `finish`; copying back waits for the launch.
        #[diagnostic::do_not_recommend]
        unsafe impl<'a, A: HostMemoryMut<Elem: ElementType> + ?Sized> KernelArg<$written> for Out<&'a mut A> {
            type Bound = CopyBack<'a, A::Elem, A::Dim>;

            fn measure(&self, sizes: &mut Sizes) {
                measured(&*self.0, $measure, sizes);
            }

            fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound> {
                launch.expect_stream()?;
                let host = self.0.elements_mut()?;
                let mut device = cuda_mem::zeros(launch.context(), host.raw_dim())?;
                KernelArg::<$written>::bind(&mut device, launch)?;
                launch.copies_back(&device);
                Ok(CopyBack { host, device })
            }

            fn finish(bound: Self::Bound) -> Result<()> {
                bound.finish()
            }
        }
    )* };
}

wrappers! {
    &'static [A::Elem], &'static mut [A::Elem], measure_slice, in_c_order;
    ArrayView<'static, A::Elem, A::Dim>, ArrayViewMut<'static, A::Elem, A::Dim>, measure_view, as_it_lies;
}

/// References as arguments, which are converted to a wrapper. The types are listed, so that rustc suggests them for an
/// unsupported one.
macro_rules! references {
    ($([$($generic:tt)*] $array:ty as $wrapper:ident for $slice:ty, $view:ty;)*) => { $(
        references! { @one [$($generic)*] $array as $wrapper for $slice, measure_slice }
        references! { @one [$($generic)*] $array as $wrapper for $view, measure_view }
    )* };
    (@one [$($generic:tt)*] $array:ty as $wrapper:ident for $parameter:ty, $measure:ident) => {
        // SAFETY: it is converted to the wrapper, whose implementation satisfies the contract.
        #[diagnostic::do_not_recommend]
        unsafe impl<'a, $($generic)* T: ElementType + Element> KernelArg<$parameter> for $array {
            type Bound = <$wrapper<Self> as KernelArg<$parameter>>::Bound;

            fn measure(&self, sizes: &mut Sizes) {
                measured(&**self, $measure, sizes);
            }

            fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound> {
                launch.warn_of_copy(self.len() * size_of::<T>());
                KernelArg::<$parameter>::bind($wrapper(self), launch)
            }

            fn finish(bound: Self::Bound) -> Result<()> {
                <$wrapper<Self> as KernelArg<$parameter>>::finish(bound)
            }
        }
    };
}

references! {
    [] &'a Vec<T> as In for &'static [T], ArrayView<'static, T, Ix1>;
    [] &'a [T] as In for &'static [T], ArrayView<'static, T, Ix1>;
    [const N: usize,] &'a [T; N] as In for &'static [T], ArrayView<'static, T, Ix1>;
    [D: Dimension,] &'a Array<T, D> as In for &'static [T], ArrayView<'static, T, D>;
    ['v, D: Dimension,] &'a ArrayView<'v, T, D> as In for &'static [T], ArrayView<'static, T, D>;
    ['v, D: Dimension,] &'a ArrayViewMut<'v, T, D> as In for &'static [T], ArrayView<'static, T, D>;
    [] &'a mut Vec<T> as InOut for &'static mut [T], ArrayViewMut<'static, T, Ix1>;
    [] &'a mut [T] as InOut for &'static mut [T], ArrayViewMut<'static, T, Ix1>;
    [const N: usize,] &'a mut [T; N] as InOut for &'static mut [T], ArrayViewMut<'static, T, Ix1>;
    [D: Dimension,] &'a mut Array<T, D> as InOut for &'static mut [T], ArrayViewMut<'static, T, D>;
    ['v, D: Dimension,] &'a mut ArrayViewMut<'v, T, D> as InOut for &'static mut [T], ArrayViewMut<'static, T, D>;
}
