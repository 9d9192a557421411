//! The crate on the tracing driver: which calls it makes, in which order, and what is left when one fails.

#[expect(dead_code, reason = "the support is shared with the tests of cuda-driver, which use other parts of it")]
#[path = "../../../cuda-driver/tests/support/mod.rs"]
mod support;

mod copies;
mod external;
mod faults;
mod order;
mod views;
