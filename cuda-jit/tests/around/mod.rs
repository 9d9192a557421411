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

use cuda_tests_support::{set_variables, this_executable};

/// Runs a test of this executable in a child process with some environment variables, and returns its output. The
/// variable [`CHILD`] tells the test that it is the child. Its kernels panic or fault as a rule, so it has no part in
/// `cargo xtask checked`. A variable of the software device chooses that device.
pub(crate) fn child(test: &str, variables: &[(&str, &std::ffi::OsStr)]) -> String {
    let mut command = this_executable();
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1");
    command.env_remove("CUDA_SIM_CHECK").env_remove("CUDA_SIM_REPORT").env_remove("CUDA_JIT_CACHE");
    set_variables(&mut command, variables.iter().copied());
    let child = command.output().expect("the test can be run again");
    let text = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
    // what the harness says of a test that is slow, as it is under QEMU
    let text = text.replace(&format!("test {test} has been running for over 60 seconds\n"), "");
    assert!(child.status.success() && text.contains("1 passed"), "{text}");
    text
}

/// The variable that [`child`] sets.
pub(crate) const CHILD: &str = "CUDA_JIT_TEST_CHILD";

pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}
