//! Measurements of the CUDA stack
