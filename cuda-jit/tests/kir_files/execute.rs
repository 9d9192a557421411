//! Compiles a module and launches it on the software device.
//!
//! # Safety
//!
//! The kernels are launched untyped, with the KIR function's parameters followed by the panic record and the launch tag
//! that the back end adds. The header's arguments were parsed with the parameters' types.

use cuda_driver::{LaunchConfig, Module as Loaded};
use cuda_jit::back::llvm::{Options, emit};
use cuda_jit::kir::{Module, Terminator};
use cuda_jit::target::Target;
use cuda_mem::DeviceArray;
use ndarray::Ix1;

use super::header::{Launch, Outcome, PANIC, default};
use crate::device::{context, on_device, on_host};

/// The size of the panic record in words; `cuda_jit::back::llvm` describes its layout.
const RECORD: usize = 26;
/// The index of the record's first argument, in words.
const ARGUMENTS: usize = 10;

/// Launches a module; returns the final contents of the buffers, and the panic.
pub(super) fn execute(module: &Module, target: &Target, options: &Options, launch: &Launch) -> Result<Outcome, String> {
    let ptx = emit(module, target, options).map_err(|error| error.to_string())?.ptx;
    let (context, mut config) = (context(), LaunchConfig::new(launch.grid, launch.block));
    let spilled = module.spilled_shared().map_or(0, |spilled| spilled.bytes as usize);
    config = config.shared_bytes(launch.shared_bytes + spilled);
    if let Some(cluster) = launch.cluster {
        config = config.cluster(cluster);
    }
    if module.is_cooperative() {
        config = config.cooperative();
    }
    let record = on_device(&[0_u32; RECORD]);
    let buffers: Vec<Option<DeviceArray<u8, Ix1>>> =
        launch.arguments.iter().map(|argument| argument.is_buffer.then(|| on_device(&argument.bytes()))).collect();
    let values = launch.arguments.iter().zip(&buffers);
    let mut cells: Vec<u128> = values
        .map(|(argument, buffer)| buffer.as_ref().map_or(argument.number(), |buffer| buffer.device_ptr().into()))
        .chain([record.device_ptr().into(), 1])
        .collect();
    let mut pointers: Vec<_> = cells.iter_mut().map(|cell| std::ptr::from_mut(cell).cast()).collect();
    // SAFETY: the back end generated this PTX from a verified module.
    let loaded = unsafe { Loaded::load_ptx(&context, &ptx) }.map_err(|error| error.to_string())?;
    let function = loaded.function(&module.functions[0].name).map_err(|error| error.to_string())?;
    let stream = context.default_stream();
    // SAFETY: each pointer leads to a value of its parameter's type, record and tag last; the file's kernel stays within the
    // buffers that its header gives it, and they live until the stream has been synchronised.
    unsafe { function.launch(&config, &stream, &mut pointers) }.map_err(|error| error.to_string())?;
    stream.synchronize().map_err(|error| error.to_string())?;
    let mut outcome: Outcome = Vec::new();
    for (argument, buffer) in launch.arguments.iter().zip(&buffers) {
        outcome.extend(buffer.as_ref().map(|buffer| (argument.name.clone(), argument.show(&on_host(buffer)))));
    }
    outcome.push((PANIC.to_owned(), panic(module, &on_host(&record))?));
    Ok(outcome)
}

/// Decodes the panic in a record.
fn panic(module: &Module, record: &[u32]) -> Result<String, String> {
    let [state, kernel, site, bx, by, bz, tx, ty, tz, ..] = *record else { return Err("no record".into()) };
    match (state, kernel) {
        (0, 0) => return Ok(default(PANIC).to_owned()),
        (1, 1) => {}
        _ => return Err(format!("the panic record was not finished: {record:?}")),
    }
    let site_of = |end: &Terminator| match end {
        Terminator::Panic(id, values) if id.0 == site => Some(values.len()),
        _ => None,
    };
    let blocks = module.functions.iter().flat_map(|function| &function.blocks);
    let count = blocks.filter_map(|block| site_of(&block.end)).max().ok_or(format!("no panic has the site {site}"))?;
    let words = record[ARGUMENTS..].chunks(2).take(count);
    let arguments: Vec<u64> = words.map(|words| u64::from(words[1]) << 32 | u64::from(words[0])).collect();
    Ok(format!("site {site} {arguments:?} in block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz})"))
}
