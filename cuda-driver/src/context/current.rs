//! The thread's current context: the driver's own, which every call sets and leaves as it was, and the one that the user
//! has selected.
//!
//! The driver keeps one current context per thread, which all libraries of a process share. A call asks for it, sets its own
//! where another is current, and sets the other again afterwards ([`Entered`]). Where none was current, the call's own stays,
//! so that a thread that uses one context sets it once. Nothing is cached: another library may set its own at any time. The
//! selection is this crate's alone: it is what [`Context::current`] returns and makes no call.
//!
//! # Safety
//!
//! The `unsafe` blocks ask for the thread's current context, by a pointer that lives through the call, and set one that the
//! caller retains or that was current before.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ops::Deref;

use cuda_sys::{CUcontext, CUresult, DriverApi};

use crate::context::Context;
use crate::error::{Error, Result};

thread_local! {
    /// The context that this crate has left current where there was none.
    static BOUND_HERE: Cell<CUcontext> = const { Cell::new(std::ptr::null_mut()) };
    /// The last one is the selected one.
    static SELECTED: RefCell<Vec<Context>> = const { RefCell::new(Vec::new()) };
}

/// A context that is current for one call; the functions of its driver.
///
/// Dropping it makes the context current again that was before.
#[doc(hidden)]
pub struct Entered<'a> {
    api: &'a DriverApi,
    previous: Option<CUcontext>,
}

impl<'a> Entered<'a> {
    /// Makes the context `raw` current, if it is not.
    #[inline]
    pub(crate) fn new(api: &'a DriverApi, raw: CUcontext) -> Result<Self, Failure> {
        let found = current(api)?;
        let previous = if found == raw { None } else { switch(api, raw, found)? };
        Ok(Entered { api, previous })
    }
}

impl Deref for Entered<'_> {
    type Target = DriverApi;

    #[inline]
    fn deref(&self) -> &DriverApi {
        self.api
    }
}

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(previous) = self.previous {
            restore(self.api, previous);
        }
    }
}

/// The reason that a context could not be made current: the function is missing, or it returned a status.
pub(crate) enum Failure {
    Error(Error),
    Status(CUresult, &'static str),
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Error(error.into())
    }
}

/// The context that is current on the thread, or null.
#[inline]
pub(crate) fn current(api: &DriverApi) -> Result<CUcontext, Failure> {
    let mut found = std::ptr::null_mut();
    let get = api.cuCtxGetCurrent()?;
    // SAFETY: `found` lives through the call.
    match unsafe { get(&mut found) } {
        CUresult::CUDA_SUCCESS => Ok(found),
        code => Err(Failure::Status(code, "cuCtxGetCurrent")),
    }
}

/// Makes `raw` current in place of `found`; returns what has to be current again afterwards.
#[cold]
fn switch(api: &DriverApi, raw: CUcontext, found: CUcontext) -> Result<Option<CUcontext>, Failure> {
    let set = api.cuCtxSetCurrent()?;
    // SAFETY: the caller retains the context.
    match unsafe { set(raw) } {
        CUresult::CUDA_SUCCESS if found.is_null() => {
            BOUND_HERE.set(raw);
            Ok(None)
        }
        CUresult::CUDA_SUCCESS => Ok(Some(found)),
        code => Err(Failure::Status(code, "cuCtxSetCurrent")),
    }
}

#[cold]
fn restore(api: &DriverApi, previous: CUcontext) {
    let Ok(set) = api.cuCtxSetCurrent() else { return };
    // SAFETY: the context was current on this thread before the call, and whoever set it keeps it alive.
    let code = unsafe { set(previous) };
    if code != CUresult::CUDA_SUCCESS {
        tracing::warn!(code = code.0, "the context that was current before a call could not be made current again");
    }
}

/// Returns true if this crate, and not another library, has left the context current.
pub(crate) fn is_bound_here(raw: CUcontext) -> bool {
    BOUND_HERE.get() == raw
}

/// Takes a context that ends from the thread on which this crate has left it current.
pub(crate) fn forget(api: &DriverApi, raw: CUcontext) {
    if BOUND_HERE.get() != raw {
        return;
    }
    BOUND_HERE.set(std::ptr::null_mut());
    if current(api).is_ok_and(|found| found == raw) {
        restore(api, std::ptr::null_mut());
    }
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
            let previous = selected.pop();
            selected.push(self.clone());
            previous
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
