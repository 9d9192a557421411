//! Vector clocks: the accesses of other threads and blocks that are ordered before a thread's next one.
//!
//! Time is one counter of the launch, which advances at every synchronisation: kernels that are checked run on one
//! worker. A clock has an entry for a thread or for all threads of a block, with the time before which their accesses
//! are ordered. Clocks are immutable and shared, so that the threads of a block have one between them, and one that adds an
//! entry to another has its other parts in common with it: an atomic operation that acquires and releases takes time for the
//! entries of a few threads, and not for those of all that came before.

use std::cmp::Ordering;
use std::rc::Rc;

/// Bits of a thread's number in its block.
pub(super) const THREAD_BITS: u32 = 10;

/// A thread or a block, as the key of an entry: the block's number, then 0 and the thread's number, or 1 and zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

impl Key {
    /// Returns the key of a thread, given by its number in the grid's blocks of 1024.
    pub(super) fn thread(thread: u64) -> Key {
        let (block, own) = (thread >> THREAD_BITS, thread & ((1 << THREAD_BITS) - 1));
        Key(block << (THREAD_BITS + 1) | own)
    }

    pub(super) fn block(block: u64) -> Key {
        Key(block << (THREAD_BITS + 1) | 1 << THREAD_BITS)
    }
}

/// The time of a thread or block.
type Entry = (Key, u32);

/// The bits of a key that choose an entry within its part of a clock.
const PART_BITS: u32 = 6;

/// The entries whose keys have the upper bits in common, in ascending order. Clocks that differ in few entries share the other parts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    number: u64,
    entries: Rc<Vec<Entry>>,
}

impl Part {
    fn is_within(&self, other: &Part) -> bool {
        let (own, other) = (&self.entries, &other.entries);
        let mut rest = other.iter();
        Rc::ptr_eq(own, other)
            || own.iter().all(|(key, time)| {
                rest.find(|entry| entry.0 >= *key).is_some_and(|found| found.0 == *key && found.1 >= *time)
            })
    }

    fn merged(&self, other: &Part) -> Part {
        for (a, b) in [(self, other), (other, self)] {
            if a.is_within(b) {
                return b.clone();
            }
        }
        let entries = merged(&self.entries, &other.entries, |entry| entry.0, Entry::clone, |x, y| (x.0, x.1.max(y.1)));
        Part { number: self.number, entries: Rc::new(entries) }
    }
}

/// Merges two lists that are in ascending order of their keys.
fn merged<T, K: Ord>(
    a: &[T],
    b: &[T],
    key: impl Fn(&T) -> K,
    copy: impl Fn(&T) -> T,
    both: impl Fn(&T, &T) -> T,
) -> Vec<T> {
    let (mut all, mut a, mut b) = (Vec::with_capacity(a.len().max(b.len())), a.iter().peekable(), b.iter().peekable());
    loop {
        let order = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) => key(x).cmp(&key(y)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return all,
        };
        let next = match order {
            Ordering::Less => a.next().map(&copy),
            Ordering::Greater => b.next().map(&copy),
            Ordering::Equal => a.next().zip(b.next()).map(|(x, y)| both(x, y)),
        };
        all.extend(next);
    }
}

/// The times of threads and blocks, in parts in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(Vec<Part>);

/// A clock that may be empty.
pub(super) type Known = Option<Rc<Clock>>;

impl Clock {
    pub(super) fn of(mut entries: Vec<Entry>) -> Clock {
        entries.sort_unstable();
        entries.dedup_by(|later, first| {
            later.0 == first.0 && {
                first.1 = first.1.max(later.1);
                true
            }
        });
        let number = |entry: &Entry| entry.0.0 >> PART_BITS;
        let parts = entries.chunk_by(|x, y| number(x) == number(y));
        Clock(parts.map(|part| Part { number: number(&part[0]), entries: Rc::new(part.to_vec()) }).collect())
    }

    fn time(&self, key: Key) -> u32 {
        let Ok(part) = self.0.binary_search_by_key(&(key.0 >> PART_BITS), |part| part.number) else { return 0 };
        let entries = &self.0[part].entries;
        entries.binary_search_by_key(&key, |entry| entry.0).map_or(0, |at| entries[at].1)
    }

    /// Returns true if a thread's access at a time is ordered.
    pub(super) fn covers(&self, thread: u64, time: u32) -> bool {
        time < self.time(Key::thread(thread)) || time < self.time(Key::block(thread >> THREAD_BITS))
    }

    fn is_within(&self, other: &Clock) -> bool {
        let mut rest = other.0.iter();
        self.0.len() <= other.0.len()
            && self.0.iter().all(|part| {
                rest.find(|found| found.number >= part.number)
                    .is_some_and(|found| found.number == part.number && part.is_within(found))
            })
    }

    fn merged(&self, other: &Clock) -> Clock {
        Clock(merged(&self.0, &other.0, |part| part.number, Part::clone, Part::merged))
    }
}

/// Adds the entries of `other`.
pub(super) fn join(known: &mut Known, other: &Known) {
    let Some(other) = other else { return };
    match known {
        None => *known = Some(Rc::clone(other)),
        Some(own) if Rc::ptr_eq(own, other) || other.is_within(own) => {}
        Some(own) if own.is_within(other) => *own = Rc::clone(other),
        Some(own) => *own = Rc::new(own.merged(other)),
    }
}

/// As [`join`], for entries of its own.
pub(super) fn add(known: &mut Known, entries: Vec<Entry>) {
    join(known, &Some(Rc::new(Clock::of(entries))));
}

/// Returns true if a clock covers a thread's access at a time.
pub(super) fn covers(known: &Known, thread: u64, time: u32) -> bool {
    known.as_ref().is_some_and(|clock| clock.covers(thread, time))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn clock(entries: &[(u64, u32)]) -> Known {
        Some(Rc::new(Clock::of(entries.iter().map(|(thread, time)| (Key::thread(*thread), *time)).collect())))
    }

    #[test]
    fn joined_clocks_have_the_later_time_of_each_thread() {
        let mut known = None;
        for other in [clock(&[(5, 7), (1, 2)]), clock(&[(1, 9), (3, 3)]), clock(&[(5, 1)]), None] {
            join(&mut known, &other);
        }
        assert_eq!(known, clock(&[(1, 9), (3, 3), (5, 7)]));
        assert!(covers(&known, 5, 6) && !covers(&known, 5, 7) && !covers(&known, 4, 0));
    }

    #[test]
    fn a_clock_with_an_entry_more_shares_the_other_parts() {
        let all: Vec<(u64, u32)> = (0..300).map(|thread| (thread, 1)).collect();
        let (first, mut more) = (clock(&all), clock(&all));
        join(&mut more, &clock(&[(70, 3)]));
        join(&mut more, &first);
        assert_eq!(more, clock(&[&all[..], &[(70, 3)]].concat()));
        let mut from_first = first.clone();
        join(&mut from_first, &clock(&[(70, 3)]));
        let (first, from_first) = (first.unwrap(), from_first.unwrap());
        let shared = first.0.iter().zip(&from_first.0).filter(|(a, b)| Rc::ptr_eq(&a.entries, &b.entries)).count();
        assert_eq!((first.0.len(), shared), (5, 4));
        assert!(first.is_within(&from_first) && !from_first.is_within(&first));
    }

    #[test]
    fn an_entry_of_a_block_covers_its_threads_only() {
        let known = Some(Rc::new(Clock::of(vec![(Key::block(3), 5)])));
        for thread in [0, 1, 1023] {
            assert!(covers(&known, 3 << THREAD_BITS | thread, 4));
            assert!(!covers(&known, 3 << THREAD_BITS | thread, 5));
            assert!(!covers(&known, 2 << THREAD_BITS | thread, 0) && !covers(&known, 4 << THREAD_BITS | thread, 0));
        }
    }
}
