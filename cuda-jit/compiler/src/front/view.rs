//! ndarray views: shapes, slicing, axis operations, and construction from slices.
//!
//! A view is an address, and an extent and a stride for each axis. Strides count elements and wrap where they are
//! negative. Deriving a view from another is arithmetic on these; nothing is copied. The stride of an axis of extent 0
//! or 1 is whatever that arithmetic yields; it may differ from ndarray's, and is never used.

use super::axes::AxisNumber;
use super::function::{Lowering, Result};
use super::functions::optional;
use super::indexed::paired;
use super::place::Place;
use super::types::Val;
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, Space, Type, Value};
use crate::libcalls::shape_error;
use crate::syntax::{Expr, Pos};
use crate::typeinfo::{Memory, ShapeOp, Ty, ViewOp};

/// A view, decomposed.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) ptr: Value,
    pub(super) element: Ty,
    pub(super) memory: Memory,
    pub(super) axes: Vec<Axis>,
}

/// One axis of a view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// The number of indices.
    pub(super) extent: Value,
    /// The number of elements between neighbours.
    pub(super) stride: Value,
}

impl View {
    /// Decomposes a value, if it is a view.
    pub(super) fn of(value: &Val) -> Option<View> {
        let Ty::View(element, dims, memory) = &value.ty else { return None };
        let axis = |index| Axis { extent: value.leaves[1 + index], stride: value.leaves[1 + dims + index] };
        let axes = (0..*dims).map(axis).collect();
        Some(View { ptr: value.leaves[0], element: (**element).clone(), memory: *memory, axes })
    }

    /// The view as a value.
    pub(super) fn into_val(self) -> Val {
        let View { ptr, element, memory, axes } = self;
        let (extents, strides) = (axes.iter().map(|axis| axis.extent), axes.iter().map(|axis| axis.stride));
        let leaves = std::iter::once(ptr).chain(extents).chain(strides).collect();
        Val { ty: Ty::View(Box::new(element), axes.len(), memory), leaves }
    }

    fn extents(&self) -> Vec<Value> {
        self.axes.iter().map(|axis| axis.extent).collect()
    }
}

impl Lowering<'_> {
    /// Lowers an intrinsic on an ndarray view.
    pub(super) fn view_op(&mut self, at: Pos, op: ViewOp, of: &'static Expr, args: &'static [Expr]) -> Result<Val> {
        let place = self.place(of)?;
        let place = self.deref_all(place);
        let value = self.build.read(&place);
        let Some(mut view) = View::of(&value) else { return Err(self.error(at, "this is no view")) };
        match op {
            ViewOp::Shape(op) => self.shape_op(op, &view, args),
            ViewOp::Same => Ok(value),
            ViewOp::Reversed => {
                view.axes.reverse();
                Ok(view.into_val())
            }
            ViewOp::Permuted => self.permuted(at, view, &args[0]),
            ViewOp::WithFirst => {
                let number = self.axis(&args[0], view.axes.len())?;
                let first = self.remove_axis(&mut view.axes, number);
                view.axes.insert(0, first);
                Ok(view.into_val())
            }
            ViewOp::InsertAxis => self.insert_axis(view, &args[0]),
            ViewOp::Row => self.indexed(at, view, AxisNumber::Known(0), &args[0]),
            ViewOp::Column => self.indexed(at, view, AxisNumber::Known(1), &args[0]),
            ViewOp::IndexAxis => {
                let number = self.axis(&args[0], view.axes.len())?;
                self.indexed(at, view, number, &args[1])
            }
            ViewOp::Lane => {
                let index = self.scalar(&args[0], Scalar::U64)?;
                if view.axes.len() > 1 {
                    let axis = view.axes.remove(0);
                    return Ok(self.lane(view, axis, index));
                }
                let element = self.strided(at, value, &[index], false)?;
                Ok(self.reference(element, false))
            }
            ViewOp::Sliced => self.sliced(at, view, &args[0]),
            ViewOp::SplitAt => self.split_view(at, view, args),
            ViewOp::Diagonal => Ok(self.diagonal(view)),
            ViewOp::AsSlice => Ok(self.as_slice(&view)),
            ViewOp::First => self.corner_element(at, &view, |_, _| None),
            ViewOp::Last => self.corner_element(at, &view, |_, extent| Some(extent)),
            ViewOp::Get => self.get_element(at, &view, &args[0]),
            ViewOp::Swap => {
                let places = [self.element_of(at, &view, &args[0])?, self.element_of(at, &view, &args[1])?];
                self.swap_places(at, &places)?;
                Ok(Val::unit())
            }
            ViewOp::NextElement => {
                let place = self.place(&args[0])?;
                let place = self.deref_all(place);
                self.next_element(at, &view, place)
            }
            ViewOp::Beside => self.zip_view(at, view, &args[0]),
        }
    }

    /// The element of a view at the index in `place`, an array with an index per axis, which is advanced.
    fn next_element(&mut self, at: Pos, view: &View, place: Place) -> Result<Val> {
        let Place::Memory(array, Ty::Array(..), memory) = place else {
            return Err(self.error(at, "the place of an element is no array; please report this"));
        };
        let axis_at = |lowering: &mut Self, axis: usize| {
            lowering.build.element_at(array, &Ty::INDEX, memory.space(), axis as u64)
        };
        let at_axes: Vec<Value> = (0..view.axes.len()).map(|axis| axis_at(self, axis)).collect();
        let indices: Vec<Value> =
            at_axes.iter().map(|at| self.build.load(*at, memory.space(), &Ty::INDEX).only()).collect();
        let element = self.strided(at, view.clone().into_val(), &indices, false)?;
        let element = self.reference(element, false);
        let next = self.next_index(&indices, &view.extents());
        for (at, next) in at_axes.into_iter().zip(next) {
            self.build.effect(Op::Store(at, next));
        }
        Ok(element)
    }

    /// The next index in row-major order.
    pub(super) fn next_index(&mut self, place: &[Value], extents: &[Value]) -> Vec<Value> {
        let mut carry = self.build.constant(Scalar::U64, 1);
        let zero = self.build.constant(Scalar::U64, 0);
        let mut next_index = place.to_vec();
        for axis in (0..place.len()).rev() {
            let next = self.build.index_op(BinaryOp::Add, place[axis], carry);
            let wraps = self.build.compare(CompareOp::Eq, next, extents[axis]);
            next_index[axis] = self.build.select(wraps, zero, next, Scalar::U64);
            carry = self.build.cast_value(wraps, Scalar::Bool, Scalar::U64);
        }
        next_index
    }

    /// Lowers a query of a view's shape.
    fn shape_op(&mut self, op: ShapeOp, view: &View, args: &'static [Expr]) -> Result<Val> {
        let (axes, mut extents) = (&view.axes, view.extents());
        let value = match op {
            ShapeOp::Len => self.build.element_count(&extents),
            ShapeOp::NDim => self.build.constant(Scalar::U64, axes.len() as u64),
            ShapeOp::Extents if axes.len() > 1 => {
                return Ok(Val { ty: Ty::Tuple(vec![Ty::INDEX; axes.len()]), leaves: extents });
            }
            ShapeOp::Extents => extents.remove(0),
            ShapeOp::ExtentSlice => return Ok(self.local_slice("shape", Scalar::U64, &extents)),
            ShapeOp::StrideSlice => {
                let strides: Vec<_> = axes.iter().map(|axis| self.signed(axis.stride)).collect();
                return Ok(self.local_slice("strides", Scalar::I64, &strides));
            }
            ShapeOp::LenOf => {
                let number = self.axis(&args[0], axes.len())?;
                self.remove_axis(&mut axes.clone(), number).extent
            }
            ShapeOp::StrideOf => {
                let number = self.axis(&args[0], axes.len())?;
                let stride = self.remove_axis(&mut axes.clone(), number).stride;
                return Ok(Val::scalar(Scalar::I64, self.signed(stride)));
            }
            ShapeOp::Rows => axes[0].extent,
            ShapeOp::Columns => axes[1].extent,
            ShapeOp::IsSquare => {
                let is_square = self.build.compare(CompareOp::Eq, axes[0].extent, axes[1].extent);
                return Ok(Val::scalar(Scalar::Bool, is_square));
            }
            ShapeOp::IsStandardLayout => return Ok(Val::scalar(Scalar::Bool, self.is_contiguous(view))),
        };
        Ok(Val::scalar(Scalar::U64, value))
    }

    /// Stores numbers to a local array and returns it as a slice.
    fn local_slice(&mut self, name: &str, scalar: Scalar, values: &[Value]) -> Val {
        let ty = Ty::Array(Box::new(Ty::Scalar(scalar)), values.len() as u64);
        let list = self.build.new_array(name, &ty).only();
        for (index, value) in (0..).zip(values) {
            let place = self.build.element_at(list, &Ty::Scalar(scalar), Space::Local, index);
            self.build.effect(Op::Store(place, *value));
        }
        let len = self.build.constant(Scalar::U64, values.len() as u64);
        let ty = Ty::Slice(Box::new(Ty::Scalar(scalar)), Memory::Write(Space::Local));
        Val { ty, leaves: vec![list, len] }
    }

    /// A stride as an `isize`.
    fn signed(&mut self, stride: Value) -> Value {
        self.build.cast_value(stride, Scalar::U64, Scalar::I64)
    }

    /// Moves a view's start by `by` elements.
    pub(super) fn move_view(&mut self, view: &mut View, by: Value) {
        let by = self.build.scaled_by(by, view.element.count());
        view.ptr = self.build.value(Op::Offset(view.ptr, by), Type::Ptr(view.memory.space(), view.element.pointee()));
    }

    /// The subview at an index, in bounds, of an axis that was removed from the view.
    fn lane(&mut self, mut view: View, axis: Axis, index: Value) -> Val {
        let offset = self.build.index_op(BinaryOp::Mul, index, axis.stride);
        self.move_view(&mut view, offset);
        view.into_val()
    }

    /// The subview at an index of an axis, with a bounds check.
    fn indexed(&mut self, at: Pos, mut view: View, number: AxisNumber, index: &'static Expr) -> Result<Val> {
        let index = self.scalar(index, Scalar::U64)?;
        let axis = self.remove_axis(&mut view.axes, number);
        self.check_place(at, number, index, axis.extent);
        Ok(self.lane(view, axis, index))
    }

    /// A new axis of extent 1.
    pub(super) fn new_axis(&mut self) -> Axis {
        Axis { extent: self.build.constant(Scalar::U64, 1), stride: self.build.constant(Scalar::U64, 0) }
    }

    /// The diagonal: the elements whose index is the same on every axis.
    fn diagonal(&mut self, view: View) -> Val {
        let both = |lowering: &mut Self, a: Axis, b: Axis| Axis {
            extent: lowering.build.index_op(BinaryOp::Min, a.extent, b.extent),
            stride: lowering.build.index_op(BinaryOp::Add, a.stride, b.stride),
        };
        let axes = view.axes.iter().copied().reduce(|a, b| both(self, a, b));
        View { axes: axes.into_iter().collect(), ..view }.into_val()
    }

    /// Tests whether the elements are contiguous in row-major order.
    fn is_contiguous(&mut self, view: &View) -> Value {
        let (mut expected, zero) = (self.build.constant(Scalar::U64, 1), self.build.constant(Scalar::U64, 0));
        let one = expected;
        let (mut all, mut none) = (self.build.constant(Scalar::Bool, 1), self.build.constant(Scalar::Bool, 0));
        for Axis { extent, stride } in view.axes.iter().rev() {
            let empty = self.build.compare(CompareOp::Eq, *extent, zero);
            none = self.build.binary_value(BinaryOp::Or, none, empty, Scalar::Bool);
            let single = self.build.compare(CompareOp::Eq, *extent, one);
            let fits = self.build.compare(CompareOp::Eq, *stride, expected);
            let fits = self.build.binary_value(BinaryOp::Or, fits, single, Scalar::Bool);
            all = self.build.binary_value(BinaryOp::And, all, fits, Scalar::Bool);
            expected = self.build.index_op(BinaryOp::Mul, expected, *extent);
        }
        self.build.binary_value(BinaryOp::Or, all, none, Scalar::Bool)
    }

    fn as_slice(&mut self, view: &View) -> Val {
        let tag = self.is_contiguous(view);
        let len = self.build.element_count(&view.extents());
        let slice = Ty::Slice(Box::new(view.element.clone()), view.memory);
        Val { ty: Ty::option(slice), leaves: vec![tag, view.ptr, len] }
    }

    /// `Some(&element)` at the first index of each axis, or at the last where `last` gives the extent.
    fn corner_element(
        &mut self,
        at: Pos,
        view: &View,
        last: impl Fn(&mut Self, Value) -> Option<Value>,
    ) -> Result<Val> {
        let extents = view.extents();
        let (len, zero) = (self.build.element_count(&extents), self.build.constant(Scalar::U64, 0));
        let some = self.build.compare(CompareOp::Ne, len, zero);
        let one = self.build.constant(Scalar::U64, 1);
        let mut places = Vec::with_capacity(extents.len());
        for extent in extents {
            places.push(match last(self, extent) {
                Some(extent) => self.build.index_op(BinaryOp::Sub, extent, one),
                None => zero,
            });
        }
        self.optional_element(at, view, some, &places)
    }

    fn optional_element(&mut self, at: Pos, view: &View, some: Value, places: &[Value]) -> Result<Val> {
        let place = self.strided(at, view.clone().into_val(), places, false)?;
        let reference = self.reference(place, view.memory.writable());
        Ok(optional(some, reference))
    }

    fn get_element(&mut self, at: Pos, view: &View, index: &'static Expr) -> Result<Val> {
        let places = self.index_numbers(index)?;
        let mut some = self.build.constant(Scalar::Bool, 1);
        for (index, axis) in places.iter().zip(&view.axes) {
            let inside = self.build.compare(CompareOp::Lt, *index, axis.extent);
            some = self.build.value(Op::Binary(BinaryOp::And, some, inside), Scalar::Bool);
        }
        self.optional_element(at, view, some, &places)
    }

    fn element_of(&mut self, at: Pos, view: &View, index: &'static Expr) -> Result<Place> {
        let places = self.index_numbers(index)?;
        self.strided(at, view.clone().into_val(), &places, self.scopes.checks_bounds())
    }

    /// Pairs a view with another one, which is broadcast to its shape.
    fn zip_view(&mut self, at: Pos, view: View, other: &'static Expr) -> Result<Val> {
        let other = self.place(other)?;
        let other = self.deref_all(other);
        let other = self.build.read(&other);
        let Some(other) = View::of(&other) else { return Err(self.error(at, "this is no view")) };
        let other = self.broadcast(at, other, &view.axes);
        Ok(paired(view.into_val(), other.into_val()))
    }

    /// Broadcasts a view to other extents.
    fn broadcast(&mut self, at: Pos, mut view: View, axes: &[Axis]) -> View {
        if let Some(more @ 1..) = view.axes.len().checked_sub(axes.len()) {
            let text = format!("a view of {} dimensions cannot be broadcast to {}", view.axes.len(), axes.len());
            let never = self.build.constant(Scalar::Bool, 0);
            self.check_subslice(at, never, &text, &[]);
            view.axes.drain(..more);
        }
        let missing = axes.len() - view.axes.len();
        let (zero, one) = (self.build.constant(Scalar::U64, 0), self.build.constant(Scalar::U64, 1));
        for (number, (axis, wanted)) in (missing..).zip(view.axes.iter_mut().zip(&axes[missing..])) {
            let same = self.build.compare(CompareOp::Eq, axis.extent, wanted.extent);
            let single = self.build.compare(CompareOp::Eq, axis.extent, one);
            let fits = self.build.binary_value(BinaryOp::Or, same, single, Scalar::Bool);
            let message = format!("axis {number} has length {{1}}, to which length {{0}} cannot be broadcast");
            self.check_subslice(at, fits, &message, &[axis.extent, wanted.extent]);
            axis.stride = self.build.select(single, zero, axis.stride, Scalar::U64);
        }
        let repeated = axes[..missing].iter().map(|_| Axis { extent: one, stride: zero });
        view.axes.splice(0..0, repeated);
        for (axis, wanted) in view.axes.iter_mut().zip(axes) {
            axis.extent = wanted.extent;
        }
        view
    }

    /// Lowers `ArrayView::from(slice)` to this view type.
    pub(super) fn view_of_slice(&mut self, at: Pos, ty: &Ty, slice: &'static Expr) -> Result<Val> {
        let Ty::View(element, dims, memory) = ty else { return Err(self.error(at, "this is no view")) };
        let wanted = (*dims == 1).then(|| Ty::Slice(element.clone(), *memory));
        let slice = self.expr(slice, wanted.as_ref())?;
        let place = self.deref_all(Place::Fixed(slice));
        if matches!(place.ty(), Ty::View(..)) {
            return Ok(self.build.read(&place));
        }
        let (ptr, mut element, memory, len) = self.slice_of(&place)?;
        let mut extents = vec![len];
        while let (true, Ty::Array(inner, count)) = (extents.len() < *dims, &element) {
            extents.push(self.build.constant(Scalar::U64, *count));
            element = (**inner).clone();
        }
        let axes = self.contiguous(&extents);
        Ok(View { ptr, element, memory, axes }.into_val())
    }

    /// Lowers `ArrayView::from_shape(shape, slice)`.
    pub(super) fn view_of_shape(&mut self, at: Pos, ty: &Ty, args: &'static [Expr]) -> Result<Val> {
        let (Ty::View(element, _, memory), [shape, slice]) = (ty, args) else {
            return Err(self.error(at, "this is no view"));
        };
        let extents = self.index_numbers(shape)?;
        let slice = self.expr_as(slice, &Ty::Slice(element.clone(), *memory))?;
        let (ptr, element, memory, len) = self.slice_of(&Place::Fixed(slice))?;
        let mut holds = self.build.constant(Scalar::Bool, 1);
        let mut count = extents[0];
        for extent in &extents[1..] {
            let over = self.build.value(Op::Overflows(BinaryOp::Mul, count, *extent), Scalar::Bool);
            let fits = self.build.unary_value(crate::kir::UnaryOp::Not, over, Scalar::Bool);
            holds = self.build.binary_value(BinaryOp::And, holds, fits, Scalar::Bool);
            count = self.build.index_op(BinaryOp::Mul, count, *extent);
        }
        let fits = self.build.compare(CompareOp::Le, count, len);
        holds = self.build.binary_value(BinaryOp::And, holds, fits, Scalar::Bool);
        let axes = self.contiguous(&extents);
        let view = View { ptr, element, memory, axes }.into_val();
        Ok(self.build.result_of_one_error(holds, view, shape_error()))
    }

    /// Row-major axes of these extents over contiguous elements.
    fn contiguous(&mut self, extents: &[Value]) -> Vec<Axis> {
        let mut stride = self.build.constant(Scalar::U64, 1);
        let mut axes = Vec::with_capacity(extents.len());
        for (index, &extent) in extents.iter().enumerate().rev() {
            axes.push(Axis { extent, stride });
            if index > 0 {
                stride = self.build.index_op(BinaryOp::Mul, stride, extent);
            }
        }
        axes.reverse();
        axes
    }
}
