//! Finds uses of a binding within expressions.

use crate::syntax::{Arm, Block, Closure, Condition, Expr, ExprKind, Section, Stmt};

/// Returns true if an expression uses a binding.
pub(super) fn expr(of: &Expr, binding: u32) -> bool {
    let one = |inner: &Expr| expr(inner, binding);
    let any = |inner: &[Expr]| inner.iter().any(one);
    let maybe = |inner: &Option<&'static Expr>| inner.is_some_and(one);
    match &of.1 {
        ExprKind::Binding(number) => *number == binding,
        ExprKind::CallClosure(callee, args) => one(callee) || any(args),
        ExprKind::Lit(_) | ExprKind::Const(_) | ExprKind::Shared(_) | ExprKind::Function(_) | ExprKind::Continue(_) => {
            false
        }
        ExprKind::Unary(_, inner)
        | ExprKind::Cast(inner, _)
        | ExprKind::Field(inner, _)
        | ExprKind::Reborrow(inner, _)
        | ExprKind::Deref(inner)
        | ExprKind::Repeat(inner)
        | ExprKind::Typed(inner, _)
        | ExprKind::Try(inner, _)
        | ExprKind::Debug(inner) => one(inner),
        ExprKind::Binary(_, a, b)
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b)
        | ExprKind::Assign(a, b)
        | ExprKind::AssignOp(_, a, b)
        | ExprKind::Index(a, b) => one(a) || one(b),
        ExprKind::AssertCompare(_, a, b, message) => one(a) || one(b) || any(message.args),
        ExprKind::Assert(condition, message) => one(condition) || any(message.args),
        ExprKind::Panic(message) => any(message.args),
        ExprKind::Method(base, args, _) => one(base) || any(args),
        ExprKind::Array(args) | ExprKind::Tuple(args) | ExprKind::Call(_, args) | ExprKind::Print(_, args) => any(args),
        ExprKind::Subslice(base, start, end, _) => one(base) || maybe(start) || maybe(end),
        ExprKind::Range(start, end, ..) => one(start) || maybe(end),
        ExprKind::Struct(_, _, fields, rest) => fields.iter().any(|(_, field)| one(field)) || maybe(rest),
        ExprKind::DynamicShared(parts) => parts.iter().any(|(_, len)| maybe(len)),
        ExprKind::Break(_, value) | ExprKind::Return(value) => maybe(value),
        ExprKind::Closure(inner) => closure(inner, binding),
        ExprKind::Sections(sections) => sections.iter().any(|section| match section {
            Section::Index(index) => one(index),
            Section::Range(start, end, _, step) => maybe(start) || maybe(end) || maybe(step),
        }),
        ExprKind::Block(_, body) | ExprKind::Loop(_, body) => block(body, binding),
        ExprKind::If(test, body, otherwise) => condition(test, binding) || block(body, binding) || maybe(otherwise),
        ExprKind::While(_, test, body) => condition(test, binding) || block(body, binding),
        ExprKind::For(_, _, source, body, _, _) => one(source) || block(body, binding),
        ExprKind::Match(value, arms) => {
            let arm = |arm: &Arm| arm.guard.as_ref().is_some_and(|guard| condition(guard, binding)) || one(&arm.body);
            one(value) || arms.iter().any(arm)
        }
    }
}

/// Returns true if a block uses a binding.
pub(super) fn block(of: &Block, binding: u32) -> bool {
    let stmt = |stmt: &Stmt| match stmt {
        Stmt::Let(_, init, otherwise) => {
            init.is_some_and(|init| expr(init, binding)) || otherwise.is_some_and(|block_| block(block_, binding))
        }
        Stmt::Closure(_, inner) => closure(inner, binding),
        Stmt::Expr(inner) => expr(inner, binding),
    };
    of.stmts.iter().any(stmt) || of.tail.is_some_and(|tail| expr(tail, binding))
}

/// Returns true if a closure uses or captures a binding.
pub(super) fn closure(of: &Closure, binding: u32) -> bool {
    of.moved.contains(&binding) || expr(of.body, binding)
}

fn condition(of: &Condition, binding: u32) -> bool {
    match of {
        Condition::Bool(value) | Condition::Let(_, value) => expr(value, binding),
        Condition::All(conditions) => conditions.iter().any(|of| condition(of, binding)),
    }
}
