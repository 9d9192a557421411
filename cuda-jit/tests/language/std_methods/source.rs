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
        rchunks: for (k, part) in all[..n + 4].rchunks(n).enumerate() { note(&mut log, (k, hash(part))) }, all.rchunks(5).len();
        rchunks_mut: { for (k, part) in all[..10].rchunks_mut(n).rev().enumerate() { for v in part { *v += 9 * k as u32 } }; all };
        rchunks_exact: for part in all[..n + 6].rchunks_exact(n).rev() { note(&mut log, hash(part)) }, all.rchunks_exact(5).len();
        rchunks_exact_mut: {
            for (k, part) in all[..11].rchunks_exact_mut(n).enumerate() { part[0] += 9 * k as u32 }
            all
        };
        array_windows: all[..n + 1].array_windows().rev().fold(1u32, |sum, [a, b]| sum * 5 + *a * 3 + *b);
        chunk_by: {
            let mut parts = all[..7 + n].chunk_by(|a, b| { note(&mut log, (*a, *b)); *a <= *b });
            if let Some(part) = parts.next_back() { note(&mut also, hash(part)) }
            for part in parts { note(&mut also, hash(part)) }
        };
        chunk_by_mut: {
            for (k, part) in all[..7 + n].chunk_by_mut(|a, b| *a % 2 == *b % 2).rev().enumerate() { part[0] += 9 * k as u32 }
            all
        };
        split: {
            let mut parts = all[..7 + n].split(|v| { note(&mut log, *v); *v < 3 });
            if let Some(part) = parts.next_back() { note(&mut also, hash(part)) }
            for part in parts { note(&mut also, hash(part)) }
        };
        split_mut: { for (k, part) in all.split_mut(|v| *v < 2).enumerate() { for v in part { *v += 9 * k as u32 } }; all };
        split_inclusive: {
            let mut parts = all[..7 + n].split_inclusive(|v| { note(&mut log, *v); *v < 3 });
            if let Some(part) = parts.next_back() { note(&mut also, hash(part)) }
            for part in parts { note(&mut also, hash(part)) }
        };
        split_inclusive_mut: {
            for (k, part) in all.split_inclusive_mut(|v| *v < 2).rev().enumerate() { for v in part { *v += 9 * k as u32 } }
            all
        };
        rsplit: for part in all[..7 + n].rsplit(|v| { note(&mut log, *v); *v < 3 }) { note(&mut also, hash(part)) };
        rsplit_mut: { for (k, part) in all.rsplit_mut(|v| *v < 2).enumerate() { for v in part { *v += 9 * k as u32 } }; all };
        splitn: for part in all.splitn(n, |v| { note(&mut log, *v); *v < 3 }) { note(&mut also, hash(part)) };
        splitn_mut: { for (k, part) in all.splitn_mut(n, |v| *v < 2).enumerate() { for v in part { *v += 9 * k as u32 } }; all };
        rsplitn: for part in all.rsplitn(n - 1, |v| { note(&mut log, *v); *v < 3 }) { note(&mut also, hash(part)) };
        rsplitn_mut: { for (k, part) in all.rsplitn_mut(n, |v| *v < 2).enumerate() { for v in part { *v += 9 * k as u32 } }; all };
        remainder: { let parts = all[..7 + n].chunks_exact(n); hash(parts.remainder()) };
        as_slice: {
            let mut items = all[..7 + n].iter();
            items.next();
            items.nth_back(n);
            hash(items.as_slice())
        };
        into_remainder: {
            let mut parts = all[..7 + n].chunks_exact_mut(n);
            parts.next().unwrap()[0] += 9;
            for v in parts.into_remainder() { *v += 5 }
            all
        };
        chunks_exact_mut: {
            for (k, part) in all[..11].chunks_exact_mut(n).rev().enumerate() { part[n - 1] += 9 * k as u32 }
            all
        };
    }
    mod functions {
        empty: std::iter::empty::<u32>().chain(all[..n].iter().copied()).sum::<u32>();
        sizes: {
            use std::mem::size_of as measure;
            append(&mut log, size_of::<(u8, u64)>() as u64);
            (measure::<[u16; 3]>(), std::mem::size_of::<Option<f32>>() * n, elements::<3>(x)[size_of::<u8>()])
        };
        alignments: (align_of::<u64>() + n, std::mem::align_of::<[u16; 3]>(), core::mem::align_of::<()>());
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
