//! Operations: the functions and methods that are lowered in place, known by [`Operation`] and not by their names.

use super::function::{Lowering, Result};
use super::types::{Val, behind};
use crate::harvest::{Operation, Ty, Typing};
use crate::kir::{Op, Scalar, Value};
use crate::syntax::{Expr, Pos};

impl Lowering<'_> {
    /// An operation on arguments, the first of which is a method's receiver.
    pub(super) fn operate(
        &mut self,
        at: Pos,
        operation: Operation,
        typing: &Typing,
        args: impl Iterator<Item = &'static Expr>,
    ) -> Result<Val> {
        let mut operands = Vec::with_capacity(typing.params.len());
        for (arg, ty) in args.zip(&typing.params) {
            operands.push(match behind(ty.clone()) {
                // rustc dereferences and borrows a receiver as needed
                Ty::Scalar(scalar) => self.operand(arg, Some(&Ty::Scalar(scalar)))?,
                _ => self.expr_as(arg, ty)?,
            });
        }
        self.operation(at, operation, typing, &operands)
    }

    /// An operation on values.
    pub(super) fn operation(
        &mut self,
        at: Pos,
        operation: Operation,
        typing: &Typing,
        operands: &[Val],
    ) -> Result<Val> {
        let of = self.number(at, &operands[0])?;
        let result = typing.result.as_scalar().unwrap_or(of);
        let values: Vec<Value> = operands.iter().map(Val::only).collect();
        let value = match operation {
            Operation::Unary(op) => self.unary_value(op, values[0], of),
            Operation::Binary(op) => self.binary_value(op, values[0], values[1], of),
            Operation::Count(op) => {
                let count = self.unary_value(op, values[0], of);
                self.cast_value(count, of, Scalar::U32)
            }
            Operation::Bits => self.build.value(Op::Bitcast(values[0], result), result),
        };
        Ok(Val { ty: typing.result.clone(), leaves: vec![value] })
    }
}
