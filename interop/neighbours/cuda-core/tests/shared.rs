//! Buffers and streams of both sides. `libcuda.so.1` and `CUDA_DRIVER_PATH` are the same library.

use cuda_core::{Context, DeviceBuffer};
use cuda_example_core::{Result, export_buffer, import_buffer, import_stream};
use cuda_prelude::*;

#[kernel]
fn add_arrays(x: &[f32], y: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i] + y[i];
    }
}

#[test]
fn a_kernel_adds_buffers_of_both_sides() -> Result<()> {
    let (context, theirs) = (current_context()?, Context::new(0)?);
    let stream = theirs.new_stream()?;
    let x = import_buffer(&context, DeviceBuffer::from_host(&stream, &[1.0_f32, 2.0, 3.0])?)?;
    let y = from_slice(&[10.0_f32, 20.0, 30.0])?;
    let mut out = import_buffer(&context, DeviceBuffer::zeroed(&stream, 3)?)?;
    add_arrays::launch((1, 32, &import_stream(&context, &stream)?), &x, &y, &mut out)?;
    assert_eq!(export_buffer(out)?.to_host_vec(&stream)?, [11.0, 22.0, 33.0]);
    assert_eq!(export_buffer(x)?.to_host_vec(&stream)?, [1.0, 2.0, 3.0]);
    Ok(())
}

#[test]
fn a_buffer_comes_back_as_itself() -> Result<()> {
    let (context, theirs) = (current_context()?, Context::new(0)?);
    let buffer = DeviceBuffer::from_host(&theirs.default_stream(), &[1, 2, 3, 4])?;
    let address = buffer.cu_deviceptr();
    let x = import_buffer(&context, buffer)?.into_shape((2, 2))?;
    assert_eq!(x.copy_to_host()?, ndarray::array![[1, 2], [3, 4]]);
    assert_eq!(export_buffer(x)?.cu_deviceptr(), address);
    Ok(())
}

#[test]
fn what_is_no_buffer_is_refused() -> Result<()> {
    let error = export_buffer(from_slice(&[1.0_f32])?).err().expect("it is an array's own memory");
    assert_eq!(error.to_string(), "the array's memory is no `DeviceBuffer<f32>` of cuda-core");
    Ok(())
}

/// With `CUDA_SIM_DEVICES=2`, as `cargo xtask neighbours` sets it.
#[test]
fn another_device_is_refused() -> Result<()> {
    // The first context before the second one, which cuda-core makes the thread's current one.
    let (first, second) = (current_context()?, Context::new(1)?);
    let error = import_stream(&first, &second.default_stream()).err().expect("it is another context");
    let text = "cuda-core's context, of device 1, is not the context of device 0 that was passed; both open one driver";
    assert_eq!(error.to_string(), text);
    Ok(())
}
