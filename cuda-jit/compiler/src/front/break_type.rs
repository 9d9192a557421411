//! The types of loops and labelled blocks, inferred from the `break` expressions in their statements and branches.

use super::scopes::Scopes;
use crate::syntax::{Block, Expr, ExprKind, Stmt, ensure_sufficient_stack};
use crate::typeinfo::Ty;

impl Scopes {
    /// The type of the values of `break` out of `label`, if one of them has a type of its own.
    pub(super) fn ty_of_break(&self, label: u32, body: &Block) -> Option<Ty> {
        let stmts = body.stmts.iter().find_map(|stmt| match stmt {
            Stmt::Expr(expr) | Stmt::Let(_, Some(expr), None) => self.break_in(label, expr),
            Stmt::Let(_, Some(expr), Some(otherwise)) => {
                self.break_in(label, expr).or_else(|| self.ty_of_break(label, otherwise))
            }
            Stmt::Let(_, None, _) | Stmt::Closure(..) => None,
        });
        stmts.or_else(|| self.break_in(label, body.tail?))
    }

    fn break_in(&self, label: u32, expr: &Expr) -> Option<Ty> {
        ensure_sufficient_stack(|| self.broken_in(label, expr))
    }

    fn broken_in(&self, label: u32, expr: &Expr) -> Option<Ty> {
        match &expr.1 {
            ExprKind::Break(number, Some(value)) if *number == label => self.ty_of(value),
            ExprKind::Break(number, None) if *number == label => Some(Ty::Unit),
            ExprKind::Block(_, body)
            | ExprKind::Loop(_, body)
            | ExprKind::While(_, _, body)
            | ExprKind::For(_, _, _, body, _, _) => self.ty_of_break(label, body),
            ExprKind::If(_, body, otherwise) => {
                self.ty_of_break(label, body).or_else(|| self.break_in(label, (*otherwise)?))
            }
            ExprKind::Match(_, arms) => arms.iter().find_map(|arm| self.break_in(label, &arm.body)),
            _ => None,
        }
    }
}
