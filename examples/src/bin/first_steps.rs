//! The matrix products of the book's chapter of first steps, and its table: the time of each, and what each uses of a multiprocessor.
//! Two of them come from `examples/kernels`: a thread for each element, in rows (`by_rows`), and with tiles in shared memory (`tiled`).

use std::fmt::Display;
use std::path::Path;

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_example_kernels::{matmul, tiled_matmul};
use cuda_examples::Options;
use cuda_prelude::*;
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

/// The side of a block, in threads.
const TILE: usize = 16;
/// A thread of `register_tiled` computes so many rows and columns of the product.
const EACH: usize = 4;
/// The side of the tile that a block of `register_tiled` computes.
const SIDE: usize = TILE * EACH;

/// A thread for each element of the product. Neighbouring threads have neighbouring rows: their accesses are not coalesced.
#[kernel]
fn by_columns(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, mut c: ArrayViewMut2<'_, f32>) {
    let (row, column) = grid::<2>();
    if row < c.nrows() && column < c.ncols() {
        let mut sum = 0.0;
        for k in 0..a.ncols() {
            sum += a[[row, k]] * b[[k, column]];
        }
        c[[row, column]] = sum;
    }
}

/// Each thread computes `EACH` by `EACH` elements, so that a value which it loads from shared memory is used `EACH` times.
#[kernel]
fn register_tiled(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, c: ArrayViewMut2<'_, f32>) {
    register_tile(a, b, c);
}

/// The same with the promise of 256 threads a block, of which four blocks are resident: at most 64 registers a thread.
#[kernel(launch_bounds(256, 4))]
fn register_bounded(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, c: ArrayViewMut2<'_, f32>) {
    register_tile(a, b, c);
}

/// The product's tile of a block, of which each thread computes `EACH` by `EACH` elements.
#[device]
fn register_tile(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, mut c: ArrayViewMut2<'_, f32>) {
    let tile_a = shared!([[f32; TILE]; SIDE]);
    let tile_b = shared!([[f32; SIDE]; TILE]);
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, column) = (block_idx().y * SIDE + ty, block_idx().x * SIDE + tx);
    let mut sums = [[0.0; EACH]; EACH];
    for first in (0..a.ncols()).step_by(TILE) {
        let (k_a, k_b) = (first + tx, first + ty);
        for i in 0..EACH {
            let (r, c) = (row + i * TILE, column + i * TILE);
            tile_a[ty + i * TILE][tx] = if r < a.nrows() && k_a < a.ncols() { a[[r, k_a]] } else { 0.0 };
            tile_b[ty][tx + i * TILE] = if k_b < b.nrows() && c < b.ncols() { b[[k_b, c]] } else { 0.0 };
        }
        sync_threads();
        for k in 0..TILE {
            for i in 0..EACH {
                let x = tile_a[ty + i * TILE][k];
                for j in 0..EACH {
                    sums[i][j] += x * tile_b[k][tx + j * TILE];
                }
            }
        }
        sync_threads();
    }
    for i in 0..EACH {
        for j in 0..EACH {
            let (r, s) = (row + i * TILE, column + j * TILE);
            if r < c.nrows() && s < c.ncols() {
                c[[r, s]] = sums[i][j];
            }
        }
    }
}

/// The matrices, and what is measured of their products.
struct Products {
    a: DeviceArray<f32, ndarray::Ix2>,
    b: DeviceArray<f32, ndarray::Ix2>,
    expected: Array2<f32>,
    /// Launches of each kernel, of which the fastest counts.
    runs: usize,
    /// Nanoseconds for a multiply-add of the first kernel.
    first: Option<f32>,
}

impl Products {
    /// Times a kernel by events, checks its product, and prints its line of the table.
    fn measure<K: Kernel>(
        &mut self,
        name: &str,
        kernel: &CompiledKernel,
        launch: impl Fn(&Products, &Stream, &mut DeviceArray<f32, ndarray::Ix2>) -> cuda_prelude::Result<()>,
    ) -> Result<()> {
        let stream = stream()?;
        let (start, end) = (event()?, event()?);
        let mut product = zeros::<f32, _>(self.expected.dim())?;
        let mut fastest = f32::INFINITY;
        for _ in 0..self.runs {
            start.record(&stream)?;
            launch(self, &stream, &mut product)?;
            end.record(&stream)?;
            stream.synchronize()?;
            fastest = fastest.min(event_elapsed_time(&start, &end)?);
        }
        // All products and sums are whole numbers below 2^24, which `f32` holds exactly.
        ensure!(product.copy_to_host()? == self.expected, "{name}: the product differs from ndarray's");
        let multiply_adds = (self.expected.len() * self.a.ncols()) as f32;
        let nanoseconds = fastest * 1e6 / multiply_adds;
        let first = *self.first.get_or_insert(nanoseconds);
        let used = Used::of::<K>(kernel)?;
        println!("| `{name}` | {nanoseconds:.3} | {:.1} | {used} |", first / nanoseconds);
        Ok(())
    }
}

/// The resources that a kernel uses, as columns of the table.
struct Used {
    /// Registers of a thread, and bytes of its local memory; on the software device `ptxas` says them, where there is one.
    registers: Option<(u32, u32)>,
    shared: u32,
    occupancy: f64,
}

impl Used {
    fn of<K: Kernel>(kernel: &CompiledKernel) -> Result<Self> {
        let threads = (TILE * TILE) as u32;
        let told = kernel.occupancy(threads, 0)?;
        let (shared, mut occupancy) = (kernel.shared_bytes(), told.fraction);
        let mut registers = Some((kernel.registers(), kernel.local_bytes()));
        if is_simulated()? {
            let device = current_device()?;
            registers = assembled::<K>(&device)?;
            // The software device counts 32 registers for any kernel, a GPU those that there are, by eights.
            let limit = device.attribute_by_name("MAX_REGISTERS_PER_MULTIPROCESSOR")? as u32;
            let fit = registers.map_or(told.blocks, |(each, _)| limit / (each.next_multiple_of(8) * threads));
            occupancy *= f64::from(fit.min(told.blocks)) / f64::from(told.blocks);
        }
        Ok(Used { registers, shared, occupancy })
    }
}

/// The registers and the bytes of local memory of a thread, by NVIDIA's `ptxas`; nothing where it is not found.
fn assembled<K: Kernel>(device: &Device) -> Result<Option<(u32, u32)>> {
    match inspect::assemble::<K>(device.compute_capability()?) {
        Ok(used) => Ok(Some((used.registers, used.local_bytes))),
        Err(Error::Tool(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Display for Used {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.registers {
            Some((registers, local)) => write!(f, "{registers} | {local} | ")?,
            None => write!(f, "- | - | ")?,
        }
        write!(f, "{} | {:.0} %", self.shared, 100.0 * self.occupancy)
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let (n, k, m) = options.pick((512, 512, 512), (70, 50, 90));
    let a = Array2::from_shape_fn((n, k), |(i, j)| ((i + 3 * j) % 7) as f32);
    let b = Array2::from_shape_fn((k, m), |(i, j)| ((i + 5 * j) % 9) as f32 - 4.0);
    let (on_device_a, on_device_b) = (to_device(&a)?, to_device(&b)?);
    let runs = options.pick(30, 1);
    let mut products = Products { a: on_device_a, b: on_device_b, expected: a.dot(&b), runs, first: None };

    println!("{} by {} by {} on {}, {}", n, k, m, current_device()?, cpu());
    println!("| kernel | ns per multiply-add | times as fast | registers | local bytes | shared bytes | occupancy |");
    println!("|---|---|---|---|---|---|---|");
    let block = (TILE, TILE);
    let (rows, columns) = (n.div_ceil(TILE), m.div_ceil(TILE));
    products.measure::<by_columns>("by_columns", &by_columns::compile()?, |p, s, c| {
        by_columns::launch(((rows, columns), block, s), &p.a, &p.b, c)
    })?;
    products.measure::<matmul<f32>>("by_rows", &matmul::<f32>::compile()?, |p, s, c| {
        matmul::launch(((columns, rows), block, s), &p.a, &p.b, c)
    })?;
    products.measure::<tiled_matmul<f32, TILE>>("tiled", &tiled_matmul::<f32, TILE>::compile()?, |p, s, c| {
        tiled_matmul::<f32, TILE>::launch(((columns, rows), block, s), &p.a, &p.b, c)
    })?;
    products.measure::<register_tiled>("register_tiled", &register_tiled::compile()?, |p, s, c| {
        register_tiled::launch(((m.div_ceil(SIDE), n.div_ceil(SIDE)), block, s), &p.a, &p.b, c)
    })?;
    products.measure::<register_bounded>("register_bounded", &register_bounded::compile()?, |p, s, c| {
        register_bounded::launch(((m.div_ceil(SIDE), n.div_ceil(SIDE)), block, s), &p.a, &p.b, c)
    })?;
    if is_simulated()? && assembled::<matmul<f32>>(&current_device()?)?.is_none() {
        println!(
            "\nregisters and local bytes need NVIDIA's `ptxas`; without it the occupancy counts 32 registers a thread."
        );
        println!("{}", hint(&Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("target/toolkit")));
    }
    Ok(())
}

/// The commands that make programs find `ptxas`, of which the folder has one after `cargo xtask setup`.
fn hint(toolkit: &Path) -> String {
    let is_there = toolkit.join("bin/ptxas").is_file();
    let first =
        if is_there { "it is found after" } else { "it is found after `cargo xtask setup`, which downloads it, and" };
    format!("{first}\n  export CUDA_HOME=\"{}\"", toolkit.display())
}

/// The processor that the software device runs on.
fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{} ({cores} cores)", name.map_or("unknown processor", |(_, name)| name.trim()))
}

fn main() -> Result<()> {
    run(&Options::parse())
}
