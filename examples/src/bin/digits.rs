//! A neural network with one hidden layer learns to recognise digits, by mini-batch stochastic gradient descent.

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_example_kernels::digits::{DIGITS, HIDDEN, NOISE, PIXELS, backward, draw, forward, noise, softmax_loss};
use cuda_examples::{Color, Options, plot, save, steps};
use cuda_prelude::*;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Ix1, Ix2};

/// Images in a mini-batch.
const BATCH: usize = 200;

/// A step of gradient descent, along the mean gradient of the batch.
#[kernel]
fn update(rate: f32, deltas: ArrayView2<'_, f32>, inputs: ArrayView2<'_, f32>, mut weights: ArrayViewMut2<'_, f32>) {
    let (input, output) = grid::<2>();
    if output < weights.nrows() && input < weights.ncols() {
        let mut gradient = 0.0;
        for image in 0..deltas.nrows() {
            let bias = input == inputs.ncols();
            gradient += deltas[[image, output]] * if bias { 1.0 } else { inputs[[image, input]] };
        }
        weights[[output, input]] -= rate * gradient / deltas.nrows() as f32;
    }
}

/// The weights of both layers, and the activations and deltas of a batch.
struct Network {
    hidden_weights: DeviceArray<f32, Ix2>,
    output_weights: DeviceArray<f32, Ix2>,
    images: DeviceArray<f32, Ix2>,
    labels: DeviceArray<u32, Ix1>,
    hidden: DeviceArray<f32, Ix2>,
    outputs: DeviceArray<f32, Ix2>,
    losses: DeviceArray<f32, Ix1>,
    hidden_deltas: DeviceArray<f32, Ix2>,
}

/// A thread for each element of a matrix.
fn threads(columns: usize, rows: usize) -> LaunchConfig {
    LaunchConfig::new((columns.div_ceil(16), rows.div_ceil(16)), (16, 16)).quiet()
}

impl Network {
    fn new() -> Result<Self> {
        let weights = |outputs: usize, inputs: usize| {
            let scale = (6.0 / (inputs + outputs) as f32).sqrt();
            let weight = |(output, input)| scale * noise((output * (inputs + 1) + input) as u32);
            to_device(&Array2::from_shape_fn((outputs, inputs + 1), weight))
        };
        Ok(Network {
            hidden_weights: weights(HIDDEN, PIXELS)?,
            output_weights: weights(DIGITS, HIDDEN)?,
            images: device_array((BATCH, PIXELS))?,
            labels: device_array(BATCH)?,
            hidden: device_array((BATCH, HIDDEN))?,
            outputs: device_array((BATCH, DIGITS))?,
            losses: device_array(BATCH)?,
            hidden_deltas: device_array((BATCH, HIDDEN))?,
        })
    }

    /// Draws a batch and computes the outputs for it.
    fn evaluate(&mut self, seed: u32) -> Result<()> {
        draw::launch(threads(PIXELS, BATCH), seed, 0, &mut self.images, &mut self.labels)?;
        forward::launch(threads(HIDDEN, BATCH), &self.images, &self.hidden_weights, true, &mut self.hidden)?;
        forward::launch(threads(DIGITS, BATCH), &self.hidden, &self.output_weights, false, &mut self.outputs)?;
        Ok(())
    }

    /// The mean loss of a batch.
    fn loss(&mut self, seed: u32) -> Result<f32> {
        self.evaluate(seed)?;
        softmax_loss::forall(BATCH, &mut self.outputs, &self.labels, &mut self.losses)?;
        Ok(self.losses.copy_to_host()?.sum() / BATCH as f32)
    }

    /// Trains with one batch; returns its mean loss before the step.
    fn train(&mut self, seed: u32, rate: f32) -> Result<f32> {
        let loss = self.loss(seed)?;
        let (deltas, hidden_deltas) = (&self.outputs, &mut self.hidden_deltas);
        backward::launch(threads(HIDDEN, BATCH), deltas, &self.output_weights, &self.hidden, &mut *hidden_deltas)?;
        update::launch(threads(HIDDEN + 1, DIGITS), rate, deltas, &self.hidden, &mut self.output_weights)?;
        update::launch(threads(PIXELS + 1, HIDDEN), rate, &*hidden_deltas, &self.images, &mut self.hidden_weights)?;
        Ok(loss)
    }

    /// Compares the gradient of one weight with the central difference of the loss.
    fn check_gradient(&mut self) -> Result<()> {
        let (weights, place, h) = (self.hidden_weights.copy_to_host()?, [4, 27], 0.02);
        let mut loss_with = |change: f32| {
            let mut changed = weights.clone();
            changed[place] += change;
            self.hidden_weights.copy_from_host(&changed)?;
            self.loss(0)
        };
        let difference = (loss_with(h)? - loss_with(-h)?) / (2.0 * h);
        self.hidden_weights.copy_from_host(&weights)?;
        self.train(0, 1.0)?;
        let gradient = weights[place] - self.hidden_weights.copy_to_host()?[place];
        println!("gradient {gradient:.5}, central difference {difference:.5}");
        ensure!((gradient - difference).abs() < 0.01 * difference.abs(), "the gradient is wrong");
        Ok(())
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut network = Network::new()?;
    network.check_gradient()?;
    // Guesses would be right for a tenth of the digits.
    let (count, bound) = options.pick((1000, BATCH * 9 / 10), (60, BATCH / 2));
    let mut losses = Vec::new();
    for step in steps("training", count) {
        losses.push(network.train((step * BATCH) as u32, 0.5)?);
    }

    // The test set: digits that are not in the training set.
    network.evaluate(1 << 30)?;
    let (labels, outputs) = (network.labels.copy_to_host()?, network.outputs.copy_to_host()?);
    let is_right = |row: usize| (0..DIGITS).all(|digit| outputs[[row, digit]] <= outputs[[row, labels[row] as usize]]);
    let right: Vec<_> = (0..BATCH).map(is_right).collect();
    let correct = right.iter().filter(|&&right| right).count();
    println!("{correct} of {BATCH} digits of the test set are recognised");
    ensure!(correct >= bound, "fewer than {bound}");
    save(&options.file("digits.png"), sheet(&network.images.copy_to_host()?, &right).view())?;
    plot(&options.file("digits.svg"), "Loss", "step", &[([60, 100, 200], &losses)])
}

/// The digits in frames: green for those that are recognised, red for the others.
fn sheet(images: &Array2<f32>, right: &[bool]) -> Array2<Color> {
    Array2::from_shape_fn((BATCH / 20 * 36, 20 * 36), |(y, x)| {
        let (digit, row, column) = (y / 36 * 20 + x / 36, y % 36, x % 36);
        if (2..34).contains(&row) && (2..34).contains(&column) {
            let ink = (images[[digit, (row - 2) / 4 * 8 + (column - 2) / 4]] + NOISE) / (1.0 + 2.0 * NOISE);
            [(255.0 * ink) as u8; 3]
        } else if right[digit] {
            [40, 160, 80]
        } else {
            [230, 40, 40]
        }
    })
}

fn main() -> Result<()> {
    run(&Options::parse())
}
