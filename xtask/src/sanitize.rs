//! A step of `check`: runs tests under the address and leak sanitizers, which only a nightly toolchain has.
//!
//! The standard library is not instrumented, since that would need its source; memory that is passed to its functions is. A
//! process that ends with unreachable memory has failed. The machine code that the software device generates is not instrumented
//! either, so the sanitizer does not see the accesses of kernels.
//!
//! The thread sanitizer cannot be used: it changes the ABI, so that rustc refuses to link instrumented crates with a standard
//! library that is not instrumented (`mixing -Zsanitizer will cause an ABI mismatch`), and toolchains have no instrumented one.

use std::process::Command;

use anyhow::Result;

use crate::workspace;

/// Tests that run under the sanitizers.
struct Tests {
    package: &'static str,
    /// True if unreachable memory at the end is a failure.
    finds_leaks: bool,
}

/// The tests of device memory, and random programs, which leak guards on purpose.
const TESTS: &[Tests] = &[
    Tests { package: "cuda-mem", finds_leaks: true },
    Tests { package: "cuda-tests-interleavings", finds_leaks: false },
];

pub(crate) fn run() -> Result<()> {
    let Some(host) = nightly_host() else {
        println!("skipped: sanitize (no nightly toolchain; `rustup toolchain install nightly` installs one)");
        return Ok(());
    };
    if !host.starts_with("x86_64") || !host.contains("linux") {
        println!("skipped: sanitize (the step needs x86-64 Linux, and this machine is {host})");
        return Ok(());
    }
    TESTS.iter().try_for_each(|chosen| workspace::run(&mut command(chosen, &host)))
}

/// The host triple of the nightly toolchain, if there is one.
fn nightly_host() -> Option<String> {
    let text =
        workspace::output(Command::new("rustup").args(["run", "nightly", "rustc", "--version", "--verbose"])).ok()?;
    host(&text)
}

/// The host triple in the output of `rustc -vV`.
fn host(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned)
}

/// The command that runs the instrumented tests of a package. The explicit target keeps build scripts and macros uninstrumented,
/// and the separate target folder keeps the builds of the usual toolchain.
fn command(chosen: &Tests, host: &str) -> Command {
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
    // The documentation's examples would each be linked for nothing that the tests do not do.
    tests.args(["--tests", "--all-features", "--target", host, "--target-dir", "target/sanitize"]);
    // The variables that cargo has set for this process are those of the usual toolchain.
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
    fn the_host_is_read_from_the_output_of_rustc() {
        let text = "rustc 1.97.0-nightly\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.97.0-nightly\n";
        assert_eq!(host(text).as_deref(), Some("x86_64-unknown-linux-gnu"));
        assert_eq!(host("error: toolchain 'nightly' is not installed"), None);
    }
}
