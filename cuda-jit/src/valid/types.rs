//! The types that each operation takes and yields. Indices that an operation holds are checked here too, since its
//! types depend on them.

use super::function::{Checker, out_of_range};
use super::{Rule, VerifyError, broken};
use crate::kir::{
    ArrayDecl, ArrayId, AtomicOp, BarrierOp, BinaryOp, FuncId, MathFn, Op, Pointee, Scalar, SharedId, SlotId, Space,
    Type, UnaryOp, Value, VoteOp, conversions,
};

type Result<T> = std::result::Result<T, VerifyError>;

/// A set of scalar types, with the words that an error uses for it.
type Class = (&'static str, fn(Scalar) -> bool);

const ANY: Class = ("a scalar", |_| true);
const SINGLE: Class = ("a number or bool", |scalar| !scalar.is_pair());
const NUMBER: Class = ("a number", |scalar| scalar != Scalar::Bool && !scalar.is_pair());
const COMPUTED: Class = ("a number or pair", |scalar| scalar != Scalar::Bool);
const INTEGER: Class = ("an integer", Scalar::is_integer);
const FLOAT: Class = ("a float", Scalar::is_float);
const FUSED: Class = ("a float or pair", |scalar| scalar.is_float() || scalar.is_pair());
const HALF: Class = ("a float of 16 bits", Scalar::is_half);
const FUNCTION: Class = ("an f32 or f64", |scalar| scalar.is_float() && !scalar.is_half());
const LOGICAL: Class = ("an integer or bool", |scalar| scalar.is_integer() || scalar == Scalar::Bool);
const WIDE: Class = ("a 32-bit or 64-bit integer", |scalar| scalar.is_integer() && scalar.bits() >= 32);
const WIDE_NUMBER: Class = ("a 32-bit or 64-bit number", |scalar| scalar.bits() >= 32 && !scalar.is_pair());
const WORD: Class = ("a 32-bit number", |scalar| scalar.bits() == 32);
const SIGNED: Class =
    ("a signed integer, float or pair", |scalar| scalar.is_signed() || scalar.is_float() || scalar.is_pair());

/// The type that `op` yields, if its operands are right.
pub(super) fn result(checker: &Checker<'_>, op: &Op) -> Result<Option<Type>> {
    let yields = match op {
        Op::Const(constant) => {
            if constant.ty.bits() < 64 && constant.bits >> constant.ty.bits() != 0 {
                return Err(broken(Rule::ConstantBits, format!("{:#x} is too wide", constant.bits)));
            }
            constant.ty.into()
        }
        Op::Get(slot) => slot_type(checker, *slot)?,
        Op::Set(slot, value) => {
            is(checker, *value, slot_type(checker, *slot)?)?;
            return Ok(None);
        }
        Op::Unary(op, a) => scalar(checker, *a, unary(*op))?.into(),
        Op::Binary(op, a, b) => same(checker, *a, *b, binary(*op))?.into(),
        Op::Fma(a, b, c) => {
            let ty = same(checker, *a, *b, FUSED)?.into();
            is(checker, *c, ty)?;
            ty
        }
        Op::Overflows(op, a, b) => {
            if !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) {
                return Err(broken(Rule::Operand, "only add, sub and mul can be asked for overflow"));
            }
            same(checker, *a, *b, INTEGER)?;
            Scalar::Bool.into()
        }
        Op::Compare(_, a, b) => {
            same(checker, *a, *b, SINGLE)?;
            Scalar::Bool.into()
        }
        Op::Select(condition, a, b) => {
            is(checker, *condition, Scalar::Bool.into())?;
            let ty = checker.ty(*a)?;
            is(checker, *b, ty)?;
            ty
        }
        Op::Cast(a, to) => cast(scalar(checker, *a, ANY)?, *to)?.into(),
        Op::Bitcast(a, to) => bitcast(scalar(checker, *a, ANY)?, *to)?.into(),
        Op::Pair(a, b) => {
            let half = same(checker, *a, *b, HALF)?;
            half.pair().ok_or_else(|| broken(Rule::Operand, format!("there is no pair of {half}")))?.into()
        }
        Op::Lane(a, _) => {
            let pair = scalar(checker, *a, ANY)?;
            pair.lane().ok_or_else(|| broken(Rule::Operand, format!("{a} is {pair}, not a pair")))?.into()
        }
        Op::Offset(pointer, count) => {
            pointee(checker, *pointer)?;
            is(checker, *count, Scalar::U64.into())?;
            checker.ty(*pointer)?
        }
        Op::Field(pointer, offset, part) => field(checker, *pointer, *offset, *part)?,
        Op::Load(pointer) => number_behind(checker, *pointer)?.into(),
        Op::Store(pointer, value) => {
            is(checker, *value, number_behind(checker, *pointer)?.into())?;
            return Ok(None);
        }
        Op::Special(_) => Scalar::U32.into(),
        Op::Shared(SharedId(array)) => array_type(&checker.module.shared, *array, Space::Shared)?,
        Op::DynamicShared(offset, pointee) => {
            is(checker, *offset, Scalar::U64.into())?;
            super::check_pointee(*pointee)?;
            Type::Ptr(Space::Shared, *pointee)
        }
        Op::Local(ArrayId(array)) => array_type(&checker.function.arrays, *array, Space::Local)?,
        Op::Barrier | Op::Fence(_) | Op::Line(_) => return Ok(None),
        Op::BarrierReduce(op, a) => {
            is(checker, *a, Scalar::Bool.into())?;
            if *op == BarrierOp::Count { Scalar::U32.into() } else { Scalar::Bool.into() }
        }
        Op::Atomic(op, pointer, value) => {
            let element = number_behind(checker, *pointer)?;
            is(checker, *value, element.into())?;
            scalar(checker, *value, atomic(*op))?.into()
        }
        Op::CompareExchange(pointer, old, new) => {
            let element = number_behind(checker, *pointer)?;
            is(checker, *old, element.into())?;
            is(checker, *new, element.into())?;
            scalar(checker, *new, WIDE)?.into()
        }
        Op::Shuffle(_, mask, value, lane) => {
            is(checker, *mask, Scalar::U32.into())?;
            is(checker, *lane, Scalar::U32.into())?;
            scalar(checker, *value, WORD)?.into()
        }
        Op::Vote(op, mask, value) => {
            is(checker, *mask, Scalar::U32.into())?;
            is(checker, *value, Scalar::Bool.into())?;
            if *op == VoteOp::Ballot { Scalar::U32.into() } else { Scalar::Bool.into() }
        }
        Op::MatchAny(mask, value) => {
            is(checker, *mask, Scalar::U32.into())?;
            scalar(checker, *value, WIDE)?;
            Scalar::U32.into()
        }
        Op::SyncWarp(mask) => {
            is(checker, *mask, Scalar::U32.into())?;
            return Ok(None);
        }
        Op::ActiveMask => Scalar::U32.into(),
        Op::Print(format, values) => return print(checker, format, values),
        Op::Math(function, arguments) => math(checker, *function, arguments)?.into(),
        Op::Call(callee, arguments) => return call(checker, *callee, arguments),
    };
    Ok(Some(yields))
}

fn unary(op: UnaryOp) -> Class {
    match op {
        UnaryOp::Neg | UnaryOp::Abs => SIGNED,
        UnaryOp::Not => LOGICAL,
        UnaryOp::Sqrt | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Trunc | UnaryOp::RoundTiesEven => FLOAT,
        UnaryOp::CountOnes
        | UnaryOp::LeadingZeros
        | UnaryOp::TrailingZeros
        | UnaryOp::ReverseBits
        | UnaryOp::SwapBytes => INTEGER,
    }
}

fn binary(op: BinaryOp) -> Class {
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max => COMPUTED,
        BinaryOp::Div | BinaryOp::Rem => NUMBER,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => LOGICAL,
        BinaryOp::Shl | BinaryOp::Shr => INTEGER,
        BinaryOp::CopySign => FLOAT,
    }
}

fn atomic(op: AtomicOp) -> Class {
    match op {
        AtomicOp::Add | AtomicOp::Exchange => WIDE_NUMBER,
        AtomicOp::Inc | AtomicOp::Dec => ("a u32", |scalar| scalar == Scalar::U32),
        _ => WIDE,
    }
}

fn array_type(arrays: &[ArrayDecl], index: u32, space: Space) -> Result<Type> {
    let array = arrays.get(index as usize).ok_or_else(|| out_of_range("array", index, arrays.len()))?;
    Ok(Type::Ptr(space, array.element))
}

fn cast(from: Scalar, to: Scalar) -> Result<Scalar> {
    if to == Scalar::Bool && from != Scalar::Bool {
        return Err(broken(Rule::Operand, format!("{from} cannot be cast to bool; compare it")));
    }
    let single = |scalar: Scalar| scalar.is_float() || !scalar.is_pair() && !from.is_half() && !to.is_half();
    if !single(from) || !single(to) {
        return Err(broken(
            Rule::Operand,
            format!("{from} cannot be cast to {to}; 16-bit floats are cast through f32"),
        ));
    }
    Ok(to)
}

fn bitcast(from: Scalar, to: Scalar) -> Result<Scalar> {
    if from.bits() != to.bits() {
        return Err(broken(Rule::Operand, format!("{from} has {} bits, {to} {}", from.bits(), to.bits())));
    }
    Ok(to)
}

fn call(checker: &Checker<'_>, callee: FuncId, arguments: &[Value]) -> Result<Option<Type>> {
    let functions = &checker.module.functions;
    let function = functions.get(callee.index()).ok_or_else(|| out_of_range("function", callee.0, functions.len()))?;
    if callee.0 == 0 {
        return Err(broken(Rule::CallsKernel, format!("`{}` is the kernel", function.name)));
    }
    if function.params.len() != arguments.len() {
        let (name, takes) = (&function.name, function.params.len());
        return Err(broken(Rule::Arguments, format!("`{name}` takes {takes} values, not {}", arguments.len())));
    }
    for (param, &value) in function.params.iter().zip(arguments) {
        let ty = checker.ty(value)?;
        if ty != param.ty {
            return Err(broken(Rule::Arguments, format!("{value} is {ty}, but `{}` is {}", param.name, param.ty)));
        }
    }
    Ok(function.result)
}

fn print(checker: &Checker<'_>, format: &str, values: &[Value]) -> Result<Option<Type>> {
    let conversions = conversions(format).ok_or_else(|| broken(Rule::Format, format!("{format:?} is no format")))?;
    if conversions.len() != values.len() {
        let detail = format!("{format:?} takes {} values, not {}", conversions.len(), values.len());
        return Err(broken(Rule::Format, detail));
    }
    for (conversion, &value) in conversions.into_iter().zip(values) {
        let (taken, ty) = (conversion.scalar(), checker.ty(value)?);
        if ty != taken.into() {
            return Err(broken(Rule::Format, format!("{value} is {ty}, and its conversion takes {taken}")));
        }
    }
    Ok(None)
}

fn math(checker: &Checker<'_>, function: MathFn, arguments: &[Value]) -> Result<Scalar> {
    let [first, rest @ ..] = arguments else {
        return Err(broken(Rule::Arguments, format!("`{}` takes {} values, not 0", function.name, function.arity())));
    };
    if arguments.len() != function.arity() {
        let (name, takes) = (function.name, function.arity());
        return Err(broken(Rule::Arguments, format!("`{name}` takes {takes} values, not {}", arguments.len())));
    }
    let ty = scalar(checker, *first, FUNCTION)?;
    rest.iter().try_for_each(|&value| is(checker, value, ty.into()))?;
    Ok(ty)
}

fn slot_type(checker: &Checker<'_>, slot: SlotId) -> Result<Type> {
    let slots = &checker.function.slots;
    slots.get(slot.index()).map(|slot| slot.ty).ok_or_else(|| out_of_range("slot", slot.0, slots.len()))
}

fn scalar(checker: &Checker<'_>, value: Value, (words, contains): Class) -> Result<Scalar> {
    let ty = checker.ty(value)?;
    match ty.scalar() {
        Some(scalar) if contains(scalar) => Ok(scalar),
        _ => Err(broken(Rule::Operand, format!("{value} is {ty}, not {words}"))),
    }
}

fn same(checker: &Checker<'_>, a: Value, b: Value, class: Class) -> Result<Scalar> {
    let ty = scalar(checker, a, class)?;
    is(checker, b, ty.into())?;
    Ok(ty)
}

fn is(checker: &Checker<'_>, value: Value, expected: Type) -> Result<()> {
    let ty = checker.ty(value)?;
    if ty == expected { Ok(()) } else { Err(broken(Rule::Operand, format!("{value} is {ty}, not {expected}"))) }
}

fn pointee(checker: &Checker<'_>, value: Value) -> Result<(Space, Pointee)> {
    match checker.ty(value)? {
        Type::Ptr(space, pointee) => Ok((space, pointee)),
        ty => Err(broken(Rule::Operand, format!("{value} is {ty}, not a pointer"))),
    }
}

fn number_behind(checker: &Checker<'_>, pointer: Value) -> Result<Scalar> {
    let (_, pointee) = pointee(checker, pointer)?;
    let ty = checker.ty(pointer)?;
    pointee.scalar().ok_or_else(|| broken(Rule::Operand, format!("{pointer} is {ty}, not a pointer to a number")))
}

fn field(checker: &Checker<'_>, pointer: Value, offset: u32, part: Pointee) -> Result<Type> {
    let (space, whole) = pointee(checker, pointer)?;
    super::check_pointee(part)?;
    if !whole.holds(offset, part) {
        return Err(broken(Rule::Field, format!("{whole} holds no {part} at byte {offset}")));
    }
    Ok(Type::Ptr(space, part))
}
