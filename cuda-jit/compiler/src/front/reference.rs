//! References that are resolved during lowering and have no run-time value.
//!
//! `&mut` of a binding in slots names the place itself, [`Memory::Place`], as long as no address is needed: fields are
//! written and methods inlined through it, and the place may hold references or closures. If an address is needed, as
//! for an atomic operation, or if branches yield references to different places, the binding is put in memory and the
//! function is lowered again. References that are addresses may have several memories (`generic.rs`).
//!
//! A reference in the payload of a `None` has memory [`Memory::Unknown`]; it is joined with the first known one.

use std::collections::HashMap;

use super::builder::Builder;
use super::function::{Lowering, Result};
use super::generic::{join_memories, widens};
use super::place::{Place, ReferenceVar, Root};
use super::scopes::Scopes;
use super::types::Val;
use crate::kir::{SlotId, Space, Value};
use crate::syntax::Pos;
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{Memory, Ty};

/// Appends, for each leaf of `to`, the index of the corresponding leaf of `from`; `None` for leaves of references that
/// are unknown in `from`.
fn map_leaves(from: &Ty, to: &Ty, next: &mut usize, leaves: &mut Vec<Option<usize>>) {
    let mut take = |count: usize| {
        leaves.extend((*next..*next + count).map(Some));
        *next += count;
    };
    match (from, to) {
        (Ty::Ref(_, memory) | Ty::Slice(_, memory) | Ty::View(_, _, memory) | Ty::Closure(memory), to)
            if memory.is_unknown() && from != to =>
        {
            *next += from.leaves().len();
            leaves.extend(to.leaves().iter().map(|_| None));
        }
        (Ty::Tuple(_), Ty::Tuple(_)) | (Ty::Struct(_), Ty::Struct(_)) | (Ty::Sum(_), Ty::Sum(_)) => {
            take(usize::from(from.tag().is_some()));
            for ((from, _), (to, _)) in from.fields().into_iter().zip(to.fields()) {
                map_leaves(from, to, next, leaves);
            }
        }
        (Ty::Array(from, count), Ty::Array(to, _)) if !from.is_plain() => {
            (0..*count).for_each(|_| map_leaves(from, to, next, leaves));
        }
        (Ty::Ref(from, Memory::Value), Ty::Ref(to, Memory::Value)) => map_leaves(from, to, next, leaves),
        _ => take(from.leaves().len()),
    }
}

/// For each leaf of `to`, the index of the corresponding leaf of `from`.
fn leaf_mapping(from: &Ty, to: &Ty) -> Vec<Option<usize>> {
    let mut leaves = Vec::new();
    map_leaves(from, to, &mut 0, &mut leaves);
    leaves
}

impl Lowering<'_> {
    /// The address of a place that a reference names. It marks the binding as in memory, so that the function is
    /// lowered again; the address that it returns until then is a placeholder.
    pub(super) fn address_of_place(&mut self, at: Pos, number: u32) -> Result<Value> {
        let place = self.scopes.places[number as usize].clone();
        match place {
            Place::Slots(ty, _, Root::Binding(definition, binding)) if ty.is_plain() => {
                self.scopes.facts.in_memory.insert((definition, binding));
                self.scopes.facts.memories.clear();
                Ok(self.build.new_array("cell", &ty).only())
            }
            place => {
                let text = format!(
                    "a `{}` is borrowed with `&mut` here, but it, or what it is a part of, holds references, so that \
                     nothing can point to it; pass it by value and return it",
                    ty_name(place.ty())
                );
                Err(self.error(at, text))
            }
        }
    }

    /// Allocates a variable for a value. The memories of its references are those that earlier attempts found.
    pub(super) fn variable(&mut self, name: &str, value: Val) -> (Ty, Vec<SlotId>, Root) {
        if value.ty.memories().is_empty() {
            let slots = self.build.slots_of(name, &value);
            return (value.ty, slots, Root::Apart);
        }
        let number = self.scopes.new_reference_entry();
        let value = self.first_value_of(number, value);
        let value = self.build.with_addresses(value);
        let slots = self.build.slots_of(name, &value);
        (value.ty, slots, Root::ReferenceVar(ReferenceVar { number, first: 0 }))
    }

    /// The first value of an entry of [`Scopes::reference_memories`], converted to the memories that earlier attempts found.
    pub(super) fn first_value_of(&mut self, number: usize, value: Val) -> Val {
        let known = self.scopes.facts.memories.get(&number);
        let ty = known.map_or_else(|| value.ty.clone(), |memories| value.ty.in_memories(memories));
        let value = self.build.resolve_unknown_as(value, &ty);
        let value = if widens(&value.ty, &ty) { self.build.widened(value, &ty) } else { value };
        self.scopes.reference_memories[number] = value.ty.memories();
        value
    }

    /// Marks the places as in memory that two types name differently; returns true if there are any.
    pub(super) fn unify_places(&mut self, at: Pos, a: &Ty, b: &Ty) -> Result<bool> {
        let mut found = false;
        for (a, b) in a.memories().into_iter().zip(b.memories()).filter(|(a, b)| a != b) {
            for memory in [a, b] {
                if let Memory::Place(number) = memory {
                    self.address_of_place(at, number)?;
                    found = true;
                }
            }
            if let (Memory::Closure(Some(a)), Memory::Closure(Some(b))) = (a, b)
                && a.number == b.number
            {
                for (a, b) in a.state.iter().zip(b.state) {
                    found |= self.unify_places(at, a, b)?;
                }
            }
        }
        Ok(found)
    }

    /// The argument for a reference to a place in a call that is not inlined: a pointer to a copy of the place's value.
    pub(super) fn pass_by_pointer(&mut self, reference: Val) -> (Val, Option<(Place, Value)>) {
        let Ty::Ref(to, Memory::Place(number)) = &reference.ty else { return (reference, None) };
        let place = self.scopes.places[*number as usize].clone();
        let value = self.build.read(&place);
        let cell = self.build.new_array("borrowed", to).only();
        self.build.store(cell, Space::Local, &value);
        (Val { ty: Ty::Ref(to.clone(), Memory::Write(Space::Local)), leaves: vec![cell] }, Some((place, cell)))
    }
}

impl Scopes {
    /// Adds an entry for something that holds references, whose memories are not known yet.
    pub(super) fn new_reference_entry(&mut self) -> usize {
        self.reference_memories.push(Vec::new());
        self.reference_memories.len() - 1
    }

    /// Returns true if assigning a value adds memories to the references of a variable.
    pub(super) fn adds_memories(&mut self, place: &Place, value: &Ty) -> bool {
        let Place::Slots(ty, _, Root::ReferenceVar(part)) = place else { return false };
        self.record_memories(*part, ty, value)
    }

    /// Returns true if assigning a value adds memories to the references of a part of type `ty`, and records them.
    /// Facts about later entries are discarded, since their numbers may change.
    pub(super) fn record_memories(
        &mut self,
        ReferenceVar { number, first }: ReferenceVar,
        ty: &Ty,
        value: &Ty,
    ) -> bool {
        let (known, joined) = (ty.memories(), join_memories(ty, value));
        if joined == known {
            return false;
        }
        let mut memories = self.reference_memories[number].clone();
        memories[first..first + joined.len()].copy_from_slice(&joined);
        self.facts.memories.split_off(&number);
        self.facts.memories.insert(number, memories);
        true
    }

    /// A reference to a place in slots.
    pub(super) fn place_reference(&mut self, place: Place) -> Val {
        let same = |known: &Place| match (known, &place) {
            (Place::Slots(ty, slots, _), Place::Slots(other, others, _)) => slots == others && ty == other,
            _ => false,
        };
        let known = self.places.iter().position(same);
        let ty = place.ty().clone();
        let number = known.unwrap_or_else(|| {
            self.places.push(place);
            self.places.len() - 1
        });
        Val { ty: Ty::Ref(Box::new(ty), Memory::Place(number as u32)), leaves: Vec::new() }
    }
}

impl Builder {
    /// Replaces unknown memories in a value's type by those of `ty`.
    pub(super) fn resolve_unknown_as(&mut self, value: Val, ty: &Ty) -> Val {
        if !value.ty.holds_unknown() {
            return value;
        }
        let ty = value.ty.joined(ty);
        let (arrays, mut leaves): (HashMap<usize, Ty>, _) = (ty.arrays().into_iter().collect(), Vec::new());
        for (at, (leaf, of)) in leaf_mapping(&value.ty, &ty).into_iter().zip(ty.leaves()).enumerate() {
            leaves.push(match (leaf, arrays.get(&at)) {
                (Some(index), _) => value.leaves[index],
                (None, Some(array)) => {
                    let array = self.new_array("none", array);
                    self.fresh(array).only()
                }
                (None, None) => {
                    let slot = self.slot("none", of);
                    self.value(crate::kir::Op::Get(slot), of)
                }
            });
        }
        Val { ty, leaves }
    }

    /// Gives every unknown reference in a value room for an address.
    pub(super) fn with_addresses(&mut self, value: Val) -> Val {
        self.map_memories(value, |memory| match memory {
            Memory::Unknown(mutable) => Memory::Absent(mutable),
            memory => memory,
        })
    }

    /// Makes every unknown reference in a value a pointer to global memory.
    pub(super) fn resolve_unknown(&mut self, value: Val) -> Val {
        self.map_memories(value, |memory| match memory {
            Memory::Unknown(mutable) | Memory::Absent(mutable) => Memory::unknown(mutable),
            memory => memory,
        })
    }

    fn map_memories(&mut self, value: Val, place: impl Fn(Memory) -> Memory) -> Val {
        if !value.ty.holds_unknown() {
            return value;
        }
        let memories: Vec<Memory> = value.ty.memories().into_iter().map(place).collect();
        let ty = value.ty.in_memories(&memories);
        self.resolve_unknown_as(value, &ty)
    }

    /// Extends the slots of a merge for an arriving value, whose references are known where those stored before were
    /// not.
    pub(super) fn extend_slots(&mut self, name: &str, (ty, slots): (Ty, Vec<SlotId>), other: &Ty) -> (Ty, Vec<SlotId>) {
        if !ty.holds_unknown() || !ty.fits(other) {
            return (ty, slots);
        }
        let joined = ty.joined(other);
        let mut room = self.slots(name, &joined);
        for (slot, leaf) in room.iter_mut().zip(leaf_mapping(&ty, &joined)) {
            *slot = leaf.map_or(*slot, |index| slots[index]);
        }
        (joined, room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typeinfo::ty_of;

    #[test]
    fn unknown_references_have_no_leaves() {
        let ty = ty_of::<(u8, Option<&[f32]>, i16)>();
        let none = ty.pointing_nowhere();
        assert_eq!(none.leaves().len(), 3);
        assert_eq!(leaf_mapping(&none, &ty), [Some(0), Some(1), None, None, Some(2)]);
        assert_eq!(none.joined(&ty), ty);
    }
}
