//! Methods that take an iterator's items: `sum`, `fold`, `any`, `find`, `max_by` and their kin, each one loop.

use super::compare::By;
use super::function::{Captured, Lowering, Result};
use super::iterator::Iter;
use super::place::Place;
use super::plan::{Plan, Stage};
use super::types::{Val, behind};
use crate::harvest::Ty;
use crate::kir::{CompareOp, Op, Scalar, SlotId, Terminator, Value};
use crate::syntax::{BinaryOp, Expr, Pos};

/// A value that the items seen so far leave, if there were any.
struct Kept {
    /// Whether there were.
    any: SlotId,
    /// The value: where references in it point is known when the first comes.
    held: Option<(Ty, Vec<SlotId>)>,
}

impl Lowering<'_> {
    /// `of.name(args)`, of the type that rustc has seen.
    pub(super) fn consume(
        &mut self,
        at: Pos,
        name: &'static str,
        of: &'static Expr,
        args: &'static [Expr],
        number: u32,
    ) -> Result<Val> {
        let ty = self.frame().harvest.named[number as usize].clone();
        let plan = self.plan(of, None)?;
        if let ("count", Plan::Items(counted)) = (name, &plan) {
            return Ok(Val::scalar(Scalar::U64, counted.count));
        }
        match (name, args) {
            ("fold", [first, function]) => {
                let first = self.expr_as(first, &ty)?;
                let function = self.callable(function)?;
                let iter = self.begin(at, plan, true)?;
                self.fold(at, &iter, first, |walk, all, item| walk.invoke(at, &function, vec![all, item]))
            }
            ("sum" | "product", _) => {
                let iter = self.begin(at, plan, true)?;
                self.total(at, name, &iter, &ty)
            }
            ("nth", [count]) => {
                let count = self.scalar(count, Scalar::U64)?;
                let plan = Plan::Staged(Stage::Skip(count), Box::new(plan));
                let iter = self.begin(at, plan, true)?;
                self.found(at, &iter, |_, item| Ok((None, item)))
            }
            ("next", _) => {
                let iter = self.begin(at, plan, true)?;
                self.found(at, &iter, |_, item| Ok((None, item)))
            }
            (_, args) => {
                let function = args.first().map(|function| self.callable(function)).transpose()?;
                let iter = self.begin(at, plan, true)?;
                self.consume_with(at, name, &iter, function.as_ref())
            }
        }
    }

    fn consume_with(&mut self, at: Pos, name: &str, iter: &Iter, function: Option<&Captured>) -> Result<Val> {
        match (name, function) {
            ("count", _) => {
                let slot = self.counter();
                self.each_item(at, iter, |walk, _, _, _| {
                    walk.count_up(slot);
                    Ok(())
                })?;
                Ok(Val::scalar(Scalar::U64, self.build.value(Op::Get(slot), Scalar::U64)))
            }
            ("for_each", Some(function)) => {
                self.each_item(at, iter, |walk, item, _, _| walk.invoke(at, function, vec![item]).map(drop))?;
                Ok(Val::unit())
            }
            ("any" | "all", Some(function)) => {
                self.decided(at, iter, name == "any", |walk, item| Ok(walk.invoke(at, function, vec![item])?.only()))
            }
            ("position", Some(function)) => {
                let slot = self.counter();
                self.found(at, iter, |walk, item| {
                    let number = walk.count_up(slot);
                    let is_it = walk.invoke(at, function, vec![item])?.only();
                    Ok((Some(is_it), Val::scalar(Scalar::U64, number)))
                })
            }
            ("find", Some(function)) => self.found(at, iter, |walk, item| {
                let is_it = walk.asked(at, function, &item)?;
                Ok((Some(is_it), item))
            }),
            ("find_map", Some(function)) => self.found(at, iter, |walk, item| {
                let place = Place::Fixed(walk.invoke(at, function, vec![item])?);
                let (some, held) = (walk.tag(&place), walk.part(&place, 0));
                Ok((Some(some), walk.read(&held)))
            }),
            ("last", _) => self.kept(at, iter, |_, _, item| Ok((None, item))),
            ("reduce", Some(function)) => self.kept(at, iter, |walk, kept, item| match kept {
                Some(kept) => Ok((None, walk.invoke(at, function, vec![kept, item])?)),
                None => Ok((None, item)),
            }),
            ("max_by_key" | "min_by_key", Some(function)) => {
                let keyed = self.kept(at, iter, |walk, kept, item| {
                    let seen = walk.reference(Place::Fixed(item.clone()), false);
                    let key = walk.invoke(at, function, vec![seen])?;
                    let better = match kept {
                        Some(kept) => Some(walk.is_better(at, name, kept.part(0), key.clone())?),
                        None => None,
                    };
                    Ok((better, super::iterator::paired(key, item)))
                })?;
                let tag = keyed.leaves[0];
                let item = keyed.part(0).part(1);
                let leaves = std::iter::once(tag).chain(item.leaves).collect();
                Ok(Val { ty: Ty::option(item.ty), leaves })
            }
            ("max_by" | "min_by", Some(function)) => self.kept(at, iter, |walk, kept, item| {
                let Some(kept) = kept else { return Ok((None, item)) };
                let pair = [kept, item.clone()].map(|value| walk.reference(Place::Fixed(value), false));
                let [kept, seen] = pair;
                let order = walk.invoke(at, function, vec![kept, seen])?.only();
                let greater = walk.ordering(std::cmp::Ordering::Greater);
                let op = if name == "max_by" { CompareOp::Ne } else { CompareOp::Eq };
                Ok((Some(walk.compare(op, order, greater)), item))
            }),
            ("max" | "min", _) => self.kept(at, iter, |walk, kept, item| {
                let better = match kept {
                    Some(kept) => Some(walk.is_better(at, name, kept, item.clone())?),
                    None => None,
                };
                Ok((better, item))
            }),
            _ => Err(self.error(at, format!("the front end has no iterator method `{name}`; please report this"))),
        }
    }

    /// Whether the later of two takes the place of the earlier: of equal ones the last is the maximum, the first the
    /// minimum.
    fn is_better(&mut self, at: Pos, name: &str, earlier: Val, later: Val) -> Result<Value> {
        let op = if name.starts_with("max") { CompareOp::Le } else { CompareOp::Gt };
        self.compared_by(at, (op, By::Total), &Place::Fixed(earlier), &Place::Fixed(later))
    }

    /// What a function makes of a value and each item in turn.
    pub(super) fn fold(
        &mut self,
        at: Pos,
        iter: &Iter,
        first: Val,
        step: impl FnOnce(&mut Self, Val, Val) -> Result<Val>,
    ) -> Result<Val> {
        let slots = self.slots_of("fold", &first);
        let ty = first.ty;
        self.each_item(at, iter, |walk, item, _, _| {
            let all = walk.get(&ty, &slots);
            let all = step(walk, all, item)?;
            let all = walk.agree(at, all, &ty)?;
            walk.set(&slots, &all);
            Ok(())
        })?;
        Ok(self.taken(&ty, &slots))
    }

    /// `sum` and `product`. Floats of 16 bits are summed in `f32`, as `half` does.
    fn total(&mut self, at: Pos, name: &str, iter: &Iter, ty: &Ty) -> Result<Val> {
        let op = if name == "sum" { BinaryOp::Add } else { BinaryOp::Mul };
        match ty {
            Ty::Scalar(half) if half.is_half() => {
                let first = self.neutral(op, Scalar::F32);
                let total = self.fold(at, iter, Val::scalar(Scalar::F32, first), |walk, all, item| {
                    let item = walk.value_of(item);
                    let wide = walk.cast_value(item.only(), *half, Scalar::F32);
                    walk.arithmetic(at, op, &all, &Val::scalar(Scalar::F32, wide), false)
                })?;
                Ok(Val::scalar(*half, self.cast_value(total.only(), Scalar::F32, *half)))
            }
            Ty::Scalar(scalar) => {
                let first = self.neutral(op, *scalar);
                self.fold(at, iter, Val::scalar(*scalar, first), |walk, all, item| {
                    let item = walk.value_of(item);
                    walk.arithmetic(at, op, &all, &item, false)
                })
            }
            number if let Some(part) = number.complex() => {
                let mut cells = [u128::from(name == "product") * part.one(), 0].into_iter();
                let first = self.constant_value(number, &mut cells);
                self.fold(at, iter, first, |walk, all, item| {
                    let item = walk.value_of(item);
                    walk.overloaded(at, op, all, item)
                })
            }
            other => {
                let text = format!(
                    "kernels have no `{name}` of type `{}`; write `.fold(first, |a, b| ..)`",
                    super::layout::shown(&behind(other.clone()))
                );
                Err(self.error(at, text))
            }
        }
    }

    /// What a sum or product begins with, as Rust's do: a sum of floats with -0.0.
    fn neutral(&mut self, op: BinaryOp, scalar: Scalar) -> Value {
        let bits = match op {
            BinaryOp::Mul => scalar.one(),
            _ if scalar.is_float() => scalar.top(),
            _ => 0,
        };
        self.constant_bits(scalar, bits)
    }

    /// `any` and `all`: the first item for which the test is `decides` tells.
    pub(super) fn decided(
        &mut self,
        at: Pos,
        iter: &Iter,
        decides: bool,
        test: impl FnOnce(&mut Self, Val) -> Result<Value>,
    ) -> Result<Val> {
        let slot = self.build.slot("decided", Scalar::Bool);
        self.set_flag(slot, !decides);
        self.each_item(at, iter, |walk, item, again, exit| {
            let holds = test(walk, item)?;
            let stop = walk.build.block();
            let (yes, no) = if decides { (stop, again) } else { (again, stop) };
            walk.build.end(Terminator::Branch(holds, yes, no));
            walk.build.select_block(stop);
            walk.set_flag(slot, decides);
            walk.build.end(Terminator::Jump(exit));
            Ok(())
        })?;
        Ok(Val::scalar(Scalar::Bool, self.build.value(Op::Get(slot), Scalar::Bool)))
    }

    /// The first for which `test` holds, as an `Option`; without a test the first.
    fn found(
        &mut self,
        at: Pos,
        iter: &Iter,
        test: impl FnOnce(&mut Self, Val) -> Result<(Option<Value>, Val)>,
    ) -> Result<Val> {
        let any = self.flag();
        let mut held = None;
        self.each_item(at, iter, |walk, item, again, exit| {
            let (holds, value) = test(walk, item)?;
            if let Some(holds) = holds {
                walk.go_on_if(holds, again);
            }
            let slots = walk.slots_of("found", &value);
            walk.set_flag(any, true);
            walk.build.end(Terminator::Jump(exit));
            held = Some((value.ty, slots));
            Ok(())
        })?;
        Ok(self.optional(Kept { any, held }))
    }

    /// What is left of the items, as an `Option`: `step` is given what was kept, or nothing for the first item, and yields
    /// whether it is replaced, which it is without an answer, and by what.
    fn kept(
        &mut self,
        at: Pos,
        iter: &Iter,
        mut step: impl FnMut(&mut Self, Option<Val>, Val) -> Result<(Option<Value>, Val)>,
    ) -> Result<Val> {
        let any = self.flag();
        let mut held = None;
        self.each_item(at, iter, |walk, item, again, _| {
            let (first, later) = (walk.build.block(), walk.build.block());
            let seen = walk.build.value(Op::Get(any), Scalar::Bool);
            walk.build.end(Terminator::Branch(seen, later, first));
            walk.build.select_block(first);
            let (_, value) = step(walk, None, item.clone())?;
            // the code that made it makes the next, too: it has a home of its own
            let slots = walk.slots("kept", &value.ty);
            walk.set(&slots, &value);
            let ty = value.ty;
            walk.set_flag(any, true);
            walk.build.end(Terminator::Jump(again));
            walk.build.select_block(later);
            let kept = walk.get(&ty, &slots);
            let (replaces, value) = step(walk, Some(kept), item)?;
            if let Some(replaces) = replaces {
                walk.go_on_if(replaces, again);
            }
            let value = walk.agree(at, value, &ty)?;
            walk.set(&slots, &value);
            held = Some((ty, slots));
            Ok(())
        })?;
        Ok(self.optional(Kept { any, held }))
    }

    fn optional(&mut self, Kept { any, held }: Kept) -> Val {
        let tag = self.build.value(Op::Get(any), Scalar::Bool);
        let held = match held {
            Some((ty, slots)) => self.taken(&ty, &slots),
            None => Val::unit(),
        };
        let leaves = std::iter::once(tag).chain(held.leaves).collect();
        Val { ty: Ty::option(held.ty), leaves }
    }
}
