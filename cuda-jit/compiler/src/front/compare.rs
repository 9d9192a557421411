//! Lexicographic comparison of tuples, arrays, slices, structs and enums with fields.
//!
//! Parts are compared in order and the first unequal pair decides, as in Rust; later parts are not evaluated.

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

/// The trait whose impl compares: within tuples and the like, `<` is derived from the parts' `partial_cmp`, `cmp` from
/// their `cmp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// `PartialEq`
    Equality,
    /// `PartialOrd`
    Partial,
    /// `Ord`
    Total,
}

/// Returns true if values of the type are compared lexicographically by their parts.
pub(super) fn is_compared_by_parts(ty: &Ty, by: By) -> bool {
    match ty {
        Ty::Tuple(_) => true,
        ty => match ty.arithmetic() {
            Some(Arithmetic::Compared(ordered)) => ordered || by == By::Equality,
            _ => false,
        },
    }
}

/// The slot and exit block of a comparison, to which the deciding pair writes and jumps.
#[derive(Clone, Copy)]
struct Outcome {
    slot: SlotId,
    exit: BlockId,
}

/// Returns true if the type is compared element by element.
pub(super) fn is_sequence(ty: &Ty) -> bool {
    matches!(ty, Ty::Array(..) | Ty::Slice(..))
}

impl Lowering<'_> {
    /// Lowers `left op right` for two values.
    pub(super) fn compare_values(&mut self, at: Pos, op: BinaryOp, left: Val, right: Val) -> Result<Val> {
        self.compare_places(at, op, &Place::Fixed(left), &Place::Fixed(right))
    }

    /// Lowers `left op right` where one side is an array or slice; neither is copied.
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

    /// Lowers an operand; an array expression gets the other side's element type.
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
        match comparison(op) {
            Some(op) => self.compare_referents(at, op, left, right),
            None => Err(self.error(at, "this operator is no comparison; please report this")),
        }
    }

    /// Lowers a comparison of two values, or of those behind references.
    pub(super) fn compare_referents(&mut self, at: Pos, op: CompareOp, left: &Place, right: &Place) -> Result<Val> {
        let compared = match op {
            CompareOp::Ne => {
                let equal = self.compared(at, CompareOp::Eq, left, right)?;
                self.build.value(Op::Unary(UnaryOp::Not, equal), Scalar::Bool)
            }
            op => self.compared(at, op, left, right)?,
        };
        Ok(Val::scalar(Scalar::Bool, compared))
    }

    /// Lowers a comparison other than `!=` through the operator's own trait.
    pub(super) fn compared(&mut self, at: Pos, op: CompareOp, left: &Place, right: &Place) -> Result<Value> {
        let by = if op == CompareOp::Eq { By::Equality } else { By::Partial };
        self.compared_by(at, (op, by), left, right)
    }

    /// Lowers a comparison other than `!=` through the trait `by`.
    pub(super) fn compared_by(
        &mut self,
        at: Pos,
        (op, by): (CompareOp, By),
        left: &Place,
        right: &Place,
    ) -> Result<Value> {
        let (left, right) = (self.deref_all(left.clone()), self.deref_all(right.clone()));
        match left.ty().clone() {
            Ty::Unit => Ok(self.build.result_if_equal(op)),
            Ty::Scalar(_) => {
                let (left, right) = (self.build.read(&left), self.build.read(&right));
                Ok(self.build.compare(op, left.only(), right.only()))
            }
            ty @ Ty::Array(..) if !ty.is_plain() => self.compared_references(at, (op, by), &left, &right),
            Ty::Array(..) | Ty::Slice(..) => self.compared_elements(at, (op, by), &left, &right),
            Ty::Sum(of) if is_compared_by_parts(left.ty(), by) => {
                self.compared_variants(at, (op, by), &of, &left, &right)
            }
            ty if is_compared_by_parts(&ty, by) => self.with_outcome(op, |lowering, outcome| {
                for index in 0..ty.fields().len() {
                    let (left, right) = (lowering.build.part(&left, index), lowering.build.part(&right, index));
                    lowering.decide(at, (op, by), &left, &right, outcome)?;
                }
                Ok(lowering.build.result_if_equal(op))
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
                self.compare_by_impl(at, (op, by), left, right)
            }
        }
    }

    /// Compares enums with fields: first the variants' order, then the fields of their common variant.
    fn compared_variants(
        &mut self,
        at: Pos,
        (op, by): (CompareOp, By),
        of: &SumTy,
        left: &Place,
        right: &Place,
    ) -> Result<Value> {
        self.with_outcome(op, |lowering, outcome| {
            let tags = [lowering.build.tag(left), lowering.build.tag(right)].map(|tag| Val::scalar(of.tag(), tag));
            let [of_left, of_right] = tags.map(Place::Fixed);
            lowering.decide(at, (op, by), &of_left, &of_right, outcome)?;
            let tag = lowering.build.read(&of_left).only();
            for variant in (0..of.variants.len()).rev().filter(|variant| !of.fields_of(*variant).is_empty()) {
                let is_it = match (of.tag(), variant) {
                    (Scalar::Bool, 1) => tag,
                    (scalar, variant) => {
                        let number = lowering.build.constant(scalar, variant as u64);
                        lowering.build.compare(CompareOp::Eq, tag, number)
                    }
                };
                let (own, others) = lowering.build.fork(is_it);
                lowering.build.select_block(own);
                let (last, before) = (of.fields_of(variant).end - 1, of.fields_of(variant));
                for index in before.take_while(|index| *index < last) {
                    let (left, right) = (lowering.build.part(left, index), lowering.build.part(right, index));
                    lowering.decide(at, (op, by), &left, &right, outcome)?;
                }
                let (left, right) = (lowering.build.part(left, last), lowering.build.part(right, last));
                let rest = lowering.compared_by(at, (op, by), &left, &right)?;
                lowering.build.finish_with(rest, outcome);
                lowering.build.select_block(others);
            }
            Ok(lowering.build.result_if_equal(op))
        })
    }

    /// Lowers a comparison of pairs with `parts`, any of which may decide; if none does, the result is what `parts`
    /// returns.
    fn with_outcome(
        &mut self,
        op: CompareOp,
        parts: impl FnOnce(&mut Self, Outcome) -> Result<Value>,
    ) -> Result<Value> {
        let name = if op == CompareOp::Eq { "equal" } else { "ordered" };
        let outcome = Outcome { slot: self.build.slot(name, Scalar::Bool), exit: self.build.block() };
        let rest = parts(self, outcome)?;
        self.build.finish_with(rest, outcome);
        self.build.select_block(outcome.exit);
        Ok(self.build.value(Op::Get(outcome.slot), Scalar::Bool))
    }

    /// Continues if two parts are equal; otherwise they decide the comparison.
    fn decide(
        &mut self,
        at: Pos,
        (op, by): (CompareOp, By),
        left: &Place,
        right: &Place,
        outcome: Outcome,
    ) -> Result<()> {
        let equal = self.compared_by(at, (CompareOp::Eq, by), left, right)?;
        let (next, differ) = self.build.fork(equal);
        self.build.select_block(differ);
        let result = match op {
            CompareOp::Eq => self.build.constant(Scalar::Bool, 0),
            op => self.compared_by(at, (op, by), left, right)?,
        };
        self.build.finish_with(result, outcome);
        self.build.select_block(next);
        Ok(())
    }

    /// Compares arrays whose elements hold references and therefore have no address.
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
        self.with_outcome(op, |lowering, outcome| {
            for index in 0..count {
                let number = lowering.build.constant(Scalar::U64, index);
                let pair = [&left, &right].map(|array| lowering.choose(at, array, number, Some(index)));
                let [left, right] = pair;
                lowering.decide(at, (op, by), &left?, &right?, outcome)?;
            }
            Ok(lowering.build.result_if_equal(op))
        })
    }

    /// Compares arrays and slices, also an array with a slice.
    fn compared_elements(&mut self, at: Pos, (op, by): (CompareOp, By), left: &Place, right: &Place) -> Result<Value> {
        let fixed = match (left.ty(), right.ty()) {
            (Ty::Array(element, len), Ty::Array(..)) if len * element.count() <= UNROLLED => Some(*len),
            _ => None,
        };
        let elements = |lowering: &mut Self, place: &Place| {
            let (ptr, element, memory, len) = lowering.slice_of(place)?;
            Ok(Elements { ptr, element, memory, len })
        };
        let (left, right) = (elements(self, left)?, elements(self, right)?);
        self.with_outcome(op, |lowering, outcome| {
            let lengths = [left.len, right.len].map(|len| Place::Fixed(Val::scalar(Scalar::U64, len)));
            if fixed.is_none() && by == By::Equality {
                lowering.decide(at, (op, by), &lengths[0], &lengths[1], outcome)?;
            }
            match fixed {
                Some(count) => {
                    for index in 0..count {
                        let index = lowering.build.constant(Scalar::U64, index);
                        lowering.decide_by_elements(at, (op, by), &left, &right, index, outcome)?;
                    }
                }
                None => lowering.decide_by_loop(at, (op, by), &left, &right, outcome)?,
            }
            lowering.compared_by(at, (op, by), &lengths[0], &lengths[1])
        })
    }

    fn decide_by_elements(
        &mut self,
        at: Pos,
        how: (CompareOp, By),
        left: &Elements,
        right: &Elements,
        index: Value,
        outcome: Outcome,
    ) -> Result<()> {
        let [left, right] = [left, right].map(|elements| {
            let offset = self.build.scaled_by(index, elements.element.count());
            self.build.place_at(elements.ptr, offset, elements.element.clone(), elements.memory)
        });
        self.decide(at, how, &left, &right, outcome)
    }

    /// Emits a loop over the elements up to the shorter length.
    fn decide_by_loop(
        &mut self,
        at: Pos,
        how: (CompareOp, By),
        left: &Elements,
        right: &Elements,
        outcome: Outcome,
    ) -> Result<()> {
        let slot = self.build.slot("index", Scalar::U64);
        let zero = self.build.constant(Scalar::U64, 0);
        self.build.effect(Op::Set(slot, zero));
        let header = self.build.block();
        self.build.jump_into(header);
        let index = self.build.value(Op::Get(slot), Scalar::U64);
        let [in_left, in_right] = [left, right].map(|elements| self.build.compare(CompareOp::Lt, index, elements.len));
        let both = self.build.value(Op::Binary(Kir::And, in_left, in_right), Scalar::Bool);
        let (inside, done) = self.build.fork(both);
        self.build.select_block(inside);
        self.decide_by_elements(at, how, left, right, index, outcome)?;
        let one = self.build.constant(Scalar::U64, 1);
        let next = self.build.value(Op::Binary(Kir::Add, index, one), Scalar::U64);
        self.build.effect(Op::Set(slot, next));
        self.build.end(Terminator::Jump(header));
        self.build.select_block(done);
        Ok(())
    }
}

impl Builder {
    /// The result of comparing equal values.
    fn result_if_equal(&mut self, op: CompareOp) -> Value {
        let holds = matches!(op, CompareOp::Eq | CompareOp::Le | CompareOp::Ge);
        self.constant(Scalar::Bool, u64::from(holds))
    }

    fn finish_with(&mut self, result: Value, outcome: Outcome) {
        self.effect(Op::Set(outcome.slot, result));
        self.end(Terminator::Jump(outcome.exit));
    }
}
