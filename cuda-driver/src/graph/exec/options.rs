//! [`InstantiateOptions`].

#[cfg(doc)]
use super::super::Graph;

/// Options of the instantiation of a [`Graph`].
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, Graph, InstantiateOptions, Stream, driver_call};
///
/// let context = Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let graph = Graph::new(&context)?;
/// let (_, memory) = graph.add_alloc(&[], 64)?;
/// let stream = Stream::new(&context)?;
///
/// let exec = graph.instantiate_with(InstantiateOptions::new().auto_free())?;
/// exec.launch(&stream, ())?;
/// exec.launch(&stream, ())?;                  // frees the memory of the previous launch
/// // SAFETY: the last launch has allocated the memory, and nothing uses it.
/// unsafe { driver_call!(&context, cuMemFreeAsync(memory, stream.as_raw())) }?;
/// stream.synchronize()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct InstantiateOptions {
    auto_free: bool,
    node_priorities: bool,
}

impl InstantiateOptions {
    /// The defaults of [`Graph::instantiate`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Each launch frees the memory that the previous launch allocated and did not free.
    pub fn auto_free(mut self) -> Self {
        self.auto_free = true;
        self
    }

    /// Nodes run with the priorities of the streams in which they were captured, in place of the launch's.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Graph, InstantiateOptions, Stream};
    ///
    /// let graph = Graph::capture(&context, |c| c.launch_host_fn(|| println!("in the graph")))?;
    /// let exec = graph.instantiate_with(InstantiateOptions::new().node_priorities())?;
    /// exec.launch(&Stream::new(&context)?, ())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn node_priorities(mut self) -> Self {
        self.node_priorities = true;
        self
    }

    pub(in crate::graph) fn flags(self) -> u64 {
        use cuda_sys::CUgraphInstantiate_flags as F;
        let flag = |wanted: bool, flag: F| if wanted { u64::from(flag.0) } else { 0 };
        flag(self.auto_free, F::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)
            | flag(self.node_priorities, F::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)
    }
}
