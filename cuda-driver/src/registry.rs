//! [`Registry`]: things of which there is one each while anybody holds them, such as a driver's state, or a device's context.
//!
//! It does not hold them. Invariant: of two threads that want the same thing, one makes it and both get it; a thing that
//! nobody holds any more is made anew, even while the last holder is still giving back what it had.

use crate::sync::{Arc, Mutex, Weak};

/// What is made once each.
pub(crate) struct Registry<T>(Mutex<Vec<Weak<T>>>);

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Registry(Mutex::new(Vec::new()))
    }
}

impl<T> Registry<T> {
    /// The thing that is `wanted`: one that somebody holds, else a new one. If making it fails, the next caller tries again.
    pub(crate) fn find_or_make<E>(
        &self,
        wanted: impl Fn(&T) -> bool,
        make: impl FnOnce() -> Result<Arc<T>, E>,
    ) -> Result<Arc<T>, E> {
        let mut known = self.0.lock();
        known.retain(|thing| thing.strong_count() > 0);
        if let Some(thing) = known.iter().filter_map(Weak::upgrade).find(|thing| wanted(thing)) {
            return Ok(thing);
        }
        let thing = make()?;
        known.push(Arc::downgrade(&thing));
        Ok(thing)
    }

    /// Does something while there is nothing, and nothing can be made; `None` if somebody holds something.
    pub(crate) fn while_empty<R>(&self, work: impl FnOnce() -> R) -> Option<R> {
        let known = self.0.lock();
        let held = known.iter().any(|thing| thing.strong_count() > 0);
        (!held).then(work)
    }
}
