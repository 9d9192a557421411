//! [`ContextPanics`]: the decoders, streams and records of a context.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Weak;

use super::asker::{Answer, Asker};
use super::detached::{DetachedPanicRecord, Spare};
use super::log::Found;
use super::record::{COUNT, Records};
use super::set::{LaunchId, LaunchSet};
use super::stream::{StreamPanics, Told};
use super::{KernelPanic, PanicDecoder, RawPanic};
use crate::context::{Context, ContextInner};
use crate::error::Result;
use crate::stream::StreamId;
use crate::sync::{Arc, AtomicBool, Mutex, Ordering, RwLock};

/// What a context knows of its kernels' panics.
#[derive(Default)]
pub(crate) struct ContextPanics {
    decoders: RwLock<Vec<PanicDecoder>>,
    /// Of every stream; they are used again, and only added. The first one is the legacy default stream's.
    streams: RwLock<Vec<Arc<StreamPanics>>>,
    /// All mapped memory, which goes with the context.
    records: Mutex<Vec<Records>>,
    state: Mutex<State>,
    /// Whether there are panics of streams that are gone.
    has_left: AtomicBool,
}

/// A panic of a stream that is gone.
struct Left {
    /// The stream's id.
    stream: u64,
    /// Its place in the context's list, where the numbers of launches go on in the next stream that has it.
    place: u32,
    found: Found,
}

#[derive(Default)]
struct State {
    /// Of streams that are gone.
    free: Vec<Arc<StreamPanics>>,
    /// Panics of streams that are gone.
    left: Vec<Left>,
    /// Records of launches that wait for themselves.
    spare: Vec<Spare>,
    /// Records of launches that may still run, and that nobody will ask about.
    abandoned: Vec<Spare>,
}

impl ContextPanics {
    /// Of a new stream.
    pub(crate) fn of_stream(&self, id: StreamId) -> Arc<StreamPanics> {
        if let Some(stream) = self.state.lock().free.pop() {
            stream.set_id(id);
            return stream;
        }
        let mut streams = self.streams.write();
        let stream = Arc::new(StreamPanics::new(streams.len() as u32, id));
        streams.push(stream.clone());
        stream
    }

    /// Of a stream that is someone else's: the same for equal ids.
    pub(crate) fn of_external(&self, id: StreamId) -> Arc<StreamPanics> {
        let known = self.streams.read().iter().find(|stream| stream.id() == id.number()).cloned();
        known.unwrap_or_else(|| self.of_stream(id))
    }

    /// Empties what a stream without work has had, before another stream has it. Its panics are kept for whoever waits for the
    /// context, or for what was ordered after the stream's launches.
    pub(crate) fn recycle(&self, stream: &StreamPanics) {
        let mut state = self.state.lock();
        // Under the lock, so that nobody finds a panic in neither.
        let left = stream.log.recycle(stream.records(), || self.has_left.store(true, Ordering::Release));
        let (stream, place) = (stream.id(), stream.place);
        state.left.extend(left.into_iter().map(|found| Left { stream, place, found }));
    }

    /// Whether there may be panics of streams that are gone.
    #[inline]
    pub(super) fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Acquire)
    }

    /// Takes back what a stream without work has had that has gone for good.
    pub(crate) fn give_back(&self, stream: Arc<StreamPanics>) {
        self.recycle(&stream);
        self.state.lock().free.push(stream);
    }

    pub(crate) fn stream(&self, place: u32) -> Arc<StreamPanics> {
        self.streams.read()[place as usize].clone()
    }

    /// Whether nobody is to be told of those launches of a stream any more.
    pub(crate) fn is_settled(&self, place: u32, launches: &LaunchSet) -> bool {
        self.streams.read()[place as usize].log.is_settled(launches) && !self.has_left()
    }

    /// More records, which live as long as the context.
    pub(crate) fn new_records(&self, context: &Context) -> Result<Records> {
        let records = Records::new(context)?;
        self.records.lock().push(records);
        watch_exit(context);
        Ok(records)
    }

    /// A record for a launch that waits for itself.
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

    /// What had been launched in every stream by now, before a wait for the context.
    pub(crate) fn position(&self) -> Vec<(Arc<StreamPanics>, LaunchSet)> {
        self.streams.read().iter().map(|stream| (stream.clone(), stream.log.returned())).collect()
    }

    /// Reports the panics of all that was launched before the position was taken, and of streams that are gone.
    pub(crate) fn report(&self, position: Vec<(Arc<StreamPanics>, LaunchSet)>, context: &Context) -> Result<()> {
        if super::are_withheld() {
            return Ok(());
        }
        let (mut told, asker) = (Told::default(), Asker::by_name());
        for (stream, launches) in position {
            told.add(&stream, &launches, &asker);
        }
        self.report_left(&mut told, &asker);
        told.result(context)
    }

    /// Reports the panics of such launches of a stream that is gone.
    pub(super) fn report_left_of(&self, place: u32, launches: &LaunchSet, told: &mut Told, asker: &Asker<'_>) {
        if self.has_left() {
            let is_meant = |left: &Left| left.place == place && launches.contains(left.found.launch);
            self.tell_left(&mut self.state.lock(), told, asker, is_meant);
        }
    }

    fn tell_left(&self, state: &mut State, told: &mut Told, asker: &Asker<'_>, is_meant: impl Fn(&Left) -> bool) {
        state.left.retain_mut(|left| {
            if !is_meant(left) {
                return true;
            }
            let answer = asker.answer(&left.found);
            if matches!(answer, Answer::TellAndForget | Answer::TellAndKeep) {
                told.push(left.stream, &left.found);
                left.found.told = true;
            }
            matches!(answer, Answer::Keep | Answer::TellAndKeep)
        });
        self.has_left.store(!state.left.is_empty(), Ordering::Release);
    }

    fn report_left(&self, told: &mut Told, asker: &Asker<'_>) {
        let state = &mut *self.state.lock();
        self.tell_left(state, told, asker, |_| true);
        for record in std::mem::take(&mut state.abandoned) {
            match record.take() {
                Some(raw) => told.push(0, &Found { launch: LaunchId::default(), owner: 0, told: false, raw }),
                // It may belong to a launch that came after the position was taken.
                None => state.abandoned.push(record),
            }
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

    /// Says what nobody was told of, on standard error and through [`tracing`], once.
    fn tell_what_is_left(&self) {
        let (mut told, asker) = (Told::default(), Asker::last());
        for (stream, launches) in self.position() {
            told.add(&stream, &launches, &asker);
        }
        self.report_left(&mut told, &asker);
        if let Some(panic) = told.decoded(self) {
            tracing::error!(%panic, "a kernel panicked, and its context ended before anything waited for it");
            eprintln!("{panic}; its context ended before anything waited for it");
        }
    }

    /// Tells what is left and frees the records, when the context ends.
    pub(crate) fn close(&self, context: &ContextInner) {
        self.tell_what_is_left();
        std::mem::take(&mut *self.records.lock()).iter().for_each(|records| records.close(context));
    }
}

static CONTEXTS: parking_lot::Mutex<Vec<Weak<ContextInner>>> = parking_lot::Mutex::new(Vec::new());

/// Tells, when the process exits, what is left of a context that has not ended by then: programs keep their kernels, and with
/// these their contexts, to the end.
fn watch_exit(context: &Context) {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(super::exit::register);
    let mut contexts = CONTEXTS.lock();
    contexts.retain(|known| known.strong_count() > 0);
    if !contexts.iter().any(|known| known.as_ptr() == Arc::as_ptr(&context.0)) {
        contexts.push(Arc::downgrade(&context.0));
    }
}

/// What runs at the process's exit. It makes no call, and waits for nothing.
pub(super) fn at_exit() {
    let Some(contexts) = CONTEXTS.try_lock() else { return };
    for context in contexts.iter().filter_map(Weak::upgrade) {
        if !context.is_lost() {
            context.panics.tell_what_is_left();
        }
        // The last handle would end the context, of which the driver may know nothing any more.
        std::mem::forget(context);
    }
}
