//! Scalar copies out of local memory ([`crate::ir::moves`]): the load of one is no read, since the value may be copied
//! without being used. The store reports it if nobody wrote the value and it leaves local memory, where nothing tells it
//! from one that has been written.

use super::Checker;
use super::access::{Asked, global};
use super::shadow::{PAGE, PageKind, first_present, insert};
use crate::codegen::abi::{Access, BatchSite, Context, access};
use crate::environment::Checks;
use std::collections::HashMap;

/// The loads of values that nobody wrote, by thread in the grid, from the load of a copy to its store.
#[derive(Default)]
pub(super) struct Copies(HashMap<u64, Asked>);

impl Copies {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Checker {
    /// Returns true if accesses of a place have to be followed one by one.
    pub(super) fn follows(&self, site: BatchSite) -> bool {
        site.kind as u32 & access::COPIES != 0 && !self.copies.0.is_empty()
    }

    /// Follows a legal access of a scalar copy. Returns true if it changes nothing else that is known of the memory.
    pub(super) fn follow_copy(&mut self, own: &Context, asked: Asked, kind: PageKind) -> bool {
        if !self.checks.has(Checks::INIT) {
            return false;
        }
        match asked.access() {
            Access::Load => self.begin_copy(own, asked, kind),
            _ => self.end_copy(own, asked, kind),
        }
    }

    /// Remembers a load of which nobody wrote a byte. Of a value that was written in part, the rest may be padding.
    fn begin_copy(&mut self, own: &Context, asked: Asked, kind: PageKind) -> bool {
        let range = asked.range();
        let page = self.pages.find(asked.address).filter(|page| page.kind == PageKind::Local);
        let set = page.and_then(|page| page.written.as_ref());
        let is_unwritten = kind == PageKind::Local && set.is_some_and(|set| first_present(set, range).is_none());
        let thread = global(own, asked.thread);
        if is_unwritten {
            self.copies.0.insert(thread, asked);
        } else if !self.copies.0.is_empty() {
            self.copies.0.remove(&thread);
        }
        is_unwritten
    }

    /// Copies the mark to local memory, and reports a value that leaves it.
    fn end_copy(&mut self, own: &Context, asked: Asked, kind: PageKind) -> bool {
        if self.copies.0.is_empty() {
            return false;
        }
        let Some(load) = self.copies.0.remove(&global(own, asked.thread)) else { return false };
        if kind == PageKind::Local {
            if let Some(page) = self.pages.find(asked.address) {
                page.unwrite(asked.range());
            }
            return true;
        }
        if let Some(set) = self.pages.find(load.address).and_then(|page| page.written.as_mut()) {
            insert(set, load.range());
        }
        self.uninitialised(own, load, PageKind::Local, 0, Some(asked));
        false
    }
}

impl Asked {
    /// The bytes of the access in its page.
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        let offset = (self.address % PAGE) as usize;
        offset..offset + self.bytes as usize
    }
}
