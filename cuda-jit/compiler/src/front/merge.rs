//! Merges: the slots through which the branches of an expression pass their value, as a phi would.
//!
//! The slots are allocated when the first value is stored, since only then the memories of its references are known.

use super::function::{Lowering, Result};
use super::generic::widens;
use super::place::ReferenceVar;
use super::types::Val;
use crate::kir::{BlockId, SlotId, Terminator};
use crate::syntax::Pos;
use crate::typeinfo::layout::ty_name;
use crate::typeinfo::{Memory, Ty};

/// A merge of values of one type.
#[derive(Debug)]
pub(super) struct Merge {
    name: &'static str,
    /// The type, but for the memories of its references.
    ty: Ty,
    /// The number in [`Scopes::reference_memories`](super::scopes::Scopes::reference_memories) if the type holds references.
    number: Option<usize>,
    slots: Option<(Ty, Vec<SlotId>)>,
}

/// The number of a [`Merge`] in its function.
#[derive(Clone, Copy, Debug)]
pub(super) struct MergeId(usize);

impl Lowering<'_> {
    /// Creates a merge of values of type `ty`.
    pub(super) fn merge(&mut self, name: &'static str, ty: Ty) -> MergeId {
        let number = (!ty.memories().is_empty()).then(|| self.scopes.new_reference_entry());
        self.merges.push(Merge { name, ty, number, slots: None });
        MergeId(self.merges.len() - 1)
    }

    /// The merge's type, but for the memories of references.
    pub(super) fn merge_type(&self, merge: MergeId) -> Ty {
        self.merges[merge.0].ty.clone()
    }

    /// Stores a value to the merge, unless this is unreachable.
    pub(super) fn store_to_merge(&mut self, at: Pos, value: Val, merge: MergeId) -> Result<()> {
        if self.build.ended() {
            return Ok(());
        }
        let Merge { name, number, .. } = self.merges[merge.0];
        let Some((ty, slots)) = self.merges[merge.0].slots.clone() else {
            let value = match number {
                Some(number) => self.first_value_of(number, value),
                None => value,
            };
            let slots = self.build.slots_of(name, &value);
            self.merges[merge.0].slots = Some((value.ty, slots));
            return Ok(());
        };
        let (ty, slots) = self.build.extend_slots(name, (ty, slots), &value.ty);
        self.merges[merge.0].slots = Some((ty.clone(), slots.clone()));
        if let Some(number) = number
            && ty.fits(&value.ty)
            && self.scopes.record_memories(ReferenceVar { number, first: 0 }, &ty, &value.ty)
        {
            // the function is lowered again, with generic pointers
            return Err(self.error(at, "this is lowered again"));
        }
        let value = self.conform(at, value, &ty)?;
        self.build.set(&slots, &value);
        Ok(())
    }

    /// Stores a value to the merge and jumps to `exit`.
    pub(super) fn merge_and_jump(&mut self, at: Pos, value: Val, merge: MergeId, exit: BlockId) -> Result<()> {
        self.store_to_merge(at, value, merge)?;
        self.build.end(Terminator::Jump(exit));
        Ok(())
    }

    /// The merged value.
    pub(super) fn merge_result(&mut self, merge: MergeId) -> Val {
        match self.merges[merge.0].slots.clone() {
            Some((ty, slots)) => self.build.take_slots(&ty, &slots),
            None => {
                let ty = self.merge_type(merge);
                self.build.placeholder(&ty)
            }
        }
    }

    /// Converts a value to the given type, whose references may point to wider memories.
    pub(super) fn conform(&mut self, at: Pos, value: Val, ty: &Ty) -> Result<Val> {
        if value.ty == *ty || self.build.ended() {
            return Ok(value);
        }
        if !value.ty.fits(ty) {
            let text = format!(
                "this has type `{}` in the front end but `{}` in rustc; please report this",
                ty_name(&value.ty),
                ty_name(ty)
            );
            return Err(self.error(at, text));
        }
        let value = self.build.resolve_unknown_as(value, ty);
        if widens(&value.ty, ty) {
            return Ok(self.build.widened(value, ty));
        }
        if self.unify_places(at, &value.ty, ty)? {
            // the function is lowered again, with these referents in memory
            return Err(self.error(at, "this is lowered again"));
        }
        let (without, with): (Vec<bool>, Vec<bool>) = {
            let address = |ty: &Ty| ty.memories().iter().map(|memory| *memory != Memory::Value).collect();
            (address(&value.ty), address(ty))
        };
        let text = match without != with {
            true => format!(
                "this `{}` is to a value that may have no address, or to memory that other threads may write; bind it as an \
                 array, `let v = [v]`, and borrow `v[0]`",
                ty_name(ty)
            ),
            false => format!(
                "this `{}` and the one of another branch are to different kinds of places; use each in its own branch",
                ty_name(ty)
            ),
        };
        Err(self.error(at, text))
    }
}
