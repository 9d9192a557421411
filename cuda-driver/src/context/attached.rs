//! What the layer of device memory keeps for each context, found without a lock and ended with the context.

use std::any::Any;

use crate::context::Context;
use crate::sync::OnceLock;

/// What is kept for a context.
///
/// Nothing unsafe relies on an implementation.
#[doc(hidden)]
pub trait Attached: Any + Send + Sync {
    /// The context ends, and this handle is its last: what is in it has to go now. Not called for a context that is lost.
    fn close(&self, context: &Context);
}

/// The place for it.
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
