//! Host memory that devices can access: pinned, mapped, managed and registered arrays.
//!
//! `array` is the array type that they share, `memory` allocates, `registered` page-locks memory that already exists for the
//! duration of a closure, and `managed` gives the driver advice about managed memory.

pub(crate) mod array;
pub(crate) mod managed;
pub(crate) mod memory;
pub(crate) mod registered;
