//! Reductions of all types, operations, sizes and numbers of ranks.

use cuda_nccl::Reduction;

use crate::operations::reductions::{all_types, reductions};
use crate::with_ranks;

#[test]
fn all_types_and_operations_have_the_results_of_the_host() {
    for size in 1..=4 {
        with_ranks(size, |rank| all_types(rank, &[0, 1, 5, 1000]));
    }
}

#[test]
fn large_arrays_are_reduced() {
    for size in [2, 3, 4] {
        with_ranks(size, |rank| {
            reductions::<f32>(rank, Reduction::Sum, 1 << 20)?;
            reductions::<u8>(rank, Reduction::Max, (1 << 20) - 3)
        });
    }
}
