//! What a managed array's user can tell the driver: where it is going to be used, and how.
//!
//! # Safety
//!
//! The `unsafe` blocks pass on advice about an array's own memory, which changes where it lies and not what is in it.

use cuda_driver::{Stream, driver_call};
use cuda_sys::{CUdevice, CUmem_advise, CUmemAttach_flags};
use ndarray::Dimension;

use crate::Element;
use crate::error::Result;
use crate::host::memory::ManagedArray;

/// Where managed memory may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryLocation {
    /// On the host.
    Host,
    /// On the device of this number.
    Device(usize),
}

/// How managed memory is going to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Advice {
    /// It is mostly read, so that every reader may have a copy; or no longer.
    ReadMostly(bool),
    /// Where it lies best.
    PreferredLocation(MemoryLocation),
    /// It has no best place any more.
    NoPreferredLocation,
    /// Who uses it from afar, and keeps it mapped.
    AccessedBy(MemoryLocation),
    /// Who does so no longer.
    NotAccessedBy(MemoryLocation),
}

impl<T: Element, D: Dimension> ManagedArray<T, D> {
    /// Begins to move the memory, in the order of `stream`, before it is used there.
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
            // SAFETY: the range is the array's memory, which lives until recorded uses are over.
            unsafe { driver_call!(self.context(), cuMemPrefetchAsync(address, bytes, to, stream.as_raw())) }?;
        }
        Ok(())
    }

    /// Tells the driver how the memory is going to be used.
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

    /// Lets kernels of all streams use the memory, which they may from the start, in the order of `stream`.
    ///
    /// # Errors
    ///
    /// As [`prefetch`](ManagedArray::prefetch).
    pub fn attach_global(&mut self, stream: &Stream) -> Result<()> {
        self.attach(stream, CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL)
    }

    /// Says that the host uses the memory next, in the order of `stream`. Kernels still may.
    ///
    /// # Errors
    ///
    /// As [`prefetch`](ManagedArray::prefetch).
    pub fn attach_host(&mut self, stream: &Stream) -> Result<()> {
        self.attach(stream, CUmemAttach_flags::CU_MEM_ATTACH_HOST)
    }

    /// Promises that no stream but `stream` uses the memory, from now on in its order.
    ///
    /// # Errors
    ///
    /// As [`prefetch`](ManagedArray::prefetch); [`Error::Driver`](crate::Error::Driver) for a default stream.
    ///
    /// # Safety
    ///
    /// Until the memory is attached otherwise, only work in `stream` uses the array's memory on a device.
    pub unsafe fn attach_stream(&mut self, stream: &Stream) -> Result<()> {
        self.attach(stream, CUmemAttach_flags::CU_MEM_ATTACH_SINGLE)
    }

    fn attach(&mut self, stream: &Stream, flags: CUmemAttach_flags) -> Result<()> {
        let memory = self.memory_mut();
        memory.prepare_write(stream)?;
        if memory.byte_len() != 0 {
            let (context, address) = (memory.context(), memory.device_ptr());
            // SAFETY: the address is that of a whole piece of managed memory, and every use of it comes before on the stream.
            unsafe { driver_call!(context, cuStreamAttachMemAsync(stream.as_raw(), address, 0, flags.0)) }?;
        }
        Ok(())
    }

    /// The driver's number of a place.
    fn number(&self, place: MemoryLocation) -> Result<CUdevice> {
        match place {
            MemoryLocation::Host => Ok(cuda_sys::CU_DEVICE_CPU),
            MemoryLocation::Device(ordinal) => Ok(self.context().device().driver().device(ordinal)?.as_raw()?),
        }
    }
}
