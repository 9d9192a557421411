//! Methods of integers that take more than an instruction: powers, Euclidean division, and those that tell overflow.

use super::function::Lowering;
use super::types::Val;
use crate::harvest::{Ty, ty_of};
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, Terminator, UnaryOp, Value};
use crate::syntax::Pos;

impl Lowering<'_> {
    /// `checked_*` and `overflowing_*`: the result, and whether it is the exact one.
    pub(super) fn told_overflow(&mut self, name: &str, ty: Scalar, a: Value, args: &[Value]) -> Val {
        let zero = self.constant(ty, 0);
        let (told, op) = name.split_once('_').unwrap_or((name, ""));
        let (result, wrong) = match (op, args) {
            ("neg", _) => {
                let overflows = self.build.value(Op::Overflows(BinaryOp::Sub, zero, a), Scalar::Bool);
                (self.binary_value(BinaryOp::Sub, zero, a, ty), overflows)
            }
            ("shl" | "shr", [amount]) => {
                let width = self.constant(Scalar::U32, ty.bits().into());
                let over = self.compare(CompareOp::Ge, *amount, width);
                let amount = self.cast_value(*amount, Scalar::U32, ty);
                let op = if op == "shl" { BinaryOp::Shl } else { BinaryOp::Shr };
                (self.binary_value(op, a, amount, ty), over)
            }
            ("div" | "rem", [b]) => {
                let wrong = self.undefined_division(ty, a, *b);
                // where it is undefined, the divisor is one instead
                let one = self.one(ty);
                let b = self.select(wrong, one, *b, ty);
                let op = if op == "div" { BinaryOp::Div } else { BinaryOp::Rem };
                (self.binary_value(op, a, b, ty), wrong)
            }
            (op, args) => {
                let op = match op {
                    "add" => BinaryOp::Add,
                    "sub" => BinaryOp::Sub,
                    _ => BinaryOp::Mul,
                };
                let b = args.first().copied().unwrap_or(zero);
                let overflows = self.build.value(Op::Overflows(op, a, b), Scalar::Bool);
                (self.binary_value(op, a, b, ty), overflows)
            }
        };
        if told == "overflowing" {
            return Val { ty: Ty::Tuple(vec![Ty::Scalar(ty), Ty::Scalar(Scalar::Bool)]), leaves: vec![result, wrong] };
        }
        let some = self.unary_value(UnaryOp::Not, wrong, Scalar::Bool);
        Val { ty: Ty::option(Ty::Scalar(ty)), leaves: vec![some, result] }
    }

    /// An integer as one of another type, or the error that it does not fit.
    pub(super) fn fallible(&mut self, value: Value, from: Scalar, to: Scalar) -> Val {
        let converted = self.cast_value(value, from, to);
        let back = self.cast_value(converted, to, from);
        let mut fits = self.compare(CompareOp::Eq, back, value);
        if from.is_signed() != to.is_signed() {
            // what is negative in one type is not in the other
            let (signed, of) = if from.is_signed() { (value, from) } else { (converted, to) };
            let zero = self.constant(of, 0);
            let not_negative = self.compare(CompareOp::Ge, signed, zero);
            fits = self.binary_value(BinaryOp::And, fits, not_negative, Scalar::Bool);
        }
        self.result_of_one_error(fits, Val::scalar(to, converted), ty_of::<std::num::TryFromIntError>())
    }

    /// Whether a division is by zero, or its result does not fit.
    fn undefined_division(&mut self, ty: Scalar, a: Value, b: Value) -> Value {
        let zero = self.constant(ty, 0);
        let by_zero = self.compare(CompareOp::Eq, b, zero);
        if !ty.is_signed() {
            return by_zero;
        }
        let overflows = self.division_overflows(ty, a, b);
        self.binary_value(BinaryOp::Or, by_zero, overflows, Scalar::Bool)
    }

    fn division_overflows(&mut self, ty: Scalar, a: Value, b: Value) -> Value {
        let (minus_one, minimum) = (self.constant_bits(ty, ty.mask()), self.constant_bits(ty, ty.top()));
        let (by_minus_one, lowest) =
            (self.compare(CompareOp::Eq, b, minus_one), self.compare(CompareOp::Eq, a, minimum));
        self.binary_value(BinaryOp::And, by_minus_one, lowest, Scalar::Bool)
    }

    /// Euclidean and wrapping division: by zero is a panic.
    pub(super) fn division(&mut self, at: Pos, name: &str, ty: Scalar, a: Value, b: Value) -> Value {
        let zero = self.constant(ty, 0);
        let nonzero = self.compare(CompareOp::Ne, b, zero);
        let divides = name.contains("div");
        self.check(at, nonzero, if divides { "division by zero" } else { "remainder by zero" }, &[]);
        let mut divisor = b;
        let mut overflows = None;
        if ty.is_signed() {
            let overflow = self.division_overflows(ty, a, b);
            if name.ends_with("euclid") {
                let fits = self.unary_value(UnaryOp::Not, overflow, Scalar::Bool);
                self.check(at, fits, if divides { "division overflows" } else { "remainder overflows" }, &[]);
            } else {
                // the minimum divided by -1 wraps to itself, as it does divided by 1
                let one = self.one(ty);
                divisor = self.select(overflow, one, b, ty);
                overflows = Some(overflow);
            }
        }
        let quotient = self.binary_value(BinaryOp::Div, a, divisor, ty);
        let rest = self.binary_value(BinaryOp::Rem, a, divisor, ty);
        if overflows.is_some() || !ty.is_signed() || !name.ends_with("euclid") {
            return if divides { quotient } else { rest };
        }
        let negative = self.compare(CompareOp::Lt, rest, zero);
        let positive = self.compare(CompareOp::Gt, b, zero);
        let one = self.one(ty);
        if divides {
            let (down, up) = (
                self.binary_value(BinaryOp::Sub, quotient, one, ty),
                self.binary_value(BinaryOp::Add, quotient, one, ty),
            );
            let moved = self.select(positive, down, up, ty);
            return self.select(negative, moved, quotient, ty);
        }
        let magnitude = self.unary_value(UnaryOp::Abs, b, ty);
        let moved = self.binary_value(BinaryOp::Add, rest, magnitude, ty);
        self.select(negative, moved, rest, ty)
    }

    /// The exact product, or the limit on its side.
    pub(super) fn saturating_mul(&mut self, ty: Scalar, a: Value, b: Value) -> Value {
        let overflows = self.build.value(Op::Overflows(BinaryOp::Mul, a, b), Scalar::Bool);
        let exact = self.binary_value(BinaryOp::Mul, a, b, ty);
        let limit = if ty.is_signed() {
            let zero = self.constant(ty, 0);
            let (low, high) = (self.constant_bits(ty, ty.top()), self.constant_bits(ty, ty.mask() >> 1));
            let signs = [self.compare(CompareOp::Lt, a, zero), self.compare(CompareOp::Lt, b, zero)];
            let differ = self.binary_value(BinaryOp::Xor, signs[0], signs[1], Scalar::Bool);
            self.select(differ, low, high, ty)
        } else {
            self.constant_bits(ty, ty.mask())
        };
        self.select(overflows, limit, exact, ty)
    }

    /// Powers by squaring; overflow is a panic or wraps.
    pub(super) fn power(&mut self, at: Pos, ty: Scalar, base: Value, exponent: Value, checked: bool) -> Value {
        let slots = [self.build.slot("power", ty), self.build.slot("base", ty)];
        let left = self.build.slot("exponent", Scalar::U32);
        let one = self.one(ty);
        for (slot, value) in [(slots[0], one), (slots[1], base), (left, exponent)] {
            self.build.effect(Op::Set(slot, value));
        }
        let (again, exit) = (self.build.block(), self.build.block());
        self.jump_into(again);
        let exponent = self.build.value(Op::Get(left), Scalar::U32);
        let [none, single] = [self.constant(Scalar::U32, 0), self.constant(Scalar::U32, 1)];
        let done = self.compare(CompareOp::Eq, exponent, none);
        let turn = self.build.block();
        self.build.end(Terminator::Branch(done, exit, turn));
        self.build.select_block(turn);
        let bit = self.binary_value(BinaryOp::And, exponent, single, Scalar::U32);
        let odd = self.compare(CompareOp::Eq, bit, single);
        let (multiply, square) = self.fork(odd);
        self.build.select_block(multiply);
        self.multiply_slots(at, ty, slots[0], slots[1], checked);
        self.jump_into(square);
        let rest = self.binary_value(BinaryOp::Shr, exponent, single, Scalar::U32);
        self.build.effect(Op::Set(left, rest));
        // the last square is not needed, and may overflow where the power does not
        let more = self.compare(CompareOp::Ne, rest, none);
        let squared = self.build.block();
        self.build.end(Terminator::Branch(more, squared, again));
        self.build.select_block(squared);
        self.multiply_slots(at, ty, slots[1], slots[1], checked);
        self.build.end(Terminator::Jump(again));
        self.build.select_block(exit);
        self.build.value(Op::Get(slots[0]), ty)
    }

    fn multiply_slots(&mut self, at: Pos, ty: Scalar, to: crate::kir::SlotId, by: crate::kir::SlotId, checked: bool) {
        let (a, b) = (self.build.value(Op::Get(to), ty), self.build.value(Op::Get(by), ty));
        if checked {
            self.check_overflow(at, BinaryOp::Mul, a, b);
        }
        let product = self.binary_value(BinaryOp::Mul, a, b, ty);
        self.build.effect(Op::Set(to, product));
    }

    /// The next power of two; one that does not fit is a panic, or zero.
    pub(super) fn next_power_of_two(&mut self, at: Pos, ty: Scalar, a: Value) -> Value {
        let one = self.one(ty);
        let small = self.compare(CompareOp::Le, a, one);
        let less = self.binary_value(BinaryOp::Sub, a, one, ty);
        let zeros = self.unary_value(UnaryOp::LeadingZeros, less, ty);
        let width = self.constant(ty, ty.bits().into());
        let shift = self.binary_value(BinaryOp::Sub, width, zeros, ty);
        let fits = self.compare(CompareOp::Lt, shift, width);
        let either = self.binary_value(BinaryOp::Or, fits, small, Scalar::Bool);
        if self.checks_overflow() {
            self.check(at, either, "addition overflows", &[]);
        }
        let zero = self.constant(ty, 0);
        let power = self.binary_value(BinaryOp::Shl, one, shift, ty);
        let power = self.select(fits, power, zero, ty);
        self.select(small, one, power, ty)
    }
}
