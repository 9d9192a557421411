//! Ranks that make other calls, that do not call, or that are killed: nobody waits beyond the time limit, and errors name rank,
//! operation and peer.

use std::time::{Duration, Instant};

use cuda_mem::{from_slice, zeros};
use cuda_nccl::mpi::topology::Communicator as _;
use cuda_nccl::{Error, Reduction};

use crate::World;

/// One rank reduces, the others broadcast.
pub(crate) fn other_operation(world: &World) {
    let rank = world.rank();
    let (c, s, me) = (&rank.communicator, &rank.stream, rank.rank());
    let mut x = from_slice(s, &vec![1.0_f32; 1000]).unwrap();
    let enqueued = if me == 0 { c.all_reduce_in_place(&mut x, Reduction::Sum, s) } else { c.broadcast(&mut x, 1, s) };
    let error = enqueued.and_then(|()| c.wait(s)).unwrap_err().to_string();
    let (expected, size) =
        (["`all_reduce`: rank 1 makes `broadcast`", "`broadcast` with root 1: rank 0 makes `all_reduce`"], rank.size());
    assert!(error.starts_with(&format!("rank {me} of {size}: {}", expected[me.min(1)])), "{error}");
    let later = c.broadcast(&mut x, 1, s).unwrap_err();
    assert!(matches!(later, Error::Failed(_)), "{later}");
    // The stream is free, and a copy ends.
    x.copy_to_host().unwrap();
}

/// The ranks' arrays have other lengths.
pub(crate) fn other_length(world: &World) {
    let rank = world.rank();
    let (c, s, me) = (&rank.communicator, &rank.stream, rank.rank());
    let mut x = zeros::<f32, _>(s, 1000 + me).unwrap();
    let error = c.all_reduce_in_place(&mut x, Reduction::Sum, s).and_then(|()| c.wait(s)).unwrap_err().to_string();
    let expected = format!(
        "rank {me} of 2: `all_reduce`: rank {} has {} elements for each part and this rank {}",
        1 - me,
        1001 - me,
        1000 + me
    );
    assert!(error.starts_with(&expected), "{error}");
}

/// A message is shorter than the array that receives it.
pub(crate) fn short_message(world: &World) {
    let rank = world.rank();
    let (c, s) = (&rank.communicator, &rank.stream);
    let mut x = zeros::<f32, _>(s, if rank.rank() == 0 { 10 } else { 20 }).unwrap();
    if rank.rank() == 0 {
        c.send(&x, 1, s).unwrap();
        return c.wait(s).unwrap();
    }
    let error = c.recv(&mut x, 0, s).and_then(|()| c.wait(s)).unwrap_err().to_string();
    assert!(error.starts_with("rank 1 of 2: `recv` from rank 0: 40 bytes came and 80 were expected"), "{error}");
}

/// A message is longer than the array that receives it: MPI's own error.
pub(crate) fn long_message(world: &World) {
    let rank = world.rank();
    let (c, s) = (&rank.communicator, &rank.stream);
    let mut x = zeros::<f32, _>(s, if rank.rank() == 0 { 20 } else { 10 }).unwrap();
    if rank.rank() == 0 {
        c.send(&x, 1, s).unwrap();
        return c.wait(s).unwrap();
    }
    let error = c.recv(&mut x, 0, s).and_then(|()| c.wait(s)).unwrap_err();
    assert!(matches!(error, Error::Mpi(_)), "{error}");
    let text = error.to_string();
    assert!(
        text.starts_with("rank 1 of 2: `recv` from rank 0: MPI_Irecv: code") && text.contains("TRUNCATE"),
        "{text}"
    );
}

/// A rank does not call; the other one's wait ends by its time limit.
pub(crate) fn absent_rank(world: &World) {
    let rank = world.rank_within(Duration::from_millis(700));
    let (c, s) = (&rank.communicator, &rank.stream);
    if rank.rank() == 1 {
        std::thread::sleep(Duration::from_secs(60));
        return;
    }
    let begin = Instant::now();
    let mut x = zeros::<f32, _>(s, 1000).unwrap();
    let error = c.all_reduce_in_place(&mut x, Reduction::Sum, s).and_then(|()| c.wait(s)).unwrap_err();
    assert!(matches!(error, Error::Timeout(_)), "{error}");
    assert!(error.to_string().starts_with("rank 0 of 2: `all_reduce` did not finish within 700ms"), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(20));
    x.copy_to_host().unwrap();
    println!("the absence was reported: {error}");
    world.universe.world().abort(3);
}

/// A rank is killed while the others wait for it: `mpirun` ends them, or their time limit.
pub(crate) fn killed_rank(world: &World) {
    let rank = world.rank_within(Duration::from_secs(5));
    let (c, s, me) = (&rank.communicator, &rank.stream, rank.rank());
    let mut x = zeros::<f32, _>(s, 1 << 20).unwrap();
    for round in 0..1000 {
        if me == 1 && round == 3 {
            println!("about to be killed");
            let own = std::process::id().to_string();
            std::process::Command::new("kill").args(["-9", &own]).status().unwrap();
        }
        if let Err(error) = c.all_reduce_in_place(&mut x, Reduction::Sum, s).and_then(|()| c.wait(s)) {
            println!("{error}");
            world.universe.world().abort(4);
        }
    }
}

/// A message never comes: MPI gives the memory of the receive back before the stream runs on.
pub(crate) fn lost_message(world: &World) {
    let rank = world.rank_within(Duration::from_millis(700));
    let (c, s) = (&rank.communicator, &rank.stream);
    if rank.rank() == 0 {
        let mut x = from_slice(s, &vec![7.0_f32; 1 << 20]).unwrap();
        let error = c.recv(&mut x, 1, s).and_then(|()| c.wait(s)).unwrap_err();
        assert!(matches!(error, Error::Timeout(_)), "{error}");
        assert!(x.copy_to_host().unwrap().iter().all(|value| *value == 7.0));
    }
    world.processes.barrier(Duration::from_secs(60)).unwrap();
}

/// A long message is never received: MPI cannot give its memory back, so that the process ends.
pub(crate) fn kept_message(world: &World) {
    let rank = world.rank_within(Duration::from_millis(700));
    let (c, s) = (&rank.communicator, &rank.stream);
    if rank.rank() == 0 {
        let x = zeros::<f32, _>(s, 1 << 22).unwrap();
        let error = c.send(&x, 1, s).and_then(|()| c.wait(s)).unwrap_err();
        assert!(matches!(error, Error::Timeout(_)), "{error}");
    }
    std::thread::sleep(Duration::from_secs(60));
}
