//! Copies of array elements.
//!
//! The callers are `assign` (within a device), `host` (blocking, to and from any host array), `transfer` and `scoped`
//! (asynchronous), `progress` (in pieces) and `peer` (between devices). They share `pitched` (the driver's own 1D, 2D and 3D
//! copies), `strided` (a kernel for all other layouts) and `staging` (packing on the host).

pub(crate) mod assign;
pub(crate) mod host;
pub(crate) mod peer;
pub(crate) mod pitched;
pub(crate) mod progress;
pub(crate) mod scoped;
pub(crate) mod staging;
pub(crate) mod strided;
pub(crate) mod transfer;
