//! The checks of arguments, and functions about communicators and memory.

use crate::support::*;
use std::ffi::{CStr, c_int};

/// A communicator of one rank on device 0.
fn alone() -> Rank {
    Rank::join(unique_id(), 1, 0)
}

#[test]
fn wrong_arguments_are_refused_with_nccls_texts() {
    let rank = alone();
    let memory = Memory::new(400);
    let (at, comm, stream) = (memory.at, rank.comm, rank.stream.0);
    let refused = |code: c_int, part: &str| {
        assert_eq!(code, INVALID_ARGUMENT, "{part}");
        let text = last_error(0);
        assert!(text.contains(part), "`{text}` does not contain `{part}`");
    };
    refused(ncclAllReduce(at, at, 1, FLOAT, SUM, 0, stream), "NULL");
    refused(ncclAllReduce(at, at, 1, FLOAT, SUM, comm + 1, stream), "no communicator");
    refused(ncclAllReduce(at, at, 1, 12, SUM, comm, stream), "invalid type 12");
    refused(ncclAllReduce(at, at, 1, -1, SUM, comm, stream), "invalid type -1");
    refused(ncclAllReduce(at, at, 1, FLOAT, 7, comm, stream), "reduction operation 7");
    refused(ncclAllReduce(at, at, 1, FLOAT, -1, comm, stream), "reduction operation -1");
    refused(ncclAllReduce(0, at, 1, FLOAT, SUM, comm, stream), "sendbuff argument is NULL");
    refused(ncclAllReduce(at, 0, 1, FLOAT, SUM, comm, stream), "recvbuff argument is NULL");
    refused(ncclAllReduce(at, at, 101, FLOAT, SUM, comm, stream), "not valid for 404 bytes, only for 400");
    refused(ncclAllReduce(at, at, usize::MAX / 2, FLOAT, SUM, comm, stream), "larger than memory");
    let local = [0f32; 4];
    refused(ncclAllReduce(local.as_ptr() as usize, at, 1, FLOAT, SUM, comm, stream), "is not a valid pointer");
    refused(ncclBroadcast(at, at, 1, FLOAT, 1, comm, stream), "invalid root 1 (root should be in the 0..1 range)");
    refused(ncclReduce(at, at, 1, FLOAT, SUM, -1, comm, stream), "invalid root -1");
    refused(ncclSend(at, 1, FLOAT, 5, comm, stream), "invalid peer 5");
    refused(ncclAlltoAll(at, at + 4, 4, FLOAT, comm, stream), "does not work in place");
    refused(ncclGetUniqueId(std::ptr::null_mut()), "argument is NULL");
    refused(ncclCommInitRank(std::ptr::null_mut(), 1, unique_id(), 0), "argument is NULL");
    let mut new = 0;
    refused(ncclCommInitRank(&raw mut new, 2, unique_id(), 2), "Invalid rank requested : 2/2");
    refused(ncclCommInitRank(&raw mut new, 0, unique_id(), 0), "Invalid rank requested : 0/0");
    refused(ncclCommInitRank(&raw mut new, 1, Id([1; 128]), 0), "unique id");
    let mut config = Config::new(1);
    config.magic = 1;
    refused(ncclCommInitRankConfig(&raw mut new, 1, unique_id(), 0, &raw mut config), "NCCL_CONFIG_INITIALIZER");
    config = Config::new(7);
    refused(ncclCommInitRankConfig(&raw mut new, 1, unique_id(), 0, &raw mut config), "blocking attribute value 7");
    assert_eq!(ncclCommInitAll(&raw mut new, 1, [9].as_ptr()), INVALID_USAGE);
    let mut two = [0; 2];
    assert_eq!(ncclCommInitAll(two.as_mut_ptr(), 2, [1, 1].as_ptr()), INVALID_USAGE);
    assert_eq!(rank.all_reduce(&[3.0]), [3.0]);
    rank.destroy();
}

#[test]
fn a_stream_of_another_device_is_refused() {
    set_device(1);
    let other = Stream::new();
    let rank = alone();
    let memory = Memory::new(4);
    assert_eq!(ncclAllReduce(memory.at, memory.at, 1, FLOAT, SUM, rank.comm, other.0), 1);
    assert!(last_error(0).contains("the stream is of device 1"), "{}", last_error(0));
    // The thread's device does not matter, and stays.
    set_device(2);
    ok!(ncclAllReduce(memory.at, memory.at, 1, FLOAT, SUM, rank.comm, rank.stream.0));
    let mut device = -1;
    cuda!(cuCtxGetDevice(&raw mut device));
    assert_eq!(device, 2);
    set_device(0);
    rank.wait();
    rank.destroy();
}

#[test]
fn pointers_of_other_devices_are_refused_if_asked_for() {
    const NAME: &str = "arguments::pointers_of_other_devices_are_refused_if_asked_for";
    if let Some((rank, ranks, id)) = role() {
        set_device(1);
        let other = Memory::new(4);
        // SAFETY: no other thread of this process reads or writes the environment now.
        unsafe { std::env::set_var("NCCL_CHECK_POINTERS", "1") };
        let rank = Rank::join(id, ranks, rank);
        let own = Memory::new(4);
        assert_eq!(ncclAllReduce(other.at, own.at, 1, FLOAT, SUM, rank.comm, rank.stream.0), INVALID_ARGUMENT);
        let expected = "ncclAllReduce : sendbuff allocated on device 1 mismatchs with NCCL device 0";
        assert_eq!(last_error(0), expected);
        ok!(ncclAllReduce(own.at, own.at, 1, FLOAT, SUM, rank.comm, rank.stream.0));
        rank.wait();
        return rank.destroy();
    }
    let output = start(NAME, 0, 1, &unique_id()).wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn communicators_are_not_used_after_their_end() {
    let rank = alone();
    let memory = Memory::new(4);
    ok!(ncclCommFinalize(rank.comm));
    assert_eq!(ncclAllReduce(memory.at, memory.at, 1, FLOAT, SUM, rank.comm, rank.stream.0), INVALID_USAGE);
    assert_eq!(ncclCommFinalize(rank.comm), INVALID_USAGE);
    let (comm, mut count) = (rank.comm, 0);
    rank.destroy();
    assert_eq!(ncclCommDestroy(comm), INVALID_ARGUMENT);
    assert_eq!(ncclCommCount(comm, &raw mut count), INVALID_ARGUMENT);
    ok!(ncclCommDestroy(0));
    let rank = alone();
    ok!(ncclCommRevoke(rank.comm, 0));
    assert_eq!(ncclAllReduce(memory.at, memory.at, 1, FLOAT, SUM, rank.comm, rank.stream.0), INVALID_USAGE);
    rank.destroy();
}

#[test]
fn memory_is_allocated_registered_and_freed() {
    let rank = alone();
    let (mut at, mut handle, mut window, mut user) = (0, 0, 0, 0);
    ok!(ncclMemAlloc(&raw mut at, 4000));
    ok!(ncclCommRegister(rank.comm, at, 4000, &raw mut handle));
    ok!(ncclCommWindowRegister(rank.comm, at, 4000, &raw mut window, 1));
    ok!(ncclWinGetUserPtr(rank.comm, window, &raw mut user));
    assert_eq!(user, at);
    ok!(ncclAllReduce(at, at, 1000, FLOAT, SUM, rank.comm, rank.stream.0));
    rank.wait();
    ok!(ncclCommWindowDeregister(rank.comm, window));
    ok!(ncclCommDeregister(rank.comm, handle));
    assert_eq!(ncclCommDeregister(rank.comm, handle), INVALID_ARGUMENT);
    ok!(ncclMemFree(at));
    ok!(ncclMemFree(0));
    rank.destroy();
}

#[test]
fn codes_have_texts_and_a_version() {
    let text = |code| {
        // SAFETY: the library returns a static C string.
        unsafe { CStr::from_ptr(ncclGetErrorString(code)) }.to_string_lossy().into_owned()
    };
    assert_eq!(text(SUCCESS), "no error");
    assert!(text(REMOTE).starts_with("remote process exited"));
    assert_eq!(text(77), "unknown result code");
    let mut version = 0;
    ok!(ncclGetVersion(&raw mut version));
    assert_eq!(version, 23203);
}

#[test]
fn a_simulated_group_starts_nothing() {
    #[repr(C)]
    struct Info {
        size: usize,
        magic: u32,
        version: u32,
        time: f32,
    }
    let rank = alone();
    let (from, to) = (Memory::of(&[5f32]), Memory::of(&[1f32]));
    let mut info = Info { size: size_of::<Info>(), magic: 0x7468_5283, version: 23203, time: 3.0 };
    ok!(ncclGroupStart());
    ok!(ncclAllReduce(from.at, to.at, 1, FLOAT, SUM, rank.comm, rank.stream.0));
    ok!(ncclGroupSimulateEnd((&raw mut info).cast()));
    rank.wait();
    assert_eq!((to.read::<f32>(1), info.time), (vec![1.0], -1.0));
    rank.destroy();
}
