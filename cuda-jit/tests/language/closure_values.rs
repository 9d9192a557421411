//! Closures as values: in options, tuples and arrays, out of iterators, behind references, returned by closures.

use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, kernel};

use super::differ;

#[device]
fn apply<F: Fn(u32) -> u32>(f: F, v: u32) -> u32 {
    f(v)
}
#[device]
fn apply_by_reference<F: Fn(u32) -> u32>(f: &F, v: u32) -> u32 {
    f(v) + apply(f, v)
}
#[device]
fn stepped<F: FnMut() -> u32>(f: &mut F) -> u32 {
    f() + 10 * f()
}
#[device]
fn passed_on<F: FnMut() -> u32>(f: &mut F) -> u32 {
    let first = stepped(&mut *f);
    first + stepped(f)
}

#[kernel]
fn in_an_option(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let k = x[i];
    let held = if k % 2 == 0 { Some(|v: u32| v * 3 + k) } else { None };
    out[i] = held.map(|f| f(4)).unwrap_or(7);
    if let Some(f) = held {
        out[i] += f(k) * 100 + apply(f, 5) * 1000;
    }
    let f = |v: u32| v + k;
    let named = Some(f);
    out[i] += named.unwrap()(1) * 1000000 + named.map_or(3, |f| f(1));
}

#[kernel]
fn out_of_an_iterator(x: &[u32], out: &mut [u32]) {
    let mut it = x.iter().map(|v| move |w: u32| v * 10 + w);
    let p = it.next().unwrap();
    let q = it.next().unwrap();
    out[0] = p(2);
    out[1] = q(3) + p(1);
    let mut k = 0;
    for f in it {
        k += 1;
        out[1 + k] = f(k as u32);
    }
}

#[kernel]
fn behind_a_reference(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let k = x[i];
    let f = |v: u32| v + k;
    let g = &f;
    let h = &g;
    out[i] = g(1) + h(2) * 100 + apply(g, 3) * 10000 + apply_by_reference(g, 4) * 100000;
}

#[kernel]
fn cloned(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut k = x[i];
    let mut f = move || {
        k += 1;
        k
    };
    f();
    let mut g = f.clone();
    out[i] = f() + 100 * g() + 10000 * g() + 1000000 * f();
}

#[kernel]
fn reborrowed(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut k = x[i];
    let mut f = || {
        k += 1;
        k
    };
    let g = &mut f;
    let a = stepped(&mut *g);
    let b = passed_on(g);
    out[i] = a + b * 100 + f() * 10000;
}

#[kernel]
fn returned_by_closures(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let k = x[i];
    let adder = |v: u32| move |w: u32| v * 10 + w + k;
    let add = adder(2);
    out[i] = add(3) + adder(4)(5) * 100 + apply(adder(6), 7) * 10000;
    let three = |a: u32| move |b: u32| move |c: u32| a * 100 + b * 10 + c;
    out[i] += three(1)(2)(3) * 100000;
    let block = {
        let doubled = k * 2;
        move |v: u32| v + doubled
    };
    out[i] += block(1);
}

#[kernel]
fn in_tuples_and_arrays(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let k = x[i];
    let (f, g) = (|v: u32| v + k, |v: u32| v * k);
    out[i] = f(2) + g(3) * 10;
    let both = (f, 5, g);
    out[i] += (both.0)(1) * 100 + both.2(both.1) * 1000;
    let all = [2, 3, 4].map(|n| move |v: u32| v * n + k);
    out[i] += all[1](i as u32) * 10000 + apply(all[2], 1) * 100000;
    for f in all {
        out[i] += f(1);
    }
    out[i] = all.into_iter().fold(out[i], |sum, f| sum + f(k));
}

#[kernel]
fn assigned_later(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let f;
    let k = x[i];
    f = |v: u32| v + k;
    let mut all = 0;
    let mut last = None;
    for n in 0..4 {
        let f = move |v: u32| v * 10 + n;
        if let Some(before) = last {
            all = all * 7 + apply(before, 1);
        }
        last = Some(f);
    }
    out[i] = f(all) + last.unwrap()(2);
}

#[derive(Clone, Copy, DeviceType)]
struct Scaled<F: Fn(u32) -> u32> {
    by: u32,
    f: F,
}
#[device]
impl<F: Fn(u32) -> u32> Scaled<F> {
    fn at(&self, v: u32) -> u32 {
        (self.f)(v) * self.by
    }
}
#[derive(Clone, Copy, DeviceType)]
struct Wrapped<T, F>(T, F)
where
    F: Fn(T) -> T;

#[device]
fn scaled<F: Fn(u32) -> u32>(of: Scaled<F>, v: u32) -> u32 {
    (of.f)(v) + of.by
}
#[device]
fn of_an_option<F: Fn(u32) -> u32>(f: Option<F>, v: u32) -> u32 {
    match f {
        Some(f) => f(v),
        None => v,
    }
}

#[kernel]
fn in_own_structs(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let k = x[i];
    let s = Scaled { by: 3, f: |v| v.pow(2) + k };
    out[i] = s.at(2) + (s.f)(1) * 100 + scaled(s, 3) * 1000;
    let f = |v: u32| v + k;
    let t = Scaled { by: 2, f };
    out[i] += t.at(1) * 10000;
    let w = Wrapped(k, |v: u32| v * 2);
    out[i] += (w.1)(w.0) + of_an_option(Some(f), 3) * 100000 + of_an_option(Some(f).filter(|_| k > 3), 4);
}

#[device]
fn made<F: Fn(u32) -> u32>(f: F, by: u32) -> Scaled<F> {
    Scaled { by, f }
}
#[device]
fn either<F: Fn(u32) -> u32>(first: bool, f: F, g: F) -> Option<F> {
    if first { Some(f) } else { Some(g).filter(|g| g(0) > 3) }
}
#[device]
fn curried<G: Fn(u32) -> u32, F: Fn(u32) -> G>(f: F, a: u32, b: u32) -> u32 {
    f(a)(b) + apply(f(b), a)
}

#[kernel(debug)]
fn through_device_functions(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let k = x[i];
    let adder = |v: u32| move |w: u32| v * 10 + w + k;
    out[i] = made(|v| v + k, 3).at(2) + curried(adder, 1, 2) * 1000;
    let (f, g) = (adder(1), adder(2));
    out[i] += either(k % 2 == 0, f, g).map_or(5, |f| f(1)) * 100000;
    let mut count = 0;
    let mut counts = [1, 2].map(|n| {
        move || {
            count += n;
            count
        }
    });
    counts[0]();
    out[i] += counts[0]() * 7 + counts[1]() * 11;
    let mut last = Some(counts[1]);
    if let Some(count) = &mut last {
        out[i] += count();
    }
    if let Some(count) = last.as_mut() {
        out[i] += count() * 3;
    }
    let _ = |v: u32| v;
    let x = Ok::<_, u32>(|v: u32| v + 1);
    out[i] += x.map_or(0, |f| f(k));
}

#[test]
fn closures_are_values() {
    let x = [0, 1, 2, 3, 4, 5, 7, 8];
    macro_rules! compare {
        ($($kernel:ident)*) => { $( differ!($kernel, (1, 8), [&x[..]], vec![0u32; 8]); )* };
    }
    compare! {
        in_an_option
        behind_a_reference
        cloned
        reborrowed
        returned_by_closures
        in_tuples_and_arrays
        assigned_later
        in_own_structs
        through_device_functions
    }
    differ!(out_of_an_iterator, (1, 1), [&x[..]], vec![0u32; 8]);
}

#[kernel]
fn closures_in_bodies_of_closures(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let k = x[i];
    let sum = |a: i32| {
        let scaled = |b: i32| b * 3 + k;
        scaled(a) + 2
    };
    let nested = |h: i32| {
        let inner = |v: i32| sum(v) + h;
        inner(h) + inner(2)
    };
    let pair = |h: i32| {
        let both = |v: i32| (v, v + h);
        both(h + 1)
    };
    let nothing = |h: i32| {
        let check = |v: i32| assert!(v < 100);
        check(h)
    };
    let adds = |a: i32| move |b: i32| a * b + k;
    let add = adds(3);
    out[i] = sum(2) as i64 + nested(k) as i64 * 10 + (pair(k).0 + pair(2).1) as i64 * 1000;
    nothing(k);
    out[i] += (add(k) + adds(k)(2)) as i64 * 100_000;
}

#[test]
fn a_closure_ends_with_a_call_of_its_own_closure() {
    differ!(closures_in_bodies_of_closures, (1, 6), [&[3i32, 1, 4, 1, 5, 9][..]], vec![0i64; 6]);
}

#[kernel]
fn patterns_as_parameters(x: &[u8], out: &mut [u64]) {
    let i = grid::<1>();
    let (low, high) = ([x[i] as u32, 2], [30u32, 40]);
    let pairs: [&[u32; 2]; 2] = [&low, &high];
    let tuples: [&(u8, u64); 2] = [&(x[i], 1 << 33), &(255, 7)];
    let mut total = pairs.map(|[a, _]| *a as u64)[i % 2] + tuples.map(|(_, b)| *b)[(i + 1) % 2];
    let wide = |(a, b): (u8, u64)| a.wrapping_mul(200) as u64 + b.wrapping_mul(1 << 40);
    total = total.wrapping_add(wide((3, 5))) + wide(if i > 2 { (1, 2) } else { (x[i], 255) });
    let nested = |[a, b, ..]: [u64; 4], (c, _): (i8, f32)| a.wrapping_add(b) ^ (c.wrapping_sub(100)) as u64;
    total = total.wrapping_add(nested([1 << 40, !0, 3, 4], (-100, 1.0)));
    // the parts of a tuple and the arms of a branch are coerced
    let coerced = |(a, b): (&[u64], &mut u64)| {
        *b += a[1];
        a.len() as u64
    };
    let mut sum = 5;
    total = total.wrapping_add(coerced((&[1, 1 << 40, 3], &mut sum)) + coerced((&[x[i] as u64; 2], &mut sum)) + sum);
    let first = |a: &[u64], b: Option<&[u64]>| a[0] + b.map_or(7, |b| b[0]);
    out[i] = total.wrapping_add(first(&[9, 8], None) + first(&[1; 3], if i > 1 { Some(&[4]) } else { None }));
}

#[test]
fn parameters_of_closures_are_patterns() {
    differ!(patterns_as_parameters, (1, 6), [&[3u8, 1, 4, 1, 5, 9][..]], vec![0u64; 6]);
}
