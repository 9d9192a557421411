//! Comparisons that return an `Ordering`.

use std::cmp::Ordering;

use super::compare::By;
use super::function::{Lowering, Result};
use super::place::Place;
use super::types::Val;
use crate::kir::{BinaryOp, CompareOp, Scalar, Value};
use crate::syntax::Pos;
use crate::typeinfo::Ty;

impl Lowering<'_> {
    /// Emits an `Ordering` constant.
    pub(super) fn ordering(&mut self, order: Ordering) -> Value {
        self.build.constant(Scalar::I8, u64::from(order as i8 as u8))
    }

    /// Compares two values: returns an `Ordering` by `Ord`, or an `Option` of one by `PartialOrd`.
    pub(super) fn order(&mut self, at: Pos, by: By, left: &Val, right: &Val) -> Result<Val> {
        let [left, right] = [left, right].map(|value| self.deref_all(Place::Fixed(value.clone())));
        let less = self.compared_by(at, (CompareOp::Lt, by), &left, &right)?;
        let greater = self.compared_by(at, (CompareOp::Gt, by), &left, &right)?;
        let orders = [Ordering::Less, Ordering::Equal, Ordering::Greater].map(|order| self.ordering(order));
        let rest = self.build.select(greater, orders[2], orders[1], Scalar::I8);
        let order = self.build.select(less, orders[0], rest, Scalar::I8);
        if by == By::Total {
            return Ok(Val { ty: Ty::ORDERING, leaves: vec![order] });
        }
        let equal = self.compared_by(at, (CompareOp::Eq, by), &left, &right)?;
        let differ = self.build.binary_value(BinaryOp::Or, less, greater, Scalar::Bool);
        let some = self.build.binary_value(BinaryOp::Or, differ, equal, Scalar::Bool);
        Ok(Val { ty: Ty::option(Ty::ORDERING), leaves: vec![some, order] })
    }
}
