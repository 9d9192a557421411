//! Whole programs, bad input and other clients of the stack, on whichever driver the machine has.
//!
//! `cuda_prelude` chooses: a GPU where there is one, else the software device. A test that only a GPU can judge says
//! `skipped: NAME (no GPU)`. What a single crate can be asked is tested in that crate.

mod bad_input;
mod beside;
mod c_client;
mod choice;
mod cleanup;
mod cuda_cpp;
mod cudarc;
mod design;
mod examples;
mod faults;
mod gpu;
mod graphs;
mod host_arrays;
mod interleavings;
mod launches;
mod layout;
mod manual;
mod numba;
mod other_crate;
mod panics;
mod programs;
mod single_flight;
mod situations;
mod spans;
mod streams;
mod support;
mod vectors;
