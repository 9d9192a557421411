//! NVIDIA's [`cuda_core`] and this stack in one process: its buffers as device arrays and back, without a copy, and its streams for
//! launches.
//!
//! Invariant: a buffer is used by one side at a time. The host waits for the context where it changes sides, so that neither has to
//! know the other's order of uses.
//!
//! # Safety
//!
//! The blocks make arrays of a buffer's memory, of the buffer's length, while the array owns the buffer, and wrap live streams of the
//! same context.

use std::error::Error;
use std::sync::Arc;

use cuda_core::{DeviceBuffer, Stream as TheirStream};
use cuda_driver::{Context, Stream};
use cuda_mem::{DeviceArray, Element};
use ndarray::{Dimension, Ix1};

/// The result of this crate's calls, with the error of either side.
pub type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// A buffer as a device array. [`export_buffer`] gives it back.
///
/// # Examples
///
/// ```
/// use cuda_core::{Context, DeviceBuffer};
/// use cuda_example_core::{export_buffer, import_buffer};
///
/// # fn main() -> cuda_example_core::Result<()> {
/// let context = cuda_prelude::current_context()?;
/// let stream = Context::new(0)?.default_stream();
/// let mut x = import_buffer(&context, DeviceBuffer::from_host(&stream, &[1, 2, 3])?)?;
/// x.fill(7)?;
/// assert_eq!(export_buffer(x)?.to_host_vec(&stream)?, [7, 7, 7]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The buffer is of another context, or has no element; the driver reports an error.
pub fn import_buffer<T: Element>(context: &Context, buffer: DeviceBuffer<T>) -> Result<DeviceArray<T, Ix1>> {
    expect_same(context, buffer.context())?;
    buffer.context().synchronize()?;
    let (first, len) = (buffer.cu_deviceptr(), buffer.len());
    // SAFETY: the array owns the buffer, which has so many elements there, and whose earlier uses are over.
    Ok(unsafe { DeviceArray::from_raw_parts(context, first, len, &[1], buffer) }?)
}

/// The buffer that an array was made of, whatever the array's shape is now.
///
/// # Errors
///
/// The array's memory is not a buffer of such elements; the driver reports an error.
pub fn export_buffer<T: Element, D: Dimension>(array: DeviceArray<T, D>) -> Result<DeviceBuffer<T>> {
    let no_buffer = || format!("the array's memory is no `DeviceBuffer<{}>` of cuda-core", std::any::type_name::<T>());
    if !array.owner().is_some_and(|owner| owner.is::<DeviceBuffer<T>>()) {
        return Err(no_buffer().into());
    }
    let stream = array.context().default_stream();
    // SAFETY: the owner is a buffer, which is used only after the wait for the stream, and so after every use of the array.
    let owner = unsafe { array.into_owner(&stream) }?.ok_or_else(no_buffer)?;
    stream.synchronize()?;
    owner.downcast().map(|buffer| *buffer).map_err(|_| no_buffer().into())
}

/// A stream of cuda-core as one of this stack's, which keeps it.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_example_core::Result<()> {
/// let context = cuda_prelude::current_context()?;
/// let theirs = cuda_core::Context::new(0)?.new_stream()?;
/// let stream = cuda_example_core::import_stream(&context, &theirs)?;
/// let x = cuda_mem::zeros::<f32, _>(&stream, 100)?;           // in the order of cuda-core's stream
/// theirs.synchronize()?;
/// # assert_eq!(x.len(), 100);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The stream is of another context.
pub fn import_stream(context: &Context, theirs: &Arc<TheirStream>) -> Result<Stream> {
    expect_same(context, theirs.context())?;
    // SAFETY: the stream is of the context, and the owner keeps it. cuda-core makes no per-thread default stream.
    Ok(unsafe { Stream::external_with_owner(context, theirs.cu_stream().cast(), theirs.clone()) })
}

/// Refuses another device's context, and that of another driver library.
fn expect_same(context: &Context, theirs: &cuda_core::CudaContext) -> Result<()> {
    if theirs.cu_ctx().addr() == context.as_raw().addr() {
        return Ok(());
    }
    let (ours, theirs) = (context.device().ordinal(), theirs.ordinal());
    let text = "is not the context of device";
    Err(format!("cuda-core's context, of device {theirs}, {text} {ours} that was passed; both open one driver").into())
}
