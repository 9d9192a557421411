//! References with several memory spaces: the kernel's arrays, shared, local and constant memory.
//!
//! Kernels with shared arrays pass them to a device function, which the host calls with an array of its own.

use cuda_jit::device::{atomic_add, atomic_load, atomic_store, cas, grid, order, scope, shared, sync_threads};
use cuda_jit::device::{atomic_add_with, atomic_exch_with, thread_idx};
use cuda_jit::{DeviceType, device, kernel};
use half::f16;

use super::{differ, on_device, on_host};

const X: &[u32] = &[3, 1, 4, 1, 5, 9, 2, 6];
const TABLE: [u32; 4] = [70, 71, 72, 73];

#[device]
fn chosen(i: usize, x: &[u32], tile: &[u32]) -> u32 {
    let own = [10u32, 20, 30];
    let one = if x[i] > 2 { &x[i] } else { &tile[i] };
    let slice = if x[i] > 4 { &own[..] } else { &x[1..] };
    let row = match x[i] % 4 {
        0 => &x[..3],
        1 => &own[..],
        2 => &tile[..3],
        _ => &TABLE[1..],
    };
    let value = 7 + i as u32;
    let number = if i % 2 == 0 { &value } else { &x[0] };
    let constant = if i % 3 == 0 { &5 } else { &own[i % 3] };
    let copied: &[u32; 3] = if i > 3 { &own } else { x[..3].try_into().unwrap() };
    let sum = *one + slice[1] * 3 + slice.len() as u32 + row.iter().sum::<u32>() * 7 + *number * 11 + *constant * 13;
    sum + copied.iter().rev().fold(0, |sum, v| sum * 10 + v)
}

#[kernel]
fn of_branches(x: &[u32], out: &mut [u32]) {
    let (i, tile) = (grid::<1>(), shared!([u32; 8]));
    tile[i] = x[i] * 100;
    sync_threads();
    out[i] = chosen(i, x, tile);
}

#[test]
fn branches_leave_references_to_any_memory() {
    let mut out = on_device(&[0u32; 8]);
    of_branches::launch((1, 8), &on_device(X), &mut out).unwrap();
    let tile: Vec<u32> = X.iter().map(|v| v * 100).collect();
    let host: Vec<u32> = (0..8).map(|i| chosen(i, X, &tile)).collect();
    assert_eq!(on_host(&out), host);
}

#[kernel]
fn of_variables(x: &[u32], out: &mut [u32]) {
    let (i, own) = (grid::<1>(), [5u32, 50, 500]);
    let (mut last, mut before) = (&x[0], &x[1]);
    let (mut rest, mut best) = (x, None);
    for k in 0..6 {
        out[i] = out[i] * 3 + *before;
        before = last;
        last = if k % 2 == 0 { &own[k / 2] } else { &x[k] };
        if k == 2 + i % 2 {
            rest = &own[..2];
            best = Some(&own[1]);
        }
        if k == 4 && i > 4 {
            best = Some(&x[i]);
        }
        out[i] += *last + *before * 2 + rest.len() as u32 + best.map_or(0, |v| *v);
    }
    out[i] += rest[0] + *before;
    let mut words = [&own[0], &x[i], &TABLE[2]];
    words[0] = &x[2];
    let pair = (if i > 2 { &own[..] } else { x }, 1u32);
    for word in words {
        out[i] = out[i] * 5 + *word;
    }
    out[i] += pair.0[1] + pair.1;
}

#[test]
fn variables_are_given_references_to_any_memory() {
    differ!(of_variables, (1, 8), [X], vec![0u32; 8]);
}

/// Each iteration's reference is another one: none is a copy that a later iteration overwrites.
#[kernel]
fn of_earlier_turns(x: &[u32], out: &mut [u32]) {
    let (i, a, b) = (grid::<1>(), x[0] + 1, x[1] + 2);
    let (mut last, mut before) = (&x[2], &x[3]);
    for value in [&a, &b, &TABLE[0], &TABLE[3], &x[i]] {
        out[i] = out[i] * 7 + *before;
        before = last;
        last = value;
        out[i] = out[i] * 7 + *last * 3 + *before;
    }
    out[i] += *before;
}

#[test]
fn references_of_earlier_iterations_stay_valid() {
    differ!(of_earlier_turns, (1, 8), [X], vec![0u32; 8]);
}

#[derive(Clone, Copy, PartialEq, DeviceType)]
struct Cell {
    key: u16,
    at: [u32; 2],
}

#[device]
fn longest<'a>(a: &'a [u32], b: &'a [u32]) -> &'a [u32] {
    if a.len() > b.len() { a } else { b }
}

#[device]
fn raise(cell: &mut Cell, by: u32) -> u32 {
    cell.at[1] += by;
    cell.key += 1;
    cell.at[1]
}

/// Not inlined, since it is recursive.
#[device]
fn sum_to(slice: &[u32], n: usize) -> u32 {
    if n == 0 { 0 } else { slice[n - 1] + sum_to(slice, n - 1) }
}

#[device]
fn written(i: usize, x: &[u32], all: &mut [u32], out: &mut [u32]) {
    let mut own = [1u32, 2, 3, 4];
    let (mut first, mut second) = (Cell { key: 1, at: [1, 2] }, Cell { key: 2, at: [x[i], 4] });
    let cell = if x[i] > 3 { &mut first } else { &mut second };
    out[i] = raise(cell, x[i]) + cell.key as u32;
    let row = if i % 2 == 0 { &mut own[..] } else { &mut all[2 * i..2 * i + 2] };
    row[0] = x[i] * 5;
    row[1] = row[0] + 1;
    row.swap(0, 1);
    let sum: u32 = row.iter().take(2).sum();
    out[i] += sum + first.at[1] * 10 + second.at[1] * 100;
    let number = if i > 3 { &mut own[3] } else { &mut out[i] };
    *number += 1000;
    out[i] += own[3] + own[0] + longest(&own, x)[0] + longest(&own[..1], &x[..0])[0];
    let longer = longest(&x[..i % 4], &own[..2]);
    out[i] += sum_to(longer, longer.len()) * 3 + sum_to(x, 2);
}

#[kernel]
fn of_writes(x: &[u32], out: &mut [u32]) {
    written(grid::<1>(), x, shared!([u32; 16]), out);
}

#[test]
fn mutable_references_write_where_they_point() {
    let mut out = on_device(&[0u32; 8]);
    of_writes::launch((1, 8), &on_device(X), &mut out).unwrap();
    let mut host = [0; 8];
    (0..8).for_each(|i| written(i, X, &mut [0; 16], &mut host));
    assert_eq!(on_host(&out), host);
}

#[kernel]
fn of_chains(x: &[u32], out: &mut [u32]) {
    let (i, own) = (grid::<1>(), [4u32, 0, 2]);
    let mut pairs = own.iter().flat_map(|v| x.iter().map(move |w| *v * 10 + *w)).zip(1u32..);
    out[i] = pairs.next().map_or(9, |(v, n)| v + n) + pairs.map(|(v, n)| v * n).sum::<u32>();
    let rows = x[..2].iter().chain(&own).chain([7, 8].iter());
    out[i] += rows.enumerate().map(|(at, v)| at as u32 * *v).sum::<u32>();
    if let (Some(one), _) | (None, Some(one)) = (x.get(i + 4), own.first()) {
        out[i] += *one * 1000;
    }
    let largest = x[..i + 1].iter().chain(own.iter()).max_by_key(|v| **v).unwrap();
    out[i] += *largest * 7;
    out[i] += *x.get(i + 5).unwrap_or(&own[0]) + *x.iter().find(|v| **v > 5).unwrap_or(&6);
    let key = |slice: &[u32]| slice.first().copied().unwrap_or(3);
    out[i] += key(if i > 2 { &own } else { x });
}

#[test]
fn iterators_join_slices_of_different_memories() {
    differ!(of_chains, (1, 8), [X], vec![0u32; 8]);
}

/// Atomics on local, shared and global memory, and their results without contention.
#[kernel]
fn of_atomics(x: &[u32], h: &[f16], out: &mut [u32]) {
    let (i, bins, halves) = (thread_idx().x, shared!([u32; 4]), shared!([f16; 4]));
    if i < 4 {
        bins[i] = 0;
        halves[i] = h[0];
    }
    sync_threads();
    let (mut own, mut half) = ([1u32, 2], [h[0]; 3]);
    let bin = match i % 4 {
        0 => &mut own[1],
        1 => &mut bins[x[i] as usize % 4],
        _ => &mut out[8],
    };
    atomic_add(bin, x[i]);
    atomic_add_with(bin, 2, scope::Block, order::AcqRel);
    let word = if i % 2 == 0 { &mut own[0] } else { &mut out[9 + i] };
    let old = cas(word, 1, 40 + i as u32) + atomic_load(word);
    atomic_store(word, old + 1);
    let swapped = atomic_exch_with(word, old + 2, scope::System, order::SeqCst);
    let sum = if i % 2 == 0 { &mut half[1] } else { &mut halves[i % 4] };
    atomic_add(sum, h[i]);
    sync_threads();
    out[i] = own[0] + own[1] * 100 + old * 10_000 + swapped * 1_000_000;
    if i < 4 {
        out[17 + i] = bins[i];
        out[21 + i] = f32::from(halves[i]) as u32;
    }
    out[25 + i] = f32::from(half[1]) as u32;
}

#[test]
fn atomics_work_in_every_memory_space() {
    let halves: Vec<f16> = (0..8).map(|k| f16::from_f32(k as f32 + 1.0)).collect();
    let mut out = on_device(&[1u32; 33]);
    of_atomics::launch((1, 8), &on_device(X), &on_device(&halves), &mut out).unwrap();
    let mut host = [1u32; 33];
    (host[17..25]).copy_from_slice(&[0, 0, 0, 0, 1, 1, 1, 1]);
    for i in 0..8 {
        let (mut own, mut half) = ([1, 2], 1);
        let bin = match i % 4 {
            0 => &mut own[1],
            1 => &mut host[17 + X[i] as usize % 4],
            _ => &mut host[8],
        };
        *bin += X[i] + 2;
        let old = 1 + 40 + i as u32;
        *(if i % 2 == 0 { &mut own[0] } else { &mut host[9 + i] }) = old + 2;
        *(if i % 2 == 0 { &mut half } else { &mut host[21 + i % 4] }) += i as u32 + 1;
        host[i] = own[0] + own[1] * 100 + old * 10_000 + (old + 1) * 1_000_000;
        host[25 + i] = half;
    }
    assert_eq!(on_host(&out), host);
}
