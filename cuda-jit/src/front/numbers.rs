//! Ranges as iterators, with `.rev()` and `.step_by(n)`.
//!
//! A range never steps beyond its last value, so that no bound overflows: it looks at the distance still to go, or at
//! whether the next value comes before the end.

use super::function::{Lowering, Result};
use super::iterator::Ways;
use super::plan::Plan;
use super::types::Val;
use crate::harvest::Ty;
use crate::kir::{BinaryOp, BlockId, CompareOp, Op, Scalar, SlotId, UnaryOp, Value};
use crate::syntax::Expr;

/// A range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) scalar: Scalar,
    pub(super) start: Value,
    pub(super) end: Option<Value>,
    pub(super) inclusive: bool,
    pub(super) reversed: bool,
    pub(super) step: Option<Value>,
}

/// A range with its state.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    range: Range,
    /// The next number, if there is one.
    current: SlotId,
    more: More,
}

impl Numbers {
    /// Whether there is a first turn of the loop, where the end of a turn tells of the next.
    pub(super) fn any(&self) -> Option<Value> {
        match self.more {
            More::Turn(any) => Some(any),
            _ => None,
        }
    }
}

/// What tells whether a range has a next number.
#[derive(Clone, Copy, Debug)]
enum More {
    /// Nothing: it has no end.
    Always,
    /// The number itself, which is before the end.
    Before(Value),
    /// A flag.
    Flag(SlotId),
    /// The end of the turn of the loop that it drives; this tells whether there is a first turn.
    Turn(Value),
}

impl Lowering<'_> {
    /// `start..end`
    pub(super) fn range(
        &mut self,
        start: &'static Expr,
        end: Option<&'static Expr>,
        inclusive: bool,
        ty: Option<u32>,
        wanted: Option<Scalar>,
    ) -> Result<Plan> {
        let asked = ty.map(|number| self.frame().harvest.named[number as usize].clone());
        let own = || self.ty_of(start).or_else(|| self.ty_of(end?));
        let ty = asked.or(wanted.map(Ty::Scalar)).or_else(own);
        let scalar = ty.as_ref().and_then(Ty::as_scalar).unwrap_or(Scalar::I32);
        let start = self.scalar(start, scalar)?;
        let end = end.map(|end| self.scalar(end, scalar)).transpose()?;
        Ok(Plan::Range(Range { scalar, start, end, inclusive, reversed: false, step: None }))
    }

    /// The numbers below another.
    pub(super) fn below(&mut self, end: Value) -> Range {
        let (scalar, start) = (Scalar::U64, self.constant(Scalar::U64, 0));
        Range { scalar, start, end: Some(end), inclusive: false, reversed: false, step: None }
    }

    /// The number that it begins with, if it has any.
    pub(super) fn first_of(&mut self, range: &Range) -> Value {
        match (range.reversed, range.end) {
            (true, Some(end)) => self.last_before(range, end),
            _ => range.start,
        }
    }

    /// The last number before the end, or the end where that is included.
    fn last_before(&mut self, range: &Range, end: Value) -> Value {
        if range.inclusive {
            return end;
        }
        let one = self.constant(range.scalar, 1);
        self.binary_value(BinaryOp::Sub, end, one, range.scalar)
    }

    /// How many numbers are between its ends; of all of 64 bits one less, which no loop comes to.
    pub(super) fn numbers_in(&mut self, range: &Range) -> Value {
        let Range { scalar, start, end, inclusive, .. } = *range;
        let Some(end) = end else { return self.constant(Scalar::U64, u64::MAX) };
        let mut count = self.distance(scalar, start, end);
        if inclusive {
            let (one, most) = (self.constant(Scalar::U64, 1), self.constant(Scalar::U64, u64::MAX - 1));
            let before = if scalar.bits() >= 64 { self.index_op(BinaryOp::Min, count, most) } else { count };
            count = self.index_op(BinaryOp::Add, before, one);
        }
        let (any, zero) = (self.any_in(range, end), self.constant(Scalar::U64, 0));
        self.select(any, count, zero, Scalar::U64)
    }

    fn any_in(&mut self, range: &Range, end: Value) -> Value {
        self.compare(if range.inclusive { CompareOp::Le } else { CompareOp::Lt }, range.start, end)
    }

    /// Makes its state; if `drives`, for a loop whose turns are its numbers.
    pub(super) fn begin_range(&mut self, range: Range, drives: bool) -> Numbers {
        let current = self.build.slot("for", range.scalar);
        let first = self.first_of(&range);
        self.build.effect(Op::Set(current, first));
        let simple = !range.inclusive && !range.reversed && range.step.is_none();
        let more = match range.end {
            None => More::Always,
            Some(end) if drives => More::Turn(self.any_in(&range, end)),
            Some(end) if simple => More::Before(end),
            Some(end) => {
                let (any, slot) = (self.any_in(&range, end), self.build.slot("more", Scalar::Bool));
                self.build.effect(Op::Set(slot, any));
                More::Flag(slot)
            }
        };
        Numbers { range, current, more }
    }

    /// Its next number, or the ways where there is none.
    pub(super) fn next_number(&mut self, numbers: &Numbers, ways: Ways) -> Val {
        let Numbers { range, current: slot, more } = numbers;
        let current = self.build.value(Op::Get(*slot), range.scalar);
        let more = match *more {
            More::Always | More::Turn(_) => None,
            More::Before(end) => Some(self.compare(CompareOp::Lt, current, end)),
            More::Flag(flag) => Some(self.build.value(Op::Get(flag), Scalar::Bool)),
        };
        if let Some(more) = more {
            self.go_on_if(more, ways.end);
        }
        match ways.turn {
            Some(_) => self.counts.push(numbers.clone()),
            None => self.step_number(numbers, ways.end),
        }
        Val::scalar(range.scalar, current)
    }

    /// Comes to its next number, or, at the end of a loop's turn that it drives, to the loop's end.
    pub(super) fn step_number(&mut self, numbers: &Numbers, end_of_loop: BlockId) {
        let Numbers { range, current: slot, more } = numbers;
        let scalar = range.scalar;
        let current = self.build.value(Op::Get(*slot), scalar);
        let by = match range.step {
            Some(step) => self.cast_value(step, Scalar::U64, scalar),
            None => self.constant(scalar, 1),
        };
        let op = if range.reversed { BinaryOp::Sub } else { BinaryOp::Add };
        let stepped = self.binary_value(op, current, by, scalar);
        match (*more, range.end) {
            (More::Turn(_), Some(end)) => {
                let more = self.another(range, (current, stepped, end));
                self.go_on_if(more, end_of_loop);
            }
            (More::Flag(flag), Some(end)) => {
                let more = self.another(range, (current, stepped, end));
                self.build.effect(Op::Set(flag, more));
            }
            _ => {}
        }
        self.build.effect(Op::Set(*slot, stepped));
    }

    /// Whether there is a number behind the current one.
    fn another(&mut self, range: &Range, (current, stepped, end): (Value, Value, Value)) -> Value {
        let scalar = range.scalar;
        match (range.step, range.reversed) {
            // what comes before the end has a next number
            (None, false) if !range.inclusive => self.compare(CompareOp::Lt, stepped, end),
            (None, reversed) => self.compare(CompareOp::Ne, current, if reversed { range.start } else { end }),
            (Some(step), false) if !range.inclusive && !scalar.is_signed() => {
                self.before(scalar, (current, stepped, end), step)
            }
            (Some(step), false) => {
                let last = self.last_before(range, end);
                self.within(scalar, (current, last), step)
            }
            (Some(step), true) => self.within(scalar, (range.start, current), step),
        }
    }

    /// Whether a step on an unsigned type does not overflow and comes before the end: a bounds check against the same end
    /// then follows from it, as LLVM sees.
    fn before(&mut self, scalar: Scalar, (current, stepped, end): (Value, Value, Value), step: Value) -> Value {
        let by = self.cast_value(step, Scalar::U64, scalar);
        let overflows = self.build.value(Op::Overflows(BinaryOp::Add, current, by), Scalar::Bool);
        let fits = self.build.value(Op::Unary(UnaryOp::Not, overflows), Scalar::Bool);
        let before = self.compare(CompareOp::Lt, stepped, end);
        let more = self.build.value(Op::Binary(BinaryOp::And, fits, before), Scalar::Bool);
        if scalar.bits() >= 64 {
            return more;
        }
        let most = self.constant(Scalar::U64, u64::MAX >> (64 - scalar.bits()));
        let possible = self.compare(CompareOp::Le, step, most);
        self.build.value(Op::Binary(BinaryOp::And, possible, more), Scalar::Bool)
    }

    /// Whether two numbers lie at least a step apart.
    fn within(&mut self, scalar: Scalar, (low, high): (Value, Value), step: Value) -> Value {
        let distance = self.distance(scalar, low, high);
        self.compare(CompareOp::Ge, distance, step)
    }

    /// How far two numbers lie apart; at most what a `u64` holds.
    fn distance(&mut self, scalar: Scalar, low: Value, high: Value) -> Value {
        let distance = self.binary_value(BinaryOp::Sub, high, low, scalar);
        let unsigned = unsigned(scalar);
        let distance = match unsigned == scalar {
            true => distance,
            false => self.build.value(Op::Bitcast(distance, unsigned), unsigned),
        };
        if scalar.bits() <= 64 {
            return self.cast_value(distance, unsigned, Scalar::U64);
        }
        // no step and no count is larger
        let most = self.constant(unsigned, u64::MAX);
        let distance = self.binary_value(BinaryOp::Min, distance, most, unsigned);
        self.cast_value(distance, unsigned, Scalar::U64)
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
