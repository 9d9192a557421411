//! Reductions of a rank, in place and not, compared with those of the host.

use cuda_mem::{from_slice, zeros};
use cuda_nccl::{Reduction, Result};
use half::{bf16, f16};

use super::Rank;
use super::exact::{Exact, REDUCTIONS, elements, reduced};

/// The reductions of `len` elements for each rank.
pub(crate) fn reductions<T: Exact>(rank: &Rank, op: Reduction, len: usize) -> Result<()> {
    let (c, s, me, size) = (&rank.communicator, &rank.stream, rank.rank(), rank.size());
    let what = format!("{} {op:?} of {len} by {size}", T::NAME);
    let own = elements::<T>(op, me, len);
    let expected = reduced::<T>(op, size, len);
    let x = from_slice(s, &own)?;

    let mut y = zeros(s, len)?;
    c.all_reduce(&x, &mut y, op, s)?;
    c.wait(s)?;
    assert_eq!(y.copy_to_host()?.to_vec(), expected, "all_reduce {what}");
    assert_eq!(x.copy_to_host()?.to_vec(), own, "all_reduce {what}: the source");

    let mut y = from_slice(s, &own)?;
    c.all_reduce_in_place(&mut y, op, s)?;
    c.wait(s)?;
    assert_eq!(y.copy_to_host()?.to_vec(), expected, "all_reduce_in_place {what}");

    let root = len % size;
    let mut y = zeros(s, if me == root { len } else { 1 })?;
    c.reduce(&x, &mut y, op, root, s)?;
    let mut z = from_slice(s, &own)?;
    c.reduce_in_place(&mut z, op, root, s)?;
    c.wait(s)?;
    if me == root {
        assert_eq!(y.copy_to_host()?.to_vec(), expected, "reduce {what}");
        assert_eq!(z.copy_to_host()?.to_vec(), expected, "reduce_in_place {what}");
    } else {
        assert_eq!(y.copy_to_host()?.to_vec(), [T::of(0)], "reduce {what} writes nothing");
        assert_eq!(z.copy_to_host()?.to_vec(), own, "reduce_in_place {what} writes nothing");
    }

    let own = elements::<T>(op, me, len * size);
    let expected = &reduced::<T>(op, size, len * size)[len * me..len * (me + 1)];
    let mut x = from_slice(s, &own)?;
    let mut y = zeros(s, len)?;
    c.reduce_scatter(&x, &mut y, op, s)?;
    c.reduce_scatter_in_place(&mut x, op, s)?;
    c.wait(s)?;
    assert_eq!(y.copy_to_host()?.to_vec(), expected, "reduce_scatter {what}");
    let part = &x.copy_to_host()?.to_vec()[len * me..len * (me + 1)];
    assert_eq!(part, expected, "reduce_scatter_in_place {what}");
    Ok(())
}

/// All operations of a type; a mean of three floats has no exact result.
pub(crate) fn all<T: Exact>(rank: &Rank, lens: &[usize]) -> Result<()> {
    let defined = |op: &&Reduction| rank.size() != 3 || **op != Reduction::Average;
    REDUCTIONS
        .iter()
        .filter(defined)
        .try_for_each(|op| lens.iter().try_for_each(|len| reductions::<T>(rank, *op, *len)))
}

/// All operations of all types.
pub(crate) fn all_types(rank: &Rank, lens: &[usize]) -> Result<()> {
    all::<i8>(rank, lens)?;
    all::<u8>(rank, lens)?;
    all::<i32>(rank, lens)?;
    all::<u32>(rank, lens)?;
    all::<i64>(rank, lens)?;
    all::<u64>(rank, lens)?;
    all::<f16>(rank, lens)?;
    all::<bf16>(rank, lens)?;
    all::<f32>(rank, lens)?;
    all::<f64>(rank, lens)
}
