//! The order in which blocks begin: ascending, or with `CUDA_SIM_SEED` drawn at random.

use super::fiber::Random;

/// A permutation of the numbers below a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutation {
    count: u64,
    /// Half of the bits of the smallest power of four that is not below the limit.
    half: u32,
    keys: Option<[u64; ROUNDS]>,
}

const ROUNDS: usize = 4;

impl Permutation {
    /// Returns the order of `count` blocks for a seed; ascending without one.
    pub(super) fn new(count: u64, seed: Option<u64>) -> Permutation {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let keys = seed.map(|seed| {
            let mut random = Random::new(seed ^ count.rotate_left(32));
            std::array::from_fn(|_| random.next())
        });
        Permutation { count, half: bits.div_ceil(2).max(1), keys }
    }

    /// Returns true if the order is not the ascending one.
    pub(super) fn is_random(&self) -> bool {
        self.keys.is_some()
    }

    /// Returns the number at a place.
    pub(super) fn at(&self, place: u64) -> u64 {
        let Some(keys) = self.keys else { return place };
        let mut number = place;
        // A Feistel network permutes a power of four; numbers beyond the limit are permuted again.
        loop {
            let mask = (1 << self.half) - 1;
            let (mut left, mut right) = (number >> self.half, number & mask);
            for key in keys {
                let mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (left, right) = (right, left ^ (mixed >> 32 & mask));
            }
            number = left << self.half | right;
            if number < self.count {
                return number;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_one_place_and_seeds_differ() {
        for count in [1, 2, 3, 5, 16, 100, 1000] {
            let order = |seed| {
                let order = Permutation::new(count, seed);
                (0..count).map(|place| order.at(place)).collect::<Vec<_>>()
            };
            let ascending: Vec<u64> = (0..count).collect();
            assert_eq!(order(None), ascending);
            let [first, second] = [order(Some(1)), order(Some(2))];
            for found in [&first, &second] {
                let mut sorted = found.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, ascending);
            }
            assert!(count < 16 || (first != second && first != ascending), "{count}");
        }
    }
}
