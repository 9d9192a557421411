//! Launches of the suite's kernels, compiled by whichever compiler, on any device.
//!
//! # Safety
//!
//! A launch passes the parameters of the kernel of that name: in Rust each word of a slice or view by itself, in CUDA C++ the
//! struct in `common.cuh`; then the panic record and the kernel's number. [`Loaded`] owns the arrays, and waits for the device
//! before it gives them up.

use std::ffi::c_void;

use anyhow::{Context as _, Result, ensure};
use cuda_driver::{Context, Function, LaunchConfig, Module, Stream};
use cuda_mem::{DeviceArray, from_slice};
use ndarray::{Array2, Ix1};

/// An argument, in host memory.
pub(crate) enum Arg {
    Number(f32),
    Bytes(Vec<u8>),
    Counts(Vec<u32>),
    Row(Vec<f32>),
    /// Four numbers for each body.
    Bodies(Vec<f32>),
    Matrix(Array2<f32>),
}

/// A launch of a kernel.
pub(crate) struct Launch {
    /// The kernel's name.
    pub(crate) name: &'static str,
    pub(crate) grid: [usize; 2],
    pub(crate) block: [usize; 2],
    pub(crate) args: Vec<Arg>,
}

/// Pseudorandom numbers from 0 to 1.
pub(crate) fn noise(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    (0..count).map(|_| next()).collect()
}

/// A matrix of pseudorandom numbers from 0 to 1.
pub(crate) fn matrix(rows: usize, cols: usize, seed: u32) -> Array2<f32> {
    Array2::from_shape_vec((rows, cols), noise(rows * cols, seed)).expect("there is a number for each element")
}

impl Arg {
    /// The contents of its memory.
    pub(crate) fn bytes(&self) -> Vec<u8> {
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
    pub(crate) fn numbers(&self, bytes: &[u8]) -> Vec<f64> {
        let word = |bytes: &[u8]| <[u8; 4]>::try_from(bytes).unwrap();
        match self {
            Arg::Bytes(_) => bytes.iter().copied().map(f64::from).collect(),
            Arg::Counts(_) => bytes.chunks(4).map(|bytes| u32::from_ne_bytes(word(bytes)).into()).collect(),
            _ => bytes.chunks(4).map(|bytes| f32::from_ne_bytes(word(bytes)).into()).collect(),
        }
    }
}

impl Launch {
    /// A one-dimensional launch.
    pub(crate) fn row(name: &'static str, (grid, block): (usize, usize), args: Vec<Arg>) -> Launch {
        Launch { name, grid: [grid, 1], block: [block, 1], args }
    }

    /// Loads the entry of a PTX text, and copies the arguments to the device; with `structs`, all words of an argument are one
    /// parameter.
    pub(crate) fn load(&self, context: &Context, ptx: &str, structs: bool) -> Result<Loaded<'_>> {
        let entry =
            ptx.split(".entry ").nth(1).and_then(|rest| rest.split('(').next()).context("the text has no entry")?;
        // SAFETY: a compiler wrote this PTX from a kernel that checks its indices.
        let function = unsafe { Module::load_ptx(context, ptx) }?.function(entry)?;
        let arrays =
            self.args.iter().map(|arg| from_slice(context, &arg.bytes())).collect::<cuda_mem::Result<Vec<_>>>()?;
        let record = from_slice(context, &[0_u64; 8])?;
        let mut words: Vec<Vec<u64>> =
            self.args.iter().zip(&arrays).map(|(arg, array)| arg.words(array.device_ptr())).collect();
        words.extend([vec![record.device_ptr()], vec![1]]);
        Ok(Loaded { launch: self, context: context.clone(), function, arrays, record, words, structs })
    }
}

/// A kernel on a device, with its arguments.
pub(crate) struct Loaded<'a> {
    launch: &'a Launch,
    context: Context,
    function: Function,
    arrays: Vec<DeviceArray<u8, Ix1>>,
    record: DeviceArray<u64, Ix1>,
    words: Vec<Vec<u64>>,
    structs: bool,
}

impl Loaded<'_> {
    /// Launches the kernel in `stream`, and does not wait for it.
    pub(crate) fn launch(&mut self, stream: &Stream) -> cuda_driver::Result<()> {
        let structs = self.structs;
        let passed = |words: &mut Vec<u64>| -> Vec<*mut c_void> {
            match structs {
                true => vec![words.as_mut_ptr().cast()],
                false => words.iter_mut().map(|word| std::ptr::from_mut(word).cast()).collect(),
            }
        };
        let mut params: Vec<*mut c_void> = self.words.iter_mut().flat_map(passed).collect();
        let config = LaunchConfig::new(self.launch.grid, self.launch.block);
        // SAFETY: the parameters are those of the kernel of this name, and the arrays outlive the launch.
        unsafe { self.function.launch(&config, stream, &mut params) }
    }

    /// The contents of the arguments after the launches.
    pub(crate) fn contents(&self) -> Result<Vec<Vec<u8>>> {
        self.context.synchronize()?;
        ensure!(self.record.copy_to_host()?.iter().all(|&word| word == 0), "{} panicked", self.launch.name);
        self.arrays.iter().map(|array| Ok(array.copy_to_host()?.to_vec())).collect()
    }
}

impl Drop for Loaded<'_> {
    fn drop(&mut self) {
        // An error has been returned by `contents`, or the arrays are leaked with the context's.
        let _ = self.context.synchronize();
    }
}
