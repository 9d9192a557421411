//! The oldest targets that have an instruction, for those that came with a later one than this device's oldest.

use super::{Opcode, Suffix};

/// The oldest target, as 80 for `sm_80`, whose instructions include this one; 0 where it is not one of those below.
pub(crate) fn oldest_target(opcode: Opcode, suffixes: &[Suffix]) -> u32 {
    let _ = suffixes;
    match opcode {
        Opcode::Cp => 80,
        _ => 0,
    }
}
