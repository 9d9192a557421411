//! For several packages of tests: the driver on which they run, processes of their own, the software device as a library, and a
//! kernel that faults.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Arc, LazyLock};

use cuda_sys::DriverApi;

/// The driver on which tests run: the software device, or the library that `CUDA_DRIVER_PATH` names, such as a GPU's
/// `libcuda.so.1`.
///
/// # Panics
///
/// If the library cannot be opened.
pub fn driver_api() -> Arc<DriverApi> {
    static API: LazyLock<Arc<DriverApi>> = LazyLock::new(|| {
        if std::env::var_os("CUDA_DRIVER_PATH").is_some_and(|path| path == "sim") {
            return cuda_sim::driver_api();
        }
        let named = DriverApi::from_environment().expect("CUDA_DRIVER_PATH names a driver");
        named.map_or_else(cuda_sim::driver_api, Arc::new)
    });
    Arc::clone(&API)
}

/// Returns true if the tests run on the software device, whose texts, limits and schedules they know.
pub fn is_software() -> bool {
    let named = std::env::var_os("CUDA_DRIVER_PATH").unwrap_or_default();
    named.is_empty() || named == "sim" || PathBuf::from(named).ends_with("libcuda_sim.so")
}

/// Prints that `test` is skipped, and returns true, if it runs on another driver than the software device, on which it relies for
/// `what`.
pub fn needs_software_device(test: &str, what: &str) -> bool {
    if !is_software() {
        println!("skipped: {test} ({what} is the software device's)");
    }
    !is_software()
}

/// Sets variables of a test's child process, of which one of the software device chooses that device.
pub fn set_variables<'a>(child: &mut Command, variables: impl IntoIterator<Item = (&'a str, &'a OsStr)>) {
    for (name, value) in variables {
        if name.starts_with("CUDA_SIM_") {
            child.env("CUDA_DRIVER_PATH", "sim");
        }
        child.env(name, value);
    }
}

/// A kernel that writes to the address in its argument.
pub const POKE: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry poke(.param .u64 at)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd1, [at];
	mov.u32 %r1, 7;
	st.global.u32 [%rd1], %r1;
	ret;
}
";

/// The variable with the name of the test for which this process was started.
const ONLY: &str = "CUDA_TESTS_ONLY";

/// Runs the body of `test` in a separate process, with `variables` in its environment; a variable without a value is
/// removed. Returns the output of the process, or an empty text in that process itself.
///
/// A test that plants a mistake for the software device's checkers, or would be reported for one, names `CUDA_SIM_CHECK`: its
/// reports are not those of a correct program, which `cargo xtask checked` collects.
///
/// # Panics
///
/// If the body fails, or `test` is not the name of the test.
pub fn in_own_process(test: &str, variables: &[(&str, Option<&str>)], body: impl FnOnce()) -> String {
    if std::env::var(ONLY).is_ok_and(|only| only == test) {
        body();
        return String::new();
    }
    let mut child = this_executable();
    child.args([test, "--exact", "--nocapture"]).env(ONLY, test);
    if variables.iter().any(|(name, _)| *name == "CUDA_SIM_CHECK") {
        child.env_remove("CUDA_SIM_REPORT");
    }
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

/// A command that starts this executable, by the runner with which cargo has started it if there is one, such as QEMU: a process
/// under QEMU cannot start another of its architecture.
///
/// # Panics
///
/// If the system does not tell the executable's path.
pub fn this_executable() -> Command {
    const RUNNER: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER";
    let executable = std::env::current_exe().expect("a test knows its executable");
    let runner = std::env::var(RUNNER).ok().filter(|_| cfg!(target_arch = "aarch64"));
    let mut words = runner.iter().flat_map(|runner| runner.split_whitespace());
    let Some(program) = words.next() else { return Command::new(executable) };
    let mut command = Command::new(program);
    command.args(words).arg(executable);
    command
}

/// The variable with the file of the software device's library, which [`software_device`] then does not build.
const LIBRARY: &str = "CUDA_TESTS_LIBRARY";

/// The file of `libcuda_sim.so`: that which `cargo xtask test` has built with all packages, or one that is built here, in the
/// profile and the target folder of this executable. Cargo builds most of it again for one package.
///
/// # Panics
///
/// If it cannot be built.
pub fn software_device() -> PathBuf {
    if let Some(library) = std::env::var_os(LIBRARY) {
        return library.into();
    }
    let executable = std::env::current_exe().expect("a test knows its executable");
    let folder = executable.ancestors().nth(2).expect("executables lie in the target folder's deps");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--package", "cuda-sim-cdylib", "--target-dir"]);
    cargo.arg(folder.parent().expect("the profile's folder lies in the target folder"));
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    assert!(output.status.success(), "{}", combined_output(&output));
    folder.join("libcuda_sim.so")
}

/// The standard output and error of a process.
pub fn combined_output(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
