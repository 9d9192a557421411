//! Places: bindings, fields of bindings, and elements of slices with their bounds checks.

use super::function::{Local, Lowering, Result};
use super::types::Val;
use crate::harvest::Ty;
use crate::kir::{CompareOp, Op, Scalar, SlotId, Space, Type, Value};
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
            ExprKind::Index(base, index) => self.element(base, index, !self.definition.options.unchecked),
            ExprKind::IndexUnchecked(base, index) => self.element(base, index, false),
            _ => Ok(Place::Fixed(self.expr(expr, None)?)),
        }
    }

    fn element(&mut self, base: &'static Expr, index: &'static Expr, checked: bool) -> Result<Place> {
        let slice = self.expr(base, None)?;
        let Ty::Slice(scalar, _) = slice.ty else {
            return Err(self.error(base.0, format!("a value of type {:?} cannot be indexed", slice.ty)));
        };
        let index = self.scalar(index, Scalar::U64)?;
        let (ptr, len) = (slice.leaves[0], slice.leaves[1]);
        if checked {
            let inside = self.build.value(Op::Compare(CompareOp::Lt, index, len), Scalar::Bool);
            self.check(base.0, inside, "index {0} is out of bounds of a slice of length {1}", &[index, len]);
        }
        let ptr = self.build.value(Op::Offset(ptr, index), Type::Ptr(Space::Global, scalar));
        Ok(Place::Element(ptr, scalar))
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
