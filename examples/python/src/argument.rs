//! [`Argument`]: an array that Python passed, on the device.
//!
//! # Safety
//!
//! See the crate.

use cuda_mem::ffi::DLManagedTensor;
use cuda_mem::{CudaArrayInterface, Dlpack};
use cuda_prelude::*;
use ndarray::{ArrayD, IxDyn};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi::{PyCapsule_GetPointer, PyCapsule_SetName};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failed;

/// An array of float32 that Python passed.
pub(crate) struct Argument {
    array: DeviceArray<f32, IxDyn>,
    /// The host's array that the elements were copied from, and go back to.
    host: Option<PyBuffer<f32>>,
}

impl Argument {
    /// The object's array: where it lies if that is on the device, else a copy. `written` says whether the kernel writes it.
    pub(crate) fn new(object: &Bound<'_, PyAny>, written: bool) -> PyResult<Self> {
        if let Ok(interface) = object.getattr("__cuda_array_interface__") {
            return Ok(Argument { array: by_interface(object, &interface)?, host: None });
        }
        if object.hasattr("__dlpack__")? && is_on_device(object)? {
            return Ok(Argument { array: by_dlpack(object)?, host: None });
        }
        let Ok(buffer) = PyBuffer::<f32>::get(object) else {
            return Err(PyTypeError::new_err(format!(
                "{} is neither a NumPy array of float32 nor a device array",
                object.get_type().name()?
            )));
        };
        if written && buffer.readonly() {
            return Err(PyTypeError::new_err("the array is written, and cannot be: it is read-only"));
        }
        let elements = buffer.to_vec(object.py())?;
        let host = ArrayD::from_shape_vec(buffer.shape().to_vec(), elements).map_err(failed)?;
        let array = object.py().detach(|| to_device(&host)).map_err(failed)?;
        Ok(Argument { array, host: written.then_some(buffer) })
    }

    pub(crate) fn shape(&self) -> &[usize] {
        self.array.shape()
    }

    /// Returns true if an element lies in both. A kernel's arguments do not share what one of them writes.
    pub(crate) fn overlaps(&self, other: &Argument) -> bool {
        let bytes = |it: &Argument| {
            let start = it.array.device_ptr();
            // Of other layouts the kernel takes none.
            start..start + if it.array.is_c_contiguous() { 4 * it.array.len() as u64 } else { 0 }
        };
        let (own, others) = (bytes(self), bytes(other));
        own.start.max(others.start) < own.end.min(others.end)
    }

    pub(crate) fn array(&self) -> &DeviceArray<f32, IxDyn> {
        &self.array
    }

    pub(crate) fn array_mut(&mut self) -> &mut DeviceArray<f32, IxDyn> {
        &mut self.array
    }

    /// Waits for the kernel, so that the array's library may use it on any stream, and fetches the elements for the host's array
    /// that they came from. Needs no lock of Python's.
    pub(crate) fn finish(self) -> Result<Finished> {
        let elements = self.host.is_some().then(|| self.array.copy_to_host()).transpose()?;
        drop(self.array);
        Ok(Finished(self.host.zip(elements)))
    }
}

/// The elements that go back to an array of the host's, if there are some.
pub(crate) struct Finished(Option<(PyBuffer<f32>, ArrayD<f32>)>);

impl Finished {
    /// Copies them there.
    pub(crate) fn write_back(self, py: Python<'_>) -> PyResult<()> {
        let Some((buffer, elements)) = self.0 else { return Ok(()) };
        buffer.copy_from_slice(py, elements.as_slice().expect("it was just made in C order"))
    }
}

/// The array that the CUDA Array Interface describes. The object is kept as long.
fn by_interface(object: &Bound<'_, PyAny>, interface: &Bound<'_, PyAny>) -> PyResult<DeviceArray<f32, IxDyn>> {
    let interface = interface.cast::<PyDict>()?;
    let get = |name: &str| interface.get_item(name).map(|item| item.filter(|item| !item.is_none()));
    let need =
        |name: &str| get(name)?.ok_or_else(|| PyTypeError::new_err(format!("the array interface has no `{name}`")));
    let described = CudaArrayInterface {
        shape: need("shape")?.extract()?,
        typestr: need("typestr")?.extract()?,
        data: need("data")?.extract()?,
        strides: get("strides")?.map(|strides| strides.extract()).transpose()?,
        version: need("version")?.extract()?,
        stream: get("stream")?.map(|stream| stream.extract()).transpose()?,
        masked: get("mask")?.is_some(),
    };
    let context = current_context().map_err(failed)?;
    let owner = object.clone().unbind();
    // Waits for the stream that the interface names.
    // SAFETY: the object's library says where the memory is, and keeps it with the object.
    let array = object.py().detach(|| unsafe { DeviceArray::from_cuda_array_interface(&context, &described, owner) });
    array.map_err(failed)
}

/// Returns true if `__dlpack__` would give memory of a CUDA device.
fn is_on_device(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (kind, _): (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
    Ok([cuda_mem::ffi::DL_CUDA, cuda_mem::ffi::DL_CUDA_HOST, cuda_mem::ffi::DL_CUDA_MANAGED].contains(&kind))
}

/// The array in the capsule that `__dlpack__` makes, for use on the legacy default stream.
fn by_dlpack(object: &Bound<'_, PyAny>) -> PyResult<DeviceArray<f32, IxDyn>> {
    let options = PyDict::new(object.py());
    options.set_item("stream", 1)?;
    let capsule = object.call_method("__dlpack__", (), Some(&options))?;
    // SAFETY: the capsule is live; for another name the result is null and an error is set.
    let raw = unsafe { PyCapsule_GetPointer(capsule.as_ptr(), c"dltensor".as_ptr()) };
    if raw.is_null() {
        return Err(PyErr::fetch(object.py()));
    }
    // SAFETY: the capsule is live, and the name is static. By it the capsule knows that its structure is somebody's.
    unsafe { PyCapsule_SetName(capsule.as_ptr(), c"used_dltensor".as_ptr()) };
    // SAFETY: the protocol's capsule of that name holds such a structure, and hands it over.
    let shared = unsafe { Dlpack::from_raw(raw.cast::<DLManagedTensor>()) };
    let context = current_context().map_err(failed)?;
    // SAFETY: the object's library says where the memory is, and keeps it until the deleter is called.
    unsafe { DeviceArray::from_dlpack(&context, shared) }.map_err(failed)
}
