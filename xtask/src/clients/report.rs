//! The text of `docs/clients.md`.

use std::fmt::Write as _;

use super::results::Results;

const HEAD: &str = "\
# Other people's programs on the software device

`cargo xtask clients` installs these packages from PyPI and crates.io, runs their tests with `libcuda_sim.so` as the driver, and
writes this file. Skipped tests are those that a package itself skips here, such as tests that need several devices or a part of the
toolkit that is not installed; tinygrad looks for `cuda_fp16.h` in the folders of an installed toolkit. The tests of cuda.core and cuda.bindings are in no package of PyPI, and are not among these.
";

/// Formats the results of all suites; `limit` is the number of seconds that each had.
pub(super) fn text(all: &[(&str, &str, Results)], limit: u32) -> String {
    let mut text = HEAD.to_owned();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "\n| suite | passed | failed | skipped | not reached in {} minutes |\n|---|---|---|---|---|",
        limit / 60
    );
    for (name, _, results) in all {
        let Results { passed, failed, skipped, not_reached, .. } = results;
        let _ = writeln!(text, "| {name} | {passed} | {failed} | {skipped} | {not_reached} |");
    }
    for (name, scope, results) in all {
        let _ = writeln!(text, "\n## {name}\n\nRun are {scope}.");
        if results.reasons.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n| failures | reason |\n|---|---|");
        let mut reasons: Vec<_> = results.reasons.iter().collect();
        reasons.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), *reason));
        for (reason, count) in reasons {
            let _ = writeln!(text, "| {count} | {reason} |");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_have_a_line_and_failures_their_reasons() {
        let reasons = [("rare".to_owned(), 1), ("frequent".to_owned(), 2)].into();
        let failing = Results { passed: 7, failed: 3, skipped: 1, not_reached: 4, reasons };
        let text = text(&[("a 1.0", "all tests", failing), ("b 2.0", "some", Results::default())], 600);
        assert!(text.contains("not reached in 10 minutes"), "{text}");
        assert!(text.contains("| a 1.0 | 7 | 3 | 1 | 4 |\n| b 2.0 | 0 | 0 | 0 | 0 |\n"), "{text}");
        assert!(text.contains(
            "## a 1.0\n\nRun are all tests.\n\n| failures | reason |\n|---|---|\n| 2 | frequent |\n| 1 | rare |\n"
        ));
        assert!(text.ends_with("## b 2.0\n\nRun are some.\n"), "{text}");
    }
}
