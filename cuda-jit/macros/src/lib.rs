//! The #[kernel] and #[device] attributes of cuda-jit
