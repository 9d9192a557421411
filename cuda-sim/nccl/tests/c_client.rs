//! A program in C, compiled against NVIDIA's own `nccl.h`, where there is one.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of `nccl.h`: of a toolkit, or of Python's package.
pub(crate) fn header() -> Option<PathBuf> {
    let named = ["NCCL_HOME", "CUDA_HOME", "CONDA_PREFIX"].iter().filter_map(std::env::var_os);
    let named = named.map(|root| Path::new(&root).join("include"));
    let python = Command::new("python3")
        .args(["-c", "import nvidia.nccl; print(list(nvidia.nccl.__path__)[0])"])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .map(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("include"));
    named.chain(python).chain([PathBuf::from("/usr/include")]).find(|folder| folder.join("nccl.h").is_file())
}

/// The declarations of CUDA's headers that `nccl.h` needs, since without a toolkit there are none.
const RUNTIME: &str = "
#include <stddef.h>
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
#define CUDART_VERSION 13000
";

/// The driver's library beside that of this build, if it was built.
fn driver_library() -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    let folder = executable.ancestors().nth(2)?;
    let library = folder.join("libcuda_sim.so");
    library.is_file().then_some(library)
}

#[test]
fn a_c_program_sums_on_two_devices() {
    let Some(header) = header() else {
        return println!("skipped: no nccl.h");
    };
    let Some(driver) = driver_library() else {
        return println!("skipped: `cargo build -p cuda-sim-cdylib` was not run");
    };
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    std::fs::write(place("cuda_runtime.h"), RUNTIME).expect("a file");
    std::fs::write(place("cuda_fp16.h"), "").expect("a file");
    std::fs::write(place("cuda_bf16.h"), "").expect("a file");
    std::os::unix::fs::symlink(driver, place("libcuda.so.1")).expect("a link");
    std::os::unix::fs::symlink(crate::support::library(), place("libnccl.so.2")).expect("a link");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/client.c");
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-o"]).arg(place("client")).arg(source);
    cc.arg("-I").arg(folder.path()).arg("-I").arg(header).arg("-L").arg(folder.path());
    let Ok(output) = cc.args(["-l:libnccl.so.2", "-l:libcuda.so.1"]).output() else {
        return println!("skipped: no C compiler");
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut client = Command::new(place("client"));
    client.env("LD_LIBRARY_PATH", folder.path()).env("CUDA_SIM_DEVICES", "2").env_remove("CUDA_DRIVER_PATH");
    let output = client.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1000 sums, 0 wrong"), "{}: {text}", output.status);
}
