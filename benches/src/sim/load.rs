//! The time from PTX text to the kernel's first instruction, in a process that has only opened the device; the same a second
//! time; and the parser alone.
//!
//! # Safety
//!
//! The kernels are launched with zeros for all parameters. Views then have no elements, so the kernels do not use their
//! addresses.

use std::ffi::c_void;
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use cuda_driver::{LaunchConfig, Module, Stream};

use super::device::context;
use crate::figures::time;
use crate::kernels::TILE;

/// Processes that load a text.
const PROCESSES: usize = 7;

/// The limits for the parameters of a kernel and for the bytes of each.
const PARAMETERS: usize = 32;
const BYTES: usize = 256;

/// The times, in seconds, for a text in a new process.
#[derive(Clone, Copy)]
pub(super) struct Loaded {
    /// The time of the load of its module.
    pub(super) load: f64,
    /// The time of an empty launch of its kernel.
    pub(super) launch: f64,
    /// The time of both for the same text again.
    pub(super) again: f64,
}

/// The fastest of several new processes, separately for each time; they cache machine code in a folder, or not at all.
pub(super) fn fastest(name: &str, ptx: &str, folder: Option<&Path>) -> Result<Loaded> {
    let mut best = in_new_process(name, ptx, folder)?;
    for _ in 1..PROCESSES {
        let one = in_new_process(name, ptx, folder)?;
        best = Loaded {
            load: best.load.min(one.load),
            launch: best.launch.min(one.launch),
            again: best.again.min(one.again),
        };
    }
    Ok(best)
}

fn in_new_process(name: &str, ptx: &str, folder: Option<&Path>) -> Result<Loaded> {
    let mut command = Command::new(std::env::current_exe()?);
    match folder {
        Some(folder) => command.env("CUDA_JIT_CACHE_DIR", folder).env_remove("CUDA_JIT_CACHE"),
        None => command.env("CUDA_JIT_CACHE", "off"),
    };
    let mut child = command.args(["sim-load", name]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().context("the process has no input")?.write_all(ptx.as_bytes())?;
    let output = child.wait_with_output()?;
    let printed = String::from_utf8(output.stdout)?;
    ensure!(output.status.success(), "loading {name}: {}", output.status);
    let times = printed.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    let [load, launch, again] = times[..] else { bail!("`{printed}` is not three times") };
    Ok(Loaded { load, launch, again })
}

/// Runs the process, which reads the text from its standard input.
pub(crate) fn run(name: &str) -> Result<()> {
    let ptx = std::io::read_to_string(std::io::stdin())?;
    let context = context()?;
    let stream = Stream::new(&context)?;
    let [load, launch] = load(&context, &stream, &ptx, name)?;
    let again: f64 = self::load(&context, &stream, &ptx, name)?.into_iter().sum();
    println!("{load:e} {launch:e} {again:e}");
    Ok(())
}

/// The times of the load and of the launch in seconds.
fn load(context: &cuda_driver::Context, stream: &Stream, ptx: &str, name: &str) -> Result<[f64; 2]> {
    let mut zeros = [0_u64; BYTES / 8];
    let mut parameters = [zeros.as_mut_ptr().cast::<c_void>(); PARAMETERS];
    let start = Instant::now();
    // SAFETY: our own compiler wrote the text.
    let module = unsafe { Module::load_ptx(context, ptx) }?;
    let loaded = start.elapsed().as_secs_f64();
    let function = module.function(name)?;
    let count = function.parameters().context("the software device reports parameters")?.len();
    ensure!(count <= PARAMETERS, "{name} has {count} parameters");
    // SAFETY: the kernel has this many parameters, each of at most that many bytes, and zeros are views of no elements.
    unsafe { function.launch(&LaunchConfig::new(1, (TILE, TILE)), stream, &mut parameters[..count]) }?;
    stream.synchronize()?;
    Ok([loaded, start.elapsed().as_secs_f64() - loaded])
}

/// The texts that are parsed: outputs of real compilers from the tests.
const TEXTS: &[&str] = &[
    include_str!("../../../cuda-sim/tests/samples/nvcc13.ptx"),
    include_str!("../../../cuda-sim/tests/samples/nvrtc12.ptx"),
    include_str!("../../../cuda-sim/tests/samples/llvm22.ptx"),
];

/// The speed of the parser in megabytes per second.
pub(super) fn megabytes_parsed() -> f64 {
    let bytes: usize = TEXTS.iter().map(|text| text.len()).sum();
    let seconds = time(3, 101, || {
        for text in TEXTS {
            black_box(cuda_sim::ptx::parse(black_box(text)).expect("the tests parse it"));
        }
    });
    bytes as f64 / seconds / 1e6
}
