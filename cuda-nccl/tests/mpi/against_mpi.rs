//! Every collective operation against MPI's own on host memory, bit for bit, from one element to a million. MPI refuses
//! equal addresses, which empty vectors have; empty arrays are in the other scenarios.

use cuda_mem::{from_slice, zeros};
use cuda_nccl::{Number, Reduction, mpi};
use mpi::collective::SystemOperation;
use mpi::traits::*;

use crate::World;
use crate::operations::Rank;

/// A number that both have.
trait Both: Number + Equivalence + PartialEq + std::fmt::Debug + Default {
    fn of(rank: usize, at: usize) -> Self;
}

macro_rules! both {
    ($($ty:ty)*) => { $(
        impl Both for $ty {
            /// Small whole numbers, whose sums are exact in every order.
            fn of(rank: usize, at: usize) -> $ty {
                ((at * 7 + rank * 5 + at / 11) % 13) as $ty
            }
        }
    )* };
}

both! { i8 u8 i32 u32 i64 u64 f32 f64 }

pub(crate) fn run(world: &World) {
    let rank = world.rank();
    let large = std::env::var_os("CUDA_NCCL_TEST_LARGE").is_some();
    for len in [1, 2, 1000, 65_537, 1 << 20].into_iter().chain(large.then_some(16 << 20)) {
        compare::<i32>(world, &rank, len);
        if len <= 65_537 {
            compare::<i8>(world, &rank, len);
            compare::<u8>(world, &rank, len);
            compare::<u32>(world, &rank, len);
            compare::<i64>(world, &rank, len);
            compare::<u64>(world, &rank, len);
            compare::<f32>(world, &rank, len);
            compare::<f64>(world, &rank, len);
        }
    }
    rank.communicator.close().unwrap();
}

fn elements<T: Both>(rank: usize, len: usize) -> Vec<T> {
    (0..len).map(|at| T::of(rank, at)).collect()
}

/// All operations of a type and a length against those of MPI.
fn compare<T: Both>(world: &World, rank: &Rank, len: usize) {
    let host = world.universe.world();
    let (c, s, me, size) = (&rank.communicator, &rank.stream, rank.rank(), rank.size());
    let what = format!("{} of {len} by {size}", std::any::type_name::<T>());
    let root = len % size;
    let at_root = host.process_at_rank(root as i32);
    let (own, all) = (elements::<T>(me, len), elements::<T>(me, len * size));
    let (x, xs) = (from_slice(s, &own).unwrap(), from_slice(s, &all).unwrap());
    let ops = [
        (Reduction::Sum, SystemOperation::sum()),
        (Reduction::Product, SystemOperation::product()),
        (Reduction::Min, SystemOperation::min()),
        (Reduction::Max, SystemOperation::max()),
    ];
    for (op, of_mpi) in ops {
        let mut expected = vec![T::default(); len];
        host.all_reduce_into(&own[..], &mut expected[..], of_mpi);
        let mut y = zeros::<T, _>(s, len).unwrap();
        c.all_reduce(&x, &mut y, op, s).unwrap();
        c.wait(s).unwrap();
        assert_eq!(y.copy_to_host().unwrap().to_vec(), expected, "all_reduce {op:?} {what}");
    }
    let mut expected = vec![T::default(); len];
    if me == root {
        at_root.reduce_into_root(&own[..], &mut expected[..], SystemOperation::sum());
    } else {
        at_root.reduce_into(&own[..], SystemOperation::sum());
    }
    let mut y = zeros::<T, _>(s, len).unwrap();
    c.reduce(&x, &mut y, Reduction::Sum, root, s).unwrap();
    c.wait(s).unwrap();
    assert_eq!(y.copy_to_host().unwrap().to_vec(), expected, "reduce {what}");

    let mut expected = vec![T::default(); len];
    host.reduce_scatter_block_into(&all[..], &mut expected[..], SystemOperation::sum());
    let mut y = zeros::<T, _>(s, len).unwrap();
    c.reduce_scatter(&xs, &mut y, Reduction::Sum, s).unwrap();
    c.wait(s).unwrap();
    assert_eq!(y.copy_to_host().unwrap().to_vec(), expected, "reduce_scatter {what}");

    let mut expected = own.clone();
    at_root.broadcast_into(&mut expected[..]);
    let mut y = from_slice(s, &own).unwrap();
    c.broadcast(&mut y, root, s).unwrap();
    c.wait(s).unwrap();
    assert_eq!(y.copy_to_host().unwrap().to_vec(), expected, "broadcast {what}");

    let mut expected = vec![T::default(); len * size];
    host.all_gather_into(&own[..], &mut expected[..]);
    let mut y = zeros::<T, _>(s, len * size).unwrap();
    c.all_gather(&x, &mut y, s).unwrap();
    c.wait(s).unwrap();
    assert_eq!(y.copy_to_host().unwrap().to_vec(), expected, "all_gather {what}");

    let mut expected = vec![T::default(); len * size];
    host.all_to_all_into(&all[..], &mut expected[..]);
    let mut y = zeros::<T, _>(s, len * size).unwrap();
    c.all_to_all(&xs, &mut y, s).unwrap();
    c.wait(s).unwrap();
    assert_eq!(y.copy_to_host().unwrap().to_vec(), expected, "all_to_all {what}");

    let mut expected = vec![T::default(); len * size];
    if me == root {
        at_root.gather_into_root(&own[..], &mut expected[..]);
    } else {
        at_root.gather_into(&own[..]);
    }
    let mut y = zeros::<T, _>(s, len * size).unwrap();
    c.gather(&x, &mut y, root, s).unwrap();
    c.wait(s).unwrap();
    assert_eq!(y.copy_to_host().unwrap().to_vec(), expected, "gather {what}");

    let mut expected = vec![T::default(); len];
    if me == root {
        at_root.scatter_into_root(&all[..], &mut expected[..]);
    } else {
        at_root.scatter_into(&mut expected[..]);
    }
    let mut y = zeros::<T, _>(s, len).unwrap();
    c.scatter(&xs, &mut y, root, s).unwrap();
    c.wait(s).unwrap();
    assert_eq!(y.copy_to_host().unwrap().to_vec(), expected, "scatter {what}");
}
