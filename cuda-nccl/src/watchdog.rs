//! The watchdog: a thread that looks at all communicators of the process, so that a lost peer ends waits that know nothing of
//! NCCL, such as a copy to the host.
//!
//! It begins with the first communicator and looks at each a few times within the shortest time limit. It holds no communicator
//! alive.

use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use crate::communicator::Core;

/// The communicators that may be live.
static WATCHED: Mutex<Vec<Weak<Core>>> = Mutex::new(Vec::new());

/// Begins to watch a communicator.
pub(crate) fn watch(core: &Arc<Core>) {
    let mut watched = WATCHED.lock();
    let is_running = !watched.is_empty();
    watched.push(Arc::downgrade(core));
    if !is_running && let Err(error) = std::thread::Builder::new().name("nccl-watchdog".into()).spawn(run) {
        watched.clear();
        tracing::warn!(%error, "no thread watches the communicators; only `Communicator::wait` has a time limit");
    }
}

/// Looks at the communicators until there is none.
fn run() {
    loop {
        let cores: Vec<Arc<Core>> = {
            let mut watched = WATCHED.lock();
            watched.retain(|core| core.strong_count() > 0);
            if watched.is_empty() {
                return;
            }
            watched.iter().filter_map(Weak::upgrade).collect()
        };
        cores.iter().for_each(|core| core.inspect());
        std::thread::sleep(interval(cores.iter().map(|core| core.limit)));
    }
}

/// The time between two rounds, given the time limits.
fn interval(limits: impl Iterator<Item = Duration>) -> Duration {
    let shortest = limits.min().unwrap_or(Duration::MAX);
    (shortest / 8).clamp(Duration::from_millis(5), Duration::from_millis(500))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_come_several_times_within_the_shortest_limit() {
        let limits = [Duration::from_secs(300), Duration::from_millis(800)];
        assert_eq!(interval(limits.into_iter()), Duration::from_millis(100));
        assert_eq!(interval(limits.into_iter().take(1)), Duration::from_millis(500));
        assert_eq!(interval([Duration::ZERO].into_iter()), Duration::from_millis(5));
    }
}
