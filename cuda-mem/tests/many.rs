//! Many live arrays: device memory takes no system mapping for each, of which a process has 65,530 in all. The test has
//! its own file, since it counts the mappings of its process.

use cuda_driver::Driver;
use cuda_mem::{DeviceArray, from_slice, zeros};
use ndarray::Ix1;

/// The number of mappings of the process.
fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().count()
}

#[test]
fn live_arrays_do_not_use_up_the_systems_mappings() {
    let context = Driver::new(cuda_tests_support::driver_api()).unwrap().device(0).unwrap().primary_context().unwrap();
    let first = from_slice(&context, &[7_u32; 16]).unwrap();
    let before = mappings();
    let many: Vec<DeviceArray<u32, Ix1>> =
        (0..200_000).map(|n| from_slice(&context, &[n; 4]).expect("there is room")).collect();
    assert!(mappings() < before + 30_000, "{} mappings for {} arrays", mappings(), many.len());
    for n in (0..many.len()).step_by(997) {
        assert_eq!(many[n].copy_to_host().unwrap().to_vec(), [n as u32; 4]);
    }
    drop(many);
    context.synchronize().unwrap();
    assert!(mappings() < before + 1000, "{} mappings, {before} before", mappings());
    assert_eq!(first.copy_to_host().unwrap().to_vec(), [7; 16]);
    assert_eq!(zeros::<f64, _>(&context, 3).unwrap().copy_to_host().unwrap().to_vec(), [0.0; 3]);
}
