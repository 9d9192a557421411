//! The storage of arrays within a function: temporaries, backing arrays and addresses (`copies.rs` lists the kinds).

use std::collections::{HashMap, HashSet};

use super::builder::Builder;
use super::types::Val;
use crate::kir::{ArrayId, Op, SlotId, Space, Type, Value};
use crate::typeinfo::Ty;

/// The storage of arrays while a function is lowered.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    /// The array whose address each value is.
    pub(super) at: HashMap<Value, ArrayId>,
    fresh: HashSet<Value>,
    stable: HashSet<Value>,
    /// The backing array of each slot that holds an array's address.
    backing: HashMap<SlotId, ArrayId>,
}

impl Builder {
    /// Marks the arrays of a new value as temporaries.
    pub(super) fn fresh(&mut self, value: Val) -> Val {
        for (leaf, _) in value.ty.arrays() {
            self.arrays.fresh.insert(value.leaves[leaf]);
        }
        value
    }

    /// Marks the arrays of a value as never written while the value is live.
    pub(super) fn stable(&mut self, value: Val) -> Val {
        for (leaf, _) in value.ty.arrays() {
            self.arrays.fresh.remove(&value.leaves[leaf]);
            self.arrays.stable.insert(value.leaves[leaf]);
        }
        value
    }

    /// Returns true for the address of a temporary or of a stable array.
    pub(super) fn is_owned(&self, array: Value) -> bool {
        self.arrays.fresh.contains(&array) || self.is_stable(array)
    }

    /// Returns true for the address of a stable array.
    pub(super) fn is_stable(&self, array: Value) -> bool {
        self.arrays.stable.contains(&array)
    }

    /// Removes an array from the temporaries; returns true if it was one.
    pub(super) fn take_fresh(&mut self, array: Value) -> bool {
        self.arrays.fresh.remove(&array)
    }

    /// Marks a part of a stable array as stable.
    pub(super) fn inherit_stability(&mut self, whole: Value, part: Value) -> Value {
        if self.arrays.stable.contains(&whole) {
            self.arrays.stable.insert(part);
        }
        part
    }

    /// Marks an array as borrowed: if it is a temporary, no binding may take ownership of it.
    pub(super) fn borrowed(&mut self, array: Value, mutable: bool) {
        if self.arrays.fresh.remove(&array) && !mutable {
            self.arrays.stable.insert(array);
        }
    }

    /// Allocates slots for a value of a type, and a backing array for each array in it.
    pub(super) fn slots(&mut self, name: &str, ty: &Ty) -> Vec<SlotId> {
        let name = super::variable_name(name);
        let slots: Vec<_> = ty.leaves().into_iter().map(|leaf| self.slot(name.as_str(), leaf)).collect();
        for (leaf, ty) in ty.arrays() {
            let home = self.array(name.as_str(), ty.pointee(), ty.count().max(1));
            self.arrays.backing.insert(slots[leaf], home);
        }
        slots
    }

    /// Allocates slots for a value and stores it; its temporaries become the backing arrays.
    pub(super) fn slots_of(&mut self, name: &str, value: &Val) -> Vec<SlotId> {
        let slots = self.slots(name, &value.ty);
        for (leaf, _) in value.ty.arrays() {
            if self.arrays.fresh.remove(&value.leaves[leaf])
                && let Some(home) = self.arrays.at.get(&value.leaves[leaf])
            {
                self.arrays.backing.insert(slots[leaf], *home);
            }
        }
        self.set(&slots, value);
        slots
    }

    /// Writes slots and copies arrays into their backing arrays. The value of unreachable code has no leaves.
    pub(super) fn set(&mut self, slots: &[SlotId], value: &Val) {
        let is_unreachable = value.leaves.is_empty() && self.ended();
        assert!(is_unreachable || value.leaves.len() == slots.len(), "a value of type {:?} for other slots", value.ty);
        let arrays: HashMap<usize, Ty> = value.ty.arrays().into_iter().collect();
        for (index, (slot, leaf)) in slots.iter().zip(&value.leaves).enumerate() {
            let mut leaf = *leaf;
            if let (Some(ty), Some(home)) = (arrays.get(&index), self.arrays.backing.get(slot).copied())
                && self.arrays.at.get(&leaf) != Some(&home)
            {
                let to = self.array_at(home, ty);
                if !self.ended() {
                    self.copy((leaf, Space::Local), to, Space::Local, ty);
                }
                leaf = to;
            }
            self.effect(Op::Set(*slot, leaf));
        }
    }

    /// Returns the address of an array.
    fn array_at(&mut self, array: ArrayId, ty: &Ty) -> Value {
        let ptr = self.value(Op::Local(array), Type::Ptr(Space::Local, ty.pointee()));
        self.arrays.at.insert(ptr, array);
        ptr
    }

    /// Reads slots that no binding names, as [`get`](Self::get) does; their backing arrays become temporaries.
    pub(super) fn take_slots(&mut self, ty: &Ty, slots: &[SlotId]) -> Val {
        let mut value = self.get(ty, slots);
        for (leaf, ty) in ty.arrays() {
            // the slot is unset if no predecessor reached the merge
            if let Some(home) = self.arrays.backing.get(&slots[leaf]).copied() {
                value.leaves[leaf] = self.array_at(home, &ty);
            }
        }
        self.fresh(value)
    }
}
