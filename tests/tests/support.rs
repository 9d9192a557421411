//! Helpers of the tests: skipping by name, running in a separate process, and a common kernel.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use cuda_prelude::*;
pub(crate) use cuda_tests_support::{combined_output, in_own_process};

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
