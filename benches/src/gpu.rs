//! The ten kernels on a GPU, at sizes that fill it, compared with the same kernels in CUDA C++.
//!
//! - `gpu.KERNEL.us`: microseconds of a launch, between two events around [`LAUNCHES`] launches, the median of [`ROUNDS`] rounds;
//! - `gpu.KERNEL.nvrtc_us` and `.vs_nvrtc`: those of `cuda/KERNEL.cu`, which NVRTC of the folder after `--nvrtc` compiles on the
//!   spot, in rounds that take turns with ours, and our time divided by its time;
//! - `gpu.KERNEL.gb_per_s`: for kernels that memory bounds, the bytes that must move divided by our time.
//!
//! The results of the first launches are compared with each other. Nothing is measured on the software device.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use cuda_driver::{Context, Event};
use cuda_prelude::{current_context, current_device, is_simulated};
use ndarray::Array2;

use crate::Tools;
use crate::figures::{median, print_measured};
use crate::kernels::{BLOCK, TILE};
use crate::suite::ALL;
use crate::suite::kernels::{BINS, POINTS};
use crate::suite::launch::{Arg, Launch, Loaded, matrix, noise};
use crate::suite::nvrtc::Nvrtc;

/// Launches between two events.
const LAUNCHES: usize = 20;
const ROUNDS: usize = 11;

/// A launch, the bytes that it must move if memory bounds it, and the tolerance of its results relative to the largest of them.
struct Measured {
    launch: Launch,
    bytes: Option<usize>,
    tolerance: f64,
}

pub(crate) fn run(tools: &Tools) -> Result<()> {
    if is_simulated()? {
        eprintln!("gpu: skipped, there is none");
        return Ok(());
    }
    eprintln!("{}", current_device()?);
    let context = current_context()?;
    let nvrtc = tools.get("nvrtc").map(|folder| Nvrtc::open(folder as &Path)).transpose()?;
    for (kernel, launch) in ALL.iter().zip(LAUNCHED) {
        let measured = launch();
        ensure!(kernel.name == measured.launch.name, "{} is not launched", kernel.name);
        let theirs = nvrtc.as_ref().map(|nvrtc| nvrtc.ptx(&kernel.cuda())).transpose()?;
        compare(&context, &measured, &(kernel.ptx)()?, theirs.as_deref()).context(kernel.name)?;
    }
    Ok(())
}

/// Measures a kernel in Rust and, if there is one, that in CUDA C++.
fn compare(context: &Context, measured: &Measured, ours: &str, theirs: Option<&str>) -> Result<()> {
    let Measured { launch, bytes, tolerance } = measured;
    let mut ours = launch.load(context, ours, false)?;
    let mut theirs = theirs.map(|ptx| launch.load(context, ptx, true)).transpose()?;
    let stream = context.default_stream();
    ours.launch(&stream)?;
    if let Some(theirs) = &mut theirs {
        theirs.launch(&stream)?;
        let (ours, theirs) = (ours.contents()?, theirs.contents()?);
        for (arg, (ours, theirs)) in launch.args.iter().zip(ours.iter().zip(&theirs)) {
            same(&arg.numbers(ours), &arg.numbers(theirs), *tolerance)?;
        }
    }
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        our_times.push(microseconds(context, &mut ours)?);
        if let Some(theirs) = &mut theirs {
            their_times.push(microseconds(context, theirs)?);
        }
    }
    let print = |figure: &str, value, unit| print_measured(&format!("gpu.{}.{figure}", launch.name), value, unit);
    let time = median(our_times);
    print("us", time, "us");
    if let Some(bytes) = bytes {
        print("gb_per_s", *bytes as f64 / time / 1e3, "GB/s");
    }
    if !their_times.is_empty() {
        let theirs = median(their_times);
        print("nvrtc_us", theirs, "us");
        print("vs_nvrtc", time / theirs, "ratio");
    }
    Ok(())
}

/// Compares the results of two compilers.
fn same(ours: &[f64], theirs: &[f64], tolerance: f64) -> Result<()> {
    let largest = theirs.iter().fold(f64::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
    for (i, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        ensure!((ours - theirs).abs() <= tolerance * largest, "element {i} is {ours}, and {theirs} in CUDA C++");
    }
    Ok(())
}

/// The time of a launch among many.
fn microseconds(context: &Context, kernel: &mut Loaded<'_>) -> Result<f64> {
    let (start, end, stream) = (Event::new(context)?, Event::new(context)?, context.default_stream());
    kernel.launch(&stream)?;
    start.record(&stream)?;
    for _ in 0..LAUNCHES {
        kernel.launch(&stream)?;
    }
    end.record(&stream)?;
    end.synchronize()?;
    Ok(f64::from(start.elapsed_ms(&end)?) * 1e3 / LAUNCHES as f64)
}

/// The launches of [`ALL`], in its order. The arrays of those that memory bounds are larger than the cache of any GPU.
const LAUNCHED: [fn() -> Measured; 10] =
    [vector_add, saxpy, tiled_matmul, reduction, histogram, black_scholes, softmax, stencil, fft, n_body];

const MEGA: usize = 1 << 20;

/// A one-dimensional launch of a thread for each of `count` elements.
fn threads(name: &'static str, count: usize, args: Vec<Arg>) -> Launch {
    Launch::row(name, (count.div_ceil(BLOCK), BLOCK), args)
}

/// A launch in tiles over a square matrix.
fn tiles(name: &'static str, size: usize, args: Vec<Arg>) -> Launch {
    Launch { name, grid: [size.div_ceil(TILE); 2], block: [TILE; 2], args }
}

fn vector_add() -> Measured {
    let count = 64 * MEGA;
    let args = vec![Arg::Row(noise(count, 1)), Arg::Row(noise(count, 2)), Arg::Row(vec![0.0; count])];
    Measured { launch: threads("vector_add", count, args), bytes: Some(12 * count), tolerance: 0.0 }
}

fn saxpy() -> Measured {
    let count = 64 * MEGA;
    let args = vec![Arg::Number(2.5), Arg::Row(noise(count, 1)), Arg::Row(noise(count, 2))];
    Measured { launch: threads("saxpy", count, args), bytes: Some(12 * count), tolerance: 1e-6 }
}

fn tiled_matmul() -> Measured {
    let size = 2048;
    let args = vec![
        Arg::Matrix(matrix(size, size, 1)),
        Arg::Matrix(matrix(size, size, 2)),
        Arg::Matrix(Array2::zeros((size, size))),
    ];
    Measured { launch: tiles("tiled_matmul", size, args), bytes: None, tolerance: 1e-5 }
}

fn reduction() -> Measured {
    let count = 64 * MEGA;
    let args = vec![Arg::Row(noise(count, 3)), Arg::Row(vec![0.0; count / BLOCK])];
    Measured { launch: threads("reduction", count, args), bytes: Some(4 * count), tolerance: 1e-6 }
}

fn histogram() -> Measured {
    let count = 256 * MEGA;
    let data = noise(count, 4).iter().map(|x| (x * x * 256.0) as u8).collect();
    let args = vec![Arg::Bytes(data), Arg::Counts(vec![0; BINS])];
    Measured { launch: Launch::row("histogram", (1024, BLOCK), args), bytes: Some(count), tolerance: 0.0 }
}

fn black_scholes() -> Measured {
    let count = 16 * MEGA;
    let scaled = |seed, low: f32, high: f32| noise(count, seed).iter().map(|x| low + (high - low) * x).collect();
    let (price, strike, years) = (scaled(5, 5.0, 30.0), scaled(6, 1.0, 100.0), scaled(7, 0.25, 10.0));
    let mut args = vec![Arg::Number(0.02), Arg::Number(0.3)];
    args.extend([price, strike, years, vec![0.0; count], vec![0.0; count]].map(Arg::Row));
    Measured { launch: threads("black_scholes", count, args), bytes: Some(20 * count), tolerance: 1e-5 }
}

fn softmax() -> Measured {
    let (rows, cols) = (8192, 4096);
    let args = vec![Arg::Matrix(matrix(rows, cols, 8) * 20.0 - 10.0), Arg::Matrix(Array2::zeros((rows, cols)))];
    // The row is read twice, and its powers are written and read between.
    Measured { launch: Launch::row("softmax", (rows, BLOCK), args), bytes: None, tolerance: 1e-5 }
}

fn stencil() -> Measured {
    let size = 8192;
    let args = vec![Arg::Number(0.1), Arg::Matrix(matrix(size, size, 9)), Arg::Matrix(Array2::zeros((size, size)))];
    Measured { launch: tiles("stencil", size, args), bytes: Some(8 * size * size), tolerance: 1e-6 }
}

fn fft() -> Measured {
    let transforms = 64 * MEGA / POINTS;
    let args = vec![Arg::Row(noise(64 * MEGA, 10)), Arg::Row(noise(64 * MEGA, 11))];
    Measured { launch: Launch::row("fft", (transforms, BLOCK), args), bytes: Some(16 * 64 * MEGA), tolerance: 1e-5 }
}

fn n_body() -> Measured {
    let count = 32_768;
    let args = vec![Arg::Bodies(noise(4 * count, 12)), Arg::Bodies(vec![0.0; 4 * count])];
    Measured { launch: threads("n_body", count, args), bytes: None, tolerance: 1e-4 }
}
