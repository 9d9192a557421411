//! Double buffers, and loops in which barriers order the iterations.

use super::{analysed, assert_proved, assert_refused};
use cuda_jit::device::{atomic_add, atomic_load, grid, sync_threads, thread_idx};
use cuda_jit::{kernel, shared};

#[kernel]
fn buffer_by_remainder(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    for k in 0..n {
        s[k % 2][t] = a;
        sync_threads();
        a += s[k % 2][63 - t];
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn buffer_by_mask(n: u32, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    for k in 0..n {
        let b = (k & 1) as usize;
        s[b][t] = a;
        sync_threads();
        a += s[b][63 - t];
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn buffer_by_difference(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    let mut cur = 0;
    for _ in 0..n {
        s[cur][t] = a;
        sync_threads();
        a += s[cur][63 - t];
        cur = 1 - cur;
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn buffer_by_exclusive_or(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    let mut cur = 0;
    for _ in 0..n {
        s[cur][t] = a;
        sync_threads();
        a += s[cur][63 - t];
        cur ^= 1;
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn from_one_buffer_to_the_other(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    s[0][t] = 1;
    sync_threads();
    let mut cur = 0;
    for _ in 0..n {
        let v = s[cur][(t + 1) % 64];
        s[1 - cur][t] = v;
        sync_threads();
        cur = 1 - cur;
    }
    out[grid::<1>()] = s[cur][t];
}

#[kernel]
fn from_one_buffer_to_the_other_by_remainder(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    s[0][t] = 1;
    sync_threads();
    for k in 0..n {
        let v = s[k % 2][63 - t];
        s[(k + 1) % 2][t] = v;
        sync_threads();
    }
    out[grid::<1>()] = s[n % 2][t];
}

#[kernel]
fn buffers_that_swap(out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let (mut i, mut j) = (0, 1);
    s[0][t] = 1;
    sync_threads();
    let mut d = 1;
    while d < 64 {
        s[j][t] = if t >= d { s[i][t] + s[i][t - d] } else { s[i][t] };
        sync_threads();
        (i, j) = (j, i);
        d *= 2;
    }
    out[grid::<1>()] = s[i][t];
}

#[kernel]
fn two_arrays(n: usize, out: &mut [u32]) {
    let a = shared!([u32; 64]);
    let b = shared!([u32; 64]);
    let t = thread_idx().x;
    a[t] = 1;
    sync_threads();
    for k in 0..n {
        if k % 2 == 0 {
            b[t] = a[63 - t];
        } else {
            a[t] = b[63 - t];
        }
        sync_threads();
    }
    out[grid::<1>()] = a[t] + b[t];
}

#[kernel]
fn pairs_in_turns(n: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    s[t] = 1;
    sync_threads();
    for k in 0..n {
        let a = 2 * t + k % 2;
        if a + 1 < 64 {
            if s[a] > s[a + 1] {
                s.swap(a, a + 1);
            }
        }
        sync_threads();
    }
    out[grid::<1>()] = s[t];
}

#[kernel]
fn scan(_x: &[u32], out: &mut [u32]) {
    let s = shared!([u32; 256]);
    let t = thread_idx().x;
    s[t] = 1;
    sync_threads();
    let mut d = 1;
    while d < 256 {
        let v = if t >= d { s[t - d] } else { 0 };
        sync_threads();
        s[t] += v;
        sync_threads();
        d *= 2;
    }
    out[grid::<1>()] = s[t];
}

#[kernel]
fn reads_the_other_buffer(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 3]);
    let t = thread_idx().x;
    let mut a = 0;
    let mut cur = 0;
    for _ in 0..n {
        s[cur][t] = a;
        a += s[1 - cur][63 - t];
        sync_threads();
        cur = 1 - cur;
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn three_times(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    for _ in 0..n {
        let mut cur = 0;
        for _ in 0..3 {
            s[cur][t] = a;
            sync_threads();
            a += s[cur][63 - t];
            cur = 1 - cur;
        }
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn branch_of_all_threads(x: &[usize], out: &mut [u32]) {
    let i = grid::<1>();
    if x[0] > 0 {
        out[i] = 1;
    } else {
        out[i + 1] = 1;
    }
}

#[kernel]
fn one_buffer(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    for _ in 0..n {
        s[0][t] = a;
        sync_threads();
        a += s[0][63 - t];
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn three_to_two_buffers(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    for k in 0..n {
        s[k % 3 % 2][t] = a;
        sync_threads();
        a += s[k % 3 % 2][63 - t];
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn the_same_buffer(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    s[0][t] = 1;
    sync_threads();
    let mut cur = 0;
    for _ in 0..n {
        let v = s[cur][(t + 1) % 64];
        s[cur][t] = v;
        sync_threads();
        cur = 1 - cur;
    }
    out[grid::<1>()] = s[cur][t];
}

#[kernel]
fn buffers_without_barrier(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    s[0][t] = 1;
    sync_threads();
    let mut cur = 0;
    for _ in 0..n {
        let v = s[cur][(t + 1) % 64];
        s[1 - cur][t] = v;
        cur = 1 - cur;
    }
    out[grid::<1>()] = s[cur][t];
}

#[kernel]
fn buffers_that_sometimes_swap(x: &[u32], n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    let mut cur = 0;
    for k in 0..n {
        s[cur][t] = a;
        sync_threads();
        a += s[cur][63 - t];
        if x[k] > 0 {
            cur = 1 - cur;
        }
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn buffer_of_the_thread(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    let mut cur = t % 2;
    for _ in 0..n {
        s[cur][t / 2] = a;
        sync_threads();
        a += s[cur][31 - t / 2];
        cur = 1 - cur;
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn buffers_that_swap_twice(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    let mut cur = 0;
    for _ in 0..n {
        s[cur][t] = a;
        sync_threads();
        a += s[cur][63 - t];
        cur = 1 - cur;
        cur = 1 - cur;
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn buffer_after_the_loop(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    for k in 0..n {
        s[k % 2][t] = a;
        sync_threads();
        a += s[k % 2][63 - t];
    }
    s[0][t] = 3;
    out[grid::<1>()] = a;
}

#[kernel]
fn two_arrays_without_barrier(n: usize, out: &mut [u32]) {
    let a = shared!([u32; 64]);
    let b = shared!([u32; 64]);
    let t = thread_idx().x;
    a[t] = 1;
    sync_threads();
    for k in 0..n {
        if k % 2 == 0 {
            b[t] = a[63 - t];
        } else {
            a[t] = b[63 - t];
        }
    }
    out[grid::<1>()] = a[t] + b[t];
}

#[kernel]
fn reads_both_buffers(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    let mut cur = 0;
    for _ in 0..n {
        s[cur][t] = a;
        sync_threads();
        a += s[cur][63 - t] + s[1 - cur][63 - t];
        cur = 1 - cur;
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn swap_that_is_skipped(n: usize, x: &[u32], out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    let mut cur = 0;
    for k in 0..n {
        s[cur][t] = a;
        sync_threads();
        a += s[cur][63 - t];
        if x[k] > 1 {
            continue;
        }
        cur = 1 - cur;
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn buffer_of_an_argument(n: usize, c: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    let mut cur = c;
    for _ in 0..n {
        s[cur][t] = a;
        sync_threads();
        a += s[cur][63 - t];
        cur = c - cur;
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn buffer_of_the_warp(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    for k in 0..n {
        let b = (k + t / 32) % 2;
        s[b][t] = a;
        sync_threads();
        a += s[b][63 - t];
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn every_second_iteration(n: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    for k in (0..n).step_by(2) {
        s[k % 2][t] = a;
        sync_threads();
        a += s[k % 2][63 - t];
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn loop_that_is_entered_again(n: usize, m: usize, out: &mut [u32]) {
    let s = shared!([[u32; 64]; 2]);
    let t = thread_idx().x;
    let mut a = 0;
    for _ in 0..n {
        let mut cur = 0;
        for _ in 0..m {
            s[cur][t] = a;
            sync_threads();
            a += s[cur][63 - t];
            cur = 1 - cur;
        }
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn barrier_that_is_skipped(x: &[u32], n: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    let mut a = 0;
    for k in 0..n {
        s[t] = a;
        if x[k] > 0 {
            sync_threads();
        }
        a += s[63 - t];
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn return_before_the_barrier(x: &[u32], n: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    for k in 0..n {
        if t == k {
            s[0] = 1;
            return;
        }
        if x[k] > 0 {
            if t == 63 {
                s[0] = 2;
            }
            sync_threads();
        }
    }
    out[grid::<1>()] = s[1];
}

#[kernel]
fn return_after_a_write(x: &[u32], n: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    for k in 0..n {
        if t == k {
            s[0] = 1;
        }
        if t == k {
            return;
        }
        if x[k] > 0 {
            if t == 63 {
                s[0] = 2;
            }
            sync_threads();
        }
    }
    out[grid::<1>()] = 1;
}

#[kernel]
fn break_before_the_barrier(m: usize, n: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    for k in 0..n {
        s[t] = 1;
        if k == m {
            break;
        }
        sync_threads();
    }
    out[grid::<1>()] = s[63 - t];
}

#[kernel]
fn write_before_the_end(m: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    let mut k = 0;
    loop {
        s[t] = k;
        if k as usize >= m {
            break;
        }
        sync_threads();
        k += 1;
    }
    out[grid::<1>()] = s[63 - t];
}

#[kernel]
fn barrier_in_every_fourth_iteration(n: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    let mut a = 0;
    for k in 0..n {
        if k % 2 == 0 {
            s[t] = 1;
        } else {
            a += s[63 - t];
        }
        if k % 4 == 3 {
            sync_threads();
        }
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn barrier_at_the_start_of_every_fourth(n: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    let mut a = 0;
    for k in 0..n {
        if k % 4 == 0 {
            sync_threads();
        }
        if k % 2 == 0 {
            s[t] = 1;
        } else {
            a += s[63 - t];
        }
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn two_iterations_in_one(n: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    let mut a = 0;
    for _ in 0..n {
        for _ in 0..2 {
            s[t] = a;
            a += s[63 - t];
        }
        sync_threads();
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn barriers_of_an_inner_loop(n: usize, m: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    let mut a = 0;
    for _ in 0..n {
        s[t] = a;
        for _ in 0..m {
            sync_threads();
            a += s[63 - t];
        }
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn barriers_before(n: usize, m: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    let mut a = 0;
    for _ in 0..n {
        for _ in 0..m {
            a += s[63 - t];
            sync_threads();
        }
        s[t] = a;
    }
    out[grid::<1>()] = a;
}

#[kernel]
fn read_after_the_loop(n: usize, out: &mut [u32]) {
    let s = shared!([u32; 64]);
    let t = thread_idx().x;
    for _ in 0..n {
        sync_threads();
        s[t] = 1;
    }
    out[grid::<1>()] = s[63 - t];
}

#[kernel]
fn condition_of_the_thread(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let f = x[i % 2] > 0;
    if f {
        out[i] = 1;
    } else {
        out[i + 1] = 1;
    }
}

#[kernel]
fn condition_that_changes(x: &mut [u32], out: &mut [u32]) {
    let i = grid::<1>();
    if atomic_load(&mut x[0]) > 0 {
        out[i] = 1;
    } else {
        out[i + 1] = 1;
    }
    atomic_add(&mut x[0], 1);
}

#[kernel]
fn condition_of_the_iteration(n: usize, out: &mut [u32]) {
    let i = grid::<1>();
    for k in 0..n {
        if k % 2 == 0 {
            out[i] = 1;
        } else {
            out[i + 1] = 1;
        }
    }
}

#[kernel]
fn condition_of_the_iteration_in_shared_memory(n: usize, out: &mut [u32]) {
    let s = shared!([u32; 65]);
    let t = thread_idx().x;
    for k in 0..n {
        if k % 2 == 0 {
            s[t] = 1;
        } else {
            s[t + 1] = 1;
        }
    }
    sync_threads();
    out[grid::<1>()] = s[t];
}

#[test]
fn they_are_proved() {
    assert_proved(&analysed![
        buffer_by_remainder,
        buffer_by_mask,
        buffer_by_difference,
        buffer_by_exclusive_or,
        from_one_buffer_to_the_other,
        from_one_buffer_to_the_other_by_remainder,
        buffers_that_swap,
        two_arrays,
        pairs_in_turns,
        scan,
        reads_the_other_buffer,
        branch_of_all_threads,
    ]);
}

#[test]
fn none_with_a_race_is_proved() {
    assert_refused(&analysed![
        three_times,
        one_buffer,
        three_to_two_buffers,
        the_same_buffer,
        buffers_without_barrier,
        buffers_that_sometimes_swap,
        buffer_of_the_thread,
        buffers_that_swap_twice,
        buffer_after_the_loop,
        two_arrays_without_barrier,
        reads_both_buffers,
        swap_that_is_skipped,
        buffer_of_an_argument,
        buffer_of_the_warp,
        every_second_iteration,
        loop_that_is_entered_again,
        barrier_that_is_skipped,
        return_before_the_barrier,
        return_after_a_write,
        break_before_the_barrier,
        write_before_the_end,
        barrier_in_every_fourth_iteration,
        barrier_at_the_start_of_every_fourth,
        two_iterations_in_one,
        barriers_of_an_inner_loop,
        barriers_before,
        read_after_the_loop,
        condition_of_the_thread,
        condition_that_changes,
        condition_of_the_iteration,
        condition_of_the_iteration_in_shared_memory,
    ]);
}
