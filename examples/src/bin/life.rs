//! Conway's game of life on a torus, a thread for each cell; each generation is a frame of the animation.

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::{Options, save_animation, steps};
use cuda_prelude::*;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};

#[kernel]
fn generation(now: ArrayView2<'_, u8>, mut next: ArrayViewMut2<'_, u8>) {
    let (column, row) = grid::<2>();
    let (rows, columns) = now.dim();
    if row >= rows || column >= columns {
        return;
    }
    let mut neighbours = 0;
    for down in [rows - 1, 0, 1] {
        for right in [columns - 1, 0, 1] {
            neighbours += now[[(row + down) % rows, (column + right) % columns]];
        }
    }
    neighbours -= now[[row, column]];
    next[[row, column]] = (neighbours == 3 || (neighbours == 2 && now[[row, column]] == 1)) as u8;
}

/// Gosper's gun, which fires a glider every 30 generations.
const GUN: [&str; 9] = [
    "........................#...........",
    "......................#.#...........",
    "............##......##............##",
    "...........#...#....##............##",
    "##........#.....#...##..............",
    "##........#...#.##....#.#...........",
    "..........#.....#.......#...........",
    "...........#...#....................",
    "............##......................",
];

pub(crate) fn run(options: &Options) -> Result<()> {
    let (side, generations) = options.pick((80, 120), (48, 60));
    let mut host = Array2::zeros((side, side));
    for (row, line) in GUN.iter().enumerate() {
        let cells = line.bytes().map(|cell| u8::from(cell == b'#'));
        cells.enumerate().for_each(|(column, cell)| host[[row + 4, column + 4]] = cell);
    }
    let gun = host.sum();
    let (mut now, mut next) = (to_device(&host)?, zeros::<u8, _>((side, side))?);
    let blocks = side.div_ceil(16);
    let mut frames = Vec::new();
    for _ in steps("life", generations) {
        let cells = now.copy_to_host()?;
        let larger = Array2::from_shape_fn((3 * side, 3 * side), |(row, column)| cells[[row / 3, column / 3]]);
        frames.push(larger.mapv(|cell| if cell == 1 { [250, 156, 76] } else { [8, 10, 36] }));
        generation::launch(((blocks, blocks), (16, 16)), &now, &mut next)?;
        std::mem::swap(&mut now, &mut next);
    }
    // After 30 generations the gun is in its initial state and has fired another glider of five cells.
    let cells = now.copy_to_host()?;
    ensure!(cells.slice(s![4..13, 4..40]) == host.slice(s![4..13, 4..40]), "the gun has changed");
    let expected = gun + 5 * (generations / 30) as u8;
    ensure!(cells.sum() == expected, "{} cells live, and not {expected}", cells.sum());
    save_animation(&options.file("life.gif"), &frames, 80)
}

fn main() -> Result<()> {
    run(&Options::parse())
}
