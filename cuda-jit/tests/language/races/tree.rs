//! The share of plain kernels that the analysis proves, over kernels of the benchmarks as they are. [`super::free`] has
//! those of examples and tests.

use super::races_of;
use crate::kernels::{
    blend, matmul_naive, matmul_naive_unchecked, matmul_tiled, matmul_tiled_unchecked, nested, reduction, saxpy,
    vector_add,
};
use crate::suite_kernels::{black_scholes, n_body, softmax, stencil};

macro_rules! table {
    ($($kind:literal $kernel:ty),* $(,)?) => { [$(($kind, stringify!($kernel), races_of::<$kernel>())),*] };
}

#[test]
fn nine_of_ten_plain_kernels_are_proved() {
    let table = table![
        "element-wise" vector_add<f32>,
        "element-wise" vector_add<u8>,
        "element-wise" saxpy,
        "element-wise" blend,
        "element-wise" black_scholes,
        "stencil" stencil,
        "product" matmul_naive,
        "product" matmul_naive_unchecked,
        "tiled" matmul_tiled<16>,
        "tiled" matmul_tiled<32>,
        "tiled" matmul_tiled_unchecked<16>,
        "tiled" n_body,
        "tiled" nested,
        "reduction" reduction,
        "reduction" softmax,
    ];
    let mut proved = 0;
    for (kind, name, races) in &table {
        println!("{kind:12} {name}: {races}");
        proved += usize::from(races.is_proved());
    }
    assert!(proved * 10 >= table.len() * 9, "{proved} of {}", table.len());
}
