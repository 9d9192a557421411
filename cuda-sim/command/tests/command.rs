//! The command as its users run it: on shells and Python, which find the library under the driver's name.

use std::process::{Command, Output};

/// Opens the driver as Python programs do, and prints the number of devices and the first one's compute capability.
const CLIENT: &str = "
import ctypes, os, sys
cuda = ctypes.CDLL('libcuda.so.1')
code = cuda.cuInit(0)
if code: sys.exit(code)
count, device, values = ctypes.c_int(), ctypes.c_int(), [ctypes.c_int(), ctypes.c_int()]
cuda.cuDeviceGetCount(ctypes.byref(count))
cuda.cuDeviceGet(ctypes.byref(device), 0)
for value, attribute in zip(values, (75, 76)):
    cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
print(count.value, *(value.value for value in values), os.path.realpath(os.environ['CUDA_DRIVER_PATH']))
";

/// Opens NCCL as Python programs do, makes a communicator of both devices, and prints its size and NCCL's version.
const NCCL_CLIENT: &str = "
import ctypes, sys
nccl = ctypes.CDLL('libnccl.so.2')
version, count, comms = ctypes.c_int(), ctypes.c_int(), (ctypes.c_void_p * 2)()
code = nccl.ncclCommInitAll(comms, 2, None)
if code: sys.exit(code)
nccl.ncclGetVersion(ctypes.byref(version))
nccl.ncclCommCount(ctypes.c_void_p(comms[1]), ctypes.byref(count))
print(version.value, count.value)
";

/// Runs the command with a cache folder of the test's own, and without variables of the machine.
fn cuda_sim(arguments: &[&str]) -> Output {
    let cache = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuda-sim"));
    command.args(arguments).env("XDG_CACHE_HOME", cache.path());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CUDA_")) {
        command.env_remove(name);
    }
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_program_finds_the_devices_that_were_asked_for() {
    let run = cuda_sim(&["run", "--devices", "2", "--profile", "sm_80", "--", "python3", "-c", CLIENT]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let printed = text(&run.stdout);
    assert!(printed.starts_with("2 8 0 ") && printed.contains("libcuda"), "{printed}");
}

#[test]
fn a_program_finds_nccl_for_the_devices() {
    let library = std::path::Path::new(env!("CARGO_BIN_EXE_cuda-sim")).with_file_name("libnccl_sim.so");
    if cfg!(debug_assertions) && !library.is_file() {
        return println!("skipped: `cargo build -p cuda-nccl-sim` was not run");
    }
    let run = cuda_sim(&["run", "--devices", "2", "--", "python3", "-c", NCCL_CLIENT]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(text(&run.stdout), "23203 2\n");
}

#[test]
fn the_programs_exit_code_is_the_commands() {
    assert_eq!(cuda_sim(&["run", "sh", "-c", "exit 7"]).status.code(), Some(7));
}

#[test]
fn options_are_variables_of_the_program() {
    let script = "echo $CUDA_SIM_THREADS $CUDA_SIM_ENGINE $CUDA_SIM_SEED $CUDA_SIM_TRACE $CUDA_SIM_LOG";
    let options = ["--threads", "3", "--engine", "fibers", "--seed", "7", "--trace", "/tmp/trace", "--log", "warn"];
    let run = cuda_sim(&[&["run"], &options[..], &["--", "sh", "-c", script]].concat());
    assert_eq!(text(&run.stdout), "3 fibers 7 /tmp/trace warn\n");
}

#[test]
fn the_checkers_have_options() {
    let script = "echo $CUDA_SIM_CHECK $CUDA_SIM_CHECK_RESULT $CUDA_SIM_REPORT $CUDA_SIM_SUPPRESSIONS";
    let options = ["--check", "all", "--check-result", "3", "--report", "/tmp/a", "--suppressions", "/tmp/b"];
    let run = cuda_sim(&[&["run"], &options[..], &["--", "sh", "-c", script]].concat());
    assert_eq!(text(&run.stdout), "all 3 /tmp/a /tmp/b\n");
    assert!(!cuda_sim(&["run", "--report", "/tmp/a", "--", "true"]).status.success());
}

#[test]
fn a_value_that_the_device_refuses_is_named() {
    let run = cuda_sim(&["run", "--profile", "sm_1", "--", "python3", "-c", CLIENT]);
    assert!(!run.status.success());
    let told = text(&run.stderr);
    assert!(told.contains("CUDA_SIM_PROFILE=sm_1 is not allowed") && told.contains("sm_90"), "{told}");
}

#[test]
fn a_missing_program_is_named() {
    let run = cuda_sim(&["run", "no-such-program"]);
    assert!(!run.status.success());
    assert!(text(&run.stderr).contains("`no-such-program` cannot be started"), "{}", text(&run.stderr));
}

#[test]
fn info_prints_the_devices_and_the_variables() {
    let run = cuda_sim(&["info", "--devices", "2", "--profile", "sm_75"]);
    let printed = text(&run.stdout);
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(printed.matches("compute capability 7.5").count(), 2, "{printed}");
    assert!(printed.contains("CUDA_SIM_DEVICES=2"), "{printed}");
}

#[test]
fn the_folder_has_the_drivers_names() {
    let cache = tempfile::tempdir().unwrap();
    let folder = Command::new(env!("CARGO_BIN_EXE_cuda-sim"))
        .arg("folder")
        .env("XDG_CACHE_HOME", cache.path())
        .output()
        .unwrap();
    let folder = std::path::PathBuf::from(text(&folder.stdout).trim_end());
    assert!(folder.starts_with(cache.path()));
    assert!(folder.join("libcuda.so.1").is_file() && folder.join("libcuda.so").is_file());
}
