//! Synchronisation intrinsics: barriers, fences, shuffles and votes; also clocks and bit operations.

use super::builder::Builder;
use super::function::{Lowering, Result};
use super::types::{Val, intrinsic_type};
use crate::kir::{BinaryOp, CompareOp, Op, Pointee, Scalar, ShuffleOp, Space, Special, Type, UnaryOp, Value};
use crate::syntax::{Expr, Pos};
use crate::typeinfo::{Intrinsic, Ty};

impl Lowering<'_> {
    /// Lowers a synchronisation intrinsic; `scalar` is its generic argument, if it has one.
    pub(super) fn synchronisation(
        &mut self,
        at: Pos,
        intrinsic: Intrinsic,
        scalar: Option<Scalar>,
        args: &'static [Expr],
    ) -> Result<Val> {
        let scalar = scalar.unwrap_or(Scalar::U32);
        let op = match intrinsic {
            Intrinsic::Barrier => Op::Barrier,
            Intrinsic::Fence(order) => Op::Fence(order),
            Intrinsic::ActiveMask => Op::ActiveMask,
            Intrinsic::BarrierReduce(op) => Op::BarrierReduce(op, self.scalar(&args[0], Scalar::Bool)?),
            Intrinsic::SyncWarp => Op::SyncWarp(self.scalar(&args[0], Scalar::U32)?),
            Intrinsic::Vote(op) => {
                let mask = self.scalar(&args[0], Scalar::U32)?;
                Op::Vote(op, mask, self.scalar(&args[1], Scalar::Bool)?)
            }
            Intrinsic::MatchAny => {
                let mask = self.scalar(&args[0], Scalar::U32)?;
                let value = self.scalar(&args[1], scalar)?;
                Op::MatchAny(mask, self.build.integer_bits(value, scalar))
            }
            Intrinsic::MatchAll => {
                let mask = self.scalar(&args[0], Scalar::U32)?;
                let value = self.scalar(&args[1], scalar)?;
                let value = self.build.integer_bits(value, scalar);
                let found = self.build.value(Op::MatchAll(mask, value), Scalar::U32);
                let none = self.build.constant(Scalar::U32, 0);
                let same = self.build.compare(CompareOp::Ne, found, none);
                return Ok(Val { ty: intrinsic_type(intrinsic, None), leaves: vec![found, same] });
            }
            Intrinsic::Reduce(op) => {
                let mask = self.scalar(&args[0], Scalar::U32)?;
                Op::Reduce(op, mask, self.scalar(&args[1], scalar)?)
            }
            Intrinsic::LaneMask(order) => Op::Special(Special::LaneMask(order)),
            Intrinsic::ComputeCapability => Op::Special(Special::ComputeCapability),
            Intrinsic::Narrow(float) => {
                let low = self.scalar(&args[0], Scalar::F32)?;
                Op::Narrow(float, low, self.scalar(&args[1], Scalar::F32)?)
            }
            Intrinsic::Widen(float) => {
                let bytes = self.scalar(&args[0], Scalar::U16)?;
                let pair = self.build.value(Op::Widen(float, bytes), Scalar::F16x2);
                return Ok(Val { ty: intrinsic_type(intrinsic, None), leaves: self.build.unpack(pair, Scalar::F16x2) });
            }
            Intrinsic::ClusterBarrier => Op::ClusterBarrier,
            Intrinsic::KernelPanicked => Op::Panicked,
            Intrinsic::GridBarrier => {
                let ty = Type::Ptr(Space::Global, Pointee::Scalar(Scalar::U32));
                let word = self.build.value(Op::GridBarrier, ty);
                return Ok(Val { ty: intrinsic_type(intrinsic, None), leaves: vec![word] });
            }
            Intrinsic::Clock(clock) => Op::Clock(clock),
            Intrinsic::Sleep => Op::Sleep(self.scalar(&args[0], Scalar::U32)?),
            Intrinsic::Breakpoint => Op::Breakpoint,
            Intrinsic::SetConditional => {
                let number = self.expr(&args[0], None)?.only();
                Op::SetConditional(number, self.scalar(&args[1], Scalar::U32)?)
            }
            Intrinsic::Shuffle(op, width) => {
                let mask = self.scalar(&args[0], Scalar::U32)?;
                let value = self.scalar(&args[1], scalar)?;
                let lane = self.scalar(&args[2], Scalar::U32)?;
                return Ok(Val::scalar(scalar, self.build.shuffle((op, width), mask, value, lane, scalar)));
            }
            Intrinsic::Library(function) => return self.library(function, args),
            Intrinsic::Bits(_) | Intrinsic::FindFirstSet | Intrinsic::Ternary(_) => {
                return self.bits(intrinsic, scalar, args);
            }
            Intrinsic::AtomicLoad(_)
            | Intrinsic::AtomicStore(_)
            | Intrinsic::Atomic(..)
            | Intrinsic::AtomicNotNan(..)
            | Intrinsic::CompareExchange(_) => return self.atomic(at, intrinsic, scalar, args),
            _ => return Err(self.error(at, "the front end does not know this function; please report this")),
        };
        Ok(match intrinsic_type(intrinsic, Some(scalar)) {
            Ty::Scalar(result) => Val::scalar(result, self.build.value(op, result)),
            _ => {
                self.build.effect(op);
                Val::unit()
            }
        })
    }

    /// Lowers bit operations on one integer or on three.
    fn bits(&mut self, intrinsic: Intrinsic, scalar: Scalar, args: &'static [Expr]) -> Result<Val> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.scalar(arg, scalar)?);
        }
        let value = match (intrinsic, &values[..]) {
            (Intrinsic::Ternary(op), &[a, b, c]) => self.build.value(Op::Ternary(op, a, b, c), scalar),
            (Intrinsic::Bits(op), &[a]) => self.build.unary_value(op, a, scalar),
            (_, &[a, ..]) => {
                // `ffs(0)` is 0
                let trailing = self.build.unary_value(UnaryOp::TrailingZeros, a, scalar);
                let (zero, one) = (self.build.constant(scalar, 0), self.build.constant(scalar, 1));
                let place = self.build.binary_value(BinaryOp::Add, trailing, one, scalar);
                let none = self.build.compare(CompareOp::Eq, a, zero);
                self.build.select(none, zero, place, scalar)
            }
            _ => return Ok(Val::unit()),
        };
        let ty = intrinsic_type(intrinsic, Some(scalar));
        let value = match ty {
            Ty::Scalar(result) if result != scalar => self.build.value(Op::Cast(value, result), result),
            _ => value,
        };
        Ok(Val { ty, leaves: vec![value] })
    }
}

impl Builder {
    pub(super) fn integer_bits(&mut self, value: Value, scalar: Scalar) -> Value {
        match scalar {
            Scalar::F32 => self.value(Op::Bitcast(value, Scalar::U32), Scalar::U32),
            Scalar::F64 => self.value(Op::Bitcast(value, Scalar::U64), Scalar::U64),
            _ => value,
        }
    }

    /// Shuffles a value; the hardware shuffles 32 bits at a time, so wider numbers are split.
    pub(super) fn shuffle(
        &mut self,
        (op, width): (ShuffleOp, u32),
        mask: Value,
        value: Value,
        lane: Value,
        scalar: Scalar,
    ) -> Value {
        if scalar.bits() == 32 {
            return self.value(Op::Shuffle(op, width, mask, value, lane), scalar);
        }
        let bits = match scalar {
            Scalar::U64 => value,
            _ => self.value(Op::Bitcast(value, Scalar::U64), Scalar::U64),
        };
        let half = self.constant(Scalar::U64, 32);
        let high = self.value(Op::Binary(BinaryOp::Shr, bits, half), Scalar::U64);
        let [low, high] = [bits, high].map(|part| {
            let word = self.value(Op::Cast(part, Scalar::U32), Scalar::U32);
            let taken = self.value(Op::Shuffle(op, width, mask, word, lane), Scalar::U32);
            self.value(Op::Cast(taken, Scalar::U64), Scalar::U64)
        });
        let high = self.value(Op::Binary(BinaryOp::Shl, high, half), Scalar::U64);
        let whole = self.value(Op::Binary(BinaryOp::Or, high, low), Scalar::U64);
        match scalar {
            Scalar::U64 => whole,
            _ => self.value(Op::Bitcast(whole, scalar), scalar),
        }
    }
}
