//! Whole small programs in kernels: machines, fields of numbers, searches and random numbers, on the host and on the device.

use cuda_jit::device::grid;
use cuda_jit::{DeviceType, ValueType, device, kernel};

use super::differ;

#[derive(Clone, Copy, DeviceType)]
struct Stack<const N: usize> {
    items: [i32; N],
    len: usize,
}
#[device]
impl<const N: usize> Stack<N> {
    fn new() -> Self {
        Stack { items: [0; N], len: 0 }
    }
    fn push(&mut self, v: i32) -> bool {
        if self.len == N {
            return false;
        }
        self.items[self.len] = v;
        self.len += 1;
        true
    }
    fn pop(&mut self) -> Option<i32> {
        self.len = self.len.checked_sub(1)?;
        Some(self.items[self.len])
    }
}
#[kernel]
fn stack(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut s = Stack::<5>::new();
    let mut fits = 0;
    for &v in x {
        fits += s.push(v + i as i32) as i64;
    }
    let mut acc = 0;
    while let Some(v) = s.pop() {
        acc = acc * 3 + v as i64;
    }
    out[i] = fits + acc * 10;
}

#[device]
fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
#[kernel]
fn recursion(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    out[i] = gcd(x[i] as u32 * 12, 18) as i64;
}

#[kernel]
fn sorts(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut a = [x[i], 5, x[(i + 1) % 8], 2, 9];
    for k in 1..a.len() {
        let mut j = k;
        while j > 0 && a[j - 1] > a[j] {
            a.swap(j - 1, j);
            j -= 1;
        }
    }
    out[i] = a.iter().fold(0, |s, &v| s * 10 + v as i64);
    out[i] += a.binary_search(&5).is_ok() as i64 + a.contains(&9) as i64 + a.first().copied().unwrap() as i64;
    a.reverse();
    a.rotate_left(2);
    out[i] += a[0] as i64 * 7 + a.iter().rposition(|&v| v == 5).unwrap() as i64;
    a.sort_unstable();
    let (l, r) = a.split_at_mut(2);
    l[0] += r[0];
    r.fill(3);
    out[i] += a[0] as i64 * 100 + a[4] as i64;
}

#[kernel]
fn refs(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let (mut a, mut b) = (x[i], 10);
    {
        let bigger = if a > 4 { &mut a } else { &mut b };
        *bigger += 100;
    }
    std::mem::swap(&mut a, &mut b);
    let c = std::mem::replace(&mut a, 1);
    let d = std::mem::take(&mut b);
    let r = &&c;
    out[i] = (a + b * 10 + **r * 100 + d) as i64;
    let o = &mut out[i];
    *o += 1;
}

#[device]
fn apply<F: Fn(i32) -> i32>(f: F, n: i32) -> i32 {
    f(f(n))
}
#[device]
fn double(v: i32) -> i32 {
    v * 2
}
#[kernel]
fn higher(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let k = x[i];
    out[i] =
        apply(|v| v + k, 3) as i64 + apply(double, k) as i64 * 100 + x.iter().copied().map(double).sum::<i32>() as i64;
    out[i] += Some(k).map(double).map(i64::from).unwrap();
}

#[kernel]
fn lets(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v;
    if x[i] > 3 {
        v = 1
    } else {
        v = 2
    }
    let w: i64 = match x[i] {
        n if n < 0 => unreachable!(),
        n @ (1 | 2) => n.into(),
        3..=5 => 30,
        i32::MIN..=-1 | 0 => 0,
        _ => 99,
    };
    let (mut p, q) = (v, w);
    p <<= 3;
    out[i] = p as i64 | q;
    if x[i] > 2
        && let Some(n) = x.get(i + 1)
        && *n > 1
    {
        out[i] += *n as i64 * 1000;
    }
}

#[kernel]
fn closure_results(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let pair = |h: i32| {
        let half = h as f32 * 0.5;
        (half as i32, [h; 2])
    };
    let rows = |h: i32| {
        let twice = h * 2;
        [[twice; 2], [h; 2]]
    };
    let either = |h: i32| {
        if h > 3 {
            let low = h - 3;
            (low, [[low; 3]; 2])
        } else {
            (0, [[h; 3]; 2])
        }
    };
    let ((a, b), c, (d, e)) = (pair(x[i]), rows(x[i] + 1), either(x[i]));
    out[i] = (a + b[1] * 10 + c[0][1] * 100 + c[1][0] * 1000 + d * 10_000) as i64 + e[1][2] as i64 * 100_000;
}

#[derive(Clone, Copy, Debug, DeviceType)]
enum Op {
    Push(i32),
    Add,
    Mul,
    Dup { times: u8 },
}
#[device]
fn eval(ops: &[Op; 5]) -> Result<i32, u8> {
    let mut stack = [0i32; 8];
    let mut top = 0usize;
    for (at, op) in ops.iter().enumerate() {
        match op {
            Op::Push(v) => {
                stack[top] = *v;
                top += 1;
            }
            Op::Add | Op::Mul if top < 2 => return Err(at as u8),
            Op::Add => {
                top -= 1;
                stack[top - 1] = stack[top - 1].wrapping_add(stack[top]);
            }
            Op::Mul => {
                top -= 1;
                stack[top - 1] *= stack[top];
            }
            &Op::Dup { times } => {
                for _ in 0..times {
                    stack[top] = stack[top.checked_sub(1).ok_or(100u8)?];
                    top += 1;
                }
            }
        }
    }
    top.checked_sub(1).map(|at| stack[at]).ok_or(200)
}
#[kernel]
fn machine(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v = x[i];
    let program = [Op::Push(v), Op::Dup { times: (v % 3) as u8 }, Op::Add, Op::Push(7), Op::Mul];
    out[i] = match eval(&program) {
        Ok(v) => v as i64,
        Err(at) => -(at as i64),
    };
}

#[device]
trait Field: ValueType {
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn pow(self, n: u32) -> Self {
        let mut acc = Self::ONE;
        for _ in 0..n {
            acc = acc.times(self);
        }
        acc
    }
    fn square(self) -> Self {
        self.pow(2)
    }
}
#[derive(Clone, Copy, DeviceType)]
struct Mod<const P: u32>(u32);
#[device]
impl<const P: u32> Field for Mod<P> {
    const ONE: Self = Mod(1);
    fn plus(self, other: Self) -> Self {
        Mod((self.0 + other.0) % P)
    }
    fn times(self, other: Self) -> Self {
        Mod((self.0 as u64 * other.0 as u64 % P as u64) as u32)
    }
}
#[device]
impl Field for f64 {
    const ONE: f64 = 1.0;
    fn plus(self, other: f64) -> f64 {
        self + other
    }
    fn times(self, other: f64) -> f64 {
        self * other
    }
    fn square(self) -> f64 {
        self * self + 0.0
    }
}
#[device]
fn horner<F: Field, const N: usize>(c: [F; N], x: F) -> F {
    let mut acc = c[0];
    for k in 1..N {
        acc = acc.times(x).plus(c[k]);
    }
    acc
}
#[kernel(fma = false)]
fn fields(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v = x[i] as u32;
    let m = horner([Mod::<97>(3), Mod(v), Mod(5)], Mod(11)).square().pow(5);
    let f = horner([1.5, v as f64, 2.0], 0.25).square();
    out[i] = m.0 as i64 + (f * 1000.0) as i64 * 100;
}

#[kernel]
fn strided(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut hist = [0u8; 10];
    x.iter().for_each(|&v| hist[v as usize] += 1);
    let mode = hist.iter().enumerate().fold((0, 0), |best, (at, &n)| if n > best.1 { (at, n) } else { best });
    let pairs =
        x.chunks_exact(2).map(|p| if let [a, b] = *p { a - b } else { 0 }).filter(|d| d.is_positive()).sum::<i32>();
    let evens = x.iter().filter_map(|&v| (v % 2 == 0).then(|| v / 2)).fold(1, |a, b| a * (b + 1));
    let run = x.iter().map_while(|&v| if v < 5 { Some(v * 2) } else { None }).last();
    let first = x.iter().rev().find(|v| **v > 4).map_or(-1, |v| *v);
    out[i] = mode.0 as i64 + pairs as i64 * 10 + evens as i64 * 1000 + run.unwrap_or(0) as i64 * 100_000 + first as i64;
    out[i] += (1..=i).rev().step_by(2).map(|k| k * k).sum::<usize>() as i64;
    let mut it = x.iter().peekable();
    let mut groups = 0;
    while let Some(v) = it.next() {
        if it.peek().is_none_or(|n| *n < v) {
            groups += 1;
        }
    }
    out[i] += groups * 1_000_000 + x.iter().cycle().skip(i).take(5).sum::<i32>() as i64;
    let [lo, hi] = [x.iter().min(), x.iter().max()].map(|v| *v.unwrap());
    out[i] += (lo..hi).product::<i32>() as i64 + (x.iter().is_sorted() as i64);
}

#[kernel]
fn bits(x: &[u32], out: &mut [u64]) {
    let i = grid::<1>();
    let mut state = x[i] as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let (a, b) = (next(), next());
    let mut bits = a & b;
    let mut n = 0;
    while bits != 0 {
        bits &= bits - 1;
        n += 1;
    }
    out[i] = a.wrapping_mul(b).rotate_right(n) ^ !a ^ (b.trailing_zeros() as u64) << 60;
    let f = f32::from_bits((a as u32 >> 9) | 0x3f80_0000) - 1.0;
    out[i] ^= f.to_bits() as u64 + u64::from(f.total_cmp(&0.5).is_lt()) + (f.mul_add(2.0, -1.0) as f64).to_bits();
    let (hi, carry) = (a as u32).overflowing_add(b as u32);
    out[i] ^= hi as u64 | (carry as u64) << 33;
    out[i] = out[i].wrapping_add((a as i64 >> 3) as u64).wrapping_sub(u64::MAX / 3) | 1 << (x[i] % 64);
}

mod geometry {
    use cuda_jit::{DeviceType, device};
    #[derive(Clone, Copy, Debug, DeviceType)]
    pub(super) struct Ray {
        pub at: [f32; 3],
        pub to: [f32; 3],
    }
    #[device]
    impl Ray {
        pub(super) fn along(&self, t: f32) -> [f32; 3] {
            let mut p = self.at;
            for (p, d) in p.iter_mut().zip(&self.to) {
                *p = d.mul_add(t, *p);
            }
            p
        }
        pub(super) fn hit(&self, c: [f32; 3], r: f32) -> Option<f32> {
            let oc = [0, 1, 2].map(|k| self.at[k as usize] - c[k as usize]);
            let dot = |a: &[f32; 3], b: &[f32; 3]| a.iter().zip(b).fold(0.0, |s: f32, (x, y)| x.mul_add(*y, s));
            let (a, b) = (dot(&self.to, &self.to), dot(&oc, &self.to));
            let d = b.mul_add(b, -(a * r.mul_add(-r, dot(&oc, &oc))));
            if d < 0.0 {
                return None;
            }
            Some((-b - d.sqrt()) / a).filter(|t| *t > 0.0)
        }
    }
}
#[kernel(fma = false)]
fn rays(x: &[i32], out: &mut [f32]) {
    use geometry::Ray;
    let i = grid::<1>();
    let ray = Ray { at: [x[i] as f32 - 4.0, 0.1, -5.0], to: [0.1, 0.0, 1.0] };
    out[i] = match ray.hit([0.0; 3], 2.5) {
        Some(t) if t < 4.0 => ray.along(t)[2],
        Some(t) => t * 100.0,
        None => f32::NEG_INFINITY,
    };
}

type Pair<T> = (T, T);
#[device]
fn ordered<T: PartialOrd + Copy>((a, b): Pair<T>) -> Pair<T> {
    if a <= b { (a, b) } else { (b, a) }
}
#[kernel]
fn patterns(x: &[i32], out: &mut [i64]) {
    const LOW: i32 = 2;
    let i = grid::<1>();
    let (a, b) = ordered((x[i], 4));
    let &[p, .., q] = &[a, b, a + b];
    let ref r = p;
    out[i] = match (a, b, x.get(i + 1)) {
        (LOW, _, _) => 1,
        (a, 4, Some(&n)) if n == a => 2,
        (_, 4, Some(n @ 1..=5)) => 3 + *n as i64 * 10,
        (.., None) => 4,
        (a, b, Some(_)) => (a * b) as i64 * 100,
    } + *r as i64
        + q as i64 * 10_000;
    let mut nested = Some(Some((a, Ok::<i32, u8>(b))));
    if let Some(Some((ref mut n, Ok(m)))) = nested {
        *n += m;
    }
    let Some(Some((n, _))) = nested else { unreachable!("it is there") };
    out[i] += n as i64 * 1_000_000;
    let t = if let (Some(a), None) | (None, Some(a)) = (x.get(i + 7), x.get(0)) { *a } else { -7 };
    out[i] += t as i64;
}

#[kernel]
fn defaults(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut grid2 = [[None::<i32>; 2]; 2];
    grid2[i % 2][i / 4] = Some(x[i]);
    let found = 'search: {
        for (r, row) in grid2.iter().enumerate() {
            for (c, cell) in row.iter().enumerate() {
                if let Some(v) = cell {
                    break 'search Some((r, c, *v));
                }
            }
        }
        None
    };
    let (r, c, v) = found.expect("there is one");
    out[i] = (r * 10 + c) as i64 + v as i64 * 100 + found.map_or_else(|| 0, |(_, _, v): (usize, usize, i32)| v as i64);
    let s: i16 = Default::default();
    out[i] += s as i64 + i64::from(i8::try_from(x[i] * 30).unwrap_or(i8::MIN)) + <i64 as From<u8>>::from(b'a');
    out[i] += i64::from(x[i] > 3) << 40 | ((x[i] as f32).powi(3) as i64) << 20;
}

#[kernel]
fn floats(x: &[i32], out: &mut [f64]) {
    let i = grid::<1>();
    let v = x[i] as f64 - 3.5;
    out[i] =
        v.abs().sqrt() + v.floor() * v.ceil() - v.round() + v.trunc() + v.fract() * v.signum() + v.rem_euclid(1.75);
    out[i] += v.clamp(-1.0, 2.0)
        + v.max(f64::NAN)
        + v.copysign(-1.0)
        + v.recip()
        + v.to_degrees()
        + (v % 1.25)
        + v.hypot(0.0);
    out[i] +=
        if v.is_sign_negative() { f64::EPSILON } else { 1.0 / 3.0 } + v.min(0.5) + (v as f32 as f64) + f64::from(7u8);
}

#[test]
fn small_programs() {
    let x = [3i32, 1, 4, 1, 5, 9, 2, 6];
    macro_rules! compare {
        ($of:ty: $($kernel:ident)*) => { $( differ!($kernel, (1, 8), [&x[..]], vec![0 as $of; 8]); )* };
    }
    compare! { i64: stack recursion sorts refs higher lets closure_results machine fields strided patterns defaults }
    compare! { f32: rays }
    compare! { f64: floats }
    differ!(bits, (1, 8), [&[3u32, 1, 4, 1, 5, 9, 2, 6][..]], vec![0u64; 8]);
}
