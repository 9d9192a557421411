//! Conformance, faults, whole programs and C clients of the CUDA stack
