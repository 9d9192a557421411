//! Arrays that are exchanged with other libraries and processes.
//!
//! `interface` (with `json` as its text form) and `dlpack` describe an array to other libraries, `ipc` hands it to other
//! processes, and `external` makes an array of memory that somebody else owns. `exchange` has what the formats have in common.

pub(crate) mod dlpack;
pub(crate) mod exchange;
pub(crate) mod external;
pub(crate) mod interface;
pub(crate) mod ipc;
#[cfg(feature = "json")]
pub(crate) mod json;
