//! Runs the suite's kernels in Rust, CUDA C++ and Python on the software device and compares them with the host, so that the
//! benchmarks compare the same programs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_driver::{Context, Driver};
use cuda_tests_support::software_device;

use super::ALL;
use super::launch::Arg;
use super::nvrtc::Nvrtc;
use super::programs::{self, Program};

fn context() -> Context {
    let driver = Driver::new(cuda_tests_support::driver_api()).unwrap();
    driver.device(0).unwrap().primary_context().unwrap()
}

impl Program {
    /// Compares the contents of the arguments with the expected ones.
    fn check(&self, language: &str, after: &[Vec<u8>]) {
        for (arg, expected) in &self.expected {
            let got = self.launch.args[*arg].numbers(&after[*arg]);
            assert_eq!(got.len(), expected.len());
            for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
                let error = (got - expected).abs() / expected.abs().max(self.unit);
                let name = self.launch.name;
                assert!(error < self.tolerance, "{name} in {language}: element {i} of {arg} is {got}, not {expected}");
            }
        }
    }

    /// Launches the entry of a PTX text; with `structs`, all words of an argument are one parameter.
    fn run(&self, language: &str, ptx: &str, structs: bool) {
        let context = context();
        let mut loaded = self.launch.load(&context, ptx, structs).unwrap();
        loaded.launch(&context.default_stream()).unwrap();
        self.check(language, &loaded.contents().unwrap());
    }
}

#[test]
fn kernels_in_rust() {
    let programs = programs::all();
    assert_eq!(
        programs.iter().map(|program| program.launch.name).collect::<Vec<_>>(),
        ALL.iter().map(|k| k.name).collect::<Vec<_>>()
    );
    for (program, kernel) in programs.iter().zip(ALL) {
        program.run("Rust", &(kernel.ptx)().unwrap(), false);
    }
}

/// The folder of this name that `cargo xtask setup --all` has downloaded.
fn downloaded(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target").join(name);
    let found = folder.join("wheels.txt").is_file();
    if !found {
        eprintln!("skipped: no {name}; `cargo xtask setup --all` downloads it");
    }
    found.then_some(folder)
}

#[test]
fn kernels_in_cuda_cpp() {
    let Some(compilers) = downloaded("compilers") else { return };
    let nvrtc = Nvrtc::open(&compilers.join("cuda13/lib64")).unwrap();
    for (program, kernel) in programs::all().iter().zip(ALL) {
        program.run("CUDA C++", &nvrtc.ptx(&kernel.cuda()).unwrap(), true);
    }
}

/// The kernels in Python, and the script that runs them.
const PYTHON: &str = concat!(include_str!("../../python/kernels.py"), include_str!("../../python/run.py"));

#[test]
fn kernels_in_python() {
    let (Some(numba), Some(compilers)) = (downloaded("numba"), downloaded("compilers")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = |program: &Program, arg: usize| folder.path().join(format!("{}.{arg}", program.launch.name));
    let mut launches = String::new();
    let programs = programs::all();
    for program in &programs {
        let launch = &program.launch;
        let [[columns, rows], [x, y]] = [launch.grid, launch.block];
        write!(launches, "{} {columns} {rows} {x} {y}", launch.name).unwrap();
        for (index, arg) in launch.args.iter().enumerate() {
            let file = file(program, index);
            std::fs::write(&file, arg.bytes()).unwrap();
            let (ty, shape) = match arg {
                Arg::Number(_) => ("float32", String::new()),
                Arg::Bytes(bytes) => ("uint8", bytes.len().to_string()),
                Arg::Counts(counts) => ("uint32", counts.len().to_string()),
                Arg::Row(row) => ("float32", row.len().to_string()),
                Arg::Bodies(numbers) => ("float32", format!("{},4", numbers.len() / 4)),
                Arg::Matrix(matrix) => ("float32", format!("{},{}", matrix.nrows(), matrix.ncols())),
            };
            write!(launches, " {ty}:{shape}:{}", file.display()).unwrap();
        }
        launches.push('\n');
    }
    let list = folder.path().join("launches");
    std::fs::write(&list, launches).unwrap();
    let python = |arguments: &[&str]| {
        let mut python = Command::new("python3");
        python.env("PYTHONPATH", numba.join("site")).env("PYTHONDONTWRITEBYTECODE", "1");
        python.env("CUDA_HOME", compilers.join("cuda12")).env("NUMBA_CUDA_DRIVER", software_device());
        python.args(arguments).arg(&list).output().unwrap()
    };
    // The wheels are for the version of Python that downloaded them.
    if !python(&["-c", "import numba"]).status.success() {
        eprintln!("skipped: this machine's python3 cannot import Numba");
        return;
    }
    let output = python(&["-c", PYTHON]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for program in &programs {
        let after: Vec<Vec<u8>> =
            (0..program.launch.args.len()).map(|arg| std::fs::read(file(program, arg)).unwrap()).collect();
        program.check("Python", &after);
    }
}
