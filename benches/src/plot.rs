//! Pictures of figures: a bar for each compiler or program, in a group for each kernel, on a logarithmic axis. `cargo xtask bench
//! --plot` passes the lines that the groups have printed to this program's standard input; nothing is measured here.

use std::io;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The pictures.
const PICTURES: [Picture; 2] = [
    Picture {
        file: "compile-times.svg",
        caption: "Milliseconds to PTX: this project (blue), NVRTC (orange), numba-cuda (green)",
        group: "compile",
        bars: &[
            Bar { figure: "warm_ms", value: |ms| ms, color: OURS },
            Bar { figure: "nvrtc_ms", value: |ms| ms, color: ORANGE },
            Bar { figure: "numba_ms", value: |ms| ms, color: GREEN },
        ],
        from: None,
    },
    Picture {
        file: "software-device.svg",
        caption: "Time divided by the software device's, on one core: plain Rust (orange), pocl (green)",
        group: "sim",
        bars: &[
            // Our time divided by that of Rust.
            Bar { figure: "vs_rust", value: |ratio| 1.0 / ratio, color: ORANGE },
            Bar { figure: "vs_pocl", value: |ratio| ratio, color: GREEN },
        ],
        from: Some(1.0),
    },
];

const OURS: RGBColor = RGBColor(60, 100, 200);
const ORANGE: RGBColor = RGBColor(235, 150, 60);
const GREEN: RGBColor = RGBColor(90, 170, 110);

/// The width of a picture, and the height of a bar, in pixels.
const WIDTH: u32 = 720;
const BAR: usize = 14;

struct Picture {
    file: &'static str,
    caption: &'static str,
    /// The first word of the figures' names.
    group: &'static str,
    bars: &'static [Bar],
    /// The value at which bars begin; the axis' lower end if there is none.
    from: Option<f64>,
}

struct Bar {
    /// The last word of the figures' names.
    figure: &'static str,
    /// The bar's value, computed from the figure's.
    value: fn(f64) -> f64,
    color: RGBColor,
}

/// The bars of a kernel: its name, and a value for each bar that has a figure.
struct Row<'a> {
    kernel: &'a str,
    values: Vec<Option<f64>>,
}

/// Reads figures from standard input, and draws each picture that has some into the folder.
pub(crate) fn run(folder: &Path) -> Result<()> {
    let text = io::read_to_string(io::stdin())?;
    draw(&parse(&text)?, folder)
}

fn draw(figures: &[(&str, f64)], folder: &Path) -> Result<()> {
    let mut drawn = 0;
    for picture in &PICTURES {
        let rows = picture.rows(figures);
        if !rows.is_empty() {
            let file = folder.join(picture.file);
            picture.draw(&rows, &file).with_context(|| format!("cannot draw {}", file.display()))?;
            eprintln!("{}", file.display());
            drawn += 1;
        }
    }
    ensure!(drawn > 0, "no figure has a picture; run the group compile or sim, with their peers");
    Ok(())
}

/// The names and values of lines `NAME VALUE UNIT`.
fn parse(text: &str) -> Result<Vec<(&str, f64)>> {
    let figure = |line| {
        let mut words = str::split_whitespace(line);
        let (name, value) = words.next().zip(words.next())?;
        Some((name, value.parse().ok()?))
    };
    text.lines().map(|line| figure(line).with_context(|| format!("`{line}` is no figure `NAME VALUE UNIT`"))).collect()
}

impl Picture {
    /// The kernels that have a figure of a peer, in the order of the figures.
    fn rows<'a>(&self, figures: &[(&'a str, f64)]) -> Vec<Row<'a>> {
        let mut rows: Vec<Row<'_>> = Vec::new();
        for &(name, value) in figures {
            let mut words = name.split('.');
            let (Some(group), Some(kernel), Some(figure), None) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            let Some(bar) = self.bars.iter().position(|bar| group == self.group && bar.figure == figure) else {
                continue;
            };
            let at = rows.iter().position(|row| row.kernel == kernel).unwrap_or_else(|| {
                rows.push(Row { kernel, values: vec![None; self.bars.len()] });
                rows.len() - 1
            });
            rows[at].values[bar] = Some((self.bars[bar].value)(value));
        }
        // A mean is no kernel.
        let has_peer =
            |row: &Row<'_>| row.values.iter().zip(self.bars).any(|(value, bar)| value.is_some() && bar.color != OURS);
        rows.retain(|row| row.kernel != "geomean" && has_peer(row));
        rows
    }

    fn draw(&self, rows: &[Row<'_>], file: &Path) -> Result<()> {
        let height = (rows.len() * (self.bars.len() + 1) * BAR) as u32 + 90;
        let root = SVGBackend::new(file, (WIDTH, height)).into_drawing_area();
        root.fill(&WHITE)?;
        let values = || rows.iter().flat_map(|row| row.values.iter().flatten().copied()).chain(self.from);
        let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
        // Room for the numbers at the ends of bars.
        let (low, high) = (least / 1.5, most * 2.0);
        let mut chart = ChartBuilder::on(&root)
            .caption(self.caption, ("sans-serif", 16))
            .margin(16)
            .x_label_area_size(30)
            .y_label_area_size(110)
            .build_cartesian_2d((low..high).log_scale(), 0.0..rows.len() as f64)?;
        chart.configure_mesh().disable_y_mesh().x_labels(6).y_labels(0).max_light_lines(1).draw()?;
        let (step, from) = (1.0 / (self.bars.len() + 1) as f64, self.from.unwrap_or(low));
        for (row, top) in rows.iter().zip((1..=rows.len()).rev()) {
            let top = top as f64 - step / 2.0;
            let name = chart.backend_coord(&(low, top - step * self.bars.len() as f64 / 2.0));
            write(&root, row.kernel, (name.0 - 8, name.1), HPos::Right)?;
            for (at, (bar, value)) in self.bars.iter().zip(&row.values).enumerate() {
                let Some(value) = *value else { continue };
                let (upper, lower) = (top - step * at as f64, top - step * (at + 1) as f64);
                chart.draw_series([Rectangle::new([(from, upper), (value, lower)], bar.color.filled())])?;
                let end = chart.backend_coord(&(value.max(from), (upper + lower) / 2.0));
                write(&root, &number(value), (end.0 + 4, end.1), HPos::Left)?;
            }
        }
        root.present()?;
        Ok(())
    }
}

/// A number with two digits, or all digits before the point.
fn number(value: f64) -> String {
    let digits = if value < 1.0 { 2 } else { usize::from(value < 10.0) };
    format!("{value:.digits$}")
}

fn write(root: &DrawingArea<SVGBackend<'_>, Shift>, text: &str, at: (i32, i32), anchor: HPos) -> Result<()> {
    let style = ("sans-serif", 12).into_text_style(root).pos(Pos::new(anchor, VPos::Center));
    Ok(root.draw(&Text::new(text.to_owned(), at, style))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURES: &str = "compile.saxpy.first_ms 3.7 ms\ncompile.saxpy.warm_ms 0.5 ms\ncompile.saxpy.nvrtc_ms 20 ms\n\
                           compile.fft.warm_ms 12 ms\nsim.nested.ns_per_thread 13 ns\nsim.saxpy.vs_rust 2 ratio\n\
                           sim.geomean.vs_pocl 2.6 ratio\nsim.reduction.vs_pocl 0.97 ratio\n";

    #[test]
    fn each_kernel_with_a_peer_is_a_row() {
        let figures = parse(FIGURES).unwrap();
        let rows = |picture: &Picture| -> Vec<(String, Vec<Option<f64>>)> {
            picture.rows(&figures).into_iter().map(|row| (row.kernel.to_owned(), row.values)).collect()
        };
        assert_eq!(rows(&PICTURES[0]), [("saxpy".to_owned(), vec![Some(0.5), Some(20.0), None])]);
        let expected = [("saxpy".to_owned(), vec![Some(0.5), None]), ("reduction".to_owned(), vec![None, Some(0.97)])];
        assert_eq!(rows(&PICTURES[1]), expected);
    }

    #[test]
    fn bars_have_names_and_numbers() {
        let folder = tempfile::tempdir().unwrap();
        draw(&parse(FIGURES).unwrap(), folder.path()).unwrap();
        let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let compile = text("compile-times.svg");
        for word in ["saxpy", "0.50", "20", PICTURES[0].caption] {
            assert!(compile.lines().any(|line| line.trim() == word), "no `{word}` in\n{compile}");
        }
        assert!(!compile.contains("fft"), "{compile}");
        // The background is one rectangle, and the bars are one each.
        assert_eq!(text("software-device.svg").matches("<rect").count(), 3);
    }

    #[test]
    fn lines_that_are_no_figures_are_refused() {
        let error = |text| parse(text).unwrap_err().to_string();
        assert_eq!(error("a.b 1 ms\nwithout pocl\n"), "`without pocl` is no figure `NAME VALUE UNIT`");
        let error = draw(&[("driver.event.ns", 31.0)], Path::new("unused")).unwrap_err().to_string();
        assert_eq!(error, "no figure has a picture; run the group compile or sim, with their peers");
    }
}
