//! [`LaunchSet`]: the launches of a stream that a wait covers.

use smallvec::SmallVec;

/// A launch: the log of the thread that made it, and its number in that log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LaunchId {
    /// The index of the thread's log in the stream's list.
    pub(crate) log: u32,
    pub(crate) number: u64,
}

/// A set of launches of a stream: for each thread, the launches up to a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaunchSet(SmallVec<[u64; 1]>);

impl LaunchSet {
    pub(crate) fn contains(&self, launch: LaunchId) -> bool {
        launch.number <= self.last(launch.log)
    }

    /// The last launch of a thread in the set; 0 for none.
    pub(crate) fn last(&self, log: u32) -> u64 {
        self.0.get(log as usize).copied().unwrap_or(0)
    }

    /// Adds the launches of the next thread in the list.
    pub(crate) fn push(&mut self, last: u64) {
        self.0.push(last);
    }

    /// Adds a thread's launches up to `launch`.
    pub(crate) fn insert(&mut self, launch: LaunchId) {
        let at = launch.log as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] = self.0[at].max(launch.number);
    }

    /// Adds all launches of another set.
    pub(crate) fn join(&mut self, other: &LaunchSet) {
        let launches = other.0.iter().enumerate();
        launches.for_each(|(log, last)| self.insert(LaunchId { log: log as u32, number: *last }));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_inserted_launches_of_each_thread() {
        let mut set = LaunchSet::default();
        set.push(4);
        set.insert(LaunchId { log: 2, number: 7 });
        let has = |log, number| set.contains(LaunchId { log, number });
        assert!(has(0, 4) && !has(0, 5) && !has(1, 1) && has(2, 7) && !has(2, 8) && !has(3, 1));
        let mut other = LaunchSet::default();
        other.insert(LaunchId { log: 1, number: 3 });
        other.insert(LaunchId { log: 0, number: 2 });
        other.join(&set);
        assert_eq!([0, 1, 2, 3].map(|log| other.last(log)), [4, 3, 7, 0]);
    }
}
