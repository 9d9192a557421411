//! The crate on the software device: the effects of calls. The tracing driver's tests show the calls themselves.

mod conditional;
mod default_stream;
mod futures;
mod graphs;
mod misuse;
mod modules;
mod nodes;
mod peers;
mod support;
