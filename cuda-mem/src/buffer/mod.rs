//! [`Buffer`]: device memory that tracks the streams that access it.
//!
//! It has no element type and no shape; [`DeviceArray`](crate::DeviceArray) has. Invariants: the memory is live as long
//! as the buffer; it is freed, or its owner dropped, after every recorded access, also in a lost context; an empty
//! buffer has no memory.
//!
//! # Safety
//!
//! The `unsafe` blocks copy between the buffer and slices of plain data, both checked for size, and free the memory
//! when nothing can use it any more. The caller answers for memory that other code allocated.

pub(crate) mod access;
pub(crate) mod queue;
pub(crate) mod records;

use std::any::Any;
use std::fmt;
use std::mem::MaybeUninit;

use cuda_driver::{
    Context, MemoryId, Stream, StreamId, StreamPosition, Writers, defer_drop, driver_call, drop_deferred, is_in_host_fn,
};
use cuda_sys::CUdeviceptr;

use crate::Element;
use crate::alloc::{Freed, Memory, MemoryPool, Source};
use crate::buffer::access::ByteRange;
use crate::buffer::records::AccessRecords;
use crate::error::{Error, Result};
use crate::spans;

/// An allocation of device memory.
///
/// # Examples
///
/// ```
/// use std::mem::MaybeUninit;
///
/// # fn main() -> cuda_mem::Result<()> {
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut buffer = cuda_mem::Buffer::new(&context.default_stream(), 16)?;
/// buffer.write(4, &[1_u32, 2])?;
/// let mut out = [MaybeUninit::<u32>::uninit(); 2];
/// assert_eq!(buffer.read(4, &mut out)?, [1, 2]);
/// # Ok(())
/// # }
/// ```
pub struct Buffer {
    context: Context,
    /// The id by which graphs refer to it.
    id: MemoryId,
    /// Without bytes, a dangling address that is aligned to 256 bytes and not 0.
    address: CUdeviceptr,
    bytes: usize,
    source: Source,
    records: AccessRecords<Stream>,
    /// The threads that write it; waits for the memory report their kernel panics.
    writers: Writers,
}

/// The address of a buffer without bytes: aligned for every element type, and not null.
const NOWHERE: CUdeviceptr = 256;

impl Buffer {
    /// Allocates `bytes`, for use on `stream` first; other streams wait. The contents are unspecified.
    ///
    /// The memory comes from the context's [manager](crate::MemoryManager) if one was set, else from the device's
    /// stream-ordered pool where it has one, else from `cuMemAlloc`. For 0 bytes nothing is allocated and no call is
    /// made.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if the device has no room, even after freed memory has been returned.
    pub fn new(stream: &Stream, bytes: usize) -> Result<Self> {
        Self::allocate(Source::of(stream.context()), stream, bytes)
    }

    /// As [`Buffer::new`], from a pool.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let pool = cuda_mem::MemoryPool::new(&context)?;
    /// let mut buffer = cuda_mem::Buffer::new_in(&pool, &context.default_stream(), 4)?;
    /// buffer.fill(7, &context.default_stream())?;
    /// assert_eq!(buffer.read(0, &mut [std::mem::MaybeUninit::<u8>::uninit(); 4])?, [7; 4]);
    /// assert!(!buffer.is_empty() && buffer.context() == &context);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Buffer::new`], also for a limit of the pool's; [`Error::OtherContext`] for a stream of another device.
    pub fn new_in(pool: &MemoryPool, stream: &Stream, bytes: usize) -> Result<Self> {
        Self::allocate(Source::CustomPool(pool.clone()), stream, bytes)
    }

    /// As [`Buffer::new`], from `source`.
    pub(crate) fn allocate(source: Source, stream: &Stream, bytes: usize) -> Result<Self> {
        if let Source::CustomPool(pool) = &source
            && pool.context() != stream.context()
        {
            return Err(Error::other_context(pool.context(), stream));
        }
        drop_deferred();
        let address = match bytes {
            0 => NOWHERE,
            _ => source.allocate(bytes, stream)?,
        };
        let ordered = source.is_ordered() && bytes != 0;
        let mut buffer = Self::from_source(stream.context(), address, bytes, source);
        if ordered {
            // The memory exists from here on in the stream's order; there is nothing to wait for yet.
            buffer.records.begin(stream)?;
        }
        Ok(buffer)
    }

    /// Memory that other code allocated and that `owner` keeps alive: it is dropped after every access through the
    /// buffer.
    ///
    /// Neither the buffer nor its owner waits for accesses that were enqueued before.
    ///
    /// # Safety
    ///
    /// `bytes` bytes at `address` can be used by kernels and copies of `context`, are initialised where they are read,
    /// and stay valid until `owner` is dropped. Until then nothing else writes them, and nothing else reads them once
    /// the buffer has been written, except in an order with the buffer's accesses that the caller ensures. An address
    /// of elements is aligned to their type.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// use cuda_mem::Buffer;
    ///
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let whole = Buffer::new(&context.default_stream(), 64)?;
    /// // SAFETY: the second half of `whole`, which owns it and is used in no other way.
    /// let mut half = unsafe { Buffer::external(&context, whole.address() + 32, 32, whole) };
    /// half.write(0, &[1_u8, 2])?;
    /// # Ok(())
    /// # }
    /// ```
    pub unsafe fn external(
        context: &Context,
        address: CUdeviceptr,
        bytes: usize,
        owner: impl Any + Send + Sync,
    ) -> Self {
        Self::from_source(context, address, bytes, Source::External(Box::new(owner)))
    }

    /// The owner of [external](Buffer::external) memory, or `None` for other memory.
    pub(crate) fn owner(&self) -> Option<&(dyn Any + Send + Sync)> {
        match &self.source {
            Source::External(owner) => Some(&**owner),
            _ => None,
        }
    }

    /// Ends a buffer of [external](Buffer::external) memory without a wait on the host: later work of `stream` is ordered after
    /// every access. Returns the owner, or `None` for memory that is not external, which is freed as if the buffer were dropped.
    ///
    /// # Safety
    ///
    /// Accesses may still run when this returns. So the owner's memory is not accessed, freed or reused but in the order of `stream`
    /// or after a wait for it; an owner that does so when it is dropped is not dropped before.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// use cuda_mem::Buffer;
    ///
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let stream = context.default_stream();
    /// let memory = Buffer::new(&stream, 32)?;
    /// // SAFETY: the bytes of `memory`, which owns them and is used in no other way.
    /// let external = unsafe { Buffer::external(&context, memory.address(), 32, memory) };
    /// // SAFETY: a buffer is freed in the order of its stream, which is this one.
    /// let owner = unsafe { external.into_owner(&stream) }?.and_then(|owner| owner.downcast::<Buffer>().ok());
    /// assert_eq!(owner.map(|memory| memory.len()), Some(32));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OtherContext`] for a stream of another device; [`Error::Driver`] if ordering fails. The buffer and its owner
    /// are dropped, after every use.
    pub unsafe fn into_owner(mut self, stream: &Stream) -> Result<Option<Box<dyn Any + Send + Sync>>> {
        self.expect_context(stream)?;
        if !self.source.is_external() {
            return Ok(None);
        }
        self.records.order_before(stream)?;
        // A buffer without bytes has nothing to free.
        self.bytes = 0;
        match std::mem::replace(&mut self.source, Source::MemAlloc) {
            Source::External(owner) => Ok(Some(owner)),
            _ => Ok(None),
        }
    }

    /// A buffer of memory that `source` frees, and that nothing has accessed yet.
    pub(crate) fn from_source(context: &Context, address: CUdeviceptr, bytes: usize, source: Source) -> Self {
        let address = if bytes == 0 { NOWHERE } else { address };
        if bytes != 0 && !source.is_external() {
            Memory::of(context).statistics.allocated(bytes);
        }
        Buffer {
            context: context.clone(),
            id: MemoryId::unique(),
            address,
            bytes,
            source,
            records: AccessRecords::new(bytes),
            writers: Writers::default(),
        }
    }

    /// The context that the memory belongs to.
    #[must_use]
    #[inline]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The id by which graphs refer to the memory.
    pub(crate) fn id(&self) -> MemoryId {
        self.id
    }

    /// The memory's address on the device; not to be used for a buffer without bytes. Memory that the buffer allocated is
    /// aligned to 256 bytes.
    #[must_use]
    #[inline]
    pub fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// The size in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Returns true for a buffer without bytes.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Orders a read of the memory on `stream` after the last write, and records it.
    ///
    /// Call it before the read is enqueued, and keep the borrow until then. It is harmless if nothing is enqueued:
    /// later accesses may wait for more than they need. On the stream of the last write it makes no driver call; on
    /// another stream, the first read after a write makes two (an event is recorded and waited for).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_mem::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Stream;
    /// use cuda_mem::Buffer;
    ///
    /// let (first, second) = (Stream::new(&context)?, Stream::new(&context)?);
    /// let mut buffer = Buffer::new(&first, 64)?;
    /// buffer.fill(0, &first)?;
    /// buffer.prepare_read(&second)?;  // what is enqueued there now may read the bytes: it comes after the fill
    /// buffer.prepare_write(&first)?;  // and what is enqueued here may write, after that read
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OtherContext`] for a stream of another device; [`Error::Driver`] if waiting fails, and then the read must
    /// not be enqueued.
    #[inline]
    pub fn prepare_read(&self, stream: &Stream) -> Result<()> {
        self.prepare_read_of(|| self.records.all(), stream)
    }

    /// As [`prepare_read`](Buffer::prepare_read), of some of the bytes.
    #[inline]
    pub(crate) fn prepare_read_of(&self, range: impl FnOnce() -> ByteRange, stream: &Stream) -> Result<()> {
        self.expect_context(stream)?;
        if self.is_empty() { Ok(()) } else { self.records.read(range, stream) }
    }

    /// Orders a write of the memory on `stream` after every earlier access, and records it.
    ///
    /// As [`Buffer::prepare_read`]; the borrow is exclusive, because nothing else may use the memory meanwhile.
    ///
    /// # Errors
    ///
    /// As [`Buffer::prepare_read`].
    #[inline]
    pub fn prepare_write(&mut self, stream: &Stream) -> Result<()> {
        let all = self.records.all();
        self.prepare_write_of(|| all, stream)
    }

    /// As [`prepare_write`](Buffer::prepare_write), of some of the bytes.
    #[inline]
    pub(crate) fn prepare_write_of(&mut self, range: impl FnOnce() -> ByteRange, stream: &Stream) -> Result<()> {
        self.expect_context(stream)?;
        self.writers.note();
        if self.is_empty() { Ok(()) } else { self.records.write(range, stream) }
    }

    /// As [`prepare_write`](Buffer::prepare_write), of bytes that the caller accesses exclusively while others may
    /// access other bytes.
    pub(crate) fn prepare_shared_write(&self, range: ByteRange, stream: &Stream) -> Result<()> {
        self.expect_context(stream)?;
        self.writers.note();
        self.records.write_shared(range, stream)
    }

    /// Copies `source` to the bytes from `offset` on, and returns when `source` has been read.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status.
    ///
    /// # Panics
    ///
    /// If the bytes do not fit.
    pub fn write<T: Element>(&mut self, offset: usize, source: &[T]) -> Result<()> {
        self.write_shared(offset, source)
    }

    /// As [`write`](Buffer::write), to bytes that the caller accesses exclusively while others may access other bytes.
    pub(crate) fn write_shared<T: Element>(&self, offset: usize, source: &[T]) -> Result<()> {
        let bytes = size_of_val(source);
        self.expect_range(offset, bytes);
        if bytes == 0 {
            return Ok(());
        }
        // The driver runs blocking copies in the order of the default stream. Bytes that have not reached the device
        // when the call returns do so before later work of that stream; hence the access record.
        self.prepare_shared_write(ByteRange::all_of(offset..offset + bytes), &self.context.default_stream())?;
        let to = self.address + offset as u64;
        let _span = spans::copy("host", "device", bytes, None);
        // SAFETY: the range lies in the memory, which nothing else accesses before; `source` lives through the call,
        // and the driver has read it when it returns.
        unsafe { driver_call!(&self.context, cuMemcpyHtoD_v2(to, source.as_ptr().cast(), bytes)) }?;
        Ok(())
    }

    /// Copies the bytes from `offset` on to `target`, after all work that writes them, and returns it filled.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] with the driver's status, or for a kernel that panicked.
    ///
    /// # Panics
    ///
    /// If the range exceeds the buffer.
    pub fn read<'a, T: Element>(&self, offset: usize, target: &'a mut [MaybeUninit<T>]) -> Result<&'a mut [T]> {
        let bytes = size_of_val(target);
        self.expect_range(offset, bytes);
        if bytes != 0 {
            let position = self.prepare_host_read(&ByteRange::all_of(offset..offset + bytes))?;
            let from = self.address + offset as u64;
            let _span = spans::copy("device", "host", bytes, None);
            // SAFETY: the range lies in the memory, whose writes are ordered before in the default stream, in which the
            // driver copies; `target` is exclusive and lives through the call, which returns when it is filled.
            unsafe { driver_call!(&self.context, cuMemcpyDtoH_v2(target.as_mut_ptr().cast(), from, bytes)) }?;
            self.report_panics(&position)?;
        }
        // SAFETY: every byte was just written, and every bit pattern is a valid `T`.
        Ok(unsafe { target.assume_init_mut() })
    }

    /// Orders a blocking copy to the host after every write of the bytes. Blocking copies run in the order of the
    /// default stream. Nothing is recorded: when the copy returns, the read and all launches before the returned
    /// position have finished.
    pub(crate) fn prepare_host_read(&self, range: &ByteRange) -> Result<StreamPosition> {
        let stream = self.context.default_stream();
        self.records.order_after_writes(range, &stream)?;
        Ok(stream.position())
    }

    /// Reports the panics of the launches before the position, which have finished: those of the calling thread and of
    /// the threads that write the memory.
    pub(crate) fn report_panics(&self, position: &StreamPosition) -> Result<()> {
        Ok(position.report_panics_of(&self.writers)?)
    }

    fn report_all(&self, positions: &[StreamPosition]) -> Result<()> {
        Ok(StreamPosition::report_panics_of_all(positions, &self.writers)?)
    }

    /// Waits on the host until every write of some of the bytes has finished, while others may access other bytes.
    pub(crate) fn wait_for_writes(&self, range: &ByteRange) -> Result<()> {
        let waited = self.records.wait_for_writes(range)?;
        self.report_all(&waited)
    }

    /// Waits on the host until every write has finished. None is prepared or begins while the caller holds the borrow,
    /// which covers all the memory.
    pub(crate) fn finish_writes(&self) -> Result<()> {
        let waited = self.records.finish_writes()?;
        self.report_all(&waited)
    }

    /// Waits on the host until every access has finished. None begins while the caller holds the borrow.
    pub(crate) fn finish_accesses(&mut self) -> Result<()> {
        let waited = self.records.finish()?;
        self.report_all(&waited)
    }

    /// Clears all access records, since the host has waited for all work of the context.
    pub(crate) fn forget_all(&mut self) {
        self.records = AccessRecords::new(self.bytes);
    }

    /// Removes the access records of a stream, all of which the host has waited for.
    pub(crate) fn forget(&mut self, stream: StreamId) {
        self.records.forget(stream.number());
    }

    /// Sets every byte to `value`, in the order of `stream`.
    ///
    /// # Errors
    ///
    /// [`Error::OtherContext`] for a stream of another device; [`Error::Driver`] with the driver's status.
    pub fn fill(&mut self, value: u8, stream: &Stream) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        self.prepare_write(stream)?;
        // SAFETY: the memory is live, and every other access to it is ordered before on the stream.
        unsafe { driver_call!(&self.context, cuMemsetD8Async(self.address, value, self.bytes, stream.as_raw())) }?;
        Ok(())
    }

    #[inline]
    pub(crate) fn expect_context(&self, stream: &Stream) -> Result<()> {
        if stream.context() == &self.context { Ok(()) } else { Err(Error::other_context(&self.context, stream)) }
    }

    #[track_caller]
    fn expect_range(&self, offset: usize, bytes: usize) {
        let end = offset.checked_add(bytes);
        assert!(
            end.is_some_and(|end| end <= self.bytes),
            "{bytes} bytes at offset {offset} are outside a buffer of {} bytes",
            self.bytes
        );
    }

    /// Frees the memory after every access: stream-ordered if its source is, else now.
    fn free(&mut self) -> Result<()> {
        let stream = match self.order_free() {
            Ok(stream) => stream,
            Err(error) => {
                tracing::debug!(%error, "a free could not be ordered, so all work is waited for");
                self.context.wait_for_all()?;
                None
            }
        };
        // SAFETY: the buffer owns the memory and is being dropped; all accesses are ordered before on the stream, or
        // have finished.
        unsafe { self.source.free(self.address, self.bytes, &self.context, stream.as_ref()) }
    }

    /// Orders the free after every access: on the returned stream, or, without one, now.
    fn order_free(&mut self) -> Result<Option<Stream>> {
        if self.source.is_ordered() {
            return self.records.end(|| self.context.default_stream()).map(Some);
        }
        self.records.wait_for_all().map(|()| None)
    }

    /// Releases the memory in a lost context. Device memory is gone with the context; memory of another owner is
    /// released when no work accesses it, since work continues for a while after the error that lost the context.
    fn end_in_lost_context(&mut self) {
        if !self.source.is_external() {
            return;
        }
        let owner = std::mem::replace(&mut self.source, Source::MemAlloc);
        match self.context.wait_until_idle() {
            Ok(()) => drop(owner),
            Err(error) => {
                tracing::warn!(%error, bytes = self.bytes, "memory of another owner is leaked, since work in a lost context may use it");
                std::mem::forget(owner);
            }
        }
    }

    /// Moves the buffer out and leaves an empty one.
    fn take(&mut self) -> Buffer {
        let bytes = std::mem::take(&mut self.bytes);
        Buffer {
            context: self.context.clone(),
            id: self.id,
            address: self.address,
            bytes,
            source: std::mem::replace(&mut self.source, Source::MemAlloc),
            records: std::mem::replace(&mut self.records, AccessRecords::new(0)),
            writers: Writers::default(),
        }
    }

    /// Moves the memory to the context's queue of pending frees.
    fn free_later(&mut self, memory: &Memory) {
        let source = std::mem::replace(&mut self.source, Source::MemAlloc);
        memory.defer(Freed { address: self.address, bytes: self.bytes, source }, &self.context);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.is_empty() {
            return;
        }
        let context = self.context.clone();
        if is_in_host_fn() {
            return defer_drop(Box::new(self.take()));
        }
        let memory = Memory::of(&context);
        if !self.source.is_external() {
            memory.statistics.freed(self.bytes);
        }
        if context.is_lost() {
            return self.end_in_lost_context();
        }
        let waits = matches!(self.source, Source::MemAlloc) || memory.pending.is_deferring();
        if waits && !self.source.is_external() {
            return self.free_later(memory);
        }
        if let Err(error) = self.free() {
            if error.is_not_permitted() {
                // A host function of another library, which only the driver knows of.
                if !self.source.is_external() {
                    memory.statistics.not_freed(self.bytes);
                }
                return defer_drop(Box::new(self.take()));
            }
            tracing::warn!(%error, bytes = self.bytes, "device memory could not be freed");
            // The memory may still be in use, so its owner is leaked. In a lost context it is not.
            if !self.context.is_lost() {
                std::mem::forget(std::mem::replace(&mut self.source, Source::MemAlloc));
            }
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("device", &self.context.device().ordinal())
            .field("address", &format_args!("{:#x}", self.address))
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
