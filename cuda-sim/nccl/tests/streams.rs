//! Streams, graphs, and several communicators at once.

use crate::support::*;
use cuda_sys::{CUgraph, CUgraphExec, CUstreamCaptureMode};
use std::ffi::c_int;

/// Queues many operations of two communicators on two streams of each device, and waits at the end only.
#[test]
fn communicators_and_streams_run_at_once() {
    let second = unique_id();
    threads(3, |rank| {
        let other = Rank::join(second, rank.ranks, rank.rank);
        let memories: Vec<_> = (0..20).map(|at| Memory::of(&vec![at as f32; 5000])).collect();
        for (at, memory) in memories.iter().enumerate() {
            let of = if at % 2 == 0 { &rank } else { &other };
            ok!(ncclAllReduce(memory.at, memory.at, 5000, FLOAT, SUM, of.comm, of.stream.0));
        }
        rank.wait();
        other.wait();
        for (at, memory) in memories.iter().enumerate() {
            assert!(memory.read::<f32>(5000).iter().all(|x| *x == 3.0 * at as f32), "{at}");
        }
        other.destroy();
        rank.destroy();
    });
}

/// One communicator on three streams: the operations keep the order of the calls.
#[test]
fn one_communicator_on_several_streams_keeps_the_order() {
    threads(2, |rank| {
        let streams: Vec<_> = (0..3).map(|_| Stream::new()).collect();
        let memory = Memory::of(&[1f32; 1000]);
        for at in 0..9 {
            // Different streams on the ranks.
            let stream = &streams[(at + rank.rank) % 3];
            ok!(ncclAllReduce(memory.at, memory.at, 1000, FLOAT, SUM, rank.comm, stream.0));
        }
        streams.iter().for_each(Stream::wait);
        rank.wait();
        assert!(memory.read::<f32>(1000).iter().all(|x| *x == 512.0));
        drop(streams);
        rank.destroy();
    });
}

/// A group over two streams: what follows on either comes after the whole group.
#[test]
fn a_group_over_two_streams_orders_both() {
    threads(2, |rank| {
        let second = Stream::new();
        let (a, b) = (Memory::of(&[1f32; 200_000]), Memory::of(&[2f32; 200_000]));
        let copy = Memory::new(800_000);
        ok!(ncclGroupStart());
        ok!(ncclAllReduce(a.at, a.at, 200_000, FLOAT, SUM, rank.comm, rank.stream.0));
        ok!(ncclAllReduce(b.at, b.at, 200_000, FLOAT, SUM, rank.comm, second.0));
        ok!(ncclGroupEnd());
        cuda!(cuMemcpyDtoDAsync_v2(copy.at as u64, b.at as u64, 800_000, second.raw()));
        second.wait();
        assert!(copy.read::<f32>(200_000).iter().all(|x| *x == 4.0));
        rank.wait();
        assert!(a.read::<f32>(200_000).iter().all(|x| *x == 2.0));
        drop(second);
        rank.destroy();
    });
}

/// The default stream is ordered as the driver says.
#[test]
fn the_default_stream_is_ordered_with_copies() {
    threads(2, |rank| {
        let memory = Memory::of(&[1f32; 1000]);
        for _ in 0..5 {
            ok!(ncclAllReduce(memory.at, memory.at, 1000, FLOAT, SUM, rank.comm, 0));
            cuda!(cuMemsetD32Async(memory.at as u64, 3f32.to_bits(), 500, std::ptr::null_mut()));
        }
        // The copy is in the default stream too.
        let values = memory.read::<f32>(1000);
        assert!(values[..500].iter().all(|x| *x == 3.0) && values[500..].iter().all(|x| *x == 32.0));
        rank.destroy();
    });
}

/// Captures an all-reduce and an exchange, launches the graph twice, and once more after it was destroyed and made anew.
fn graphs(rank: Rank) {
    let peer = (1 - rank.rank) as c_int;
    let (sum, out, into) = (Memory::of(&[1f32; 50_000]), Memory::of(&[rank.rank as u32; 3000]), Memory::new(12_000));
    let stream = &rank.stream;
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    let mut executable: CUgraphExec = std::ptr::null_mut();
    cuda!(cuStreamBeginCapture_v2(stream.raw(), mode));
    ok!(ncclAllReduce(sum.at, sum.at, 50_000, FLOAT, SUM, rank.comm, stream.0));
    ok!(ncclGroupStart());
    ok!(ncclSend(out.at, 3000, 3, peer, rank.comm, stream.0));
    ok!(ncclRecv(into.at, 3000, 3, peer, rank.comm, stream.0));
    ok!(ncclGroupEnd());
    let mut graph: CUgraph = std::ptr::null_mut();
    cuda!(cuStreamEndCapture(stream.raw(), &raw mut graph));
    cuda!(cuGraphInstantiateWithFlags(&raw mut executable, graph, 0));
    cuda!(cuGraphDestroy(graph));
    // Nothing ran during the capture.
    assert!(sum.read::<f32>(50_000).iter().all(|x| *x == 1.0));
    for launch in 1..=2 {
        into.write(&[77u32; 3000]);
        cuda!(cuGraphLaunch(executable, stream.raw()));
        rank.wait();
        assert!(sum.read::<f32>(50_000).iter().all(|x| *x == 2f32.powi(launch)), "launch {launch}");
        assert!(into.read::<u32>(3000).iter().all(|x| *x == peer as u32));
    }
    // Calls outside of the graph go on.
    assert_eq!(rank.all_reduce(&[1.0, 2.0]), [2.0, 4.0]);
    cuda!(cuGraphExecDestroy(executable));
    rank.destroy();
}

#[test]
fn a_captured_group_is_launched_twice_by_threads() {
    threads(2, graphs);
}

#[test]
fn a_captured_group_is_launched_twice_by_processes() {
    processes("streams::a_captured_group_is_launched_twice_by_processes", 2, graphs);
}

/// The streams of two devices of a process wait for each other: neither holds up the other's.
#[test]
fn operations_that_wait_do_not_hold_up_other_streams() {
    threads(2, |rank| {
        let free = Stream::new();
        let (memory, other) = (Memory::of(&[1f32; 100]), Memory::new(400));
        if rank.rank == 0 {
            ok!(ncclAllReduce(memory.at, memory.at, 100, FLOAT, SUM, rank.comm, rank.stream.0));
            // Rank 1 comes only after this rank's other stream has done all this.
            for value in 0..50 {
                cuda!(cuMemsetD32Async(other.at as u64, value, 100, free.raw()));
                free.wait();
            }
            std::fs::write(turn(), "").expect("a file");
        } else {
            while !turn().exists() {
                std::thread::yield_now();
            }
            ok!(ncclAllReduce(memory.at, memory.at, 100, FLOAT, SUM, rank.comm, rank.stream.0));
        }
        rank.wait();
        assert!(memory.read::<f32>(100).iter().all(|x| *x == 2.0));
        drop(free);
        rank.destroy();
    });
    std::fs::remove_file(turn()).expect("the file");
}

fn turn() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("nccl-sim-test-turn-{}", std::process::id()))
}

/// Eight communicators of four ranks each, all of whose operations wait at once.
#[test]
fn many_operations_wait_at_once() {
    let ids: Vec<_> = (0..8).map(|_| unique_id()).collect();
    threads(4, |rank| {
        let others: Vec<_> = ids.iter().map(|id| Rank::join(*id, 4, rank.rank)).collect();
        let memory: Vec<_> = others.iter().map(|_| Memory::of(&[1f32; 1000])).collect();
        // Each rank calls in another order; all of them are under way at once.
        for at in 0..8 {
            let at = (at + rank.rank * 2) % 8;
            let of = &others[at];
            ok!(ncclAllReduce(memory[at].at, memory[at].at, 1000, FLOAT, SUM, of.comm, of.stream.0));
        }
        for (other, memory) in others.into_iter().zip(&memory) {
            other.wait();
            assert!(memory.read::<f32>(1000).iter().all(|x| *x == 4.0));
            other.destroy();
        }
        rank.destroy();
    });
}
