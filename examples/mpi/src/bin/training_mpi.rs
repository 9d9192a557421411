//! Data-parallel training of a neural network with one hidden layer: each device has the weights and a part of each batch, and the
//! gradients of all devices are added up.
//!
//! Gradients are added as fixed-point numbers, whose sum is the same in every order, so that any number of devices learns the
//! same weights, bit for bit.

use anyhow::{Result, ensure};
use cuda_example_kernels::digits::{DIGITS, HIDDEN, PIXELS, backward, draw, forward, noise, softmax_loss};
use cuda_example_mpi::scaling::{all_reduce_bytes, gradient_bytes};
use cuda_example_mpi::{Rank, checksum, run};
use cuda_nccl::Reduction;
use cuda_prelude::*;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Ix1, Ix2};

/// Images of a batch, on all devices.
const BATCH: usize = 200;
const STEPS: usize = 60;
/// A gradient of 1 as a fixed-point number.
const ONE: f32 = 16_777_216.0;

/// The sum of the gradients of this device's images, as fixed-point numbers.
#[kernel(fma = false)]
fn gradient(deltas: ArrayView2<'_, f32>, inputs: ArrayView2<'_, f32>, mut gradients: ArrayViewMut2<'_, i64>) {
    let (input, output) = grid::<2>();
    if output < gradients.nrows() && input < gradients.ncols() {
        let mut sum = 0_i64;
        for image in 0..deltas.nrows() {
            let bias = input == inputs.ncols();
            let value = if bias { 1.0 } else { inputs[[image, input]] };
            sum += (ONE * (deltas[[image, output]] * value)) as i64;
        }
        gradients[[output, input]] = sum;
    }
}

/// A step of gradient descent, along the mean gradient of the batch.
#[kernel(fma = false)]
fn update(scale: f32, gradients: ArrayView2<'_, i64>, mut weights: ArrayViewMut2<'_, f32>) {
    let (input, output) = grid::<2>();
    if output < weights.nrows() && input < weights.ncols() {
        weights[[output, input]] -= scale * gradients[[output, input]] as f32;
    }
}

/// A layer: its weights, and the gradients of all devices.
struct Layer {
    weights: DeviceArray<f32, Ix2>,
    gradients: DeviceArray<i64, Ix2>,
}

impl Layer {
    fn new(outputs: usize, inputs: usize) -> Result<Layer> {
        let scale = (6.0 / (inputs + outputs) as f32).sqrt();
        let weight = |(output, input)| scale * noise((output * (inputs + 1) + input) as u32);
        let weights = to_device(&Array2::from_shape_fn((outputs, inputs + 1), weight))?;
        Ok(Layer { weights, gradients: device_array((outputs, inputs + 1))? })
    }

    /// A step along the gradient of all devices.
    fn learn(
        &mut self,
        rank: Option<&Rank>,
        deltas: &DeviceArray<f32, Ix2>,
        inputs: &DeviceArray<f32, Ix2>,
        stream: &Stream,
    ) -> Result<()> {
        let (rows, columns) = self.weights.dim();
        gradient::launch(threads(columns, rows, stream), deltas, inputs, &mut self.gradients)?;
        if let Some(Rank { communicator, .. }) = rank {
            communicator.all_reduce_in_place(&mut self.gradients, Reduction::Sum, stream)?;
        }
        let scale = 0.5 / ONE / BATCH as f32;
        update::launch(threads(columns, rows, stream), scale, &self.gradients, &mut self.weights)?;
        Ok(())
    }
}

/// The layers, and the activations and deltas of this device's images.
struct Network {
    layers: [Layer; 2],
    images: DeviceArray<f32, Ix2>,
    labels: DeviceArray<u32, Ix1>,
    hidden: DeviceArray<f32, Ix2>,
    outputs: DeviceArray<f32, Ix2>,
    losses: DeviceArray<f32, Ix1>,
    hidden_deltas: DeviceArray<f32, Ix2>,
}

/// A thread for each element of a matrix.
fn threads(columns: usize, rows: usize, stream: &Stream) -> LaunchConfig {
    LaunchConfig::from(((columns.div_ceil(16), rows.div_ceil(16)), (16, 16), stream)).quiet()
}

impl Network {
    fn new(images: usize) -> Result<Network> {
        Ok(Network {
            layers: [Layer::new(HIDDEN, PIXELS)?, Layer::new(DIGITS, HIDDEN)?],
            images: device_array((images, PIXELS))?,
            labels: device_array(images)?,
            hidden: device_array((images, HIDDEN))?,
            outputs: device_array((images, DIGITS))?,
            losses: device_array(images)?,
            hidden_deltas: device_array((images, HIDDEN))?,
        })
    }

    /// Trains with this device's part of a batch.
    fn train(&mut self, rank: Option<&Rank>, seed: u32, first: usize, stream: &Stream) -> Result<()> {
        let Network { layers: [below, above], images, labels, hidden, outputs, losses, hidden_deltas } = self;
        let count = images.nrows();
        draw::launch(threads(PIXELS, count, stream), seed, first, &mut *images, &mut *labels)?;
        forward::launch(threads(HIDDEN, count, stream), &*images, &below.weights, true, &mut *hidden)?;
        forward::launch(threads(DIGITS, count, stream), &*hidden, &above.weights, false, &mut *outputs)?;
        let config = LaunchConfig::from((count.div_ceil(64), 64, stream)).quiet();
        softmax_loss::launch(config, &mut *outputs, &*labels, &mut *losses)?;
        backward::launch(threads(HIDDEN, count, stream), &*outputs, &above.weights, &*hidden, &mut *hidden_deltas)?;
        above.learn(rank, outputs, hidden, stream)?;
        below.learn(rank, hidden_deltas, images, stream)
    }

    /// Trains with all batches, and returns the checksum of the weights and the mean loss of the last batch's part.
    fn learn(mut self, rank: Option<&Rank>, first: usize, stream: &Stream) -> Result<(u64, f32)> {
        for step in 0..STEPS {
            self.train(rank, (step * BATCH) as u32, first, stream)?;
        }
        if let Some(Rank { communicator, .. }) = rank {
            communicator.wait(stream)?;
        }
        let loss = self.losses.copy_to_host()?.sum() / self.losses.len() as f32;
        let weights = [self.layers[0].weights.copy_to_host()?, self.layers[1].weights.copy_to_host()?];
        Ok((checksum(weights.iter().flatten().map(|weight| weight.to_bits())), loss))
    }
}

fn training(rank: &Rank) -> Result<()> {
    let part = rank.part(BATCH);
    ensure!(!part.is_empty(), "{} ranks are more than the {BATCH} images of a batch", rank.communicator.size());
    let (weights, loss) = Network::new(part.len())?.learn(Some(rank), part.start, &rank.stream)?;
    // Guesses have a loss of 2.3.
    ensure!(loss < 2.0, "the loss is still {loss}");
    if rank.communicator.rank() > 0 {
        return Ok(());
    }
    let (single, _) = Network::new(BATCH)?.learn(None, 0, &rank.stream)?;
    let sent = STEPS * all_reduce_bytes(rank.communicator.size(), gradient_bytes());
    rank.report("training", weights, single, sent)
}

fn main() -> Result<()> {
    run(training)
}
