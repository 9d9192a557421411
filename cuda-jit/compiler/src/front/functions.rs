//! Functions as values, the methods that call them, and the value of one of two branches.

use super::Callee;
use super::function::{Captured, Lowering, Result};
use super::place::Place;
use super::types::{Val, behind};
use crate::harvest::{Memory, Ty};
use crate::kir::{Op, Scalar, UnaryOp, Value};
use crate::syntax::{Expr, ExprKind, Pos};

impl Lowering<'_> {
    /// The result type of a method that calls a function, or depends on its arguments.
    pub(super) fn type_with_function(&self, name: &str, receiver: &Ty, args: &[Expr]) -> Option<Ty> {
        let made = |index: usize| self.type_of_function(args.get(index)?, receiver);
        Some(match (name, receiver) {
            ("map", Ty::Array(_, len)) => Ty::Array(Box::new(made(0)?), *len),
            ("partition_point", Ty::Slice(..) | Ty::Array(..)) => Ty::INDEX,
            ("sort_unstable_by" | "sort_unstable_by_key" | "fill_with", Ty::Slice(..) | Ty::Array(..)) => Ty::Unit,
            _ => return None,
        })
    }

    /// The result type of a function argument; of a number's method, for the receiver's element type.
    pub(super) fn type_of_function(&self, function: &Expr, receiver: &Ty) -> Option<Ty> {
        match &function.1 {
            ExprKind::Closure(closure) => Some(self.frame().harvest.named[closure.result? as usize].clone()),
            ExprKind::Binding(number) => self.ty_of_closure(*number),
            ExprKind::Function(number) | ExprKind::MethodOf(_, number)
                if let Callee::Function(_, harvest) = &self.frame().callees[*number as usize] =>
            {
                Some(harvest.result.clone())
            }
            ExprKind::Function(number) => self.result_of(*number),
            ExprKind::MethodOf(name, _) => {
                let (Ty::Array(held, _) | Ty::View(held, ..)) = receiver else { return None };
                super::method::result_type(name, &behind((**held).clone()))
            }
            _ => None,
        }
    }

    /// The value that names a closure. One closure of one frame is one value, so that branches agree on it.
    pub(super) fn closure_value(&mut self, captured: Captured) -> Val {
        if matches!(captured, Captured::Nowhere) {
            return Val { ty: Ty::CLOSURE, leaves: Vec::new() };
        }
        let same = |known: &Captured| match (known, &captured) {
            (
                Captured::Written { closure, frame, copies, scope, borrowed, .. },
                Captured::Written { closure: other, frame: of, copies: own, scope: within, borrowed: lent, .. },
            ) => std::ptr::eq(*closure, *other) && (frame, copies, scope, borrowed) == (of, own, within, lent),
            (Captured::Function(a, _), Captured::Function(b, _)) => {
                std::ptr::eq(a.definition(), b.definition()) && a.generics == b.generics
            }
            (Captured::Method(a), Captured::Method(b)) => a == b,
            _ => false,
        };
        let known = self.closures.iter().position(same);
        let number = known.unwrap_or_else(|| {
            self.closures.push(captured);
            self.arrays.temporaries.insert(self.closures.len() as u32 - 1);
            self.closures.len() - 1
        });
        Val { ty: Ty::Closure(Memory::Closure(Some(number as u32))), leaves: Vec::new() }
    }

    /// The number of the closure that a place holds, or refers to, if it is one; one that a `None` holds has none.
    pub(super) fn named_closure(&mut self, place: Place) -> Option<Option<u32>> {
        let place = self.through(place);
        match place.ty() {
            Ty::Closure(Memory::Closure(number)) => Some(*number),
            _ => None,
        }
    }

    /// A reference to a closure.
    pub(super) fn borrowed_closure(&self, number: u32) -> Captured {
        let mut captured = self.closures[number as usize].clone();
        if let Captured::Written { borrowed, .. } = &mut captured {
            *borrowed = true;
        }
        captured
    }

    /// `Ok` of a value where a condition holds, else the only error of a type.
    pub(super) fn result_of_one_error(&mut self, holds: Value, value: Val, error: Ty) -> Val {
        let tag = self.unary_value(UnaryOp::Not, holds, Scalar::Bool);
        let only = self.constant_value(&error, &mut [0].into_iter());
        let leaves = [tag].into_iter().chain(value.leaves).chain(only.leaves).collect();
        Val { ty: Ty::result(value.ty, error), leaves }
    }

    /// One of two values.
    pub(super) fn either(&mut self, at: Pos, first: Value, a: Val, b: Val) -> Result<Val> {
        let b = self.agree(at, b, &a.ty)?;
        let types = a.ty.leaves();
        let choose = |((a, b), ty): ((&Value, &Value), _)| self.build.value(Op::Select(first, *a, *b), ty);
        let leaves = a.leaves.iter().zip(&b.leaves).zip(types).map(choose).collect();
        Ok(Val { ty: a.ty, leaves })
    }
}

/// `Some` of a value where a condition holds.
pub(super) fn optional(tag: Value, held: Val) -> Val {
    let leaves = std::iter::once(tag).chain(held.leaves).collect();
    Val { ty: Ty::option(held.ty), leaves }
}
