//! Every integration test of cuda-jit, in one executable.

mod around;
mod depth;
mod generated;
mod kir_files;
mod language;
mod refused;
mod support;
