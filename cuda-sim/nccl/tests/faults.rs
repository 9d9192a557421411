//! Calls that do not match, aborts, and ranks that never come: errors on all ranks, never a hang.

use crate::support::*;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// Runs `call` on each rank, which does not match the others', and returns the ranks' errors.
fn mismatch(ranks: usize, call: impl Fn(&Rank, usize) + Sync) -> Vec<String> {
    let texts = std::sync::Mutex::new(vec![String::new(); ranks]);
    threads(ranks, |rank| {
        let memory = Memory::new(4 << 20);
        call(&rank, memory.at);
        rank.stream.wait();
        assert_eq!(asynchronous(rank.comm), INVALID_USAGE);
        texts.lock().expect("texts")[rank.rank] = last_error(rank.comm);
        // The communicator takes no more calls.
        assert_eq!(ncclAllReduce(memory.at, memory.at, 1, FLOAT, SUM, rank.comm, rank.stream.0), INVALID_USAGE);
        rank.destroy();
    });
    texts.into_inner().expect("texts")
}

/// Requires that a call has succeeded, or been refused because another rank has raised this error before.
fn unless(raised: c_int, code: c_int) {
    assert!(code == SUCCESS || code == raised, "{code}: {}", last_error(0));
}

/// Requires that every rank's error has these parts.
fn all_say(texts: &[String], parts: &[&str]) {
    for (rank, text) in texts.iter().enumerate() {
        for part in parts {
            assert!(text.contains(part), "rank {rank} does not say `{part}`: {text}");
        }
    }
}

#[test]
fn different_counts_are_reported_by_rank() {
    let texts = mismatch(3, |rank, at| {
        ok!(ncclAllReduce(at, at, 100 + rank.rank / 2, FLOAT, SUM, rank.comm, rank.stream.0));
    });
    all_say(
        &texts,
        &[
            "rank 0: ncclAllReduce, count 100, ncclFloat32, ncclSum",
            "rank 1: ncclAllReduce, count 100,",
            "rank 2: ncclAllReduce, count 101,",
        ],
    );
}

#[test]
fn different_functions_types_operators_and_roots_are_reported() {
    let texts = mismatch(2, |rank, at| match rank.rank {
        0 => ok!(ncclAllReduce(at, at, 100, FLOAT, SUM, rank.comm, rank.stream.0)),
        _ => ok!(ncclBroadcast(at, at, 100, FLOAT, 1, rank.comm, rank.stream.0)),
    });
    all_say(&texts, &["rank 0: ncclAllReduce", "rank 1: ncclBroadcast, count 100, ncclFloat32, root 1"]);
    let texts = mismatch(2, |rank, at| {
        ok!(ncclAllReduce(at, at, 100, if rank.rank == 0 { FLOAT } else { INT }, SUM, rank.comm, rank.stream.0));
    });
    all_say(&texts, &["rank 0: ncclAllReduce, count 100, ncclFloat32", "rank 1: ncclAllReduce, count 100, ncclInt32"]);
    let texts = mismatch(2, |rank, at| {
        ok!(ncclAllReduce(at, at, 100, FLOAT, 2 + rank.rank as c_int, rank.comm, rank.stream.0));
    });
    all_say(&texts, &["ncclMax", "ncclMin"]);
    let texts = mismatch(2, |rank, at| {
        ok!(ncclBroadcast(at, at, 100, FLOAT, rank.rank as c_int, rank.comm, rank.stream.0));
    });
    all_say(&texts, &["root 0", "root 1"]);
}

#[test]
fn a_second_collective_that_differs_is_named_by_its_number() {
    let texts = mismatch(2, |rank, at| {
        ok!(ncclAllReduce(at, at, 100, FLOAT, SUM, rank.comm, rank.stream.0));
        ok!(ncclAllReduce(at, at, 100 + rank.rank, FLOAT, SUM, rank.comm, rank.stream.0));
    });
    all_say(&texts, &["in collective 1 of the communicator"]);
}

#[test]
fn a_collective_against_a_send_is_no_hang() {
    let texts = mismatch(3, |rank, at| match rank.rank {
        // More than the ring has room for.
        1 => ok!(ncclSend(at, 1 << 20, FLOAT, 0, rank.comm, rank.stream.0)),
        _ => ok!(ncclAllReduce(at, at, 100, FLOAT, SUM, rank.comm, rank.stream.0)),
    });
    all_say(
        &texts,
        &["wait for each other for ever", "rank 0: ncclAllReduce", "rank 1: a group of ncclSend and ncclRecv"],
    );
}

#[test]
fn a_receive_against_a_receive_is_no_hang() {
    let texts = mismatch(2, |rank, at| {
        ok!(ncclRecv(at, 10, FLOAT, 1 - rank.rank as c_int, rank.comm, rank.stream.0));
    });
    all_say(
        &texts,
        &["rank 0: a group", "rank 1: a group", "has to receive from rank 0", "has to receive from rank 1"],
    );
}

#[test]
fn sends_in_a_circle_outside_of_a_group_are_no_hang() {
    let texts = mismatch(3, |rank, at| {
        let (next, before) = ((rank.rank + 1) % 3, (rank.rank + 2) % 3);
        ok!(ncclSend(at, 1 << 20, FLOAT, next as c_int, rank.comm, rank.stream.0));
        unless(INVALID_USAGE, ncclRecv(at, 1 << 20, FLOAT, before as c_int, rank.comm, rank.stream.0));
    });
    all_say(&texts, &["has to send to rank 1", "has to send to rank 2", "has to send to rank 0"]);
}

#[test]
fn a_receive_of_another_size_is_reported() {
    let texts = mismatch(2, |rank, at| match rank.rank {
        0 => {
            ok!(ncclGroupStart());
            ok!(ncclSend(at, 10, FLOAT, 1, rank.comm, rank.stream.0));
            ok!(ncclRecv(at + 400, 10, FLOAT, 1, rank.comm, rank.stream.0));
            ok!(ncclGroupEnd());
        }
        _ => ok!(ncclRecv(at, 11, FLOAT, 0, rank.comm, rank.stream.0)),
    });
    all_say(&texts, &["rank 0: ncclSend, count 10, ncclFloat32", "rank 1: ncclRecv, count 11"]);
}

#[test]
fn an_abort_ends_the_own_wait_and_the_others() {
    let started = Instant::now();
    threads(3, |rank| {
        let memory = Memory::of(&[1f32; 100]);
        if rank.rank == 2 {
            // It never comes to the all-reduce.
            std::thread::sleep(Duration::from_millis(100));
            ok!(ncclCommAbort(rank.comm));
            assert_eq!(ncclCommAbort(rank.comm), INVALID_ARGUMENT);
            return;
        }
        unless(REMOTE, ncclAllReduce(memory.at, memory.at, 100, FLOAT, SUM, rank.comm, rank.stream.0));
        rank.stream.wait();
        assert_eq!(asynchronous(rank.comm), REMOTE);
        assert!(last_error(rank.comm).contains("rank 2"), "{}", last_error(rank.comm));
        rank.destroy();
    });
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_rank_that_never_comes_is_ended_by_an_abort_of_another_thread() {
    threads(2, |rank| {
        let memory = Memory::of(&[1f32; 100]);
        if rank.rank == 1 {
            // It makes no call until the other rank has given up.
            while asynchronous(rank.comm) == SUCCESS
                && ncclRecv(memory.at, 1, FLOAT, 0, rank.comm, rank.stream.0) == SUCCESS
            {
                rank.stream.wait();
            }
            assert_eq!(asynchronous(rank.comm), REMOTE);
            return rank.destroy();
        }
        ok!(ncclSend(memory.at, 1, FLOAT, 1, rank.comm, rank.stream.0));
        ok!(ncclAllReduce(memory.at, memory.at, 100, FLOAT, SUM, rank.comm, rank.stream.0));
        let comm = rank.comm;
        let aborter = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(10));
            ok!(ncclCommAbort(comm));
        });
        rank.stream.wait();
        aborter.join().expect("it aborts");
    });
}

#[test]
fn a_destroyed_peer_is_a_remote_error_and_its_last_message_is_not_lost() {
    threads(2, |rank| {
        let memory = Memory::of(&[rank.rank as f32; 100]);
        if rank.rank == 0 {
            ok!(ncclSend(memory.at, 100, FLOAT, 1, rank.comm, rank.stream.0));
            rank.wait();
            return rank.destroy();
        }
        std::thread::sleep(Duration::from_millis(100));
        ok!(ncclRecv(memory.at, 100, FLOAT, 0, rank.comm, rank.stream.0));
        rank.wait();
        assert!(memory.read::<f32>(100).iter().all(|x| *x == 0.0));
        ok!(ncclRecv(memory.at, 100, FLOAT, 0, rank.comm, rank.stream.0));
        rank.stream.wait();
        assert_eq!(asynchronous(rank.comm), REMOTE);
        rank.destroy();
    });
}

#[test]
fn a_non_blocking_initialisation_goes_on_in_the_background_and_can_be_aborted() {
    set_device(0);
    let id = unique_id();
    let (mut first, mut second) = (0, 0);
    let mut config = Config::new(0);
    assert_eq!(ncclCommInitRankConfig(&raw mut first, 2, id, 0, &raw mut config), IN_PROGRESS);
    assert_eq!(asynchronous(first), IN_PROGRESS);
    let memory = Memory::new(4);
    assert_eq!(ncclAllReduce(memory.at, memory.at, 1, FLOAT, SUM, first, 0), INVALID_ARGUMENT);
    assert_eq!(ncclCommInitRankConfig(&raw mut second, 2, id, 1, &raw mut config), IN_PROGRESS);
    for comm in [first, second] {
        while asynchronous(comm) == IN_PROGRESS {
            std::thread::yield_now();
        }
        assert_eq!(asynchronous(comm), SUCCESS);
    }
    for comm in [first, second] {
        assert_eq!(ncclCommFinalize(comm), IN_PROGRESS);
        while asynchronous(comm) == IN_PROGRESS {
            std::thread::yield_now();
        }
        ok!(ncclCommDestroy(comm));
    }
    // The second rank never comes.
    assert_eq!(ncclCommInitRankConfig(&raw mut first, 2, unique_id(), 0, &raw mut config), IN_PROGRESS);
    ok!(ncclCommAbort(first));
    assert_eq!(asynchronous_code(first), INVALID_ARGUMENT);
}

fn asynchronous_code(comm: Comm) -> c_int {
    let mut code = 0;
    ncclCommGetAsyncError(comm, &raw mut code)
}

#[test]
fn splits_order_ranks_by_key_and_leave_some_out() {
    threads(4, |rank| {
        let mut child = 0;
        // Even ranks in reverse order; rank 3 alone takes no part.
        let color = if rank.rank == 3 { -1 } else { rank.rank as c_int % 2 };
        ok!(ncclCommSplit(rank.comm, color, -(rank.rank as c_int), &raw mut child, std::ptr::null_mut()));
        if rank.rank == 3 {
            assert_eq!(child, 0);
        } else {
            let (mut count, mut own) = (0, 0);
            ok!(ncclCommCount(child, &raw mut count));
            ok!(ncclCommUserRank(child, &raw mut own));
            let expected = [(2, 1), (1, 0), (2, 0)][rank.rank];
            assert_eq!((count, own), expected);
            let memory = Memory::of(&[rank.rank as f32 + 1.0; 10]);
            ok!(ncclAllReduce(memory.at, memory.at, 10, FLOAT, SUM, child, rank.stream.0));
            rank.stream.wait();
            let sum = if color == 0 { 4.0 } else { 2.0 };
            assert!(memory.read::<f32>(10).iter().all(|x| *x == sum));
            ok!(ncclCommDestroy(child));
        }
        assert_eq!(rank.all_reduce(&[1.0]), [4.0]);
        assert_eq!(ncclCommSplit(rank.comm, -2, 0, &raw mut child, std::ptr::null_mut()), INVALID_ARGUMENT);
        rank.destroy();
    });
}

#[test]
fn survivors_shrink_the_communicator_after_an_abort() {
    threads(4, |rank| {
        if rank.rank == 1 {
            ok!(ncclCommAbort(rank.comm));
            return;
        }
        let memory = Memory::of(&[1f32; 10]);
        unless(REMOTE, ncclAllReduce(memory.at, memory.at, 10, FLOAT, SUM, rank.comm, rank.stream.0));
        rank.stream.wait();
        assert_eq!(asynchronous(rank.comm), REMOTE);
        let (mut excluded, mut child) = ([1], 0);
        ok!(ncclCommShrink(rank.comm, excluded.as_mut_ptr(), 1, &raw mut child, std::ptr::null_mut(), 1));
        memory.write(&[1f32; 10]);
        ok!(ncclAllReduce(memory.at, memory.at, 10, FLOAT, SUM, child, rank.stream.0));
        rank.stream.wait();
        assert!(memory.read::<f32>(10).iter().all(|x| *x == 3.0));
        ok!(ncclCommDestroy(child));
        rank.destroy();
    });
}

#[test]
fn a_failed_group_starts_nothing() {
    threads(2, |rank| {
        let memory = Memory::of(&[1f32; 10]);
        ok!(ncclGroupStart());
        ok!(ncclAllReduce(memory.at, memory.at, 10, FLOAT, SUM, rank.comm, rank.stream.0));
        assert_eq!(ncclBroadcast(memory.at, memory.at, 10, FLOAT, 9, rank.comm, rank.stream.0), INVALID_ARGUMENT);
        assert_eq!(ncclGroupEnd(), INVALID_ARGUMENT);
        rank.wait();
        assert!(memory.read::<f32>(10).iter().all(|x| *x == 1.0));
        assert_eq!(ncclGroupEnd(), INVALID_USAGE);
        ok!(ncclGroupStart());
        ok!(ncclSend(memory.at, 10, FLOAT, rank.rank as c_int, rank.comm, rank.stream.0));
        assert_eq!(ncclGroupEnd(), INVALID_USAGE);
        assert_eq!(rank.all_reduce(&[2.0]), [4.0]);
        rank.destroy();
    });
}

/// A kernel that writes to an address.
const POKE: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry poke(.param .u64 at)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd1, [at];
	mov.u32 %r1, 7;
	st.global.u32 [%rd1], %r1;
	ret;
}
\0";

/// A kernel of rank 0 faults after its all-reduce was enqueued, which therefore never runs: rank 1 gets an error.
#[test]
fn a_context_that_faults_is_a_remote_error_of_the_others() {
    let body = |rank: Rank| {
        let memory = Memory::of(&[1f32; 100]);
        if rank.rank == 1 {
            unless(REMOTE, ncclAllReduce(memory.at, memory.at, 100, FLOAT, SUM, rank.comm, rank.stream.0));
            rank.stream.wait();
            assert_eq!(asynchronous(rank.comm), REMOTE);
            assert!(last_error(rank.comm).contains("the context of rank 0 has failed"), "{}", last_error(rank.comm));
            return rank.destroy();
        }
        let (gate, at) = (Memory::of(&[0u32]), 64u64);
        let (mut module, mut poke) = (std::ptr::null_mut(), std::ptr::null_mut());
        cuda!(cuModuleLoadData(&raw mut module, POKE.as_ptr().cast()));
        cuda!(cuModuleGetFunction(&raw mut poke, module, c"poke".as_ptr()));
        // Nothing of this stream runs before all of it is enqueued.
        cuda!(cuStreamWaitValue32_v2(rank.stream.raw(), gate.at as u64, 1, 1));
        let mut arguments = [(&raw const at).cast_mut().cast()];
        let (parameters, none) = (arguments.as_mut_ptr(), std::ptr::null_mut());
        cuda!(cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, rank.stream.raw(), parameters, none));
        ok!(ncclAllReduce(memory.at, memory.at, 100, FLOAT, SUM, rank.comm, rank.stream.0));
        let other = Stream::new();
        cuda!(cuStreamWriteValue32_v2(other.raw(), gate.at as u64, 1, 0));
        let synchronize = driver().cuStreamSynchronize().expect("it is there");
        // SAFETY: the stream lives; the context's fault is the call's result.
        assert_ne!(unsafe { synchronize(rank.stream.raw()) }, cuda_sys::CUresult::CUDA_SUCCESS);
        assert_ne!(asynchronous(rank.comm), SUCCESS);
        ok!(ncclCommDestroy(rank.comm));
        // Memory and streams of a lost context cannot be released.
        std::mem::forget((memory, gate, other, rank));
    };
    processes("faults::a_context_that_faults_is_a_remote_error_of_the_others", 2, body);
}
