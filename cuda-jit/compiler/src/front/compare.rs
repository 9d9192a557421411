//! Comparison of what is no single number: tuples, arrays, slices, structs, enums with fields.
//!
//! Parts are compared in order, and the first pair that differs decides, as in Rust: what comes behind it is not looked
//! at.

use super::builder::Builder;
use super::function::{Lowering, Result};
use super::memory::UNROLLED;
use super::operator::comparison;
use super::place::Place;
use super::slice::Elements;
use super::types::Val;
use crate::kir::{BinaryOp as Kir, BlockId, CompareOp, Op, Scalar, SlotId, Terminator, UnaryOp, Value};
use crate::syntax::{BinaryOp, Expr, ExprKind, Pos};
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{Arithmetic, SumTy, Ty};

/// The impl that compares: within tuples and the like, `<` is what the parts' `partial_cmp` says, and `cmp` their `cmp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// `PartialEq`
    Equality,
    /// `PartialOrd`
    Partial,
    /// `Ord`
    Total,
}

/// Returns true if the parts are compared in order, and the first pair that differs decides.
pub(super) fn is_compared_by_parts(ty: &Ty, by: By) -> bool {
    match ty {
        Ty::Tuple(_) => true,
        ty => match ty.arithmetic() {
            Some(Arithmetic::Compared(ordered)) => ordered || by == By::Equality,
            _ => false,
        },
    }
}

/// Where the pair that decides leaves the result.
#[derive(Clone, Copy)]
struct Verdict {
    slot: SlotId,
    exit: BlockId,
}

/// Whether it is compared element by element.
pub(super) fn is_sequence(ty: &Ty) -> bool {
    matches!(ty, Ty::Array(..) | Ty::Slice(..))
}

impl Lowering<'_> {
    /// `left op right` of values.
    pub(super) fn compare_values(&mut self, at: Pos, op: BinaryOp, left: Val, right: Val) -> Result<Val> {
        self.compare_places(at, op, &Place::Fixed(left), &Place::Fixed(right))
    }

    /// `left op right` where one is an array or slice; where they lie, they are compared.
    pub(super) fn compare_sequences(
        &mut self,
        at: Pos,
        op: BinaryOp,
        operands: [&'static Expr; 2],
        types: &[Option<Ty>; 2],
    ) -> Result<Val> {
        let left = self.sequence(operands[0], types[1].as_ref())?;
        let right = self.sequence(operands[1], types[0].as_ref())?;
        self.compare_places(at, op, &left, &right)
    }

    /// An operand; an array that is written there has elements of the other's type.
    fn sequence(&mut self, expr: &'static Expr, other: Option<&Ty>) -> Result<Place> {
        let wanted = match (&expr.1, other) {
            (ExprKind::Reborrow(inner, false), _) => return self.sequence(inner, other),
            (ExprKind::Array(elements), Some(Ty::Array(element, _) | Ty::Slice(element, _))) => {
                Ty::Array(element.clone(), elements.len() as u64)
            }
            (ExprKind::Repeat(_), Some(array @ Ty::Array(..))) => array.clone(),
            _ => return self.place(expr),
        };
        Ok(Place::Fixed(self.expr(expr, Some(&wanted))?))
    }

    fn compare_places(&mut self, at: Pos, op: BinaryOp, left: &Place, right: &Place) -> Result<Val> {
        let compared = match comparison(op) {
            Some(CompareOp::Ne) => {
                let equal = self.compared(at, CompareOp::Eq, left, right)?;
                self.build.value(Op::Unary(UnaryOp::Not, equal), Scalar::Bool)
            }
            Some(op) => self.compared(at, op, left, right)?,
            None => return Err(self.error(at, "this operator does not compare")),
        };
        Ok(Val::scalar(Scalar::Bool, compared))
    }

    /// The result of a comparison other than `!=`, by the operator's own impl.
    pub(super) fn compared(&mut self, at: Pos, op: CompareOp, left: &Place, right: &Place) -> Result<Value> {
        let by = if op == CompareOp::Eq { By::Equality } else { By::Partial };
        self.compared_by(at, (op, by), left, right)
    }

    /// The result of a comparison other than `!=`, by that impl.
    pub(super) fn compared_by(
        &mut self,
        at: Pos,
        (op, by): (CompareOp, By),
        left: &Place,
        right: &Place,
    ) -> Result<Value> {
        let (left, right) = (self.through(left.clone()), self.through(right.clone()));
        match left.ty().clone() {
            Ty::Unit => Ok(self.build.of_equals(op)),
            Ty::Scalar(_) => {
                let (left, right) = (self.build.read(&left), self.build.read(&right));
                Ok(self.build.compare(op, left.only(), right.only()))
            }
            ty @ Ty::Array(..) if !ty.is_plain() => self.compared_references(at, (op, by), &left, &right),
            Ty::Array(..) | Ty::Slice(..) => self.compared_elements(at, (op, by), &left, &right),
            Ty::Sum(of) if is_compared_by_parts(left.ty(), by) => {
                self.compared_variants(at, (op, by), &of, &left, &right)
            }
            ty if is_compared_by_parts(&ty, by) => self.deciding(op, |walk, verdict| {
                for index in 0..ty.fields().len() {
                    let (left, right) = (walk.build.part(&left, index), walk.build.part(&right, index));
                    walk.decide(at, (op, by), &left, &right, verdict)?;
                }
                Ok(walk.build.of_equals(op))
            }),
            Ty::Enum(of, scalar) => {
                let (left, right) = (self.build.read(&left), self.build.read(&right));
                self.compare_variants(at, (op, by), (of, scalar), &left, &right)
            }
            ty if by == By::Equality => {
                let (left, right) = (self.build.read(&left), self.build.read(&right));
                match ty {
                    vector if vector.lanes().is_some() => Ok(self.lanes_binary(at, BinaryOp::Eq, left, right)?.only()),
                    number if number.complex().is_some() => Ok(self.same_numbers(&left, &right)),
                    ty if ty.lists_operators() => Ok(self.overloaded(at, BinaryOp::Eq, left, right)?.only()),
                    other => {
                        Err(self.error(at, format!("kernels do not compare values of type `{}`", ty_name(&other))))
                    }
                }
            }
            _ => {
                let (left, right) = (self.build.read(&left), self.build.read(&right));
                self.ordered_by_impl(at, (op, by), left, right)
            }
        }
    }

    /// Enums with fields: the order of the variants decides, then the fields of the one that both are.
    fn compared_variants(
        &mut self,
        at: Pos,
        (op, by): (CompareOp, By),
        of: &SumTy,
        left: &Place,
        right: &Place,
    ) -> Result<Value> {
        self.deciding(op, |walk, verdict| {
            let tags = [walk.build.tag(left), walk.build.tag(right)].map(|tag| Val::scalar(of.tag(), tag));
            let [of_left, of_right] = tags.map(Place::Fixed);
            walk.decide(at, (op, by), &of_left, &of_right, verdict)?;
            let tag = walk.build.read(&of_left).only();
            for variant in (0..of.variants.len()).rev().filter(|variant| !of.fields_of(*variant).is_empty()) {
                let is_it = match (of.tag(), variant) {
                    (Scalar::Bool, 1) => tag,
                    (scalar, variant) => {
                        let number = walk.build.constant(scalar, variant as u64);
                        walk.build.compare(CompareOp::Eq, tag, number)
                    }
                };
                let (own, others) = walk.build.fork(is_it);
                walk.build.select_block(own);
                let (last, before) = (of.fields_of(variant).end - 1, of.fields_of(variant));
                for index in before.take_while(|index| *index < last) {
                    let (left, right) = (walk.build.part(left, index), walk.build.part(right, index));
                    walk.decide(at, (op, by), &left, &right, verdict)?;
                }
                let (left, right) = (walk.build.part(left, last), walk.build.part(right, last));
                let rest = walk.compared_by(at, (op, by), &left, &right)?;
                walk.build.settle(rest, verdict);
                walk.build.select_block(others);
            }
            Ok(walk.build.of_equals(op))
        })
    }

    /// Lowers pairs of parts with `parts`, each of which may decide; what it yields is the result if none does.
    fn deciding(&mut self, op: CompareOp, parts: impl FnOnce(&mut Self, Verdict) -> Result<Value>) -> Result<Value> {
        let name = if op == CompareOp::Eq { "equal" } else { "ordered" };
        let verdict = Verdict { slot: self.build.slot(name, Scalar::Bool), exit: self.build.block() };
        let rest = parts(self, verdict)?;
        self.build.settle(rest, verdict);
        self.build.select_block(verdict.exit);
        Ok(self.build.value(Op::Get(verdict.slot), Scalar::Bool))
    }

    /// Goes on where two parts are equal; others decide.
    fn decide(
        &mut self,
        at: Pos,
        (op, by): (CompareOp, By),
        left: &Place,
        right: &Place,
        verdict: Verdict,
    ) -> Result<()> {
        let equal = self.compared_by(at, (CompareOp::Eq, by), left, right)?;
        let (next, differ) = self.build.fork(equal);
        self.build.select_block(differ);
        let result = match op {
            CompareOp::Eq => self.build.constant(Scalar::Bool, 0),
            op => self.compared_by(at, (op, by), left, right)?,
        };
        self.build.settle(result, verdict);
        self.build.select_block(next);
        Ok(())
    }

    /// Arrays of what holds references, which lie in no memory.
    fn compared_references(
        &mut self,
        at: Pos,
        (op, by): (CompareOp, By),
        left: &Place,
        right: &Place,
    ) -> Result<Value> {
        let (left, right) = (self.build.read(left), self.build.read(right));
        let (Ty::Array(_, count), Ty::Array(..)) = (&left.ty, &right.ty) else {
            return Err(
                self.error(at, "compare the elements of an array of references with those of a slice in a loop")
            );
        };
        let count = *count;
        self.deciding(op, |walk, verdict| {
            for index in 0..count {
                let number = walk.build.constant(Scalar::U64, index);
                let pair = [&left, &right].map(|array| walk.choose(at, array, number, Some(index)));
                let [left, right] = pair;
                walk.decide(at, (op, by), &left?, &right?, verdict)?;
            }
            Ok(walk.build.of_equals(op))
        })
    }

    /// Arrays and slices, also one with the other.
    fn compared_elements(&mut self, at: Pos, (op, by): (CompareOp, By), left: &Place, right: &Place) -> Result<Value> {
        let fixed = match (left.ty(), right.ty()) {
            (Ty::Array(element, len), Ty::Array(..)) if len * element.count() <= UNROLLED => Some(*len),
            _ => None,
        };
        let elements = |walk: &mut Self, place: &Place| {
            let (ptr, element, memory, len) = walk.slice_of(place)?;
            Ok(Elements { ptr, element, memory, len })
        };
        let (left, right) = (elements(self, left)?, elements(self, right)?);
        self.deciding(op, |walk, verdict| {
            let lengths = [left.len, right.len].map(|len| Place::Fixed(Val::scalar(Scalar::U64, len)));
            if fixed.is_none() && by == By::Equality {
                walk.decide(at, (op, by), &lengths[0], &lengths[1], verdict)?;
            }
            match fixed {
                Some(count) => {
                    for index in 0..count {
                        let index = walk.build.constant(Scalar::U64, index);
                        walk.decide_elements(at, (op, by), &left, &right, index, verdict)?;
                    }
                }
                None => walk.decide_each(at, (op, by), &left, &right, verdict)?,
            }
            walk.compared_by(at, (op, by), &lengths[0], &lengths[1])
        })
    }

    fn decide_elements(
        &mut self,
        at: Pos,
        how: (CompareOp, By),
        left: &Elements,
        right: &Elements,
        index: Value,
        verdict: Verdict,
    ) -> Result<()> {
        let [left, right] = [left, right].map(|elements| {
            let offset = self.build.scaled_by(index, elements.element.count());
            self.build.moved(elements.ptr, offset, elements.element.clone(), elements.memory)
        });
        self.decide(at, how, &left, &right, verdict)
    }

    /// A loop over the elements that both have.
    fn decide_each(
        &mut self,
        at: Pos,
        how: (CompareOp, By),
        left: &Elements,
        right: &Elements,
        verdict: Verdict,
    ) -> Result<()> {
        let slot = self.build.slot("index", Scalar::U64);
        let zero = self.build.constant(Scalar::U64, 0);
        self.build.effect(Op::Set(slot, zero));
        let again = self.build.block();
        self.build.jump_into(again);
        let index = self.build.value(Op::Get(slot), Scalar::U64);
        let [in_left, in_right] = [left, right].map(|elements| self.build.compare(CompareOp::Lt, index, elements.len));
        let both = self.build.value(Op::Binary(Kir::And, in_left, in_right), Scalar::Bool);
        let (inside, done) = self.build.fork(both);
        self.build.select_block(inside);
        self.decide_elements(at, how, left, right, index, verdict)?;
        let one = self.build.constant(Scalar::U64, 1);
        let next = self.build.value(Op::Binary(Kir::Add, index, one), Scalar::U64);
        self.build.effect(Op::Set(slot, next));
        self.build.end(Terminator::Jump(again));
        self.build.select_block(done);
        Ok(())
    }
}

impl Builder {
    /// What a comparison of equal values yields.
    fn of_equals(&mut self, op: CompareOp) -> Value {
        let holds = matches!(op, CompareOp::Eq | CompareOp::Le | CompareOp::Ge);
        self.constant(Scalar::Bool, u64::from(holds))
    }

    fn settle(&mut self, result: Value, verdict: Verdict) {
        self.effect(Op::Set(verdict.slot, result));
        self.end(Terminator::Jump(verdict.exit));
    }
}
