//! Values in memory: loads, stores and copies of types with a layout, part by part.

use super::builder::Builder;
use super::function::Lowering;
use super::types::Val;
use crate::kir::{BinaryOp, BlockId, CompareOp, Op, Scalar, SlotId, Space, Terminator, Type, Value};
use crate::typeinfo::Ty;
use crate::typeinfo::layout::TAG;

/// The largest element count for which copies, fills and comparisons are unrolled; longer ones are loops.
pub(super) const UNROLLED: u64 = 16;

/// A loop over indices under construction.
struct IndexLoop {
    slot: SlotId,
    index: Value,
    header: BlockId,
    exit: BlockId,
}

impl Lowering<'_> {}

impl Builder {
    /// Allocates uninitialised local memory for a value of a type.
    pub(super) fn new_array(&mut self, name: &str, ty: &Ty) -> Val {
        let (element, len) = (ty.pointee(), ty.count().max(1));
        let array = self.array(super::variable_name(name), element, len);
        let ptr = self.value(Op::Local(array), Type::Ptr(Space::Local, element));
        self.arrays.at.insert(ptr, array);
        Val { ty: ty.clone(), leaves: vec![ptr] }
    }

    /// The address of a part `offset` bytes after `ptr`.
    pub(super) fn part_at(&mut self, ptr: Value, space: Space, offset: u32, part: &Ty) -> Value {
        let pointee = part.pointee();
        let at = self.value(Op::Field(ptr, offset, pointee), Type::Ptr(space, pointee));
        self.inherit_stability(ptr, at)
    }

    /// The address of the element at a constant index of an array, in units of the pointee.
    pub(super) fn element_at(&mut self, ptr: Value, element: &Ty, space: Space, index: u64) -> Value {
        let index = self.constant(Scalar::U64, index);
        self.value(Op::Offset(ptr, index), Type::Ptr(space, element.pointee()))
    }

    /// Loads the value at an address. Arrays in it are copied to local memory.
    pub(super) fn load(&mut self, ptr: Value, space: Space, ty: &Ty) -> Val {
        self.load_parts(ptr, space, ty, false)
    }

    /// Loads the value at a local address. Arrays in it are not copied.
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

    /// Stores a value to an address.
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

    /// Lowers `body` for each index less than `count`: unrolled if there are few, else as a loop.
    pub(super) fn each(&mut self, count: u64, mut body: impl FnMut(&mut Self, Value)) {
        if count <= UNROLLED {
            for index in 0..count {
                let index = self.constant(Scalar::U64, index);
                body(self, index);
            }
            return;
        }
        let count = self.constant(Scalar::U64, count);
        let index_loop = self.open_index_loop();
        body(self, index_loop.index);
        self.close_index_loop(index_loop, count);
    }

    /// Opens a loop over the indices from 0.
    fn open_index_loop(&mut self) -> IndexLoop {
        let slot = self.slot("index", Scalar::U64);
        let zero = self.constant(Scalar::U64, 0);
        self.effect(Op::Set(slot, zero));
        let (header, exit) = (self.block(), self.block());
        self.jump_into(header);
        IndexLoop { slot, index: self.value(Op::Get(slot), Scalar::U64), header, exit }
    }

    /// Closes the loop: increments the index and branches to the header or the exit.
    fn close_index_loop(&mut self, IndexLoop { slot, index, header, exit }: IndexLoop, count: Value) {
        let one = self.constant(Scalar::U64, 1);
        let next = self.index_op(BinaryOp::Add, index, one);
        self.effect(Op::Set(slot, next));
        let more = self.compare(CompareOp::Lt, next, count);
        self.end(Terminator::Branch(more, header, exit));
        self.select_block(exit);
    }
}

/// The innermost element type of an array, nested or not.
fn innermost(ty: &Ty) -> &Ty {
    match ty {
        Ty::Array(element, _) => innermost(element),
        other => other,
    }
}
