//! Runs the suite's kernels in Rust, CUDA C++ and Python on the software device and compares them with the host, so that the
//! benchmarks compare the same programs.
//!
//! # Safety
//!
//! A launch passes the parameters of the kernel of that name: in Rust each word of a slice or view by itself, in CUDA C++ the
//! struct in `common.cuh`; then the panic record and the kernel's number. The arrays live until the stream has been
//! synchronised.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_driver::{Context, Driver, LaunchConfig, Module};
use cuda_mem::{DeviceArray, from_slice};
use cuda_tests_support::software_device;
use ndarray::Ix1;

use super::ALL;
use super::nvrtc::Nvrtc;
use super::programs::{self, Arg, Program};

fn context() -> Context {
    let driver = Driver::new(cuda_sim::driver_api()).unwrap();
    driver.device(0).unwrap().primary_context().unwrap()
}

impl Arg {
    /// The contents of its memory.
    fn bytes(&self) -> Vec<u8> {
        match self {
            Arg::Number(number) => number.to_ne_bytes().to_vec(),
            Arg::Bytes(bytes) => bytes.clone(),
            Arg::Counts(counts) => counts.iter().flat_map(|count| count.to_ne_bytes()).collect(),
            Arg::Row(row) | Arg::Bodies(row) => row.iter().flat_map(|number| number.to_ne_bytes()).collect(),
            Arg::Matrix(matrix) => matrix.iter().flat_map(|number| number.to_ne_bytes()).collect(),
        }
    }

    /// The words that are passed to a kernel: a number, or an address with lengths and strides.
    fn words(&self, address: u64) -> Vec<u64> {
        match self {
            Arg::Number(number) => vec![number.to_bits().into()],
            Arg::Bytes(bytes) => vec![address, bytes.len() as u64],
            Arg::Counts(counts) => vec![address, counts.len() as u64],
            Arg::Row(row) => vec![address, row.len() as u64],
            Arg::Bodies(numbers) => vec![address, numbers.len() as u64 / 4],
            Arg::Matrix(matrix) => {
                let (rows, cols) = (matrix.nrows() as u64, matrix.ncols() as u64);
                vec![address, rows, cols, cols, 1]
            }
        }
    }

    /// Converts the contents of its memory to numbers.
    fn numbers(&self, bytes: &[u8]) -> Vec<f64> {
        let word = |bytes: &[u8]| <[u8; 4]>::try_from(bytes).unwrap();
        match self {
            Arg::Bytes(_) => bytes.iter().copied().map(f64::from).collect(),
            Arg::Counts(_) => bytes.chunks(4).map(|bytes| u32::from_ne_bytes(word(bytes)).into()).collect(),
            _ => bytes.chunks(4).map(|bytes| f32::from_ne_bytes(word(bytes)).into()).collect(),
        }
    }
}

impl Program {
    /// Compares the contents of the arguments with the expected ones.
    fn check(&self, language: &str, after: &[Vec<u8>]) {
        for (arg, expected) in &self.expected {
            let got = self.args[*arg].numbers(&after[*arg]);
            assert_eq!(got.len(), expected.len());
            for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
                let error = (got - expected).abs() / expected.abs().max(self.unit);
                let name = self.name;
                assert!(error < self.tolerance, "{name} in {language}: element {i} of {arg} is {got}, not {expected}");
            }
        }
    }

    /// Launches the entry of a PTX text; with `structs`, all words of an argument are one parameter.
    fn run(&self, language: &str, ptx: &str, structs: bool) {
        let context = context();
        let entry = ptx.split(".entry ").nth(1).and_then(|rest| rest.split('(').next()).unwrap();
        // SAFETY: a compiler wrote this PTX from a kernel that checks its indices.
        let module = unsafe { Module::load_ptx(&context, ptx) }.unwrap();
        let arrays: Vec<DeviceArray<u8, Ix1>> =
            self.args.iter().map(|arg| from_slice(&context, &arg.bytes()).unwrap()).collect();
        let record = from_slice(&context, &[0_u64; 8]).unwrap();
        let mut words: Vec<Vec<u64>> =
            self.args.iter().zip(&arrays).map(|(arg, array)| arg.words(array.device_ptr())).collect();
        words.extend([vec![record.device_ptr()], vec![1]]);
        let passed = |words: &mut Vec<u64>| match structs {
            true => vec![words.as_mut_ptr().cast()],
            false => words.iter_mut().map(|word| std::ptr::from_mut(word).cast()).collect(),
        };
        let mut params: Vec<*mut std::ffi::c_void> = words.iter_mut().flat_map(passed).collect();
        let config = LaunchConfig::new(self.grid, self.block);
        let (function, stream) = (module.function(entry).unwrap(), context.default_stream());
        // SAFETY: the parameters are those of the kernel of this name, and the arrays outlive the launch.
        unsafe { function.launch(&config, &stream, &mut params) }.unwrap();
        stream.synchronize().unwrap();
        assert_eq!(record.copy_to_host().unwrap().to_vec(), [0; 8], "{} in {language} panicked", self.name);
        let after: Vec<Vec<u8>> = arrays.iter().map(|array| array.copy_to_host().unwrap().to_vec()).collect();
        self.check(language, &after);
    }
}

#[test]
fn kernels_in_rust() {
    let programs = programs::all();
    assert_eq!(
        programs.iter().map(|program| program.name).collect::<Vec<_>>(),
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
    let file = |program: &Program, arg: usize| folder.path().join(format!("{}.{arg}", program.name));
    let mut launches = String::new();
    let programs = programs::all();
    for program in &programs {
        let [[columns, rows], [x, y]] = [program.grid, program.block];
        write!(launches, "{} {columns} {rows} {x} {y}", program.name).unwrap();
        for (index, arg) in program.args.iter().enumerate() {
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
            (0..program.args.len()).map(|arg| std::fs::read(file(program, arg)).unwrap()).collect();
        program.check("Python", &after);
    }
}
