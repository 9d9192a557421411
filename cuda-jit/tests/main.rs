//! Every integration test of cuda-jit, in one executable.

mod around;
mod depth;
mod device;
mod generated;
#[path = "../../benches/src/kernels.rs"]
#[allow(dead_code, clippy::allow_attributes, reason = "some are only measured")]
mod kernels;
mod kir_files;
// The kernels are written to cover the language, not to be short, and rustc needs minutes for them.
#[cfg(not(clippy))]
mod language;
mod programs;
mod refused;
#[path = "../../benches/src/suite/kernels.rs"]
#[allow(dead_code, clippy::allow_attributes, reason = "some are only measured")]
mod suite_kernels;
mod support;
