//! Atomic operations of every type, ordering and scope, against the host, where threads run sequentially.

use super::{differ, on_device, on_host};
use cuda_jit::device::{
    AtomicNumber, atomic_add, atomic_add_with, atomic_and_with, atomic_dec, atomic_dec_with, atomic_exch,
    atomic_exch_with, atomic_fence, atomic_inc, atomic_load, atomic_load_with, atomic_max, atomic_max_with, atomic_min,
    atomic_min_with, atomic_nanmax, atomic_nanmax_with, atomic_nanmin, atomic_or_with, atomic_store, atomic_store_with,
    atomic_sub, atomic_sub_with, atomic_xor_with, block_idx, cas, cas_with, grid, order, scope, shared, sync_threads,
    thread_idx,
};
use cuda_jit::target::Target;
use cuda_jit::{Num, kernel};
use half::{bf16, f16};

/// Serialises the threads, so that the old values equal the host's: each block has one thread, which waits for its
/// turn.
#[kernel]
fn in_turn<T: Num + AtomicNumber>(x: &[T], turn: &mut [u32], out: &mut [T]) {
    let i = grid::<1>();
    while atomic_load_with(&mut turn[0], scope::Device, order::Acquire) != i as u32 {}
    let v = x[i];
    let n = x.len();
    out[6 + i] = atomic_add(&mut out[0], v);
    out[6 + n + i] = atomic_sub(&mut out[1], v);
    out[6 + 2 * n + i] = atomic_min(&mut out[2], v);
    out[6 + 3 * n + i] = atomic_max(&mut out[3], v);
    out[6 + 4 * n + i] = atomic_nanmin(&mut out[4], v);
    out[6 + 5 * n + i] = atomic_nanmax(&mut out[5], v);
    out[6 + 6 * n + i] = cas(&mut out[2], v, T::ONE);
    out[6 + 7 * n + i] = atomic_exch(&mut out[3], v);
    atomic_store_with(&mut turn[0], i as u32 + 1, scope::Device, order::Release);
}

fn turns<T: Num + AtomicNumber + std::fmt::Debug>(x: &[T], first: [T; 6]) -> Vec<T> {
    let mut host = first.to_vec();
    host.resize(6 + 8 * x.len(), T::ZERO);
    let (mut out, mut turn) = (on_device(&host), on_device(&[0]));
    in_turn::launch((x.len(), 1), &on_device(x), &mut turn, &mut out).unwrap();
    let out = on_host(&out);
    let mut turn = [0];
    cuda_jit::host::for_each_thread((x.len(), 1), || in_turn(x, &mut turn, &mut host));
    // the NaN of a sum is unspecified
    let one = |v: T| if v != v { u128::MAX } else { cuda_jit::typeinfo::bits_of(v) };
    let bits = |values: &[T]| values.iter().map(|&v| one(v)).collect::<Vec<u128>>();
    assert_eq!(bits(&out), bits(&host), "device {out:?}, host {host:?}");
    out
}

#[test]
fn every_number_type() {
    turns::<i32>(&[5, -7, i32::MIN, i32::MAX, 0, 3], [1, 2, 3, -4, i32::MAX, i32::MIN]);
    turns::<u32>(&[5, 7, u32::MAX, 0, 3], [1, 2, 9, 4, 5, 6]);
    turns::<i64>(&[5, -7, i64::MIN, i64::MAX, 0, 3], [1, 2, 3, -4, i64::MAX, i64::MIN]);
    turns::<u64>(&[5, 7, u64::MAX, 0, 3], [1, 2, 9, 4, 5, 6]);
    turns::<usize>(&[5, 7, 1 << 40], [1, 2, 9, 4, 5, 6]);
    turns::<isize>(&[5, -7, 1 << 40], [1, 2, 9, 4, 5, 6]);
}

#[test]
fn floats_with_nan_and_zeros() {
    let special = [f64::NAN, 2.0, -0.0, 0.0, -0.0, f64::NEG_INFINITY, f64::NAN, f64::INFINITY, 1e-310];
    let narrow = special.map(|v| v as f32);
    for first in [0.0, -0.0, f64::NAN, 1.5, -3.0] {
        turns::<f64>(&special, [0.5, 0.5, first, first, first, first]);
        // the device flushes subnormal `f32` sums, the host does not
        turns::<f32>(&narrow[..8], [0.5, 0.5, first as f32, first as f32, first as f32, first as f32]);
    }
}

#[test]
fn floats_of_16_bits() {
    let special = [f32::NAN, 2.0, -0.0, 0.0, -0.0, f32::NEG_INFINITY, 1.0, f32::INFINITY, 6e-8, -65504.0];
    for first in [0.0, -0.0, f32::NAN, 1.5, -3.0] {
        let first = [0.5, 0.5, first, first, first, first];
        turns::<f16>(&special.map(f16::from_f32), first.map(f16::from_f32));
        turns::<bf16>(&special.map(bf16::from_f32), first.map(bf16::from_f32));
    }
}

#[kernel]
fn halves_added(x: &[f16], y: &[bf16], out: &mut [f16], wide: &mut [bf16]) {
    let mine = shared!([f16; 2]);
    let i = thread_idx().x;
    if i < 2 {
        mine[i] = x[i];
    }
    sync_threads();
    atomic_add_with(&mut mine[1], x[i], scope::Block, order::AcqRel);
    atomic_add(&mut out[1], x[i]);
    atomic_sub_with(&mut wide[0], y[i], scope::System, order::SeqCst);
    sync_threads();
    if i == 0 {
        out[0] = mine[1];
    }
}

/// Sums that are exact in every order; neighbouring halves share a word.
#[test]
fn halves_are_added_beside_each_other() {
    let x = [f16::from_f32(0.5); 64];
    let y = [bf16::from_f32(2.0); 64];
    let (mut out, mut wide) = (on_device(&[f16::from_f32(1.0); 3]), on_device(&[bf16::from_f32(0.0); 2]));
    halves_added::launch((1, 64), &on_device(&x), &on_device(&y), &mut out, &mut wide).unwrap();
    assert_eq!(on_host(&out).iter().map(|v| v.to_f32()).collect::<Vec<_>>(), [32.5, 33.0, 1.0]);
    assert_eq!(on_host(&wide).iter().map(|v| v.to_f32()).collect::<Vec<_>>(), [-128.0, 0.0]);
    let ptx = halves_added::compile_ptx((9, 0)).unwrap();
    assert!(ptx.contains("atom.acq_rel.cta.shared.add.noftz.f16") && ptx.contains(".add.noftz.bf16"), "{ptx}");
    for target in Target::all() {
        halves_added::compile_ptx(target.capability()).unwrap();
    }
}

#[test]
fn nan_changes_nothing_or_counts_as_nothing() {
    let out = turns::<f32>(&[f32::NAN], [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    // the second is exchanged last
    assert!(out[2] == 1.0 && out[3].is_nan() && out[4..6] == [1.0, 1.0], "{out:?}");
    let out = turns::<f32>(&[2.0], [0.0, 0.0, f32::NAN, f32::NAN, f32::NAN, f32::NAN]);
    assert!(out[2].is_nan() && out[3] == 2.0, "{out:?}");
    assert_eq!(out[4..6], [2.0, 2.0]);
    let out = turns::<f32>(&[-0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(out[4].is_sign_negative() && !out[5].is_sign_negative(), "{out:?}");
}

#[kernel]
fn extremes(x: &[f32], y: &[f64], out: &mut [f32], wide: &mut [f64]) {
    let mine = shared!([f64; 2]);
    let i = grid::<1>();
    if thread_idx().x == 0 {
        mine[0] = f64::NAN;
        mine[1] = f64::NAN;
    }
    sync_threads();
    if i < x.len() {
        atomic_min(&mut out[0], x[i]);
        atomic_max_with(&mut out[1], x[i], scope::System, order::SeqCst);
        atomic_nanmin(&mut mine[0], y[i]);
        atomic_nanmax_with(&mut mine[1], y[i], scope::Block, order::AcqRel);
    }
    sync_threads();
    if thread_idx().x == 0 {
        atomic_min(&mut wide[0], mine[0]);
        atomic_max(&mut wide[1], mine[1]);
    }
}

#[test]
fn threads_find_the_extremes_together() {
    let x: Vec<f32> = (0..1000).map(|i| (i * 7919 % 1009) as f32 - 500.0).collect();
    let y: Vec<f64> = x.iter().map(|&v| if v == 3.0 { f64::NAN } else { f64::from(v) * 2.0 }).collect();
    let (mut out, mut wide) = (on_device(&[f32::INFINITY, f32::NEG_INFINITY]), on_device(&[0.0, 0.0]));
    extremes::launch((4, 256), &on_device(&x), &on_device(&y), &mut out, &mut wide).unwrap();
    let (min, max) = x.iter().fold((x[0], x[0]), |(min, max), &v| (min.min(v), max.max(v)));
    assert_eq!(on_host(&out), [min, max]);
    assert_eq!(on_host(&wide), [f64::from(min) * 2.0, f64::from(max) * 2.0]);
}

#[kernel]
fn counters(narrow: &mut [u32], wide: &mut [u64]) {
    let i = grid::<1>();
    atomic_inc(&mut narrow[0], 9);
    atomic_dec(&mut narrow[1], 9);
    atomic_inc(&mut wide[0], 1 << 33);
    atomic_inc(&mut wide[1], 6);
    atomic_dec_with(&mut wide[2], 1 << 33, scope::System, order::Release);
    if i == 0 {
        wide[4] = atomic_dec(&mut wide[3], 5);
    }
}

#[test]
fn counters_of_both_widths() {
    let (first, wide) = (vec![0, 0], vec![(1u64 << 33) - 10, 0, 5, 100, 0]);
    let (mut a, mut b) = (on_device(&first), on_device(&wide));
    counters::launch((4, 32), &mut a, &mut b).unwrap();
    let (mut host_a, mut host_b) = (first, wide);
    cuda_jit::host::for_each_thread((4, 32), || counters(&mut host_a, &mut host_b));
    assert_eq!((on_host(&a), on_host(&b)), (host_a, host_b));
}

#[kernel]
fn halves(x: &mut [u16], y: &mut [i16]) {
    let i = thread_idx().x % x.len();
    let mut seen = atomic_load(&mut x[i]);
    loop {
        let found = cas(&mut x[i], seen, seen + 3);
        if found == seen {
            break;
        }
        seen = found;
    }
    if block_idx().x == 0 && thread_idx().x == 0 {
        atomic_store(&mut y[1], -5);
        y[0] = cas_with(&mut y[1], -5, 7, scope::Block, order::SeqCst);
    }
}

#[test]
fn halves_are_exchanged_beside_each_other() {
    let (mut x, mut y) = (on_device(&[1u16, 2, 3]), on_device(&[0i16, 0]));
    halves::launch((4, 96), &mut x, &mut y).unwrap();
    assert_eq!((on_host(&x), on_host(&y)), (vec![385, 386, 387], vec![-5, 7]));
}

#[kernel]
fn ordered(x: &[u32], out: &mut [u32], sum: &mut [f64]) {
    let i = grid::<1>();
    let v = x[i];
    atomic_add_with(&mut out[0], v, scope::Device, order::AcqRel);
    atomic_sub_with(&mut out[1], v, scope::System, order::SeqCst);
    atomic_min_with(&mut out[2], v, scope::Device, order::Acquire);
    atomic_max_with(&mut out[3], v, scope::Device, order::Release);
    atomic_and_with(&mut out[4], v | 64, scope::System, order::Relaxed);
    atomic_or_with(&mut out[5], v, scope::Device, order::SeqCst);
    atomic_xor_with(&mut out[6], v, scope::Device, order::AcqRel);
    atomic_exch_with(&mut out[7], 5, scope::System, order::AcqRel);
    atomic_fence(scope::Device, order::AcqRel);
    atomic_add_with(&mut sum[0], v as f64, scope::System, order::Release);
    atomic_sub_with(&mut sum[1], v as f64, scope::Device, order::SeqCst);
}

#[test]
fn orders_lose_nothing() {
    let x: Vec<u32> = (0..512).map(|v| v * 7 % 513).collect();
    let first = [3, 9, 500, 0, u32::MAX, 0, 0, 0];
    let (mut out, mut sum) = (on_device(&first), on_device(&[0.0, 0.0]));
    ordered::launch((8, 64), &on_device(&x), &mut out, &mut sum).unwrap();
    let (mut host, mut host_sum) = (first, [0.0, 0.0]);
    cuda_jit::host::for_each_thread((8, 64), || ordered(&x, &mut host, &mut host_sum));
    assert_eq!((on_host(&out), on_host(&sum)), (host.to_vec(), host_sum.to_vec()));
}

#[kernel]
fn own(out: &mut [u32]) {
    let i = grid::<1>();
    let mut mine = 5;
    out[i] = atomic_add_with(&mut mine, i as u32, scope::Block, order::SeqCst) + mine;
}

#[test]
fn a_number_of_the_threads_own() {
    assert_eq!(differ!(own, (1, 3), [], vec![0u32; 3]), [10, 11, 12]);
}

/// Orderings and scopes are in the code, and every device has code for them.
#[test]
fn orders_are_in_the_code() {
    let ptx = ordered::compile_ptx((9, 0)).unwrap();
    for inst in ["atom.acq_rel.gpu.global.add.u32", "fence.acq_rel.gpu", "atom.release.sys.global.add.f64"] {
        assert!(ptx.contains(inst), "{inst} in\n{ptx}");
    }
    for target in Target::all() {
        let cc = target.capability();
        ordered::compile_ptx(cc).unwrap();
        halves::compile_ptx(cc).unwrap();
        extremes::compile_ptx(cc).unwrap();
        in_turn::<i64>::compile_ptx(cc).unwrap();
    }
}
