//! DLPack's structures in Python's capsules: taken from objects, with and without a version, and arrays of the host among them.
//!
//! # Safety
//!
//! See the crate. The blocks that read and write an array of the host rely on the structure's own description of its memory.

use cuda_mem::ffi::{DL_FLAG_READ_ONLY, DLDataType, DLManagedTensor, DLManagedTensorVersioned, DLTensor};
use cuda_mem::{Dlpack, ManagedTensor};
use ndarray::{ArrayD, ArrayView, ArrayViewMut, IxDyn, ShapeBuilder as _};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi::{PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_SetName};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// DLPack's number for memory of the host.
const CPU: i32 = 1;

/// The type of the elements: a float of 32 bits.
const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };

/// A structure that an object has handed over.
pub(crate) enum Taken {
    /// One that says whether the memory is read-only.
    Versioned(Dlpack<DLManagedTensorVersioned>),
    /// One from before DLPack 1.0.
    Unversioned(Dlpack<DLManagedTensor>),
}

impl Taken {
    /// The structure that `__dlpack__` makes, for use on that stream of the device; `None` for an array of the host.
    pub(crate) fn of(object: &Bound<'_, PyAny>, stream: Option<i64>) -> PyResult<Self> {
        let options = PyDict::new(object.py());
        if let Some(stream) = stream {
            options.set_item("stream", stream)?;
        }
        let old = options.copy()?;
        options.set_item("max_version", (1, 0))?;
        let made = object.call_method("__dlpack__", (), Some(&options));
        // Libraries from before DLPack 1.0 do not know the argument.
        let capsule = match made {
            Err(error) if error.is_instance_of::<PyTypeError>(object.py()) => {
                object.call_method("__dlpack__", (), Some(&old))?
            }
            made => made?,
        };
        // SAFETY: the capsule is live, and the name is static.
        if unsafe { PyCapsule_IsValid(capsule.as_ptr(), c"dltensor_versioned".as_ptr()) } != 0 {
            return Ok(Taken::Versioned(taken(&capsule, c"dltensor_versioned", c"used_dltensor_versioned")?));
        }
        Ok(Taken::Unversioned(taken(&capsule, c"dltensor", c"used_dltensor")?))
    }

    fn tensor(&self) -> &DLTensor {
        match self {
            Taken::Versioned(shared) => &shared.get().dl_tensor,
            Taken::Unversioned(shared) => &shared.get().dl_tensor,
        }
    }

    fn is_read_only(&self) -> bool {
        matches!(self, Taken::Versioned(shared) if shared.get().flags & DL_FLAG_READ_ONLY != 0)
    }
}

/// Takes the structure from a capsule of that name, which then knows that the structure is somebody's.
fn taken<M: ManagedTensor>(
    capsule: &Bound<'_, PyAny>,
    name: &'static std::ffi::CStr,
    used: &'static std::ffi::CStr,
) -> PyResult<Dlpack<M>> {
    // SAFETY: the object is live; for another one, or another name, the result is null and an error is set.
    let raw = unsafe { PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr()) };
    if raw.is_null() {
        return Err(PyErr::fetch(capsule.py()));
    }
    // SAFETY: the capsule is live, and the name is static.
    unsafe { PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) };
    // SAFETY: the protocol's capsule of that name holds such a structure, and hands it over.
    Ok(unsafe { Dlpack::from_raw(raw.cast::<M>()) })
}

/// An array of float32 in host memory, which another library keeps until this is dropped.
pub(crate) struct HostTensor(Taken);

impl HostTensor {
    /// The host's array of an object. `written` says whether elements will be written.
    pub(crate) fn new(object: &Bound<'_, PyAny>, written: bool) -> PyResult<Self> {
        let taken = Taken::of(object, None)?;
        let tensor = taken.tensor();
        if matches!(&taken, Taken::Versioned(shared) if shared.get().version.major != 1) {
            return Err(PyValueError::new_err("only version 1 of DLPack is supported"));
        }
        if tensor.device.device_type != CPU || tensor.dtype != F32 {
            return Err(PyTypeError::new_err("the array is not one of float32 in host memory"));
        }
        if written && taken.is_read_only() {
            return Err(PyTypeError::new_err("the array is written, and cannot be: it is read-only"));
        }
        if extents(tensor.strides, tensor).is_some_and(|strides| strides.iter().any(|stride| *stride < 0)) {
            return Err(PyTypeError::new_err("the array has negative strides; copy it first"));
        }
        Ok(HostTensor(taken))
    }

    /// A copy of the elements, in C order.
    pub(crate) fn to_array(&self) -> ArrayD<f32> {
        let (shape, strides, first) = self.layout();
        let mut elements = ArrayD::zeros(shape.clone());
        if !shape.contains(&0) {
            let layout = IxDyn(&shape).strides(IxDyn(&strides));
            // SAFETY: the structure describes live memory of this shape and these strides.
            elements.assign(&unsafe { ArrayView::<f32, IxDyn>::from_shape_ptr(layout, first) });
        }
        elements
    }

    /// Writes all elements, which have the array's shape.
    pub(crate) fn assign(&mut self, elements: &ArrayD<f32>) {
        let (shape, strides, first) = self.layout();
        if !shape.contains(&0) {
            let layout = IxDyn(&shape).strides(IxDyn(&strides));
            // SAFETY: the structure describes live memory of this shape and these strides. It may be written, which `new` has
            // asked, and no view of it is left; Python's lock is held.
            unsafe { ArrayViewMut::<f32, IxDyn>::from_shape_ptr(layout, first) }.assign(elements);
        }
    }

    /// The shape, the strides in elements, and the address of the first element.
    fn layout(&self) -> (Vec<usize>, Vec<usize>, *mut f32) {
        let tensor = self.0.tensor();
        let numbers = |values: &[i64]| values.iter().map(|value| *value as usize).collect::<Vec<_>>();
        let shape = numbers(extents(tensor.shape, tensor).unwrap_or_default());
        // Null stands for C order.
        let strides = extents(tensor.strides, tensor)
            .map_or_else(|| (1..=shape.len()).map(|axis| shape[axis..].iter().product()).collect(), numbers);
        (shape, strides, tensor.data.wrapping_byte_add(tensor.byte_offset as usize).cast())
    }
}

/// One number for each axis, unless the pointer is null.
fn extents(pointer: *const i64, tensor: &DLTensor) -> Option<&[i64]> {
    // SAFETY: a structure has as many extents, and strides if there are some, as axes, for as long as it lives.
    (!pointer.is_null()).then(|| unsafe { std::slice::from_raw_parts(pointer, tensor.ndim.max(0) as usize) })
}
