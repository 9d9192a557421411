//! The analysis of data races: kernels that it proves, and kernels with a race, of which it must prove none.

mod free;
mod launches;
mod racy;
mod tree;

use cuda_jit::races::{Races, analyse};
use cuda_jit::{Kernel, front};

/// The analysis of a kernel, with source locations.
fn races_of<K: Kernel>() -> Races {
    analyse(&front::lower_with_locations(&K::instance()).unwrap().module)
}

/// Names of kernels with their analyses.
macro_rules! analysed {
    ($($kernel:ty),* $(,)?) => { [$((stringify!($kernel), super::races_of::<$kernel>())),*] };
}

use analysed;
