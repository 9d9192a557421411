//! Whole programs, bad input and other clients of the stack, on the machine's driver.
//!
//! `cuda_prelude` chooses a GPU if there is one, else the software device. A test that needs a GPU prints
//! `skipped: NAME (no GPU)`. Tests that need only one crate are in that crate.

mod bad_input;
mod c_client;
mod checkers;
mod choice;
mod cleanup;
mod coexistence;
mod cuda_cpp;
mod cudarc;
mod design;
mod examples;
mod faults;
mod gpu;
mod graphs;
mod host_arrays;
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
mod verdicts;
