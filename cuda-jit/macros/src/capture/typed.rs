//! Expressions in positions that do not fix their types: scrutinees, receivers, indexed values, printed values.
//!
//! The front end derives the type of most expressions from their operands. For the others, such as `[1, x]` or the value of
//! a block, the typing probe reports the type.

use cuda_jit_syntax::owned as s;
use syn::{Expr, Type};

use super::Capture;

impl Capture {
    /// Captures an expression with its type.
    pub(super) fn typed(&mut self, expr: &mut Expr) -> s::Expr {
        let value = self.expr(expr);
        self.with_type(expr, value, None)
    }

    /// Captures an expression that is coerced to a type.
    pub(super) fn typed_as(&mut self, expr: &mut Expr, ty: &Type) -> s::Expr {
        let value = self.expr(expr);
        self.with_type(expr, value, Some(ty))
    }

    /// Captures an argument of a closure with the type that the parameter gives it.
    pub(super) fn typed_argument(&mut self, expr: &mut Expr) -> s::Expr {
        let value = self.expr(expr);
        if may_be_coerced(&value) {
            let (at, number) = (value.0, self.observe_argument(expr));
            return s::Expr(at, s::ExprKind::Typed(Box::new(value), number));
        }
        self.unless_fixed(value, |to| to.observe_argument(expr))
    }

    /// Adds its type, or the type that it is coerced to, to a captured expression, unless its operands fix the type.
    pub(super) fn with_type(&mut self, expr: &mut Expr, value: s::Expr, ty: Option<&Type>) -> s::Expr {
        self.unless_fixed(value, |to| to.observe(expr, ty))
    }

    /// Adds the type with the number that `observe` returns, unless the operands of the expression fix its type.
    fn unless_fixed(&mut self, value: s::Expr, observe: impl FnOnce(&mut Capture) -> u32) -> s::Expr {
        if has_fixed_type(&value) {
            return value;
        }
        let (at, number) = (value.0, observe(self));
        s::Expr(at, s::ExprKind::Typed(Box::new(value), number))
    }
}

/// Returns true for an expression that may be a reference to a reference, of which a closure takes the inner one, or a tuple of
/// such ones.
fn may_be_coerced(expr: &s::Expr) -> bool {
    match &expr.1 {
        s::ExprKind::Binding(_)
        | s::ExprKind::Field(..)
        | s::ExprKind::Index(..)
        | s::ExprKind::Method(..)
        | s::ExprKind::Call(..)
        | s::ExprKind::Deref(_)
        | s::ExprKind::Reborrow(..) => true,
        s::ExprKind::Tuple(parts) => parts.iter().any(may_be_coerced),
        _ => false,
    }
}

/// Returns true if the operands of an expression fix its type.
fn has_fixed_type(expr: &s::Expr) -> bool {
    match &expr.1 {
        s::ExprKind::Lit(s::Lit::Int(_, suffix) | s::Lit::Float(_, _, suffix)) => !suffix.is_empty(),
        s::ExprKind::Unary(_, value) => has_fixed_type(value),
        s::ExprKind::Reborrow(value, _) => has_fixed_type(value),
        s::ExprKind::Binary(s::BinaryOp::Shl | s::BinaryOp::Shr, left, _) => has_fixed_type(left),
        s::ExprKind::Binary(_, left, right) => has_fixed_type(left) || has_fixed_type(right),
        s::ExprKind::Tuple(parts) => parts.iter().all(has_fixed_type),
        s::ExprKind::Array(_)
        | s::ExprKind::Repeat(_)
        | s::ExprKind::Block(..)
        | s::ExprKind::If(..)
        | s::ExprKind::Match(..)
        | s::ExprKind::Loop(..) => false,
        _ => true,
    }
}
