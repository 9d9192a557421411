//! Execution control: configuration checks, parameters, and fault reports of kernel launches.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract. Parameters are copied from the
//! client's pointers with the sizes that the kernel declares.

pub(super) mod attributes;
pub(super) mod clusters;
pub(super) mod occupancy;

use super::module::{function, max_threads};
use super::operations::Op;
use super::state::{FunctionObject, GRIDS, belongs, ready};
use super::stream::target;
use super::{Status, api, get};
use crate::check as checkers;
use crate::codegen;
use crate::codegen::jit::Compiled;
use crate::device::{MAX_BLOCK, MAX_GRID, PROFILE};
use crate::environment::Checks;
use crate::exec::launch::{Fault, Launch};
use crate::memory::IllegalAccess;
use crate::module::Kernel;
use crate::queue::Start;
use attributes::Attributes;
use clusters::RequestedCluster;
use cuda_sys::{CUfunction, CUlaunchConfig, CUresult, CUsharedconfig, CUstream};
use occupancy::resident;
use std::ffi::{c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Returns a function's machine code. A failure is a defect of the code generator, and reported as such, unless there
/// is no LLVM.
pub(super) fn compiled(
    object: &FunctionObject,
    params: &[u64],
    block: [u32; 3],
    clustered: bool,
) -> Result<Arc<Compiled>, CUresult> {
    let checks = checkers::session::checks();
    compiled_for(checks, object, params, block, clustered)
}

/// As [`compiled`], with these checkers.
fn compiled_for(
    checks: Checks,
    object: &FunctionObject,
    params: &[u64],
    block: [u32; 3],
    clustered: bool,
) -> Result<Arc<Compiled>, CUresult> {
    object.kernel.compiled_for(checks, params, block, clustered).map(Arc::clone).map_err(|why| {
        tracing::error!("the kernel '{}' could not be compiled: {why}", object.kernel.signature().name);
        if codegen::has_llvm() { CUresult::CUDA_ERROR_UNKNOWN } else { CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND }
    })
}

fn check(object: &FunctionObject, grid: [u32; 3], block: [u32; 3], dynamic_shared: u32) -> Status {
    let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
    let fits = |size: [u32; 3], limit: [u32; 3]| size.iter().zip(limit).all(|(n, max)| (1..=max).contains(n));
    if !fits(grid, MAX_GRID) || !fits(block, MAX_BLOCK) {
        return Err(invalid);
    }
    let threads: u32 = block.iter().product();
    // The limits of the device and of `.maxntid`.
    if threads > max_threads(object) {
        return Err(invalid);
    }
    if object.kernel.signature().required_threads.is_some_and(|required| required != block) {
        return Err(invalid);
    }
    if dynamic_shared > object.limits.dynamic_shared.load(Ordering::Relaxed) {
        return Err(invalid);
    }
    Ok(())
}

/// Copies parameters from an array of pointers, or from the buffer in `extra`.
fn parameters(
    object: &FunctionObject,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Vec<u64>, CUresult> {
    let function = object.kernel.signature();
    let bytes = function.param_bytes() as usize;
    let mut values = vec![0u64; bytes.div_ceil(8)];
    let to = values.as_mut_ptr().cast::<u8>();
    if !params.is_null() {
        for (i, param) in function.params.iter().enumerate() {
            let from: *mut c_void = get(params.wrapping_add(i))?;
            if from.is_null() {
                return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
            }
            let at = to.wrapping_add(param.offset as usize);
            // SAFETY: by CUDA's contract the client's pointer is valid for the parameter's size; the target is in
            // `values`, which is as long as all parameters.
            unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), at, param.bytes as usize) };
        }
        return Ok(values);
    }
    if extra.is_null() {
        return if function.params.is_empty() { Ok(values) } else { Err(CUresult::CUDA_ERROR_INVALID_VALUE) };
    }
    let (mut buffer, mut size, mut at) = (std::ptr::null_mut::<c_void>(), 0usize, extra);
    loop {
        // A list of keys and values that ends with 0: key 1 is the buffer, key 2 a pointer to its size.
        match get(at)?.addr() {
            0 => break,
            1 => buffer = get(at.wrapping_add(1))?,
            2 => size = get(get(at.wrapping_add(1))?.cast::<usize>())?,
            _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        }
        at = at.wrapping_add(2);
    }
    if buffer.is_null() || size < bytes {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: by CUDA's contract the client's buffer has at least `bytes` bytes, and `values` is as long as all
    // parameters.
    unsafe { std::ptr::copy_nonoverlapping(buffer.cast::<u8>(), to, bytes) };
    Ok(values)
}

/// Gives a launch that is repeated the code for the checkers that are on now.
pub(super) fn renew(launch: &mut Launch, object: &FunctionObject) {
    let checks = checkers::session::checks();
    if checks == launch.checks {
        return;
    }
    if let Ok(code) = compiled_for(checks, object, &launch.params, launch.block, launch.cluster.is_some()) {
        (launch.code, launch.checks) = (code, checks);
    }
}

/// Logs a fault.
pub(super) fn report(kernel: &Kernel, launch: &Launch, fault: &Fault) {
    tracing::error!("{}", kernel.explain(launch, fault));
}

/// Returns the status code of a fault.
pub(super) fn code_of(fault: &Fault) -> CUresult {
    match fault {
        Fault::Memory { illegal: IllegalAccess::Misaligned, .. } => CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
        Fault::Memory { .. } => CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        // A deadlock is not LAUNCH_TIMEOUT, which is about a time limit that does not exist here. This is the code of a
        // device whose checker finds threads at a barrier that cannot open.
        Fault::Trap(_) | Fault::StackOverflow(_) | Fault::Mbarrier(..) | Fault::Deadlock { .. } => {
            CUresult::CUDA_ERROR_LAUNCH_FAILED
        }
        Fault::Assert { .. } => CUresult::CUDA_ERROR_ASSERT,
        Fault::OutOfMemory => CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
        Fault::NoCode | Fault::Stopped => CUresult::CUDA_ERROR_UNKNOWN,
    }
}

/// The configuration of a launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Configuration {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared: u32,
    pub(super) kind: LaunchKind,
}

/// The further properties of an extended launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LaunchKind {
    /// True for a cooperative launch.
    pub(super) cooperative: bool,
    pub(super) cluster: RequestedCluster,
}

/// Returns a launch as an operation, with copied parameters, for a context to which the function belongs.
pub(super) fn prepare(
    f: CUfunction,
    context: u32,
    how: Configuration,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Op, CUresult> {
    let object = function(f)?;
    if !belongs(object.module_handle, context) {
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    let params = || parameters(&object, params, extra);
    let launch = configured(&object, context, how, params)?;
    Ok(Op::Kernel { launch: Box::new(launch), function: object })
}

/// Returns a launch whose parameters are read once the configuration was checked.
pub(super) fn configured(
    object: &FunctionObject,
    context: u32,
    how: Configuration,
    params: impl FnOnce() -> Result<Vec<u64>, CUresult>,
) -> Result<Launch, CUresult> {
    check(object, how.grid, how.block, how.shared)?;
    let (threads, dynamic) = (how.block.iter().product(), u64::from(how.shared));
    let LaunchKind { cooperative, cluster } = how.kind;
    let cluster = clusters::of_launch(object, cluster, how.grid, threads, dynamic)?;
    let resident = match cluster {
        None => resident(object, threads, dynamic) * PROFILE.multiprocessors,
        Some(extents) => clusters::most_active(object, cluster, threads, dynamic)? * extents.iter().product::<u32>(),
    };
    if cooperative && how.grid.iter().map(|n| u64::from(*n)).product::<u64>() > u64::from(resident) {
        return Err(CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    let (params, checks) = (params()?, checkers::session::checks());
    Ok(Launch {
        code: compiled_for(checks, object, &params, how.block, cluster.is_some())?,
        checks,
        params,
        data: object.module.data(),
        managed: object.module.managed.address(),
        grid: how.grid,
        block: how.block,
        dynamic_shared: how.shared,
        grid_id: GRIDS.fetch_add(1, Ordering::Relaxed),
        context,
        // The accessible slots are determined when the launch runs.
        slots: u64::MAX,
        cooperative,
        resident,
        cluster,
    })
}

fn launch(
    f: CUfunction,
    on: CUstream,
    how: Configuration,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Status {
    let (context, stream) = target(on)?;
    let op = prepare(f, stream.context, how, params, extra)?;
    // As on a GPU, a fault is not the launch's status but that of every later call.
    stream.submit(&context, op, Start::Driver)
}

api! {
    fn cuLaunchKernel / cuLaunchKernel_ptsz(
        f: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        on: CUstream,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        launch(f, on, Configuration { grid, block, shared, kind: LaunchKind::default() }, params, extra)
    }
    fn cuLaunchCooperativeKernel / cuLaunchCooperativeKernel_ptsz(
        f: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared: c_uint,
        on: CUstream,
        params: *mut *mut c_void,
    ) {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let kind = LaunchKind { cooperative: true, cluster: None };
        launch(f, on, Configuration { grid, block, shared, kind }, params, std::ptr::null_mut())
    }
    fn cuLaunchKernelEx / cuLaunchKernelEx_ptsz(
        config: *const CUlaunchConfig,
        f: CUfunction,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) {
        ready()?;
        function(f)?;
        let c = get(config)?;
        let attributes = Attributes::read(&c)?;
        let (grid, block) = ([c.gridDimX, c.gridDimY, c.gridDimZ], [c.blockDimX, c.blockDimY, c.blockDimZ]);
        let kind = LaunchKind { cooperative: attributes.cooperative, cluster: attributes.cluster };
        let shared = c.sharedMemBytes;
        attributes.check(target(c.hStream)?.1.context)?;
        launch(f, c.hStream, Configuration { grid, block, shared, kind }, params, extra)?;
        attributes.record(c.hStream)
    }
    fn cuFuncSetSharedMemConfig(f: CUfunction, config: CUsharedconfig) {
        ready()?;
        function(f)?;
        // Current devices have banks of four bytes whatever is requested.
        if config.0 > 2 { Err(CUresult::CUDA_ERROR_INVALID_VALUE) } else { Ok(()) }
    }
}
