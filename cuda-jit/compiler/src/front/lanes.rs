//! Short vectors: operations are element-wise. Two 16-bit floats are computed as a packed pair and stored as one.

use super::expr::assembled;
use super::function::{Lowering, Result};
use super::place::Place;
use super::slice::Elements;
use super::types::{Val, element_type};
use crate::kir::{BinaryOp as Kir, CompareOp, Op, Scalar, Type, UnaryOp as KirUnary, Value};
use crate::syntax::{BinaryOp, Expr, Pos, UnaryOp};
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{Memory, Ty};
use cuda_jit_lang::device::MISALIGNED;

impl Lowering<'_> {
    /// `f32x4::new(a, b, c, d)`, or `f32x4::splat(a)`.
    pub(super) fn vector(&mut self, ty: &Ty, args: &'static [Expr]) -> Result<Val> {
        let types: Vec<Ty> = ty.fields().into_iter().map(|(part, _)| part.clone()).collect();
        let mut numbers = Vec::with_capacity(types.len());
        for (arg, part) in args.iter().zip(&types) {
            numbers.push(self.expr_as(arg, part)?);
        }
        if let [every] = &numbers[..] {
            numbers = vec![every.clone(); types.len()];
        }
        Ok(assembled(ty, numbers))
    }

    /// `f32x4::from(array)`
    pub(super) fn vector_of_array(&mut self, ty: &Ty, array: &'static Expr) -> Result<Val> {
        let types: Vec<Ty> = ty.fields().into_iter().map(|(part, _)| part.clone()).collect();
        let wanted = Ty::Array(Box::new(types[0].clone()), types.len() as u64);
        let array = Place::Fixed(self.expr_as(array, &wanted)?);
        let (ptr, element, memory, len) = self.slice_of(&array)?;
        let of = Elements { ptr, element, memory, len };
        let mut numbers = Vec::with_capacity(types.len());
        for index in 0..types.len() {
            let index = self.build.constant(Scalar::U64, index as u64);
            let place = self.nth(&of, index);
            numbers.push(self.build.read(&place));
        }
        Ok(assembled(ty, numbers))
    }

    /// Returns a vector as it is; broadcasts a number.
    fn broadcast_lanes(&mut self, at: Pos, value: Val, ty: &Ty) -> Result<Val> {
        if value.ty.lanes().is_some() {
            return self.conform(at, value, ty);
        }
        let count = ty.fields().len();
        Ok(Val { ty: ty.clone(), leaves: vec![value.only(); count] })
    }

    /// Applies an operation element-wise; pairs of 16-bit floats are computed packed.
    pub(super) fn each_lane(
        &mut self,
        ty: &Ty,
        operands: &[&Val],
        mut op: impl FnMut(&mut Self, Scalar, &[Value]) -> Result<Value>,
    ) -> Result<Val> {
        if let Some(pair) = ty.packed() {
            let packed: Vec<Value> = operands.iter().map(|operand| self.build.pack(operand, pair)).collect();
            let result = op(self, pair, &packed)?;
            return Ok(Val { ty: ty.clone(), leaves: self.build.unpack(result, pair) });
        }
        self.each_number(ty, operands, op)
    }

    /// Applies an operation element-wise.
    fn each_number(
        &mut self,
        ty: &Ty,
        operands: &[&Val],
        mut op: impl FnMut(&mut Self, Scalar, &[Value]) -> Result<Value>,
    ) -> Result<Val> {
        let number = ty.lanes().unwrap_or(Scalar::F32);
        let mut leaves = Vec::with_capacity(ty.fields().len());
        for lane in 0..ty.fields().len() {
            let lanes: Vec<Value> = operands.iter().map(|operand| operand.leaves[lane]).collect();
            leaves.push(op(self, number, &lanes)?);
        }
        Ok(Val { ty: ty.clone(), leaves })
    }

    /// Lowers `left op right` where at least one side is a vector.
    pub(super) fn lanes_binary(&mut self, at: Pos, op: BinaryOp, left: Val, right: Val) -> Result<Val> {
        let ty = if left.ty.lanes().is_some() { left.ty.clone() } else { right.ty.clone() };
        let (left, right) = (self.broadcast_lanes(at, left, &ty)?, self.broadcast_lanes(at, right, &ty)?);
        match op {
            BinaryOp::Eq | BinaryOp::Ne => {
                let equal = self.same_numbers(&left, &right);
                let equal =
                    if op == BinaryOp::Eq { equal } else { self.build.unary_value(KirUnary::Not, equal, Scalar::Bool) };
                Ok(Val::scalar(Scalar::Bool, equal))
            }
            BinaryOp::Div => self.each_number(&ty, &[&left, &right], |lowering, number, lanes| {
                let [a, b] = [0, 1].map(|index| Val::scalar(number, lanes[index]));
                Ok(lowering.arithmetic(at, op, &a, &b, true)?.only())
            }),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                self.each_lane(&ty, &[&left, &right], |lowering, number, lanes| {
                    let [a, b] = [0, 1].map(|index| Val::scalar(number, lanes[index]));
                    Ok(lowering.arithmetic(at, op, &a, &b, false)?.only())
                })
            }
            _ => Err(self.error(
                at,
                format!(
                    "vectors do not have this operator, and `{}` is a vector; apply it to the elements",
                    ty_name(&ty)
                ),
            )),
        }
    }

    /// Returns true if all elements of two vectors are equal.
    pub(super) fn same_numbers(&mut self, left: &Val, right: &Val) -> Value {
        let mut equal = self.build.constant(Scalar::Bool, 1);
        for (a, b) in left.leaves.iter().zip(&right.leaves) {
            let same = self.build.compare(CompareOp::Eq, *a, *b);
            equal = self.build.binary_value(Kir::And, equal, same, Scalar::Bool);
        }
        equal
    }

    /// `-vector`
    pub(super) fn lanes_unary(&mut self, at: Pos, op: UnaryOp, value: &Val) -> Result<Val> {
        let ty = value.ty.clone();
        if op != UnaryOp::Neg {
            return Err(self.error(
                at,
                format!(
                    "vectors do not have this operator, and `{}` is a vector; apply it to the elements",
                    ty_name(&ty)
                ),
            ));
        }
        self.each_lane(&ty, &[value], |lowering, number, lanes| Ok(lowering.negated(at, number, lanes[0])))
    }

    /// The dot product, summed from the first element on.
    pub(super) fn dot_lanes(&mut self, at: Pos, left: &Val, right: &Val) -> Result<Val> {
        let products = self.lanes_binary(at, BinaryOp::Mul, left.clone(), right.clone())?;
        let number = left.ty.lanes().unwrap_or(Scalar::F32);
        let mut sum = Val::scalar(number, products.leaves[0]);
        for product in &products.leaves[1..] {
            sum = self.arithmetic(at, BinaryOp::Add, &sum, &Val::scalar(number, *product), false)?;
        }
        Ok(sum)
    }

    /// Converts a vector to an array.
    pub(super) fn vector_to_array(&mut self, vector: &Val, array: &Ty) -> Val {
        let made = self.build.new_array("array", array);
        let element = element_type(array.clone()).unwrap_or(Ty::Unit);
        for (index, leaf) in (0..).zip(&vector.leaves) {
            let place = self.build.element_at(made.only(), &element, crate::kir::Space::Local, index);
            self.build.effect(Op::Store(place, *leaf));
        }
        self.build.fresh(made)
    }

    /// Lowers `as_vectors(numbers)`: returns the slice of whole vectors and the remaining numbers.
    pub(super) fn as_vectors(&mut self, at: Pos, vector: &Ty, args: &'static [Expr]) -> Result<Val> {
        let number = Ty::Scalar(vector.lanes().unwrap_or(Scalar::F32));
        let slice = Ty::Slice(Box::new(number.clone()), Memory::unknown(false));
        let numbers = self.expr_as(&args[0], &slice)?;
        let Ty::Slice(_, memory) = numbers.ty else { return Err(self.error(at, "this is no slice of numbers")) };
        let (ptr, len) = (numbers.leaves[0], numbers.leaves[1]);
        let (pointee, index) = (vector.pointee(), Scalar::U64);
        let address = self.build.value(Op::Address(ptr), index);
        let (below, zero) = (self.build.constant(index, u64::from(pointee.align()) - 1), self.build.constant(index, 0));
        let beside = self.build.binary_value(Kir::And, address, below, index);
        let aligned = self.build.compare(CompareOp::Eq, beside, zero);
        self.check(at, aligned, &MISALIGNED.replace("{0}", &pointee.align().to_string()), &[]);
        let count = self.build.constant(index, vector.fields().len() as u64);
        let vectors = self.build.binary_value(Kir::Div, len, count, index);
        let whole = self.build.binary_value(Kir::Mul, vectors, count, index);
        let rest = self.build.binary_value(Kir::Sub, len, whole, index);
        let remainder = self.build.value(Op::Offset(ptr, whole), Type::Ptr(memory.space(), number.pointee()));
        let ptr = self.build.value(Op::Retype(ptr, pointee), Type::Ptr(memory.space(), pointee));
        let ty = [vector.clone(), number].map(|element| Ty::Slice(Box::new(element), memory));
        Ok(Val { ty: Ty::Tuple(ty.to_vec()), leaves: vec![ptr, vectors, remainder, rest] })
    }
}
