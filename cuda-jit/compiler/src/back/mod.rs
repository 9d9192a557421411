//! Back ends: each compiles a verified [`Module`](crate::kir::Module). There is one so far, [`llvm`].

pub mod llvm;
