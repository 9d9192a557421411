//! The last accesses to words and bytes: an access is compared with those recorded, and recorded itself.
//!
//! A word has its last weak write and the reads and strong accesses since; a word that is accessed in parts has these for each
//! byte.

use super::{Conflict, Race};
use crate::check::shadow::{Cell, Page, Record};

/// The limit on the reads and strong accesses that are kept for a word if accesses are ordered by other means than whole
/// barriers; beyond it a random one is dropped, and its race may be missed.
const KEPT: usize = 64;

impl Race {
    /// Records an access to bytes of a page, and returns an earlier one that races with it. Accesses before `since` do
    /// not count.
    pub(in crate::check) fn access(
        &mut self,
        page: &mut Page,
        offset: u32,
        bytes: u32,
        now: Record,
        since: u32,
    ) -> Option<Conflict> {
        self.divide_page(page, since);
        if now.writes() {
            self.written_after_reads += u32::from(page.only_read.write());
        }
        let (mut found, end) = (None, offset + bytes);
        let mut at = offset;
        while at < end {
            let (word, first) = ((at / 4) as usize, at % 4);
            let count = (4 - first).min(end - at);
            let cell = self.word(page, word, since);
            let earlier = if count == 4 && !(cell.write.is_several() && cell.write.time >= since) {
                self.touch(cell, now, since)
            } else {
                self.touch_bytes(cell, first..first + count, now, since)
            };
            if let (Some(earlier), None) = (earlier, found) {
                found = Some(Conflict { earlier, at: at - offset });
            }
            at += count;
        }
        found
    }

    fn new_list(&mut self, list: impl IntoIterator<Item = Record>) -> u32 {
        let number = self.free_lists.pop().unwrap_or_else(|| {
            self.lists.push(Vec::new());
            (self.lists.len() - 1) as u32
        });
        let new = &mut self.lists[number as usize];
        new.clear();
        new.extend(list);
        number
    }

    /// Returns a record of a copy of a list, for threads that come `threads` later.
    pub(in crate::check) fn copied(&mut self, record: Record, threads: usize) -> Record {
        let list = self.lists[record.place as usize].clone();
        let number = self.new_list(list.into_iter().map(|record| record.plus(threads)));
        Record::several(record.time, number as usize)
    }

    /// Takes the list of a record back that no longer counts.
    pub(in crate::check) fn recycle(&mut self, record: Record) {
        if record.is_several() && record.time >= self.start {
            self.free_lists.push(record.place);
        }
    }

    /// Takes the bytes of a word back if they no longer count.
    pub(in crate::check) fn expire_bytes(&mut self, cell: &mut Cell, since: u32) {
        if !cell.write.is_several() || cell.write.time >= since {
            return;
        }
        let write = std::mem::take(&mut cell.write);
        if write.time >= self.start {
            for byte in self.bytes[write.place as usize] {
                self.recycle(byte.other);
            }
            self.free_bytes.push(write.place);
        }
    }

    /// As [`Race::touch`], for bytes of a word.
    fn touch_bytes(&mut self, cell: &mut Cell, range: std::ops::Range<u32>, now: Record, since: u32) -> Option<Record> {
        if !(cell.write.is_several() && cell.write.time >= since) {
            if cell.other.time < since {
                self.recycle(std::mem::take(&mut cell.other));
            }
            self.expire_bytes(cell, since);
            let mut each = [*cell; 4];
            if cell.other.is_several() {
                for byte in &mut each[1..] {
                    byte.other = self.copied(cell.other, 0);
                }
            }
            let number = match self.free_bytes.pop() {
                Some(number) => number as usize,
                None => {
                    self.bytes.push(each);
                    self.bytes.len() - 1
                }
            };
            self.bytes[number] = each;
            *cell = Cell { write: Record::several(self.time, number), other: Record::default() };
        }
        let number = cell.write.place as usize;
        let mut found = None;
        let whole = range.len() == 4;
        for byte in range {
            let mut own = self.bytes[number][byte as usize];
            found = found.or(self.touch(&mut own, now, since));
            self.bytes[number][byte as usize] = own;
        }
        if whole && now.writes() && !now.is_strong() {
            // All bytes have the same last write again.
            self.free_bytes.push(number as u32);
            *cell = self.bytes[number][0];
        }
        found
    }

    /// Records an access to a word or byte, and returns an earlier one that races with it.
    fn touch(&mut self, cell: &mut Cell, now: Record, since: u32) -> Option<Record> {
        let weak_write = now.writes() && !now.is_strong();
        self.expire_bytes(cell, since);
        let write = cell.write;
        let mut found = None;
        if write.time >= since && write.thread() != now.thread() && self.conflicts(write, now) {
            found = Some(write);
        }
        let other = cell.other;
        if other.time < since {
            self.recycle(std::mem::take(&mut cell.other));
            *(if weak_write { &mut cell.write } else { &mut cell.other }) = now;
            return found;
        }
        if other.is_several() {
            return found.or(self.touch_list(cell, now));
        }
        if found.is_none() && self.conflicts(other, now) {
            found = Some(other);
        }
        self.add(cell, now);
        found
    }

    /// Adds an access to a cell that has one read or strong access.
    pub(in crate::check) fn add(&mut self, cell: &mut Cell, now: Record) {
        let other = cell.other;
        if now.writes() && !now.is_strong() {
            *cell = Cell { write: now, other: Record::default() };
        } else if now.replaces(other) && self.is_ordered(other, now) {
            cell.other = now;
        } else {
            let number = self.new_list([other, now]);
            cell.other = Record::several(other.time, number as usize);
            if self.simple && other.is_plain_read() && now.is_plain_read() && other.block() != now.block() {
                cell.other = cell.other.shared();
            }
        }
    }

    /// Returns true if a later access that races with `now`, a read or strong access, always races with one of a list as
    /// well: with one of two that are like it in different blocks, or in its block since the last barrier by different
    /// threads.
    fn is_implied(&self, list: &[Record], now: Record) -> bool {
        let block = &self.block;
        let (mut elsewhere, mut recent) = (None, None);
        self.simple
            && list.iter().filter(|earlier| earlier.is_like(now)).any(|earlier| {
                let apart = *elsewhere.get_or_insert(earlier.block()) != earlier.block();
                let is_recent = earlier.block() == block.number && earlier.time >= block.barrier;
                let both = is_recent && *recent.get_or_insert(earlier.thread()) != earlier.thread();
                apart || both || (is_recent && earlier.thread() == now.thread())
            })
    }

    /// Adds an access to a cell with a list, unless it races with one of them.
    pub(in crate::check) fn quietly_in_list(&mut self, cell: &mut Cell, now: Record) -> bool {
        let list = &self.lists[cell.other.place as usize];
        let weak_write = now.writes() && !now.is_strong();
        if (weak_write || list.iter().any(|earlier| earlier.writes()))
            && list.iter().any(|earlier| self.conflicts(*earlier, now))
        {
            return false;
        }
        if weak_write || !self.is_implied(list, now) {
            self.touch_list(cell, now);
        }
        if self.simple && now.is_plain_read() && cell.other.is_several() {
            // The list has a read of this block, or it has reads of two others.
            let list = &self.lists[cell.other.place as usize];
            if list.iter().any(|earlier| earlier.is_plain_read() && earlier.block() != now.block()) {
                cell.other = cell.other.shared();
            }
        }
        true
    }

    /// As [`Race::touch`], for a list of reads and strong accesses.
    fn touch_list(&mut self, cell: &mut Cell, now: Record) -> Option<Record> {
        let number = cell.other.place as usize;
        let mut list = std::mem::take(&mut self.lists[number]);
        let found = list.iter().copied().find(|earlier| self.conflicts(*earlier, now));
        if now.writes() && !now.is_strong() {
            list.clear();
            self.free_lists.push(number as u32);
            *cell = Cell { write: now, other: Record::default() };
        } else {
            let implied = self.is_implied(&list, now);
            if !implied {
                list.retain(|earlier| !(now.replaces(*earlier) && self.is_ordered(*earlier, now)));
            }
            if implied {
            } else if self.simple || list.len() < KEPT {
                list.push(now);
            } else {
                self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                list[(self.random >> 16) as usize % KEPT] = now;
            }
        }
        self.lists[number] = list;
        found
    }
}
