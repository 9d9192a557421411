//! Closures with mutable captures: each copy has its own, and a reference has none.

#![expect(unused, reason = "closures that are copied need no `mut`, and their variables are theirs")]

use cuda_jit::device::grid;
use cuda_jit::{device, kernel};

use super::differ;

#[device]
fn called<F: FnMut() -> i64>(mut f: F) -> i64 {
    f() + 10 * f()
}
#[device]
fn called_with<F: FnMut() -> i64>(mut f: F, mut g: F) -> i64 {
    f() + 10 * f() + 100 * g()
}
#[device]
fn copied<F: FnMut() -> i64 + Copy>(mut f: F) -> i64 {
    called(f) + 100 * called(f) + 10000 * f() + 100000 * called(f)
}
#[device]
fn lent<F: FnMut() -> i64 + Copy>(mut f: F) -> i64 {
    called(&mut f) + 100 * called(f) + 10000 * f() + 100000 * called(&mut f)
}
#[device]
fn stepped<F: FnMut() -> i64>(f: &mut F) -> i64 {
    f() + 10 * f()
}
#[device]
fn added<F: FnMut(i64) -> i64>(mut f: F, v: i64) -> i64 {
    f(v) + f(1)
}

#[kernel]
fn passed_twice(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let f = move || {
        c += 1;
        c
    };
    out[i] = called(f) + 1000 * called(f) + 1000000 * c;
}

#[kernel]
fn passed_beside_itself(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let f = move || {
        c += 1;
        c
    };
    out[i] = called_with(f, f);
}

#[kernel]
fn passed_on_from_a_parameter(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let f = move || {
        c += 1;
        c
    };
    out[i] = copied(f) + 1000 * copied(f);
}

#[kernel]
fn passed_on_by_reference_and_by_value(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let f = move || {
        c += 1;
        c
    };
    out[i] = lent(f);
}

#[kernel]
fn called_passed_and_lent(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let mut f = move || {
        c += 1;
        c
    };
    f();
    out[i] = called(&mut f) + called(f) * 100 + f() * 10000 + called(&mut f) * 100000;
}

#[kernel]
fn moved_into_another(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let mut f = move || {
        c += 1;
        c
    };
    let mut g = move || f() + 10 * f();
    out[i] = g() + 1000 * called(g) + 100000 * f() + 1000000 * g();
}

#[kernel]
fn borrowed_by_another(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let mut f = move || {
        c += 1;
        c
    };
    let mut g = || f() + 10 * f();
    out[i] = g() + 1000 * called(&mut g) + 1000000 * g();
    out[i] += f();
}

#[kernel]
fn without_variables_of_its_own(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let f = || c * 2;
    out[i] = f() + called(f) * 100;
    let mut h = || {
        c += 1;
        c
    };
    out[i] += stepped(&mut h) * 1000;
    out[i] += h() * 100000;
    out[i] += c * 1000000;
}

#[kernel]
fn moves_an_array(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut a = [x[i] as i64 % 10; 3];
    let mut f = move || {
        a[1] += 1;
        a[0] + 10 * a[1] + 100 * a[2]
    };
    a[0] = 77;
    out[i] = f() + called(f) + 1000 * f() + a[0] + a[1];
}

#[kernel]
fn passed_in_a_loop(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let mut f = move || {
        c += 1;
        c
    };
    let mut s = 0;
    for k in 0..3 {
        s = s * 10 + called(f) + called(f);
        if k == 1 {
            f();
        }
    }
    out[i] = s;
}

#[kernel]
fn passed_to_iterators(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let mut f = move |v: &i32| {
        c += 1;
        *v as i64 * c
    };
    let s: i64 = x[..4].iter().map(f).sum();
    let t: i64 = x[..4].iter().map(f).sum();
    out[i] = s + 100000 * t;
}

#[kernel]
fn passed_to_methods(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut n = 0i64;
    let f = move |v: i64| {
        n += v;
        n
    };
    let mut s = Some(3).map(f).unwrap_or(0) + 10 * Some(4).map(f).unwrap_or(0);
    s += [1i64, 2, 3].map(f).iter().sum::<i64>() * 100 + [1i64, 2, 3].map(f)[2] * 10000;
    let mut a = [3, 1, 2];
    let mut cnt = 0i64;
    let key = move |v: &i64| {
        cnt += 1;
        *v * cnt
    };
    a.sort_unstable_by_key(key);
    out[i] = s;
}

#[kernel]
fn bound_to_other_names(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let f = move || {
        c += 1;
        c
    };
    let mut g = f;
    let mut h = f;
    out[i] = g() + 10 * g() + 100 * h() + 1000 * g() + 10000 * h() + 100000 * c + called(f) * 1000000;
}

#[kernel]
fn makes_another(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let f = move || {
        let mut k = move || {
            c += 1;
            c
        };
        let a = k();
        c += 10;
        called(k) + a + called(&mut k) + c
    };
    out[i] = called(f) + called(f) * 1000;
}

#[kernel]
fn moved_for_an_inner_one(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let f = move || {
        let g = || c * 2;
        g()
    };
    let h = move || {
        let mut k = move || {
            c += 1;
            c
        };
        k() + 10 * k()
    };
    c += 100;
    out[i] = f() + 1000 * h() + 1000000 * c;
}

#[kernel]
fn of_chained_iterators(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut c = x[i] as i64 % 10;
    let mut f = move |v: i64| {
        c += v;
        c
    };
    let mut it = (0..4i64).map(f).map(f).filter(|v| v % 2 == 0);
    let mut s = 0;
    while let Some(v) = it.next() {
        s = s * 10 + v;
        if s > 50 {
            s += f(1);
        }
    }
    for v in (0..3).map(&mut f) {
        s += v * 3;
    }
    for v in (0..3).map(f) {
        s += v * 3;
    }
    out[i] = s + f(0);
    let t: i64 = (0..3).zip((0..3).map(f)).map(|(a, b)| a * f(b)).sum();
    out[i] += t * 1000 + f(0);
}

#[kernel]
fn writes_what_it_borrows(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut total = 0i64;
    let mut c = x[i] as i64 % 10;
    let mut add = |v: i64| {
        total += v;
        total
    };
    let a = add(c);
    let b = added(&mut add, 5) + added(&mut add, 7);
    let r = added(add, 9);
    out[i] = a + b * 100 + r * 10000 + total * 1000000;
}

#[kernel]
fn moves_arrays_into_others(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut a = [1i64, 2, 3];
    let mut f = move |k: i64| {
        a[(k as usize) % 3] += k;
        a[0] + a[1] * 10 + a[2] * 100
    };
    a[1] = 50;
    let mut g = move |k: i64| {
        a[(k as usize) % 3] += k;
        added(f, k) + added(&mut f, k) + f(k)
    };
    out[i] = added(g, 2) + g(1) + added(f, 1) + a[0] + a[1] + a[2] + f(0);
    let mut acc = [0i64; 4];
    let mut push = |v: i64| {
        acc[0] += 1;
        let n = acc[0] as usize % 4;
        acc[n] = v;
        v
    };
    push(3);
    added(&mut push, 5);
    added(push, 6);
    out[i] += acc[1] * 3 + acc[2] * 5 + acc[3] * 7 + acc[0];
}

#[kernel]
fn held_by_iterators_and_options(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut n = 0i64;
    let mut f = move |a: i64| {
        n += a;
        (0..a).map(move |b| b + n).sum::<i64>()
    };
    let g = f;
    let mut it = (0..4i64).map(g).chain((1..3i64).map(f));
    let mut s = 0;
    while let Some(v) = it.next() {
        s = s * 5 + v;
    }
    out[i] = s + f(3);
    let o = if x[i] > 3 { Some((0..2i64).map(f)) } else { None };
    out[i] += o.map_or(9, |k| k.sum::<i64>());
    let mut p = Some((0..3i64).map(f));
    if x[i] > 2 {
        p = None;
    }
    if let Some(k) = &mut p {
        k.next();
        out[i] += k.next().unwrap_or(3) * 1000;
    }
    out[i] += p.map_or(2, |k| k.sum::<i64>());
}

#[kernel]
fn held_by_what_is_never_there(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    out[i] = x[i] as i64 + (0..4).rev().flat_map(|a| (0..a).map(move |b| a * 10 + b)).map(|v| v * 3).sum::<i64>();
}

#[kernel]
fn holds_the_reference_of_its_time(x: &[i32], out: &mut [i64]) {
    let mut made = x[1..7].iter().map(|v| (0..3i64).map(|w| w + *v as i64));
    let (mut p, mut q) = (made.next().unwrap(), made.next().unwrap());
    out[0] = p.next().unwrap();
    out[1] = q.next().unwrap();
    out[2] = p.next().unwrap();
    let mut first = None;
    for (k, of) in made.enumerate() {
        if k == 0 {
            first = Some(of);
        }
    }
    out[3] = first.map_or(7, |of| of.sum::<i64>());
}

#[kernel]
fn holds_the_value_of_its_time(x: &[i32], out: &mut [i64]) {
    let mut made = x[1..7].iter().map(|v| {
        let (n, pair) = (*v as i64, [*v as i64, 1]);
        (0..3i64).map(move |w| w + n * pair[w as usize % 2])
    });
    let (mut p, mut q) = (made.next().unwrap(), made.next().unwrap());
    out[0] = p.next().unwrap();
    out[1] = q.next().unwrap();
    out[2] = p.next().unwrap();
    let mut first = None;
    for (k, of) in made.enumerate() {
        if k == 0 {
            first = Some(of);
        }
    }
    out[3] = first.map_or(7, |of| of.sum::<i64>());
}

#[kernel]
fn of_inner_iterators_in_turn(x: &[i32], out: &mut [i64]) {
    let mut all = x[..9].iter().flat_map(|v| (0..(*v as i64).rem_euclid(7)).map(|w| w + *v as i64));
    for k in 0..12 {
        out[k] = if k % 3 == 0 { all.nth(1).unwrap_or(-1) } else { all.next().unwrap_or(-2) };
    }
    let mut all = x[..9].iter().flat_map(|v| {
        (0..*v as i64 % 7).scan(1, |all, w| {
            *all += w;
            Some(*all)
        })
    });
    out[0] += all.next().unwrap_or(-1);
    out[1] += all.nth(3).unwrap_or(-1) + all.sum::<i64>();
}

#[kernel]
fn goes_round(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut n = x[i] as i64 % 5;
    let all = (0..3i64).map(move |v| {
        n += 1;
        v * 10 + n
    });
    out[i] = all.cycle().take(8).fold(0, |all, v| all * 3 + v);
}

#[kernel]
fn goes_round_from_within(x: &[i32], out: &mut [i64]) {
    let mut count = 0;
    let mut all = x.iter().map(move |v| {
        count += 1;
        *v as i64 * count
    });
    out[0] = all.next().unwrap_or(0);
    let mut round = all.cycle();
    for k in 1..12 {
        out[k] = round.nth(k % 3).unwrap_or(0);
    }
}

#[kernel]
fn made_in_an_arm_of_two_patterns(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let (held, mut limit) = ([x[i] as i64, 7, 5], 6i64);
    out[i] = match x[i] & 7 {
        v @ (1..=3 | 7) if v != 2 => {
            let mut n = 0i64;
            let at = held
                .iter()
                .map(|v| {
                    n += 1;
                    *v
                })
                .position(|v| v < limit);
            at.map_or(-1, |at| at as i64) + 10 * n
        }
        _ => 5,
    };
    limit += 1;
}

#[kernel]
fn made_again_after_it_was_called(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut all = 0;
    for k in 0..3 {
        let mut add = |v: i64| {
            let doubled = v * 2;
            all += doubled + x[k] as i64
        };
        add(k as i64);
        add(2);
    }
    out[i] = all;
}

macro_rules! named_by_a_macro {
    ($name:ident($x:ident, $out:ident) $body:block) => {
        #[kernel]
        fn $name($x: &[i32], $out: &mut [i64]) $body
    };
}

named_by_a_macro!(moved_by_two_that_a_macro_names(x, out) {
    let i = grid::<1>();
    let mut n = x[i] as i64 % 10;
    let mut next = move |v: i64| {
        n += v;
        (0..3i64).map(move |w| n * 10 + w)
    };
    out[i] = next(3).sum::<i64>() + next(1).sum::<i64>() * 1000 + n * 1000000;
});

#[kernel]
fn held_by_arrays(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let n = x[i] as i64 % 10;
    let all = Some((0..4i64).map(|v| v * 10 + n));
    let mut held = [all.clone(), None, all];
    if let Some(of) = &mut held[0] {
        out[i] = of.next().unwrap_or(7);
    }
    if let Some(of) = held[0].as_mut() {
        out[i] += of.next().unwrap_or(8) * 100;
    }
    if let Some(of) = &mut held[2] {
        out[i] += of.nth(2).unwrap_or(9) * 10000;
    }
    let mut rows = [x[..3].iter(), x[3..].iter()];
    rows[1].next();
    out[i] += *rows[1].next().unwrap() as i64 + *rows[0].next().unwrap() as i64;
}

#[kernel]
fn of_cloned_iterators(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let (mut n, mut a) = (x[i] as i64 % 10, [1i64, 2, 3]);
    let mut all = x[..6].iter().map(move |v| {
        n += 1;
        a[n as usize % 3] += n;
        *v as i64 % 7 * n + a[1]
    });
    all.next();
    let mut same = all.clone();
    let first = same.next().unwrap();
    let mut pairs = all.clone().zip(same).peekable();
    pairs.peek();
    out[i] = first + 100 * all.next().unwrap() + pairs.clone().count() as i64 * 10000;
    out[i] += pairs.fold(0, |sum, (v, w)| sum * 3 + v - w) + all.sum::<i64>();
}

#[kernel(debug)]
fn told_to_a_debugger(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let (a, b) = ([x[i] as i64 & 3, 2], [5i64, 6]);
    let mut all = a.iter().flat_map(|v| b.iter().flat_map(move |w| (0..*v).map(move |k| w * 10 + k)));
    out[i] = all.next().unwrap_or(7);
    out[i] += all.sum::<i64>() * 100;
}

#[test]
fn every_copy_has_its_own_variables() {
    let x = [0, 1, 2, 3, -4, 5, 7, -8, 100, 255, i32::MAX, i32::MIN];
    macro_rules! compare {
        ($($kernel:ident)*) => { $( differ!($kernel, (1, 12), [&x[..]], vec![0i64; 12]); )* };
    }
    compare! {
        passed_twice
        passed_beside_itself
        passed_on_from_a_parameter
        passed_on_by_reference_and_by_value
        called_passed_and_lent
        moved_into_another
        borrowed_by_another
        without_variables_of_its_own
        moves_an_array
        passed_in_a_loop
        passed_to_iterators
        passed_to_methods
        bound_to_other_names
        makes_another
        moved_for_an_inner_one
        of_chained_iterators
        writes_what_it_borrows
        moves_arrays_into_others
        held_by_iterators_and_options
        held_by_what_is_never_there
        goes_round
        made_in_an_arm_of_two_patterns
        made_again_after_it_was_called
        moved_by_two_that_a_macro_names
        held_by_arrays
        of_cloned_iterators
        told_to_a_debugger
    }
    macro_rules! compare_one {
        ($($kernel:ident)*) => { $( differ!($kernel, (1, 1), [&x[..]], vec![0i64; 12]); )* };
    }
    compare_one! {
        holds_the_reference_of_its_time
        holds_the_value_of_its_time
        of_inner_iterators_in_turn
        goes_round_from_within
    }
}
