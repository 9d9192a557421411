//! 8-bit floats: every value, every `f16`, and many `f32` and `f64`; on the host against a search through all values,
//! and on devices with and without conversion instructions against the host.

use super::halves::{compiled, run};
use super::{differ, on_device, on_host};
use crate::support::generate::Random;
use cuda_jit::device::{compute_capability, grid, shared, sync_threads};
use cuda_jit::{
    DeviceType, bf16, bf16x2, compile_ptx, device_fn, e4m3, e4m3x2, e5m2, e5m2x2, e8m0, e8m0x2, f16, f16x2, f32x2,
    kernel,
};

/// The targets: without the instructions, and with them.
const TARGETS: [(u32, u32); 5] = [(5, 2), (7, 5), (8, 0), (8, 9), (9, 0)];

/// The nonnegative finite numbers of a signed format, in the order of their codes.
fn numbers(fraction: i32, bias: i32, count: i32) -> Vec<f64> {
    let number = |code: i32| {
        let (exponent, bits) = (code >> fraction, code & ((1 << fraction) - 1));
        let hidden = if exponent == 0 { 0 } else { 1 << fraction };
        f64::from(bits + hidden) * 2f64.powi(exponent.max(1) - bias - fraction)
    };
    (0..count).map(number).collect()
}

/// A signed format, and the code of values beyond its largest number.
struct Format {
    numbers: Vec<f64>,
    /// The number after the largest.
    next: f64,
    beyond: u8,
}

impl Format {
    fn e4m3() -> Self {
        Self { numbers: numbers(3, 7, 0x7f), next: 480.0, beyond: 0x7f }
    }

    fn e5m2() -> Self {
        Self { numbers: numbers(2, 15, 0x7c), next: 65536.0, beyond: 0x7c }
    }

    /// The codes of a number, saturated and unsaturated.
    fn codes(&self, v: f64) -> [u8; 2] {
        if v.is_nan() {
            return [0x7f; 2];
        }
        let sign = if v.is_sign_negative() { 0x80 } else { 0 };
        let all: Vec<f64> = self.numbers.iter().copied().chain([self.next]).collect();
        let distance = |code: usize| (all[code] - v.abs()).abs();
        let nearest = match v.abs() > self.next {
            true => all.len() - 1,
            false => {
                // ties go to the even code
                let key = |code: &usize| (distance(*code), code % 2);
                let better = |a: &usize, b: &usize| key(a).partial_cmp(&key(b)).unwrap();
                (0..all.len()).min_by(better).unwrap()
            }
        };
        let largest = self.numbers.len() - 1;
        let unsaturated = if nearest > largest { self.beyond } else { nearest as u8 };
        [sign | nearest.min(largest) as u8, sign | unsaturated]
    }

    /// The number of a code.
    fn number(&self, code: u8) -> f64 {
        let sign = if code >= 0x80 { -1.0 } else { 1.0 };
        match self.numbers.get(usize::from(code & 0x7f)) {
            Some(number) => sign * number,
            None if code & 0x7f == self.beyond && self.beyond == 0x7c => sign * f64::INFINITY,
            None => f64::NAN,
        }
    }
}

/// The power-of-two scales of a number: rounded up, saturated and unsaturated, and down.
fn scales(v: f64) -> [u8; 4] {
    if v.is_nan() {
        return [0xff; 4];
    }
    let power = |code: i32| 2f64.powi(code - 127);
    let up = (0..255).find(|&code| power(code) >= v.abs()).unwrap_or(255);
    let down = if v.is_infinite() { 255 } else { (0..255).rev().find(|&code| power(code) <= v.abs()).unwrap_or(0) };
    [up.min(254) as u8, up as u8, down.min(254) as u8, down as u8]
}

/// `f32` at every rounding boundary of a format, next to it, and at random; NaN and infinity too.
fn singles() -> Vec<f32> {
    let mut random = Random(8);
    let mut all: Vec<f32> = (0..20_000).map(|_| f32::from_bits(random.next() as u32)).collect();
    for format in [Format::e4m3(), Format::e5m2()] {
        let numbers = format.numbers.iter().copied().chain([format.next, 2.0 * format.next]);
        let numbers: Vec<f32> = numbers.map(|number| number as f32).collect();
        let middles = numbers.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
        all.extend(numbers.iter().copied().chain(middles).flat_map(|v| [v.next_down(), v, v.next_up()]));
    }
    let powers = (-149..128).map(|power| 2f64.powi(power) as f32);
    all.extend(powers.flat_map(|v| [v.next_down(), v, v.next_up(), v * 1.5]));
    all.extend([0.0, f32::NAN, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE, f32::from_bits(0x7f80_0001)]);
    all.iter().flat_map(|v| [*v, -v]).collect()
}

/// `f64` values next to an `f32`, for which double rounding is wrong.
fn doubles() -> Vec<f64> {
    let near = |v: f32| [f64::from(v).next_down(), f64::from(v), f64::from(v).next_up()];
    singles().into_iter().filter(|v| !v.is_nan()).flat_map(near).chain([1e300, -1e300, 5e-324, f64::MAX]).collect()
}

#[test]
fn the_host_rounds_as_the_formats_say() {
    let (small, large) = (Format::e4m3(), Format::e5m2());
    let check = |v: f64, [a, b, c, d]: [u8; 4], scale: [u8; 4]| {
        assert_eq!([a, b], small.codes(v), "e4m3 of {v:e}");
        assert_eq!([c, d], large.codes(v), "e5m2 of {v:e}");
        assert_eq!(scale, scales(v), "e8m0 of {v:e}");
    };
    macro_rules! check_all {
        ($values:expr, $up:ident $up_nosat:ident $down:ident $down_nosat:ident) => {
            for v in $values {
                let signed = [
                    e4m3::$up(v).to_bits(),
                    e4m3::$up_nosat(v).to_bits(),
                    e5m2::$up(v).to_bits(),
                    e5m2::$up_nosat(v).to_bits(),
                ];
                let scales = [e8m0::$up(v), e8m0::$up_nosat(v), e8m0::$down(v), e8m0::$down_nosat(v)];
                check(f64::from(v), signed, scales.map(e8m0::to_bits));
            }
        };
    }
    check_all!(singles(), from_f32 from_f32_nosat from_f32_rz from_f32_rz_nosat);
    check_all!(doubles(), from_f64 from_f64_nosat from_f64_rz from_f64_rz_nosat);
    check_all!((0..=u16::MAX).map(f16::from_bits), from_f16 from_f16_nosat from_f16_rz from_f16_rz_nosat);
    check_all!((0..=u16::MAX).map(bf16::from_bits), from_bf16 from_bf16_nosat from_bf16_rz from_bf16_rz_nosat);
}

/// CUDA's headers decode a 64-bit NaN: the sign is kept, and for `e5m2` the payload bits that fit.
#[test]
fn nan_of_64_bits_keeps_its_sign() {
    let nan = |bits| f64::from_bits(bits);
    assert_eq!(e4m3::from_f64(nan(0xfff8_0000_0000_0000)).to_bits(), 0xff);
    assert_eq!(e5m2::from_f64(nan(0xfff8_0000_0000_0000)).to_bits(), 0xfe);
    assert_eq!(e5m2::from_f64_nosat(nan(0x7ffc_0000_0000_0000)).to_bits(), 0x7f);
    assert_eq!(e5m2::from_f64(nan(0x7ff0_0000_0000_0001)).to_bits(), 0x7e);
}

#[test]
fn every_code_is_its_number() {
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    for code in 0..=255 {
        let (small, large, scale) = (e4m3::from_bits(code), e5m2::from_bits(code), e8m0::from_bits(code));
        let power = if code == 255 { f64::NAN } else { 2f64.powi(i32::from(code) - 127) };
        let expected = [Format::e4m3().number(code), Format::e5m2().number(code), power];
        let wide = [small.to_f64(), large.to_f64(), scale.to_f64()];
        let single = [small.to_f32(), large.to_f32(), scale.to_f32()].map(f64::from);
        let brain = [small.to_bf16(), large.to_bf16(), scale.to_bf16()].map(f64::from);
        let half = [small.to_f16(), large.to_f16()].map(f64::from);
        for found in [wide, single, brain] {
            assert!(found.iter().zip(&expected).all(|(a, b)| same(*a, *b)), "{code:#x}: {found:?}, not {expected:?}");
        }
        assert!(half.iter().zip(&expected).all(|(a, b)| same(*a, *b)), "{code:#x}: {half:?}");
        assert_eq!([small.is_nan(), large.is_nan(), scale.is_nan()], expected.map(f64::is_nan));
        assert_eq!(small == small, !small.is_nan());
    }
    assert_eq!([e4m3::MAX, e4m3::MIN, e4m3::ONE].map(e4m3::to_f32), [448.0, -448.0, 1.0]);
    assert_eq!([e5m2::MAX, e5m2::ONE, e5m2::INFINITY].map(e5m2::to_f32), [57344.0, 1.0, f32::INFINITY]);
    assert_eq!([e4m3::EPSILON, e4m3::MIN_POSITIVE].map(e4m3::to_f64), [0.125, 0.015_625]);
    assert_eq!([e5m2::EPSILON, e5m2::MIN_POSITIVE_SUBNORMAL].map(e5m2::to_f64), [0.25, 2f64.powi(-16)]);
    assert_eq!(e8m0::ONE.to_f32(), 1.0);
    assert_eq!(e4m3::from_f32(1.06).to_string(), "1");
}

macro_rules! narrowing {
    ($($name:ident: $from:ty, $saturating:ident $nosat:ident $down:ident $down_nosat:ident;)*) => { $(
        #[kernel]
        fn $name(x: &[$from], out: &mut [u16]) {
            let i = grid::<1>();
            if i < x.len() {
                let v = x[i];
                let two = |low: u8, high: u8| low as u16 | (high as u16) << 8;
                out[4 * i] = two(e4m3::$saturating(v).to_bits(), e4m3::$nosat(v).to_bits());
                out[4 * i + 1] = two(e5m2::$saturating(v).to_bits(), e5m2::$nosat(v).to_bits());
                out[4 * i + 2] = two(e8m0::$saturating(v).to_bits(), e8m0::$nosat(v).to_bits());
                out[4 * i + 3] = two(e8m0::$down(v).to_bits(), e8m0::$down_nosat(v).to_bits());
            }
        }
    )* };
}

narrowing! {
    of_single: f32, from_f32 from_f32_nosat from_f32_rz from_f32_rz_nosat;
    of_double: f64, from_f64 from_f64_nosat from_f64_rz from_f64_rz_nosat;
    of_half: f16, from_f16 from_f16_nosat from_f16_rz from_f16_rz_nosat;
    of_brain: bf16, from_bf16 from_bf16_nosat from_bf16_rz from_bf16_rz_nosat;
}

#[kernel]
fn wider(x: &[u8], out: &mut [u16]) {
    let i = grid::<1>();
    if i < x.len() {
        let (small, large, scale) = (e4m3::from_bits(x[i]), e5m2::from_bits(x[i]), e8m0::from_bits(x[i]));
        let at = 12 * i;
        out[at] = small.to_f16().to_bits();
        out[at + 1] = large.to_f16().to_bits();
        out[at + 2] = small.to_bf16().to_bits();
        out[at + 3] = large.to_bf16().to_bits();
        out[at + 4] = scale.to_bf16().to_bits();
        // the bits of a 32-bit NaN are unspecified
        let bits = |v: f32| if v.is_nan() { 0x7fc0_0000 } else { v.to_bits() };
        out[at + 5] = (bits(small.to_f32()) >> 16) as u16;
        out[at + 6] = (bits(large.to_f32()) >> 16) as u16;
        out[at + 7] = (bits(scale.to_f32()) >> 16) as u16;
        out[at + 8] = (bits(small.to_f32()) | bits(large.to_f32()) | bits(scale.to_f32())) as u16;
        out[at + 9] = (bits(small.to_f64() as f32) >> 16) as u16;
        out[at + 10] = (small.is_nan() as u16) | (large.is_nan() as u16) << 1 | (scale.is_nan() as u16) << 2;
        out[at + 11] = (small == e4m3::from_bits(x[0])) as u16 | (large != e5m2::INFINITY) as u16 * 2;
    }
}

#[kernel]
fn pairs(x: &[f32x2], out: &mut [u16]) {
    let i = grid::<1>();
    if i < x.len() {
        let at = 16 * i;
        let halves = f16x2 { x: f16::from_f32(x[i].x), y: f16::from_f32(x[i].y) };
        let brains = bf16x2 { x: bf16::from_f32(x[i].x), y: bf16::from_f32(x[i].y) };
        let (small, large) = (e4m3x2::from_f32x2(x[i]), e5m2x2::from_f32x2(x[i]));
        out[at] = small.to_bits();
        out[at + 1] = e4m3x2::from_f32x2_nosat(x[i]).to_bits();
        out[at + 2] = e4m3x2::from_f16x2(halves).to_bits();
        out[at + 3] = e4m3x2::from_bf16x2_nosat(brains).to_bits();
        out[at + 4] = large.to_bits();
        out[at + 5] = e5m2x2::from_f32x2_nosat(x[i]).to_bits();
        out[at + 6] = e5m2x2::from_f16x2_nosat(halves).to_bits();
        out[at + 7] = e5m2x2::from_bf16x2(brains).to_bits();
        out[at + 8] = small.to_f16x2().x.to_bits();
        out[at + 9] = small.to_f16x2().y.to_bits();
        out[at + 10] = large.to_f16x2().y.to_bits();
        out[at + 11] = large.to_bf16x2().x.to_bits();
        out[at + 12] = (small.to_f32x2() == f32x2 { x: small.x.to_f32(), y: small.y.to_f32() }) as u16;
        let scale = e8m0x2::from_f32x2(x[i]);
        out[at + 13] = scale.x.to_bits() as u16 | (scale.y.to_bits() as u16) << 8;
        out[at + 14] = scale.to_bf16x2().y.to_bits();
        out[at + 15] = e5m2x2::from_bits(large.to_bits()).y.to_bits() as u16;
    }
}

/// Runs a kernel for each target and on the host, and compares bit for bit.
macro_rules! everywhere {
    ($kernel:ident, $x:expr, $each:expr) => {{
        let x = $x;
        let blocks = x.len().div_ceil(256);
        let mut host = vec![0u16; x.len() * $each];
        cuda_jit::host::for_each_thread((blocks, 256), || $kernel(&x, &mut host));
        for target in TARGETS {
            let ptx = compiled::<$kernel>(target);
            assert_eq!(ptx.contains("cvt.rn.satfinite.e") || ptx.contains("cvt.rn.f16x2.e"), target >= (8, 9), "{ptx}");
            let device = run(&ptx, &x, host.len());
            let differs = device.iter().zip(&host).position(|(device, host)| device != host);
            if let Some(at) = differs {
                let of = x[at / $each];
                panic!("{target:?}: {of:?}, result {}: {:#x}, not {:#x}", at % $each, device[at], host[at]);
            }
        }
    }};
}

#[test]
fn devices_do_what_the_host_does() {
    everywhere!(wider, (0..=255).collect::<Vec<u8>>(), 12);
    everywhere!(of_single, singles(), 4);
    everywhere!(of_half, (0..=u16::MAX).map(f16::from_bits).collect::<Vec<_>>(), 4);
    everywhere!(of_brain, (0..=u16::MAX).map(bf16::from_bits).collect::<Vec<_>>(), 4);
    everywhere!(of_double, doubles(), 4);
    let singles = singles();
    let pair = |(i, x): (usize, &f32)| f32x2::new(*x, singles[(i * 7 + 3) % singles.len()]);
    everywhere!(pairs, singles.iter().enumerate().map(pair).collect::<Vec<_>>(), 16);
}

/// Targets without the instructions have none in their code, at any optimisation level.
#[kernel(opt = 0)]
fn unoptimised(x: &[f32], out: &mut [e4m3]) {
    out[0] = e4m3::from_f32(x[0]);
}

#[test]
fn code_for_older_devices_has_no_instruction_of_newer_ones() {
    for target in [(7, 5), (8, 0)] {
        assert!(!compile_ptx::<unoptimised>(target).unwrap().contains("e4m3x2"));
    }
    let ptx = compile_ptx::<unoptimised>((8, 9)).unwrap();
    assert!(ptx.contains(".version 8.1") && ptx.contains("e4m3x2"), "{ptx}");
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Block {
    scale: e8m0,
    codes: [e4m3; 3],
    wide: e5m2x2,
}

const BIASES: [e5m2; 2] = [e5m2::ONE, e5m2::MAX];

#[kernel]
fn places<F: Fn(e4m3) -> e5m2>(f: F, given: e4m3, x: &[Block], codes: &mut [e4m3], out: &mut [Block]) {
    let i = grid::<1>();
    let tile = shared!([e4m3; 4]);
    tile[i] = x[i].codes[i % 3];
    sync_threads();
    let mut block = x[i];
    block.scale = e8m0::from_f32(x[i].scale.to_f32() * 3.0);
    block.codes[1] = tile[(i + 1) % 4];
    block.codes[2] = given;
    block.wide = e5m2x2 { x: f(x[i].codes[0]), y: BIASES[i % 2] };
    if block.wide.y == e5m2::MAX && block.codes[2] != e4m3::ZERO {
        codes[i] = block.codes[1];
    }
    out[i] = block;
}

#[test]
fn they_lie_wherever_numbers_do() {
    let code = |v: f32| e4m3::from_f32(v);
    let block = |i: usize| Block {
        scale: e8m0::from_bits(120 + i as u8),
        codes: [code(i as f32), code(0.25), code(-1.5 * i as f32)],
        wide: e5m2x2::default(),
    };
    let x: Vec<Block> = (0..4).map(block).collect();
    let (mut codes, mut out) = (on_device(&[e4m3::ZERO; 4]), on_device(&x));
    let step = e4m3::from_f32(0.5);
    let f = device_fn!(|v: e4m3| e5m2::from_f32(v.to_f32() + step.to_f32()));
    places::launch((1, 4), f, code(7.0), &on_device(&x), &mut codes, &mut out).unwrap();
    let (codes, out) = (on_host(&codes), on_host(&out));
    for i in 0..4 {
        let next = x[(i + 1) % 4].codes[(i + 1) % 4 % 3];
        assert_eq!(out[i].scale.to_bits(), 122 + i as u8);
        assert_eq!(out[i].codes, [code(i as f32), next, code(7.0)]);
        assert_eq!(out[i].wide, e5m2x2::new(e5m2::from_f32(i as f32 + 0.5), BIASES[i % 2]));
        assert_eq!(codes[i], if i % 2 == 1 { next } else { e4m3::ZERO });
    }
}

#[kernel]
fn capability(out: &mut [u32]) {
    out[grid::<1>()] = if compute_capability() == 0 { 0 } else { compute_capability() - 90 };
}

#[test]
fn the_capability_is_the_targets() {
    // the software device is an `sm_90`
    differ!(capability, (1, 1), [], vec![1u32]);
    let ptx = compile_ptx::<capability>((12, 0)).unwrap();
    assert!(ptx.contains(", 30;"), "{ptx}");
}
