//! The items of the compiler's own loops: elements of arrays, slices and views, and the numbers of ranges.

use super::function::{Lowering, Result};
use super::place::Place;
use super::range::Range;
use super::types::Val;
use crate::kir::{BinaryOp, Scalar, Space, Value};
use crate::syntax::{Expr, Pos};
use crate::typeinfo::{Memory, Ty};

/// The items of a loop.
#[derive(Clone, Debug)]
pub(super) enum Items {
    /// Items with an index, and their count.
    Counted(Counted, Value),
    /// The numbers of a range.
    Range(Range),
    /// The elements of multidimensional views of the same shape.
    Grid(Vec<Val>),
}

/// Items that are computed from an index, from 0 on.
#[derive(Clone, Debug)]
pub(super) enum Counted {
    /// Elements in memory, or references to them, with the stride between neighbours.
    Elements {
        ptr: Value,
        element: Ty,
        memory: Memory,
        stride: Option<Value>,
        by_value: bool,
    },
    /// The elements of an array whose elements hold references.
    Values(Val),
    Pairs(Box<Counted>, Box<Counted>),
}

impl Items {
    /// Zips two sequences of equal length or shape.
    pub(super) fn zip(self, other: Items) -> Items {
        match (self, other) {
            (Items::Counted(a, count), Items::Counted(b, _)) => {
                Items::Counted(Counted::Pairs(Box::new(a), Box::new(b)), count)
            }
            (Items::Grid(mut a), Items::Grid(b)) => {
                a.extend(b);
                Items::Grid(a)
            }
            (first, _) => first,
        }
    }
}

impl Lowering<'_> {
    /// The elements of an array, slice or view. An array iterated by value is copied first, as the loop may write it,
    /// unless it `stays` unmodified.
    pub(super) fn items_of(&mut self, expr: &'static Expr, stays: bool) -> Result<Items> {
        let outer = self.set_location_at(expr.0);
        let mut place = self.place(expr)?;
        let by_value = matches!(place.ty(), Ty::Array(..));
        if let Place::Memory(_, Ty::Array(..), memory) = &place
            && memory.writable()
            && !stays
        {
            let array = self.read_copied(&place);
            let array = self.build.stable(array);
            place = Place::Memory(array.only(), array.ty, Memory::Write(Space::Local));
        }
        let items = self.elements_of(expr.0, place, by_value);
        self.build.set_location(outer);
        items
    }

    /// The elements of a slice, array or view, or references to them.
    pub(super) fn elements_of(&mut self, at: Pos, place: Place, by_value: bool) -> Result<Items> {
        let place = self.deref_all(place);
        match place {
            place
                if let &Ty::Array(_, len) = place.ty()
                    && !place.ty().is_plain() =>
            {
                let count = self.build.constant(Scalar::U64, len);
                let array = self.build.read(&place);
                Ok(Items::Counted(Counted::Values(array), count))
            }
            place if matches!(place.ty(), Ty::View(..)) => {
                let view = self.build.read(&place);
                let Ty::View(element, 1, memory) = &view.ty else { return Ok(Items::Grid(vec![view])) };
                let (ptr, element, memory) = (view.leaves[0], (**element).clone(), *memory);
                let (count, stride) = (view.leaves[1], Some(view.leaves[2]));
                Ok(Items::Counted(Counted::Elements { ptr, element, memory, stride, by_value }, count))
            }
            // two views of one shape
            place
                if let Ty::Tuple(parts) = place.ty()
                    && matches!(parts[..], [Ty::View(..), Ty::View(..)]) =>
            {
                let [first, second] = [self.build.part(&place, 0), self.build.part(&place, 1)];
                Ok(self.elements_of(at, first, by_value)?.zip(self.elements_of(at, second, by_value)?))
            }
            place if matches!(place.ty(), Ty::Array(..) | Ty::Slice(..)) => {
                let (ptr, element, memory, count) = self.slice_of(&place)?;
                Ok(Items::Counted(Counted::Elements { ptr, element, memory, stride: None, by_value }, count))
            }
            place => {
                let text = format!(
                    "kernels do not iterate over a value of type `{}`",
                    crate::typeinfo::layout::ty_name(place.ty())
                );
                Err(self.error(at, text))
            }
        }
    }

    /// The item at an index, which is in bounds.
    pub(super) fn item(&mut self, at: Pos, items: &Counted, number: Value) -> Result<Val> {
        match items {
            Counted::Elements { ptr, element, memory, stride, by_value } => {
                let offset = match stride {
                    Some(stride) => self.build.index_op(BinaryOp::Mul, number, *stride),
                    None => number,
                };
                let offset = self.build.scaled_by(offset, element.count());
                let place = self.build.place_at(*ptr, offset, element.clone(), *memory);
                if *by_value { Ok(self.build.read(&place)) } else { Ok(self.reference(place, false)) }
            }
            Counted::Values(array) => {
                let place = self.choose(at, array, number, None)?;
                Ok(self.build.read(&place))
            }
            Counted::Pairs(a, b) => {
                let (a, b) = (self.item(at, a, number)?, self.item(at, b, number)?);
                Ok(paired(a, b))
            }
        }
    }
}

/// A tuple of two values.
pub(super) fn paired(a: Val, b: Val) -> Val {
    let leaves = a.leaves.into_iter().chain(b.leaves).collect();
    Val { ty: Ty::Tuple(vec![a.ty, b.ty]), leaves }
}
