//! A software CUDA driver: runs PTX on this machine's CPU
