//! Dynamic shared memory: whole, carved into parts, beyond 48 KiB, and too small.

use cuda_driver::LaunchConfig;
use cuda_jit::device::{block_dim, block_idx, dynamic_shared, shared, sync_threads, thread_idx};
use cuda_jit::{Num, device, kernel};

use super::{context, on_device, on_host};

#[kernel]
fn whole<T: Num>(x: &mut [T], lens: &mut [usize]) {
    let tile = dynamic_shared!([T]);
    let (i, n) = (thread_idx().x, block_dim().x);
    let at = block_idx().x * n + i;
    tile[i] = x[at];
    sync_threads();
    x[at] = tile[n - 1 - i];
    lens[block_idx().x] = tile.len();
}

#[device]
fn place(bytes: &mut [u8], wide: &mut [f64], i: usize) {
    bytes[i] = i as u8;
    wide[i] = i as f64 * 0.5;
}

/// Parts of every size, between a fixed array and each other; the last takes what is left.
#[kernel]
fn parts(n: usize, out: &mut [f64], lens: &mut [usize]) {
    let fixed = shared!([u32; 32]);
    let (bytes, wide, halves, rest) = dynamic_shared!([u8; n], [f64; n + 1], [u16; 2 * n], [u64]);
    let i = thread_idx().x;
    fixed[i] = 7;
    if i < n {
        place(bytes, wide, i);
        halves[i] = 100 + i as u16;
        halves[n + i] = 200 + i as u16;
    }
    for k in 0..rest.len() {
        rest[k] = 1 << 40;
    }
    sync_threads();
    if i < n {
        let j = n - 1 - i;
        out[i] = bytes[j] as f64 + wide[j] + halves[j] as f64 + halves[n + j] as f64 + fixed[j] as f64;
    }
    if i == 0 {
        lens[0] = bytes.len();
        lens[1] = wide.len();
        lens[2] = halves.len();
        lens[3] = rest.len();
    }
}

#[kernel]
fn one(n: usize, out: &mut [u32]) {
    let tile = dynamic_shared!([u32; n]);
    tile[n - 1] = 5;
    out[0] = tile[n - 1];
}

#[test]
fn all_of_it() {
    let stream = context().default_stream();
    let (mut x, mut lens) = (on_device(&[1.0, 2.0, 3.0, 4.0_f64, 5.0, 6.0]), on_device(&[0, 0]));
    whole::launch((2, 3, &stream, 3 * 8 + 7), &mut x, &mut lens).unwrap();
    assert_eq!(on_host(&x), [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
    assert_eq!(on_host(&lens), [3, 3]);
}

#[test]
fn parts_are_aligned_and_apart() {
    let stream = context().default_stream();
    for n in [1, 3, 16, 29] {
        let (mut out, mut lens) = (on_device(&vec![0.0; n]), on_device(&[0; 4]));
        let wide_at = n.next_multiple_of(8);
        let rest_at = (wide_at + 8 * (n + 1) + 4 * n).next_multiple_of(8);
        parts::launch((1, 32, &stream, rest_at + 5 * 8 + 3), n, &mut out, &mut lens).unwrap();
        let expected: Vec<f64> = (0..n).rev().map(|j| j as f64 * 3.5 + 307.0).collect();
        assert_eq!(on_host(&out), expected, "{n}");
        assert_eq!(on_host(&lens), [n, n + 1, 2 * n, 5]);
    }
}

#[test]
fn beyond_48_kib_and_beyond_the_device() {
    let stream = context().default_stream();
    let mut out = on_device(&[0_u32]);
    for bytes in [64 << 10, 96 << 10, 4096] {
        one::launch((1, 1, &stream, bytes), bytes / 4, &mut out).unwrap();
        assert_eq!(on_host(&out), [5]);
    }
    let config = LaunchConfig::new(1, 1).shared_bytes(1 << 20);
    let error = one::launch(config, 1, &mut out).unwrap_err().to_string();
    assert!(error.contains("1048576 bytes of dynamic shared memory"), "{error}");
}

#[test]
fn a_part_that_does_not_fit_is_a_panic() {
    if !crate::around::alone("language::dynamic_shared::a_part_that_does_not_fit_is_a_panic") {
        return;
    }
    let stream = context().default_stream();
    for (bytes, n) in [(16, 5), (0, 1), (16, usize::MAX), (19, 1 << 62)] {
        let mut out = on_device(&[0_u32]);
        one::launch((1, 1, &stream, bytes), n, &mut out).unwrap();
        let error = context().synchronize().unwrap_err().to_string();
        let left = format!("`[u32; {n}]` does not fit into the launch's dynamic shared memory, of which {bytes} bytes");
        assert!(error.contains(&left), "{error}");
    }
}

#[kernel]
fn fixed<const N: usize>(out: &mut [u32]) {
    let (first, second) = (shared!([u32; 1024]), shared!([u32; N]));
    first[0] = 1;
    second[N - 1] = 2;
    out[0] = first[0] + second[N - 1];
}

#[test]
fn fixed_arrays_of_more_than_48_kib_are_refused_with_the_way_out() {
    let mut out = on_device(&[0_u32]);
    fixed::<{ 11 * 1024 }>::launch((1, 1), &mut out).unwrap();
    assert_eq!(on_host(&out), [3]);
    let error = fixed::<{ 11 * 1024 + 1 }>::compile_ptx((9, 0)).unwrap_err().to_string();
    assert!(error.contains("arrays take 49156 bytes, and a block has 49152"), "{error}");
    assert!(error.contains("dynamic_shared!"), "{error}");
}
