//! Two galaxies that pass each other: a thread for each star, and tiles of stars in shared memory.

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::{Color, Options, palette, save_animation, steps};
use cuda_prelude::*;
use ndarray::{Array1, Array2};

/// Threads of a block, and stars that it has in shared memory.
const BLOCK: usize = 128;
/// The softening length, which limits the acceleration of close stars.
const SOFTENING: f32 = 0.03;

/// A star, of a mass of 1 divided by the number of stars.
#[repr(C)]
#[derive(Clone, Copy, Default, DeviceType)]
struct Star {
    place: [f32; 2],
    speed: [f32; 2],
}

/// Advances each star by a time step under the gravity of all stars: first its velocity, then its position.
#[kernel]
fn advance(time: f32, now: &[Star], next: &mut [Star]) {
    let tile = shared!([[f32; 2]; BLOCK]);
    let (i, t, n) = (grid::<1>(), thread_idx().x, now.len());
    let Star { place: [x, y], speed: [u, v] } = now[i.min(n - 1)];
    let (mut ax, mut ay) = (0.0, 0.0);
    for first in (0..n).step_by(BLOCK) {
        if first + t < n {
            tile[t] = now[first + t].place;
        }
        sync_threads();
        for k in 0..BLOCK.min(n - first) {
            let (dx, dy) = (tile[k][0] - x, tile[k][1] - y);
            let square = dx * dx + dy * dy + SOFTENING * SOFTENING;
            let weight = 1.0 / (square * square.sqrt() * n as f32);
            ax += dx * weight;
            ay += dy * weight;
        }
        sync_threads();
    }
    if i < n {
        let (u, v) = (u + time * ax, v + time * ay);
        next[i] = Star { place: [x + time * u, y + time * v], speed: [u, v] };
    }
}

/// Two rotating disks side by side, on paths past each other.
fn galaxies(count: usize) -> Array1<Star> {
    const RADIUS: f32 = 0.35;
    let star = |i: usize| {
        let side = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        // A sunflower spiral fills a disk evenly.
        let (share, angle) = (i as f32 / count as f32, 2.399_963 * (i / 2) as f32);
        let (sin, cos) = angle.sin_cos();
        let radius = RADIUS * share.sqrt();
        // Each disk has half of the mass; a star orbits the mass inside its radius.
        let turn = (0.5 * share / (radius + SOFTENING)).sqrt();
        let place = [side * 0.6 + radius * cos, side * 0.25 + radius * sin];
        Star { place, speed: [-side * 0.45 - turn * sin, turn * cos] }
    };
    (0..count).map(star).collect()
}

/// The sum of all stars' velocities.
fn momentum(stars: &Array1<Star>) -> [f64; 2] {
    [0, 1].map(|axis| stars.iter().map(|star| f64::from(star.speed[axis])).sum())
}

/// The number of stars at each pixel, as colors.
fn picture(stars: &Array1<Star>, side: usize) -> Array2<Color> {
    let mut count = Array2::<f32>::zeros((side, side));
    for star in stars {
        let [column, row] = star.place.map(|at| (at + 1.5) / 3.0 * side as f32);
        if let Some(pixel) = count.get_mut([row as usize, column as usize]) {
            *pixel += 1.0;
        }
    }
    count.mapv(|count| palette((count / 4.0).sqrt()))
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let (count, frames) = options.pick((4096, 48), (512, 6));
    let host = galaxies(count);
    let (mut now, mut next) = (to_device(&host)?, to_device(&host)?);
    let mut pictures = Vec::new();
    for _ in steps("stars", frames) {
        pictures.push(picture(&now.copy_to_host()?, options.pick(220, 64)));
        for _ in 0..4 {
            advance::launch((count.div_ceil(BLOCK), BLOCK), 0.01, &now, &mut next)?;
            std::mem::swap(&mut now, &mut next);
        }
    }
    // The forces cancel, so the sum of all velocities is constant except for rounding.
    let (before, after) = (momentum(&host), momentum(&now.copy_to_host()?));
    let off = (0..2).map(|axis| (after[axis] - before[axis]).abs()).fold(0.0, f64::max) / count as f64;
    ensure!(off < 1e-5, "the momentum of a star has changed by {off}");
    save_animation(&options.file("n_body.gif"), &pictures, 60)
}

fn main() -> Result<()> {
    run(&Options::parse())
}
