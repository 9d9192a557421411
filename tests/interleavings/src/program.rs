//! [`Program`]: the operations of each thread, and the strategies that generate them.

use proptest::collection::vec;
use proptest::prelude::*;

/// A list of operations for each thread.
pub(super) type Program = Vec<Vec<Op>>;

/// The number of arrays that a thread uses, its own and shared ones; half of them are on each device.
pub(super) const ARRAYS: usize = 8;
/// The number of arrays that all threads share, which are the first ones.
pub(super) const SHARED: usize = 4;
/// The number of kinds of streams.
pub(super) const STREAMS: usize = 6;

/// An operation. Each kind uses some of the other fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) kind: Kind,
    pub(super) array: usize,
    pub(super) other: usize,
    pub(super) stream: usize,
    pub(super) other_stream: usize,
    pub(super) number: u32,
}

/// The end of a transfer.
#[derive(Clone, Copy, Debug)]
pub(super) enum TransferEnd {
    Wait,
    Await,
    /// Another thread waits for it.
    WaitElsewhere,
    Drop,
    Forget,
}

/// The drop of an object.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    Here,
    InHostFn,
    OnThread,
    Forget,
}

/// A forgotten guard, or another forgotten object allowed drop has an effect.
#[derive(Clone, Copy, Debug)]
pub(super) enum Guard {
    Event,
    Stream,
    DeferCleanup,
    Selection,
    Entered,
    PanicRecord,
    Done,
    Graph,
    Mapped,
    Profiler,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Step,
    Panic,
    HostStep,
    HostPanic,
    ToHost,
    FromHost,
    Fill,
    Assign,
    Scope { panics: bool },
    Mapped { panics: bool },
    Pinned,
    ToPinned(TransferEnd),
    FromPinned(TransferEnd),
    Graph { panics: bool },
    Replace(Ending),
    Event(Ending),
    StreamEnds(Ending),
    WaitFor,
    EventSync,
    SyncStream,
    SyncContext,
    Forget(Guard),
}

use Kind::*;

/// All operations except forgetting.
pub(super) const USUAL: &[(u32, Kind)] = &[
    (6, Step),
    (3, Panic),
    (2, HostStep),
    (2, HostPanic),
    (4, ToHost),
    (2, FromHost),
    (2, Fill),
    (4, Assign),
    (2, Scope { panics: false }),
    (1, Scope { panics: true }),
    (2, Mapped { panics: false }),
    (1, Mapped { panics: true }),
    (2, Pinned),
    (1, ToPinned(TransferEnd::Wait)),
    (1, ToPinned(TransferEnd::Await)),
    (1, ToPinned(TransferEnd::WaitElsewhere)),
    (1, ToPinned(TransferEnd::Drop)),
    (1, FromPinned(TransferEnd::Wait)),
    (1, FromPinned(TransferEnd::Await)),
    (1, FromPinned(TransferEnd::WaitElsewhere)),
    (1, FromPinned(TransferEnd::Drop)),
    (2, Graph { panics: false }),
    (1, Graph { panics: true }),
    (1, Replace(Ending::Here)),
    (1, Replace(Ending::InHostFn)),
    (1, Replace(Ending::OnThread)),
    (1, Event(Ending::Here)),
    (1, Event(Ending::InHostFn)),
    (1, Event(Ending::OnThread)),
    (1, StreamEnds(Ending::Here)),
    (1, StreamEnds(Ending::InHostFn)),
    (1, StreamEnds(Ending::OnThread)),
    (1, WaitFor),
    (1, EventSync),
    (1, SyncStream),
    (1, SyncContext),
];

/// Operations that forget guards.
pub(super) const FORGETTING: &[(u32, Kind)] = &[
    (8, Step),
    (2, Panic),
    (2, HostPanic),
    (4, ToHost),
    (2, Assign),
    (2, Scope { panics: true }),
    (2, Mapped { panics: false }),
    (2, Pinned),
    (2, Graph { panics: true }),
    (2, SyncStream),
    (1, SyncContext),
    (1, ToPinned(TransferEnd::Forget)),
    (1, FromPinned(TransferEnd::Forget)),
    (1, Replace(Ending::Forget)),
    (1, Replace(Ending::InHostFn)),
    (1, Event(Ending::Forget)),
    (1, StreamEnds(Ending::Forget)),
    (1, Forget(Guard::Event)),
    (1, Forget(Guard::Stream)),
    (1, Forget(Guard::DeferCleanup)),
    (1, Forget(Guard::Selection)),
    (1, Forget(Guard::Entered)),
    (1, Forget(Guard::PanicRecord)),
    (1, Forget(Guard::Done)),
    (1, Forget(Guard::Graph)),
    (1, Forget(Guard::Mapped)),
    (1, Forget(Guard::Profiler)),
];

/// Operations with more borrows of host memory.
pub(super) const FAULTING: &[(u32, Kind)] = &[
    (4, Step),
    (1, Panic),
    (2, HostStep),
    (2, ToHost),
    (1, FromHost),
    (2, Assign),
    (6, Scope { panics: false }),
    (8, Mapped { panics: false }),
    (2, Mapped { panics: true }),
    (6, Pinned),
    (1, ToPinned(TransferEnd::Wait)),
    (1, ToPinned(TransferEnd::Await)),
    (2, ToPinned(TransferEnd::Drop)),
    (1, ToPinned(TransferEnd::WaitElsewhere)),
    (2, FromPinned(TransferEnd::Drop)),
    (2, Graph { panics: false }),
    (1, Replace(Ending::Here)),
    (1, Replace(Ending::InHostFn)),
    (1, Replace(Ending::OnThread)),
    (1, Event(Ending::InHostFn)),
    (1, StreamEnds(Ending::Here)),
    (1, SyncStream),
    (1, SyncContext),
];

fn op(kinds: &'static [(u32, Kind)]) -> impl Strategy<Value = Op> {
    let choices: Vec<Kind> = kinds.iter().flat_map(|&(weight, kind)| vec![kind; weight as usize]).collect();
    let kind = proptest::sample::select(choices);
    (kind, 0..ARRAYS, 0..ARRAYS, 0..STREAMS, 0..STREAMS, any::<u32>()).prop_map(
        |(kind, array, other, stream, other_stream, number)| Op { kind, array, other, stream, other_stream, number },
    )
}

/// A strategy for programs of operations with these kinds and weights.
pub(super) fn programs(kinds: &'static [(u32, Kind)]) -> impl Strategy<Value = Program> {
    vec(vec(op(kinds), 1..24), 2..=4)
}
