//! Range values: slicing by them, and their own methods.

use super::differ;
use cuda_jit::kernel;

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
