//! Copy nodes of graphs: rows of bytes in one to three dimensions, between memory of the device and of the host.
//!
//! # Safety
//!
//! The `unsafe` blocks call C functions whose obligations are those of all nodes; the callers of the `unsafe` functions
//! answer for the memory behind the addresses.

use std::ffi::c_void;

use cuda_sys::{CUDA_MEMCPY3D, CUdeviceptr, CUmemorytype};

use super::{Graph, GraphNode};
use crate::driver_call;
use crate::error::Result;

/// One side of a [`MemoryCopy`]: a pitched allocation, and the position in it where the copy begins.
///
/// Rows are [`pitch`](CopySide::pitch) bytes apart, and slices [`rows`](CopySide::rows) rows; by default the rows of
/// the copy lie side by side.
///
/// # Examples
///
/// ```
/// use cuda_driver::CopySide;
///
/// let mut image = vec![0_u8; 640 * 480];
/// // A part of the image that begins at byte 20 of row 100.
/// let part = CopySide::host(image.as_mut_ptr().cast()).pitch(640).at(20, 100, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct CopySide {
    memory: Memory,
    pitch: usize,
    rows: usize,
    at: [usize; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Device(CUdeviceptr),
    Host(*mut c_void),
}

impl CopySide {
    fn new(memory: Memory) -> Self {
        CopySide { memory, pitch: 0, rows: 0, at: [0; 3] }
    }

    /// Memory of the device.
    pub fn device(address: CUdeviceptr) -> Self {
        Self::new(Memory::Device(address))
    }

    /// Memory of the host.
    pub fn host(address: *mut c_void) -> Self {
        Self::new(Memory::Host(address))
    }

    /// Sets the pitch: the distance in bytes between the beginnings of two rows.
    pub fn pitch(mut self, bytes: usize) -> Self {
        self.pitch = bytes;
        self
    }

    /// Sets the number of rows between the beginnings of two slices.
    pub fn rows(mut self, rows: usize) -> Self {
        self.rows = rows;
        self
    }

    /// Sets the position where the copy begins: a byte of a row, a row of a slice, and a slice.
    pub fn at(mut self, byte: usize, row: usize, slice: usize) -> Self {
        self.at = [byte, row, slice];
        self
    }

    /// The memory type, device address, host address, pitch and height as the driver takes them, for rows of `width`.
    fn parts(self, width: usize, height: usize) -> (CUmemorytype, CUdeviceptr, *mut c_void, usize, usize) {
        let or = |given: usize, least: usize| if given == 0 { least } else { given };
        let (pitch, rows) = (or(self.pitch, self.at[0] + width), or(self.rows, self.at[1] + height));
        match self.memory {
            Memory::Device(address) => (CUmemorytype::CU_MEMORYTYPE_DEVICE, address, std::ptr::null_mut(), pitch, rows),
            Memory::Host(address) => (CUmemorytype::CU_MEMORYTYPE_HOST, 0, address, pitch, rows),
        }
    }
}

/// A copy of rows of bytes.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{CopySide, Driver, Graph, MemoryCopy, Stream, cuda_sys::CUdeviceptr, driver_call};
///
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut device: CUdeviceptr = 0;
/// // SAFETY: the address lives through the call.
/// unsafe { driver_call!(&context, cuMemAlloc_v2(&mut device, 6)) }?;
/// let (mut matrix, mut back) = ([1_u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [0_u8; 6]);
///
/// // Two rows of three bytes out of three rows of four, to the device, and back as one row.
/// let inner = CopySide::host(matrix.as_mut_ptr().cast()).pitch(4).at(1, 1, 0);
/// let up = MemoryCopy::rows(CopySide::device(device), inner, 3, 2);
/// let down = MemoryCopy::line(CopySide::host(back.as_mut_ptr().cast()), CopySide::device(device), 6);
/// let graph = Graph::new(&context)?;
/// // SAFETY: all memory lives until the graph has run, and nothing else uses it.
/// let first = unsafe { graph.add_copy(&[], &up) }?;
/// // SAFETY: all memory lives until the graph has run, and nothing else uses it.
/// unsafe { graph.add_copy(&[first], &down) }?;
///
/// let stream = Stream::new(&context)?;
/// graph.instantiate()?.launch(&stream, ())?;
/// stream.synchronize()?;
/// assert_eq!(back, [6, 7, 8, 10, 11, 12]);
/// // SAFETY: the graph has run, and nothing else uses the memory.
/// unsafe { driver_call!(&context, cuMemFree_v2(device)) }?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct MemoryCopy {
    to: CopySide,
    from: CopySide,
    /// Bytes of a row, rows of a slice, slices.
    extent: [usize; 3],
}

impl MemoryCopy {
    /// One row of bytes.
    pub fn line(to: CopySide, from: CopySide, bytes: usize) -> Self {
        Self::volume(to, from, [bytes, 1, 1])
    }

    /// Rows of `width` bytes.
    pub fn rows(to: CopySide, from: CopySide, width: usize, height: usize) -> Self {
        Self::volume(to, from, [width, height, 1])
    }

    /// Slices of rows: the bytes in a row, the rows in a slice, and the number of slices.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_driver::{CopySide, MemoryCopy};
    ///
    /// // 4 slices of 3 rows of 16 bytes, out of a larger block whose rows are 64 bytes apart.
    /// let from = CopySide::device(0x1000).pitch(64).rows(10).at(16, 2, 1);
    /// println!("{:?}", MemoryCopy::volume(CopySide::device(0x9000), from, [16, 3, 4]));
    /// ```
    pub fn volume(to: CopySide, from: CopySide, extent: [usize; 3]) -> Self {
        MemoryCopy { to, from, extent }
    }

    /// The copy as the driver takes it.
    pub(super) fn params(&self) -> CUDA_MEMCPY3D {
        let [width, height, depth] = self.extent;
        let (from_type, from_device, from_host, from_pitch, from_rows) = self.from.parts(width, height);
        let (to_type, to_device, to_host, to_pitch, to_rows) = self.to.parts(width, height);
        CUDA_MEMCPY3D {
            srcXInBytes: self.from.at[0],
            srcY: self.from.at[1],
            srcZ: self.from.at[2],
            srcMemoryType: from_type,
            srcDevice: from_device,
            srcHost: from_host,
            srcPitch: from_pitch,
            srcHeight: from_rows,
            dstXInBytes: self.to.at[0],
            dstY: self.to.at[1],
            dstZ: self.to.at[2],
            dstMemoryType: to_type,
            dstDevice: to_device,
            dstHost: to_host,
            dstPitch: to_pitch,
            dstHeight: to_rows,
            WidthInBytes: width,
            Height: height,
            Depth: depth,
            ..CUDA_MEMCPY3D::default()
        }
    }
}

impl Graph {
    /// Adds a copy node. Either side may be host memory.
    ///
    /// # Errors
    ///
    /// [`Error::Graph`](crate::Error::Graph) for a dependency of another graph; [`Error::Driver`](crate::Error::Driver)
    /// with the driver's status.
    ///
    /// # Safety
    ///
    /// At every launch of the graph, both sides are live: memory of this context's device, or of the host. From then
    /// until the launch has finished, nothing else writes them, and nothing else reads the target.
    pub unsafe fn add_copy(&self, after: &[GraphNode], copy: &MemoryCopy) -> Result<GraphNode> {
        let (copy, context) = (copy.params(), self.context());
        self.add(after, None, |node, graph, after, count| {
            // SAFETY: the graph is live and the dependencies are its own; the caller answers for the memory.
            unsafe { driver_call!(context, cuGraphAddMemcpyNode(node, graph, after, count, &copy, context.as_raw())) }
        })
    }

    /// Adds a copy node of bytes within device memory.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// # let mut memory = 0;
    /// # // SAFETY: the address lives through the call.
    /// # unsafe { cuda_driver::driver_call!(&context, cuMemAlloc_v2(&mut memory, 64)) }?;
    /// let graph = cuda_driver::Graph::new(&context)?;
    /// // SAFETY: there are 64 bytes of memory, which nothing else uses.
    /// unsafe { graph.add_memcpy(&[], memory + 32, memory, 32) }?;
    /// graph.instantiate()?.launch(&context.default_stream(), ())?;
    /// # context.synchronize()?;
    /// # // SAFETY: the graph has run, and nothing else uses the memory.
    /// # unsafe { cuda_driver::driver_call!(&context, cuMemFree_v2(memory)) }?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`add_copy`](Graph::add_copy).
    ///
    /// # Safety
    ///
    /// As for [`add_copy`](Graph::add_copy).
    pub unsafe fn add_memcpy(
        &self,
        after: &[GraphNode],
        to: CUdeviceptr,
        from: CUdeviceptr,
        bytes: usize,
    ) -> Result<GraphNode> {
        // SAFETY: the caller answers for both ranges as for `add_copy`.
        unsafe { self.add_copy(after, &MemoryCopy::line(CopySide::device(to), CopySide::device(from), bytes)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_pitch_and_height_fit_the_copy() {
        let side = CopySide::device(0x1000).at(3, 5, 7);
        let params = MemoryCopy::volume(side, CopySide::host(std::ptr::null_mut()), [10, 20, 30]).params();
        assert_eq!(
            (params.dstPitch, params.dstHeight, params.dstXInBytes, params.dstY, params.dstZ),
            (13, 25, 3, 5, 7)
        );
        assert_eq!((params.srcPitch, params.srcHeight), (10, 20));
        let params = MemoryCopy::rows(side.pitch(64).rows(99), side, 10, 20).params();
        assert_eq!((params.dstPitch, params.dstHeight, params.Depth), (64, 99, 1));
    }
}
