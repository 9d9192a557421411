//! Quotients and remainders: lanes, warps, and permutations by arithmetic.

use super::{analysed, assert_proved, assert_refused};
use cuda_jit::device::{block_dim, block_idx, grid, lane_id, sync_threads, thread_idx};
use cuda_jit::{kernel, shared};

#[kernel]
fn one_lane_of_each_warp(out: &mut [u32]) {
    let t = grid::<1>();
    let (w, l) = (t / 32, t % 32);
    if l == 0 {
        out[w] = 1;
    }
}

#[kernel]
fn one_lane_by_a_mask(out: &mut [u32]) {
    let t = grid::<1>();
    let (w, l) = (t >> 5, t & 31);
    if l == 0 {
        out[w] = 1;
    }
}

#[kernel]
fn one_lane_in_32_bits(out: &mut [u32]) {
    let t = grid::<1>() as u32;
    let (w, l) = (t >> 5, t & 31);
    if l == 0 {
        out[w as usize] = 1;
    }
}

#[kernel]
fn one_lane_of_a_signed_number(out: &mut [u32]) {
    let t = grid::<1>() as i32;
    let (w, l) = (t / 32, t % 32);
    if l == 0 {
        out[w as usize] = 1;
    }
}

#[kernel]
fn one_of_seven(out: &mut [u32]) {
    let t = grid::<1>();
    if t % 7 == 3 {
        out[t / 7] = 1;
    }
}

#[kernel]
fn one_of_a_given_number(k: usize, out: &mut [u32]) {
    let t = grid::<1>();
    if t % k == 0 {
        out[t / k] = 1;
    }
}

#[kernel]
fn one_lane_to_shared_memory(out: &mut [u32]) {
    let s = shared!([u32; 32]);
    let t = thread_idx().x;
    let (w, l) = (t / 32, t % 32);
    if l == 0 {
        s[w] = 1;
    }
    sync_threads();
    if t < 32 {
        out[block_idx().x * 32 + t] = s[t];
    }
}

#[kernel]
fn one_lane_to_shared_memory_by_a_mask(out: &mut [u32]) {
    let s = shared!([u32; 32]);
    let t = thread_idx().x;
    let (w, l) = (t >> 5, t & 31);
    if l == 0 {
        s[w] = 1;
    }
    sync_threads();
    if t < 32 {
        out[block_idx().x * 32 + t] = s[t];
    }
}

#[kernel]
fn one_lane_by_its_number(out: &mut [u32]) {
    let s = shared!([u32; 32]);
    let t = thread_idx().x;
    if lane_id() == 0 {
        s[t / 32] = 1;
    }
    sync_threads();
    if t < 32 {
        out[block_idx().x * 32 + t] = s[t];
    }
}

#[kernel]
fn lanes_backwards(out: &mut [u32]) {
    let t = thread_idx().x;
    if t < 1024 {
        out[block_idx().x * 1024 + (t / 32) * 32 + (31 - lane_id())] = 1;
    }
}

#[kernel]
fn warps_of_each_block(out: &mut [u32]) {
    let t = thread_idx().x;
    let (w, l) = (t / 32, t % 32);
    if l == 0 && w < 32 {
        out[block_idx().x * 32 + w] = 1;
    }
}

#[kernel]
fn reversed_in_warps(out: &mut [u32]) {
    let t = grid::<1>();
    out[(t / 32) * 32 + (31 - t % 32)] = 1;
}

#[kernel]
fn reversed_in_warps_by_a_mask(out: &mut [u32]) {
    let t = grid::<1>();
    out[(t & !31) + (31 - (t & 31))] = 1;
}

#[kernel]
fn whole_and_rest(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    out[i / k * k + i % k] = 1;
}

#[kernel]
fn flat_transposition(k: usize, m: usize, out: &mut [u32]) {
    let i = grid::<1>();
    if i < k * m {
        out[i % k * m + i / k] = 1;
    }
}

#[kernel]
fn rotation(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let n = out.len();
    if i < n {
        out[(i + k) % n] = 1;
    }
}

#[kernel]
fn arrays_by_quotient_and_remainder(out: &mut [[u32; 4]]) {
    let i = grid::<1>();
    out[i / 4][i % 4] = 1;
}

#[kernel]
fn reversed_in_the_block(out: &mut [u32], q: &mut [u32]) {
    let i = grid::<1>();
    out[i] = 1;
    sync_threads();
    q[i] = out[block_idx().x * block_dim().x + (block_dim().x - 1 - thread_idx().x)];
}

#[kernel]
fn at_least_one(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    out[i * k.max(1)] = 1;
}

#[kernel]
fn position_by_its_number(k: usize, w: usize, out: &mut [u32]) {
    let (c, r) = grid::<2>();
    if c < w && r * w + c == k {
        out[3] = 1;
    }
}

#[kernel]
fn two_lanes_of_each_warp(out: &mut [u32]) {
    let t = grid::<1>();
    let (w, l) = (t / 32, t % 32);
    if l <= 1 {
        out[w] = 1;
    }
}

#[kernel]
fn half_warps(out: &mut [u32]) {
    let t = grid::<1>();
    let (w, l) = (t / 32, t & 15);
    if l == 0 {
        out[w] = 1;
    }
}

#[kernel]
fn even_mask(out: &mut [u32]) {
    let t = grid::<1>();
    let (w, l) = (t / 32, t & 30);
    if l == 0 {
        out[w] = 1;
    }
}

#[kernel]
fn warps_of_all_blocks(out: &mut [u32]) {
    let t = thread_idx().x;
    let (w, l) = (t / 32, t % 32);
    if l == 0 {
        out[w] = 1;
    }
}

#[kernel]
fn lanes_of_two_dimensions(out: &mut [u32]) {
    let s = shared!([u32; 32]);
    let t = thread_idx().x;
    if lane_id() == 0 {
        s[t / 32] = thread_idx().y as u32;
    }
    sync_threads();
    if t < 32 && thread_idx().y == 0 {
        out[grid::<1>()] = s[t];
    }
}

#[kernel]
fn two_lanes_by_their_number(out: &mut [u32]) {
    let s = shared!([u32; 32]);
    let t = thread_idx().x;
    if lane_id() < 2 {
        s[t / 32] = 1;
    }
    sync_threads();
    if t < 32 {
        out[block_idx().x * 32 + t] = s[t];
    }
}

#[kernel]
fn half_lanes(out: &mut [u32]) {
    let t = thread_idx().x;
    if lane_id() % 16 == 0 {
        out[block_idx().x * 64 + t / 32] = 1;
    }
}

#[kernel]
fn lanes_of_the_grid(out: &mut [u32]) {
    let i = grid::<1>();
    if lane_id() == 0 {
        out[i / 32] = 1;
    }
}

#[kernel]
fn half_of_the_lane(out: &mut [u32]) {
    let t = thread_idx().x;
    out[block_idx().x * 1024 + (t / 32) * 32 + lane_id() / 2] = 1;
}

#[kernel]
fn one_of_two_lanes(out: &mut [u32]) {
    let t = grid::<1>();
    if t % 32 == 0 || t % 32 == 1 {
        out[t / 32] = 1;
    }
}

#[kernel]
fn another_divisor(out: &mut [u32]) {
    let t = grid::<1>();
    if t % 31 == 0 {
        out[t / 32] = 1;
    }
}

#[kernel]
fn this_or_the_next(out: &mut [u32]) {
    let t = grid::<1>();
    if (t + 1) % 32 == 0 || t % 32 == 0 {
        out[t / 32] = 1;
    }
}

#[kernel]
fn two_divisors(k: usize, m: usize, out: &mut [u32]) {
    let t = grid::<1>();
    if t % k == 0 {
        out[t / m] = 1;
    }
}

#[kernel]
fn blocks_that_overlap(out: &mut [u32]) {
    let t = thread_idx().x;
    if t % 32 == 0 {
        out[block_idx().x * 31 + t / 32] = 1;
    }
}

#[kernel]
fn half_of_the_warps(out: &mut [u32]) {
    let t = grid::<1>();
    if t & 31 == 0 {
        out[t >> 6] = 1;
    }
}

#[kernel]
fn signed_quotient(out: &mut [u32]) {
    let i = grid::<1>() as i32;
    let j = (i - 5) / 2;
    if j >= 0 {
        out[j as usize] = 1;
    }
}

#[kernel]
fn quotient_rounded_to_zero(out: &mut [u32]) {
    let i = grid::<1>() as i32 - 5;
    if i % 2 == 0 || i == -1 {
        out[(i / 2 + 9) as usize] = 1;
    }
}

#[kernel]
fn signed_remainder(out: &mut [u32]) {
    let i = grid::<1>() as i32 - 8;
    let r = i % 8;
    if r == 0 {
        out[(i / 16 + 9) as usize] = 1;
    }
}

#[kernel]
fn or_of_common_bits(x: &[usize], out: &mut [u32]) {
    let i = grid::<1>();
    out[(i << 1) | (x[i] & 3)] = 1;
}

#[kernel]
fn or_with_one(out: &mut [u32]) {
    let i = grid::<1>();
    out[i * 3 | 1] = 1;
}

#[kernel]
fn transposition_with_a_wide_guard(k: usize, m: usize, out: &mut [u32]) {
    let i = grid::<1>();
    if i <= k * m {
        out[i % k * m + i / k] = 1;
    }
}

#[kernel]
fn transposition_by_the_wrong_side(k: usize, m: usize, out: &mut [u32]) {
    let i = grid::<1>();
    if i < k * m {
        out[i % k * k + i / k] = 1;
    }
}

#[kernel]
fn rotation_with_a_wide_guard(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let n = out.len();
    if i <= n {
        out[(i + k) % n] = 1;
    }
}

#[kernel]
fn rotation_by_twos(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let n = out.len();
    if i < n {
        out[(2 * i + k) % n] = 1;
    }
}

#[kernel]
fn rotation_without_a_guard(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    let n = out.len();
    out[(i + k) % n] = 1;
}

#[kernel]
fn next_block_too(out: &mut [u32], q: &mut [u32]) {
    let i = grid::<1>();
    out[i] = 1;
    sync_threads();
    q[i] = out[block_idx().x * block_dim().x + (block_dim().x - thread_idx().x)];
}

#[kernel]
fn at_least_zero(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    out[i * k.max(0)] = 1;
}

#[kernel]
fn at_most_one(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    out[i * k.min(1)] = 1;
}

#[kernel]
fn not_less_than(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    out[i.max(k)] = 1;
}

#[test]
fn they_are_proved() {
    assert_proved(&analysed![
        one_lane_of_each_warp,
        one_lane_by_a_mask,
        one_lane_in_32_bits,
        one_lane_of_a_signed_number,
        one_of_seven,
        one_of_a_given_number,
        one_lane_to_shared_memory,
        one_lane_to_shared_memory_by_a_mask,
        one_lane_by_its_number,
        lanes_backwards,
        warps_of_each_block,
        reversed_in_warps,
        reversed_in_warps_by_a_mask,
        whole_and_rest,
        flat_transposition,
        rotation,
        arrays_by_quotient_and_remainder,
        reversed_in_the_block,
        at_least_one,
        position_by_its_number,
    ]);
}

#[test]
fn none_with_a_race_is_proved() {
    assert_refused(&analysed![
        two_lanes_of_each_warp,
        half_warps,
        even_mask,
        warps_of_all_blocks,
        lanes_of_two_dimensions,
        two_lanes_by_their_number,
        half_lanes,
        lanes_of_the_grid,
        half_of_the_lane,
        one_of_two_lanes,
        another_divisor,
        this_or_the_next,
        two_divisors,
        blocks_that_overlap,
        half_of_the_warps,
        signed_quotient,
        quotient_rounded_to_zero,
        signed_remainder,
        or_of_common_bits,
        or_with_one,
        transposition_with_a_wide_guard,
        transposition_by_the_wrong_side,
        rotation_with_a_wide_guard,
        rotation_by_twos,
        rotation_without_a_guard,
        next_block_too,
        at_least_zero,
        at_most_one,
        not_less_than,
    ]);
}
