//! Leaks: memory that is left when its context or the process ends, with the place of its allocation.

use super::events::{self, Named};
use super::report::{self, Report};
use std::backtrace::Backtrace;

/// The function of cuda-driver whose memory lives as long as a context, which a static may hold until the process ends: the records
/// of kernels' panics.
const KEPT: &str = "cuda_driver::panic::record::Records::new";
/// The limit on the frames that are kept of an allocation's caller.
const FRAMES: usize = 6;

/// Returns the innermost frames of the caller that are neither of this crate nor of the standard library.
pub(super) fn caller() -> String {
    let text = Backtrace::force_capture().to_string();
    let mut frames: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        match line.strip_prefix("at ") {
            Some(place) => {
                if let Some(last) = frames.last_mut() {
                    last.push_str(&format!(" ({place})"));
                }
            }
            None => frames.push(line.split_once(": ").map_or(line, |(_, name)| name).to_owned()),
        }
    }
    let own = |frame: &String| {
        ["cuda_sim::", "<cuda_sim", "std::", "<std", "core::", "<core", "__rust_try", "cuda_sys::", "cuMem"]
            .iter()
            .any(|prefix| frame.starts_with(prefix))
    };
    let first = frames.iter().position(|frame| !own(frame)).unwrap_or(0);
    let known = frames[first..].iter().filter(|frame| *frame != "<unknown>").take(FRAMES);
    known.cloned().collect::<Vec<_>>().join(", called by ")
}

/// Reports memory that was not freed.
pub(super) fn report(named: &Named, when: &str) {
    let place = named.place.clone().filter(|place| !place.is_empty());
    let note = match place {
        Some(place) => format!("not freed when {when} ended; allocated by {place}"),
        None => format!("not freed when {when} ended"),
    };
    report::add(Report {
        check: "leak",
        kind: "leaked memory",
        kernel: String::new(),
        array: Some(format!("allocation {} ({} bytes, made by {})", named.number, named.bytes, named.function)),
        address: Some(named.base),
        note: Some(note),
        accesses: Vec::new(),
    });
}

/// Reports what is left at the end of the process, but for memory that its context still uses.
pub(super) fn at_end() {
    let live = events::live();
    let is_kept = |named: &&Named| named.place.as_ref().is_some_and(|place| place.contains(KEPT));
    live.iter().filter(|named| !is_kept(named)).for_each(|named| report(named, "the process"));
}
