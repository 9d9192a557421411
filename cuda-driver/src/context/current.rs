//! The thread's current context: the driver's, which every call sets and restores, and the one that the user has
//! selected.
//!
//! The driver keeps one current context per thread, which all libraries of a process share. A call queries it, sets its
//! own where another one is current, and restores the other afterwards ([`Entered`]). Where none was current, the
//! call's own stays current, so that a thread that uses one context sets it once. Nothing is cached, since another
//! library may set its own at any time. The selection belongs to this crate alone: [`Context::current`] returns it
//! without a driver call.
//!
//! # Safety
//!
//! The `unsafe` blocks query the thread's current context through a pointer that lives through the call, and set a
//! context that the caller retains or that was current before.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ops::Deref;

use cuda_sys::{CUcontext, CUresult, DriverApi};

use crate::context::Context;
use crate::error::{Error, Result};

thread_local! {
    /// The context that this crate made current on a thread that had none, and left current.
    static BOUND_HERE: Cell<CUcontext> = const { Cell::new(std::ptr::null_mut()) };
    /// The stack of selected contexts; the last one is the selected one.
    static SELECTED: RefCell<Vec<Context>> = const { RefCell::new(Vec::new()) };
}

/// A context that is current for one call; dereferences to the driver's functions.
///
/// Dropping it restores the context that was current before.
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

/// Makes `raw` current in place of `found`. Returns the context to restore afterwards, if any.
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
    // SAFETY: the context was current on this thread before the call, and the code that set it keeps it alive.
    let code = unsafe { set(previous) };
    if code != CUresult::CUDA_SUCCESS {
        tracing::warn!(code = code.0, "the context that was current before a call could not be restored");
    }
}

/// Returns true if this crate, and not another library, made the context current and left it so.
pub(crate) fn is_bound_here(raw: CUcontext) -> bool {
    BOUND_HERE.get() == raw
}

/// Unbinds a context that ends, if this crate has left it current on the calling thread.
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
        // While the thread exits, its selection may already be destroyed: then it has none.
        SELECTED.try_with(|selected| selected.borrow().last().cloned()).unwrap_or_default()
    }

    /// Selects this context for the thread in place of the one selected before. Returns that one.
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

    /// Clears the thread's selection with everything below it. Returns the one selected before.
    pub fn clear_current() -> Option<Context> {
        with_selected(std::mem::take).pop()
    }

    /// Pushes this context on the thread's selection; [`pop`](Context::pop) restores the one selected before.
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

    /// Pops the thread's selection and restores the one below it. Returns the popped context.
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

/// Removes a context from the thread's selection, at any depth.
pub(crate) fn deselect(context: &Context) {
    let gone = with_selected(|selected| {
        let (kept, gone) = std::mem::take(selected).into_iter().partition::<Vec<_>, _>(|other| other != context);
        *selected = kept;
        gone
    });
    drop(gone);
}

/// Changes the thread's selection; no effect while the thread exits. Callers drop removed contexts after this returns,
/// since their drop may use the selection.
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
