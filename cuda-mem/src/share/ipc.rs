//! Arrays that are shared with other processes by CUDA IPC.
//!
//! Memory of a pool cannot be shared by IPC; [`shareable_array`] allocates memory that can.
//!
//! # Safety
//!
//! The `unsafe` blocks get a handle of live memory, open one, and close opened memory when nothing accesses it.

use std::ffi::c_char;
use std::marker::PhantomData;

use cuda_driver::{Context, driver_call};
use cuda_sys::{CUdeviceptr, CUipcMemHandle, CUresult};
use ndarray::{Dimension, Order, ShapeArg};
use parking_lot::Mutex;

use crate::Element;
use crate::alloc::Source;
use crate::array::DeviceArray;
use crate::array::storage::Storage;
use crate::buffer::Buffer;
use crate::error::Result;
use crate::host::memory::report;
use crate::layout::{self, Layout};
use crate::share::exchange::ExchangeError;

/// An array of unspecified contents in memory that other processes can open; as for [`device_array`](crate::device_array).
///
/// # Errors
///
/// As for [`device_array`](crate::device_array).
pub fn shareable_array<T: Element, Sh: ShapeArg>(context: &Context, shape: Sh) -> Result<DeviceArray<T, Sh::Dim>> {
    let (dim, order) = shape.into_shape_and_order();
    let bytes = layout::byte_size(dim.slice(), size_of::<T>())?;
    let layout = if order == Some(Order::ColumnMajor) { Layout::f_order(dim) } else { Layout::c_order(dim) };
    let address = if bytes == 0 { 0 } else { Source::MemAlloc.allocate(bytes, &context.default_stream())? };
    Ok(DeviceArray::from_parts(Buffer::from_source(context, address, bytes, Source::MemAlloc), layout))
}

/// A handle of an array for other processes: its memory, and the layout of the elements in it.
///
/// It is sent as [bytes](IpcHandle::to_bytes). The array has to live until the other process has opened it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpcHandle<T, D> {
    raw: [u8; 64],
    process: u32,
    /// The offset of the first element in the allocation, in bytes.
    offset: u64,
    shape: Vec<u64>,
    strides: Vec<i64>,
    of: PhantomData<(T, D)>,
}

/// The memory that is open in this process, by context and handle.
static OPEN: Mutex<Vec<(u64, [u8; 64])>> = Mutex::new(Vec::new());

impl<T: Element, D: Dimension, S: Storage> DeviceArray<T, D, S> {
    /// A handle by which another process opens the array, after every write of it has finished.
    ///
    /// # Errors
    ///
    /// [`ExchangeError::NotShareable`] for memory of a pool, see [`shareable_array`];
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status, or if a kernel panicked.
    pub fn ipc_handle(&self) -> Result<IpcHandle<T, D>> {
        self.buffer().wait_for_writes(&self.byte_range())?;
        let (mut raw, mut base) = (CUipcMemHandle { reserved: [0; 64] }, 0);
        let first = if self.is_empty() { self.buffer().address() } else { self.device_ptr() };
        // SAFETY: `raw` lives through the call; the driver checks the address.
        let shared = unsafe { driver_call!(self.context(), cuIpcGetMemHandle(&mut raw, first)) };
        shared.map_err(|error| match error.code() {
            Some(CUresult::CUDA_ERROR_INVALID_VALUE) => ExchangeError::NotShareable.into(),
            _ => crate::Error::from(error),
        })?;
        let mut bytes = 0;
        // SAFETY: `base` and `bytes` live through the call; the driver checks the address.
        unsafe { driver_call!(self.context(), cuMemGetAddressRange_v2(&mut base, &mut bytes, first)) }?;
        Ok(IpcHandle {
            raw: raw.reserved.map(|byte| byte as u8),
            process: std::process::id(),
            offset: first - base,
            shape: self.shape().iter().map(|extent| *extent as u64).collect(),
            strides: self.strides().iter().map(|stride| *stride as i64).collect(),
            of: PhantomData,
        })
    }
}

impl<T: Element, D: Dimension> IpcHandle<T, D> {
    /// The handle as bytes, for a pipe or a file.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_mem::IpcHandle;
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::shareable_array::<f32, _>(&context, (2, 3))?;
    /// let bytes = x.ipc_handle()?.to_bytes();
    /// let handle = IpcHandle::<f32, ndarray::Ix2>::from_bytes(&bytes)?;
    /// // SAFETY: nothing is opened, since this is the array's own process.
    /// let refused = unsafe { handle.open(&context) }.unwrap_err();
    /// assert!(refused.to_string().starts_with("an IPC handle is for other processes"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.raw.to_vec();
        bytes
            .extend([size_of::<T>() as u64, u64::from(self.process), self.offset].map(u64::to_le_bytes).as_flattened());
        self.shape.iter().for_each(|extent| bytes.extend(extent.to_le_bytes()));
        self.strides.iter().for_each(|stride| bytes.extend(stride.to_le_bytes()));
        bytes
    }

    /// Parses the bytes of [`to_bytes`](IpcHandle::to_bytes).
    ///
    /// # Errors
    ///
    /// [`ExchangeError::NoHandle`] for bytes of another length, or for elements of another size.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ExchangeError> {
        let none = || ExchangeError::NoHandle(bytes.len());
        let (raw, rest) = bytes.split_first_chunk::<64>().ok_or_else(none)?;
        let (words, odd) = rest.as_chunks::<8>();
        let [element, process, offset, axes @ ..] = words else { return Err(none()) };
        let fits = D::NDIM.is_none_or(|axes_wanted| axes.len() == 2 * axes_wanted) && axes.len().is_multiple_of(2);
        let number = |word: &[u8; 8]| u64::from_le_bytes(*word);
        if !odd.is_empty() || !fits || number(element) != size_of::<T>() as u64 {
            return Err(none());
        }
        let (shape, strides) = axes.split_at(axes.len() / 2);
        Ok(IpcHandle {
            raw: *raw,
            process: u32::try_from(number(process)).map_err(|_| none())?,
            offset: number(offset),
            shape: shape.iter().map(number).collect(),
            strides: strides.iter().map(|word| i64::from_le_bytes(*word)).collect(),
            of: PhantomData,
        })
    }

    /// Opens another process's array. It is closed when this array is dropped and every access has finished.
    ///
    /// # Errors
    ///
    /// [`ExchangeError::OwnProcess`] in the process that made the handle; [`ExchangeError::OpenTwice`] while its memory
    /// is open in this process; [`ExchangeError::Gone`] if the array was dropped or its process has ended;
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status.
    ///
    /// # Safety
    ///
    /// The handle is that of an array that lives in the other process until this one is dropped, with elements of `T`,
    /// and the accesses of the two processes are ordered.
    pub unsafe fn open(&self, context: &Context) -> Result<DeviceArray<T, D>> {
        if self.process == std::process::id() {
            return Err(ExchangeError::OwnProcess.into());
        }
        let shape: Vec<usize> = self.shape.iter().map(|extent| *extent as usize).collect();
        let dim = crate::share::interface::dimension::<D>(&shape)?;
        let opened = Opened::new(context, self.raw)?;
        let (first, strides) = (opened.address + self.offset, self.strides.iter().map(|n| *n as isize));
        let strides: Vec<isize> = strides.collect();
        // SAFETY: the caller answers for the array; the memory is open as long as its owner lives.
        unsafe { DeviceArray::from_raw_parts(context, first, dim, &strides, opened) }
    }
}

/// Opens another process's array by the [bytes](IpcHandle::to_bytes) of its handle; see [`IpcHandle::open`].
///
/// # Examples
///
/// ```
/// use cuda_mem::open_ipc_array;
/// use ndarray::Ix2;
///
/// # fn main() -> cuda_mem::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// // SAFETY: nothing is opened, since these bytes are no handle.
/// let refused = unsafe { open_ipc_array::<f32, Ix2>(&context, b"from a pipe") }.unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "these 11 bytes are no IPC handle of an array of this type and number of axes"
/// );
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`IpcHandle::from_bytes`] and [`IpcHandle::open`].
///
/// # Safety
///
/// As for [`IpcHandle::open`].
pub unsafe fn open_ipc_array<T: Element, D: Dimension>(context: &Context, handle: &[u8]) -> Result<DeviceArray<T, D>> {
    let handle = IpcHandle::from_bytes(handle)?;
    // SAFETY: the caller keeps the contract of `open`.
    unsafe { handle.open(context) }
}

/// Memory of another process, which is closed by the drop.
struct Opened {
    context: Context,
    address: CUdeviceptr,
    raw: [u8; 64],
}

impl Opened {
    fn new(context: &Context, raw: [u8; 64]) -> Result<Self> {
        let mut open = OPEN.lock();
        if open.contains(&(context.id(), raw)) {
            return Err(ExchangeError::OpenTwice.into());
        }
        let handle = CUipcMemHandle { reserved: raw.map(|byte| byte as c_char) };
        let mut address = 0;
        // The only flag: enables peer access lazily.
        // SAFETY: `address` lives through the call; the driver checks the handle.
        unsafe { driver_call!(context, cuIpcOpenMemHandle_v2(&mut address, handle, 1)) }.map_err(why_not)?;
        open.push((context.id(), raw));
        Ok(Opened { context: context.clone(), address, raw })
    }
}

/// The error for memory that was not opened: the driver has no code of its own for memory that no longer exists.
fn why_not(error: cuda_driver::Error) -> crate::Error {
    match error.code() {
        Some(
            CUresult::CUDA_ERROR_INVALID_VALUE | CUresult::CUDA_ERROR_INVALID_HANDLE | CUresult::CUDA_ERROR_MAP_FAILED,
        ) => ExchangeError::Gone(error.to_string()).into(),
        _ => error.into(),
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // Locked until it is closed, so that no thread opens it again meanwhile.
        let mut open = OPEN.lock();
        // SAFETY: this value has opened the memory, and is dropped when nothing accesses it.
        let closed = unsafe { driver_call!(&self.context, cuIpcCloseMemHandle(self.address)) };
        report(closed, "another process's memory could not be closed");
        open.retain(|open| *open != (self.context.id(), self.raw));
    }
}
