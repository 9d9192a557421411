//! The crate on the tracing driver: which calls it makes, in which order, and what is left when one fails.

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
