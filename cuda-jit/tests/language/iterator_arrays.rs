//! Arrays of iterators, which hold references: returned by functions, destructured, replaced and iterated over.

use cuda_jit::device::grid;
use cuda_jit::kernel;

use super::differ;

#[kernel]
fn arrays_of_iterators(x: &[u32], out: &mut [u32]) {
    let mul = |a: u32| a.wrapping_mul(3);
    let i = grid::<1>();
    let [mut a, b, mut c]: [_; 3] = std::array::from_fn(|n| x[n..].iter());
    a.next();
    out[i] = a.next().unwrap() + b.sum::<u32>() * 10 + c.next_back().unwrap() * 1000;
    let mut rows = [x[..2].iter(), x[2..].iter(), x[4..].iter()];
    let k = i % 3;
    rows[k] = x[5..].iter();
    for row in rows {
        out[i] += row.sum::<u32>() * 10000;
    }
    let all = [1u32, 2].map(|n| (0..n + 2).map(move |v| v * n));
    for of in all {
        out[i] = mul(out[i]) + of.sum::<u32>();
    }
    let [first, .., mut last] = [x[..1].iter(), x[1..3].iter(), x[3..].iter()];
    last.next();
    out[i] += first.sum::<u32>() + last.sum::<u32>() * 100;
    for (n, of) in (1..).zip([0..1u32, 0..2, 3..5]) {
        out[i] = mul(out[i]) + of.sum::<u32>() * n;
    }
    for of in [0..1, 2..4].into_iter() {
        for n in of {
            out[i] = mul(out[i]) + x[n];
        }
    }
    for v in [0..1, 2..4].into_iter().flatten() {
        out[i] = mul(out[i]) + x[v];
    }
}

#[test]
fn arrays_hold_iterators() {
    differ!(arrays_of_iterators, (1, 6), [&[3u32, 1, 4, 1, 5, 9, 2, 6][..]], vec![0u32; 6]);
}
