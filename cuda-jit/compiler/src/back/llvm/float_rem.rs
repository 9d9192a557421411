//! Expands `rem` of floats to a device function of KIR, because PTX has no such instruction.
//!
//! Rust's `%` is exact (C's `fmod`). LLVM's expansion for NVPTX, `x - trunc(x / y) * y`, is not: it is wrong for
//! quotients of 2^24 and above, and off by a rounding below. This function reduces the significands as integers, as
//! many bits a step as fit a `u64`; it takes few steps unless the exponents are far apart.

use std::borrow::Cow;

use crate::kir::build::FunctionBuilder;
use crate::kir::{
    Access, BinaryOp, CompareOp, FuncId, Function, Module, Op, Param, Role, Scalar, SlotId, Terminator, Type, UnaryOp,
    Value,
};

/// Returns the module with every `rem` of floats expanded.
pub(super) fn expand(module: &Module) -> Cow<'_, Module> {
    let mut module = Cow::Borrowed(module);
    for ty in [Scalar::F32, Scalar::F64, Scalar::F16, Scalar::Bf16] {
        let found = |function: &Function| {
            function.blocks.iter().flat_map(|block| &block.insts).any(|inst| is_rem(&inst.op, inst.result, ty))
        };
        if module.functions.iter().any(found) {
            expand_type(module.to_mut(), ty);
        }
    }
    module
}

fn is_rem(op: &Op, result: Option<(Value, Type)>, ty: Scalar) -> bool {
    matches!(op, Op::Binary(BinaryOp::Rem, ..)) && result.is_some_and(|(_, result)| result == ty.into())
}

fn expand_type(module: &mut Module, ty: Scalar) {
    let callee = FuncId(module.functions.len() as u32);
    for inst in module.functions.iter_mut().flat_map(|function| &mut function.blocks).flat_map(|block| &mut block.insts)
    {
        if is_rem(&inst.op, inst.result, ty) {
            let mut operands = Vec::new();
            inst.op.each_value(|value| operands.push(value));
            inst.op = Op::Call(callee, operands);
        }
    }
    module.functions.push(remainder(ty));
}

/// The function `x % y`. Its name contains a `.`, so that it is unique.
fn remainder(ty: Scalar) -> Function {
    let param = |name: &str| Param { name: name.to_owned(), ty: ty.into(), access: Access::Read, role: Role::Plain };
    let b = FunctionBuilder::new(format!("rem.{ty}"), vec![param("x"), param("y")], Some(ty.into()));
    let mut body = Remainder { b, ty, bits: ty.unsigned(), fraction_bits: ty.fraction_bits().into() };
    body.build();
    body.b.finish()
}

struct Remainder {
    b: FunctionBuilder,
    ty: Scalar,
    /// The unsigned integer of the float's width.
    bits: Scalar,
    fraction_bits: u64,
}

impl Remainder {
    fn build(&mut self) {
        let (undefined, defined, smaller, larger) = (self.b.block(), self.b.block(), self.b.block(), self.b.block());
        let (x, y) = (self.b.param(0), self.b.param(1));
        let [ax_slot, ay_slot] = ["ax", "ay"].map(|name| self.b.slot(name, Scalar::U64));
        let ax = self.magnitude(x);
        let ay = self.magnitude(y);
        self.b.effect(Op::Set(ax_slot, ax));
        self.b.effect(Op::Set(ay_slot, ay));
        // There is no remainder: x is infinite or NaN, or y is zero or NaN.
        let infinity = self.number(self.ty.infinity() as u64);
        let zero = self.number(0);
        let bad_x = self.compare(CompareOp::Ge, ax, infinity);
        let nan_y = self.compare(CompareOp::Gt, ay, infinity);
        let zero_y = self.compare(CompareOp::Eq, ay, zero);
        let bad = self.b.value(Op::Binary(BinaryOp::Or, bad_x, nan_y), Scalar::Bool);
        let bad = self.b.value(Op::Binary(BinaryOp::Or, bad, zero_y), Scalar::Bool);
        self.b.end(Terminator::Branch(bad, undefined, defined));

        self.b.select_block(undefined);
        let nan = self.ty.infinity() | 1 << (self.fraction_bits - 1);
        let nan = self.b.constant(self.ty, nan);
        self.b.end(Terminator::Return(Some(nan)));

        self.b.select_block(defined);
        let (ax, ay) = (self.get(ax_slot), self.get(ay_slot));
        let less = self.compare(CompareOp::Lt, ax, ay);
        self.b.end(Terminator::Branch(less, smaller, larger));

        self.b.select_block(smaller);
        self.b.end(Terminator::Return(Some(x)));

        self.b.select_block(larger);
        self.reduce(ax_slot, ay_slot);
    }

    /// Emits the reduction from |x| >= |y|, given as bits, to the result.
    fn reduce(&mut self, ax_slot: SlotId, ay_slot: SlotId) {
        let [m_slot, my_slot, ey_slot, d_slot] = ["m", "my", "ey", "d"].map(|name| self.b.slot(name, Scalar::U64));
        let (ax, ay) = (self.get(ax_slot), self.get(ay_slot));
        let (ex, mx) = self.parts(ax);
        let (ey, my) = self.parts(ay);
        let m = self.op(BinaryOp::Rem, mx, my);
        let d = self.op(BinaryOp::Sub, ex, ey);
        for (slot, value) in [(m_slot, m), (my_slot, my), (ey_slot, ey), (d_slot, d)] {
            self.b.effect(Op::Set(slot, value));
        }
        let (test, step, done) = (self.b.block(), self.b.block(), self.b.block());
        self.b.end(Terminator::Jump(test));

        self.b.select_block(test);
        let (d, zero) = (self.get(d_slot), self.number(0));
        let more = self.compare(CompareOp::Ne, d, zero);
        self.b.end(Terminator::Branch(more, step, done));

        // The significand of y has fraction_bits + 1 bits, so that a remainder shifted by the other bits still fits.
        self.b.select_block(step);
        let (d, m, my) = (self.get(d_slot), self.get(m_slot), self.get(my_slot));
        let most = self.number(63 - self.fraction_bits);
        let shift = self.op(BinaryOp::Min, d, most);
        let m = self.op(BinaryOp::Shl, m, shift);
        let m = self.op(BinaryOp::Rem, m, my);
        let d = self.op(BinaryOp::Sub, d, shift);
        self.b.effect(Op::Set(m_slot, m));
        self.b.effect(Op::Set(d_slot, d));
        self.b.end(Terminator::Jump(test));

        self.b.select_block(done);
        let (m, ey) = (self.get(m_slot), self.get(ey_slot));
        self.assemble(m, ey);
    }

    /// Returns the float with significand `m` at y's exponent, normalised, and the sign of x.
    fn assemble(&mut self, m: Value, ey: Value) {
        let (zero, one) = (self.number(0), self.number(1));
        let unused = self.number(63 - self.fraction_bits);
        let leading = self.b.value(Op::Unary(UnaryOp::LeadingZeros, m), Scalar::U64);
        let wanted = self.op(BinaryOp::Sub, leading, unused);
        let below = self.op(BinaryOp::Sub, ey, one);
        let shift = self.op(BinaryOp::Min, wanted, below);
        let normal = self.op(BinaryOp::Shl, m, shift);
        // The significand's leading bit carries into the exponent, which is one too low.
        let exponent = self.op(BinaryOp::Sub, below, shift);
        let fraction_bits = self.number(self.fraction_bits);
        let exponent = self.op(BinaryOp::Shl, exponent, fraction_bits);
        let bits = self.op(BinaryOp::Add, exponent, normal);
        let is_zero = self.compare(CompareOp::Eq, m, zero);
        let bits = self.b.value(Op::Select(is_zero, zero, bits), Scalar::U64);
        let bits = self.b.value(Op::Cast(bits, self.bits), self.bits);
        let magnitude = self.b.value(Op::Bitcast(bits, self.ty), self.ty);
        let x = self.b.param(0);
        let result = self.b.value(Op::Binary(BinaryOp::CopySign, magnitude, x), self.ty);
        self.b.end(Terminator::Return(Some(result)));
    }

    /// The bits of a float's absolute value, as `u64`.
    fn magnitude(&mut self, float: Value) -> Value {
        let bits = self.b.value(Op::Bitcast(float, self.bits), self.bits);
        let bits = self.b.value(Op::Cast(bits, Scalar::U64), Scalar::U64);
        let mask = self.number((1 << (self.bits.bits() - 1)) - 1);
        self.op(BinaryOp::And, bits, mask)
    }

    /// Splits a finite magnitude into exponent and significand; subnormals have the exponent of the least normal
    /// number.
    fn parts(&mut self, magnitude: Value) -> (Value, Value) {
        let hidden_bit = 1 << self.fraction_bits;
        let (one, fraction_bits) = (self.number(1), self.number(self.fraction_bits));
        let (zero, hidden, mask) = (self.number(0), self.number(hidden_bit), self.number(hidden_bit - 1));
        let exponent = self.op(BinaryOp::Shr, magnitude, fraction_bits);
        let is_normal = self.compare(CompareOp::Ne, exponent, zero);
        let hidden = self.b.value(Op::Select(is_normal, hidden, zero), Scalar::U64);
        let fraction = self.op(BinaryOp::And, magnitude, mask);
        let significand = self.op(BinaryOp::Or, fraction, hidden);
        (self.op(BinaryOp::Max, exponent, one), significand)
    }

    fn number(&mut self, number: u64) -> Value {
        self.b.constant(Scalar::U64, number.into())
    }

    fn op(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.b.value(Op::Binary(op, a, b), Scalar::U64)
    }

    fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        self.b.value(Op::Compare(op, a, b), Scalar::Bool)
    }

    fn get(&mut self, slot: SlotId) -> Value {
        self.b.value(Op::Get(slot), Scalar::U64)
    }
}
