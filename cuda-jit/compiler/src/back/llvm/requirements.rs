//! The compute capability that operations require, for those that older targets lack. LLVM would abort the process on
//! them.
//!
//! Operations that older targets emulate are not listed.

use super::EmitError;
use crate::kir::{Module, Op, Order, Scope, Special};
use crate::target::{ComputeCapability, Target};

/// Refuses a module with operations that the target lacks.
pub(super) fn check(module: &Module, target: &Target) -> Result<(), EmitError> {
    let blocks = module.functions.iter().flat_map(|function| &function.blocks);
    for inst in blocks.flat_map(|block| &block.insts) {
        if let Some((what, needs)) = required(&inst.op)
            && target.capability() < needs
        {
            return Err(EmitError::TooOld { what, needs, target: *target });
        }
    }
    Ok(())
}

/// The name of an operation, and the lowest compute capability that has it.
fn required(op: &Op) -> Option<(&'static str, ComputeCapability)> {
    match op {
        Op::Fence(Order { scope: Scope::Cluster, .. })
        | Op::AtomicLoad(Order { scope: Scope::Cluster, .. }, _)
        | Op::AtomicStore(Order { scope: Scope::Cluster, .. }, ..)
        | Op::Atomic(_, Order { scope: Scope::Cluster, .. }, ..)
        | Op::CompareExchange(Order { scope: Scope::Cluster, .. }, ..) => Some(("scope::Cluster", (9, 0).into())),
        Op::MatchAny(..) => Some(("match_any_sync", (7, 0).into())),
        Op::MatchAll(..) => Some(("match_all_sync", (7, 0).into())),
        Op::ClusterBarrier
        | Op::MapShared(..)
        | Op::Special(
            Special::ClusterBlockIdx(_) | Special::ClusterDim(_) | Special::ClusterRank | Special::ClusterRanks,
        ) => Some(("this_cluster", (9, 0).into())),
        // libdevice emits this instruction for every target
        Op::Math(function, _) if function.name == "fast_tanhf" => Some((function.name, (7, 5).into())),
        _ => None,
    }
}
