//! What threads do together: barriers, fences, atomics, shuffles and votes.

use super::function::{Lowering, Result};
use super::layout::shown;
use super::types::{Val, intrinsic_type};
use crate::harvest::{Intrinsic, Ty};
use crate::kir::{BinaryOp, Op, Scalar, ShuffleOp, Value};
use crate::syntax::{Expr, Pos};

impl Lowering<'_> {
    /// An intrinsic that concerns other threads; `scalar` is its generic argument, if it has one.
    pub(super) fn together(
        &mut self,
        at: Pos,
        intrinsic: Intrinsic,
        scalar: Option<Scalar>,
        args: &'static [Expr],
    ) -> Result<Val> {
        let scalar = scalar.unwrap_or(Scalar::U32);
        let op = match intrinsic {
            Intrinsic::Barrier => Op::Barrier,
            Intrinsic::Fence(scope) => Op::Fence(scope),
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
                Op::MatchAny(mask, self.integer_bits(value, scalar))
            }
            Intrinsic::Atomic(op) => {
                let pointer = self.pointer(at, &args[0])?;
                Op::Atomic(op, pointer, self.scalar(&args[1], scalar)?)
            }
            Intrinsic::CompareExchange => {
                let pointer = self.pointer(at, &args[0])?;
                let old = self.scalar(&args[1], scalar)?;
                Op::CompareExchange(pointer, old, self.scalar(&args[2], scalar)?)
            }
            Intrinsic::Shuffle(op) => {
                let mask = self.scalar(&args[0], Scalar::U32)?;
                let value = self.scalar(&args[1], scalar)?;
                let lane = self.scalar(&args[2], Scalar::U32)?;
                return Ok(Val::scalar(scalar, self.shuffle(op, mask, value, lane, scalar)));
            }
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

    /// The address that a reference holds.
    fn pointer(&mut self, at: Pos, reference: &'static Expr) -> Result<Value> {
        let value = self.expr(reference, None)?;
        match value.ty {
            Ty::Ref(..) => Ok(self.address(value)),
            other => Err(self.error(at, format!("a value of type `{}` is no reference to a number", shown(&other)))),
        }
    }

    fn integer_bits(&mut self, value: Value, scalar: Scalar) -> Value {
        match scalar {
            Scalar::F32 => self.build.value(Op::Bitcast(value, Scalar::U32), Scalar::U32),
            Scalar::F64 => self.build.value(Op::Bitcast(value, Scalar::U64), Scalar::U64),
            _ => value,
        }
    }

    /// The hardware shuffles 32 bits at a time, so a wider number goes in two halves.
    fn shuffle(&mut self, op: ShuffleOp, mask: Value, value: Value, lane: Value, scalar: Scalar) -> Value {
        if scalar.bits() == 32 {
            return self.build.value(Op::Shuffle(op, mask, value, lane), scalar);
        }
        let bits = match scalar {
            Scalar::U64 => value,
            _ => self.build.value(Op::Bitcast(value, Scalar::U64), Scalar::U64),
        };
        let half = self.constant(Scalar::U64, 32);
        let high = self.build.value(Op::Binary(BinaryOp::Shr, bits, half), Scalar::U64);
        let [low, high] = [bits, high].map(|part| {
            let word = self.build.value(Op::Cast(part, Scalar::U32), Scalar::U32);
            let taken = self.build.value(Op::Shuffle(op, mask, word, lane), Scalar::U32);
            self.build.value(Op::Cast(taken, Scalar::U64), Scalar::U64)
        });
        let high = self.build.value(Op::Binary(BinaryOp::Shl, high, half), Scalar::U64);
        let whole = self.build.value(Op::Binary(BinaryOp::Or, high, low), Scalar::U64);
        match scalar {
            Scalar::U64 => whole,
            _ => self.build.value(Op::Bitcast(whole, scalar), scalar),
        }
    }
}
