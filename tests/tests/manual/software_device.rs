//! Debugging without a GPU, Numba's chapter on its simulator: the same programs on both engines of the software device.

use cuda_prelude::*;

use crate::support::in_own_process;

/// Sums the numbers of a block's threads by warps and shared memory, which Numba's simulator cannot run.
#[kernel]
fn block_sums(x: &[u32], sums: &mut [u32]) {
    let partial = shared!([u32; 32]);
    let i = grid::<1>();
    let mut value = if i < x.len() { x[i] } else { 0 };
    for distance in [16, 8, 4, 2, 1] {
        value += shfl_down_sync(FULL_MASK, value, distance);
    }
    let warp = thread_idx().x / warp_size();
    if lane_id() == 0 {
        partial[warp] = value;
    }
    sync_threads();
    if thread_idx().x == 0 {
        let mut total = 0;
        for warp in 0..block_dim().x.div_ceil(warp_size()) {
            total += partial[warp];
        }
        sums[block_idx().x] = total;
    }
}

fn on_engine(test: &str, variables: &[(&str, Option<&str>)]) {
    let mut all = vec![("CUDA_DRIVER_PATH", Some("sim"))];
    all.extend(variables);
    in_own_process(test, &all, || {
        assert!(is_simulated().unwrap());
        let x: Vec<u32> = (0..1000).collect();
        let mut sums = vec![0; 8];
        block_sums::launch((8, 128), &x, &mut sums).unwrap();
        let expected: Vec<u32> = x.chunks(128).map(|block| block.iter().sum()).collect();
        assert_eq!(sums, expected);
    });
}

#[test]
fn warps_and_barriers_run_in_regions() {
    on_engine("manual::software_device::warps_and_barriers_run_in_regions", &[("CUDA_SIM_ENGINE", None)]);
}

#[test]
fn warps_and_barriers_run_in_fibers_in_any_order() {
    let fibers = [("CUDA_SIM_ENGINE", Some("fibers")), ("CUDA_SIM_SEED", Some("7"))];
    on_engine("manual::software_device::warps_and_barriers_run_in_fibers_in_any_order", &fibers);
}
