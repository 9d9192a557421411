//! Iterators: a [`Plan`] is begun, and its items are then taken one by one.
//!
//! An [`Iter`] is a plan with its state in slots. [`Lowering::next`] lowers one step of it, closures included: the item, or the way to the
//! end. Whoever drives it puts that step into a loop, so that LLVM sees the loop that one would write by hand.
//!
//! Where a plan can tell its items by their numbers ([`super::items`]), it has one counter, however many adaptors it has;
//! so has `zip`, which could else have two that nobody knows to be equal.

use std::rc::Rc;

use super::function::{Captured, Lowering, Result, Target};
use super::items::{Counted, Items};
use super::numbers::Numbers;
use super::place::Place;
use super::plan::{Plan, Stage};
use super::types::Val;
use crate::harvest::Ty;
use crate::kir::{BinaryOp, BlockId, CompareOp, Op, Scalar, SlotId, Terminator, Value};
use crate::syntax::{Block, Expr, Pattern, Pos};

/// A plan with its state.
#[derive(Clone, Debug)]
pub(super) enum Iter {
    /// What is told by numbers, and those.
    Items(Items, Numbers),
    Range(Numbers),
    /// A view, its next element's place, and how many are left.
    Grid(Val, bool, Vec<SlotId>, SlotId),
    Begun(Rc<Iter>),
    /// An adaptor; what it keeps is a number or flag.
    Staged(Stage, Option<SlotId>, Box<Iter>),
    /// The function, and a reference to its state.
    Scan(Captured, Val, Box<Iter>),
    /// Whether the second has its turn.
    Chain(SlotId, Box<Iter>, Box<Iter>),
    Zip(Box<Iter>, Box<Iter>),
}

/// Where one step of an iterator leads if it yields nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    /// Where there is no further item.
    pub(super) end: BlockId,
    /// Where a loop over all items takes its next turn, if the step is that loop's own: items that are left out go there,
    /// and what the step counts is counted there. So the loop has one way back, as one that is written by hand.
    pub(super) turn: Option<BlockId>,
}

impl Ways {
    /// For a step that is repeated, if at all, before the loop takes its next turn.
    fn within(end: BlockId) -> Self {
        Ways { end, turn: None }
    }
}

impl Lowering<'_> {
    /// `for pattern in source { body }`
    pub(super) fn for_loop(
        &mut self,
        at: Pos,
        number: u32,
        pattern: &'static Pattern,
        source: &'static Expr,
        body: &'static Block,
    ) -> Result<Val> {
        let wanted = match pattern {
            Pattern::Bind(number) => self.frame().binding_type(*number),
            _ => None,
        };
        let is_array = matches!(self.ty_of(source), Some(Ty::Array(..)));
        let plan = if is_array && self.is_unmentioned_in(source, body) {
            self.plan_of(source, true)?
        } else {
            self.plan(source, wanted.as_ref().and_then(Ty::as_scalar))?
        };
        let iter = self.begin(at, plan, true)?;
        self.each_item(at, &iter, |walk, item, again, exit| {
            walk.bind(pattern, &Place::Fixed(item))?;
            walk.looped(Target { number, exit, again: Some(again), result: None }, body)
        })?;
        Ok(Val::unit())
    }

    /// A loop over what is left of an iterator. The body is given the item, where the next turn begins, and where the
    /// loop ends.
    pub(super) fn each_item(
        &mut self,
        at: Pos,
        iter: &Iter,
        body: impl FnOnce(&mut Self, Val, BlockId, BlockId) -> Result<()>,
    ) -> Result<()> {
        let (again, turn, exit) = (self.build.block(), self.build.block(), self.build.block());
        let outer = std::mem::take(&mut self.counts);
        if let Some(any) = iter.any() {
            self.go_on_if(any, exit);
        }
        self.jump_into(again);
        let item = self.next(at, iter, Ways { end: exit, turn: Some(turn) })?;
        let counts = std::mem::replace(&mut self.counts, outer);
        body(self, item, turn, exit)?;
        self.jump_into(turn);
        for numbers in counts {
            self.step_number(&numbers, exit);
        }
        self.build.end(Terminator::Jump(again));
        self.build.select_block(exit);
        Ok(())
    }

    /// `let name = iterator;`
    pub(super) fn bind_iterator(&mut self, number: u32, expr: &'static Expr) -> Result<()> {
        let plan = self.plan(expr, None)?;
        let iter = self.begin(expr.0, plan, false)?;
        self.frame_mut().iterators.insert(number, Rc::new(iter));
        Ok(())
    }

    /// Makes an iterator's state, in slots; if `drives`, for the loop over all its items. What then drives the loop itself
    /// is what [`next`](Self::next) hands the loop's turn to.
    pub(super) fn begin(&mut self, at: Pos, plan: Plan, drives: bool) -> Result<Iter> {
        Ok(match plan {
            Plan::Items(Counted { items, count }) => {
                let range = self.below(count);
                Iter::Items(items, self.begin_range(range, drives))
            }
            Plan::Range(range) => Iter::Range(self.begin_range(range, drives)),
            Plan::Grid(view, places) => {
                let Ty::View(_, dims, _) = view.ty else { return Err(self.error(at, "this is no view")) };
                let coordinates = (0..dims).map(|_| self.counter()).collect();
                let left = self.build.slot("left", Scalar::U64);
                let count = self.elements_in(&view.leaves[1..=dims]);
                self.build.effect(Op::Set(left, count));
                Iter::Grid(view, places, coordinates, left)
            }
            Plan::Begun(iter) => Iter::Begun(iter),
            plan @ (Plan::Zip(..)
            | Plan::Staged(Stage::Enumerate | Stage::Take(_) | Stage::Skip(_) | Stage::StepBy(_), _))
                if plan.is_counted() && !plan.skips_calls() =>
            {
                let counted = self.counted(at, plan)?;
                self.begin(at, Plan::Items(counted), drives)?
            }
            Plan::Staged(Stage::Scan(function, state), inner) => {
                let inner = self.begin(at, *inner, drives)?;
                let state = self.reference(Place::Fixed(state), true);
                Iter::Scan(function, state, Box::new(inner))
            }
            Plan::Staged(stage, inner) => {
                let drives = drives && !matches!(stage, Stage::Take(_));
                let inner = self.begin(at, *inner, drives)?;
                let slot = match stage {
                    Stage::Enumerate | Stage::StepBy(_) => Some(self.counter()),
                    Stage::Take(count) | Stage::Skip(count) => {
                        let slot = self.build.slot("left", Scalar::U64);
                        self.build.effect(Op::Set(slot, count));
                        Some(slot)
                    }
                    Stage::SkipWhile(_) | Stage::TakeWhile(_) => Some(self.flag()),
                    _ => None,
                };
                Iter::Staged(stage, slot, Box::new(inner))
            }
            Plan::Chain(first, second) => {
                let (first, second) = (self.begin(at, *first, false)?, self.begin(at, *second, false)?);
                Iter::Chain(self.flag(), Box::new(first), Box::new(second))
            }
            Plan::Zip(first, second) => {
                let (first, second) = (self.begin(at, *first, drives)?, self.begin(at, *second, false)?);
                Iter::Zip(Box::new(first), Box::new(second))
            }
        })
    }

    /// A slot for a number that begins as 0.
    pub(super) fn counter(&mut self) -> SlotId {
        let slot = self.build.slot("turn", Scalar::U64);
        let zero = self.constant(Scalar::U64, 0);
        self.build.effect(Op::Set(slot, zero));
        slot
    }

    /// A slot for a flag that is not set yet.
    pub(super) fn flag(&mut self) -> SlotId {
        let slot = self.build.slot("flag", Scalar::Bool);
        self.set_flag(slot, false);
        slot
    }

    pub(super) fn set_flag(&mut self, slot: SlotId, value: bool) {
        let value = self.constant(Scalar::Bool, u64::from(value));
        self.build.effect(Op::Set(slot, value));
    }

    /// Goes on in a new block where a condition holds, elsewhere in `otherwise`.
    pub(super) fn go_on_if(&mut self, condition: Value, otherwise: BlockId) {
        let next = self.build.block();
        self.build.end(Terminator::Branch(condition, next, otherwise));
        self.build.select_block(next);
    }

    /// Where items that are left out lead: to the loop's next turn, or to a new block here that repeats the step.
    fn repeated(&mut self, ways: Ways) -> BlockId {
        ways.turn.unwrap_or_else(|| {
            let again = self.build.block();
            self.jump_into(again);
            again
        })
    }

    /// What a slot holds, which is then one more.
    pub(super) fn count_up(&mut self, slot: SlotId) -> Value {
        let value = self.build.value(Op::Get(slot), Scalar::U64);
        let one = self.constant(Scalar::U64, 1);
        let next = self.index_op(BinaryOp::Add, value, one);
        self.build.effect(Op::Set(slot, next));
        value
    }

    /// Makes one less of what a slot holds, where it is not zero; goes elsewhere where it is.
    fn count_down(&mut self, slot: SlotId, at_zero: BlockId) {
        let value = self.build.value(Op::Get(slot), Scalar::U64);
        let zero = self.constant(Scalar::U64, 0);
        let more = self.compare(CompareOp::Ne, value, zero);
        self.go_on_if(more, at_zero);
        let one = self.constant(Scalar::U64, 1);
        let next = self.index_op(BinaryOp::Sub, value, one);
        self.build.effect(Op::Set(slot, next));
    }

    /// One step: the next item, or the ways where there is none.
    pub(super) fn next(&mut self, at: Pos, iter: &Iter, ways: Ways) -> Result<Val> {
        match iter {
            Iter::Items(items, numbers) => {
                let number = self.next_number(numbers, ways).only();
                self.item(at, items, number)
            }
            Iter::Range(numbers) => Ok(self.next_number(numbers, ways)),
            Iter::Grid(view, places, coordinates, left) => {
                self.count_down(*left, ways.end);
                self.next_place(at, view, *places, coordinates)
            }
            Iter::Begun(iter) => self.next(at, iter, Ways::within(ways.end)),
            Iter::Staged(stage, slot, inner) => self.next_staged(at, stage, *slot, inner, ways),
            Iter::Scan(function, state, inner) => {
                let item = self.next(at, inner, ways)?;
                let yielded = self.invoke(at, function, vec![state.clone(), item])?;
                Ok(self.held(&yielded, ways.end))
            }
            Iter::Chain(second, a, b) => self.next_of_two(at, *second, a, b, ways.end),
            Iter::Zip(a, b) => {
                let (a, b) = (self.next(at, a, ways)?, self.next(at, b, Ways::within(ways.end))?);
                Ok(paired(a, b))
            }
        }
    }

    fn next_staged(&mut self, at: Pos, stage: &Stage, slot: Option<SlotId>, inner: &Iter, ways: Ways) -> Result<Val> {
        match (stage, slot) {
            (Stage::Filter(function), _) => {
                let again = self.repeated(ways);
                let item = self.next(at, inner, ways)?;
                let keeps = self.asked(at, function, &item)?;
                self.go_on_if(keeps, again);
                Ok(item)
            }
            (Stage::FilterMap(function), _) => {
                let again = self.repeated(ways);
                let item = self.next(at, inner, ways)?;
                let kept = self.invoke(at, function, vec![item])?;
                Ok(self.held(&kept, again))
            }
            (Stage::MapWhile(function), _) => {
                let item = self.next(at, inner, ways)?;
                let kept = self.invoke(at, function, vec![item])?;
                Ok(self.held(&kept, ways.end))
            }
            (Stage::TakeWhile(function), Some(done)) => self.next_while(at, function, done, inner, ways),
            (Stage::SkipWhile(function), Some(started)) => self.next_after(at, function, started, inner, ways),
            (Stage::Take(_), Some(left)) => {
                self.count_down(left, ways.end);
                self.next(at, inner, Ways::within(ways.end))
            }
            (Stage::Skip(_), Some(left)) => self.next_beyond(at, left, None, inner, ways),
            (Stage::StepBy(step), Some(left)) => self.next_beyond(at, left, Some(*step), inner, ways),
            (Stage::Enumerate, Some(turn)) => {
                let item = self.next(at, inner, ways)?;
                let number = self.count_up(turn);
                Ok(paired(Val::scalar(Scalar::U64, number), item))
            }
            (Stage::Inspect(function), _) => {
                let item = self.next(at, inner, ways)?;
                let seen = self.reference(Place::Fixed(item.clone()), false);
                self.invoke(at, function, vec![seen])?;
                Ok(item)
            }
            (Stage::Map(function), _) => {
                let item = self.next(at, inner, ways)?;
                self.invoke(at, function, vec![item])
            }
            _ => {
                let item = self.next(at, inner, ways)?;
                Ok(self.value_of(item))
            }
        }
    }

    /// What stands behind references.
    pub(super) fn value_of(&mut self, item: Val) -> Val {
        let place = self.through(Place::Fixed(item));
        self.read(&place)
    }

    /// What a function of the item's reference says: a `bool`.
    pub(super) fn asked(&mut self, at: Pos, function: &Captured, item: &Val) -> Result<Value> {
        let seen = self.reference(Place::Fixed(item.clone()), false);
        Ok(self.invoke(at, function, vec![seen])?.only())
    }

    /// What an `Option` holds; goes elsewhere where it holds nothing.
    fn held(&mut self, option: &Val, otherwise: BlockId) -> Val {
        let place = Place::Fixed(option.clone());
        let some = self.tag(&place);
        self.go_on_if(some, otherwise);
        let held = self.part(&place, 0);
        self.read(&held)
    }

    /// `take_while`, which ends for good.
    fn next_while(&mut self, at: Pos, function: &Captured, done: SlotId, inner: &Iter, ways: Ways) -> Result<Val> {
        let over = self.build.value(Op::Get(done), Scalar::Bool);
        let go_on = self.build.block();
        self.build.end(Terminator::Branch(over, ways.end, go_on));
        self.build.select_block(go_on);
        let item = self.next(at, inner, ways)?;
        let holds = self.asked(at, function, &item)?;
        let (take, stop) = self.fork(holds);
        self.build.select_block(stop);
        self.set_flag(done, true);
        self.build.end(Terminator::Jump(ways.end));
        self.build.select_block(take);
        Ok(item)
    }

    /// `skip_while`, which skips only at first.
    fn next_after(&mut self, at: Pos, function: &Captured, started: SlotId, inner: &Iter, ways: Ways) -> Result<Val> {
        let (again, found) = (self.repeated(ways), self.build.block());
        let item = self.next(at, inner, ways)?;
        let asks = self.build.block();
        let known = self.build.value(Op::Get(started), Scalar::Bool);
        self.build.end(Terminator::Branch(known, found, asks));
        self.build.select_block(asks);
        let skips = self.asked(at, function, &item)?;
        let first = self.build.block();
        self.build.end(Terminator::Branch(skips, again, first));
        self.build.select_block(first);
        self.set_flag(started, true);
        self.jump_into(found);
        Ok(item)
    }

    /// The item behind so many that are skipped; with a step, so many less one are skipped the next time.
    fn next_beyond(&mut self, at: Pos, left: SlotId, step: Option<Value>, inner: &Iter, ways: Ways) -> Result<Val> {
        let (again, found) = (self.repeated(ways), self.build.block());
        let item = self.next(at, inner, ways)?;
        self.count_down(left, found);
        self.build.end(Terminator::Jump(again));
        self.build.select_block(found);
        if let Some(step) = step {
            let one = self.constant(Scalar::U64, 1);
            let skipped = self.index_op(BinaryOp::Sub, step, one);
            self.build.effect(Op::Set(left, skipped));
        }
        Ok(item)
    }

    /// `chain`
    fn next_of_two(&mut self, at: Pos, second: SlotId, a: &Iter, b: &Iter, end: BlockId) -> Result<Val> {
        let (of_first, of_second, over, exit) =
            (self.build.block(), self.build.block(), self.build.block(), self.build.block());
        let turn = self.build.value(Op::Get(second), Scalar::Bool);
        self.build.end(Terminator::Branch(turn, of_second, of_first));
        self.build.select_block(of_first);
        let item = self.next(at, a, Ways::within(over))?;
        let merge = self.merge("chain", item.ty.clone());
        self.arrive(at, item, merge, exit)?;
        self.build.select_block(over);
        self.set_flag(second, true);
        self.jump_into(of_second);
        let item = self.next(at, b, Ways::within(end))?;
        self.arrive(at, item, merge, exit)?;
        self.build.select_block(exit);
        Ok(self.arrived(merge))
    }

    /// The element of a view of several dimensions at its place, which moves on.
    fn next_place(&mut self, at: Pos, view: &Val, with_place: bool, coordinates: &[SlotId]) -> Result<Val> {
        let places: Vec<Value> = coordinates.iter().map(|slot| self.build.value(Op::Get(*slot), Scalar::U64)).collect();
        let element = self.strided(at, view.clone(), &places, false)?;
        let mut carry = self.constant(Scalar::U64, 1);
        let zero = self.constant(Scalar::U64, 0);
        for (axis, slot) in coordinates.iter().enumerate().rev() {
            let next = self.index_op(BinaryOp::Add, places[axis], carry);
            let wraps = self.compare(CompareOp::Eq, next, view.leaves[1 + axis]);
            let next = self.select(wraps, zero, next, Scalar::U64);
            self.build.effect(Op::Set(*slot, next));
            carry = self.cast_value(wraps, Scalar::Bool, Scalar::U64);
        }
        let item = self.reference(element, false);
        if !with_place {
            return Ok(item);
        }
        let ty = Ty::Tuple(vec![Ty::INDEX; places.len()]);
        Ok(paired(Val { ty, leaves: places }, item))
    }

    /// The product of a view's extents.
    pub(super) fn elements_in(&mut self, extents: &[Value]) -> Value {
        let one = self.constant(Scalar::U64, 1);
        let mut extents = extents.iter();
        let first = extents.next().copied().unwrap_or(one);
        extents.fold(first, |count, extent| self.index_op(BinaryOp::Mul, count, *extent))
    }
}

impl Iter {
    /// Whether there is a first turn of the loop, where the end of a turn tells of the next.
    fn any(&self) -> Option<Value> {
        match self {
            Iter::Range(numbers) | Iter::Items(_, numbers) => numbers.any(),
            Iter::Staged(_, _, inner) | Iter::Scan(_, _, inner) | Iter::Zip(inner, _) => inner.any(),
            _ => None,
        }
    }
}

/// A tuple of two.
pub(super) fn paired(a: Val, b: Val) -> Val {
    let leaves = a.leaves.into_iter().chain(b.leaves).collect();
    Val { ty: Ty::Tuple(vec![a.ty, b.ty]), leaves }
}
