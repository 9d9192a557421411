//! A kernel compiled for one target: its code, and the facts about it that loading, launches and panics need.
//!
//! It says nothing of where the code comes from: the compiler makes it, or a bundle holds it.

use std::borrow::Cow;

use crate::kir::Site;
use crate::target::Target;
use crate::typeinfo::HostConstant;

/// A kernel compiled for one target.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// The target.
    pub(crate) target: Target,
    /// The symbol of the entry.
    pub(crate) entry: Cow<'static, str>,
    /// The dimensions of the grid position that the kernel asks for; 0 if it does not.
    pub(crate) grid_dims: usize,
    /// The constants that the host writes between launches, by their symbols.
    pub(crate) held: Vec<(String, HostConstant)>,
    /// True if it has a grid-wide barrier.
    pub(crate) cooperative: bool,
    /// Bytes of dynamic shared memory that its `shared!` arrays take, because they are more than fixed memory holds.
    pub(crate) spilled_bytes: usize,
    /// The places that can panic, by their numbers in panic records.
    pub(crate) sites: Vec<Site>,
    /// The code.
    pub(crate) ptx: Cow<'static, str>,
    /// Machine code for the target, where a bundle has some.
    pub(crate) cubin: Option<&'static [u8]>,
    /// Its source.
    #[cfg(feature = "compiler")]
    pub(crate) source: crate::compile::Source,
}
