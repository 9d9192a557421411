//! Ranges: as values, and as what a loop runs over.
//!
//! A loop never steps beyond its last number, so that no bound overflows: at the end of a turn it looks whether the next number
//! comes before the end.

use super::builder::Builder;
use super::expr::assembled;
use super::function::{Lowering, Result};
use super::types::Val;
use crate::kir::{BinaryOp, BlockId, CompareOp, Op, Scalar, SlotId, UnaryOp, Value};
use crate::syntax::Expr;
use crate::typeinfo::Ty;

/// A range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) scalar: Scalar,
    pub(super) start: Value,
    pub(super) end: Option<Value>,
    pub(super) inclusive: bool,
}

/// A range that a loop runs over.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    range: Range,
    /// The number of the turn.
    current: SlotId,
}

impl Lowering<'_> {
    /// `start..end`, what a loop runs over. `wanted` is the type of the loop's binding.
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

    /// `start..end` as a value: its ends and, of one that includes its end, true where it has no number.
    pub(super) fn range_value(
        &mut self,
        (start, end, inclusive): (&'static Expr, Option<&'static Expr>, bool),
        ty: &Ty,
    ) -> Result<Val> {
        let mut parts = Vec::new();
        for (expr, (part, _)) in std::iter::once(start).chain(end).zip(ty.fields()) {
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
    /// The numbers below another.
    pub(super) fn below(&mut self, end: Value) -> Range {
        Range { scalar: Scalar::U64, start: self.constant(Scalar::U64, 0), end: Some(end), inclusive: false }
    }

    /// Begins a loop over a range, or goes to the loop's exit where it has no number.
    pub(super) fn begin_numbers(&mut self, range: Range, exit: BlockId) -> Numbers {
        let current = self.slot("for", range.scalar);
        self.effect(Op::Set(current, range.start));
        if let Some(end) = range.end {
            let op = if range.inclusive { CompareOp::Le } else { CompareOp::Lt };
            let any = self.compare(op, range.start, end);
            self.go_on_if(any, exit);
        }
        Numbers { range, current }
    }

    /// The number of the turn.
    pub(super) fn current_number(&mut self, Numbers { range, current }: &Numbers) -> Value {
        self.value(Op::Get(*current), range.scalar)
    }

    /// Comes to the next number at the end of a turn, or to the loop's exit.
    pub(super) fn step_number(&mut self, Numbers { range, current: slot }: &Numbers, exit: BlockId) {
        let Range { scalar, end, inclusive, .. } = *range;
        let current = self.value(Op::Get(*slot), scalar);
        let one = self.constant(scalar, 1);
        let next = self.binary_value(BinaryOp::Add, current, one, scalar);
        if let Some(end) = end {
            let more = match inclusive {
                true => self.compare(CompareOp::Ne, current, end),
                false => self.compare(CompareOp::Lt, next, end),
            };
            self.go_on_if(more, exit);
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
