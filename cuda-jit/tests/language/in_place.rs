//! Rvalues: array expressions that are indexed, iterated over, matched and borrowed in place, indices with names, and
//! references returned from functions.

use super::differ;
use super::values::programs;
use cuda_jit::device::grid;
use cuda_jit::{DeviceType, device, kernel};
use ndarray::{ArrayView2, ArrayView3};

#[device]
fn total(values: &[u32]) -> u32 {
    let mut sum = 0;
    for v in values {
        sum = sum * 10 + v;
    }
    sum
}

#[derive(Clone, Copy, DeviceType)]
struct Rule {
    v: [u32; 3],
}

#[device]
fn of_rule(rule: &Rule) -> u32 {
    total(&rule.v)
}

#[derive(Clone, Copy, DeviceType)]
struct Held<'a> {
    v: &'a [u32],
    w: &'a [u32; 2],
    n: &'a u32,
}

#[device]
fn of_held(w: &Held<'_>) -> u32 {
    total(w.v) * 10 + total(w.w) + *w.n + w.n
}

programs! {
    an_array_is_indexed_in_place(x) { [2, 3, 5, 7][x as usize % 4] }
    a_literal_has_its_place_s_type(x) {
        let k: u64 = [2, 1 << 40, 5, 7][x as usize % 4];
        (k >> 38) as u32 + [1.5f32, 2.5, 0.1, 0.2][x as usize % 4].to_bits() % 100
    }
    floats_without_a_suffix(x) {
        let k: f32 = [0.1, 0.2, 0.3, 0.4][x as usize % 4];
        let d = [0.1, 0.2, 0.3, 0.4][x as usize % 4];
        k.to_bits() % 1000 + ((d * 1e16) as u64 % 1000) as u32
    }
    a_repeated_element_in_place(x) { [x; 5][x as usize] + [[x; 2]; 3][2][1] }
    rows_in_place(x) { [[1, 2], [3, 4]][x as usize % 2][x as usize / 2] }
    methods_in_place(x) {
        u32::from([2, 3].contains(&x)) + 10 * [x, 1, 2].len() as u32 + [1, 2, 3].map(|v| v * x)[2] * 100
    }
    a_part_in_place(x) { ([1, x], 3).0[1] + ([x, 5], [7u8, 8]).1[0] as u32 }
    references_in_place(x) { total(&[x, 2, 3]) + total(&[x; 3][1..]) }
    an_array_is_matched_in_place(x) {
        match [x % 2, x / 2] {
            [0, 0] => 1,
            [1, n] => n + 2,
            [_, n] => n + 10,
        }
    }
    branches_in_place(x) { (if x > 1 { [1, 2, 3, 4] } else { [5, 6, 7, 8] })[x as usize] }
    options_are_iterated_over(x) {
        let mut s = 0;
        for o in [Some(x), None, Some(3)].iter() {
            s = s * 10 + o.unwrap_or(9);
        }
        for o in [Some(x), None] {
            s = s * 10 + o.unwrap_or(8);
        }
        s + [None, Some(x)].iter().filter(|o| o.is_some()).count() as u32
    }
    options_are_iterated_over_by_their_methods(x) {
        [Some(x), None, Some(3)].iter().map(|o| o.unwrap_or(7)).fold(0, |a, b| a * 10 + b)
    }
    several_places(x) {
        let mut a = [0; 3];
        let b;
        (_, a[0], ..) = (1, x, 3, 4);
        (a[1], .., b) = (5, 6, 7, 8);
        [_, a[2], ..] = [1, 9, 3];
        a[0] * 1000 + a[1] * 100 + a[2] * 10 + b
    }
    slices_of_a_struct(x) {
        let (a, n) = ([x, 2], [7, x, 9]);
        let w = Held { v: &n, w: &a, n: &x };
        let r = &w;
        let s: &[u32] = w.w;
        let t: &[u32] = &w.v[1..];
        let u: &[u32; 2] = &r.w;
        let k: u32 = w.n + *r.n;
        total(w.v) + total(&w.v) + total(&*w.v) + total(w.w) + total(&r.w[..]) + total(r.v) + total(s) + total(t)
            + u[0] * 1000 + k + r.v.len() as u32 + r.w.iter().sum::<u32>() + of_held(r) + of_held(&r)
    }
    slices_of_a_struct_in_an_option(x) {
        let (a, n) = ([x, 2], [7, x, 9]);
        let o = Some(Held { v: &n, w: &a, n: &x });
        let p = [o.unwrap(); 2];
        o.map_or(1, |w| total(w.v)) + total(p[1].w) + total(&p[0].v) + p[1].v[x as usize % 3]
    }
    a_field_that_is_borrowed(x) {
        let w = Rule { v: [x, 2, 3] };
        let r = &w;
        let rr = &r;
        total(&w.v) + total(&r.v) + of_rule(rr) + of_rule(&rr)
    }
}

#[kernel]
fn of_views(x: ArrayView2<'_, u32>, y: ArrayView3<'_, u32>, out: &mut [u32]) {
    let i = grid::<1>();
    let at = [i, i];
    let there = (i, 3 - i);
    out[i] = x[at] * 100 + x[there] + y[[i % 2, i, 0]];
}

#[test]
fn an_index_of_a_view_has_a_name() {
    let x = ndarray::Array2::from_shape_fn((4, 4), |(r, c)| (r * 4 + c) as u32);
    let y = ndarray::Array3::from_shape_fn((2, 4, 2), |(a, b, c)| (a * 1000 + b * 10 + c) as u32);
    let mut host = vec![0; 4];
    cuda_jit::host::for_each_thread((1, 4), || of_views(x.view(), y.view(), &mut host));
    let mut device = super::on_device(&[0u32; 4]);
    of_views::launch((1, 4), &x, &y, &mut device).unwrap();
    assert_eq!(super::on_host(&device), host);
}

#[device]
fn changed(x: &mut [u32]) -> u32 {
    x[0] += 5;
    x[1] += x[0];
    x[1]
}

#[device]
fn changed_array(x: &mut [u32; 3]) -> u32 {
    changed(x) + x[2]
}

#[device]
fn of_either(x: Option<&[u32]>, y: (&[u32], &mut [u32])) -> u32 {
    y.1[0] = 4;
    x.map_or(9, total) + y.0[0] * y.1[0] + y.1[1]
}

#[device]
fn sized<const N: usize>(x: &[[u32; 2]; N]) -> u32 {
    let mut sum = N as u32;
    for row in x {
        sum = sum * 3 + row[0] + row[1];
    }
    sum
}

#[device]
fn made(x: u32) -> [u32; 3] {
    [x, x + 1, x + 2]
}

#[kernel]
fn borrowed_temporaries(x: u32, out: &mut [u32]) {
    out[0] = total(&[1, 2, x]) + total(&[x; 4]) + total(&[]);
    out[1] = changed(&mut [0; 3]) + changed(&mut [x, 2]) + changed_array(&mut [x; 3]);
    out[2] = of_either(Some(&[x; 2]), (&[x, x], &mut [3; 3])) + of_either(None, (&[x; 1], &mut [x; 2]));
    out[3] = sized(&[[1, x], [x, 2]]) + sized(&[[x; 2]; 3]);
    out[4] = total(&made(x)) + changed(&mut made(x)) + total(&made(x)[1..]) + total(&[x; 3].map(|v| v * 2));
    out[5] = total(if x > 1 { &[1; 2] } else { &[4; 3] }) + total(&{ [x; 2] });
    out[6] = total(match x {
        0 => &[1],
        1 => &[5; 2],
        _ => &[7, 8, 9],
    });
}

#[test]
fn temporaries_are_borrowed_by_calls() {
    for x in [0, 1, 5] {
        differ!(borrowed_temporaries, (1, 1), [x], vec![0u32; 7]);
    }
}

#[device]
fn labelled(v: u32) -> u32 {
    let r: u32 = ('l: {
        if v > 3 {
            break 'l v;
        }
        let _w: u32 = return 5;
    }) ^ 1;
    let s: u32 = 1 + 'm: {
        if v > 4 {
            break 'm 2;
        }
        return r;
    };
    r + s * 10
}

#[kernel]
fn operands(v: u16, out: &mut [u32]) {
    out[0] = ((({
        let f = |v: u16| v ^ 1;
        f(3)
    }) & 3) as u16) as u32;
    out[1] = (3
        & ({
            let f = |v: u16| v ^ 9;
            f(v)
        })) as u32;
    for i in 0..(({
        let f = |v: u8| v ^ 1;
        f(3)
    } & 3) as u8)
    {
        out[2] += i as u32 + 1;
    }
    out[3] = labelled(v as u32);
}

#[test]
fn blocks_are_operands() {
    for v in [0, 3, 4, 5, 9] {
        differ!(operands, (1, 1), [v], vec![0u32; 4]);
    }
}
