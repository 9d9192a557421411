//! Operations of a rank that move elements, compared with what the host expects.

use cuda_mem::{Element, from_slice};
use cuda_nccl::Result;
use ndarray::s;

use super::Rank;

/// The element at a position of a rank.
pub(crate) trait Moved: Element + PartialEq + std::fmt::Debug {
    fn of(rank: usize, at: usize) -> Self;
}

impl Moved for u8 {
    fn of(rank: usize, at: usize) -> u8 {
        (31 * rank + at) as u8
    }
}

impl Moved for f64 {
    fn of(rank: usize, at: usize) -> f64 {
        (at as f64).mul_add(0.25, 1e6 * rank as f64)
    }
}

impl Moved for [u16; 3] {
    fn of(rank: usize, at: usize) -> [u16; 3] {
        [rank as u16, at as u16, (at >> 16) as u16]
    }
}

/// The elements of a rank.
pub(crate) fn elements<T: Moved>(rank: usize, len: usize) -> Vec<T> {
    (0..len).map(|at| T::of(rank, at)).collect()
}

/// The moves of `len` elements for each rank.
pub(crate) fn moves<T: Moved>(rank: &Rank, len: usize) -> Result<()> {
    let (c, s, me, size) = (&rank.communicator, &rank.stream, rank.rank(), rank.size());
    let what = format!("{} of {len} by {size}", std::any::type_name::<T>());
    let root = (len + 1) % size;
    let own = elements::<T>(me, len);
    let x = from_slice(s, &own)?;

    let mut y = from_slice(s, &own)?;
    c.broadcast(&mut y, root, s)?;
    let mut z = from_slice(s, &own)?;
    c.broadcast_from(&x, &mut z, root, s)?;
    c.wait(s)?;
    assert_eq!(y.copy_to_host()?.to_vec(), elements::<T>(root, len), "broadcast {what}");
    assert_eq!(z.copy_to_host()?.to_vec(), elements::<T>(root, len), "broadcast_from {what}");

    let together: Vec<T> = (0..size).flat_map(|rank| elements::<T>(rank, len)).collect();
    let mut all = from_slice(s, &elements::<T>(9, len * size))?;
    c.all_gather(&x, &mut all, s)?;
    c.wait(s)?;
    assert_eq!(all.copy_to_host()?.to_vec(), together, "all_gather {what}");
    let mut all = from_slice(s, &elements::<T>(9, len * size))?;
    all.slice_mut(s![len * me..len * (me + 1)]).assign(&x)?;
    c.all_gather_in_place(&mut all, s)?;
    c.wait(s)?;
    assert_eq!(all.copy_to_host()?.to_vec(), together, "all_gather_in_place {what}");

    let mut gathered = from_slice(s, &elements::<T>(9, len * size))?;
    c.gather(&x, &mut gathered, root, s)?;
    let mut in_place = from_slice(s, &if me == root { elements::<T>(9, len * size) } else { own.clone() })?;
    if me == root {
        in_place.slice_mut(s![len * me..len * (me + 1)]).assign(&x)?;
    }
    c.gather_in_place(&mut in_place, root, s)?;
    c.wait(s)?;
    let expected = if me == root { &together } else { &elements::<T>(9, len * size) };
    assert_eq!(&gathered.copy_to_host()?.to_vec(), expected, "gather {what}");
    assert_eq!(&in_place.copy_to_host()?.to_vec(), if me == root { &together } else { &own }, "gather_in_place {what}");

    let all = from_slice(s, &elements::<T>(me, len * size))?;
    let of_root = &elements::<T>(root, len * size)[len * me..len * (me + 1)];
    let mut y = from_slice(s, &own)?;
    c.scatter(&all, &mut y, root, s)?;
    let mut in_place = from_slice(s, &if me == root { elements::<T>(me, len * size) } else { own.clone() })?;
    c.scatter_in_place(&mut in_place, root, s)?;
    c.wait(s)?;
    assert_eq!(y.copy_to_host()?.to_vec(), of_root, "scatter {what}");
    let part = if me == root { len * me..len * (me + 1) } else { 0..len };
    assert_eq!(in_place.copy_to_host()?.to_vec()[part], *of_root, "scatter_in_place {what}");

    let mut y = from_slice(s, &elements::<T>(9, len * size))?;
    c.all_to_all(&all, &mut y, s)?;
    c.wait(s)?;
    let parts = (0..size).flat_map(|rank| elements::<T>(rank, len * size)[len * me..len * (me + 1)].to_vec());
    assert_eq!(y.copy_to_host()?.to_vec(), parts.collect::<Vec<T>>(), "all_to_all {what}");
    Ok(())
}
