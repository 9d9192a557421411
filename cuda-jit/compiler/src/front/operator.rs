//! Binary operators, with Rust's checks: for division always, for overflow if the kernel is `checked`.

use super::compare::is_sequence;
use super::function::{Lowering, Result};
use super::overload;
use super::place::Access;
use super::types::Val;
use crate::kir::{BinaryOp as Kir, CompareOp, Op, Scalar, Value};
use crate::libcalls;
use crate::syntax::{BinaryOp, Expr, ExprKind, Lit, Pos};
use crate::typeinfo::{DeviceFn, Ty, ty_of};

/// Returns true if the operator is a comparison.
pub(super) fn compares(op: BinaryOp) -> bool {
    comparison(op).is_some()
}

pub(super) fn comparison(op: BinaryOp) -> Option<CompareOp> {
    match op {
        BinaryOp::Eq => Some(CompareOp::Eq),
        BinaryOp::Ne => Some(CompareOp::Ne),
        BinaryOp::Lt => Some(CompareOp::Lt),
        BinaryOp::Le => Some(CompareOp::Le),
        BinaryOp::Gt => Some(CompareOp::Gt),
        BinaryOp::Ge => Some(CompareOp::Ge),
        _ => None,
    }
}

fn is_shift(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Shl | BinaryOp::Shr)
}

impl Lowering<'_> {
    /// Lowers `left op right`.
    pub(super) fn binary(
        &mut self,
        at: Pos,
        op: BinaryOp,
        left: &'static Expr,
        right: &'static Expr,
        expected: Option<&Ty>,
    ) -> Result<Val> {
        let outside = expected.filter(|_| !compares(op));
        // Comparisons of references are those of the values.
        let types = [left, right].map(|operand| self.ty_of(operand).filter(|_| !compares(op)));
        if let Some(operator) = self.operator_of_references(at, overload::trait_name(op), types)? {
            let (left, right) = (self.expr(left, None)?, self.expr(right, None)?);
            return self.call_instance(at, &operator.instance, vec![left, right]);
        }
        if is_shift(op) {
            let ty = self.ty_of(left).or_else(|| outside.cloned());
            let value = self.operand(left, ty.as_ref())?;
            if value.ty.lists_operators() {
                let amount = self.right_operand(op, &value.ty, right)?;
                return self.overloaded(at, op, value, amount);
            }
            let amount = self.operand(right, None)?;
            return self.arithmetic(at, op, &value, &amount, may_be_zero(right));
        }
        let known = [self.ty_of(left), self.ty_of(right)].map(|ty| ty.map(super::types::strip_refs));
        if let Some(number) = known.iter().flatten().find_map(Ty::lanes) {
            let [left, right] = [(left, &known[0]), (right, &known[1])]
                .map(|(expr, ty)| self.operand(expr, ty.as_ref().or(Some(&Ty::Scalar(number)))));
            return self.lanes_binary(at, op, left?, right?);
        }
        if let [other, Some(of)] = &known
            && of.lists_operators()
            && !other.as_ref().is_some_and(Ty::lists_operators)
            && !(compares(op) && of.complex().is_some())
        {
            let listed = || overload::left_type(overload::trait_name(op), of);
            let wanted = other.clone().or_else(listed).or_else(|| Some(of.clone()));
            let left = self.operand(left, wanted.as_ref())?;
            let right = self.operand(right, Some(of))?;
            return self.overloaded(at, op, left, right);
        }
        if compares(op) && known.iter().flatten().any(is_sequence) {
            return self.compare_sequences(at, op, [left, right], &known);
        }
        let ty = known.into_iter().flatten().next().or_else(|| outside.cloned());
        let left = self.operand(left, ty.as_ref())?;
        let zero = may_be_zero(right);
        if left.ty.complex().is_some() && compares(op) {
            let right = self.operand(right, Some(&left.ty))?;
            return self.compare_values(at, op, left, right);
        }
        if left.ty.lists_operators() {
            let right = self.right_operand(op, &left.ty, right)?;
            return self.overloaded(at, op, left, right);
        }
        let right = self.operand(right, ty.as_ref())?;
        if let Some(compare) = comparison(op) {
            if left.ty.as_scalar().is_none() {
                return self.compare_values(at, op, left, right);
            }
            let result = self.build.value(Op::Compare(compare, left.only(), right.only()), Scalar::Bool);
            return Ok(Val::scalar(Scalar::Bool, result));
        }
        self.arithmetic(at, op, &left, &right, zero)
    }

    /// Lowers the right operand of a type that lists operators. Literals, also within tuples and arrays, have the type that the
    /// operator takes.
    fn right_operand(&mut self, op: BinaryOp, left: &Ty, right: &'static Expr) -> Result<Val> {
        let listed = || overload::right_type(left, overload::trait_name(op), right);
        let ty = match &right.1 {
            ExprKind::Tuple(_) | ExprKind::Array(_) => listed().or_else(|| self.ty_of(right)),
            _ => self.ty_of(right).or_else(listed).or_else(|| matches!(left, Ty::Enum(..)).then(|| left.clone())),
        };
        self.operand(right, ty.as_ref())
    }

    /// Lowers `place op= value`. On primitive types Rust evaluates the value first; for other types, references
    /// included, it is a call of the trait's method, whose arguments are evaluated in order.
    pub(super) fn assign_op(
        &mut self,
        at: Pos,
        op: BinaryOp,
        place: &'static Expr,
        value: &'static Expr,
    ) -> Result<Val> {
        let zero = may_be_zero(value);
        let ty = self.ty_of(place).map(super::types::strip_refs);
        let ty = match ty {
            Some(vector) if vector.lanes().is_some() => Some(vector),
            Some(ref number) if number.complex().is_some() => {
                self.ty_of(value).or_else(|| overload::right_type(number, overload::trait_name(op), value))
            }
            Some(ref of) if of.lists_operators() => {
                let name = format!("{}Assign", overload::trait_name(op));
                self.ty_of(value).or_else(|| overload::right_type(of, &name, value))
            }
            _ if is_shift(op) => None,
            ty => ty,
        };
        if let Some(number) = ty.as_ref().and_then(Ty::lanes) {
            let place = self.place_for(place, Access::Mutable)?;
            let right = self.ty_of(value).map(super::types::strip_refs).unwrap_or(Ty::Scalar(number));
            let value = self.operand(value, Some(&right))?;
            let old = self.build.read(&place);
            let new = self.lanes_binary(at, op, old, value)?;
            self.write(at, &place, new)?;
            return Ok(Val::unit());
        }
        if self.ty_of(place).map(super::types::strip_refs).is_some_and(|ty| ty.lists_operators()) {
            let place = self.place_for(place, Access::Mutable)?;
            let types = [Some(place.ty().clone()), self.ty_of(value)];
            let name = format!("{}Assign", overload::trait_name(op));
            if let Some(operator) = self.operator_of_references(at, &name, types)? {
                let (place, value) = (self.reference(place, true), self.expr(value, None)?);
                return self.call_instance(at, &operator.instance, vec![place, value]);
            }
            let value = self.operand(value, ty.as_ref())?;
            return self.overloaded_assign(at, op, place, value);
        }
        let is_call = matches!(self.ty_of(value), Some(Ty::Ref(..)))
            || ty.as_ref().and_then(Ty::as_scalar).is_some_and(Scalar::is_half);
        let (place, value) = if is_call {
            let place = self.place_for(place, Access::Mutable)?;
            (place, self.operand(value, ty.as_ref())?)
        } else {
            let value = self.operand(value, ty.as_ref())?;
            (self.place_for(place, Access::Mutable)?, value)
        };
        let old = self.build.read(&place);
        let new = self.arithmetic(at, op, &old, &value, zero)?;
        self.write(at, &place, new)?;
        Ok(Val::unit())
    }

    /// Lowers an arithmetic operator on values of one type; a shift amount may have another.
    pub(super) fn arithmetic(
        &mut self,
        at: Pos,
        op: BinaryOp,
        left: &Val,
        right: &Val,
        may_be_zero: bool,
    ) -> Result<Val> {
        let scalar = self.scopes.number(at, left)?;
        let (a, mut b) = (left.only(), right.only());
        let kir = match op {
            BinaryOp::Add => Kir::Add,
            BinaryOp::Sub => Kir::Sub,
            BinaryOp::Mul => Kir::Mul,
            BinaryOp::Div => Kir::Div,
            BinaryOp::Rem => Kir::Rem,
            BinaryOp::BitAnd => Kir::And,
            BinaryOp::BitOr => Kir::Or,
            BinaryOp::BitXor => Kir::Xor,
            BinaryOp::Shl => Kir::Shl,
            BinaryOp::Shr => Kir::Shr,
            _ => return Err(self.error(at, "this operator is no arithmetic; please report this")),
        };
        match op {
            BinaryOp::Div | BinaryOp::Rem if scalar.is_integer() && may_be_zero => {
                self.check_division(at, op, scalar, a, b)
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul if self.scopes.checks_overflow() && scalar.is_integer() => {
                self.check_overflow(at, kir, a, b);
            }
            BinaryOp::Shl | BinaryOp::Shr => b = self.shift_amount(at, scalar, right)?,
            _ => {}
        }
        let result = match kir {
            Kir::Div | Kir::Rem => self.divide(at, kir, a, b, scalar)?,
            _ => self.build.binary_value(kir, a, b, scalar),
        };
        Ok(Val::scalar(scalar, result))
    }

    /// Divides two numbers. Integers of 128 bits are divided by a library function, for which LLVM would emit a loop over
    /// bits, unless the divisor is known to be a power of two.
    pub(super) fn divide(&mut self, at: Pos, op: Kir, a: Value, b: Value, scalar: Scalar) -> Result<Value> {
        let function = match scalar {
            Scalar::U128 => libcalls::divide_unsigned::instance(),
            Scalar::I128 => libcalls::divide_signed::instance(),
            _ => return Ok(self.build.binary_value(op, a, b, scalar)),
        };
        if self.build.known(b).is_some_and(u128::is_power_of_two) {
            return Ok(self.build.binary_value(op, a, b, scalar));
        }
        let both = self.call_instance(at, &function, vec![Val::scalar(scalar, a), Val::scalar(scalar, b)])?;
        Ok(both.leaves[usize::from(op == Kir::Rem)])
    }

    /// Casts a shift amount to the type of the shifted value, as KIR requires.
    fn shift_amount(&mut self, at: Pos, scalar: Scalar, amount: &Val) -> Result<Value> {
        let from = self.scopes.number(at, amount)?;
        if self.scopes.checks_overflow() {
            let width = self.build.constant(from, u64::from(scalar.bits()));
            let mut inside = self.build.value(Op::Compare(CompareOp::Lt, amount.only(), width), Scalar::Bool);
            if from.is_signed() {
                let zero = self.build.constant(from, 0);
                let positive = self.build.value(Op::Compare(CompareOp::Ge, amount.only(), zero), Scalar::Bool);
                inside = self.build.value(Op::Binary(Kir::And, inside, positive), Scalar::Bool);
            }
            self.check(at, inside, "the shift's amount is not less than the width", &[]);
        }
        Ok(self.build.cast_value(amount.only(), from, scalar))
    }

    /// Converts an integer to another type: `Ok`, or the error that it does not fit.
    pub(super) fn fallible(&mut self, value: Value, from: Scalar, to: Scalar) -> Val {
        let converted = self.build.cast_value(value, from, to);
        let back = self.build.cast_value(converted, to, from);
        let mut fits = self.build.compare(CompareOp::Eq, back, value);
        if from.is_signed() != to.is_signed() {
            // a negative value of the signed type does not fit the unsigned one
            let (signed, of) = if from.is_signed() { (value, from) } else { (converted, to) };
            let zero = self.build.constant(of, 0);
            let not_negative = self.build.compare(CompareOp::Ge, signed, zero);
            fits = self.build.binary_value(Kir::And, fits, not_negative, Scalar::Bool);
        }
        self.build.result_of_one_error(fits, Val::scalar(to, converted), ty_of::<std::num::TryFromIntError>())
    }

    pub(super) fn check_overflow(&mut self, at: Pos, op: Kir, a: Value, b: Value) {
        let message = match op {
            Kir::Add => "addition overflows",
            Kir::Sub => "subtraction overflows",
            _ => "multiplication overflows",
        };
        let overflows = self.build.value(Op::Overflows(op, a, b), Scalar::Bool);
        let fits = self.build.value(Op::Unary(crate::kir::UnaryOp::Not, overflows), Scalar::Bool);
        self.check(at, fits, message, &[]);
    }

    fn check_division(&mut self, at: Pos, op: BinaryOp, scalar: Scalar, a: Value, b: Value) {
        let (by_zero, overflows) = match op {
            BinaryOp::Div => ("division by zero", "division overflows"),
            _ => ("remainder by zero", "remainder overflows"),
        };
        let zero = self.build.constant(scalar, 0);
        let nonzero = self.build.value(Op::Compare(CompareOp::Ne, b, zero), Scalar::Bool);
        self.check(at, nonzero, by_zero, &[]);
        if scalar.is_signed() {
            let minus_one = self.build.constant_bits(scalar, scalar.mask());
            let minimum = self.build.constant_bits(scalar, scalar.top());
            let other = self.build.value(Op::Compare(CompareOp::Ne, b, minus_one), Scalar::Bool);
            let larger = self.build.value(Op::Compare(CompareOp::Ne, a, minimum), Scalar::Bool);
            let fits = self.build.value(Op::Binary(Kir::Or, other, larger), Scalar::Bool);
            self.check(at, fits, overflows, &[]);
        }
    }

    /// Panics if a signed value is its type's minimum, whose negation overflows.
    pub(super) fn check_not_minimum(&mut self, at: Pos, scalar: Scalar, value: Value, message: &str) {
        let minimum = self.build.constant_bits(scalar, scalar.top());
        let fits = self.build.value(Op::Compare(CompareOp::Ne, value, minimum), Scalar::Bool);
        self.check(at, fits, message, &[]);
    }
}

/// Returns true if a divisor must be checked: a nonzero literal, which is never -1 because it has no sign, need not be.
fn may_be_zero(divisor: &Expr) -> bool {
    !matches!(divisor.1, ExprKind::Lit(Lit::Int(1.., _)))
}
