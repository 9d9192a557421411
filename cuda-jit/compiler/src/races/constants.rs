//! Constant folding, and bit operations that are arithmetic.

use super::graph::{Graph, Kind, NodeId};
use crate::kir::{BinaryOp, CompareOp, Scalar, Type, UnaryOp};

/// The nesting of operands that is looked into.
const DEPTH: usize = 16;

impl Graph {
    /// The bits of a node that is a function of constants and of nodes of which the bits are given.
    pub(super) fn folded(&self, node: NodeId, given: &dyn Fn(NodeId) -> Option<u128>) -> Option<u128> {
        self.folded_within(node, given, DEPTH)
    }

    fn folded_within(&self, node: NodeId, given: &dyn Fn(NodeId) -> Option<u128>, depth: usize) -> Option<u128> {
        if let Some(bits) = given(node) {
            return Some(bits);
        }
        let depth = depth.checked_sub(1)?;
        let of = |operand: NodeId| self.folded_within(operand, given, depth);
        let scalar = self.scalar(node).filter(|scalar| scalar.is_integer() || *scalar == Scalar::Bool)?;
        let bits = match self.nodes[node].kind {
            Kind::Const(bits) => bits,
            Kind::Unary(UnaryOp::Not, a) => !of(a)?,
            Kind::Cast(a) => widened(of(a)?, self.scalar(a)?)?,
            Kind::Binary(op, a, b) => binary(op, of(a)?, of(b)?, scalar)?,
            Kind::Compare(op, a, b) => {
                let own = self.scalar(a)?;
                let (x, y) = (widened(of(a)?, own)?, widened(of(b)?, own)?);
                let order = if own.is_signed() { x.cast_signed().cmp(&y.cast_signed()) } else { x.cmp(&y) };
                u128::from(match op {
                    CompareOp::Eq => order.is_eq(),
                    CompareOp::Ne => order.is_ne(),
                    CompareOp::Lt => order.is_lt(),
                    CompareOp::Le => order.is_le(),
                    CompareOp::Gt => order.is_gt(),
                    CompareOp::Ge => order.is_ge(),
                })
            }
            Kind::Select(condition, yes, no) => of(if of(condition)? == 0 { no } else { yes })?,
            _ => return None,
        };
        Some(bits & mask(scalar))
    }

    /// The kind of an operation on integers: shifts and masks of unsigned numbers by constants are quotients and
    /// remainders.
    pub(super) fn arithmetic(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> Kind {
        let own = Kind::Binary(op, a, b);
        let Some(scalar) = self.scalar(a).filter(|s| s.is_integer() && !s.is_signed() && s.bits() <= 64) else {
            return own;
        };
        let ty = Type::from(scalar);
        match (op, self.constant(a), self.constant(b)) {
            (BinaryOp::Shr, _, Some(by)) if by > 0 && by < scalar.bits().into() => {
                Kind::Binary(BinaryOp::Div, a, self.node(Kind::Const(1 << by), ty))
            }
            (BinaryOp::And, Some(bits), None) => self.masked(b, bits, scalar).unwrap_or(own),
            (BinaryOp::And, None, Some(bits)) => self.masked(a, bits, scalar).unwrap_or(own),
            _ => own,
        }
    }

    fn constant(&self, node: NodeId) -> Option<u128> {
        self.folded(node, &|_| None)
    }

    /// The kind of `of & bits`, if the lowest bits are all that are left or cleared.
    fn masked(&mut self, of: NodeId, bits: u128, scalar: Scalar) -> Option<Kind> {
        let ty = Type::from(scalar);
        let (kept, cleared) = (bits + 1, (!bits & mask(scalar)) + 1);
        let mut remainder = |by: u128| Kind::Binary(BinaryOp::Rem, of, self.node(Kind::Const(by), ty));
        if bits > 0 && bits < mask(scalar) && kept.is_power_of_two() {
            return Some(remainder(kept));
        }
        if bits > 0 && bits < mask(scalar) && cleared.is_power_of_two() {
            let rest = remainder(cleared);
            return Some(Kind::Binary(BinaryOp::Sub, of, self.node(rest, ty)));
        }
        None
    }
}

/// The bits that a type has.
fn mask(scalar: Scalar) -> u128 {
    u128::MAX >> (128 - scalar.bits())
}

/// The bits of a number in 128 bits, with the sign of its type.
fn widened(bits: u128, scalar: Scalar) -> Option<u128> {
    if !scalar.is_integer() && scalar != Scalar::Bool {
        return None;
    }
    let above = 128 - scalar.bits();
    let bits = (bits & mask(scalar)) << above;
    Some(if scalar.is_signed() { (bits.cast_signed() >> above).cast_unsigned() } else { bits >> above })
}

fn binary(op: BinaryOp, a: u128, b: u128, scalar: Scalar) -> Option<u128> {
    let signed = scalar.is_signed();
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Div if !signed => a.checked_div(b)?,
        BinaryOp::Rem if !signed => a.checked_rem(b)?,
        BinaryOp::Shl if b < scalar.bits().into() => a << b,
        BinaryOp::Shr if !signed && b < scalar.bits().into() => a >> b,
        _ => return None,
    })
}
