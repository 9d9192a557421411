//! Reports: their text on standard error, their file in JSON, and the end of the process.
//!
//! # Safety
//!
//! The section of a program's destructors gets a function of this library, which lives as long as the section, takes no
//! arguments and lets no panic out. C's functions for the end of the process are called with no pointers of ours.

use super::session;
use super::suppress::Suppressions;
use crate::environment::{CheckResult, Checks, ENVIRONMENT};
use crate::json::escaped;
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// An access in a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accessed {
    /// For example `store of 4 bytes`.
    pub what: String,
    /// The line in the PTX; 0 for unknown.
    pub line: u32,
    /// The column in the PTX.
    pub column: u32,
    /// `file:line` of the kernel's source.
    pub source: Option<String>,
    /// The block's coordinates.
    pub block: Option<[u64; 3]>,
    /// The thread's coordinates in its block.
    pub thread: Option<[u64; 3]>,
    /// The value that it read or wrote.
    pub value: Option<u64>,
}

impl Accessed {
    /// The names of its place, for suppressions.
    pub(super) fn places(&self) -> impl Iterator<Item = String> {
        self.source.clone().into_iter().chain((self.line != 0).then(|| format!("PTX:{}", self.line)))
    }

    fn text(&self) -> String {
        let mut text = self.what.clone();
        // Writing to a string does not fail.
        let _ = match (&self.source, self.line) {
            (Some(source), line) => write!(text, " at {source} (PTX line {line}, column {})", self.column),
            (None, 0) => Ok(()),
            (None, line) => write!(text, " at PTX line {line}, column {}", self.column),
        };
        if let (Some([x, y, z]), Some([tx, ty, tz])) = (self.block, self.thread) {
            let _ = write!(text, ": block ({x}, {y}, {z}), thread ({tx}, {ty}, {tz})");
        } else if let Some([x, y, z]) = self.block {
            let _ = write!(text, ": block ({x}, {y}, {z})");
        }
        if let Some(value) = self.value {
            let _ = write!(text, ", value {value:#x}");
        }
        text
    }

    fn json(&self) -> String {
        let mut text = format!("{{\"what\":{}", quoted(&self.what));
        if self.line != 0 {
            let _ = write!(text, ",\"ptx_line\":{},\"ptx_column\":{}", self.line, self.column);
        }
        if let Some(source) = &self.source {
            let _ = write!(text, ",\"source\":{}", quoted(source));
        }
        for (name, at) in [("block", self.block), ("thread", self.thread)] {
            if let Some([x, y, z]) = at {
                let _ = write!(text, ",\"{name}\":[{x},{y},{z}]");
            }
        }
        if let Some(value) = self.value {
            let _ = write!(text, ",\"value\":{value}");
        }
        text.push('}');
        text
    }
}

/// A report of a checker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The checker's name, as in `CUDA_SIM_CHECK`.
    pub check: &'static str,
    /// The kind of mistake in a few words, for example `out of bounds`.
    pub kind: &'static str,
    /// The kernel's name, or the driver's function.
    pub kernel: String,
    /// The array and the offset in it.
    pub array: Option<String>,
    /// The first of the bytes.
    pub address: Option<u64>,
    /// A further sentence.
    pub note: Option<String>,
    /// The access, and an earlier one that it conflicts with.
    pub accesses: Vec<Accessed>,
    /// Of a leak: the functions that called for the memory, the innermost one first.
    pub callers: Vec<String>,
    /// The number of further times that it was found, in other threads or in copies of its source line.
    pub repeated: u64,
}

impl Report {
    /// The parts by which reports of one source line are recognised, if it is known: the checker, the kind, the kernel, the array
    /// and the accesses.
    fn source_cause(&self) -> Option<SourceCause> {
        let at = |access: &Accessed| access.source.clone().map(|source| (source, access.what.clone()));
        let mut accesses = self.accesses.iter().map(at).collect::<Option<Vec<_>>>()?;
        accesses.sort_unstable();
        let array = self.array.as_deref().map(array_of).unwrap_or_default().to_owned();
        (!accesses.is_empty()).then(|| (self.check, self.kind, self.kernel.clone(), array, accesses))
    }

    /// The parts by which reports of one place in the PTX are recognised.
    fn cause(&self) -> Cause {
        let mut places: Vec<_> = self.accesses.iter().map(|access| (access.line, access.column)).collect();
        places.sort_unstable();
        // Without a place in a kernel the array is the cause.
        let array = self.array.as_deref().filter(|_| places.is_empty()).unwrap_or_default();
        (self.check, self.kind, format!("{}{array}", self.kernel), places)
    }

    /// The text for standard error, of one line for each access.
    pub fn text(&self) -> String {
        let mut text = format!("cuda-sim: {}: {}", self.check, self.kind);
        if !self.kernel.is_empty() {
            let _ = write!(text, " in `{}`", self.kernel);
        }
        if let Some(array) = &self.array {
            let _ = write!(text, ": {array}");
        }
        for (index, access) in self.accesses.iter().enumerate() {
            let _ = write!(text, "\n    {}{}", if index == 0 { "" } else { "and " }, access.text());
        }
        if let Some(note) = &self.note {
            let _ = write!(text, "\n    {note}");
        }
        if self.repeated > 0 {
            let _ = write!(text, "\n    found {} times", self.repeated + 1);
        }
        text
    }

    fn json(&self) -> String {
        let mut text = format!(
            "{{\"check\":\"{}\",\"kind\":{},\"kernel\":{}",
            self.check,
            quoted(self.kind),
            quoted(&self.kernel)
        );
        if let Some(array) = &self.array {
            let _ = write!(text, ",\"array\":{}", quoted(array));
        }
        if let Some(address) = self.address {
            let _ = write!(text, ",\"address\":\"{address:#x}\"");
        }
        if let Some(note) = &self.note {
            let _ = write!(text, ",\"note\":{}", quoted(note));
        }
        if self.repeated > 0 {
            let _ = write!(text, ",\"count\":{}", self.repeated + 1);
        }
        let accesses: Vec<String> = self.accesses.iter().map(Accessed::json).collect();
        let _ = write!(text, ",\"accesses\":[{}]}}", accesses.join(","));
        text
    }
}

/// Returns a text as a string of JSON.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Returns the name of an array without the offset in it and the thread whose memory it is.
fn array_of(text: &str) -> &str {
    let name = text.split_once(" of ").or_else(|| text.split_once(" before ")).map_or(text, |(_, name)| name);
    name.split_once(" of thread ").map_or(name, |(name, _)| name)
}

/// The checker, the kind, the kernel, the array, and the accesses with their source lines.
type SourceCause = (&'static str, &'static str, String, String, Vec<(String, String)>);

/// The checker, the kind, the kernel or array, and the places in the PTX.
type Cause = (&'static str, &'static str, String, Vec<(u32, u32)>);

/// Reports, one for each cause: for the same places in the PTX, and for the same source lines and arrays, since a compiler that
/// unrolls a loop or inlines a function makes several copies of a line.
#[derive(Debug, Default)]
pub(super) struct Reports {
    /// The number of the report of each cause; `None` for a suppressed one.
    seen: HashMap<Cause, Option<usize>>,
    seen_lines: HashMap<SourceCause, Option<usize>>,
    pub(super) all: Vec<Report>,
    suppressed: u64,
    /// True if there are reports that are not in the file yet.
    unwritten: bool,
}

impl Reports {
    /// Adds a report, or counts it if its cause is known.
    pub(super) fn add(&mut self, report: Report) {
        if !self.is_known(&report, Some(self.all.len())) {
            self.all.push(report);
        }
    }

    /// Counts a report whose cause is known. Returns false for another one, which is remembered with this number.
    fn is_known(&mut self, report: &Report, number: Option<usize>) -> bool {
        let (cause, line) = (report.cause(), report.source_cause());
        let by_line = line.as_ref().and_then(|line| self.seen_lines.get(line));
        let known = self.seen.get(&cause).or(by_line).copied();
        let number = known.unwrap_or(number);
        self.seen.insert(cause, number);
        if let Some(line) = line {
            self.seen_lines.insert(line, number);
        }
        if let Some(report) = known.flatten().and_then(|number| self.all.get_mut(number)) {
            report.repeated += 1;
        }
        known.is_some()
    }
}

static REPORTS: Lazy<Mutex<Reports>> = Lazy::new(Mutex::default);

static SUPPRESSIONS: Lazy<Suppressions> = Lazy::new(|| {
    let Some(path) = &ENVIRONMENT.suppressions else { return Suppressions::default() };
    let read = std::fs::read_to_string(path).map_err(|error| error.to_string());
    read.and_then(|text| Suppressions::parse(&text)).unwrap_or_else(|why| {
        eprintln!("cuda-sim: CUDA_SIM_SUPPRESSIONS={}: {why}; nothing is suppressed", path.display());
        Suppressions::default()
    })
});

thread_local! {
    /// The reports of this thread, instead of the process's, while a test collects them.
    static COLLECTED: RefCell<Option<Reports>> = const { RefCell::new(None) };
}

#[cfg(all(test, not(loom)))]
/// Collects the reports of this thread while `run` runs, instead of printing them.
pub(crate) fn collect<T>(run: impl FnOnce() -> T) -> (T, Vec<Report>) {
    COLLECTED.set(Some(Reports::default()));
    let result = run();
    (result, COLLECTED.take().unwrap_or_default().all)
}

/// Adds a report, unless there was one of the same cause. Returns true if it is one that the environment asks for and does
/// not suppress, also if it is known.
pub(super) fn add(report: Report) -> bool {
    // At the end of a process the thread may have no locals any more.
    let collecting = COLLECTED.try_with(|all| all.borrow().is_some());
    if collecting.unwrap_or(false) {
        return COLLECTED.with_borrow_mut(|all| {
            let Some(all) = all else { return false };
            all.add(report);
            true
        });
    }
    let Some(report) = session::take(report).filter(|report| ENVIRONMENT.check.has(Checks::named(report.check))) else {
        return false;
    };
    let mut reports = REPORTS.lock();
    let is_suppressed = SUPPRESSIONS.cover(&report);
    let number = (!is_suppressed).then_some(reports.all.len());
    if reports.is_known(&report, number) {
        return !is_suppressed;
    }
    if is_suppressed {
        reports.suppressed += 1;
        return false;
    }
    eprintln!("{}", report.text());
    reports.all.push(report);
    reports.unwritten = true;
    true
}

/// Writes the file of reports, if there are new ones or `always`.
pub(super) fn write(always: bool) {
    let Some(path) = &ENVIRONMENT.report else { return };
    let mut reports = REPORTS.lock();
    if !reports.unwritten && !always {
        return;
    }
    reports.unwritten = false;
    let all: Vec<String> = reports.all.iter().map(Report::json).collect();
    let text = format!("[{}{}\n]\n", if all.is_empty() { "" } else { "\n" }, all.join(",\n"));
    let path = path.to_string_lossy().replace("%p", &std::process::id().to_string());
    if let Err(error) = std::fs::write(&path, text) {
        eprintln!("cuda-sim: the reports cannot be written to {path}: {error}");
    }
}

/// True if the end of the process has something to report.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Runs [`end`] when the program or the library that contains this crate is finalised. That is after all handlers of
/// `atexit` and all destructors of static objects, whenever they were registered, so that what these free is no leak.
#[used]
// SAFETY: the section has addresses of functions of this type, which the loader calls once.
#[unsafe(link_section = ".fini_array")]
static AT_END: extern "C" fn() = at_end;

extern "C" fn at_end() {
    if WATCHED.load(Ordering::Acquire) {
        let _ = std::panic::catch_unwind(end);
    }
}

/// At the end of the process: the last checks, the file, a summary, and the exit code.
fn end() {
    super::end_of_process();
    write(true);
    let (count, times, suppressed) = {
        let reports = REPORTS.lock();
        let times = reports.all.iter().map(|report| report.repeated + 1).sum::<u64>();
        (reports.all.len(), times, reports.suppressed)
    };
    if count > 0 {
        let found = if times > count as u64 { format!(", found {times} times") } else { String::new() };
        let hidden = if suppressed > 0 { format!(", {suppressed} suppressed") } else { String::new() };
        eprintln!("cuda-sim: {count} reports of CUDA_SIM_CHECK{found}{hidden}");
    }
    if let (CheckResult::Exit(code), true) = (ENVIRONMENT.check_result, count > 0) {
        // SAFETY: a null stream stands for all of them.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        // SAFETY: ends the process, whose exit handlers have run.
        unsafe { libc::_exit(code.into()) };
    }
}

/// Reports at the end of the process.
pub(super) fn watch_end() {
    WATCHED.store(true, Ordering::Release);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn json_can_be_read_back() {
        let access = Accessed {
            what: "load of \"4\" bytes".to_owned(),
            line: 3,
            column: 1,
            source: Some("a\\b.cu:7".to_owned()),
            block: Some([1, 2, 3]),
            thread: Some([4, 5, 6]),
            value: Some(u64::MAX),
        };
        let report = Report { check: "race", kind: "race", accesses: vec![access], ..Report::default() };
        let read: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
        assert_eq!(read["accesses"][0]["what"], "load of \"4\" bytes");
        assert_eq!(read["accesses"][0]["source"], "a\\b.cu:7");
        assert_eq!(read["accesses"][0]["thread"][2], 6);
        assert_eq!(read["accesses"][0]["value"], u64::MAX);
    }

    #[test]
    fn a_race_is_told_in_three_lines() {
        let at = |what: &str, line, ptx, thread| Accessed {
            what: what.to_owned(),
            line: ptx,
            column: 2,
            source: Some(format!("src/main.rs:{line}")),
            block: Some([0; 3]),
            thread: Some([thread, 0, 0]),
            value: Some(32),
        };
        let report = Report {
            check: "race",
            kind: "race of a read with an earlier write",
            kernel: "sum".to_owned(),
            array: Some("offset 512 of shared memory (1024 bytes)".to_owned()),
            accesses: vec![at("load of 4 bytes", 14, 71, 0), at("store", 12, 58, 128)],
            ..Report::default()
        };
        assert_eq!(
            report.text(),
            "cuda-sim: race: race of a read with an earlier write in `sum`: offset 512 of shared memory (1024 bytes)
    load of 4 bytes at src/main.rs:14 (PTX line 71, column 2): block (0, 0, 0), thread (0, 0, 0), value 0x20
    and store at src/main.rs:12 (PTX line 58, column 2): block (0, 0, 0), thread (128, 0, 0), value 0x20"
        );
    }

    #[test]
    fn one_cause_is_reported_once() {
        let at = |line| Accessed { line, ..Accessed::default() };
        let report = |a, b| Report { check: "race", accesses: vec![at(a), at(b)], ..Report::default() };
        let ((), all) = collect(|| {
            // Each counts as a report of its launch.
            assert!([(1, 2), (2, 1), (1, 2), (1, 1)].into_iter().all(|(a, b)| add(report(a, b))));
        });
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].repeated, 2);
        assert!(all[0].text().ends_with("found 3 times"), "{}", all[0].text());
    }

    #[test]
    fn copies_of_a_source_line_are_one_cause_for_each_array() {
        let report = |ptx, source: &str, array: &str| {
            let (source, what) = (Some(source.to_owned()), "load of 4 bytes".to_owned());
            let accesses = vec![Accessed { line: ptx, source, what, ..Accessed::default() }];
            Report { check: "init", array: Some(array.to_owned()), accesses, ..Report::default() }
        };
        let all = [
            report(1, "a.cu:5", "offset 4 of allocation 1 (64 bytes, made by cuMemAlloc_v2)"),
            report(2, "a.cu:5", "offset 8 of allocation 1 (64 bytes, made by cuMemAlloc_v2)"),
            report(2, "a.cu:5", "offset 8 of allocation 7 (64 bytes, made by cuMemAlloc_v2)"),
            report(3, "a.cu:5", "offset 8 of allocation 2 (64 bytes, made by cuMemAlloc_v2)"),
            report(4, "a.cu:6", "offset 8 of allocation 1 (64 bytes, made by cuMemAlloc_v2)"),
            report(5, "a.cu:7", "offset 8 of the local memory (64 bytes) of thread 0"),
            report(6, "a.cu:7", "offset 12 of the local memory (64 bytes) of thread 9"),
        ];
        let ((), kept) = collect(|| all.into_iter().for_each(|report| assert!(add(report))));
        let lines: Vec<_> = kept.iter().map(|report| (report.accesses[0].line, report.repeated)).collect();
        // Another allocation at the same place in the PTX is that of another launch.
        assert_eq!(lines, [(1, 2), (3, 0), (4, 0), (5, 1)]);
    }
}
