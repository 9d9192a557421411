//! Closures in enums of one's own.

use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, kernel};

use super::differ;

#[derive(Clone, Copy, DeviceType)]
enum Step<F: Fn(u32) -> u32> {
    Apply(F),
    Times(u32, F),
    Stay,
}

#[device]
fn of<F: Fn(u32) -> u32>(step: &Step<F>, v: u32) -> u32 {
    match step {
        Step::Apply(f) => f(v),
        Step::Times(by, f) => f(v) * by,
        Step::Stay => v,
    }
}

#[device]
fn run<F: Fn(u32) -> u32>(step: Step<F>, v: u32) -> u32 {
    if let Step::Times(by, _) = step {
        return of(&step, v) + by;
    }
    of(&step, v) + 1
}

#[device]
fn made<F: Fn(u32) -> u32>(f: F, by: u32) -> Step<F> {
    match by {
        0 => Step::Stay,
        1 => Step::Apply(f),
        _ => Step::Times(by, f),
    }
}

#[kernel]
fn steps(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let k = x[i];
    let f = |v: u32| v * 3 + k;
    let step = match k % 3 {
        0 => Step::Stay,
        1 => Step::Apply(f),
        _ => Step::Times(k, f),
    };
    out[i] = run(step, 7) + of(&step, 2) * 1000;
    let own = Step::Apply(|v: u32| v + k);
    out[i] += of(&own, 1) * 100;
    if let Step::Apply(g) = own {
        out[i] += g(2) * 10;
    }
    out[i] += of(&made(|v: u32| v ^ k, k % 4), 5) * 10000;
}

#[derive(Clone, Copy, DeviceType)]
enum Either<T, F, G>
where
    F: Fn(T) -> T,
    G: Fn(T, T) -> T,
{
    One(T, F),
    Two(T, T, G),
}

#[device]
fn value<T: cuda_jit::Num, F: Fn(T) -> T, G: Fn(T, T) -> T>(of: Either<T, F, G>) -> T {
    match of {
        Either::One(v, f) => f(v),
        Either::Two(v, w, f) => f(v, w),
    }
}

#[kernel]
fn either(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let (one, two) = (|v: f32| v * 2.0, |v: f32, w: f32| v - w);
    let of = if i % 2 == 0 { Either::One(x[i], one) } else { Either::Two(x[i], 0.5, two) };
    out[i] = value(of);
    out[i] += match of {
        Either::One(_, f) => f(10.0),
        Either::Two(_, w, _) => w,
    };
}

#[derive(Clone, Copy, DeviceType)]
enum Scale<F: Fn(f32) -> f32> {
    By { factor: f32, f: F },
    Off(f32),
}

#[kernel]
fn scales(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let k = x[i];
    let scale = if k > 1.0 { Scale::By { factor: k, f: |v: f32| v + k } } else { Scale::Off(0.5) };
    out[i] = match &scale {
        Scale::By { factor, f } => f(*factor) * factor,
        Scale::Off(v) => *v,
    };
    if let Scale::By { f, .. } = scale {
        out[i] += f(1.0);
    }
}

#[derive(Clone, Copy, DeviceType)]
enum Counter<F: FnMut() -> u32> {
    On(F),
    Off,
}

#[kernel]
fn counts(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    let mut n = x[i];
    let mut counter = Counter::On(move || {
        n += 1;
        n
    });
    let mut copy = counter;
    if let Counter::On(f) = &mut counter {
        out[i] = f() + 10 * f();
    }
    if let Counter::On(f) = &mut copy {
        out[i] += 100 * f();
    }
    if x[i] > 2 {
        counter = Counter::Off;
    }
    out[i] += match counter {
        Counter::On(mut f) => 1000 * f(),
        Counter::Off => 7,
    };
}

#[test]
fn closures_in_own_enums() {
    let x: Vec<u32> = (0..12).collect();
    differ!(steps, (1, 12), [&x[..]], vec![0u32; 12]);
    differ!(either, (1, 4), [&[1.5_f32, 2.5, -3.0, 0.25][..]], vec![0f32; 4]);
    differ!(scales, (1, 4), [&[1.5_f32, 2.5, -3.0, 0.25][..]], vec![0f32; 4]);
    differ!(counts, (1, 6), [&x[..6]], vec![0u32; 6]);
}
