//! Back ends: each takes a verified [`Module`](crate::kir::Module) to code. There is one so far, [`llvm`].

pub mod llvm;
