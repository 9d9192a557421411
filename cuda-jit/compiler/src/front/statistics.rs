//! `sum`, `mean`, `var` and their kin of views: elements in the order of their places, one after the other.

use super::builder::Builder;
use super::function::{Lowering, Result};
use super::functions::optional;
use super::items::Items;
use super::place::Place;
use super::types::Val;
use super::view::View;
use crate::harvest::Ty;
use crate::kir::{CompareOp, Op, Scalar, UnaryOp, Value};
use crate::syntax::{BinaryOp, Expr, Pos};

impl Lowering<'_> {
    /// A statistic of a view's elements.
    pub(super) fn statistic(&mut self, at: Pos, name: &str, view: &View, args: &'static [Expr]) -> Result<Val> {
        match (name, args) {
            ("sum", []) => self.combined(at, BinaryOp::Add, view),
            ("product", []) => self.combined(at, BinaryOp::Mul, view),
            ("mean", []) => self.mean(at, view),
            ("var", [ddof]) => self.variance(at, view, ddof),
            ("std", [ddof]) => {
                let variance = self.variance(at, view, ddof)?;
                let scalar = self.scopes.number(at, &variance)?;
                Ok(Val::scalar(scalar, self.build.unary_value(UnaryOp::Sqrt, variance.only(), scalar)))
            }
            ("dot", [other]) => self.dot_product(at, view, other),
            _ => Err(self.error(at, format!("`{name}` takes other arguments"))),
        }
    }

    /// A view's elements.
    fn elements(&mut self, at: Pos, view: &View) -> Result<Items> {
        self.elements_of(at, Place::Fixed(view.clone().whole()), false)
    }

    /// 0 or 1, with which ndarray begins, and all elements.
    fn combined(&mut self, at: Pos, op: BinaryOp, view: &View) -> Result<Val> {
        let first = self.neutral_of(at, op, &view.element)?;
        let items = self.elements(at, view)?;
        self.fold(at, items, first, |walk, all, item| {
            let item = walk.value_of(item);
            walk.computed(at, op, all, item)
        })
    }

    /// What changes nothing when it is added or multiplied.
    fn neutral_of(&mut self, at: Pos, op: BinaryOp, ty: &Ty) -> Result<Val> {
        let part = match ty {
            Ty::Scalar(scalar) => Some(*scalar),
            other => other.complex(),
        };
        let Some(part) = part else {
            let text = format!(
                "kernels have no sums of type `{}`; use `.fold(first, |a, b| ..)`",
                crate::harvest::layout::shown(ty)
            );
            return Err(self.error(at, text));
        };
        let mut cells = [u128::from(op == BinaryOp::Mul) * part.one(), 0].into_iter();
        Ok(self.build.constant_value(ty, &mut cells))
    }

    /// An operator's value, of numbers or complex ones.
    fn computed(&mut self, at: Pos, op: BinaryOp, a: Val, b: Val) -> Result<Val> {
        match a.ty {
            Ty::Scalar(_) => self.arithmetic(at, op, &a, &b, true),
            _ => self.overloaded(at, op, a, b),
        }
    }

    /// How many elements there are, as their type; a panic where it has no such number.
    fn count_as(&mut self, at: Pos, len: Value, scalar: Scalar) -> Value {
        let count = self.build.cast_value(len, Scalar::U64, scalar);
        if scalar.is_integer() {
            let back = self.build.cast_value(count, scalar, Scalar::U64);
            let same = self.build.compare(CompareOp::Eq, back, len);
            let message = format!("a view of {{0}} elements has no mean of type {scalar}");
            self.check(at, same, &message, &[len]);
        }
        count
    }

    fn mean(&mut self, at: Pos, view: &View) -> Result<Val> {
        let Ty::Scalar(scalar) = view.element else {
            return Err(self.error(at, "kernels have means of numbers only; divide the sum"));
        };
        let total = self.combined(at, BinaryOp::Add, view)?;
        let (len, any) = self.build.length_of(view);
        let one = self.build.constant(Scalar::U64, 1);
        let divisor = self.build.select(any, len, one, Scalar::U64);
        let count = self.count_as(at, divisor, scalar);
        let mean = self.arithmetic(at, BinaryOp::Div, &total, &Val::scalar(scalar, count), true)?;
        Ok(optional(any, mean))
    }

    /// Welford's algorithm, as ndarray has it: the mean so far, the sum of squares around it, and how many there were.
    fn variance(&mut self, at: Pos, view: &View, ddof: &'static Expr) -> Result<Val> {
        let Ty::Scalar(scalar) = view.element else { return Err(self.error(at, "kernels have variances of floats")) };
        let ddof = self.scalar(ddof, scalar)?;
        let (len, _) = self.build.length_of(view);
        let count = self.build.cast_value(len, Scalar::U64, scalar);
        let zero = self.build.constant_bits(scalar, 0);
        for (a, b) in [(ddof, zero), (count, ddof)] {
            let below = self.build.compare(CompareOp::Lt, a, b);
            let holds = self.build.unary_value(UnaryOp::Not, below, Scalar::Bool);
            self.check(at, holds, "`ddof` is negative, or more than the {0} elements of the view", &[len]);
        }
        let freedom = self.build.binary_value(crate::kir::BinaryOp::Sub, count, ddof, scalar);
        let state = Ty::Tuple(vec![view.element.clone(), view.element.clone(), Ty::INDEX]);
        let none = self.build.constant(Scalar::U64, 0);
        let items = self.elements(at, view)?;
        let first = Val { ty: state, leaves: vec![zero, zero, none] };
        let squares = self.fold(at, items, first, |walk, state, item| {
            let item = walk.value_of(item).only();
            Ok(walk.build.welford(scalar, state, item))
        })?;
        Ok(Val::scalar(scalar, self.build.binary_value(crate::kir::BinaryOp::Div, squares.leaves[1], freedom, scalar)))
    }

    /// The sum of the products of two views of one dimension.
    fn dot_product(&mut self, at: Pos, view: &View, other: &'static Expr) -> Result<Val> {
        let other = self.place(other)?;
        let other = self.through(other);
        let other = View::of(&self.build.read(&other)).filter(|other| other.axes.len() == 1 && view.axes.len() == 1);
        let Some(other) = other else {
            return Err(self.error(at, "kernels have `dot` of views of one dimension; a product of matrices is a loop"));
        };
        let lengths = [view.axes[0].extent, other.axes[0].extent];
        let same = self.build.compare(CompareOp::Eq, lengths[0], lengths[1]);
        self.check_cut(at, same, "views of length {0} and {1} have no dot product", &lengths);
        let items = self.elements(at, view)?.zip(self.elements(at, &other)?);
        let first = self.neutral_of(at, BinaryOp::Add, &view.element)?;
        self.fold(at, items, first, |walk, all, item| {
            let (a, b) = (walk.value_of(item.part(0)), walk.value_of(item.part(1)));
            let product = walk.computed(at, BinaryOp::Mul, a, b)?;
            walk.computed(at, BinaryOp::Add, all, product)
        })
    }
}

impl Builder {
    /// The length of a view, and whether it has elements.
    fn length_of(&mut self, view: &View) -> (Value, Value) {
        let extents: Vec<_> = view.axes.iter().map(|axis| axis.extent).collect();
        let (len, zero) = (self.elements_in(&extents), self.constant(Scalar::U64, 0));
        let any = self.compare(CompareOp::Ne, len, zero);
        (len, any)
    }

    fn welford(&mut self, scalar: Scalar, state: Val, item: Value) -> Val {
        use crate::kir::BinaryOp::{Add, Div, Sub};
        let (mean, squares, seen) = (state.leaves[0], state.leaves[1], state.leaves[2]);
        let one = self.constant(Scalar::U64, 1);
        let seen = self.index_op(Add, seen, one);
        let count = self.cast_value(seen, Scalar::U64, scalar);
        let delta = self.binary_value(Sub, item, mean, scalar);
        let part = self.binary_value(Div, delta, count, scalar);
        let mean = self.binary_value(Add, mean, part, scalar);
        let beyond = self.binary_value(Sub, item, mean, scalar);
        let squares = self.value(Op::Fma(beyond, delta, squares), scalar);
        Val { ty: state.ty, leaves: vec![mean, squares, seen] }
    }
}
