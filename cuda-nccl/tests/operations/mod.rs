//! Every operation of a rank against a reference on the host, for communicators of any transport.

pub(crate) mod exact;
pub(crate) mod moves;
pub(crate) mod reductions;

use cuda_driver::Stream;
use cuda_nccl::Communicator;

/// A rank with a stream.
pub(crate) struct Rank {
    pub(crate) communicator: Communicator,
    pub(crate) stream: Stream,
}

impl Rank {
    pub(crate) fn new(communicator: Communicator) -> Rank {
        let stream = Stream::new(communicator.context()).unwrap();
        Rank { communicator, stream }
    }

    pub(crate) fn rank(&self) -> usize {
        self.communicator.rank()
    }

    pub(crate) fn size(&self) -> usize {
        self.communicator.size()
    }
}
