//! Histogram equalisation and blur of a picture: atomics in shared memory, a scan, and a halo of neighbours.

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::{Color, Options, landscape, save};
use cuda_prelude::*;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, concatenate, s};

/// Levels of brightness, and threads of a block that counts them.
const LEVELS: usize = 256;
/// The radius of the blur in pixels.
const RADIUS: usize = 4;
/// Threads of a block that blurs a part of a row.
const WIDTH: usize = 128;

/// The brightness as the eye weighs colors, from 0 to 255.
#[device]
fn brightness([red, green, blue]: Color) -> usize {
    (77 * red as usize + 150 * green as usize + 29 * blue as usize) / 256
}

/// Counts pixels by their brightness: each block in shared memory, and then all blocks together.
#[kernel]
fn histogram(pixels: &[Color], counts: &mut [u32]) {
    let own = shared!([u32; LEVELS]);
    let t = thread_idx().x;
    own[t] = 0;
    sync_threads();
    for i in (grid::<1>()..pixels.len()).step_by(grid_size::<1>()) {
        atomic_add(&mut own[brightness(pixels[i])], 1);
    }
    sync_threads();
    atomic_add(&mut counts[t], own[t]);
}

/// An inclusive scan of the counts by one block: in step `k` every thread adds the value `2^k` before its own.
#[kernel]
fn scan(counts: &[u32], sums: &mut [u32]) {
    let own = shared!([u32; LEVELS]);
    let t = thread_idx().x;
    own[t] = counts[t];
    sync_threads();
    let mut distance = 1;
    while distance < LEVELS {
        let before = if t >= distance { own[t - distance] } else { 0 };
        sync_threads();
        own[t] += before;
        sync_threads();
        distance *= 2;
    }
    sums[t] = own[t];
}

/// Maps each brightness to the share of pixels that are darker, and scales the colors in proportion.
#[kernel]
fn equalise(sums: &[u32], pixels: &mut [Color]) {
    let i = grid::<1>();
    if i < pixels.len() {
        let old = brightness(pixels[i]);
        let new = 255.0 * sums[old] as f32 / pixels.len() as f32;
        for channel in 0..3 {
            pixels[i][channel] = (pixels[i][channel] as f32 * new / (old as f32 + 1.0)).min(255.0) as u8;
        }
    }
}

/// The mean of the pixels around each one of a row; the view may be transposed, for columns.
#[kernel]
fn blur(from: ArrayView2<'_, Color>, mut to: ArrayViewMut2<'_, Color>) {
    let tile = shared!([Color; WIDTH + 2 * RADIUS]);
    let (column, row) = grid::<2>();
    let (t, last) = (thread_idx().x, from.ncols() - 1);
    // A block's pixels and the halo on both sides; at the edge the last pixel is repeated.
    for k in (t..WIDTH + 2 * RADIUS).step_by(WIDTH) {
        tile[k] = from[[row, (block_idx().x * WIDTH + k).saturating_sub(RADIUS).min(last)]];
    }
    sync_threads();
    if column <= last {
        for channel in 0..3 {
            let sum: u32 = (t..=t + 2 * RADIUS).map(|k| tile[k][channel] as u32).sum();
            to[[row, column]][channel] = (sum / (2 * RADIUS as u32 + 1)) as u8;
        }
    }
}

/// The histogram on the host.
fn counted(pixels: &Array2<Color>) -> Array1<u32> {
    let mut counts = Array1::zeros(LEVELS);
    pixels.iter().for_each(|pixel| counts[brightness(*pixel)] += 1);
    counts
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let (rows, columns) = options.pick((240, 360), (40, 60));
    let host = landscape(rows, columns);
    let mut picture = to_device(&host)?;
    let (mut counts, mut sums) = (zeros::<u32, _>(LEVELS)?, zeros::<u32, _>(LEVELS)?);
    histogram::launch((32, LEVELS), &picture, &mut counts)?;
    scan::launch((1, LEVELS), &counts, &mut sums)?;
    equalise::forall(picture.len(), &sums, &mut picture)?;
    let equal = picture.copy_to_host()?;

    let expected = counted(&host);
    ensure!(counts.copy_to_host()? == expected, "the histogram is not that of the host");
    ensure!(sums.copy_to_host()?[LEVELS - 1] as usize == host.len(), "the sums do not count all pixels");
    let mean = |pixels: &Array2<Color>| pixels.iter().map(|pixel| brightness(*pixel)).sum::<usize>() / pixels.len();
    ensure!(mean(&equal).abs_diff(128) < 24, "the mean brightness is {} and not about 128", mean(&equal));

    // Rows, and then columns by a transposed view.
    let (mut once, mut twice) = (device_array_like(&picture)?, device_array_like(&picture)?);
    blur::launch(((columns.div_ceil(WIDTH), rows), WIDTH), &picture, &mut once)?;
    blur::launch(((rows.div_ceil(WIDTH), columns), WIDTH), &once.t(), &mut twice.view_mut().reversed_axes())?;
    let blurred = twice.copy_to_host()?;
    // The largest step from a pixel to the next one of its row.
    let edge = |pixels: &Array2<Color>| {
        let next = pixels.slice(s![.., 1..]);
        next.iter().zip(pixels.slice(s![.., ..-1])).map(|(a, b)| brightness(*a).abs_diff(brightness(*b))).max()
    };
    ensure!(edge(&blurred) < edge(&equal).map(|step| step / 3), "the blurred picture has edges");
    let all = concatenate(Axis(1), &[host.view(), equal.view(), blurred.view()])?;
    save(&options.file("filters.png"), all.view())
}

fn main() -> Result<()> {
    run(&Options::parse())
}
