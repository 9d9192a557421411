//! Random number generation: xoroshiro128+ with a state for each thread, as in Numba.
//!
//! The expected numbers are those of Numba 0.61.2 for seed 1.

use cuda_prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Default, DeviceType)]
#[repr(C)]
struct Xoroshiro128p {
    s0: u64,
    s1: u64,
}

impl Xoroshiro128p {
    /// The states of `n` threads, each 2^64 numbers after the previous one.
    fn streams(n: usize, seed: u64) -> Vec<Self> {
        let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        std::iter::successors(Some(Self { s0: z, s1: z }), |state| Some(state.jumped())).take(n).collect()
    }

    fn jumped(mut self) -> Self {
        let mut sum = Self::default();
        for jump in [0xBEAC_0467_EBA5_FACB_u64, 0xD86B_048B_86AA_9922] {
            for bit in 0..64 {
                if jump >> bit & 1 == 1 {
                    sum = Self { s0: sum.s0 ^ self.s0, s1: sum.s1 ^ self.s1 };
                }
                self.next();
            }
        }
        sum
    }
}

#[device]
impl Xoroshiro128p {
    fn next(&mut self) -> u64 {
        let (s0, s1) = (self.s0, self.s0 ^ self.s1);
        let result = s0.wrapping_add(self.s1);
        self.s0 = s0.rotate_left(55) ^ s1 ^ (s1 << 14);
        self.s1 = s1.rotate_left(36);
        result
    }

    /// A number in [0, 1].
    fn uniform(&mut self) -> f32 {
        ((self.next() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)) as f32
    }
}

#[kernel]
fn numbers<const N: usize>(states: &mut [Xoroshiro128p], raw: &mut [[u64; N]], uniform: &mut [[f32; N]]) {
    let i = grid::<1>();
    if i < states.len() {
        let mut state = states[i];
        for k in 0..N {
            raw[i][k] = state.next();
        }
        for k in 0..N {
            uniform[i][k] = state.uniform();
        }
        states[i] = state;
    }
}

/// Counts, for each thread, the random points of the unit square that are within the circle.
#[kernel]
fn hits(states: &mut [Xoroshiro128p], tries: u32, out: &mut [u32]) {
    let i = grid::<1>();
    if i < states.len() {
        let mut state = states[i];
        let mut inside = 0;
        for _ in 0..tries {
            let (x, y) = (state.uniform(), state.uniform());
            inside += (x * x + y * y <= 1.0) as u32;
        }
        states[i] = state;
        out[i] = inside;
    }
}

#[test]
fn the_numbers_are_those_of_numba() -> Result<()> {
    let mut states = Xoroshiro128p::streams(3, 1);
    assert_eq!(states[2], Xoroshiro128p { s0: 0x0b3d_0cd6_ddfa_7a4c, s1: 0xd3c2_c33e_9b8e_707a });
    let (mut raw, mut uniform) = (vec![[0; 3]; 3], vec![[0.0; 3]; 3]);
    numbers::<3>::launch((1, 32), &mut states, &mut raw, &mut uniform)?;
    let expected = [
        [0x2214_5bd9_1204_b982, 0x60c8_8516_f644_812e, 0x3b05_6fab_69fc_74dd],
        [0xe058_6386_3b1a_0286, 0x35d4_f476_e08d_5559, 0x6b48_e8d3_78de_8c7b],
        [0xdeff_d015_7988_eac6, 0x7440_e460_bf94_758f, 0xddda_649a_dfad_bc1e],
    ];
    assert_eq!(raw, expected);
    let bits: Vec<_> = uniform.iter().map(|row| row.map(f32::to_bits)).collect();
    let expected = [
        [1_055_636_426, 1_048_727_204, 1_063_497_425],
        [1_034_237_108, 1_049_072_501, 1_041_017_746],
        [1_058_554_402, 1_062_111_704, 1_060_217_053],
    ];
    assert_eq!(bits, expected);
    Ok(())
}

#[test]
fn pi_by_monte_carlo() -> Result<()> {
    let (threads, tries) = (4096, 256);
    let mut states = to_device(&ndarray::Array1::from(Xoroshiro128p::streams(threads, 42)))?;
    let mut out = zeros::<u32, _>(threads)?;
    hits::launch((threads.div_ceil(128), 128), &mut states, tries, &mut out)?;
    let inside: u64 = out.copy_to_host()?.iter().map(|&n| u64::from(n)).sum();
    let pi = 4.0 * inside as f64 / (threads as f64 * f64::from(tries));
    // The bound is five standard deviations for this number of points.
    assert!((pi - std::f64::consts::PI).abs() < 5.0 * 1.642 / 1024.0, "{pi}");
    Ok(())
}
