//! Methods of numbers, `bool` and slices: one table of names, types and lowerings.
//!
//! A primitive's own methods come before any trait's, so the receiver's type and the name decide.

use super::Callee;
use super::function::{Lowering, Result};
use super::numbers::unsigned;
use super::place::Place;
use super::types::{Val, behind};
use crate::harvest::{Intrinsic, Ty};
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, UnaryOp, Value};
use crate::syntax::{Expr, Pos};

/// What a method's arguments and result are, relative to its receiver's type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The receiver's own type.
    Own,
    /// `u32`
    Count,
    /// `i32`
    Int,
    /// `bool`
    Test,
    /// The unsigned integer of the same width.
    Unsigned,
    /// `f32`
    Single,
    /// `f64`
    Double,
}

impl Kind {
    fn of(self, receiver: Scalar) -> Scalar {
        match self {
            Kind::Own => receiver,
            Kind::Count => Scalar::U32,
            Kind::Int => Scalar::I32,
            Kind::Test => Scalar::Bool,
            Kind::Unsigned if receiver.is_float() => receiver.unsigned(),
            Kind::Unsigned => unsigned(receiver),
            Kind::Single => Scalar::F32,
            Kind::Double => Scalar::F64,
        }
    }
}

/// A method's signature: which receivers have it, its arguments, its result.
struct Method {
    receivers: fn(Scalar) -> bool,
    args: &'static [Kind],
    result: Kind,
}

fn method(name: &str) -> Option<Method> {
    use Kind::{Count, Double, Int, Own, Single, Test, Unsigned};
    let float: fn(Scalar) -> bool = Scalar::is_float;
    let int: fn(Scalar) -> bool = Scalar::is_integer;
    let signed: fn(Scalar) -> bool = Scalar::is_signed;
    let plain: fn(Scalar) -> bool = |scalar| scalar.is_integer() && !scalar.is_signed();
    let number: fn(Scalar) -> bool = |scalar| scalar != Scalar::Bool;
    let sized: fn(Scalar) -> bool = |scalar| scalar.is_float() || scalar.is_signed();
    let (receivers, args, result): (_, &'static [Kind], Kind) = match name {
        "sqrt" | "floor" | "ceil" | "trunc" | "round_ties_even" | "fract" | "recip" => (float, &[], Own),
        "copysign" => (float, &[Own], Own),
        "mul_add" => (float, &[Own, Own], Own),
        "sin" | "cos" | "tan" | "asin" | "acos" | "atan" | "sinh" | "cosh" | "tanh" | "asinh" | "acosh" | "atanh"
        | "exp" | "exp2" | "exp_m1" | "ln" | "log2" | "log10" | "ln_1p" | "cbrt" | "round" | "to_degrees"
        | "to_radians" | "sin_cos" => (float, &[], Own),
        "atan2" | "hypot" | "powf" | "log" => (float, &[Own], Own),
        "powi" => (float, &[Int], Own),
        "is_nan" | "is_finite" | "is_infinite" | "is_sign_negative" | "is_sign_positive" => (float, &[], Test),
        "to_bits" => (float, &[], Unsigned),
        "to_f32" | "to_f32_const" => (Scalar::is_half, &[], Single),
        "to_f64" | "to_f64_const" => (Scalar::is_half, &[], Double),
        "abs" | "signum" => (sized, &[], Own),
        "min" | "max" => (number, &[Own], Own),
        "clamp" => (number, &[Own, Own], Own),
        "abs_diff" => (int, &[Own], Unsigned),
        "unsigned_abs" => (signed, &[], Unsigned),
        "is_positive" | "is_negative" => (signed, &[], Test),
        "is_power_of_two" => (plain, &[], Test),
        "div_ceil" => (plain, &[Own], Own),
        "count_ones" | "count_zeros" | "leading_zeros" | "leading_ones" | "trailing_zeros" | "trailing_ones" => {
            (int, &[], Count)
        }
        "reverse_bits" | "swap_bytes" | "wrapping_neg" => (int, &[], Own),
        "rotate_left" | "rotate_right" | "wrapping_shl" | "wrapping_shr" => (int, &[Count], Own),
        "wrapping_add" | "wrapping_sub" | "wrapping_mul" | "saturating_add" | "saturating_sub" => (int, &[Own], Own),
        "div_euclid" | "rem_euclid" => (number, &[Own], Own),
        "saturating_mul" | "wrapping_div" | "wrapping_rem" => (int, &[Own], Own),
        "pow" | "wrapping_pow" => (int, &[Count], Own),
        "wrapping_abs" => (signed, &[], Own),
        "next_power_of_two" => (plain, &[], Own),
        "ilog2" => (int, &[], Count),
        "checked_add" | "checked_sub" | "checked_mul" | "checked_div" | "checked_rem" => (int, &[Own], Own),
        "checked_shl" | "checked_shr" => (int, &[Count], Own),
        "checked_neg" | "overflowing_neg" => (int, &[], Own),
        "overflowing_add" | "overflowing_sub" | "overflowing_mul" => (int, &[Own], Own),
        _ => return None,
    };
    Some(Method { receivers, args, result })
}

/// The type of a method's result.
pub(super) fn result_type(name: &str, receiver: &Ty) -> Option<Ty> {
    if receiver.lanes().is_some() {
        return super::lanes::result_type(name, receiver);
    }
    if let Some(part) = receiver.complex() {
        return super::complex::result_type(name, part);
    }
    if let Some(ty) = super::ordering::result_type(name, receiver) {
        return Some(ty);
    }
    let Ty::Scalar(scalar) = receiver else { return super::slice::result_type(name, receiver) };
    match name.split_once('_') {
        Some(("sin", "cos")) => Some(Ty::Tuple(vec![receiver.clone(), receiver.clone()])),
        Some(("checked", _)) => Some(Ty::option(receiver.clone())),
        Some(("overflowing", _)) => Some(Ty::Tuple(vec![receiver.clone(), Ty::Scalar(Scalar::Bool)])),
        _ => Some(Ty::Scalar(method(name)?.result.of(*scalar))),
    }
}

impl Lowering<'_> {
    /// `receiver.name(args)`
    pub(super) fn method(
        &mut self,
        at: Pos,
        name: &'static str,
        receiver: &'static Expr,
        args: &'static [Expr],
        number: u32,
        expected: Option<&Ty>,
    ) -> Result<Val> {
        let callees = self.frame().callees.clone();
        if let Callee::Function(instance, harvest) = &callees[number as usize] {
            let place = self.place(receiver)?;
            let Some(first) = harvest.params.first() else {
                return Err(self.error(at, "a method has a receiver"));
            };
            let value = self.receiver(at, place, first)?;
            let mut passed = vec![self.passed_value(value, receiver, args.iter(), &harvest.params)];
            passed.extend(self.arguments(Some(receiver), args, &harvest.params)?);
            return self.call_function(at, instance, harvest, passed);
        }
        if let Callee::Same(_)
        | Callee::VectorOfArray(_)
        | Callee::Intrinsic(Intrinsic::Number(_) | Intrinsic::TryNumber(_), _) = &callees[number as usize]
        {
            return self.call(at, number, std::slice::from_ref(receiver));
        }
        if let Callee::ViewOp(op, _) = &callees[number as usize] {
            return self.view_op(at, *op, receiver, args);
        }
        if let &Callee::Intrinsic(intrinsic, _) = &callees[number as usize] {
            return self.group_method(at, intrinsic, receiver, args, expected);
        }
        let ty = self.ty_of(receiver).or_else(|| expected.cloned());
        let place = match ty.map(behind) {
            Some(Ty::Scalar(scalar)) => Place::Fixed(self.operand(receiver, Some(&Ty::Scalar(scalar)))?),
            _ => self.place(receiver)?,
        };
        let place = self.through(place);
        if let ("cmp" | "partial_cmp" | "total_cmp", [other]) = (name, args) {
            return self.order(at, name, &place, other);
        }
        match place.ty() {
            of if matches!(name, "max" | "min" | "clamp") && super::ordering::is_ordered_whole(of) => {
                self.one_of_ordered(at, name, &place, args)
            }
            Ty::Array(..) if name == "map" => {
                let array = self.read(&place);
                let stays = self.is_unmentioned(receiver, args.iter());
                let array = if stays { array } else { self.settled(array) };
                self.slice_method(at, name, &Place::Fixed(array), args)
            }
            Ty::Slice(..) | Ty::Array(..) => self.slice_method(at, name, &place, args),
            vector if vector.lanes().is_some() => self.lanes_method(at, name, &place, args),
            number if number.complex().is_some() => self.complex_method(at, name, &place, args),
            _ => {
                let receiver = self.read(&place);
                self.number_method(at, name, &receiver, args)
            }
        }
    }

    /// The receiver as the method takes it: rustc has dereferenced and borrowed as needed.
    fn receiver(&mut self, at: Pos, mut place: Place, wanted: &Ty) -> Result<Val> {
        loop {
            match wanted {
                Ty::Ref(to, memory) if place.ty().fits(to) => return Ok(self.reference(place, memory.writable())),
                wanted if place.ty().fits(wanted) => return Ok(self.read(&place)),
                Ty::Slice(..) if matches!(place.ty(), Ty::Array(..)) => {
                    let reference = self.reference(place, false);
                    return self.coerce(at, reference, wanted);
                }
                _ if matches!(place.ty(), Ty::Ref(..)) => {
                    let reference = self.read(&place);
                    place = self.behind(reference);
                }
                _ => {
                    let value = self.read(&place);
                    return self.agree(at, value, wanted);
                }
            }
        }
    }

    fn number_method(&mut self, at: Pos, name: &'static str, receiver: &Val, args: &'static [Expr]) -> Result<Val> {
        let scalar = self.number(at, receiver)?;
        let found = method(name).filter(|method| (method.receivers)(scalar) && method.args.len() == args.len());
        let Some(Method { args: kinds, result, .. }) = found else {
            return Err(self.error(at, format!("kernels have no method `{name}` on {scalar}")));
        };
        let mut values = Vec::with_capacity(args.len());
        for (arg, kind) in args.iter().zip(kinds) {
            values.push(self.scalar(arg, kind.of(scalar))?);
        }
        self.number_values(at, name, (scalar, receiver.only()), &values, result)
    }

    /// A method of numbers on values.
    pub(super) fn number_method_of(
        &mut self,
        at: Pos,
        name: &'static str,
        receiver: &Val,
        args: Vec<Val>,
    ) -> Result<Val> {
        if let ("cmp" | "partial_cmp" | "total_cmp", [other]) = (name, &args[..]) {
            return self.order_of(at, name, &Place::Fixed(receiver.clone()), &Place::Fixed(other.clone()));
        }
        let scalar = self.number(at, receiver)?;
        let found = method(name).filter(|method| (method.receivers)(scalar) && method.args.len() == args.len());
        let Some(Method { result, .. }) = found else {
            return Err(self.error(at, format!("kernels have no method `{name}` on {scalar}")));
        };
        let args: Vec<Value> = args.iter().map(Val::only).collect();
        self.number_values(at, name, (scalar, receiver.only()), &args, result)
    }

    fn number_values(
        &mut self,
        at: Pos,
        name: &'static str,
        (scalar, receiver): (Scalar, Value),
        values: &[Value],
        result: Kind,
    ) -> Result<Val> {
        if let Some(("checked" | "overflowing", _)) = name.split_once('_') {
            return Ok(self.told_overflow(name, scalar, receiver, values));
        }
        if scalar.is_float() {
            let mut operands = vec![receiver];
            operands.extend(values);
            if let Some(result) = self.math_method(at, name, scalar, &operands)? {
                return Ok(result);
            }
        }
        let value = match (scalar.is_float(), values) {
            (true, values) => self.float_method(at, name, scalar, receiver, values),
            (false, []) => self.integer_unary(at, name, scalar, receiver),
            (false, values) => self.integer_method(at, name, scalar, receiver, values),
        };
        Ok(Val::scalar(result.of(scalar), value))
    }

    pub(super) fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        self.build.value(Op::Compare(op, a, b), Scalar::Bool)
    }

    pub(super) fn binary_value(&mut self, op: BinaryOp, a: Value, b: Value, ty: Scalar) -> Value {
        self.build.value(Op::Binary(op, a, b), ty)
    }

    pub(super) fn unary_value(&mut self, op: UnaryOp, a: Value, ty: Scalar) -> Value {
        self.build.value(Op::Unary(op, a), ty)
    }

    pub(super) fn select(&mut self, condition: Value, yes: Value, no: Value, ty: Scalar) -> Value {
        self.build.value(Op::Select(condition, yes, no), ty)
    }

    fn float_method(&mut self, at: Pos, name: &str, ty: Scalar, a: Value, args: &[Value]) -> Value {
        let simple = match name {
            "abs" => Some(UnaryOp::Abs),
            "sqrt" => Some(UnaryOp::Sqrt),
            "floor" => Some(UnaryOp::Floor),
            "ceil" => Some(UnaryOp::Ceil),
            "trunc" => Some(UnaryOp::Trunc),
            "round_ties_even" => Some(UnaryOp::RoundTiesEven),
            _ => None,
        };
        if let Some(op) = simple {
            return self.unary_value(op, a, ty);
        }
        let bits = ty.unsigned();
        let sign = |walk: &mut Self| {
            let raw = walk.build.value(Op::Bitcast(a, bits), bits);
            let top = walk.constant_bits(bits, bits.top());
            walk.binary_value(BinaryOp::And, raw, top, bits)
        };
        match name {
            "fract" => {
                let whole = self.unary_value(UnaryOp::Trunc, a, ty);
                self.binary_value(BinaryOp::Sub, a, whole, ty)
            }
            "recip" => {
                let one = self.one(ty);
                self.binary_value(BinaryOp::Div, one, a, ty)
            }
            "signum" => {
                let one = self.one(ty);
                let signed = self.binary_value(BinaryOp::CopySign, one, a, ty);
                let nan = self.compare(CompareOp::Ne, a, a);
                self.select(nan, a, signed, ty)
            }
            "copysign" => self.binary_value(BinaryOp::CopySign, a, args[0], ty),
            "min" => self.binary_value(BinaryOp::Min, a, args[0], ty),
            "max" => self.binary_value(BinaryOp::Max, a, args[0], ty),
            "mul_add" => self.build.value(Op::Fma(a, args[0], args[1]), ty),
            "clamp" => self.clamp(at, ty, a, args[0], args[1]),
            "is_nan" => self.compare(CompareOp::Ne, a, a),
            "is_infinite" | "is_finite" => {
                let magnitude = self.unary_value(UnaryOp::Abs, a, ty);
                let infinity = self.constant_bits(ty, ty.infinity());
                let op = if name == "is_finite" { CompareOp::Lt } else { CompareOp::Eq };
                self.compare(op, magnitude, infinity)
            }
            "to_bits" => self.build.value(Op::Bitcast(a, bits), bits),
            "to_f32" | "to_f32_const" => self.cast_value(a, ty, Scalar::F32),
            "to_f64" | "to_f64_const" => self.cast_value(a, ty, Scalar::F64),
            _ => {
                let sign = sign(self);
                let zero = self.constant(bits, 0);
                let op = if name == "is_sign_negative" { CompareOp::Ne } else { CompareOp::Eq };
                self.compare(op, sign, zero)
            }
        }
    }

    /// Rust's `clamp`, which panics when the bounds are the wrong way round (or NaN).
    fn clamp(&mut self, at: Pos, ty: Scalar, a: Value, low: Value, high: Value) -> Value {
        let ordered = self.compare(CompareOp::Le, low, high);
        self.check(at, ordered, "the bounds of `clamp` are the wrong way round", &[]);
        let below = self.compare(CompareOp::Lt, a, low);
        let raised = self.select(below, low, a, ty);
        let above = self.compare(CompareOp::Gt, raised, high);
        self.select(above, high, raised, ty)
    }

    pub(super) fn one(&mut self, ty: Scalar) -> Value {
        self.constant_bits(ty, ty.one())
    }

    fn integer_unary(&mut self, at: Pos, name: &str, ty: Scalar, a: Value) -> Value {
        let zero = self.constant(ty, 0);
        match name {
            "abs" => {
                if self.checks_overflow() {
                    self.check_not_minimum(at, ty, a, "absolute value overflows");
                }
                self.unary_value(UnaryOp::Abs, a, ty)
            }
            "unsigned_abs" => {
                let magnitude = self.unary_value(UnaryOp::Abs, a, ty);
                self.build.value(Op::Bitcast(magnitude, unsigned(ty)), unsigned(ty))
            }
            "wrapping_abs" => self.unary_value(UnaryOp::Abs, a, ty),
            "next_power_of_two" => self.next_power_of_two(at, ty, a),
            "ilog2" => {
                let positive = self.compare(CompareOp::Gt, a, zero);
                self.check(at, positive, "argument of integer logarithm must be positive", &[]);
                let zeros = self.count("leading_zeros", ty, a);
                let top = self.constant(Scalar::U32, u64::from(ty.bits() - 1));
                self.binary_value(BinaryOp::Sub, top, zeros, Scalar::U32)
            }
            "signum" => {
                let (one, minus_one) = (self.one(ty), self.constant_bits(ty, ty.mask()));
                let negative = self.compare(CompareOp::Lt, a, zero);
                let positive = self.compare(CompareOp::Gt, a, zero);
                let rest = self.select(negative, minus_one, zero, ty);
                self.select(positive, one, rest, ty)
            }
            "is_positive" => self.compare(CompareOp::Gt, a, zero),
            "is_negative" => self.compare(CompareOp::Lt, a, zero),
            "is_power_of_two" => {
                let ones = self.unary_value(UnaryOp::CountOnes, a, ty);
                let one = self.one(ty);
                self.compare(CompareOp::Eq, ones, one)
            }
            "wrapping_neg" => self.binary_value(BinaryOp::Sub, zero, a, ty),
            "reverse_bits" => self.unary_value(UnaryOp::ReverseBits, a, ty),
            "swap_bytes" if ty.bits() == 8 => a,
            "swap_bytes" => self.unary_value(UnaryOp::SwapBytes, a, ty),
            _ => self.count(name, ty, a),
        }
    }

    /// The bit counts, as `u32`.
    fn count(&mut self, name: &str, ty: Scalar, a: Value) -> Value {
        let (op, inverted) = match name {
            "count_ones" => (UnaryOp::CountOnes, false),
            "count_zeros" => (UnaryOp::CountOnes, true),
            "leading_zeros" => (UnaryOp::LeadingZeros, false),
            "leading_ones" => (UnaryOp::LeadingZeros, true),
            "trailing_zeros" => (UnaryOp::TrailingZeros, false),
            _ => (UnaryOp::TrailingZeros, true),
        };
        let a = if inverted { self.unary_value(UnaryOp::Not, a, ty) } else { a };
        let count = self.unary_value(op, a, ty);
        self.cast_value(count, ty, Scalar::U32)
    }

    fn integer_method(&mut self, at: Pos, name: &str, ty: Scalar, a: Value, args: &[Value]) -> Value {
        let b = args[0];
        match name {
            "min" => self.binary_value(BinaryOp::Min, a, b, ty),
            "max" => self.binary_value(BinaryOp::Max, a, b, ty),
            "clamp" => self.clamp(at, ty, a, b, args[1]),
            "wrapping_add" => self.binary_value(BinaryOp::Add, a, b, ty),
            "wrapping_sub" => self.binary_value(BinaryOp::Sub, a, b, ty),
            "wrapping_mul" => self.binary_value(BinaryOp::Mul, a, b, ty),
            "wrapping_shl" | "wrapping_shr" => {
                let amount = self.cast_value(b, Scalar::U32, ty);
                let op = if name == "wrapping_shl" { BinaryOp::Shl } else { BinaryOp::Shr };
                self.binary_value(op, a, amount, ty)
            }
            "pow" => self.power(at, ty, a, b, self.checks_overflow()),
            "wrapping_pow" => self.power(at, ty, a, b, false),
            "div_euclid" | "rem_euclid" | "wrapping_div" | "wrapping_rem" => self.division(at, name, ty, a, b),
            "saturating_mul" => self.saturating_mul(ty, a, b),
            "rotate_left" | "rotate_right" => self.rotate(name == "rotate_left", ty, a, b),
            "saturating_add" => self.saturating(BinaryOp::Add, ty, a, b),
            "saturating_sub" => self.saturating(BinaryOp::Sub, ty, a, b),
            "abs_diff" => {
                let less = self.compare(CompareOp::Lt, a, b);
                let (up, down) =
                    (self.binary_value(BinaryOp::Sub, b, a, ty), self.binary_value(BinaryOp::Sub, a, b, ty));
                let difference = self.select(less, up, down, ty);
                let result = unsigned(ty);
                if result == ty { difference } else { self.build.value(Op::Bitcast(difference, result), result) }
            }
            _ => self.div_ceil(at, ty, a, b),
        }
    }

    fn div_ceil(&mut self, at: Pos, ty: Scalar, a: Value, b: Value) -> Value {
        let zero = self.constant(ty, 0);
        let nonzero = self.compare(CompareOp::Ne, b, zero);
        self.check(at, nonzero, "division by zero", &[]);
        let quotient = self.binary_value(BinaryOp::Div, a, b, ty);
        let rest = self.binary_value(BinaryOp::Rem, a, b, ty);
        let exact = self.compare(CompareOp::Eq, rest, zero);
        let one = self.one(ty);
        let more = self.binary_value(BinaryOp::Add, quotient, one, ty);
        self.select(exact, quotient, more, ty)
    }

    /// Two shifts of the unsigned bits; their amounts are taken modulo the width.
    fn rotate(&mut self, left: bool, ty: Scalar, a: Value, amount: Value) -> Value {
        let bits = unsigned(ty);
        let a = if bits == ty { a } else { self.build.value(Op::Bitcast(a, bits), bits) };
        let amount = self.cast_value(amount, Scalar::U32, bits);
        let zero = self.constant(bits, 0);
        let back = self.binary_value(BinaryOp::Sub, zero, amount, bits);
        let (up, down) = if left { (amount, back) } else { (back, amount) };
        let high = self.binary_value(BinaryOp::Shl, a, up, bits);
        let low = self.binary_value(BinaryOp::Shr, a, down, bits);
        let rotated = self.binary_value(BinaryOp::Or, high, low, bits);
        if bits == ty { rotated } else { self.build.value(Op::Bitcast(rotated, ty), ty) }
    }

    fn saturating(&mut self, op: BinaryOp, ty: Scalar, a: Value, b: Value) -> Value {
        let overflows = self.build.value(Op::Overflows(op, a, b), Scalar::Bool);
        let exact = self.binary_value(op, a, b, ty);
        let zero = self.constant(ty, 0);
        let limit = if ty.is_signed() {
            let (low, high) = (self.constant_bits(ty, ty.top()), self.constant_bits(ty, ty.top() - 1));
            // on overflow the exact result lies on the side that the first operand's sign names
            let negative = self.compare(CompareOp::Lt, a, zero);
            self.select(negative, low, high, ty)
        } else if op == BinaryOp::Add {
            self.constant_bits(ty, ty.mask())
        } else {
            zero
        };
        self.select(overflows, limit, exact, ty)
    }
}
