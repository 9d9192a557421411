//! The spans of copies for subscribers of [`tracing`]. Without a subscriber a span costs a load and a branch.

use cuda_driver::Stream;
use tracing::span::EnteredSpan;

/// The span of the driver's call that copies so many bytes; without a stream the call waits.
#[inline]
pub(crate) fn copy(from: &'static str, to: &'static str, bytes: usize, stream: Option<&Stream>) -> EnteredSpan {
    tracing::trace_span!("copy", from, to, bytes, stream = stream.map(tracing::field::display)).entered()
}
