//! References that may point to different memories: `if near { &tile[i] } else { &x[i] }`.
//!
//! A slot holds addresses of one address space. When references to a second one reach a variable or a merge, its type
//! becomes a generic pointer and the function is lowered again. A shared reference that stands for a number and has no
//! address takes the number that another one points to, which cannot change while it is borrowed.

use super::builder::Builder;
use super::types::Val;
use crate::kir::{Access, Op, Space, Type};
use crate::typeinfo::{ClosureId, Memory, Ty};

/// The memories of `own`'s references, joined with those of `other`: a generic memory where the two differ and have
/// addresses, else the own one.
pub(super) fn join_memories(own: &Ty, other: &Ty) -> Vec<Memory> {
    let mut memories = Vec::new();
    push_joined(own, other, &mut memories);
    memories
}

/// Returns true if a value of a type can be [`widened`](Builder::widened) to another.
pub(super) fn widens(from: &Ty, to: &Ty) -> bool {
    [join_memories(from, to), join_memories(to, from)].iter().all(|joined| to.in_memories(joined) == *to)
}

fn push_joined(own: &Ty, other: &Ty, joined: &mut Vec<Memory>) {
    let mut all = |own: &mut dyn Iterator<Item = &Ty>, other: &mut dyn Iterator<Item = &Ty>| {
        own.zip(other).for_each(|(own, other)| push_joined(own, other, joined));
    };
    match (own, other) {
        (Ty::Closure(own), Ty::Closure(other)) => joined.push(join_closures(*own, *other)),
        (Ty::Slice(to, own), Ty::Slice(other_to, other))
        | (Ty::Ref(to, own), Ty::Ref(other_to, other))
        | (Ty::View(to, _, own), Ty::View(other_to, _, other)) => {
            joined.push(join(to, *own, *other));
            push_joined(to, other_to, joined);
        }
        (Ty::Array(own, _), Ty::Array(other, _)) => push_joined(own, other, joined),
        (Ty::Tuple(own), Ty::Tuple(other)) => all(&mut own.iter(), &mut other.iter()),
        (Ty::Sum(own), Ty::Sum(other)) => all(&mut own.fields(), &mut other.fields()),
        (Ty::Struct(own), Ty::Struct(other)) => {
            all(&mut own.fields.iter().map(|field| &field.ty), &mut other.fields.iter().map(|field| &field.ty));
        }
        _ => joined.extend(own.memories()),
    }
}

/// Joins two values of the same closure, capture by capture.
fn join_closures(own: Memory, other: Memory) -> Memory {
    match (own, other) {
        (Memory::Closure(Some(a)), Memory::Closure(Some(b))) if a.number == b.number => {
            let state = a.state.iter().zip(b.state).map(|(a, b)| a.in_memories(&join_memories(a, b)));
            Memory::Closure(Some(ClosureId::new(a.number, state.collect())))
        }
        _ => join(&Ty::Unit, own, other),
    }
}

/// The join of two memories, for a reference to `to`.
fn join(to: &Ty, own: Memory, other: Memory) -> Memory {
    // an array has storage, also if a reference to it stands for its value
    let address = |memory| match memory {
        Memory::Value if matches!(to, Ty::Array(..)) && to.is_plain() => Memory::Write(Space::Local),
        memory => memory,
    };
    match (address(own), address(other)) {
        (a, b) if a == b => own,
        _ if own.is_unknown() && !other.is_unknown() && !other.names_places() => other,
        (Memory::Value, address) | (address, Memory::Value) if unshared(address) && !to.holds_arrays() => Memory::Value,
        (Memory::Read(_), Memory::Read(_)) => Memory::Read(Space::Generic),
        (a, b) if unshared(a) && unshared(b) => Memory::Unshared,
        (a, b) if is_address(a) && is_address(b) => Memory::Write(Space::Generic),
        _ => own,
    }
}

/// Returns true for memory that no other thread writes.
fn unshared(memory: Memory) -> bool {
    matches!(memory, Memory::Read(_) | Memory::Write(Space::Local) | Memory::Unshared)
}

fn is_address(memory: Memory) -> bool {
    matches!(memory, Memory::Read(_) | Memory::Write(_) | Memory::Unshared)
}

impl Builder {
    /// Converts a value to a type with joined memories; [`widens`] tells if that is possible.
    pub(super) fn widened(&mut self, value: Val, ty: &Ty) -> Val {
        if value.ty == *ty {
            return value;
        }
        let mut leaves = value.leaves.clone();
        match (&value.ty, ty) {
            (Ty::Ref(from, Memory::Value), Ty::Ref(to, Memory::Value)) => {
                leaves = self.widened(Val { ty: (**from).clone(), leaves }, to).leaves;
            }
            (Ty::Ref(to, memory), Ty::Ref(_, Memory::Value)) if !matches!(**to, Ty::Array(..)) => {
                leaves = self.load(leaves[0], memory.space(), to).leaves;
            }
            (Ty::Ref(to, from), Ty::Ref(_, memory))
            | (Ty::Slice(to, from), Ty::Slice(_, memory))
            | (Ty::View(to, _, from), Ty::View(_, _, memory)) => {
                if memory.space() == Space::Generic && *memory != *from {
                    let access = if memory.writable() { Access::ReadWrite } else { Access::Read };
                    leaves[0] = self.value(Op::Generic(leaves[0], access), Type::Ptr(Space::Generic, to.pointee()));
                }
            }
            (Ty::Array(from, count), Ty::Array(to, _)) => {
                let each = from.leaves().len();
                let elements = (0..*count as usize).flat_map(|index| {
                    let leaves = leaves[index * each..(index + 1) * each].to_vec();
                    self.widened(Val { ty: (**from).clone(), leaves }, to).leaves
                });
                leaves = elements.collect();
            }
            _ => {
                leaves.truncate(usize::from(value.ty.tag().is_some()));
                for (index, (part, _)) in ty.fields().into_iter().enumerate() {
                    let part = self.widened(value.part(index), part);
                    leaves.extend(part.leaves);
                }
            }
        }
        Val { ty: ty.clone(), leaves }
    }
}
