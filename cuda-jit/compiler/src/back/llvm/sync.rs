//! Lowers synchronisation: barriers, shuffles, votes, reductions; also clocks and conditional graph nodes.
//!
//! Every function of a module with such an operation is `convergent`, so that LLVM does not change the control flow
//! around it.

use cuda_llvm::inkwell;
use inkwell::values::BasicValueEnum;
use inkwell::{AddressSpace, IntPredicate};

use super::EmitError;
use super::function::{Body, GLOBAL, Result};
use crate::kir::{BarrierOp, Clock, Op, ReduceOp, SET_CONDITIONAL, ShuffleOp, Value, VoteOp};

/// The last operand of a shuffle: bits 0 to 4 clamp the source lane, to the highest lane of a segment or for `up` to
/// the lowest, ...
const LAST_LANE: u64 = 31;
/// ... and the bits from this one on are the mask of a lane's number that selects its segment.
const PART: u32 = 8;

impl<'ctx> Body<'ctx, '_> {
    /// Lowers a synchronisation operation; returns its result, if it has one.
    pub(super) fn synchronisation(&self, op: &Op) -> Result<Option<BasicValueEnum<'ctx>>> {
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
            Op::Shuffle(op, width, mask, value, lane) => self.shuffle(*op, *width, *mask, *value, *lane).map(Some),
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
            Op::MatchAll(mask, value) => {
                let width = self.ty(*value).scalar().map_or(32, |scalar| scalar.bits());
                let name = format!("llvm.nvvm.match.all.sync.i{width}p");
                let pair = self.lowering.intrinsic(&name, &[], &[self.value(*mask), self.value(*value)])?;
                Ok(Some(self.builder().build_extract_value(pair.into_struct_value(), 0, "")?))
            }
            Op::Reduce(op, mask, value) => {
                let signed = self.ty(*value).scalar().is_some_and(|scalar| scalar.is_signed());
                let name = match (op, signed) {
                    (ReduceOp::Add, _) => "add",
                    (ReduceOp::Min, true) => "min",
                    (ReduceOp::Min, false) => "umin",
                    (ReduceOp::Max, true) => "max",
                    (ReduceOp::Max, false) => "umax",
                    (ReduceOp::And, _) => "and",
                    (ReduceOp::Or, _) => "or",
                    (ReduceOp::Xor, _) => "xor",
                };
                call(&format!("llvm.nvvm.redux.sync.{name}"), &[self.value(*value), self.value(*mask)])
            }
            Op::ClusterBarrier => {
                call("llvm.nvvm.barrier.cluster.arrive", &[])?;
                call("llvm.nvvm.barrier.cluster.wait", &[])
            }
            Op::MapShared(pointer, rank) => self.map_shared(*pointer, *rank).map(Some),
            Op::GridBarrier => self.grid_barrier().map(Some),
            Op::Panicked => self.panicked().map(Some),
            Op::Clock(clock) => {
                let register = match clock {
                    Clock::CyclesLow => "clock",
                    Clock::Cycles => "clock64",
                    Clock::Nanoseconds => "globaltimer",
                };
                call(&format!("llvm.nvvm.read.ptx.sreg.{register}"), &[])
            }
            // a hint, which older devices have no instruction for
            Op::Sleep(_) if self.lowering.capability < (7, 0).into() => Ok(None),
            Op::Sleep(time) => call("llvm.nvvm.nanosleep", &[self.value(*time)]),
            Op::Breakpoint => call("llvm.debugtrap", &[]),
            Op::SetConditional(number, value) => self.set_conditional(*number, *value).map(|()| None),
            Op::SyncWarp(mask) => call("llvm.nvvm.bar.warp.sync", &[self.value(*mask)]),
            Op::ActiveMask => call("llvm.nvvm.activemask", &[]),
            _ => Err(self.unverified("operation of several threads")),
        }
    }

    /// Emits a call of CUDA's device runtime.
    fn set_conditional(&self, number: Value, value: Value) -> Result<()> {
        let (module, context) = (&self.lowering.module, self.lowering.context);
        let function = module.get_function(SET_CONDITIONAL).unwrap_or_else(|| {
            let parameters = [context.i64_type().into(), context.i32_type().into()];
            module.add_function(SET_CONDITIONAL, context.void_type().fn_type(&parameters, false), None)
        });
        self.builder().build_call(function, &[self.value(number).into(), self.value(value).into()], "")?;
        Ok(())
    }

    /// Maps a shared address to another block's memory, as a generic address. It is inline PTX: LLVM's intrinsic claims
    /// that the pointer does not escape, so that LLVM would miss writes to the array through the result.
    fn map_shared(&self, pointer: Value, rank: Value) -> Result<BasicValueEnum<'ctx>> {
        let context = self.lowering.context;
        let generic = context.ptr_type(AddressSpace::default());
        let own = self.builder().build_address_space_cast(self.value(pointer).into_pointer_value(), generic, "")?;
        let ty = generic.fn_type(&[generic.into(), context.i32_type().into()], false);
        let (text, constraints) = ("mapa.u64 $0, $1, $2;".to_owned(), "=l,l,r".to_owned());
        let map = context.create_inline_asm(ty, text, constraints, false, false, None, false);
        let call = self.builder().build_indirect_call(ty, map, &[own.into(), self.value(rank).into()], "")?;
        call.try_as_basic_value().basic().ok_or_else(|| self.unverified("address"))
    }

    /// The barrier's word: the second word of the workspace that the driver gives a cooperative launch, whose address
    /// is in two special registers.
    fn grid_barrier(&self) -> Result<BasicValueEnum<'ctx>> {
        let (builder, context) = (self.builder(), self.lowering.context);
        let half = |number: u32| {
            let read = self.lowering.intrinsic(&format!("llvm.nvvm.read.ptx.sreg.envreg{number}"), &[], &[])?;
            Ok::<_, EmitError>(builder.build_int_z_extend(read.into_int_value(), context.i64_type(), "")?)
        };
        let (high, low) = (half(1)?, half(2)?);
        let high = builder.build_left_shift(high, context.i64_type().const_int(32, false), "")?;
        let workspace = builder.build_or(high, low, "")?;
        let word = builder.build_int_add(workspace, context.i64_type().const_int(4, false), "")?;
        let pointer = context.ptr_type(AddressSpace::from(GLOBAL));
        Ok(builder.build_int_to_ptr(word, pointer, "")?.into())
    }

    /// Tests whether a thread of the launch has panicked: the panic record holds a kernel's number, which the panicking
    /// thread writes last. It is read by inline PTX: LLVM 22 crashes on an atomic load through a `noalias` parameter
    /// that is not written.
    fn panicked(&self) -> Result<BasicValueEnum<'ctx>> {
        if self.lowering.exported {
            return Ok(self.lowering.context.bool_type().const_zero().into());
        }
        let (record, _) = self.hidden_params();
        let new = self.lowering.capability >= (7, 0).into();
        let text = format!("ld.{}.global.b32 $0, [$1+4];", if new { "relaxed.sys" } else { "volatile" });
        let ty = self.lowering.context.i32_type().fn_type(&[record.get_type().into()], false);
        let (constraints, context) = ("=r,l,~{memory}".to_owned(), self.lowering.context);
        let read = context.create_inline_asm(ty, text, constraints, true, false, None, false);
        let call = self.builder().build_indirect_call(ty, read, &[record.into()], "")?;
        let found = call.try_as_basic_value().basic().ok_or_else(|| self.unverified("load"))?;
        let none = context.i32_type().const_zero();
        Ok(self.builder().build_int_compare(IntPredicate::NE, found.into_int_value(), none, "")?.into())
    }

    fn shuffle(
        &self,
        op: ShuffleOp,
        width: u32,
        mask: Value,
        value: Value,
        lane: Value,
    ) -> Result<BasicValueEnum<'ctx>> {
        let word = self.lowering.context.i32_type();
        let (name, limit) = match op {
            ShuffleOp::Index => ("idx", LAST_LANE),
            ShuffleOp::Up => ("up", 0),
            ShuffleOp::Down => ("down", LAST_LANE),
            ShuffleOp::Xor => ("bfly", LAST_LANE),
        };
        let limit = limit | u64::from(32 - width) << PART;
        let own = self.value(value);
        let bits = self.builder().build_bit_cast(own, word, "")?;
        let arguments = [self.value(mask), bits, self.value(lane), word.const_int(limit, false).into()];
        let taken = self.lowering.intrinsic(&format!("llvm.nvvm.shfl.sync.{name}.i32"), &[], &arguments)?;
        Ok(self.builder().build_bit_cast(taken, own.get_type(), "")?)
    }
}
