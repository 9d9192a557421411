//! Places: bindings, fields of bindings, and elements of slices with their bounds checks.

use super::function::{Local, Lowering, Result};
use super::types::{Memory, Val};
use crate::harvest::Ty;
use crate::kir::{ArrayDecl, BinaryOp, CompareOp, Op, Scalar, SharedId, SlotId, Space, Type, Value};
use crate::syntax::{Expr, ExprKind, Pos};

/// Something that can be read and, but for a fixed value, written.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// A binding that never changes.
    Fixed(Val),
    /// A binding, or a part of one.
    Slots(Ty, Vec<SlotId>),
    /// A number in memory.
    Element(Value, Scalar, Memory),
}

impl Lowering<'_> {
    /// Evaluates the expression as a place. An index is checked here.
    pub(super) fn place(&mut self, expr: &'static Expr) -> Result<Place> {
        let Expr(at, kind) = expr;
        match kind {
            ExprKind::Binding(number) => match self.locals.get(number) {
                Some(Local::Fixed(value)) => Ok(Place::Fixed(value.clone())),
                Some(Local::Cell(ptr, scalar)) => {
                    Ok(Place::Element(*ptr, *scalar, Memory { writable: true, space: Space::Local }))
                }
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
                Place::Fixed(value) => match value.ty.field(name) {
                    Some((ty, range)) => Ok(Place::Fixed(Val { ty, leaves: value.leaves[range].to_vec() })),
                    None => Err(self.error(*at, format!("a value of type {:?} has no field `{name}`", value.ty))),
                },
                Place::Element(..) => Err(self.error(*at, format!("a number has no field `{name}`"))),
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
            ExprKind::Deref(reference) => {
                let reference = self.expr(reference, None)?;
                match (&reference.ty, reference.ty.memory()) {
                    (Ty::Ref(scalar, ..), Some(memory)) => Ok(Place::Element(reference.only(), *scalar, memory)),
                    _ => Err(self.error(*at, format!("a value of type {:?} cannot be dereferenced", reference.ty))),
                }
            }
            _ => Ok(Place::Fixed(self.expr(expr, None)?)),
        }
    }

    /// The element of a slice or view at an index for each dimension.
    fn element(&mut self, base: &'static Expr, indices: &'static [Expr], checked: bool) -> Result<Place> {
        let at = base.0;
        let ty = self.ty_of(base);
        let mut value = self.expr(base, ty.as_ref())?;
        value.ty = value.ty.into_place();
        let Some(memory) = value.ty.memory() else {
            return Err(self.error(at, format!("a value of type {:?} cannot be indexed", value.ty)));
        };
        let (scalar, dims) = match &value.ty {
            Ty::Slice(scalar, ..) => (*scalar, 1),
            Ty::View(scalar, dims, _) => (*scalar, *dims),
            Ty::Array(scalar, extents, ..) => {
                return self.array_element(at, (*scalar, extents), &value, indices, checked);
            }
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
        let ptr = self.build.value(Op::Offset(ptr, offset), Type::Ptr(memory.space, scalar));
        Ok(Place::Element(ptr, scalar, memory))
    }

    /// The element, or the row, of an array whose element type and extents are known.
    fn array_element(
        &mut self,
        at: Pos,
        (scalar, extents): (Scalar, &[u64]),
        array: &Val,
        indices: &'static [Expr],
        checked: bool,
    ) -> Result<Place> {
        let index = self.scalar(&indices[0], Scalar::U64)?;
        let (len, inner) = (extents[0], &extents[1..]);
        if checked {
            let len = self.constant(Scalar::U64, len);
            let inside = self.build.value(Op::Compare(CompareOp::Lt, index, len), Scalar::Bool);
            self.check(at, inside, "index {0} is out of bounds of an array of length {1}", &[index, len]);
        }
        let memory = array.ty.memory().unwrap_or(Memory { writable: true, space: Space::Shared });
        let row = inner.iter().product();
        let offset = if row == 1 {
            index
        } else {
            let row = self.constant(Scalar::U64, row);
            self.build.value(Op::Binary(BinaryOp::Mul, index, row), Scalar::U64)
        };
        let ptr = self.build.value(Op::Offset(array.only(), offset), Type::Ptr(memory.space, scalar));
        if inner.is_empty() {
            return Ok(Place::Element(ptr, scalar, memory));
        }
        let ty = Ty::Array(scalar, inner.to_vec(), memory.writable, memory.space);
        Ok(Place::Fixed(Val { ty, leaves: vec![ptr] }))
    }

    /// `&place`: of a number in memory its address, of anything else that points the same pointer.
    pub(super) fn reborrow(&mut self, expr: &'static Expr) -> Result<Val> {
        match self.place(expr)? {
            Place::Element(ptr, scalar, Memory { writable, space }) => {
                Ok(Val { ty: Ty::Ref(scalar, writable, space), leaves: vec![ptr] })
            }
            place => {
                let mut value = self.read(&place);
                value.ty = value.ty.into_place();
                match value.ty.memory() {
                    Some(_) => Ok(value),
                    None => {
                        Err(self.error(expr.0, "only slices, arrays and their elements can be borrowed in a kernel"))
                    }
                }
            }
        }
    }

    /// `shared!(T)`: one array for each place in the source and function.
    pub(super) fn shared(&mut self, number: u32) -> Val {
        let (element, extents) = self.harvest.arrays[number as usize].clone();
        let count = self.program.shared.len() as u32;
        let id = *self.program.shared_ids.entry((self.id, number)).or_insert(SharedId(count));
        if id.0 == count {
            let name = self.definition.name.trim_start_matches("r#").chars().map(super::symbol_char).collect();
            self.program.shared.push(ArrayDecl { name, element, len: extents.iter().product() });
        }
        let ptr = self.build.value(Op::Shared(id), Type::Ptr(Space::Shared, element));
        Val { ty: Ty::Array(element, extents, true, Space::Shared), leaves: vec![ptr] }
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
            Place::Fixed(array) => {
                if let Ty::Array(scalar, extents, ..) = &array.ty {
                    let count = extents.iter().product();
                    self.copy_array(*scalar, (value.only(), &value.ty), (array.only(), &array.ty), count);
                }
            }
            Place::Slots(_, slots) => self.set(slots, &value.leaves),
            Place::Element(ptr, ..) => self.build.effect(Op::Store(*ptr, value.only())),
        }
    }
}
