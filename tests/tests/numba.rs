//! Numba 0.61's built-in CUDA target on `libcuda_sim.so`, through `NUMBA_CUDA_DRIVER`.
//!
//! The programs are in `python/numba_client.py`, which checks their results. `cargo xtask setup --all` downloads Numba and the
//! libraries that it loads.

use std::path::Path;
use std::process::Command;

use cuda_tests_support::software_device;

use crate::support::{combined_output, downloaded, skip};

/// Runs a group of programs and returns their output; `None` if Numba is missing or cannot be imported.
fn run(group: &str) -> Option<String> {
    run_with(group, "numba_client.py", &[])
}

/// As [`run`], for another file of programs, with environment variables.
fn run_with(group: &str, file: &str, variables: &[(&str, &str)]) -> Option<String> {
    let test = format!("numba::{group}");
    let (Some(numba), Some(compilers)) = (downloaded("numba"), downloaded("compilers")) else {
        skip(&test, "no Numba; `cargo xtask setup --all` downloads it");
        return None;
    };
    let python = || {
        let mut python = Command::new("python3");
        python.env("PYTHONPATH", numba.join("site")).env("PYTHONDONTWRITEBYTECODE", "1");
        python.env("CUDA_HOME", compilers.join("cuda12")).env("NUMBA_CUDA_DRIVER", software_device());
        python
    };
    // The wheels are for the version of Python that downloaded them.
    if !python().args(["-c", "import numba"]).output().is_ok_and(|output| output.status.success()) {
        skip(&test, "this machine's python3 cannot import Numba");
        return None;
    }
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("python").join(file);
    let output = python().arg(program).arg(group).envs(variables.iter().copied()).output().expect("it just started");
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

/// The kernels of `python/numba_verdicts.py`, with the checker whose reports they have.
const VERDICTS: [(&str, Option<&str>); 10] = [
    ("reversed_in_shared_memory", None),
    ("reversed_without_barrier", Some("race")),
    ("counts", None),
    ("counts_without_atomics", Some("race")),
    ("shifted", None),
    ("shifted_beyond", Some("memory")),
    ("copied", None),
    ("copied_from_nothing", Some("init")),
    ("lanes_of_a_mask", None),
    ("lanes_not_of_their_mask", Some("sync")),
];

#[test]
fn checkers_tell_kernels_with_mistakes_from_those_without() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let reports = folder.path().join("reports.json");
    let file = reports.to_str().expect("the folder's name is Unicode");
    let variables = [("CUDA_SIM_CHECK", "memory,race,init,sync"), ("CUDA_SIM_REPORT", file)];
    for (kernel, expected) in VERDICTS {
        let Some(text) = run_with(kernel, "numba_verdicts.py", &variables) else { return };
        assert!(text.contains(&format!("ran {kernel}")), "{text}");
        let found: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("cuda-sim: ")?.split(": ").next()).collect();
        let found: Vec<&str> =
            found.into_iter().filter(|word| ["memory", "race", "init", "sync"].contains(word)).collect();
        assert!(found.iter().all(|word| Some(*word) == expected), "{kernel}: {text}");
        assert_eq!(found.is_empty(), expected.is_none(), "{kernel}: {text}");
        // The file has the same reports.
        let written = std::fs::read_to_string(&reports).unwrap_or_default();
        assert_eq!(written.matches("\"check\"").count(), found.len(), "{kernel}: {written}");
        let _ = std::fs::remove_file(&reports);
    }
}
