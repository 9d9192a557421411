//! References that may point to one memory or another: `if near { &tile[i] } else { &x[i] }`.
//!
//! A slot has room for one kind of address, so what a variable or the branches of an expression hold is made a generic address when
//! a second memory turns up, and the function is lowered again. A shared reference that stands for a number, and has no
//! address, takes the number that another one points to: nobody writes that while it is borrowed.

use super::builder::Builder;
use super::types::Val;
use crate::kir::{Access, Op, Space, Type};
use crate::typeinfo::{ClosureId, Memory, Ty};

/// The memories of a type's references if those of another are put in their place: any memory, where the two point to
/// different ones. Those that cannot be both stay as they are.
pub(super) fn meeting(own: &Ty, other: &Ty) -> Vec<Memory> {
    let mut memories = Vec::new();
    meet(own, other, &mut memories);
    memories
}

/// Returns true if a value of a type can be [`widened`](Builder::widened) to another.
pub(super) fn widens(from: &Ty, to: &Ty) -> bool {
    [meeting(from, to), meeting(to, from)].iter().all(|met| to.in_memories(met) == *to)
}

fn meet(own: &Ty, other: &Ty, met: &mut Vec<Memory>) {
    let mut all = |own: &mut dyn Iterator<Item = &Ty>, other: &mut dyn Iterator<Item = &Ty>| {
        own.zip(other).for_each(|(own, other)| meet(own, other, met));
    };
    match (own, other) {
        (Ty::Closure(own), Ty::Closure(other)) => met.push(closure(*own, *other)),
        (Ty::Slice(to, own), Ty::Slice(other_to, other))
        | (Ty::Ref(to, own), Ty::Ref(other_to, other))
        | (Ty::View(to, _, own), Ty::View(other_to, _, other)) => {
            met.push(either(to, *own, *other));
            meet(to, other_to, met);
        }
        (Ty::Array(own, _), Ty::Array(other, _)) => meet(own, other, met),
        (Ty::Tuple(own), Ty::Tuple(other)) => all(&mut own.iter(), &mut other.iter()),
        (Ty::Sum(own), Ty::Sum(other)) => all(&mut own.fields(), &mut other.fields()),
        (Ty::Struct(own), Ty::Struct(other)) => {
            all(&mut own.fields.iter().map(|field| &field.ty), &mut other.fields.iter().map(|field| &field.ty));
        }
        _ => met.extend(own.memories()),
    }
}

/// A closure that has captured what either has.
fn closure(own: Memory, other: Memory) -> Memory {
    match (own, other) {
        (Memory::Closure(Some(a)), Memory::Closure(Some(b))) if a.number == b.number => {
            let state = a.state.iter().zip(b.state).map(|(a, b)| a.in_memories(&meeting(a, b)));
            Memory::Closure(Some(ClosureId::new(a.number, state.collect())))
        }
        _ => either(&Ty::Unit, own, other),
    }
}

/// The memory of a reference to a type that may point into either of two.
fn either(to: &Ty, own: Memory, other: Memory) -> Memory {
    // an array lies in memory, also where it stands for a reference to it
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

/// Returns true of addresses in memory that no other thread writes.
fn unshared(memory: Memory) -> bool {
    matches!(memory, Memory::Read(_) | Memory::Write(Space::Local) | Memory::Unshared)
}

fn is_address(memory: Memory) -> bool {
    matches!(memory, Memory::Read(_) | Memory::Write(_) | Memory::Unshared)
}

impl Builder {
    /// A value whose references point where those of a type do; that they can be is [`widens`]'.
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
