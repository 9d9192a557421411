//! Raw CUDA driver types, one table of its C functions, and toolkit discovery
