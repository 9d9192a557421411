//! Operations: functions and methods that are lowered in place, identified by [`Operation`] instead of a name.

use super::compare::By;
use super::function::{Lowering, Result};
use super::functions::optional;
use super::place::Place;
use super::types::Val;
use crate::kir::{BinaryOp, Op, Scalar, UnaryOp, Value};
use crate::syntax::{Expr, Pos};
use crate::typeinfo::{Operation, Ty, Typing};

impl Lowering<'_> {
    /// Lowers an operation on an optional receiver and arguments.
    pub(super) fn operate(
        &mut self,
        at: Pos,
        operation: Operation,
        typing: &Typing,
        (receiver, args): (Option<&'static Expr>, &'static [Expr]),
    ) -> Result<Val> {
        let mut operands = Vec::with_capacity(typing.params.len());
        for (arg, ty) in receiver.into_iter().chain(args).zip(&typing.params) {
            let is_receiver = receiver.is_some() && operands.is_empty();
            operands.push(match ty {
                Ty::Slice(..) if is_receiver => self.slice_value(arg)?,
                ty if is_receiver => self.receiver_as(at, arg, ty)?,
                ty => self.expr_as(arg, ty)?,
            });
        }
        self.operation(at, operation, typing, &operands)
    }

    /// Lowers an operation on values.
    pub(super) fn operation(
        &mut self,
        at: Pos,
        operation: Operation,
        typing: &Typing,
        operands: &[Val],
    ) -> Result<Val> {
        match (operation, operands) {
            (Operation::Compare(op), [left, right]) => {
                let [left, right] = [left, right].map(|value| Place::Fixed(value.clone()));
                self.compare_referents(at, op, &left, &right)
            }
            (Operation::Order, [left, right]) => self.order(at, By::Total, left, right),
            (Operation::PartialOrder, [left, right]) => self.order(at, By::Partial, left, right),
            (Operation::Dot, [left, right]) => self.dot_lanes(at, left, right),
            (Operation::Len, [slice]) => Ok(Val::scalar(Scalar::U64, slice.leaves[1])),
            (Operation::Regroup, [slice, len]) => Ok(regrouped(slice, len, &typing.result)),
            (Operation::UninitArray, _) => Ok(self.uninit_array(&typing.result)),
            (Operation::SomeWhere, [holds, value]) => Ok(optional(holds.only(), value.clone())),
            // the value of a named constant is read in place by the method call
            (Operation::HostConstantValue, _) => {
                Err(self.error(at, "call this method on the `static` item itself, as in `TABLE.get()`"))
            }
            (Operation::ToArray, [vector]) => Ok(self.vector_to_array(vector, &typing.result)),
            (operation, [first, ..]) if first.ty.lanes().is_some() => {
                let operands: Vec<&Val> = operands.iter().collect();
                self.each_lane(&typing.result, &operands, |lowering, number, lanes| {
                    lowering.number_operation(at, operation, (number, number), lanes)
                })
            }
            (operation, operands) => {
                let values: Vec<Value> = operands.iter().map(Val::only).collect();
                let of = self.scopes.number(at, &operands[0])?;
                let result = typing.result.as_scalar().unwrap_or(of);
                let value = self.number_operation(at, operation, (of, result), &values)?;
                Ok(Val { ty: typing.result.clone(), leaves: vec![value] })
            }
        }
    }

    /// Lowers an operation on numbers of type `of` with a result of type `result`.
    fn number_operation(
        &mut self,
        at: Pos,
        operation: Operation,
        (of, result): (Scalar, Scalar),
        values: &[Value],
    ) -> Result<Value> {
        Ok(match (operation, values) {
            (Operation::Unary(op), [a]) => self.build.unary_value(op, *a, of),
            (Operation::Binary(op @ (BinaryOp::Div | BinaryOp::Rem)), [a, b]) => self.divide(at, op, *a, *b, of)?,
            (Operation::Binary(op), [a, b]) => self.build.binary_value(op, *a, *b, of),
            (Operation::Abs, [a]) => {
                if self.scopes.checks_overflow() && of.is_signed() {
                    self.check_not_minimum(at, of, *a, "absolute value overflows");
                }
                self.build.unary_value(UnaryOp::Abs, *a, of)
            }
            (Operation::Count(op), [a]) => {
                let count = self.build.unary_value(op, *a, of);
                self.build.cast_value(count, of, Scalar::U32)
            }
            (Operation::SwapBytes, [a]) if of.bits() == 8 => *a,
            (Operation::SwapBytes, [a]) => self.build.unary_value(UnaryOp::SwapBytes, *a, of),
            (Operation::Bits, [a]) if of == result => *a,
            (Operation::Bits, [a]) => self.build.value(Op::Bitcast(*a, result), result),
            (Operation::Cast, [a]) => self.build.cast_value(*a, of, result),
            (Operation::Shift(op), [a, amount]) => {
                let amount = self.build.cast_value(*amount, Scalar::U32, of);
                self.build.binary_value(op, *a, amount, of)
            }
            (Operation::Rotate { left }, [a, amount]) => self.rotate(left, of, *a, *amount),
            (Operation::Overflows(op), [a, b]) => self.build.value(Op::Overflows(op, *a, *b), Scalar::Bool),
            (Operation::Fma, [a, b, c]) => self.build.value(Op::Fma(*a, *b, *c), of),
            (Operation::Math(function), values) => self.math(at, function, of, values)?,
            (
                Operation::Unary(_)
                | Operation::Binary(_)
                | Operation::Abs
                | Operation::Count(_)
                | Operation::SwapBytes
                | Operation::Bits
                | Operation::Cast
                | Operation::Shift(_)
                | Operation::Rotate { .. }
                | Operation::Overflows(_)
                | Operation::Fma
                | Operation::Dot
                | Operation::ToArray
                | Operation::Compare(_)
                | Operation::Order
                | Operation::PartialOrder
                | Operation::Len
                | Operation::HostConstantValue
                | Operation::UninitArray
                | Operation::Regroup
                | Operation::SomeWhere,
                _,
            ) => return Err(self.error(at, "this takes other operands; please report this")),
        })
    }

    /// Rotates by two shifts of the unsigned bits; shift amounts are modulo the width.
    fn rotate(&mut self, left: bool, ty: Scalar, a: Value, amount: Value) -> Value {
        let bits = super::range::unsigned(ty);
        let a = if bits == ty { a } else { self.build.value(Op::Bitcast(a, bits), bits) };
        let amount = self.build.cast_value(amount, Scalar::U32, bits);
        let zero = self.build.constant(bits, 0);
        let back = self.build.binary_value(BinaryOp::Sub, zero, amount, bits);
        let (up, down) = if left { (amount, back) } else { (back, amount) };
        let high = self.build.binary_value(BinaryOp::Shl, a, up, bits);
        let low = self.build.binary_value(BinaryOp::Shr, a, down, bits);
        let rotated = self.build.binary_value(BinaryOp::Or, high, low, bits);
        if bits == ty { rotated } else { self.build.value(Op::Bitcast(rotated, ty), ty) }
    }
}

/// The memory of a slice as a slice of `len` elements of another type, in the type `ty`.
fn regrouped(slice: &Val, len: &Val, ty: &Ty) -> Val {
    let mut leaves = slice.leaves.clone();
    leaves[1] = len.only();
    Val { ty: ty.in_memories(&slice.ty.memories()), leaves }
}
