//! Warps: matches, reductions, masks, clocks, and operations on bits, against what the host computes.

use super::{differ, on_device, on_host};
use cuda_jit::device::{
    FULL_MASK, brev, byte_perm, clock, clock64, clz, dp4a, ffs, funnelshift_l, funnelshift_r, globaltimer, grid,
    lane_id, lanemask_eq, lanemask_ge, lanemask_gt, lanemask_le, lanemask_lt, match_all_sync, match_any_sync,
    nanosleep, popc, reduce_add_sync, reduce_and_sync, reduce_max_sync, reduce_min_sync, reduce_or_sync,
    reduce_xor_sync, thread_idx,
};
use cuda_jit::kernel;
use cuda_jit::target::Target;

#[kernel]
fn reduced(mask: u32, x: &[u32], y: &[i32], out: &mut [u32], signed: &mut [i32]) {
    let i = grid::<1>();
    let n = x.len();
    if mask >> lane_id() & 1 == 1 {
        out[i] = reduce_add_sync(mask, x[i]);
        out[n + i] = reduce_min_sync(mask, x[i]);
        out[2 * n + i] = reduce_max_sync(mask, x[i]);
        out[3 * n + i] = reduce_and_sync(mask, x[i]);
        out[4 * n + i] = reduce_or_sync(mask, x[i]);
        out[5 * n + i] = reduce_xor_sync(mask, x[i]);
        signed[i] = reduce_add_sync(mask, y[i]);
        signed[n + i] = reduce_min_sync(mask, y[i]);
        signed[2 * n + i] = reduce_max_sync(mask, y[i]);
    }
}

fn check_reductions(mask: u32) {
    let x: Vec<u32> = (0..64).map(|i: u32| i.wrapping_mul(0x9e37_79b9) | 0x10).collect();
    let y: Vec<i32> = x.iter().map(|&v| v as i32 / 3).collect();
    let (mut out, mut signed) = (on_device(&[0u32; 6 * 64]), on_device(&[0i32; 3 * 64]));
    reduced::launch((2, 32), mask, &on_device(&x), &on_device(&y), &mut out, &mut signed).unwrap();
    let (out, signed) = (on_host(&out), on_host(&signed));
    for i in (0..64).filter(|i| mask >> (i % 32) & 1 == 1) {
        let lanes = (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| i / 32 * 32 + lane);
        let fold = |op: fn(u32, u32) -> u32| lanes.clone().map(|at| x[at]).reduce(op).unwrap();
        let found: Vec<u32> = (0..6).map(|row| out[row * 64 + i]).collect();
        let ops: [fn(u32, u32) -> u32; 6] =
            [u32::wrapping_add, u32::min, u32::max, |a, b| a & b, |a, b| a | b, |a, b| a ^ b];
        assert_eq!(found, ops.map(fold), "lane {i} of {mask:#x}");
        let fold = |op: fn(i32, i32) -> i32| lanes.clone().map(|at| y[at]).reduce(op).unwrap();
        let found: Vec<i32> = (0..3).map(|row| signed[row * 64 + i]).collect();
        let ops: [fn(i32, i32) -> i32; 3] = [i32::wrapping_add, i32::min, i32::max];
        assert_eq!(found, ops.map(fold), "lane {i} of {mask:#x}");
    }
}

#[test]
fn lanes_are_reduced() {
    [FULL_MASK, 0x0f0f_1234, 1, 0x8000_0000, 0xffff_fffe].into_iter().for_each(check_reductions);
}

/// Devices before compute capability 8.0 shuffle; the software device runs that code too.
#[test]
fn lanes_are_reduced_by_older_devices() {
    let old = |test: &str| crate::around::child(test, &[("CUDA_SIM_PROFILE", "sm_75".as_ref())]);
    if crate::around::is_child() {
        let _selected = super::context().select();
        let ptx = reduced::compile().unwrap().ptx();
        assert!(ptx.contains("shfl.sync") && !ptx.contains("redux"), "{ptx}");
        lanes_are_reduced();
        return;
    }
    old("language::warps::lanes_are_reduced_by_older_devices");
}

#[kernel]
fn matches(x: &[i32], y: &[f64], out: &mut [u32]) {
    let i = thread_idx().x;
    let n = x.len();
    let (all, same) = match_all_sync(FULL_MASK, x[i]);
    out[i] = all;
    out[n + i] = same as u32;
    let found = match_all_sync(FULL_MASK, y[i]);
    out[2 * n + i] = found.0;
    out[3 * n + i] = if found.1 { 1 } else { 0 };
    out[4 * n + i] = match_any_sync(FULL_MASK, y[i]);
}

#[test]
fn lanes_match() {
    let x: Vec<i32> = (0..64).map(|i| if i < 32 { 7 } else { i }).collect();
    let y: Vec<f64> = (0..64).map(|i| if i < 32 { f64::from(i % 3) } else { f64::NAN }).collect();
    let mut out = on_device(&[9u32; 5 * 64]);
    matches::launch((1, 64), &on_device(&x), &on_device(&y), &mut out).unwrap();
    let out = on_host(&out);
    for i in 0..64 {
        let (all_x, all_y) = (i < 32, i >= 32);
        let row = |row: usize| out[row * 64 + i];
        assert_eq!((row(0), row(1)), if all_x { (FULL_MASK, 1) } else { (0, 0) });
        assert_eq!((row(2), row(3)), if all_y { (FULL_MASK, 1) } else { (0, 0) });
        let same = |lane: &usize| y[i / 32 * 32 + lane].to_bits() == y[i].to_bits();
        assert_eq!(row(4), (0..32).filter(same).fold(0, |mask, lane| mask | 1 << lane));
    }
}

#[kernel]
fn masks(out: &mut [u32]) {
    let (i, n) = (grid::<1>(), 64);
    out[i] = lanemask_eq();
    out[n + i] = lanemask_lt();
    out[2 * n + i] = lanemask_le();
    out[3 * n + i] = lanemask_gt();
    out[4 * n + i] = lanemask_ge();
}

#[test]
fn lanes_know_the_others() {
    let out = differ!(masks, (1, 64), [], vec![0u32; 5 * 64]);
    assert_eq!((out[32 + 5], out[64 + 5], out[4 * 64 + 31]), (1 << 5, 0x1f, 1 << 31));
}

#[kernel]
fn bits(x: &[u32], y: &[i64], wide: &mut [i64]) {
    let (i, n) = (grid::<1>(), x.len());
    let (v, w) = (x[i], y[i]);
    wide[i] = popc(v) as i64 + popc(w) as i64 * 100;
    wide[n + i] = clz(v) as i64 + clz(w) as i64 * 100;
    wide[2 * n + i] = ffs(v) as i64 + ffs(w) as i64 * 100;
    wide[3 * n + i] = brev(v) as i64 ^ brev(w);
    wide[4 * n + i] = byte_perm(v, w as u32, w as u32 ^ v) as i64;
    wide[5 * n + i] = funnelshift_l(v, w as u32, v) as i64;
    wide[6 * n + i] = funnelshift_r(v, w as u32, v) as i64;
    wide[7 * n + i] = dp4a(v, w as u32, v) as i64;
    wide[8 * n + i] = dp4a(v as i32, w as i32, v as i32) as i64;
}

#[test]
fn bits_are_as_on_the_host() {
    let x: Vec<u32> = (0..64).map(|i: u32| if i == 7 { 0 } else { i.wrapping_mul(0x9e37_79b9) >> (i % 32) }).collect();
    let y: Vec<i64> = x.iter().map(|&v| i64::from(v).wrapping_mul(-0x61c8_8646_80b5_83eb) >> (v % 60)).collect();
    differ!(bits, (1, 64), [&x[..], &y[..]], vec![0i64; 9 * 64]);
}

#[kernel]
fn times(out: &mut [u64]) {
    let (low, cycles, time) = (clock(), clock64(), globaltimer());
    nanosleep(20);
    out[0] = (clock64() > cycles) as u64;
    out[1] = (globaltimer() >= time) as u64;
    out[2] = (clock() != low) as u64;
}

#[test]
fn time_goes_on() {
    let mut out = on_device(&[0u64; 3]);
    times::launch((1, 1), &mut out).unwrap();
    assert_eq!(on_host(&out), [1, 1, 1]);
}

#[test]
fn devices_without_an_instruction_are_named() {
    let error = matches::compile_ptx((6, 1)).unwrap_err().to_string();
    assert!(error.contains("`match_all_sync` needs sm_70 or newer, and the target is sm_61"), "{error}");
    for target in Target::all() {
        let cc = target.capability();
        reduced::compile_ptx(cc).unwrap();
        masks::compile_ptx(cc).unwrap();
        bits::compile_ptx(cc).unwrap();
        times::compile_ptx(cc).unwrap();
        assert_eq!(matches::compile_ptx(cc).is_ok(), cc >= (7, 0).into(), "{target}");
    }
}
