//! Structs, enums, patterns, iterators and arithmetic as they occur in programs, on the host and on the device.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use cuda_jit::device::grid;
use cuda_jit::{DeviceType, bf16, device, f16, kernel};

use super::differ;

#[derive(Clone, Copy, Debug, DeviceType)]
#[derived(PartialEq)]
enum Shape {
    Point,
    Circle(f32),
    Rect { w: f32, h: f32 },
}

#[device]
impl Shape {
    const UNIT: Shape = Shape::Circle(1.0);
    fn area(&self) -> f32 {
        match *self {
            Shape::Point => 0.0,
            Shape::Circle(r) if r > 2.0 => 3.0 * r * r,
            Shape::Circle(r) => 3.5 * r,
            Self::Rect { w, h: height } => w * height,
        }
    }
    fn of(v: i32) -> Self {
        match v % 4 {
            0 => Shape::Point,
            1 => Shape::Circle(v as f32),
            2 => Self::UNIT,
            _ => Shape::Rect { w: v as f32, h: 2.0 },
        }
    }
}

#[kernel]
fn shapes(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let s = Shape::of(x[i]);
    out[i] = s.area() as i64 + matches!(s, Shape::Rect { .. }) as i64 * 1000 + (s == Shape::UNIT) as i64 * 10_000;
}

#[kernel]
fn slice_patterns(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    out[i] = match &x[i..] {
        [] => -1,
        [a] => *a as i64,
        [a, b] => (*a + *b) as i64 * 10,
        [first, .., last] if first == last => 77,
        [first, mid @ .., last] => *first as i64 + mid.len() as i64 * 100 + *last as i64 * 1000,
    };
    let a = [x[i], 2, 3, 4];
    let [h, rest @ ..] = a;
    out[i] += h as i64 * 7 + rest[1] as i64;
    if let [1 | 3, .., 4] = a {
        out[i] += 1_000_000;
    }
}

#[kernel]
fn chains(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let s: i32 = x.iter().skip(i).step_by(2).filter(|v| **v > 1).map(|&v| v * 3).sum();
    let m = x.iter().copied().max().unwrap_or(0);
    let p = x.iter().position(|&v| v == 5);
    let any = x.iter().any(|&v| v == i as i32);
    let all = x[..i].iter().all(|v| *v > 0);
    let fold = x.iter().rev().fold(0i64, |acc, &v| acc * 3 + v as i64);
    let mk = x.iter().enumerate().max_by_key(|(_, v)| **v).map(|(at, _)| at);
    let c = x.windows(2).filter(|w| w[0] < w[1]).count();
    let l = x.chunks(3).map(|c| c.iter().sum::<i32>()).last().unwrap();
    out[i] = s as i64
        + m as i64 * 100
        + p.unwrap() as i64
        + any as i64
        + all as i64 * 2
        + fold
        + mk.unwrap() as i64
        + c as i64
        + l as i64;
    let (e, o): (i32, i32) = x.iter().fold((0, 0), |(e, o), v| if v % 2 == 0 { (e + v, o) } else { (e, o + v) });
    out[i] += (e * 1000 + o) as i64;
    let z: i32 = x.iter().zip(x.iter().skip(1)).map(|(a, b)| a * b).sum();
    out[i] +=
        z as i64 + x.iter().take_while(|v| **v < 5).count() as i64 + x.iter().skip_while(|v| **v < 5).count() as i64;
    out[i] += x.iter().flat_map(|&v| 0..v).filter(|v| v % 2 == 0).count() as i64;
    out[i] += x
        .iter()
        .scan(0, |s, &v| {
            *s += v;
            Some(*s)
        })
        .last()
        .unwrap() as i64;
    out[i] += x.iter().min_by(|a, b| a.cmp(b)).copied().unwrap() as i64;
}

#[kernel]
fn closures(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut count = 0;
    let mut bump = |by: i32| {
        count += by;
        count * 2
    };
    let a = bump(x[i]);
    let b = bump(1);
    let twice = |f: i32| move |v: i32| v * f;
    let t = twice(3);
    out[i] = (a + b) as i64 + count as i64 * 100 + t(x[i]) as i64 * 10_000;
    let h = |h: i32| {
        let f = h as f32 * 0.5;
        let v = f as i32;
        (v, [h; 2])
    };
    let (v, e) = h(x[i]);
    out[i] += v as i64 + e[1] as i64;
}

#[device]
trait Animal: Copy {
    const LEGS: u32;
    fn weight(&self) -> f32;
    fn per_leg(&self) -> f32 {
        self.weight() / Self::LEGS as f32
    }
}
#[derive(Clone, Copy, DeviceType)]
struct Dog(f32);
#[derive(Clone, Copy, DeviceType)]
struct Bird {
    w: f32,
}
#[device]
impl Animal for Dog {
    const LEGS: u32 = 4;
    fn weight(&self) -> f32 {
        self.0
    }
}
#[device]
impl Animal for Bird {
    const LEGS: u32 = 2;
    fn weight(&self) -> f32 {
        self.w
    }
    fn per_leg(&self) -> f32 {
        1.5 + self.w
    }
}
#[device]
fn load<A: Animal>(a: A, n: u32) -> f32 {
    a.per_leg() * n as f32 + A::LEGS as f32
}

#[kernel]
fn traits(x: &[i32], out: &mut [f32]) {
    let i = grid::<1>();
    let w = x[i] as f32;
    out[i] = load(Dog(w), 3) + load(Bird { w }, 5) * 100.0 + <Dog as Animal>::LEGS as f32;
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[operators(Add, Sub, Neg, AddAssign, Mul<f32>)]
struct V3 {
    x: f32,
    y: f32,
    z: f32,
}
#[device]
impl Add for V3 {
    type Output = V3;
    fn add(self, o: V3) -> V3 {
        V3 { x: self.x + o.x, y: self.y + o.y, ..self }
    }
}
#[device]
impl Sub for V3 {
    type Output = V3;
    fn sub(self, o: V3) -> V3 {
        self + -o
    }
}
#[device]
impl Neg for V3 {
    type Output = V3;
    fn neg(self) -> V3 {
        V3 { x: -self.x, y: -self.y, z: -self.z }
    }
}
#[device]
impl Mul<f32> for V3 {
    type Output = V3;
    fn mul(self, k: f32) -> V3 {
        V3 { x: self.x * k, y: self.y * k, z: self.z * k }
    }
}
#[device]
impl AddAssign for V3 {
    fn add_assign(&mut self, o: V3) {
        *self = *self + o;
        self.z += o.z;
    }
}
#[device]
impl V3 {
    const ZERO: V3 = V3 { x: 0.0, y: 0.0, z: 0.0 };
    fn dot(self, o: Self) -> f32 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    fn new(x: f32, y: f32, z: f32) -> Self {
        Self { x, y, z }
    }
}

#[kernel]
fn operators(x: &[i32], out: &mut [f32]) {
    let i = grid::<1>();
    let v = V3::new(x[i] as f32, 1.0, 2.0);
    let mut s = V3::ZERO;
    for k in 0..3 {
        s += v * k as f32 - V3::new(0.5, 0.0, 1.0);
    }
    out[i] = s.dot(v) + (-s).x;
}

#[kernel]
fn consts(x: &[i32], out: &mut [i64]) {
    const N: usize = 4;
    const TABLE: [i32; N] = [1, 10, 100, 1000];
    const fn sq(v: i32) -> i32 {
        v * v
    }
    const S: i32 = sq(7);
    static BIAS: i32 = 5;
    let i = grid::<1>();
    let mut acc = [0i32; N];
    for (k, a) in acc.iter_mut().enumerate() {
        *a = TABLE[k] * x[i] + S + BIAS;
    }
    out[i] = acc.iter().map(|&v| v as i64).sum::<i64>() + acc.len() as i64;
}

#[kernel]
fn labels(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut n = 0;
    'outer: for a in 0..10 {
        for b in 0..10 {
            if a * b > x[i] * 3 {
                continue 'outer;
            }
            if a + b > 12 {
                break 'outer;
            }
            n += 1;
        }
    }
    let v = 'blk: {
        if n > 50 {
            break 'blk 1;
        }
        if n > 30 {
            break 'blk 2;
        }
        3
    };
    let mut k = 0;
    let r = loop {
        k += 3;
        if k > x[i] {
            break k;
        }
    };
    out[i] = n as i64 + v * 1000 + r as i64 * 10_000;
}

#[kernel]
fn shadow(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let x = x[i];
    let x = {
        let x = x + 1;
        x * 2
    };
    let y = if let Some(x) = Some(x).filter(|v| *v > 5) {
        x
    } else {
        let x = 99;
        x
    };
    let x = x as f64 / 2.0;
    out[i] = x as i64 + y as i64 * 100;
}

#[kernel]
fn casts(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v = x[i] - 4;
    out[i] = v as u8 as i64
        + (v as i8 as u16 as i64) * 3
        + (v as u32 as u64 as i64 & 0xff)
        + (v as f32 * 1e10) as i32 as i64;
    out[i] +=
        (-1.5f32 * v as f32) as u8 as i64 + (f32::NAN as i32) as i64 + ('a' as u8 + (x[i] as u8)) as char as u32 as i64;
    out[i] += true as i64 + (v as i128 as u64 as i64) + (v as isize as usize as i64);
}

#[kernel]
fn arith(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v = x[i];
    let big = i32::MAX - 3;
    out[i] = big.wrapping_add(v) as i64 + big.saturating_add(v) as i64 + big.checked_add(v).map_or(-1, i64::from);
    let (r, o) = big.overflowing_mul(v);
    out[i] ^= r as i64 + o as i64;
    out[i] += v.pow(3) as i64
        + v.rem_euclid(-3) as i64
        + (-v).div_euclid(4) as i64
        + v.leading_zeros() as i64
        + v.isqrt() as i64;
    out[i] +=
        (v as u32).rotate_left(29) as i64 + v.swap_bytes() as i64 + v.signum() as i64 + (-v).unsigned_abs() as i64;
    out[i] += v.checked_div(v - 1).unwrap_or(1234) as i64
        + 200u8.checked_sub((v as u8).wrapping_mul(30)).unwrap_or_default() as i64;
    out[i] += (v as u8).reverse_bits() as i64 + v.abs_diff(100) as i64;
}

#[kernel]
fn wide(x: &[i32], out: &mut [u64]) {
    let i = grid::<1>();
    let a = (x[i] as u128 + 1) << 70 | 12345;
    let b = a / 37 * 5 % 1_000_000_007;
    out[i] = (a >> 64) as u64 ^ b as u64 ^ (a.wrapping_mul(a) >> 90) as u64 + a.count_ones() as u64;
}

#[kernel(fma = false)]
fn half(x: &[i32], out: &mut [f32]) {
    let i = grid::<1>();
    let h = f16::from_f32(x[i] as f32 * 0.37);
    let b = bf16::from_f32(x[i] as f32 * 0.37);
    out[i] = (h * h + f16::from_f32(1.5)).to_f32() + (b - bf16::from_f32(0.1)).to_f32() * 100.0;
}

#[kernel]
fn chars(text: &[u8], out: &mut [i64]) {
    let i = grid::<1>();
    let b = text[i];
    let class = match b {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        b' ' | b'\n' => 4,
        _ => 5,
    };
    let c = b as char;
    out[i] = class + c as i64;
    out[i] += (c as u32) as i64 * 1_000_000;
    let lit = [b'h', b'e', b'l', b'l', b'o'];
    out[i] += lit[i % 5] as i64 + lit.iter().filter(|&&v| v == b).count() as i64;
}

#[kernel]
fn options(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let o = x.get(i + 3).copied();
    let p = o.and_then(|v| v.checked_sub(3)).filter(|v| *v >= 0).or(Some(50)).xor(None);
    let z = o.zip(p).map(|(a, b)| a * b);
    let mut t = o;
    let taken = t.take();
    let r = t.get_or_insert(4);
    *r += 1;
    let Some(q) = p else { return };
    out[i] =
        z.unwrap_or(-5) as i64 + taken.is_some_and(|v| v > 2) as i64 * 1000 + t.unwrap() as i64 * 10_000 + q as i64;
    let mut s = Some(3);
    if let Some(v) = &mut s {
        *v += x[i];
    }
    let old = s.replace(8);
    out[i] += old.unwrap_or_default() as i64 + s.as_ref().map_or(0, |v| *v) as i64 + o.ok_or(1u8).is_ok() as i64;
    while let Some(v) = s {
        s = if v > 2 { Some(v - 1) } else { None };
        out[i] += 1;
    }
}

#[derive(Clone, Copy, Debug, DeviceType)]
#[derived(PartialEq, Eq)]
enum Fault {
    Small(i32),
    Large,
}
#[device]
fn check(v: i32) -> Result<i32, Fault> {
    if v < 2 {
        return Err(Fault::Small(v));
    }
    if v > 6 { Err(Fault::Large) } else { Ok(v * 10) }
}
#[device]
fn both(a: i32, b: i32) -> Result<i32, Fault> {
    let a = check(a)?;
    let b = check(b).or_else(|e| match e {
        Fault::Small(v) => Ok(v),
        other => Err(other),
    })?;
    Ok(a + b)
}
#[kernel]
fn results(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    out[i] = match both(x[i], x[(i + 1) % x.len()]) {
        Ok(v @ 20..=60) => v as i64,
        Ok(v) => v as i64 * 100,
        Err(Fault::Small(v)) => -(v as i64),
        Err(_) => -1000,
    };
    out[i] += check(x[i]).map(|v| v + 1).unwrap_or_else(|e| if e == Fault::Large { 7 } else { 8 }) as i64;
    out[i] += check(x[i]).ok().is_none() as i64 * 100_000 + check(x[i]).is_err_and(|e| e != Fault::Large) as i64 * 3;
}

#[kernel]
fn grids(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut m = [[0i32; 3]; 3];
    for (r, row) in m.iter_mut().enumerate() {
        for (c, v) in row.iter_mut().enumerate() {
            *v = (r * 3 + c) as i32 + x[i];
        }
    }
    let t = m;
    m[0] = t[2];
    m.swap(1, 2);
    let [a, [b, c, _], _] = m;
    let trace: i32 = (0..3).map(|k| t[k][k]).sum();
    out[i] = trace as i64 + a[0] as i64 * 100 + (b * c) as i64 * 10_000 + m.iter().flatten().sum::<i32>() as i64;
    out[i] += t.map(|r| r.iter().max().copied().unwrap()).iter().sum::<i32>() as i64;
    out[i] += (m == t) as i64 + (m < t) as i64 * 2;
}

#[device]
fn minmax(x: &[i32]) -> (i32, i32, Option<usize>) {
    let (mut lo, mut hi, mut at) = (i32::MAX, i32::MIN, None);
    for (i, &v) in x.iter().enumerate() {
        lo = lo.min(v);
        if v > hi {
            (hi, at) = (v, Some(i));
        }
    }
    (lo, hi, at)
}
#[kernel]
fn tuples(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let (lo, hi, at) = minmax(&x[i..]);
    let t = ((lo, hi), at.unwrap_or(0));
    let ((a, _), n) = t;
    out[i] = a as i64 + t.0.1 as i64 * 100 + n as i64 * 1000;
}

#[derive(Clone, Copy, DeviceType)]
struct Fib {
    a: u32,
    b: u32,
}
#[device]
impl Iterator for Fib {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        let a = self.a;
        (self.a, self.b) = (self.b, a + self.b);
        (a < 1000).then_some(a)
    }
}
#[kernel]
fn own_iterator(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut n = 0;
    for v in (Fib { a: 0, b: 1 }) {
        n += v;
    }
    let s: u32 = Fib { a: x[i] as u32, b: 3 }.filter(|v| v % 2 == 0).take(4).sum();
    out[i] =
        n as i64 + s as i64 * 10_000 + Fib { a: 1, b: 2 }.zip(x.iter()).map(|(a, b)| a as i64 * *b as i64).sum::<i64>();
}

#[test]
fn parts_of_programs() {
    let x = [3i32, 1, 4, 1, 5, 9, 2, 6];
    macro_rules! compare {
        ($of:ty: $($kernel:ident)*) => { $( differ!($kernel, (1, 8), [&x[..]], vec![0 as $of; 8]); )* };
    }
    compare! { i64: shapes slice_patterns chains closures consts labels shadow casts arith options results grids tuples own_iterator }
    compare! { u64: wide }
    compare! { f32: traits operators half }
    differ!(chars, (1, 8), [&b"aZ7 e\x7f{f"[..]], vec![0i64; 8]);
}
