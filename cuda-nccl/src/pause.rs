//! [`Pause`]: the pauses of a loop that polls, and its time limit.

use std::time::{Duration, Instant};

/// Pauses that grow from a few instructions to a millisecond, until a time limit.
pub(crate) struct Pause {
    rounds: u32,
    /// `None` for a limit that is beyond the clock's range.
    end: Option<Instant>,
}

impl Pause {
    pub(crate) fn new(limit: Duration) -> Pause {
        Pause { rounds: 0, end: Instant::now().checked_add(limit) }
    }

    /// Pauses, unless the limit has passed: then returns false.
    pub(crate) fn wait(&mut self) -> bool {
        self.rounds = self.rounds.saturating_add(1);
        match self.rounds {
            0..100 => std::hint::spin_loop(),
            100..400 => std::thread::sleep(Duration::from_micros(20)),
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
        self.end.is_none_or(|end| Instant::now() < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_ends_the_pauses() {
        let mut pause = Pause::new(Duration::from_millis(30));
        let begin = Instant::now();
        while pause.wait() {}
        assert!((30..1000).contains(&begin.elapsed().as_millis()));
        assert!(Pause::new(Duration::MAX).wait());
    }
}
