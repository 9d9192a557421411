//! The software device compared with loops in Rust, pocl and Numba's simulator, in the same run.
//!
//! The kernels of `kernels.rs` run on one worker, over 2^20 threads in blocks of 256, the matrix products over 512 x 512 in
//! blocks of 16 x 16. The time is that of a launch and the wait for it:
//! - `sim.KERNEL.ns_per_thread`, for the product without tiles `sim.matmul_naive.gflops`;
//! - `sim.KERNEL.vs_rust`: our time divided by that of the same loop in Rust, on one core and without bounds checks;
//! - `sim.KERNEL.vs_pocl`: pocl's time with one thread divided by ours, and the geometric mean, `sim.geomean.vs_pocl`;
//!   pocl's package has no sub-groups, so its shuffles use local memory;
//! - `sim.KERNEL.vs_numba_simulator`: Numba's simulator's time divided by ours, on a vector add of 100,000 and on a tiled
//!   product of 64 x 64;
//! - `sim.matmul_naive.scaling`: the time with one worker divided by that with two;
//! - `sim.fibers.KERNEL.ns_per_thread`: with `CUDA_SIM_ENGINE=fibers`;
//! - `sim.check.CHECKER.KERNEL`: the time with `CUDA_SIM_CHECK=CHECKER` (`memory`, `race`, `init`) divided by that without, both on one
//!   worker; `sim.check.CHECKER`: the geometric mean;
//! - `sim.KERNEL.load_ms`: from PTX text to the end of an empty launch of one block, in a process that has only opened the
//!   device; `.reload_ms`: the same text again in the same process;
//! - `sim.first_launch.KERNEL`, in the group `first-launch`, for kernels with a long compile time, in a process that has only opened
//!   the device; launches include the copy of the result. `.load_ms`: the load of a module that no process has loaded before;
//!   `.cold_ms`: the first launch, for which a large kernel is compiled without optimisation; `.good_ms`: the same with
//!   `CUDA_SIM_TIER=good`; `.kept_load_ms` and `.kept_ms`: load and first launch with machine code that another process has cached;
//!   `.later_ms` and `.quick_later_ms`: a later launch of optimised and of unoptimised code;
//! - `sim.module`, in the same group, a module of 80 kernels of which one small one is launched: `.megabytes` of PTX; `.parse_ms`: the
//!   parser alone; `.load_ms`, `.load_vs_parse`, `.first_launch_ms`; `.kept_load_ms` and `.kept_launch_ms`: with the cache of another
//!   process;
//! - `sim.KERNEL.regions`, `.frame_bytes`, `.gathers`, `.vectorised`: counts of the final code: the parts that threads
//!   run without interruption, the bytes that a thread spills between them, gathers and scatters, and the parts with vector instructions;
//! - `sim.parse.mb_per_s`: the parser alone, on outputs of nvcc, NVRTC and LLVM;
//! - `sim.empty_launch.us`: an empty launch of one block, and the wait for it.
//!
//! Every time is that of the fastest run, since other work on the machine only adds time, and the compared programs take turns. A
//! missing peer is reported on standard error with the way to install it, and its ratios are left out.

mod check;
mod counts;
mod device;
mod first;
mod large;
mod load;
mod module;
mod numba;
mod opencl;
mod pocl;
mod programs;
mod work;

use anyhow::{Context as _, Result};

use crate::Tools;
use crate::figures::print_measured;
use crate::kernels::{TILE, matmul_tiled, vector_add};
use crate::serve::Server;
pub(crate) use device::run as serve_device;
pub(crate) use first::{figures as first_launches, run as first_once};
pub(crate) use load::run as load_once;
pub(crate) use pocl::run as serve_pocl;
pub(crate) use programs::{figures as program_figures, serve_programs};
use work::{N, SIDE};

/// The number of turns of each program.
const ROUNDS: usize = 7;
/// The processes that are measured.
struct Servers {
    one: Server,
    two: Server,
    fibers: Server,
    /// `None` once it turned out to be missing.
    pocl: Option<Server>,
}

pub(crate) fn run(tools: &Tools) -> Result<()> {
    let device =
        |workers, engine| Server::start("sim-device", &[("CUDA_SIM_THREADS", workers), ("CUDA_SIM_ENGINE", engine)]);
    let mut servers = Servers {
        one: device("1", "regions")?,
        two: device("2", "regions")?,
        fibers: device("1", "fibers")?,
        pocl: Some(Server::start("sim-pocl", pocl::VARIABLES)?),
    };
    servers.kernels()?;
    counts::figures()?;
    servers.scaling()?;
    servers.fibers()?;
    check::figures(&mut servers.one)?;
    let launch = servers.one.ask("empty_launch", 1000)?;
    print_measured("sim.empty_launch.us", launch * 1e6, "us");
    loads()?;
    print_measured("sim.parse.mb_per_s", load::megabytes_parsed(), "MB/s");
    servers.simulator(tools)
}

impl Servers {
    /// Measures the kernels on one worker, compared with Rust and pocl.
    fn kernels(&mut self) -> Result<()> {
        let mut ratios = Vec::new();
        for (name, runs) in [
            ("vector_add", 100),
            ("saxpy", 100),
            ("reduction", 20),
            ("shuffles", 20),
            ("shuffles_loop", 20),
            ("nested", 20),
            ("roots", 20),
            ("matmul_naive", 5),
            ("matmul_tiled", 5),
        ] {
            let [ours, rust, pocl] = self.compare(name, runs)?;
            match name {
                "matmul_naive" => print_measured("sim.matmul_naive.gflops", flops() / ours / 1e9, "GFLOP/s"),
                "matmul_tiled" => print_per_thread("sim.matmul_tiled", ours, SIDE * SIDE),
                _ => print_per_thread(&format!("sim.{name}"), ours, N),
            }
            if rust.is_finite() {
                print_measured(&format!("sim.{name}.vs_rust"), ours / rust, "ratio");
            }
            if pocl.is_finite() {
                print_measured(&format!("sim.{name}.vs_pocl"), pocl / ours, "ratio");
                ratios.push(pocl / ours);
            }
        }
        if !ratios.is_empty() {
            let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
            print_measured("sim.geomean.vs_pocl", mean.exp(), "ratio");
        }
        Ok(())
    }

    /// The times of the software device, Rust and pocl, taken in turn; infinite for one that lacks the kernel.
    fn compare(&mut self, name: &str, runs: usize) -> Result<[f64; 3]> {
        let rust = device::IN_RUST.contains(&name).then(|| format!("{name}_rust"));
        let mut best = [f64::INFINITY; 3];
        for _ in 0..ROUNDS {
            best[0] = best[0].min(self.one.ask(name, runs)?);
            if let Some(rust) = &rust {
                best[1] = best[1].min(self.one.ask(rust, runs)?);
            }
            if let Some(pocl) = self.pocl.as_mut().filter(|_| pocl::KERNELS.contains(&name)) {
                match pocl.ask(name, runs) {
                    Ok(seconds) => best[2] = best[2].min(seconds),
                    Err(error) => {
                        eprintln!("without pocl: {error:#}; to install it (Debian): {}", pocl::PACKAGES);
                        self.pocl = None;
                    }
                }
            }
        }
        Ok(best)
    }

    fn scaling(&mut self) -> Result<()> {
        let (mut one, mut two) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            one = one.min(self.one.ask("matmul_naive", 5)?);
            two = two.min(self.two.ask("matmul_naive", 5)?);
        }
        print_measured("sim.matmul_naive.scaling", one / two, "ratio");
        Ok(())
    }

    fn fibers(&mut self) -> Result<()> {
        for (name, threads) in [("reduction", N), ("matmul_tiled", SIDE * SIDE)] {
            let seconds = self.fibers.ask(name, 5)?;
            print_per_thread(&format!("sim.fibers.{name}"), seconds, threads);
        }
        Ok(())
    }

    fn simulator(&mut self, tools: &Tools) -> Result<()> {
        let theirs = match numba::seconds(tools) {
            Ok(theirs) => theirs,
            Err(error) => {
                eprintln!("without Numba's simulator: {error:#}");
                return Ok(());
            }
        };
        for ((name, asked), theirs) in
            [("vector_add", "vector_add_100000"), ("matmul_tiled", "matmul_tiled_64")].into_iter().zip(theirs)
        {
            let ours = self.one.ask(asked, 100)?;
            print_measured(&format!("sim.{name}.vs_numba_simulator"), theirs / ours, "ratio");
        }
        Ok(())
    }
}

/// The floating-point operations of the product without tiles.
fn flops() -> f64 {
    2.0 * (SIDE as f64).powi(3)
}

fn print_per_thread(name: &str, seconds: f64, threads: usize) {
    print_measured(&format!("{name}.ns_per_thread"), seconds * 1e9 / threads as f64, "ns");
}

/// The name of the kernel in a module with one.
fn entry(ptx: &str) -> Result<&str> {
    let (_, entry) = ptx.split_once(".entry ").with_context(|| format!("no kernel in\n{ptx}"))?;
    Ok(entry.split('(').next().unwrap_or(entry))
}

/// Measures loads in new processes.
fn loads() -> Result<()> {
    for (name, ptx) in [
        ("vector_add", vector_add::<f32>::compile_ptx((8, 0))?),
        ("matmul_tiled", matmul_tiled::<TILE>::compile_ptx((8, 0))?),
    ] {
        let entry = entry(&ptx)?;
        let folder = tempfile::tempdir()?;
        let new = load::fastest(entry, &ptx, None)?;
        load::fastest(entry, &ptx, Some(folder.path()))?;
        let kept = load::fastest(entry, &ptx, Some(folder.path()))?;
        print_measured(&format!("sim.{name}.load_ms"), (new.load + new.launch) * 1e3, "ms");
        print_measured(&format!("sim.{name}.reload_ms"), new.again * 1e3, "ms");
        print_measured(&format!("sim.{name}.kept_load_ms"), (kept.load + kept.launch) * 1e3, "ms");
    }
    Ok(())
}
