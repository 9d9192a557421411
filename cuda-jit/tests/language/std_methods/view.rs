//! Views' methods with a function, and those of the parts that they are called on.

use super::*;
use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};

/// A log of a view's elements, row by row.
#[device]
fn rows(a: ArrayView2<'_, u32>) -> u64 {
    let mut log = a.nrows() as u64 * 16 + a.ncols() as u64;
    for i in 0..a.nrows() {
        for j in 0..a.ncols() {
            append(&mut log, a[[i, j]] as u64);
        }
    }
    log
}

methods! {
    |x, log, also| {
        let (mut all, other, n) = (elements::<12>(x), elements::<12>(&x[1..]), (x[4] % 4) as usize);
        let (height, width) = (1 + (x[5] % 3) as usize, 1 + (x[5] >> 8) as usize % 4);
        let mut a = ArrayViewMut2::from_shape((height, width), &mut all[..height * width]).unwrap();
        let b = ArrayView2::from_shape((height, width), &other[..height * width]).unwrap();
    }
    fold: b.fold(n as u32, |sum, v| { note(&mut log, *v); sum * 3 + *v });
    for_each: { b.for_each(|v| note(&mut log, *v)); n };
    map_inplace: { a.map_inplace(|v| { note(&mut log, *v); *v = *v * 2 + 1 }); all };
    mapv_inplace: { a.mapv_inplace(|v| { note(&mut log, v); v * 2 + 1 }); all };
    zip_mut_with: { a.zip_mut_with(&b, |v, w| { note(&mut log, (*v, *w)); *v = *v * 8 + *w }); all };
    slice: rows(b.slice(s![..;-1, n.min(width)..])), rows(b.slice(s![n.min(height).., ..;2]));
    index_axis: { let row = b.index_axis(Axis(0), n.min(height - 1)); row.fold(7u32, |sum, v| sum * 3 + *v) };
    t: rows(b.t());
    split_at: { let (p, q) = b.split_at(Axis(1), n.min(width)); (rows(p), rows(q)) };
    sum: b.sum();
    mean: b.mean();
}
