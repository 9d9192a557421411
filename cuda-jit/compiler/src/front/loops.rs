//! `for` loops over ranges, elements and iterators.
//!
//! Loops over ranges and elements are counted loops with a single latch, like those written by hand. An iterator is a
//! value of the device library or of the user, whose `next` is called in the loop header.

use super::Callee;
use super::builder::Builder;
use super::function::{JumpTarget, Lowering, Result};
use super::indexed::{Items, paired};
use super::place::Place;
use super::types::Val;
use crate::kir::{BinaryOp, BlockId, CompareOp, Op, Scalar, SlotId, Terminator, Value};
use crate::syntax::{Block, Expr, ExprKind, Pattern, Pos};
use crate::typeinfo::{Ty, ty_of};
use cuda_jit_lang::library::iterator::StepBy;
use std::ops::Range;

/// A `for` loop in the source.
#[derive(Clone, Copy)]
pub(super) struct For {
    /// The loop's number.
    pub(super) number: u32,
    pub(super) pattern: &'static Pattern,
    pub(super) source: &'static Expr,
    pub(super) body: &'static Block,
    /// The number of the callee that converts the source into an iterator, unless it is a range.
    pub(super) into: Option<u32>,
    /// The number of the callee `next`, unless the source is a range.
    pub(super) next: Option<u32>,
}

impl Lowering<'_> {
    /// `for pattern in source { body }`
    pub(super) fn for_loop(&mut self, at: Pos, looped: For) -> Result<Val> {
        let For { number, pattern, source, body, next, .. } = looped;
        if let Some(next) = next
            && let Callee::Function(..) = &self.frame().callees[next as usize]
        {
            return self.for_each_next(at, looped, next);
        }
        let items = match &source.1 {
            ExprKind::Range(start, end, inclusive, ty) => {
                let wanted = match pattern {
                    Pattern::Bind(number) => self.frame().binding_type(*number),
                    _ => None,
                };
                let wanted = wanted.as_ref().and_then(Ty::as_scalar);
                Items::Range(self.range((start, *end, *inclusive), *ty, wanted)?)
            }
            _ => {
                let is_array = matches!(self.ty_of(source), Some(Ty::Array(..)));
                let stays = is_array && self.scopes.is_unused_in_block(source, body);
                self.items_of(source, stays)?
            }
        };
        self.each_item(at, items, |lowering, item, continue_to, exit| {
            lowering.bind(pattern, &Place::Fixed(item))?;
            lowering.loop_body(JumpTarget { number, exit, continue_to: Some(continue_to), result: None }, body)
        })?;
        Ok(Val::unit())
    }

    /// Lowers a loop over an iterator.
    fn for_each_next(&mut self, at: Pos, looped: For, next: u32) -> Result<Val> {
        let For { number, pattern, source, body, into, .. } = looped;
        let callees = self.frame().callees.clone();
        let Callee::Function(instance, info) = &callees[next as usize] else { return Ok(Val::unit()) };
        let iterator = match (&source.1, info.params.first()) {
            (ExprKind::Range(start, end, inclusive, _), Some(Ty::Ref(range, _))) => {
                self.range_value(std::iter::once(*start).chain(*end), *inclusive, range)?
            }
            _ => self.expr(source, None)?,
        };
        let iterator = match into.map(|into| &callees[into as usize]) {
            Some(Callee::Function(instance, info)) => self.call_function(at, instance, info, vec![iterator])?,
            _ => iterator,
        };
        if let [start, end, gap, is_first] = iterator.leaves[..]
            && self.program.analysed
            && iterator.ty == ty_of::<StepBy<Range<usize>>>()
        {
            self.each_step(looped, Steps { start, end, gap, is_first })?;
            return Ok(Val::unit());
        }
        let (ty, slots, root) = self.variable("iterator", iterator);
        let reference = self.reference(Place::Slots(ty, slots, root), true);
        let (header, exit) = (self.build.block(), self.build.block());
        self.build.jump_into(header);
        let item = self.call_function(at, instance, info, vec![reference])?;
        let place = Place::Fixed(item);
        let some = self.build.tag(&place);
        self.build.continue_if(some, exit);
        let item = self.build.part(&place, 0);
        self.bind(pattern, &item)?;
        self.loop_body(JumpTarget { number, exit, continue_to: Some(header), result: None }, body)?;
        self.build.end(Terminator::Jump(header));
        self.build.select_block(exit);
        Ok(Val::unit())
    }

    /// Lowers a loop over the numbers of a range with a step to a counted loop, as analyses understand it. The iterator's
    /// own `next` counts to the same numbers.
    fn each_step(&mut self, looped: For, Steps { start, end, gap, is_first }: Steps) -> Result<()> {
        let For { number, pattern, body, .. } = looped;
        let slot = self.build.slot("step", Scalar::U64);
        // an iterator that has returned a number skips as many as are between two, at most to the end
        let room = self.build.index_op(BinaryOp::Sub, end, start);
        let skipped = self.build.index_op(BinaryOp::Min, gap, room);
        let later = self.build.index_op(BinaryOp::Add, start, skipped);
        let first = self.build.value(Op::Select(is_first, start, later), Scalar::U64);
        self.build.effect(Op::Set(slot, first));
        let (header, latch, exit) = (self.build.block(), self.build.block(), self.build.block());
        self.build.jump_into(header);
        let item = self.build.value(Op::Get(slot), Scalar::U64);
        let more = self.build.compare(CompareOp::Lt, item, end);
        self.build.continue_if(more, exit);
        self.bind(pattern, &Place::Fixed(Val::scalar(Scalar::U64, item)))?;
        self.loop_body(JumpTarget { number, exit, continue_to: Some(latch), result: None }, body)?;
        self.build.jump_into(latch);
        let rest = self.build.index_op(BinaryOp::Sub, end, item);
        let more = self.build.compare(CompareOp::Gt, rest, gap);
        self.build.continue_if(more, exit);
        let one = self.build.constant(Scalar::U64, 1);
        let step = self.build.index_op(BinaryOp::Add, gap, one);
        let next = self.build.index_op(BinaryOp::Add, item, step);
        self.build.effect(Op::Set(slot, next));
        self.build.end(Terminator::Jump(header));
        self.build.select_block(exit);
        Ok(())
    }

    /// Lowers a loop over items. The body gets the item, the target of `continue` and the exit.
    pub(super) fn each_item(
        &mut self,
        at: Pos,
        items: Items,
        body: impl FnOnce(&mut Self, Val, BlockId, BlockId) -> Result<()>,
    ) -> Result<()> {
        let (header, latch, exit) = (self.build.block(), self.build.block(), self.build.block());
        let range = match &items {
            Items::Counted(_, count) => self.build.below(*count),
            Items::Range(range) => *range,
            Items::Grid(views) => {
                let count = self.build.element_count(&extents(&views[0]));
                self.build.below(count)
            }
        };
        let range_loop = self.build.open_range_loop(range, exit);
        let coordinates: Vec<SlotId> = match &items {
            Items::Grid(views) => extents(&views[0]).iter().map(|_| self.build.counter()).collect(),
            _ => Vec::new(),
        };
        self.build.jump_into(header);
        let number = self.build.induction_value(&range_loop);
        let item = match &items {
            Items::Counted(items, _) => self.item(at, items, number)?,
            Items::Range(range) => Val::scalar(range.scalar, number),
            Items::Grid(views) => self.next_place(at, views, &coordinates)?,
        };
        body(self, item, latch, exit)?;
        self.build.jump_into(latch);
        self.build.close_range_loop(&range_loop, exit);
        self.build.end(Terminator::Jump(header));
        self.build.select_block(exit);
        Ok(())
    }

    /// The elements of views of one shape at the current index, which is advanced.
    fn next_place(&mut self, at: Pos, views: &[Val], coordinates: &[SlotId]) -> Result<Val> {
        let places: Vec<Value> = coordinates.iter().map(|slot| self.build.value(Op::Get(*slot), Scalar::U64)).collect();
        let mut items = Vec::new();
        for view in views {
            let element = self.strided(at, view.clone(), &places, false)?;
            items.push(self.reference(element, false));
        }
        let next = self.next_index(&places, &extents(&views[0]));
        for (slot, next) in coordinates.iter().zip(next) {
            self.build.effect(Op::Set(*slot, next));
        }
        let item = items.into_iter().reduce(paired);
        item.ok_or_else(|| self.error(at, "a loop over no views"))
    }
}

/// The parts of an iterator over the numbers of a range with a step.
#[derive(Clone, Copy)]
struct Steps {
    start: Value,
    end: Value,
    /// The step minus one.
    gap: Value,
    /// True until a number is returned.
    is_first: Value,
}

impl Builder {
    /// The number of elements: the product of a view's extents.
    pub(super) fn element_count(&mut self, extents: &[Value]) -> Value {
        let one = self.constant(Scalar::U64, 1);
        let mut extents = extents.iter();
        let first = extents.next().copied().unwrap_or(one);
        extents.fold(first, |count, extent| self.index_op(BinaryOp::Mul, count, *extent))
    }
}

/// The extents of a view.
fn extents(view: &Val) -> Vec<Value> {
    match view.ty {
        Ty::View(_, dims, _) => view.leaves[1..=dims].to_vec(),
        _ => Vec::new(),
    }
}
