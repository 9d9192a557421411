//! The kernel language on the software device, against the same functions on the host.

mod any_iterator;
mod arithmetic;
mod arrays;
mod atomics;
mod axes;
mod cached;
mod callers;
mod casts;
mod chains;
mod characters;
mod closure_bounds;
mod closure_enums;
mod closure_state;
mod closure_values;
mod closures;
mod clusters;
mod collections;
mod comparisons;
mod complex;
mod conditional;
mod constants;
mod constructors;
mod control;
mod conventions;
mod conversions;
mod device_views;
mod devices;
mod dynamic_shared;
mod enum_operators;
mod everyday;
mod exports;
mod float8;
mod forged;
mod generic_methods;
mod generic_orders;
mod generic_pointers;
mod groups;
mod halves;
mod hoisted_checks;
mod hygiene;
mod impl_arguments;
mod in_place;
mod indexing;
mod integer_methods;
mod items;
mod iterator_arrays;
mod iterator_steps;
mod iterators;
mod late_init;
mod launches;
mod libdevice;
mod lowering;
mod math;
mod methods;
mod names;
mod newcomers;
mod one_function;
mod operator_types;
mod options;
mod order;
mod own_sums;
mod panics;
mod paths;
mod patterns;
mod print;
mod races;
mod ranges;
mod resolution;
mod results;
mod same_names;
mod shapes;
mod slices;
mod slices_to_arrays;
mod slicing;
mod small_programs;
mod sorting;
mod sources;
mod statistics;
mod std_methods;
mod structs;
mod sums;
mod sync;
mod trait_bounds;
mod trait_paths;
mod traits_of_slices;
mod typeinfo;
mod unreachable_code;
mod values;
mod vectors;
mod views;
mod warps;
mod wide_integers;

use crate::device::{context, on_device, on_host};

/// Runs a test whose kernels panic in a child process, since a context reports a panic to the first waiter, which could
/// be any test. Returns true in the child.
pub(crate) fn in_child_process(test: &str) -> bool {
    if !crate::around::is_child() {
        crate::around::child(test, &[]);
    }
    crate::around::is_child()
}

/// Runs a kernel on the device and, thread by thread, on the host, and compares the outputs bit for bit.
///
/// `differ!(kernel, (grid, block), [inputs], output = initial)`: each input is a slice, the output a vector.
macro_rules! differ {
    ($kernel:ident $(::<$($generic:ty),+>)?, $config:expr, [$($input:expr),* $(,)?], $output:expr) => {{
        let initial = $output;
        let mut host = initial.clone();
        cuda_jit::host::for_each_thread($config, || $kernel$(::<$($generic),+>)?($($input,)* &mut host));
        let mut device = $crate::device::on_device(&initial);
        $kernel$(::<$($generic),+>)?::launch(
            $config,
            $($crate::language::Passed::passed($input),)*
            &mut device,
        )
        .expect("the kernel compiles and launches");
        let device = $crate::device::on_host(&device);
        $crate::language::expect_same_bits(&device, &host);
        device
    }};
}
pub(crate) use differ;

/// Compares numbers bit for bit, but for those of NaNs on a GPU, which has one of its own.
#[track_caller]
pub(crate) fn expect_same_bits<T: cuda_jit::typeinfo::ScalarType + PartialOrd + std::fmt::Debug>(
    device: &[T],
    host: &[T],
) {
    let has_own_nan = !cuda_tests_support::is_software();
    let is_nan = |value: &T| value.partial_cmp(value).is_none();
    let bits = |value: &T| (!(has_own_nan && is_nan(value))).then(|| cuda_jit::typeinfo::bits_of(*value));
    let all = |values: &[T]| values.iter().map(bits).collect::<Vec<_>>();
    assert_eq!(all(device), all(host), "device {device:?}, host {host:?}");
}

/// A host value as a launch argument: slices are copied, numbers are passed as they are.
pub(crate) trait Passed {
    type As;
    fn passed(self) -> Self::As;
}

impl<'a, T> Passed for &'a [T] {
    type As = cuda_jit::launch::In<&'a [T]>;
    fn passed(self) -> Self::As {
        cuda_jit::launch::In(self)
    }
}

macro_rules! numbers {
    ($($ty:ty)*) => { $(
        impl Passed for $ty {
            type As = $ty;
            fn passed(self) -> $ty { self }
        }
    )* };
}

numbers! { bool i8 i16 i32 i64 u8 u16 u32 u64 usize f32 f64 cuda_jit::f16 cuda_jit::bf16 char Option<char> Option<i32> Option<u8> }
