//! Launch bounds: constants of a kernel's attribute, which rustc evaluates and the type information carries to the compiler.

use super::ProbeResult;

/// A launch bound as the driver takes it.
///
/// # Panics
///
/// If it is less than 1 or does not fit; the macro evaluates it in a constant, so that rustc reports it.
#[must_use]
pub const fn launch_bound(bound: i128) -> u32 {
    assert!(bound >= 1, "a launch bound is at least 1");
    assert!(bound <= u32::MAX as i128, "a launch bound is at most 2^32 - 1");
    bound as u32
}

impl ProbeResult {
    /// The result for a kernel with launch bounds, of which 0 means unset.
    #[must_use]
    pub fn with_launch_bounds(mut self, bounds: [u32; 3]) -> Self {
        self.0.launch_bounds = bounds;
        self
    }
}
