//! [`Registry`]: shared objects that exist once as long as anything holds them, such as a driver's state or a device's
//! context.
//!
//! It holds weak references. Invariant: of two threads that look up the same object, one makes it and both get it; an
//! object that nothing holds is recreated, even while the last holder is still dropping it.

use crate::sync::{Arc, Mutex, Weak};

/// Weak references to objects of which each exists once.
pub(crate) struct Registry<T>(Mutex<Vec<Weak<T>>>);

impl<T> Default for Registry<T> {
    fn default() -> Self {
        Registry(Mutex::new(Vec::new()))
    }
}

impl<T> Registry<T> {
    /// Returns the object that is `wanted`: a live one, else a new one. If making it fails, the next caller tries
    /// again.
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

    /// Runs `work` while no object is live and none can be made; returns `None` if one is live.
    pub(crate) fn while_empty<R>(&self, work: impl FnOnce() -> R) -> Option<R> {
        let known = self.0.lock();
        let held = known.iter().any(|thing| thing.strong_count() > 0);
        (!held).then(work)
    }
}
