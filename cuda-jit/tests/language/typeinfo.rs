//! The risks of type information: each is a way in which the typing probe could differ from the function.

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::kir::{Scalar, Space};
use cuda_jit::typeinfo::{Body, Instance, Memory, Ty, ty_of};
use cuda_jit::{Kernel, Num, device, kernel};

/// The types of a kernel's bindings by name, parameters included.
fn types<K: Kernel>() -> Vec<(&'static str, Option<Ty>)> {
    let Instance { body: Body::Captured(definition, probe), .. } = K::instance() else { panic!("captured") };
    let reported = probe().into_info().bindings;
    let ty = |number: Option<u32>| reported[number? as usize].clone();
    definition.bindings.iter().map(|binding| (binding.name, ty(binding.reported))).collect()
}

fn type_of<K: Kernel>(name: &str) -> Ty {
    let found = types::<K>().into_iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no binding `{name}`")).1.unwrap_or_else(|| panic!("`{name}` is a closure"))
}

const fn scalar(scalar: Scalar) -> Ty {
    Ty::Scalar(scalar)
}

// --- moved values

#[kernel]
fn moves(out: &mut [u32]) {
    let pair = (1u32, 2.5f32);
    let moved = pair;
    let slice = out; // `out` is moved, and was seen before
    let target = slice;
    target[0] = moved.0 + moved.1 as u32;
}

#[test]
fn moved_values_are_seen_before_they_move() {
    assert_eq!(type_of::<moves>("moved"), Ty::Tuple(vec![scalar(Scalar::U32), scalar(Scalar::F32)]));
    assert_eq!(type_of::<moves>("target"), Ty::Slice(Box::new(scalar(Scalar::U32)), Memory::Write(Space::Global)));
    assert_eq!(differ!(moves, (1, 1), [], vec![0u32]), [3]);
}

// --- patterns

#[kernel]
fn patterns(x: &[i32], out: &mut [i32]) {
    let i = grid::<1>();
    if i >= x.len() || i >= out.len() {
        return;
    }
    let found = if x[i] > 0 { Some(x[i]) } else { None };
    if let Some(positive) = found {
        out[i] = positive * 10;
    }
    out[i] += match (x[i], i) {
        (0, place) => place as i32,
        (v, _) if v < -5 => -1,
        (-5..=-1, _) => -2,
        (1 | 2, place) => place as i32 + 100,
        (_, _) => 7,
    };
}

#[test]
fn names_in_if_let_and_match_arms_have_types() {
    assert_eq!(type_of::<patterns>("positive"), scalar(Scalar::I32));
    assert_eq!(type_of::<patterns>("place"), scalar(Scalar::U64));
    assert_eq!(type_of::<patterns>("v"), scalar(Scalar::I32));
    let x = [0, 1, 2, 3, -1, -5, -6, i32::MIN];
    differ!(patterns, (1, 16), [&x[..]], vec![0i32; 8]);
}

#[kernel]
fn bare_none(out: &mut [f32]) {
    out[0] = match None {
        Some(v) => v,
        None => 2.0,
    };
    if let Some(w) = None {
        out[0] = w;
    }
}

#[test]
fn a_bare_none_takes_its_type_from_the_patterns() {
    assert_eq!(type_of::<bare_none>("w"), scalar(Scalar::F32));
    assert_eq!(differ!(bare_none, (1, 1), [], vec![0f32]), [2.0]);
}

// --- macro_rules!

macro_rules! make {
    ($name:ident, $op:tt, $local:ident) => {
        #[kernel]
        fn $name(x: &[u32], out: &mut [u32]) {
            let i = grid::<1>();
            // two names with the same spelling: this one is the macro's, `$local` is the caller's
            let v = 1000;
            let $local = x[i];
            out[i] = $local $op 2 + v;
        }
    };
}

make!(made_add, +, v);
make!(made_mul, *, other);

#[test]
fn kernels_made_by_macro_rules_keep_their_names_apart() {
    assert_eq!(differ!(made_add, (1, 3), [&[1, 2, 3][..]], vec![0u32; 3]), [1003, 1004, 1005]);
    assert_eq!(differ!(made_mul, (1, 3), [&[1, 2, 3][..]], vec![0u32; 3]), [1002, 1004, 1006]);
}

// --- names

/// A struct, a kernel's local and a device function may share their names with other things.
mod named {
    use super::*;

    #[expect(dead_code, reason = "it only has to exist beside the binding of that name")]
    pub(super) struct Value;

    #[device]
    pub(super) fn scale(value: f32) -> f32 {
        value * 2.0
    }

    #[kernel]
    pub(super) fn names(x: &[f32], out: &mut [f32]) {
        let i = grid::<1>();
        let value = scale(x[i]);
        let scale = 3.0; // shadows the device function from here on
        let i = i; // and itself
        let r#match = value * scale;
        out[i] = r#match;
    }
}

#[test]
fn names_shadow_as_in_rust() {
    use named::names;
    assert_eq!(differ!(names, (1, 2), [&[1.0, 2.0][..]], vec![0f32; 2]), [6.0, 12.0]);
}

#[kernel]
fn shadowed(x: &[f32], out: &mut [f32]) {
    let i = grid::<1>();
    let value = x[i] as u32;
    let shifted = value << 1;
    let value = if value > 2 { Some(x[i]) } else { None };
    let late;
    if let Some(value) = value {
        late = value as f64;
    } else {
        late = -1.0;
    }
    let value = |more: f32| more + shifted as f32;
    let value = (value(0.5), late);
    out[i] = value.0 + value.1 as f32;
}

#[test]
fn each_of_the_bindings_that_share_a_name_has_its_own_type() {
    let of_value = types::<shadowed>().into_iter().filter(|(name, _)| *name == "value").map(|(_, ty)| ty);
    let expected = [
        Some(scalar(Scalar::U32)),
        Some(ty_of::<Option<f32>>()),
        Some(scalar(Scalar::F32)),
        None,
        Some(Ty::Tuple(vec![scalar(Scalar::F32), scalar(Scalar::F64)])),
    ];
    assert_eq!(of_value.collect::<Vec<_>>(), expected);
    assert_eq!(differ!(shadowed, (1, 2), [&[1.0f32, 4.0][..]], vec![0f32; 2]), [1.5, 12.5]);
}

macro_rules! crowded {
    ($($ty:ty, $scalar:ident: $($name:ident)*;)*) => {
        #[kernel]
        fn crowded(x: &[f32], out: &mut [f64]) {
            $($(let $name = x[0] as $ty;)*)*
            out[0] = 0.0 $($(+ $name as f64)*)*;
        }

        #[test]
        fn many_bindings_keep_their_order() {
            let expected = [$($((stringify!($name), Some(scalar(Scalar::$scalar)))),*),*];
            assert!(expected.len() > 64, "more than a tuple of tuples holds");
            assert_eq!(types::<crowded>()[2..], expected);
            assert_eq!(differ!(crowded, (1, 1), [&[2.5f32][..]], vec![0f64]), [8.0 * 7.0 * 2.0 + 2.0 * 7.0 * 2.5]);
        }
    };
}

crowded! {
    u8, U8: a0 a1 a2 a3 a4 a5 a6;
    u16, U16: b0 b1 b2 b3 b4 b5 b6;
    u32, U32: c0 c1 c2 c3 c4 c5 c6;
    u64, U64: d0 d1 d2 d3 d4 d5 d6;
    i8, I8: e0 e1 e2 e3 e4 e5 e6;
    i16, I16: f0 f1 f2 f3 f4 f5 f6;
    i32, I32: g0 g1 g2 g3 g4 g5 g6;
    i64, I64: h0 h1 h2 h3 h4 h5 h6;
    f32, F32: i0 i1 i2 i3 i4 i5 i6;
    f64, F64: j0 j1 j2 j3 j4 j5 j6;
}

// --- ways out

#[kernel]
fn returns(x: &[u32], out: &mut [f32]) {
    let i = grid::<1>();
    let first = x[i];
    // only its `return` determines the closure's result type
    let small = |v: u32| {
        if v < 100 {
            return Some(v);
        }
        None
    };
    if first == 0 {
        return;
    }
    let found = small(first);
    let last = if let Some(v) = found { v as f32 / 2.0 } else { 0.5 };
    match first {
        1 => {
            return out[i] = {
                let more = last + 10.0;
                more
            };
        }
        2 => return (),
        _ => {}
    }
    out[i] = last
}

#[test]
fn kernels_return_from_any_place() {
    assert_eq!(type_of::<returns>("found"), ty_of::<Option<u32>>());
    assert_eq!(type_of::<returns>("last"), scalar(Scalar::F32));
    assert_eq!(type_of::<returns>("more"), scalar(Scalar::F32));
    let x = [0, 1, 2, 3, 200];
    assert_eq!(differ!(returns, (1, 5), [&x[..]], vec![7f32; 5]), [7.0, 10.5, 7.0, 1.5, 0.5]);
}

// --- closures

#[kernel]
fn closures(x: &[f32], factor: f32, out: &mut [f32]) {
    let i = grid::<1>();
    let mut calls = 0;
    let scale = |v| v * factor;
    let mut twice = |v: f32, again| {
        calls += 1;
        if again {
            return scale(scale(v));
        }
        scale(v)
    };
    let a = twice(x[i], true);
    let b = twice(x[i], i == 0);
    out[i] = a + b + calls as f32;
}

#[test]
fn closures_infer_their_parameters_and_capture_by_reference() {
    assert_eq!(type_of::<closures>("v"), scalar(Scalar::F32));
    assert_eq!(type_of::<closures>("again"), scalar(Scalar::Bool));
    assert!(types::<closures>().contains(&("twice", None)));
    assert_eq!(differ!(closures, (1, 2), [&[1.0f32, 2.0][..], 3.0f32], vec![0f32; 2]), [20.0, 26.0]);
}

// --- inference that is settled late

#[kernel]
fn late(x: &[u8], out: &mut [u64]) {
    let mut count = 0; // u16, by the comparison below
    let mut sum = 0; // u64, by the last line
    let step; // u16, by its only assignment
    let limit = 10; // i32, by fallback
    let half = 0.5; // f64, by fallback
    if limit > 3 {
        step = 2;
    } else {
        step = 1;
    }
    while count < 6u16 {
        sum += x[count as usize] as u64;
        count += step;
    }
    let _ = half;
    out[0] = sum;
}

#[test]
fn integers_that_are_inferred_late_have_rustcs_type() {
    assert_eq!(type_of::<late>("count"), scalar(Scalar::U16));
    assert_eq!(type_of::<late>("sum"), scalar(Scalar::U64));
    assert_eq!(type_of::<late>("step"), scalar(Scalar::U16));
    assert_eq!(type_of::<late>("limit"), scalar(Scalar::I32));
    assert_eq!(type_of::<late>("half"), scalar(Scalar::F64));
    assert_eq!(differ!(late, (1, 1), [&[1, 2, 3, 4, 5, 6][..]], vec![0u64]), [9]);
}

// --- generics and device functions

#[device]
fn pick<T: Num>(flag: bool, yes: T, no: T) -> T {
    if flag { yes } else { no }
}

#[device]
fn sum<T: Num>(x: &[T], from: usize) -> T {
    let mut total = T::ZERO;
    for i in from..x.len() {
        total += x[i];
    }
    total
}

#[device]
fn factorial(n: u64) -> u64 {
    if n == 0 { 1 } else { n * factorial(n - 1) }
}

#[kernel]
fn generic<T: Num, const N: usize>(x: &[T], out: &mut [T]) {
    let i = grid::<1>();
    if i < out.len() {
        let extra = sum(x, N);
        out[i] = pick(i % 2 == 0, x[i], T::ONE) + extra;
        out[i] += sum(&*out, out.len());
    }
}

#[kernel]
fn recursive(out: &mut [u64]) {
    let i = grid::<1>();
    out[i] = factorial(i as u64) + pick::<u64>(true, 0, 1);
}

#[test]
fn generic_arguments_of_calls_are_rustcs() {
    fn run<T: Num + std::fmt::Debug>(values: [T; 4]) {
        let mut host = values.to_vec();
        cuda_jit::host::for_each_thread((1, 4), || generic::<T, 2>(&values, &mut host));
        let mut device = super::on_device(&values);
        generic::<T, 2>::launch((1, 4), cuda_jit::launch::In(&values[..]), &mut device).unwrap();
        let bits = |v: Vec<T>| v.into_iter().map(T::bits).collect::<Vec<_>>();
        assert_eq!(bits(super::on_host(&device)), bits(host));
    }
    run([1i8, 2, 3, 4]);
    run([1u16, 2, 3, 4]);
    run([1i64, -2, 3, 4]);
    run([1.5f32, 2.5, 3.5, 4.5]);
    run([1.5f64, 2.5, 3.5, 4.5]);
    assert_eq!(differ!(recursive, (1, 6), [], vec![0u64; 6]), [1, 1, 2, 6, 24, 120]);
}

// --- constants

const OFFSET: i16 = -300;

mod deeper {
    pub(super) const SCALE: f32 = 0.25;
}

#[kernel]
fn constants(out: &mut [f32]) {
    const LOCAL: u32 = 7;
    out[0] = OFFSET as f32 * deeper::SCALE + LOCAL as f32 + f32::MAX * 0.0 + std::f32::consts::PI;
    out[1] = match out.len() as u32 + 5 {
        LOCAL => u8::MAX as f32,
        _ => 0.0,
    };
}

#[test]
fn constants_have_their_values() {
    differ!(constants, (1, 1), [], vec![0f32; 2]);
}

/// Two modules may have kernels of the same name; each has its own specialisations.
mod first {
    #[cuda_jit::kernel]
    pub(super) fn same(out: &mut [u32]) {
        out[0] = 1;
    }
}

mod second {
    #[cuda_jit::kernel]
    pub(super) fn same(out: &mut [u32]) {
        out[0] = 2;
    }
}

#[test]
fn kernels_of_one_name_are_distinct() {
    let mut out = super::on_device(&[0u32]);
    first::same::launch((1, 1), &mut out).unwrap();
    assert_eq!(super::on_host(&out), [1]);
    second::same::launch((1, 1), &mut out).unwrap();
    assert_eq!(super::on_host(&out), [2]);
}

// --- statements that the typing probe leaves out

#[device]
fn made<T: Num>() -> T {
    T::ONE + T::ONE
}

#[kernel]
fn shared_types(x: &[f32], y: &[f32], k: u64, out: &mut [f32]) {
    let first = x[0] + y[1]; // told
    let second = y[1] + x[0]; // the same
    let count = k + 1;
    let mut sum = 0.0; // open until the last statement
    let mut steps = 0;
    sum += second as f64; // names what is left out, and is itself no end of it
    let (left, mut right) = (x[2], 1);
    let left = if left > first { left } else { 0.5 };
    for step in 0..count {
        let twice = step * 2;
        steps += twice;
        right += 1u8;
    }
    if steps > 3 {
        let first = made(); // of the type of what it is assigned to
        let other: f32 = first;
        out[0] = other;
    }
    let found = loop {
        if steps % 5 == 0 {
            break sum;
        }
        steps += 1;
    };
    let Some(last) = x.last() else { return };
    let rest = match right {
        0 => return,
        1..=3 => x[0],
        _ => *last,
    };
    let mut late;
    {
        late = 3;
        late += steps;
    }
    let pick = |v| if v > left { v } else { rest };
    out[1] = pick(second) + found as f32 + late as f32;
    out[2] = f32::from(right) + 0.25;
}

#[test]
fn types_are_rustcs_where_the_probe_omits_statements() {
    for name in ["first", "second", "left", "rest", "v"] {
        assert_eq!(type_of::<shared_types>(name), scalar(Scalar::F32), "{name}");
    }
    for name in ["count", "step", "twice", "steps", "late"] {
        assert_eq!(type_of::<shared_types>(name), scalar(Scalar::U64), "{name}");
    }
    assert_eq!(type_of::<shared_types>("sum"), scalar(Scalar::F64));
    assert_eq!(type_of::<shared_types>("right"), scalar(Scalar::U8));
    let (x, y) = ([0.5f32, 2.0, 8.0], [1.0f32, 4.0]);
    assert_eq!(differ!(shared_types, (1, 1), [&x[..], &y[..], 3u64], vec![0f32; 3]), [2.0, 30.5, 5.25]);
}

/// Names of a macro and of its caller with the same spelling, and types with the same text.
macro_rules! two_names {
    ($kernel:ident, $outer:ident) => {
        #[kernel]
        fn $kernel($outer: &[f32], out: &mut [f32]) {
            let first = $outer[0];
            let value = 2u32;
            let $outer = 3.5f64;
            let second = value;
            let third = $outer;
            out[0] = first + second as f32 + third as f32;
        }
    };
}

two_names!(two_values, value);

#[test]
fn names_that_read_alike_have_their_own_types() {
    assert_eq!(type_of::<two_values>("second"), scalar(Scalar::U32));
    assert_eq!(type_of::<two_values>("third"), scalar(Scalar::F64));
    assert_eq!(differ!(two_values, (1, 1), [&[1.0f32][..]], vec![0f32]), [6.5]);
}
