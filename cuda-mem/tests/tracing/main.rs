//! The crate on the tracing driver: its calls, their order, and the objects that are left when one fails.

#[path = "../../../cuda-driver/tests/support/mod.rs"]
mod support;

mod alloc;
mod copies;
mod external;
mod faults;
mod host;
mod lost;
mod managers;
mod order;
mod peer;
mod sharing;
mod views;
