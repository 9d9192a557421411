//! The locks, cells and atomics that the crate uses, by one name each.
//!
//! Everything that locks or wakes takes its primitives from here, so that a model checker can replace them in one
//! place. It holds no logic.

pub(crate) use parking_lot::Mutex;
pub(crate) use parking_lot::RwLock;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
pub(crate) use std::sync::{Arc, OnceLock, Weak};
