//! The share of plain kernels that the analysis of data races proves, over kernels of the benchmarks and the examples as
//! they are. `cuda-jit/tests/language/races/free.rs` has those of the other programs.

use cuda_example_kernels::{dot, matmul, scale_add, tiled_matmul};
use cuda_jit::{Kernel, front, races};

use crate::kernels::{
    blend, matmul_naive, matmul_naive_unchecked, matmul_tiled, matmul_tiled_unchecked, nested, reduction, saxpy,
    vector_add,
};
use crate::suite_kernels::{black_scholes, n_body, softmax, stencil};

/// The analysis of a kernel.
fn races_of<K: Kernel>() -> races::Races {
    races::analyse(&front::lower_with_locations(&K::instance()).unwrap().module)
}

macro_rules! table {
    ($($kind:literal $kernel:ty),* $(,)?) => { [$(($kind, stringify!($kernel), races_of::<$kernel>())),*] };
}

#[test]
fn plain_kernels_of_the_tree_are_proved() {
    let table = table![
        "element-wise" vector_add<f32>,
        "element-wise" saxpy,
        "element-wise" blend,
        "element-wise" scale_add<f32>,
        "element-wise" black_scholes,
        "stencil" stencil,
        "product" matmul_naive,
        "product" matmul_naive_unchecked,
        "product" matmul<f32>,
        "tiled" matmul_tiled<16>,
        "tiled" matmul_tiled_unchecked<16>,
        "tiled" tiled_matmul<f32, 16>,
        "tiled" n_body,
        "tiled" nested,
        "reduction" reduction,
        "reduction" dot<f32, 256>,
        "reduction" softmax,
    ];
    let mut proved = 0;
    for (kind, name, races) in &table {
        println!("{kind:12} {name}: {races}");
        proved += usize::from(races.is_proved());
    }
    assert!(proved * 10 >= table.len() * 9, "{proved} of {}", table.len());
}
