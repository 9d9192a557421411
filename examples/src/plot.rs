//! Plots of numbers.

use std::path::Path;

use anyhow::{Context as _, Result};
use plotters::prelude::*;

use crate::picture::{Color, create_parent};

/// Draws lines through values, over their indices, as an SVG file, and prints the file's name. The caption tells what the colors are.
///
/// # Errors
///
/// The folder or the file cannot be written, or there is no value.
///
/// # Examples
///
/// ```
/// # fn main() -> anyhow::Result<()> {
/// let file = std::env::temp_dir().join("squares.svg");
/// cuda_examples::plot(&file, "Squares", "number", &[([60, 100, 200], &[0.0, 1.0, 4.0, 9.0])])?;
/// assert!(std::fs::read_to_string(&file)?.contains("Squares"));
/// # Ok(())
/// # }
/// ```
pub fn plot(file: &Path, caption: &str, indices: &str, lines: &[(Color, &[f32])]) -> Result<()> {
    create_parent(file)?;
    let values = || lines.iter().flat_map(|(_, values)| values.iter().copied());
    let (least, most) = (values().reduce(f32::min), values().reduce(f32::max));
    let (least, most) = least.zip(most).context("a plot needs values")?;
    let longest = lines.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let root = SVGBackend::new(file, (640, 320)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(caption, ("sans-serif", 16))
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(40)
        .build_cartesian_2d(0..longest - 1, least.min(0.0)..most + 0.05 * (most - least))?;
    chart.configure_mesh().max_light_lines(1).x_desc(indices).draw()?;
    for ([red, green, blue], values) in lines {
        chart.draw_series(LineSeries::new(values.iter().copied().enumerate(), RGBColor(*red, *green, *blue)))?;
    }
    root.present()?;
    println!("{}", file.display());
    Ok(())
}
