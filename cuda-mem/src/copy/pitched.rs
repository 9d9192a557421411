//! The driver's linear, 2D and 3D copies, for every plan that they support.
//!
//! # Safety
//!
//! The `unsafe` blocks call the driver's copies; the callers answer for the memory.

use std::ffi::c_void;

use cuda_driver::{Context, Stream, driver_call};
use cuda_sys::{CUDA_MEMCPY3D, CUdeviceptr, CUmemorytype};

use crate::error::Result;
use crate::layout::{CopyPlan, PlanAxis};
use crate::spans;

/// One end of a copy: the address of an array's first element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Endpoint {
    Device(CUdeviceptr),
    Host(*mut c_void),
}

impl Endpoint {
    fn offset_by(self, bytes: isize) -> Self {
        match self {
            Endpoint::Device(address) => Endpoint::Device(address.wrapping_add_signed(bytes as i64)),
            Endpoint::Host(address) => Endpoint::Host(address.wrapping_byte_offset(bytes)),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Endpoint::Device(_) => "device",
            Endpoint::Host(_) => "host",
        }
    }

    fn kind(self) -> CUmemorytype {
        match self {
            Endpoint::Device(_) => CUmemorytype::CU_MEMORYTYPE_DEVICE,
            Endpoint::Host(_) => CUmemorytype::CU_MEMORYTYPE_HOST,
        }
    }

    fn device(self) -> CUdeviceptr {
        match self {
            Endpoint::Device(address) => address,
            Endpoint::Host(_) => 0,
        }
    }

    fn host(self) -> *mut c_void {
        match self {
            Endpoint::Device(_) => std::ptr::null_mut(),
            Endpoint::Host(address) => address,
        }
    }
}

/// The smallest row in bytes for which a pitched copy is worth its cost.
const SHORTEST_ROW: usize = 64;

/// A copy of rows: in bytes, rows and planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pitched {
    to: isize,
    from: isize,
    row: usize,
    rows: usize,
    planes: usize,
    /// The pitch from row to row in bytes, and the number of rows from plane to plane, in the target and in the source.
    to_pitch: (usize, usize),
    from_pitch: (usize, usize),
}

impl Pitched {
    /// The driver's copy for the plan, of elements of `bytes`; `None` if there is none, or only with very short rows.
    pub(crate) fn new(plan: &CopyPlan, bytes: usize) -> Option<Self> {
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
        let pitch = |of: fn(&PlanAxis) -> isize| -> Option<(usize, usize)> {
            let Some(line) = line else { return Some((row, 1)) };
            let pitch = usize::try_from(of(line)).ok()? * bytes;
            let height = match plane {
                None => line.extent,
                Some(plane) => {
                    let step = usize::try_from(of(plane)).ok()? * bytes;
                    (pitch != 0 && step.is_multiple_of(pitch)).then(|| step / pitch)?
                }
            };
            // The driver supports neither overlapping rows and planes nor a pitch beyond 31 bits.
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

    /// Copies in the order of the stream; without a stream, the copy is blocking.
    ///
    /// # Safety
    ///
    /// The plan's elements lie in live memory at both ends, `to` and `from` being the first elements. Until the copy
    /// has finished, the caller accesses the target exclusively, and nothing writes the source. Host memory lives as
    /// long.
    pub(crate) unsafe fn copy(
        self,
        context: &Context,
        to: Endpoint,
        from: Endpoint,
        stream: Option<&Stream>,
    ) -> Result<()> {
        let _span = spans::copy(from.name(), to.name(), self.row * self.rows * self.planes, stream);
        let (to, from) = (to.offset_by(self.to), from.offset_by(self.from));
        match self {
            // SAFETY: the caller keeps this function's contract, which covers both ranges.
            Pitched { rows: 1, planes: 1, row, .. } => unsafe { linear(context, to, from, row, stream) },
            // SAFETY: the caller keeps this function's contract; the rows and pitches are the plan's.
            _ => unsafe { self.planes(context, to, from, stream) },
        }
    }

    /// # Safety
    ///
    /// As [`Pitched::copy`].
    unsafe fn planes(self, context: &Context, to: Endpoint, from: Endpoint, stream: Option<&Stream>) -> Result<()> {
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
            // SAFETY: `copy` lives through the call and describes the ranges that the caller answers for.
            Some(stream) => unsafe { driver_call!(context, cuMemcpy3DAsync_v2(&copy, stream.as_raw())) },
            // SAFETY: `copy` lives through the call and describes the ranges that the caller answers for.
            None => unsafe { driver_call!(context, cuMemcpy3D_v2(&copy)) },
        };
        Ok(done?)
    }
}

/// # Safety
///
/// As [`Pitched::copy`], for contiguous bytes.
unsafe fn linear(context: &Context, to: Endpoint, from: Endpoint, bytes: usize, stream: Option<&Stream>) -> Result<()> {
    let raw = stream.map(Stream::as_raw);
    let done = match (to, from, raw) {
        // SAFETY: the caller keeps this function's contract, which covers both ranges.
        (Endpoint::Device(to), Endpoint::Device(from), Some(raw)) => unsafe {
            driver_call!(context, cuMemcpyDtoDAsync_v2(to, from, bytes, raw))
        },
        // SAFETY: the caller keeps this function's contract, which covers both ranges.
        (Endpoint::Device(to), Endpoint::Host(from), Some(raw)) => unsafe {
            driver_call!(context, cuMemcpyHtoDAsync_v2(to, from, bytes, raw))
        },
        // SAFETY: the caller keeps this function's contract, which covers both ranges.
        (Endpoint::Device(to), Endpoint::Host(from), None) => unsafe {
            driver_call!(context, cuMemcpyHtoD_v2(to, from, bytes))
        },
        // SAFETY: the caller keeps this function's contract, which covers both ranges.
        (Endpoint::Host(to), Endpoint::Device(from), Some(raw)) => unsafe {
            driver_call!(context, cuMemcpyDtoHAsync_v2(to, from, bytes, raw))
        },
        // SAFETY: the caller keeps this function's contract, which covers both ranges.
        (Endpoint::Host(to), Endpoint::Device(from), None) => unsafe {
            driver_call!(context, cuMemcpyDtoH_v2(to, from, bytes))
        },
        // SAFETY: the caller keeps this function's contract, which covers both ranges.
        (Endpoint::Device(to), Endpoint::Device(from), None) => unsafe {
            driver_call!(context, cuMemcpyDtoD_v2(to, from, bytes))
        },
        (Endpoint::Host(_), Endpoint::Host(_), _) => unreachable!("one end is on a device"),
    };
    Ok(done?)
}
