//! `Index` and `IndexMut` of the user's own types, against the host. Their methods count, so that each place shows which of
//! the two was called, and in which order.

use std::ops::{Add, Index, IndexMut, Mul, Range, RangeFrom};

use super::differ;
use crate::device::{context, on_device};
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, Num, device, kernel};

/// A matrix in row-major order.
#[derive(Clone, Copy, DeviceType)]
#[operators(Index<(usize, usize)>, IndexMut<(usize, usize)>, Index<usize>, IndexMut<usize>)]
struct Matrix<T, const R: usize, const C: usize> {
    rows: [[T; C]; R],
}

#[device]
impl<T: Num, const R: usize, const C: usize> Index<(usize, usize)> for Matrix<T, R, C> {
    type Output = T;

    fn index(&self, (row, column): (usize, usize)) -> &T {
        &self.rows[row][column]
    }
}

#[device]
impl<T: Num, const R: usize, const C: usize> IndexMut<(usize, usize)> for Matrix<T, R, C> {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut Self::Output {
        &mut self.rows[row][column]
    }
}

#[device]
impl<T: Num, const R: usize, const C: usize> Index<usize> for Matrix<T, R, C> {
    type Output = [T];

    fn index(&self, row: usize) -> &Self::Output {
        &self.rows[row]
    }
}

#[device]
impl<T: Num, const R: usize, const C: usize> IndexMut<usize> for Matrix<T, R, C> {
    fn index_mut(&mut self, row: usize) -> &mut [T] {
        &mut self.rows[row]
    }
}

#[device]
impl<T: Num, const R: usize, const C: usize> Matrix<T, R, C> {
    fn times<const K: usize>(&self, other: &Matrix<T, C, K>) -> Matrix<T, R, K> {
        let mut product = Matrix { rows: [[T::ZERO; K]; R] };
        for i in 0..R {
            for j in 0..K {
                for k in 0..C {
                    product[(i, j)] = product[(i, j)] + self[(i, k)] * other[k][j];
                }
            }
        }
        product
    }
}

#[kernel(fma = false)]
fn multiplies(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let mut a = Matrix { rows: [[x[i]; 3]; 2] };
    let mut b = Matrix { rows: [[1.5f32; 2]; 3] };
    a[1][2] = x[i + 1];
    b[(0, 1)] = -x[i];
    b[2][i % 2] += 0.25;
    b[1].swap(0, 1);
    b[0][..1].fill(x[i] * 2.0);
    for value in &mut a[0] {
        *value += 1.0;
    }
    let product = a.times(&b);
    let row = &product[1];
    out[6 * i] = product[(0, 0)];
    out[6 * i + 1] = row[0] + row.iter().sum::<f32>();
    out[6 * i + 2] = product[0][1];
    out[6 * i + 3] = b[2][1..].len() as f32 + b[1][0];
    std::mem::swap(&mut a[(0, 0)], &mut b[(0, 0)]);
    out[6 * i + 4] = a[(0, 0)];
    out[6 * i + 5] = b[(0, 0)];
}

#[test]
fn matrices_are_indexed_by_pairs_and_by_rows() {
    let x: Vec<f32> = (0..9).map(|i| i as f32 * 0.7 - 2.0).collect();
    differ!(multiplies, (1, 8), [&x[..]], vec![0.0; 48]);
}

/// Numbers whose accesses are counted.
#[derive(Clone, Copy, DeviceType)]
#[operators(
    Index<usize>, IndexMut<usize>, Index<Range<usize>>, IndexMut<Range<usize>>, Index<RangeFrom<usize>>, Index<Place>,
    Index<[usize; 2]>
)]
struct Counted {
    numbers: [u32; 4],
    writes: u32,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(u8)]
enum Place {
    First,
    Last,
}

#[device]
impl Index<usize> for Counted {
    type Output = u32;

    fn index(&self, at: usize) -> &u32 {
        &self.numbers[at % 4]
    }
}

#[device]
impl IndexMut<usize> for Counted {
    fn index_mut(&mut self, at: usize) -> &mut u32 {
        self.writes += 1;
        &mut self.numbers[(at + 1) % 4]
    }
}

#[device]
impl Index<Range<usize>> for Counted {
    type Output = [u32];

    fn index(&self, range: Range<usize>) -> &[u32] {
        &self.numbers[range]
    }
}

#[device]
impl IndexMut<Range<usize>> for Counted {
    fn index_mut(&mut self, range: Range<usize>) -> &mut [u32] {
        self.writes += 100;
        &mut self.numbers[range]
    }
}

#[device]
impl Index<RangeFrom<usize>> for Counted {
    type Output = [u32];

    fn index(&self, range: RangeFrom<usize>) -> &[u32] {
        &self.numbers[range.start..]
    }
}

#[device]
impl Index<Place> for Counted {
    type Output = u32;

    fn index(&self, place: Place) -> &u32 {
        match place {
            Place::First => &self.numbers[0],
            Place::Last => &self.numbers[3],
        }
    }
}

#[device]
impl Index<[usize; 2]> for Counted {
    type Output = u32;

    fn index(&self, [high, low]: [usize; 2]) -> &u32 {
        &self.numbers[2 * high + low]
    }
}

#[device]
fn next(at: &mut usize) -> usize {
    *at += 1;
    *at
}

#[kernel]
fn counts(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut c = Counted { numbers: [x[i], 20, 30, 40], writes: 0 };
    let mut at = i;
    c[next(&mut at)] = next(&mut at) as u32;
    c[next(&mut at)] += c[next(&mut at)];
    c[3] ^= c[c.numbers.len()];
    c[1..3].reverse();
    c[0..2][1] *= 3;
    {
        let third = &mut c[2];
        *third += 5;
    }
    for number in &mut c[0..1] {
        *number = number.saturating_sub(1);
    }
    let range = 1..4;
    let s = c[range].iter().sum::<u32>() + c[2..][0] + c[Place::First] * 7 + c[Place::Last] + c[[1, 0]] + c[[0, i % 2]];
    match c[0] {
        ref mut zeroth if *zeroth > 3 => *zeroth = 3,
        _ => c.writes += 1000,
    }
    if let 20.. = c[1] {
        c.writes += 10_000;
    }
    out[8 * i] = s;
    out[8 * i + 1] = c.writes;
    out[8 * i + 2] = at as u32;
    for k in 0..4 {
        out[8 * i + 3 + k] = c.numbers[k];
    }
    out[8 * i + 7] = c[k_of(&c)];
}

#[device]
fn k_of(c: &Counted) -> usize {
    c[0] as usize + c[Place::Last] as usize
}

#[test]
fn places_that_are_written_use_index_mut() {
    differ!(counts, (1, 8), [&[1, 5, 9, 2, 50, 60, 7, 8][..]], vec![0u32; 64]);
}

/// A grid behind a reference.
#[derive(DeviceType)]
#[operators(Index<[usize; 2]>, IndexMut<[usize; 2]>)]
struct Grid<'a> {
    cells: &'a mut [i32],
    width: usize,
}

#[device]
impl Index<[usize; 2]> for Grid<'_> {
    type Output = i32;

    fn index(&self, [y, x]: [usize; 2]) -> &i32 {
        &self.cells[y * self.width + x]
    }
}

#[device]
impl IndexMut<[usize; 2]> for Grid<'_> {
    fn index_mut(&mut self, [y, x]: [usize; 2]) -> &mut i32 {
        &mut self.cells[y * self.width + x]
    }
}

#[device]
fn fill(grid: &mut Grid<'_>, height: usize) {
    for y in 0..height {
        for x in 0..grid.width {
            grid[[y, x]] += (y * 10 + x) as i32;
            if x > 0 {
                grid[[y, x]] -= grid[[y, x - 1]];
            }
        }
    }
}

#[kernel]
fn fills(width: usize, out: &mut [i32]) {
    let height = out.len() / width;
    let mut grid = Grid { cells: out, width };
    fill(&mut grid, height);
    grid[[0, 0]] = grid[[height - 1, width - 1]];
}

#[test]
fn grids_behind_references_are_indexed() {
    differ!(fills, (1, 1), [4usize], vec![2i32; 12]);
}

/// A ring of any values behind a reference.
#[derive(DeviceType)]
#[operators(Index<usize>, IndexMut<usize>)]
struct Ring<'a, T> {
    items: &'a mut [T],
    start: usize,
}

#[device]
impl<'a, T> Index<usize> for Ring<'a, T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        &self.items[(self.start + at) % self.items.len()]
    }
}

#[device]
impl<T: Copy> IndexMut<usize> for Ring<'_, T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        let at = (self.start + at) % self.items.len();
        self.items.get_mut(at).unwrap()
    }
}

#[kernel]
fn rotates(start: usize, out: &mut [u32]) {
    let mut tile = [3u32, 1, 4, 1, 5];
    let mut local = Ring { items: &mut tile, start };
    for i in 0..5 {
        local[i] = local[i + 1] * 2 + 1;
    }
    let mut all = Ring { items: out, start: start + 1 };
    for i in 0..5 {
        all[i] += local[i];
        if all[i] % 2 == 0 {
            all[i + 2] ^= 3;
        }
    }
}

#[test]
fn rings_of_any_values_are_indexed() {
    differ!(rotates, (1, 1), [3usize], vec![9u32, 8, 7, 6, 5]);
}

/// A vector whose components are fields.
#[derive(Clone, Copy, DeviceType)]
#[operators(Index<usize>, IndexMut<usize>)]
struct Vector {
    x: f32,
    y: f32,
    z: f32,
}

#[device]
impl Index<usize> for Vector {
    type Output = f32;

    fn index(&self, axis: usize) -> &f32 {
        match axis {
            0 => &self.x,
            1 => &self.y,
            2 => &self.z,
            _ => panic!("a vector has no axis {axis}"),
        }
    }
}

#[device]
impl IndexMut<usize> for Vector {
    fn index_mut(&mut self, axis: usize) -> &mut f32 {
        match axis {
            0 => &mut self.x,
            1 => &mut self.y,
            2 => &mut self.z,
            _ => panic!("a vector has no axis {axis}"),
        }
    }
}

#[kernel(fma = false)]
fn writes_fields(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let mut rows = [Vector { x: x[i], y: 2.0, z: 3.0 }; 2];
    rows[i % 2][i % 3] += 1.5;
    rows[1][1] *= x[i];
    let [first, second] = &mut rows;
    std::mem::swap(&mut first[0], &mut second[2]);
    for axis in 0..3 {
        out[3 * i + axis] = rows[0][axis] - rows[1][2 - axis];
    }
}

#[test]
fn fields_are_written_by_number() {
    differ!(writes_fields, (1, 6), [&[1.0, 2.5, -3.0, 4.0, 0.5, 7.0][..]], vec![0.0f32; 18]);
}

#[kernel]
fn out_of_bounds(x: &[f32], out: &mut [f32]) {
    let m = Matrix { rows: [[x[0]; 2]; 2] };
    out[0] = m[(x.len(), 0)];
}

#[test]
fn panics_are_those_of_the_method() {
    if !super::in_child_process("language::indexing::panics_are_those_of_the_method") {
        return;
    }
    out_of_bounds::launch((1, 1), &on_device(&[1.0, 2.0, 3.0]), &mut on_device(&[0.0])).unwrap();
    let error = cuda_jit::Error::from(context().synchronize().unwrap_err()).to_string();
    assert!(error.contains("index out of bounds: the len is 2 but the index is 3"), "{error}");
}

/// Its `Index` has no device code.
#[derive(Clone, Copy, DeviceType)]
struct Unlisted(u32);

impl Index<u32> for Unlisted {
    type Output = u32;

    fn index(&self, _: u32) -> &u32 {
        &self.0
    }
}

#[kernel]
fn indexes_unlisted(out: &mut [u32]) {
    out[0] = Unlisted(3)[1u32];
}

/// Its `IndexMut` has no device code.
#[derive(Clone, Copy, DeviceType)]
#[operators(Index<u8>)]
struct ReadOnly(u32);

#[device]
impl Index<u8> for ReadOnly {
    type Output = u32;

    fn index(&self, _: u8) -> &u32 {
        &self.0
    }
}

impl IndexMut<u8> for ReadOnly {
    fn index_mut(&mut self, _: u8) -> &mut u32 {
        &mut self.0
    }
}

#[kernel]
fn writes_read_only(out: &mut [u32]) {
    let mut value = ReadOnly(out[0]);
    value[0] = value[1] + 1;
    out[0] = value[0];
}

#[test]
fn an_index_that_is_not_listed_is_explained() {
    let _selected = context().select();
    let error = indexes_unlisted::compile().unwrap_err().to_string();
    let hint = "`Unlisted` has no device operator `Index<u32>`; write `#[device] impl Index<u32> for Unlisted` and list it at \
                the struct: `#[operators(Index<u32>)]`";
    assert!(error.contains(hint), "{error}");
    let error = writes_read_only::compile().unwrap_err().to_string();
    assert!(error.contains("`#[device] impl IndexMut<u8> for ReadOnly`"), "{error}");
}

#[derive(Clone, Copy, DeviceType)]
#[operators(Add, Mul<T>, Index<usize>, Index<Range<usize>>)]
struct Row<T: Num, const N: usize>([T; N]);

#[device]
impl<T: Num, const N: usize> Add for Row<T, N> {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own += other;
        }
        self
    }
}

#[device]
impl<T: Num, const N: usize> Mul<T> for Row<T, N> {
    type Output = Self;

    fn mul(self, by: T) -> Self {
        Row(self.0.map(|value| value * by))
    }
}

#[device]
impl<T: Num, const N: usize> Index<usize> for Row<T, N> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        &self.0[at]
    }
}

#[device]
impl<T: Num, const N: usize> Index<Range<usize>> for Row<T, N> {
    type Output = [T];

    fn index(&self, range: Range<usize>) -> &[T] {
        &self.0[range]
    }
}

#[device]
fn weighted<T: Num, const N: usize>(row: Row<T, N>, at: usize) -> T {
    (row * row.0[0] + row)[at]
}

/// Indexes what operators return.
#[kernel]
fn of_temporaries(x: &[i64], out: &mut [i64]) {
    let row = Row([x[0], x[1], x[2]]);
    out[0] = (row * 3 + Row([1; 3]))[1];
    out[1] = (row + row * 2)[out[0] as usize % 3] + (row + row)[2];
    out[2] = (row * 5 + row)[1..3].iter().sum();
    out[3] = (row + row)[0..2].len() as i64;
    out[4] = weighted(row, 2) + weighted(Row([x[0] as f32, 0.5]), 0) as i64;
    out[5] = [row, row * 2][1][2] + (row, row * 4).1[0];
}

#[test]
fn what_an_operator_returns_is_indexed() {
    differ!(of_temporaries, (1, 1), [&[4_i64, 9, -2][..]], vec![0_i64; 6]);
}

/// Its products with a float and with an integer have different types.
#[derive(Clone, Copy, DeviceType)]
#[operators(Mul<f64>, Mul<i32>)]
struct Scaled(i64);

#[device]
impl Mul<f64> for Scaled {
    type Output = [f64; 2];

    fn mul(self, by: f64) -> [f64; 2] {
        [by, self.0 as f64]
    }
}

#[device]
impl Mul<i32> for Scaled {
    type Output = [i64; 3];

    fn mul(self, by: i32) -> [i64; 3] {
        [by.into(), self.0, 7]
    }
}

#[kernel]
fn of_two_products(n: i64, out: &mut [i64]) {
    let scaled = Scaled(n);
    out[0] = (scaled * 3)[2] + (scaled * -4)[0];
    out[1] = (scaled * 3.5)[1] as i64 + (scaled * (1 + 2))[0];
}

#[test]
fn a_literal_chooses_the_operator_by_its_kind() {
    differ!(of_two_products, (1, 1), [5_i64], vec![0_i64; 2]);
}
