//! The Python module: one kernel for NumPy arrays and for device arrays of any library, and arrays of its own.
//!
//! # Safety
//!
//! The blocks take over device memory that Python's objects describe and keep, as the CUDA Array Interface and DLPack have it, and hand
//! DLPack structures over in capsules. That such an object tells the truth is its library's promise.
//!
//! Python's lock is released wherever the device is waited for or a kernel is compiled: a stream may have to call a function of
//! Python's before it goes on.

mod argument;
mod array;
mod dlpack;

use cuda_prelude::*;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use argument::Argument;
use array::Array;

/// Adds `a` times `x` to `y`.
#[kernel]
fn add_scaled(a: f32, x: &[f32], y: &mut [f32]) {
    let i = grid::<1>();
    if i < y.len() {
        y[i] += a * x[i];
    }
}

/// An error as Python's.
fn failed(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Adds `a` times `x` to `y`, in place.
///
/// Both are arrays of float32 in host memory, which are copied, or device arrays of any library that has the CUDA Array Interface or
/// DLPack.
#[pyfunction]
fn saxpy(py: Python<'_>, a: f32, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<()> {
    let (x, mut y) = (Argument::read(x)?, Argument::written(y)?);
    if x.view().shape() != y.shape() {
        return Err(failed(format!(
            "x has the shape {:?}, and y {:?}; they have to be the same",
            x.view().shape(),
            y.shape()
        )));
    }
    if x.overlaps(&y) {
        return Err(failed("x and y share memory; copy one of them"));
    }
    let (x, threads) = (x, y.shape().iter().product::<usize>());
    let finished = py.detach(move || {
        if threads != 0 {
            add_scaled::launch((threads.div_ceil(128), 128), a, &x.view(), y.array_mut())?;
        }
        // The ends of the arguments wait for the kernel.
        y.finish()
    });
    finished.map_err(failed)?.write_back(py)
}

/// The device that kernels run on.
#[pyfunction]
fn device() -> PyResult<String> {
    Ok(current_device().map_err(failed)?.to_string())
}

/// Kernels in Rust.
#[pymodule]
fn cuda_example(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(saxpy, module)?)?;
    module.add_function(wrap_pyfunction!(device, module)?)?;
    module.add_class::<Array>()
}
