//! Places: bindings, fields of bindings, and elements of slices with their bounds checks.

use super::function::{Local, Lowering, Result};
use super::types::Val;
use crate::harvest::Ty;
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, SlotId, Space, Type, Value};
use crate::syntax::{Expr, ExprKind};

/// Something that can be read and, but for a fixed value, written.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// A binding that never changes.
    Fixed(Val),
    /// A binding, or a part of one.
    Slots(Ty, Vec<SlotId>),
    /// An element of a slice.
    Element(Value, Scalar),
}

impl Lowering<'_> {
    /// Evaluates the expression as a place. An index is checked here.
    pub(super) fn place(&mut self, expr: &'static Expr) -> Result<Place> {
        let Expr(at, kind) = expr;
        match kind {
            ExprKind::Binding(number) => match self.locals.get(number) {
                Some(Local::Fixed(value)) => Ok(Place::Fixed(value.clone())),
                Some(Local::Slots(ty, slots)) => Ok(Place::Slots(ty.clone(), slots.clone())),
                None => {
                    let name = self.definition.bindings[*number as usize].name;
                    Err(self.error(*at, format!("`{name}` has no value here in the front end; please report this")))
                }
            },
            ExprKind::Field(base, name) => match self.place(base)? {
                Place::Slots(ty, slots) => match ty.field(name) {
                    Some((ty, range)) => Ok(Place::Slots(ty, slots[range].to_vec())),
                    None => Err(self.error(*at, format!("a value of type {ty:?} has no field `{name}`"))),
                },
                _ => Err(self.error(*at, "only a field of a `mut` binding can be assigned")),
            },
            ExprKind::Index(base, index) => {
                let checked = !self.definition.options.unchecked;
                self.element(base, std::slice::from_ref(index), checked)
            }
            ExprKind::IndexUnchecked(base, index) => self.element(base, std::slice::from_ref(index), false),
            ExprKind::IndexAll(base, indices) => {
                let checked = !self.definition.options.unchecked;
                self.element(base, indices, checked)
            }
            _ => Ok(Place::Fixed(self.expr(expr, None)?)),
        }
    }

    /// The element of a slice or view at an index for each dimension.
    fn element(&mut self, base: &'static Expr, indices: &'static [Expr], checked: bool) -> Result<Place> {
        let at = base.0;
        let value = self.expr(base, None)?;
        let (scalar, dims) = match value.ty {
            Ty::Slice(scalar, _) => (scalar, 1),
            Ty::View(scalar, dims, _) => (scalar, dims),
            other => return Err(self.error(at, format!("a value of type {other:?} cannot be indexed"))),
        };
        let mut places = Vec::with_capacity(dims);
        for index in indices {
            places.push(self.scalar(index, Scalar::U64)?);
        }
        let (ptr, extents) = (value.leaves[0], &value.leaves[1..=dims]);
        if checked {
            for (axis, (index, extent)) in places.iter().zip(extents).enumerate() {
                let inside = self.build.value(Op::Compare(CompareOp::Lt, *index, *extent), Scalar::Bool);
                let message = match (&value.ty, dims) {
                    (Ty::Slice(..), _) => "index {0} is out of bounds of a slice of length {1}".to_owned(),
                    (_, 1) => "index {0} is out of bounds of a view of length {1}".to_owned(),
                    _ => format!("index {{0}} is out of bounds of axis {axis}, which has length {{1}}"),
                };
                self.check(at, inside, &message, &[*index, *extent]);
            }
        }
        let strides = value.leaves.get(1 + dims..).unwrap_or_default();
        let offset = if strides.is_empty() { places[0] } else { self.dot(&places, strides) };
        let ptr = self.build.value(Op::Offset(ptr, offset), Type::Ptr(Space::Global, scalar));
        Ok(Place::Element(ptr, scalar))
    }

    /// The sum of products, wrapping: strides may be negative.
    fn dot(&mut self, indices: &[Value], strides: &[Value]) -> Value {
        let mut products = Vec::with_capacity(indices.len());
        for (index, stride) in indices.iter().zip(strides) {
            products.push(self.build.value(Op::Binary(BinaryOp::Mul, *index, *stride), Scalar::U64));
        }
        let mut sum = products[0];
        for product in &products[1..] {
            sum = self.build.value(Op::Binary(BinaryOp::Add, sum, *product), Scalar::U64);
        }
        sum
    }

    /// Writes a place; rustc has checked that it can be written.
    pub(super) fn write(&mut self, place: &Place, value: &Val) {
        match place {
            Place::Fixed(_) => {}
            Place::Slots(_, slots) => self.set(slots, &value.leaves),
            Place::Element(ptr, _) => self.build.effect(Op::Store(*ptr, value.only())),
        }
    }
}
