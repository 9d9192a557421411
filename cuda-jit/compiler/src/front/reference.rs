//! References that the front end follows while it lowers, and that are no values of the function.
//!
//! `&mut` of a binding that lies in slots names the place itself, [`Memory::Place`], as long as nothing asks for an
//! address: fields are written and methods called through it, and what it refers to may hold references or closures.
//! Where it must be an address after all, as for an atomic operation, or where two of them could be meant, the binding
//! is put in memory and the function lowered again. References that are addresses may point to several memories (`generic.rs`).
//!
//! What a `None` holds refers to nothing: [`Memory::Unknown`]. Whatever it meets says where that would point.

use std::collections::HashMap;

use super::builder::Builder;
use super::function::{Lowering, Result};
use super::generic::{meeting, widens};
use super::place::{Place, Pointing, Root};
use super::scopes::Scopes;
use super::types::Val;
use crate::kir::{SlotId, Space, Value};
use crate::syntax::Pos;
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{Memory, Ty};

/// The number of the leaf of `from` that each leaf of `to` is; none for leaves of references that point nowhere in `from`.
fn aligned(from: &Ty, to: &Ty, next: &mut usize, leaves: &mut Vec<Option<usize>>) {
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
                aligned(from, to, next, leaves);
            }
        }
        (Ty::Array(from, count), Ty::Array(to, _)) if !from.is_plain() => {
            (0..*count).for_each(|_| aligned(from, to, next, leaves));
        }
        (Ty::Ref(from, Memory::Value), Ty::Ref(to, Memory::Value)) => aligned(from, to, next, leaves),
        _ => take(from.leaves().len()),
    }
}

/// The number of the leaf of `from` that each leaf of `to` is.
fn alignment(from: &Ty, to: &Ty) -> Vec<Option<usize>> {
    let mut leaves = Vec::new();
    aligned(from, to, &mut 0, &mut leaves);
    leaves
}

impl Lowering<'_> {
    /// The address of a place that a reference names: its binding will be in memory, so that the function is lowered
    /// again. Until then any address of the type will do.
    pub(super) fn address_of_place(&mut self, at: Pos, number: u32) -> Result<Value> {
        let place = self.scopes.places[number as usize].clone();
        match place {
            Place::Slots(ty, _, Root::Binding(definition, binding)) if ty.is_plain() => {
                self.scopes.learned.cells.insert((definition, binding));
                self.scopes.learned.memories.clear();
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

    /// A variable of a value. Its references point where an earlier attempt to lower the function has found them to.
    pub(super) fn variable(&mut self, name: &str, value: Val) -> (Ty, Vec<SlotId>, Root) {
        if value.ty.memories().is_empty() {
            let slots = self.build.slots_of(name, &value);
            return (value.ty, slots, Root::Apart);
        }
        let number = self.scopes.pointing_number();
        let value = self.first_of(number, value);
        let value = self.build.pointing(value);
        let slots = self.build.slots_of(name, &value);
        (value.ty, slots, Root::Pointing(Pointing { number, first: 0 }))
    }

    /// The first value of what has a number in [`Scopes::pointing`], with references that point where an earlier attempt to lower
    /// the function has found them to.
    pub(super) fn first_of(&mut self, number: usize, value: Val) -> Val {
        let known = self.scopes.learned.memories.get(&number);
        let ty = known.map_or_else(|| value.ty.clone(), |memories| value.ty.in_memories(memories));
        let value = self.build.pointing_as(value, &ty);
        let value = if widens(&value.ty, &ty) { self.build.widened(value, &ty) } else { value };
        self.scopes.pointing[number] = value.ty.memories();
        value
    }

    /// Puts the places in memory of which two types name different ones; returns true if there are such.
    pub(super) fn in_one_memory(&mut self, at: Pos, a: &Ty, b: &Ty) -> Result<bool> {
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
                    found |= self.in_one_memory(at, a, b)?;
                }
            }
        }
        Ok(found)
    }

    /// The argument that stands for a reference to a place in a call that is not inlined: memory with the place's value.
    pub(super) fn lent(&mut self, reference: Val) -> (Val, Option<(Place, Value)>) {
        let Ty::Ref(to, Memory::Place(number)) = &reference.ty else { return (reference, None) };
        let place = self.scopes.places[*number as usize].clone();
        let value = self.build.read(&place);
        let cell = self.build.new_array("lent", to).only();
        self.build.store(cell, Space::Local, &value);
        (Val { ty: Ty::Ref(to.clone(), Memory::Write(Space::Local)), leaves: vec![cell] }, Some((place, cell)))
    }
}

impl Scopes {
    /// A number for what holds references. They point nowhere yet.
    pub(super) fn pointing_number(&mut self) -> usize {
        self.pointing.push(Vec::new());
        self.pointing.len() - 1
    }

    /// Returns true if a value tells where else references in the variable of this place will point.
    pub(super) fn fills(&mut self, place: &Place, value: &Ty) -> bool {
        let Place::Slots(ty, _, Root::Pointing(part)) = place else { return false };
        self.learns(*part, ty, value)
    }

    /// Returns true if a value tells where else references in a part will point, whose type is `ty` now. What was learned of those
    /// that are made later may be of others then.
    pub(super) fn learns(&mut self, Pointing { number, first }: Pointing, ty: &Ty, value: &Ty) -> bool {
        let (known, met) = (ty.memories(), meeting(ty, value));
        if met == known {
            return false;
        }
        let mut memories = self.pointing[number].clone();
        memories[first..first + met.len()].copy_from_slice(&met);
        self.learned.memories.split_off(&number);
        self.learned.memories.insert(number, memories);
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
    /// A value whose references point where those of a type do, if nothing says where.
    pub(super) fn pointing_as(&mut self, value: Val, ty: &Ty) -> Val {
        if !value.ty.holds_unknown() {
            return value;
        }
        let ty = value.ty.joined(ty);
        let (arrays, mut leaves): (HashMap<usize, Ty>, _) = (ty.arrays().into_iter().collect(), Vec::new());
        for (at, (leaf, of)) in alignment(&value.ty, &ty).into_iter().zip(ty.leaves()).enumerate() {
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

    /// A value of which each reference has an address.
    pub(super) fn pointing(&mut self, value: Val) -> Val {
        self.pointing_where(value, |memory| match memory {
            Memory::Unknown(mutable) => Memory::Absent(mutable),
            memory => memory,
        })
    }

    /// A value of which each reference points somewhere: those that do not, to global memory.
    pub(super) fn pointing_somewhere(&mut self, value: Val) -> Val {
        self.pointing_where(value, |memory| match memory {
            Memory::Unknown(mutable) | Memory::Absent(mutable) => Memory::unknown(mutable),
            memory => memory,
        })
    }

    fn pointing_where(&mut self, value: Val, place: impl Fn(Memory) -> Memory) -> Val {
        if !value.ty.holds_unknown() {
            return value;
        }
        let memories: Vec<Memory> = value.ty.memories().into_iter().map(place).collect();
        let ty = value.ty.in_memories(&memories);
        self.pointing_as(value, &ty)
    }

    /// The slots of a merge with room for what the references in an arriving value need, where those that arrived before
    /// point nowhere.
    pub(super) fn room_for(&mut self, name: &str, (ty, slots): (Ty, Vec<SlotId>), other: &Ty) -> (Ty, Vec<SlotId>) {
        if !ty.holds_unknown() || !ty.fits(other) {
            return (ty, slots);
        }
        let joined = ty.joined(other);
        let mut room = self.slots(name, &joined);
        for (slot, leaf) in room.iter_mut().zip(alignment(&ty, &joined)) {
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
    fn what_points_nowhere_has_no_leaves_for_it() {
        let ty = ty_of::<(u8, Option<&[f32]>, i16)>();
        let none = ty.pointing_nowhere();
        assert_eq!(none.leaves().len(), 3);
        assert_eq!(alignment(&none, &ty), [Some(0), Some(1), None, None, Some(2)]);
        assert_eq!(none.joined(&ty), ty);
    }
}
