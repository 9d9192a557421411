//! Methods of slices and arrays, and slices of slices.

use super::function::{Lowering, Result};
use super::functions::optional;
use super::items::{Counted, Items, paired};
use super::place::Place;
use super::types::Val;
use crate::harvest::{Exchange, Memory, Ty};
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, Type, Value};
use crate::syntax::{Expr, Pos};

/// What such a method yields; where references point is the value's to say.
pub(super) fn result_type(name: &str, receiver: &Ty) -> Option<Ty> {
    let memory = Memory::unknown(name.ends_with("_mut"));
    let element = match receiver {
        Ty::Slice(element, _) | Ty::Array(element, _) => (**element).clone(),
        _ => return None,
    };
    let optional = |ty| Ty::option(ty);
    let reference = Ty::Ref(Box::new(element.clone()), memory);
    let slice = Ty::Slice(Box::new(element), memory);
    Some(match name {
        "len" => Ty::INDEX,
        "is_empty" | "contains" | "starts_with" | "ends_with" | "is_sorted" => Ty::Scalar(Scalar::Bool),
        "first" | "first_mut" | "last" | "last_mut" | "get" | "get_mut" => optional(reference),
        "split_first" | "split_first_mut" | "split_last" | "split_last_mut" => {
            optional(Ty::Tuple(vec![reference, slice]))
        }
        "split_at" | "split_at_mut" => Ty::Tuple(vec![slice; 2]),
        "swap" | "fill" | "copy_from_slice" | "reverse" | "rotate_left" | "rotate_right" | "sort_unstable" => Ty::Unit,
        _ => return None,
    })
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
        let array = of.ty();
        let of = Elements { ptr, element, memory, len };
        let zero = self.constant(Scalar::U64, 0);
        match (name, args) {
            ("len", []) => Ok(Val::scalar(Scalar::U64, len)),
            ("is_empty", []) => Ok(Val::scalar(Scalar::Bool, self.compare(CompareOp::Eq, len, zero))),
            ("first" | "first_mut" | "last" | "last_mut", []) => {
                let (some, index) = self.end_of(name, len);
                self.maybe(some, &of, index)
            }
            ("split_first" | "split_first_mut" | "split_last" | "split_last_mut", []) => self.split_end(name, &of),
            ("get" | "get_mut", [index]) if matches!(self.ty_of(index), Some(Ty::Struct(_))) => {
                let text =
                    format!("`{name}` takes an index in kernels, not a range; compare with `len()`, and cut by `[..]`");
                Err(self.error(at, text))
            }
            ("get" | "get_mut", [index]) => {
                let index = self.scalar(index, Scalar::U64)?;
                let some = self.compare(CompareOp::Lt, index, len);
                self.maybe(some, &of, index)
            }
            ("swap", [a, b]) => {
                let indices = [self.scalar(a, Scalar::U64)?, self.scalar(b, Scalar::U64)?];
                let places = indices.map(|index| self.checked(at, index, &of));
                self.exchanged(at, &places)?;
                Ok(Val::unit())
            }
            ("contains", [value]) => {
                let wanted = Ty::Ref(Box::new(of.element.clone()), Memory::unknown(false));
                let value = Place::Fixed(self.expr(value, Some(&wanted))?);
                let Elements { ptr, element, memory, len } = of;
                let items = Counted::Elements { ptr, element, memory, stride: None, by_value: false };
                self.decided(at, Items::Counted(items, len), true, |walk, item| {
                    walk.compared(at, CompareOp::Eq, &Place::Fixed(item), &value)
                })
            }
            ("fill", [value]) => {
                let value = self.expr_as(value, &of.element)?;
                self.for_each(len, |walk, index| {
                    let place = walk.nth(&of, index);
                    walk.write(at, &place, value)
                })
            }
            ("copy_from_slice", [from]) => self.copy_from(at, &of, from),
            ("split_at" | "split_at_mut", [mid]) => {
                let mid = self.scalar(mid, Scalar::U64)?;
                let inside = self.compare(CompareOp::Le, mid, len);
                self.check(at, inside, "mid > len: {0} > {1}", &[mid, len]);
                let rest = self.index_op(BinaryOp::Sub, len, mid);
                let left = self.slice_at(ptr, &of.element, memory, zero, mid);
                let right = self.slice_at(ptr, &of.element, memory, mid, rest);
                Ok(paired(left, right))
            }
            ("map", [function]) => self.map_array(at, array, &of, function),
            _ => self.order_method(at, name, &of, args),
        }
    }

    /// Whether a slice has a first or, by the method's name, last element, and its number.
    fn end_of(&mut self, name: &str, len: Value) -> (Value, Value) {
        let (zero, one) = (self.constant(Scalar::U64, 0), self.constant(Scalar::U64, 1));
        let some = self.compare(CompareOp::Ne, len, zero);
        let index = if name.contains("first") { zero } else { self.index_op(BinaryOp::Sub, len, one) };
        (some, index)
    }

    /// `Some` of the first or last element, and the others.
    fn split_end(&mut self, name: &str, of: &Elements) -> Result<Val> {
        let (some, index) = self.end_of(name, of.len);
        let place = self.nth(of, index);
        let element = self.reference(place, of.memory.writable());
        let (zero, one) = (self.constant(Scalar::U64, 0), self.constant(Scalar::U64, 1));
        let start = if name.contains("first") { one } else { zero };
        let count = self.index_op(BinaryOp::Sub, of.len, one);
        let rest = self.slice_at(of.ptr, &of.element, of.memory, start, count);
        Ok(optional(some, paired(element, rest)))
    }

    fn copy_from(&mut self, at: Pos, of: &Elements, from: &'static Expr) -> Result<Val> {
        let wanted = Ty::Slice(Box::new(of.element.clone()), Memory::unknown(false));
        let from = self.expr_as(from, &wanted)?;
        let (ptr, element, memory, len) = self.slice_of(&Place::Fixed(from))?;
        let from = Elements { ptr, element, memory, len };
        let same = self.compare(CompareOp::Eq, of.len, from.len);
        let message = "copy_from_slice: source slice length ({0}) does not match destination slice length ({1})";
        self.check(at, same, message, &[from.len, of.len]);
        self.for_each(of.len, |walk, index| {
            let place = walk.nth(&from, index);
            let value = walk.read(&place);
            let place = walk.nth(of, index);
            walk.write(at, &place, value)
        })
    }

    /// A loop over each index below `len`, which may be zero.
    pub(super) fn for_each(&mut self, len: Value, body: impl FnOnce(&mut Self, Value) -> Result<()>) -> Result<Val> {
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
        let [first, second] = [self.read_settled(&places[0]), self.read_settled(&places[1])];
        self.write(at, &places[0], second)?;
        self.write(at, &places[1], first)
    }

    /// The element at an index, which is checked.
    fn checked(&mut self, at: Pos, index: Value, of: &Elements) -> Place {
        let inside = self.compare(CompareOp::Lt, index, of.len);
        self.check_cut(at, inside, "index out of bounds: the len is {1} but the index is {0}", &[index, of.len]);
        self.nth(of, index)
    }

    /// `Some(&element)` if it is there.
    fn maybe(&mut self, some: Value, of: &Elements, index: Value) -> Result<Val> {
        let place = self.nth(of, index);
        let reference = self.reference(place, of.memory.writable());
        Ok(optional(some, reference))
    }

    /// `mem::swap`, `mem::replace` and `mem::take`.
    pub(super) fn exchange(&mut self, at: Pos, exchange: Exchange, ty: &Ty, args: &'static [Expr]) -> Result<Val> {
        let target = self.expr(&args[0], None)?;
        let target = self.behind(target);
        let old = self.read_settled(&target);
        match exchange {
            Exchange::Swap => {
                let other = self.expr(&args[1], None)?;
                let other = self.behind(other);
                let value = self.read_settled(&other);
                self.write(at, &target, value)?;
                self.write(at, &other, old)?;
                Ok(Val::unit())
            }
            Exchange::Replace => {
                let new = self.expr_as(&args[1], ty)?;
                self.write(at, &target, new)?;
                Ok(old)
            }
            Exchange::Take => {
                if has_own_default(&old.ty) {
                    return Err(self.error(at, "`mem::take` of a struct needs its `Default`; use `mem::replace`"));
                }
                let zero = self.constant_value(&old.ty, &mut std::iter::repeat(0));
                self.write(at, &target, zero)?;
                Ok(old)
            }
        }
    }
}

/// Returns true if a type's default may be another than zeros: that of a struct or enum is the user's.
fn has_own_default(ty: &Ty) -> bool {
    match ty {
        Ty::Struct(_) | Ty::Enum(..) => true,
        Ty::Tuple(types) => types.iter().any(has_own_default),
        Ty::Array(element, _) => has_own_default(element),
        _ => false,
    }
}
