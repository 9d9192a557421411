//! The crate on the tracing driver: which calls it makes, in which order, and what it does when one fails.

#[expect(dead_code, reason = "the support is shared with the tests of cuda-mem, which use other parts of it")]
#[path = "../support/mod.rs"]
mod support;

mod contexts;
mod devices;
mod graphs;
mod launches;
mod modules;
mod panics;
mod pools;
mod settings;
mod streams;
