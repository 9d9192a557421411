//! Values in memory: loads, stores and copies of whatever has a layout, part by part.

use super::builder::Builder;
use super::function::Lowering;
use super::types::Val;
use crate::kir::{BinaryOp, BlockId, CompareOp, Op, Scalar, SlotId, Space, Terminator, Type, Value};
use crate::typeinfo::Ty;
use crate::typeinfo::layout::TAG;

/// Copies, fills and comparisons of up to so many elements are written out; longer ones loop.
pub(super) const UNROLLED: u64 = 16;

/// The body of a loop over indices.
struct Turn {
    slot: SlotId,
    index: Value,
    again: BlockId,
    exit: BlockId,
}

impl Lowering<'_> {}

impl Builder {
    /// New memory of the thread's own for a value of a type; what it holds is unspecified.
    pub(super) fn new_array(&mut self, name: &str, ty: &Ty) -> Val {
        let (element, len) = (ty.pointee(), ty.count().max(1));
        let array = self.array(super::variable_name(name), element, len);
        let ptr = self.value(Op::Local(array), Type::Ptr(Space::Local, element));
        self.arrays.at.insert(ptr, array);
        Val { ty: ty.clone(), leaves: vec![ptr] }
    }

    /// The address of a part that begins so many bytes behind `ptr`.
    pub(super) fn part_at(&mut self, ptr: Value, space: Space, offset: u32, part: &Ty) -> Value {
        let pointee = part.pointee();
        let at = self.value(Op::Field(ptr, offset, pointee), Type::Ptr(space, pointee));
        self.part_of(ptr, at)
    }

    /// The address of the `index`th element of an array at `ptr`, in units of its numbers or records.
    pub(super) fn element_at(&mut self, ptr: Value, element: &Ty, space: Space, index: u64) -> Value {
        let index = self.constant(Scalar::U64, index);
        self.value(Op::Offset(ptr, index), Type::Ptr(space, element.pointee()))
    }

    /// The value at an address. An array in it is copied into the thread's own memory.
    pub(super) fn load(&mut self, ptr: Value, space: Space, ty: &Ty) -> Val {
        self.load_parts(ptr, space, ty, false)
    }

    /// The value at an address of the thread's own memory. An array in it is where it lies.
    pub(super) fn load_in_place(&mut self, ptr: Value, ty: &Ty) -> Val {
        self.load_parts(ptr, Space::Local, ty, true)
    }

    fn load_parts(&mut self, ptr: Value, space: Space, ty: &Ty, in_place: bool) -> Val {
        let mut value = Val { ty: ty.clone(), leaves: Vec::new() };
        match ty {
            Ty::Scalar(scalar) | Ty::Enum(_, scalar) => value.leaves.push(self.value(Op::Load(ptr), *scalar)),
            Ty::Array(..) if in_place => value.leaves.push(ptr),
            Ty::Array(..) => {
                let copy = self.new_array("copy", ty);
                self.copy((ptr, space), copy.only(), Space::Local, ty);
                return self.fresh(copy);
            }
            vector if let Some(pair) = vector.packed() => {
                let at = self.part_at(ptr, space, 0, &Ty::Scalar(pair));
                let both = self.value(Op::Load(at), pair);
                value.leaves = self.unpack(both, pair);
            }
            _ => {
                if let Some(tag) = ty.tag() {
                    let at = self.part_at(ptr, space, TAG, &Ty::Scalar(tag));
                    value.leaves.push(self.value(Op::Load(at), tag));
                }
                for (part, offset) in ty.fields() {
                    let at = self.part_at(ptr, space, offset, part);
                    value.leaves.extend(self.load_parts(at, space, part, in_place).leaves);
                }
            }
        }
        value
    }

    /// Writes a value to an address.
    pub(super) fn store(&mut self, ptr: Value, space: Space, value: &Val) {
        match &value.ty {
            Ty::Scalar(_) | Ty::Enum(..) => self.effect(Op::Store(ptr, value.only())),
            Ty::Array(..) => self.copy((value.only(), Space::Local), ptr, space, &value.ty),
            vector if let Some(pair) = vector.packed() => {
                let at = self.part_at(ptr, space, 0, &Ty::Scalar(pair));
                let both = self.pack(value, pair);
                self.effect(Op::Store(at, both));
            }
            ty => {
                if let Some(tag) = ty.tag() {
                    let at = self.part_at(ptr, space, TAG, &Ty::Scalar(tag));
                    self.effect(Op::Store(at, value.only()));
                }
                for (index, (part, offset)) in ty.fields().into_iter().enumerate() {
                    let at = self.part_at(ptr, space, offset, part);
                    self.store(at, space, &value.part(index));
                }
            }
        }
    }

    /// Copies a value of a type from one address to another.
    pub(super) fn copy(&mut self, (from, from_space): (Value, Space), to: Value, to_space: Space, ty: &Ty) {
        let Ty::Array(..) = ty else {
            for (part, offset) in ty.fields() {
                if let Ty::Array(..) = part {
                    let source = self.part_at(from, from_space, offset, part);
                    let target = self.part_at(to, to_space, offset, part);
                    self.copy((source, from_space), target, to_space, part);
                    continue;
                }
                let source = self.part_at(from, from_space, offset, part);
                let value = self.load(source, from_space, part);
                let target = self.part_at(to, to_space, offset, part);
                self.store(target, to_space, &value);
            }
            return;
        };
        let element = innermost(ty);
        self.each(ty.count(), |build, index| {
            let pointee = element.pointee();
            let source = build.value(Op::Offset(from, index), Type::Ptr(from_space, pointee));
            let target = build.value(Op::Offset(to, index), Type::Ptr(to_space, pointee));
            match element {
                Ty::Struct(_) | Ty::Tuple(_) if element.packed().is_none() => {
                    build.copy((source, from_space), target, to_space, element)
                }
                _ => {
                    let value = build.load(source, from_space, element);
                    build.store(target, to_space, &value);
                }
            }
        });
    }

    /// Lowers `body` for each index below `count`: written out for few, else as a loop.
    pub(super) fn each(&mut self, count: u64, mut body: impl FnMut(&mut Self, Value)) {
        if count <= UNROLLED {
            for index in 0..count {
                let index = self.constant(Scalar::U64, index);
                body(self, index);
            }
            return;
        }
        let count = self.constant(Scalar::U64, count);
        let turn = self.begin_below();
        body(self, turn.index);
        self.end_below(turn, count);
    }

    /// Begins a loop over each index below a count.
    fn begin_below(&mut self) -> Turn {
        let slot = self.slot("index", Scalar::U64);
        let zero = self.constant(Scalar::U64, 0);
        self.effect(Op::Set(slot, zero));
        let (again, exit) = (self.block(), self.block());
        self.jump_into(again);
        Turn { slot, index: self.value(Op::Get(slot), Scalar::U64), again, exit }
    }

    /// Ends the loop's body: the next index, or on behind the loop.
    fn end_below(&mut self, Turn { slot, index, again, exit }: Turn, count: Value) {
        let one = self.constant(Scalar::U64, 1);
        let next = self.index_op(BinaryOp::Add, index, one);
        self.effect(Op::Set(slot, next));
        let more = self.compare(CompareOp::Lt, next, count);
        self.end(Terminator::Branch(more, again, exit));
        self.select_block(exit);
    }
}

/// What an array, nested or not, consists of.
fn innermost(ty: &Ty) -> &Ty {
    match ty {
        Ty::Array(element, _) => innermost(element),
        other => other,
    }
}
