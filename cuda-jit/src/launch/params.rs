//! The driver's parameter list: one eight-byte cell per parameter; without allocation for up to [`INLINE`].

use std::ffi::c_void;

use smallvec::SmallVec;

/// So many parameters need no allocation: eight slices and a few numbers.
const INLINE: usize = 24;

/// The values of a kernel's parameters and the pointers to them.
#[derive(Debug, Default)]
pub struct Params {
    cells: SmallVec<[u64; INLINE]>,
    pointers: SmallVec<[*mut c_void; INLINE]>,
}

impl Params {
    /// No parameters.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a parameter; one narrower than eight bytes lies in the low bytes, where the driver reads it.
    pub fn push(&mut self, bits: u64) {
        self.cells.push(bits);
    }

    /// A pointer to each parameter's value. They are valid until the list is moved or changed.
    pub fn pointers(&mut self) -> &mut [*mut c_void] {
        self.pointers.clear();
        self.pointers.extend(self.cells.iter_mut().map(|cell| std::ptr::from_mut(cell).cast()));
        &mut self.pointers
    }
}
