//! Range values: slicing by them, and their own methods.

use super::differ;
use cuda_jit::{device, kernel};
use std::ops::RangeInclusive;

#[kernel]
fn parts(x: &[u32], a: usize, b: usize, out: &mut [u32]) {
    let told = |part: Option<&[u32]>| part.map_or(99, |part| part.iter().sum::<u32>() * 10 + part.len() as u32);
    out[0] = told(x.get(a..b));
    out[1] = told(x.get(a..));
    out[2] = told(x.get(..b));
    out[3] = told(x.get(a..=b));
    out[4] = told(x.get(..=b));
    out[5] = told(x.get(..));
    out[6] = x.get(a).copied().unwrap_or(98);
    let array = [x[0], 7, 8];
    if let Some([first, second]) = array.get(1..3) {
        out[7] = first * second;
    }
    let range = ..a;
    out[8] = told(x.get(range)).wrapping_add(range.end as u32);
}

#[kernel]
fn written(a: usize, b: usize, out: &mut [u32]) {
    if let Some(part) = out.get_mut(a..b) {
        for value in part {
            *value += 1;
        }
    }
    if let Some(part) = out.get_mut(..=b) {
        part.reverse();
    }
    let mut array = [1, 2, 3];
    array.get_mut(1..).unwrap()[1] = 9;
    if let Some(value) = array.get_mut(a) {
        *value += 20;
    }
    out[0] += array[0] + array[1] * 10 + array[2] * 100;
}

#[test]
fn slices_have_parts_by_ranges() {
    let last = usize::MAX;
    for (a, b) in [(0, 2), (1, 3), (2, 1), (1, 0), (1, 4), (3, 3), (4, 4), (0, 3), (last, last), (0, last), (last, 0)] {
        differ!(parts, (1, 1), [&[5u32, 6, 7][..], a, b], vec![0u32; 9]);
        differ!(written, (1, 1), [a, b], vec![1u32, 2, 3, 4]);
    }
}

#[kernel]
fn contained(x: i32, v: f32, out: &mut [u32]) {
    out[0] = (-2..3).contains(&x) as u32 + (-2..=3).contains(&x) as u32 * 2 + (3..=-2).contains(&x) as u32 * 4;
    out[1] = (3..).contains(&x) as u32 + (..3).contains(&x) as u32 * 2 + (..=3).contains(&x) as u32 * 4;
    out[2] = (0.5..1.5).contains(&v) as u32 + (0.5..=1.5).contains(&v) as u32 * 2 + (1.5..).contains(&v) as u32 * 4;
    out[3] = (x..3).is_empty() as u32 + (x..=3).is_empty() as u32 * 2 + ('a'..='f').contains(&'c') as u32 * 4;
    let range = x..=7;
    out[4] = (*range.start() + *range.end()) as u32;
    let mut rest = 2..=4;
    rest.next();
    out[5] = rest.contains(&2) as u32 + rest.contains(&4) as u32 * 2;
}

#[test]
fn ranges_contain_what_they_do_on_the_host() {
    for x in -4..6 {
        for v in [0.5, 1.5, 2.0, f32::NAN] {
            differ!(contained, (1, 1), [x, v], vec![0u32; 6]);
        }
    }
}

#[kernel]
fn cut(x: &[u32], a: usize, b: usize, out: &mut [u32]) {
    let (range, same, from, to, all) = (a..b, a..b, a.., ..b, ..);
    out[0] = x[same].iter().sum::<u32>() + x[from].len() as u32 * 10 + x[to][0] * 100;
    out[1] = (&x[all]).len() as u32;
    let part: &mut [u32] = &mut out[range];
    part[0] += 7;
    let (through, until) = (a..=b, ..=b);
    let array = [1u32, 2, 3, 4, 5];
    out[3] += array[through].len() as u32 * 10 + array[until].len() as u32;
}

#[test]
fn values_of_ranges_index() {
    for (a, b) in [(0, 1), (1, 3), (0, 3), (2, 3)] {
        differ!(cut, (1, 1), [&[5u32, 6, 7][..], a, b], vec![1u32, 2, 3, 4]);
    }
}

#[device]
fn clamped(range: RangeInclusive<i32>, x: i32) -> i32 {
    x.clamp(*range.start(), *range.end())
}

#[device]
fn outer(ranges: [RangeInclusive<u32>; 2]) -> RangeInclusive<u32> {
    let [left, right] = ranges;
    *left.start().min(right.start())..=*left.end().max(right.end())
}

#[device]
fn taken(range: &mut RangeInclusive<u32>, n: usize) -> u32 {
    range.by_ref().take(n).sum()
}

/// Ranges with ends, whose type is written: parameters, results, fields of tuples and `let`s.
#[kernel]
fn with_ends(x: u32, out: &mut [u32]) {
    let range: RangeInclusive<u32> = x..=x + 6;
    out[0] = (100 + 10 * clamped(-2..=x as i32, 9) + clamped(-2..=3, -(x as i32))) as u32;
    let all: (RangeInclusive<u32>, u8) = (outer([range.clone(), 1..=4]), 7);
    out[1] = all.0.start() * 100 + all.0.end() + all.1 as u32;
    let mut rest = all.0.clone();
    out[2] = taken(&mut rest, 3) * 1000 + rest.clone().count() as u32;
    out[3] = taken(&mut rest, 99) + rest.is_empty() as u32 * 500 + all.0.contains(&x) as u32 * 1000;
    out[4] = rest.next_back().is_none() as u32 + range.clone().nth(2).unwrap_or(50) * 2;
    let window: RangeInclusive<usize> = 1..=2;
    out[5] = out[window.clone()].iter().sum::<u32>() + out.get(window).map_or(0, |part| part[1]);
    let nothing: RangeInclusive<u32> = 5..=4;
    out[6] = nothing.is_empty() as u32 + nothing.count() as u32 * 2;
    for v in range.rev().step_by(2) {
        out[7] = out[7] * 10 + v;
    }
}

#[test]
fn the_type_of_a_range_with_its_end_is_the_standard_librarys() {
    differ!(with_ends, (1, 1), [3_u32], vec![0_u32; 8]);
}
