//! What operations need of a device, where older ones than they need can be compiled for. LLVM would abort the process.
//!
//! Operations that older devices do in another way are not here: they are lowered so.

use super::EmitError;
use crate::kir::{Module, Op, Order, Scope, Special};
use crate::target::{ComputeCapability, Target};

/// Refuses a module that holds what the target does not have.
pub(super) fn check(module: &Module, target: &Target) -> Result<(), EmitError> {
    let blocks = module.functions.iter().flat_map(|function| &function.blocks);
    for inst in blocks.flat_map(|block| &block.insts) {
        if let Some((what, needs)) = needs(&inst.op)
            && target.capability() < needs
        {
            return Err(EmitError::TooOld { what, needs, target: *target });
        }
    }
    Ok(())
}

/// What an operation is called, and the oldest device that has it.
fn needs(op: &Op) -> Option<(&'static str, ComputeCapability)> {
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
        // It is an instruction, which libdevice calls whatever the device.
        Op::Math(function, _) if function.name == "fast_tanhf" => Some((function.name, (7, 5).into())),
        _ => None,
    }
}
