//! `for` over ranges, with `.rev()` and `.step_by(n)`.
//!
//! The loop runs from its first value to its last, both included, and looks at the distance still to go before it
//! steps, so that no bound overflows.

use super::function::{Lowering, Result, Target};
use super::types::Val;
use crate::harvest::Ty;
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, Terminator, Value};
use crate::syntax::{Block, Pattern, Range};

impl Lowering<'_> {
    /// `for pattern in range { body }`
    pub(super) fn for_loop(
        &mut self,
        number: u32,
        pattern: &'static Pattern,
        range: &'static Range,
        body: &'static Block,
    ) -> Result<Val> {
        let scalar = self.range_type(pattern, range);
        let start = self.scalar(&range.start, scalar)?;
        let end = self.scalar(&range.end, scalar)?;
        let step = range.step.as_ref().map(|step| self.step(step)).transpose()?;
        let compare = if range.inclusive { CompareOp::Le } else { CompareOp::Lt };
        let any = self.build.value(Op::Compare(compare, start, end), Scalar::Bool);
        let (enter, exit) = self.fork(any);
        self.build.select_block(enter);
        let one = self.constant(scalar, 1);
        let end = match range.inclusive {
            true => end,
            false => self.build.value(Op::Binary(BinaryOp::Sub, end, one), scalar),
        };
        let (first, last) = if range.reversed { (end, start) } else { (start, end) };
        let slot = self.build.slot("for", scalar);
        self.build.effect(Op::Set(slot, first));
        let (again, next) = (self.build.block(), self.build.block());
        self.jump_into(again);
        let current = self.build.value(Op::Get(slot), scalar);
        self.bind(pattern, Val::scalar(scalar, current))?;
        self.targets.push(Target { number, exit, again: Some(next), result: None });
        self.block(body, None)?;
        self.targets.pop();
        self.jump_into(next);
        let current = self.build.value(Op::Get(slot), scalar);
        let more = self.more(scalar, current, last, step, range.reversed);
        let advance = self.build.block();
        self.build.end(Terminator::Branch(more, advance, exit));
        self.build.select_block(advance);
        let by = match step {
            Some(step) => self.cast_value(step, Scalar::U64, scalar),
            None => self.constant(scalar, 1),
        };
        let op = if range.reversed { BinaryOp::Sub } else { BinaryOp::Add };
        let stepped = self.build.value(Op::Binary(op, current, by), scalar);
        self.build.effect(Op::Set(slot, stepped));
        self.build.end(Terminator::Jump(again));
        self.build.select_block(exit);
        Ok(Val::unit())
    }

    fn range_type(&self, pattern: &Pattern, range: &Range) -> Scalar {
        let bound = match pattern {
            Pattern::Bind(number) => self.harvest.bindings[*number as usize].clone(),
            _ => None,
        };
        let ty = bound.or_else(|| self.ty_of(&range.start)).or_else(|| self.ty_of(&range.end));
        ty.as_ref().and_then(Ty::as_scalar).unwrap_or(Scalar::I32)
    }

    /// A step, which must not be zero.
    fn step(&mut self, step: &'static crate::syntax::Expr) -> Result<Value> {
        let value = self.scalar(step, Scalar::U64)?;
        let zero = self.constant(Scalar::U64, 0);
        let positive = self.build.value(Op::Compare(CompareOp::Ne, value, zero), Scalar::Bool);
        self.check(step.0, positive, "the step of a range is zero", &[]);
        Ok(value)
    }

    /// Whether another step stays within the range.
    fn more(&mut self, scalar: Scalar, current: Value, last: Value, step: Option<Value>, reversed: bool) -> Value {
        let Some(step) = step else {
            return self.build.value(Op::Compare(CompareOp::Ne, current, last), Scalar::Bool);
        };
        let (high, low) = if reversed { (current, last) } else { (last, current) };
        let distance = self.build.value(Op::Binary(BinaryOp::Sub, high, low), scalar);
        let unsigned = unsigned(scalar);
        let distance = match unsigned == scalar {
            true => distance,
            false => self.build.value(Op::Bitcast(distance, unsigned), unsigned),
        };
        let distance = self.cast_value(distance, unsigned, Scalar::U64);
        self.build.value(Op::Compare(CompareOp::Ge, distance, step), Scalar::Bool)
    }
}

/// The unsigned type of the same width.
pub(super) fn unsigned(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::I8 => Scalar::U8,
        Scalar::I16 => Scalar::U16,
        Scalar::I32 => Scalar::U32,
        Scalar::I64 => Scalar::U64,
        other => other,
    }
}
