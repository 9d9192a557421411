//! Heat that spreads through a plate, which is divided into bands of rows: one for each device. While the halo rows travel in one
//! stream, the interior of the band is computed in another. `--timeline` tells how much of the one is hidden behind the other.

use anyhow::{Result, ensure};
use clap::Parser;
use cuda_example_mpi::scaling::halo_bytes;
use cuda_example_mpi::{Rank, checksum, run};
use cuda_nccl::group;
use cuda_prelude::*;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, Ix2, s};

/// Heat that spreads through a plate, which is divided among the devices
#[derive(Clone, Parser)]
struct Plate {
    /// Rows of the plate
    #[arg(long, default_value_t = 256)]
    rows: usize,
    /// Columns of the plate
    #[arg(long, default_value_t = 384)]
    columns: usize,
    /// Steps of time
    #[arg(long, default_value_t = 200)]
    steps: usize,
    /// Print the mean times of a step's interior and halo, and how much of the halo's the interior hides
    #[arg(long)]
    timeline: bool,
}

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

impl Plate {
    /// The plate at the start, with a row more on each side: hot above, cold below, and a pattern between.
    fn start(&self) -> Array2<f32> {
        Array2::from_shape_fn((self.rows + 2, self.columns), |(row, column)| match row {
            0 => 1.0,
            row if row > self.rows => 0.0,
            row => ((row * 37 + column * 101) % 128) as f32 / 128.0,
        })
    }

    /// All steps on this device.
    fn single(&self, stream: &Stream) -> Result<Array2<f32>> {
        let host = self.start();
        let (mut now, mut next) = (to_device(&host)?, to_device(&host)?);
        for _ in 0..self.steps {
            let mut inner = next.slice_mut(s![1..=self.rows, ..]);
            step::launch(launch(self.rows, self.columns, stream), &now, &mut inner)?;
            std::mem::swap(&mut now, &mut next);
        }
        Ok(now.copy_to_host()?)
    }
}

fn launch(rows: usize, columns: usize, stream: &Stream) -> LaunchConfig {
    LaunchConfig::from(((columns.div_ceil(32), rows.div_ceil(8)), (32, 8), stream)).quiet()
}

/// The band of a rank: its rows, and a row of each neighbour.
struct Band<'a> {
    rank: &'a Rank,
    /// The stream of the interior; the halo travels in the rank's.
    other: Stream,
    now: DeviceArray<f32, Ix2>,
    next: DeviceArray<f32, Ix2>,
}

impl Band<'_> {
    /// The rows between the outermost ones, which need no halo.
    fn interior(&mut self) -> Result<()> {
        let (rows, columns) = (self.now.nrows() - 2, self.now.ncols());
        let own = self.now.slice(s![1..=rows, ..]);
        step::launch(launch(rows - 2, columns, &self.other), &own, &mut self.next.slice_mut(s![2..rows, ..]))?;
        Ok(())
    }

    /// The exchange of the halo rows.
    fn exchange(&mut self) -> Result<()> {
        let (c, stream, rows) = (&self.rank.communicator, &self.rank.stream, self.now.nrows() - 2);
        let (mut first, rest) = self.now.view_mut().split_at(Axis(0), 1);
        let (own, mut last) = rest.split_at(Axis(0), rows);
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
        Ok(())
    }

    /// The outermost rows, which need the halo; then the band is a step further.
    fn finish(&mut self) -> Result<()> {
        let Band { rank: Rank { stream, .. }, now, next, .. } = self;
        let (rows, config) = (now.nrows() - 2, launch(1, now.ncols(), stream));
        step::launch(config.clone(), &now.slice(s![..3, ..]), &mut next.slice_mut(s![1..2, ..]))?;
        step::launch(config, &now.slice(s![rows - 1.., ..]), &mut next.slice_mut(s![rows..=rows, ..]))?;
        std::mem::swap(now, next);
        Ok(())
    }

    fn step(&mut self) -> Result<()> {
        self.interior()?;
        self.exchange()?;
        self.finish()
    }

    /// The mean milliseconds of some parts of a step, from their common start to the end of the interior and to that of the halo,
    /// and for how long the halo goes on after the interior's end.
    fn mean_times(&mut self, steps: usize, interior: bool, halo: bool) -> Result<[f32; 3]> {
        let Rank { communicator, stream } = self.rank;
        let event = || Event::new(communicator.context());
        let mut marks = Vec::new();
        for _ in 0..steps {
            let [start, interior_end, halo_end] = [event()?, event()?, event()?];
            self.other.wait_for(stream)?;
            stream.wait_for(&self.other)?;
            start.record(stream)?;
            if interior {
                self.interior()?;
            }
            interior_end.record(&self.other)?;
            if halo {
                self.exchange()?;
            }
            halo_end.record(stream)?;
            marks.push((start, interior_end, halo_end));
        }
        communicator.wait(stream)?;
        self.other.synchronize()?;
        let mut sums = [0.0; 3];
        for (start, interior_end, halo_end) in marks {
            let (interior, halo) = (start.elapsed_ms(&interior_end)?, start.elapsed_ms(&halo_end)?);
            let times = [interior, halo, (halo - interior).max(0.0)];
            sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
        }
        Ok(sums.map(|sum| sum / steps as f32))
    }

    /// Prints the times of the interior and of the halo, alone and together, and how much of the halo's the interior hides: a step
    /// waits for what goes on after the interior's end.
    fn timeline(&mut self, steps: usize) -> Result<()> {
        self.mean_times(2, true, true)?;
        let [interior, ..] = self.mean_times(steps, true, false)?;
        let [_, halo, _] = self.mean_times(steps, false, true)?;
        let [both_interior, both_halo, exposed] = self.mean_times(steps, true, true)?;
        if self.rank.communicator.rank() == 0 {
            println!("nccl.heat.interior_ms {interior:.3} ms");
            println!("nccl.heat.halo_ms {halo:.3} ms");
            println!("nccl.heat.together.interior_ms {both_interior:.3} ms");
            println!("nccl.heat.together.halo_ms {both_halo:.3} ms");
            println!("nccl.heat.hidden {:.1} %", 100.0 * (1.0 - exposed / halo).max(0.0));
        }
        Ok(())
    }
}

fn heat(rank: &Rank, plate: &Plate) -> Result<()> {
    let (c, stream, part) = (&rank.communicator, &rank.stream, rank.part(plate.rows));
    ensure!(part.len() >= 4, "each of {} ranks needs four rows of {}", c.size(), plate.rows);
    let host = plate.start();
    let own = host.slice(s![part.start..part.end + 2, ..]).to_owned();
    let other = Stream::new(c.context())?;
    let mut band = Band { rank, other, now: to_device(&own)?, next: to_device(&own)? };
    for _ in 0..plate.steps {
        band.step()?;
    }
    // Rank 0 gets all bands.
    let mut whole = to_device(&host)?;
    let own = band.now.slice(s![1..=part.len(), ..]);
    if c.rank() > 0 {
        c.send(&own, 0, stream)?;
    } else {
        whole.slice_mut(s![1..=part.len(), ..]).assign(&own)?;
        for peer in 1..c.size() {
            let theirs = rank.part_of(peer, plate.rows);
            c.recv(&mut whole.slice_mut(s![theirs.start + 1..=theirs.end, ..]), peer, stream)?;
        }
    }
    c.wait(stream)?;
    if c.rank() == 0 {
        let sum = |plate: Array2<f32>| checksum(plate.iter().map(|value| value.to_bits()));
        let halos = plate.steps * halo_bytes(c.size(), plate.columns);
        let bands = (plate.rows - part.len()) * plate.columns * size_of::<f32>();
        rank.report("heat", sum(whole.copy_to_host()?), sum(plate.single(stream)?), halos + bands)?;
    }
    if plate.timeline { band.timeline(plate.steps) } else { Ok(()) }
}

fn main() -> Result<()> {
    let plate = Plate::parse();
    run(|rank| heat(rank, &plate))
}
