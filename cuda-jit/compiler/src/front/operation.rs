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
                Ty::Slice(..) => self.slice_behind(arg)?,
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
        match operation {
            Operation::Len => return Ok(Val::scalar(Scalar::U64, operands[0].leaves[1])),
            Operation::Unfilled => return self.unfilled(at, &typing.result),
            // the value of one that is named is taken where it lies
            Operation::HeldValue => {
                return Err(self.error(at, "name the `static` item whose value this is, as in `TABLE.get()`"));
            }
            Operation::Unary(_) | Operation::Binary(_) | Operation::Count(_) | Operation::Bits => {}
        }
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
            Operation::Len | Operation::HeldValue | Operation::Unfilled => values[0],
        };
        Ok(Val { ty: typing.result.clone(), leaves: vec![value] })
    }
}
