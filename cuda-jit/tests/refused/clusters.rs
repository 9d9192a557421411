//! Arguments that are not in shared memory.
use cuda_jit::device::{shared, this_cluster};
use cuda_jit::kernel;

#[kernel]
fn of_a_reference(out: &mut [u32]) {
    let tile = shared!([u32; 4]);
    out[0] = this_cluster().map_shared_rank(&tile, 0)[0];
}

fn main() {}
