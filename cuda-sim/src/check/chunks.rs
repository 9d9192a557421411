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
        let Accesses { offset, bytes, threads, same } = accesses;
        // Several threads that write the same bytes race.
        if !self.simple || bytes < 4 || (same && now.writes()) {
            return false;
        }
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
            let old = std::mem::replace(page.cell(index * CHUNK + word), new);
            self.recycle(old.other);
        }
        self.recycle(whole.other);
    }

    /// Records an access of a thread to a word, or of several to a chunk, unless it races with an earlier one or the
    /// word is accessed in parts.
    fn quietly(&mut self, cell: &mut Cell, now: Record, since: u32) -> bool {
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::clocks::THREAD_BITS;
    use super::super::shadow::PageKind;
    use super::*;

    /// An access of a model: threads from one on, of a block, and the first word.
    #[derive(Clone, Copy, Debug)]
    struct Step {
        block: u64,
        thread: u64,
        word: u32,
        accesses: Accesses,
        writes: bool,
        barrier: bool,
    }

    impl std::fmt::Debug for Accesses {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{}x{} same={}", self.threads, self.bytes, self.same)
        }
    }

    fn page() -> Page {
        Page::new(PageKind::Global, 0..4096, true, 0..4096)
    }

    /// Every access of a step, one by one: the thread, and the first of its words.
    fn each(step: Step) -> impl Iterator<Item = (u64, u32)> {
        let words = step.accesses.bytes / 4;
        (0..u64::from(step.accesses.threads))
            .map(move |at| (step.thread + at, step.word + if step.accesses.same { 0 } else { at as u32 * words }))
    }

    /// All accesses of a launch, without a limit: returns true if one of a step races with an earlier one.
    fn races(seen: &mut Vec<(u64, u32, u32, bool)>, step: Step, barrier: u32, time: u32) -> bool {
        let mut found = false;
        for (thread, word) in each(step) {
            let id = step.block << THREAD_BITS | thread;
            for word in word..word + step.accesses.bytes / 4 {
                found |= seen.iter().any(|(other, at, when, writes)| {
                    let ordered = *other == id || (other >> THREAD_BITS == step.block && *when < barrier);
                    *at == word && (*writes || step.writes) && !ordered
                });
                seen.push((id, word, time, step.writes));
            }
        }
        found
    }

    /// Random accesses by blocks that run one after the other are found to race exactly when they do.
    #[test]
    fn runs_race_exactly_when_their_accesses_do() {
        let mut state = 7u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut counts = [0; 2];
        for _ in 0..4000 {
            let mut race = Race::new();
            race.simple = true;
            let (mut page, mut seen) = (page(), Vec::new());
            'launch: for block in 0..3 {
                race.enter(block, 64, false);
                for _ in 0..random(6) {
                    let same = random(4) == 0;
                    let bytes = if random(5) == 0 { 8 } else { 4 };
                    let threads = if random(2) == 0 { 16 * (1 + random(2)) } else { 1 + random(20) } as u32;
                    let accesses = Accesses { offset: 0, bytes, threads, same };
                    let word = 16 * random(2) as u32 + if random(2) == 0 { 0 } else { 2 * random(8) as u32 };
                    let thread = if random(2) == 0 { 0 } else { random(32) };
                    let (writes, barrier) = (random(3) == 0, random(3) == 0);
                    let step = Step { block, thread, word, accesses, writes, barrier };
                    if step.barrier {
                        race.barrier();
                    }
                    let expected = races(&mut seen, step, race.block.barrier, race.time);
                    let now = race.record(thread, 1).with(writes, false, None);
                    let since = race.since();
                    let whole = Accesses { offset: 4 * word, ..accesses };
                    let mut found = !race.run(&mut page, whole, now, since);
                    if found {
                        let one = |(thread, word): (u64, u32)| {
                            let now = race.record(thread, 1).with(writes, false, None);
                            race.access(&mut page, 4 * word, bytes, now, since).is_some()
                        };
                        found = each(step).map(one).fold(false, |any, one| any | one);
                    }
                    assert_eq!(found, expected, "{step:?}");
                    counts[usize::from(found)] += 1;
                    if found {
                        break 'launch;
                    }
                }
            }
        }
        assert!(counts.iter().all(|count| *count > 500), "{counts:?}");
    }
}
