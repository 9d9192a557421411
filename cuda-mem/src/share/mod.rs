//! Arrays that are exchanged with other libraries and processes.
//!
//! `interface` (with `json` as its text form) and `dlpack` describe an array to other libraries, `ipc` hands it to
//! other processes, and `external` makes an array over memory of another owner. `exchange` has the common part of the
//! formats.

pub(crate) mod dlpack;
pub(crate) mod exchange;
pub(crate) mod external;
pub(crate) mod interface;
pub(crate) mod ipc;
#[cfg(feature = "json")]
pub(crate) mod json;
