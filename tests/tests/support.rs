//! What the tests share: skipping by name, processes of their own, and the kernel that most of them run.

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

/// Says that a test is skipped, also where the tests' output is captured.
pub(crate) fn skip(test: &str, why: &str) {
    let line = format!("skipped: {test} ({why})\n");
    // The macros for printing are what is captured; a closed standard error is no reason to fail.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// The folder of that name that `cargo xtask setup --all` fills, if it is complete.
pub(crate) fn downloaded(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target").join(name);
    // Written last.
    folder.join("wheels.txt").is_file().then_some(folder)
}

/// Names the test that this process was started for.
const ONLY: &str = "CUDA_TESTS_ONLY";

/// Runs the body of `test` in a process of its own, with `variables` in its environment; a variable without value is
/// removed. Fails as the body does, else returns what that process printed; nothing in that process itself.
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
    let text = shown(&output);
    assert!(output.status.success(), "`{test}` fails in a process of its own:\n{text}");
    // A name that is no test's would pass too.
    assert!(text.contains("1 passed"), "`{test}` is not the name of the test:\n{text}");
    text
}

/// Both outputs of a process.
pub(crate) fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
