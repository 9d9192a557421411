//! Operations on the axes of views that take an axis number: removal, insertion, permutation, split.
//!
//! A constant number picks the axis at compile time; for any other, each extent and each stride is selected at run
//! time.

use std::cmp::Ordering;

use super::function::{Lowering, Result};
use super::indexed::paired;
use super::types::Val;
use super::view::{Axis, View};
use crate::kir::{BinaryOp, CompareOp, Scalar, Value};
use crate::syntax::{Expr, Pos};

/// The number of an axis, less than the view's number of axes.
#[derive(Clone, Copy, Debug)]
pub(super) enum AxisNumber {
    Known(usize),
    Value(Value),
}

impl Lowering<'_> {
    /// Lowers an argument of type `Axis`, whose number must be less than `count`.
    pub(super) fn axis(&mut self, axis: &'static Expr, count: usize) -> Result<AxisNumber> {
        let number = self.expr(axis, None)?.only();
        Ok(self.axis_number(axis.0, number, count))
    }

    /// Returns an axis number; emits a bounds check unless it is a constant less than `count`.
    fn axis_number(&mut self, at: Pos, number: Value, count: usize) -> AxisNumber {
        let known = self.build.known(number).map(|known| usize::try_from(known).unwrap_or(usize::MAX));
        if let Some(known) = known.filter(|known| *known < count) {
            return AxisNumber::Known(known);
        }
        let limit = self.build.constant(Scalar::U64, count as u64);
        let inside = self.build.compare(CompareOp::Lt, number, limit);
        self.check_subslice(at, inside, "axis {0} is out of bounds: there are {1} axes, from 0", &[number, limit]);
        if known.is_some() { AxisNumber::Known(0) } else { AxisNumber::Value(number) }
    }

    /// Selects `yes` if the number compares to `other` as `order` says, else `no`.
    fn axis_if(&mut self, number: AxisNumber, order: Ordering, other: usize, yes: Axis, no: Axis) -> Axis {
        match number {
            AxisNumber::Known(known) if known.cmp(&other) == order => yes,
            AxisNumber::Known(_) => no,
            AxisNumber::Value(number) => {
                let other = self.build.constant(Scalar::U64, other as u64);
                let op = match order {
                    Ordering::Less => CompareOp::Lt,
                    Ordering::Equal => CompareOp::Eq,
                    Ordering::Greater => CompareOp::Gt,
                };
                let holds = self.build.compare(op, number, other);
                Axis {
                    extent: self.build.select(holds, yes.extent, no.extent, Scalar::U64),
                    stride: self.build.select(holds, yes.stride, no.stride, Scalar::U64),
                }
            }
        }
    }

    /// Removes the axis of a number and returns it.
    pub(super) fn remove_axis(&mut self, axes: &mut Vec<Axis>, number: AxisNumber) -> Axis {
        if let AxisNumber::Known(known) = number {
            return axes.remove(known);
        }
        let all = std::mem::take(axes);
        let mut removed = all[0];
        for (other, axis) in all.iter().enumerate().skip(1) {
            removed = self.axis_if(number, Ordering::Equal, other, *axis, removed);
        }
        for (other, pair) in all.windows(2).enumerate() {
            axes.push(self.axis_if(number, Ordering::Greater, other, pair[0], pair[1]));
        }
        removed
    }

    /// `insert_axis(Axis(k))`
    pub(super) fn insert_axis(&mut self, mut view: View, number: &'static Expr) -> Result<Val> {
        let number = self.axis(number, view.axes.len() + 1)?;
        let new = self.new_axis();
        let all = std::mem::take(&mut view.axes);
        let mut before = new;
        for other in 0..=all.len() {
            let own = all.get(other).copied().unwrap_or(new);
            let here = self.axis_if(number, Ordering::Equal, other, new, before);
            view.axes.push(self.axis_if(number, Ordering::Greater, other, own, here));
            before = own;
        }
        Ok(view.into_val())
    }

    /// `permuted_axes([1, 0])`
    pub(super) fn permuted(&mut self, at: Pos, view: View, order: &'static Expr) -> Result<Val> {
        let order = self.index_numbers(order)?;
        let mut axes = Vec::with_capacity(order.len());
        for (index, value) in order.iter().enumerate() {
            let number = self.axis_number(at, *value, view.axes.len());
            let known = self.build.known(*value);
            for earlier in &order[..index] {
                if known.is_none() || self.build.known(*earlier).is_none_or(|earlier| known == Some(earlier)) {
                    let differ = self.build.compare(CompareOp::Ne, *value, *earlier);
                    self.check_subslice(at, differ, "the order of the axes names axis {0} twice", &[*value]);
                }
            }
            axes.push(self.remove_axis(&mut view.axes.clone(), number));
        }
        Ok(View { axes, ..view }.into_val())
    }

    /// `split_at(Axis(k), index)`
    pub(super) fn split_view(&mut self, at: Pos, view: View, args: &'static [Expr]) -> Result<Val> {
        let number = self.axis(&args[0], view.axes.len())?;
        let index = self.scalar(&args[1], Scalar::U64)?;
        let Axis { extent, stride } = self.remove_axis(&mut view.axes.clone(), number);
        let inside = self.build.compare(CompareOp::Le, index, extent);
        let text = |axis: &str| format!("split at {{0}} is out of bounds of axis {axis}, which has length {{1}}");
        self.check_on_axis(at, inside, number, text, [index, extent]);
        let rest = self.build.index_op(BinaryOp::Sub, extent, index);
        let (mut left, mut right) = (view.clone(), view);
        for (part, extent) in [(&mut left, index), (&mut right, rest)] {
            for (other, axis) in part.axes.iter_mut().enumerate() {
                *axis = self.axis_if(number, Ordering::Equal, other, Axis { extent, ..*axis }, *axis);
            }
        }
        let offset = self.build.index_op(BinaryOp::Mul, index, stride);
        self.move_view(&mut right, offset);
        Ok(paired(left.into_val(), right.into_val()))
    }

    /// Panics if the index is not less than the axis' extent.
    pub(super) fn check_place(&mut self, at: Pos, number: AxisNumber, index: Value, extent: Value) {
        let inside = self.build.compare(CompareOp::Lt, index, extent);
        let text = |axis: &str| format!("index {{0}} is out of bounds of axis {axis}, which has length {{1}}");
        self.check_on_axis(at, inside, number, text, [index, extent]);
    }

    /// Panics with a message that names an axis unless a condition holds.
    fn check_on_axis(
        &mut self,
        at: Pos,
        holds: Value,
        number: AxisNumber,
        text: impl Fn(&str) -> String,
        [a, b]: [Value; 2],
    ) {
        match number {
            AxisNumber::Known(known) => self.check_subslice(at, holds, &text(&known.to_string()), &[a, b]),
            AxisNumber::Value(number) => self.check_subslice(at, holds, &text("{2}"), &[a, b, number]),
        }
    }
}
