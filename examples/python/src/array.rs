//! [`Array`]: a device array as an object of Python's, which other libraries take where it lies.
//!
//! # Safety
//!
//! See the crate.

use std::ffi::c_void;

use cuda_mem::ffi::{DL_CUDA, DLManagedTensor};
use cuda_prelude::*;
use ndarray::{ArrayD, IxDyn};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyNotImplementedError};
use pyo3::ffi::{PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::failed;

/// An array of float32 on the device.
#[pyclass]
pub(crate) struct Array(DeviceArray<f32, IxDyn>);

#[pymethods]
impl Array {
    /// Copies a NumPy array to the device.
    #[new]
    fn new(py: Python<'_>, host: PyBuffer<f32>) -> PyResult<Self> {
        let host = ArrayD::from_shape_vec(host.shape().to_vec(), host.to_vec(py)?).map_err(failed)?;
        Ok(Array(py.detach(|| to_device(&host)).map_err(failed)?))
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.shape())
    }

    /// Copies the elements to an array of NumPy's.
    fn copy_to_host<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let elements = py.detach(|| self.0.copy_to_host()).map_err(failed)?;
        let host = py.import("numpy")?.call_method1("empty", (self.shape(py)?, "float32"))?;
        PyBuffer::<f32>::get(&host)?.copy_from_slice(py, elements.as_slice().expect("it was just made in C order"))?;
        Ok(host)
    }

    /// The CUDA Array Interface: Numba, CuPy and PyTorch take the array by it. It may be used on the default stream.
    #[getter]
    fn __cuda_array_interface__<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stream = default_stream().map_err(failed)?;
        let described = self.0.cuda_array_interface_mut(&stream).map_err(failed)?;
        let interface = PyDict::new(py);
        interface.set_item("shape", PyTuple::new(py, described.shape)?)?;
        interface.set_item("typestr", described.typestr)?;
        interface.set_item("data", described.data)?;
        interface.set_item("strides", described.strides.map(|strides| PyTuple::new(py, strides)).transpose()?)?;
        interface.set_item("version", described.version)?;
        interface.set_item("stream", described.stream)?;
        Ok(interface)
    }

    /// The device of the array, for DLPack.
    fn __dlpack_device__(&self) -> (i32, usize) {
        (DL_CUDA, self.0.context().device().ordinal())
    }

    /// The array in a capsule, for use on the legacy default stream. The object lives as long as what is made of it.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        slf: Bound<'py, Self>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, usize)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Every version's consumer takes the structure without one.
        let _ = max_version;
        if copy == Some(true) {
            return Err(PyBufferError::new_err("the array is shared where it lies; `copy_to_host` copies it"));
        }
        if dl_device.is_some_and(|device| device != slf.borrow().__dlpack_device__()) {
            return Err(PyBufferError::new_err("the array is shared on its own device alone"));
        }
        if stream.is_some_and(|stream| stream != 1) {
            return Err(PyNotImplementedError::new_err("the array is shared on the legacy default stream, 1, alone"));
        }
        let py = slf.py();
        let mut array = slf.try_borrow_mut()?;
        let array = &mut array.0;
        let stream = legacy_default_stream().map_err(failed)?;
        array.prepare_write(&stream).map_err(failed)?;
        let (context, first, shape) = (array.context().clone(), array.device_ptr(), array.raw_dim());
        let strides = array.strides().to_vec();
        // SAFETY: the object keeps the memory; what comes on the stream comes after its uses, which have just been ordered.
        let alias = unsafe { DeviceArray::from_raw_parts(&context, first, shape, &strides, slf.clone().unbind()) };
        let shared = alias.and_then(|alias: DeviceArray<f32, IxDyn>| alias.into_dlpack::<DLManagedTensor>(&stream));
        let raw = shared.map_err(failed)?.into_raw();
        // SAFETY: the structure is live until its deleter is called, by whoever takes it from the capsule or by the capsule.
        let capsule = unsafe { PyCapsule_New(raw.cast::<c_void>(), c"dltensor".as_ptr(), Some(release)) };
        // SAFETY: it is a new object, or null with an error set.
        unsafe { Bound::from_owned_ptr_or_err(py, capsule) }
    }
}

/// Ends the structure of a capsule that nobody has taken.
///
/// # Safety
///
/// The object is a capsule of [`Array::__dlpack__`], which ends.
unsafe extern "C" fn release(capsule: *mut PyObject) {
    // SAFETY: the capsule is live; one whose structure was taken has another name.
    if unsafe { PyCapsule_IsValid(capsule, c"dltensor".as_ptr()) } != 0 {
        // SAFETY: as above.
        let raw = unsafe { PyCapsule_GetPointer(capsule, c"dltensor".as_ptr()) }.cast::<DLManagedTensor>();
        // SAFETY: the structure is the capsule's alone.
        drop(unsafe { cuda_mem::Dlpack::from_raw(raw) });
    }
}
