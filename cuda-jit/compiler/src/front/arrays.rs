//! The memory of arrays within a function: which temporaries, homes and addresses there are (`copies.rs` has the kinds).

use std::collections::{HashMap, HashSet};

use super::builder::Builder;
use super::types::Val;
use crate::kir::{ArrayId, Op, SlotId, Space, Type, Value};
use crate::typeinfo::Ty;

/// Facts about the memory of arrays while a function is lowered.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    /// The array that each address begins.
    pub(super) at: HashMap<Value, ArrayId>,
    fresh: HashSet<Value>,
    stable: HashSet<Value>,
    /// The home behind each slot that holds the address of one.
    homes: HashMap<SlotId, ArrayId>,
}

impl Builder {
    /// Marks the arrays of a value that was just made as temporaries.
    pub(super) fn fresh(&mut self, value: Val) -> Val {
        for (leaf, _) in value.ty.arrays() {
            self.arrays.fresh.insert(value.leaves[leaf]);
        }
        value
    }

    /// Marks the arrays of a value as never written while it can be used.
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

    /// Takes an array over if it is a temporary; returns whether it was.
    pub(super) fn take_fresh(&mut self, array: Value) -> bool {
        self.arrays.fresh.remove(&array)
    }

    /// A part of what lies at a stable address is stable.
    pub(super) fn part_of(&mut self, whole: Value, part: Value) -> Value {
        if self.arrays.stable.contains(&whole) {
            self.arrays.stable.insert(part);
        }
        part
    }

    /// Marks an array that a reference points to: if it is a temporary, no binding may take it over.
    pub(super) fn borrowed(&mut self, array: Value, mutable: bool) {
        if self.arrays.fresh.remove(&array) && !mutable {
            self.arrays.stable.insert(array);
        }
    }

    /// Slots for a value of a type, with a home for each array.
    pub(super) fn slots(&mut self, name: &str, ty: &Ty) -> Vec<SlotId> {
        let name = super::variable_name(name);
        let slots: Vec<_> = ty.leaves().into_iter().map(|leaf| self.slot(name.as_str(), leaf)).collect();
        for (leaf, ty) in ty.arrays() {
            let home = self.array(name.as_str(), ty.pointee(), ty.count().max(1));
            self.arrays.homes.insert(slots[leaf], home);
        }
        slots
    }

    /// Slots that hold a value; its temporaries become their homes.
    pub(super) fn slots_of(&mut self, name: &str, value: &Val) -> Vec<SlotId> {
        let slots = self.slots(name, &value.ty);
        for (leaf, _) in value.ty.arrays() {
            if self.arrays.fresh.remove(&value.leaves[leaf])
                && let Some(home) = self.arrays.at.get(&value.leaves[leaf])
            {
                self.arrays.homes.insert(slots[leaf], *home);
            }
        }
        self.set(&slots, value);
        slots
    }

    /// Writes slots, and the homes behind them; a value that never comes to be has no leaves.
    pub(super) fn set(&mut self, slots: &[SlotId], value: &Val) {
        let arrays: HashMap<usize, Ty> = value.ty.arrays().into_iter().collect();
        for (index, (slot, leaf)) in slots.iter().zip(&value.leaves).enumerate() {
            let mut leaf = *leaf;
            if let (Some(ty), Some(home)) = (arrays.get(&index), self.arrays.homes.get(slot).copied())
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

    /// The address of an array.
    fn array_at(&mut self, array: ArrayId, ty: &Ty) -> Value {
        let ptr = self.value(Op::Local(array), Type::Ptr(Space::Local, ty.pointee()));
        self.arrays.at.insert(ptr, array);
        ptr
    }

    /// The value in slots that nothing names, as in [`get`](Self::get); its homes are temporaries.
    pub(super) fn taken(&mut self, ty: &Ty, slots: &[SlotId]) -> Val {
        let mut value = self.get(ty, slots);
        for (leaf, ty) in ty.arrays() {
            // the slot does not hold it where nothing has arrived
            if let Some(home) = self.arrays.homes.get(&slots[leaf]).copied() {
                value.leaves[leaf] = self.array_at(home, &ty);
            }
        }
        self.fresh(value)
    }
}
