//! Host arrays as arguments: copied to the device before the launch and, where the kernel writes, back after it.
//!
//! # Safety
//!
//! The device arrays behind them are this launch's own, so nothing overlaps them.

use cuda_mem::{DeviceArray, Element};
use ndarray::{Array1, ArrayView1, ArrayViewMut1, Ix1};

use super::{KernelArg, Launch};
use crate::error::Result;
use crate::harvest::ElementType;

/// A host array that the kernel reads, such as `In(&vec)`: copied in, not out.
#[derive(Clone, Copy, Debug)]
pub struct In<A>(pub A);

/// A host array that the kernel fills, such as `Out(&mut vec)`: copied out, not in. What the kernel does not write is
/// zero.
#[derive(Debug)]
pub struct Out<A>(pub A);

/// A host array that the kernel reads and writes, such as `InOut(&mut vec)`: copied in and out.
#[derive(Debug)]
pub struct InOut<A>(pub A);

/// A device array made for one launch and the host memory to copy it back to.
#[derive(Debug)]
pub struct CopyBack<'a, T: Element> {
    host: ArrayViewMut1<'a, T>,
    device: DeviceArray<T, Ix1>,
}

impl<'a, T: ElementType + Element> CopyBack<'a, T> {
    fn bind(host: ArrayViewMut1<'a, T>, mut device: DeviceArray<T, Ix1>, launch: &mut Launch<'_>) -> Result<Self> {
        KernelArg::<&'static mut [T]>::bind(&mut device, launch)?;
        Ok(Self { host, device })
    }

    fn finish(mut self) -> Result<()> {
        Ok(self.device.copy_to_host_into(&mut self.host)?)
    }
}

// SAFETY: the array that is bound is a device array of the host array's length; it is kept until the launch is
// enqueued, and freeing it waits for the use that binding recorded.
#[diagnostic::do_not_recommend]
unsafe impl<'a, T, A> KernelArg<&'static [T]> for In<&'a A>
where
    T: ElementType + Element,
    A: ?Sized,
    &'a A: Into<ArrayView1<'a, T>>,
{
    type Bound = DeviceArray<T, Ix1>;

    fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound> {
        launch.expect_stream()?;
        let host: ArrayView1<'a, T> = self.0.into();
        let device = cuda_mem::to_device(launch.context(), &host)?;
        KernelArg::<&'static [T]>::bind(&device, launch)?;
        Ok(device)
    }

    fn finish(_: Self::Bound) -> Result<()> {
        Ok(())
    }
}

// SAFETY: as for `In`; the copy back waits for the launch.
#[diagnostic::do_not_recommend]
unsafe impl<'a, T, A> KernelArg<&'static mut [T]> for InOut<&'a mut A>
where
    T: ElementType + Element,
    A: ?Sized,
    &'a mut A: Into<ArrayViewMut1<'a, T>>,
{
    type Bound = CopyBack<'a, T>;

    fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound> {
        launch.expect_stream()?;
        let host: ArrayViewMut1<'a, T> = self.0.into();
        let device = cuda_mem::to_device(launch.context(), &host)?;
        CopyBack::bind(host, device, launch)
    }

    fn finish(bound: Self::Bound) -> Result<()> {
        bound.finish()
    }
}

// SAFETY: as for `InOut`.
#[diagnostic::do_not_recommend]
unsafe impl<'a, T, A> KernelArg<&'static mut [T]> for Out<&'a mut A>
where
    T: ElementType + Element,
    A: ?Sized,
    &'a mut A: Into<ArrayViewMut1<'a, T>>,
{
    type Bound = CopyBack<'a, T>;

    fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound> {
        launch.expect_stream()?;
        let host: ArrayViewMut1<'a, T> = self.0.into();
        let device = cuda_mem::zeros(launch.context(), host.len())?;
        CopyBack::bind(host, device, launch)
    }

    fn finish(bound: Self::Bound) -> Result<()> {
        bound.finish()
    }
}

macro_rules! host_arrays {
    ($($(const $extent:ident;)? [$array:ty]),*) => { $(
        // SAFETY: it becomes `In`.
        #[diagnostic::do_not_recommend]
        unsafe impl<'a, T: ElementType + Element $(, const $extent: usize)?> KernelArg<&'static [T]> for &'a $array {
            type Bound = DeviceArray<T, Ix1>;

            fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound> {
                launch.warn_of_copy(self.len() * size_of::<T>());
                In(self).bind(launch)
            }

            fn finish(_: Self::Bound) -> Result<()> {
                Ok(())
            }
        }

        // SAFETY: it becomes `InOut`.
        #[diagnostic::do_not_recommend]
        unsafe impl<'a, T: ElementType + Element $(, const $extent: usize)?> KernelArg<&'static mut [T]> for &'a mut $array {
            type Bound = CopyBack<'a, T>;

            fn bind(self, launch: &mut Launch<'_>) -> Result<Self::Bound> {
                launch.warn_of_copy(self.len() * size_of::<T>());
                InOut(self).bind(launch)
            }

            fn finish(bound: Self::Bound) -> Result<()> {
                bound.finish()
            }
        }
    )* };
}

host_arrays! { [Vec<T>], [[T]], const N; [[T; N]], [Array1<T>] }
