//! [`LaunchSet`]: the launches of a stream that a wait covers.

/// Launches by their numbers: all up to one, and some of those after it, while other threads' calls have not returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaunchSet {
    all: u64,
    /// Bit `i` is the launch `all + 1 + i`.
    more: u128,
}

impl LaunchSet {
    pub(crate) fn up_to(all: u64) -> Self {
        LaunchSet { all, more: 0 }
    }

    /// Adds one launch; of those too far ahead nothing is noted.
    pub(crate) fn insert(&mut self, launch: u64) {
        if let Some(bit) = self.bit(launch) {
            self.more |= bit;
            self.advance();
        }
    }

    pub(crate) fn contains(&self, launch: u64) -> bool {
        launch <= self.all || self.bit(launch).is_some_and(|bit| self.more & bit != 0)
    }

    fn bit(&self, launch: u64) -> Option<u128> {
        let distance = launch.checked_sub(self.all + 1)?;
        1_u128.checked_shl(u32::try_from(distance).ok()?)
    }

    /// Counts what follows without a gap to those that are all there.
    fn advance(&mut self) {
        let run = self.more.trailing_ones();
        self.all += u64::from(run);
        self.more = self.more.checked_shr(run).unwrap_or(0);
    }

    /// The number up to which it has all.
    pub(crate) fn all(&self) -> u64 {
        self.all
    }

    /// Those after that, in order.
    pub(crate) fn more(&self) -> impl Iterator<Item = u64> + use<> {
        let LaunchSet { all, more } = *self;
        (0..128_u64).filter(move |bit| more >> bit & 1 != 0).map(move |bit| all + 1 + bit)
    }

    /// Whether it has launches beyond the number up to which it has all.
    pub(crate) fn has_more(&self) -> bool {
        self.more != 0
    }

    /// Adds all of another one.
    pub(crate) fn join(&mut self, other: &LaunchSet) {
        let (mut most, least) = if self.all >= other.all { (*self, other) } else { (*other, &*self) };
        least.more().for_each(|launch| most.insert(launch));
        *self = most;
    }

    /// Those up to that number.
    pub(crate) fn until(self, last: u64) -> Self {
        let mut until = LaunchSet::up_to(self.all.min(last));
        self.more().filter(|launch| *launch <= last).for_each(|launch| until.insert(launch));
        until
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn set(all: u64, more: &[u64]) -> LaunchSet {
        let mut set = LaunchSet::up_to(all);
        more.iter().for_each(|launch| set.insert(*launch));
        set
    }

    #[test]
    fn it_has_what_was_put_in() {
        let mut launches = set(5, &[8, 7]);
        assert_eq!([4, 5, 6, 7, 8, 9].map(|launch| launches.contains(launch)), [true, true, false, true, true, false]);
        launches.insert(6);
        assert_eq!(launches, LaunchSet::up_to(8));
        assert_eq!(set(0, &[128]).more().collect::<Vec<_>>(), [128]);
        assert_eq!(set(0, &[129]), LaunchSet::up_to(0), "too far ahead");
        let mut full = LaunchSet::up_to(10);
        (11..=138).rev().for_each(|launch| full.insert(launch));
        assert_eq!(full, LaunchSet::up_to(138));
    }

    #[test]
    fn two_together_have_what_each_has() {
        for (a, b) in [(set(5, &[7, 9]), set(8, &[11])), (set(5, &[7]), set(5, &[6])), (set(0, &[]), set(3, &[5]))] {
            for (mut joined, other) in [(a, b), (b, a)] {
                joined.join(&other);
                for launch in 0..20 {
                    assert_eq!(
                        joined.contains(launch),
                        a.contains(launch) || b.contains(launch),
                        "{launch} in {joined:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn those_up_to_a_number_are_no_more() {
        let launches = set(5, &[7, 9]);
        for last in 0..12 {
            let until = launches.until(last);
            for launch in 0..12 {
                assert_eq!(until.contains(launch), launches.contains(launch) && launch <= last);
            }
        }
    }
}
