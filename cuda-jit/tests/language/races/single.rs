//! Code of which a condition on the position admits one thread.

use super::{analysed, assert_proved, assert_refused};
use cuda_jit::device::{block_idx, grid, grid_size, sync_threads, thread_idx};
use cuda_jit::{kernel, shared};

#[kernel]
fn by_an_argument(k: usize, out: &mut [u32]) {
    if grid::<1>() == k {
        for j in 0..out.len() {
            out[j] = 1;
        }
    }
}

#[kernel]
fn by_a_constant(x: &[u32], out: &mut [u32]) {
    if grid::<1>() == 5 {
        for j in 0..x.len() {
            out[x[j] as usize] += 1;
        }
    }
}

#[kernel]
fn by_an_argument_of_32_bits(k: u32, x: &[u32], out: &mut [u32]) {
    if grid::<1>() as u32 == k {
        out[x[0] as usize] = 1;
    }
}

#[kernel]
fn by_block_and_thread(out: &mut [u32]) {
    if block_idx().x == 0 && thread_idx().x == 0 {
        for j in 0..out.len() {
            out[j] = 1;
        }
    }
}

#[kernel]
fn by_two_coordinates(out: &mut [u32]) {
    let (c, r) = grid::<2>();
    if c == 0 && r == 0 {
        out[3] = 1;
    }
}

#[kernel]
fn last_of_the_grid(out: &mut [u32]) {
    if grid::<1>() == grid_size::<1>() - 1 {
        out[3] = 1;
    }
}

#[kernel]
fn last_of_the_slice(out: &mut [u32]) {
    if grid::<1>() + 1 == out.len() {
        out[0] = 1;
    }
}

#[kernel]
fn others_return(out: &mut [u32]) {
    if grid::<1>() != 0 {
        return;
    }
    out[3] = 1;
    out[4] = 1;
}

#[kernel]
fn fills(out: &mut [u32]) {
    if grid::<1>() == 0 {
        out.fill(1);
    }
}

#[kernel]
fn iterates(out: &mut [u32]) {
    if grid::<1>() == 0 {
        for v in out.iter_mut() {
            *v = 1;
        }
    }
}

#[kernel]
fn fills_shared_memory(out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    if t == 0 {
        s.fill(1);
    }
    sync_threads();
    out[grid::<1>()] = s[63 - t];
}

#[kernel]
fn sorts(out: &mut [u32]) {
    if grid::<1>() == 0 {
        let mut j = 1;
        while j < out.len() {
            let mut k = j;
            while k > 0 && out[k - 1] > out[k] {
                out.swap(k - 1, k);
                k -= 1;
            }
            j += 1;
        }
    }
}

#[kernel]
fn one_of_two_coordinates(out: &mut [u32]) {
    let (c, r) = grid::<2>();
    if c == 0 || r == 0 {
        out[3] = 1;
    }
}

#[kernel]
fn all_but_one(k: usize, out: &mut [u32]) {
    if grid::<1>() != k {
        out[3] = 1;
    }
}

#[kernel]
fn by_data(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i == x[i] as usize {
        out[3] = 1;
    }
}

#[kernel]
fn up_to_an_argument(k: usize, out: &mut [u32]) {
    if grid::<1>() <= k {
        out[3] = 1;
    }
}

#[kernel]
fn by_eight_bits(k: u8, out: &mut [u32]) {
    if grid::<1>() as u8 == k {
        out[3] = 1;
    }
}

#[kernel]
fn thread_of_each_block(k: usize, out: &mut [u32]) {
    if thread_idx().x == k {
        out[3] = 1;
    }
}

#[kernel]
fn thread_of_two_blocks(out: &mut [u32]) {
    if thread_idx().x == 0 && block_idx().x < 2 {
        out[3] = 1;
    }
}

#[kernel]
fn two_threads(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    if i == k || i == k + 1 {
        out[3] = 1;
    }
}

#[kernel]
fn one_block(k: usize, out: &mut [u32]) {
    if block_idx().x == k {
        out[3] = 1;
    }
}

#[kernel]
fn two_by_a_quotient(k: usize, out: &mut [u32]) {
    if grid::<1>() / 2 == k {
        out[3] = 1;
    }
}

#[kernel]
fn one_after_the_other(k: usize, out: &mut [u32]) {
    let i = grid::<1>();
    if i == k {
        out[3] = 1;
    }
    if i == k + 1 {
        out[3] = 2;
    }
}

#[kernel]
fn by_a_product(k: usize, w: usize, out: &mut [u32]) {
    let i = grid::<1>();
    if i * w == k {
        out[3] = 1;
    }
}

#[kernel]
fn by_data_of_the_block(x: &[usize], out: &mut [u32]) {
    let i = grid::<1>();
    if i == x[block_idx().x] + block_idx().x {
        out[3] = 1;
    }
}

#[kernel]
fn by_a_number_without_guard(k: usize, w: usize, out: &mut [u32]) {
    let (c, r) = grid::<2>();
    if r * w + c == k {
        out[3] = 1;
    }
}

#[kernel]
fn first_of_each_block(out: &mut [f32]) {
    if thread_idx().x == 0 {
        out[0] = 1.0;
    }
}

#[test]
fn they_are_proved() {
    assert_proved(&analysed![
        by_an_argument,
        by_a_constant,
        by_an_argument_of_32_bits,
        by_block_and_thread,
        by_two_coordinates,
        last_of_the_grid,
        last_of_the_slice,
        others_return,
        fills,
        iterates,
        fills_shared_memory,
        sorts,
    ]);
}

#[test]
fn none_with_a_race_is_proved() {
    assert_refused(&analysed![
        one_of_two_coordinates,
        all_but_one,
        by_data,
        up_to_an_argument,
        by_eight_bits,
        thread_of_each_block,
        thread_of_two_blocks,
        two_threads,
        one_block,
        two_by_a_quotient,
        one_after_the_other,
        by_a_product,
        by_data_of_the_block,
        by_a_number_without_guard,
        first_of_each_block,
    ]);
}
