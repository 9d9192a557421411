//! [`LaunchConfig`]: grid, block, cluster, stream and shared memory of a launch, and the check against a device's
//! limits.
//!
//! It launches nothing. Invariant: a [`Geometry`] exists only for a configuration that passed the check.

use crate::context::Context;
use crate::device::Device;
use crate::device::limits::DeviceLimits;
use crate::error::Result;
use crate::graph::Capture;
use crate::launch::cluster;
use crate::launch::dims::{Dim3, Dims};
use crate::launch::error::{LaunchConfigError, LaunchPart};
use crate::stream::Stream;
use crate::stream::scope::StreamScope;

/// A launch configuration: grid and block dimensions, and the options of a launch.
///
/// It is converted from tuples in the order of Numba's brackets, `(grid, block)`, `(grid, block, &stream)` or `(grid,
/// block, &stream, dynamic shared bytes)`, where grid and block are integers, tuples of up to three integers, or lists
/// of them.
///
/// # Examples
///
/// ```
/// use cuda_driver::LaunchConfig;
///
/// let config = LaunchConfig::from((1000, 128));
/// assert_eq!(config.ndim(), 1);
/// let config = LaunchConfig::new((16, 16), (8, 8)).shared_bytes(1024).cooperative();
/// assert_eq!((config.ndim(), config.dynamic_shared_bytes()), (2, 1024));
/// assert!(config.is_cooperative() && !config.is_programmatic() && !config.is_quiet());
/// assert_eq!((config.grid().extents(), config.block().to_string().as_str()), ([16, 16, 1], "(8, 8)"));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct LaunchConfig {
    grid: Dim3,
    block: Dim3,
    stream: Option<Stream>,
    shared_bytes: usize,
    cluster: Option<Dim3>,
    non_portable: bool,
    cooperative: bool,
    programmatic: bool,
    quiet: bool,
    capture: Option<Capture>,
}

impl LaunchConfig {
    /// `grid` blocks of `block` threads.
    #[inline]
    pub fn new(grid: impl Dims, block: impl Dims) -> Self {
        let (grid, block) = (grid.dims(), block.dims());
        LaunchConfig {
            grid,
            block,
            stream: None,
            shared_bytes: 0,
            cluster: None,
            non_portable: false,
            cooperative: false,
            programmatic: false,
            quiet: false,
            capture: None,
        }
    }

    /// The same launch with other dimensions.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_driver::LaunchConfig;
    ///
    /// let config = LaunchConfig::new(1, 128).shared_bytes(512).resized((4, 2), 64);
    /// assert_eq!((config.grid().to_string().as_str(), config.dynamic_shared_bytes()), ("(4, 2)", 512));
    /// ```
    pub fn resized(mut self, grid: impl Dims, block: impl Dims) -> Self {
        (self.grid, self.block) = (grid.dims(), block.dims());
        self
    }

    /// Sets the stream of the launch, in place of the default stream.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{LaunchConfig, Stream};
    ///
    /// let stream = Stream::new(&context)?;
    /// let config = LaunchConfig::new(4, 128).stream(&stream);
    /// assert_eq!(config.chosen_stream().map(Stream::id), Some(stream.id()));
    /// assert_eq!(config.chosen_context(), Some(&context));
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn stream(mut self, stream: &Stream) -> Self {
        self.stream = Some(stream.clone());
        self
    }

    /// Sets the capture that records the launch, in place of a stream; see [`Graph::capture`](crate::Graph::capture).
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// use cuda_driver::{Graph, LaunchConfig};
    ///
    /// Graph::capture(&context, |c| {
    ///     let config = LaunchConfig::new(4, 128).capture(c);
    ///     assert!(config.chosen_capture().is_some() && config.chosen_stream().is_none());
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn capture(mut self, capture: &Capture) -> Self {
        self.capture = Some(capture.clone());
        self
    }

    /// Bytes of dynamic shared memory for each block.
    pub fn shared_bytes(mut self, bytes: usize) -> Self {
        self.shared_bytes = bytes;
        self
    }

    /// Launches the grid in clusters of `blocks` blocks along each axis, which are co-scheduled and can access each
    /// other's shared memory. The grid is still counted in blocks, and each of its dimensions is a multiple of the
    /// cluster's; a cluster of at most 8 blocks is portable: it runs on every device from compute capability 9.0 on.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::{Driver, LaunchConfig};
    ///
    /// let device = Driver::new(cuda_sim::driver_api())?.device(0)?;
    /// assert!(LaunchConfig::new((8, 6), 128).cluster((2, 3)).check(&device).is_ok());
    /// let error = LaunchConfig::new(10, 128).cluster(4).check(&device).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "grid of 10 blocks: x is 10, which is no multiple of the 4 blocks of a cluster; nothing was launched"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn cluster(mut self, blocks: impl Dims) -> Self {
        self.cluster = Some(blocks.dims());
        self
    }

    /// Allows clusters of more than 8 blocks, which only some devices run: see
    /// [`Function::max_cluster_blocks`](crate::Function::max_cluster_blocks).
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_driver::LaunchConfig;
    ///
    /// let config = LaunchConfig::new(32, 128).cluster(16).non_portable();
    /// assert!(config.is_non_portable());
    /// assert_eq!(config.chosen_cluster().unwrap().extents(), [16, 1, 1]);
    /// ```
    pub fn non_portable(mut self) -> Self {
        self.non_portable = true;
        self
    }

    /// Makes the launch cooperative: all blocks are resident at once, so that kernels can use grid-wide barriers.
    pub fn cooperative(mut self) -> Self {
        self.cooperative = true;
        self
    }

    /// Lets the launch begin before the work ahead of it in the stream has finished (programmatic dependent launch, compute
    /// capability 9.0). The kernel itself waits, by `griddepcontrol.wait`, before it uses what that work writes.
    ///
    /// Only untyped launches can be programmatic: a typed kernel relies on the order of its stream.
    ///
    /// # Examples
    ///
    /// ```
    /// let config = cuda_driver::LaunchConfig::new(32, 128).programmatic();
    /// assert!(config.is_programmatic());
    /// ```
    pub fn programmatic(mut self) -> Self {
        self.programmatic = true;
        self
    }

    /// Suppresses performance warnings for this launch, such as those about few blocks or copies of host arrays.
    ///
    /// # Examples
    ///
    /// ```
    /// let config = cuda_driver::LaunchConfig::new(1, 1).quiet();       // one thread is intended
    /// assert!(config.is_quiet());
    /// ```
    pub fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// The grid as given.
    #[must_use]
    pub fn grid(&self) -> Dim3 {
        self.grid
    }

    /// The block as given.
    #[must_use]
    pub fn block(&self) -> Dim3 {
        self.block
    }

    /// The stream that was chosen, if one was.
    #[must_use]
    #[inline]
    pub fn chosen_stream(&self) -> Option<&Stream> {
        self.stream.as_ref()
    }

    /// Bytes of dynamic shared memory for each block.
    #[must_use]
    pub fn dynamic_shared_bytes(&self) -> usize {
        self.shared_bytes
    }

    /// The cluster dimensions as given, if the launch has clusters.
    #[must_use]
    #[inline]
    pub fn chosen_cluster(&self) -> Option<Dim3> {
        self.cluster
    }

    /// Returns true if clusters beyond the portable size are allowed.
    #[must_use]
    #[inline]
    pub fn is_non_portable(&self) -> bool {
        self.non_portable
    }

    /// Returns true if the launch is cooperative.
    #[must_use]
    #[inline]
    pub fn is_cooperative(&self) -> bool {
        self.cooperative
    }

    /// Returns true if the launch may begin before the work ahead of it has finished.
    #[must_use]
    #[inline]
    pub fn is_programmatic(&self) -> bool {
        self.programmatic
    }

    /// The capture that was chosen, if one was.
    #[must_use]
    #[inline]
    pub fn chosen_capture(&self) -> Option<&Capture> {
        self.capture.as_ref()
    }

    /// The context of the stream or capture that was chosen, if one was.
    #[must_use]
    #[inline]
    pub fn chosen_context(&self) -> Option<&Context> {
        self.capture.as_ref().map(Capture::context).or_else(|| self.stream.as_ref().map(Stream::context))
    }

    /// Returns true if performance warnings are suppressed.
    #[must_use]
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// The number of dimensions of the launch: the larger of the grid's and the block's number of extents.
    #[must_use]
    #[inline]
    pub fn ndim(&self) -> usize {
        self.grid.ndim().max(self.block.ndim())
    }

    /// Checks the configuration against the device's limits. Every launch does this by itself.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// use cuda_driver::{Driver, LaunchConfig};
    ///
    /// let device = Driver::new(cuda_sim::driver_api())?.device(0)?;
    /// assert!(LaunchConfig::new(1000, 128).check(&device).is_ok());
    /// let error = LaunchConfig::new(1000, 0).check(&device).unwrap_err();
    /// assert_eq!(error.to_string(), "block of 0 threads: x is 0, it must be from 1 to 1024; nothing was launched");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::LaunchConfig`](crate::Error::LaunchConfig), which names the value and the limit.
    pub fn check(&self, device: &Device) -> Result<()> {
        self.check_within(device.limits()?)
    }

    /// Checks the configuration against limits, as [`check`](Self::check) does against a device's; needs no driver.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_driver::{DeviceLimits, LaunchConfig};
    ///
    /// let error = LaunchConfig::new(1, 5000).check_within(&DeviceLimits::EVERYWHERE).unwrap_err();
    /// assert_eq!(error.to_string(), "block of 5000 threads: x is 5000, it must be from 1 to 1024; nothing was launched");
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::LaunchConfig`](crate::Error::LaunchConfig), which names the value and the limit.
    pub fn check_within(&self, limits: &DeviceLimits) -> Result<()> {
        self.geometry(limits)?;
        Ok(())
    }

    /// The configuration in the driver's integers, if it is within `limits`.
    pub(crate) fn geometry(&self, limits: &DeviceLimits) -> Result<Geometry, LaunchConfigError> {
        self.fitting(limits).ok_or_else(|| self.refusal(limits))
    }

    /// The configuration in the driver's integers, if it is within `limits`. Every launch calls it, so it builds no
    /// error.
    // Inlined: returned through memory in pieces, the value would stall the launch that reads it back whole.
    #[inline(always)]
    pub(crate) fn fitting(&self, limits: &DeviceLimits) -> Option<Geometry> {
        let grid = self.grid.fit(limits.max_grid).ok()?;
        let block = self.block.fit(limits.max_block).ok()?;
        let known = (1..=3).contains(&self.grid.ndim()) && (1..=3).contains(&self.block.ndim());
        let threads = block.iter().map(|extent| u64::from(*extent)).product::<u64>();
        let fits = threads <= u64::from(limits.max_threads_per_block)
            && self.shared_bytes <= limits.shared_per_block_optin
            && (!self.cooperative || limits.cooperative_launch);
        let shared_bytes = u32::try_from(self.shared_bytes).ok()?;
        let cluster = match self.cluster {
            Some(_) => self.fitting_cluster(grid, limits).ok()?,
            None => None,
        };
        (known && fits).then_some(Geometry { grid, block, cluster, threads: threads as u32, shared_bytes })
    }

    /// The cluster dimensions in the driver's integers.
    #[cold]
    fn fitting_cluster(&self, grid: [u32; 3], limits: &DeviceLimits) -> Result<Option<[u32; 3]>, LaunchConfigError> {
        let checked = |given| cluster::checked(given, self.non_portable, (self.grid, grid), limits);
        self.cluster.map(checked).transpose()
    }

    /// The error for a configuration that is not within `limits`.
    #[cold]
    fn refusal(&self, limits: &DeviceLimits) -> LaunchConfigError {
        let refused = fit(LaunchPart::Grid, self.grid, limits.max_grid)
            .and_then(|grid| Ok((grid, fit(LaunchPart::Block, self.block, limits.max_block)?)));
        let (grid, block) = match refused {
            Ok(extents) => extents,
            Err(error) => return error,
        };
        let threads: u64 = block.iter().map(|extent| u64::from(*extent)).product();
        let limit = limits.max_threads_per_block;
        if threads > u64::from(limit) {
            return LaunchConfigError::BlockThreads { block: self.block, threads, limit, kernel: None };
        }
        if self.cooperative && !limits.cooperative_launch {
            return LaunchConfigError::Cooperative;
        }
        if let Err(error) = self.fitting_cluster(grid, limits) {
            return error;
        }
        let limit = limits.shared_per_block_optin;
        LaunchConfigError::SharedMemory { dynamic: self.shared_bytes, fixed: 0, limit, kernel: None }
    }
}

/// A checked configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Blocks in a cluster.
    pub(crate) cluster: Option<[u32; 3]>,
    /// Threads in a block.
    pub(crate) threads: u32,
    pub(crate) shared_bytes: u32,
}

pub(crate) fn fit(part: LaunchPart, given: Dim3, limits: [u32; 3]) -> Result<[u32; 3], LaunchConfigError> {
    if !(1..=3).contains(&given.ndim()) {
        return Err(LaunchConfigError::Extents { part, count: given.ndim() });
    }
    given.fit(limits).map_err(|axis| LaunchConfigError::Extent {
        part,
        given,
        axis: ['x', 'y', 'z'][axis],
        value: given.extents()[axis],
        limit: limits[axis],
    })
}

impl<G: Dims, B: Dims> From<(G, B)> for LaunchConfig {
    #[inline]
    fn from((grid, block): (G, B)) -> Self {
        LaunchConfig::new(grid, block)
    }
}

impl<G: Dims, B: Dims> From<(G, B, &Stream)> for LaunchConfig {
    #[inline]
    fn from((grid, block, stream): (G, B, &Stream)) -> Self {
        LaunchConfig::new(grid, block).stream(stream)
    }
}

impl<G: Dims, B: Dims> From<(G, B, &Stream, usize)> for LaunchConfig {
    fn from((grid, block, stream, shared_bytes): (G, B, &Stream, usize)) -> Self {
        LaunchConfig::new(grid, block).stream(stream).shared_bytes(shared_bytes)
    }
}

impl<G: Dims, B: Dims> From<(G, B, &Capture)> for LaunchConfig {
    fn from((grid, block, capture): (G, B, &Capture)) -> Self {
        LaunchConfig::new(grid, block).capture(capture)
    }
}

impl<G: Dims, B: Dims> From<(G, B, &Capture, usize)> for LaunchConfig {
    fn from((grid, block, capture, shared_bytes): (G, B, &Capture, usize)) -> Self {
        LaunchConfig::new(grid, block).capture(capture).shared_bytes(shared_bytes)
    }
}

impl<G: Dims, B: Dims> From<(G, B, &StreamScope<'_, '_>)> for LaunchConfig {
    fn from((grid, block, stream): (G, B, &StreamScope<'_, '_>)) -> Self {
        LaunchConfig::new(grid, block).stream(stream)
    }
}

impl<G: Dims, B: Dims> From<(G, B, &StreamScope<'_, '_>, usize)> for LaunchConfig {
    fn from((grid, block, stream, shared_bytes): (G, B, &StreamScope<'_, '_>, usize)) -> Self {
        LaunchConfig::new(grid, block).stream(stream).shared_bytes(shared_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> DeviceLimits {
        DeviceLimits {
            max_threads_per_block: 1024,
            max_block: [1024, 1024, 64],
            max_grid: [0x7fff_ffff, 65535, 65535],
            shared_per_block: 48 << 10,
            shared_per_block_optin: 99 << 10,
            warp_size: 32,
            multiprocessors: 4,
            cooperative_launch: false,
            cluster_launch: true,
            memory_pools: true,
            can_map_host: true,
        }
    }

    fn refusal(config: impl Into<LaunchConfig>) -> String {
        config.into().geometry(&limits()).unwrap_err().to_string()
    }

    #[test]
    fn integer_types_and_tuples_mix() {
        let config = LaunchConfig::from(((3_usize, 2), (4_u32, 8_i64, 1)));
        let geometry = config.geometry(&limits()).unwrap();
        assert_eq!((geometry.grid, geometry.block, geometry.threads), ([3, 2, 1], [4, 8, 1], 32));
        assert_eq!(config.ndim(), 3);
    }

    #[test]
    fn a_configuration_at_every_limit_passes() {
        assert!(LaunchConfig::new((0x7fff_ffff_u32, 65535, 65535), (16, 1, 64)).geometry(&limits()).is_ok());
        assert!(LaunchConfig::new(1, 1).shared_bytes(99 << 10).geometry(&limits()).is_ok());
    }

    #[test]
    fn a_refusal_names_value_and_limit() {
        assert_eq!(refusal((0, 32)), "grid of 0 blocks: x is 0, it must be from 1 to 2147483647; nothing was launched");
        assert_eq!(
            refusal((1, (8, 8, 65))),
            "block of (8, 8, 65) threads: z is 65, it must be from 1 to 64; nothing was launched"
        );
        assert_eq!(
            refusal((1, (32, 33))),
            "block of (32, 33) threads: that is 1056 together, the device allows at most 1024; nothing was launched"
        );
        assert_eq!(
            refusal(((1, 65536), 1)).split("; ").next().unwrap(),
            "grid of (1, 65536) blocks: y is 65536, it must be from 1 to 65535"
        );
        assert!(
            refusal(LaunchConfig::new(1, 1).shared_bytes(100 << 10))
                .contains("102400 bytes of dynamic shared memory: a block can have at most 101376")
        );
        assert_eq!(
            refusal(LaunchConfig::new(1, 1).cooperative()),
            "cooperative launch: the device does not support it; nothing was launched"
        );
    }

    #[test]
    fn a_refusal_by_the_kernel_names_it() {
        let kernel = || "add".to_owned();
        let shared = LaunchConfigError::SharedMemory { dynamic: 90, fixed: 20, limit: 100, kernel: Some(kernel()) };
        assert_eq!(
            shared.to_string(),
            "90 bytes of dynamic shared memory beside the 20 bytes of kernel `add`: a block can have at most 100 bytes; \
             nothing was launched"
        );
        let threads =
            LaunchConfigError::BlockThreads { block: 512.dims(), threads: 512, limit: 256, kernel: Some(kernel()) };
        assert_eq!(
            threads.to_string(),
            "block of 512 threads: that is 512 together, kernel `add` allows at most 256 (its registers or bounds); nothing \
             was launched"
        );
        let given = |given| LaunchConfigError::Dimensions { kernel: Some(kernel()), given, used: 3 }.to_string();
        assert_eq!(
            given(1),
            "a launch in 1 dimension: kernel `add` uses its position in 3; give grid and block as many extents; nothing was \
             launched"
        );
        assert!(given(2).starts_with("a launch in 2 dimensions: "));
        let unknown = LaunchConfigError::Dimensions { kernel: None, given: 1, used: 2 }.to_string();
        assert!(unknown.starts_with("a launch in 1 dimension: the kernel uses its position in 2; "));
        assert_eq!(
            LaunchConfigError::Programmatic { kernel: kernel() }.to_string(),
            "programmatic launch: kernel `add` is typed, and its arguments are ordered by its stream; only untyped functions \
             can be launched so; nothing was launched"
        );
    }

    #[test]
    fn clusters_are_checked_against_grid_and_device() {
        let config = LaunchConfig::new((8, 6), 32);
        let geometry = config.clone().cluster((2, 3)).geometry(&limits()).unwrap();
        assert_eq!(geometry.cluster, Some([2, 3, 1]));
        assert_eq!(config.geometry(&limits()).unwrap().cluster, None);
        let cluster = |extents: (i32, i32)| refusal(config.clone().cluster(extents));
        assert_eq!(
            cluster((2, 4)),
            "grid of (8, 6) blocks: y is 6, which is no multiple of the 4 blocks of a cluster; nothing was launched"
        );
        assert!(cluster((0, 1)).starts_with("cluster of (0, 1) blocks: x is 0, it must be from 1 to "));
        assert!(cluster((2, -1)).starts_with("cluster of (2, -1) blocks: y is -1,"));
        assert_eq!(
            cluster((8, 2)),
            "cluster of (8, 2) blocks: that is 16 together, devices run at most 8; `LaunchConfig::non_portable` allows \
             what only some of them run; nothing was launched"
        );
        assert!(config.clone().cluster((8, 2)).non_portable().geometry(&limits()).is_ok());
        assert!(refusal(config.clone().cluster([1, 1, 1, 1])).starts_with("cluster in 4 dimensions"));
        let old = DeviceLimits { cluster_launch: false, ..limits() };
        let error = config.cluster(1).geometry(&old).unwrap_err().to_string();
        assert_eq!(
            error,
            "a launch in clusters: the device has none, they need compute capability 9.0; nothing was launched"
        );
    }

    #[test]
    fn a_list_of_no_or_four_extents_is_refused() {
        assert_eq!(refusal((vec![1, 2, 3, 4], 32)), "grid in 4 dimensions: it must be in 1 to 3; nothing was launched");
        assert_eq!(refusal((1, &[] as &[usize])), "block in 0 dimensions: it must be in 1 to 3; nothing was launched");
        assert!(LaunchConfig::new(vec![2_usize, 3], [32]).geometry(&limits()).is_ok());
    }

    #[test]
    fn values_beyond_32_bits_are_refused_and_not_cut() {
        assert!(refusal(((1_u64 << 32) + 1, 1)).contains("x is 4294967297,"));
        assert!(refusal((1, -3)).contains("x is -3,"));
        let (blocks, n) = (0_usize, 1_usize);
        assert!(refusal((blocks.wrapping_sub(n), 1)).contains("x is 18446744073709551615,"));
    }
}
