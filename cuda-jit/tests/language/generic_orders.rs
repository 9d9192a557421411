//! Device functions whose type parameters are fixed by closures' bounds alone, or are ordered.

use std::cmp::Ordering;

use cuda_jit::device::grid;
use cuda_jit::{DeviceType, Integer, Num, ValueType, device, kernel};

use super::differ;

#[device]
fn compose<A: ValueType, B: ValueType, C: ValueType, F: Fn(A) -> B, G>(f: F, g: G, a: A) -> C
where
    G: Fn(B) -> C,
{
    g(f(a))
}
#[device]
fn counted<T: ValueType, F: FnMut() -> T, G: Fn(&T) -> bool>(mut f: F, g: &G) -> u32 {
    let mut n = 0;
    while n < 9 && g(&f()) {
        n += 1;
    }
    n
}

#[kernel]
fn composed(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let k = x[i];
    out[i] = compose(|v: i32| (v, v + k), |(a, b)| a as i64 * b as i64, 3);
    out[i] += compose(i64::from, |v| v.pow(2), k) * 1000;
    let mut n = k;
    out[i] += counted(
        || {
            n += 2;
            Some(n)
        },
        &|v: &Option<i32>| v.map_or(false, |v| v < 9),
    ) as i64
        * 1_000_000;
}

#[device]
fn smaller<T: ValueType + Ord>(a: T, b: T) -> T {
    if a.cmp(&b) == Ordering::Less { a } else { b }
}
#[device]
fn within<T: ValueType + Ord>(a: T, low: T, high: T) -> (T, T, T) {
    (a.clamp(low, high), a.max(low), a.min(high))
}
#[device]
fn partial<T>(a: &T, b: &T) -> i32
where
    T: ValueType + PartialOrd,
{
    a.partial_cmp(b).map_or(-7, |order| order as i32)
}
#[device]
fn of_numbers<T: Num + PartialOrd, U: Integer + Ord>(a: T, b: T, c: U, d: U) -> bool {
    a.partial_cmp(&b) == Some(c.cmp(&d)) && c.max(d) == d
}

#[derive(Clone, Copy, DeviceType)]
struct Pair<T>(T, T);
#[device]
impl<T: ValueType + Ord> Pair<T> {
    fn sorted(self) -> Pair<T> {
        match self.0.cmp(&self.1) {
            Ordering::Greater => Pair(self.1, self.0),
            _ => self,
        }
    }
}

#[kernel]
fn ordered(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let k = x[i];
    let t = smaller((k, 3, 'b'), (4, 2, 'a'));
    let o = smaller(Some(k), None).max(Some(-2));
    out[i] = t.0 as i64 + t.2 as i64 * 10 + o.map_or(7, |v| v as i64) * 10_000;
    let (a, b, c) = within(k, 2, 5);
    out[i] += (a + b * 10 + c * 100) as i64 * 1_000_000;
    out[i] ^= partial(&(k as f32), &f32::NAN) as i64 + partial(&[k, 1], &[3, k]) as i64 * 3;
    out[i] ^= of_numbers(k as f32, 3.0, k, 4) as i64;
    let Pair(p, q) = Pair(k, 4).sorted();
    out[i] += (p * 10 + q) as i64 * 1_000_000_000;
}

#[test]
fn type_parameters_of_closures_and_orders() {
    let x = [3i32, 1, 4, 1, 5, 9, 2, 6];
    differ!(composed, (1, 8), [&x[..]], vec![0i64; 8]);
    differ!(ordered, (1, 8), [&x[..]], vec![0i64; 8]);
}
