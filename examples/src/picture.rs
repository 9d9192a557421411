//! Pictures as files.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use ndarray::{Array2, ArrayView2};

/// A color as red, green and blue.
pub type Color = [u8; 3];

/// Colors of 0, 1/4, 1/2, 3/4 and 1.
const PALETTE: [Color; 5] = [[8, 10, 36], [84, 24, 124], [206, 56, 96], [250, 156, 76], [255, 250, 214]];

/// The color of a number from 0 to 1: from dark blue over purple, red and orange to a light yellow. Other numbers are clamped.
///
/// # Examples
///
/// ```
/// assert_eq!(cuda_examples::palette(0.25), [84, 24, 124]);
/// assert_eq!(cuda_examples::palette(2.0), cuda_examples::palette(1.0));
/// ```
pub fn palette(value: f32) -> Color {
    let place = value.clamp(0.0, 1.0) * 4.0;
    let (below, share) = ((place as usize).min(3), place - (place as usize).min(3) as f32);
    std::array::from_fn(|channel| {
        let [low, high] = [below, below + 1].map(|at| f32::from(PALETTE[at][channel]));
        (low + share * (high - low)).round() as u8
    })
}

/// A landscape at dusk in few and dark colors, which the examples filter.
///
/// # Examples
///
/// ```
/// assert_eq!(cuda_examples::landscape(20, 30).dim(), (20, 30));
/// ```
pub fn landscape(rows: usize, columns: usize) -> Array2<Color> {
    Array2::from_shape_fn((rows, columns), |(row, column)| {
        let (x, y) = (column as f32 / columns as f32, row as f32 / rows as f32);
        // Hills in front of each other, and a sun between sky and hills.
        let ridges = [(0.55, 9.0, 0.07), (0.66, 5.0, 0.08), (0.8, 7.0, 0.05)];
        let hill =
            ridges.iter().rposition(|(height, waves, size)| y > height + size * (waves * x + 20.0 * height).sin());
        let sun = ((x - 0.65) * columns as f32 / rows as f32).hypot(y - 0.42) < 0.12;
        match (hill, sun) {
            (Some(hill), _) => [52 - 12 * hill as u8, 62 - 10 * hill as u8, 74 - 22 * hill as u8],
            (None, true) => [142, 112, 74],
            (None, false) => [60, 70, 100].map(|top| (top as f32 + 40.0 * y) as u8),
        }
    })
}

/// Writes pixels, row by row from the top, as a PNG file, and prints the file's name.
///
/// # Errors
///
/// The folder or the file cannot be written.
///
/// # Examples
///
/// ```
/// # fn main() -> anyhow::Result<()> {
/// let file = std::env::temp_dir().join("red.png");
/// cuda_examples::save(&file, ndarray::Array2::from_elem((2, 3), [255, 0, 0]).view())?;
/// assert_eq!(image::open(&file)?.to_rgb8().dimensions(), (3, 2));
/// # Ok(())
/// # }
/// ```
pub fn save(file: &Path, pixels: ArrayView2<'_, Color>) -> Result<()> {
    create_parent(file)?;
    let context = || format!("cannot write {}", file.display());
    let writer = BufWriter::new(File::create(file).with_context(context)?);
    let mut encoder = png::Encoder::new(writer, pixels.ncols() as u32, pixels.nrows() as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::Adaptive);
    let mut writer = encoder.write_header().with_context(context)?;
    let bytes: Vec<u8> = pixels.iter().flatten().copied().collect();
    writer.write_image_data(&bytes).with_context(context)?;
    writer.finish().with_context(context)?;
    println!("{}", file.display());
    Ok(())
}

/// Writes frames as a repeating animated GIF file, with the duration of each frame in milliseconds, and prints the file's name.
///
/// # Errors
///
/// The folder or the file cannot be written, there is no frame, or the frames differ in size.
///
/// # Examples
///
/// ```
/// # fn main() -> anyhow::Result<()> {
/// let frames = [[0, 0, 0], [255, 255, 255]].map(|color| ndarray::Array2::from_elem((4, 4), color));
/// let file = std::env::temp_dir().join("blink.gif");
/// cuda_examples::save_animation(&file, &frames, 500)?;
/// assert!(file.exists());
/// # Ok(())
/// # }
/// ```
pub fn save_animation(file: &Path, frames: &[Array2<Color>], milliseconds: u32) -> Result<()> {
    create_parent(file)?;
    let context = || format!("cannot write {}", file.display());
    let (rows, columns) = frames.first().context("an animation has a frame")?.dim();
    let (width, height) = (u16::try_from(columns)?, u16::try_from(rows)?);
    let writer = BufWriter::new(File::create(file).with_context(context)?);
    let mut encoder = gif::Encoder::new(writer, width, height, &[]).with_context(context)?;
    encoder.set_repeat(gif::Repeat::Infinite).with_context(context)?;
    for frame in frames {
        ensure!(frame.dim() == (rows, columns), "the frames of {} differ in size", file.display());
        let mut bytes: Vec<u8> = frame.iter().flat_map(|&[red, green, blue]| [red, green, blue, 255]).collect();
        // Of speeds from 1 to 30, which choose the colors of a frame better or faster.
        let mut frame = gif::Frame::from_rgba_speed(width, height, &mut bytes, 10);
        frame.delay = u16::try_from(milliseconds / 10)?;
        frame.dispose = gif::DisposalMethod::Background;
        encoder.write_frame(&frame).with_context(context)?;
    }
    println!("{}", file.display());
    Ok(())
}

pub(crate) fn create_parent(file: &Path) -> Result<()> {
    let parent = file.parent().context("a file has a folder")?;
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))
}
