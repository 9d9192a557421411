//! `for` over ranges, with `.rev()` and `.step_by(n)`, and over the elements of slices and arrays.
//!
//! A range never steps beyond its last value, so that no bound overflows: it looks at the distance still to go, or at
//! whether the next value comes before the end.

use super::function::{Lowering, Result, Target};
use super::place::Place;
use super::types::Val;
use crate::harvest::{Memory, Ty};
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, Terminator, Type, UnaryOp, Value};
use crate::syntax::{Block, Items, Pattern, Pos, Range, Source};

/// What a loop over elements runs over.
enum Elements {
    /// Address, type of the elements, memory.
    Behind(Value, Ty, Memory),
    /// An array whose elements hold references.
    Values(Val),
}

impl Lowering<'_> {
    /// `for pattern in source { body }`
    pub(super) fn for_loop(
        &mut self,
        at: Pos,
        number: u32,
        pattern: &'static Pattern,
        source: &'static Source,
        body: &'static Block,
    ) -> Result<Val> {
        match source {
            Source::Range(range) => self.range_loop(number, pattern, range, body),
            Source::Items(items) => self.items_loop(at, number, pattern, items, body),
        }
    }

    fn items_loop(
        &mut self,
        at: Pos,
        number: u32,
        pattern: &'static Pattern,
        items: &'static Items,
        body: &'static Block,
    ) -> Result<Val> {
        let place = self.place(&items.of)?;
        let by_value = items.copied || (!items.iterated && matches!(place.ty(), Ty::Array(..)));
        let place = self.through(place);
        let (elements, len) = match place {
            Place::Fixed(array @ Val { ty: Ty::Array(_, len), .. }) if !array.ty.is_plain() => {
                (Elements::Values(array), self.constant(Scalar::U64, len))
            }
            place => {
                let (ptr, element, memory, len) = self.slice_of(&place)?;
                (Elements::Behind(ptr, element, memory), len)
            }
        };
        let chunk = items.chunk.as_ref().map(|chunk| self.scalar(chunk, Scalar::U64)).transpose()?;
        let count = match chunk {
            Some(chunk) => {
                let zero = self.constant(Scalar::U64, 0);
                let positive = self.compare(CompareOp::Ne, chunk, zero);
                self.check(at, positive, "chunk size must be non-zero", &[]);
                self.build.value(Op::Binary(BinaryOp::Div, len, chunk), Scalar::U64)
            }
            None => len,
        };
        let slot = self.build.slot("for", Scalar::U64);
        let zero = self.constant(Scalar::U64, 0);
        self.build.effect(Op::Set(slot, zero));
        let (again, enter, next, exit) =
            (self.build.block(), self.build.block(), self.build.block(), self.build.block());
        self.jump_into(again);
        let turn = self.build.value(Op::Get(slot), Scalar::U64);
        let more = self.compare(CompareOp::Lt, turn, count);
        self.build.end(Terminator::Branch(more, enter, exit));
        self.build.select_block(enter);
        let mut item = self.item(at, &elements, turn, count, chunk, (items.reversed, by_value))?;
        if items.enumerated {
            let mut leaves = vec![turn];
            leaves.extend(item.leaves);
            item = Val { ty: Ty::Tuple(vec![Ty::INDEX, item.ty]), leaves };
        }
        self.bind(pattern, &Place::Fixed(item))?;
        self.looped(Target { number, exit, again: Some(next), result: None }, body)?;
        self.jump_into(next);
        let turn = self.build.value(Op::Get(slot), Scalar::U64);
        let one = self.constant(Scalar::U64, 1);
        let stepped = self.build.value(Op::Binary(BinaryOp::Add, turn, one), Scalar::U64);
        self.build.effect(Op::Set(slot, stepped));
        self.build.end(Terminator::Jump(again));
        self.build.select_block(exit);
        Ok(Val::unit())
    }

    /// The element, or the reference to it, or the chunk, that a loop comes to in its turn.
    fn item(
        &mut self,
        at: Pos,
        elements: &Elements,
        turn: Value,
        count: Value,
        chunk: Option<Value>,
        (reversed, by_value): (bool, bool),
    ) -> Result<Val> {
        let mut index = turn;
        if reversed {
            let one = self.constant(Scalar::U64, 1);
            let last = self.build.value(Op::Binary(BinaryOp::Sub, count, one), Scalar::U64);
            index = self.build.value(Op::Binary(BinaryOp::Sub, last, turn), Scalar::U64);
        }
        let place = match elements {
            Elements::Values(array) => self.choose(at, array, index, None)?,
            Elements::Behind(ptr, element, memory) => {
                if let Some(chunk) = chunk {
                    let start = self.build.value(Op::Binary(BinaryOp::Mul, index, chunk), Scalar::U64);
                    return Ok(self.slice_at(*ptr, element, *memory, start, chunk));
                }
                let offset = self.scaled_by(index, element.count());
                self.moved(*ptr, offset, element.clone(), *memory)
            }
        };
        if by_value { Ok(self.read(&place)) } else { self.reference(at, place, false) }
    }

    /// The slice of so many elements that begins at `start`.
    pub(super) fn slice_at(&mut self, ptr: Value, element: &Ty, memory: Memory, start: Value, len: Value) -> Val {
        let offset = self.scaled_by(start, element.count());
        let ptr = self.build.value(Op::Offset(ptr, offset), Type::Ptr(memory.space(), element.pointee()));
        Val { ty: Ty::Slice(Box::new(element.clone()), memory), leaves: vec![ptr, len] }
    }

    fn range_loop(
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
        let first = match (range.reversed, range.inclusive) {
            (false, _) => start,
            (true, true) => end,
            (true, false) => {
                let one = self.constant(scalar, 1);
                self.build.value(Op::Binary(BinaryOp::Sub, end, one), scalar)
            }
        };
        let slot = self.build.slot("for", scalar);
        self.build.effect(Op::Set(slot, first));
        let (again, next) = (self.build.block(), self.build.block());
        self.jump_into(again);
        let current = self.build.value(Op::Get(slot), scalar);
        self.bind(pattern, &Place::Fixed(Val::scalar(scalar, current)))?;
        self.looped(Target { number, exit, again: Some(next), result: None }, body)?;
        self.jump_into(next);
        let current = self.build.value(Op::Get(slot), scalar);
        let by = match step {
            Some(step) => self.cast_value(step, Scalar::U64, scalar),
            None => self.constant(scalar, 1),
        };
        let op = if range.reversed { BinaryOp::Sub } else { BinaryOp::Add };
        let stepped = self.build.value(Op::Binary(op, current, by), scalar);
        let more = match (step, range.reversed) {
            // What comes before the end has a next number.
            (None, false) if !range.inclusive => self.compare(CompareOp::Lt, stepped, end),
            (None, reversed) => self.compare(CompareOp::Ne, current, if reversed { start } else { end }),
            (Some(step), false) if !range.inclusive && !scalar.is_signed() => {
                self.before(scalar, (current, stepped, end), step)
            }
            (Some(step), false) => {
                let last = match range.inclusive {
                    true => end,
                    false => {
                        let one = self.constant(scalar, 1);
                        self.build.value(Op::Binary(BinaryOp::Sub, end, one), scalar)
                    }
                };
                self.within(scalar, (current, last), step)
            }
            (Some(step), true) => self.within(scalar, (start, current), step),
        };
        let advance = self.build.block();
        self.build.end(Terminator::Branch(more, advance, exit));
        self.build.select_block(advance);
        self.build.effect(Op::Set(slot, stepped));
        self.build.end(Terminator::Jump(again));
        self.build.select_block(exit);
        Ok(Val::unit())
    }

    fn range_type(&self, pattern: &Pattern, range: &Range) -> Scalar {
        let bound = match pattern {
            Pattern::Bind(number) => self.frame().harvest.bindings[*number as usize].clone(),
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
        let distance = self.build.value(Op::Binary(BinaryOp::Sub, high, low), scalar);
        let unsigned = unsigned(scalar);
        let distance = match unsigned == scalar {
            true => distance,
            false => self.build.value(Op::Bitcast(distance, unsigned), unsigned),
        };
        let wide = if scalar.bits() > 64 { unsigned } else { Scalar::U64 };
        let distance = self.cast_value(distance, unsigned, wide);
        let step = self.cast_value(step, Scalar::U64, wide);
        self.compare(CompareOp::Ge, distance, step)
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
