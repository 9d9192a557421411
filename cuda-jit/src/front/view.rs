//! ndarray views: their shape, what is cut out of them or turned, and how they are made of slices.
//!
//! A view is an address, an extent for each axis, and a stride for each in elements, which wraps where it is negative. All
//! that makes a view of another is arithmetic of these: nothing is copied. The stride of an axis of one place or none is
//! whatever that arithmetic gives; ndarray's may be another, and neither leads anywhere.

use super::function::{Lowering, Result};
use super::functions::optional;
use super::items::{Items, paired};
use super::place::Place;
use super::types::Val;
use crate::harvest::{Memory, Ty, ViewPart, ty_of};
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, Space, Type, Value};
use crate::syntax::{Expr, ExprKind, Pos, Section};

/// The most axes of a view that kernels have.
const MOST_AXES: usize = 6;

/// A view taken apart.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) ptr: Value,
    pub(super) element: Ty,
    pub(super) memory: Memory,
    pub(super) axes: Vec<Axis>,
}

/// One of a view's axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// How many places it has.
    pub(super) extent: Value,
    /// How many elements lie between neighbours.
    pub(super) stride: Value,
}

impl View {
    /// The view that a value is.
    pub(super) fn of(value: &Val) -> Option<View> {
        let Ty::View(element, dims, memory) = &value.ty else { return None };
        let axis = |index| Axis { extent: value.leaves[1 + index], stride: value.leaves[1 + dims + index] };
        let axes = (0..*dims).map(axis).collect();
        Some(View { ptr: value.leaves[0], element: (**element).clone(), memory: *memory, axes })
    }

    /// It as a value.
    pub(super) fn whole(self) -> Val {
        let View { ptr, element, memory, axes } = self;
        let (extents, strides) = (axes.iter().map(|axis| axis.extent), axes.iter().map(|axis| axis.stride));
        let leaves = std::iter::once(ptr).chain(extents).chain(strides).collect();
        Val { ty: Ty::View(Box::new(element), axes.len(), memory), leaves }
    }

    fn extents(&self) -> Vec<Value> {
        self.axes.iter().map(|axis| axis.extent).collect()
    }
}

/// What a view's method yields; where references point is the value's to say.
pub(super) fn result_type(
    name: &str,
    (element, dims, memory): (&Ty, usize, Memory),
    args: &'static [Expr],
) -> Option<Ty> {
    let of_dims = |dims| Ty::View(Box::new(element.clone()), dims, memory);
    let some = |ty| Ty::option(ty);
    let memory = Memory::unknown(name.ends_with("_mut"));
    Some(match name {
        "len" | "nrows" | "ncols" | "ndim" | "len_of" => Ty::INDEX,
        "dim" if dims == 1 => Ty::INDEX,
        "dim" => Ty::Tuple(vec![Ty::INDEX; dims]),
        "shape" => Ty::Slice(Box::new(Ty::INDEX), memory),
        "strides" => Ty::Slice(Box::new(Ty::Scalar(Scalar::I64)), memory),
        "stride_of" => Ty::Scalar(Scalar::I64),
        "is_empty" | "is_square" | "is_standard_layout" => Ty::Scalar(Scalar::Bool),
        "view" | "view_mut" | "reborrow" | "t" | "reversed_axes" | "permuted_axes" => of_dims(dims),
        "row" | "row_mut" | "column" | "column_mut" | "diag" | "diag_mut" => of_dims(1),
        "index_axis" | "index_axis_mut" | "index_axis_move" => of_dims(dims - 1),
        "insert_axis" => of_dims(dims + 1),
        "slice" | "slice_mut" | "slice_move" => of_dims(dims_of_slice(dims, args)),
        "split_at" => Ty::Tuple(vec![of_dims(dims); 2]),
        "as_slice" | "as_slice_mut" | "to_slice" | "into_slice" => some(Ty::Slice(Box::new(element.clone()), memory)),
        "first" | "first_mut" | "last" | "last_mut" | "get" | "get_mut" => {
            some(Ty::Ref(Box::new(element.clone()), memory))
        }
        "sum" | "product" | "var" | "std" | "dot" => element.clone(),
        "mean" => some(element.clone()),
        "fill" | "assign" | "swap" => Ty::Unit,
        _ => return None,
    })
}

/// What the device library's intrinsics yield of a view; where references point is the value's to say.
pub(super) fn type_of_part(part: ViewPart, view: &Ty) -> Option<Ty> {
    let Ty::View(element, dims, memory) = view else { return None };
    let reference = || Ty::Ref(element.clone(), *memory);
    Some(match part {
        ViewPart::Lanes | ViewPart::Elements => Ty::INDEX,
        ViewPart::Lane if *dims > 1 => Ty::View(element.clone(), dims - 1, *memory),
        ViewPart::Lane | ViewPart::NextElement => reference(),
        ViewPart::FirstAxis => view.clone(),
        ViewPart::FirstPlace => Ty::Array(Box::new(Ty::INDEX), *dims as u64),
    })
}

/// How many axes `s![..]` leaves.
fn dims_of_slice(dims: usize, args: &'static [Expr]) -> usize {
    let [Expr(_, ExprKind::Sections(sections))] = args else { return dims };
    let count = |wanted: fn(&&Section) -> bool| sections.iter().filter(wanted).count();
    let dropped = count(|section| matches!(section, Section::Index(_)));
    (dims + count(|section| matches!(section, Section::New))).saturating_sub(dropped)
}

impl Lowering<'_> {
    /// A method of an ndarray view.
    pub(super) fn view_method(&mut self, at: Pos, name: &str, value: &Val, args: &'static [Expr]) -> Result<Val> {
        let mut view = self.view(at, value)?;
        match (name, args) {
            ("view" | "view_mut" | "reborrow", []) => Ok(value.clone()),
            ("t" | "reversed_axes", []) => {
                view.axes.reverse();
                Ok(view.whole())
            }
            ("permuted_axes", [order]) => self.permuted(at, view, order),
            ("row" | "row_mut", [index]) => self.indexed(at, view, 0, index),
            ("column" | "column_mut", [index]) => self.indexed(at, view, 1, index),
            ("index_axis" | "index_axis_mut" | "index_axis_move", [axis, index]) => {
                let axis = self.axis_of(axis, &view)?;
                self.indexed(at, view, axis, index)
            }
            ("insert_axis", [axis]) => {
                let axis = self.axis(axis)?;
                self.insert_axis(at, view, axis)
            }
            ("slice" | "slice_mut" | "slice_move", [sections]) => self.sliced(at, view, sections),
            ("split_at", [axis, index]) => self.split_view(at, view, axis, index),
            ("diag" | "diag_mut", []) => Ok(self.diagonal(view)),
            ("as_slice" | "as_slice_mut" | "to_slice" | "into_slice", []) => Ok(self.as_slice(&view)),
            ("first" | "first_mut", []) => self.maybe_element(at, &view, |_, _| None),
            ("last" | "last_mut", []) => self.maybe_element(at, &view, |_, extent| Some(extent)),
            ("get" | "get_mut", [index]) => self.get_element(at, &view, index),
            ("swap", [a, b]) => {
                let places = [self.element_of(at, &view, a)?, self.element_of(at, &view, b)?];
                self.exchanged(at, &places)?;
                Ok(Val::unit())
            }
            ("fill", [filler]) => {
                let filler = self.expr_as(filler, &view.element)?;
                self.fill_view(at, value, filler)
            }
            ("assign", [from]) => self.assign_view(at, view, from),
            ("fold" | "for_each" | "map_inplace" | "mapv_inplace" | "zip_mut_with", args) => {
                self.visit(at, name, view, args)
            }
            ("sum" | "product" | "mean" | "var" | "std" | "dot", args) => self.statistic(at, name, &view, args),
            _ => self.shape_method(at, name, &view, args),
        }
    }

    /// What the device library asks of a view.
    pub(super) fn view_part(&mut self, at: Pos, part: ViewPart, of: &Ty, args: &'static [Expr]) -> Result<Val> {
        if let (ViewPart::FirstPlace, Some(ty)) = (part, type_of_part(part, of)) {
            let dims = ty.arrays().len();
            return Ok(self.constant_value(&ty, &mut std::iter::repeat_n(0, dims.max(6))));
        }
        let place = self.place(&args[0])?;
        let place = self.through(place);
        let value = self.read(&place);
        let mut view = self.view(at, &value)?;
        match part {
            ViewPart::Lanes => Ok(Val::scalar(Scalar::U64, view.axes[0].extent)),
            ViewPart::Elements => {
                let extents = view.extents();
                Ok(Val::scalar(Scalar::U64, self.elements_in(&extents)))
            }
            ViewPart::Lane => {
                let index = self.scalar(&args[1], Scalar::U64)?;
                if view.axes.len() > 1 {
                    return self.lane(at, &value, 0, index);
                }
                let element = self.strided(at, value, &[index], false)?;
                Ok(self.reference(element, false))
            }
            ViewPart::NextElement => {
                let place = self.place(&args[1])?;
                let place = self.through(place);
                self.next_element(at, &view, place)
            }
            ViewPart::FirstPlace => Ok(Val::unit()),
            ViewPart::FirstAxis => {
                let axis = self.axis_of(&args[1], &view)?;
                let first = view.axes.remove(axis);
                view.axes.insert(0, first);
                Ok(view.whole())
            }
        }
    }

    /// The element of a view at a place, an array of an index for each axis, which becomes the next.
    fn next_element(&mut self, at: Pos, view: &View, place: Place) -> Result<Val> {
        let Place::Memory(array, Ty::Array(..), memory) = place else {
            return Err(self.error(at, "the place of an element is no array; please report this"));
        };
        let axis_at = |walk: &mut Self, axis: usize| walk.element_at(array, &Ty::INDEX, memory.space(), axis as u64);
        let at_axes: Vec<Value> = (0..view.axes.len()).map(|axis| axis_at(self, axis)).collect();
        let indices: Vec<Value> = at_axes.iter().map(|at| self.load(*at, memory.space(), &Ty::INDEX).only()).collect();
        let element = self.strided(at, view.clone().whole(), &indices, false)?;
        let element = self.reference(element, false);
        let next = self.place_behind(&indices, &view.extents());
        for (at, next) in at_axes.into_iter().zip(next) {
            self.build.effect(Op::Store(at, next));
        }
        Ok(element)
    }

    /// The place behind another in the order of the elements.
    pub(super) fn place_behind(&mut self, place: &[Value], extents: &[Value]) -> Vec<Value> {
        let mut carry = self.constant(Scalar::U64, 1);
        let zero = self.constant(Scalar::U64, 0);
        let mut behind = place.to_vec();
        for axis in (0..place.len()).rev() {
            let next = self.index_op(BinaryOp::Add, place[axis], carry);
            let wraps = self.compare(CompareOp::Eq, next, extents[axis]);
            behind[axis] = self.select(wraps, zero, next, Scalar::U64);
            carry = self.cast_value(wraps, Scalar::Bool, Scalar::U64);
        }
        behind
    }

    /// What tells a view's shape.
    fn shape_method(&mut self, at: Pos, name: &str, view: &View, args: &'static [Expr]) -> Result<Val> {
        let extents = view.extents();
        let dims = extents.len();
        let length = |value: Value| Ok(Val::scalar(Scalar::U64, value));
        match (name, &extents[..], args) {
            ("ndim", _, []) => length(self.constant(Scalar::U64, dims as u64)),
            ("nrows", [rows, _], []) => length(*rows),
            ("ncols", [_, columns], []) => length(*columns),
            ("dim", [only], []) => length(*only),
            ("dim", _, []) => Ok(Val { ty: Ty::Tuple(vec![Ty::INDEX; dims]), leaves: extents }),
            ("shape", _, []) => Ok(self.listed("shape", Scalar::U64, &extents)),
            ("strides", _, []) => {
                let strides: Vec<_> = view.axes.iter().map(|axis| self.signed(axis.stride)).collect();
                Ok(self.listed("strides", Scalar::I64, &strides))
            }
            ("len_of", _, [axis]) => length(extents[self.axis_of(axis, view)?]),
            ("stride_of", _, [axis]) => {
                let axis = self.axis_of(axis, view)?;
                Ok(Val::scalar(Scalar::I64, self.signed(view.axes[axis].stride)))
            }
            ("len", _, []) => length(self.elements_in(&extents)),
            ("is_empty", _, []) => {
                let (len, zero) = (self.elements_in(&extents), self.constant(Scalar::U64, 0));
                Ok(Val::scalar(Scalar::Bool, self.compare(CompareOp::Eq, len, zero)))
            }
            ("is_square", [rows, columns], []) => {
                Ok(Val::scalar(Scalar::Bool, self.compare(CompareOp::Eq, *rows, *columns)))
            }
            ("is_standard_layout", _, []) => Ok(Val::scalar(Scalar::Bool, self.is_contiguous(view))),
            _ => Err(self.error(at, format!("kernels have no method `{name}` on views of {dims} dimensions"))),
        }
    }

    /// The view that a value must be.
    fn view(&self, at: Pos, value: &Val) -> Result<View> {
        View::of(value).ok_or_else(|| self.error(at, "this is no view"))
    }

    /// A view as a value, if kernels have one of so many axes.
    pub(super) fn made(&self, at: Pos, view: View) -> Result<Val> {
        match view.axes.len() {
            0 => Err(self.error(at, "kernels have no views of no dimension; index the element instead")),
            dims if dims > MOST_AXES => {
                Err(self.error(at, format!("kernels have views of up to {MOST_AXES} dimensions, not {dims}")))
            }
            _ => Ok(view.whole()),
        }
    }

    /// Which of a view's axes an argument names.
    fn axis_of(&mut self, axis: &'static Expr, view: &View) -> Result<usize> {
        let number = self.axis(axis)?;
        if number >= view.axes.len() {
            let text = format!("a view of {} dimensions has no axis {number}; the first is 0", view.axes.len());
            return Err(self.error(axis.0, text));
        }
        Ok(number)
    }

    /// Numbers as a slice in the thread's memory.
    fn listed(&mut self, name: &str, scalar: Scalar, values: &[Value]) -> Val {
        let ty = Ty::Array(Box::new(Ty::Scalar(scalar)), values.len() as u64);
        let list = self.new_array(name, &ty).only();
        for (index, value) in (0..).zip(values) {
            let place = self.element_at(list, &Ty::Scalar(scalar), Space::Local, index);
            self.build.effect(Op::Store(place, *value));
        }
        let len = self.constant(Scalar::U64, values.len() as u64);
        let ty = Ty::Slice(Box::new(Ty::Scalar(scalar)), Memory::Write(Space::Local));
        Val { ty, leaves: vec![list, len] }
    }

    /// A stride as an `isize`.
    fn signed(&mut self, stride: Value) -> Value {
        self.cast_value(stride, Scalar::U64, Scalar::I64)
    }

    /// Moves a view's first element by so many elements.
    pub(super) fn move_view(&mut self, view: &mut View, by: Value) {
        let by = self.scaled_by(by, view.element.count());
        view.ptr = self.build.value(Op::Offset(view.ptr, by), Type::Ptr(view.memory.space(), view.element.pointee()));
    }

    /// A view's part at a place of an axis, which is there.
    pub(super) fn lane(&mut self, at: Pos, value: &Val, axis: usize, index: Value) -> Result<Val> {
        let mut view = self.view(at, value)?;
        let axis = view.axes.remove(axis);
        let offset = self.index_op(BinaryOp::Mul, index, axis.stride);
        self.move_view(&mut view, offset);
        self.made(at, view)
    }

    /// The same, checked.
    fn indexed(&mut self, at: Pos, view: View, axis: usize, index: &'static Expr) -> Result<Val> {
        let index = self.scalar(index, Scalar::U64)?;
        self.check_place(at, axis, index, view.axes[axis].extent);
        self.lane(at, &view.whole(), axis, index)
    }

    /// Panics where an axis has no such place.
    pub(super) fn check_place(&mut self, at: Pos, axis: usize, index: Value, extent: Value) {
        let inside = self.compare(CompareOp::Lt, index, extent);
        let message = format!("index {{0}} is out of bounds of axis {axis}, which has length {{1}}");
        self.check_cut(at, inside, &message, &[index, extent]);
    }

    /// A further axis of one place.
    pub(super) fn new_axis(&mut self) -> Axis {
        Axis { extent: self.constant(Scalar::U64, 1), stride: self.constant(Scalar::U64, 0) }
    }

    fn insert_axis(&mut self, at: Pos, mut view: View, axis: usize) -> Result<Val> {
        if axis > view.axes.len() {
            let text = format!("a view of {} dimensions has no place for an axis {axis}", view.axes.len());
            return Err(self.error(at, text));
        }
        let new = self.new_axis();
        view.axes.insert(axis, new);
        self.made(at, view)
    }

    /// `permuted_axes([1, 0])`: the numbers are known when the kernel is compiled.
    fn permuted(&mut self, at: Pos, view: View, order: &'static Expr) -> Result<Val> {
        let (ExprKind::Array(order) | ExprKind::Tuple(order)) = &order.1 else {
            return Err(self.error(at, "write the order of the axes here, as `[1, 0]`"));
        };
        let mut axes = Vec::with_capacity(order.len());
        for axis in *order {
            axes.push(self.axis_of(axis, &view)?);
        }
        let each_once = (0..view.axes.len()).all(|axis| axes.contains(&axis)) && axes.len() == view.axes.len();
        if !each_once {
            return Err(self.error(at, "the order names each axis once"));
        }
        let axes = axes.into_iter().map(|axis| view.axes[axis]).collect();
        Ok(View { axes, ..view }.whole())
    }

    /// `split_at(Axis(k), index)`
    fn split_view(&mut self, at: Pos, view: View, axis: &'static Expr, index: &'static Expr) -> Result<Val> {
        let axis = self.axis_of(axis, &view)?;
        let index = self.scalar(index, Scalar::U64)?;
        let Axis { extent, stride } = view.axes[axis];
        let inside = self.compare(CompareOp::Le, index, extent);
        let message = format!("split at {{0}} is out of bounds of axis {axis}, which has length {{1}}");
        self.check_cut(at, inside, &message, &[index, extent]);
        let (mut left, mut right) = (view.clone(), view);
        left.axes[axis].extent = index;
        right.axes[axis].extent = self.index_op(BinaryOp::Sub, extent, index);
        let offset = self.index_op(BinaryOp::Mul, index, stride);
        self.move_view(&mut right, offset);
        Ok(paired(left.whole(), right.whole()))
    }

    /// The elements whose places are the same number in every axis.
    fn diagonal(&mut self, view: View) -> Val {
        let both = |walk: &mut Self, a: Axis, b: Axis| Axis {
            extent: walk.index_op(BinaryOp::Min, a.extent, b.extent),
            stride: walk.index_op(BinaryOp::Add, a.stride, b.stride),
        };
        let axes = view.axes.iter().copied().reduce(|a, b| both(self, a, b));
        View { axes: axes.into_iter().collect(), ..view }.whole()
    }

    /// Whether the elements lie one behind the other, the last axis' neighbours next to each other.
    fn is_contiguous(&mut self, view: &View) -> Value {
        let (mut expected, zero) = (self.constant(Scalar::U64, 1), self.constant(Scalar::U64, 0));
        let one = expected;
        let (mut all, mut none) = (self.constant(Scalar::Bool, 1), self.constant(Scalar::Bool, 0));
        for Axis { extent, stride } in view.axes.iter().rev() {
            let empty = self.compare(CompareOp::Eq, *extent, zero);
            none = self.binary_value(BinaryOp::Or, none, empty, Scalar::Bool);
            let single = self.compare(CompareOp::Eq, *extent, one);
            let fits = self.compare(CompareOp::Eq, *stride, expected);
            let fits = self.binary_value(BinaryOp::Or, fits, single, Scalar::Bool);
            all = self.binary_value(BinaryOp::And, all, fits, Scalar::Bool);
            expected = self.index_op(BinaryOp::Mul, expected, *extent);
        }
        self.binary_value(BinaryOp::Or, all, none, Scalar::Bool)
    }

    fn as_slice(&mut self, view: &View) -> Val {
        let tag = self.is_contiguous(view);
        let len = self.elements_in(&view.extents());
        let slice = Ty::Slice(Box::new(view.element.clone()), view.memory);
        Val { ty: Ty::option(slice), leaves: vec![tag, view.ptr, len] }
    }

    /// `Some(&element)` at the first or, if so, the last place of each axis.
    fn maybe_element(&mut self, at: Pos, view: &View, last: impl Fn(&mut Self, Value) -> Option<Value>) -> Result<Val> {
        let extents = view.extents();
        let (len, zero) = (self.elements_in(&extents), self.constant(Scalar::U64, 0));
        let some = self.compare(CompareOp::Ne, len, zero);
        let one = self.constant(Scalar::U64, 1);
        let mut places = Vec::with_capacity(extents.len());
        for extent in extents {
            places.push(match last(self, extent) {
                Some(extent) => self.index_op(BinaryOp::Sub, extent, one),
                None => zero,
            });
        }
        self.optional_element(at, view, some, &places)
    }

    fn optional_element(&mut self, at: Pos, view: &View, some: Value, places: &[Value]) -> Result<Val> {
        let place = self.strided(at, view.clone().whole(), places, false)?;
        let reference = self.reference(place, view.memory.writable());
        Ok(optional(some, reference))
    }

    /// The number for each axis in `i`, `[i, j]` or `(i, j)`.
    fn places(&mut self, index: &'static Expr) -> Result<Vec<Value>> {
        let indices: &'static [Expr] = match &index.1 {
            ExprKind::Array(indices) | ExprKind::Tuple(indices) => indices,
            _ => std::slice::from_ref(index),
        };
        indices.iter().map(|index| self.scalar(index, Scalar::U64)).collect()
    }

    fn get_element(&mut self, at: Pos, view: &View, index: &'static Expr) -> Result<Val> {
        let places = self.places(index)?;
        let mut some = self.constant(Scalar::Bool, 1);
        for (index, axis) in places.iter().zip(&view.axes) {
            let inside = self.compare(CompareOp::Lt, *index, axis.extent);
            some = self.build.value(Op::Binary(BinaryOp::And, some, inside), Scalar::Bool);
        }
        self.optional_element(at, view, some, &places)
    }

    fn element_of(&mut self, at: Pos, view: &View, index: &'static Expr) -> Result<Place> {
        let places = self.places(index)?;
        self.strided(at, view.clone().whole(), &places, self.checks_bounds())
    }

    fn fill_view(&mut self, at: Pos, value: &Val, filler: Val) -> Result<Val> {
        let items = self.elements_of(at, Place::Fixed(value.clone()), false)?;
        self.each_item(at, items, |walk, item, _, _| {
            let place = walk.behind(item);
            walk.write(at, &place, filler)
        })?;
        Ok(Val::unit())
    }

    /// `assign(&from)`, where axes that `from` has not, or of one place, repeat.
    fn assign_view(&mut self, at: Pos, view: View, from: &'static Expr) -> Result<Val> {
        let from = self.broadcast_to(at, from, &view.axes)?;
        let to = self.elements_of(at, Place::Fixed(view.whole()), false)?;
        self.each_item(at, to.zip(from), |walk, item, _, _| {
            let (place, from) = (walk.behind(item.part(0)), walk.behind(item.part(1)));
            let value = walk.read(&from);
            walk.write(at, &place, value)
        })?;
        Ok(Val::unit())
    }

    /// The elements of a view that an argument is, as one of other extents.
    pub(super) fn broadcast_to(&mut self, at: Pos, from: &'static Expr, axes: &[Axis]) -> Result<Items> {
        let from = self.place(from)?;
        let from = self.through(from);
        let from = self.read(&from);
        let from = self.view(at, &from)?;
        let from = self.broadcast(at, from, axes)?;
        self.elements_of(at, Place::Fixed(from.whole()), false)
    }

    /// A view as one of other extents.
    fn broadcast(&mut self, at: Pos, mut view: View, axes: &[Axis]) -> Result<View> {
        let Some(missing) = axes.len().checked_sub(view.axes.len()) else {
            let text = format!("a view of {} dimensions cannot be assigned to one of {}", view.axes.len(), axes.len());
            return Err(self.error(at, text));
        };
        let (zero, one) = (self.constant(Scalar::U64, 0), self.constant(Scalar::U64, 1));
        for (number, (axis, wanted)) in (missing..).zip(view.axes.iter_mut().zip(&axes[missing..])) {
            let same = self.compare(CompareOp::Eq, axis.extent, wanted.extent);
            let single = self.compare(CompareOp::Eq, axis.extent, one);
            let fits = self.binary_value(BinaryOp::Or, same, single, Scalar::Bool);
            let message = format!("axis {number} has length {{1}}, to which length {{0}} cannot be broadcast");
            self.check_cut(at, fits, &message, &[axis.extent, wanted.extent]);
            axis.stride = self.select(single, zero, axis.stride, Scalar::U64);
        }
        let repeated = axes[..missing].iter().map(|_| Axis { extent: one, stride: zero });
        view.axes.splice(0..0, repeated);
        for (axis, wanted) in view.axes.iter_mut().zip(axes) {
            axis.extent = wanted.extent;
        }
        Ok(view)
    }

    /// `ArrayView::from(slice)`, of a view of such a type.
    pub(super) fn view_of_slice(&mut self, at: Pos, ty: &Ty, slice: &'static Expr) -> Result<Val> {
        let Ty::View(_, dims, _) = ty else { return Err(self.error(at, "this is no view")) };
        let slice = self.expr(slice, None)?;
        let place = self.through(Place::Fixed(slice));
        if matches!(place.ty(), Ty::View(..)) {
            return Ok(self.read(&place));
        }
        let (ptr, mut element, memory, len) = self.slice_of(&place)?;
        let mut extents = vec![len];
        while let (true, Ty::Array(inner, count)) = (extents.len() < *dims, &element) {
            extents.push(self.constant(Scalar::U64, *count));
            element = (**inner).clone();
        }
        let axes = self.contiguous(&extents);
        self.made(at, View { ptr, element, memory, axes })
    }

    /// `ArrayView::from_shape(shape, slice)`
    pub(super) fn view_of_shape(&mut self, at: Pos, ty: &Ty, args: &'static [Expr]) -> Result<Val> {
        let (Ty::View(element, dims, memory), [shape, slice]) = (ty, args) else {
            return Err(self.error(at, "this is no view"));
        };
        let extents = self.extents_of(shape, *dims)?;
        let slice = self.expr_as(slice, &Ty::Slice(element.clone(), *memory))?;
        let (ptr, element, memory, len) = self.slice_of(&Place::Fixed(slice))?;
        let mut holds = self.constant(Scalar::Bool, 1);
        let mut count = extents[0];
        for extent in &extents[1..] {
            let over = self.build.value(Op::Overflows(BinaryOp::Mul, count, *extent), Scalar::Bool);
            let fits = self.unary_value(crate::kir::UnaryOp::Not, over, Scalar::Bool);
            holds = self.binary_value(BinaryOp::And, holds, fits, Scalar::Bool);
            count = self.index_op(BinaryOp::Mul, count, *extent);
        }
        let fits = self.compare(CompareOp::Le, count, len);
        holds = self.binary_value(BinaryOp::And, holds, fits, Scalar::Bool);
        let axes = self.contiguous(&extents);
        let view = self.made(at, View { ptr, element, memory, axes })?;
        Ok(self.result_of_one_error(holds, view, ty_of::<ndarray::ShapeError>()))
    }

    /// Axes of such extents over elements that lie one behind the other.
    fn contiguous(&mut self, extents: &[Value]) -> Vec<Axis> {
        let mut stride = self.constant(Scalar::U64, 1);
        let mut axes = Vec::with_capacity(extents.len());
        for (index, &extent) in extents.iter().enumerate().rev() {
            axes.push(Axis { extent, stride });
            if index > 0 {
                stride = self.index_op(BinaryOp::Mul, stride, extent);
            }
        }
        axes.reverse();
        axes
    }

    /// The extents that a shape says: a number, a tuple or an array of such.
    fn extents_of(&mut self, shape: &'static Expr, dims: usize) -> Result<Vec<Value>> {
        if let ExprKind::Array(_) | ExprKind::Tuple(_) = &shape.1 {
            return self.places(shape);
        }
        let wanted = if dims == 1 { Ty::INDEX } else { Ty::Tuple(vec![Ty::INDEX; dims]) };
        let shape = self.expr(shape, Some(&wanted))?;
        let Ty::Array(..) = shape.ty else { return Ok(shape.leaves) };
        let extent = |index| {
            let place = self.element_at(shape.only(), &Ty::INDEX, Space::Local, index);
            self.build.value(Op::Load(place), Scalar::U64)
        };
        Ok((0..dims as u64).map(extent).collect())
    }
}
