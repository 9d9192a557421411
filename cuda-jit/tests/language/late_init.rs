//! Names that are initialised after their declaration, in every form that rustc's definite initialisation accepts.

#![expect(
    unused,
    while_true,
    unused_braces,
    reason = "the shapes are those that rustc accepts, not those that one would write"
)]

use cuda_jit::device::grid;
use cuda_jit::{DeviceType, kernel};

use super::differ;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct S {
    a: i64,
    b: [i32; 2],
}

#[kernel]
fn loop_that_breaks_or_returns(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    let mut n = 0;
    loop {
        n += 1;
        if n > x[i] {
            v = 1;
            break;
        } else if n > 5 {
            out[i] = 7;
            return;
        }
    }
    out[i] = v + n as i64;
}

#[kernel]
fn loop_with_three_ways(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    let c = x[i] > 2;
    let d = x[i] < 0;
    loop {
        if c {
            v = 1;
            break;
        } else if d {
            return;
        } else {
            v = 5;
            break;
        }
    }
    out[i] = v;
}

#[kernel]
fn arms_of_a_match(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v;
    let w: (i64, i64);
    match x[i] {
        0 => {
            v = 3i64;
            w = (1, 2);
        }
        1 => return,
        2 => {
            w = (3, 4);
            v = 9;
        }
        k => {
            v = k as i64;
            w = (v, v);
        }
    }
    out[i] = v + w.0 * 10 + w.1 * 100;
}

#[kernel]
fn names_of_patterns(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let (a, b);
    if x[i] > 3 {
        a = 1i64;
        b = 2i64;
    } else {
        b = 3;
        a = b + 1;
    }
    let (p, [q, r]): (i64, [i64; 2]);
    (p, q, r) = (a, b, 5);
    out[i] = a + 10 * b + p * 100 + q * 1000 + r * 10000;
}

#[kernel]
fn labelled_blocks(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    'a: {
        if x[i] > 3 {
            v = 1;
            break 'a;
        }
        if x[i] < 0 {
            v = 2;
            break 'a;
        }
        v = 3;
    }
    let w: i64;
    let t = 'b: {
        if x[i] > 4 {
            w = 5;
            break 'b 6;
        }
        w = 8;
        9
    };
    out[i] = v + w * 10 + t * 100;
}

#[kernel]
fn arrays_options_and_slices(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let a: [i64; 3];
    let o: Option<i64>;
    let s;
    if x[i] > 3 {
        a = [1, 2, 3];
        o = None;
        s = &x[1..4];
    } else {
        o = Some(4);
        a = [x[i] as i64; 3];
        s = &x[..2];
    }
    out[i] = a[1] + o.unwrap_or(8) * 100 + s.len() as i64 * 10000 + s[0] as i64;
}

#[kernel]
fn in_a_closure(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let f = |k: i32| -> i64 {
        let v: i64;
        loop {
            if k > 3 {
                v = 1;
                break;
            } else if k < 0 {
                return 77;
            } else {
                v = 4;
                break;
            }
        }
        v * 2
    };
    let v: i64;
    out[i] = f(x[i]) + {
        v = 3;
        v
    };
}

#[kernel]
fn nested_loops(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    loop {
        loop {
            if x[i] > 3 {
                v = 1;
                break;
            } else {
                out[i] = 3;
                return;
            }
        }
        break;
    }
    out[i] = v;
}

#[kernel]
fn breaks_to_outer_loops(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    'o: loop {
        for k in 0..10 {
            if k == 7 {
                v = k;
                break 'o;
            }
        }
        out[i] = 99;
        return;
    }
    let w: i64;
    'p: loop {
        while true {
            if x[i] > 2 {
                w = 1;
                break 'p;
            } else {
                w = 2;
                break 'p;
            }
        }
        return;
    }
    out[i] = v + w;
}

#[kernel]
fn let_else_and_if_let(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    let Some(w) = x.get(i + 1) else {
        v = 5;
        out[i] = v;
        return;
    };
    v = *w as i64;
    out[i] = v;
    let z: i64;
    let u = if let Some(k) = x.get(i + 2) {
        z = 4;
        *k as i64
    } else {
        z = 3;
        2
    };
    out[i] += z + u;
}

#[kernel]
fn in_a_return(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    return {
        v = 5;
        out[i] = v;
    };
}

#[kernel]
fn in_a_loop(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut s = 0;
    for k in 0..4i64 {
        let v: i64;
        if k > 2 {
            v = 8;
        } else if k == 1 {
            continue;
        } else {
            v = k + 1;
        }
        s = s * 10 + v;
        let w;
        if k == 3 {
            break;
        }
        w = k;
        s += w;
    }
    out[i] = s;
}

#[kernel]
fn in_conditions(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    let r = x[i] > 2 && {
        v = 3;
        out[i] = v;
        true
    };
    let w: i64;
    if {
        w = 4;
        x[i] > 1
    } {
        out[i] += w
    } else {
        out[i] += w * 2
    }
    let y: i64;
    if true {
        y = 9
    } else {
        return;
    }
    out[i] += y * 100;
}

#[kernel]
fn break_with_a_value(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    loop {
        if x[i] > 100 {
            v = 2;
            break;
        } else {
            let q = loop {
                if x[i] > 5 {
                    v = 6;
                    break 4;
                } else {
                    return;
                }
            };
            out[i] = q;
            break;
        }
    }
    out[i] = v;
}

#[kernel]
fn changed_afterwards(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut v: i64;
    loop {
        if x[i] > 3 {
            v = 1;
            break;
        }
        if x[i] < -4 {
            out[i] = 5;
            return;
        }
        v = 3;
        v += 1;
        break;
    }
    v += 1;
    out[i] = v;
    let mut t: (i64, [i64; 2]);
    if x[i] == 2 {
        t = (1, [2, 3]);
        t.1[0] = 9;
    } else {
        t = (4, [5, 6]);
    }
    t.0 += 1;
    out[i] += t.0 * 10 + t.1[0] * 100 + t.1[1] * 1000;
}

#[kernel]
fn structs(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let s: S;
    let (t, u): (S, Option<S>);
    match x[i] {
        0..=3 => {
            s = S { a: 1, b: [2, 3] };
            t = s;
            u = None;
        }
        ..0 => {
            s = S { a: 4, b: [x[i]; 2] };
            t = S { a: 9, ..s };
            u = Some(t);
        }
        _ => {
            out[i] = -1;
            return;
        }
    }
    let p;
    let q;
    p = &s;
    q = u.map_or(5, |v| v.a);
    out[i] = p.a + t.a * 10 + q * 100 + p.b[1] as i64 * 10000;
}

#[kernel]
fn references(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let f;
    let mut c = 5i64;
    let r: &mut i64;
    if x[i] > 2 {
        r = &mut c;
    } else {
        return;
    }
    *r += 1;
    f = c;
    out[i] = f;
}

#[kernel]
fn nested_branches(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    if x[i] > 2 {
        if x[i] > 5 {
            v = 1;
        } else {
            return;
        }
    } else if x[i] == 0 {
        v = 2;
    } else {
        loop {
            if x[i] < 0 {
                v = 3;
                break;
            } else {
                return;
            }
        }
    }
    out[i] = v;
}

#[kernel]
fn blocks_and_wide_numbers(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    let w = loop {
        match x[i] {
            0 => {
                break {
                    v = 1;
                    2
                };
            }
            1 => {
                v = 2;
                break 5;
            }
            2 => return,
            _ => {
                v = 3;
                break { 8 };
            }
        }
    };
    out[i] = v + w * 10;
    let z: u128;
    let c: char;
    let e: Result<u32, i8>;
    if v > 1 {
        z = 1 << 100;
        c = 'x';
        e = Ok(4);
    } else {
        c = 'y';
        e = Err(-3);
        z = 5;
    }
    out[i] += (z >> 90) as i64 + c as i64 + e.map_or_else(|e| e as i64, |o| o as i64);
}

#[kernel]
fn taken_apart(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v;
    let w;
    let u;
    if x[i] > 1 {
        return;
    } else {
        v = 4i64;
        (w, u) = (v, v + 1);
    }
    out[i] = v + w + u;
    let _k: i64;
    let j: i64;
    [_k, j] = [1, 2];
    out[i] += j;
}

#[kernel]
fn new_in_each_turn(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let mut n = 0i64;
    let v: i64 = loop {
        let k: i64;
        n += 1;
        if n < 4 {
            k = n;
            if k == 2 {
                continue;
            }
        } else {
            k = 9;
            break k + n;
        }
        n += k;
    };
    let s;
    s = if x[i] > 0 { &x[..1] } else { &x[1..] };
    let o;
    o = if x[i] > 1 { None } else { Some(s) };
    let p: Option<&[i32]>;
    p = o;
    out[i] = v + s.len() as i64 * 100 + p.map_or(3, |q| q.len() as i64);
}

#[kernel]
fn references_that_begin_as_none(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let own = [x[i] as i64, 7, 3, 9];
    let mut least: Option<&i64> = None;
    for v in &own {
        if least.is_none_or(|least| *v < *least) {
            least = Some(v);
        }
    }
    let (mut a, mut b) = (x[i] as i64, 9);
    let mut which: Option<&mut i64> = None;
    for v in x {
        if *v == x[i] {
            which = Some(&mut a);
        } else if *v == 200 {
            which = Some(&mut b);
        }
    }
    if let Some(which) = which {
        *which += 5;
    }
    out[i] = *least.unwrap() + a * 100 + b * 1000;
}

#[derive(Clone, Copy, DeviceType)]
struct Best<'a> {
    at: usize,
    value: Option<&'a i64>,
}

#[kernel]
fn fields_that_begin_as_none(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let own = [x[i] as i64, 7, 3, 9];
    let mut best = Best { at: 9, value: None };
    for (k, v) in own.iter().enumerate() {
        match best.value {
            Some(least) if *least <= *v => {}
            _ => {
                best.value = Some(v);
                best.at = k;
            }
        }
    }
    out[i] = best.value.map_or(-1, |v| *v) + 100 * best.at as i64;
}

#[test]
fn names_have_the_value_that_they_are_given() {
    let x = [0, 1, 2, 3, -4, 5, 7, -8, 100, 255, i32::MAX, i32::MIN];
    macro_rules! compare {
        ($($kernel:ident)*) => { $( differ!($kernel, (1, 12), [&x[..]], vec![0i64; 12]); )* };
    }
    compare! {
        loop_that_breaks_or_returns
        loop_with_three_ways
        arms_of_a_match
        names_of_patterns
        labelled_blocks
        arrays_options_and_slices
        in_a_closure
        nested_loops
        breaks_to_outer_loops
        let_else_and_if_let
        in_a_return
        in_a_loop
        in_conditions
        break_with_a_value
        changed_afterwards
        structs
        references
        nested_branches
        blocks_and_wide_numbers
        taken_apart
        new_in_each_turn
        references_that_begin_as_none
        fields_that_begin_as_none
    }
}
