//! [`Target`]: the stream, or the graph that is captured, in which an operation is enqueued.

use cuda_driver::{Capture, Context, Stream, StreamScope};

/// The place in which an operation is enqueued: a stream, or a graph that is being captured.
///
/// Operations take a `&Stream`, a `&StreamScope` or a `&Capture`, and convert them.
///
/// # Examples
///
/// ```
/// use cuda_nccl::Target;
///
/// # fn main() -> cuda_driver::Result<()> {
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let stream = cuda_driver::Stream::new(&context)?;
/// assert!(matches!(Target::from(&stream), Target::Stream(_)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// The operation runs in the order of the stream.
    Stream(&'a Stream),
    /// The operation becomes a part of the graph, and runs at each launch of it.
    Capture(&'a Capture),
}

impl<'a> Target<'a> {
    /// The stream; `None` for a graph.
    #[inline]
    pub(crate) fn stream(&self) -> Option<&'a Stream> {
        match self {
            Target::Stream(stream) => Some(stream),
            Target::Capture(_) => None,
        }
    }

    pub(crate) fn context(&self) -> &Context {
        match self {
            Target::Stream(stream) => stream.context(),
            Target::Capture(capture) => capture.context(),
        }
    }
}

impl<'a> From<&'a Stream> for Target<'a> {
    #[inline]
    fn from(stream: &'a Stream) -> Self {
        Target::Stream(stream)
    }
}

impl<'a> From<&'a StreamScope<'_, '_>> for Target<'a> {
    #[inline]
    fn from(scope: &'a StreamScope<'_, '_>) -> Self {
        Target::Stream(scope)
    }
}

impl<'a> From<&'a Capture> for Target<'a> {
    #[inline]
    fn from(capture: &'a Capture) -> Self {
        Target::Capture(capture)
    }
}
