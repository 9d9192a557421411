//! Data of other crates goes to the device from where it lies: a column of Arrow's with its nulls, a picture of `image`'s and a part of it.
//!
//! No element is copied on the host: the driver is handed the memory as it is. Where a layout does not allow that, a comment says so.

use anyhow::{Result, ensure};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use clap::Parser as _;
use cuda_examples::Options;
use cuda_prelude::*;
use image::{Rgba, RgbaImage};
use ndarray::{ArrayView3, ArrayViewMut3, Ix1, Ix3, s};

/// Adds up the values that are not null. Arrow keeps a bit for each value, from the lowest of a byte on.
#[kernel]
fn sum_valid(values: &[i64], valid: &[u8], first: usize, sum: &mut [i64]) {
    let i = grid::<1>();
    if i < values.len() {
        let bit = first + i;
        if (valid[bit / 8] >> (bit % 8)) & 1 == 1 {
            atomic_add(&mut sum[0], values[i]);
        }
    }
}

/// Makes a picture its negative; the fourth byte of a pixel is its opacity, and stays.
#[kernel]
fn invert(mut picture: ArrayViewMut3<'_, u8>) {
    let (column, row) = grid::<2>();
    if row < picture.shape()[0] && column < picture.shape()[1] {
        for channel in 0..3 {
            picture[[row, column, channel]] = 255 - picture[[row, column, channel]];
        }
    }
}

/// A column's values, or those of a part of it: one after the other, wherever they begin.
fn upload(values: &ScalarBuffer<i64>) -> Result<DeviceArray<i64, Ix1>> {
    Ok(from_slice(values)?)
}

/// The bytes in which a column's validity lies, and which bit of the first one is the column's first: a part of a column may begin
/// within a byte, so that the bits cannot be an array of their own without a copy that shifts them.
fn upload_validity(valid: &NullBuffer) -> Result<(DeviceArray<u8, Ix1>, usize)> {
    let (first, len) = (valid.offset(), valid.len());
    let bytes = &valid.validity()[first / 8..(first + len).div_ceil(8)];
    Ok((from_slice(bytes)?, first % 8))
}

/// A picture's pixels, as rows, columns and channels. `image` has no gaps between rows, and no picture whose channels lie apart.
fn pixels(picture: &RgbaImage) -> Result<ArrayView3<'_, u8>> {
    let (width, height) = picture.dimensions();
    Ok(ArrayView3::from_shape((height as usize, width as usize, 4), picture.as_raw())?)
}

fn main() -> Result<()> {
    run(&Options::parse())
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let len = options.pick(1_000_000, 1000);
    let column: ScalarBuffer<i64> = (0..len).collect();
    let nulls = NullBuffer::new(BooleanBuffer::collect_bool(len as usize, |i| i % 3 != 0));
    // A part that begins within a byte of the validity. Neither slice copies.
    let (column, nulls) = (column.slice(5, len as usize - 7), nulls.slice(5, len as usize - 7));
    let (values, (valid, first)) = (upload(&column)?, upload_validity(&nulls)?);
    let mut sum = zeros::<i64, _>(1)?;
    sum_valid::launch((column.len().div_ceil(256), 256), &values, &valid, first, &mut sum)?;
    let expected: i64 = column.iter().zip(&nulls).filter(|(_, valid)| *valid).map(|(value, _)| value).sum();
    ensure!(sum.copy_to_host()?[0] == expected, "the device's sum is not the host's, {expected}");
    println!("{} of {} values are valid, and their sum is {expected}", column.len() - nulls.null_count(), column.len());

    let side = options.pick(512, 64);
    let picture = RgbaImage::from_fn(side, side, |x, y| Rgba([x as u8, y as u8, (x ^ y) as u8, 200]));
    // All of it is one copy; the quarter has gaps between its rows, and is one copy of rows.
    let mut whole: DeviceArray<u8, Ix3> = to_device(&pixels(&picture)?)?;
    let half = side as usize / 2;
    let quarter = to_device(&pixels(&picture)?.slice(s![half.., half.., ..]))?;
    invert::launch(((side / 16, side / 16), (16, 16)), &mut whole)?;
    whole.slice_mut(s![half.., half.., ..]).assign(&quarter)?;

    // Back into a picture's own memory.
    let mut inverted = RgbaImage::new(side, side);
    let shape = (side as usize, side as usize, 4);
    whole.copy_to_host_into(&mut ArrayViewMut3::from_shape(shape, &mut inverted)?)?;
    for (x, y, pixel) in inverted.enumerate_pixels() {
        let Rgba([red, green, blue, opacity]) = *picture.get_pixel(x, y);
        let kept = x >= side / 2 && y >= side / 2;
        let expected = if kept { [red, green, blue, opacity] } else { [255 - red, 255 - green, 255 - blue, opacity] };
        ensure!(pixel.0 == expected, "pixel ({x}, {y}) is {:?}, not {expected:?}", pixel.0);
    }
    Ok(())
}
