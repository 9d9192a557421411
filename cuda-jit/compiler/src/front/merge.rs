//! Where the branches of an expression leave its value.
//!
//! The slots are made when the first value arrives, since only then it is known where references in it point.

use super::function::{Lowering, Result};
use super::types::Val;
use crate::harvest::layout::shown;
use crate::harvest::{Memory, Ty};
use crate::kir::{BlockId, SlotId, Space, Terminator};
use crate::syntax::Pos;

/// A place where values of one type arrive.
#[derive(Debug)]
pub(super) struct Merge {
    name: &'static str,
    /// The type but for where references point.
    ty: Ty,
    slots: Option<(Ty, Vec<SlotId>)>,
}

/// The number of a [`Merge`] in its function.
#[derive(Clone, Copy, Debug)]
pub(super) struct MergeId(usize);

impl Lowering<'_> {
    /// A place where values of type `ty` will arrive.
    pub(super) fn merge(&mut self, name: &'static str, ty: Ty) -> MergeId {
        self.merges.push(Merge { name, ty, slots: None });
        MergeId(self.merges.len() - 1)
    }

    /// The type that arrives, but for where references point.
    pub(super) fn merged(&self, merge: MergeId) -> Ty {
        self.merges[merge.0].ty.clone()
    }

    /// Leaves a value, unless control does not get here.
    pub(super) fn leave_value(&mut self, at: Pos, value: Val, merge: MergeId) -> Result<()> {
        if self.build.ended() {
            return Ok(());
        }
        let Some((ty, slots)) = self.merges[merge.0].slots.clone() else {
            let name = self.merges[merge.0].name;
            let slots = self.build.slots_of(name, &value);
            self.merges[merge.0].slots = Some((value.ty, slots));
            return Ok(());
        };
        let (ty, slots) = self.build.room_for(self.merges[merge.0].name, (ty, slots), &value.ty);
        self.merges[merge.0].slots = Some((ty.clone(), slots.clone()));
        let value = self.agree(at, value, &ty)?;
        self.build.set(&slots, &value);
        Ok(())
    }

    /// Leaves a value and goes on in `exit`.
    pub(super) fn arrive(&mut self, at: Pos, value: Val, merge: MergeId, exit: BlockId) -> Result<()> {
        self.leave_value(at, value, merge)?;
        self.build.end(Terminator::Jump(exit));
        Ok(())
    }

    /// The value that arrived.
    pub(super) fn arrived(&mut self, merge: MergeId) -> Val {
        match self.merges[merge.0].slots.clone() {
            Some((ty, slots)) => self.build.taken(&ty, &slots),
            None => {
                let ty = self.merged(merge);
                self.build.never(&ty)
            }
        }
    }

    /// The value as one of a type that it must have, with references pointing to the same memory. What stands for a
    /// constant may be one to a copy of it.
    pub(super) fn agree(&mut self, at: Pos, value: Val, ty: &Ty) -> Result<Val> {
        if value.ty == *ty || self.build.ended() {
            return Ok(value);
        }
        if let (Ty::Ref(to, Memory::Read(Space::Constant)), Ty::Ref(_, memory)) = (&value.ty, ty)
            && matches!(memory, Memory::Value | Memory::Write(Space::Local))
            && value.ty.fits(ty)
        {
            let mut copy = self.build.load(value.only(), Space::Constant, to);
            if *memory != Memory::Value && !matches!(copy.ty, Ty::Array(..)) {
                let cell = self.build.new_array("copy", &copy.ty).only();
                self.build.store(cell, Space::Local, &copy);
                copy.leaves = vec![cell];
            }
            return Ok(Val { ty: ty.clone(), leaves: copy.leaves });
        }
        if !value.ty.fits(ty) {
            let text = format!(
                "this has type `{}` in the front end but `{}` in rustc; please report this",
                shown(&value.ty),
                shown(ty)
            );
            return Err(self.error(at, text));
        }
        let value = self.build.pointing_as(value, ty);
        if value.ty == *ty {
            return Ok(value);
        }
        if self.in_one_memory(at, &value.ty, ty)? {
            // the function is lowered again, with what these refer to in memory
            return Err(self.error(at, "this is lowered again"));
        }
        let text = format!(
            "this `{}` points to other memory than the one that it could be instead; use each where it is made",
            shown(ty)
        );
        Err(self.error(at, text))
    }
}
