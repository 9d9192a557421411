//! The timeline: `CUDA_SIM_TRACE=file.json` writes what streams do as trace events, for Perfetto or chrome://tracing.
//!
//! A process is a device, a thread a stream or a further branch of the graphs that are launched in it; an entry has begin and duration in microseconds. The file is a complete JSON
//! array after every event: each one is written over the closing bracket, so it is valid however the process ends.

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// What is about to happen.
pub(super) struct Span {
    pub(super) device: usize,
    pub(super) stream: u64,
    /// The branch of a graph that is launched in the stream; 0 is the stream itself.
    pub(super) lane: u32,
    pub(super) name: String,
    pub(super) category: &'static str,
    /// Members of a JSON object.
    pub(super) arguments: String,
}

/// Something that is happening.
pub(super) struct Running {
    span: Span,
    began: u64,
}

struct Writer {
    file: File,
    /// Where the end of the array stands.
    end: u64,
    streams: HashSet<(usize, u64, u32)>,
}

/// What ends the file.
const END: &str = "\n]\n";

static WRITER: Lazy<Option<Mutex<Writer>>> = Lazy::new(|| {
    let path = std::env::var_os("CUDA_SIM_TRACE").filter(|path| !path.is_empty())?;
    let open = || -> std::io::Result<Writer> {
        let file = File::create(&path)?;
        file.write_all_at(format!("[{END}").as_bytes(), 0)?;
        Ok(Writer { file, end: 1, streams: HashSet::new() })
    };
    match open() {
        Ok(writer) => Some(Mutex::new(writer)),
        Err(error) => {
            tracing::warn!("CUDA_SIM_TRACE={}: {error}; no timeline is written", path.display());
            None
        }
    }
});

impl Writer {
    fn write(&mut self, event: &str) {
        let separator = if self.end == 1 { "" } else { "," };
        // One write, so that no end of the process falls between event and bracket.
        let text = format!("{separator}\n{event}");
        match self.file.write_all_at(format!("{text}{END}").as_bytes(), self.end) {
            Ok(()) => self.end += text.len() as u64,
            Err(error) => tracing::warn!("the timeline lacks an event: {error}"),
        }
    }

    fn introduce(&mut self, span: &Span) {
        if self.streams.insert((span.device, span.stream, span.lane)) {
            let (device, stream, thread) = (span.device, span.stream, span.thread());
            let mut name = if stream == 1 { "default stream".to_owned() } else { format!("stream {stream}") };
            if span.lane > 0 {
                name.push_str(&format!(", branch {} of its graphs", span.lane));
            }
            self.write(&format!(
                "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{device},\"tid\":{thread},\"args\":{{\"name\":\"{name}\"}}}}"
            ));
            self.write(&format!(
                "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{device},\"args\":{{\"name\":\"device {device}\"}}}}"
            ));
        }
    }
}

impl Span {
    /// Number of the row: branches of graphs have rows of their own.
    fn thread(&self) -> u64 {
        self.stream | u64::from(self.lane) << 32
    }
}

/// Whether a timeline is written.
pub(super) fn is_on() -> bool {
    WRITER.is_some()
}

/// Text inside a JSON string.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Notes the beginning of something; `None` where no timeline is wanted, for which `what` is not asked.
pub(super) fn begin(what: impl FnOnce() -> Span) -> Option<Running> {
    WRITER.as_ref()?;
    Some(Running { span: what(), began: super::work::now() })
}

impl Running {
    /// Writes the event.
    pub(super) fn end(self) {
        let Some(writer) = WRITER.as_ref() else { return };
        let micros = |nanos: u64| nanos as f64 / 1e3;
        let Running { span, began } = self;
        let duration = micros(super::work::now() - began);
        let (name, begin) = (escaped(&span.name), micros(began));
        let (category, device, stream) = (span.category, span.device, span.thread());
        let event = format!(
            "{{\"ph\":\"X\",\"name\":\"{name}\",\"cat\":\"{category}\",\"pid\":{device},\"tid\":{stream},\"ts\":{begin:.3},\
             \"dur\":{duration:.3},\"args\":{{{}}}}}",
            span.arguments
        );
        let mut writer = writer.lock();
        writer.introduce(&span);
        writer.write(&event);
    }
}
