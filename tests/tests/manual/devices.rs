//! Device management: listing devices, selecting one, and using several at the same time.

use cuda_prelude::*;
use ndarray::Array1;

use crate::support::{add_arrays, in_own_process};

#[test]
fn a_device_reports_its_identity() -> Result<()> {
    assert!(is_available());
    let device = current_device()?;
    let uuid = device.uuid()?.to_string();
    let parts: Vec<_> = uuid.strip_prefix("GPU-").expect("a UUID of a GPU").split('-').map(str::len).collect();
    assert_eq!(parts, [8, 4, 4, 4, 12], "{uuid}");
    assert!(!device.name()?.is_empty());
    assert!(device.compute_capability()? >= (5, 0));
    let limits = device.limits()?;
    assert!(limits.multiprocessors > 0 && limits.max_threads_per_block >= 1024);
    let memory = current_context()?.memory_info()?;
    assert!(memory.free <= memory.total && memory.total > 0);
    Ok(())
}

/// Each host thread has its own current device.
#[test]
fn two_devices() {
    let two = [("CUDA_DRIVER_PATH", Some("sim")), ("CUDA_SIM_DEVICES", Some("2"))];
    in_own_process("manual::devices::two_devices", &two, || {
        let sum_on = |ordinal: usize| -> Result<(usize, f64)> {
            select_device(ordinal)?;
            let x = to_device(&Array1::from_elem(1000, 1.5 + ordinal as f64))?;
            let mut out = device_array_like(&x)?;
            add_arrays::launch((8, 128), &x, &x, &mut out)?;
            Ok((current_device()?.ordinal(), out.copy_to_host()?.sum()))
        };
        assert_eq!(list_devices().unwrap().len(), 2);
        let other = std::thread::scope(|scope| scope.spawn(|| sum_on(1).unwrap()).join().unwrap());
        assert_eq!(other, (1, 5000.0));
        assert_eq!(current_device().unwrap().ordinal(), 0);
        assert_eq!(sum_on(0).unwrap(), (0, 3000.0));
    });
}
