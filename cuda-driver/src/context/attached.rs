//! Per-context state of the layer above (device memory), found without a lock and closed with the context.

use std::any::Any;

use crate::context::Context;
use crate::sync::OnceLock;

/// State that the layer above attaches to a context.
///
/// Nothing unsafe relies on an implementation.
#[doc(hidden)]
pub trait Attached: Any + Send + Sync {
    /// Called when the context ends, with its last handle: frees everything that the state owns. Not called for a lost
    /// context.
    fn close(&self, context: &Context);
}

/// The slot of a context for its attached state.
#[derive(Default)]
pub(crate) struct Attachment(OnceLock<Box<dyn Attached>>);

impl Attachment {
    #[inline]
    pub(crate) fn get_or_attach<T: Attached>(&self, make: impl FnOnce() -> T) -> &T {
        let attached: &dyn Any = &**match self.0.get() {
            Some(attached) => attached,
            None => self.0.get_or_init(|| Box::new(make())),
        };
        attached.downcast_ref().expect("one layer attaches to contexts, and always the same type")
    }

    pub(crate) fn take(&mut self) -> Option<Box<dyn Attached>> {
        self.0.take()
    }
}
