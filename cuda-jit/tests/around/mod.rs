//! Tests around kernels: the cache on disk, bundles, compiling ahead, inspection, warnings.

mod breakpoints;
mod bundles;
mod cache;
mod inspect;
mod lines;
mod llvm;
#[expect(clippy::needless_late_init, reason = "a debugger is told of such variables too")]
mod variables;
mod warnings;

use std::process::Command;

/// Runs a test of this executable in a child process with some environment variables, and returns its output. The
/// variable [`CHILD`] tells the test that it is the child. Its kernels panic or fault as a rule, so it has no part in
/// `cargo xtask checked`.
pub(crate) fn child(test: &str, variables: &[(&str, &std::ffi::OsStr)]) -> String {
    let mut command = this_executable();
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1");
    command.env_remove("CUDA_SIM_CHECK").env_remove("CUDA_SIM_REPORT").envs(variables.iter().copied());
    let child = command.output().expect("the test can be run again");
    let text = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && text.contains("1 passed"), "{text}");
    text.into_owned()
}

/// A command that starts this executable, by the runner with which cargo has started it if there is one, such as QEMU.
pub(crate) fn this_executable() -> Command {
    const RUNNER: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER";
    let executable = std::env::current_exe().expect("the test's own path");
    let runner = std::env::var(RUNNER).ok().filter(|_| cfg!(target_arch = "aarch64"));
    let mut words = runner.iter().flat_map(|runner| runner.split_whitespace());
    let Some(program) = words.next() else { return Command::new(executable) };
    let mut command = Command::new(program);
    command.args(words).arg(executable);
    command
}

/// The variable that [`child`] sets.
pub(crate) const CHILD: &str = "CUDA_JIT_TEST_CHILD";

pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}
