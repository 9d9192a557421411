//! Kernels built by macros: names and labels with the same spelling that rustc distinguishes.

#![expect(unreachable_code, reason = "a caller's jump stands before a macro's")]

use super::differ;
use cuda_jit::device::grid;
use cuda_jit::{device_fn, kernel};

macro_rules! loops {
    ($name:ident, $out:ident, $outer:tt, $leave:expr) => {
        #[kernel]
        fn $name($out: &mut [u32]) {
            let mut rounds = 0;
            $outer: loop {
                rounds += 1;
                'a: loop {
                    if rounds < 3 {
                        break 'a;
                    }
                    $leave;
                    break 'a;
                }
                if rounds > 10 {
                    break $outer;
                }
            }
            $out[0] = rounds;
        }
    };
}

loops!(leaves_the_callers, out, 'a, break 'a);
loops!(leaves_another, out, 'b, break 'b);
loops!(goes_on_with_the_callers, out, 'a, continue 'a);

#[kernel]
fn written_in_one_place(out: &mut [u32]) {
    let mut rounds = 0;
    'a: loop {
        rounds += 1;
        #[expect(unused_labels, reason = "it hides the outer one")]
        'b: loop {
            if rounds < 3 {
                break;
            }
            break 'a;
        }
    }
    out[0] = rounds;
}

#[test]
fn labels_of_a_macro_are_not_the_callers() {
    assert_eq!(differ!(leaves_the_callers, (1, 1), [], vec![0u32]), [3]);
    assert_eq!(differ!(leaves_another, (1, 1), [], vec![0u32]), [3]);
    assert_eq!(differ!(written_in_one_place, (1, 1), [], vec![0u32]), [3]);
    assert!(goes_on_with_the_callers::compile_ptx((9, 0)).is_ok());
}

macro_rules! with_temporaries {
    ($name:ident, $x:ident, $out:ident, $value:expr) => {
        #[kernel]
        fn $name($x: &[u32], $out: &mut [u32]) {
            let i = grid::<1>();
            let t = 1000;
            let scale = |v: u32| v * t;
            let mut sum = 0;
            for t in 0..2 {
                sum += $value * scale(t + 1);
                let t = t + 1;
                sum += t;
            }
            match ($x[i], $x[0]) {
                (0, t) | (t, _) => sum += t + $value,
            }
            $out[i] = sum;
        }
    };
}

with_temporaries!(of_its_own, t, out, 2);
with_temporaries!(of_the_caller, t, out, t[1] + t.len() as u32);
with_temporaries!(of_the_caller_in_a_block, sum, out, {
    let t = sum[0];
    let i = t + 1;
    i * 2
});

#[test]
fn temporaries_of_a_macro_are_not_the_callers() {
    let x = [3u32, 5, 0];
    differ!(of_its_own, (1, 3), [&x[..]], vec![0u32; 3]);
    differ!(of_the_caller, (1, 3), [&x[..]], vec![0u32; 3]);
    differ!(of_the_caller_in_a_block, (1, 3), [&x[..]], vec![0u32; 3]);
}

/// Each expansion of the macro has its own `v`, all at one source location.
macro_rules! summed {
    (@ $name:ident $x:ident $out:ident [$($let:tt)*] [$($sum:tt)*] $first:expr $(, $rest:expr)*) => {
        summed! { @ $name $x $out [$($let)* let v = $first;] [$($sum)* + v * 10] $($rest),* }
    };
    (@ $name:ident $x:ident $out:ident [$($let:tt)*] [$($sum:tt)*]) => {
        #[kernel]
        fn $name($x: &[u32], $out: &mut [u32]) {
            $($let)*
            let total = move |w: u32| w $($sum)*;
            $out[0] = total(1);
        }
    };
    ($name:ident($x:ident, $out:ident): $($of:expr),*) => { summed! { @ $name $x $out [] [] $($of),* } };
}

summed!(three(x, out): x[0], x[1] + 1, x[2] * 7);

#[test]
fn expansions_of_one_macro_have_names_of_their_own() {
    assert_eq!(differ!(three, (1, 1), [&[1u32, 2, 3][..]], vec![0u32]), [1 + 10 + 30 + 210]);
}

macro_rules! closures {
    ($name:ident, $f:ident, $x:ident, $out:ident, $value:expr) => {
        #[kernel]
        fn $name($x: &[u32], $out: &mut [u32]) {
            let $f = |v: u32| v + 1;
            let f = |v: u32| v * 10;
            let $x = f($x[0]);
            let x = $value;
            $out[0] = $x + x * 100 + $f(x);
        }
    };
}

closures!(calls_the_callers, f, x, out, f(x));

#[test]
fn closures_of_a_macro_are_not_the_callers() {
    assert_eq!(differ!(calls_the_callers, (1, 1), [&[4u32][..]], vec![0u32]), [40 + 4100 + 42]);
}

macro_rules! implemented {
    ($ty:ident, $this:ident, $method:ident, $v:ident, $value:expr) => {
        #[derive(Clone, Copy, cuda_jit::DeviceType)]
        #[repr(C)]
        struct $ty {
            a: u32,
        }

        #[cuda_jit::device]
        impl $ty {
            fn $method($this, $v: u32) -> u32 {
                let v = 100 * $this.a;
                $value + v
            }
        }
    };
}

implemented!(Made, self, scaled, v, v * self.a);

#[kernel]
fn calls_made(out: &mut [u32]) {
    out[0] = Made { a: 3 }.scaled(5);
}

#[test]
fn methods_of_a_macro_keep_names_apart() {
    assert_eq!(differ!(calls_made, (1, 1), [], vec![0u32]), [315]);
}

#[kernel]
fn raw_names(out: &mut [u32]) {
    let x = 1;
    let r#y = x + r#x;
    'r#a: loop {
        break 'a;
    }
    out[0] = y;
}

#[test]
fn raw_names_are_the_same_names() {
    assert_eq!(differ!(raw_names, (1, 1), [], vec![0u32]), [2]);
}

/// Destructured parameters have no name that a body could use.
#[kernel]
fn taken_apart((a, arg1): (u32, u32), [b, arg0]: [u32; 2], out: &mut [u32]) {
    out[0] = a + arg1 * 10 + b * 100 + arg0 * 1000;
}

#[kernel]
fn mapped<F: Fn(u32) -> u32>(f: F, out: &mut [u32]) {
    out[0] = f(out[0]);
}

macro_rules! scaled_by {
    ($f:ident, $value:expr) => {{
        let k = 1000;
        let $f = device_fn!(|v: u32| {
            let t = v + 1;
            $value + t * k
        });
        $f
    }};
}

#[test]
fn closures_of_launches_keep_names_apart() {
    let (k, f) = (7, 1);
    let mut out = super::on_device(&[5]);
    mapped::launch((1, 1), scaled_by!(f, k * k + f), &mut out).unwrap();
    assert_eq!(super::on_host(&out), [6050]);
    taken_apart::launch((1, 1), (1, 2), [3, 4], &mut out).unwrap();
    assert_eq!(super::on_host(&out), [4321]);
}

const LIMIT: u32 = 5;

mod colours {
    pub(super) use super::Colour::*;
    #[expect(non_upper_case_globals, reason = "a constant that is called like a variable")]
    pub(super) const low: u32 = 2;
}

#[derive(Clone, Copy, cuda_jit::DeviceType)]
#[repr(u8)]
enum Colour {
    Red,
    Green,
    Blue,
}

/// A function with a glob import, where rustc is queried for the meaning of each name.
#[kernel]
#[expect(non_upper_case_globals, reason = "a constant that is called like a variable")]
fn imported_constants(x: &[u32], out: &mut [u32]) {
    use colours::*;
    let i = grid::<1>();
    let colour = match x[i] % 3 {
        0 => Red,
        1 => Green,
        _ => Blue,
    };
    let shade = match colour {
        Red => 1,
        Green => 20,
        Blue => 300,
    };
    let found = match (x[i], x[0]) {
        (low, n) => low * 10 + n,
        (LIMIT, n) | (n, LIMIT) => n * LIMIT,
        (other, _) => other,
    };
    let low = x[i] else { return };
    out[i] = shade + 1000 * found + 100_000 * low;
}

macro_rules! with_constants {
    ($name:ident, $pattern:pat, $n:ident, $x:ident, $out:ident, $value:expr) => {
        #[kernel]
        fn $name($x: &[u32], $out: &mut [u32]) {
            let i = grid::<1>();
            let n = 100;
            $out[i] = match ($x[i], $x[0]) {
                (LIMIT, $n) => $value + n,
                ($pattern, other) => other + LIMIT,
                (n, _) => n + 1,
            };
        }
    };
}

with_constants!(of_a_macro, 3 | 4, n, x, out, n * 10);

#[test]
fn constants_in_patterns_differ_from_bindings() {
    assert_eq!(differ!(imported_constants, (1, 4), [&[5u32, 2, 7, 0][..]], vec![0u32; 4])[1], 225_300);
    differ!(of_a_macro, (1, 4), [&[5u32, 3, 4, 9][..]], vec![0u32; 4]);
}

macro_rules! labels {
    ($name:ident, $l:lifetime, $out:ident, $b:block) => {
        #[kernel]
        fn $name($out: &mut [u32]) {
            let mut rounds = 0;
            $l: for _ in 0..9 {
                rounds += 1;
                'l: loop {
                    if rounds == 3 $b
                    break 'l;
                }
                if rounds == 7 {
                    break $l;
                }
            }
            $out[0] = rounds;
        }
    };
}

labels!(given_a_label, 'l, out, { break 'l });
labels!(given_another, 'm, out, { continue 'm });

#[test]
fn labels_that_a_macro_is_given_are_labels() {
    assert_eq!(differ!(given_a_label, (1, 1), [], vec![0u32]), [3]);
    assert_eq!(differ!(given_another, (1, 1), [], vec![0u32]), [7]);
}

macro_rules! statements {
    ($name:ident, $x:ident, $out:ident, $first:stmt, $item:item, $derived:item, $last:stmt) => {
        #[kernel]
        fn $name($x: &[u32], $out: &mut [u32]) {
            let v = 3;
            $first;
            $item
            $derived
            $out[0] = v + K;
            $last;
        }
    };
}

statements!(
    given_statements,
    x,
    out,
    let v = x[0] * 2,
    const K: u32 = 100;,
    #[derive(Clone, Copy, cuda_jit::DeviceType)]
    struct Pair {
        a: u32,
    },
    out[0] += v * 1000 + Pair { a: 7 }.a
);

#[test]
fn statements_and_items_that_a_macro_is_given_are_such() {
    assert_eq!(differ!(given_statements, (1, 1), [&[4u32][..]], vec![0u32]), [3 + 100 + 8007]);
}
