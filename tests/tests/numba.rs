//! Numba 0.61's built-in CUDA target on `libcuda_sim.so`, through `NUMBA_CUDA_DRIVER`.
//!
//! The programs are in `python/numba_client.py`, which checks their results. `cargo xtask setup --all` downloads Numba and the
//! libraries that it loads.

use std::path::Path;
use std::process::Command;

use crate::c_client::library;
use crate::support::{combined_output, downloaded, skip};

/// Runs a group of programs and returns their output; `None` if Numba is missing or cannot be imported.
fn run(group: &str) -> Option<String> {
    let test = format!("numba::{group}");
    let (Some(numba), Some(compilers)) = (downloaded("numba"), downloaded("compilers")) else {
        skip(&test, "no Numba; `cargo xtask setup --all` downloads it");
        return None;
    };
    let python = || {
        let mut python = Command::new("python3");
        python.env("PYTHONPATH", numba.join("site")).env("PYTHONDONTWRITEBYTECODE", "1");
        python.env("CUDA_HOME", compilers.join("cuda12")).env("NUMBA_CUDA_DRIVER", library());
        python
    };
    // The wheels are for the version of Python that downloaded them.
    if !python().args(["-c", "import numba"]).output().is_ok_and(|output| output.status.success()) {
        skip(&test, "this machine's python3 cannot import Numba");
        return None;
    }
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/numba_client.py");
    let output = python().arg(program).arg(group).output().expect("it just started");
    let text = combined_output(&output);
    assert!(output.status.success(), "{}: {text}", output.status);
    Some(text)
}

/// Checks that these programs ran.
fn ran(text: &str, programs: &[&str]) {
    for program in programs {
        assert!(text.lines().any(|line| line.strip_prefix("ok ") == Some(program)), "{program} did not run:\n{text}");
    }
}

#[test]
fn manual() {
    let Some(text) = run("manual") else { return };
    ran(&text, &["vector_add", "matmul", "matmul_tiled", "reduction"]);
}

#[test]
fn cooperation() {
    let Some(text) = run("cooperation") else { return };
    ran(&text, &["atomics", "warps", "barriers", "cooperative_groups"]);
}

#[test]
fn language() {
    let Some(text) = run("language") else { return };
    ran(&text, &["functions_and_math", "records_and_slices", "universal_functions", "random_numbers", "exceptions"]);
    let said = ["thread 0 has 1.500000", "thread 1 has -2.250000", "thread 2 has 10000000000.000000", "printed"];
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("thread") || *line == "printed").collect();
    assert_eq!(lines, said, "{text}");
}

#[test]
fn host() {
    let Some(text) = run("host") else { return };
    ran(&text, &["host_memory", "streams_and_events", "linking", "contexts"]);
}
