//! Messages of the shared library on standard error. Programs in C and Python have no `tracing` subscriber, so they
//! would get the code of an error without its cause. In a Rust program the program's own subscriber gets the messages.

use crate::environment::ENVIRONMENT;
use std::fmt;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// One line for each message: `cuda-sim: error: ..`.
struct Lines;

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut message = Message(String::new());
        event.record(&mut message);
        let level = event.metadata().level().as_str().to_lowercase();
        message.0.lines().try_for_each(|line| writeln!(writer, "cuda-sim: {level}: {line}"))
    }
}

/// Starts writing messages to standard error, of the level that `CUDA_SIM_LOG` selects and above.
pub(crate) fn start() {
    let lines = tracing_subscriber::fmt().with_max_level(ENVIRONMENT.log).with_writer(std::io::stderr);
    // an error means that there is a subscriber, since `cuInit` was called before
    let _ = tracing::subscriber::set_global_default(lines.event_format(Lines).finish());
}
