//! Invalid tile sizes.
use cuda_jit::device::{this_block, tiled_partition};
use cuda_jit::kernel;

#[kernel]
fn twelve(x: &mut [u32]) {
    let tile = tiled_partition::<12>(&this_block());
    x[0] = tile.size() as u32;
}

fn main() {}
