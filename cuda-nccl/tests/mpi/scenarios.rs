//! Correct programs: operations of all types and sizes, groups, parts, several streams, and the choice of the transport.

use std::time::Duration;

use cuda_driver::{Graph, Stream};
use cuda_mem::{from_slice, zeros};
use cuda_nccl::{Communicator, MpiProcesses, Options, Reduction, group, mpi};
use mpi::topology::{Color, Communicator as _};

use crate::World;
use crate::operations::Rank;
use crate::operations::exact::elements as numbers;
use crate::operations::moves::{elements, moves as all_moves};
use crate::operations::reductions::{all_types, reductions as compared};

pub(crate) fn reductions(world: &World) {
    let rank = world.rank();
    all_types(&rank, &[0, 1000]).unwrap();
    // Several pieces, the last of them short.
    compared::<f32>(&rank, Reduction::Average, 300_001).unwrap();
    compared::<u8>(&rank, Reduction::Max, (1 << 20) + 3).unwrap();
    compared::<f64>(&rank, Reduction::Sum, 1 << 18).unwrap();
    if std::env::var_os("CUDA_NCCL_TEST_LARGE").is_some() {
        compared::<f32>(&rank, Reduction::Sum, 16 << 20).unwrap();
    }
    rank.communicator.close().unwrap();
}

pub(crate) fn moves(world: &World) {
    let rank = world.rank();
    for len in [0, 7, 200_003] {
        all_moves::<u8>(&rank, len).unwrap();
        all_moves::<f64>(&rank, len).unwrap();
        all_moves::<[u16; 3]>(&rank, len).unwrap();
    }
    all_moves::<f64>(&rank, 1 << 18).unwrap();
    rank.communicator.close().unwrap();
}

/// Groups, whose messages pass in any order and beside each other.
pub(crate) fn groups(world: &World) {
    let rank = world.rank();
    let (c, s, me, size) = (&rank.communicator, &rank.stream, rank.rank(), rank.size());
    let (next, previous) = ((me + 1) % size, (me + size - 1) % size);
    for len in [1, 1000, 1_000_000] {
        let x = from_slice(s, &elements::<f64>(me, len)).unwrap();
        let mut y = zeros::<f64, _>(s, len).unwrap();
        group(|g| {
            g.send(c, &x, next, s)?;
            g.recv(c, &mut y, previous, s)
        })
        .unwrap();
        c.wait(s).unwrap();
        assert_eq!(y.copy_to_host().unwrap().to_vec(), elements::<f64>(previous, len));
    }
    // Rank 0 sends and receives together, rank 1 one after the other: no piece may wait for one of the other message.
    let len = 2_000_000;
    let x = from_slice(s, &elements::<f64>(me, len)).unwrap();
    let mut y = zeros::<f64, _>(s, len).unwrap();
    match me {
        0 => group(|g| {
            g.send(c, &x, 1, s)?;
            g.recv(c, &mut y, 1, s)
        })
        .unwrap(),
        1 => {
            c.recv(&mut y, 0, s).unwrap();
            c.send(&x, 0, s).unwrap();
        }
        _ => {}
    }
    c.wait(s).unwrap();
    if me < 2 {
        assert_eq!(y.copy_to_host().unwrap().to_vec(), elements::<f64>(1 - me, len));
    }
    // To itself, and a collective operation beside messages.
    let mut z = zeros::<f64, _>(s, 10).unwrap();
    let own = from_slice(s, &elements::<f64>(me, 10)).unwrap();
    let mut sum = from_slice(s, &[me as i64 + 1; 100]).unwrap();
    group(|g| {
        g.send(c, &own, me, s)?;
        g.all_reduce_in_place(c, &mut sum, Reduction::Sum, s)?;
        g.recv(c, &mut z, me, s)
    })
    .unwrap();
    c.wait(s).unwrap();
    assert_eq!(z.copy_to_host().unwrap().to_vec(), elements::<f64>(me, 10));
    assert!(sum.copy_to_host().unwrap().iter().all(|value| *value == (size * (size + 1) / 2) as i64));
    rank.communicator.close().unwrap();
}

/// Parts of a communicator, and a communicator of a part of MPI's world.
pub(crate) fn splits(world: &World) {
    let rank = world.rank();
    let (c, me) = (&rank.communicator, rank.rank());
    let half = c.split(Some(me as u32 % 2), 0).unwrap().expect("each has a color");
    assert_eq!((half.rank(), half.size()), (me / 2, 2));
    let half = Rank::new(half);
    compared::<i32>(&half, Reduction::Sum, 5000).unwrap();
    half.communicator.close().unwrap();
    let most = c.split((me != 2).then_some(1), 10 - me as i32).unwrap();
    assert_eq!(most.map(|most| (most.rank(), most.size())), [Some((2, 3)), Some((1, 3)), None, Some((0, 3))][me]);

    let part = world.universe.world().split_by_color(Color::with_value(i32::from(me > 0))).unwrap();
    let processes = MpiProcesses::new(&part).unwrap();
    let part = Rank::new(Communicator::over_mpi(c.context(), &processes, &Options::new()).unwrap());
    assert_eq!((part.rank(), part.size()), if me == 0 { (0, 1) } else { (me - 1, 3) });
    all_moves::<u8>(&part, 1000).unwrap();
    // The processes' local ranks are their ranks: they are on one machine.
    assert_eq!((world.processes.local_rank(), world.processes.local_size()), (me, 4));
    assert_eq!(world.processes.device(&world.driver).unwrap().ordinal(), me % 2);
    processes.barrier(Duration::from_secs(60)).unwrap();
}

/// Operations in several streams, which their arrays order.
pub(crate) fn several_streams(world: &World) {
    let rank = world.rank();
    let (c, me) = (&rank.communicator, rank.rank());
    let streams = [rank.stream.clone(), Stream::new(c.context()).unwrap(), Stream::new(c.context()).unwrap()];
    let mut x = from_slice(&streams[0], &vec![me as i64 + 1; 500_000]).unwrap();
    let mut y = zeros::<i64, _>(&streams[0], 500_000).unwrap();
    for round in 0..12 {
        let s = &streams[round % 3];
        if round % 2 == 0 {
            c.all_reduce(&x, &mut y, Reduction::Sum, s).unwrap();
        } else {
            c.all_reduce(&y, &mut x, Reduction::Max, s).unwrap();
        }
    }
    // 6, then three times as much in every second round.
    let expected = 6 * 3_i64.pow(5);
    assert!(x.copy_to_host().unwrap().iter().all(|value| *value == expected));
    c.check().unwrap();
}

/// Two communicators of the same processes, whose operations all ranks make in the same order, in a stream for each.
pub(crate) fn two_communicators(world: &World) {
    let (one, other) = (world.rank(), world.rank());
    for _ in 0..20 {
        let (mut x, mut y) =
            (from_slice(&one.stream, &[1_i32; 3000]).unwrap(), from_slice(&other.stream, &[2_i32; 3000]).unwrap());
        one.communicator.all_reduce_in_place(&mut x, Reduction::Sum, &one.stream).unwrap();
        other.communicator.all_reduce_in_place(&mut y, Reduction::Sum, &other.stream).unwrap();
        one.communicator.wait(&one.stream).unwrap();
        other.communicator.wait(&other.stream).unwrap();
        let size = one.size() as i32;
        assert!(x.copy_to_host().unwrap().iter().all(|value| *value == size));
        assert!(y.copy_to_host().unwrap().iter().all(|value| *value == 2 * size));
    }
    one.communicator.close().unwrap();
    other.communicator.close().unwrap();
}

/// The refusals of MPI, and the checks that all transports have.
pub(crate) fn refusals(world: &World) {
    let rank = world.rank();
    let (c, s, me) = (&rank.communicator, &rank.stream, rank.rank());
    assert!(c.nccl().is_none() && c.as_raw().is_null());
    let x = from_slice(s, &numbers::<f32>(Reduction::Sum, me, 3)).unwrap();
    let mut y = zeros::<f32, _>(s, 8).unwrap();
    let error = c.all_gather(&x, &mut y, s).unwrap_err().to_string();
    let expected =
        "`all_gather`: the source has 3 elements and the destination 8; with 2 ranks the destination must have 6";
    assert_eq!(error, format!("rank {me} of 2: {expected}"));
    s.synchronize().unwrap();
    let error = Graph::capture(c.context(), |capture| Ok(c.all_reduce_in_place(&mut y, Reduction::Sum, capture)?))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&format!("rank {me} of 2: `all_reduce`: operations over MPI cannot be captured in a graph")),
        "{error}"
    );
    let grouped = Graph::capture(c.context(), |capture| Ok(group(|g| g.send(c, &x, 1 - me, capture))?)).unwrap_err();
    assert!(grouped.to_string().contains("`send` to rank"), "{grouped}");
    // The communicator is as good as before.
    compared::<f32>(&rank, Reduction::Sum, 1000).unwrap();
    c.abort();
    let error = c.all_reduce_in_place(&mut y, Reduction::Sum, s).unwrap_err().to_string();
    assert!(error.contains("the program ended the communicator"), "{error}");
}

/// NCCL, whose identifier MPI broadcasts.
pub(crate) fn nccl(world: &World) {
    let nccl = cuda_nccl::Nccl::load().unwrap();
    let mut processes = MpiProcesses::new(&world.universe.world()).unwrap();
    let context = processes.device(&world.driver).unwrap().primary_context().unwrap();
    let options = Options::new().timeout(Duration::from_secs(60));
    let rank = Rank::new(Communicator::meet(&nccl, &context, &mut processes, &options).unwrap());
    assert!(rank.communicator.nccl().is_some());
    compared::<f32>(&rank, Reduction::Sum, 100_000).unwrap();
    all_moves::<u8>(&rank, 1000).unwrap();
    rank.communicator.close().unwrap();
    let chosen = Communicator::from_mpi(&context, &mut processes, &options).unwrap();
    assert!(chosen.nccl().is_some(), "all processes have NCCL");
    // Both at the same time: the same program over the other transport.
    compared::<i32>(&world.rank(), Reduction::Sum, 1000).unwrap();
}

/// Without NCCL the transport is MPI.
pub(crate) fn transport(world: &World) {
    if cuda_nccl::Nccl::load().is_ok() {
        return println!("skipped: NCCL is installed");
    }
    let mut processes = MpiProcesses::new(&world.universe.world()).unwrap();
    let context = processes.device(&world.driver).unwrap().primary_context().unwrap();
    let rank = Rank::new(Communicator::from_mpi(&context, &mut processes, &Options::new()).unwrap());
    assert!(rank.communicator.nccl().is_none());
    compared::<f32>(&rank, Reduction::Sum, 1000).unwrap();
}
