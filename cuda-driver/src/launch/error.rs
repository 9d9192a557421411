//! [`LaunchConfigError`]: why a launch configuration cannot run, with the value and the limit.

use std::fmt;

use crate::launch::dims::Dim3;

/// Which part of a launch configuration an error is about.
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
        /// The largest that is allowed.
        limit: u32,
    },
    /// There is no extent at all, or there are more than three.
    Extents {
        /// Grid or block.
        part: LaunchPart,
        /// How many there are; 255 where there are more.
        count: usize,
    },
    /// The block has too many threads.
    BlockThreads {
        /// The block as given.
        block: Dim3,
        /// Its threads.
        threads: u64,
        /// The most that are allowed.
        limit: u32,
        /// The kernel whose limit it is (its registers, or its launch bounds); `None` for the device's.
        kernel: Option<String>,
    },
    /// A block would have too much shared memory.
    SharedMemory {
        /// Bytes asked for in the launch.
        dynamic: usize,
        /// Bytes that the kernel has already.
        fixed: usize,
        /// The most bytes that are allowed together.
        limit: usize,
        /// The kernel, where it is known.
        kernel: Option<String>,
    },
    /// The device cannot launch all blocks of a grid at once.
    Cooperative,
    /// The device has no clusters of blocks.
    NoClusters,
    /// A cluster has more blocks than every device with clusters runs, and the launch does not allow that.
    ClusterSize {
        /// The cluster as given.
        cluster: Dim3,
        /// Its blocks; 4294967295 where there are more.
        blocks: u32,
        /// The most that are allowed.
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
    /// The kernel is made for clusters of other extents.
    ClusterRequired {
        /// The kernel.
        kernel: String,
        /// The cluster as given.
        cluster: Dim3,
        /// What the kernel requires.
        required: [u32; 3],
    },
    /// The kernel takes no cluster of so many blocks.
    ClusterBounds {
        /// The kernel.
        kernel: String,
        /// Blocks of the cluster.
        blocks: u32,
        /// The most that its launch bounds allow.
        limit: u32,
    },
    /// A typed kernel counts on the work ahead of it in its stream being done.
    Programmatic {
        /// The kernel.
        kernel: String,
    },
    /// The kernel asks for its position in another number of dimensions than the launch has.
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
