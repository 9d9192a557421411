//! `checked`: runs correct programs on the software device with every checker of kernels on, in both engines and with the orders
//! of blocks and threads of many seeds. Each report is a false accusation, and fails the command.
//!
//! The programs are the tests of the language, and the whole programs with the examples. A test that plants a mistake runs in a
//! process of its own, without a file of reports, so no list of tests is needed: in the whole programs such a test sets or removes
//! `CUDA_SIM_CHECK` for that process (`cuda_tests_support::in_own_process`), and those of the language have a process of their own
//! only if their kernels panic or fault. What a thread does in `cuda_prelude::check` is reported to it alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::workspace::{self, Artifact, scratch};

#[derive(Args)]
pub(crate) struct Options {
    /// Orders of blocks and threads that are drawn, in addition to the usual one
    #[arg(long, value_name = "N", default_value_t = 1)]
    seeds: u64,
    /// The first of them
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// One engine instead of both: `regions` or `fibers`
    #[arg(long, value_name = "ENGINE", value_parser = ENGINES)]
    engine: Option<String>,
    /// Run the kernels with an optimised build of the software device, which takes minutes to build and runs the checkers faster
    #[arg(long)]
    release: bool,
    /// Only the tests whose names contain one of these
    filters: Vec<String>,
}

const ENGINES: [&str; 2] = ["regions", "fibers"];

/// The checkers' names.
const CHECKERS: [&str; 5] = ["memory", "race", "init", "sync", "leak"];

/// The executables: their package and target.
const SUITES: [(&str, &str); 2] = [("cuda-jit", "all"), ("cuda-tests", "main")];

pub(crate) fn run(options: &Options) -> Result<()> {
    // The tests' C clients link with the library, which cargo does not build for tests.
    workspace::software_device()?;
    let driver = if options.release { Some(workspace::software_device_alone(&["--release"])?) } else { None };
    let mut suites = Vec::new();
    for (package, target) in SUITES {
        let made = workspace::tests_of(package)?.into_iter().find(|made| made.target == target);
        suites.push(made.with_context(|| format!("cargo built no test `{target}` of {package}"))?);
    }
    let mut totals = Totals::default();
    let engines = ENGINES.into_iter().filter(|engine| options.engine.as_deref().is_none_or(|only| only == *engine));
    for engine in engines {
        let seeds = (options.first..options.first + options.seeds).map(Some);
        for seed in std::iter::once(None).chain(seeds) {
            let schedule = Schedule { engine, seed };
            for suite in &suites {
                totals.add(&schedule.run(suite, driver.as_deref(), &options.filters)?, &schedule.name());
            }
            println!("{}: {}", schedule.name(), totals.line());
        }
    }
    totals.print();
    ensure!(totals.reports.is_empty(), "{} reports in correct programs", totals.reports.len());
    ensure!(totals.failed.is_empty(), "{} tests fail with checkers", totals.failed.len());
    Ok(())
}

/// An engine, and the seed of the order of blocks and threads.
struct Schedule {
    engine: &'static str,
    seed: Option<u64>,
}

impl Schedule {
    fn name(&self) -> String {
        self.seed.map_or_else(|| self.engine.to_owned(), |seed| format!("{} with seed {seed}", self.engine))
    }

    /// Runs the tests of an executable.
    fn run(&self, suite: &Artifact, driver: Option<&Path>, filters: &[String]) -> Result<Outcome> {
        let folder = scratch("checked")?;
        let mut tests = Command::new(&suite.file);
        tests.current_dir(&suite.folder).args(filters);
        if driver.is_some() {
            // Tests of `cuda_prelude::check` need the software device that is linked into them.
            tests.args(["--skip", "verdicts::", "--skip", "checkers_tell"]);
        }
        tests.env("CUDA_DRIVER_PATH", driver.unwrap_or_else(|| Path::new("sim")));
        tests.env("CUDA_SIM_CHECK", CHECKERS.join(",")).env("CUDA_SIM_CHECK_RESULT", "report");
        tests.env("CUDA_SIM_REPORT", folder.path().join("%p.json")).env("CUDA_SIM_ENGINE", self.engine);
        match self.seed {
            Some(seed) => tests.env("CUDA_SIM_SEED", seed.to_string()),
            None => tests.env_remove("CUDA_SIM_SEED"),
        };
        let output = tests.output().with_context(|| format!("cannot run {}", suite.file.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut outcome = Outcome::of(&text);
        // A process that a signal ends prints no result.
        ensure!(
            outcome.has_ended,
            "{} with {}: {}\n{text}{}",
            suite.target,
            self.name(),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        for file in fs::read_dir(folder.path())? {
            let text = fs::read_to_string(file?.path())?;
            let all: Vec<Value> = serde_json::from_str(&text).context("a file of reports is no JSON")?;
            outcome.reports.extend(all.iter().map(Report::of));
        }
        Ok(outcome)
    }
}

/// A report: the checker, and its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Report {
    check: String,
    text: String,
}

impl Report {
    fn of(json: &Value) -> Report {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let accesses = json["accesses"].as_array().map(Vec::as_slice).unwrap_or_default();
        let place = |access: &Value| match (&access["source"], &access["ptx_line"]) {
            (Value::String(source), _) => format!("{} at {source}", text(&access["what"])),
            (_, Value::Number(line)) => format!("{} at PTX line {line}", text(&access["what"])),
            _ => text(&access["what"]),
        };
        let places: Vec<String> = accesses.iter().map(place).collect();
        let mut all = format!("{} in `{}`: {}", text(&json["kind"]), text(&json["kernel"]), places.join(", "));
        // Addresses differ between processes, so an array is named where there is no place only.
        if let (true, Some(array)) = (places.is_empty(), json["array"].as_str()) {
            all += array;
        }
        if let (true, Some(note)) = (places.is_empty(), json["note"].as_str()) {
            all += &format!("; {note}");
        }
        Report { check: text(&json["check"]), text: all }
    }
}

/// The result of an executable.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    passed: u64,
    failed: Vec<String>,
    reports: Vec<Report>,
    has_ended: bool,
}

impl Outcome {
    /// Reads the output of the tests.
    fn of(text: &str) -> Outcome {
        let failed = text.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
        let result = text.lines().find_map(|line| line.strip_prefix("test result: "));
        let passed =
            result.and_then(|line| line.split(' ').zip(line.split(' ').skip(1)).find(|pair| pair.1 == "passed;"));
        Outcome {
            passed: passed.and_then(|(count, _)| count.parse().ok()).unwrap_or_default(),
            failed: failed.map(str::to_owned).collect(),
            reports: Vec::new(),
            has_ended: result.is_some(),
        }
    }
}

/// The results so far.
#[derive(Default)]
struct Totals {
    passed: u64,
    /// The reports, with the schedules that gave them.
    reports: BTreeMap<Report, BTreeSet<String>>,
    failed: BTreeMap<String, BTreeSet<String>>,
}

impl Totals {
    fn add(&mut self, outcome: &Outcome, schedule: &str) {
        self.passed += outcome.passed;
        for report in &outcome.reports {
            self.reports.entry(report.clone()).or_default().insert(schedule.to_owned());
        }
        for test in &outcome.failed {
            self.failed.entry(test.clone()).or_default().insert(schedule.to_owned());
        }
    }

    fn line(&self) -> String {
        format!("{} programs, {} reports, {} failed so far", self.passed, self.reports.len(), self.failed.len())
    }

    fn print(&self) {
        for (report, schedules) in &self.reports {
            println!("{}: {} ({})", report.check, report.text, listed(schedules));
        }
        for (test, schedules) in &self.failed {
            println!("failed: {test} ({})", listed(schedules));
        }
        println!("checker programs reports");
        for checker in CHECKERS {
            let count = self.reports.keys().filter(|report| report.check == checker).count();
            println!("{checker:7} {:8} {count:7}", self.passed);
        }
    }
}

/// The first of some schedules, and the number of the others.
fn listed(schedules: &BTreeSet<String>) -> String {
    let first = schedules.first().map(String::as_str).unwrap_or_default();
    if schedules.len() > 1 { format!("{first}, and {} others", schedules.len() - 1) } else { first.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_tests_is_read() {
        let text = "test a::b ... ok\ntest a::c ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n";
        let outcome = Outcome::of(text);
        assert_eq!((outcome.passed, outcome.has_ended), (1, true));
        assert_eq!(outcome.failed, ["a::c"]);
        assert!(!Outcome::of("test a::b ... ok\n").has_ended);
    }

    #[test]
    fn reports_of_one_cause_are_one_whatever_the_address() {
        let report = |array: &str| {
            Report::of(&serde_json::json!({
                "check": "race", "kind": "race of two writes", "kernel": "k", "array": array,
                "accesses": [{ "what": "store of 4 bytes", "source": "a.rs:3", "ptx_line": 7 }, { "what": "store", "ptx_line": 8 }],
            }))
        };
        assert_eq!(report("offset 4 of 0x10"), report("offset 4 of 0x20"));
        let text = "race of two writes in `k`: store of 4 bytes at a.rs:3, store at PTX line 8";
        assert_eq!(report("").text, text);
        let mut totals = Totals::default();
        let outcome = || Outcome { passed: 1, reports: vec![report("")], ..Outcome::default() };
        totals.add(&outcome(), "regions");
        totals.add(&outcome(), "fibers");
        assert_eq!(totals.line(), "2 programs, 1 reports, 0 failed so far");
        assert_eq!(listed(&totals.reports[&report("")]), "fibers, and 1 others");
    }
}
