//! The results of a suite, read from pytest's report in JUnit's format and from the output of Rust's test harness.

use std::collections::BTreeMap;
use std::fmt;

/// Counts of tests, and the reasons of failures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Results {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
    /// Tests that the limit left out.
    pub(super) not_reached: usize,
    /// The number of failures for each reason.
    pub(super) reasons: BTreeMap<String, usize>,
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Results { passed, failed, skipped, not_reached, .. } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped, {not_reached} not reached")
    }
}

impl Results {
    fn fail(&mut self, reason: &str) {
        self.failed += 1;
        *self.reasons.entry(shortened(reason)).or_default() += 1;
    }
}

/// The largest number of characters of a reason.
const LONGEST: usize = 110;

/// The first line of a reason, without what differs between machines and runs: paths, addresses and numbers of objects.
fn shortened(reason: &str) -> String {
    let line = reason.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no message");
    let word = |word: &str| match word {
        _ if word.contains('/') && !word.starts_with("http") => "..".to_owned(),
        _ => word.replace('|', "\\|"),
    };
    let text = line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    let text = match text.split_once(" 0x") {
        Some((before, _)) => format!("{before} .."),
        None => text,
    };
    text.chars().take(LONGEST).collect()
}

/// The value of an attribute of an XML element.
fn attribute(element: &str, name: &str) -> Option<String> {
    let value = element.split_once(&format!(" {name}=\""))?.1.split_once('"')?.0;
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#10;", "\n"),
        ("&#x0A;", "\n"),
        ("&amp;", "&"),
    ];
    Some(pairs.iter().fold(value.to_owned(), |text, (from, to)| text.replace(from, to)))
}

/// Reads pytest's report; its output has the number of tests that it collected.
pub(super) fn of_pytest(report: &str, output: &str) -> Results {
    let mut results = Results::default();
    for case in report.split("<testcase ").skip(1) {
        let case = case.split("</testcase>").next().unwrap_or(case);
        let found = ["<failure", "<error", "<skipped"].iter().find_map(|kind| case.split_once(kind));
        match found {
            None => results.passed += 1,
            Some((before, _)) if case[before.len()..].starts_with("<skipped") => results.skipped += 1,
            Some((_, element)) => results.fail(&attribute(element, "message").unwrap_or_default()),
        }
    }
    let collected = output.lines().find(|line| line.starts_with("collected ")).and_then(chosen);
    let reached = results.passed + results.failed + results.skipped;
    results.not_reached = collected.unwrap_or(reached).saturating_sub(reached);
    results
}

/// The number of tests that pytest runs, from `collected 9 items / 2 deselected / 7 selected`.
fn chosen(line: &str) -> Option<usize> {
    let number = |text: &str| text.trim().split(' ').next()?.parse().ok();
    let selected = line.split(" / ").find(|part| part.ends_with(" selected"));
    number(selected.unwrap_or(line.strip_prefix("collected ")?))
}

/// Reads the output of Rust's test harness.
pub(super) fn of_rust(output: &str) -> Results {
    let mut results = Results::default();
    let panics: BTreeMap<&str, &str> =
        output.split("\n---- ").skip(1).filter_map(|part| part.split_once(" stdout ----\n")).collect();
    for line in output.lines() {
        // What a test prints may come between its name and its result.
        let Some((name, result)) = line.strip_prefix("test ").and_then(|line| line.split_once(" ... ")) else {
            continue;
        };
        match result.trim() {
            "FAILED" => results.fail(panics.get(name).map_or("", |text| message(text))),
            text if text.starts_with("ignored") => results.skipped += 1,
            _ => results.passed += 1,
        }
    }
    results
}

/// The message of a panic, which is on the line after its place.
fn message(text: &str) -> &str {
    let at = text.find("panicked at ").and_then(|at| Some(at + text[at..].find('\n')? + 1));
    at.map_or(text, |at| &text[at..])
}

/// The last lines of an output.
pub(super) fn end(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_pytest_are_counted_with_their_reasons() {
        let report = r#"<?xml version="1.0"?><testsuites><testsuite name="pytest" errors="1" tests="5">
            <testcase classname="a" name="good" time="0.1" /><testcase classname="a" name="loud"><system-out>x</system-out></testcase>
            <testcase classname="a" name="bad"><failure message="ValueError: 1 &lt; 2&#10;more">E   text</failure></testcase>
            <testcase classname="a" name="bad too"><failure message="ValueError: 1 &lt; 2">E</failure></testcase>
            <testcase classname="" name="m"><error message="cannot import /a/x.py">E</error></testcase>
            <testcase classname="a" name="later"><skipped type="pytest.skip" message="no GPU">s</skipped></testcase></testsuite></testsuites>"#;
        let results = of_pytest(report, "rootdir: x\ncollected 9 items / 1 error\n");
        assert_eq!((results.passed, results.failed, results.skipped, results.not_reached), (2, 3, 1, 3));
        let reasons = [("ValueError: 1 < 2".to_owned(), 2), ("cannot import ..".to_owned(), 1)];
        assert_eq!(results.reasons, BTreeMap::from(reasons));
        assert_eq!(results.to_string(), "2 passed, 3 failed, 1 skipped, 3 not reached");
    }

    #[test]
    fn the_tests_that_are_run_are_counted_and_not_all_that_were_found() {
        assert_eq!(chosen("collected 9 items"), Some(9));
        assert_eq!(chosen("collected 9 items / 1 error / 2 deselected / 7 selected"), Some(7));
        assert_eq!(chosen("collected none"), None);
    }

    #[test]
    fn results_of_rust_are_counted_with_their_reasons() {
        let output = "running 4 tests\ntest a::good ... ok\ntest a::bad ... FAILED\ntest b ... ignored, slow\ntest c ... ok\n\n\
            failures:\n\n---- a::bad stdout ----\n\nthread 'a::bad' panicked at src/a.rs:1:2:\nassertion failed: x\nnote: y\n\n";
        let results = of_rust(output);
        assert_eq!((results.passed, results.failed, results.skipped, results.not_reached), (2, 1, 1, 0));
        assert_eq!(results.reasons, BTreeMap::from([("assertion failed: x".to_owned(), 1)]));
    }

    #[test]
    fn reasons_have_no_addresses_and_no_columns() {
        assert_eq!(shortened("\n  object at 0x7f00 | more"), "object at ..");
        assert_eq!(shortened("a | b"), "a \\| b");
        assert_eq!(shortened(&"x".repeat(300)).len(), LONGEST);
        assert_eq!(shortened(""), "no message");
    }
}
