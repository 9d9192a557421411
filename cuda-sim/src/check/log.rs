//! The accesses to a page as a log, as long as no two of them can race.
//!
//! The log has an entry for each run: neighbouring threads that access neighbouring words, or the same bytes. A run of reads
//! is only appended while nothing in the log has written its bytes, so broadcast reads and overlapping reads cost one
//! entry each. Loads of shared memory that are more than a few runs are logged as a whole *row*, with the offset of each
//! thread. When a run may race with another one or with a row, or the log is full, the page is *divided*: its runs and
//! rows are recorded in chunks and words (`chunks.rs`), which decide. Entries that a barrier or the launch has ordered are
//! forgotten.
//!
//! All of this is for launches in which only barriers of whole blocks order accesses ([`Race::simple`]).

use super::chunks::Accesses;
use super::lanes::{self, NOT_IN_PAGE};
use super::race::{BlockClocks, Race};
use super::shadow::{PAGE, Page, PageKind, Record};
use std::ops::Range;

/// The limits of a log.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The entries of a page of global and of shared memory at most.
    pub(super) global: usize,
    pub(super) shared: usize,
    /// The entries that a run which may race with some of them is compared with at most.
    pub(super) compared: usize,
}

impl Limits {
    /// A page's words and their last accesses have the size of some hundred entries.
    pub(super) const DEFAULT: Limits = Limits { global: 256, shared: 4096, compared: 32 };
}

/// A run of accesses, by its first access.
#[derive(Clone, Copy)]
struct Entry {
    first: Record,
    accesses: Accesses,
    /// The time of the last barrier of its block.
    barrier: u32,
}

/// Loads of neighbouring threads from any words of a page.
struct Row {
    /// The first thread's load, and the bytes of each.
    first: Record,
    bytes: u32,
    /// The bytes of the page that they read, and perhaps others between them.
    range: Range<u32>,
    /// The time of the last barrier of the block.
    barrier: u32,
    /// The positions of their offsets among those of the log.
    offsets: Range<usize>,
}

/// The offsets in rows that a log has at most.
const ROW_OFFSETS: usize = 1 << 17;

/// The log of a page.
#[derive(Default)]
pub(super) struct Log {
    entries: Vec<Entry>,
    /// Rows, all since the last barrier of the block, and the offsets of their threads.
    rows: Vec<Row>,
    offsets: Vec<u16>,
    /// The bytes of the page that entries read and write, and perhaps others between them.
    read: Range<u32>,
    written: Range<u32>,
    /// The time at which the page was divided last, 0 for never.
    divided: u32,
}

fn meets(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}

fn extend(range: &mut Range<u32>, other: &Range<u32>) {
    *range =
        if range.start >= range.end { other.clone() } else { range.start.min(other.start)..range.end.max(other.end) };
}

impl Accesses {
    /// The bytes of the page that they access.
    fn range(&self) -> Range<u32> {
        self.offset..self.offset + if self.same { self.bytes } else { self.bytes * self.threads }
    }
}

impl Entry {
    fn range(&self) -> Range<u32> {
        self.accesses.range()
    }

    /// Adds an access of the next thread by the same instruction, to the next bytes or to the same ones. Returns false for another
    /// access.
    fn append(&mut self, next: &Entry) -> bool {
        let Accesses { offset, bytes, threads, same } = self.accesses;
        let is_next = next.first == self.first.plus(threads as usize)
            && next.barrier == self.barrier
            && next.accesses.bytes == bytes
            && next.accesses.threads == 1;
        if !is_next {
            return false;
        }
        let is_beside = !same && next.accesses.offset == offset + bytes * threads;
        let is_same = (same || threads == 1) && next.accesses.offset == offset && !next.first.writes();
        if is_beside || is_same {
            self.accesses.threads += 1;
            self.accesses.same = is_same;
        }
        is_beside || is_same
    }

    /// Returns true if the bytes that both runs access are accessed by the same threads.
    fn is_of_same_threads(&self, other: &Entry) -> bool {
        // The thread of byte 0, if the run began there, in bytes.
        let origin = |Entry { first, accesses, .. }: &Entry| {
            (first.thread() * u64::from(accesses.bytes)).wrapping_sub(accesses.offset.into())
        };
        let apart = !self.accesses.same && !other.accesses.same;
        apart && self.accesses.bytes == other.accesses.bytes && origin(self) == origin(other)
    }
}

/// The last entries to which the next thread's access may belong.
const RECENT: usize = 4;

impl Log {
    /// Forgets the entries before a time.
    fn forget(&mut self, since: u32) {
        if self.entries.last().is_some_and(|last| last.first.time < since) {
            self.entries.clear();
        }
        self.entries.retain(|entry| entry.first.time >= since);
        self.rows.retain(|row| row.first.time >= since);
        if self.rows.is_empty() {
            self.offsets.clear();
        }
        (self.read, self.written) = (0..0, 0..0);
        for entry in &self.entries {
            extend(if entry.first.writes() { &mut self.written } else { &mut self.read }, &entry.accesses.range());
        }
        for row in &self.rows {
            extend(&mut self.read, &row.range);
        }
    }

    /// Forgets the entries before a time, if there are any.
    fn forget_old(&mut self, since: u32) {
        let entry = self.entries.first().map(|first| first.first.time);
        let row = self.rows.first().map(|first| first.first.time);
        if entry.into_iter().chain(row).any(|time| time < since) {
            self.forget(since);
        }
    }

    /// Returns true if the accesses of the page are recorded in words.
    pub(super) fn is_divided(&self, since: u32) -> bool {
        self.divided >= since
    }

    fn push(&mut self, entry: Entry) {
        extend(if entry.first.writes() { &mut self.written } else { &mut self.read }, &entry.range());
        // Threads that are asked about one by one make the accesses of a few instructions in turn.
        let recent = self.entries.len().saturating_sub(RECENT);
        if !self.entries[recent..].iter_mut().rev().any(|earlier| earlier.append(&entry)) {
            self.entries.push(entry);
        }
    }
}

impl Race {
    /// Appends a run to the log of its page. Returns false, and divides the page, if it may race with another one.
    pub(super) fn log(&mut self, page: &mut Page, accesses: Accesses, now: Record, since: u32) -> bool {
        let entry = Entry { first: now, accesses, barrier: self.block.barrier };
        let limit = if page.kind == PageKind::Shared { self.limits.shared } else { self.limits.global };
        let log = &mut page.log;
        if log.is_divided(since) {
            return false;
        }
        log.forget_old(since);
        let range = entry.range();
        let is_read = !now.writes();
        if !meets(&range, &log.written) && (is_read || !meets(&range, &log.read)) {
            if log.entries.len() < limit {
                log.push(entry);
                return true;
            }
        } else if log.entries.len() <= self.limits.compared && (is_read || log.rows.is_empty()) {
            let block = &self.block;
            let is_apart = |earlier: &Entry| {
                (is_read && !earlier.first.writes())
                    || !meets(&range, &earlier.range())
                    || earlier.is_of_same_threads(&entry)
                    || (earlier.first.block() == block.number && earlier.first.time < block.barrier)
            };
            if log.entries.iter().all(is_apart) {
                // The later one of two runs that are alike stands for both.
                let is_alike = |earlier: &Entry| {
                    earlier.first.is_like(now) && earlier.range() == range && earlier.is_of_same_threads(&entry)
                };
                if let Some(at) = log.entries.iter().position(is_alike) {
                    log.entries.remove(at);
                }
                log.push(entry);
                return true;
            }
        }
        self.divide_page(page, since);
        false
    }

    /// Appends a row to the log of a page of shared memory: loads of threads from that of `now` on, of which those in the page are
    /// within `range`. Returns false if they have to be recorded as runs.
    pub(super) fn log_row(
        &mut self,
        page: &mut Page,
        (start, addresses): (u64, &[u64]),
        range: Range<u32>,
        bytes: u32,
        now: Record,
        since: u32,
    ) -> bool {
        let log = &mut page.log;
        if !self.simple || log.is_divided(since) {
            return false;
        }
        log.forget_old(since);
        let from = log.offsets.len();
        if meets(&range, &log.written) || from + addresses.len() > ROW_OFFSETS {
            return false;
        }
        let offsets = from..from + addresses.len();
        log.offsets.resize(offsets.end, NOT_IN_PAGE);
        lanes::offsets(addresses, start, PAGE, &mut log.offsets[offsets.clone()]);
        extend(&mut log.read, &range);
        log.rows.push(Row { first: now, bytes, range, barrier: self.block.barrier, offsets });
        true
    }

    /// Records the accesses of a page's log in chunks and words, where all further ones are recorded.
    pub(super) fn divide_page(&mut self, page: &mut Page, since: u32) {
        if page.log.is_divided(since) {
            return;
        }
        page.log.divided = self.time;
        let entries = std::mem::take(&mut page.log.entries);
        let (rows, offsets) = (std::mem::take(&mut page.log.rows), std::mem::take(&mut page.log.offsets));
        if entries.is_empty() && rows.is_empty() {
            return;
        }
        let running = std::mem::take(&mut self.block);
        for entry in entries.into_iter().filter(|entry| entry.first.time >= since) {
            // What was ordered then.
            self.block = BlockClocks::at_barrier(entry.first.block(), entry.barrier);
            // None races with another one.
            let _ = self.record_run(page, entry.accesses, entry.first, since);
        }
        for row in rows.into_iter().filter(|row| row.first.time >= since) {
            self.block = BlockClocks::at_barrier(row.first.block(), row.barrier);
            let all = offsets[row.offsets].iter().enumerate().filter(|(_, offset)| **offset != NOT_IN_PAGE);
            for (thread, offset) in all {
                let accesses = Accesses { offset: u32::from(*offset), bytes: row.bytes, threads: 1, same: false };
                let _ = self.record_run(page, accesses, row.first.plus(thread), since);
            }
        }
        self.block = running;
    }
}
