//! The crate on the tracing driver: its calls, their order, and its reaction when one fails.

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
