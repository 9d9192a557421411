//! The speed of `all_reduce` for growing arrays, beside that of `MPI_Allreduce` on host memory.
//!
//! The bandwidth is that of the array: bytes of one rank's array per second.

use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser;
use cuda_example_mpi::{Rank, run};
use cuda_nccl::Reduction;
use cuda_nccl::mpi::collective::SystemOperation;
use cuda_nccl::mpi::topology::SimpleCommunicator;
use cuda_nccl::mpi::traits::CommunicatorCollectives as _;
use cuda_prelude::*;
use ndarray::Ix1;

/// The speed of all_reduce, beside that of MPI on host memory
#[derive(Clone, Copy, Parser)]
struct Sizes {
    /// Bytes of the smallest array
    #[arg(long, default_value_t = 1 << 10)]
    least: usize,
    /// Bytes of the largest array; each is four times the one before
    #[arg(long, default_value_t = 64 << 20)]
    most: usize,
    /// Runs of each, of which the median counts
    #[arg(long, default_value_t = 7)]
    runs: usize,
}

/// The median seconds of some work, which all ranks begin together.
fn median(world: &SimpleCommunicator, runs: usize, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..=runs {
        world.barrier();
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64());
    }
    // The first run makes what the others use.
    times.remove(0);
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Enough operations for a run of some length.
fn repeats(bytes: usize) -> usize {
    ((4 << 20) / bytes).clamp(1, 64)
}

fn measure(rank: &Rank, world: &SimpleCommunicator, sizes: Sizes) -> Result<()> {
    let (c, stream) = (&rank.communicator, &rank.stream);
    let transport = if c.nccl().is_some() { "nccl" } else { "mpi" };
    let mut bytes = sizes.least.max(size_of::<f32>());
    let mut percent = 0.0;
    while bytes <= sizes.most {
        let (len, count) = (bytes / size_of::<f32>(), repeats(bytes));
        let host = vec![1.0_f32; len];
        let x = cuda_prelude::from_slice(&host)?;
        let mut sum: DeviceArray<f32, Ix1> = device_array(len)?;
        let ours = median(world, sizes.runs, || {
            for _ in 0..count {
                c.all_reduce(&x, &mut sum, Reduction::Sum, stream)?;
            }
            Ok(c.wait(stream)?)
        })?;
        ensure!(sum.copy_to_host()?.iter().all(|value| *value == c.size() as f32), "a sum of {bytes} bytes is wrong");
        let mut result = vec![0.0_f32; len];
        let theirs = median(world, sizes.runs, || {
            for _ in 0..count {
                world.all_reduce_into(&host[..], &mut result[..], SystemOperation::sum());
            }
            Ok(())
        })?;
        percent = 100.0 * theirs / ours;
        if c.rank() == 0 {
            let speed = |seconds: f64| (count * bytes) as f64 / seconds / 1e9;
            let (ours, theirs) = (speed(ours), speed(theirs));
            eprintln!("{bytes:>10} bytes: {ours:8.4} GB/s; MPI on the host {theirs:8.4} GB/s; {percent:5.1} %");
        }
        bytes *= 4;
    }
    if c.rank() == 0 {
        println!("nccl.{transport}.vs_host {percent:.1} %");
    }
    Ok(())
}

fn main() -> Result<()> {
    let sizes = Sizes::parse();
    run(|rank| measure(rank, &SimpleCommunicator::world(), sizes))
}
