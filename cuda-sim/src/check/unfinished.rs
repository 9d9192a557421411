//! Asynchronous copies (`cp.async`) that nothing has waited for yet.
//!
//! Such a copy writes its destination and reads its source at any time between its start and the end of the wait, in no order
//! with its own thread. An access in between races with it, whoever makes it: what is ordered before the start was made before
//! it, and what is ordered after the wait is made after it. Pages have the bytes of such copies, and the block has the copies.

use super::access::{Asked, global};
use super::report::Report;
use super::shadow::{Bytes, PAGE, Page, PageKind, first_present, insert, parts, place, remove};
use super::{Checker, with};
use crate::codegen::abi::{Access, Context};
use crate::environment::Checks;
use crate::exec::copies::Sides;
use std::ops::Range;

/// The bytes of a page that copies write, and those that they read.
#[derive(Clone)]
pub(super) struct Unfinished {
    written: Bytes,
    read: Bytes,
}

impl Page {
    /// Returns true if an access to bytes of the page may race with a copy.
    #[inline]
    pub(super) fn may_meet_copy(&self, range: Range<usize>, writes: bool) -> bool {
        self.unfinished.as_ref().is_some_and(|unfinished| {
            first_present(&unfinished.written, range.clone()).is_some()
                || (writes && first_present(&unfinished.read, range).is_some())
        })
    }
}

/// A copy was started.
pub(crate) fn copy_begins(sides: &Sides) {
    with(|checker| checker.mark(sides, true));
}

/// A copy is made, and its thread, or whoever tests its barrier object, knows that.
pub(crate) fn copy_ends(sides: &Sides) {
    with(|checker| checker.mark(sides, false));
}

impl Checker {
    fn mark(&mut self, sides: &Sides, begins: bool) {
        if !self.checks.has(Checks::RACE) {
            return;
        }
        for (start, bytes, writes) in [(sides.to, sides.bytes, true), (sides.from, sides.filled, false)] {
            for (at, range) in parts(start, bytes.into()) {
                let Some(page) = self.pages.find(at) else { continue };
                match (begins, page.unfinished.is_none()) {
                    (true, true) => self.with_copies.push(at),
                    (false, true) => continue,
                    _ => {}
                }
                let empty = || Box::new(Unfinished { written: [0; PAGE as usize / 64], read: [0; PAGE as usize / 64] });
                let unfinished = page.unfinished.get_or_insert_with(empty);
                let set = if writes { &mut unfinished.written } else { &mut unfinished.read };
                if begins { insert(set, range) } else { remove(set, range) }
            }
        }
    }

    /// Forgets the copies of a launch that ends.
    pub(super) fn forget_copies(&mut self) {
        for at in std::mem::take(&mut self.with_copies) {
            if let Some(page) = self.pages.find(at) {
                page.unfinished = None;
            }
        }
    }

    /// Reports an access that races with a copy of the block.
    #[cold]
    pub(super) fn meets_copy(&mut self, own: &Context, asked: Asked, kind: PageKind) {
        let writes = asked.access() != Access::Load;
        let Some(met) = own.copies.meeting(asked.address, asked.bytes, writes) else { return };
        let kind_text = match (writes, met.writes) {
            (true, true) => "race of two writes",
            (false, _) => "race of a read with an earlier write",
            (true, false) => "race of a write with an earlier read",
        };
        let at = met.address.max(asked.address);
        let what = if met.writes { "write of an asynchronous copy" } else { "read of an asynchronous copy" };
        let accesses = vec![
            self.accessed(asked.what(), global(own, asked.thread), place(asked.position), None),
            self.accessed(what.to_owned(), global(own, met.thread), place(met.position), None),
        ];
        self.report(Report {
            check: "race",
            kind: kind_text,
            kernel: self.kernel_name(),
            array: Some(self.array(own, at, Some(kind), false)),
            address: Some(at),
            note: Some("nothing has waited for the copy".to_owned()),
            accesses,
            ..Report::default()
        });
    }
}
