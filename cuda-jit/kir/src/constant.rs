//! Constants in memory: tables that kernels index, and values that the host updates between launches.

use std::sync::Arc;

use super::{ArrayDecl, Module, Space};

/// The size of a module's constant memory in bytes.
pub const CONSTANT_MEMORY: u64 = 64 << 10;

/// The minimum alignment of constant memory in bytes; elements may require more.
const ALIGN: u64 = 16;

/// A global array of a module that no kernel writes.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{CONSTANT_MEMORY, ConstantDecl, Module, taken};
///
/// let module: Module =
///     "kir 1 constant c0 gain: f32 1 constant host \"0000803f\" constant c1 large: u8 2 global \"0102\"
///      kernel f() { b0: return }".parse()?;
/// let gain: &ConstantDecl = &module.constants[0];
/// assert_eq!((gain.symbol(0), gain.align()), ("constant0_gain".to_owned(), 16));
/// // Four bytes, padded to sixteen. The other constant lies in global memory.
/// assert_eq!((gain.constant_memory(), taken(4)), (16, 16));
/// assert_eq!(module.constants[1].constant_memory(), 0);
/// assert!(module.constant_memory() <= CONSTANT_MEMORY);
/// # Ok::<(), cuda_jit_kir::text::ParseError>(())
/// ```
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
