//! Indexing: `base[index]` of slices, arrays and views, bounds-checked, and of types that implement `Index`.

use super::builder::Builder;
use super::function::{Lowering, Result};
use super::overload;
use super::place::{Access, Place};
use super::scopes::Scopes;
use super::slice::is_range;
use super::types::{Val, strip_refs};
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, Space, Value};
use crate::syntax::{Expr, ExprKind, Lit, Pos};
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{Operator, Ty};

/// A range as an index: its start and end, and true if that is included.
pub(super) type RangeIndex = (Option<&'static Expr>, Option<&'static Expr>, bool);

/// The index of a type that implements `Index`.
#[derive(Clone, Copy)]
pub(super) enum IndexBy {
    Value(&'static Expr),
    Range(RangeIndex),
}

impl Lowering<'_> {
    /// Lowers `base[index]`.
    pub(super) fn index(&mut self, base: &'static Expr, index: &'static Expr, access: Access) -> Result<Place> {
        if self.scopes.has_own_index(base) {
            return self.index_by_impl(base, IndexBy::Value(index), access);
        }
        match self.subslice_by_range(base, index, access)? {
            Some(slice) => Ok(Place::Fixed(slice)),
            None => self.element(base, index, access),
        }
    }

    /// The element of a slice, array or view.
    fn element(&mut self, base: &'static Expr, index: &'static Expr, access: Access) -> Result<Place> {
        let (at, checked) = (base.0, self.scopes.checks_bounds());
        let base = self.place_for(base, access)?;
        let base = self.deref_all(base);
        // a view takes one index, or a tuple or array with one per dimension
        let places = match base.ty() {
            Ty::View(..) => self.index_numbers(index)?,
            _ => vec![self.scalar(index, Scalar::U64)?],
        };
        let known = match &index.1 {
            ExprKind::Lit(Lit::Int(value, _)) => u64::try_from(*value).ok(),
            _ => None,
        };
        match base {
            Place::Memory(ptr, Ty::Array(element, len), memory) => {
                if checked && known.is_none_or(|known| known >= len) {
                    self.check_index(at, places[0], len);
                }
                let index = self.build.scaled_by(places[0], element.count());
                Ok(self.build.place_at(ptr, index, *element, memory))
            }
            Place::Slots(Ty::Array(element, len), slots, root)
                if let Some(known) = known.filter(|known| *known < len) =>
            {
                let leaves = element.leaves().len();
                Ok(Place::Slots(*element, slots[known as usize * leaves..][..leaves].to_vec(), root))
            }
            base => {
                let base = self.build.read(&base);
                let Ty::Array(_, len) = base.ty else { return self.strided(at, base, &places, checked) };
                if checked {
                    self.check_index(at, places[0], len);
                }
                self.choose(at, &base, places[0], known)
            }
        }
    }

    /// Lowers an index, a shape or an axis order: one number, or a tuple or array of them.
    pub(super) fn index_numbers(&mut self, index: &'static Expr) -> Result<Vec<Value>> {
        if let ExprKind::Array(parts) | ExprKind::Tuple(parts) = &index.1 {
            return parts.iter().map(|part| self.scalar(part, Scalar::U64)).collect();
        }
        let Some(ty @ (Ty::Tuple(_) | Ty::Array(..))) = self.ty_of(index) else {
            return Ok(vec![self.scalar(index, Scalar::U64)?]);
        };
        let all = self.expr_in_place(index, Some(&ty))?;
        Ok(match ty {
            Ty::Array(_, len) => {
                let elements = (0..len).map(|at| self.build.element_at(all.only(), &Ty::INDEX, Space::Local, at));
                let elements: Vec<_> = elements.collect();
                elements.into_iter().map(|at| self.build.load(at, Space::Local, &Ty::INDEX).only()).collect()
            }
            _ => all.leaves,
        })
    }

    pub(super) fn check_index(&mut self, at: Pos, index: Value, len: u64) {
        let len = self.build.constant(Scalar::U64, len);
        let inside = self.build.compare(CompareOp::Lt, index, len);
        self.check(at, inside, "index out of bounds: the len is {1} but the index is {0}", &[index, len]);
    }

    /// The element of a slice or view at these indices.
    pub(super) fn strided(&mut self, at: Pos, value: Val, places: &[Value], checked: bool) -> Result<Place> {
        let (element, dims, memory) = match &value.ty {
            Ty::Slice(element, memory) => (element, 1, *memory),
            Ty::View(element, dims, memory) => (element, *dims, *memory),
            other => return Err(self.error(at, format!("a value of type `{}` cannot be indexed", ty_name(other)))),
        };
        let (ptr, extents) = (value.leaves[0], &value.leaves[1..=dims]);
        if checked {
            for (axis, (index, extent)) in places.iter().zip(extents).enumerate() {
                let inside = self.build.compare(CompareOp::Lt, *index, *extent);
                let message = match (&value.ty, dims) {
                    (Ty::Slice(..), _) => "index out of bounds: the len is {1} but the index is {0}".to_owned(),
                    (_, 1) => "index {0} is out of bounds of a view of length {1}".to_owned(),
                    _ => format!("index {{0}} is out of bounds of axis {axis}, which has length {{1}}"),
                };
                self.check(at, inside, &message, &[*index, *extent]);
            }
        }
        let strides = value.leaves.get(1 + dims..).unwrap_or_default();
        let offset = if strides.is_empty() { places[0] } else { self.build.dot(places, strides) };
        let offset = self.build.scaled_by(offset, element.count());
        Ok(self.build.place_at(ptr, offset, (**element).clone(), memory))
    }

    /// Lowers `base[index]` of a type that implements `Index`: the place to which the reference that its method returns
    /// points.
    pub(super) fn index_by_impl(&mut self, base: &'static Expr, index: IndexBy, access: Access) -> Result<Place> {
        let at = base.0;
        let place = self.place_for(base, access)?;
        let place = self.deref_all(place);
        let name = trait_name(access);
        let Some(operator) = self.scopes.find_index(place.ty(), name, index) else {
            let own = match index {
                IndexBy::Value(index) => self.ty_of(index),
                IndexBy::Range(_) => None,
            };
            let read = || Some(self.scopes.find_index(place.ty(), trait_name(Access::Shared), index)?.right);
            let right = own.or_else(read).unwrap_or(Ty::INDEX);
            return Err(self.scopes.unlisted(at, name, place.ty(), &right));
        };
        let index = match index {
            IndexBy::Value(index) => self.expr_as(index, &operator.right)?,
            IndexBy::Range((start, end, inclusive)) => {
                self.range_value(start.into_iter().chain(end), inclusive, &operator.right)?
            }
        };
        let base = self.reference(place, access == Access::Mutable);
        let referent = self.call_instance(at, &operator.instance, vec![base, index])?;
        Ok(self.pointee_place(referent))
    }
}

impl Builder {
    /// Emits the wrapping sum of products; strides may be negative.
    fn dot(&mut self, indices: &[Value], strides: &[Value]) -> Value {
        let mut products = Vec::with_capacity(indices.len());
        for (index, stride) in indices.iter().zip(strides) {
            products.push(self.value(Op::Binary(BinaryOp::Mul, *index, *stride), Scalar::U64));
        }
        let mut sum = products[0];
        for product in &products[1..] {
            sum = self.value(Op::Binary(BinaryOp::Add, sum, *product), Scalar::U64);
        }
        sum
    }
}

impl Scopes {
    /// Returns true if an expression is indexed by an implementation of `Index`.
    pub(super) fn has_own_index(&self, base: &Expr) -> bool {
        self.ty_of(base).map(strip_refs).is_some_and(|ty| ty.lists_operators())
    }

    /// Returns true for a place that is a slice within another: `base[range]`.
    pub(super) fn is_subslice(&self, place: &Expr) -> bool {
        match &place.1 {
            ExprKind::Index(base, _) | ExprKind::Subslice(base, ..) if self.has_own_index(base) => {
                matches!(self.ty_of(place), Some(Ty::Slice(..)))
            }
            ExprKind::Index(_, index) => self.ty_of(index).as_ref().is_some_and(is_range),
            ExprKind::Subslice(..) => true,
            _ => false,
        }
    }

    /// The type of `base[index]` of a type that implements `Index`.
    pub(super) fn type_by_own_index(&self, base: &Expr, index: IndexBy) -> Option<Ty> {
        let operator = self.find_index(&strip_refs(self.ty_of(base)?), trait_name(Access::Shared), index);
        match overload::result_of(operator)? {
            Ty::Ref(to, _) => Some(*to),
            slice => Some(slice),
        }
    }

    /// Finds a type's `Index` or `IndexMut` for an index: by its type or, if only the context tells that, by its form.
    fn find_index(&self, of: &Ty, name: &str, index: IndexBy) -> Option<Operator> {
        let takes = |right: &Ty| match index {
            IndexBy::Range(range) => is_range_of(right, range),
            IndexBy::Value(index) => match (self.ty_of(index), &index.1, right) {
                (Some(ty), ..) => right.fits(&ty),
                (None, ExprKind::Tuple(parts), Ty::Tuple(types)) => parts.len() == types.len(),
                (None, ExprKind::Array(parts), Ty::Array(_, len)) => parts.len() as u64 == *len,
                (None, ExprKind::Tuple(_) | ExprKind::Array(_), _) => false,
                (None, _, right) => right.as_scalar().is_some(),
            },
        };
        of.operators().into_iter().find(|operator| operator.name == name && takes(&operator.right))
    }
}

fn trait_name(access: Access) -> &'static str {
    match access {
        Access::Shared => "Index",
        Access::Mutable => "IndexMut",
    }
}

/// Returns true for the type of a range with these bounds.
fn is_range_of(ty: &Ty, (start, end, inclusive): RangeIndex) -> bool {
    let Ty::Struct(of) = ty else { return false };
    let has = |name| ty.field(name).is_some();
    is_range(ty)
        && (has("start"), has("end")) == (start.is_some(), end.is_some())
        && of.name.ends_with("Inclusive") == inclusive
}
