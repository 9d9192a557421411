//! Sends and receives, alone and in groups.

use crate::support::*;
use std::ffi::c_int;

fn message(from: usize, to: usize, count: usize) -> Vec<u32> {
    (0..count).map(|at| (from * 1_000_000 + to * 100_000 + at) as u32).collect()
}

/// Sends to every rank, also itself, and receives from every one, in one group.
fn exchange(rank: &Rank, count: usize) {
    let out: Vec<_> = (0..rank.ranks).map(|to| Memory::of(&message(rank.rank, to, count))).collect();
    let into: Vec<_> = (0..rank.ranks).map(|_| Memory::new(count * 4)).collect();
    ok!(ncclGroupStart());
    for peer in 0..rank.ranks {
        ok!(ncclSend(out[peer].at, count, 3, peer as c_int, rank.comm, rank.stream.0));
        ok!(ncclRecv(into[peer].at, count, 3, peer as c_int, rank.comm, rank.stream.0));
    }
    ok!(ncclGroupEnd());
    rank.wait();
    for (from, memory) in into.iter().enumerate() {
        assert!(memory.read::<u32>(count) == message(from, rank.rank, count), "{count} from {from}");
    }
}

fn exchanges(rank: Rank) {
    [0, 1, 1000, 700_001].iter().for_each(|count| exchange(&rank, *count));
    rank.destroy();
}

#[test]
fn groups_exchange_between_all_ranks_of_threads() {
    (1..=4).for_each(|ranks| threads(ranks, exchanges));
}

#[test]
fn groups_exchange_between_all_ranks_of_processes() {
    processes("messages::groups_exchange_between_all_ranks_of_processes", 3, exchanges);
}

#[test]
fn a_ring_passes_messages_without_groups() {
    threads(3, |rank| {
        let (next, before) = ((rank.rank + 1) % 3, (rank.rank + 2) % 3);
        let memory = Memory::of(&message(0, 0, 100_000));
        if rank.rank == 0 {
            ok!(ncclSend(memory.at, 100_000, 3, next as c_int, rank.comm, rank.stream.0));
        }
        ok!(ncclRecv(memory.at, 100_000, 3, before as c_int, rank.comm, rank.stream.0));
        if rank.rank != 0 {
            ok!(ncclSend(memory.at, 100_000, 3, next as c_int, rank.comm, rank.stream.0));
        }
        rank.wait();
        assert!(memory.read::<u32>(100_000) == message(0, 0, 100_000));
        rank.destroy();
    });
}

#[test]
fn several_messages_to_one_peer_keep_their_order() {
    threads(2, |rank| {
        let peer = 1 - rank.rank;
        let sizes = [50_000usize, 3, 90_001];
        let memories: Vec<_> = sizes.map(|size| Memory::of(&message(rank.rank, size, size))).into_iter().collect();
        ok!(ncclGroupStart());
        for (memory, size) in memories.iter().zip(sizes) {
            if rank.rank == 0 {
                ok!(ncclSend(memory.at, size, 3, peer as c_int, rank.comm, rank.stream.0));
            } else {
                ok!(ncclRecv(memory.at, size, 3, peer as c_int, rank.comm, rank.stream.0));
            }
        }
        ok!(ncclGroupEnd());
        rank.wait();
        for (memory, size) in memories.iter().zip(sizes) {
            assert!(memory.read::<u32>(size) == message(0, size, size));
        }
        rank.destroy();
    });
}

#[test]
fn one_thread_drives_several_devices() {
    set_device(0);
    let mut comms = [0; DEVICES];
    ok!(ncclCommInitAll(comms.as_mut_ptr(), DEVICES as c_int, std::ptr::null()));
    let parts: Vec<_> = (0..DEVICES)
        .map(|device| {
            set_device(device);
            (Memory::of(&vec![device as f32 + 1.0; 10_000]), Stream::new())
        })
        .collect();
    ok!(ncclGroupStart());
    for ((memory, stream), comm) in parts.iter().zip(comms) {
        ok!(ncclAllReduce(memory.at, memory.at, 10_000, FLOAT, SUM, comm, stream.0));
    }
    ok!(ncclGroupEnd());
    for (device, ((memory, stream), comm)) in parts.iter().zip(comms).enumerate() {
        set_device(device);
        stream.wait();
        assert!(memory.read::<f32>(10_000).iter().all(|x| *x == 10.0));
        let (mut count, mut rank, mut on) = (0, 0, 0);
        ok!(ncclCommCount(comm, &raw mut count));
        ok!(ncclCommUserRank(comm, &raw mut rank));
        ok!(ncclCommCuDevice(comm, &raw mut on));
        assert_eq!((count, rank as usize, on as usize), (DEVICES as c_int, device, device));
    }
    for (device, parts) in parts.into_iter().enumerate() {
        set_device(device);
        drop(parts);
    }
    comms.iter().for_each(|comm| ok!(ncclCommDestroy(*comm)));
}

#[test]
fn a_group_of_initialisations_needs_one_thread() {
    set_device(0);
    let id = unique_id();
    let mut comms = [0; 3];
    ok!(ncclGroupStart());
    for (rank, comm) in comms.iter_mut().enumerate() {
        set_device(rank);
        ok!(ncclCommInitRank(comm, 3, id, rank as c_int));
    }
    ok!(ncclGroupEnd());
    for comm in comms {
        assert_eq!(asynchronous(comm), SUCCESS);
        ok!(ncclCommDestroy(comm));
    }
}
