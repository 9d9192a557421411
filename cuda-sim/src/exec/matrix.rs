//! Matrix operations of a warp: gathers fragments from the frame and stores the results.
//!
//! Lanes that do not exist, in the last warp of a block, or that have finished contribute what the frame holds: PTX
//! leaves the result undefined then.

use super::product;
use super::warp::{Exchange, LANES, lanes};
use crate::ir::matrix::{MAX_WORDS, Matrix};

/// A word of every lane.
pub(super) type Word = [u32; LANES];

/// Performs an operation that all lanes of the warp beginning at thread `first` have reached.
pub(super) fn perform(exchange: &mut Exchange<'_>, matrix: Matrix, first: usize) {
    let (given, got) = matrix.words();
    let (mut from, mut to) = ([[0; LANES]; MAX_WORDS], [[0; LANES]; MAX_WORDS]);
    for (index, word) in from[..given].iter_mut().enumerate() {
        let lanes = exchange.fragment(index, first);
        word[..lanes.len()].copy_from_slice(lanes);
    }
    let (from, to) = (&from[..given], &mut to[..got]);
    match matrix {
        Matrix::FromRows(_, transposed) => from_rows(from, to, transposed),
        Matrix::ToRows(_, transposed) => to_rows(from, to, transposed),
        Matrix::Transpose => transpose(&from[0], &mut to[0]),
        Matrix::Product(product) => product::multiply(product, from, to),
    }
    for (index, word) in to.iter().enumerate() {
        let lanes = exchange.fragment(index, first);
        let count = lanes.len();
        lanes.copy_from_slice(&word[..count]);
    }
}

/// Packs two halves into a word.
fn word(low: u32, high: u32) -> u32 {
    (low & 0xffff) | high << 16
}

/// Returns one half of a word.
fn half(word: u32, which: usize) -> u32 {
    word >> (16 * which) & 0xffff
}

/// Distributes rows: lane `8 * i + r` passes in row `r` of matrix `i`.
fn from_rows(rows: &[Word], to: &mut [Word], transposed: bool) {
    for (matrix, to) in to.iter_mut().enumerate() {
        let element = |row: usize, column: usize| half(rows[column / 2][8 * matrix + row], column % 2);
        for lane in lanes(u32::MAX) {
            let (group, pair) = (lane / 4, 2 * (lane % 4));
            to[lane] = match transposed {
                false => word(element(group, pair), element(group, pair + 1)),
                true => word(element(pair, group), element(pair + 1, group)),
            };
        }
    }
}

/// The inverse of [`from_rows`]; lanes without a row get one that they do not store.
fn to_rows(from: &[Word], rows: &mut [Word], transposed: bool) {
    for (matrix, from) in from.iter().enumerate() {
        let element = |row: usize, column: usize| half(from[4 * row + column / 2], column % 2);
        for row in 0..8 {
            for (pair, words) in rows.iter_mut().enumerate() {
                let column = 2 * pair;
                words[8 * matrix + row] = match transposed {
                    false => word(element(row, column), element(row, column + 1)),
                    true => word(element(column, row), element(column + 1, row)),
                };
            }
        }
    }
}

fn transpose(from: &Word, to: &mut Word) {
    let element = |row: usize, column: usize| half(from[4 * row + column / 2], column % 2);
    for lane in lanes(u32::MAX) {
        let (group, pair) = (lane / 4, 2 * (lane % 4));
        to[lane] = word(element(pair, group), element(pair + 1, group));
    }
}
