//! Methods of slices, arrays, ndarray views and `Option`, and slices of slices.

use super::function::{Lowering, Result};
use super::items::{Counted, Items};
use super::iterator::Plan;
use super::layout::shown;
use super::place::Place;
use super::types::{Val, behind};
use crate::harvest::{Memory, Ty};
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, Type, Value};
use crate::syntax::{Expr, ExprKind, Lit, Pos};

/// What such a method yields; where references point is the value's to say.
pub(super) fn result_type(name: &str, receiver: &Ty, args: &'static [Expr]) -> Option<Ty> {
    let reference = |to: &Ty| Ty::Ref(Box::new(to.clone()), Memory::unknown(name.ends_with("_mut")));
    let slice = |to: &Ty| Ty::Slice(Box::new(to.clone()), Memory::unknown(name.ends_with("_mut")));
    let flag = Ty::Scalar(Scalar::Bool);
    match (name, receiver) {
        (name, Ty::View(element, dims, memory)) => super::view::result_type(name, (element, *dims, *memory), args),
        ("len", Ty::Slice(..) | Ty::Array(..)) => Some(Ty::INDEX),
        ("is_empty", Ty::Slice(..) | Ty::Array(..)) | ("is_some" | "is_none" | "is_ok" | "is_err", Ty::Option(_)) => {
            Some(flag)
        }
        ("first" | "first_mut" | "last" | "last_mut" | "get" | "get_mut", _) => match receiver {
            Ty::Slice(element, _) | Ty::Array(element, _) => Some(Ty::Option(Box::new(reference(element)))),
            _ => None,
        },
        ("split_at" | "split_at_mut", Ty::Slice(element, _) | Ty::Array(element, _)) => {
            Some(Ty::Tuple(vec![slice(element); 2]))
        }
        ("swap" | "fill" | "copy_from_slice" | "reverse", Ty::Slice(..) | Ty::Array(..)) => Some(Ty::Unit),
        ("contains", Ty::Slice(..) | Ty::Array(..)) => Some(flag),
        ("unwrap" | "expect" | "unwrap_or" | "unwrap_or_default", Ty::Option(inner)) => Some((**inner).clone()),
        ("ok", Ty::Option(_)) => Some(receiver.clone()),
        ("copied" | "cloned", Ty::Option(inner)) => Some(Ty::Option(Box::new(behind((**inner).clone())))),
        _ => None,
    }
}

/// The elements of an array or slice.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    pub(super) ptr: Value,
    pub(super) element: Ty,
    pub(super) memory: Memory,
    pub(super) len: Value,
}

impl Lowering<'_> {
    /// `&base[start..end]`
    pub(super) fn cut(
        &mut self,
        base: &'static Expr,
        start: Option<&'static Expr>,
        end: Option<&'static Expr>,
        inclusive: bool,
    ) -> Result<Val> {
        let at = base.0;
        let place = self.place(base)?;
        let (ptr, element, memory, len) = self.slice_of(&place)?;
        let start = match start {
            Some(start) => self.scalar(start, Scalar::U64)?,
            None => self.constant(Scalar::U64, 0),
        };
        let mut end = match end {
            Some(end) => self.scalar(end, Scalar::U64)?,
            None => len,
        };
        if inclusive {
            let inside = self.compare(CompareOp::Lt, end, len);
            self.check_cut(at, inside, "range end index {0} out of range for slice of length {1}", &[end, len]);
            let one = self.constant(Scalar::U64, 1);
            end = self.index_op(BinaryOp::Add, end, one);
        }
        let ordered = self.compare(CompareOp::Le, start, end);
        self.check_cut(at, ordered, "slice index starts at {0} but ends at {1}", &[start, end]);
        let inside = self.compare(CompareOp::Le, end, len);
        self.check_cut(at, inside, "range end index {0} out of range for slice of length {1}", &[end, len]);
        let count = self.index_op(BinaryOp::Sub, end, start);
        Ok(self.slice_at(ptr, &element, memory, start, count))
    }

    /// The slice of so many elements that begins at `start`.
    pub(super) fn slice_at(&mut self, ptr: Value, element: &Ty, memory: Memory, start: Value, len: Value) -> Val {
        let offset = self.scaled_by(start, element.count());
        let ptr = self.build.value(Op::Offset(ptr, offset), Type::Ptr(memory.space(), element.pointee()));
        Val { ty: Ty::Slice(Box::new(element.clone()), memory), leaves: vec![ptr, len] }
    }

    pub(super) fn check_cut(&mut self, at: Pos, holds: Value, message: &str, args: &[Value]) {
        if self.checks_bounds() {
            self.check(at, holds, message, args);
        }
    }

    pub(super) fn index_op(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.build.value(Op::Binary(op, a, b), Scalar::U64)
    }

    /// A method of a slice or array.
    pub(super) fn slice_method(&mut self, at: Pos, name: &str, of: &Place, args: &'static [Expr]) -> Result<Val> {
        let (ptr, element, memory, len) = self.slice_of(of)?;
        let zero = self.constant(Scalar::U64, 0);
        match (name, args) {
            ("len", []) => Ok(Val::scalar(Scalar::U64, len)),
            ("is_empty", []) => Ok(Val::scalar(Scalar::Bool, self.compare(CompareOp::Eq, len, zero))),
            ("first" | "first_mut", []) => {
                let some = self.compare(CompareOp::Ne, len, zero);
                self.maybe(at, some, (ptr, &element, memory), zero)
            }
            ("last" | "last_mut", []) => {
                let some = self.compare(CompareOp::Ne, len, zero);
                let one = self.constant(Scalar::U64, 1);
                let last = self.index_op(BinaryOp::Sub, len, one);
                self.maybe(at, some, (ptr, &element, memory), last)
            }
            ("get" | "get_mut", [index]) => {
                let index = self.scalar(index, Scalar::U64)?;
                let some = self.compare(CompareOp::Lt, index, len);
                self.maybe(at, some, (ptr, &element, memory), index)
            }
            ("swap", [a, b]) => {
                let places = [
                    self.checked(at, a, ptr, &element, memory, len)?,
                    self.checked(at, b, ptr, &element, memory, len)?,
                ];
                self.exchanged(at, &places)?;
                Ok(Val::unit())
            }
            ("contains", [value]) => {
                let wanted = Ty::Ref(Box::new(element.clone()), Memory::unknown(false));
                let value = Place::Fixed(self.expr(value, Some(&wanted))?);
                let items = Items::Elements { ptr, element, memory, stride: None, by_value: false };
                let iter = self.begin(at, Plan::Items(Counted { items, count: len }), true)?;
                self.decided(at, &iter, true, |walk, item| {
                    walk.compared(at, CompareOp::Eq, &Place::Fixed(item), &value)
                })
            }
            ("reverse", []) => {
                let two = self.constant(Scalar::U64, 2);
                let half = self.index_op(BinaryOp::Div, len, two);
                self.for_each(half, |walk, index| {
                    let one = walk.constant(Scalar::U64, 1);
                    let last = walk.index_op(BinaryOp::Sub, len, one);
                    let other = walk.index_op(BinaryOp::Sub, last, index);
                    let places = [index, other].map(|index| {
                        let offset = walk.scaled_by(index, element.count());
                        walk.moved(ptr, offset, element.clone(), memory)
                    });
                    walk.exchanged(at, &places)
                })
            }
            ("fill", [value]) => {
                let value = self.expr_as(value, &element)?;
                self.for_each(len, |walk, index| {
                    let offset = walk.scaled_by(index, element.count());
                    let place = walk.moved(ptr, offset, element.clone(), memory);
                    walk.write(at, &place, value)
                })
            }
            ("copy_from_slice", [from]) => {
                let from = self.place(from)?;
                let (source, _, source_memory, source_len) = self.slice_of(&from)?;
                let same = self.compare(CompareOp::Eq, len, source_len);
                let message =
                    "copy_from_slice: source slice length ({0}) does not match destination slice length ({1})";
                self.check(at, same, message, &[source_len, len]);
                self.for_each(len, |walk, index| {
                    let offset = walk.scaled_by(index, element.count());
                    let place = walk.moved(source, offset, element.clone(), source_memory);
                    let value = walk.read(&place);
                    let place = walk.moved(ptr, offset, element.clone(), memory);
                    walk.write(at, &place, value)
                })
            }
            ("split_at" | "split_at_mut", [mid]) => {
                let mid = self.scalar(mid, Scalar::U64)?;
                let inside = self.compare(CompareOp::Le, mid, len);
                self.check(at, inside, "mid > len: {0} > {1}", &[mid, len]);
                let rest = self.index_op(BinaryOp::Sub, len, mid);
                let left = self.slice_at(ptr, &element, memory, zero, mid);
                let right = self.slice_at(ptr, &element, memory, mid, rest);
                let leaves = left.leaves.into_iter().chain(right.leaves).collect();
                Ok(Val { ty: Ty::Tuple(vec![left.ty, right.ty]), leaves })
            }
            _ => {
                Err(self.error(at, format!("kernels have no method `{name}` on slices with {} arguments", args.len())))
            }
        }
    }

    /// A loop over each index below `len`, which may be zero.
    fn for_each(&mut self, len: Value, body: impl FnOnce(&mut Self, Value) -> Result<()>) -> Result<Val> {
        let zero = self.constant(Scalar::U64, 0);
        let any = self.compare(CompareOp::Ne, len, zero);
        let (enter, exit) = self.fork(any);
        self.build.select_block(enter);
        self.each_below(len, body)?;
        self.jump_into(exit);
        Ok(Val::unit())
    }

    /// Swaps what two places hold.
    pub(super) fn exchanged(&mut self, at: Pos, places: &[Place; 2]) -> Result<()> {
        let [first, second] = [self.read_copy(&places[0]), self.read_copy(&places[1])];
        self.write(at, &places[0], second)?;
        self.write(at, &places[1], first)
    }

    /// A place's value, apart from the place.
    fn read_copy(&mut self, place: &Place) -> Val {
        let value = self.read(place);
        self.own(value)
    }

    /// The element at an index, which is checked.
    fn checked(
        &mut self,
        at: Pos,
        index: &'static Expr,
        ptr: Value,
        element: &Ty,
        memory: Memory,
        len: Value,
    ) -> Result<Place> {
        let index = self.scalar(index, Scalar::U64)?;
        let inside = self.compare(CompareOp::Lt, index, len);
        self.check_cut(at, inside, "index out of bounds: the len is {1} but the index is {0}", &[index, len]);
        let offset = self.scaled_by(index, element.count());
        Ok(self.moved(ptr, offset, element.clone(), memory))
    }

    /// `Some(&element)` if it is there.
    fn maybe(
        &mut self,
        at: Pos,
        some: Value,
        (ptr, element, memory): (Value, &Ty, Memory),
        index: Value,
    ) -> Result<Val> {
        let offset = self.scaled_by(index, element.count());
        let place = self.moved(ptr, offset, element.clone(), memory);
        let reference = self.reference(at, place, memory.writable())?;
        let mut leaves = vec![some];
        leaves.extend(reference.leaves);
        Ok(Val { ty: Ty::Option(Box::new(reference.ty)), leaves })
    }

    /// A method of an `Option`, or of a `Result`; `nothing` is what `unwrap` says where it holds none.
    pub(super) fn option_method(
        &mut self,
        at: Pos,
        name: &str,
        of: &Place,
        nothing: &str,
        args: &'static [Expr],
    ) -> Result<Val> {
        let tag = self.tag(of);
        let Ty::Option(inner) = of.ty().clone() else { return Err(self.error(at, "this is no `Option`")) };
        match (name, args) {
            ("ok", []) => Ok(self.read(of)),
            ("is_some" | "is_ok", []) => Ok(Val::scalar(Scalar::Bool, tag)),
            ("is_none" | "is_err", []) => {
                let none = self.build.value(Op::Unary(crate::kir::UnaryOp::Not, tag), Scalar::Bool);
                Ok(Val::scalar(Scalar::Bool, none))
            }
            ("unwrap", []) => {
                self.check(at, tag, nothing, &[]);
                let held = self.part(of, 0);
                Ok(self.read(&held))
            }
            ("expect", [Expr(_, ExprKind::Lit(Lit::Text(message)))]) => {
                self.check(at, tag, message, &[]);
                let held = self.part(of, 0);
                Ok(self.read(&held))
            }
            ("unwrap_or", [other]) => {
                let other = self.expr_as(other, &inner)?;
                let held = self.part(of, 0);
                let held = self.read(&held);
                self.either(at, tag, held, other)
            }
            ("unwrap_or_default", []) if inner.is_plain() => {
                let zero = self.constant_value(&inner, &mut std::iter::repeat(0));
                let held = self.part(of, 0);
                let held = self.read(&held);
                self.either(at, tag, held, zero)
            }
            ("copied" | "cloned", []) => {
                let (enter, other) = self.fork(tag);
                let exit = self.build.block();
                let merge = self.merge("copied", Ty::Option(Box::new(behind(*inner.clone()))));
                self.build.select_block(enter);
                let held = self.part(of, 0);
                let held = self.through(held);
                let value = self.read(&held);
                let some = self.some(value);
                self.arrive(at, some, merge, exit)?;
                self.build.select_block(other);
                let none = self.none(&behind(*inner));
                self.arrive(at, none, merge, exit)?;
                self.build.select_block(exit);
                Ok(self.arrived(merge))
            }
            _ => Err(self.error(at, format!("kernels have no method `{name}` on `{}`", shown(of.ty())))),
        }
    }

    /// One of two values.
    fn either(&mut self, at: Pos, first: Value, a: Val, b: Val) -> Result<Val> {
        let b = self.agree(at, b, &a.ty)?;
        let types = a.ty.leaves();
        let choose = |((a, b), ty): ((&Value, &Value), _)| self.build.value(Op::Select(first, *a, *b), ty);
        let leaves = a.leaves.iter().zip(&b.leaves).zip(types).map(choose).collect();
        Ok(Val { ty: a.ty, leaves })
    }

    /// `mem::swap`, `mem::replace` and `mem::take`.
    pub(super) fn exchange(&mut self, at: Pos, name: &str, args: &'static [Expr]) -> Result<Val> {
        let target = self.expr(&args[0], None)?;
        let target = self.behind(target);
        let old = self.read_copy(&target);
        match name {
            "swap" => {
                let other = self.expr(&args[1], None)?;
                let other = self.behind(other);
                let value = self.read_copy(&other);
                self.write(at, &target, value)?;
                self.write(at, &other, old)?;
                Ok(Val::unit())
            }
            "replace" => {
                let ty = target.ty().clone();
                let new = self.expr_as(&args[1], &ty)?;
                self.write(at, &target, new)?;
                Ok(old)
            }
            _ => {
                if matches!(old.ty, Ty::Struct(_) | Ty::Enum(..)) {
                    return Err(self.error(at, "`mem::take` of a struct needs its `Default`; use `mem::replace`"));
                }
                let zero = self.constant_value(&old.ty, &mut std::iter::repeat(0));
                self.write(at, &target, zero)?;
                Ok(old)
            }
        }
    }
}
