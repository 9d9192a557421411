//! Floating-point instructions: special values, rounding, saturation, conversions.

use super::{check32, check64, eval32, tuples};

/// A modifier or instruction, and its semantics.
type Case<F> = (&'static str, F);
type Unary<T, R> = fn(T) -> R;
type Binary<T, R> = fn(T, T) -> R;

fn bits(values: &[f32]) -> Vec<u64> {
    values.iter().map(|v| u64::from(v.to_bits())).collect()
}

/// Signalling NaNs of both signs; conversion through `f32` quiets them on some processors.
const SIGNALLING: [u64; 2] = [0x7f80_0001, 0xffa0_0000];
const SIGNALLING_DOUBLES: [u64; 2] = [0x7ff0_0000_0000_0001, 0xfff4_0000_0000_0000];

fn singles() -> Vec<u64> {
    let mut all = bits(&[
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.5,
        -2.5,
        0.5,
        3.0e-39,
        -3.0e-39,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        3.4e9,
        -3.4e9,
        1.0e20,
        2147483520.0,
        0.1,
        0.3,
    ]);
    all.extend(SIGNALLING);
    all
}

fn doubles() -> Vec<u64> {
    let numbers = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        2.5,
        5e-324,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        4294967296.0,
        -1e300,
        0.1,
    ];
    numbers.map(f64::to_bits).into_iter().chain(SIGNALLING_DOUBLES).collect()
}

/// Returns the bits with a canonical NaN: PTX leaves the payload open.
fn same(value: f32) -> u32 {
    if value.is_nan() { 0x7fff_ffff } else { value.to_bits() }
}

/// Compares values; any NaN equals any other.
#[track_caller]
fn check(code: &str, inputs: &[[u64; 4]], reference: impl Fn(f32, f32, f32) -> f32) {
    for (input, got) in inputs.iter().zip(eval32(code, inputs)) {
        let [a, b, c, _] = input.map(|v| f32::from_bits(v as u32));
        let (got, want) = (f32::from_bits(got), reference(a, b, c));
        assert_eq!(same(got), same(want), "{code} of ({a:e}, {b:e}, {c:e}): {got:e}, not {want:e}");
    }
}

#[track_caller]
fn check_double(code: &str, inputs: &[[u64; 4]], reference: impl Fn(f64, f64, f64) -> f64) {
    check64(
        &format!("{code} testp.notanumber.f64 %p6, %rd10; @%p6 mov.b64 %rd10, 0x7fffffffffffffff;"),
        inputs,
        |a, b, c| {
            let value = reference(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
            if value.is_nan() { 0x7fff_ffff_ffff_ffff } else { value.to_bits() }
        },
    );
}

fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0.0f32.copysign(x) } else { x }
}

fn saturate(x: f32) -> f32 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

#[test]
fn arithmetic_rounds_to_nearest() {
    let two = tuples::<2>(&singles());
    check("add.rn.f32 %r10, %r1, %r2;", &two, |a, b, _| a + b);
    check("sub.f32 %r10, %r1, %r2;", &two, |a, b, _| a - b);
    check("mul.rn.f32 %r10, %r1, %r2;", &two, |a, b, _| a * b);
    check("div.rn.f32 %r10, %r1, %r2;", &two, |a, b, _| a / b);
    check("mul.rn.ftz.f32 %r10, %r1, %r2;", &two, |a, b, _| flush(flush(a) * flush(b)));
    check("add.ftz.f32 %r10, %r1, %r2;", &two, |a, b, _| flush(flush(a) + flush(b)));
    check("add.sat.f32 %r10, %r1, %r2;", &two, |a, b, _| saturate(a + b));
    check("sqrt.rn.f32 %r10, %r1;", &two, |a, _, _| a.sqrt());
    check("rcp.rn.f32 %r10, %r1;", &two, |a, _, _| 1.0 / a);
    check("neg.f32 %r10, %r1;", &two, |a, _, _| -a);
    check("abs.f32 %r10, %r1;", &two, |a, _, _| a.abs());
    check("copysign.f32 %r10, %r1, %r2;", &two, |a, b, _| b.copysign(a));
    check("fma.rn.f32 %r10, %r1, %r2, %r3;", &tuples::<3>(&singles()[..16]), f32::mul_add);
    let two = tuples::<2>(&doubles());
    check_double("add.rn.f64 %rd10, %rd1, %rd2;", &two, |a, b, _| a + b);
    check_double("mul.f64 %rd10, %rd1, %rd2;", &two, |a, b, _| a * b);
    check_double("div.rn.f64 %rd10, %rd1, %rd2;", &two, |a, b, _| a / b);
    check_double("sqrt.rn.f64 %rd10, %rd1;", &two, |a, _, _| a.sqrt());
}

#[test]
fn products_and_sums_are_not_contracted() {
    // Rounded once the result is -2^-46; rounded twice it is 0.
    let x = 1.0 + f32::EPSILON;
    let square = x * x;
    let input = [u64::from(x.to_bits()), u64::from(square.to_bits()), 0, 0];
    assert_eq!(eval32("mul.rn.f32 %r5, %r1, %r1; sub.rn.f32 %r10, %r5, %r2;", &[input]), [0]);
}

#[test]
fn minimum_and_maximum() {
    let two = tuples::<2>(&singles());
    let smaller = |a: f32, b: f32| match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        // -0 is less than +0.
        _ if a == b => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => {
            if a < b {
                a
            } else {
                b
            }
        }
    };
    check("min.f32 %r10, %r1, %r2;", &two, |a, b, _| smaller(a, b));
    check("max.f32 %r10, %r1, %r2;", &two, |a, b, _| -smaller(-a, -b));
    check(
        "min.NaN.f32 %r10, %r1, %r2;",
        &two,
        |a, b, _| {
            if a.is_nan() || b.is_nan() { f32::NAN } else { smaller(a, b) }
        },
    );
}

#[test]
fn comparisons_with_nan() {
    let two = tuples::<2>(&singles());
    let cases: [Case<Binary<f32, bool>>; 14] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| a.partial_cmp(&b).is_some_and(|order| order.is_ne())),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
        ("equ", |a, b| a.partial_cmp(&b).is_none_or(|order| order.is_eq())),
        ("neu", |a, b| a != b),
        ("ltu", |a, b| a.is_nan() || b.is_nan() || a < b),
        ("leu", |a, b| a.is_nan() || b.is_nan() || a <= b),
        ("gtu", |a, b| a.is_nan() || b.is_nan() || a > b),
        ("geu", |a, b| a.is_nan() || b.is_nan() || a >= b),
        ("num", |a, b| !a.is_nan() && !b.is_nan()),
        ("nan", |a, b| a.is_nan() || b.is_nan()),
    ];
    for (name, holds) in cases {
        check32(&format!("setp.{name}.f32 %p1, %r1, %r2; selp.b32 %r10, 1, 0, %p1;"), &two, |a, b, _| {
            u32::from(holds(f32::from_bits(a), f32::from_bits(b)))
        });
    }
}

#[test]
fn classes() {
    let one = tuples::<1>(&singles());
    let cases: [Case<Unary<f32, bool>>; 6] = [
        ("finite", f32::is_finite),
        ("infinite", f32::is_infinite),
        ("number", |x| !x.is_nan()),
        ("notanumber", f32::is_nan),
        ("normal", |x| x.is_normal() || x == 0.0),
        ("subnormal", f32::is_subnormal),
    ];
    for (name, holds) in cases {
        check32(&format!("testp.{name}.f32 %p1, %r1; selp.b32 %r10, 1, 0, %p1;"), &one, |a, _, _| {
            u32::from(holds(f32::from_bits(a)))
        });
    }
}

#[test]
fn directed_rounding_brackets() {
    let one = bits(&[1.0, 3.0, 0.1, 7.5, -3.0, 1e-20]);
    for operation in ["add", "sub", "mul", "div"] {
        let two = tuples::<2>(&one);
        let run = |mode: &str| eval32(&format!("{operation}.{mode}.f32 %r10, %r1, %r2;"), &two);
        let (down, up, zero, nearest) = (run("rm"), run("rp"), run("rz"), run("rn"));
        for (i, input) in two.iter().enumerate() {
            let [a, b] = [input[0], input[1]].map(|v| f64::from(f32::from_bits(v as u32)));
            let exact = match operation {
                "add" => a + b,
                "sub" => a - b,
                "mul" => a * b,
                _ => a / b,
            };
            let value = |v: &[u32]| f64::from(f32::from_bits(v[i]));
            assert!(value(&down) <= exact && exact <= value(&up), "{operation} of {a} and {b}");
            let inward = if exact < 0.0 { value(&up) } else { value(&down) };
            assert_eq!(value(&zero), inward, "{operation}.rz of {a} and {b}");
            assert!(value(&nearest) == value(&down) || value(&nearest) == value(&up));
        }
    }
}

#[test]
fn float_to_integer_saturates() {
    let one = tuples::<1>(&singles());
    let f = f32::from_bits;
    check32("cvt.rzi.s32.f32 %r10, %r1;", &one, |a, _, _| f(a) as i32 as u32);
    check32("cvt.rzi.u32.f32 %r10, %r1;", &one, |a, _, _| f(a) as u32);
    check32("cvt.rni.s32.f32 %r10, %r1;", &one, |a, _, _| f(a).round_ties_even() as i32 as u32);
    check32("cvt.rmi.s32.f32 %r10, %r1;", &one, |a, _, _| f(a).floor() as i32 as u32);
    check32("cvt.rpi.s32.f32 %r10, %r1;", &one, |a, _, _| f(a).ceil() as i32 as u32);
    check32("cvt.rzi.s16.f32 %h10, %r1; cvt.s32.s16 %r10, %h10;", &one, |a, _, _| i32::from(f(a) as i16) as u32);
    let nan64 = |a: u64| f(a as u32).is_nan();
    check64("cvt.rzi.s64.f32 %rd10, %r1;", &one, |a, _, _| if nan64(a) { 1 << 63 } else { f(a as u32) as i64 as u64 });
    check64("cvt.rzi.u64.f32 %rd10, %r1;", &one, |a, _, _| if nan64(a) { 1 << 63 } else { f(a as u32) as u64 });
    let one = tuples::<1>(&doubles());
    for (input, got) in one.iter().zip(eval32("cvt.rzi.s32.f64 %r10, %rd1;", &one)) {
        let value = f64::from_bits(input[0]);
        let want = if value.is_nan() { 1 << 31 } else { value as i32 as u32 };
        assert_eq!(got, want, "cvt.rzi.s32.f64 of {value}");
    }
}

#[test]
fn integer_to_float_and_between_floats() {
    let one =
        tuples::<1>(&[0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 16777217, 33554433, u64::MAX, 1 << 63, 5 << 40]);
    check("cvt.rn.f32.s32 %r10, %r1;", &one, |a, _, _| a.to_bits() as i32 as f32);
    check("cvt.rn.f32.u32 %r10, %r1;", &one, |a, _, _| a.to_bits() as f32);
    for (input, got) in one.iter().zip(eval32("cvt.rn.f32.u64 %r10, %rd1;", &one)) {
        assert_eq!(f32::from_bits(got), input[0] as f32);
    }
    for (input, got) in one.iter().zip(eval32("cvt.rz.f32.u32 %r10, %r1;", &one)) {
        assert!(f64::from(f32::from_bits(got)) <= f64::from(input[0] as u32));
    }
    check64("cvt.rn.f64.s64 %rd10, %rd1;", &one, |a, _, _| (a as i64 as f64).to_bits());
    let one = tuples::<1>(&doubles());
    for (input, got) in one.iter().zip(eval32("cvt.rn.f32.f64 %r10, %rd1;", &one)) {
        assert_eq!(same(f32::from_bits(got)), same(f64::from_bits(input[0]) as f32));
    }
    let one = tuples::<1>(&singles());
    check("cvt.rni.f32.f32 %r10, %r1;", &one, |a, _, _| a.round_ties_even());
    check("cvt.rmi.f32.f32 %r10, %r1;", &one, |a, _, _| a.floor());
}

#[test]
fn saturation_clamps_to_one_and_makes_nan_zero() {
    let one = tuples::<1>(&singles());
    check("cvt.sat.f32.f32 %r10, %r1;", &one, |a, _, _| saturate(a));
    // folded to the operand, so that a signalling NaN remains one
    check("mul.sat.f32 %r10, %r1, 0f3F800000;", &one, |a, _, _| saturate(a));
    let wide = tuples::<1>(&doubles());
    for (input, got) in wide.iter().zip(eval32("cvt.rn.sat.f32.f64 %r10, %rd1;", &wide)) {
        assert_eq!(f32::from_bits(got), saturate(f64::from_bits(input[0]) as f32));
    }
    for signalling in SIGNALLING {
        assert_eq!(eval32("cvt.sat.f32.f32 %r10, %r1;", &[[signalling, 0, 0, 0]]), [0]);
    }
}

#[test]
fn approximations_are_close() {
    let one = tuples::<1>(&bits(&[0.5, 1.0, 2.0, 3.25, 10.0, 0.001]));
    let cases: [Case<Unary<f64, f64>>; 8] = [
        ("ex2.approx", f64::exp2),
        ("lg2.approx", f64::log2),
        ("sin.approx", f64::sin),
        ("cos.approx", f64::cos),
        ("sqrt.approx", f64::sqrt),
        ("rsqrt.approx", |x| 1.0 / x.sqrt()),
        ("rcp.approx", |x| 1.0 / x),
        ("tanh.approx", f64::tanh),
    ];
    for (name, function) in cases {
        check(&format!("{name}.f32 %r10, %r1;"), &one, |a, _, _| function(f64::from(a)) as f32);
    }
}
