//! Programs written with cuda-prelude
