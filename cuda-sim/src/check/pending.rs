//! The clocks that strong reads of a thread have collected, before a fence, or an acquire operation of the same location, adds them
//! to those that the thread knows.
//!
//! PTX has two acquire patterns that begin with a strong read: with a later fence, whatever the location was, and with a later
//! acquire operation of the same location.

use super::clocks::{self, Known};
use crate::codegen::abi::Scope;

/// A clock for each scope.
pub(super) type Scoped = [Known; 3];

/// The clocks that a thread's strong reads of each scope have collected, and no fence has added yet.
#[derive(Clone, Default)]
pub(super) struct Pending {
    all: Scoped,
    /// Those of each location, which an acquire operation there adds.
    each: Vec<(u64, Scoped)>,
    /// True if there were too many locations for `each`.
    is_cut: bool,
}

/// The limit on the locations whose clocks are kept apart for a thread. Beyond it an acquire operation adds all of them.
const READ_APART: usize = 16;

impl Pending {
    /// Adds what a read of a location has found, for the scopes from the narrowest on.
    pub(super) fn collect(&mut self, address: u64, found: &[Known]) {
        let apart = match self.each.iter().position(|(at, _)| *at == address) {
            Some(at) => Some(at),
            None if self.each.len() < READ_APART => {
                self.each.push((address, Scoped::default()));
                Some(self.each.len() - 1)
            }
            None => None,
        };
        self.is_cut |= apart.is_none();
        for (level, found) in found.iter().enumerate() {
            clocks::join(&mut self.all[level], found);
            if let Some(at) = apart {
                clocks::join(&mut self.each[at].1[level], found);
            }
        }
    }

    /// Takes what reads of a scope or a narrower one have collected.
    pub(super) fn take(&mut self, scope: Scope) -> Known {
        let mut taken = None;
        self.all[..=scope as usize].iter_mut().for_each(|known| clocks::join(&mut taken, &known.take()));
        if scope == Scope::Device {
            self.each.clear();
            self.is_cut = false;
        }
        taken
    }

    /// As [`Pending::take`], of one location.
    pub(super) fn take_at(&mut self, address: u64, scope: Scope) -> Known {
        if self.is_cut {
            return self.take(scope);
        }
        let (_, known) = self.each.iter_mut().find(|(at, _)| *at == address)?;
        let mut taken = None;
        known[..=scope as usize].iter_mut().for_each(|known| clocks::join(&mut taken, &known.take()));
        taken
    }
}
