//! `for` over ranges, with `.rev()` and `.step_by(n)`, and over the elements of slices and arrays.
//!
//! A range runs from its first value to its last, both included, and looks at the distance still to go before it
//! steps, so that no bound overflows.

use super::function::{Lowering, Result, Target};
use super::place::Place;
use super::types::Val;
use crate::harvest::{Memory, Ty};
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, Terminator, Type, Value};
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
        self.bind(pattern, &Place::Fixed(Val::scalar(scalar, current)))?;
        self.looped(Target { number, exit, again: Some(next), result: None }, body)?;
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
