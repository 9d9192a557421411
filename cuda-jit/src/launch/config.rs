//! What a launch takes first: the configuration, as a tuple in the order of Numba's brackets or as itself.

use cuda_driver::{Dims, LaunchConfig, Stream, StreamScope};

/// A launch configuration: `(grid, block)`, `(grid, block, &stream)`, `(grid, block, &stream, shared bytes)`, or a
/// [`LaunchConfig`].
#[diagnostic::on_unimplemented(
    message = "a launch takes its configuration in one piece, `(grid, block)`, not `{Self}`",
    label = "write `launch((grid, block), ..)`, in parentheses of its own",
    note = "the configuration is `(grid, block)`, `(grid, block, &stream)`, `(grid, block, &stream, shared_bytes)` or a `LaunchConfig`; grid and block are a number or a tuple of up to three"
)]
pub trait Configuration {
    /// The configuration.
    fn into_config(self) -> LaunchConfig;
}

impl Configuration for LaunchConfig {
    fn into_config(self) -> LaunchConfig {
        self
    }
}

macro_rules! tuples {
    ($(($($ty:ty),*))*) => { $(
        impl<G: Dims, B: Dims> Configuration for (G, B, $($ty,)*) {
            fn into_config(self) -> LaunchConfig {
                self.into()
            }
        }
    )* };
}

tuples! {
    ()
    (&Stream)
    (&Stream, usize)
    (&StreamScope<'_, '_>)
    (&StreamScope<'_, '_>, usize)
}
