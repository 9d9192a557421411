//! The crate on the tracing driver: which calls it makes, in which order, and what it does when one fails.

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
