//! The first argument of a launch: the configuration, as a tuple in the order of Numba's brackets or as a [`LaunchConfig`].

use cuda_driver::{Capture, Dim3, Dims, Extent, LaunchConfig, Stream, StreamScope};

/// A launch configuration: `(grid, block)`, `(grid, block, &stream)`, `(grid, block, &stream, shared bytes)`, or a
/// [`LaunchConfig`].
///
/// Nothing unsafe relies on an implementation: the configuration is checked.
///
/// # Examples
///
/// ```
/// use cuda_driver::{LaunchConfig, Stream};
/// use cuda_jit::launch::Configuration;
///
/// fn threads(config: impl Configuration) -> u64 {
///     let config = config.into_config();
///     let threads = |dim: cuda_driver::Dim3| dim.extents().iter().product::<i128>();
///     (threads(config.grid()) * threads(config.block())) as u64
/// }
///
/// # let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// assert_eq!(threads((4, 128)), 512);
/// assert_eq!(threads(((2, 3), (16, 16), &Stream::new(&context)?)), 1536);
/// assert_eq!(threads(LaunchConfig::new(1, 32)), 32);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the first argument of a launch is its configuration, and `{Self}` is not one",
    label = "write `launch((grid, block), ..)`, with integers in a tuple",
    note = "the configuration is `(grid, block)`, `(grid, block, &stream)`, `(grid, block, &stream, shared_bytes)` or a `LaunchConfig`; grid and block are a number or a tuple of up to three"
)]
pub trait Configuration {
    /// The configuration.
    fn into_config(self) -> LaunchConfig;
}

#[diagnostic::do_not_recommend]
impl Configuration for LaunchConfig {
    fn into_config(self) -> LaunchConfig {
        self
    }
}

#[diagnostic::do_not_recommend]
impl Configuration for &LaunchConfig {
    fn into_config(self) -> LaunchConfig {
        self.clone()
    }
}

macro_rules! tuples {
    ($(($($ty:ty),*))*) => { $(
        #[diagnostic::do_not_recommend]
        impl<G: Dims, B: Dims> Configuration for (G, B, $($ty,)*) {
            fn into_config(self) -> LaunchConfig {
                self.into()
            }
        }
    )* };
}

/// The first argument of `forall`: the minimum number of threads, as a number, `(count, &stream)` or `(count, &stream,
/// shared bytes)`.
///
/// Nothing unsafe relies on an implementation: the configuration is checked.
///
/// # Examples
///
/// ```
/// use cuda_jit::launch::Tasks;
///
/// assert_eq!(1000_usize.into_parts().0.extents(), [1000, 1, 1]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`forall` takes the number of threads first, not `{Self}`",
    label = "a number, `(number, &stream)` or `(number, &stream, shared_bytes)`"
)]
pub trait Tasks {
    /// The number of threads, and a configuration of one thread with that stream and shared memory.
    fn into_parts(self) -> (Dim3, LaunchConfig);
}

macro_rules! counts {
    ($($integer:ty)*) => { $(
        #[diagnostic::do_not_recommend]
        impl Tasks for $integer {
            fn into_parts(self) -> (Dim3, LaunchConfig) {
                (self.dims(), LaunchConfig::new(1, 1))
            }
        }
    )* };
}

counts! { u32 usize u64 i32 i64 }

macro_rules! tasks {
    ($(($stream:ty $(, $shared:ident: $bytes:ty)?))*) => { $(
        #[diagnostic::do_not_recommend]
        impl<N: Extent + Dims> Tasks for (N, $stream, $($bytes)?) {
            fn into_parts(self) -> (Dim3, LaunchConfig) {
                let (count, stream, $($shared)?) = self;
                (count.dims(), (1, 1, stream, $($shared)?).into())
            }
        }
    )* };
}

tasks! {
    (&Stream)
    (&Stream, shared: usize)
    (&StreamScope<'_, '_>)
    (&StreamScope<'_, '_>, shared: usize)
    (&Capture)
    (&Capture, shared: usize)
}

tuples! {
    ()
    (&Stream)
    (&Stream, usize)
    (&StreamScope<'_, '_>)
    (&StreamScope<'_, '_>, usize)
    (&Capture)
    (&Capture, usize)
}
