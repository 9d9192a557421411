//! The checkers of kernels (`CUDA_SIM_CHECK`), compared with the same launches without them.

use anyhow::Result;

use crate::figures::print_measured;
use crate::serve::Server;

/// The kernels, with the number of launches that are timed.
const KERNELS: &[(&str, usize)] = &[
    ("vector_add", 5),
    ("saxpy", 5),
    ("reduction", 3),
    ("shuffles", 3),
    ("nested", 2),
    ("matmul_naive", 1),
    ("matmul_tiled", 1),
];

/// Measures each checker alone, on one worker.
pub(super) fn figures(unchecked: &mut Server) -> Result<()> {
    let mut before = Vec::new();
    for (kernel, runs) in KERNELS {
        before.push(unchecked.ask(kernel, *runs)?.min(unchecked.ask(kernel, *runs)?));
    }
    for check in ["memory", "race", "init"] {
        let mut server = Server::start("sim-device", &[("CUDA_SIM_THREADS", "1"), ("CUDA_SIM_CHECK", check)])?;
        let mut logarithms = 0.0;
        for ((kernel, runs), before) in KERNELS.iter().zip(&before) {
            let ratio = server.ask(kernel, *runs)? / before;
            print_measured(&format!("sim.check.{check}.{kernel}"), ratio, "ratio");
            logarithms += ratio.ln();
        }
        print_measured(&format!("sim.check.{check}"), (logarithms / KERNELS.len() as f64).exp(), "ratio");
    }
    Ok(())
}
