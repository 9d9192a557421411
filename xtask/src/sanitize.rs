//! A step of `check`: tests under the compiler's address and leak sanitizers, which only a nightly toolchain has.
//!
//! The standard library is not instrumented, for which its source would be needed; what its functions are handed is. The tests run
//! one process each as always, and a process that ends with memory that nobody can reach any more has failed. Machine code that the
//! software device makes is not instrumented either: of kernels' accesses the sanitizer knows nothing.
//!
//! The thread sanitizer cannot be used: it changes the ABI, so that rustc refuses crates that are built with it beside a standard
//! library that is not (`mixing -Zsanitizer will cause an ABI mismatch`), and a toolchain has no such library.

use std::process::Command;

use anyhow::Result;

use crate::workspace;

/// Tests that run under the sanitizers.
struct Tests {
    package: &'static str,
    /// A filter of the tests; all if empty.
    chosen: &'static [&'static str],
    /// True if unreachable memory at the end is a failure.
    finds_leaks: bool,
}

/// Device memory, and random programs, which forget guards on purpose.
const TESTS: &[Tests] = &[
    Tests { package: "cuda-mem", chosen: &[], finds_leaks: true },
    Tests { package: "cuda-tests", chosen: &["--test", "main", "interleavings"], finds_leaks: false },
];

pub(crate) fn run() -> Result<()> {
    let Some(host) = nightly_host() else {
        println!("skipped: sanitize (no nightly toolchain; `rustup toolchain install nightly` gives one)");
        return Ok(());
    };
    if !host.starts_with("x86_64") || !host.contains("linux") {
        println!("skipped: sanitize (the sanitizers are for x86-64 Linux, and this is {host})");
        return Ok(());
    }
    TESTS.iter().try_for_each(|chosen| workspace::run(&mut tests(chosen, &host)))
}

/// The machine that the nightly toolchain is for, if there is one.
fn nightly_host() -> Option<String> {
    let text =
        workspace::output(Command::new("rustup").args(["run", "nightly", "rustc", "--version", "--verbose"])).ok()?;
    host(&text)
}

/// The machine in what a compiler tells of itself.
fn host(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned)
}

/// The tests of a package, instrumented. The target is named, so that build scripts and macros are not instrumented too; a
/// target folder of its own keeps those of the usual toolchain.
fn tests(chosen: &Tests, host: &str) -> Command {
    let mut tests = Command::new("rustup");
    tests.current_dir(workspace::root()).args([
        "run",
        "nightly",
        "cargo",
        "test",
        "--quiet",
        "--package",
        chosen.package,
    ]);
    tests.args(["--all-features", "--target", host, "--target-dir", "target/sanitize"]);
    tests.args(chosen.chosen);
    // What cargo has set for this process is the usual toolchain's.
    tests.env_remove("RUSTC").env_remove("RUSTDOC").env_remove("CARGO");
    for flags in ["RUSTFLAGS", "RUSTDOCFLAGS"] {
        tests.env(flags, "-Zsanitizer=address");
    }
    let meant = workspace::root().join("xtask/leaks.txt");
    tests.env("LSAN_OPTIONS", format!("suppressions={}:print_suppressions=0", meant.display()));
    tests.env("ASAN_OPTIONS", format!("detect_leaks={}", u8::from(chosen.finds_leaks)));
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_read_from_what_rustc_prints() {
        let text = "rustc 1.97.0-nightly\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.97.0-nightly\n";
        assert_eq!(host(text).as_deref(), Some("x86_64-unknown-linux-gnu"));
        assert_eq!(host("error: toolchain 'nightly' is not installed"), None);
    }
}
