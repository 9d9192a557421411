//! Sources of iterators that `language::iterator_steps` leaves out.

use super::*;
use ndarray::{ArrayView2, ArrayViewMut2, Axis};

methods! {
    for [u64] |x, log, also| {
        let (mut all, n) = (elements::<12>(x), 1 + (x[3] % 5) as usize);
        let (height, width) = (1 + (x[4] % 3) as usize, 1 + (x[5] % 4) as usize);
    }
    mod slices {
        iter: { for v in all[..n].iter().rev() { note(&mut log, *v) }; all.iter().len() };
        iter_mut: { for v in all[n..].iter_mut().rev() { note(&mut log, *v); *v += 9 }; all };
        into_iter: { for v in all.into_iter().skip(n) { note(&mut log, v) }; for v in (&mut all).into_iter() { *v += 1 }; all };
        chunks_mut: { for (k, part) in all[..10].chunks_mut(n).enumerate() { for v in part { *v += 9 * k as u32 } }; all };
        chunks_exact_mut: {
            for (k, part) in all[..11].chunks_exact_mut(n).rev().enumerate() { part[n - 1] += 9 * k as u32 }
            all
        };
    }
    mod functions {
        empty: std::iter::empty::<u32>().chain(all[..n].iter().copied()).sum::<u32>();
        from_fn: {
            let mut v = n as u32;
            let mut items = std::iter::from_fn(|| { append(&mut log, 5); v += 1; if v < 9 { Some(v) } else { None } });
            (items.next(), items.sum::<u32>())
        };
        repeat: std::iter::repeat(all[0]).take(n).fold(1u32, |sum, v| sum * 3 + v);
        zip: std::iter::zip(all[..n].iter(), all[3..].iter()).fold(1u32, |sum, (v, w)| sum * 5 + *v * 3 + *w);
        array_from_fn: std::array::from_fn::<u32, 7, _>(|k| { note(&mut log, k); all[k] * 2 });
        cycle: all[..n].iter().copied().cycle().skip(n / 2).take(9).fold(1u32, |sum, v| sum ^ v * 3);
    }
    mod views {
        rows: {
            let a = ArrayView2::from_shape((height, width), &all[..height * width]).unwrap();
            a.rows().into_iter().fold(1u32, |sum, row| sum * 3 + row[width / 2])
        };
        columns: {
            let a = ArrayView2::from_shape((height, width), &all[..height * width]).unwrap();
            a.columns().into_iter().fold(1u32, |sum, column| sum * 3 + column[height / 2])
        };
        outer_iter: {
            let a = ArrayView2::from_shape((height, width), &all[..height * width]).unwrap();
            a.outer_iter().rev().fold(1u32, |sum, row| sum * 3 + row[width - 1])
        };
        axis_iter: {
            let a = ArrayView2::from_shape((height, width), &all[..height * width]).unwrap();
            a.axis_iter(Axis(1)).fold(1u32, |sum, column| sum * 3 + column[height - 1])
        };
        indexed_iter: {
            let a = ArrayView2::from_shape((height, width), &all[..height * width]).unwrap();
            a.indexed_iter().fold(1u64, |sum, ((i, j), v)| sum * 7 + *v as u64 * 5 + i as u64 * 3 + j as u64)
        };
        rows_mut: {
            let mut a = ArrayViewMut2::from_shape((height, width), &mut all[..height * width]).unwrap();
            for (k, mut row) in a.rows_mut().into_iter().enumerate() { row[width - 1] += 9 + k as u32 }
            all
        };
        columns_mut: {
            let mut a = ArrayViewMut2::from_shape((height, width), &mut all[..height * width]).unwrap();
            for (k, mut column) in a.columns_mut().into_iter().enumerate() { column[height - 1] += 9 + k as u32 }
            all
        };
        outer_iter_mut: {
            let mut a = ArrayViewMut2::from_shape((height, width), &mut all[..height * width]).unwrap();
            for (k, mut row) in a.outer_iter_mut().enumerate() { row[0] += 9 + k as u32 }
            all
        };
        axis_iter_mut: {
            let mut a = ArrayViewMut2::from_shape((height, width), &mut all[..height * width]).unwrap();
            for (k, mut column) in a.axis_iter_mut(Axis(1)).enumerate() { column[0] += 9 + k as u32 }
            all
        };
    }
}
