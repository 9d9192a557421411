//! `cmp`, `partial_cmp`, `total_cmp`, and `max`, `min` and `clamp` of what is no number.

use std::cmp::Ordering;

use super::compare::By;
use super::function::{Lowering, Result};
use super::place::Place;
use super::types::Val;
use crate::harvest::{Memory, Ty};
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, UnaryOp, Value};
use crate::syntax::{Expr, Pos};

/// What such a method yields.
pub(super) fn result_type(name: &str, receiver: &Ty) -> Option<Ty> {
    match (name, receiver) {
        ("cmp" | "total_cmp", _) => Some(Ty::ORDERING),
        ("partial_cmp", _) => Some(Ty::option(Ty::ORDERING)),
        ("max" | "min" | "clamp", of) if is_ordered_whole(of) => Some(of.clone()),
        _ => None,
    }
}

/// Whether it is ordered by its parts, or as an enum, and not by an instruction.
pub(super) fn is_ordered_whole(ty: &Ty) -> bool {
    match ty {
        Ty::Tuple(_) | Ty::Enum(..) | Ty::Array(..) | Ty::Scalar(Scalar::Bool) => true,
        ty => ty.is_compared_by_parts(By::Partial) || super::overload::lists(ty, "PartialOrd"),
    }
}

impl Lowering<'_> {
    /// `max`, `min` and `clamp` of what is no number: one of the values, whole.
    pub(super) fn one_of_ordered(&mut self, at: Pos, name: &str, of: &Place, args: &'static [Expr]) -> Result<Val> {
        let own = self.read_settled(of);
        let mut others = Vec::with_capacity(args.len());
        for arg in args {
            others.push(self.expr_as(arg, &own.ty)?);
        }
        let less = |walk: &mut Self, a: &Val, b: &Val| {
            walk.compared(at, CompareOp::Lt, &Place::Fixed(a.clone()), &Place::Fixed(b.clone()))
        };
        match (name, &others[..]) {
            ("max", [other]) => {
                let keeps = less(self, other, &own)?;
                self.either(at, keeps, own, other.clone())
            }
            ("min", [other]) => {
                let takes = less(self, other, &own)?;
                self.either(at, takes, other.clone(), own)
            }
            ("clamp", [low, high]) => {
                let crossed = less(self, high, low)?;
                let holds = self.unary_value(UnaryOp::Not, crossed, Scalar::Bool);
                self.check(at, holds, "the bounds of `clamp` are the wrong way round", &[]);
                let (below, above) = (less(self, &own, low)?, less(self, high, &own)?);
                let inside = self.either(at, above, high.clone(), own)?;
                self.either(at, below, low.clone(), inside)
            }
            _ => Err(self.error(at, format!("`{name}` takes other arguments"))),
        }
    }

    /// An `Ordering` as a constant.
    pub(super) fn ordering(&mut self, order: Ordering) -> Value {
        self.constant(Scalar::I8, u64::from(order as i8 as u8))
    }

    /// `receiver.cmp(other)` and its kin.
    pub(super) fn order(&mut self, at: Pos, name: &str, place: &Place, other: &'static Expr) -> Result<Val> {
        let wanted = Ty::Ref(Box::new(place.ty().clone()), Memory::unknown(false));
        let other = self.expr(other, Some(&wanted))?;
        self.order_of(at, name, place, &Place::Fixed(other))
    }

    /// How two values are ordered.
    pub(super) fn order_of(&mut self, at: Pos, name: &str, place: &Place, other: &Place) -> Result<Val> {
        let pair = [place, other].map(|place| self.through(place.clone()));
        let [mut left, mut right] = pair;
        if name == "total_cmp" {
            (left, right) = (self.total_bits(&left), self.total_bits(&right));
        }
        let by = if name == "partial_cmp" { By::Partial } else { By::Total };
        let less = self.compared_by(at, (CompareOp::Lt, by), &left, &right)?;
        let greater = self.compared_by(at, (CompareOp::Gt, by), &left, &right)?;
        let orders = [Ordering::Less, Ordering::Equal, Ordering::Greater].map(|order| self.ordering(order));
        let rest = self.select(greater, orders[2], orders[1], Scalar::I8);
        let order = self.select(less, orders[0], rest, Scalar::I8);
        if name != "partial_cmp" {
            return Ok(Val { ty: Ty::ORDERING, leaves: vec![order] });
        }
        let equal = self.compared_by(at, (CompareOp::Eq, by), &left, &right)?;
        let differ = self.binary_value(BinaryOp::Or, less, greater, Scalar::Bool);
        let some = self.binary_value(BinaryOp::Or, differ, equal, Scalar::Bool);
        Ok(Val { ty: Ty::option(Ty::ORDERING), leaves: vec![some, order] })
    }

    /// A float as a signed integer of the same total order: that of its bits, those but the sign inverted where it is set.
    fn total_bits(&mut self, place: &Place) -> Place {
        let value = self.read(place);
        let Some(float) = value.ty.as_scalar().filter(|scalar| scalar.is_float()) else { return Place::Fixed(value) };
        let signed = match float.bits() {
            16 => Scalar::I16,
            32 => Scalar::I32,
            _ => Scalar::I64,
        };
        let bits = self.build.value(Op::Bitcast(value.only(), float.unsigned()), float.unsigned());
        let bits = self.build.value(Op::Bitcast(bits, signed), signed);
        let (zero, others) = (self.constant(signed, 0), self.constant(signed, (1 << (float.bits() - 1)) - 1));
        let negative = self.compare(CompareOp::Lt, bits, zero);
        let inverted = self.binary_value(BinaryOp::Xor, bits, others, signed);
        Place::Fixed(Val::scalar(signed, self.select(negative, inverted, bits, signed)))
    }
}
