//! Heat that spreads through a plate, which is divided into bands of rows: one for each device. While the halo rows travel in one
//! stream, the interior of the band is computed in another.

use anyhow::{Result, ensure};
use cuda_example_mpi::{Rank, checksum, run};
use cuda_nccl::group;
use cuda_prelude::*;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Ix2, s};

const ROWS: usize = 256;
const COLUMNS: usize = 384;
const STEPS: usize = 200;

/// A step for the rows `to`; `from` has one row more on each side. The first and the last column stay as they are.
#[kernel(fma = false)]
fn step(from: ArrayView2<'_, f32>, mut to: ArrayViewMut2<'_, f32>) {
    let (column, row) = grid::<2>();
    if row < to.nrows() && column < to.ncols() {
        let here = from[[row + 1, column]];
        if column == 0 || column + 1 == to.ncols() {
            to[[row, column]] = here;
        } else {
            let rows = from[[row, column]] + from[[row + 2, column]];
            let columns = from[[row + 1, column - 1]] + from[[row + 1, column + 1]];
            to[[row, column]] = here + 0.2 * (rows + columns - 4.0 * here);
        }
    }
}

/// The plate at the start, with a row more on each side: hot above, cold below, and a pattern between.
fn plate() -> Array2<f32> {
    Array2::from_shape_fn((ROWS + 2, COLUMNS), |(row, column)| match row {
        0 => 1.0,
        row if row > ROWS => 0.0,
        row => ((row * 37 + column * 101) % 128) as f32 / 128.0,
    })
}

fn launch(rows: usize, stream: &Stream) -> LaunchConfig {
    LaunchConfig::from(((COLUMNS.div_ceil(32), rows.div_ceil(8)), (32, 8), stream)).quiet()
}

/// All steps on this device.
fn single(stream: &Stream) -> Result<Array2<f32>> {
    let host = plate();
    let (mut now, mut next) = (to_device(&host)?, to_device(&host)?);
    for _ in 0..STEPS {
        step::launch(launch(ROWS, stream), &now, &mut next.slice_mut(s![1..=ROWS, ..]))?;
        std::mem::swap(&mut now, &mut next);
    }
    Ok(now.copy_to_host()?)
}

/// A step of a band: the halo rows travel in the rank's stream, beside the interior in the other one.
fn band_step(
    rank: &Rank,
    other: &Stream,
    now: &mut DeviceArray<f32, Ix2>,
    next: &mut DeviceArray<f32, Ix2>,
) -> Result<()> {
    let (c, stream, rows) = (&rank.communicator, &rank.stream, now.nrows() - 2);
    let (mut first, rest) = now.view_mut().split_at(Axis(0), 1);
    let (own, mut last) = rest.split_at(Axis(0), rows);
    step::launch(launch(rows - 2, other), &own, &mut next.slice_mut(s![2..rows, ..]))?;
    let (top, bottom) = (own.slice(s![0, ..]), own.slice(s![-1, ..]));
    group(|g| {
        if c.rank() > 0 {
            g.send(c, &top, c.rank() - 1, stream)?;
            g.recv(c, &mut first, c.rank() - 1, stream)?;
        }
        if c.rank() + 1 < c.size() {
            g.send(c, &bottom, c.rank() + 1, stream)?;
            g.recv(c, &mut last, c.rank() + 1, stream)?;
        }
        Ok(())
    })?;
    // The outermost rows need the halo.
    step::launch(launch(1, stream), &now.slice(s![..3, ..]), &mut next.slice_mut(s![1..2, ..]))?;
    step::launch(launch(1, stream), &now.slice(s![rows - 1.., ..]), &mut next.slice_mut(s![rows..=rows, ..]))?;
    Ok(())
}

fn heat(rank: &Rank) -> Result<()> {
    let (c, stream, part) = (&rank.communicator, &rank.stream, rank.part(ROWS));
    ensure!(part.len() >= 4, "each of {} ranks needs four rows of {ROWS}", c.size());
    let host = plate();
    let band = host.slice(s![part.start..part.end + 2, ..]).to_owned();
    let (mut now, mut next) = (to_device(&band)?, to_device(&band)?);
    let other = Stream::new(c.context())?;
    for _ in 0..STEPS {
        band_step(rank, &other, &mut now, &mut next)?;
        std::mem::swap(&mut now, &mut next);
    }
    // Rank 0 gets all bands.
    let mut whole = to_device(&host)?;
    let own = now.slice(s![1..=part.len(), ..]);
    if c.rank() > 0 {
        c.send(&own, 0, stream)?;
        return Ok(c.wait(stream)?);
    }
    whole.slice_mut(s![1..=part.len(), ..]).assign(&own)?;
    for peer in 1..c.size() {
        let theirs = rank.part_of(peer, ROWS);
        c.recv(&mut whole.slice_mut(s![theirs.start + 1..=theirs.end, ..]), peer, stream)?;
    }
    c.wait(stream)?;
    let sum = |plate: Array2<f32>| checksum(plate.iter().map(|value| value.to_bits()));
    rank.report("heat", sum(whole.copy_to_host()?), sum(single(stream)?))
}

fn main() -> Result<()> {
    run(heat)
}
