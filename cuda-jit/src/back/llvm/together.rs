//! Lowers what threads do together: barriers, fences, atomics, shuffles and votes.
//!
//! Every function of a module with such an operation is `convergent`, so that LLVM neither adds nor removes branches
//! around it. Atomics are relaxed at the device's scope, as CUDA's `atomicAdd` is; LLVM's NVPTX back end ignores both of
//! `atomicrmw` and prints an operation without either, which means the same.

use cuda_llvm::inkwell;
use inkwell::values::BasicValueEnum;

use super::function::{Body, Result};
use super::raw::{self, Rmw};
use crate::kir::{AtomicOp, BarrierOp, Op, Scope, ShuffleOp, Value, VoteOp};

/// The last operand of a shuffle: the highest lane that it may read, or for `up` the lowest.
const LAST_LANE: u64 = 31;

impl<'ctx> Body<'ctx, '_> {
    /// Lowers an operation of several threads; what it yields, if anything.
    pub(super) fn together(&self, op: &Op) -> Result<Option<BasicValueEnum<'ctx>>> {
        let call = |name: &str, arguments: &[BasicValueEnum<'ctx>]| self.lowering.call_intrinsic(name, &[], arguments);
        let zero = self.lowering.context.i32_type().const_zero().into();
        match op {
            Op::Barrier => call("llvm.nvvm.barrier.cta.sync.aligned.all", &[zero]),
            Op::BarrierReduce(op, value) => {
                let name = match op {
                    BarrierOp::Count => "popc",
                    BarrierOp::And => "and",
                    BarrierOp::Or => "or",
                };
                call(&format!("llvm.nvvm.barrier.cta.red.{name}.aligned.all"), &[zero, self.value(*value)])
            }
            Op::Fence(scope) => {
                let name = match scope {
                    Scope::Block => "cta",
                    Scope::Device => "gl",
                    Scope::System => "sys",
                };
                call(&format!("llvm.nvvm.membar.{name}"), &[])
            }
            Op::Atomic(op, pointer, value) => self.atomic(*op, *pointer, *value).map(Some),
            Op::CompareExchange(pointer, old, new) => {
                let pointer = self.value(*pointer).into_pointer_value();
                let (old, new) = (self.value(*old).into_int_value(), self.value(*new).into_int_value());
                let pair = raw::compare_exchange(self.lowering.context, self.builder(), pointer, old, new);
                Ok(Some(self.builder().build_extract_value(pair, 0, "")?))
            }
            Op::Shuffle(op, mask, value, lane) => self.shuffle(*op, *mask, *value, *lane).map(Some),
            Op::Vote(op, mask, value) => {
                let name = match op {
                    VoteOp::All => "all",
                    VoteOp::Any => "any",
                    VoteOp::Equal => "uni",
                    VoteOp::Ballot => "ballot",
                };
                call(&format!("llvm.nvvm.vote.{name}.sync"), &[self.value(*mask), self.value(*value)])
            }
            Op::MatchAny(mask, value) => {
                let width = self.ty(*value).scalar().map_or(32, |scalar| scalar.bits());
                call(&format!("llvm.nvvm.match.any.sync.i{width}"), &[self.value(*mask), self.value(*value)])
            }
            Op::SyncWarp(mask) => call("llvm.nvvm.bar.warp.sync", &[self.value(*mask)]),
            Op::ActiveMask => call("llvm.nvvm.activemask", &[]),
            _ => Err(self.unverified("operation of several threads")),
        }
    }

    fn atomic(&self, op: AtomicOp, pointer: Value, value: Value) -> Result<BasicValueEnum<'ctx>> {
        let Some(scalar) = self.ty(value).scalar() else { return Err(self.unverified("atomic")) };
        let rmw = match op {
            AtomicOp::Add if scalar.is_float() => Rmw::LLVMAtomicRMWBinOpFAdd,
            AtomicOp::Add => Rmw::LLVMAtomicRMWBinOpAdd,
            AtomicOp::Sub => Rmw::LLVMAtomicRMWBinOpSub,
            AtomicOp::Min if scalar.is_signed() => Rmw::LLVMAtomicRMWBinOpMin,
            AtomicOp::Min => Rmw::LLVMAtomicRMWBinOpUMin,
            AtomicOp::Max if scalar.is_signed() => Rmw::LLVMAtomicRMWBinOpMax,
            AtomicOp::Max => Rmw::LLVMAtomicRMWBinOpUMax,
            AtomicOp::And => Rmw::LLVMAtomicRMWBinOpAnd,
            AtomicOp::Or => Rmw::LLVMAtomicRMWBinOpOr,
            AtomicOp::Xor => Rmw::LLVMAtomicRMWBinOpXor,
            AtomicOp::Exchange => Rmw::LLVMAtomicRMWBinOpXchg,
            AtomicOp::Inc => Rmw::LLVMAtomicRMWBinOpUIncWrap,
            AtomicOp::Dec => Rmw::LLVMAtomicRMWBinOpUDecWrap,
        };
        let pointer = self.value(pointer).into_pointer_value();
        Ok(raw::atomic(self.lowering.context, self.builder(), rmw, pointer, self.value(value)))
    }

    fn shuffle(&self, op: ShuffleOp, mask: Value, value: Value, lane: Value) -> Result<BasicValueEnum<'ctx>> {
        let word = self.lowering.context.i32_type();
        let (name, limit) = match op {
            ShuffleOp::Index => ("idx", LAST_LANE),
            ShuffleOp::Up => ("up", 0),
            ShuffleOp::Down => ("down", LAST_LANE),
            ShuffleOp::Xor => ("bfly", LAST_LANE),
        };
        let own = self.value(value);
        let bits = self.builder().build_bit_cast(own, word, "")?;
        let arguments = [self.value(mask), bits, self.value(lane), word.const_int(limit, false).into()];
        let taken = self.lowering.intrinsic(&format!("llvm.nvvm.shfl.sync.{name}.i32"), &[], &arguments)?;
        Ok(self.builder().build_bit_cast(taken, own.get_type(), "")?)
    }
}
