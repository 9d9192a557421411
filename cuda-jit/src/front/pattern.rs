//! Patterns: testing a value against one, then binding its names.

use super::expr::mask;
use super::function::{Lowering, Result};
use super::types::Val;
use crate::harvest::Ty;
use crate::kir::{BlockId, CompareOp, Op, Scalar, Terminator, Value};
use crate::syntax::{Lit, Pattern};

impl Lowering<'_> {
    /// Binds the names of a pattern that always matches.
    pub(super) fn bind(&mut self, pattern: &'static Pattern, value: Val) -> Result<()> {
        match (pattern, &value.ty) {
            (Pattern::Bind(number), _) => self.bind_local(*number, value),
            (Pattern::Tuple(patterns), Ty::Tuple(types)) => {
                let mut leaves = value.leaves.iter().copied();
                for (pattern, ty) in patterns.iter().zip(types) {
                    let leaves = leaves.by_ref().take(ty.leaves().len()).collect();
                    self.bind(pattern, Val { ty: ty.clone(), leaves })?;
                }
            }
            (Pattern::Some(pattern), Ty::Option(inner)) => {
                let leaves = value.leaves[1..].to_vec();
                self.bind(pattern, Val { ty: (**inner).clone(), leaves })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Goes on where the value matches the pattern, elsewhere in `fail`. Names are not bound yet.
    pub(super) fn test(&mut self, pattern: &'static Pattern, value: &Val, fail: BlockId) -> Result<()> {
        if let Some(matches) = self.matches(pattern, value)? {
            let next = self.build.block();
            self.build.end(Terminator::Branch(matches, next, fail));
            self.build.select_block(next);
        }
        Ok(())
    }

    /// Whether the value matches, as a `bool`; nothing if it always does.
    fn matches(&mut self, pattern: &'static Pattern, value: &Val) -> Result<Option<Value>> {
        match (pattern, &value.ty) {
            (Pattern::Wild | Pattern::Bind(_), _) => Ok(None),
            (Pattern::Tuple(patterns), Ty::Tuple(types)) => {
                let mut all = None;
                let mut leaves = value.leaves.iter().copied();
                for (pattern, ty) in patterns.iter().zip(types) {
                    let leaves = leaves.by_ref().take(ty.leaves().len()).collect();
                    let one = self.matches(pattern, &Val { ty: ty.clone(), leaves })?;
                    all = self.both(all, one);
                }
                Ok(all)
            }
            (Pattern::Some(inner), Ty::Option(ty)) => {
                let held = Val { ty: (**ty).clone(), leaves: value.leaves[1..].to_vec() };
                let inner = self.matches(inner, &held)?;
                Ok(self.both(Some(value.only()), inner))
            }
            (Pattern::None, Ty::Option(_)) => {
                Ok(Some(self.build.value(Op::Unary(crate::kir::UnaryOp::Not, value.only()), Scalar::Bool)))
            }
            (Pattern::Or(patterns), _) => {
                let mut any: Option<Value> = None;
                for pattern in *patterns {
                    let Some(one) = self.matches(pattern, value)? else { return Ok(None) };
                    any = Some(match any {
                        Some(any) => self.build.value(Op::Binary(crate::kir::BinaryOp::Or, any, one), Scalar::Bool),
                        None => one,
                    });
                }
                Ok(any)
            }
            (Pattern::Range(start, end, inclusive), Ty::Scalar(scalar)) => {
                let low = self.bound(*start, CompareOp::Ge, value.only(), *scalar)?;
                let compare = if *inclusive { CompareOp::Le } else { CompareOp::Lt };
                let high = self.bound(*end, compare, value.only(), *scalar)?;
                Ok(self.both(low, high))
            }
            (literal, Ty::Scalar(scalar)) => self.bound(Some(literal), CompareOp::Eq, value.only(), *scalar),
            (_, ty) => {
                let at = self.definition.body.tail.map_or(crate::syntax::Pos(1, 1), |tail| tail.0);
                Err(self.error(at, format!("a pattern does not fit a value of type {ty:?}")))
            }
        }
    }

    /// Compares a value with a literal or constant.
    fn bound(
        &mut self,
        bound: Option<&'static Pattern>,
        compare: CompareOp,
        value: Value,
        scalar: Scalar,
    ) -> Result<Option<Value>> {
        let bits = match bound {
            None => return Ok(None),
            Some(Pattern::Const(number)) => self.harvest.consts[*number as usize].1,
            Some(Pattern::Lit(lit, negated)) => lit_bits(*lit, *negated, scalar),
            Some(_) => return Ok(None),
        };
        let constant = self.constant(scalar, bits);
        Ok(Some(self.build.value(Op::Compare(compare, value, constant), Scalar::Bool)))
    }

    fn both(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.build.value(Op::Binary(crate::kir::BinaryOp::And, a, b), Scalar::Bool)),
            (a, b) => a.or(b),
        }
    }
}

/// A literal's bits in a type.
fn lit_bits(lit: Lit, negated: bool, scalar: Scalar) -> u64 {
    match lit {
        Lit::Bool(value) => u64::from(value),
        Lit::Int(value, _) => (if negated { value.wrapping_neg() } else { value }) & mask(scalar),
        Lit::Float(single, double, _) => {
            let (bits, sign) = match scalar {
                Scalar::F32 => (u64::from(single), 1 << 31),
                _ => (double, 1 << 63),
            };
            if negated { bits ^ sign } else { bits }
        }
    }
}
