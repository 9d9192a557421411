//! [`Lane`]: a stream of its own, in which the pieces of operations pass through page-locked slots.
//!
//! Two counters in page-locked memory order the device and MPI, without a call of either from the other's thread: the stream
//! writes `filled` when a slot is ready for MPI, and waits for `done`, which the worker writes when MPI has finished with it.
//! The stream runs its work in order, so that a slot is filled again only after it was emptied.
//!
//! # Safety
//!
//! A slot belongs to the device until `filled` has passed its piece, then to MPI until `done` has, then to the device again. The
//! blocks enqueue copies between slots and the memory of a checked operation, which is prepared in a stream that the lane's is
//! ordered with.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_driver::{Context, Stream, driver_call};
use cuda_sys::{CUDA_MEMCPY2D_v2, CUmemorytype};

use super::pieces::{DEPTH, Pieces, Rows, slot_bytes};
use super::pinned::Pinned;
use crate::error::Result;

/// The operations that one lane has: all collective ones, or those with a peer in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Way {
    Collective,
    Send(u32),
    Recv(u32),
}

/// The offset of the counter that the worker writes; that of the device is at 0, in another line of the cache.
const DONE: usize = 64;
/// The offset of the first slot.
const FIRST: usize = 128;
/// The distance by which a released counter passes every piece that is enqueued.
const RELEASED: u32 = 1 << 30;

/// The slots of a lane and their counters.
pub(super) struct Slots {
    memory: Pinned,
    /// The bytes of a slot in one direction.
    bytes: usize,
    /// True if a slot has a part for each direction.
    both: bool,
}

impl Slots {
    fn new(context: &Context, way: Way, size: usize) -> Result<Slots> {
        let (bytes, both) = (slot_bytes(size), way == Way::Collective);
        let memory = Pinned::new(context, FIRST + DEPTH * bytes * if both { 2 } else { 1 })?;
        Ok(Slots { memory, bytes, both })
    }

    /// The offset of what a piece brings to MPI.
    fn source_offset(&self, piece: u32) -> usize {
        FIRST + piece as usize % DEPTH * self.bytes * if self.both { 2 } else { 1 }
    }

    /// The offset of what MPI brings to a piece.
    fn result_offset(&self, piece: u32) -> usize {
        self.source_offset(piece) + if self.both { self.bytes } else { 0 }
    }

    /// The part of a piece's slot that MPI reads.
    pub(super) fn source(&self, piece: u32) -> *mut u8 {
        self.memory.host(self.source_offset(piece))
    }

    /// The part of a piece's slot that MPI writes.
    pub(super) fn result(&self, piece: u32) -> *mut u8 {
        self.memory.host(self.result_offset(piece))
    }

    fn counter(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: the counters lie in memory that lives as long as this value, are aligned, and are accessed atomically alone.
        unsafe { AtomicU32::from_ptr(self.memory.host(offset).cast()) }
    }

    /// Returns true if the device has filled the slot of a piece.
    pub(super) fn is_filled(&self, piece: u32) -> bool {
        self.counter(0).load(Ordering::Acquire).wrapping_sub(piece.wrapping_add(1)).cast_signed() >= 0
    }

    /// Gives the slot of a piece back to the device; false if the lane was released meanwhile.
    pub(super) fn complete(&self, piece: u32) -> bool {
        let next = piece.wrapping_add(1);
        self.counter(DONE).compare_exchange(piece, next, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Lets the stream run through all pieces that are enqueued, whose results are then unspecified.
    pub(super) fn release(&self) {
        self.counter(DONE).fetch_add(RELEASED, Ordering::AcqRel);
    }
}

/// A stream with slots.
pub(super) struct Lane {
    stream: Stream,
    pub(super) slots: Arc<Slots>,
    /// The number of pieces that were enqueued, modulo 2 to the 32nd.
    issued: u32,
}

impl Lane {
    pub(super) fn new(context: &Context, way: Way, size: usize) -> Result<Lane> {
        Ok(Lane { stream: Stream::new(context)?, slots: Arc::new(Slots::new(context, way, size)?), issued: 0 })
    }

    /// The number of the next piece.
    pub(super) fn next(&self) -> u32 {
        self.issued
    }

    /// Orders later work of the lane after the present work of `stream`.
    pub(super) fn fork(&self, stream: &Stream) -> Result<()> {
        Ok(self.stream.wait_for(stream)?)
    }

    /// Orders later work of `stream` after the present work of the lane.
    pub(super) fn join(&self, stream: &Stream) -> Result<()> {
        Ok(stream.wait_for(&self.stream)?)
    }

    /// Enqueues a copy of an operand to memory of its own, and returns its address.
    ///
    /// # Safety
    ///
    /// As for [`enqueue`](Lane::enqueue).
    pub(super) unsafe fn copy_aside(&self, (from, bytes): (u64, usize)) -> Result<u64> {
        let (context, raw, mut at) = (self.stream.context(), self.stream.as_raw(), 0);
        // SAFETY: the stream is live, and the address lives through the call.
        unsafe { driver_call!(context, cuMemAllocAsync(&mut at, bytes, raw)) }?;
        // SAFETY: the caller keeps the contract for the operand; the new memory is as long.
        unsafe { driver_call!(context, cuMemcpyDtoDAsync_v2(at, from, bytes, raw)) }?;
        Ok(at)
    }

    /// Frees memory of [`copy_aside`](Lane::copy_aside) after the present work of the lane.
    pub(super) fn free(&self, at: u64) -> Result<()> {
        // SAFETY: the memory is from this stream's device, and nobody uses it in the order of the stream any more: the stream has waited
        // for the operation, which was its only user.
        Ok(unsafe { driver_call!(self.stream.context(), cuMemFreeAsync(at, self.stream.as_raw())) }?)
    }

    /// Enqueues the copies of all pieces of an operation.
    ///
    /// # Safety
    ///
    /// The memory of the operation is live, and not used in conflict, in the order of a stream from which the lane was forked and
    /// which it is joined with.
    pub(super) unsafe fn enqueue(&mut self, pieces: &Pieces, own: Option<Own>) -> Result<()> {
        let first = self.issued;
        let count = pieces.len();
        self.issued = first.wrapping_add(count as u32);
        for piece in 0..count {
            if let Some(earlier) = piece.checked_sub(DEPTH) {
                // SAFETY: the caller keeps the contract.
                unsafe { self.empty(pieces, earlier, first) }?;
            }
            // SAFETY: as above.
            unsafe { self.fill(pieces, piece, first) }?;
        }
        for piece in count.saturating_sub(DEPTH)..count {
            // SAFETY: as above.
            unsafe { self.empty(pieces, piece, first) }?;
        }
        if let Some(Own { from, to, bytes }) = own {
            let raw = self.stream.as_raw();
            // SAFETY: both are memory of the operation, which the caller promises, and do not overlap.
            unsafe { driver_call!(self.stream.context(), cuMemcpyDtoDAsync_v2(to, from, bytes, raw)) }?;
        }
        Ok(())
    }

    /// Enqueues the copy of a piece to its slot, and then the counter.
    ///
    /// # Safety
    ///
    /// As for [`enqueue`](Lane::enqueue).
    unsafe fn fill(&self, pieces: &Pieces, piece: usize, first: u32) -> Result<()> {
        let number = first.wrapping_add(piece as u32);
        if let Some(rows) = pieces.source(piece) {
            // SAFETY: the caller keeps the contract; the slot is the device's, which has emptied it.
            unsafe { self.copy(rows, self.slots.source(number), true) }?;
        }
        let (at, raw) = (self.slots.memory.device(0), self.stream.as_raw());
        // SAFETY: the counter lives as long as the lane, and the stream is live.
        unsafe { driver_call!(self.stream.context(), cuStreamWriteValue32_v2(raw, at, number.wrapping_add(1), 0)) }?;
        Ok(())
    }

    /// Enqueues a wait for MPI, and then the copy of a piece's result from its slot.
    ///
    /// # Safety
    ///
    /// As for [`enqueue`](Lane::enqueue).
    unsafe fn empty(&self, pieces: &Pieces, piece: usize, first: u32) -> Result<()> {
        let number = first.wrapping_add(piece as u32);
        let (at, raw) = (self.slots.memory.device(DONE), self.stream.as_raw());
        // SAFETY: the counter lives as long as the lane, and the stream is live. The flags ask for "at least".
        unsafe { driver_call!(self.stream.context(), cuStreamWaitValue32_v2(raw, at, number.wrapping_add(1), 0)) }?;
        if let Some(rows) = pieces.result(piece) {
            // SAFETY: the caller keeps the contract; the slot is the device's after the wait.
            unsafe { self.copy(rows, self.slots.result(number), false) }?;
        }
        Ok(())
    }

    /// Enqueues a copy between the device's rows and a slot, in which they lie one behind the other.
    ///
    /// # Safety
    ///
    /// The rows are memory of an operation, as for [`enqueue`](Lane::enqueue); the slot has room for them and is the device's.
    unsafe fn copy(&self, rows: Rows, slot: *mut u8, to_host: bool) -> Result<()> {
        let (context, raw, slot) = (self.stream.context(), self.stream.as_raw(), slot.cast::<c_void>());
        let Rows { at, width, rows: count, pitch } = rows;
        if count == 1 {
            return Ok(match to_host {
                // SAFETY: the caller keeps the contract.
                true => unsafe { driver_call!(context, cuMemcpyDtoHAsync_v2(slot, at, width, raw)) },
                // SAFETY: as above.
                false => unsafe { driver_call!(context, cuMemcpyHtoDAsync_v2(at, slot, width, raw)) },
            }?);
        }
        let (host, device) = (CUmemorytype::CU_MEMORYTYPE_HOST, CUmemorytype::CU_MEMORYTYPE_DEVICE);
        let copy = CUDA_MEMCPY2D_v2 {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: if to_host { device } else { host },
            srcHost: slot,
            srcDevice: at,
            srcArray: std::ptr::null_mut(),
            srcPitch: if to_host { pitch } else { width },
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: if to_host { host } else { device },
            dstHost: slot,
            dstDevice: at,
            dstArray: std::ptr::null_mut(),
            dstPitch: if to_host { width } else { pitch },
            WidthInBytes: width,
            Height: count,
        };
        // SAFETY: the caller keeps the contract; the description lives through the call.
        Ok(unsafe { driver_call!(context, cuMemcpy2DAsync_v2(&copy, raw)) }?)
    }
}

/// The root's own part of a broadcast, which is copied on the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) bytes: usize,
}
