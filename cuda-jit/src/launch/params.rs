//! The driver's parameter list: one eight-byte cell per parameter, without allocation.

use std::ffi::c_void;

/// The most parameters that a kernel can have after slices and tuples are taken apart.
pub(super) const MAX_PARAMS: usize = 64;

/// The values of a kernel's parameters and the pointers to them.
#[derive(Debug)]
pub struct Params {
    cells: [u64; MAX_PARAMS],
    pointers: [*mut c_void; MAX_PARAMS],
    len: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self::new()
    }
}

impl Params {
    /// No parameters.
    pub fn new() -> Self {
        Self { cells: [0; MAX_PARAMS], pointers: [std::ptr::null_mut(); MAX_PARAMS], len: 0 }
    }

    /// Appends a parameter; one narrower than eight bytes lies in the low bytes, where the driver reads it.
    ///
    /// # Panics
    ///
    /// If there are more than 64, which no kernel of at most sixteen parameters has.
    pub fn push(&mut self, bits: u64) {
        self.cells[self.len] = bits;
        self.len += 1;
    }

    /// A pointer to each parameter's value. They are valid until the list is moved or changed.
    pub fn pointers(&mut self) -> &mut [*mut c_void] {
        for (pointer, cell) in self.pointers.iter_mut().zip(&mut self.cells) {
            *pointer = std::ptr::from_mut(cell).cast();
        }
        &mut self.pointers[..self.len]
    }
}
