//! Dynamic shared memory: undivided, divided into slices, beyond 48 KiB, and too small.

use cuda_driver::LaunchConfig;
use cuda_jit::device::{block_dim, block_idx, dynamic_shared, grid, shared, sync_threads, thread_idx};
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
    if i == 0 {
        lens[block_idx().x] = tile.len();
    }
}

#[device]
fn place(bytes: &mut [u8], wide: &mut [f64], i: usize) {
    bytes[i] = i as u8;
    wide[i] = i as f64 * 0.5;
}

/// Slices of every alignment, next to a static array and each other; the last takes the rest.
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
    for k in (i..rest.len()).step_by(block_dim().x) {
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
fn the_whole_dynamic_shared_memory() {
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
fn a_slice_that_does_not_fit_panics() {
    if !super::in_child_process("language::dynamic_shared::a_slice_that_does_not_fit_panics") {
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
    if grid::<1>() == 0 {
        first[0] = 1;
        second[N - 1] = 2;
        out[0] = first[0] + second[N - 1];
    }
}

#[test]
fn fixed_arrays_of_more_than_48_kib_lie_in_dynamic_memory() {
    let _selected = context().select();
    let mut out = on_device(&[0_u32]);
    fixed::<{ 11 * 1024 }>::launch((1, 1), &mut out).unwrap();
    assert_eq!(on_host(&out), [3]);
    assert!(!fixed::<{ 11 * 1024 }>::compile_ptx((9, 0)).unwrap().contains(".extern .shared"));

    const LEN: usize = 11 * 1024 + 1;
    let ptx = fixed::<LEN>::compile_ptx((9, 0)).unwrap();
    assert!(ptx.contains(".extern .shared .align 16"), "{ptx}");
    let mut out = on_device(&[0_u32]);
    fixed::<LEN>::launch((1, 1), &mut out).unwrap();
    assert_eq!(on_host(&out), [3]);
    let kernel = fixed::<LEN>::compile().unwrap();
    assert_eq!(kernel.shared_bytes(), 49168);
    assert_eq!(kernel.max_active_blocks(32, 0).unwrap(), 4);
    // More than any launch so far had.
    assert_eq!(kernel.max_active_blocks(32, 100 << 10).unwrap(), 1);
}

/// Arrays of every alignment, more than 48 KiB in total, followed by the launch's own memory.
#[kernel]
fn beside(n: usize, out: &mut [u64], len: &mut [usize]) {
    let bytes = shared!([u8; 1001]);
    let wide = shared!([f64; 7000]);
    let rows = shared!([[u16; 32]; 33]);
    let (more, rest) = dynamic_shared!([u8; n], [u64]);
    let i = thread_idx().x;
    bytes[i] = i as u8;
    wide[6999 - i] = i as f64;
    rows[32][31 - i] = 7 * i as u16;
    for k in (i..rest.len()).step_by(block_dim().x) {
        rest[k] = 1 << 50;
    }
    if i < n {
        more[i] = 100 + i as u8;
    }
    sync_threads();
    let j = 31 - i;
    let own = if j < n { more[j] } else { 0 };
    out[i] = bytes[j] as u64 + wide[6999 - j] as u64 + rows[32][31 - j] as u64 + own as u64 + rest[0];
    if i == 0 {
        len[0] = rest.len();
    }
}

#[test]
fn spilled_arrays_and_the_launches_own_memory_do_not_overlap() {
    let stream = context().default_stream();
    for (n, bytes) in [(0, 8), (5, 16 + 8), (32, 32 + 3 * 8 + 7)] {
        let (mut out, mut len) = (on_device(&[0_u64; 32]), on_device(&[0]));
        beside::launch((1, 32, &stream, bytes), n, &mut out, &mut len).unwrap();
        let own = |j: u64| if (j as usize) < n { 100 + j } else { 0 };
        let expected: Vec<u64> = (0..32).rev().map(|j| 9 * j + own(j) + (1 << 50)).collect();
        assert_eq!(on_host(&out), expected, "{n}");
        assert_eq!(on_host(&len), [(bytes - n.next_multiple_of(8)) / 8]);
    }
}

#[test]
fn the_launch_chooses_blocks_that_fit() {
    let mut out = on_device(&[0_u32]);
    fixed::<{ 50 * 1024 }>::forall(1, &mut out).unwrap();
    assert_eq!(on_host(&out), [3]);
}

#[test]
fn more_than_any_device_has_is_refused() {
    let error = fixed::<{ 57 * 1024 + 1 }>::compile_ptx((9, 0)).unwrap_err().to_string();
    assert!(error.contains("arrays take 237572 bytes, and no device has more than 232448 for a block"), "{error}");
}

/// A device with 64 KiB per block reports the excess at the launch.
#[test]
fn more_than_the_device_has_is_an_error_of_the_launch() {
    const TEST: &str = "language::dynamic_shared::more_than_the_device_has_is_an_error_of_the_launch";
    if !crate::around::is_child() {
        crate::around::child(TEST, &[("CUDA_SIM_PROFILE", "sm_75".as_ref())]);
        return;
    }
    let mut out = on_device(&[0_u32]);
    fixed::<{ 14 * 1024 }>::launch((1, 1), &mut out).unwrap();
    assert_eq!(on_host(&out), [3]);
    let error = fixed::<{ 16 * 1024 }>::launch((1, 1), &mut out).unwrap_err().to_string();
    assert!(error.contains("69632 bytes of dynamic shared memory"), "{error}");
}
