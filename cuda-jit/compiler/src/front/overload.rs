//! Overloaded operators of structs and enums with fields: calls of the `#[device] impl` of the operator's trait that
//! the type lists.

use std::cmp::Ordering;

use super::compare::{By, is_compared_by_parts};
use super::function::{Lowering, Result};
use super::operator::comparison;
use super::place::Place;
use super::scopes::Scopes;
use super::types::{Val, strip_refs};
use crate::kir::{BinaryOp as Kir, CompareOp, Scalar, Value};
use crate::syntax::{BinaryOp, Expr, ExprKind, Pos, UnaryOp};
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{Body, Operator, Ty};

/// The name of the operator's trait.
pub(super) fn trait_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "Add",
        BinaryOp::Sub => "Sub",
        BinaryOp::Mul => "Mul",
        BinaryOp::Div => "Div",
        BinaryOp::Rem => "Rem",
        BinaryOp::BitAnd => "BitAnd",
        BinaryOp::BitOr => "BitOr",
        BinaryOp::BitXor => "BitXor",
        BinaryOp::Shl => "Shl",
        BinaryOp::Shr => "Shr",
        BinaryOp::Eq | BinaryOp::Ne => "PartialEq",
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => "PartialOrd",
    }
}

/// The name of a unary operator's trait.
pub(super) fn unary_name(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Neg => "Neg",
        UnaryOp::Not => "Not",
    }
}

/// Returns true for a comparison of `PartialOrd`.
fn is_ordering(op: CompareOp) -> bool {
    !matches!(op, CompareOp::Eq | CompareOp::Ne)
}

/// Finds a struct's operator for a right operand; for an unsuffixed literal, the first one that takes a number.
fn find(of: &Ty, name: &str, right: Option<&Ty>) -> Option<Operator> {
    let fits = |operator: &Operator| match right {
        Some(right) => operator.right.fits(right),
        None => operator.right.as_scalar().is_some(),
    };
    of.operators().into_iter().find(|operator| operator.left.is_none() && operator.name == name && fits(operator))
}

/// Finds the operator that a struct on the right lists for a left operand of another type; for an unsuffixed literal,
/// the first one that takes a number.
fn find_right(left: Option<&Ty>, name: &str, of: &Ty) -> Option<Operator> {
    let fits = |listed: &Ty| match left {
        Some(left) => listed == left,
        None => listed.as_scalar().is_some(),
    };
    of.operators().into_iter().find(|operator| operator.name == name && operator.left.as_ref().is_some_and(fits))
}

/// The result type of an operator of the left operand.
pub(super) fn result(of: &Ty, name: &str, right: Option<&Ty>) -> Option<Ty> {
    result_of(find(of, name, right))
}

/// The result type of an operator that only the right operand's type lists.
pub(super) fn result_right(left: Option<&Ty>, name: &str, of: &Ty) -> Option<Ty> {
    result_of(find_right(left, name, of))
}

pub(super) fn result_of(operator: Option<Operator>) -> Option<Ty> {
    match operator?.instance.body {
        Body::Captured(_, probe) => Some(probe().into_info().result),
        _ => None,
    }
}

/// The right operand's type, for an operand whose own type is not known or that of its literals by default: that of the only
/// operator of this name that takes a tuple or an array of its length, or of the first one that takes a number.
pub(super) fn right_type(of: &Ty, name: &str, right: &Expr) -> Option<Ty> {
    let fits = |listed: &Ty| match (&right.1, listed) {
        (ExprKind::Tuple(parts), Ty::Tuple(types)) => parts.len() == types.len(),
        (ExprKind::Array(parts), Ty::Array(_, length)) => parts.len() as u64 == *length,
        (ExprKind::Tuple(_) | ExprKind::Array(_), _) => false,
        _ => true,
    };
    let is_named = |operator: &Operator| operator.left.is_none() && operator.name == name && fits(&operator.right);
    let mut named = of.operators().into_iter().filter(is_named);
    match (named.next(), named.next()) {
        (Some(only), None) => Some(only.right),
        _ if matches!(right.1, ExprKind::Tuple(_) | ExprKind::Array(_)) => None,
        _ => find(of, name, None).map(|operator| operator.right),
    }
}

/// The operator that one of the operands' types lists for exactly these operands.
pub(super) fn exact(name: &str, operands: [&Ty; 2]) -> Option<Operator> {
    let listing = operands.map(|ty| strip_refs(ty.clone()));
    let found = |of: &Ty| {
        let mut operators = of.operators().into_iter();
        operators.find(|listed| listed.name == name && takes(listed, of, operands))
    };
    listing.iter().filter(|of| of.lists_operators()).find_map(found)
}

/// Returns true if operands have the types of an operator's, with as many references.
fn takes(operator: &Operator, this: &Ty, [left, right]: [&Ty; 2]) -> bool {
    fn is(listed: &Ty, given: &Ty) -> bool {
        match (listed, given) {
            (Ty::Ref(listed, _), Ty::Ref(given, _)) => is(listed, given),
            (Ty::Ref(..), _) | (_, Ty::Ref(..)) => false,
            _ => listed.fits(given),
        }
    }
    is(operator.left.as_ref().unwrap_or(this), left) && is(&operator.right, right)
}

/// The left operand's type of an operator that the right operand's type lists, if there is only one.
pub(super) fn left_type(name: &str, of: &Ty) -> Option<Ty> {
    find_right(None, name, of).and_then(|operator| operator.left)
}

impl Lowering<'_> {
    /// The operator that one of the operands' types lists for exactly these operands, of which one is a reference; an error if
    /// only one for their values is listed, unless it is the device library's, which does the same for references.
    pub(super) fn operator_of_references(
        &mut self,
        at: Pos,
        name: &str,
        operands: [Option<Ty>; 2],
    ) -> Result<Option<Operator>> {
        let [Some(left), Some(right)] = operands else { return Ok(None) };
        if !matches!(left, Ty::Ref(..)) && !matches!(right, Ty::Ref(..)) {
            return Ok(None);
        }
        let given = [&left, &right];
        if let Some(found) = exact(name, given) {
            return Ok(Some(found));
        }
        let is_own = |listed: &Operator| match &listed.instance.body {
            Body::Captured(definition, _) => listed.name == name && !cuda_jit_lang::is_source(definition.file),
            _ => false,
        };
        let listing = given.map(|ty| strip_refs(ty.clone()));
        match listing.iter().any(|of| of.lists_operators() && of.operators().iter().any(is_own)) {
            true => Err(self.scopes.unlisted(at, name, &left, &right)),
            false => Ok(None),
        }
    }

    /// Lowers `left op right` for structs.
    pub(super) fn overloaded(&mut self, at: Pos, op: BinaryOp, left: Val, right: Val) -> Result<Val> {
        if let Some(compare) = comparison(op)
            && (left.ty == right.ty && (is_ordering(compare) || matches!(left.ty, Ty::Enum(..)))
                || is_compared_by_parts(&left.ty, By::Equality))
        {
            return self.compare_values(at, op, left, right);
        }
        if let Some(compare) = comparison(op).filter(|compare| is_ordering(*compare)) {
            let holds = self.compare_by_impl(at, (compare, By::Partial), left, right)?;
            return Ok(Val::scalar(Scalar::Bool, holds));
        }
        let name = trait_name(op);
        let operator = find(&left.ty, name, Some(&right.ty));
        let Some(operator) = operator.or_else(|| find_right(Some(&left.ty), name, &right.ty)) else {
            return Err(self.scopes.unlisted(at, name, &left.ty, &right.ty));
        };
        if op == BinaryOp::Eq || op == BinaryOp::Ne {
            let (left, right) = (self.reference(Place::Fixed(left), false), self.reference(Place::Fixed(right), false));
            let equal = self.call_instance(at, &operator.instance, vec![left, right])?;
            return Ok(match op {
                BinaryOp::Eq => equal,
                _ => {
                    let not = crate::kir::Op::Unary(crate::kir::UnaryOp::Not, equal.only());
                    Val { leaves: vec![self.build.value(not, crate::kir::Scalar::Bool)], ..equal }
                }
            });
        }
        self.call_instance(at, &operator.instance, vec![left, right])
    }

    /// Compares two structs by their own `partial_cmp` or `cmp`.
    pub(super) fn compare_by_impl(
        &mut self,
        at: Pos,
        (op, by): (CompareOp, By),
        left: Val,
        right: Val,
    ) -> Result<Value> {
        let name = if by == By::Total { "Ord" } else { "PartialOrd" };
        let operator = find(&left.ty, name, Some(&right.ty));
        let Some(operator) = operator.or_else(|| find_right(Some(&left.ty), name, &right.ty)) else {
            return Err(self.scopes.unlisted(at, name, &left.ty, &right.ty));
        };
        let (left, right) = (self.reference(Place::Fixed(left), false), self.reference(Place::Fixed(right), false));
        let order = self.call_instance(at, &operator.instance, vec![left, right])?;
        let equal = self.ordering(Ordering::Equal);
        match order.leaves[..] {
            [some, order] => {
                let holds = self.build.compare(op, order, equal);
                Ok(self.build.binary_value(Kir::And, some, holds, Scalar::Bool))
            }
            _ => Ok(self.build.compare(op, order.only(), equal)),
        }
    }

    /// Lowers `op value` for a struct.
    pub(super) fn overloaded_unary(&mut self, at: Pos, op: UnaryOp, value: Val) -> Result<Val> {
        let name = unary_name(op);
        match find(&value.ty, name, Some(&value.ty)) {
            Some(operator) => self.call_instance(at, &operator.instance, vec![value]),
            None => Err(self.scopes.unlisted(at, name, &value.ty, &value.ty)),
        }
    }

    /// Lowers `place op= value` for a struct by `AddAssign` and the like, which it must list as well.
    pub(super) fn overloaded_assign(&mut self, at: Pos, op: BinaryOp, place: Place, right: Val) -> Result<Val> {
        if place.ty().complex().is_some() {
            let old = self.build.read(&place);
            let new = self.overloaded(at, op, old, right)?;
            self.write(at, &place, new)?;
            return Ok(Val::unit());
        }
        let name = format!("{}Assign", trait_name(op));
        let Some(operator) = find(place.ty(), &name, Some(&right.ty)) else {
            return Err(self.scopes.unlisted(at, &name, place.ty(), &right.ty));
        };
        let place = self.reference(place, true);
        self.call_instance(at, &operator.instance, vec![place, right])
    }
}

impl Scopes {
    /// The error of a type that does not list an operator.
    pub(super) fn unlisted(&self, at: Pos, name: &str, left: &Ty, right: &Ty) -> super::LowerError {
        let (is_own, is_enum) = (left.lists_operators(), left.as_sum().is_some() || matches!(left, Ty::Enum(..)));
        let (left, right) = (ty_name(left), ty_name(right));
        let operator = if left == right { name.to_owned() } else { format!("{name}<{right}>") };
        let listed = if is_own { operator.clone() } else { format!("{name} for {left}") };
        let derived = match name {
            "PartialEq" => ", or `#[derived(PartialEq)]` to compare its fields",
            "PartialOrd" => ", or `#[derived(PartialEq, PartialOrd)]` to compare its fields",
            "Ord" => ", or `#[derived(PartialEq, Eq, PartialOrd, Ord)]` to compare its fields",
            _ => "",
        };
        let text = format!(
            "`{left}` has no device operator `{operator}`; write `#[device] impl {operator} for {left}` and list it at \
             the {}: `#[operators({listed})]`{derived}",
            if is_enum { "enum" } else { "struct" }
        );
        self.error(at, text)
    }
}
