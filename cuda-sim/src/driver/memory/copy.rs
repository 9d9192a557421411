//! Copies and fills, blocking and in streams.
//!
//! Blocking copies run in the default stream. As in NVIDIA's driver, a copy in a stream from pageable memory stages its
//! source before the call returns, one to pageable memory is finished when the call returns, and copies between the
//! device and page-locked memory are asynchronous. Operations that are shorter than waking a thread run at once if the
//! stream is idle.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract. Ranges in the device's memory
//! are checked to be inside one live allocation; other ranges are the client's own memory, whose validity the client
//! guarantees.

use crate::driver::graph::capture;
use crate::driver::operations::{Copy3D, Fill, Op};
use crate::driver::state::{Context, ENGINE, context, drained};
use crate::driver::stream::{Stream, target};
use crate::driver::{Status, api, get};
use crate::memory::shared::Access;
use crate::memory::{AllocationKind, MEMORY};
use crate::queue::Start;
use cuda_sys::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUcontext, CUdeviceptr, CUmemorytype, CUresult, CUstream,
};
use std::ffi::{c_uchar, c_uint, c_ushort, c_void};
use std::sync::Arc;

/// Operations on up to this many bytes are shorter than waking a thread.
const SHORT: usize = 64 << 10;

/// The kind of memory to which a range belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemoryKind {
    Device,
    /// Page-locked host memory, which the device may access at any time.
    Pinned,
    /// Other host memory.
    Pageable,
}

fn memory_kind(address: u64, bytes: usize) -> Result<MemoryKind, CUresult> {
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    if bytes == 0 {
        return Ok(MemoryKind::Device);
    }
    let end = address.checked_add(bytes as u64).filter(|_| address != 0).ok_or(invalid)?;
    if MEMORY.owns(address) {
        let found = MEMORY.covering(address, end).ok_or(invalid)?;
        if found.kind == AllocationKind::Mapped(Access::None) {
            return Err(invalid);
        }
        return Ok(if found.kind.is_host() { MemoryKind::Pinned } else { MemoryKind::Device });
    }
    match MEMORY.registration(address) {
        Some(found) if end <= found.start + found.bytes => Ok(MemoryKind::Pinned),
        _ => Ok(MemoryKind::Pageable),
    }
}

/// Checks that the device may access a range.
pub(in crate::driver) fn device_range(address: CUdeviceptr, bytes: usize) -> Status {
    match memory_kind(address, bytes)? {
        MemoryKind::Pageable => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        MemoryKind::Device | MemoryKind::Pinned => Ok(()),
    }
}

/// The memory type that a client specified for one side of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Host,
    Device,
    Any,
}

impl Side {
    fn memory_kind(self, address: u64, bytes: usize) -> Result<MemoryKind, CUresult> {
        let place = memory_kind(address, bytes)?;
        match (self, place) {
            (Side::Device, MemoryKind::Pageable) => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
            _ => Ok(place),
        }
    }
}

/// Returns the number of bytes from the first to the last one that a copy accesses on one side.
fn extent(copy: &Copy3D, pitch: usize, slice: usize) -> Option<usize> {
    if copy.is_empty() {
        return Some(0);
    }
    let slices = slice.checked_mul(copy.slices - 1)?;
    pitch.checked_mul(copy.rows - 1)?.checked_add(slices)?.checked_add(copy.row)
}

/// Returns the kinds of memory of both sides of a copy, which must be those that the client specified.
fn memory_kinds(copy: &Copy3D, sides: (Side, Side)) -> Result<(MemoryKind, MemoryKind), CUresult> {
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    let to = sides.0.memory_kind(copy.to, extent(copy, copy.to_pitch, copy.to_slice).ok_or(invalid)?)?;
    let from = sides.1.memory_kind(copy.from, extent(copy, copy.from_pitch, copy.from_slice).ok_or(invalid)?)?;
    Ok((to, from))
}

/// Enqueues a copy, or captures it; a captured copy uses the memory that is at its addresses when the graph runs.
fn submit(on: CUstream, copy: Copy3D, sides: (Side, Side), asynchronous: bool) -> Status {
    let (context, stream) = if asynchronous { target(on)? } else { drained(target(on))? };
    if !asynchronous {
        capture::check_permitted()?;
        capture::refuse(&stream)?;
    }
    let (to, from) = memory_kinds(&copy, sides)?;
    if copy.is_empty() {
        return Ok(());
    }
    if stream.is_capturing() {
        return stream.submit(&context, Op::Copy(copy), Start::Driver);
    }
    let host = to != MemoryKind::Device || from != MemoryKind::Device;
    if to == MemoryKind::Pageable || (!asynchronous && host) {
        return finished(&context, &stream, Op::Copy(copy));
    }
    if from == MemoryKind::Pageable {
        // If the stream is idle, the copy itself is as fast as one to a staging buffer.
        if stream.is_done() {
            return finished(&context, &stream, Op::Copy(copy));
        }
        let (copy, buffer) = copy.stage();
        return stream.submit(&context, Op::Staged(copy, buffer), Start::Driver);
    }
    stream.submit(&context, Op::Copy(copy), start(copy.bytes()))
}

fn start(bytes: usize) -> Start {
    if bytes <= SHORT { Start::Here } else { Start::Driver }
}

/// Enqueues an operation and waits for it.
fn finished(context: &Arc<Context>, stream: &Stream, op: Op) -> Status {
    let point = stream.enqueue(context, op, Start::Wait);
    ENGINE.wait(point);
    context.fault()
}

const DEFAULT: CUstream = std::ptr::null_mut();

fn address<T>(pointer: *const T) -> u64 {
    pointer.expose_provenance() as u64
}

/// Returns the checked rows of a fill; `None` if there are none.
pub(in crate::driver) fn checked_fill(fill: Fill) -> Result<Option<Fill>, CUresult> {
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    let Fill { to, size, width, rows, pitch, .. } = fill;
    let row = width.checked_mul(size).ok_or(invalid)?;
    if row == 0 || rows == 0 {
        return Ok(None);
    }
    let aligned = |n: u64| n.is_multiple_of(size as u64);
    if !aligned(to) || (rows > 1 && (pitch < row || !aligned(pitch as u64))) {
        return Err(invalid);
    }
    let bytes = pitch.checked_mul(rows - 1).and_then(|n| n.checked_add(row)).ok_or(invalid)?;
    device_range(to, bytes)?;
    Ok(Some(fill))
}

fn fill_rows(
    on: CUstream,
    to: CUdeviceptr,
    value: u32,
    size: usize,
    width: usize,
    rows: usize,
    pitch: usize,
) -> Status {
    let (context, stream) = target(on)?;
    match checked_fill(Fill { to, value, size, width, rows, pitch })? {
        Some(fill) => stream.submit(&context, Op::Fill(fill), start((width * size).saturating_mul(rows))),
        None => Ok(()),
    }
}

fn line(to: CUdeviceptr, value: u32, size: usize, count: usize, on: CUstream) -> Status {
    fill_rows(on, to, value, size, count, 1, 0)
}

/// One side of a two- or three-dimensional copy.
struct Volume {
    kind: CUmemorytype,
    host: u64,
    device: CUdeviceptr,
    x: usize,
    y: usize,
    z: usize,
    pitch: usize,
    height: usize,
}

impl Volume {
    /// Returns the address of the first byte, the pitch of rows and slices, and the specified memory type.
    fn resolve(&self, width: usize, height: usize) -> Result<(u64, usize, usize, Side), CUresult> {
        let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
        let (base, side) = match self.kind {
            CUmemorytype::CU_MEMORYTYPE_HOST => (self.host, Side::Host),
            CUmemorytype::CU_MEMORYTYPE_DEVICE => (self.device, Side::Device),
            CUmemorytype::CU_MEMORYTYPE_UNIFIED => (self.device, Side::Any),
            CUmemorytype::CU_MEMORYTYPE_ARRAY => return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED),
            _ => return Err(invalid),
        };
        // 0 means without padding.
        let least = self.x.checked_add(width).zip(self.y.checked_add(height)).ok_or(invalid)?;
        let pitch = if self.pitch == 0 { least.0 } else { self.pitch };
        let rows = if self.height == 0 { least.1 } else { self.height };
        if least.0 > pitch || least.1 > rows {
            return Err(invalid);
        }
        let slice = pitch.checked_mul(rows).ok_or(invalid)?;
        let row = pitch.checked_mul(self.y).and_then(|rows| rows.checked_add(self.x));
        let offset = slice.checked_mul(self.z).zip(row).and_then(|(slices, row)| slices.checked_add(row));
        let first = base.checked_add(offset.ok_or(invalid)? as u64).ok_or(invalid)?;
        Ok((first, pitch, slice, side))
    }
}

/// Returns the rows of a copy, and the specified memory type of each side.
fn volumes(from: &Volume, to: &Volume, size: [usize; 3]) -> Result<(Copy3D, (Side, Side)), CUresult> {
    let [row, rows, slices] = size;
    if size.iter().any(|n| *n > i64::MAX as usize / 4) {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let (from, from_pitch, from_slice, from_side) = from.resolve(row, rows)?;
    let (to, to_pitch, to_slice, to_side) = to.resolve(row, rows)?;
    let copy = Copy3D { to, from, row, rows, slices, to_pitch, from_pitch, to_slice, from_slice };
    Ok((copy, (to_side, from_side)))
}

/// Builds both sides from a client's struct; its fields have the same names in all versions.
macro_rules! sides {
    ($c:ident, $sz:expr, $dz:expr, $sh:expr, $dh:expr) => {{
        let from = Volume {
            kind: $c.srcMemoryType,
            host: address($c.srcHost),
            device: $c.srcDevice,
            x: $c.srcXInBytes,
            y: $c.srcY,
            z: $sz,
            pitch: $c.srcPitch,
            height: $sh,
        };
        let to = Volume {
            kind: $c.dstMemoryType,
            host: address($c.dstHost),
            device: $c.dstDevice,
            x: $c.dstXInBytes,
            y: $c.dstY,
            z: $dz,
            pitch: $c.dstPitch,
            height: $dh,
        };
        (from, to)
    }};
}

fn copy_2d(spec: *const CUDA_MEMCPY2D, on: CUstream, asynchronous: bool) -> Status {
    crate::driver::state::ready()?;
    let c = get(spec)?;
    let (from, to) = sides!(c, 0, 0, 0, 0);
    let (copy, sides) = volumes(&from, &to, [c.WidthInBytes, c.Height, 1])?;
    submit(on, copy, sides, asynchronous)
}

fn described(c: &CUDA_MEMCPY3D) -> Result<(Copy3D, (Side, Side)), CUresult> {
    let (from, to) = sides!(c, c.srcZ, c.dstZ, c.srcHeight, c.dstHeight);
    volumes(&from, &to, [c.WidthInBytes, c.Height, c.Depth])
}

/// Returns the copy that a client describes, for a graph.
pub(in crate::driver) fn checked_copy(spec: &CUDA_MEMCPY3D) -> Result<Copy3D, CUresult> {
    let (copy, sides) = described(spec)?;
    memory_kinds(&copy, sides)?;
    Ok(copy)
}

/// Returns, for the destination and the source of a copy, true if it is device memory.
pub(in crate::driver) fn on_device_sides(copy: &Copy3D) -> (bool, bool) {
    let device = |at: u64| MEMORY.find(at).is_some_and(|a| !a.kind.is_host());
    (device(copy.to), device(copy.from))
}

/// Describes a copy: device memory as such, anything else as host memory.
pub(in crate::driver) fn description(copy: &Copy3D) -> CUDA_MEMCPY3D {
    let side = |device: bool, at: u64| match device {
        true => (CUmemorytype::CU_MEMORYTYPE_DEVICE, 0, at),
        false => (CUmemorytype::CU_MEMORYTYPE_HOST, at, 0),
    };
    let rows = |slice: usize, pitch: usize| slice.checked_div(pitch).unwrap_or(0);
    let sides = on_device_sides(copy);
    let (to_kind, to_host, to) = side(sides.0, copy.to);
    let (from_kind, from_host, from) = side(sides.1, copy.from);
    CUDA_MEMCPY3D {
        srcMemoryType: from_kind,
        srcHost: from_host as *const c_void,
        srcDevice: from,
        srcPitch: copy.from_pitch,
        srcHeight: rows(copy.from_slice, copy.from_pitch),
        dstMemoryType: to_kind,
        dstHost: to_host as *mut c_void,
        dstDevice: to,
        dstPitch: copy.to_pitch,
        dstHeight: rows(copy.to_slice, copy.to_pitch),
        WidthInBytes: copy.row,
        Height: copy.rows,
        Depth: copy.slices,
        ..CUDA_MEMCPY3D::default()
    }
}

fn copy_3d(spec: *const CUDA_MEMCPY3D, on: CUstream, asynchronous: bool) -> Status {
    crate::driver::state::ready()?;
    let (copy, sides) = described(&get(spec)?)?;
    submit(on, copy, sides, asynchronous)
}

fn copy_3d_peer(spec: *const CUDA_MEMCPY3D_PEER, on: CUstream, asynchronous: bool) -> Status {
    crate::driver::state::ready()?;
    let c = get(spec)?;
    context(c.srcContext)?;
    context(c.dstContext)?;
    let (from, to) = sides!(c, c.srcZ, c.dstZ, c.srcHeight, c.dstHeight);
    let (copy, sides) = volumes(&from, &to, [c.WidthInBytes, c.Height, c.Depth])?;
    submit(on, copy, sides, asynchronous)
}

fn from_host(to: CUdeviceptr, from: *const c_void, bytes: usize, on: CUstream, asynchronous: bool) -> Status {
    submit(on, Copy3D::line(to, address(from), bytes), (Side::Device, Side::Host), asynchronous)
}

fn to_host(to: *mut c_void, from: CUdeviceptr, bytes: usize, on: CUstream, asynchronous: bool) -> Status {
    submit(on, Copy3D::line(address(to), from, bytes), (Side::Host, Side::Device), asynchronous)
}

fn on_device(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, on: CUstream, asynchronous: bool) -> Status {
    submit(on, Copy3D::line(to, from, bytes), (Side::Device, Side::Device), asynchronous)
}

fn unified(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, on: CUstream, asynchronous: bool) -> Status {
    submit(on, Copy3D::line(to, from, bytes), (Side::Any, Side::Any), asynchronous)
}

/// Copies between contexts, whose memory is in one address range: a copy on the device.
fn between(
    to: (CUdeviceptr, CUcontext),
    from: (CUdeviceptr, CUcontext),
    bytes: usize,
    on: CUstream,
    asynchronous: bool,
) -> Status {
    let (target, source) = (context(to.1)?, context(from.1)?);
    if !asynchronous {
        // The blocking variant follows all work of both contexts.
        target.synchronize()?;
        source.synchronize()?;
    }
    on_device(to.0, from.0, bytes, on, asynchronous)
}

api! {
    fn cuMemcpy / cuMemcpy_ptds(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) {
        unified(to, from, bytes, DEFAULT, false)
    }
    fn cuMemcpyAsync / cuMemcpyAsync_ptsz(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, on: CUstream) {
        unified(to, from, bytes, on, true)
    }
    fn cuMemcpyHtoD_v2 / cuMemcpyHtoD_v2_ptds(to: CUdeviceptr, from: *const c_void, bytes: usize) {
        from_host(to, from, bytes, DEFAULT, false)
    }
    fn cuMemcpyHtoDAsync_v2 / cuMemcpyHtoDAsync_v2_ptsz(
        to: CUdeviceptr,
        from: *const c_void,
        bytes: usize,
        on: CUstream,
    ) {
        from_host(to, from, bytes, on, true)
    }
    fn cuMemcpyDtoH_v2 / cuMemcpyDtoH_v2_ptds(to: *mut c_void, from: CUdeviceptr, bytes: usize) {
        to_host(to, from, bytes, DEFAULT, false)
    }
    fn cuMemcpyDtoHAsync_v2 / cuMemcpyDtoHAsync_v2_ptsz(
        to: *mut c_void,
        from: CUdeviceptr,
        bytes: usize,
        on: CUstream,
    ) {
        to_host(to, from, bytes, on, true)
    }
    fn cuMemcpyDtoD_v2 / cuMemcpyDtoD_v2_ptds(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) {
        on_device(to, from, bytes, DEFAULT, false)
    }
    fn cuMemcpyDtoDAsync_v2 / cuMemcpyDtoDAsync_v2_ptsz(
        to: CUdeviceptr,
        from: CUdeviceptr,
        bytes: usize,
        on: CUstream,
    ) {
        on_device(to, from, bytes, on, true)
    }
    fn cuMemcpyPeer / cuMemcpyPeer_ptds(
        to: CUdeviceptr,
        to_context: CUcontext,
        from: CUdeviceptr,
        from_context: CUcontext,
        bytes: usize,
    ) {
        between((to, to_context), (from, from_context), bytes, DEFAULT, false)
    }
    fn cuMemcpyPeerAsync / cuMemcpyPeerAsync_ptsz(
        to: CUdeviceptr,
        to_context: CUcontext,
        from: CUdeviceptr,
        from_context: CUcontext,
        bytes: usize,
        on: CUstream,
    ) {
        between((to, to_context), (from, from_context), bytes, on, true)
    }
    fn cuMemcpy2D_v2 / cuMemcpy2D_v2_ptds(spec: *const CUDA_MEMCPY2D) { copy_2d(spec, DEFAULT, false) }
    fn cuMemcpy2DUnaligned_v2 / cuMemcpy2DUnaligned_v2_ptds(spec: *const CUDA_MEMCPY2D) {
        copy_2d(spec, DEFAULT, false)
    }
    fn cuMemcpy2DAsync_v2 / cuMemcpy2DAsync_v2_ptsz(spec: *const CUDA_MEMCPY2D, on: CUstream) {
        copy_2d(spec, on, true)
    }
    fn cuMemcpy3D_v2 / cuMemcpy3D_v2_ptds(spec: *const CUDA_MEMCPY3D) { copy_3d(spec, DEFAULT, false) }
    fn cuMemcpy3DAsync_v2 / cuMemcpy3DAsync_v2_ptsz(spec: *const CUDA_MEMCPY3D, on: CUstream) {
        copy_3d(spec, on, true)
    }
    fn cuMemcpy3DPeer / cuMemcpy3DPeer_ptds(spec: *const CUDA_MEMCPY3D_PEER) { copy_3d_peer(spec, DEFAULT, false) }
    fn cuMemcpy3DPeerAsync / cuMemcpy3DPeerAsync_ptsz(spec: *const CUDA_MEMCPY3D_PEER, on: CUstream) {
        copy_3d_peer(spec, on, true)
    }
    fn cuMemsetD8_v2 / cuMemsetD8_v2_ptds(to: CUdeviceptr, value: c_uchar, count: usize) {
        line(to, u32::from(value), 1, count, DEFAULT)
    }
    fn cuMemsetD16_v2 / cuMemsetD16_v2_ptds(to: CUdeviceptr, value: c_ushort, count: usize) {
        line(to, u32::from(value), 2, count, DEFAULT)
    }
    fn cuMemsetD32_v2 / cuMemsetD32_v2_ptds(to: CUdeviceptr, value: c_uint, count: usize) {
        line(to, value, 4, count, DEFAULT)
    }
    fn cuMemsetD8Async / cuMemsetD8Async_ptsz(to: CUdeviceptr, value: c_uchar, count: usize, on: CUstream) {
        line(to, u32::from(value), 1, count, on)
    }
    fn cuMemsetD16Async / cuMemsetD16Async_ptsz(to: CUdeviceptr, value: c_ushort, count: usize, on: CUstream) {
        line(to, u32::from(value), 2, count, on)
    }
    fn cuMemsetD32Async / cuMemsetD32Async_ptsz(to: CUdeviceptr, value: c_uint, count: usize, on: CUstream) {
        line(to, value, 4, count, on)
    }
    fn cuMemsetD2D8_v2 / cuMemsetD2D8_v2_ptds(
        to: CUdeviceptr,
        pitch: usize,
        value: c_uchar,
        width: usize,
        rows: usize,
    ) {
        fill_rows(DEFAULT, to, u32::from(value), 1, width, rows, pitch)
    }
    fn cuMemsetD2D16_v2 / cuMemsetD2D16_v2_ptds(
        to: CUdeviceptr,
        pitch: usize,
        value: c_ushort,
        width: usize,
        rows: usize,
    ) {
        fill_rows(DEFAULT, to, u32::from(value), 2, width, rows, pitch)
    }
    fn cuMemsetD2D32_v2 / cuMemsetD2D32_v2_ptds(
        to: CUdeviceptr,
        pitch: usize,
        value: c_uint,
        width: usize,
        rows: usize,
    ) {
        fill_rows(DEFAULT, to, value, 4, width, rows, pitch)
    }
    fn cuMemsetD2D8Async / cuMemsetD2D8Async_ptsz(
        to: CUdeviceptr,
        pitch: usize,
        value: c_uchar,
        width: usize,
        rows: usize,
        on: CUstream,
    ) {
        fill_rows(on, to, u32::from(value), 1, width, rows, pitch)
    }
    fn cuMemsetD2D16Async / cuMemsetD2D16Async_ptsz(
        to: CUdeviceptr,
        pitch: usize,
        value: c_ushort,
        width: usize,
        rows: usize,
        on: CUstream,
    ) {
        fill_rows(on, to, u32::from(value), 2, width, rows, pitch)
    }
    fn cuMemsetD2D32Async / cuMemsetD2D32Async_ptsz(
        to: CUdeviceptr,
        pitch: usize,
        value: c_uint,
        width: usize,
        rows: usize,
        on: CUstream,
    ) {
        fill_rows(on, to, value, 4, width, rows, pitch)
    }
}
