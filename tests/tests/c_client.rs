//! `libcuda_sim.so` as the driver of a C program and of a Rust program.

use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_prelude::*;
use cuda_tests_support::software_device;
use ndarray::Array1;
use tempfile::TempDir;

use crate::support::{add_arrays, combined_output, in_own_process, skip};

/// Creates a folder in which `libcuda.so` and `libcuda.so.1` are the software device.
pub(crate) fn with_library() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = software_device();
    for name in ["libcuda.so", "libcuda.so.1"] {
        std::os::unix::fs::symlink(&library, folder.path().join(name)).expect("the folder is new");
    }
    folder
}

/// Compiles the C program that adds vectors; `None` without a C compiler.
fn compile_c(folder: &Path) -> Option<PathBuf> {
    compile(folder, "vector_add", &["-l:libcuda.so.1"])
}

/// Compiles a C program that links these libraries; `None` without a C compiler.
fn compile(folder: &Path, name: &str, libraries: &[&str]) -> Option<PathBuf> {
    let program = folder.join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c").join(name).with_extension("c");
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-o"]).arg(&program).arg(source);
    let output = cc.arg("-L").arg(folder).args(libraries).output().ok()?;
    assert!(output.status.success(), "{}", combined_output(&output));
    Some(program)
}

#[test]
fn a_c_program_runs_the_vector_add() {
    let folder = with_library();
    let Some(program) = compile_c(folder.path()) else {
        return skip("c_client::a_c_program_runs_the_vector_add", "no C compiler");
    };
    let ptx = folder.path().join("vector_add.ptx");
    std::fs::write(&ptx, add_arrays::<f32>::compile_ptx((7, 5)).expect("it compiles")).expect("it can be written");
    let mut client = Command::new(program);
    client.arg(&ptx).arg("add_arrays_f32").env("LD_LIBRARY_PATH", folder.path());
    let output = client.output().expect("it starts");
    let text = combined_output(&output);
    assert!(output.status.success(), "{}: {text}", output.status);
    assert!(text.contains("1000000 sums, 0 wrong, panicked 0"), "{text}");
}

#[test]
fn a_c_program_gets_the_drivers_codes() {
    let folder = with_library();
    let Some(program) = compile_c(folder.path()) else {
        return skip("c_client::a_c_program_gets_the_drivers_codes", "no C compiler");
    };
    let ptx = folder.path().join("bad.ptx");
    std::fs::write(&ptx, "nonsense\n").expect("it can be written");
    let output = Command::new(program).arg(&ptx).arg("k").env("LD_LIBRARY_PATH", folder.path()).output();
    let text = combined_output(&output.expect("it starts"));
    assert!(text.contains("CUDA_ERROR_INVALID_PTX (218)"), "{text}");
}

/// A program without a subscriber gets the cause of an error on standard error, unless it turns that off; with checkers as well,
/// whose reports come with it. It ends as it wants to, also if it leaves memory behind.
#[test]
fn a_c_program_gets_the_cause_of_an_error_on_standard_error() {
    let folder = with_library();
    let Some(program) = compile_c(folder.path()) else {
        return skip("c_client::a_c_program_gets_the_cause_of_an_error_on_standard_error", "no C compiler");
    };
    let ptx = folder.path().join("wild.ptx");
    let text = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry wild(.param .u64 a, .param .u64 n, .param .u64 b, \
                .param .u64 m, .param .u64 c, .param .u64 l, .param .u64 r, .param .u64 p) {\n.reg .b64 %rd1;\nmov.u64 %rd1, 64;\n\
                st.global.u32 [%rd1], 7;\nret;\n}\n";
    for checkers in ["", "memory,race,init,sync,leak"] {
        std::fs::write(&ptx, text).expect("it can be written");
        let run = |file: &Path, log: Option<&str>| {
            let mut client = Command::new(&program);
            client.arg(file).arg("wild").env("LD_LIBRARY_PATH", folder.path()).env_remove("CUDA_SIM_LOG");
            client.env("CUDA_SIM_CHECK", checkers).env_remove("CUDA_SIM_REPORT");
            client.envs(log.map(|level| ("CUDA_SIM_LOG", level)));
            let output = client.output().expect("it starts");
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{checkers}: {text}");
            text
        };
        let is_checked = !checkers.is_empty();
        let text = run(&ptx, None);
        assert!(text.contains("cuda-sim: error: ") && text.contains("kernel `wild`"), "{text}");
        assert_eq!(text.contains("cuda-sim: memory: null pointer in `wild`"), is_checked, "{text}");
        assert!(!text.contains("cuda-sim: leak: "), "memory of a context that is lost cannot be freed: {text}");
        let text = run(&ptx, Some("off"));
        assert!(!text.contains("cuda-sim: error: "), "it is asked not to: {text}");
        assert_eq!(text.contains("cuda-sim: "), is_checked, "{text}");
        assert!(run(&ptx, Some("loud")).contains("CUDA_SIM_LOG=loud is not allowed"), "it is no level");
        std::fs::write(&ptx, "nonsense\n").expect("it can be written");
        let text = run(&ptx, None);
        assert!(text.contains("cuda-sim: error: loading a module: "), "{text}");
    }
}

/// NVIDIA's runtime is told why it cannot run, once; a client older than CUDA 13 passes no context to `cuCtxGetDevice_v2`.
#[test]
fn a_c_program_finds_functions_by_their_names() {
    let folder = with_library();
    let Some(program) = compile(folder.path(), "newer_names", &["-ldl"]) else {
        return skip("c_client::a_c_program_finds_functions_by_their_names", "no C compiler");
    };
    let mut client = Command::new(program);
    let output = client.env("LD_LIBRARY_PATH", folder.path()).env_remove("CUDA_SIM_LOG").output().expect("it starts");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        text, "other 500\nruntime 500\nagain 500 1\ninit 0\nretain 0\ncurrent 0\ngarbage 0 0 0\ncontext 0 0\n",
        "{errors}"
    );
    let lines: Vec<&str> = errors.lines().collect();
    assert_eq!(lines.len(), 1, "{errors}");
    assert!(lines[0].starts_with("cuda-sim: error: cuGetExportTable: "), "{errors}");
    assert!(lines[0].contains("CUDA runtime") && lines[0].contains("cuModuleLoadData"), "{errors}");
}

/// A program that links any function of the headers starts: unsupported functions exist too, and return an error code.
#[test]
fn every_function_of_the_headers_is_exported() {
    use object::{Object, ObjectSymbol};
    let bytes = std::fs::read(software_device()).expect("it was built");
    let file = object::File::parse(&*bytes).expect("it is a library");
    let exported: std::collections::HashSet<&str> =
        file.dynamic_symbols().filter(|s| s.is_definition()).filter_map(|s| s.name().ok()).collect();
    let of_graphs = |name: &str| ["Graph", "Capture", "UserObject"].iter().any(|part| name.contains(part));
    // The version of CUDA that the device reports.
    let of_device = cuda_sys::SYMBOLS.iter().filter(|symbol| symbol.version <= 13000);
    let missing = of_device.map(|symbol| symbol.name).filter(|name| !exported.contains(name));
    let missing: Vec<&str> = missing.filter(|name| name.starts_with("cuGraphics") || !of_graphs(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A Rust program uses the library through the loader, its exports and cuGetProcAddress.
#[test]
fn a_rust_program_runs_on_the_library() {
    let test = "c_client::a_rust_program_runs_on_the_library";
    let library = software_device();
    in_own_process(test, &[("CUDA_DRIVER_PATH", library.to_str()), ("CUDA_JIT_WARNINGS", None)], || {
        assert!(is_simulated().expect("there is a driver"), "the library is a software device");
        assert!(!warnings::is_enabled(warnings::Warning::LowOccupancy));
        let x = to_device(&Array1::from_iter((0..1000).map(f64::from))).expect("there is room");
        let mut out = device_array_like(&x).expect("there is room");
        add_arrays::launch((8, 128), &x, &x, &mut out).expect("it runs");
        assert_eq!(out.copy_to_host().expect("it ran")[999], 1998.0);
    });
}
