//! The driver's parameter list: one cell of sixteen bytes per parameter; without allocation for up to [`INLINE`].
//!
//! # Safety
//!
//! Only the tests dereference the pointers.

use std::ffi::c_void;

use smallvec::SmallVec;

/// The number of parameters that need no allocation: eight slices and a few numbers.
const INLINE: usize = 24;

/// The values of a kernel's parameters.
#[cfg_attr(doc, doc(hidden))]
#[derive(Debug, Default)]
pub struct Params {
    cells: SmallVec<[u128; INLINE]>,
}

impl Params {
    /// No parameters.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a parameter; if it is narrower than sixteen bytes, it is in the low bytes, where the driver reads it.
    #[inline]
    pub fn push(&mut self, bits: u128) {
        self.cells.push(bits);
    }

    /// A parameter's value, zero-extended.
    pub(crate) fn cell(&self, index: usize) -> Option<u128> {
        self.cells.get(index).copied()
    }

    /// Calls `launch` with a pointer to each parameter's value. The pointers are valid during the call.
    #[inline]
    pub fn with_pointers<R>(&mut self, launch: impl FnOnce(&mut [*mut c_void]) -> R) -> R {
        let (len, null) = (self.cells.len(), std::ptr::null_mut());
        // Built in place: moving a list costs as much as the rest of the launch.
        let mut inline = [null; INLINE];
        let mut heap = Vec::new();
        let pointers = match inline.get_mut(..len) {
            Some(pointers) => pointers,
            None => {
                heap.resize(len, null);
                &mut heap[..]
            }
        };
        for (pointer, cell) in pointers.iter_mut().zip(&mut self.cells) {
            *pointer = std::ptr::from_mut(cell).cast();
        }
        launch(pointers)
    }
}

/// The cells of arguments that are not bound yet, as far as they are known: those of a launch that may be refused before
/// anything is copied.
#[cfg_attr(doc, doc(hidden))]
#[derive(Debug, Default)]
pub struct Sizes {
    cells: Vec<Option<u128>>,
    /// True after an argument whose number of cells is not known.
    ended: bool,
}

impl Sizes {
    /// Appends a cell; `None` for one that only binding tells, such as an address.
    pub fn push(&mut self, cell: Option<u128>) {
        if !self.ended {
            self.cells.push(cell);
        }
    }

    /// Ends the known cells.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// A parameter's value.
    pub(crate) fn cell(&self, index: usize) -> Option<u128> {
        self.cells.get(index).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pointer_leads_to_its_value_also_past_what_lies_inline() {
        for len in [0, 1, INLINE as u128, INLINE as u128 + 1, 100] {
            let mut params = Params::new();
            (0..len).for_each(|value| params.push(value * 3));
            let values = params.with_pointers(|pointers| {
                // SAFETY: each pointer points to a value of the list, which lives until the closure returns.
                pointers.iter().map(|pointer| unsafe { pointer.cast::<u128>().read() }).collect::<Vec<_>>()
            });
            assert_eq!(values, (0..len).map(|value| value * 3).collect::<Vec<_>>());
        }
    }
}
