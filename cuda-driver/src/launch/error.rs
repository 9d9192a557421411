//! [`LaunchConfigError`]: the reason why a launch configuration is refused, with the value and the limit.

use std::fmt;

use crate::launch::dims::Dim3;

/// The part of a launch configuration that an error is about.
///
/// # Examples
///
/// ```
/// assert_eq!(cuda_driver::LaunchPart::Block.to_string(), "block");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchPart {
    /// The grid, counted in blocks.
    Grid,
    /// The block, counted in threads.
    Block,
    /// The cluster, counted in blocks.
    Cluster,
}

impl fmt::Display for LaunchPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LaunchPart::Grid => "grid",
            LaunchPart::Block => "block",
            LaunchPart::Cluster => "cluster",
        })
    }
}

/// A launch configuration that the device or the kernel cannot run. Nothing was launched.
///
/// # Examples
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// use cuda_driver::{Driver, Error, LaunchConfig, LaunchConfigError};
///
/// let device = Driver::new(cuda_sim::driver_api())?.device(0)?;
/// let Err(Error::LaunchConfig(error)) = LaunchConfig::new(1, (64, 64)).check(&device) else { panic!() };
/// assert!(matches!(*error, LaunchConfigError::BlockThreads { threads: 4096, limit: 1024, .. }));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchConfigError {
    /// An extent is 0, negative, or over its limit.
    Extent {
        /// Grid or block.
        part: LaunchPart,
        /// All extents as given.
        given: Dim3,
        /// `x`, `y` or `z`.
        axis: char,
        /// The extent along that axis.
        value: i128,
        /// The largest allowed value.
        limit: u32,
    },
    /// There are no extents, or more than three.
    Extents {
        /// Grid or block.
        part: LaunchPart,
        /// The number of extents, saturated at 255.
        count: usize,
    },
    /// The block has too many threads.
    BlockThreads {
        /// The block as given.
        block: Dim3,
        /// The number of its threads.
        threads: u64,
        /// The largest allowed number.
        limit: u32,
        /// The kernel whose limit it is (its registers, or its launch bounds); `None` for the device's.
        kernel: Option<String>,
    },
    /// A block would have too much shared memory.
    SharedMemory {
        /// Bytes of dynamic shared memory of the launch.
        dynamic: usize,
        /// Bytes of the kernel's static shared memory.
        fixed: usize,
        /// The largest allowed sum of both.
        limit: usize,
        /// The kernel, where it is known.
        kernel: Option<String>,
    },
    /// The device cannot launch all blocks of a grid at once.
    Cooperative,
    /// The device has no clusters of blocks.
    NoClusters,
    /// A cluster exceeds the portable size, and the launch does not allow that.
    ClusterSize {
        /// The cluster as given.
        cluster: Dim3,
        /// The number of its blocks, saturated at 4294967295.
        blocks: u32,
        /// The largest allowed number.
        limit: u32,
    },
    /// The grid is not made of whole clusters.
    ClusterDivides {
        /// The grid as given.
        grid: Dim3,
        /// `x`, `y` or `z`.
        axis: char,
        /// The grid's blocks along that axis.
        value: u32,
        /// A cluster's blocks along that axis.
        cluster: u32,
    },
    /// The kernel requires other cluster dimensions.
    ClusterRequired {
        /// The kernel.
        kernel: String,
        /// The cluster as given.
        cluster: Dim3,
        /// The required cluster dimensions.
        required: [u32; 3],
    },
    /// The kernel's launch bounds do not allow a cluster of this size.
    ClusterBounds {
        /// The kernel.
        kernel: String,
        /// Blocks of the cluster.
        blocks: u32,
        /// The largest number that its launch bounds allow.
        limit: u32,
    },
    /// A typed kernel cannot be launched programmatically, since it relies on the order of its stream.
    Programmatic {
        /// The kernel.
        kernel: String,
    },
    /// The kernel uses its position in another number of dimensions than the launch has.
    Dimensions {
        /// The kernel, where it is known.
        kernel: Option<String>,
        /// Dimensions of the launch.
        given: usize,
        /// Dimensions that the kernel uses.
        used: usize,
    },
}

impl fmt::Display for LaunchConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LaunchConfigError::Extent { part, given, axis, value, limit } => {
                let unit = if *part == LaunchPart::Block { "threads" } else { "blocks" };
                write!(f, "{part} of {given} {unit}: {axis} is {value}, it must be from 1 to {limit}")?;
            }
            LaunchConfigError::Extents { part, count } => {
                write!(f, "{part} in {count} dimensions: it must be in 1 to 3")?;
            }
            LaunchConfigError::BlockThreads { block, threads, limit, kernel } => {
                write!(f, "block of {block} threads: that is {threads} together, ")?;
                match kernel {
                    None => write!(f, "the device allows at most {limit}")?,
                    Some(kernel) => write!(f, "kernel `{kernel}` allows at most {limit} (its registers or bounds)")?,
                }
            }
            LaunchConfigError::SharedMemory { dynamic, fixed, limit, kernel } => {
                write!(f, "{dynamic} bytes of dynamic shared memory")?;
                if let Some(kernel) = kernel {
                    write!(f, " beside the {fixed} bytes of kernel `{kernel}`")?;
                }
                write!(f, ": a block can have at most {limit} bytes")?;
            }
            LaunchConfigError::Cooperative => f.write_str("cooperative launch: the device does not support it")?,
            LaunchConfigError::NoClusters => {
                f.write_str("a launch in clusters: the device has none, they need compute capability 9.0")?;
            }
            LaunchConfigError::ClusterSize { cluster, blocks, limit } => write!(
                f,
                "cluster of {cluster} blocks: that is {blocks} together, devices run at most {limit}; \
                 `LaunchConfig::non_portable` allows what only some of them run"
            )?,
            LaunchConfigError::ClusterDivides { grid, axis, value, cluster } => write!(
                f,
                "grid of {grid} blocks: {axis} is {value}, which is no multiple of the {cluster} blocks of a cluster"
            )?,
            LaunchConfigError::ClusterRequired { kernel, cluster, required: [x, y, z] } => {
                write!(f, "cluster of {cluster} blocks: kernel `{kernel}` is made for clusters of ({x}, {y}, {z})")?;
            }
            LaunchConfigError::ClusterBounds { kernel, blocks, limit } => {
                write!(f, "cluster of {blocks} blocks: the launch bounds of kernel `{kernel}` allow at most {limit}")?;
            }
            LaunchConfigError::Programmatic { kernel } => write!(
                f,
                "programmatic launch: kernel `{kernel}` is typed, and its arguments are ordered by its stream; only \
                 untyped functions can be launched so"
            )?,
            LaunchConfigError::Dimensions { kernel, given, used } => {
                write!(f, "a launch in {given} dimension{}: ", if *given == 1 { "" } else { "s" })?;
                match kernel {
                    Some(kernel) => write!(f, "kernel `{kernel}`")?,
                    None => f.write_str("the kernel")?,
                }
                write!(f, " uses its position in {used}; give grid and block as many extents")?;
            }
        }
        f.write_str("; nothing was launched")
    }
}

impl std::error::Error for LaunchConfigError {}
