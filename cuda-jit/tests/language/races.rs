//! The analysis of data races: kernels that it proves, and kernels with a race, of which it must prove none.

mod buffers;
mod exchanges;
mod free;
mod launches;
mod narrow;
mod racy;
mod remainders;
mod single;
mod slices;
mod tree;

use cuda_jit::races::{Races, analyse};
use cuda_jit::{Kernel, front};

/// The analysis of a kernel, with source locations.
fn races_of<K: Kernel>() -> Races {
    analyse(&front::lower_with_locations(&K::instance()).unwrap().module)
}

/// Asserts that kernels without a race are proved.
fn assert_proved(kernels: &[(&str, Races)]) {
    let refused = kernels.iter().filter(|(_, races)| !races.is_proved());
    let refused: Vec<_> = refused.map(|(name, races)| format!("{name}: {races}")).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// Asserts that kernels with a race are not proved.
fn assert_refused(kernels: &[(&str, Races)]) {
    let proved: Vec<_> = kernels.iter().filter(|(_, races)| races.is_proved()).map(|(name, _)| name).collect();
    assert!(proved.is_empty(), "these have a race and are proved: {proved:?}");
}

/// A kernel that was launched with the software device's checker of races.
struct Launched {
    name: &'static str,
    is_proved: bool,
    /// The texts of its races.
    found: Vec<String>,
}

/// Launches a kernel with the software device's checker of races.
fn launched<K: Kernel>(name: &'static str, launch: impl FnOnce() -> cuda_jit::Result<()>) -> Launched {
    let context = crate::device::context();
    let (result, reports) = cuda_sim::check_with(&["race"], launch, || context.synchronize().expect("it ends"));
    result.unwrap_or_else(|error| panic!("{name}: {error}"));
    Launched {
        name,
        is_proved: races_of::<K>().is_proved(),
        found: reports.iter().map(cuda_sim::Report::text).collect(),
    }
}

/// Launches kernels with the checker of races.
macro_rules! all_launched {
    ($($kernel:ident $(::<$generic:tt>)? ($($argument:expr),* $(,)?);)*) => { [$(
        super::launched::<$kernel $(<$generic>)?>(stringify!($kernel), || {
            $kernel $(::<$generic>)?::launch($($argument),*)
        })
    ),*] };
}

/// Names of kernels with their analyses.
macro_rules! analysed {
    ($($kernel:ty),* $(,)?) => { [$((stringify!($kernel), super::races_of::<$kernel>())),*] };
}

use {all_launched, analysed};
