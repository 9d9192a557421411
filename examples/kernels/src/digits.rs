//! A neural network with one hidden layer that recognises digits: its data, and its kernels but for the gradients.

use cuda_prelude::*;
use ndarray::{ArrayView2, ArrayViewMut2};

/// Bitmaps of the digits: seven rows of five bits.
const GLYPHS: [[u8; 7]; 10] = [
    [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    [0b00100, 0b01100, 0b10100, 0b00100, 0b00100, 0b00100, 0b11111],
    [0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111],
    [0b11110, 0b00001, 0b00001, 0b01110, 0b00001, 0b00001, 0b11110],
    [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
];
/// Amplitude of the noise on pixels, which are 0 or 1.
pub const NOISE: f32 = 0.5;
/// Pixels of an image.
pub const PIXELS: usize = 64;
/// Units of the hidden layer.
pub const HIDDEN: usize = 32;
/// Units of the output layer.
pub const DIGITS: usize = 10;

/// A pseudorandom number for each value of a counter.
#[device]
fn random(counter: u32) -> u32 {
    let mut x = (counter + 1).wrapping_mul(0x9e37_79b9);
    x = (x ^ x >> 16).wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
    x ^ x >> 16
}

/// A pseudorandom number from -1 to 1 for each value of a counter.
#[device]
pub fn noise(counter: u32) -> f32 {
    random(counter) as f32 / u32::MAX as f32 * 2.0 - 1.0
}

/// Draws random digits with noise, each at a random position of its image of 8x8 pixels, which is a row of `images`.
/// The first image is the one of number `first` of a larger batch.
#[kernel]
pub fn draw(seed: u32, first: usize, mut images: ArrayViewMut2<'_, f32>, labels: &mut [u32]) {
    let (pixel, image) = grid::<2>();
    if image < images.nrows() && pixel < images.ncols() {
        let seed = random(seed + (first + image) as u32);
        let (label, right, down) = (seed % 10, seed / 16 % 4, seed / 64 % 2);
        if pixel == 0 {
            labels[image] = label;
        }
        let (x, y) = ((pixel % 8) as u32, (pixel / 8) as u32);
        let inside = (right..right + 5).contains(&x) && (down..down + 7).contains(&y);
        let ink = inside && GLYPHS[label as usize][(y - down) as usize] >> (right + 4 - x) & 1 == 1;
        images[[image, pixel]] = ink as u32 as f32 + NOISE * noise(seed.wrapping_add(pixel as u32));
    }
}

/// The outputs of a layer. The last column of the weights is the bias.
#[kernel]
pub fn forward(
    inputs: ArrayView2<'_, f32>,
    weights: ArrayView2<'_, f32>,
    tanh: bool,
    mut outputs: ArrayViewMut2<'_, f32>,
) {
    let (output, image) = grid::<2>();
    if image < outputs.nrows() && output < outputs.ncols() {
        let mut sum = weights[[output, inputs.ncols()]];
        for input in 0..inputs.ncols() {
            sum += inputs[[image, input]] * weights[[output, input]];
        }
        outputs[[image, output]] = if tanh { sum.tanh() } else { sum };
    }
}

/// Computes the cross-entropy loss of the softmax, and replaces the outputs by their deltas, the derivatives of the loss.
#[kernel]
pub fn softmax_loss(mut outputs: ArrayViewMut2<'_, f32>, labels: &[u32], losses: &mut [f32]) {
    let image = grid::<1>();
    if image < losses.len() {
        let label = labels[image] as usize;
        let mut row = outputs.row_mut(image);
        let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum = row.iter().map(|v| (v - max).exp()).sum::<f32>();
        losses[image] = max + sum.ln() - row[label];
        row.mapv_inplace(|v| (v - max).exp() / sum);
        row[label] -= 1.0;
    }
}

/// Backpropagation from the deltas of the outputs to those of the hidden layer.
#[kernel]
pub fn backward(
    deltas: ArrayView2<'_, f32>,
    weights: ArrayView2<'_, f32>,
    hidden: ArrayView2<'_, f32>,
    mut hidden_deltas: ArrayViewMut2<'_, f32>,
) {
    let (unit, image) = grid::<2>();
    if image < hidden.nrows() && unit < hidden.ncols() {
        let slope = 1.0 - hidden[[image, unit]] * hidden[[image, unit]];
        hidden_deltas[[image, unit]] = slope * deltas.row(image).dot(&weights.column(unit));
    }
}
