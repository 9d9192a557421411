//! A kernel compiled for one target: its code, and the properties that loading, launches and panics need.
//!
//! It does not depend on the origin of the code, which is the compiler or a bundle.

use std::borrow::Cow;

use crate::kir::Site;
use crate::requirements::Requirements;
use crate::target::Target;
use crate::typeinfo::HostConstant;

/// A kernel compiled for one target.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// The target.
    pub(crate) target: Target,
    /// The entry symbol.
    pub(crate) entry: Cow<'static, str>,
    /// The number of dimensions of the grid position that the kernel queries; 0 if it does not.
    pub(crate) grid_dims: usize,
    /// The host-updatable constants, by their symbols.
    pub(crate) host_constants: Vec<(String, HostConstant)>,
    /// True if it has a grid-wide barrier.
    pub(crate) cooperative: bool,
    /// The bytes of dynamic shared memory for `shared!` arrays that do not fit into static shared memory.
    pub(crate) spilled_bytes: usize,
    /// The bytes of stack that a thread should have if its functions call themselves.
    pub(crate) recursion_stack: Option<u64>,
    /// The source locations that can panic, by their numbers in panic records.
    pub(crate) sites: Vec<Site>,
    /// The properties of a launch that a `race_free` kernel's proof relies on.
    pub(crate) requirements: Option<Requirements>,
    /// The code.
    pub(crate) ptx: Cow<'static, str>,
    /// Machine code for the target, if a bundle has it.
    pub(crate) cubin: Option<&'static [u8]>,
    /// Its source.
    #[cfg(feature = "compiler")]
    pub(crate) source: crate::compile::Source,
}
