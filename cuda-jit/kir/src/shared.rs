//! The layout of a module's shared arrays if they exceed the static limit and are spilled to dynamic shared memory.
//!
//! PTX limits static shared variables to 48 KiB on every device; dynamic shared memory is limited only by the device.
//! So if the arrays exceed that limit they are placed in dynamic memory: the arrays first, then the kernel's own
//! dynamic memory. A launch asks for that many bytes more.

use super::{ArrayDecl, Module, Op};

/// The minimum alignment of shared arrays in bytes: that of the widest load.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Module, SHARED_ALIGN};
///
/// let module: Module = "kir 1 shared m0 flags: u8 3 kernel f() { b0: return }".parse()?;
/// assert_eq!(module.shared[0].shared_align(), SHARED_ALIGN);
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
pub const SHARED_ALIGN: u32 = 16;

/// The limit of static shared memory in bytes.
const MAX_FIXED: u64 = 48 << 10;

/// The shared memory of the counters of kernels that map other blocks' memory, padded to the arrays' alignment.
const COUNTERS: u64 = SHARED_ALIGN as u64;

/// Shared arrays that are spilled to dynamic shared memory.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Module, SpilledShared};
///
/// let module: Module = "kir 1 shared m0 large: u8 65536 kernel f() { b0: return }".parse()?;
/// assert_eq!(module.spilled_shared(), Some(SpilledShared { offsets: vec![0], bytes: 65536, align: 16 }));
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpilledShared {
    /// The offset of each array in bytes.
    pub offsets: Vec<u32>,
    /// The total size in bytes; the launch's own dynamic memory follows.
    pub bytes: u32,
    /// The alignment of the whole.
    pub align: u32,
}

impl ArrayDecl {
    /// Its alignment in shared memory.
    pub fn shared_align(&self) -> u32 {
        SHARED_ALIGN.max(self.element.align())
    }
}

impl Module {
    /// Returns true if it accesses the shared memory of other blocks, so that a block's memory must outlive its
    /// threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit_kir::Module;
    ///
    /// let module: Module = "kir 1 shared m0 a: f32 8 kernel f(v0 block: u32) { b0:
    ///     v1: ptr shared f32 = shared m0
    ///     v2: ptr cluster f32 = map_shared v1, v0
    ///     return }".parse()?;
    /// assert!(module.maps_shared());
    /// # Ok::<(), cuda_jit_kir::text::ParseError>(())
    /// ```
    #[must_use]
    pub fn maps_shared(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::MapShared(..)))
    }

    /// The layout of the shared arrays in dynamic shared memory, if they exceed the static limit.
    ///
    /// # Examples
    ///
    /// ```
    /// let module = |len| format!("kir 1 shared m0 a: f32 8 shared m1 b: f64 {len} kernel f() {{ b0: return }}");
    /// let parse = |len| cuda_jit_kir::text::parse(&module(len));
    /// assert_eq!(parse(6140)?.spilled_shared(), None);
    /// let spilled = parse(6144)?.spilled_shared().unwrap();
    /// assert_eq!((spilled.offsets, spilled.bytes), (vec![0, 32], 49184));
    /// # Ok::<(), cuda_jit_kir::text::ParseError>(())
    /// ```
    #[must_use]
    pub fn spilled_shared(&self) -> Option<SpilledShared> {
        let mut end = 0u64;
        let mut offsets = Vec::with_capacity(self.shared.len());
        for array in &self.shared {
            let start = end.next_multiple_of(array.shared_align().into());
            offsets.push(u32::try_from(start).unwrap_or(u32::MAX));
            end = start.saturating_add(array.len.saturating_mul(array.element.size().into()));
        }
        let own = if self.maps_shared() { COUNTERS } else { 0 };
        if end.saturating_add(own) <= MAX_FIXED {
            return None;
        }
        let parts = self.ops().filter_map(|op| match op {
            Op::DynamicShared(_, part) => Some(part.align()),
            _ => None,
        });
        let align = self.shared.iter().map(ArrayDecl::shared_align).chain(parts).fold(SHARED_ALIGN, u32::max);
        let bytes = u32::try_from(end.next_multiple_of(align.into())).unwrap_or(u32::MAX);
        Some(SpilledShared { offsets, bytes, align })
    }
}
