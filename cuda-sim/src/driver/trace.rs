//! The timeline: `CUDA_SIM_TRACE=file.json` writes the operations of streams as trace events, for Perfetto or
//! chrome://tracing.
//!
//! A process is a device; a thread is a stream, or a further lane of the graphs launched in it. A slice has start and
//! duration in microseconds. A wait for an event is a slice with an arrow from the slice of the record that it waits
//! for, and each device has a counter of its allocated bytes. The file is a complete JSON array after every event: each
//! event overwrites the closing bracket, so the file is valid however the process ends.

use crate::environment::ENVIRONMENT;
use crate::json::escaped;
use crate::memory::MEMORY;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// A stream of a device, or a lane of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Track {
    pub(super) device: usize,
    pub(super) stream: u64,
    /// The lane of a graph that is launched in the stream; 0 is the stream itself.
    pub(super) lane: u32,
}

impl Track {
    /// Returns the number of the row. Lanes of graphs have rows of their own.
    fn row(self) -> u64 {
        self.stream | u64::from(self.lane) << 32
    }
}

/// An operation that is about to run.
pub(super) struct Span {
    pub(super) track: Track,
    pub(super) name: String,
    pub(super) category: &'static str,
    /// Members of a JSON object.
    pub(super) arguments: String,
    /// The track and time of the operation that it waited for.
    pub(super) after: Option<(Track, u64)>,
}

/// An operation that is running.
pub(super) struct OpenSlice {
    span: Span,
    began: u64,
}

struct Writer {
    file: File,
    /// The file offset of the array's end.
    end: u64,
    tracks: HashSet<Track>,
    arrows: u64,
}

/// The end of the file.
const END: &str = "\n]\n";

static WRITER: Lazy<Result<Option<Mutex<Writer>>, String>> = Lazy::new(|| {
    let Some(path) = ENVIRONMENT.trace.as_ref() else { return Ok(None) };
    let open = || -> std::io::Result<Writer> {
        let file = File::create(path)?;
        file.write_all_at(format!("[{END}").as_bytes(), 0)?;
        Ok(Writer { file, end: 1, tracks: HashSet::new(), arrows: 0 })
    };
    let refused = |why| {
        format!("CUDA_SIM_TRACE={} is not allowed; allowed is a file that can be written ({why})", path.display())
    };
    open().map(|writer| Some(Mutex::new(writer))).map_err(refused)
});

/// Returns the error with the file, in one line.
pub(super) fn fault() -> Option<&'static str> {
    WRITER.as_ref().err().map(String::as_str)
}

fn writer() -> Option<&'static Mutex<Writer>> {
    WRITER.as_ref().ok()?.as_ref()
}

/// Returns true if a timeline is written.
pub(super) fn wanted() -> bool {
    writer().is_some()
}

impl Writer {
    /// Writes one event with these members.
    fn write(&mut self, members: std::fmt::Arguments<'_>) {
        let separator = if self.end == 1 { "" } else { "," };
        // A single write, so that the process cannot end between event and bracket.
        let text = format!("{separator}\n{{{members}}}");
        match self.file.write_all_at(format!("{text}{END}").as_bytes(), self.end) {
            Ok(()) => self.end += text.len() as u64,
            Err(error) => tracing::warn!("the timeline lacks an event: {error}"),
        }
    }

    fn introduce(&mut self, track: Track) {
        let Track { device, stream, lane } = track;
        if self.tracks.insert(Track { device, stream: 0, lane: 0 }) {
            let name = escaped(&format!("device {device}: {}", crate::device::PROFILE.device_name()));
            self.write(format_args!(r#""ph":"M","name":"process_name","pid":{device},"args":{{"name":"{name}"}}"#));
        }
        if stream != 0 && self.tracks.insert(track) {
            let mut name = if stream == 1 { "default stream".to_owned() } else { format!("stream {stream}") };
            if lane > 0 {
                name.push_str(&format!(", branch {lane} of its graphs"));
            }
            let row = track.row();
            self.write(format_args!(
                r#""ph":"M","name":"thread_name","pid":{device},"tid":{row},"args":{{"name":"{name}"}}"#
            ));
        }
    }

    fn slice(&mut self, span: &Span, began: u64, ended: u64) {
        let Span { track, category, arguments, .. } = span;
        let (device, row) = (track.device, track.row());
        let (name, begin, duration) = (escaped(&span.name), micros(began), micros(ended - began));
        self.introduce(span.track);
        self.write(format_args!(
            r#""ph":"X","name":"{name}","cat":"{category}","pid":{device},"tid":{row},"ts":{begin:.3},"dur":{duration:.3},"args":{{{arguments}}}"#
        ));
    }

    /// Writes an arrow from a time in one stream to a time in another, both inside slices.
    fn arrow(&mut self, from: (Track, u64), to: (Track, u64)) {
        self.arrows += 1;
        let id = self.arrows;
        for (phase, (track, at)) in [(r#""s""#, from), (r#""f","bp":"e""#, to)] {
            let (device, row, at) = (track.device, track.row(), micros(at));
            self.write(format_args!(
                r#""ph":{phase},"name":"wait","cat":"order","id":{id},"pid":{device},"tid":{row},"ts":{at:.3}"#
            ));
        }
    }
}

fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1e3
}

/// Records the start of an operation; `None` without a timeline, and then `what` is not called.
pub(super) fn begin(what: impl FnOnce() -> Span) -> Option<OpenSlice> {
    wanted().then(|| OpenSlice { span: what(), began: super::operations::now() })
}

/// Records the amount of a device's memory that is in use.
pub(super) fn memory(device: usize) {
    let Some(writer) = writer() else { return };
    let mut writer = writer.lock();
    let (free, total) = MEMORY.info(device);
    let (bytes, at) = (total - free, micros(super::operations::now()));
    writer.introduce(Track { device, stream: 0, lane: 0 });
    writer.write(format_args!(r#""ph":"C","name":"memory","pid":{device},"ts":{at:.3},"args":{{"bytes":{bytes}}}"#));
}

impl OpenSlice {
    /// Writes the slice, and the arrow to it.
    pub(super) fn end(self) {
        let Some(writer) = writer() else { return };
        let OpenSlice { span, began } = self;
        let ended = super::operations::now();
        let mut writer = writer.lock();
        writer.slice(&span, began, ended);
        if let Some(from) = span.after {
            writer.arrow(from, (span.track, began));
        }
    }
}
