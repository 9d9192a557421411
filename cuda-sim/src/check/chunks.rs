//! Races of many threads at once: neighbouring threads that access neighbouring words.
//!
//! Such accesses of a whole chunk of a page have one record, that of the chunk's first word: the thread of each further
//! word is the next one. Whatever orders the records of two such accesses, or does not, holds for all words of the
//! chunk, so they are compared once. A chunk is divided into words when an access is of another shape.
//!
//! All of this is for launches in which only barriers of whole blocks order accesses ([`Race::simple`]).

use super::race::Race;
use super::shadow::{CHUNK, Cell, Page, Record};

/// The accesses of neighbouring threads to neighbouring words of a page, or to one word.
#[derive(Clone, Copy)]
pub(super) struct Accesses {
    /// The offset in the page of the first access, and the bytes of each.
    pub(super) offset: u32,
    pub(super) bytes: u32,
    pub(super) threads: u32,
    /// True if all access the same bytes.
    pub(super) same: bool,
}

impl Race {
    /// Records the accesses of threads from that of `now` on. Returns false if one of them races, or has to be recorded
    /// by itself; some may be recorded then, which makes no difference to recording them again.
    pub(super) fn run(&mut self, page: &mut Page, accesses: Accesses, now: Record, since: u32) -> bool {
        // Several threads that write the same bytes race.
        if !self.simple || accesses.bytes < 4 || (accesses.same && now.writes()) {
            return false;
        }
        if self.log(page, accesses, now, since) {
            return true;
        }
        if now.writes() {
            self.written_after_reads += u32::from(page.only_read.write());
        } else if self.is_only_read(page, since) {
            return true;
        }
        self.record_run(page, accesses, now, since)
    }

    /// Records the accesses of a run in chunks and words. Returns false if one of them races, or has to be recorded by itself.
    pub(super) fn record_run(&mut self, page: &mut Page, accesses: Accesses, now: Record, since: u32) -> bool {
        let Accesses { offset, bytes, threads, same } = accesses;
        let (first, words) = ((offset / 4) as usize, (bytes / 4) as usize);
        if same {
            // A later write that races with one of the others races with the first or the last one.
            return (first..first + words).all(|word| {
                let cell = self.word(page, word, since);
                self.quietly(cell, now, since) && self.quietly(cell, now.plus(threads as usize - 1), since)
            });
        }
        let end = first + words * threads as usize;
        let mut at = first;
        while at < end {
            let own = now.plus((at - first) / words);
            let chunk = at / CHUNK;
            let stop = ((chunk + 1) * CHUNK).min(end);
            if stop - at == CHUNK && self.keeps_whole(page, chunk, words, since) {
                let chunk = page.chunk(chunk);
                chunk.words = words as u8;
                if !self.quietly(&mut chunk.cell, own, since) {
                    return false;
                }
            } else if !(at..stop).all(|word| {
                let cell = self.word(page, word, since);
                self.quietly(cell, now.plus((word - first) / words), since)
            }) {
                return false;
            }
            at = stop;
        }
        true
    }

    /// Returns true if a chunk can have a record for all of its words, of which each thread accesses this many.
    fn keeps_whole(&mut self, page: &mut Page, chunk: usize, words: usize, since: u32) -> bool {
        let chunk = page.chunk(chunk);
        let live = chunk.cell.write.time >= since || chunk.cell.other.time >= since;
        chunk.divided < since && (!live || usize::from(chunk.words) == words)
    }

    /// Returns the cell of a word, for which its chunk is divided.
    pub(super) fn word<'p>(&mut self, page: &'p mut Page, word: usize, since: u32) -> &'p mut Cell {
        if page.chunk(word / CHUNK).divided < since {
            self.divide(page, word / CHUNK, since);
        }
        page.cell(word)
    }

    /// Divides a chunk into words.
    fn divide(&mut self, page: &mut Page, index: usize, since: u32) {
        let time = self.time;
        let chunk = page.chunk(index);
        let (whole, words) = (std::mem::take(&mut chunk.cell), usize::from(chunk.words).max(1));
        chunk.divided = time;
        let live = |record: Record| if record.time >= since { record } else { Record::default() };
        let (write, other) = (live(whole.write), live(whole.other));
        for word in 0..CHUNK {
            let thread = word / words;
            let other = if other.is_several() { self.copied(other, thread) } else { other.plus_if_any(thread) };
            let new = Cell { write: write.plus_if_any(thread), other };
            let mut old = std::mem::replace(page.cell(index * CHUNK + word), new);
            self.expire_bytes(&mut old, since);
            self.recycle(old.other);
        }
        self.recycle(whole.other);
    }

    /// Records an access of a thread to a word, or of several to a chunk, unless it races with an earlier one or the
    /// word is accessed in parts.
    fn quietly(&mut self, cell: &mut Cell, now: Record, since: u32) -> bool {
        self.expire_bytes(cell, since);
        let write = cell.write;
        if write.time >= since && (write.is_several() || self.conflicts(write, now)) {
            return false;
        }
        let other = cell.other;
        if other.time < since {
            self.recycle(std::mem::take(&mut cell.other));
            *(if now.writes() { &mut cell.write } else { &mut cell.other }) = now;
            return true;
        }
        if other.is_several() {
            return (other.is_shared() && now.is_plain_read()) || self.quietly_in_list(cell, now);
        }
        if self.conflicts(other, now) {
            return false;
        }
        self.add(cell, now);
        true
    }
}

/// A page of which all words are read by threads of several blocks and written by none, so that further reads need no
/// record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OnlyRead {
    /// The time at which that was found, 0 for never.
    found: u32,
    /// The words from the first one on for which it was found, and the time of the last search.
    words: u32,
    searched: u32,
    /// The reads since that search.
    reads: u32,
}

/// The reads after which it is looked for again.
const SEARCHED_AFTER: u32 = 16;

impl OnlyRead {
    /// The page is written. Returns true if it was known to be only read.
    pub(super) fn write(&mut self) -> bool {
        self.words = 0;
        std::mem::take(&mut self.found) != 0
    }

    pub(super) fn is_since(&self, since: u32) -> bool {
        self.found >= since
    }
}

impl Race {
    /// Returns true if further reads of a divided page need no record, which is looked for from time to time.
    fn is_only_read(&mut self, page: &mut Page, since: u32) -> bool {
        if page.only_read.is_since(since) {
            return true;
        }
        let only_read = &mut page.only_read;
        if only_read.searched < since {
            (only_read.words, only_read.reads) = (0, SEARCHED_AFTER);
        }
        only_read.reads += 1;
        if only_read.reads < SEARCHED_AFTER {
            return false;
        }
        (only_read.searched, only_read.reads) = (self.time, 0);
        let is_shared = |cell: &Cell| cell.other.is_shared() && cell.other.time >= since && cell.write.time < since;
        let (first, last) = (page.low as usize / 4, page.high.div_ceil(4) as usize);
        // What several blocks have read remains so until it is written.
        for word in first.max(page.only_read.words as usize)..last {
            let chunk = page.chunk(word / CHUNK);
            let cell = if chunk.divided < since { chunk.cell } else { *page.cell(word) };
            if !is_shared(&cell) {
                return false;
            }
            page.only_read.words = word as u32 + 1;
        }
        page.only_read.found = self.time;
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::clocks::THREAD_BITS;
    use super::super::log::Limits;
    use super::super::shadow::{PAGE, PageKind};
    use super::*;
    use std::collections::HashMap;

    /// Accesses of a model: by threads from one on, of a block.
    #[derive(Clone, Copy, Debug)]
    struct Step {
        block: u64,
        thread: u64,
        accesses: Accesses,
        writes: bool,
        barrier: bool,
        /// Not 0 for loads of a row, whose words are not neighbours.
        scatter: u32,
    }

    impl std::fmt::Debug for Accesses {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{}x{} at {} same={}", self.threads, self.bytes, self.offset, self.same)
        }
    }

    /// Accessible bytes of the page.
    const BYTES: u32 = 128;

    /// Every access of a step, one by one: the thread, and the first of its bytes.
    fn each(step: Step) -> impl Iterator<Item = (u64, u32)> {
        let Accesses { offset, bytes, threads, same } = step.accesses;
        (0..threads).map(move |at| {
            let offset = match (step.scatter, same) {
                (0, true) => offset,
                (0, false) => offset + at * bytes,
                (by, _) => (offset / bytes + at * by) % (BYTES / bytes) * bytes,
            };
            (step.thread + u64::from(at), offset)
        })
    }

    /// The accesses of a launch to each byte: the thread, the time of the last one, and true for writes.
    type Seen = HashMap<u32, Vec<(u64, u32, bool)>>;

    /// All accesses of a launch, without a limit: returns true if one of a step races with an earlier one.
    fn races(seen: &mut Seen, step: Step, barrier: u32, time: u32) -> bool {
        let mut found = false;
        for (thread, offset) in each(step) {
            let id = step.block << THREAD_BITS | thread;
            for byte in offset..offset + step.accesses.bytes {
                let seen = seen.entry(byte).or_default();
                found |= seen.iter().any(|(other, when, writes)| {
                    let ordered = *other == id || (other >> THREAD_BITS == step.block && *when < barrier);
                    (*writes || step.writes) && !ordered
                });
                match seen.iter_mut().find(|(other, _, writes)| (*other, *writes) == (id, step.writes)) {
                    Some((_, last, _)) => *last = time,
                    None => seen.push((id, time, step.writes)),
                }
            }
        }
        found
    }

    /// Random accesses by blocks that run one after the other, to global memory or to the memory of each block, are found to
    /// race exactly when they do.
    #[test]
    fn runs_race_exactly_when_their_accesses_do() {
        let mut state = 7u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut counts = [0; 2];
        let mut kept = [0; 3];
        let mut rows = 0;
        for round in 0..8_000 {
            let mut race = Race::new();
            race.simple = true;
            // Small limits, so that pages are divided, and the usual ones.
            if random(2) == 0 {
                let most = 1 + random(6) as usize;
                race.limits = Limits { global: most, shared: most, compared: 1 + random(4) as usize };
            }
            let kind = if random(2) == 0 { PageKind::Shared } else { PageKind::Global };
            let mut page = Page::new(kind, 0..BYTES, true, 0..BYTES.into());
            let mut seen = Seen::new();
            // Some launches only read until the last steps.
            let (reads, steps) = if random(10) == 0 { (20, 24) } else { (0, random(10)) };
            'launch: for block in 0..3 {
                race.enter(block, 64, false);
                if kind == PageKind::Shared {
                    seen.clear();
                }
                for number in 0..steps {
                    let same = random(4) == 0;
                    let bytes = [4, 4, 4, 4, 8, 8, 2, 1][random(if reads == 0 { 8 } else { 6 }) as usize];
                    let most = if same { 32 } else { u64::from(BYTES / bytes).min(32) };
                    let threads = if random(2) == 0 { 16 * (1 + random(2)) } else { 1 + random(20) }.min(most) as u32;
                    let offset = if random(2) == 0 { 0 } else { bytes * random(u64::from(16 / bytes)) as u32 };
                    let size = if same { bytes } else { bytes * threads };
                    let offset = (offset + 64 * random(2) as u32).min(BYTES - size) / bytes * bytes;
                    let thread = if random(2) == 0 { 0 } else { random(32) };
                    let is_late = number >= reads && (reads == 0 || block == 2);
                    let (writes, barrier) = (is_late && random(3) == 0, random(3) == 0);
                    let accesses = Accesses { offset, bytes, threads, same: same && threads > 1 };
                    let is_row = kind == PageKind::Shared && !writes && bytes >= 4 && random(3) == 0;
                    let scatter = if is_row { 3 + random(20) as u32 } else { 0 };
                    let step = Step { block, thread, accesses, writes, barrier, scatter };
                    if step.barrier {
                        race.barrier();
                    }
                    let expected = races(&mut seen, step, race.block.barrier, race.time);
                    let now = race.record(thread, 1).with(writes, false, None);
                    let since = race.since(kind);
                    // All at once, or one by one.
                    let one_by_one = random(3) == 0;
                    let all_at_once = if is_row {
                        let addresses: Vec<u64> = each(step).map(|(_, offset)| PAGE + u64::from(offset)).collect();
                        let low = addresses.iter().min().map_or(0, |low| low - PAGE) as u32;
                        let high = addresses.iter().max().map_or(0, |high| high - PAGE) as u32 + bytes;
                        let logged = |race: &mut Race, page: &mut Page| {
                            race.log_row(page, (PAGE, &addresses), low..high, bytes, now, since)
                        };
                        let logged = !one_by_one && logged(&mut race, &mut page);
                        rows += usize::from(logged);
                        logged
                    } else {
                        !one_by_one && race.run(&mut page, accesses, now, since)
                    };
                    let mut found = !all_at_once;
                    if found {
                        let one_by_one = one_by_one || is_row;
                        let one = |(thread, offset): (u64, u32)| {
                            let now = race.record(thread, 1).with(writes, false, None);
                            let accesses = Accesses { offset, bytes, threads: 1, same: false };
                            let quiet = one_by_one && race.run(&mut page, accesses, now, since);
                            !quiet && race.access(&mut page, offset, bytes, now, since).is_some()
                        };
                        found = each(step).map(one).fold(false, |any, one| any | one);
                    }
                    assert_eq!(found, expected, "{round}: {step:?}");
                    counts[usize::from(found)] += 1;
                    let state =
                        if page.only_read.is_since(since) { 2 } else { usize::from(page.log.is_divided(since)) };
                    kept[state] += 1;
                    if found {
                        break 'launch;
                    }
                }
            }
        }
        assert!(counts.iter().all(|count| *count > 500), "{counts:?}");
        // Logs, words, and pages that are only read.
        assert!(kept.iter().all(|count| *count > 500) && rows > 500, "{kept:?} {rows}");
    }
}
