//! The driver's copies of rows and of planes of rows, for any plan that they can do.
//!
//! # Safety
//!
//! The `unsafe` blocks call the driver's copies, whose memory the callers answer for.

use std::ffi::c_void;

use cuda_driver::{Context, Stream, driver_call};
use cuda_sys::{CUDA_MEMCPY3D, CUdeviceptr, CUmemorytype};

use crate::error::Result;
use crate::layout::{Plan, Run};
use crate::spans;

/// One end of a copy: the address of an array's first element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    Device(CUdeviceptr),
    Host(*mut c_void),
}

impl End {
    fn moved(self, bytes: isize) -> Self {
        match self {
            End::Device(address) => End::Device(address.wrapping_add_signed(bytes as i64)),
            End::Host(address) => End::Host(address.wrapping_byte_offset(bytes)),
        }
    }

    fn name(self) -> &'static str {
        match self {
            End::Device(_) => "device",
            End::Host(_) => "host",
        }
    }

    fn kind(self) -> CUmemorytype {
        match self {
            End::Device(_) => CUmemorytype::CU_MEMORYTYPE_DEVICE,
            End::Host(_) => CUmemorytype::CU_MEMORYTYPE_HOST,
        }
    }

    fn device(self) -> CUdeviceptr {
        match self {
            End::Device(address) => address,
            End::Host(_) => 0,
        }
    }

    fn host(self) -> *mut c_void {
        match self {
            End::Device(_) => std::ptr::null_mut(),
            End::Host(address) => address,
        }
    }
}

/// Fewer bytes in a row are not worth a row of a copy.
const SHORTEST_ROW: usize = 64;

/// A copy of rows: in bytes, rows and planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pitched {
    to: isize,
    from: isize,
    row: usize,
    rows: usize,
    planes: usize,
    /// From a row to the next, and how many such steps from a plane to the next: in the target and in the source.
    to_pitch: (usize, usize),
    from_pitch: (usize, usize),
}

impl Pitched {
    /// The driver's copy that does the plan, of elements of `bytes`; `None` if none does, or only in very short rows.
    pub(crate) fn new(plan: &Plan, bytes: usize) -> Option<Self> {
        let row = plan.contiguous() * bytes;
        let (plane, line) = match plan.outer() {
            [] => (None, None),
            [line] => (None, Some(line)),
            [plane, line] => (Some(plane), Some(line)),
            _ => return None,
        };
        if line.is_some() && row < SHORTEST_ROW {
            return None;
        }
        let pitch = |of: fn(&Run) -> isize| -> Option<(usize, usize)> {
            let Some(line) = line else { return Some((row, 1)) };
            let pitch = usize::try_from(of(line)).ok()? * bytes;
            let height = match plane {
                None => line.extent,
                Some(plane) => {
                    let step = usize::try_from(of(plane)).ok()? * bytes;
                    (pitch != 0 && step.is_multiple_of(pitch)).then(|| step / pitch)?
                }
            };
            // The driver takes no rows and planes that overlap, and no pitch beyond 31 bits.
            (pitch >= row && height >= line.extent && i32::try_from(pitch).is_ok()).then_some((pitch, height))
        };
        Some(Pitched {
            to: plan.to * bytes as isize,
            from: plan.from * bytes as isize,
            row,
            rows: line.map_or(1, |line| line.extent),
            planes: plane.map_or(1, |plane| plane.extent),
            to_pitch: pitch(|run| run.to)?,
            from_pitch: pitch(|run| run.from)?,
        })
    }

    /// Copies on the host's time if a stream is missing, else in its order.
    ///
    /// # Safety
    ///
    /// The plan's elements lie in live memory at both ends, `to` and `from` being the first elements; the target's are the
    /// caller's alone until the copy is over, the source's change no more. Host memory lives as long.
    pub(crate) unsafe fn copy(self, context: &Context, to: End, from: End, stream: Option<&Stream>) -> Result<()> {
        let _span = spans::copy(from.name(), to.name(), self.row * self.rows * self.planes, stream);
        let (to, from) = (to.moved(self.to), from.moved(self.from));
        match self {
            // SAFETY: the caller's promise.
            Pitched { rows: 1, planes: 1, row, .. } => unsafe { one_row(context, to, from, row, stream) },
            // SAFETY: the caller's promise; the rows and pitches are the plan's.
            _ => unsafe { self.planes(context, to, from, stream) },
        }
    }

    /// # Safety
    ///
    /// As [`Pitched::copy`].
    unsafe fn planes(self, context: &Context, to: End, from: End, stream: Option<&Stream>) -> Result<()> {
        let copy = CUDA_MEMCPY3D {
            srcMemoryType: from.kind(),
            srcHost: from.host(),
            srcDevice: from.device(),
            srcPitch: self.from_pitch.0,
            srcHeight: self.from_pitch.1,
            dstMemoryType: to.kind(),
            dstHost: to.host(),
            dstDevice: to.device(),
            dstPitch: self.to_pitch.0,
            dstHeight: self.to_pitch.1,
            WidthInBytes: self.row,
            Height: self.rows,
            Depth: self.planes,
            ..CUDA_MEMCPY3D::default()
        };
        let done = match stream {
            // SAFETY: `copy` lives through the call and says what the caller promised.
            Some(stream) => unsafe { driver_call!(context, cuMemcpy3DAsync_v2(&copy, stream.as_raw())) },
            // SAFETY: as above.
            None => unsafe { driver_call!(context, cuMemcpy3D_v2(&copy)) },
        };
        Ok(done?)
    }
}

/// # Safety
///
/// As [`Pitched::copy`], of bytes one after the other.
unsafe fn one_row(context: &Context, to: End, from: End, bytes: usize, stream: Option<&Stream>) -> Result<()> {
    let raw = stream.map(Stream::as_raw);
    let done = match (to, from, raw) {
        // SAFETY: the caller's promise.
        (End::Device(to), End::Device(from), Some(raw)) => unsafe {
            driver_call!(context, cuMemcpyDtoDAsync_v2(to, from, bytes, raw))
        },
        // SAFETY: the caller's promise.
        (End::Device(to), End::Host(from), Some(raw)) => unsafe {
            driver_call!(context, cuMemcpyHtoDAsync_v2(to, from, bytes, raw))
        },
        // SAFETY: the caller's promise.
        (End::Device(to), End::Host(from), None) => unsafe { driver_call!(context, cuMemcpyHtoD_v2(to, from, bytes)) },
        // SAFETY: the caller's promise.
        (End::Host(to), End::Device(from), Some(raw)) => unsafe {
            driver_call!(context, cuMemcpyDtoHAsync_v2(to, from, bytes, raw))
        },
        // SAFETY: the caller's promise.
        (End::Host(to), End::Device(from), None) => unsafe { driver_call!(context, cuMemcpyDtoH_v2(to, from, bytes)) },
        // SAFETY: the caller's promise.
        (End::Device(to), End::Device(from), None) => unsafe {
            driver_call!(context, cuMemcpyDtoD_v2(to, from, bytes))
        },
        (End::Host(_), End::Host(_), _) => unreachable!("one end is on a device"),
    };
    Ok(done?)
}
