//! `Result`: in bindings, parameters and results, in patterns, under any name, with `?` and the standard library's
//! methods.

use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, kernel};

use super::differ;

#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
enum Problem {
    Zero = 3,
    Odd = 5,
}

#[derive(Clone, Copy, Debug, DeviceType)]
struct Failure {
    code: u32,
    at: usize,
}

#[device]
impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Failure { code: problem as u32, at: 7 }
    }
}

#[device]
fn halved(x: u32) -> Result<u32, Problem> {
    if x == 0 {
        return Err(Problem::Zero);
    }
    if x % 2 == 1 { Err(Problem::Odd) } else { Ok(x / 2) }
}

#[device]
fn quartered(x: u32) -> Result<u32, Problem> {
    let half = halved(x)?;
    halved(half)
}

#[device]
fn eighth(x: u32, at: usize) -> Result<f32, Failure> {
    if at == 5 {
        Err(Failure { code: 100, at })?
    }
    let quarter = quartered(x)?;
    Ok(halved(quarter)? as f32)
}

#[device]
fn told(result: Result<u32, Problem>) -> u32 {
    match result {
        Ok(n @ 0..=3) => n,
        Ok(n) => 100 + n,
        Err(Problem::Zero) => 1000,
        Err(_) => 2000,
    }
}

#[kernel]
fn results_flow(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let mut sum = told(halved(x[i])) + 7 * told(quartered(x[i]));
        if let Ok(n) = halved(x[i]) {
            sum += 10_000 * n;
        }
        let Err(problem) = quartered(x[i]) else {
            out[i] = sum;
            return;
        };
        sum += 100_000 * problem as u32;
        let mut left = halved(2 * x[i] + 8);
        while let Ok(n) = left {
            sum += 1;
            left = if n > 3 { Ok(n - 3) } else { Err(Problem::Odd) };
        }
        sum += match eighth(x[i], i) {
            Ok(n) => n as u32,
            Err(Failure { code, at }) => code + at as u32,
        };
        out[i] = sum;
    }
}

#[test]
fn results_flow_as_on_the_host() {
    let x: Vec<u32> = (0..40).collect();
    differ!(results_flow, (2, 32), [&x[..]], vec![0_u32; 40]);
}

mod renamed {
    use super::Problem;
    use cuda_jit::device::grid;
    use cuda_jit::kernel;
    use std::result::Result::{Err as Ok, Ok as Err};

    #[kernel]
    pub(super) fn renamed_variants(x: &[u32], out: &mut [u32]) {
        let i = grid::<1>();
        if i < x.len() {
            let made: Result<u32, Problem> = if x[i] > 3 { Err(x[i]) } else { Ok(Problem::Odd) };
            out[i] = match made {
                Err(n) => n,
                Ok(problem) => 100 + problem as u32,
            };
        }
    }
}

use renamed::renamed_variants;

#[test]
fn variants_are_those_that_rustc_resolves() {
    let x: Vec<u32> = (0..12).collect();
    differ!(renamed_variants, (1, 32), [&x[..]], vec![0_u32; 12]);
}

/// A value for each form of a result.
#[device]
fn made(x: i32, n: i32) -> Result<i32, u8> {
    if x < n { Err((n - x) as u8) } else { Ok(x) }
}

#[kernel]
fn tested(x: i32, n: i32, out: &mut [i32]) {
    let r = made(x, n);
    out[0] = r.is_ok() as i32 + 2 * r.is_err() as i32;
    let mut k = 0;
    out[1] = r.is_ok_and(|v| {
        k += 1;
        v > 3
    }) as i32;
    out[2] = r.is_err_and(|e| {
        k += 10;
        e > 3
    }) as i32;
    out[9] = k;
    out[3] = r.ok().unwrap_or(-1);
    out[4] = r.err().map_or(-1, |e| e as i32);
    out[5] = match r.as_ref() {
        Ok(v) => *v,
        Err(e) => -(*e as i32),
    };
    let mut held = r;
    match held.as_mut() {
        Ok(v) => *v += 5,
        Err(e) => *e = e.wrapping_add(7),
    }
    out[6] = held.map_or(-1, |v| v);
    out[7] = held.err().map_or(-1, |e| e as i32);
}

#[kernel]
fn mapped(x: i32, n: i32, out: &mut [i32]) {
    let r = made(x, n);
    let mut k = 0;
    out[0] = r
        .map(|v| {
            k += 1;
            v as f32 / 2.0
        })
        .map_or(-1.0, |v| v * 2.0) as i32;
    out[1] = r.map_or(n, |v| {
        k += 10;
        v + 1
    });
    out[2] = r.map_or_else(
        |e| -(e as i32),
        |v| {
            k += 1000;
            v
        },
    );
    out[3] = match r.map_err(|e| {
        k += 10_000;
        e as i32 * 3
    }) {
        Ok(v) => v,
        Err(e) => -e,
    };
    out[9] = k;
    let (mut seen, mut failed) = (0, 0);
    out[4] = r.inspect(|v| seen += *v).inspect_err(|e| failed += *e as i32).is_ok() as i32;
    out[5] = seen;
    out[6] = failed;
    out[7] = r.map(Some).unwrap_or(None).unwrap_or(-7);
}

#[kernel]
fn joined(x: i32, n: i32, out: &mut [i32]) {
    let (r, other) = (made(x, n), made(n, x));
    let mut k = 0;
    out[0] = r.and(other).unwrap_or(-1);
    out[1] = r
        .and_then(|v| {
            k += 1;
            made(v, 5)
        })
        .unwrap_or(-2);
    out[2] = r.or(other).unwrap_or(-3);
    out[3] = r
        .or_else(|e| {
            k += 10;
            made(e as i32, 2)
        })
        .unwrap_or(-4);
    out[4] = r.unwrap_or_else(|e| {
        k += 100;
        e as i32 * 2
    });
    out[5] = r.unwrap_or_default();
    let nested: Result<Result<i32, u8>, u8> = if n > 3 { Err(9) } else { Ok(r) };
    out[6] = nested.flatten().map_or_else(|e| -(e as i32), |v| v);
    let (at, mut place) = (x, n);
    let shared: Result<&i32, u8> = r.map(|_| &at);
    out[7] = shared.copied().unwrap_or(-5) + shared.cloned().unwrap_or(-6);
    let unique: Result<&mut i32, u8> = if n > 2 { Ok(&mut place) } else { Err(1) };
    out[8] = unique.copied().unwrap_or(-8);
    out[9] = k;
}

#[kernel]
fn turned(x: i32, n: i32, out: &mut [i32]) {
    let r = made(x, n);
    let optional = r.map(|v| if v > 5 { Some(v) } else { None });
    out[0] = match optional.transpose() {
        Some(Ok(v)) => v,
        Some(Err(e)) => -(e as i32),
        None => 77,
    };
    let option = if n > 2 { Some(r) } else { None };
    out[1] = match option.transpose() {
        Ok(Some(v)) => v,
        Ok(None) => 78,
        Err(e) => -(e as i32),
    };
    let mut k = 0;
    out[2] = r.ok().ok_or(n as u8).unwrap_or_else(|e| e as i32 + 1);
    out[3] = r
        .ok()
        .ok_or_else(|| {
            k += 1;
            n
        })
        .map_or_else(|e| e, |v| v * 2);
    out[9] = k;
}

#[test]
fn methods_are_those_of_the_standard_library() {
    for n in [0, 3, 6] {
        for x in [-2, 0, 4, 9] {
            differ!(tested, (1, 1), [x, n], vec![0i32; 10]);
            differ!(mapped, (1, 1), [x, n], vec![0i32; 10]);
            differ!(joined, (1, 1), [x, n], vec![0i32; 10]);
            differ!(turned, (1, 1), [x, n], vec![0i32; 10]);
        }
    }
}

#[device]
fn first_even(x: &[u32]) -> Option<usize> {
    let first = *x.first()?;
    let at = x.iter().position(|v| v % 2 == 0)?;
    Some(at + first as usize)
}

#[kernel]
fn tried_anywhere(x: &[u32], out: &mut [u32]) {
    let i = grid::<1>();
    if i < x.len() {
        let quarter = |v: u32| -> Result<u32, Problem> { Ok(halved(halved(v)?)? + 1) };
        let sum = |a: u32, b: u32| -> Option<u32> { a.checked_sub(b)?.checked_mul(3) };
        let narrow = |v: u32| -> Result<u8, Failure> {
            for k in 0..3 {
                if v == k {
                    Err::<(), _>(Problem::Odd)?;
                }
            }
            Ok('found: {
                if v > 20 {
                    break 'found halved(v)? as u8;
                }
                7
            })
        };
        out[i] = quarter(x[i]).unwrap_or(50) + 100 * sum(x[i], 3).unwrap_or(20);
        out[i] += 100_000 * first_even(&x[i..]).map_or(9, |at| at as u32);
        out[i] += match narrow(x[i]) {
            Ok(v) => v as u32,
            Err(failure) => failure.code * failure.at as u32,
        };
    }
}

#[test]
fn question_marks_leave_functions_and_closures() {
    let x: Vec<u32> = (0..40).map(|i| i * 7 % 41).collect();
    differ!(tried_anywhere, (2, 32), [&x[..]], vec![0_u32; 40]);
}

#[kernel]
fn converted(x: &[i64], out: &mut [i64]) {
    let i = grid::<1>();
    if i < x.len() {
        let byte = u8::try_from(x[i]).map_or(-1, i64::from);
        let small: i64 = match i8::try_from(x[i]) {
            Ok(v) => v as i64,
            Err(_) => -1000,
        };
        let wide: Result<u64, _> = x[i].try_into();
        let back = wide.and_then(i32::try_from).map_or(-2, |v| v as i64);
        let signs = u128::try_from(x[i]).is_ok() as i64 + 2 * isize::try_from(x[i] as u64).is_err() as i64;
        let mut sum = byte + 1000 * small + 1_000_000 * (back % 1000) + 7 * signs;
        if let Err(error) = u16::try_from(x[i]) {
            sum += (Some(error) == u8::try_from(300_u32).err()) as i64;
        }
        out[i] = sum;
    }
}

#[test]
fn integers_are_tried() {
    let mut x = vec![0, 1, -1, 127, 128, -128, -129, 255, 256, 65_535, 65_536];
    x.extend([i64::MAX, i64::MIN, i32::MAX as i64, i32::MAX as i64 + 1, i32::MIN as i64 - 1]);
    let out = vec![0_i64; x.len()];
    differ!(converted, (1, 32), [&x[..]], out);
}

#[kernel]
fn failing(mode: u32, x: i32, out: &mut [i32]) {
    let number: Result<i32, f32> = if x > 0 { Ok(x) } else { Err(0.5) };
    out[0] = match mode {
        0 => number.unwrap(),
        1 => number.expect("a number"),
        2 => number.map(|v| (v, true)).map_err(Some).unwrap().0,
        3 => halved(x as u32).unwrap() as i32,
        4 => halved(x as u32).map_err(Failure::from).unwrap() as i32,
        5 => (8 - x).try_into().map(|v: u8| v as i32).map_err(|e| e).and_then(|_| u8::try_from(x)).unwrap() as i32,
        6 => halved(x as u32 + 4).map(|v| [v, 1]).unwrap_err() as i32,
        _ => number.map(|_| ()).map_err(|_| Ok::<u8, ()>(3)).expect_err("none").map_or(0, i32::from),
    };
}

#[test]
fn panics_show_what_results_hold() {
    if !super::in_child_process("language::results::panics_show_what_results_hold") {
        return;
    }
    let says = [
        (0, 0, "called `Result::unwrap()` on an `Err` value: 0.5"),
        (1, 0, "a number: 0.5"),
        (2, 0, "called `Result::unwrap()` on an `Err` value: Some(0.5)"),
        (3, 0, "called `Result::unwrap()` on an `Err` value: Zero"),
        (4, 0, "called `Result::unwrap()` on an `Err` value: Failure"),
        (5, -1, "called `Result::unwrap()` on an `Err` value: TryFromIntError(())"),
        (6, 2, "called `Result::unwrap_err()` on an `Ok` value: [3, 1]"),
        (7, 1, "none: ()"),
    ];
    for (mode, x, message) in says {
        let mut out = super::on_device(&[0; 1]);
        failing::launch((1, 1), mode, x, &mut out).expect("it launches");
        let error = super::context().synchronize().expect_err("it panics").to_string();
        assert!(error.contains(message), "{mode}: {error}");
    }
}

#[kernel(debug)]
fn debugged(x: u32, out: &mut [u32]) {
    let result = halved(x);
    let shape = super::sums::shape(x, 2.0);
    out[0] = told(result) + shape.area() as u32;
}

#[test]
fn debuggers_see_the_variant_and_its_fields() {
    let kir = cuda_jit::kir_of::<debugged>().expect("it compiles").to_string();
    for text in [r#""Ok" 0, "Err" 1"#, r#""Ok.0""#, r#""Err.0""#, r#""Rect.width""#, r#""Empty" 0, "Circle" 1"#] {
        assert!(kir.contains(text), "{text} is not in {kir}");
    }
    debugged::compile_ptx((9, 0)).expect("it compiles");
}

#[device]
fn refusing(x: u32) -> Result<u32, Problem> {
    if x == 1 {
        Err(Problem::Zero)?;
    }
    if x == 2 {
        return Err(Problem::Odd)?;
    }
    refusing_at(x, 3)?;
    Ok(x)
}

#[device]
fn refusing_at(x: u32, at: u32) -> Result<(), Problem> {
    if x == at {
        Err(Problem::Odd)?
    }
    Ok(())
}

#[device]
fn nothing(x: u32) -> Option<u32> {
    if x == 1 {
        None?;
    }
    let more = if x > 3 { None? } else { 2 };
    Some(x).filter(|x| *x != 2)?;
    Some(x + more)
}

#[kernel]
fn ended(out: &mut [u32]) {
    let x = grid::<1>() as u32;
    let failed = match refusing(x) {
        Ok(v) => v,
        Err(problem) => 100 + problem as u32,
    };
    out[x as usize] = failed * 1000 + nothing(x).unwrap_or(999);
}

#[test]
fn statements_end_a_function_by_a_question_mark() {
    differ!(ended, (1, 6), [], vec![0u32; 6]);
}
