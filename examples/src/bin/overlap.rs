//! Copies that overlap kernels: an array in pieces, each copied in, computed and copied out in one of several streams.
//!
//! `CUDA_DRIVER_PATH=sim CUDA_SIM_TRACE=trace.json cargo run --release -p cuda-examples --bin overlap` also writes the timeline of
//! the software device, for <https://ui.perfetto.dev>.

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::Options;
use cuda_prelude::*;
use ndarray::{Array1, Ix1};
use plotters::prelude::*;

/// A hundred steps of the logistic map.
#[device]
fn logistic(start: f32) -> f32 {
    let mut x = start;
    for _ in 0..100 {
        x = 3.7 * x * (1.0 - x);
    }
    x
}

/// Computes without fused multiply-adds, so that the results are those of the host.
#[kernel(fma = false)]
fn iterate(x: &mut [f32]) {
    let i = grid::<1>();
    if i < x.len() {
        x[i] = logistic(x[i]);
    }
}

/// A part of the array. Its host memory is page-locked, so that the host does not wait for copies.
struct Piece {
    input: PinnedArray<f32, Ix1>,
    data: DeviceArray<f32, Ix1>,
    output: PinnedArray<f32, Ix1>,
}

impl Piece {
    fn new(values: &Array1<f32>) -> Result<Self> {
        let mut input = pinned_array_like(values)?;
        input.view_mut()?.assign(values);
        Ok(Piece { input, data: device_array(values.len())?, output: pinned_array_like(values)? })
    }

    /// Queues the work. The events are the start, and the ends of the copy in, of the kernel and of the copy out.
    fn process(&mut self, stream: &Stream) -> Result<[Event; 4]> {
        let events = [event()?, event()?, event()?, event()?];
        events[0].record(stream)?;
        self.data.copy_from_pinned_ref(&self.input, stream)?;
        events[1].record(stream)?;
        iterate::launch((self.data.len().div_ceil(256), 256, stream), &mut self.data)?;
        events[2].record(stream)?;
        self.data.copy_to_pinned_mut(&mut self.output, stream)?;
        events[3].record(stream)?;
        Ok(events)
    }
}

/// Distributes the pieces over the streams; returns the times of their events in milliseconds.
fn process(pieces: &mut [Piece], streams: &[Stream]) -> Result<Vec<Vec<f32>>> {
    let origin = event()?;
    origin.record(&streams[0])?;
    let streams = streams.iter().cycle();
    let events: Vec<_> = pieces.iter_mut().zip(streams).map(|(piece, s)| piece.process(s)).collect::<Result<_>>()?;
    synchronize()?;
    let times = |events: &[Event; 4]| events.iter().map(|event| Ok(event_elapsed_time(&origin, event)?)).collect();
    events.iter().map(times).collect()
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let (count, length) = options.pick((12, 1 << 18), (6, 1 << 12));
    let values = |piece: usize| Array1::from_shape_fn(length, |i| ((i + piece) % 1000) as f32 / 1000.0);
    let streams = [stream()?, stream()?, stream()?];
    Piece::new(&values(0))?.process(&streams[0])?; // a first launch takes longer, and is not timed
    synchronize()?;
    let mut times = Vec::new();
    for streams in [&streams[..1], &streams[..]] {
        let mut pieces: Vec<_> = (0..count).map(|piece| Piece::new(&values(piece))).collect::<Result<_>>()?;
        times = process(&mut pieces, streams)?;
        let end = times.iter().map(|times| times[3]).fold(0.0, f32::max);
        println!("{count} pieces in {} stream(s): {end:.2} ms", streams.len());
        for (k, piece) in pieces.iter().enumerate() {
            ensure!(piece.output.view()? == values(k).mapv(logistic), "piece {k} is not that of the host");
        }
    }
    plot(options, &times, streams.len())
}

/// The timeline: a bar for each copy and kernel, a row of bars for each stream.
fn plot(options: &Options, times: &[Vec<f32>], streams: usize) -> Result<()> {
    let file = options.file("overlap.svg");
    std::fs::create_dir_all(&options.out)?;
    let root = SVGBackend::new(&file, (720, 240)).into_drawing_area();
    root.fill(&WHITE)?;
    let end = times.iter().map(|times| times[3]).fold(0.0, f32::max);
    let mut chart = ChartBuilder::on(&root)
        .caption("Copies in (green), kernels (blue) and copies out (red) of three streams", ("sans-serif", 16))
        .margin(16)
        .x_label_area_size(40)
        .build_cartesian_2d(0.0..end, 0.0..streams as f32)?;
    chart.configure_mesh().disable_mesh().x_desc("ms").draw()?;
    for (piece, times) in times.iter().enumerate() {
        let row = (streams - 1 - piece % streams) as f32;
        let bars = times.windows(2).zip([GREEN, BLUE, RED]);
        let bar = |(ends, color): (&[f32], RGBColor)| {
            Rectangle::new([(ends[0], row + 0.2), (ends[1], row + 0.8)], color.mix(0.6).filled())
        };
        chart.draw_series(bars.map(bar))?;
    }
    root.present()?;
    println!("{}", file.display());
    Ok(())
}

fn main() -> Result<()> {
    run(&Options::parse())
}
