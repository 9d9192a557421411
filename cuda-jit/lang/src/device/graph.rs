//! Kernels' access to the graph in which they are launched.
//!
//! # Safety
//!
//! Nothing checks the handle on the device, so creating one for kernels is unsafe.

use crate::DeviceType;
use crate::typeinfo::Intrinsic;

/// The handle of a conditional node of a graph, as a kernel argument; see [`set_conditional`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, DeviceType)]
pub struct Conditional {
    handle: u64,
}

impl Conditional {
    /// The raw value of a `cuda_driver::ConditionalHandle`, for kernels.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::device::Conditional;
    ///
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let graph = cuda_driver::Graph::new(&context)?;
    /// let number = graph.conditional_handle(Some(1))?;
    /// // SAFETY: it is passed to no launch.
    /// let again = unsafe { Conditional::new(number) };
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// Every launch that it is passed to is part of the graph that the handle belongs to: captured into that graph or into
    /// one of its bodies.
    #[must_use]
    pub unsafe fn new(number: impl Into<u64>) -> Self {
        Conditional { handle: number.into() }
    }
}

/// Sets the value of a conditional node of the launch's graph, which decides if, how often, or which of its bodies runs.
///
/// The node reads the value after everything before it has finished, and a loop after each iteration of its body. On the
/// host nothing is set.
///
/// It is a function of CUDA's device runtime, which the software device has built in. A driver that needs NVIDIA's library
/// gets the toolkit's `libcudadevrt.a` when the kernel is loaded.
///
/// # Examples
///
/// ```
/// use cuda_driver::{Graph, Stream};
/// use cuda_jit::{device::{Conditional, set_conditional}, kernel};
///
/// /// Halves a number, and repeats as long as it is above a limit.
/// #[kernel]
/// fn halve(x: &mut [f32], limit: f32, again: Conditional) {
///     x[0] /= 2.0;
///     set_conditional(again, (x[0] > limit) as u32);
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut x = cuda_mem::from_slice(&context, &[100.0_f32])?;
/// let graph = Graph::new(&context)?;
/// let number = graph.conditional_handle(Some(1))?;
/// let (_, body) = graph.add_while(&[], number)?;
/// // SAFETY: the launch is captured into a body of the graph.
/// let again = unsafe { Conditional::new(number) };
/// body.add_captured(&[], |c| Ok(halve::launch((1, 1, c), &mut x, 1.0, again)?))?;
/// let stream = Stream::new(&context)?;
/// graph.instantiate()?.launch(&stream, &mut x)?;
/// assert_eq!(x.copy_to_host()?[0], 0.78125);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub fn set_conditional(_number: Conditional, _value: u32) {}

calls! {
    set_conditional(Conditional, u32) => Intrinsic::SetConditional;
}
