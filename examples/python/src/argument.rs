//! [`Argument`]: an array that Python passed, on the device.
//!
//! # Safety
//!
//! See the crate.

use cuda_mem::ffi::{DL_CUDA, DL_CUDA_HOST, DL_CUDA_MANAGED};
use cuda_mem::{CudaArrayInterface, ReadOnly};
use cuda_prelude::*;
use ndarray::{ArrayD, IxDyn};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dlpack::{HostTensor, Taken};
use crate::failed;

/// An array of float32 that Python passed: a kernel reads it, or writes it.
pub(crate) struct Argument<A> {
    array: A,
    /// The host's array that the elements were copied from, and go back to.
    host: Option<Host>,
}

/// Elements on the device that a kernel reads.
pub(crate) enum Read {
    /// A copy of the host's elements.
    Copied(DeviceArray<f32, IxDyn>),
    /// Another library's array, which that may have declared read-only.
    Theirs(DeviceArray<f32, IxDyn, ReadOnly>),
}

/// Elements on the device that a kernel writes.
pub(crate) type Written = DeviceArray<f32, IxDyn>;

/// An array in host memory.
enum Host {
    Buffer(PyBuffer<f32>),
    Dlpack(HostTensor),
}

/// An array on the device, as another library describes it.
enum Foreign {
    /// By the CUDA Array Interface, with the object that owns the memory.
    Interface(CudaArrayInterface, Py<PyAny>),
    Dlpack(Taken),
}

impl Foreign {
    /// The object's array; `None` if the object has none on the device.
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if let Ok(interface) = object.getattr("__cuda_array_interface__") {
            return Ok(Some(Foreign::Interface(described(&interface)?, object.clone().unbind())));
        }
        if is_on_device(object)? {
            return Ok(Some(Foreign::Dlpack(Taken::of(object, Some(LEGACY_STREAM))?)));
        }
        Ok(None)
    }

    /// The array for reading, which its library may have declared read-only.
    fn read_only(self, py: Python<'_>) -> PyResult<DeviceArray<f32, IxDyn, ReadOnly>> {
        let context = current_context().map_err(failed)?;
        let array = match self {
            // Waits for the stream that the interface names.
            Foreign::Interface(described, owner) => py.detach(|| {
                // SAFETY: the object's library says where the memory is, and keeps it with the object.
                unsafe { DeviceArray::from_cuda_array_interface_read_only(&context, &described, owner) }
            }),
            // SAFETY: the object's library says where the memory is, and keeps it until the deleter is called.
            Foreign::Dlpack(Taken::Versioned(shared)) => unsafe { DeviceArray::from_dlpack_read_only(&context, shared) },
            // SAFETY: as above.
            Foreign::Dlpack(Taken::Unversioned(shared)) => unsafe {
                DeviceArray::from_dlpack_read_only(&context, shared)
            },
        };
        array.map_err(failed)
    }

    /// The array for writing; an error if its library has declared it read-only.
    fn writable(self, py: Python<'_>) -> PyResult<Written> {
        let context = current_context().map_err(failed)?;
        let array = match self {
            Foreign::Interface(described, owner) => py.detach(|| {
                // SAFETY: the object's library says where the memory is, and keeps it with the object.
                unsafe { DeviceArray::from_cuda_array_interface(&context, &described, owner) }
            }),
            // SAFETY: the object's library says where the memory is, and keeps it until the deleter is called.
            Foreign::Dlpack(Taken::Versioned(shared)) => unsafe { DeviceArray::from_dlpack(&context, shared) },
            // SAFETY: as above.
            Foreign::Dlpack(Taken::Unversioned(shared)) => unsafe { DeviceArray::from_dlpack(&context, shared) },
        };
        array.map_err(failed)
    }
}

impl Argument<Read> {
    /// The object's array, to be read: where it lies if that is on the device, else a copy.
    pub(crate) fn read(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let array = match Foreign::of(object)? {
            Some(foreign) => Read::Theirs(foreign.read_only(object.py())?),
            None => Read::Copied(copied(object, false)?.1),
        };
        Ok(Argument { array, host: None })
    }

    pub(crate) fn view(&self) -> DeviceArrayView<'_, f32, IxDyn> {
        match &self.array {
            Read::Copied(array) => array.view(),
            Read::Theirs(array) => array.view(),
        }
    }

    /// Returns true if an element lies in both. A kernel's arguments do not share what one of them writes.
    pub(crate) fn overlaps(&self, other: &Argument<Written>) -> bool {
        let (own, others) = (bytes(&self.view()), bytes(&other.array.view()));
        own.start.max(others.start) < own.end.min(others.end)
    }
}

impl Argument<Written> {
    /// The object's array, to be written: where it lies if that is on the device, else a copy that comes back.
    pub(crate) fn written(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Some(foreign) = Foreign::of(object)? {
            return Ok(Argument { array: foreign.writable(object.py())?, host: None });
        }
        let (host, array) = copied(object, true)?;
        Ok(Argument { array, host: Some(host) })
    }

    pub(crate) fn shape(&self) -> &[usize] {
        self.array.shape()
    }

    pub(crate) fn array_mut(&mut self) -> &mut Written {
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
pub(crate) struct Finished(Option<(Host, ArrayD<f32>)>);

impl Finished {
    /// Copies them there.
    pub(crate) fn write_back(self, py: Python<'_>) -> PyResult<()> {
        match self.0 {
            None => Ok(()),
            Some((Host::Buffer(buffer), elements)) => {
                buffer.copy_from_slice(py, elements.as_slice().expect("it was just made in C order"))
            }
            Some((Host::Dlpack(mut tensor), elements)) => {
                tensor.assign(&elements);
                Ok(())
            }
        }
    }
}

/// The stream on which DLPack hands arrays over: the legacy default one.
const LEGACY_STREAM: i64 = 1;

/// The addresses of an array's elements. Of other layouts than C order the kernel takes none.
fn bytes(array: &DeviceArrayView<'_, f32, IxDyn>) -> std::ops::Range<u64> {
    let start = array.device_ptr();
    start..start + if array.is_c_contiguous() { 4 * array.len() as u64 } else { 0 }
}

/// The array of the host's, and a copy of it on the device.
fn copied(object: &Bound<'_, PyAny>, written: bool) -> PyResult<(Host, Written)> {
    let (host, elements) = if let Ok(buffer) = PyBuffer::<f32>::get(object) {
        if written && buffer.readonly() {
            return Err(PyTypeError::new_err("the array is written, and cannot be: it is read-only"));
        }
        let elements = ArrayD::from_shape_vec(buffer.shape().to_vec(), buffer.to_vec(object.py())?).map_err(failed)?;
        (Host::Buffer(buffer), elements)
    } else if object.hasattr("__dlpack__")? {
        let tensor = HostTensor::new(object, written)?;
        let elements = tensor.to_array();
        (Host::Dlpack(tensor), elements)
    } else {
        let of = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "{of} is neither an array of float32 in host memory nor a device array"
        )));
    };
    let array = object.py().detach(|| to_device(&elements)).map_err(failed)?;
    Ok((host, array))
}

/// The array that the CUDA Array Interface describes.
fn described(interface: &Bound<'_, PyAny>) -> PyResult<CudaArrayInterface> {
    let interface = interface.cast::<PyDict>()?;
    let get = |name: &str| interface.get_item(name).map(|item| item.filter(|item| !item.is_none()));
    let need =
        |name: &str| get(name)?.ok_or_else(|| PyTypeError::new_err(format!("the array interface has no `{name}`")));
    Ok(CudaArrayInterface {
        shape: need("shape")?.extract()?,
        typestr: need("typestr")?.extract()?,
        data: need("data")?.extract()?,
        strides: get("strides")?.map(|strides| strides.extract()).transpose()?,
        version: need("version")?.extract()?,
        stream: get("stream")?.map(|stream| stream.extract()).transpose()?,
        masked: get("mask")?.is_some(),
    })
}

/// Returns true if `__dlpack__` would give memory of a CUDA device.
fn is_on_device(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !object.hasattr("__dlpack__")? {
        return Ok(false);
    }
    let (kind, _): (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
    Ok([DL_CUDA, DL_CUDA_HOST, DL_CUDA_MANAGED].contains(&kind))
}
