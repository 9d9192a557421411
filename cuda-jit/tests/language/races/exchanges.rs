//! Exchanges of two elements by one of two threads, as in sorting networks.

use super::{analysed, assert_proved, assert_refused};
use cuda_jit::device::{block_idx, grid, sync_threads, thread_idx};
use cuda_jit::{kernel, shared};

#[kernel]
fn by_exclusive_or(j: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let p = i ^ j;
    if p > i {
        let (a, b) = (out[i], out[p]);
        if a > b {
            out[i] = b;
            out[p] = a;
        }
    }
}

#[kernel]
fn in_two_directions(j: u32, k: u32, out: &mut [u32]) {
    let i = grid::<1>() as u32;
    let p = i ^ j;
    if p > i && (p as usize) < out.len() {
        let (i, p) = (i as usize, p as usize);
        let up = i & k as usize == 0;
        if (out[i] > out[p]) == up {
            out.swap(i, p);
        }
    }
}

#[kernel]
fn by_the_upper_one(j: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let p = i ^ j;
    if p < i {
        out[i] = 1;
        out[p] = 2;
    }
}

#[kernel]
fn bitonic_sort(out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    s[t] = 1;
    sync_threads();
    let mut k = 2;
    while k <= 64 {
        let mut j = k / 2;
        while j > 0 {
            let p = t ^ j;
            if p > t {
                let (a, b) = (s[t], s[p]);
                if (a > b) == (t & k == 0) {
                    s[t] = b;
                    s[p] = a;
                }
            }
            sync_threads();
            j /= 2;
        }
        k *= 2;
    }
    out[grid::<1>()] = s[t];
}

#[kernel]
fn pairs_from_an_offset(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let a = 2 * i + k % 2;
    if a + 1 < out.len() && out[a] > out[a + 1] {
        out.swap(a, a + 1);
    }
}

#[kernel]
fn pairs_by_parity(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    if i % 2 == k % 2 && i + 1 < out.len() && out[i] > out[i + 1] {
        out.swap(i, i + 1);
    }
}

#[kernel]
fn odd_even_sort(n: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    s[t] = 1;
    sync_threads();
    for k in 0..n {
        if t % 2 == k % 2 && t + 1 < 64 {
            if s[t] > s[t + 1] {
                s.swap(t, t + 1);
            }
        }
        sync_threads();
    }
    out[grid::<1>()] = s[t];
}

#[kernel]
fn to_the_partner(out: &mut [u32]) {
    let i = grid::<1>();
    out[i ^ 1] = 1;
}

#[kernel]
fn by_both(j: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let p = i ^ j;
    let (a, b) = (out[i], out[p]);
    if a > b {
        out[i] = b;
        out[p] = a;
    }
}

#[kernel]
fn by_distance(j: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let p = i ^ j;
    if p >= i + 2 || i > p + 2 {
        out[p] = 1;
        out[i] = 2;
    }
}

#[kernel]
fn partner_by_data(x: &[usize], out: &mut [u32]) {
    let i = grid::<1>();
    let p = i ^ x[i];
    if p > i {
        out[p] = 1;
        out[i] = 2;
    }
}

#[kernel]
fn by_or(j: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let p = i | j;
    if p > i {
        out[p] = 1;
        out[i] = 2;
    }
}

#[kernel]
fn by_sum(j: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let p = i + j;
    if p > i {
        out[p] = 1;
        out[i] = 2;
    }
}

#[kernel]
fn pairs_two_apart(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    if i % 2 == k % 2 && i + 2 < out.len() && out[i] > out[i + 2] {
        out.swap(i, i + 2);
    }
}

#[kernel]
fn pairs_of_all(_k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    if i + 1 < out.len() && out[i] > out[i + 1] {
        out.swap(i, i + 1);
    }
}

#[kernel]
fn two_exchanges(out: &mut [u32]) {
    let i = grid::<1>();
    for j in [1, 2] {
        let p = i ^ j;
        if p > i {
            out[i] += 1;
            out[p] += 1;
        }
    }
}

#[kernel]
fn partner_of_the_block(out: &mut [u32]) {
    let i = grid::<1>();
    let p = i ^ block_idx().x;
    if p > i {
        out[i] = 1;
        out[p] = 2;
    }
}

#[kernel]
fn guard_of_eight_bits(j: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let p = i ^ j;
    if (p as u8) > (i as u8) {
        out[i] = 1;
        out[p] = 2;
    }
}

#[kernel]
fn next_of_the_partner(j: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let p = i ^ j;
    if p > i {
        out[i] = 1;
        out[p + 1] = 2;
    }
}

#[kernel]
fn another_guard(j: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let p = i ^ j;
    if p > j {
        out[i] = 1;
        out[p] = 2;
    }
}

#[kernel]
fn half_the_position(j: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let p = (i / 2) ^ j;
    if p > i / 2 {
        out[i / 2] = 1;
        out[p] = 2;
    }
}

#[kernel]
fn partner_is_read(j: usize, out: &mut [u32], q: &mut [u32]) {
    let i = grid::<1>();
    let p = i ^ j;
    if p > i {
        out[i] = 1;
        out[p] = 2;
    }
    q[i] = out[i];
}

#[kernel]
fn exchanges_without_barrier(out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    s[t] = 1;
    sync_threads();
    let mut j = 32;
    while j > 0 {
        let p = t ^ j;
        if p > t {
            s[t] += 1;
            s[p] += 1;
        }
        j /= 2;
    }
    sync_threads();
    out[grid::<1>()] = s[t];
}

#[kernel]
fn exchange_without_barrier(_x: &[u32], out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    s[t] = 1;
    sync_threads();
    let mut j = 32;
    while j > 0 {
        let p = t ^ j;
        if p > t {
            s[t] += 1;
            s[p] += 1;
        }
        if j != 8 {
            sync_threads();
        }
        j /= 2;
    }
    sync_threads();
    out[grid::<1>()] = s[t];
}

#[kernel]
fn barrier_in_divergent_code(out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    s[t] = 1;
    sync_threads();
    let mut j = 32;
    while j > 0 {
        j /= 2;
        let p = t ^ j;
        if p > t {
            s[t] += 1;
            s[p] += 1;
        }
        if p >= 4 {
            sync_threads();
        }
    }
    out[grid::<1>()] = s[t];
}

#[kernel]
fn bitonic_sort_without_barrier(out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    s[t] = 1;
    sync_threads();
    let mut k = 2;
    while k <= 64 {
        let mut j = k / 2;
        while j > 0 {
            let p = t ^ j;
            if p > t {
                let (a, b) = (s[t], s[p]);
                if (a > b) == (t & k == 0) {
                    s[t] = b;
                    s[p] = a;
                }
            }
            j /= 2;
        }
        sync_threads();
        k *= 2;
    }
    out[grid::<1>()] = s[t];
}

#[kernel]
fn odd_even_sort_without_barrier(n: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    s[t] = 1;
    sync_threads();
    for k in 0..n {
        if t % 2 == k % 2 && t + 1 < 64 {
            if s[t] > s[t + 1] {
                s.swap(t, t + 1);
            }
        }
    }
    out[grid::<1>()] = s[t];
}

#[kernel]
fn partner_is_written(out: &mut [u32]) {
    let i = grid::<1>();
    let v = out[i ^ 1];
    out[i] = v;
}

#[test]
fn they_are_proved() {
    assert_proved(&analysed![
        by_exclusive_or,
        in_two_directions,
        by_the_upper_one,
        bitonic_sort,
        pairs_from_an_offset,
        pairs_by_parity,
        odd_even_sort,
        to_the_partner,
    ]);
}

#[test]
fn none_with_a_race_is_proved() {
    assert_refused(&analysed![
        by_both,
        by_distance,
        partner_by_data,
        by_or,
        by_sum,
        pairs_two_apart,
        pairs_of_all,
        two_exchanges,
        partner_of_the_block,
        guard_of_eight_bits,
        next_of_the_partner,
        another_guard,
        half_the_position,
        partner_is_read,
        exchanges_without_barrier,
        exchange_without_barrier,
        barrier_in_divergent_code,
        bitonic_sort_without_barrier,
        odd_even_sort_without_barrier,
        partner_is_written,
    ]);
}
