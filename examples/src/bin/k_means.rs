//! Reduces the colors of a picture by k-means: atomics, and a loop on the host until nothing changes.

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::{Color, Options, landscape, save};
use cuda_prelude::*;
use ndarray::{Array1, Array2, Axis, concatenate};

/// Colors of the result.
const COUNT: usize = 6;

/// The square of the distance of two colors.
#[device]
fn distance(a: Color, b: Color) -> u32 {
    (0..3).map(|channel| (a[channel] as i32 - b[channel] as i32).pow(2) as u32).sum()
}

/// Assigns each pixel to the nearest center, and adds it to the center's sums: red, green, blue, and the number of pixels.
#[kernel]
fn assign(pixels: &[Color], centers: &[Color], nearest: &mut [u8], sums: &mut [[u32; 4]]) {
    let i = grid::<1>();
    if i >= pixels.len() {
        return;
    }
    let mut best = 0;
    for k in 1..COUNT {
        if distance(pixels[i], centers[k]) < distance(pixels[i], centers[best]) {
            best = k;
        }
    }
    nearest[i] = best as u8;
    for channel in 0..3 {
        atomic_add(&mut sums[best][channel], pixels[i][channel] as u32);
    }
    atomic_add(&mut sums[best][3], 1);
}

/// Moves each center to the mean of its pixels; one without pixels stays.
#[kernel]
fn update(sums: &[[u32; 4]], centers: &mut [Color]) {
    let k = thread_idx().x;
    let [red, green, blue, count] = sums[k];
    if count == 0 {
        return;
    }
    centers[k] = [(red / count) as u8, (green / count) as u8, (blue / count) as u8];
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let (rows, columns) = options.pick((240, 360), (40, 60));
    let host = landscape(rows, columns);
    let pixels = to_device(&host)?;
    // The initial centers are pixels that are far apart.
    let mut centers = Array1::from_iter((0..COUNT).map(|k| host[[(2 * k + 1) * rows / (2 * COUNT), columns * 2 / 3]]));
    let (mut nearest, mut rounds) = (zeros::<u8, _>((rows, columns))?, 0);
    loop {
        let (mut device, mut sums) = (to_device(&centers)?, zeros::<[u32; 4], _>(COUNT)?);
        assign::forall(pixels.len(), &pixels, &device, &mut nearest, &mut sums)?;
        update::launch((1, COUNT), &sums, &mut device)?;
        let moved = device.copy_to_host()?;
        rounds += 1;
        if moved == centers {
            break;
        }
        centers = moved;
        ensure!(rounds < 200, "the centers still move after {rounds} rounds");
    }
    println!("{rounds} rounds: {centers:?}");
    let nearest = nearest.copy_to_host()?;
    let drawn = nearest.mapv(|k| centers[usize::from(k)]);
    let error = |pixels: &Array2<Color>| host.iter().zip(pixels).map(|(a, b)| u64::from(distance(*a, *b))).sum::<u64>();
    for (pixel, found) in host.iter().zip(&drawn) {
        let best = centers.iter().map(|center| distance(*pixel, *center)).min();
        ensure!(best == Some(distance(*pixel, *found)), "{found:?} is not the nearest color to {pixel:?}");
    }
    // Six colors must be far better than one, the mean.
    let mean: [u64; 3] =
        [0, 1, 2].map(|at| host.iter().map(|pixel| u64::from(pixel[at])).sum::<u64>() / host.len() as u64);
    let gray = Array2::from_elem(host.dim(), mean.map(|level| level as u8));
    ensure!(10 * error(&drawn) < error(&gray), "the colors are off by {} of {}", error(&drawn), error(&gray));
    save(&options.file("k_means.png"), concatenate(Axis(1), &[host.view(), drawn.view()])?.view())
}

fn main() -> Result<()> {
    run(&Options::parse())
}
