//! The crate on the software device: what calls do, where the tracing driver shows which calls are made.

mod conditional;
mod default_stream;
mod futures;
mod graphs;
mod misuse;
mod modules;
mod nodes;
mod peers;
mod support;
