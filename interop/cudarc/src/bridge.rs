//! [`Bridge`]: one primary context, as cudarc and this stack hold it.
//!
//! Invariant: both handles retain the same context of the same driver library, and cudarc tracks the uses of slices by events
//! as long as a bridge of its context lives, unless the program has switched that off.
//!
//! # Safety
//!
//! The blocks read and set the context that is current on the thread, and set it back.

use std::fmt;
use std::sync::Arc;

use cuda_driver::Context;
use cudarc::driver::{CudaContext, CudaStream};

use crate::error::{Error, Result};
use crate::streams;

/// A device's primary context, shared between cudarc and this stack. Clones are cheap and mean the same.
///
/// While one lives, cudarc's context is in its multi-stream mode: it keeps an event for the reads of each slice and one for its
/// writes, by which this crate orders the two sides.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let context = software_device().primary_context()?;
/// use cuda_cudarc::Bridge;
/// use cudarc::driver::CudaContext;
///
/// let theirs = CudaContext::new(0)?;
/// let bridge = Bridge::new(&context, &theirs)?;
/// let slice = theirs.default_stream().clone_htod(&[1.0_f32, 2.0, 3.0])?;
/// let x = bridge.import_slice(slice)?;
/// assert_eq!(x.copy_to_host()?.to_vec(), [1.0, 2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Bridge(Arc<Inner>);

struct Inner {
    ours: Context,
    theirs: Arc<CudaContext>,
    /// Holds cudarc in its multi-stream mode.
    _tracking: Arc<CudaStream>,
}

impl Bridge {
    /// Pairs the two, which must be one context.
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`], [`Error::NotPrimary`] or [`Error::OtherDriver`] if they are two; [`Error::Cudarc`] if cudarc
    /// cannot make a stream.
    pub fn new(context: &Context, theirs: &Arc<CudaContext>) -> Result<Self> {
        streams::release_exported();
        let (ours, ordinal) = (context.device().ordinal(), theirs.ordinal());
        if ours != ordinal {
            return Err(Error::OtherDevice { theirs: ordinal, ours });
        }
        if !theirs.is_primary() {
            return Err(Error::NotPrimary { device: ours });
        }
        if theirs.cu_ctx().addr() != context.as_raw().addr() || !is_same_library(context, theirs)? {
            return Err(Error::OtherDriver { device: ours, ours: context.api().origin().to_string() });
        }
        let inner = Inner { ours: context.clone(), theirs: theirs.clone(), _tracking: theirs.new_stream()? };
        Ok(Bridge(Arc::new(inner)))
    }

    /// Pairs the context with a new `CudaContext` of the same device.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/software_device.rs.in"));
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let context = software_device().primary_context()?;
    /// let bridge = cuda_cudarc::Bridge::open(&context)?;
    /// assert_eq!(bridge.cudarc_context().ordinal(), bridge.context().device().ordinal());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](Bridge::new); [`Error::Cudarc`] if cudarc cannot make its context.
    ///
    /// # Panics
    ///
    /// cudarc finds no driver library.
    pub fn open(context: &Context) -> Result<Self> {
        Self::new(context, &CudaContext::new(context.device().ordinal())?)
    }

    /// The context, as this stack holds it.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.ours
    }

    /// The context, as cudarc holds it.
    #[must_use]
    pub fn cudarc_context(&self) -> &Arc<CudaContext> {
        &self.0.theirs
    }

    /// Refuses what belongs to another context of cudarc's: each tracks uses by itself.
    pub(crate) fn expect_theirs(&self, found: &Arc<CudaContext>, what: &'static str) -> Result<()> {
        if Arc::ptr_eq(found, &self.0.theirs) { Ok(()) } else { Err(Error::OtherCudarcContext { what }) }
    }

    /// Runs `work`, which checks the errors that cudarc records of it. An error that cudarc has recorded before is not one of `work`: it
    /// stays recorded, and cudarc's own next call returns it.
    pub(crate) fn apart_from_earlier_errors<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        let theirs = self.cudarc_context();
        let earlier = theirs.check_err();
        let result = work();
        theirs.record_err(earlier);
        result
    }

    /// Refuses what belongs to another context of this stack's.
    pub(crate) fn expect_ours(&self, found: &Context, what: &'static str) -> Result<()> {
        if found == self.context() {
            return Ok(());
        }
        let (found, wanted) = (found.device().ordinal(), self.context().device().ordinal());
        Err(Error::OtherContext { what, found, wanted })
    }
}

/// Returns true if cudarc calls the same library: a context that it makes current on this thread is current there.
fn is_same_library(context: &Context, theirs: &CudaContext) -> Result<bool> {
    let api = context.api();
    let get = api.cuCtxGetCurrent().map_err(cuda_driver::Error::from)?;
    let set = api.cuCtxSetCurrent().map_err(cuda_driver::Error::from)?;
    let current = || {
        let mut found = std::ptr::null_mut();
        // SAFETY: the pointer lives through the call.
        unsafe { get(&mut found) };
        found
    };
    let before = current();
    // SAFETY: a thread may have no context.
    unsafe { set(std::ptr::null_mut()) };
    let bound = theirs.bind_to_thread();
    let found = current();
    // SAFETY: it was current before, and whoever made it so keeps it.
    unsafe { set(before) };
    bound?;
    Ok(found == context.as_raw())
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bridge").field(self.context()).finish()
    }
}
