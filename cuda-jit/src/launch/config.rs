//! The first argument of a launch: the configuration, as a tuple in the order of Numba's brackets or as a [`LaunchConfig`].

use cuda_driver::{Capture, Dim3, Dims, Extent, LaunchConfig, Stream, StreamScope};

/// A launch configuration: `(grid, block)`, `(grid, block, &stream)`, `(grid, block, &stream, shared bytes)`, or a
/// [`LaunchConfig`].
///
/// Nothing unsafe relies on an implementation: the configuration is checked.
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
