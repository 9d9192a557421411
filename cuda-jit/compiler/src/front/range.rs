//! Ranges, as values and as the source of loops.
//!
//! A loop is rotated: it compares before it increments, so that the induction variable never passes the last number and
//! cannot overflow.

use super::builder::Builder;
use super::expr::assembled;
use super::function::{Lowering, Result};
use super::types::Val;
use crate::kir::{BinaryOp, BlockId, CompareOp, Op, Scalar, SlotId, UnaryOp, Value};
use crate::syntax::Expr;
use crate::typeinfo::Ty;

/// A range of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) scalar: Scalar,
    pub(super) start: Value,
    pub(super) end: Option<Value>,
    pub(super) inclusive: bool,
}

/// A loop over a range under construction.
#[derive(Clone, Debug)]
pub(super) struct RangeLoop {
    range: Range,
    /// The induction variable.
    variable: SlotId,
}

impl Lowering<'_> {
    /// Lowers `start..end` as the source of a loop. `wanted` is the type of the loop's binding.
    pub(super) fn range(
        &mut self,
        (start, end, inclusive): (&'static Expr, Option<&'static Expr>, bool),
        ty: Option<u32>,
        wanted: Option<Scalar>,
    ) -> Result<Range> {
        let asked = ty.map(|number| self.frame().info.named[number as usize].clone());
        let own = || self.ty_of(start).or_else(|| self.ty_of(end?));
        let ty = asked.or(wanted.map(Ty::Scalar)).or_else(own);
        let scalar = ty.as_ref().and_then(Ty::as_scalar).unwrap_or(Scalar::I32);
        let start = self.scalar(start, scalar)?;
        let end = end.map(|end| self.scalar(end, scalar)).transpose()?;
        Ok(Range { scalar, start, end, inclusive })
    }

    /// Lowers `start..end` as a value: its bounds and, for an inclusive range, whether it is exhausted.
    pub(super) fn range_value(
        &mut self,
        bounds: impl Iterator<Item = &'static Expr>,
        inclusive: bool,
        ty: &Ty,
    ) -> Result<Val> {
        let mut parts = Vec::new();
        for (expr, (part, _)) in bounds.zip(ty.fields()) {
            parts.push(self.expr_as(expr, part)?);
        }
        if let ([start, end], true) = (&parts[..], inclusive) {
            let any = self.build.compare(CompareOp::Le, start.only(), end.only());
            let exhausted = self.build.unary_value(UnaryOp::Not, any, Scalar::Bool);
            parts.push(Val::scalar(Scalar::Bool, exhausted));
        }
        Ok(assembled(ty, parts))
    }
}

impl Builder {
    /// The range from 0 to before `end`.
    pub(super) fn below(&mut self, end: Value) -> Range {
        Range { scalar: Scalar::U64, start: self.constant(Scalar::U64, 0), end: Some(end), inclusive: false }
    }

    /// Opens a loop over a range; jumps to the exit if the range is empty.
    pub(super) fn open_range_loop(&mut self, range: Range, exit: BlockId) -> RangeLoop {
        let variable = self.slot("for", range.scalar);
        self.effect(Op::Set(variable, range.start));
        if let Some(end) = range.end {
            let op = if range.inclusive { CompareOp::Le } else { CompareOp::Lt };
            let any = self.compare(op, range.start, end);
            self.continue_if(any, exit);
        }
        RangeLoop { range, variable }
    }

    /// The current number.
    pub(super) fn induction_value(&mut self, RangeLoop { range, variable }: &RangeLoop) -> Value {
        self.value(Op::Get(*variable), range.scalar)
    }

    /// Ends an iteration: steps to the next number, or jumps to the exit.
    pub(super) fn close_range_loop(&mut self, RangeLoop { range, variable: slot }: &RangeLoop, exit: BlockId) {
        let Range { scalar, end, inclusive, .. } = *range;
        let number = self.value(Op::Get(*slot), scalar);
        let one = self.constant(scalar, 1);
        let next = self.binary_value(BinaryOp::Add, number, one, scalar);
        if let Some(end) = end {
            let more = match inclusive {
                true => self.compare(CompareOp::Ne, number, end),
                false => self.compare(CompareOp::Lt, next, end),
            };
            self.continue_if(more, exit);
        }
        self.effect(Op::Set(*slot, next));
    }
}

/// The unsigned type of the same width.
pub(super) fn unsigned(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::I8 => Scalar::U8,
        Scalar::I16 => Scalar::U16,
        Scalar::I32 => Scalar::U32,
        Scalar::I64 => Scalar::U64,
        Scalar::I128 => Scalar::U128,
        other => other,
    }
}
