//! Shadow memory: for each page of memory that a kernel accesses, the bytes that are allocated, those that were
//! written, and the last accesses to each word.
//!
//! # Safety
//!
//! The table hands out pointers to its pages, which are boxed and stay where they are until they are removed from the
//! table; only the thread that holds the checkers' lock has the table.

use super::chunks::OnlyRead;
use super::clocks::THREAD_BITS;
use super::history::Seen;
use super::log::Log;
use super::unfinished::Unfinished;
use crate::codegen::abi::Scope;
use std::collections::HashMap;
use std::ops::Range;

/// Bytes of a page of shadow memory.
pub(super) const PAGE: u64 = 4096;
/// Words of a page.
const WORDS: usize = PAGE as usize / 4;

/// The kind of memory that a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageKind {
    Global,
    Shared,
    Local,
    Param,
}

/// The location of a strong access: its scope, and the binary logarithm of its size in bytes, or [`Location::OF_WORD`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) scope: Scope,
    pub(super) size: u32,
}

impl Location {
    /// The size of a word that a relaxed load or a compare-and-swap accesses. C++'s atomics of one and two bytes consist of these
    /// and of stores of their own size.
    pub(super) const OF_WORD: u32 = 7;
}

/// An access in the past: its thread, its properties, its time and its place in the PTX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    who: u64,
    /// 0 for none.
    pub(super) time: u32,
    /// Line and column in the PTX ([`place`]); in a record of several, their list.
    pub(super) place: u32,
}

const WRITES: u64 = 1 << 50;
const STRONG: u64 = 1 << 51;
const ATOMIC: u64 = 1 << 54;
/// The record stands for a list of records, or for the four bytes of its word.
const SEVERAL: u64 = 1 << 55;
/// Later reads need no record ([`Record::is_shared`]).
const SHARED: u64 = 1 << 56;
/// The lowest of two bits of the scope.
const SCOPE: u32 = 52;
/// The lowest of three bits of the size of a strong access's location.
const SIZE: u32 = 57;
/// Bits of a block's number and a thread's in it.
const WHO: u64 = (1 << (32 + THREAD_BITS)) - 1;

/// Bits of a column in a place.
const COLUMN_BITS: u32 = 9;

/// Returns line and column in 32 bits.
pub(super) fn place(position: u64) -> u32 {
    let (line, column) = ((position >> 32) as u32, position as u32);
    line << COLUMN_BITS | column.min((1 << COLUMN_BITS) - 1)
}

/// Returns line and column of a place as [`crate::codegen::abi::encode_position`] does.
pub(super) fn position(place: u32) -> u64 {
    u64::from(place >> COLUMN_BITS) << 32 | u64::from(place & ((1 << COLUMN_BITS) - 1))
}

impl Record {
    pub(super) fn new(thread: u64, time: u32, place: u32) -> Record {
        Record { who: thread, time, place }
    }

    pub(super) fn with(self, writes: bool, atomic: bool, strong: Option<Location>) -> Record {
        let mut who = self.who;
        who |= if writes { WRITES } else { 0 };
        who |= if atomic { ATOMIC } else { 0 };
        who |= strong.map_or(0, |Location { scope, size }| STRONG | (scope as u64) << SCOPE | u64::from(size) << SIZE);
        Record { who, ..self }
    }

    /// Returns a record that stands for the list with this number.
    pub(super) fn several(time: u32, number: usize) -> Record {
        Record { who: SEVERAL, time, place: number as u32 }
    }

    pub(super) fn is_several(self) -> bool {
        self.who & SEVERAL != 0
    }

    /// Returns a record of the same list, for which later plain reads need no record: any write races with one of the list.
    pub(super) fn shared(self) -> Record {
        Record { who: self.who | SHARED, ..self }
    }

    pub(super) fn is_shared(self) -> bool {
        self.who & SHARED != 0
    }

    /// Returns true for an access that neither writes nor is strong.
    pub(super) fn is_plain_read(self) -> bool {
        self.who & (WRITES | STRONG) == 0
    }

    /// The block's number, and the thread's in the block.
    pub(super) fn thread(self) -> u64 {
        self.who & WHO
    }

    pub(super) fn block(self) -> u64 {
        self.thread() >> THREAD_BITS
    }

    pub(super) fn writes(self) -> bool {
        self.who & WRITES != 0
    }

    pub(super) fn is_atomic(self) -> bool {
        self.who & ATOMIC != 0
    }

    pub(super) fn is_strong(self) -> bool {
        self.who & STRONG != 0
    }

    pub(super) fn scope(self) -> Scope {
        Scope::new((self.who >> SCOPE & 3) as u32)
    }

    fn size(self) -> u64 {
        self.who >> SIZE & 7
    }

    /// Returns true if two strong accesses that meet are to the same bytes, as far as that is demanded: accesses are aligned, so
    /// that they are if their sizes are equal.
    pub(super) fn is_of_same_bytes(self, other: Record) -> bool {
        const OF_WORD: u64 = Location::OF_WORD as u64;
        let (small, large) = (self.size().min(other.size()), self.size().max(other.size()));
        small == large || (large == OF_WORD && small <= 2)
    }

    /// Returns a record like this one of the thread that comes `threads` later in the block.
    pub(super) fn plus(self, threads: usize) -> Record {
        Record { who: self.who + threads as u64, ..self }
    }

    /// As [`Record::plus`], unless there is no record.
    pub(super) fn plus_if_any(self, threads: usize) -> Record {
        if self.time == 0 { self } else { self.plus(threads) }
    }

    /// Returns true if both accesses have the same properties.
    pub(super) fn is_like(self, other: Record) -> bool {
        (self.who ^ other.who) & !WHO == 0
    }

    /// Returns true if whatever races with an earlier access, and is not ordered after this one, races with this one.
    pub(super) fn replaces(self, earlier: Record) -> bool {
        let is_as_wide = !self.is_strong()
            || (earlier.is_strong() && self.scope() <= earlier.scope() && self.size() == earlier.size());
        (self.writes() || !earlier.writes()) && is_as_wide
    }
}

/// The last accesses to a word, or to a byte of a word that is accessed in parts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    /// The last weak write; a record of several stands for the word's bytes.
    pub(super) write: Record,
    /// A read or a strong access since then, or a list of them.
    pub(super) other: Record,
}

/// Words of a chunk.
pub(super) const CHUNK: usize = 16;

/// The last accesses to the words of a chunk, as long as each was by neighbouring threads to all of them ([`super::chunks`]).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chunk {
    /// Those of the first word.
    pub(super) cell: Cell,
    /// The time at which the words got cells of their own, 0 for never.
    pub(super) divided: u32,
    /// The words that each thread accessed.
    pub(super) words: u8,
}

/// Returns an array of default values, which is created in place.
fn defaults<T: Clone + Copy + Default, const N: usize>() -> Box<[T; N]> {
    // The length is that of the array.
    vec![T::default(); N].into_boxed_slice().try_into().unwrap_or_else(|_| Box::new([T::default(); N]))
}

/// A set of bytes of a page.
pub(super) type Bytes = [u64; PAGE as usize / 64];

/// Returns the bits of `range` in a set, word by word: the word's index and a mask.
fn masks(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    (range.start / 64..range.end.div_ceil(64)).map(move |word| {
        let from = range.start.saturating_sub(word * 64);
        let to = (range.end - word * 64).min(64);
        let below = if to == 64 { u64::MAX } else { (1 << to) - 1 };
        (word, below & (u64::MAX << from))
    })
}

/// Adds a range to a set.
pub(super) fn insert(set: &mut Bytes, range: Range<usize>) {
    masks(range).for_each(|(word, mask)| set[word] |= mask);
}

/// Removes a range from a set.
pub(super) fn remove(set: &mut Bytes, range: Range<usize>) {
    masks(range).for_each(|(word, mask)| set[word] &= !mask);
}

/// Returns the first byte of a range that is not in a set.
pub(super) fn first_missing(set: &Bytes, range: Range<usize>) -> Option<usize> {
    masks(range).find_map(|(word, mask)| {
        let missing = mask & !set[word];
        (missing != 0).then(|| word * 64 + missing.trailing_zeros() as usize)
    })
}

/// Returns the first byte of a range that is in a set.
pub(super) fn first_present(set: &Bytes, range: Range<usize>) -> Option<usize> {
    masks(range).find_map(|(word, mask)| {
        let present = mask & set[word];
        (present != 0).then(|| word * 64 + present.trailing_zeros() as usize)
    })
}

/// The shadow of a page.
pub(super) struct Page {
    pub(super) kind: PageKind,
    /// The launch whose memory it is, unless it is global.
    pub(super) launch: u64,
    /// The accessible bytes, if they are one range of the page; the bounding range of `valid` otherwise.
    pub(super) low: u32,
    pub(super) high: u32,
    pub(super) valid: Option<Box<Bytes>>,
    /// The addresses of the array that it is a part of.
    pub(super) area: Range<u64>,
    /// The bytes that were written; `None` if all count as written.
    pub(super) written: Option<Box<Bytes>>,
    /// True if all accessible bytes are known to be written.
    complete: bool,
    /// The accesses as long as none can race with another.
    pub(super) log: Log,
    pub(super) only_read: OnlyRead,
    /// The accesses of the running launch, if it is compared with other operations.
    pub(super) seen: Option<Box<Seen>>,
    /// The bytes of copies that nothing has waited for; those of copies that were dropped may be among them.
    pub(super) unfinished: Option<Box<Unfinished>>,
    cells: Option<Box<[Cell; WORDS]>>,
    chunks: Option<Box<[Chunk; WORDS / CHUNK]>>,
}

impl Page {
    pub(super) fn new(kind: PageKind, accessible: Range<u32>, written: bool, area: Range<u64>) -> Page {
        let written = (!written).then(|| Box::new([0; PAGE as usize / 64]));
        Page {
            kind,
            launch: 0,
            low: accessible.start,
            high: accessible.end,
            valid: None,
            area,
            written,
            complete: false,
            log: Log::default(),
            only_read: OnlyRead::default(),
            seen: None,
            unfinished: None,
            cells: None,
            chunks: None,
        }
    }

    /// Returns true if all accessible bytes were written.
    pub(super) fn is_written(&mut self) -> bool {
        let Some(set) = &self.written else { return true };
        self.complete = self.complete || first_missing(set, self.low as usize..self.high as usize).is_none();
        self.complete
    }

    /// Makes bytes count as not written.
    pub(super) fn unwrite(&mut self, range: Range<usize>) {
        self.complete = false;
        if let Some(set) = &mut self.written {
            remove(set, range);
        }
    }

    /// Returns true if these bytes are accessible.
    pub(super) fn is_valid(&self, offset: u32, bytes: u32) -> bool {
        offset >= self.low
            && offset + bytes <= self.high
            && self
                .valid
                .as_ref()
                .is_none_or(|set| first_missing(set, offset as usize..(offset + bytes) as usize).is_none())
    }

    /// Returns true if an aligned access may be made to these bytes; of one to shared memory that may end beyond it, a
    /// byte has to be accessible.
    pub(super) fn reaches(&self, offset: u32, bytes: u32, may_end_beyond: bool) -> bool {
        let begins = self.kind == PageKind::Shared && (self.low..self.high).contains(&offset);
        self.is_valid(offset, bytes) || (may_end_beyond && begins)
    }

    pub(super) fn cell(&mut self, word: usize) -> &mut Cell {
        &mut self.cells.get_or_insert_with(defaults)[word]
    }

    pub(super) fn chunk(&mut self, chunk: usize) -> &mut Chunk {
        &mut self.chunks.get_or_insert_with(defaults)[chunk]
    }
}

/// Entries of the cache of pages.
const CACHED: usize = 1 << 11;

/// The shadow pages, by page number.
pub(super) struct Pages {
    all: HashMap<u64, Box<Page>>,
    /// The pages used last: their numbers, and where they are.
    cache: Vec<(u64, *mut Page)>,
}

impl Pages {
    pub(super) fn new() -> Pages {
        Pages { all: HashMap::new(), cache: vec![(u64::MAX, std::ptr::null_mut()); CACHED] }
    }

    /// Returns the page that contains an address.
    #[inline]
    pub(super) fn find(&mut self, address: u64) -> Option<&mut Page> {
        let number = address / PAGE;
        let slot = number as usize % CACHED;
        let (known, mut page) = self.cache[slot];
        if known != number {
            page = &raw mut **self.all.get_mut(&number)?;
            self.cache[slot] = (number, page);
        }
        // SAFETY: the cache has pages of the table only, and the borrow of the table excludes other borrows of the page.
        Some(unsafe { &mut *page })
    }

    pub(super) fn insert(&mut self, address: u64, page: Page) {
        let number = address / PAGE;
        self.forget(number);
        self.all.insert(number, Box::new(page));
    }

    fn forget(&mut self, number: u64) {
        let slot = number as usize % CACHED;
        if self.cache[slot].0 == number {
            self.cache[slot] = (u64::MAX, std::ptr::null_mut());
        }
    }

    /// Removes the pages of an address range.
    pub(super) fn remove(&mut self, range: Range<u64>) {
        let numbers = range.start / PAGE..range.end.div_ceil(PAGE);
        if numbers.end - numbers.start > self.all.len() as u64 {
            return self.retain(|number, _| !numbers.contains(&number));
        }
        for number in numbers {
            self.forget(number);
            self.all.remove(&number);
        }
    }

    /// Removes the pages for which `keep` returns false.
    pub(super) fn retain(&mut self, keep: impl Fn(u64, &Page) -> bool) {
        self.all.retain(|number, page| keep(*number, page));
        self.cache.fill((u64::MAX, std::ptr::null_mut()));
    }
}

/// Returns the parts of an address range in each page: the page's address, and the range in it.
pub(super) fn parts(address: u64, bytes: u64) -> impl Iterator<Item = (u64, Range<usize>)> {
    let end = address.saturating_add(bytes);
    (address / PAGE..end.div_ceil(PAGE)).map(move |number| {
        let start = number * PAGE;
        let from = address.saturating_sub(start) as usize;
        (start, from..(end - start).min(PAGE) as usize)
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn sets_of_bytes_have_exactly_what_was_inserted() {
        for range in [0..1, 63..65, 5..200, 0..4096, 4095..4096, 64..128] {
            let mut set: Bytes = [0; 64];
            insert(&mut set, range.clone());
            for byte in 0..4096 {
                assert_eq!(first_missing(&set, byte..byte + 1).is_none(), range.contains(&byte), "{byte} of {range:?}");
            }
            remove(&mut set, range);
            assert_eq!(set, [0; 64]);
        }
    }

    #[test]
    fn a_range_is_divided_at_pages() {
        let all: Vec<_> = parts(4094, 4100).collect();
        assert_eq!(all, [(0, 4094..4096), (4096, 0..4096), (8192, 0..2)]);
        assert_eq!(parts(8192, 4).collect::<Vec<_>>(), [(8192, 0..4)]);
    }

    #[test]
    fn a_removed_page_is_not_found_again() {
        let mut pages = Pages::new();
        pages.insert(5000, Page::new(PageKind::Global, 0..8, false, 4096..4104));
        assert!(pages.find(4096).is_some_and(|page| page.is_valid(7, 1) && !page.is_valid(7, 2)));
        pages.remove(4096..4097);
        assert!(pages.find(4096).is_none());
    }

    #[test]
    fn lines_and_columns_survive() {
        assert_eq!(position(place(77 << 32 | 12)), 77 << 32 | 12);
        assert_eq!(position(place(1 << 32 | 9999)), 1 << 32 | 511);
    }
}
