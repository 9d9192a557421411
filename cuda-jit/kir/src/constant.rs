//! Constants that lie in memory: tables that kernels index, and what the host updates between launches.

use std::sync::Arc;

use super::{ArrayDecl, Module, Space};

/// How many bytes of constant memory a module has.
pub const CONSTANT_MEMORY: u64 = 64 << 10;

/// Constant memory is aligned to so many bytes, or to what its elements ask for if that is more.
const ALIGN: u64 = 16;

/// An array of a module's that no kernel writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantDecl {
    /// Its name and elements.
    pub array: ArrayDecl,
    /// Where it lies: in constant or in global memory.
    pub space: Space,
    /// Whether the host may write it between launches. It is then a symbol of the module.
    pub host: bool,
    /// What it holds at first.
    pub bytes: Arc<[u8]>,
}

impl ConstantDecl {
    /// Its symbol in the code; `index` is its place among the module's constants.
    pub fn symbol(&self, index: usize) -> String {
        format!("constant{index}_{}", self.array.name.replace('.', "_"))
    }

    /// Its alignment in bytes.
    pub fn align(&self) -> u32 {
        self.array.element.align().max(ALIGN as u32)
    }

    /// What it takes of constant memory, in bytes, with what lies between it and the next.
    pub fn constant_memory(&self) -> u64 {
        if self.space == Space::Constant { taken(self.bytes.len()) } else { 0 }
    }
}

/// What so many bytes take of constant memory.
pub fn taken(bytes: usize) -> u64 {
    (bytes as u64).next_multiple_of(ALIGN)
}

impl Module {
    /// What its constants take of constant memory, in bytes.
    pub fn constant_memory(&self) -> u64 {
        self.constants.iter().map(ConstantDecl::constant_memory).sum()
    }
}
