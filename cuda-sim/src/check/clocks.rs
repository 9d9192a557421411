//! Vector clocks: the accesses of other threads and blocks that are ordered before a thread's next one.
//!
//! Time is one counter of the launch, which advances at every synchronisation: kernels that are checked run on one
//! worker. A clock has an entry for a thread or for all threads of a block, with the time before which their accesses
//! are ordered. Clocks are immutable and shared, so that the threads of a block have one between them.

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

/// Entries in ascending order of their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(Vec<(Key, u32)>);

/// A clock that may be empty.
pub(super) type Known = Option<Rc<Clock>>;

impl Clock {
    pub(super) fn of(mut entries: Vec<(Key, u32)>) -> Clock {
        entries.sort_unstable();
        entries.dedup_by(|later, first| {
            later.0 == first.0 && {
                first.1 = first.1.max(later.1);
                true
            }
        });
        Clock(entries)
    }

    fn time(&self, key: Key) -> u32 {
        self.0.binary_search_by_key(&key, |entry| entry.0).map_or(0, |at| self.0[at].1)
    }

    /// Returns true if a thread's access at a time is ordered.
    pub(super) fn covers(&self, thread: u64, time: u32) -> bool {
        time < self.time(Key::thread(thread)) || time < self.time(Key::block(thread >> THREAD_BITS))
    }

    fn is_within(&self, other: &Clock) -> bool {
        let mut at = 0;
        self.0.len() <= other.0.len()
            && self.0.iter().all(|(key, time)| {
                at += other.0[at..].partition_point(|entry| entry.0 < *key);
                other.0.get(at).is_some_and(|entry| entry.0 == *key && entry.1 >= *time)
            })
    }

    fn merged(&self, other: &Clock) -> Clock {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut all = Vec::with_capacity(self.0.len() + other.0.len());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    let both = (x.0, x.1.max(y.1));
                    b.next();
                    a.next();
                    all.push(both);
                    continue;
                }
                (Some(x), Some(y)) if x.0 < y.0 => a.next(),
                (_, Some(_)) => b.next(),
                _ => a.next(),
            };
            match next {
                Some(entry) => all.push(*entry),
                None => return Clock(all),
            }
        }
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
pub(super) fn add(known: &mut Known, entries: Vec<(Key, u32)>) {
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
    fn an_entry_of_a_block_covers_its_threads_only() {
        let known = Some(Rc::new(Clock::of(vec![(Key::block(3), 5)])));
        for thread in [0, 1, 1023] {
            assert!(covers(&known, 3 << THREAD_BITS | thread, 4));
            assert!(!covers(&known, 3 << THREAD_BITS | thread, 5));
            assert!(!covers(&known, 2 << THREAD_BITS | thread, 0) && !covers(&known, 4 << THREAD_BITS | thread, 0));
        }
    }
}
