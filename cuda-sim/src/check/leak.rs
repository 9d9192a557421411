//! Leaks: memory that is left when its context or the process ends, with the place of its allocation.

use super::events::Named;
use super::report::{self, Report};
use std::backtrace::Backtrace;

/// The limit on the frames that are kept of an allocation's caller.
const FRAMES: usize = 6;

/// A frame of a backtrace: a function's name, and its file where that is known.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    name: String,
    place: Option<String>,
}

impl Frame {
    /// Returns true for a function of this crate or of the standard library. In an optimised build, functions that were
    /// inlined have names without a path.
    fn is_own(&self) -> bool {
        const PREFIXES: [&str; 9] =
            ["cuda_sim::", "<cuda_sim", "std::", "<std", "core::", "<core", "__rust_try", "cuda_sys::", "cuMem"];
        // This crate's folder, as the compiler has written it into debug information.
        let folder = file!().trim_end_matches("check/leak.rs");
        let of_std = |place: &str| place.starts_with("/rustc/") || place.contains("/rustlib/src/rust/library/");
        PREFIXES.iter().any(|prefix| self.name.starts_with(prefix))
            || self.place.as_ref().is_some_and(|place| place.contains(folder) || of_std(place))
    }

    fn text(&self) -> String {
        self.place.as_ref().map_or_else(|| self.name.clone(), |place| format!("{} ({place})", self.name))
    }
}

/// Reads the text of a backtrace.
fn frames(text: &str) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    for line in text.lines().map(str::trim) {
        match line.strip_prefix("at ") {
            Some(place) => {
                if let Some(last) = frames.last_mut() {
                    last.place = Some(place.to_owned());
                }
            }
            None => {
                let name = line.split_once(": ").map_or(line, |(_, name)| name).to_owned();
                frames.push(Frame { name, place: None });
            }
        }
    }
    frames
}

/// Returns the innermost frames of the caller that are neither of this crate nor of the standard library.
pub(super) fn callers() -> Vec<Frame> {
    of_program(frames(&Backtrace::force_capture().to_string()))
}

fn of_program(frames: Vec<Frame>) -> Vec<Frame> {
    let first = frames.iter().position(|frame| !frame.is_own()).unwrap_or(0);
    frames.into_iter().skip(first).filter(|frame| frame.name != "<unknown>").take(FRAMES).collect()
}

fn described(frames: &[Frame]) -> String {
    frames.iter().map(Frame::text).collect::<Vec<_>>().join(", called by ")
}

/// Reports memory that was not freed.
pub(super) fn report(named: &Named, when: &str) {
    let note = match named.callers.as_slice() {
        [] => format!("not freed when {when} ended"),
        callers => format!("not freed when {when} ended; allocated by {}", described(callers)),
    };
    report::add(Report {
        check: "leak",
        kind: "leaked memory",
        array: Some(format!("allocation {} ({} bytes, made by {})", named.number, named.bytes, named.function)),
        address: Some(named.base),
        note: Some(note),
        callers: named.callers.iter().map(|frame| frame.name.clone()).collect(),
        ..Report::default()
    });
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn frames_of_this_crate_are_left_out_in_optimised_builds_too() {
        let own = concat!("/somewhere/", file!()).replace("check/leak.rs", "memory.rs");
        let text = format!(
            "   0: caller\n             at {own}:15:16\n   1: call_once<fn(), ()>\n             at /rustc/59807616/library/core/src/ops/function.rs:250:5\n   2: cuda_sim::check::events::allocated\n   3: cuMemAlloc_v2\n   4: allocate\n             at /project/src/main.rs:3:1\n   5: main\n"
        );
        assert_eq!(described(&of_program(frames(&text))), "allocate (/project/src/main.rs:3:1), called by main");
        assert!(frames(&text)[4..].iter().all(|frame| !frame.is_own()));
    }
}
