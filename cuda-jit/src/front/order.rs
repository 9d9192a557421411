//! Methods of slices that move elements: sorting, rotating, mirroring; and those that ask how they are ordered.
//!
//! Sorting is a heap sort: in place, without recursion, and in the same few loops for any number of elements, which are
//! registers only where so few are sorted that LLVM unrolls all of it.

use super::function::{Captured, Lowering, Result};
use super::items::Items;
use super::place::Place;
use super::slice::Elements;
use super::types::Val;
use crate::harvest::{Memory, Ty};
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, Terminator, Value};
use crate::syntax::{Expr, Pos};

/// What tells the order of two elements.
enum By {
    /// Their own.
    Own,
    /// A comparison.
    Comparison(Captured),
    /// What a function makes of each.
    Key(Captured),
}

impl Lowering<'_> {
    /// A method that sorts, moves or compares elements.
    pub(super) fn order_method(&mut self, at: Pos, name: &str, of: &Elements, args: &'static [Expr]) -> Result<Val> {
        match (name, args) {
            ("sort_unstable", []) => self.sort(at, of, &By::Own),
            ("sort_unstable_by", [function]) => {
                let by = By::Comparison(self.callable(function)?);
                self.sort(at, of, &by)
            }
            ("sort_unstable_by_key", [function]) => {
                let by = By::Key(self.callable(function)?);
                self.sort(at, of, &by)
            }
            ("is_sorted", []) => self.is_sorted(at, of),
            ("partition_point", [function]) => {
                let function = self.callable(function)?;
                self.partition_point(at, of, &function)
            }
            ("reverse", []) => {
                let zero = self.constant(Scalar::U64, 0);
                self.mirror(at, of, zero, of.len)
            }
            ("rotate_left" | "rotate_right", [by]) => {
                let by = self.scalar(by, Scalar::U64)?;
                let inside = self.compare(CompareOp::Le, by, of.len);
                self.check(at, inside, "a slice of length {1} cannot be rotated by {0}", &[by, of.len]);
                let rest = self.index_op(BinaryOp::Sub, of.len, by);
                let (middle, rest) = if name == "rotate_left" { (by, rest) } else { (rest, by) };
                let zero = self.constant(Scalar::U64, 0);
                self.mirror(at, of, zero, middle)?;
                self.mirror(at, of, middle, rest)?;
                self.mirror(at, of, zero, of.len)
            }
            ("fill_with", [function]) => {
                let function = self.callable(function)?;
                self.for_each(of.len, |walk, index| {
                    let value = walk.invoke(at, &function, Vec::new())?;
                    let place = walk.nth(of, index);
                    walk.write(at, &place, value)
                })
            }
            ("starts_with" | "ends_with", [part]) => self.begins_or_ends(at, name, of, part),
            _ => {
                Err(self.error(at, format!("kernels have no method `{name}` on slices with {} arguments", args.len())))
            }
        }
    }

    /// The element of that number, which is there.
    pub(super) fn nth(&mut self, of: &Elements, index: Value) -> Place {
        let offset = self.scaled_by(index, of.element.count());
        self.moved(of.ptr, offset, of.element.clone(), of.memory)
    }

    /// The other way round: so many elements from `start` on.
    fn mirror(&mut self, at: Pos, of: &Elements, start: Value, count: Value) -> Result<Val> {
        let two = self.constant(Scalar::U64, 2);
        let half = self.index_op(BinaryOp::Div, count, two);
        let end = self.index_op(BinaryOp::Add, start, count);
        self.for_each(half, |walk, index| {
            let one = walk.constant(Scalar::U64, 1);
            let first = walk.index_op(BinaryOp::Add, start, index);
            let last = walk.index_op(BinaryOp::Sub, end, one);
            let last = walk.index_op(BinaryOp::Sub, last, index);
            let places = [first, last].map(|index| walk.nth(of, index));
            walk.exchanged(at, &places)
        })
    }

    /// Whether a slice begins, or ends, with the elements of another.
    fn begins_or_ends(&mut self, at: Pos, name: &str, of: &Elements, part: &'static Expr) -> Result<Val> {
        let wanted = Ty::Slice(Box::new(of.element.clone()), Memory::unknown(false));
        let part = Place::Fixed(self.expr_as(part, &wanted)?);
        let (_, _, _, len) = self.slice_of(&part)?;
        let fits = self.compare(CompareOp::Le, len, of.len);
        let start = match name {
            "starts_with" => self.constant(Scalar::U64, 0),
            _ => self.index_op(BinaryOp::Sub, of.len, len),
        };
        let (fit, other) = self.fork(fits);
        let exit = self.build.block();
        let answer = self.flag();
        self.build.select_block(fit);
        let own = Place::Fixed(self.slice_at(of.ptr, &of.element, of.memory, start, len));
        let same = self.compared(at, CompareOp::Eq, &own, &part)?;
        self.build.effect(Op::Set(answer, same));
        self.build.end(Terminator::Jump(exit));
        self.build.select_block(other);
        self.jump_into(exit);
        Ok(Val::scalar(Scalar::Bool, self.build.value(Op::Get(answer), Scalar::Bool)))
    }

    /// Whether no element is less than the one before, and all can be compared.
    fn is_sorted(&mut self, at: Pos, of: &Elements) -> Result<Val> {
        let one = self.constant(Scalar::U64, 1);
        let first = self.index_op(BinaryOp::Min, of.len, one);
        let pairs = self.index_op(BinaryOp::Sub, of.len, first);
        let range = self.below(pairs);
        self.decided(at, Items::Range(range), false, |walk, number| {
            let next = walk.index_op(BinaryOp::Add, number.only(), one);
            let (a, b) = (walk.nth(of, number.only()), walk.nth(of, next));
            walk.compared(at, CompareOp::Le, &a, &b)
        })
    }

    /// How many elements from the first on a test holds for, in a slice where those come before all others.
    fn partition_point(&mut self, at: Pos, of: &Elements, test: &Captured) -> Result<Val> {
        let [low, high] = ["low", "high"].map(|name| self.build.slot(name, Scalar::U64));
        let zero = self.constant(Scalar::U64, 0);
        self.build.effect(Op::Set(low, zero));
        self.build.effect(Op::Set(high, of.len));
        let (again, exit) = (self.build.block(), self.build.block());
        self.jump_into(again);
        let [from, to] = [low, high].map(|slot| self.build.value(Op::Get(slot), Scalar::U64));
        let more = self.compare(CompareOp::Lt, from, to);
        self.go_on_if(more, exit);
        let (one, width) = (self.constant(Scalar::U64, 1), self.index_op(BinaryOp::Sub, to, from));
        let half = self.index_op(BinaryOp::Shr, width, one);
        let middle = self.index_op(BinaryOp::Add, from, half);
        let place = self.nth(of, middle);
        let seen = self.reference(place, false);
        let holds = self.invoke(at, test, vec![seen])?.only();
        let behind = self.index_op(BinaryOp::Add, middle, one);
        let from = self.select(holds, behind, from, Scalar::U64);
        let to = self.select(holds, to, middle, Scalar::U64);
        self.build.effect(Op::Set(low, from));
        self.build.effect(Op::Set(high, to));
        self.build.end(Terminator::Jump(again));
        self.build.select_block(exit);
        Ok(Val::scalar(Scalar::U64, self.build.value(Op::Get(low), Scalar::U64)))
    }

    /// Whether one element comes before another.
    fn comes_before(&mut self, at: Pos, by: &By, places: [Place; 2]) -> Result<Value> {
        let [a, b] = places;
        let [seen_a, seen_b] = [&a, &b].map(|place| self.reference(place.clone(), false));
        match by {
            By::Own => self.compared(at, CompareOp::Lt, &a, &b),
            By::Comparison(function) => {
                let order = self.invoke(at, function, vec![seen_a, seen_b])?.only();
                let less = self.ordering(std::cmp::Ordering::Less);
                Ok(self.compare(CompareOp::Eq, order, less))
            }
            By::Key(function) => {
                let a = self.invoke(at, function, vec![seen_a])?;
                let b = self.invoke(at, function, vec![seen_b])?;
                self.compared(at, CompareOp::Lt, &Place::Fixed(a), &Place::Fixed(b))
            }
        }
    }

    /// One loop builds the heap, from the last node that has children to the root, and then takes the largest element to the
    /// end again and again; both let one element sink.
    fn sort(&mut self, at: Pos, of: &Elements, by: &By) -> Result<Val> {
        let (zero, one) = (self.constant(Scalar::U64, 0), self.constant(Scalar::U64, 1));
        let half = self.index_op(BinaryOp::Shr, of.len, one);
        let turns = self.index_op(BinaryOp::Add, of.len, half);
        self.for_each(turns, |walk, turn| {
            let left = walk.index_op(BinaryOp::Sub, turns, turn);
            let left = walk.index_op(BinaryOp::Sub, left, one);
            let builds = walk.compare(CompareOp::Ge, left, of.len);
            let (build, take) = walk.fork(builds);
            let sink = walk.build.block();
            let root = walk.build.slot("root", Scalar::U64);
            walk.build.select_block(build);
            let node = walk.index_op(BinaryOp::Sub, left, of.len);
            walk.build.effect(Op::Set(root, node));
            walk.build.end(Terminator::Jump(sink));
            walk.build.select_block(take);
            let places = [zero, left].map(|index| walk.nth(of, index));
            walk.exchanged(at, &places)?;
            walk.build.effect(Op::Set(root, zero));
            walk.jump_into(sink);
            let end = walk.index_op(BinaryOp::Min, left, of.len);
            walk.sink(at, (of, by), root, end)
        })
    }

    /// Exchanges the element at a root with the larger of its children, until none is larger.
    fn sink(&mut self, at: Pos, (of, by): (&Elements, &By), root: crate::kir::SlotId, end: Value) -> Result<()> {
        let one = self.constant(Scalar::U64, 1);
        let (again, exit) = (self.build.block(), self.build.block());
        self.jump_into(again);
        let node = self.build.value(Op::Get(root), Scalar::U64);
        let twice = self.index_op(BinaryOp::Add, node, node);
        let (left, child) = (self.index_op(BinaryOp::Add, twice, one), self.build.slot("child", Scalar::U64));
        let has_child = self.compare(CompareOp::Lt, left, end);
        self.go_on_if(has_child, exit);
        self.build.effect(Op::Set(child, left));
        let right = self.index_op(BinaryOp::Add, left, one);
        let has_two = self.compare(CompareOp::Lt, right, end);
        let (two, chosen) = self.fork(has_two);
        self.build.select_block(two);
        let places = [left, right].map(|index| self.nth(of, index));
        let less = self.comes_before(at, by, places)?;
        let larger = self.select(less, right, left, Scalar::U64);
        self.build.effect(Op::Set(child, larger));
        self.jump_into(chosen);
        let larger = self.build.value(Op::Get(child), Scalar::U64);
        let places = [node, larger].map(|index| self.nth(of, index));
        let sinks = self.comes_before(at, by, places.clone())?;
        self.go_on_if(sinks, exit);
        self.exchanged(at, &places)?;
        self.build.effect(Op::Set(root, larger));
        self.build.end(Terminator::Jump(again));
        self.build.select_block(exit);
        Ok(())
    }
}
