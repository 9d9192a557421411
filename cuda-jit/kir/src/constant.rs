//! Constants in memory: tables that kernels index, and values that the host updates between launches.

use std::sync::Arc;

use super::{ArrayDecl, Module, Space};

/// The size of a module's constant memory in bytes.
pub const CONSTANT_MEMORY: u64 = 64 << 10;

/// The minimum alignment of constant memory in bytes; elements may require more.
const ALIGN: u64 = 16;

/// A global array of a module that no kernel writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantDecl {
    /// Its name and element type.
    pub array: ArrayDecl,
    /// Its memory space: constant or global.
    pub space: Space,
    /// True if the host may update it between launches. It is then a visible symbol of the module.
    pub host: bool,
    /// Its initial bytes.
    pub bytes: Arc<[u8]>,
}

impl ConstantDecl {
    /// Its symbol in the code; `index` is its position among the module's constants.
    pub fn symbol(&self, index: usize) -> String {
        format!("constant{index}_{}", self.array.name.replace('.', "_"))
    }

    /// Its alignment in bytes.
    pub fn align(&self) -> u32 {
        self.array.element.align().max(ALIGN as u32)
    }

    /// The bytes of constant memory that it takes, including padding.
    pub fn constant_memory(&self) -> u64 {
        if self.space == Space::Constant { taken(self.bytes.len()) } else { 0 }
    }
}

/// The bytes of constant memory that an array of `bytes` bytes takes.
pub fn taken(bytes: usize) -> u64 {
    (bytes as u64).next_multiple_of(ALIGN)
}

impl Module {
    /// The bytes of constant memory that the module's constants take.
    pub fn constant_memory(&self) -> u64 {
        self.constants.iter().map(ConstantDecl::constant_memory).sum()
    }
}
