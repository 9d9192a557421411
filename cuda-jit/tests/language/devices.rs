//! Device functions and methods: any value as argument and result, traits, operators, recursion, closure arguments.

use super::{differ, on_device, on_host};
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, Float, device, kernel};
use std::ops::{Add, AddAssign, Mul, Neg};

#[derive(Clone, Copy, Debug, DeviceType)]
#[operators(Add, Mul, Mul<T>, Neg, AddAssign, PartialEq)]
#[repr(C)]
struct Complex<T> {
    re: T,
    im: T,
}

#[device]
impl<T: Float> Complex<T> {
    const I: Self = Complex { re: T::ZERO, im: T::ONE };

    fn new(re: T, im: T) -> Self {
        Self { re, im }
    }

    fn conj(self) -> Self {
        Complex { im: -self.im, ..self }
    }

    fn norm(&self) -> T {
        (*self * self.conj()).re
    }

    fn grow(&mut self, by: T) -> T {
        self.re += by;
        self.im = self.im * by;
        self.norm()
    }

    fn len(&self) -> usize {
        2
    }
}

#[device]
impl<T: Float> Add for Complex<T> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

#[device]
impl<T: Float> Mul for Complex<T> {
    type Output = Self;
    fn mul(self, other: Self) -> Self::Output {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

#[device]
impl<T: Float> Mul<T> for Complex<T> {
    type Output = Complex<T>;
    fn mul(self, by: T) -> Complex<T> {
        Complex { re: self.re * by, im: self.im * by }
    }
}

#[device]
impl<T: Float> Neg for Complex<T> {
    type Output = Self;
    fn neg(self) -> Self {
        Complex { re: -self.re, im: -self.im }
    }
}

#[device]
impl<T: Float> AddAssign for Complex<T> {
    fn add_assign(&mut self, other: Self) {
        self.re += other.re;
        self.im += other.im;
    }
}

#[device]
impl<T: Float> PartialEq for Complex<T> {
    fn eq(&self, other: &Self) -> bool {
        self.re == other.re && self.im == other.im
    }
}

#[kernel]
fn complex(x: &[Complex<f32>], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let (a, b) = (x[i], Complex::new(1.0, i as f32));
        let mut c = a * b + -a * 2.0 + Complex::<f32>::I;
        c += x[i].conj();
        let grown = c.grow(0.5);
        out[i] = grown + c.norm() + x[i].norm() + c.len() as f32;
        if a == b || c != c {
            out[i] = -1.0;
        }
    }
}

#[test]
fn methods_and_operators() {
    let x: Vec<Complex<f32>> = (0..5).map(|i| Complex { re: 1.0, im: i as f32 * 0.5 }).collect();
    let out = differ!(complex, (1, 8), [&x[..]], vec![0f32; 5]);
    assert_eq!(out[0], -1.0);
}

#[device]
trait Shape {
    const SIDES: u32;
    type Unit;
    fn area(&self) -> f32;
    fn scaled(&self, by: f32) -> f32 {
        self.area() * by * by + Self::SIDES as f32
    }
    fn unit() -> Self;
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Square(f32);

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Rect {
    w: f32,
    h: f32,
}

#[device]
impl Shape for Square {
    const SIDES: u32 = 4;
    type Unit = f32;
    fn area(&self) -> f32 {
        self.0 * self.0
    }
    fn scaled(&self, by: f32) -> f32 {
        self.area() * by
    }
    fn unit() -> Self {
        Square(1.0)
    }
}

#[device]
impl Shape for Rect {
    const SIDES: u32 = 5;
    type Unit = f32;
    fn area(&self) -> f32 {
        self.w * self.h
    }
    fn unit() -> Self {
        Rect { w: 1.0, h: 2.0 }
    }
}

#[device]
impl Shape for f32 {
    const SIDES: u32 = 1;
    type Unit = f32;
    fn area(&self) -> f32 {
        *self
    }
    fn unit() -> Self {
        0.5
    }
}

#[device]
fn largest<S: Shape>(shapes: &[S]) -> Option<(usize, f32)> {
    let mut best = None;
    for (i, shape) in shapes.iter().enumerate() {
        match best {
            Some((_, area)) if area >= shape.area() => {}
            _ => best = Some((i, shape.area())),
        }
    }
    best
}

#[kernel]
fn areas<S: Shape + Copy>(x: &[S], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i].scaled(3.0) + S::unit().area() + S::area(&x[0]) + <S as Shape>::SIDES as f32;
        if let Some((at, area)) = largest(x) {
            out[i] += at as f32 * 1000.0 + area;
        }
    }
}

#[test]
fn traits_are_dispatched_statically() {
    let squares = [Square(1.0), Square(4.0), Square(2.0)];
    let rects = [Rect { w: 2.0, h: 3.0 }, Rect { w: 1.0, h: 1.0 }, Rect { w: 5.0, h: 3.0 }];
    differ!(areas::<Square>, (1, 4), [&squares[..]], vec![0f32; 3]);
    differ!(areas::<Rect>, (1, 4), [&rects[..]], vec![0f32; 3]);
    differ!(areas::<f32>, (1, 4), [&[3.0, 1.0, 9.0][..]], vec![0f32; 3]);
}

#[device]
fn factorial(n: u64) -> u64 {
    if n < 2 { 1 } else { n * factorial(n - 1) }
}

#[device]
fn fibonacci(n: u32) -> (u32, u32) {
    if n == 0 {
        return (0, 1);
    }
    let (a, b) = fibonacci(n - 1);
    (b, a + b)
}

#[kernel]
fn recursive(out: &mut [u64]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = factorial(i as u64) * 1000 + fibonacci(i as u32).0 as u64;
    }
}

#[test]
fn device_functions_call_themselves() {
    differ!(recursive, (1, 16), [], vec![0u64; 16]);
}

/// Its frames take more than the kibibyte that a context gives a thread.
#[device]
fn folded(n: u32, x: &[u32]) -> u32 {
    let mut row = [n; 8];
    for (k, v) in x.iter().enumerate() {
        row[k % 8] ^= *v;
    }
    if n > 0 {
        row[(n % 8) as usize] = folded(n - 1, x);
    }
    row.iter().fold(1, |all: u32, v| all.wrapping_mul(31) ^ v)
}

#[kernel]
fn deep(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    out[i] = folded(60 + i as u32, x);
}

#[kernel]
fn flat(out: &mut [u32]) {
    out[grid::<1>()] = 1;
}

#[test]
fn a_recursion_has_room_for_its_frames() {
    use cuda_driver::ContextLimit::StackSize;
    if !super::in_child_process("language::devices::a_recursion_has_room_for_its_frames") {
        return;
    }
    let context = super::context();
    let limit = || context.limit(StackSize).unwrap();
    let usual = limit();
    flat::launch((1, 4), &mut on_device(&[0_u32; 4])).unwrap();
    assert_eq!(limit(), usual, "the assembler knows its frames");
    differ!(deep, (1, 4), [&[3u32, 1, 4, 1, 5][..]], vec![0u32; 4]);
    assert!(limit() >= 8192 && usual < 8192, "{usual} {}", limit());
    context.set_limit(StackSize, 65536).unwrap();
    recursive::launch((1, 3), &mut on_device(&[0u64; 3])).unwrap();
    assert!(limit() >= 65536, "what the program has set stays");
}

#[device]
fn middle<T: Copy>(x: &[T]) -> &T {
    &x[x.len() / 2]
}

#[device]
fn halves<'a>(x: &'a [f32], at: usize) -> (&'a [f32], &'a [f32]) {
    (&x[..at], &x[at..])
}

#[device]
fn rotated(x: [u32; 3]) -> [u32; 3] {
    [x[1], x[2], x[0]]
}

#[device]
fn first_above(x: &[f32], limit: f32) -> Option<f32> {
    for &v in x {
        if v > limit {
            return Some(v);
        }
    }
    None
}

#[kernel]
fn values(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let (low, high) = halves(x, i);
        let turned = rotated([1, 2, 3]);
        out[i] = *middle(x) + low.len() as f32 * 100.0 + high[0] + turned[i % 3] as f32;
        out[i] += first_above(x, i as f32).unwrap_or(-1.0);
    }
}

#[test]
fn device_functions_take_and_return_any_value() {
    differ!(values, (1, 8), [&[0.5, 1.5, 2.5, 3.5, 4.5][..]], vec![0f32; 5]);
}

#[device]
fn apply<F: Fn(f32) -> f32>(f: F, x: f32) -> f32 {
    f(f(x))
}

#[device]
fn fold<T: Copy, F>(x: &[T], start: T, mut f: F) -> T
where
    F: FnMut(T, T) -> T,
{
    let mut acc = start;
    for v in x.iter() {
        acc = f(acc, *v);
    }
    acc
}

#[kernel]
fn closures(x: &[f32], k: f32, out: &mut [f32]) {
    let i = grid::<1>();
    if i < out.len() {
        let twice = |v: f32| v * k + 1.0;
        let mut calls = 0;
        let sum = fold(x, 0.0, |a, b| {
            calls += 1;
            a + b
        });
        let mut factor = 2.0;
        let fixed = move |v: f32| v * factor;
        factor = 100.0;
        out[i] = apply(twice, x[i]) + apply(|v| v.sqrt() - i as f32, 100.0) + sum + calls as f32 + fixed(1.0) + factor;
    }
}

#[test]
fn closures_are_arguments() {
    differ!(closures, (1, 8), [&[0.5, 1.5, 2.5, 3.5][..], 3.0f32], vec![0f32; 4]);
}

#[test]
fn outputs_are_typed() {
    let mut out = on_device(&[0u64; 3]);
    recursive::launch((1, 3), &mut out).unwrap();
    assert_eq!(on_host(&out), [1000, 1001, 2001]);
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[operators(Add, Mul<T>, Mul for f32, Mul for f64, Sub for f32, PartialEq for u32)]
#[repr(C)]
struct Scaled<T> {
    value: T,
    by: T,
}

#[device]
impl<T: Float> Add for Scaled<T> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Scaled { value: self.value + other.value, by: self.by + other.by }
    }
}

#[device]
impl<T: Float> Mul<T> for Scaled<T> {
    type Output = Self;
    fn mul(self, by: T) -> Self {
        Scaled { value: self.value * by, by: self.by }
    }
}

#[device]
impl<T: Float> Mul<Scaled<T>> for f32 {
    type Output = Scaled<T>;
    fn mul(self, other: Scaled<T>) -> Scaled<T> {
        Scaled { by: other.by + T::ONE, ..other }
    }
}

#[device]
impl<T: Float> Mul<Scaled<T>> for f64 {
    type Output = Scaled<T>;
    fn mul(self, other: Scaled<T>) -> Scaled<T> {
        Scaled { by: other.by - T::ONE, ..other }
    }
}

#[device]
impl<T: Float> std::ops::Sub<Scaled<T>> for f32 {
    type Output = f32;
    fn sub(self, other: Scaled<T>) -> f32 {
        if other.value > other.by { self } else { -self }
    }
}

#[device]
impl<T: Float> PartialEq<Scaled<T>> for u32 {
    fn eq(&self, other: &Scaled<T>) -> bool {
        (*self > 1) == (other.value > other.by)
    }
}

#[kernel]
fn numbers_on_the_left(x: &[f32], out: &mut [f64]) {
    let i = grid::<1>();
    if i < x.len() {
        let (a, b) = (Scaled { value: x[i], by: 2.0 }, Scaled { value: x[i] as f64, by: 0.5 });
        let c = 2.0f32 * a + x[i] * a * 3.0;
        let d = 4.0f64 * b + (0.5f32 * b) * 2.0 + x[i] as f64 * b;
        let e = 3.0f32 - c;
        let hits = if 2u32 == a || 1u32 != b { 10.0 } else { 0.0 };
        out[i] = d.value + d.by + (c.value * c.by) as f64 + (e + (1.5f32 - d)) as f64 + hits;
    }
}

#[test]
fn operators_of_numbers_with_structs() {
    differ!(numbers_on_the_left, (1, 8), [&[0.25f32, 1.0, 3.5, -2.0][..]], vec![0f64; 4]);
}
