//! [DLPack](https://dmlc.github.io/dlpack/latest/): arrays as the C structures that libraries exchange.
//!
//! A structure has a deleter, which its last owner calls once; [`Dlpack`] is that owner.
//!
//! # Safety
//!
//! A [`Dlpack`] owns its structure, which is live and well-formed, as the code that passed it in guarantees. An
//! exported array is a box whose first field is the structure, so that the deleter finds the box by the structure's
//! address.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use cuda_driver::{Context, Stream};
use ndarray::Dimension;

use crate::Exchanged;
use crate::array::DeviceArray;
use crate::array::storage::{ReadOnly, Storage};
use crate::error::Result;
use crate::share::exchange::{ExchangeError, lanes_of};
use crate::share::interface::{c_strides, dimension};

/// DLPack's C structures, field by field.
pub mod ffi {
    use std::ffi::c_void;

    /// Memory of a CUDA device.
    pub const DL_CUDA: i32 = 2;
    /// Page-locked host memory.
    pub const DL_CUDA_HOST: i32 = 3;
    /// Managed memory.
    pub const DL_CUDA_MANAGED: i32 = 13;
    /// The flag of memory that may only be read.
    pub const DL_FLAG_READ_ONLY: u64 = 1;

    /// The device of an array.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DLDevice {
        /// The kind of memory.
        pub device_type: i32,
        /// The device's number.
        pub device_id: i32,
    }

    /// The type of an element.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DLDataType {
        /// The kind of number.
        pub code: u8,
        /// Bits of each number.
        pub bits: u8,
        /// The number of numbers in an element.
        pub lanes: u16,
    }

    /// An array.
    #[repr(C)]
    #[derive(Debug)]
    pub struct DLTensor {
        /// The address of the memory.
        pub data: *mut c_void,
        /// The device of the memory.
        pub device: DLDevice,
        /// The number of axes.
        pub ndim: i32,
        /// The type of its elements.
        pub dtype: DLDataType,
        /// The extent of each axis.
        pub shape: *mut i64,
        /// The stride of each axis in elements; null for C order without gaps.
        pub strides: *mut i64,
        /// The offset of the first element from `data`, in bytes.
        pub byte_offset: u64,
    }

    /// An array and its owner.
    #[repr(C)]
    #[derive(Debug)]
    pub struct DLManagedTensor {
        /// The array.
        pub dl_tensor: DLTensor,
        /// A pointer for the producer's use.
        pub manager_ctx: *mut c_void,
        /// Releases the array; null for nothing to do.
        pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
    }

    /// The protocol's version.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DLPackVersion {
        /// The major version: changes with the structures' layout.
        pub major: u32,
        /// The minor version: changes with additions.
        pub minor: u32,
    }

    /// An array, its owner, and the protocol's version.
    #[repr(C)]
    #[derive(Debug)]
    pub struct DLManagedTensorVersioned {
        /// The version of this structure.
        pub version: DLPackVersion,
        /// A pointer for the producer's use.
        pub manager_ctx: *mut c_void,
        /// Releases the array; null for nothing to do.
        pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
        /// Flags, such as [`DL_FLAG_READ_ONLY`].
        pub flags: u64,
        /// The array.
        pub dl_tensor: DLTensor,
    }
}

use ffi::{
    DL_CUDA, DL_CUDA_HOST, DL_CUDA_MANAGED, DL_FLAG_READ_ONLY, DLDataType, DLDevice, DLManagedTensor,
    DLManagedTensorVersioned, DLPackVersion, DLTensor,
};

type Deleter<M> = Option<unsafe extern "C" fn(*mut M)>;

/// One of DLPack's two structures: [`ffi::DLManagedTensor`] and [`ffi::DLManagedTensorVersioned`].
///
/// # Examples
///
/// ```
/// use cuda_mem::ffi::{DLManagedTensor, DLManagedTensorVersioned};
/// use cuda_mem::{Dlpack, ManagedTensor};
///
/// fn size<M: ManagedTensor>(_: &Dlpack<M>) -> usize {
///     size_of::<M>()
/// }
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let stream = context.default_stream();
/// let old: Dlpack<DLManagedTensor> = cuda_mem::from_slice(&context, &[1, 2])?.into_dlpack(&stream)?;
/// let new: Dlpack<DLManagedTensorVersioned> = cuda_mem::from_slice(&context, &[1, 2])?.into_dlpack(&stream)?;
/// assert!(size(&old) < size(&new));
/// # Ok(())
/// # }
/// ```
pub trait ManagedTensor: sealed::Sealed + Sized + 'static {
    #[doc(hidden)]
    fn new(tensor: DLTensor, flags: u64, deleter: unsafe extern "C" fn(*mut Self)) -> Self;
    #[doc(hidden)]
    fn tensor(&self) -> &DLTensor;
    #[doc(hidden)]
    fn deleter(&self) -> Deleter<Self>;
    #[doc(hidden)]
    fn is_read_only(&self) -> bool;
    #[doc(hidden)]
    fn version(&self) -> u32;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::DLManagedTensor {}
    impl Sealed for super::DLManagedTensorVersioned {}
}

impl ManagedTensor for DLManagedTensor {
    fn new(dl_tensor: DLTensor, _flags: u64, deleter: unsafe extern "C" fn(*mut Self)) -> Self {
        DLManagedTensor { dl_tensor, manager_ctx: std::ptr::null_mut(), deleter: Some(deleter) }
    }

    fn tensor(&self) -> &DLTensor {
        &self.dl_tensor
    }

    fn deleter(&self) -> Deleter<Self> {
        self.deleter
    }

    fn is_read_only(&self) -> bool {
        false
    }

    fn version(&self) -> u32 {
        1
    }
}

impl ManagedTensor for DLManagedTensorVersioned {
    fn new(dl_tensor: DLTensor, flags: u64, deleter: unsafe extern "C" fn(*mut Self)) -> Self {
        let version = DLPackVersion { major: 1, minor: 0 };
        let (manager_ctx, deleter) = (std::ptr::null_mut(), Some(deleter));
        DLManagedTensorVersioned { version, manager_ctx, deleter, flags, dl_tensor }
    }

    fn tensor(&self) -> &DLTensor {
        &self.dl_tensor
    }

    fn deleter(&self) -> Deleter<Self> {
        self.deleter
    }

    fn is_read_only(&self) -> bool {
        self.flags & DL_FLAG_READ_ONLY != 0
    }

    fn version(&self) -> u32 {
        self.version.major
    }
}

/// An owned DLPack structure, whose deleter is called by the drop.
///
/// # Examples
///
/// ```
/// use cuda_mem::{DeviceArray, Dlpack, ffi::DLManagedTensorVersioned};
/// use ndarray::Ix2;
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let x = cuda_mem::to_device(&context, &ndarray::array![[1.0_f32, 2.0], [3.0, 4.0]])?;
/// let shared: Dlpack<DLManagedTensorVersioned> = x.reversed_axes().into_dlpack(&context.default_stream())?;
/// let raw = shared.into_raw(); // for another library
///
/// // SAFETY: the structure was made above, and nothing else has it.
/// let shared = unsafe { Dlpack::from_raw(raw) };
/// // SAFETY: the array was exported whole, and is used in no other way.
/// let y = unsafe { DeviceArray::<f32, Ix2>::from_dlpack(&context, shared) }?;
/// assert_eq!(y.copy_to_host()?, ndarray::array![[1.0, 3.0], [2.0, 4.0]]);
/// # Ok(())
/// # }
/// ```
pub struct Dlpack<M: ManagedTensor>(NonNull<M>);

// SAFETY: the structure is plain data, and DLPack lets any thread call the deleter.
unsafe impl<M: ManagedTensor> Send for Dlpack<M> {}
// SAFETY: the structure is plain data, and a shared borrow only reads it.
unsafe impl<M: ManagedTensor> Sync for Dlpack<M> {}

impl<M: ManagedTensor> Dlpack<M> {
    /// Takes ownership of a structure.
    ///
    /// # Panics
    ///
    /// If the pointer is null.
    ///
    /// # Safety
    ///
    /// The structure is live and well-formed until its deleter is called, which nothing else does.
    #[must_use]
    pub unsafe fn from_raw(raw: *mut M) -> Self {
        Dlpack(NonNull::new(raw).expect("a DLPack structure is not null"))
    }

    /// Releases the structure; its new owner calls its deleter.
    #[must_use]
    pub fn into_raw(self) -> *mut M {
        let raw = self.0.as_ptr();
        std::mem::forget(self);
        raw
    }

    /// The structure.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_mem::ffi::DLManagedTensor;
    /// use cuda_mem::{DeviceArray, Dlpack};
    ///
    /// let x = cuda_mem::from_slice(&context, &[1.0_f32, 2.0])?;
    /// let shared: Dlpack<DLManagedTensor> = x.into_dlpack(&context.default_stream())?;
    /// assert_eq!(shared.get().dl_tensor.ndim, 1);
    /// // SAFETY: the structure is an array's, whose memory lives until its deleter is called.
    /// let x = unsafe { DeviceArray::<f32, ndarray::Ix1>::from_dlpack(&context, shared) }?;
    /// assert_eq!(x.copy_to_host()?.to_vec(), [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn get(&self) -> &M {
        // SAFETY: the structure is live and owned by this value.
        unsafe { self.0.as_ref() }
    }
}

impl<M: ManagedTensor> Drop for Dlpack<M> {
    fn drop(&mut self) {
        if let Some(deleter) = self.get().deleter() {
            // SAFETY: the structure is owned, so that this is the only call.
            unsafe { deleter(self.0.as_ptr()) };
        }
    }
}

impl<M: ManagedTensor> fmt::Debug for Dlpack<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dlpack").field(self.get().tensor()).finish()
    }
}

/// The box of an exported array. The structure is the first field.
#[repr(C)]
struct Exported<M> {
    managed: M,
    shape: Box<[i64]>,
    strides: Box<[i64]>,
    array: Box<dyn Any + Send + Sync>,
}

/// The deleter of an exported array.
///
/// # Safety
///
/// `managed` is the first field of a boxed [`Exported`], and this is the only call.
unsafe extern "C" fn delete<M>(managed: *mut M) {
    // SAFETY: the caller keeps this function's contract.
    let exported = unsafe { Box::from_raw(managed.cast::<Exported<M>>()) };
    // A drop that panics must not unwind into another language.
    if catch_unwind(AssertUnwindSafe(|| drop(exported))).is_err() {
        tracing::error!("the drop of an exported array panicked");
    }
}

impl<T: Exchanged, D: Dimension + Send + Sync + 'static> DeviceArray<T, D> {
    /// Exports the array to another library, which accesses it on `stream` first. It is freed in the order of that
    /// stream, when the deleter is called.
    ///
    /// # Errors
    ///
    /// As [`prepare_write`](DeviceArray::prepare_write); the array is dropped.
    pub fn into_dlpack<M: ManagedTensor>(mut self, stream: &Stream) -> Result<Dlpack<M>> {
        self.prepare_write(stream)?;
        Ok(exported(self, 0))
    }

    /// Imports `shared` as an array on the context's device. The deleter is called when the array is dropped and every
    /// access has finished.
    ///
    /// # Errors
    ///
    /// [`Error::Exchange`](crate::Error::Exchange), which names the mismatch;
    /// [`Error::External`](crate::Error::External) for an impossible layout. The deleter has been called then.
    ///
    /// # Safety
    ///
    /// As for [`from_raw_parts`](DeviceArray::from_raw_parts), until the deleter is called.
    pub unsafe fn from_dlpack<M: ManagedTensor>(context: &Context, shared: Dlpack<M>) -> Result<Self> {
        if shared.get().is_read_only() {
            return Err(ExchangeError::ReadOnly.into());
        }
        let (first, dim, strides) = read::<T, D, M>(context, shared.get())?;
        // SAFETY: the caller keeps the contract of the memory, which `shared` owns.
        unsafe { DeviceArray::from_raw_parts(context, first, dim, &strides, shared) }
    }
}

impl<T: Exchanged, D: Dimension + Send + Sync + 'static> DeviceArray<T, D, ReadOnly> {
    /// Exports the array to another library, which reads it on `stream` first. Its structure says that the memory is
    /// read-only; the one without a version cannot say so.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_mem::ffi::DL_FLAG_READ_ONLY;
    /// use cuda_mem::{DeviceArray, ReadOnly};
    /// use ndarray::Ix1;
    ///
    /// let owner = cuda_mem::from_slice(&context, &[1, 2, 3])?;
    /// let first = owner.device_ptr();
    /// // SAFETY: the elements lie in the owner, which is used in no other way.
    /// let x = unsafe { DeviceArray::<i32, Ix1, ReadOnly>::from_raw_parts_read_only(&context, first, 3, &[1], owner) }?;
    /// let shared = x.into_dlpack_read_only(&context.default_stream())?;
    /// assert_eq!(shared.get().flags, DL_FLAG_READ_ONLY);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`prepare_read`](DeviceArray::prepare_read); the array is dropped.
    pub fn into_dlpack_read_only(self, stream: &Stream) -> Result<Dlpack<DLManagedTensorVersioned>> {
        self.prepare_read(stream)?;
        Ok(exported(self, DL_FLAG_READ_ONLY))
    }
}

impl<T: Exchanged, D: Dimension> DeviceArray<T, D, ReadOnly> {
    /// As [`from_dlpack`](DeviceArray::from_dlpack), of memory that is only read.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_mem::ffi::DLManagedTensorVersioned;
    /// use cuda_mem::{DeviceArray, Dlpack, ReadOnly};
    ///
    /// let x = cuda_mem::from_slice(&context, &[1, 2])?;
    /// let shared: Dlpack<DLManagedTensorVersioned> = x.into_dlpack(&context.default_stream())?;
    /// // SAFETY: the structure is an array's, whose memory lives until its deleter is called.
    /// let x = unsafe { DeviceArray::<i32, ndarray::Ix1, ReadOnly>::from_dlpack_read_only(&context, shared) }?;
    /// assert_eq!(x.copy_to_host()?.to_vec(), [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`from_dlpack`](DeviceArray::from_dlpack).
    ///
    /// # Safety
    ///
    /// As for [`from_raw_parts_read_only`](DeviceArray::from_raw_parts_read_only), until the deleter is called.
    pub unsafe fn from_dlpack_read_only<M: ManagedTensor>(context: &Context, shared: Dlpack<M>) -> Result<Self> {
        let (first, dim, strides) = read::<T, D, M>(context, shared.get())?;
        // SAFETY: the caller keeps the contract of the memory, which `shared` owns.
        unsafe { DeviceArray::from_raw_parts_read_only(context, first, dim, &strides, shared) }
    }
}

/// The structure of an array whose uses are ordered, with its flags.
fn exported<T, D, S, M>(array: DeviceArray<T, D, S>, flags: u64) -> Dlpack<M>
where
    T: Exchanged,
    D: Dimension + Send + Sync + 'static,
    S: Storage + Send + Sync + 'static,
    M: ManagedTensor,
{
    let data = if array.is_empty() { 0 } else { array.device_ptr() };
    let mut shape: Box<[i64]> = array.shape().iter().map(|extent| *extent as i64).collect();
    let mut strides: Box<[i64]> = array.strides().iter().map(|stride| *stride as i64).collect();
    let tensor = DLTensor {
        data: std::ptr::with_exposed_provenance_mut(data as usize),
        device: DLDevice { device_type: DL_CUDA, device_id: array.context().device().ordinal() as i32 },
        ndim: array.ndim() as i32,
        dtype: data_type::<T>(),
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let managed = M::new(tensor, flags, delete::<M>);
    let exported = Box::new(Exported { managed, shape, strides, array: Box::new(array) });
    // SAFETY: the box's first field is a live structure, whose deleter takes the box back.
    unsafe { Dlpack::from_raw(Box::into_raw(exported).cast::<M>()) }
}

fn data_type<T: Exchanged>() -> DLDataType {
    let (lanes, bits) = lanes_of::<T>();
    DLDataType { code: T::KIND as u8, bits, lanes }
}

/// The first element's address, the shape and the strides of a structure that fits the type and the device.
fn read<T: Exchanged, D: Dimension, M: ManagedTensor>(
    context: &Context,
    managed: &M,
) -> Result<(u64, D, Vec<isize>), ExchangeError> {
    if managed.version() != 1 {
        return Err(ExchangeError::Version(managed.version()));
    }
    let (tensor, ordinal) = (managed.tensor(), context.device().ordinal());
    let DLDevice { device_type, device_id } = tensor.device;
    let reachable = match device_type {
        DL_CUDA => usize::try_from(device_id) == Ok(ordinal),
        DL_CUDA_HOST | DL_CUDA_MANAGED => true,
        _ => false,
    };
    if !reachable {
        return Err(ExchangeError::Device { found: (device_type, device_id), wanted: ordinal });
    }
    if tensor.dtype.lanes != T::LANES {
        return Err(ExchangeError::Lanes { found: tensor.dtype.lanes, wanted: T::LANES });
    }
    if tensor.dtype != data_type::<T>() {
        let name = |ty: DLDataType| format!("DLPack code {} of {} bits", ty.code, ty.bits);
        return Err(ExchangeError::ElementType { found: name(tensor.dtype), wanted: name(data_type::<T>()) });
    }
    let axes = usize::try_from(tensor.ndim).unwrap_or_default();
    // SAFETY: a structure has as many extents as axes.
    let extents = unsafe { numbers(tensor.shape, axes) }.unwrap_or_default();
    let shape: Vec<usize> = extents.iter().map(|extent| usize::try_from(*extent).unwrap_or(usize::MAX)).collect();
    // SAFETY: a structure has as many strides as axes, unless they are null.
    let strides = unsafe { numbers(tensor.strides, axes) };
    let strides = strides.map_or_else(|| c_strides(&shape), |strides| strides.iter().map(|n| *n as isize).collect());
    Ok((tensor.data.addr() as u64 + tensor.byte_offset, dimension(&shape)?, strides))
}

/// # Safety
///
/// The pointer is null, or points to `count` numbers.
unsafe fn numbers<'a>(pointer: *const i64, count: usize) -> Option<&'a [i64]> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the caller keeps this function's contract.
    Some(unsafe { std::slice::from_raw_parts(pointer, count) })
}
