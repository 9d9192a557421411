//! Traits of the user's own for slices and other unsized receivers, against the host.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{Num, device, kernel};

/// Figures about numbers.
#[device]
trait Stats {
    type Item;

    fn total(&self) -> Self::Item;

    fn scale(&mut self, by: Self::Item);

    fn above(&self, limit: Self::Item) -> Option<usize>;

    /// Twice the total.
    fn doubled(&self) -> Self::Item;
}

#[device]
impl<T: Num> Stats for [T] {
    type Item = T;

    fn total(&self) -> T {
        let mut sum = T::ZERO;
        for value in self {
            sum = sum + *value;
        }
        sum
    }

    fn scale(&mut self, by: T) {
        for value in self.iter_mut() {
            *value = *value * by;
        }
    }

    fn above(&self, limit: T) -> Option<usize> {
        self.iter().position(|value| *value > limit)
    }

    fn doubled(&self) -> T {
        self.total() + Stats::total(self)
    }
}

#[device]
fn figures<S: Stats<Item = u32>>(of: &S) -> u32 {
    of.total() + of.above(3).map_or(100, |at| at as u32)
}

#[device]
impl<T: Num, const N: usize> Stats for [T; N] {
    type Item = T;

    fn total(&self) -> T {
        self[..].total() + T::ONE
    }

    fn scale(&mut self, by: T) {
        self[1..].scale(by);
    }

    fn above(&self, limit: T) -> Option<usize> {
        self.as_slice().above(limit)
    }

    fn doubled(&self) -> T {
        self.total()
    }
}

#[kernel]
fn describes(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut own = [x[i], 2, x[i + 1], 4];
    own.scale(3);
    own[..2].scale(x[i]);
    out[4 * i] = x[i..].total() + own.total() * 100;
    out[4 * i + 1] = x.above(x[i]).map_or(77, |at| at as u32);
    out[4 * i + 2] = own[1..].doubled() + figures(&own);
    out[4 * i + 3] = <[u32]>::total(&own[2..]);
}

#[test]
fn slices_have_traits_of_the_user() {
    differ!(describes, (1, 4), [&[1, 5, 2, 7, 3][..]], vec![0u32; 16]);
}
