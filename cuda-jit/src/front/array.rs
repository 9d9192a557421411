//! Arrays of the thread's own: `[a, b]`, `[e; N]`, and their copies.
//!
//! Such an array lies in the thread's memory, and a value of its type is where it lies. Binding one copies it, unless
//! it was just made, so that no two bindings share memory. LLVM puts what is indexed by constants into registers.

use super::function::{Lowering, Result};
use super::types::Val;
use crate::harvest::Ty;
use crate::kir::{BinaryOp, CompareOp, Op, Scalar, Space, Terminator, Type, Value};
use crate::syntax::{Expr, ExprKind, Pos};

/// Copies and fills of up to so many elements are written out; longer ones loop.
const UNROLLED: u64 = 16;

impl Lowering<'_> {
    /// A new array of unspecified contents.
    pub(super) fn new_array(&mut self, name: &str, scalar: Scalar, extents: Vec<u64>) -> Val {
        let len = extents.iter().product::<u64>().max(1);
        let array = self.build.array(name, scalar, len);
        let ptr = self.build.value(Op::Local(array), Type::Ptr(Space::Local, scalar));
        Val { ty: Ty::Array(scalar, extents, true, Space::Local), leaves: vec![ptr] }
    }

    /// An array expression; its type is what the surroundings ask for.
    pub(super) fn array(&mut self, at: Pos, expr: &'static Expr, expected: Option<&Ty>) -> Result<Val> {
        let Some(Ty::Owned(scalar, extents) | Ty::Array(scalar, extents, ..)) = expected else {
            return Err(self.error(at, "bind this array with `let`, so that its type is known"));
        };
        let array = self.new_array("array", *scalar, extents.clone());
        self.fill(expr, *scalar, extents, array.only())?;
        self.fresh.insert(array.only());
        Ok(array)
    }

    /// Writes an array expression to where it shall lie.
    fn fill(&mut self, expr: &'static Expr, scalar: Scalar, extents: &[u64], to: Value) -> Result<()> {
        let (count, inner) = (extents[0], &extents[1..]);
        let row = inner.iter().product::<u64>();
        match &expr.1 {
            ExprKind::Array(elements) => {
                for (index, element) in (0..).zip(*elements) {
                    let place = self.element_at(to, scalar, Space::Local, index * row);
                    if inner.is_empty() {
                        let value = self.scalar(element, scalar)?;
                        self.build.effect(Op::Store(place, value));
                    } else {
                        self.fill(element, scalar, inner, place)?;
                    }
                }
            }
            ExprKind::Repeat(element) if inner.is_empty() => {
                let value = self.scalar(element, scalar)?;
                self.each(count, |walk, index| {
                    let place = walk.build.value(Op::Offset(to, index), Type::Ptr(Space::Local, scalar));
                    walk.build.effect(Op::Store(place, value));
                });
            }
            ExprKind::Repeat(element) => {
                self.fill(element, scalar, inner, to)?;
                for index in 1..count {
                    let place = self.element_at(to, scalar, Space::Local, index * row);
                    self.copy(scalar, (to, Space::Local), (place, Space::Local), row);
                }
            }
            _ => {
                let ty = Ty::Owned(scalar, extents.to_vec());
                let value = self.expr(expr, Some(&ty))?;
                let space = value.ty.memory().map_or(Space::Local, |memory| memory.space);
                self.copy(scalar, (value.only(), space), (to, Space::Local), count * row);
            }
        }
        Ok(())
    }

    /// The value with its own copy of every array in it that something else may hold too.
    pub(super) fn own(&mut self, value: Val, ty: &Ty) -> Val {
        match ty {
            Ty::Owned(scalar, extents) => {
                let from = value.only();
                if self.fresh.remove(&from) {
                    return value;
                }
                let space = value.ty.memory().map_or(Space::Local, |memory| memory.space);
                let copy = self.new_array("copy", *scalar, extents.clone());
                let count = extents.iter().product();
                self.copy(*scalar, (from, space), (copy.only(), Space::Local), count);
                copy
            }
            Ty::Tuple(types) => self.own_parts(value, types.iter(), 0),
            Ty::Struct(_, fields) => self.own_parts(value, fields.iter().map(|(_, ty)| ty), 0),
            Ty::Option(inner) => self.own_parts(value, std::iter::once(&**inner), 1),
            _ => value,
        }
    }

    /// The same for the parts of a value, which begin after so many leaves.
    fn own_parts<'t>(&mut self, value: Val, types: impl Iterator<Item = &'t Ty>, skipped: usize) -> Val {
        let Val { ty, mut leaves } = value;
        let mut start = skipped;
        for part in types {
            let end = start + part.leaves().len();
            let owned = self.own(Val { ty: part.clone(), leaves: leaves[start..end].to_vec() }, part);
            leaves.splice(start..end, owned.leaves);
            start = end;
        }
        Val { ty, leaves }
    }

    /// Copies an array into another of the same length.
    pub(super) fn copy_array(&mut self, scalar: Scalar, from: (Value, &Ty), to: (Value, &Ty), count: u64) {
        let space = |ty: &Ty| ty.memory().map_or(Space::Local, |memory| memory.space);
        self.copy(scalar, (from.0, space(from.1)), (to.0, space(to.1)), count);
    }

    fn copy(&mut self, scalar: Scalar, from: (Value, Space), to: (Value, Space), count: u64) {
        self.each(count, |walk, index| {
            let source = walk.build.value(Op::Offset(from.0, index), Type::Ptr(from.1, scalar));
            let value = walk.build.value(Op::Load(source), scalar);
            let target = walk.build.value(Op::Offset(to.0, index), Type::Ptr(to.1, scalar));
            walk.build.effect(Op::Store(target, value));
        });
    }

    fn element_at(&mut self, ptr: Value, scalar: Scalar, space: Space, index: u64) -> Value {
        let index = self.constant(Scalar::U64, index);
        self.build.value(Op::Offset(ptr, index), Type::Ptr(space, scalar))
    }

    /// Lowers `body` for each index below `count`: written out for few, else as a loop.
    fn each(&mut self, count: u64, mut body: impl FnMut(&mut Self, Value)) {
        if count <= UNROLLED {
            for index in 0..count {
                let index = self.constant(Scalar::U64, index);
                body(self, index);
            }
            return;
        }
        let slot = self.build.slot("index", Scalar::U64);
        let zero = self.constant(Scalar::U64, 0);
        self.build.effect(Op::Set(slot, zero));
        let (again, exit) = (self.build.block(), self.build.block());
        self.jump_into(again);
        let index = self.build.value(Op::Get(slot), Scalar::U64);
        body(self, index);
        let one = self.constant(Scalar::U64, 1);
        let next = self.build.value(Op::Binary(BinaryOp::Add, index, one), Scalar::U64);
        self.build.effect(Op::Set(slot, next));
        let limit = self.constant(Scalar::U64, count);
        let more = self.build.value(Op::Compare(CompareOp::Lt, next, limit), Scalar::Bool);
        self.build.end(Terminator::Branch(more, again, exit));
        self.build.select_block(exit);
    }
}
