//! Every integration test of cuda-jit, in one executable.

mod around;
mod depth;
mod generated;
#[path = "../../benches/src/kernels.rs"]
#[allow(dead_code, clippy::allow_attributes, reason = "some are only measured")]
mod kernels;
mod kir_files;
mod language;
mod refused;
#[path = "../../benches/src/suite/kernels.rs"]
#[allow(dead_code, clippy::allow_attributes, reason = "some are only measured")]
mod suite_kernels;
mod support;
