//! Where a module's shared arrays lie when they are more than a block has for variables of fixed size.
//!
//! PTX's variables in shared memory are 48 KiB at most, on every device; dynamic shared memory is as much as the device
//! has. So arrays beyond that are parts of the dynamic memory: they come first, and what the launch gives the kernel itself
//! lies behind them. A launch gives so many bytes more.

use super::{ArrayDecl, Module, Op};

/// The alignment of shared arrays in bytes, at least: that of the widest load there is.
pub const SHARED_ALIGN: u32 = 16;

/// What a block has for variables of fixed size, in bytes.
const MAX_FIXED: u64 = 48 << 10;

/// What kernels that map other blocks' memory need of it for themselves, as aligned as arrays are.
const COUNTERS: u64 = SHARED_ALIGN as u64;

/// Shared arrays as parts of dynamic shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpilledShared {
    /// Where each array begins, in bytes.
    pub offsets: Vec<u32>,
    /// The bytes of all, behind which the launch's own begin.
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
    /// Whether it reaches the shared memory of other blocks, so that a block's memory outlives its threads.
    #[must_use]
    pub fn maps_shared(&self) -> bool {
        self.ops().any(|op| matches!(op, Op::MapShared(..)))
    }

    /// How the shared arrays lie in dynamic shared memory, if they are more than a block has of fixed size.
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
