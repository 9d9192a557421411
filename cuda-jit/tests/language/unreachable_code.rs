//! Uninitialised names in unreachable code, and names whose type is inferred late.

#![expect(unused, unreachable_code, reason = "code that is never reached is what the kernels are about")]

use cuda_jit::device::grid;
use cuda_jit::{DeviceType, kernel};

use super::differ;

const YES: bool = true;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct P {
    a: i64,
    b: i64,
}

#[kernel]
fn read_where_no_break_leads(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    out[i] = 1;
    if x[i] > 1 {
        loop {
            if x[i] > 0 {
                out[i] = 3;
                return;
            }
        }
        out[i] = v;
    }
}

#[kernel]
fn read_behind_a_constant_condition(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    out[i] = 1;
    if YES {
        return;
    } else {
        v = 3;
    }
    out[i] = v;
}

#[kernel]
fn of_every_type_where_control_never_gets(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let (a, b): (i64, [i64; 2]);
    let o: Option<(i64, [u8; 3])>;
    let s: &[i32];
    out[i] = 1;
    if x[i] > 1 {
        return;
        out[i] = a + b[0] + o.map_or(3, |p| p.0) + s.len() as i64;
    }
    loop {
        out[i] = 4;
        if x[i] < 100 {
            return;
        }
    }
    out[i] = a + b[1];
    let z = o;
    let t = s;
    out[i] += t[0] as i64 + b.iter().sum::<i64>();
}

#[kernel]
fn in_closures_and_arms_that_diverge(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let v: i64;
    let f = |k: i64| {
        let w: i64;
        loop {
            if k > -1 {
                return 5;
            }
        }
        let q = w;
        q + 1
    };
    let r = f(3);
    'a: loop {
        loop {
            break 'a;
        }
        out[i] = v;
    }
    let w: i64;
    match x[i] {
        0 => {
            w = 4;
        }
        1 => loop {
            if x[i] > 0 {
                out[i] = 8;
                return;
            }
        },
        2 => {
            let m: i64;
            if YES {
                out[i] = 9;
                return;
            } else {
                m = 3
            }
            w = m;
        }
        _ => {
            w = 3;
        }
    }
    out[i] = r + w;
}

#[kernel]
fn types_told_later(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let f;
    let g;
    let c;
    f = x[i] as i64;
    c = 'q';
    g = (f, c);
    let (h, [j, ..], k) = (g.0, [f, 2, 3], c);
    let l;
    (l, _) = (h, j);
    let m;
    [m, _, ..] = [l, 2, 3];
    let (n, o);
    P { a: n, b: o } = P { a: m, b: 4 };
    out[i] = h + j + k as i64 + l + m + n + o;
}

#[kernel]
fn ways_out_of_blocks(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let r;
    let t = loop {
        if x[i] > 2 {
            r = 1i64;
            break 5i64;
        } else if x[i] > 1 {
            r = 2;
            break 6;
        } else if x[i] < 0 {
            out[i] = -1;
            return;
        } else {
            r = 9;
            break 1;
        }
    };
    let q: i64;
    let z;
    'o: {
        'p: {
            if x[i] == 5 {
                break 'p;
            }
            q = 4;
            z = 1i64;
            break 'o;
        }
        q = 5;
        z = 2;
    }
    let d = 1i64;
    out[i] = r + t * 10 + q * 100 + z * 1000 + d;
}

#[kernel]
fn arrays_in_branches(x: &[i32], out: &mut [i64]) {
    let i = grid::<1>();
    let a: [[i64; 2]; 2];
    if x[i] > 0 {
        a = [[1, 2], [3, x[i] as i64]];
    } else {
        let b = [5; 2];
        a = [b; 2];
    }
    let mut c: [i64; 3];
    for k in 0..3i64 {
        c = [k; 3];
        c[1] += 1;
        if k == x[i] as i64 {
            out[i] = c[1];
        }
    }
    let d;
    {
        let mut e = [1i64; 4];
        e[1] = x[i] as i64;
        d = e;
        e[2] = 9;
    }
    out[i] += a[1][1] + d[1] + d[2];
    let s;
    let h = [1i64, 2, 3];
    if x[i] > 3 {
        s = &h[..2];
    } else {
        s = &h[1..];
    }
    out[i] += s[0] * 100;
}

#[test]
fn code_that_is_never_reached_reads_them() {
    let x = [0, 1, 2, 3, -4, 5, 7, -8, 100, 255, i32::MAX, i32::MIN];
    macro_rules! compare {
        ($($kernel:ident)*) => { $( differ!($kernel, (1, 12), [&x[..]], vec![0i64; 12]); )* };
    }
    compare! {
        read_where_no_break_leads
        read_behind_a_constant_condition
        of_every_type_where_control_never_gets
        in_closures_and_arms_that_diverge
        types_told_later
        ways_out_of_blocks
        arrays_in_branches
    }
}
