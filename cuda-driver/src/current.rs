//! What each thread knows of contexts: the one the driver has bound to it, and the one its user has selected.
//!
//! The binding is a cache of the driver's own state: the id of the context that this crate bound last on the thread. Ids
//! are never reused, so a context that was dropped can not be taken for a new one. The selection is ours alone: it is what
//! [`Context::current`] returns and makes no call.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use crate::context::Context;

#[cfg(not(loom))]
thread_local! {
    /// The id of the context that is bound to the thread; 0 for none that we know of.
    static BOUND: Cell<u64> = const { Cell::new(0) };
}

// loom's threads share one of the system's, and its macro takes no constants.
#[cfg(loom)]
loom::thread_local! {
    static BOUND: Cell<u64> = Cell::new(0);
}

thread_local! {
    /// The last one is the selected one.
    static SELECTED: RefCell<Vec<Context>> = const { RefCell::new(Vec::new()) };
}

/// Binds the context with that id by `bind`, unless it is bound already.
#[inline]
pub(crate) fn ensure_bound<E>(id: u64, bind: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
    if BOUND.with(Cell::get) != id {
        bind()?;
        BOUND.with(|bound| bound.set(id));
    }
    Ok(())
}

/// Whether this crate has bound a context to the thread.
pub(crate) fn has_bound() -> bool {
    BOUND.with(Cell::get) != 0
}

/// Forgets that the context with that id is bound to the thread, if it is; other threads never see that id again.
pub(crate) fn forget(id: u64) {
    BOUND.with(|bound| {
        if bound.get() == id {
            bound.set(0);
        }
    });
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
        SELECTED.try_with(|selected| selected.borrow().last().cloned()).unwrap_or_default()
    }

    /// Selects this context for the thread in place of the one selected before, which it returns.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Context;
    ///
    /// assert_eq!(context.set_current(), None);
    /// assert_eq!(Context::current(), Some(context.clone()));
    /// assert_eq!(Context::clear_current(), Some(context));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_current(&self) -> Option<Context> {
        with_selected(|selected| {
            let before = selected.pop();
            selected.push(self.clone());
            before
        })
    }

    /// Selects no context for the thread, forgets those below it, and returns the one selected before.
    pub fn clear_current() -> Option<Context> {
        with_selected(std::mem::take).pop()
    }

    /// Selects this context for the thread, above the one selected before, which [`pop`](Context::pop) brings back.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::{Context, Driver};
    ///
    /// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// context.push();
    /// assert_eq!(Context::pop(), Some(context));
    /// assert_eq!(Context::pop(), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn push(&self) {
        with_selected(|selected| selected.push(self.clone()));
    }

    /// Ends the thread's selection, which it returns, and brings back the one below it.
    pub fn pop() -> Option<Context> {
        with_selected(Vec::pop)
    }

    /// Selects this context for the thread until the guard is dropped, which restores the one selected before.
    #[must_use = "the selection ends when the guard is dropped"]
    pub fn select(&self) -> CurrentGuard {
        let previous = with_selected(|selected| std::mem::replace(selected, vec![self.clone()]));
        CurrentGuard { previous, thread_bound: PhantomData }
    }

    /// Forgets which context the driver has bound to this thread, so that the next call binds again.
    ///
    /// Needed only after another library has bound a different context to this thread behind our back.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::Context;
    ///
    /// context.synchronize()?;                // binds the context
    /// // SAFETY: another library unbinds it.
    /// unsafe { (context.api().cuCtxSetCurrent()?)(std::ptr::null_mut()) };
    /// Context::forget_binding();
    /// context.synchronize()?;                // binds it again
    /// # Ok(())
    /// # }
    /// ```
    pub fn forget_binding() {
        BOUND.with(|bound| bound.set(0));
    }
}

/// Takes a context from the thread's selection, wherever it stands there.
pub(crate) fn deselect(context: &Context) {
    let gone = with_selected(|selected| {
        let (kept, gone) = std::mem::take(selected).into_iter().partition::<Vec<_>, _>(|other| other != context);
        *selected = kept;
        gone
    });
    drop(gone);
}

/// Changes the thread's selection; without effect while the thread ends. What a selection's drop does comes after.
fn with_selected<R: Default>(change: impl FnOnce(&mut Vec<Context>) -> R) -> R {
    SELECTED.try_with(|selected| change(&mut selected.borrow_mut())).unwrap_or_default()
}

/// Restores a thread's selection when dropped; from [`Context::select`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// use cuda_driver::Context;
///
/// let guard = context.select();
/// assert!(Context::current().is_some());
/// drop(guard);
/// assert!(Context::current().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CurrentGuard {
    previous: Vec<Context>,
    /// Restoring on another thread would change that thread's selection.
    thread_bound: PhantomData<*mut ()>,
}

impl Drop for CurrentGuard {
    fn drop(&mut self) {
        let previous = std::mem::take(&mut self.previous);
        drop(with_selected(|selected| std::mem::replace(selected, previous)));
    }
}
