//! Devices and the thread's current context.

use cuda_driver::{Context, Device, ProfilerGuard};
use cuda_jit::Kernel;
use cuda_jit::target::ComputeCapability;

use crate::{Error, Result, driver};

/// Returns true if kernels can run on this machine, on a GPU or on the software device.
///
/// # Examples
///
/// ```
/// assert!(cuda_prelude::is_available());
/// ```
pub fn is_available() -> bool {
    driver().and_then(|driver| Ok(driver.device_count()?)).is_ok_and(|count| count > 0)
}

/// All devices of the process's driver.
///
/// # Examples
///
/// ```
/// for device in cuda_prelude::list_devices()? {
///     println!("{device}");
/// }
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no driver.
pub fn list_devices() -> Result<Vec<Device>> {
    Ok(driver()?.devices()?)
}

/// The devices, in order: `gpus()?[1].select()?` is Numba's `with cuda.gpus[1]:`.
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// {
///     let _selected = gpus()?[0].select()?;
///     // launches and allocations on that device
/// }
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// If there is no driver.
pub fn gpus() -> Result<Vec<Device>> {
    list_devices()
}

/// Prints the devices to standard output, and returns true if kernels can run on one of them.
///
/// # Examples
///
/// ```
/// assert!(cuda_prelude::detect()?);
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no driver, or it does not describe a device.
pub fn detect() -> Result<bool> {
    let devices = list_devices()?;
    println!("Found {} CUDA device{}", devices.len(), if devices.len() == 1 { "" } else { "s" });
    let mut supported = 0;
    for device in &devices {
        supported += usize::from(describe(device, &mut std::io::stdout().lock())?);
    }
    println!("Summary: kernels run on {supported} of {}", devices.len());
    Ok(supported > 0)
}

/// The lowest compute capability that kernels are compiled for.
const MIN_COMPUTE_CAPABILITY: (u32, u32) = (5, 0);

/// Prints a device, and returns true if kernels can run on it.
fn describe(device: &Device, out: &mut impl std::io::Write) -> Result<bool> {
    let (major, minor) = device.compute_capability()?;
    let supported = (major, minor) >= MIN_COMPUTE_CAPABILITY;
    let ask = |name| device.attribute_by_name(name);
    let verdict = if supported { "supported" } else { "not supported: kernels need compute capability 5.0" };
    let watchdog = if ask("KERNEL_EXEC_TIMEOUT")? == 0 { "no" } else { "yes, kernels that run long are ended" };
    let mode = match ask("COMPUTE_MODE")? {
        0 => "default".to_owned(),
        2 => "prohibited".to_owned(),
        3 => "exclusive to one process".to_owned(),
        other => other.to_string(),
    };
    let yes = |supports: cuda_driver::Result<bool>| supports.map(|it| if it { "yes" } else { "no" });
    let floats = [device.supports_float16(), device.supports_bfloat16(), device.supports_float8()];
    let [f16, bf16, fp8] = floats.map(yes);
    let lines = [
        ("compute capability", format!("{major}.{minor}")),
        ("PCI address", device.pci_bus_id()?),
        ("UUID", device.uuid()?.to_string()),
        ("memory", format!("{} MiB", device.total_memory()? >> 20)),
        ("multiprocessors", ask("MULTIPROCESSOR_COUNT")?.to_string()),
        ("watchdog", watchdog.to_owned()),
        ("compute mode", mode),
        ("f32 : f64 throughput", format!("{} : 1", ask("SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO")?)),
        ("f16, bf16, fp8", format!("{}, {}, {}", f16?, bf16?, fp8?)),
    ];
    let head = format!("id {:<4} {}  [{verdict}]\n", device.ordinal(), device.name()?);
    let text = lines.iter().fold(head, |text, (name, value)| text + &format!("{name:>28}: {value}\n"));
    out.write_all(text.as_bytes()).map_err(cuda_driver::Error::other)?;
    Ok(supported)
}

/// Makes a device's context the thread's current one.
///
/// # Examples
///
/// ```
/// let device = cuda_prelude::select_device(0)?;
/// assert_eq!(device, cuda_prelude::current_device()?);
/// assert!(cuda_prelude::select_device(1000).is_err());
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no such device, or its context cannot be created.
pub fn select_device(ordinal: usize) -> Result<Device> {
    let device = driver()?.device(ordinal)?;
    device.primary_context()?.set_current();
    Ok(device)
}

/// The thread's current context. If none was selected, it is the one that another library has bound to the thread, if there is
/// one, else that of device 0.
///
/// # Examples
///
/// ```
/// let memory = cuda_prelude::current_context()?.memory_info()?;
/// println!("{} of {} bytes are free", memory.free, memory.total);
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no driver or device, or the context that another library has bound is not its device's primary one.
pub fn current_context() -> Result<Context> {
    match Context::current() {
        Some(context) => Ok(context),
        None => {
            let driver = driver()?;
            let context = match driver.adopted_context()? {
                Some(context) => context,
                None => driver.device(0)?.primary_context()?,
            };
            context.set_current();
            Ok(context)
        }
    }
}

/// The thread's current device; device 0 if none was selected.
///
/// # Examples
///
/// ```
/// println!("{}", cuda_prelude::current_device()?.name()?);
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no driver or device.
pub fn current_device() -> Result<Device> {
    Ok(current_context()?.device().clone())
}

/// Returns true if the current device has instructions for `f16`; see [`Device::supports_float16`], and
/// [`Device::supports_bfloat16`] and [`Device::supports_float8`] for the other short floats.
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// let cc = current_device()?.compute_capability()?;
/// assert_eq!(is_float16_supported()?, cc >= (5, 3));
/// assert_eq!(is_bfloat16_supported()?, cc >= (8, 0));
/// assert_eq!(is_float8_supported()?, cc >= (8, 9));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// If there is no driver or device.
pub fn is_float16_supported() -> Result<bool> {
    Ok(current_device()?.supports_float16()?)
}

/// Returns true if the current device has instructions for `bf16`; see [`is_float16_supported`].
///
/// # Errors
///
/// If there is no driver or device.
pub fn is_bfloat16_supported() -> Result<bool> {
    Ok(current_device()?.supports_bfloat16()?)
}

/// Returns true if the current device has instructions for 8-bit floats; see [`is_float16_supported`].
///
/// # Errors
///
/// If there is no driver or device.
pub fn is_float8_supported() -> Result<bool> {
    Ok(current_device()?.supports_float8()?)
}

/// Unsets the thread's current context: the next call that needs one selects device 0 again. A context is released with the
/// last object in it.
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// select_device(0)?;
/// close();
/// assert!(Context::current().is_none());
/// # Ok::<(), Error>(())
/// ```
pub fn close() {
    drop(Context::clear_current());
}

/// Starts the profiler's collection in this process.
///
/// # Examples
///
/// ```
/// cuda_prelude::profile_start()?;
/// // the work to profile
/// cuda_prelude::profile_stop()?;
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or the driver fails.
pub fn profile_start() -> Result<()> {
    Ok(current_context()?.profiler_start()?)
}

/// Stops the profiler's collection in this process.
///
/// # Examples
///
/// ```
/// cuda_prelude::profile_stop()?;
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or the driver fails.
pub fn profile_stop() -> Result<()> {
    Ok(current_context()?.profiler_stop()?)
}

/// Starts the profiler's collection until the guard is dropped.
///
/// # Examples
///
/// ```
/// let _profiled = cuda_prelude::profiling()?;
/// // the work to profile
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or the driver fails.
pub fn profiling() -> Result<ProfilerGuard> {
    Ok(current_context()?.profiling()?)
}

/// Waits until the current context has nothing left to do.
///
/// # Examples
///
/// ```
/// cuda_prelude::synchronize()?;
/// # Ok::<(), cuda_prelude::Error>(())
/// ```
///
/// # Errors
///
/// If a kernel panicked, or the driver fails.
pub fn synchronize() -> Result<()> {
    Ok(current_context()?.synchronize()?)
}

/// The variable that sets the default compute capability of [`compile_ptx`].
const DEFAULT_CC_VARIABLE: &str = "CUDA_JIT_DEFAULT_CC";

/// Compiles a kernel to PTX without opening a driver. The default compute capability is that of `CUDA_JIT_DEFAULT_CC`, else
/// 7.5.
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// #[kernel]
/// fn first(x: &mut [i32]) {
///     x[0] = 1;
/// }
/// assert!(compile_ptx::<first>(Some((9, 0).into()))?.contains("sm_90"));
/// assert!(first::compile_ptx((9, 0))?.contains("sm_90"));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// If the compute capability is unknown, or the kernel does not compile.
pub fn compile_ptx<K: Kernel>(cc: Option<ComputeCapability>) -> Result<String> {
    let cc = match (cc, std::env::var(DEFAULT_CC_VARIABLE)) {
        (Some(cc), _) => cc,
        (None, Ok(text)) => text.parse().map_err(Error::Target)?,
        (None, Err(_)) => ComputeCapability::DEFAULT,
    };
    cuda_jit::compile_ptx::<K>(cc)
}

/// Compiles a kernel to PTX for the current device.
///
/// # Examples
///
/// ```
/// use cuda_prelude::*;
///
/// #[kernel]
/// fn zero(x: &mut [f32]) {
///     x[grid::<1>()] = 0.0;
/// }
///
/// assert!(compile_ptx_for_current_device::<zero>()?.contains(".entry"));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
///
/// If there is no device, or the kernel does not compile.
pub fn compile_ptx_for_current_device<K: Kernel>() -> Result<String> {
    cuda_jit::compile_ptx::<K>(current_device()?.compute_capability()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_described_by_a_heading_and_a_line_for_each_property() {
        let device = list_devices().expect("there is a driver").remove(0);
        let mut out = Vec::new();
        assert!(describe(&device, &mut out).expect("it can be described"));
        let text = String::from_utf8(out).expect("it is text");
        assert!(text.starts_with("id 0    ") && text.lines().next().is_some_and(|head| head.ends_with("[supported]")));
        for name in ["compute capability: ", "PCI address: ", "UUID: GPU-", "watchdog: ", "f16, bf16, fp8: "] {
            assert!(text.contains(name), "{text}");
        }
    }
}
