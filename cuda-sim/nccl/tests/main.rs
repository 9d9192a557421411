//! The software NCCL as its clients use it: through the C functions of the built library, on software devices.

mod arguments;
mod c_client;
mod collectives;
mod exports;
mod faults;
mod messages;
mod processes;
mod streams;
mod support;
