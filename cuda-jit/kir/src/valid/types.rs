//! The operand and result types of each operation. Indices in operations are checked here too, since types depend on
//! them.

use super::function::{Checker, out_of_range};
use super::source::check_scope;
use super::{Rule, VerifyError, broken};
use crate::{
    ArrayDecl, ArrayId, AtomicOp, BarrierOp, BinaryOp, Clock, ConstantId, FuncId, LibArg, LibFn, Op, Order, Ordering,
    Pointee, Printed, Scalar, SharedId, SlotId, Space, TernaryOp, Type, UnaryOp, Value, VoteOp, conversions,
};

type Result<T> = std::result::Result<T, VerifyError>;

/// A set of scalar types, with its description in errors.
type Class = (&'static str, fn(Scalar) -> bool);

const ANY: Class = ("a scalar", |_| true);
const SINGLE: Class = ("a number or bool", |scalar| !scalar.is_pair());
const NUMBER: Class = ("a number", |scalar| scalar != Scalar::Bool && !scalar.is_pair());
const COMPUTED: Class = ("a number or pair", |scalar| scalar != Scalar::Bool);
const INTEGER: Class = ("an integer", Scalar::is_integer);
const FLOAT: Class = ("a float", Scalar::is_float);
const FUSED: Class = ("a float or pair", |scalar| scalar.is_float() || scalar.is_pair());
const HALF: Class = ("a float of 16 bits", Scalar::is_half);
const LOGICAL: Class = ("an integer or bool", |scalar| scalar.is_integer() || scalar == Scalar::Bool);
const WIDE: Class = ("a 32-bit or 64-bit integer", |scalar| scalar.is_integer() && matches!(scalar.bits(), 32 | 64));
const WIDE_NUMBER: Class =
    ("a 32-bit or 64-bit number", |scalar| matches!(scalar.bits(), 32 | 64) && !scalar.is_pair());
const WORD: Class = ("a 32-bit number", |scalar| scalar.bits() == 32);
const INTEGER_WORD: Class = ("a 32-bit integer", |scalar| scalar.is_integer() && scalar.bits() == 32);
const EXCHANGED: Class =
    ("a number of 16, 32 or 64 bits", |scalar| matches!(scalar.bits(), 16..=64) && !scalar.is_pair());
const SIGNED: Class =
    ("a signed integer, float or pair", |scalar| scalar.is_signed() || scalar.is_float() || scalar.is_pair());

/// The result type of `op`, whose operands are checked.
pub(super) fn result(checker: &Checker<'_>, op: &Op) -> Result<Option<Type>> {
    let yields = match op {
        Op::Const(constant) => {
            if constant.bits > constant.ty.mask() {
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
        Op::Ternary(op, a, b, c) => {
            let ty = same(checker, *a, *b, ternary(*op))?.into();
            is(checker, *c, ty)?;
            ty
        }
        Op::Overflows(op, a, b) => {
            if !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) {
                return Err(broken(Rule::Operand, "overflow is defined for add, sub and mul only"));
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
        Op::Narrow(_, a, b) => {
            is(checker, *a, Scalar::F32.into())?;
            is(checker, *b, Scalar::F32.into())?;
            Scalar::U16.into()
        }
        Op::Widen(_, a) => {
            is(checker, *a, Scalar::U16.into())?;
            Scalar::F16x2.into()
        }
        Op::Offset(pointer, count) => {
            pointee(checker, *pointer)?;
            is(checker, *count, Scalar::U64.into())?;
            checker.ty(*pointer)?
        }
        Op::Field(pointer, offset, part) => field(checker, *pointer, *offset, *part)?,
        Op::Address(pointer) => {
            pointee(checker, *pointer)?;
            Scalar::U64.into()
        }
        Op::Retype(pointer, to) => {
            let (space, _) = pointee(checker, *pointer)?;
            super::check_pointee(*to)?;
            Type::Ptr(space, *to)
        }
        Op::Generic(pointer, _) => Type::Ptr(Space::Generic, pointee(checker, *pointer)?.1),
        Op::Load(pointer) => number_behind(checker, *pointer)?.into(),
        Op::Store(pointer, value) => {
            is(checker, *value, number_behind(checker, *pointer)?.into())?;
            return Ok(None);
        }
        Op::LoadCached(_, pointer) => cached(checker, *pointer)?.into(),
        Op::StoreCached(_, pointer, value) => {
            is(checker, *value, cached(checker, *pointer)?.into())?;
            return Ok(None);
        }
        Op::LoadCachedAll(_, pointer, slots) => {
            let element = cached_all(checker, *pointer, slots.len())?;
            for slot in slots {
                if slot_type(checker, *slot)? != element.into() {
                    return Err(broken(Rule::Operand, format!("slot {slot} does not hold a {element}")));
                }
            }
            return Ok(None);
        }
        Op::StoreCachedAll(_, pointer, values) => {
            let element = cached_all(checker, *pointer, values.len())?;
            values.iter().try_for_each(|value| is(checker, *value, element.into()))?;
            return Ok(None);
        }
        Op::Special(_) => Scalar::U32.into(),
        Op::Shared(SharedId(array)) => array_type(&checker.module.shared, *array, Space::Shared)?,
        Op::DynamicShared(offset, pointee) => {
            is(checker, *offset, Scalar::U64.into())?;
            super::check_pointee(*pointee)?;
            Type::Ptr(Space::Shared, *pointee)
        }
        Op::MapShared(pointer, rank) => {
            is(checker, *rank, Scalar::U32.into())?;
            match pointee(checker, *pointer)? {
                (Space::Shared, to) => Type::Ptr(Space::Cluster, to),
                _ => return Err(broken(Rule::Operand, format!("{pointer} is no pointer to shared memory"))),
            }
        }
        Op::Constant(ConstantId(constant)) => {
            let constants = &checker.module.constants;
            let declared = constants.get(*constant as usize);
            let declared = declared.ok_or_else(|| out_of_range("constant", *constant, constants.len()))?;
            Type::Ptr(declared.space, declared.array.element)
        }
        Op::Local(ArrayId(array)) => array_type(&checker.function.arrays, *array, Space::Local)?,
        Op::Line(_, scope) => {
            check_scope(checker.function, *scope)?;
            return Ok(None);
        }
        Op::Barrier | Op::Fence(_) => return Ok(None),
        Op::BarrierReduce(op, a) => {
            is(checker, *a, Scalar::Bool.into())?;
            if *op == BarrierOp::Count { Scalar::U32.into() } else { Scalar::Bool.into() }
        }
        Op::AtomicLoad(order, pointer) => {
            ordered(*order, !order.ordering.releases() || order.ordering == Ordering::SeqCst)?;
            number(number_behind(checker, *pointer)?)?.into()
        }
        Op::AtomicStore(order, pointer, value) => {
            ordered(*order, !order.ordering.acquires() || order.ordering == Ordering::SeqCst)?;
            is(checker, *value, number(number_behind(checker, *pointer)?)?.into())?;
            return Ok(None);
        }
        Op::Atomic(op, _, pointer, value) => {
            let element = number_behind(checker, *pointer)?;
            is(checker, *value, element.into())?;
            scalar(checker, *value, atomic(*op))?.into()
        }
        Op::CompareExchange(_, pointer, old, new) => {
            let element = number_behind(checker, *pointer)?;
            is(checker, *old, element.into())?;
            is(checker, *new, element.into())?;
            scalar(checker, *new, EXCHANGED)?.into()
        }
        Op::Shuffle(_, width, mask, value, lane) => {
            if !width.is_power_of_two() || *width > 32 {
                return Err(broken(Rule::ShuffleSegment, format!("it is {width} lanes wide")));
            }
            is(checker, *mask, Scalar::U32.into())?;
            is(checker, *lane, Scalar::U32.into())?;
            scalar(checker, *value, WORD)?.into()
        }
        Op::Vote(op, mask, value) => {
            is(checker, *mask, Scalar::U32.into())?;
            is(checker, *value, Scalar::Bool.into())?;
            if *op == VoteOp::Ballot { Scalar::U32.into() } else { Scalar::Bool.into() }
        }
        Op::MatchAny(mask, value) | Op::MatchAll(mask, value) => {
            is(checker, *mask, Scalar::U32.into())?;
            scalar(checker, *value, WIDE)?;
            Scalar::U32.into()
        }
        Op::Reduce(_, mask, value) => {
            is(checker, *mask, Scalar::U32.into())?;
            scalar(checker, *value, INTEGER_WORD)?.into()
        }
        Op::SyncWarp(value) | Op::Sleep(value) => {
            is(checker, *value, Scalar::U32.into())?;
            return Ok(None);
        }
        Op::SetConditional(number, value) => {
            is(checker, *number, Scalar::U64.into())?;
            is(checker, *value, Scalar::U32.into())?;
            return Ok(None);
        }
        Op::ClusterBarrier | Op::Breakpoint => return Ok(None),
        Op::GridBarrier => Type::Ptr(Space::Global, Pointee::Scalar(Scalar::U32)),
        Op::Panicked => Scalar::Bool.into(),
        Op::Clock(Clock::CyclesLow) => Scalar::U32.into(),
        Op::Clock(Clock::Cycles | Clock::Nanoseconds) => Scalar::U64.into(),
        Op::ActiveMask => Scalar::U32.into(),
        Op::Print(format, values) => return print(checker, format, values),
        Op::Math(function, arguments) => return math(checker, *function, arguments),
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

fn ternary(op: TernaryOp) -> Class {
    match op {
        TernaryOp::DotBytes => INTEGER_WORD,
        _ => ("a u32", |scalar| scalar == Scalar::U32),
    }
}

fn number(scalar: Scalar) -> Result<Scalar> {
    if NUMBER.1(scalar) && scalar.bits() <= 64 {
        Ok(scalar)
    } else {
        Err(broken(Rule::Operand, format!("a {scalar} cannot be accessed atomically")))
    }
}

fn ordered(order: Order, suits: bool) -> Result<()> {
    if suits { Ok(()) } else { Err(broken(Rule::Order, format!("its ordering is {:?}", order.ordering))) }
}

fn atomic(op: AtomicOp) -> Class {
    match op {
        AtomicOp::Add => {
            ("a 32-bit or 64-bit number or a float of 16 bits", |scalar| WIDE_NUMBER.1(scalar) || scalar.is_half())
        }
        AtomicOp::Exchange => WIDE_NUMBER,
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
        return Err(broken(Rule::CallsKernel, format!("`{}` is the module's first", function.name)));
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
        let text = conversion == Printed::Bool && ty == Type::Ptr(Space::Local, Scalar::U8.into());
        if ty != taken.into() && !text {
            return Err(broken(Rule::Format, format!("{value} is {ty}, and its conversion takes {taken}")));
        }
    }
    Ok(None)
}

fn math(checker: &Checker<'_>, function: LibFn, arguments: &[Value]) -> Result<Option<Type>> {
    let mut types = Vec::new();
    for arg in function.args {
        match *arg {
            LibArg::Number(scalar) => types.push(Operand::Is(scalar.into())),
            LibArg::Slice(scalar) => types.extend([Operand::Is(Scalar::I32.into()), Operand::To(scalar)]),
        }
    }
    let outs = function.outs.iter().map(|&scalar| Operand::Is(Type::Ptr(Space::Local, Pointee::Scalar(scalar))));
    types.extend(outs);
    if arguments.len() != types.len() {
        let (name, takes) = (function.name, types.len());
        return Err(broken(Rule::Arguments, format!("`{name}` takes {takes} values, not {}", arguments.len())));
    }
    for (wanted, &value) in types.into_iter().zip(arguments) {
        match wanted {
            Operand::Is(ty) => is(checker, value, ty)?,
            Operand::To(scalar) if number_behind(checker, value)? == scalar => {}
            Operand::To(scalar) => {
                let ty = checker.ty(value)?;
                return Err(broken(Rule::Operand, format!("{value} is {ty}, not a pointer to {scalar}")));
            }
        }
    }
    Ok(function.result.map(Type::from))
}

/// The expected operand of a libdevice function: a type, or a pointer to a number in any memory space.
enum Operand {
    Is(Type),
    To(Scalar),
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

/// The number behind a pointer to cached memory; a `bool` has no register type there.
fn cached(checker: &Checker<'_>, pointer: Value) -> Result<Scalar> {
    let number = number_behind(checker, pointer)?;
    match checker.ty(pointer)? {
        Type::Ptr(Space::Global, _) if number != Scalar::Bool && number.bits() <= 64 => Ok(number),
        ty => Err(broken(Rule::Operand, format!("{pointer} is {ty}, not a pointer to a number in global memory"))),
    }
}

/// The element type of a vector access.
fn cached_all(checker: &Checker<'_>, pointer: Value, count: usize) -> Result<Scalar> {
    let element = cached(checker, pointer)?;
    match count {
        2 | 4 if count as u32 * element.bytes() <= 16 => Ok(element),
        _ => Err(broken(Rule::VectorWidth, format!("{count} of {element}"))),
    }
}

fn field(checker: &Checker<'_>, pointer: Value, offset: u32, part: Pointee) -> Result<Type> {
    let (space, whole) = pointee(checker, pointer)?;
    super::check_pointee(part)?;
    if !whole.holds(offset, part) {
        return Err(broken(Rule::Field, format!("{whole} has no {part} at byte {offset}")));
    }
    Ok(Type::Ptr(space, part))
}
