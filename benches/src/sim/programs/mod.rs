//! The group `programs`: real programs on the software device, each beside a plain loop in Rust on one thread that gives an equal result.
//!
//! The device has one worker. A time is that of all launches of a program and the wait for them; both sides start from the same input, so a
//! program that works in place first copies it.
//! - `sim.programs.NAME.vs_loop`: our time divided by the loop's; below it, `sim.programs.geomean.vs_loop` and
//!   `sim.programs.max.vs_loop`;
//! - `sim.programs.NAME.loop_us`: the loop's own time.
//!
//! The files hold the programs by subject. The loops have the bounds checks and the instruction set of any Rust program.

mod graphs;
pub(super) mod linear;
mod numeric;
mod sorting;
mod text;

use std::fmt::Debug;
use std::hint::black_box;

use anyhow::{Result, bail};
use cuda_prelude::{DeviceArray, Element, from_slice, synchronize};
use ndarray::Ix1;

use crate::figures::{print_cpu, print_measured};
use crate::serve::{Run, Server, serve};
use crate::suite::kernels::Body;

/// The number of times that a program and its loop are measured in turn, and the runs of each time.
const ROUNDS: usize = 5;
const RUNS: usize = 5;

/// A one-dimensional array on the device.
type Vector<T> = DeviceArray<T, Ix1>;

/// A program with its loop.
struct Program {
    device: Run,
    plain: Run,
}

/// Makes a program, if the device's result is its loop's.
type Make = fn() -> Result<Program>;

/// The programs by name.
const ALL: &[(&str, Make)] = &[
    ("string_search", text::string_search),
    ("number_parsing", text::number_parsing),
    ("permutations", text::permutations),
    ("needleman_wunsch", text::needleman_wunsch),
    ("checksum", text::checksum),
    ("union_find", graphs::union_find),
    ("breadth_first_search", graphs::breadth_first_search),
    ("bvh_traversal", graphs::bvh_traversal),
    ("hash_table", graphs::hash_table),
    ("histogram", sorting::histogram),
    ("look_back_scan", sorting::look_back_scan),
    ("radix_sort", sorting::radix_sort),
    ("sorting_network", sorting::sorting_network),
    ("quickselect", sorting::quickselect),
    ("grid_stride_saxpy", linear::grid_stride_saxpy),
    ("grid_stride_sum", linear::grid_stride_sum),
    ("sparse_product", linear::sparse_product),
    ("conjugate_gradient", linear::conjugate_gradient),
    ("register_tiled_product", linear::register_tiled_product),
    ("attention", linear::attention),
    ("lattice_boltzmann", numeric::lattice_boltzmann),
    ("monte_carlo", numeric::monte_carlo),
    ("mandelbrot", numeric::mandelbrot),
    ("k_means", numeric::k_means),
    ("fft", numeric::fft),
    ("u128_remainder", numeric::u128_remainder),
    ("one_thread", numeric::one_thread),
    ("odd_blocks", numeric::odd_blocks),
    ("black_scholes", numeric::black_scholes),
    ("n_body", numeric::n_body),
];

/// An element of a result.
trait Value: Element + Copy + Debug + 'static {
    /// Returns true if both are equal, up to the rounding of floats.
    fn agrees(&self, other: &Self) -> bool;
}

macro_rules! integers {
    ($($type:ty),*) => { $(
        impl Value for $type {
            fn agrees(&self, other: &Self) -> bool {
                self == other
            }
        }
    )* };
}
integers!(u8, u32, i32, u64);

impl Value for f32 {
    fn agrees(&self, other: &Self) -> bool {
        (self - other).abs() <= 1e-3 * other.abs().max(1.0)
    }
}

impl Value for Body {
    fn agrees(&self, other: &Self) -> bool {
        self.x.agrees(&other.x) && self.y.agrees(&other.y) && self.z.agrees(&other.z)
    }
}

/// A program whose result is one array, which `launch` and `plain` write to. It fails if their results differ.
fn program<T: Value>(
    out: Vec<T>,
    mut launch: impl FnMut(&mut Vector<T>) -> cuda_prelude::Result<()> + 'static,
    mut plain: impl FnMut(&mut [T]) + 'static,
) -> Result<Program> {
    let (mut on_device, mut on_host) = (from_slice(&out)?, out);
    launch(&mut on_device)?;
    plain(&mut on_host);
    let result = on_device.copy_to_host()?;
    if let Some(at) = result.iter().zip(&on_host).position(|(got, expected)| !got.agrees(expected)) {
        bail!("element {at} is {:?} and not {:?}", result[at], on_host[at]);
    }
    Ok(Program {
        device: Box::new(move || {
            launch(&mut on_device)?;
            Ok(synchronize()?)
        }),
        plain: Box::new(move || {
            plain(black_box(&mut on_host));
            Ok(())
        }),
    })
}

/// The shape of a launch of `n` threads.
fn in_blocks(n: usize, block: usize) -> (usize, usize) {
    (n.div_ceil(block), block)
}

/// Pseudorandom numbers, by a multiplicative generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        ((u64::from(self.next()) * end as u64) >> 32) as usize
    }

    /// A number from 0 to 1.
    fn number(&mut self) -> f32 {
        (self.next() >> 8) as f32 / 16_777_216.0
    }
}

/// Makes a program, or the plain loop of one, by its name with `_loop`.
fn prepare(name: &str) -> Result<Run> {
    let plain = name.strip_suffix("_loop");
    let Some((_, make)) = ALL.iter().find(|(known, _)| *known == plain.unwrap_or(name)) else {
        bail!("there is no program `{name}`");
    };
    let program = make()?;
    Ok(if plain.is_some() { program.plain } else { program.device })
}

/// Runs the process that measures the programs.
pub(crate) fn serve_programs() -> Result<()> {
    serve(prepare)
}

/// Prints the figures of all programs.
pub(crate) fn figures() -> Result<()> {
    print_cpu()?;
    let variables = [("CUDA_DRIVER_PATH", "sim"), ("CUDA_SIM_THREADS", "1"), ("CUDA_SIM_TIER", "good")];
    let mut server = Server::start("sim-programs", &variables)?;
    let mut ratios = Vec::new();
    for (name, _) in ALL {
        let plain = format!("{name}_loop");
        let mut best = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            best[0] = best[0].min(server.ask(name, RUNS)?);
            best[1] = best[1].min(server.ask(&plain, RUNS)?);
        }
        print_measured(&format!("sim.programs.{name}.loop_us"), best[1] * 1e6, "us");
        print_measured(&format!("sim.programs.{name}.vs_loop"), best[0] / best[1], "ratio");
        ratios.push(best[0] / best[1]);
    }
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    print_measured("sim.programs.geomean.vs_loop", mean.exp(), "ratio");
    print_measured("sim.programs.max.vs_loop", ratios.into_iter().fold(0.0, f64::max), "ratio");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_gives_the_result_of_its_loop() {
        // Making a program compares them.
        for (name, make) in ALL {
            let made = make();
            assert!(made.is_ok(), "{name}: {:#}", made.err().unwrap());
        }
    }

    #[test]
    fn a_wrong_result_is_refused() {
        let wrong = program(vec![0_u32; 2], |out| Ok(out.fill(7)?), |out| out[0] = 7);
        assert_eq!(wrong.err().unwrap().to_string(), "element 1 is 7 and not 0");
    }
}
