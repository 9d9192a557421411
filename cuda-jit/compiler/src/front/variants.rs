//! Comparison of C-like enums by their impls' results for each pair of variants: one instruction if the order is that
//! of the discriminants, as derived impls have it, else set tests on the variants.

use std::cmp::Ordering;

use super::builder::Builder;
use super::compare::By;
use super::function::{Lowering, Result};
use super::scopes::Scopes;
use super::types::Val;
use crate::kir::{BinaryOp, CompareOp, Scalar, Value};
use crate::syntax::Pos;
use crate::typeinfo::{EnumTy, Pairs};

/// A variant's discriminant, sign-extended.
fn number((_, bits): &(&str, u64), scalar: Scalar) -> i128 {
    let unused = 64 - scalar.bits();
    match scalar.is_signed() {
        true => i128::from((bits << unused).cast_signed() >> unused),
        false => i128::from(bits << unused >> unused),
    }
}

/// Returns true if an operator holds for an order.
fn holds(op: CompareOp, order: Option<Ordering>) -> bool {
    order.is_some_and(|order| match op {
        CompareOp::Eq => order.is_eq(),
        CompareOp::Ne => order.is_ne(),
        CompareOp::Lt => order.is_lt(),
        CompareOp::Le => order.is_le(),
        CompareOp::Gt => order.is_gt(),
        CompareOp::Ge => order.is_ge(),
    })
}

impl Lowering<'_> {
    /// Lowers `left op right` for variants of an enum, by one of its impls.
    pub(super) fn compare_variants(
        &mut self,
        at: Pos,
        (op, by): (CompareOp, By),
        (of, scalar): (EnumTy, Scalar),
        left: &Val,
        right: &Val,
    ) -> Result<Value> {
        let comparisons = (of.comparisons)();
        let rows = match by {
            By::Equality => self.scopes.rows(at, &of, "PartialEq", &comparisons.equality, |equal| *equal),
            By::Partial => self.scopes.rows(at, &of, "PartialOrd", &comparisons.partial, |order| holds(op, *order)),
            By::Total => self.scopes.rows(at, &of, "Ord", &comparisons.total, |order| holds(op, *order)),
        }?;
        let numbers: Vec<i128> = of.variants.iter().map(|variant| number(variant, scalar)).collect();
        let (left, right) = (left.only(), right.only());
        let by_number = |a: &i128| numbers.iter().map(|b| holds(op, Some(a.cmp(b)))).collect::<Vec<_>>();
        if numbers.iter().zip(&rows).all(|(a, row)| by_number(a) == *row) {
            return Ok(self.build.compare(op, left, right));
        }
        let mut known: Vec<&Vec<bool>> = Vec::new();
        let mut found = self.build.constant(Scalar::Bool, 0);
        for row in &rows {
            if known.contains(&row) {
                continue;
            }
            known.push(row);
            let same: Vec<bool> = rows.iter().map(|other| other == row).collect();
            let [on_left, on_right] =
                [(left, &same), (right, row)].map(|(value, set)| self.build.is_one_of(value, &of, scalar, set));
            let both = self.build.binary_value(BinaryOp::And, on_left, on_right, Scalar::Bool);
            found = self.build.binary_value(BinaryOp::Or, found, both, Scalar::Bool);
        }
        Ok(found)
    }
}

impl Scopes {
    /// For each left variant, the set of right variants for which the comparison holds.
    fn rows<T>(
        &self,
        at: Pos,
        of: &EnumTy,
        name: &str,
        pairs: &Pairs<T>,
        holds: impl Fn(&T) -> bool,
    ) -> Result<Vec<Vec<bool>>> {
        let shown = crate::typeinfo::layout::short(of.name);
        match pairs {
            Pairs::Known(reported) => {
                Ok(reported.chunks(of.variants.len()).map(|row| row.iter().map(&holds).collect()).collect())
            }
            Pairs::Absent => Err(self.error(at, format!("`{shown}` does not implement `{name}`; derive or write it"))),
            Pairs::Refused(why) => {
                let text = format!(
                    "kernels cannot compare values of type `{shown}`, whose `impl {name}` {why}; write only `eq`, \
                     `partial_cmp` and `cmp`, for all variants"
                );
                Err(self.error(at, text))
            }
        }
    }
}

impl Builder {
    /// Tests whether a variant is in a set.
    fn is_one_of(&mut self, value: Value, of: &EnumTy, scalar: Scalar, set: &[bool]) -> Value {
        let mut found = self.constant(Scalar::Bool, 0);
        for ((_, bits), _) in of.variants.iter().zip(set).filter(|(_, is_in)| **is_in) {
            let number = self.constant_bits(scalar, u128::from(*bits) & scalar.mask());
            let same = self.compare(CompareOp::Eq, value, number);
            found = self.binary_value(BinaryOp::Or, found, same, Scalar::Bool);
        }
        found
    }
}
