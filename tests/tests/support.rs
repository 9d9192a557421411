//! Helpers of the tests: skipping by name, running in a separate process, and a common kernel.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cuda_prelude::*;

/// The vector add of the README.
#[kernel]
pub(crate) fn add_arrays<T: Num>(x: &[T], y: &[T], out: &mut [T]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = x[i] + y[i];
    }
}

/// Prints that a test is skipped, even if the tests' output is captured.
pub(crate) fn skip(test: &str, why: &str) {
    let line = format!("skipped: {test} ({why})\n");
    // Only the printing macros are captured. A closed standard error is not an error.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// The folder of this name that `cargo xtask setup --all` has downloaded, if it is complete.
pub(crate) fn downloaded(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target").join(name);
    // This file is written last.
    folder.join("wheels.txt").is_file().then_some(folder)
}

/// The variable with the name of the test for which this process was started.
const ONLY: &str = "CUDA_TESTS_ONLY";

/// Runs the body of `test` in a separate process, with `variables` in its environment; a variable without a value is
/// removed. Fails if the body fails, else returns the output of the process, or an empty text in that process itself.
pub(crate) fn in_own_process(test: &str, variables: &[(&str, Option<&str>)], body: impl FnOnce()) -> String {
    if std::env::var(ONLY).is_ok_and(|only| only == test) {
        body();
        return String::new();
    }
    let mut child = Command::new(std::env::current_exe().expect("a test knows its executable"));
    child.args([test, "--exact", "--nocapture"]).env(ONLY, test);
    for (name, value) in variables {
        match value {
            Some(value) => child.env(name, value),
            None => child.env_remove(name),
        };
    }
    let output = child.output().expect("a test can start its executable again");
    let text = combined_output(&output);
    assert!(output.status.success(), "`{test}` fails in a process of its own:\n{text}");
    // A name of no test would pass too.
    assert!(text.contains("1 passed"), "`{test}` is not the name of the test:\n{text}");
    text
}

/// The standard output and error of a process.
pub(crate) fn combined_output(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
