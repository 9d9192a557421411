//! Processes that are killed, and what they leave behind.

use crate::support::*;
use std::ffi::c_int;
use std::io::Read as _;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// Waits for a process, at most for a minute.
fn ended(mut child: Child) -> (ExitStatus, String) {
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        if started.elapsed() > Duration::from_secs(60) {
            child.kill().expect("it can be killed");
            panic!("a rank hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut text = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("text");
    child.stderr.take().expect("a pipe").read_to_string(&mut text).expect("text");
    (status, text)
}

/// The files of communicators with this id.
fn files(id: &Id) -> usize {
    let name: String = id.0.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte)).collect();
    ["/dev/shm", "/tmp"].iter().filter(|folder| std::path::Path::new(folder).join(&name).exists()).count()
}

/// Three ranks, of which the last one kills itself in the middle of a long all-reduce.
#[test]
fn a_killed_process_is_a_remote_error_of_the_others() {
    const NAME: &str = "processes::a_killed_process_is_a_remote_error_of_the_others";
    if let Some((rank, ranks, id)) = role() {
        let rank = Rank::join(id, ranks, rank);
        assert_eq!(rank.all_reduce(&[1.0]), [3.0]);
        let memory = Memory::new(64 << 20);
        if rank.rank == 2 {
            std::thread::spawn(|| {
                std::thread::sleep(Duration::from_millis(30));
                // SAFETY: the call takes two numbers.
                unsafe { libc::kill(std::process::id() as i32, libc::SIGKILL) };
            });
        }
        loop {
            let code = ncclAllReduce(memory.at, memory.at, 16 << 20, FLOAT, SUM, rank.comm, rank.stream.0);
            if code != SUCCESS {
                assert_eq!(code, REMOTE);
                break;
            }
            rank.stream.wait();
        }
        assert_eq!(asynchronous(rank.comm), REMOTE);
        let text = last_error(rank.comm);
        assert!(text.contains("rank 2 (process ") && text.contains("has ended"), "{text}");
        return rank.destroy();
    }
    let id = unique_id();
    let children: Vec<_> = (0..3).map(|rank| start(NAME, rank, 3, &id)).collect();
    let ended: Vec<_> = children.into_iter().map(ended).collect();
    assert!(ended[0].0.success() && ended[1].0.success(), "{ended:?}");
    assert!(!ended[2].0.success());
    assert_eq!(files(&id), 0);
}

/// A rank that is killed before all have come: the others' initialisation ends, and the file is gone.
#[test]
fn a_process_that_is_killed_at_the_start_ends_the_initialisation() {
    const NAME: &str = "processes::a_process_that_is_killed_at_the_start_ends_the_initialisation";
    if let Some((rank, ranks, id)) = role() {
        set_device(0);
        let mut comm = 0;
        let code = ncclCommInitRank(&raw mut comm, ranks as c_int, id, rank as c_int);
        assert_eq!(code, REMOTE);
        assert!(last_error(comm).contains("before all ranks had come"), "{}", last_error(comm));
        return;
    }
    let id = unique_id();
    let mut killed = start(NAME, 0, 3, &id);
    while files(&id) == 0 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let waits = start(NAME, 1, 3, &id);
    std::thread::sleep(Duration::from_millis(300));
    killed.kill().expect("it can be killed");
    let (status, text) = ended(waits);
    assert!(status.success(), "{text}");
    killed.wait().expect("it has ended");
    assert_eq!(files(&id), 0);
}

/// Nothing is left of a communicator once all ranks have met, also while it is in use.
#[test]
fn the_file_is_gone_as_soon_as_all_ranks_have_met() {
    let id = unique_id();
    set_device(0);
    assert_eq!(files(&id), 0);
    std::thread::scope(|scope| {
        for rank in 0..2 {
            scope.spawn(move || {
                let rank = Rank::join(id, 2, rank);
                assert_eq!(files(&id), 0);
                assert_eq!(rank.all_reduce(&[1.0]), [2.0]);
                rank.destroy();
            });
        }
    });
}

/// A mismatch between processes: the table is on standard error, once.
#[test]
fn a_mismatch_of_processes_is_printed_once() {
    const NAME: &str = "processes::a_mismatch_of_processes_is_printed_once";
    if let Some((rank, ranks, id)) = role() {
        let rank = Rank::join(id, ranks, rank);
        let memory = Memory::new(4000);
        ok!(ncclAllReduce(memory.at, memory.at, 10 + rank.rank, FLOAT, SUM, rank.comm, rank.stream.0));
        rank.stream.wait();
        assert_eq!(asynchronous(rank.comm), INVALID_USAGE);
        assert!(last_error(rank.comm).contains("rank 1: ncclAllReduce, count 11"));
        return rank.destroy();
    }
    let id = unique_id();
    let children: Vec<_> = (0..2).map(|rank| start(NAME, rank, 2, &id)).collect();
    let texts: Vec<_> = children.into_iter().map(ended).collect();
    assert!(texts.iter().all(|(status, _)| status.success()), "{texts:?}");
    let printed = texts
        .iter()
        .filter(|(_, text)| text.contains("NCCL error on rank") && text.contains("rank 1: ncclAllReduce, count 11"));
    assert_eq!(printed.count(), 1, "{texts:?}");
}

/// The messages of `NCCL_DEBUG=INFO`.
#[test]
fn debug_messages_have_nccls_form() {
    const NAME: &str = "processes::debug_messages_have_nccls_form";
    if let Some((rank, ranks, id)) = role() {
        // SAFETY: no other thread of this process reads or writes the environment now.
        unsafe { std::env::set_var("NCCL_DEBUG", "INFO") };
        let rank = Rank::join(id, ranks, rank);
        assert_eq!(ncclAllReduce(8, 8, 1, FLOAT, SUM, rank.comm, 0), INVALID_ARGUMENT);
        return rank.destroy();
    }
    let (status, text) = ended(start(NAME, 0, 1, &unique_id()));
    assert!(status.success(), "{text}");
    assert!(text.contains("NCCL version 2.32.3") && text.contains("[0] NCCL INFO comm 0x"), "{text}");
    assert!(text.contains("NCCL WARN ncclAllReduce : sendbuff 0x8 is not a valid pointer"), "{text}");
}

/// An all-reduce of two ranks moves each one's part to the other, and the results back.
#[test]
fn the_bytes_that_a_rank_has_sent_are_told_at_its_end() {
    const NAME: &str = "processes::the_bytes_that_a_rank_has_sent_are_told_at_its_end";
    if let Some((rank, ranks, id)) = role() {
        // SAFETY: no other thread of this process reads or writes the environment now.
        unsafe { std::env::set_var("NCCL_DEBUG", "INFO") };
        let rank = Rank::join(id, ranks, rank);
        assert_eq!(rank.all_reduce(&[1.0; 1000]), [2.0; 1000]);
        return rank.destroy();
    }
    let id = unique_id();
    let children: Vec<_> = (0..2).map(|rank| start(NAME, rank, 2, &id)).collect();
    for (status, text) in children.into_iter().map(ended) {
        assert!(status.success() && text.contains("Destroy COMPLETE, 4000 bytes sent to other ranks"), "{text}");
    }
}
