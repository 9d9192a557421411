//! Extreme values of each type, and pseudo-random ones.

use crate::device::Inputs;
use crate::instance::Instance;
use crate::random::Random;
use cuda_sim::ptx::{Opcode, Type};

const SINGLES: &[u32] = &[
    0x0000_0000,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7fc0_0000,
    0xff80_0001,
    0x7f80_0000,
    0xff80_0000,
    0x0000_0001,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x3fc0_0000,
    0xc020_0000,
    0x3f00_0000,
    0x3eaa_aaab,
    0x4b80_0001,
    0x4f00_0000,
    0xcf00_0000,
    0x5f80_0000,
    0x3f7f_ffff,
    0x477f_e000,
    0x477f_f000,
    0x3380_0000,
    0x3300_0001,
    0x437f_8000,
    0xc300_8000,
    0x0040_0000,
    0x3f80_8000,
    0x3f81_8000,
    0x7f00_0000,
    0x5f00_0000,
    0x3f80_1000,
    0x4e80_0000,
];

const HALVES: &[u16] = &[
    0x0000, 0x8000, 0x3c00, 0xbc00, 0x7e00, 0xfe01, 0x7c00, 0xfc00, 0x0001, 0x83ff, 0x0400, 0x8400, 0x7bff, 0xfbff,
    0x3e00, 0xc100, 0x3800, 0x3555, 0x3bff, 0x5bf8, 0x0200, 0x1400, 0x77ff, 0x6400,
];

const BRAINS: &[u16] = &[
    0x0000, 0x8000, 0x3f80, 0xbf80, 0x7fc0, 0xffc1, 0x7f80, 0xff80, 0x0001, 0x807f, 0x0080, 0x8080, 0x7f7f, 0xff7f,
    0x3fc0, 0xc020, 0x3f00, 0x3eab, 0x3f7f, 0x4b81, 0x0040, 0x2000, 0x5f01, 0x4300,
];

const DOUBLES: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    5e-324,
    -2.225_073_858_507_201e-308,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    1.5,
    -2.5,
    0.5,
    1.0 / 3.0,
    9007199254740993.0,
    4294967296.5,
    -2147483648.75,
    9223372036854775808.0,
    18446744073709551616.0,
    65519.999,
    65520.0,
    1e-45,
    7e-46,
    3.4028235677973366e38,
    1e39,
    5.96046448e-8,
    2.98023224e-8,
    255.5,
    -128.5,
    1e-300,
    1e300,
    0.999_999_999_999_999_9,
];

fn integers(bits: u32) -> Vec<u64> {
    let top = 1u64 << (bits - 1);
    let mask = u64::MAX >> (64 - bits);
    let fixed = [
        0,
        1,
        2,
        3,
        5,
        7,
        8,
        15,
        16,
        17,
        24,
        31,
        32,
        33,
        63,
        64,
        65,
        127,
        128,
        255,
        256,
        top,
        top - 1,
        top + 1,
        u64::MAX,
        u64::MAX - 1,
        0x1234_5678_9abc_def0,
        0xdead_beef_0bad_f00d,
        0xff80,
        0x0080_0000,
        0x7fff_ffff,
    ];
    let mut all: Vec<u64> = fixed.iter().map(|v| v & mask).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns extreme values of a type as bits; packed types combine two values.
fn edges(ty: Type) -> Vec<u64> {
    let pairs = |half: Vec<u64>, bits: u32| {
        let n = half.len();
        (0..n).map(|i| half[i] | half[(i * 7 + 3) % n] << bits).collect()
    };
    match ty {
        Type::Pred => vec![0, 1],
        Type::F32 | Type::Tf32 => SINGLES.iter().map(|v| u64::from(*v)).collect(),
        Type::F64 => DOUBLES.iter().map(|v| v.to_bits()).collect(),
        Type::F16 => HALVES.iter().map(|v| u64::from(*v)).collect(),
        Type::Bf16 => BRAINS.iter().map(|v| u64::from(*v)).collect(),
        Type::F16x2 | Type::Bf16x2 | Type::U16x2 | Type::S16x2 => pairs(edges(ty.lane().0), 16),
        Type::F32x2 => pairs(edges(Type::F32), 32),
        Type::E4m3x2 | Type::E5m2x2 | Type::Ue8m0x2 => (0..=255u64).map(|b| b | (255 - b) << 8).collect(),
        _ => integers(ty.bits()),
    }
}

/// Returns a pseudo-random value of the type; floats have every magnitude that matters.
fn random(ty: Type, random: &mut Random) -> u64 {
    let bits = ty.bits().clamp(1, 64);
    let value = random.next() & (u64::MAX >> (64 - bits));
    match ty {
        // Exponents are near each other, so that sums round.
        Type::F32 => value & 0x83ff_ffff | 0x3c00_0000,
        Type::F64 => value & 0x803f_ffff_ffff_ffff | 0x3fc0_0000_0000_0000,
        _ => value,
    }
}

/// The number of inputs of every instance of a chunk.
pub(crate) const COUNT: usize = 2048;

/// Returns the inputs of an instance: combinations of extreme values, then random ones.
pub(crate) fn inputs(instance: &Instance) -> Vec<Inputs> {
    let types = instance.sources();
    let mut generator = Random(0x9e37_79b9_7f4a_7c15);
    let sets: Vec<Vec<u64>> = types.iter().map(|ty| edges(*ty)).collect();
    let total: usize = sets.iter().map(Vec::len).product();
    let mut all = Vec::with_capacity(COUNT);
    let from_edges = if total <= COUNT * 3 / 4 { total } else { COUNT * 3 / 4 };
    for i in 0..from_edges {
        // All combinations if they fit, else some spread over all of them.
        let mut index = if total <= from_edges { i } else { (generator.next() % total as u64) as usize };
        let mut input = [0; 4];
        for (value, set) in input.iter_mut().zip(&sets) {
            *value = set[index % set.len()];
            index /= set.len();
        }
        all.push(input);
    }
    while all.len() < COUNT {
        let mut input = [0; 4];
        for (value, ty) in input.iter_mut().zip(&types) {
            *value = random(*ty, &mut generator);
        }
        all.push(input);
    }
    if instance.opcode() == Opcode::Fns {
        // The manual leaves a base beyond the mask undefined.
        all.iter_mut().for_each(|input| {
            input[1] &= 31;
            input[2] = (input[2] as i64 % 40) as u32 as u64;
        });
    }
    all
}
