//! The minimum target of each instruction that is newer than this device's oldest target.

use super::{Modifier as M, Opcode, Suffix, Type};

/// Returns the oldest target that has an instruction, as 80 for `sm_80`; 0 if all supported targets have it.
pub(crate) fn oldest_target(opcode: Opcode, suffixes: &[Suffix]) -> u32 {
    match opcode {
        Opcode::Cp | Opcode::St | Opcode::Red if suffixes.contains(&Suffix::Modifier(M::CompleteBytes)) => 90,
        Opcode::Cp if suffixes.contains(&Suffix::Modifier(M::Bulk)) => 90,
        Opcode::Cp => 80,
        Opcode::Ldmatrix | Opcode::Movmatrix => 75,
        Opcode::Stmatrix | Opcode::Setmaxnreg => 90,
        Opcode::Mma => product(suffixes),
        Opcode::Wmma => warp_product(suffixes),
        Opcode::Mbarrier => barrier(suffixes),
        _ => 0,
    }
}

/// Returns true if only architecture-specific targets, such as `sm_90a`, have an instruction.
pub(crate) fn needs_letter(opcode: Opcode) -> bool {
    opcode == Opcode::Setmaxnreg
}

fn product(suffixes: &[Suffix]) -> u32 {
    let has = |m| suffixes.contains(&Suffix::Modifier(m));
    let ty = |ty| suffixes.contains(&Suffix::Type(ty));
    if ty(Type::F64) {
        return if has(M::M8N8K4) { 80 } else { 90 };
    }
    if ty(Type::E4m3) || ty(Type::E5m2) {
        return 89;
    }
    match (has(M::M8N8K4), ty(Type::F16)) {
        (true, _) => 70,
        _ if ty(Type::Bf16) || ty(Type::Tf32) || has(M::And) => 80,
        (_, true) if has(M::M16N8K8) => 75,
        (_, true) => 80,
        _ if has(M::M8N8K16) || has(M::M8N8K32) || has(M::M8N8K128) => 75,
        _ => 80,
    }
}

fn barrier(suffixes: &[Suffix]) -> u32 {
    let newer = [M::ExpectTx, M::CompleteTx, M::TryWait, M::SharedCluster, M::Cluster, M::Relaxed];
    if newer.iter().any(|m| suffixes.contains(&Suffix::Modifier(*m))) { 90 } else { 80 }
}

fn warp_product(suffixes: &[Suffix]) -> u32 {
    let has = |m| suffixes.contains(&Suffix::Modifier(m));
    let ty = |ty| suffixes.contains(&Suffix::Type(ty));
    if ty(Type::Bf16) || has(M::M16N16K8) || ty(Type::F64) || has(M::And) {
        80
    } else if has(M::M8N8K32) || has(M::M8N8K128) {
        75
    } else if ty(Type::S32) || ty(Type::S8) || ty(Type::U8) {
        72
    } else {
        70
    }
}
