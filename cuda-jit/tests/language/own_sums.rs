//! `Sum` and `Product`: of types of one's own, of `Wrapping` and of `Saturating`.

use std::iter::{Product, Sum};
use std::num::{Saturating, Wrapping};
use std::ops::Add;

use super::differ;
use cuda_jit::{DeviceType, Num, device, kernel};

#[derive(Clone, Copy, DeviceType)]
#[operators(Add)]
struct Pair(f32, f32);

#[device]
impl Add for Pair {
    type Output = Pair;
    fn add(self, other: Pair) -> Pair {
        Pair(self.0 + other.0, self.1 + other.1)
    }
}

#[device]
impl Sum for Pair {
    fn sum<I: Iterator<Item = Pair>>(all: I) -> Pair {
        all.fold(Pair(0.0, 0.0), |sum, pair| sum + pair)
    }
}

#[device]
impl<'a> Sum<&'a Pair> for Pair {
    fn sum<I>(all: I) -> Self
    where
        I: Iterator<Item = &'a Pair>,
    {
        all.copied().sum()
    }
}

#[device]
impl Sum<u32> for Pair {
    fn sum<I: Iterator<Item = u32>>(mut all: I) -> Pair {
        let mut sum = 0;
        while let Some(number) = all.next() {
            sum += number;
        }
        Pair(sum as f32, 1.0)
    }
}

#[device]
impl Product for Pair {
    fn product<I: Iterator<Item = Self>>(all: I) -> Self {
        let mut product = Pair(1.0, 1.0);
        for pair in all {
            product.0 *= pair.0;
            product.1 *= pair.1;
        }
        product
    }
}

#[derive(Clone, Copy, DeviceType)]
struct Of<T>(T);

#[device]
impl<T: Num> Sum for Of<T> {
    fn sum<I: Iterator<Item = Of<T>>>(all: I) -> Self {
        let mut sum = T::ZERO;
        for value in all {
            sum = sum + value.0;
        }
        Of(sum)
    }
}

#[kernel]
fn own(x: f32, out: &mut [f32]) {
    let pairs = [Pair(1.0, x), Pair(2.0, x), Pair(3.0, 0.5)];
    let sum: Pair = pairs.iter().copied().sum();
    out[0] = sum.0 + sum.1;
    out[1] = pairs.iter().sum::<Pair>().1;
    out[2] = pairs.iter().copied().product::<Pair>().0;
    let of_numbers: Pair = (0..5u32).map(|i| i * 2).sum();
    out[3] = of_numbers.0;
    out[4] = [x as u32, 7].into_iter().sum::<Pair>().0;
    out[5] = [Of(x), Of(2.0)].into_iter().sum::<Of<f32>>().0;
    let all: Option<Pair> = pairs.iter().map(|pair| if pair.0 > 0.0 { Some(*pair) } else { None }).sum();
    out[6] = match all {
        Some(sum) => sum.0,
        None => -1.0,
    };
    out[7] = pairs.iter().skip(1).map(|pair| Pair(pair.0 * 2.0, 0.0)).sum::<Pair>().0;
}

#[test]
fn sums_and_products_of_own_types_are_their_impls() {
    for x in [-4.0_f32, 2.5] {
        differ!(own, (1, 1), [x], vec![0_f32; 8]);
    }
}

#[kernel]
fn integers(x: u32, out: &mut [u32]) {
    out[0] = [Wrapping(x), Wrapping(u32::MAX)].iter().sum::<Wrapping<u32>>().0;
    out[1] = [Saturating(x), Saturating(u32::MAX)].iter().copied().sum::<Saturating<u32>>().0;
    out[2] = [Wrapping(x), Wrapping(1 << 31)].into_iter().product::<Wrapping<u32>>().0;
    out[3] = [Saturating(x), Saturating(1 << 31)].iter().product::<Saturating<u32>>().0;
    let signed = [Wrapping(i8::MIN), Wrapping(x as i8)];
    out[4] = signed.iter().map(|value| -*value).sum::<Wrapping<i8>>().0 as u32;
    out[5] = [Saturating(200u8), Saturating(x as u8 * 30)].iter().sum::<Saturating<u8>>().0 as u32;
}

#[test]
fn sums_and_products_wrap_or_saturate() {
    for x in [0_u32, 1, 2, 7] {
        differ!(integers, (1, 1), [x], vec![0_u32; 6]);
    }
}
