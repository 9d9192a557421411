//! Checks of the accesses that code has recorded for many threads (`codegen/batch.rs`): neighbouring threads that access
//! neighbouring words, or one word, are checked together, the others one by one ([`super::access`]).
//!
//! # Safety
//!
//! Compiled code passes the context of its running block, a table that the code generator wrote, and threads of the block.
//! The rows of the batch are owned by the checker; compiled code does not write to them during the call.

use super::access::{Asked, is_own};
use super::chunks::Accesses;
use super::history::Sort;
use super::lanes::{Extent, extent, leading, take_within};
use super::shadow::{PAGE, Page, PageKind, first_missing, insert, parts};
use super::{Checker, with};
use crate::codegen::abi::{self, Access, BATCH_ROW, BatchSite, BatchTable, Context, NOT_ACCESSED};
use crate::environment::Checks;
use crate::exec::fault;
use crate::exec::launch::Fault;
use crate::memory::IllegalAccess;
use std::ops::Range;

/// Called by checked code with the accesses that `count` threads from `first` on have recorded and made. It does not
/// return from an illegal one.
pub(crate) extern "C" fn batched(context: *const Context, table: *const BatchTable, first: u64, count: u64) {
    // SAFETY: compiled code passes the live context of its block, which nothing else accesses during the call.
    let own = unsafe { &*context };
    // SAFETY: compiled code passes a table of its own, which is constant.
    let table = unsafe { &*table };
    // SAFETY: the code generator wrote the table.
    let sites = unsafe { table.sites() };
    if let Some(Err(instead)) = with(|checker| checker.batched(own, sites, first as usize, count as usize)) {
        fault::raise(instead);
    }
}

/// Code that records its accesses has faulted at an address: finds the access among those it has recorded.
pub(crate) fn faulted(own: &Context, address: u64) {
    // SAFETY: null, or a table that the running code has set, which is constant.
    let Some(table) = (unsafe { own.batched.as_ref() }) else { return };
    // SAFETY: the code generator wrote the table.
    let sites = unsafe { table.sites() };
    with(|checker| checker.faulted(own, sites, address));
}

/// The pages that a row which is recorded as a whole reaches at most.
const ROW_PAGES: u64 = 16;

/// A row that may have as many runs as this is recorded as a whole.
const MANY: usize = 4;

/// Memory in which the accesses of one place need no record and no report ([`Checker::is_clear`]).
#[derive(Clone, Default)]
pub(super) struct ClearArea {
    /// The place, and the properties of its accesses.
    site: Option<BatchSite>,
    /// The pages that were looked at, without what is beyond the array.
    range: Range<u64>,
    /// The array.
    area: Range<u64>,
    /// The offset of the last access in the range.
    most: u64,
    /// The writes to pages that had only been read until then (`Race::written_after_reads`).
    written: u32,
}

/// The clear areas that are kept.
pub(super) const CLEAR_AREAS: usize = 256;

/// Returns the slot of a place among the clear areas.
fn slot(site: BatchSite) -> usize {
    // The line, spread over all slots by Fibonacci hashing, and the column.
    let hash = site.position.rotate_left(32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> 32) as usize % CLEAR_AREAS
}

/// The accesses of neighbouring threads whose addresses differ by a constant.
#[derive(Clone, Copy)]
struct Run {
    /// The first thread, and the number of them.
    thread: usize,
    threads: usize,
    address: u64,
    /// The bytes of an access, or 0 for one address.
    step: u64,
}

impl Checker {
    fn batched(&mut self, own: &Context, sites: &[BatchSite], first: usize, count: usize) -> Result<(), u64> {
        self.enter(own);
        let mut row = 0;
        let mut result = Ok(());
        for site in sites {
            // Reports may name values that later rows have, so rows with values stay until the end.
            let has_value = site.kind as u32 & abi::access::VALUE != 0;
            let looks = has_value || self.follows(*site);
            if result.is_ok() && (looks || !self.take_clear(*site, row, &(first..first + count))) {
                result = self.row(own, *site, row, first..first + count);
            }
            if !has_value {
                self.batch[row * BATCH_ROW + first..][..count].fill(NOT_ACCESSED);
            }
            row += 1 + usize::from(has_value);
        }
        row = 0;
        for site in sites {
            let has_value = site.kind as u32 & abi::access::VALUE != 0;
            if has_value {
                self.batch[row * BATCH_ROW + first..][..count].fill(NOT_ACCESSED);
                self.batch[(row + 1) * BATCH_ROW + first..][..count].fill(NOT_ACCESSED);
            }
            row += 1 + usize::from(has_value);
        }
        result
    }

    /// Returns a value that a thread has recorded for a store at a place to the address of an access, for a thread in the
    /// grid and a place for which `is_it` returns true.
    pub(super) fn recorded(&self, own: &Context, is_it: impl Fn(u64, u32) -> bool, asked: Asked) -> Option<u64> {
        // SAFETY: null, or a table that the running code has set, which is constant.
        let table = unsafe { own.batched.as_ref() }?;
        let mut row = 0;
        // SAFETY: the code generator wrote the table.
        for site in unsafe { table.sites() } {
            let has_value = site.kind as u32 & abi::access::VALUE != 0;
            let rows = |thread: usize| (self.batch[row * BATCH_ROW + thread], has_value);
            let mut stores = (0..own.threads as usize).filter(|thread| rows(*thread) == (asked.address, true));
            let place = super::shadow::place(site.position);
            if let Some(thread) = stores.find(|thread| is_it(super::access::global(own, *thread as u64), place)) {
                return Some(super::access::truncated(self.batch[(row + 1) * BATCH_ROW + thread], asked.bytes));
            }
            row += 1 + usize::from(has_value);
        }
        None
    }

    /// Checks the recorded addresses of one access in the code.
    fn row(&mut self, own: &Context, site: BatchSite, row: usize, threads: Range<usize>) -> Result<(), u64> {
        let bytes = u64::from(site.kind as u32 >> abi::access::BYTES & 0xff);
        if !self.follows(site) && self.may_be_clear(site, row, &threads) && self.is_clear(own, site, row, &threads) {
            return Ok(());
        }
        let (mut thread, mut is_first) = (threads.start, true);
        while thread < threads.end {
            let addresses = &self.batch[row * BATCH_ROW..][thread..threads.end];
            let address = addresses[0];
            if address == NOT_ACCESSED {
                thread += leading(addresses, 0);
                continue;
            }
            let step = match addresses.get(1) {
                Some(next) if *next == address => 0,
                _ => bytes,
            };
            let run = Run { thread, threads: leading(addresses, step), address, step };
            // Of a row that ends with threads that make no access, such as one of a reduction, the rest is short.
            let goes_on = addresses.get(run.threads).is_some_and(|next| *next != NOT_ACCESSED);
            let has_many = is_first && goes_on && run.threads * MANY <= threads.len();
            is_first = false;
            if has_many && self.whole_row(own, site, row, &threads) {
                return Ok(());
            }
            self.run(own, site, row, run)?;
            thread += run.threads;
        }
        Ok(())
    }

    /// Takes the accesses of a row, if all are in memory that was found to be clear.
    #[inline]
    fn take_clear(&mut self, site: BatchSite, row: usize, threads: &Range<usize>) -> bool {
        let clear = &self.clear[slot(site)];
        if clear.site != Some(site) || clear.written != self.race.written_after_reads {
            return false;
        }
        let bytes = u64::from(site.kind as u32 >> abi::access::BYTES & 0xff);
        let addresses = &mut self.batch[row * BATCH_ROW..][threads.clone()];
        take_within(addresses, clear.range.start, clear.most, bytes)
    }

    /// Notes that accesses of a place in `range`, which is part of an array, need no record and no report.
    fn add_clear(&mut self, site: BatchSite, range: Range<u64>, area: Range<u64>) {
        let pages = range.start / PAGE * PAGE..range.end.next_multiple_of(PAGE);
        let mut range = pages.start.max(area.start)..pages.end.min(area.end);
        let bytes = u64::from(site.kind as u32 >> abi::access::BYTES & 0xff);
        let clear = &mut self.clear[slot(site)];
        let written = self.race.written_after_reads;
        if clear.site == Some(site) && clear.written == written && clear.area == area {
            let touches = clear.range.start <= range.end && range.start <= clear.range.end;
            if touches {
                range = clear.range.start.min(range.start)..clear.range.end.max(range.end);
            }
        }
        let most = (range.end - range.start).checked_sub(bytes).filter(|_| range.start.is_multiple_of(bytes));
        // An operation of another stream compares the accesses.
        if let (Some(most), None) = (most, &self.tracked) {
            *clear = ClearArea { site: Some(site), range, area, most, written };
        }
    }

    /// Records all loads of a row from shared memory at once. Returns false if they have to be checked as runs.
    fn whole_row(&mut self, own: &Context, site: BatchSite, row: usize, threads: &Range<usize>) -> bool {
        let asked = self.asked(site, threads.start, 0, 0);
        if !self.checks.has(Checks::RACE) || asked.access() != Access::Load || asked.bytes < 4 {
            return false;
        }
        let addresses = &self.batch[row * BATCH_ROW..][threads.clone()];
        let Extent { first, last, bits } = extent(addresses);
        if first == NOT_ACCESSED || bits & u64::from(asked.bytes - 1) != 0 || last - first >= ROW_PAGES * PAGE {
            return false;
        }
        let bytes = last - first + u64::from(asked.bytes);
        for (at, range) in parts(first, bytes) {
            let asked = Asked { address: at + range.start as u64, ..asked };
            let is_plain = |page: &mut Page| {
                page.kind == PageKind::Shared
                    && page.is_valid(range.start as u32, range.len() as u32)
                    && is_own(own, asked, page.kind)
                    && !page.may_meet_copy(range.clone(), false)
                    && page.written.as_ref().is_none_or(|set| first_missing(set, range.clone()).is_none())
            };
            if !self.pages.find(at).is_some_and(is_plain) {
                return false;
            }
        }
        let since = self.race.since(PageKind::Shared);
        let now = self.race.record(threads.start as u64, super::shadow::place(site.position));
        let now = now.with(false, false, None);
        for (at, range) in parts(first, bytes) {
            let range = range.start as u32..range.end as u32;
            let Some(page) = self.pages.find(at) else { return false };
            if !self.race.log_row(page, (at, addresses), range, asked.bytes, now, since) {
                return false;
            }
        }
        true
    }

    /// Returns false if a row has something to record: one of its accesses is to memory whose accesses are.
    fn may_be_clear(&mut self, site: BatchSite, row: usize, threads: &Range<usize>) -> bool {
        if !self.checks.has(Checks::RACE) {
            return true;
        }
        if Access::new(site.kind as u32) != Access::Load || self.tracked.is_some() {
            return false;
        }
        let since = self.race.since(PageKind::Global);
        let [first, last] = [threads.start, threads.end - 1].map(|thread| self.batch[row * BATCH_ROW + thread]);
        [first, last].into_iter().all(|at| {
            at == NOT_ACCESSED
                || self
                    .pages
                    .find(at)
                    .is_some_and(|page| page.kind == PageKind::Global && page.only_read.is_since(since))
        })
    }

    /// Returns true if all recorded addresses of an access are in one array, or in pages of which all was written, so that
    /// there is nothing to report, and if they need no record.
    fn is_clear(&mut self, own: &Context, site: BatchSite, row: usize, threads: &Range<usize>) -> bool {
        let bytes = u64::from(site.kind as u32 >> abi::access::BYTES & 0xff);
        let Extent { first, last, bits } = extent(&self.batch[row * BATCH_ROW..][threads.clone()]);
        if first == NOT_ACCESSED {
            return true;
        }
        if bits & (bytes - 1) != 0 {
            return false;
        }
        let asked = self.asked(site, threads.start, first, 0);
        let (tracks, races) = (self.checks.has(Checks::INIT), self.checks.has(Checks::RACE));
        let since = self.race.since(PageKind::Global);
        let (mut at, end) = (first, last + bytes);
        let mut global = None;
        while at < end {
            let Some(page) = self.pages.find(at) else { return false };
            let simple = matches!(page.kind, PageKind::Global | PageKind::Shared) && page.valid.is_none();
            if !simple || !page.area.contains(&at) || end > page.area.end || !is_own(own, asked, page.kind) {
                return false;
            }
            if races && !(page.kind == PageKind::Global && page.only_read.is_since(since)) {
                return false;
            }
            global = Some(page.area.clone()).filter(|_| page.kind == PageKind::Global);
            if !tracks && !races {
                break;
            }
            if tracks && !page.is_written() {
                return false;
            }
            at = (at / PAGE + 1) * PAGE;
        }
        if let Some(area) = global {
            self.add_clear(site, first..end, area);
        }
        true
    }

    /// Checks the accesses of a run, page by page.
    fn run(&mut self, own: &Context, site: BatchSite, row: usize, mut run: Run) -> Result<(), u64> {
        let bytes = u64::from(site.kind as u32 >> abi::access::BYTES & 0xff);
        while run.threads > 0 {
            let mut part = run;
            if run.step > 0 {
                let left = (PAGE - run.address % PAGE) / bytes;
                part.threads = run.threads.min(left.max(1) as usize);
            }
            if !self.run_in_page(own, site, part) {
                self.each(own, site, row, part)?;
            }
            run.thread += part.threads;
            run.threads -= part.threads;
            run.address += part.threads as u64 * run.step;
        }
        Ok(())
    }

    /// Checks the accesses of a run one by one.
    fn each(&mut self, own: &Context, site: BatchSite, row: usize, run: Run) -> Result<(), u64> {
        for at in 0..run.threads {
            let thread = run.thread + at;
            let value =
                if site.kind as u32 & abi::access::VALUE == 0 { 0 } else { self.batch[(row + 1) * BATCH_ROW + thread] };
            self.access(own, self.asked(site, thread, run.address + at as u64 * run.step, value))?;
        }
        Ok(())
    }

    fn asked(&self, site: BatchSite, thread: usize, address: u64, value: u64) -> Asked {
        let kind = site.kind as u32;
        let bytes = kind >> abi::access::BYTES & 0xff;
        Asked {
            thread: thread as u64,
            address,
            bytes,
            kind,
            position: site.position,
            value,
            made: true,
            of_copy: false,
        }
    }

    /// Checks a run within a page. Returns false, and records nothing, if an access has to be checked by itself.
    fn run_in_page(&mut self, own: &Context, site: BatchSite, run: Run) -> bool {
        if self.follows(site) {
            return false;
        }
        let asked = self.asked(site, run.thread, run.address, 0);
        let races = self.checks.has(Checks::RACE);
        let Some(page) = self.pages.find(run.address) else { return false };
        let (kind, offset) = (page.kind, (run.address % PAGE) as u32);
        let whole = if run.step == 0 { asked.bytes } else { asked.bytes * run.threads as u32 };
        let aligned = run.address & u64::from(asked.bytes.wrapping_sub(1)) == 0;
        let is_local = kind == PageKind::Local;
        if is_local || !aligned || !page.is_valid(offset, whole) || !is_own(own, asked, kind) {
            return false;
        }
        let loads = asked.access() == Access::Load;
        let range = offset as usize..(offset + whole) as usize;
        if races && page.may_meet_copy(range.clone(), !loads) {
            return false;
        }
        if loads && page.written.as_ref().is_some_and(|set| first_missing(set, range.clone()).is_some()) {
            return false;
        }
        if let Some(tracked) = self.tracked.as_mut().filter(|_| races && kind == PageKind::Global)
            && !tracked.access(page, run.address / PAGE, range.clone(), Sort::of(!loads, false))
        {
            return false;
        }
        if races && matches!(kind, PageKind::Global | PageKind::Shared) {
            let since = self.race.since(kind);
            let now =
                self.race.record(run.thread as u64, super::shadow::place(asked.position)).with(!loads, false, None);
            let accesses = Accesses { offset, bytes: asked.bytes, threads: run.threads as u32, same: run.step == 0 };
            if !self.race.run(page, accesses, now, since) {
                return false;
            }
        }
        if let Some(set) = page.written.as_mut().filter(|_| !loads) {
            insert(set, range);
        }
        true
    }

    fn faulted(&mut self, own: &Context, sites: &[BatchSite], address: u64) {
        let hit = match Fault::at(address, 0) {
            Fault::Memory { illegal: IllegalAccess::At(at), .. } => Some(at),
            _ => None,
        };
        let mut best: Option<(bool, Asked)> = None;
        let mut row = 0;
        for site in sites {
            for thread in 0..own.threads as usize {
                let recorded = self.batch[row * BATCH_ROW + thread];
                let asked = self.asked(*site, thread, recorded, 0);
                if recorded == NOT_ACCESSED || self.is_legal(own, asked) {
                    continue;
                }
                let exact = hit.is_some_and(|hit| hit.wrapping_sub(recorded) < asked.bytes.into());
                if best.is_none_or(|(other, _)| exact && !other) {
                    best = Some((exact, asked));
                }
            }
            row += 1 + usize::from(site.kind as u32 & abi::access::VALUE != 0);
        }
        if let Some((_, asked)) = best {
            // The launch ends anyway.
            let _ = self.access(own, asked);
        }
    }

    /// Returns true if an access is to accessible bytes of its own.
    fn is_legal(&mut self, own: &Context, asked: Asked) -> bool {
        let aligned = asked.address & u64::from(asked.bytes.wrapping_sub(1)) == 0;
        if self.pages.find(asked.address).is_none() {
            let Some(page) = self.new_page(own, asked.address) else { return false };
            self.pages.insert(asked.address, page);
        }
        let offset = (asked.address % PAGE) as u32;
        self.pages.find(asked.address).is_some_and(|page| {
            aligned && page.reaches(offset, asked.bytes, asked.may_end_beyond()) && is_own(own, asked, page.kind)
        })
    }
}
