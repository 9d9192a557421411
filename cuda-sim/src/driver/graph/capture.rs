//! Stream capture: the work of a captured stream becomes graph nodes instead of running on the device.
//!
//! A capture sequence begins in one stream. Other streams join it by waiting for an event that was recorded in it, and
//! must be joined back before it ends. For each stream of a sequence its frontier is kept: the dependencies of its next
//! node. A call that is not allowed during capture invalidates the sequence, as in NVIDIA's driver, and then it can
//! only be ended.
//!
//! Invariant: all sequences are under one lock. A stream's sequence id is changed under it and read without it, so a
//! stream that is not captured costs one load.

use super::{GRAPHS, Graphs, INVALID, Status, Work};
use crate::driver::stream::Stream;
use crate::queue::Order;
use cuda_sys::{CUgraphNode, CUresult, CUstreamCaptureMode, CUstreamCaptureStatus};
use once_cell::sync::Lazy;
use parking_lot::{Mutex, MutexGuard};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ThreadId;

/// A stream of a capture sequence.
struct Member {
    stream: Arc<Stream>,
    /// The dependencies of its next node.
    frontier: Vec<usize>,
}

struct Sequence {
    number: u64,
    mode: CUstreamCaptureMode,
    thread: ThreadId,
    /// The id of the stream in which it began.
    origin: u64,
    graph: usize,
    /// True if the graph was created for this capture.
    own: bool,
    invalid: bool,
    /// The streams of the sequence, by id.
    members: BTreeMap<u64, Member>,
}

/// The capture information that a client can query.
pub(super) struct Info {
    pub(super) status: CUstreamCaptureStatus,
    pub(super) number: u64,
    pub(super) graph: usize,
    /// Pointer and length of the frontier.
    pub(super) frontier: (*const CUgraphNode, usize),
}

static SEQUENCES: Lazy<Mutex<Vec<Sequence>>> = Lazy::new(Mutex::default);
/// The number of active captures; while it is 0, no stream has to be checked.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);
static LAST: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

const UNSUPPORTED: CUresult = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
const GLOBAL: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
const RELAXED: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;

thread_local! {
    static MODE: Cell<CUstreamCaptureMode> = const { Cell::new(GLOBAL) };
}

/// Checks that a capture mode is defined.
fn known(mode: CUstreamCaptureMode) -> Status {
    if mode.0 > RELAXED.0 { Err(INVALID) } else { Ok(()) }
}

/// Exchanges the calling thread's mode.
pub(super) fn exchange(mode: CUstreamCaptureMode) -> Result<CUstreamCaptureMode, CUresult> {
    known(mode)?;
    Ok(MODE.replace(mode))
}

/// Returns the sequence into which a stream is captured.
fn of<'a>(sequences: &'a mut [Sequence], stream: &Stream) -> Option<&'a mut Sequence> {
    let number = stream.capture.load(Ordering::Acquire);
    sequences.iter_mut().find(|s| number != 0 && s.number == number)
}

/// Returns the sequence of a captured stream, which must be valid.
fn valid<'a>(sequences: &'a mut [Sequence], stream: &Stream) -> Result<&'a mut Sequence, CUresult> {
    let found = of(sequences, stream).ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
    if found.invalid { Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) } else { Ok(found) }
}

fn frontier_of<'a>(sequence: &'a mut Sequence, stream: &Stream) -> Result<&'a mut Vec<usize>, CUresult> {
    sequence.members.get_mut(&stream.id).map(|m| &mut m.frontier).ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)
}

/// Refuses a potentially unsafe call while streams are captured by this thread, or globally by another, as the capture
/// modes define. Those sequences become invalid.
pub(in crate::driver) fn check_permitted() -> Status {
    if ACTIVE.load(Ordering::Acquire) == 0 || MODE.get() == RELAXED {
        return Ok(());
    }
    let (here, global) = (std::thread::current().id(), MODE.get() == GLOBAL);
    let forbids = |s: &&mut Sequence| s.mode != RELAXED && (s.thread == here || (global && s.mode == GLOBAL));
    let mut sequences = SEQUENCES.lock();
    let forbidden = sequences.iter_mut().filter(forbids).map(|s| s.invalid = true).count();
    if forbidden == 0 { Ok(()) } else { Err(UNSUPPORTED) }
}

/// Refuses a call on a captured stream that cannot become part of a graph.
pub(in crate::driver) fn refuse(stream: &Stream) -> Status {
    fail(stream, UNSUPPORTED)
}

/// Refuses a wait of a captured stream for work outside of the capture.
pub(in crate::driver) fn isolated(stream: &Stream) -> Status {
    fail(stream, CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
}

fn fail(stream: &Stream, code: CUresult) -> Status {
    if !stream.is_capturing() {
        return Ok(());
    }
    let mut sequences = SEQUENCES.lock();
    let sequence = valid(&mut sequences, stream)?;
    sequence.invalid = true;
    Err(code)
}

/// Refuses to synchronise a context that has a captured stream.
pub(in crate::driver) fn refuse_context(context: u32) -> Status {
    let in_it = |s: &Sequence| s.members.values().any(|m| m.stream.context == context);
    forbid(in_it, UNSUPPORTED)
}

/// Refuses the use of a legacy stream while a blocking stream of its context is captured: it would have to wait for
/// that.
pub(in crate::driver) fn check_implicit_sync(stream: &Stream) -> Status {
    if stream.order != Order::Legacy {
        return Ok(());
    }
    forbid(|s| waited_for(s, stream), CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
}

/// As [`check_implicit_sync`], for queries of the capture state, which do not invalidate it.
pub(super) fn check_query(stream: &Stream) -> Status {
    let implicit = stream.order == Order::Legacy && SEQUENCES.lock().iter().any(|s| waited_for(s, stream));
    if implicit { Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) } else { Ok(()) }
}

fn waited_for(sequence: &Sequence, legacy: &Stream) -> bool {
    let blocking = |m: &Member| m.stream.context == legacy.context && m.stream.order == Order::Blocking;
    sequence.members.values().any(blocking)
}

/// Invalidates the sequences that forbid a call, and refuses it.
fn forbid(forbids: impl Fn(&Sequence) -> bool, code: CUresult) -> Status {
    if ACTIVE.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let mut sequences = SEQUENCES.lock();
    let forbidden = sequences.iter_mut().filter(|s| forbids(s)).map(|s| s.invalid = true).count();
    if forbidden == 0 { Ok(()) } else { Err(code) }
}

/// Invalidates a sequence, if it has not ended.
pub(in crate::driver) fn invalidate(number: u64) {
    if let Some(sequence) = SEQUENCES.lock().iter_mut().find(|s| s.number == number) {
        sequence.invalid = true;
    }
}

/// Begins a sequence in a stream, for a new graph or for an existing one after some of its nodes.
pub(super) fn begin(stream: &Arc<Stream>, mode: CUstreamCaptureMode, into: Option<(usize, Vec<usize>)>) -> Status {
    known(mode)?;
    if stream.order == Order::Legacy {
        return Err(UNSUPPORTED);
    }
    let mut sequences = SEQUENCES.lock();
    if stream.is_capturing() {
        return Err(CUresult::CUDA_ERROR_ILLEGAL_STATE);
    }
    let mut graphs = GRAPHS.lock();
    let own = into.is_none();
    let (graph, frontier) = into.unwrap_or_else(|| (graphs.create(), Vec::new()));
    let target = graphs.graph(graph)?;
    target.check(&frontier)?;
    if target.capturing {
        return Err(INVALID);
    }
    target.capturing = true;
    let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    let members = BTreeMap::from([(stream.id, Member { stream: Arc::clone(stream), frontier })]);
    let (thread, origin) = (std::thread::current().id(), stream.id);
    sequences.push(Sequence { number, mode, thread, origin, graph, own, invalid: false, members });
    ACTIVE.fetch_add(1, Ordering::AcqRel);
    stream.capture.store(number, Ordering::Release);
    Ok(())
}

/// Returns true if a stream is captured into a graph that existed before.
pub(super) fn captures_into_existing(stream: &Stream) -> bool {
    of(&mut SEQUENCES.lock(), stream).is_some_and(|sequence| !sequence.own)
}

/// Ends the sequence that began in a stream, and returns its graph.
pub(super) fn end(stream: &Stream) -> Result<usize, CUresult> {
    let mut sequences = SEQUENCES.lock();
    let sequence = of(&mut sequences, stream).ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
    if sequence.origin != stream.id {
        sequence.invalid = true;
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    }
    if sequence.mode != RELAXED && sequence.thread != std::thread::current().id() {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    }
    let number = sequence.number;
    finish(&mut sequences, number)
}

/// Removes a sequence and its streams.
fn finish(sequences: &mut MutexGuard<'_, Vec<Sequence>>, number: u64) -> Result<usize, CUresult> {
    let at = sequences.iter().position(|s| s.number == number).ok_or(CUresult::CUDA_ERROR_ILLEGAL_STATE)?;
    let sequence = sequences.swap_remove(at);
    ACTIVE.fetch_sub(1, Ordering::AcqRel);
    sequence.members.values().for_each(|m| m.stream.capture.store(0, Ordering::Release));
    let mut graphs = GRAPHS.lock();
    let ended = joined(&mut graphs, &sequence);
    if let Ok(graph) = graphs.graph(sequence.graph) {
        graph.capturing = false;
    }
    if ended.is_err() && sequence.own {
        graphs.forget(sequence.graph);
    }
    ended.map(|()| sequence.graph)
}

impl Sequence {
    /// Returns true if the frontier of the stream depends on everything that the other streams have captured.
    fn covers(&self, stream: &Stream) -> bool {
        let mut graphs = GRAPHS.lock();
        let Ok(graph) = graphs.graph(self.graph) else { return false };
        let others = self.members.iter().filter(|(id, _)| **id != stream.id);
        let before = graph.ancestors(&others.flat_map(|(_, m)| m.frontier.iter().copied()).collect::<Vec<_>>());
        self.members.get(&stream.id).is_none_or(|m| m.frontier.iter().all(|node| before.contains(node)))
    }
}

/// Checks that everything in a sequence precedes the end of its origin stream.
fn joined(graphs: &mut Graphs, sequence: &Sequence) -> Status {
    if sequence.invalid {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    let graph = graphs.graph(sequence.graph)?;
    let end = sequence.members.get(&sequence.origin).map_or(&[][..], |m| &m.frontier);
    let before = graph.ancestors(end);
    let whole = sequence.members.values().flat_map(|m| &m.frontier).all(|node| before.contains(node));
    if whole { Ok(()) } else { Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED) }
}

/// Handles the destruction of a captured stream. If another stream of the sequence depends on all its work, the
/// sequence continues without it. Otherwise it becomes invalid, and ends if this is its origin stream.
pub(in crate::driver) fn abandon(stream: &Stream) {
    if !stream.is_capturing() {
        return;
    }
    let mut sequences = SEQUENCES.lock();
    let Some(sequence) = of(&mut sequences, stream) else { return };
    if sequence.origin != stream.id && sequence.covers(stream) {
        sequence.members.remove(&stream.id);
        stream.capture.store(0, Ordering::Release);
        return;
    }
    sequence.invalid = true;
    if sequence.origin == stream.id {
        let number = sequence.number;
        // It is invalid, so ending it returns an error and no graph.
        let _ = finish(&mut sequences, number);
    }
}

/// At the end of a context: ends its captures, without a graph.
pub(in crate::driver) fn forget(context: u32) {
    let mut sequences = SEQUENCES.lock();
    let ended = sequences.iter_mut().filter(|s| s.members.values().any(|m| m.stream.context == context));
    let numbers: Vec<u64> = ended.map(|s| (s.invalid = true, s.number).1).collect();
    for number in numbers {
        // It is invalid, so ending it returns an error and no graph.
        let _ = finish(&mut sequences, number);
    }
}

/// Captures an operation of a stream as a node after the stream's last one.
pub(in crate::driver) fn add(stream: &Stream, work: Work) -> Result<usize, CUresult> {
    captured(stream, |graphs, graph, after| graphs.add(graph, after, work))
}

/// Captures the launch of a graph, which `make` copies, as a child node.
pub(super) fn add_graph(stream: &Stream, make: impl FnOnce(&mut Graphs) -> Result<usize, CUresult>) -> Status {
    let child = |graphs: &mut Graphs, graph: usize, after: &[usize]| {
        let child = make(graphs)?;
        graphs.graph(child)?.owned = true;
        graphs.add(graph, after, Work::Child(child))
    };
    captured(stream, child).map(|_| ())
}

fn captured(
    stream: &Stream,
    node: impl FnOnce(&mut Graphs, usize, &[usize]) -> Result<usize, CUresult>,
) -> Result<usize, CUresult> {
    let mut sequences = SEQUENCES.lock();
    let sequence = valid(&mut sequences, stream)?;
    let graph = sequence.graph;
    let frontier = frontier_of(sequence, stream)?;
    let new = node(&mut GRAPHS.lock(), graph, frontier)?;
    *frontier = vec![new];
    Ok(new)
}

/// Returns the id of a stream's sequence and the dependencies of its next node.
pub(in crate::driver) fn frontier(stream: &Stream) -> Result<(u64, Vec<usize>), CUresult> {
    let mut sequences = SEQUENCES.lock();
    let sequence = valid(&mut sequences, stream)?;
    Ok((sequence.number, frontier_of(sequence, stream)?.clone()))
}

/// Makes a stream wait for nodes of a sequence, and adds it to that sequence.
pub(in crate::driver) fn join(stream: &Arc<Stream>, number: u64, nodes: &[usize]) -> Status {
    let mut sequences = SEQUENCES.lock();
    let own = stream.capture.load(Ordering::Acquire);
    if own != 0 {
        valid(&mut sequences, stream)?;
    }
    let Some(there) = sequences.iter().position(|s| s.number == number) else {
        // The earlier capture of this stream has ended.
        if let Some(sequence) = of(&mut sequences, stream) {
            sequence.invalid = true;
            return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
        }
        return Err(CUresult::CUDA_ERROR_CAPTURED_EVENT);
    };
    if sequences[there].invalid {
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    if own != 0 && own != number {
        sequences.iter_mut().filter(|s| s.number == own || s.number == number).for_each(|s| s.invalid = true);
        return Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    if stream.order == Order::Legacy {
        sequences[there].invalid = true;
        return Err(UNSUPPORTED);
    }
    let member = || Member { stream: Arc::clone(stream), frontier: Vec::new() };
    let frontier = &mut sequences[there].members.entry(stream.id).or_insert_with(member).frontier;
    let new: Vec<usize> = nodes.iter().copied().filter(|node| !frontier.contains(node)).collect();
    frontier.extend(new);
    stream.capture.store(number, Ordering::Release);
    Ok(())
}

/// Returns the information about a stream's capture; `None` without one.
pub(super) fn info(stream: &Stream) -> Option<Info> {
    let mut sequences = SEQUENCES.lock();
    let sequence = of(&mut sequences, stream)?;
    let status = match sequence.invalid {
        true => CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED,
        false => CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE,
    };
    let (number, graph) = (sequence.number, sequence.graph);
    // Handles are numbers of pointer size, so a list of numbers is a list of handles.
    let frontier = frontier_of(sequence, stream).map_or((std::ptr::null(), 0), |f| (f.as_ptr().cast(), f.len()));
    Some(Info { status, number, graph, frontier })
}

/// Changes the dependencies of a stream's next node.
pub(super) fn update(stream: &Stream, nodes: &[usize], replace: bool) -> Status {
    let mut sequences = SEQUENCES.lock();
    let sequence = valid(&mut sequences, stream)?;
    GRAPHS.lock().graph(sequence.graph)?.check(nodes)?;
    let frontier = frontier_of(sequence, stream)?;
    if replace {
        frontier.clear();
    }
    let new: Vec<usize> = nodes.iter().copied().filter(|node| !frontier.contains(node)).collect();
    frontier.extend(new);
    Ok(())
}
