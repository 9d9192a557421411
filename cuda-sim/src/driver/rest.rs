//! [`Rest`]: the pauses of a thread that looks again and again whether a value has changed, which nobody tells it.
//!
//! A thread that yields on an idle machine is back at once, but where other threads compute, it is back after a whole slice of theirs,
//! some milliseconds later; one that slept comes before them. So it yields until that once took long.
//!
//! # Safety
//!
//! The blocks read and set the precision of the calling thread's timers, which nothing else depends on.

use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// A yield that takes longer has let another thread compute.
const LONG: Duration = Duration::from_micros(100);
/// The time for which no thread yields after that.
const CROWDED: Duration = Duration::from_millis(100);
/// The most yields of one wait.
const YIELDS: u32 = 200;
const SHORTEST: Duration = Duration::from_micros(5);
const LONGEST: Duration = Duration::from_micros(200);

/// The time until which no thread yields.
static CROWDED_UNTIL: Mutex<Option<Instant>> = Mutex::new(None);

/// The pauses of one wait, which grow.
pub(crate) struct Rest {
    yields: u32,
    pause: Duration,
}

impl Rest {
    pub(crate) fn new() -> Rest {
        Rest { yields: 0, pause: SHORTEST }
    }

    pub(crate) fn pause(&mut self) {
        let before = Instant::now();
        if self.yields < YIELDS && CROWDED_UNTIL.lock().is_none_or(|until| until < before) {
            self.yields += 1;
            std::thread::yield_now();
            if before.elapsed() > LONG {
                *CROWDED_UNTIL.lock() = Some(Instant::now() + CROWDED);
            }
            return;
        }
        sleep(self.pause);
        self.pause = LONGEST.min(self.pause + self.pause / 8);
    }
}

/// Sleeps for a few microseconds; the system's timers are some 50 late if they are not asked to be exact.
fn sleep(pause: Duration) {
    // SAFETY: the call returns a number of this thread.
    let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) };
    // SAFETY: the call sets that number.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    std::thread::sleep(pause);
    // SAFETY: as above; the thread may be the client's, which gets its own number back.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_longest_and_leave_the_timers_as_they_were() {
        // SAFETY: the calls set and return a number of this thread.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 12_345) };
        let mut rest = Rest::new();
        for _ in 0..YIELDS + 100 {
            rest.pause();
        }
        assert_eq!(rest.pause, LONGEST);
        // SAFETY: as above.
        assert_eq!(unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) }, 12_345);
    }
}
