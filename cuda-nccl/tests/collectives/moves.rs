//! Operations that move elements, groups, several streams, parts of a communicator, and graphs.

use cuda_driver::{Graph, Stream};
use cuda_mem::{from_slice, zeros};
use cuda_nccl::{Communicator, Options, Reduction, group};

use crate::operations::moves::{elements, moves};
use crate::{communicators, turn, with_ranks};

#[test]
fn elements_are_moved_to_where_they_belong() {
    for size in 1..=4 {
        with_ranks(size, |rank| {
            for len in [0, 1, 7, 1000] {
                moves::<u8>(rank, len)?;
                moves::<f64>(rank, len)?;
                moves::<[u16; 3]>(rank, len)?;
            }
            Ok(())
        });
    }
    with_ranks(2, |rank| moves::<f64>(rank, 1 << 20));
}

#[test]
fn a_ring_of_sends_and_receives_is_a_group() {
    for size in [2, 3, 4] {
        with_ranks(size, |rank| {
            let (c, s, me) = (&rank.communicator, &rank.stream, rank.rank());
            for len in [1, 1000, 100_000] {
                let x = from_slice(s, &elements::<f64>(me, len))?;
                let mut y = zeros::<f64, _>(s, len)?;
                group(|g| {
                    g.send(c, &x, (me + 1) % size, s)?;
                    g.recv(c, &mut y, (me + size - 1) % size, s)
                })?;
                c.wait(s)?;
                assert_eq!(y.copy_to_host()?.to_vec(), elements::<f64>((me + size - 1) % size, len));
            }
            // One after the other, around the ring.
            let mut x = from_slice(s, &[me as u64])?;
            if me > 0 {
                c.recv(&mut x, me - 1, s)?;
            }
            if me + 1 < size {
                c.send(&x, me + 1, s)?;
            }
            c.wait(s)?;
            assert_eq!(x.copy_to_host()?.to_vec(), [0]);
            Ok(())
        });
    }
}

#[test]
fn one_thread_drives_all_devices_by_groups() {
    let _turn = turn();
    for size in [2, 4] {
        let Some(all) = communicators(size, &Options::new()) else { return };
        let streams: Vec<_> = all.iter().map(|c| Stream::new(c.context()).unwrap()).collect();
        let mut arrays: Vec<_> =
            all.iter().zip(&streams).map(|(c, s)| from_slice(s, &vec![1_u32 << c.rank(); 3000]).unwrap()).collect();
        for _ in 0..3 {
            group(|g| {
                for ((c, s), x) in all.iter().zip(&streams).zip(&mut arrays) {
                    g.all_reduce_in_place(c, x, Reduction::Max, s)?;
                }
                Ok(())
            })
            .unwrap();
        }
        for ((c, s), x) in all.iter().zip(&streams).zip(&arrays) {
            c.wait(s).unwrap();
            assert!(x.copy_to_host().unwrap().iter().all(|value| *value == 1 << (size - 1)));
        }
        let parts = Communicator::split_all(&all, |rank| ((rank > 0).then_some(0), -(rank as i32))).unwrap();
        let places: Vec<_> = parts.iter().map(|part| part.as_ref().map(|c| (c.rank(), c.size()))).collect();
        let expected: Vec<_> = (0..size).map(|rank| (rank > 0).then(|| (size - 1 - rank, size - 1))).collect();
        assert_eq!(places, expected);
    }
}

#[test]
fn operations_in_several_streams_are_ordered_by_their_arrays() {
    with_ranks(3, |rank| {
        let (c, me) = (&rank.communicator, rank.rank());
        let streams = [rank.stream.clone(), Stream::new(c.context())?, Stream::new(c.context())?];
        let mut x = from_slice(&streams[0], &vec![me as i64 + 1; 50_000])?;
        let mut y = zeros::<i64, _>(&streams[0], 50_000)?;
        for round in 0..12 {
            let s = &streams[round % 3];
            if round % 2 == 0 {
                c.all_reduce(&x, &mut y, Reduction::Sum, s)?;
            } else {
                c.all_reduce(&y, &mut x, Reduction::Max, s)?;
            }
        }
        // 6, then three times as much in every second round.
        let expected = 6 * 3_i64.pow(5);
        assert!(x.copy_to_host()?.iter().all(|value| *value == expected));
        c.check()
    });
}

/// Operations of two communicators in streams of their own, which all ranks make in the same order and wait for at the end.
#[test]
fn two_communicators_have_the_same_devices() {
    const ROUNDS: usize = 60;
    with_ranks(3, |rank| {
        let (one, me) = (&rank.communicator, rank.rank());
        let other = one.split(Some(0), me as i32)?.expect("each has a color");
        let streams = [rank.stream.clone(), Stream::new(one.context())?];
        let (x, y) = (from_slice(&streams[0], &[1_i32; 3000])?, from_slice(&streams[1], &[me as i32; 3000])?);
        let mut sums = Vec::new();
        for round in 0..ROUNDS {
            let mut sum = zeros::<i32, _>(&streams[0], 3000)?;
            let mut most = zeros::<i32, _>(&streams[1], 3000)?;
            one.reduce(&x, &mut sum, Reduction::Sum, round % 3, &streams[0])?;
            other.reduce(&y, &mut most, Reduction::Max, (round + 1) % 3, &streams[1])?;
            if round % 7 == 0 {
                other.all_reduce_in_place(&mut most, Reduction::Sum, &streams[0])?;
            }
            sums.push((sum, most));
        }
        one.wait(&streams[0])?;
        other.wait(&streams[1])?;
        for (round, (sum, most)) in sums.iter().enumerate() {
            let (sum, most) = (sum.copy_to_host()?, most.copy_to_host()?);
            assert!(sum.iter().all(|value| *value == if round % 3 == me { 3 } else { 0 }), "round {round}");
            let reduced = round % 7 == 0 || (round + 1) % 3 == me;
            assert!(most.iter().all(|value| *value == if reduced { 2 } else { 0 }), "round {round}");
        }
        other.close()?;
        one.check()
    });
}

#[test]
fn parts_of_a_communicator_work_by_themselves() {
    with_ranks(4, |rank| {
        let (c, s, me) = (&rank.communicator, &rank.stream, rank.rank());
        let half = c.split(Some(me as u32 % 2), 0)?.expect("each has a color");
        assert_eq!((half.rank(), half.size()), (me / 2, 2));
        let mut x = from_slice(s, &vec![me as u32; 100])?;
        half.all_reduce_in_place(&mut x, Reduction::Sum, s)?;
        half.wait(s)?;
        assert!(x.copy_to_host()?.iter().all(|value| *value == [2, 4][me % 2]));
        c.all_reduce_in_place(&mut x, Reduction::Sum, s)?;
        c.wait(s)?;
        assert!(x.copy_to_host()?.iter().all(|value| *value == 12));
        half.close()?;
        let most = c.split((me != 2).then_some(1), 10 - me as i32)?;
        assert_eq!(most.map(|most| (most.rank(), most.size())), [Some((2, 3)), Some((1, 3)), None, Some((0, 3))][me]);
        Ok(())
    });
}

#[test]
fn operations_run_at_each_launch_of_a_graph() {
    for size in [1, 2, 4] {
        with_ranks(size, |rank| {
            let (c, s, me) = (&rank.communicator, &rank.stream, rank.rank());
            let mut x = from_slice(s, &vec![1_i32; 2000])?;
            let mut y = zeros::<i32, _>(s, 2000)?;
            s.synchronize()?;
            let graph = Graph::capture(c.context(), |capture| {
                c.all_reduce(&x, &mut y, Reduction::Sum, capture)?;
                c.broadcast_from(&y, &mut x, 0, capture)?;
                group(|g| {
                    g.send(c, &x, (me + 1) % size, capture)?;
                    g.recv(c, &mut y, (me + size - 1) % size, capture)
                })?;
                Ok(())
            })?;
            let exec = graph.instantiate()?;
            for _ in 0..5 {
                exec.launch(s, (&mut x, &mut y))?;
            }
            c.wait(s)?;
            let expected = (size as i32).pow(5);
            assert!(y.copy_to_host()?.iter().all(|value| *value == expected));
            Ok(())
        });
    }
}
