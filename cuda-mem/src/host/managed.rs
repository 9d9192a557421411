//! Hints to the driver about managed memory: prefetch, advice and attachment.
//!
//! # Safety
//!
//! The `unsafe` blocks pass on advice about an array's own memory, which changes its location and not its contents.

use cuda_driver::{Stream, driver_call};
use cuda_sys::{CUdevice, CUmem_advise, CUmemAttach_flags};
use ndarray::Dimension;

use crate::Element;
use crate::error::Result;
use crate::host::memory::ManagedArray;

/// A location of managed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryLocation {
    /// The host.
    Host,
    /// The device with this ordinal.
    Device(usize),
}

/// Advice about the use of managed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Advice {
    /// Sets or unsets that it is mostly read, so that every reader may have a copy.
    ReadMostly(bool),
    /// Sets the preferred location.
    PreferredLocation(MemoryLocation),
    /// Unsets the preferred location.
    NoPreferredLocation,
    /// Sets a processor that accesses it remotely and keeps it mapped.
    AccessedBy(MemoryLocation),
    /// Unsets such a processor.
    NotAccessedBy(MemoryLocation),
}

impl<T: Element, D: Dimension> ManagedArray<T, D> {
    /// Prefetches the memory to a location, in the order of `stream`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_mem::MemoryLocation;
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let stream = cuda_driver::Stream::new(&context)?;
    /// let mut table = cuda_mem::managed_array::<f32, _>(&context, 1000)?;
    /// table.view_mut()?.fill(1.0);
    /// table.prefetch(MemoryLocation::Device(0), &stream)?;
    /// table.device_mut().fill(2.0)?;
    /// table.prefetch(MemoryLocation::Host, &stream)?;
    /// assert_eq!(table.view()?.sum(), 2000.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OtherContext`](crate::Error::OtherContext) for a stream of another context;
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status, as for a device that does not exist.
    pub fn prefetch(&self, to: MemoryLocation, stream: &Stream) -> Result<()> {
        let (memory, bytes) = (self.memory(), self.memory().byte_len());
        let to = self.number(to)?;
        memory.prepare_read(stream)?;
        if bytes != 0 {
            let address = memory.device_ptr();
            // SAFETY: the range is the array's memory, which lives until recorded accesses have finished.
            unsafe { driver_call!(self.context(), cuMemPrefetchAsync(address, bytes, to, stream.as_raw())) }?;
        }
        Ok(())
    }

    /// Gives the driver advice about the use of the memory.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_mem::{Advice, MemoryLocation};
    ///
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let table = cuda_mem::managed_array::<f32, _>(&context, 1000)?;
    /// table.advise(Advice::ReadMostly(true))?;
    /// table.advise(Advice::PreferredLocation(MemoryLocation::Host))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) with the driver's status, as for a device that does not exist.
    pub fn advise(&self, advice: Advice) -> Result<()> {
        let (advice, about) = match advice {
            Advice::ReadMostly(true) => (CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY, None),
            Advice::ReadMostly(false) => (CUmem_advise::CU_MEM_ADVISE_UNSET_READ_MOSTLY, None),
            Advice::PreferredLocation(at) => (CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, Some(at)),
            Advice::NoPreferredLocation => (CUmem_advise::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, None),
            Advice::AccessedBy(by) => (CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY, Some(by)),
            Advice::NotAccessedBy(by) => (CUmem_advise::CU_MEM_ADVISE_UNSET_ACCESSED_BY, Some(by)),
        };
        let about = self.number(about.unwrap_or(MemoryLocation::Host))?;
        let (address, bytes) = (self.memory().device_ptr(), self.memory().byte_len());
        if bytes != 0 {
            // SAFETY: the range is the array's memory.
            unsafe { driver_call!(self.context(), cuMemAdvise(address, bytes, advice, about)) }?;
        }
        Ok(())
    }

    /// Attaches the memory to all streams, as it is from the start, in the order of `stream`.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let stream = cuda_driver::Stream::new(&context)?;
    /// let mut table = cuda_mem::managed_array::<f32, _>(&context, 1000)?;
    /// table.attach_host(&stream)?;
    /// table.view_mut()?.fill(1.0);
    /// table.attach_global(&stream)?;
    /// // SAFETY: only this stream accesses the memory on the device, until it is attached to all again.
    /// unsafe { table.attach_stream(&stream) }?;
    /// table.device_mut().fill_on(2.0, &stream)?;
    /// table.attach_global(&stream)?;
    /// assert_eq!(table.view()?.sum(), 2000.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`prefetch`](ManagedArray::prefetch).
    pub fn attach_global(&mut self, stream: &Stream) -> Result<()> {
        self.attach(stream, CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL)
    }

    /// Attaches the memory to the host, which accesses it next, in the order of `stream`. Kernels still may access it.
    ///
    /// # Errors
    ///
    /// As [`prefetch`](ManagedArray::prefetch).
    pub fn attach_host(&mut self, stream: &Stream) -> Result<()> {
        self.attach(stream, CUmemAttach_flags::CU_MEM_ATTACH_HOST)
    }

    /// Attaches the memory to `stream`: no other stream accesses it, from now on in the stream's order.
    ///
    /// # Errors
    ///
    /// As [`prefetch`](ManagedArray::prefetch); [`Error::Driver`](crate::Error::Driver) for a default stream.
    ///
    /// # Safety
    ///
    /// Until the memory is attached otherwise, only work of `stream` accesses it on a device.
    pub unsafe fn attach_stream(&mut self, stream: &Stream) -> Result<()> {
        self.attach(stream, CUmemAttach_flags::CU_MEM_ATTACH_SINGLE)
    }

    fn attach(&mut self, stream: &Stream, flags: CUmemAttach_flags) -> Result<()> {
        let memory = self.memory_mut();
        memory.prepare_write(stream)?;
        if memory.byte_len() != 0 {
            let (context, address) = (memory.context(), memory.device_ptr());
            // SAFETY: the address is that of a whole managed allocation, and every access to it is ordered before on
            // the stream.
            unsafe { driver_call!(context, cuStreamAttachMemAsync(stream.as_raw(), address, 0, flags.0)) }?;
        }
        Ok(())
    }

    /// The driver's number of a location.
    fn number(&self, place: MemoryLocation) -> Result<CUdevice> {
        match place {
            MemoryLocation::Host => Ok(cuda_sys::CU_DEVICE_CPU),
            MemoryLocation::Device(ordinal) => Ok(self.context().device().driver().device(ordinal)?.as_raw()?),
        }
    }
}
