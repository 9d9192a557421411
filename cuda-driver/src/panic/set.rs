//! [`LaunchSet`]: the launches of a stream that a wait covers.

use smallvec::SmallVec;

/// A launch by its number; while its call is made it has a lane, which no other launch has then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaunchId {
    pub(crate) number: u64,
    pub(crate) lane: u8,
}

/// The launches of a stream up to a number, but those whose calls had not returned yet.
///
/// Of two sets of one stream, the one that was taken later has all of the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaunchSet {
    last: u64,
    /// Lanes in which a call was being made, and the number of the last launch there whose call had returned.
    busy: SmallVec<[(u8, u64); 2]>,
}

impl LaunchSet {
    pub(crate) fn up_to(last: u64) -> Self {
        LaunchSet { last, busy: SmallVec::new() }
    }

    pub(crate) fn without(last: u64, busy: impl Iterator<Item = (u8, u64)>) -> Self {
        LaunchSet { last, busy: busy.collect() }
    }

    pub(crate) fn contains(&self, launch: LaunchId) -> bool {
        let is_out = |(lane, returned): &(u8, u64)| *lane == launch.lane && launch.number > *returned;
        launch.number <= self.last && !self.busy.iter().any(is_out)
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// The number up to which it has all.
    pub(crate) fn all(&self) -> u64 {
        self.busy.iter().map(|(_, returned)| *returned).fold(self.last, u64::min)
    }

    /// Takes the place of an earlier one of the same stream.
    pub(crate) fn join(&mut self, other: &LaunchSet) {
        if other.last > self.last || other.last == self.last && other.busy.len() <= self.busy.len() {
            self.clone_from(other);
        }
    }

    /// Those up to that number.
    pub(crate) fn until(mut self, last: u64) -> Self {
        self.last = self.last.min(last);
        self
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_has_what_had_returned() {
        let set = LaunchSet::without(10, [(1, 4), (3, 9)].into_iter());
        let has = |number, lane| set.contains(LaunchId { number, lane });
        assert!(has(10, 0) && !has(11, 0));
        assert!(has(4, 1) && !has(5, 1) && !has(10, 1));
        assert!(has(9, 3) && !has(10, 3));
        assert_eq!((set.all(), set.last()), (4, 10));
        assert_eq!(LaunchSet::up_to(7).all(), 7);
        let until = set.clone().until(6);
        assert!(until.contains(LaunchId { number: 6, lane: 3 }) && !until.contains(LaunchId { number: 7, lane: 0 }));
    }

    #[test]
    fn the_later_one_stands_for_both() {
        let early = LaunchSet::without(10, [(1, 4)].into_iter());
        for later in [LaunchSet::up_to(10), LaunchSet::without(12, [(1, 4), (2, 8)].into_iter())] {
            let (mut a, mut b) = (early.clone(), later.clone());
            a.join(&later);
            b.join(&early);
            assert_eq!((&a, &b), (&later, &later));
        }
    }
}
