//! Runs enqueued calls: collectives one after the other, then all sends and receives of the group at once.
//!
//! A collective begins with a meeting, where every rank publishes its call and compares those of all: ranks that call
//! something else get an error with a table instead of each other's bytes. Then:
//!
//! | function | data |
//! |---|---|
//! | all-reduce | each rank reduces a part, from all ranks' contributions in their order, and sends it to all |
//! | reduce-scatter | each rank reduces its own block |
//! | reduce | the root reduces everything |
//! | the others | messages from rank to rank |
//!
//! # Safety
//!
//! There is no `unsafe` here: addresses are handed to `transfer.rs`.

use crate::call::{Call, Function, describe};
use crate::element::Operator;
use crate::failure::{Failure, Result};
use crate::segment::Segment;
use crate::transfer::{DATA, RESULT, Ranks, Receive, Reduce, Send, Transfer, copy};
use crate::watch::{self, Watch};
use std::sync::atomic::{AtomicBool, Ordering};

/// The parts of an all-reduce are multiples of this many elements.
const PART: usize = 64;

/// Runs calls on a rank's shared memory. `stop` ends it.
///
/// # Errors
///
/// The communicator has an error, which all ranks get; `stop` was set.
pub(crate) fn run(segment: &Segment, stop: &AtomicBool, collectives: &[Call], messages: &[Call]) -> Result<()> {
    let ended = collectives.iter().try_for_each(|call| collective(segment, stop, call)).and_then(|()| {
        let watch = Watch { segment, stop, function: "a group of ncclSend and ncclRecv" };
        if messages.is_empty() { watch.check_end() } else { exchange(&watch, messages_of(segment.rank, messages)?) }
    });
    watch::rests(segment);
    if let Err(failure) = &ended
        && !stop.load(Ordering::Acquire)
        && segment.raise(failure)
    {
        eprintln!("NCCL error on rank {}: {}", segment.rank, failure.text);
    }
    ended
}

/// Runs a collective.
fn collective(segment: &Segment, stop: &AtomicBool, call: &Call) -> Result<()> {
    let watch = Watch { segment, stop, function: call.function.name() };
    meet(&watch, call)?;
    let (bytes, rank) = (call.count * call.kind.size(), segment.rank);
    let block = |base: usize, at: usize| base + at * bytes;
    let send = |peer: usize, from: usize| -> Transfer {
        let (kind, count) = (call.kind, call.count);
        Send { peer, lane: DATA, from, bytes, count, kind, factor: None }.into()
    };
    let receive = |peer: usize, to: usize| -> Transfer {
        Receive { peer, lane: DATA, to, bytes, count: call.count, kind: call.kind }.into()
    };
    let mut transfers = Vec::new();
    match call.function {
        _ if bytes == 0 => {}
        Function::AllReduce => all_reduce(segment, call, &mut transfers),
        Function::Reduce if rank == call.root => {
            transfers.push(reduction(call, call.send, call.receive, call.count, false));
        }
        Function::Reduce => transfers.push(contribution(call, call.root, call.send, call.count)),
        Function::ReduceScatter => {
            let contribute = |peer| contribution(call, peer, block(call.send, peer), call.count);
            transfers.extend(segment.peers().map(contribute));
            transfers.push(reduction(call, block(call.send, rank), call.receive, call.count, false));
        }
        Function::Broadcast if rank == call.root => {
            copy(call.send, call.receive, bytes);
            transfers.extend(segment.peers().map(|peer| send(peer, call.send)));
        }
        Function::Broadcast => transfers.push(receive(call.root, call.receive)),
        Function::AllGather => {
            copy(call.send, block(call.receive, rank), bytes);
            transfers.extend(segment.peers().map(|peer| send(peer, call.send)));
            transfers.extend(segment.peers().map(|peer| receive(peer, block(call.receive, peer))));
        }
        Function::AllToAll => {
            copy(block(call.send, rank), block(call.receive, rank), bytes);
            transfers.extend(segment.peers().map(|peer| send(peer, block(call.send, peer))));
            transfers.extend(segment.peers().map(|peer| receive(peer, block(call.receive, peer))));
        }
        Function::Gather if rank == call.root => {
            copy(call.send, block(call.receive, rank), bytes);
            transfers.extend(segment.peers().map(|peer| receive(peer, block(call.receive, peer))));
        }
        Function::Gather => transfers.push(send(call.root, call.send)),
        Function::Scatter if rank == call.root => {
            copy(block(call.send, rank), call.receive, bytes);
            transfers.extend(segment.peers().map(|peer| send(peer, block(call.send, peer))));
        }
        Function::Scatter => transfers.push(receive(call.root, call.receive)),
        Function::Send | Function::Receive => unreachable!("messages are exchanged after the collectives"),
    }
    let awaited = |transfers: &[Transfer]| {
        let mut ranks = Ranks::default();
        transfers.iter().for_each(|transfer| transfer.awaited(segment, &mut ranks));
        ranks
    };
    advance_all(&watch, transfers, awaited, |_| {})
}

/// The transfers of an all-reduce: a part of the elements for each rank.
fn all_reduce(segment: &Segment, call: &Call, transfers: &mut Vec<Transfer>) {
    let (size, ranks) = (call.kind.size(), segment.ranks());
    let part = call.count.div_ceil(ranks).next_multiple_of(PART);
    let part_of = |rank: usize| {
        let start = (rank * part).min(call.count);
        (start, (call.count - start).min(part))
    };
    for peer in segment.peers() {
        let (start, count) = part_of(peer);
        if count > 0 {
            transfers.push(contribution(call, peer, call.send + start * size, count));
            let (to, bytes) = (call.receive + start * size, count * size);
            transfers.push(Receive { peer, lane: RESULT, to, bytes, count, kind: call.kind }.into());
        }
    }
    let (start, count) = part_of(segment.rank);
    transfers.push(reduction(call, call.send + start * size, call.receive + start * size, count, true));
}

/// A part of this rank's data for the rank that reduces it.
fn contribution(call: &Call, peer: usize, from: usize, count: usize) -> Transfer {
    let factor = if let Operator::Scaled(factor) = call.operator { Some(factor) } else { None };
    Send { peer, lane: DATA, from, bytes: count * call.kind.size(), count, kind: call.kind, factor }.into()
}

fn reduction(call: &Call, own: usize, to: usize, count: usize, spreads: bool) -> Transfer {
    Reduce { own, to, count, kind: call.kind, operator: call.operator, spreads }.into()
}

/// Waits until all ranks have joined the collective, and compares their calls.
fn meet(watch: &Watch<'_>, call: &Call) -> Result<()> {
    watch.check_end()?;
    let segment = watch.segment;
    let own = segment.own();
    let number = own.joined.load(Ordering::Relaxed);
    let slot = (number % 2) as usize;
    own.calls[slot].publish(call.words());
    own.joined.store(number + 1, Ordering::Release);
    watch::runs_collective(segment);
    segment.ring_all();
    let missing = || {
        let mut missing = Ranks::default();
        let absent = |rank: &usize| segment.rank(*rank).joined.load(Ordering::Acquire) <= number;
        segment.peers().filter(absent).for_each(|rank| missing.insert(rank));
        missing
    };
    let mut before = missing();
    let poll = || {
        let now = missing();
        let moved = now != before;
        before = now;
        Ok((now == Ranks::default(), moved))
    };
    watch.until(poll, missing)?;
    let calls: Vec<_> = (0..segment.ranks()).map(|rank| segment.rank(rank).calls[slot].read()).collect();
    if calls.iter().all(|other| *other == calls[0]) {
        return Ok(());
    }
    let table: String =
        calls.iter().enumerate().map(|(rank, call)| format!("\n  rank {rank}: {}", describe(*call))).collect();
    Err(Failure::usage(format!("the ranks' calls do not match in collective {number} of the communicator{table}")))
}

/// The transfers of a group of sends and receives; those of a rank to itself are made at once.
fn messages_of(rank: usize, calls: &[Call]) -> Result<Vec<Transfer>> {
    let mut transfers = Vec::new();
    let of_self = |function| calls.iter().filter(move |call| call.root == rank && call.function == function);
    for (send, receive) in of_self(Function::Send).zip(of_self(Function::Receive)) {
        if (send.count, send.kind) != (receive.count, receive.kind) {
            return Err(Failure::usage(format!(
                "rank {rank} sends {} {} to itself and receives {} {}",
                send.count,
                send.kind.name(),
                receive.count,
                receive.kind.name()
            )));
        }
        copy(send.send, receive.receive, send.count * send.kind.size());
    }
    for call in calls.iter().filter(|call| call.root != rank) {
        let (peer, bytes, count, kind) = (call.root, call.count * call.kind.size(), call.count, call.kind);
        transfers.push(match call.function {
            Function::Send => Send { peer, lane: DATA, from: call.send, bytes, count, kind, factor: None }.into(),
            _ => Receive { peer, lane: DATA, to: call.receive, bytes, count, kind }.into(),
        });
    }
    Ok(transfers)
}

/// Runs sends and receives at once.
fn exchange(watch: &Watch<'_>, transfers: Vec<Transfer>) -> Result<()> {
    watch.check_end()?;
    let segment = watch.segment;
    let pending = |transfers: &[Transfer]| {
        let (mut sends, mut receives) = (Ranks::default(), Ranks::default());
        for (is_send, peer, _) in transfers.iter().filter(|t| !t.is_done()).filter_map(Transfer::channel) {
            if is_send { sends.insert(peer) } else { receives.insert(peer) }
        }
        (sends, receives)
    };
    let publish = |transfers: &[Transfer]| {
        let (sends, receives) = pending(transfers);
        watch::exchanges(segment, sends, receives);
    };
    publish(&transfers);
    let awaited = |transfers: &[Transfer]| {
        let (sends, receives) = pending(transfers);
        Ranks(sends.0 | receives.0)
    };
    advance_all(watch, transfers, awaited, publish)
}

/// Advances all transfers until they are done. Those on one ring go in their order. `changed` is called when one ends.
fn advance_all(
    watch: &Watch<'_>,
    transfers: Vec<Transfer>,
    awaited: impl Fn(&[Transfer]) -> Ranks,
    changed: impl Fn(&[Transfer]),
) -> Result<()> {
    let transfers = std::cell::RefCell::new(transfers);
    let poll = || {
        let (mut done, mut moved, mut ended) = (true, false, false);
        let mut taken: Vec<(bool, usize, usize)> = Vec::new();
        let mut all = transfers.borrow_mut();
        for transfer in all.iter_mut().filter(|transfer| !transfer.is_done()) {
            let channel = transfer.channel();
            if channel.is_some_and(|channel| taken.contains(&channel)) {
                done = false;
                continue;
            }
            moved |= transfer.advance(watch.segment)?;
            if transfer.is_done() {
                ended = true;
            } else {
                done = false;
                taken.extend(channel);
            }
        }
        if ended {
            changed(&all);
        }
        Ok((done, moved))
    };
    watch.until(poll, || awaited(&transfers.borrow()))
}
