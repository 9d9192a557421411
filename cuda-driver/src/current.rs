//! What each thread knows of contexts: the one the driver has bound to it, and the one its user has selected.
//!
//! The binding is a cache of the driver's own state: the id of the context that this crate bound last on the thread. Ids
//! are never reused, so a context that was dropped can not be taken for a new one. The selection is ours alone: it is what
//! [`Context::current`] returns and makes no call.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use crate::context::Context;

thread_local! {
    /// The id of the context that is bound to the thread; 0 for none that we know of.
    static BOUND: Cell<u64> = const { Cell::new(0) };
    static SELECTED: RefCell<Option<Context>> = const { RefCell::new(None) };
}

#[inline]
pub(crate) fn is_bound(id: u64) -> bool {
    BOUND.get() == id
}

pub(crate) fn set_bound(id: u64) {
    BOUND.set(id);
}

impl Context {
    /// The context that this thread has selected with [`set_current`](Context::set_current), if any.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::{Context, Driver};
    ///
    /// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// assert!(Context::current().is_none());
    /// {
    ///     let _guard = context.select();
    ///     assert_eq!(Context::current(), Some(context.clone()));
    /// }
    /// assert!(Context::current().is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn current() -> Option<Context> {
        // While the thread ends, its selection may be gone already: then it has none.
        SELECTED.try_with(|selected| selected.borrow().clone()).unwrap_or_default()
    }

    /// Selects this context for the thread, and returns the one selected before.
    pub fn set_current(&self) -> Option<Context> {
        replace_selected(Some(self.clone()))
    }

    /// Selects no context for the thread, and returns the one selected before.
    pub fn clear_current() -> Option<Context> {
        replace_selected(None)
    }

    /// Selects this context for the thread until the guard is dropped, which restores the one selected before.
    #[must_use = "the selection ends when the guard is dropped"]
    pub fn select(&self) -> CurrentGuard {
        CurrentGuard { previous: self.set_current(), thread_bound: PhantomData }
    }

    /// Forgets which context the driver has bound to this thread, so that the next call binds again.
    ///
    /// Needed only after another library has bound a different context to this thread behind our back.
    pub fn forget_binding() {
        set_bound(0);
    }
}

fn replace_selected(next: Option<Context>) -> Option<Context> {
    SELECTED.try_with(|selected| selected.replace(next)).unwrap_or_default()
}

/// Restores a thread's selection when dropped; from [`Context::select`].
#[derive(Debug)]
pub struct CurrentGuard {
    previous: Option<Context>,
    /// Restoring on another thread would change that thread's selection.
    thread_bound: PhantomData<*mut ()>,
}

impl Drop for CurrentGuard {
    fn drop(&mut self) {
        drop(replace_selected(self.previous.take()));
    }
}
