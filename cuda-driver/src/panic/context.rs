//! [`ContextPanics`]: the decoders, streams and records of a context.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Weak;

use super::detached::{DetachedPanicRecord, Spare};
use super::log::FoundPanic;
use super::record::{COUNT, Records};
use super::set::{LaunchId, LaunchSet};
use super::stream::{PanicReport, StreamPanics};
use super::waiter::{Verdict, Waiter};
use super::{KernelPanic, PanicDecoder, RawPanic};
use crate::context::{Context, ContextInner};
use crate::error::Result;
use crate::fork;
use crate::stream::StreamId;
use crate::sync::{Arc, Mutex, RwLock};

/// The number of destroyed streams that keep their panics for events and positions in them; each has its own records.
const MOST_UNREPORTED: usize = 64;

/// The panic decoders of a context's kernels, its streams' launch logs, and the memory of its panic records.
#[derive(Default)]
pub(crate) struct ContextPanics {
    decoders: RwLock<Vec<PanicDecoder>>,
    /// The launch logs by index. A log is reused by later streams and never removed. The first is the legacy default
    /// stream's.
    streams: RwLock<Vec<Arc<StreamPanics>>>,
    /// All mapped memory, which is freed with the context.
    records: Mutex<Vec<Records>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The logs of destroyed streams, all of whose panics were reported.
    free: Vec<Arc<StreamPanics>>,
    /// The logs of destroyed streams with unreported panics, for waits on events or positions in them, or on the
    /// context.
    unreported: VecDeque<Arc<StreamPanics>>,
    /// The panics of further such streams, with the streams' ids: waits for the context report them.
    overflow: Vec<(u64, FoundPanic)>,
    /// Free records for synchronous launches.
    spare: Vec<Spare>,
    /// Records of launches that may still run, and that no wait will ask for.
    abandoned: Vec<Spare>,
}

impl State {
    /// Keeps the panics of a destroyed stream.
    fn keep(&mut self, stream: Arc<StreamPanics>) {
        self.unreported.push_back(stream);
        if self.unreported.len() <= MOST_UNREPORTED {
            return;
        }
        self.free_reported();
        if self.unreported.len() > MOST_UNREPORTED
            && let Some(oldest) = self.unreported.pop_front()
        {
            let id = oldest.id();
            self.overflow.extend(oldest.log.take_found().into_iter().map(|found| (id, found)));
            self.free.push(oldest);
        }
    }

    /// Moves the logs whose panics have been reported since to the free logs.
    fn free_reported(&mut self) {
        let (unreported, reported) =
            std::mem::take(&mut self.unreported).into_iter().partition(|stream| stream.log.has_found());
        self.unreported = unreported;
        self.free.extend::<VecDeque<_>>(reported);
    }

    fn take_free(&mut self) -> Option<Arc<StreamPanics>> {
        if self.free.is_empty() && !self.unreported.is_empty() {
            self.free_reported();
        }
        self.free.pop()
    }
}

impl ContextPanics {
    /// Returns a launch log for a new stream.
    pub(crate) fn of_stream(&self, id: StreamId) -> Arc<StreamPanics> {
        self.reused(id).unwrap_or_else(|| added(&mut self.streams.write(), id))
    }

    /// Returns the launch log of a stream that another library made: the same one for equal ids.
    pub(crate) fn of_external(&self, id: StreamId) -> Arc<StreamPanics> {
        let known = |streams: &[Arc<StreamPanics>]| streams.iter().find(|stream| stream.id() == id.number()).cloned();
        if let Some(stream) = known(&self.streams.read()) {
            return stream;
        }
        // Another thread may have added it since the other lock. A free log is taken under this one for the same reason.
        let mut streams = self.streams.write();
        known(&streams).or_else(|| self.reused(id)).unwrap_or_else(|| added(&mut streams, id))
    }

    /// A free log, for a stream of this id.
    fn reused(&self, id: StreamId) -> Option<Arc<StreamPanics>> {
        let stream = self.state.lock().take_free()?;
        stream.set_id(id);
        Some(stream)
    }

    /// The log for the next owner of an idle driver stream: the same one, or another one if it still has unreported
    /// panics.
    pub(crate) fn recycle(&self, stream: Arc<StreamPanics>) -> Arc<StreamPanics> {
        if stream.log.finish() {
            return stream;
        }
        let next = self.of_stream(StreamId::unique());
        self.state.lock().keep(stream);
        next
    }

    /// Takes back the log of an idle stream that is destroyed.
    pub(crate) fn give_back(&self, stream: Arc<StreamPanics>) {
        let is_free = stream.log.finish();
        let mut state = self.state.lock();
        match is_free {
            true => state.free.push(stream),
            false => state.keep(stream),
        }
    }

    pub(crate) fn stream(&self, index: u32) -> Arc<StreamPanics> {
        self.streams.read()[index as usize].clone()
    }

    /// Returns true if the launches of a stream were waited for and their panics reported.
    pub(crate) fn is_reported(&self, index: u32, launches: &LaunchSet) -> bool {
        self.streams.read()[index as usize].log.is_reported(launches)
    }

    /// Allocates records, which live as long as the context.
    pub(crate) fn new_records(&self, context: &Context) -> Result<Records> {
        let records = Records::allocate(context)?;
        self.records.lock().push(records);
        self.watch_exit(context);
        Ok(records)
    }

    /// A record for a synchronous launch.
    pub(crate) fn detached(&self, context: &Context) -> Result<DetachedPanicRecord> {
        let spare = self.state.lock().spare.pop();
        let spare = match spare {
            Some(spare) => spare,
            None => {
                let records = self.new_records(context)?;
                let of = |slot| Spare { records, slot };
                self.state.lock().spare.extend((1..COUNT).map(of));
                of(0)
            }
        };
        Ok(DetachedPanicRecord::new(context, spare))
    }

    pub(super) fn put_spare(&self, record: Spare) {
        self.state.lock().spare.push(record);
    }

    pub(super) fn abandon(&self, record: Spare) {
        self.state.lock().abandoned.push(record);
    }

    pub(crate) fn register(&self, decoder: PanicDecoder) -> u32 {
        let mut decoders = self.decoders.write();
        decoders.push(decoder);
        u32::try_from(decoders.len()).unwrap_or(u32::MAX)
    }

    /// The positions of all streams, taken before a wait for the context.
    pub(crate) fn position(&self) -> Vec<(Arc<StreamPanics>, LaunchSet)> {
        self.streams.read().iter().map(|stream| (stream.clone(), stream.log.returned())).collect()
    }

    /// Reports the panics of all launches before the position, and those of destroyed streams.
    pub(crate) fn report(&self, position: Vec<(Arc<StreamPanics>, LaunchSet)>, context: &Context) -> Result<()> {
        if super::are_withheld() {
            return Ok(());
        }
        let (mut reported, waiter) = (PanicReport::default(), Waiter::explicit());
        for (stream, launches) in position {
            reported.add(&stream, &launches, &waiter);
        }
        self.report_overflow(&mut reported, &waiter);
        reported.result(context)
    }

    fn report_overflow(&self, reported: &mut PanicReport, waiter: &Waiter<'_>) {
        let state = &mut *self.state.lock();
        state.overflow.retain_mut(|(stream, found)| {
            let verdict = waiter.verdict(found);
            if matches!(verdict, Verdict::ReportAndRemove | Verdict::ReportAndKeep) {
                reported.push(*stream, found);
                found.reported = true;
            }
            matches!(verdict, Verdict::Keep | Verdict::ReportAndKeep)
        });
        for record in std::mem::take(&mut state.abandoned) {
            // No launch gets the record again, so it is not freed; threads that still run could see that.
            match record.read() {
                Some(raw) => {
                    reported.push(0, &FoundPanic { launch: LaunchId::default(), owner: 0, reported: false, raw })
                }
                // It may belong to a launch after the position.
                None => state.abandoned.push(record),
            }
        }
    }

    /// Makes the process's exit report the remaining panics, if the context has not ended by then: programs keep their
    /// kernels, and with them their contexts, to the end.
    pub(crate) fn watch_exit(&self, context: &Context) {
        static ONCE: std::sync::Once = std::sync::Once::new();
        if self.records.lock().is_empty() {
            return;
        }
        ONCE.call_once(super::exit::register);
        let mut contexts = CONTEXTS.lock();
        contexts.retain(|known| known.strong_count() > 0);
        if !contexts.iter().any(|known| known.as_ptr() == Arc::as_ptr(&context.0)) {
            contexts.push(Arc::downgrade(&context.0));
        }
    }

    pub(super) fn decode(&self, raw: &RawPanic) -> KernelPanic {
        let index = (raw.kernel as usize).wrapping_sub(1);
        let decoder = self.decoders.read().get(index).cloned();
        let undecoded = |why: &str| KernelPanic {
            kernel: format!("#{}", raw.kernel),
            message: format!("check {} failed with {:?}; {why}", raw.site, raw.args),
            file: String::new(),
            line: 0,
            column: 0,
            block: raw.block,
            thread: raw.thread,
            others: Vec::new(),
        };
        let Some(decoder) = decoder else {
            return undecoded("no kernel is registered under this number");
        };
        catch_unwind(AssertUnwindSafe(|| decoder(raw))).unwrap_or_else(|_| undecoded("its decoder panicked"))
    }

    /// Writes the panics that no wait has reported to standard error and to [`tracing`], once.
    pub(crate) fn report_remaining(&self) {
        let (mut reported, waiter) = (PanicReport::default(), Waiter::last());
        for (stream, launches) in self.position() {
            reported.add(&stream, &launches, &waiter);
        }
        self.report_overflow(&mut reported, &waiter);
        if let Some(panic) = reported.decoded(self) {
            tracing::error!(%panic, "a kernel panicked, and its context ended before anything waited for it");
            eprintln!("{panic}; its context ended before anything waited for it");
        }
    }

    /// Frees the records, when the context ends.
    pub(crate) fn close(&self, context: &ContextInner) {
        std::mem::take(&mut *self.records.lock()).iter().for_each(|records| records.close(context));
    }
}

/// Adds a log, for a stream of this id.
fn added(streams: &mut Vec<Arc<StreamPanics>>, id: StreamId) -> Arc<StreamPanics> {
    let stream = Arc::new(StreamPanics::new(streams.len() as u32, id));
    streams.push(stream.clone());
    stream
}

static CONTEXTS: parking_lot::Mutex<Vec<Weak<ContextInner>>> = parking_lot::Mutex::new(Vec::new());

/// Reports the remaining panics at the process's exit. It makes no driver call and does not wait.
pub(super) fn at_exit() {
    if fork::is_forked_child() {
        // The panics are the parent's to report, and another thread of the parent may have held a lock.
        return;
    }
    let Some(contexts) = CONTEXTS.try_lock().map(|contexts| contexts.clone()) else { return };
    for context in contexts.iter().filter_map(Weak::upgrade) {
        // Also of a lost context: its records are host memory, and a panic may be what led to the fault.
        context.panics.report_remaining();
        // Dropping the last handle would release the context, which the driver may have destroyed already.
        std::mem::forget(context);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn threads_that_import_one_stream_at_the_same_time_get_one_log() {
        const THREADS: usize = 4;
        let panics = ContextPanics::default();
        for turn in 0..2_000 {
            // Every other time there is a free log, as after the end of a stream.
            if turn % 2 == 0 {
                panics.give_back(panics.of_stream(StreamId::unique()));
            }
            let (start, id) = (Barrier::new(THREADS), StreamId::unique());
            let import = || {
                start.wait();
                panics.of_external(id)
            };
            let logs: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(import)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(logs.iter().all(|log| Arc::ptr_eq(log, &logs[0])), "{turn}");
        }
    }
}
