//! The driver in use, which must be a software device: its memory is the process's own, so that the ranks' threads read and
//! write it directly.
//!
//! It is the one that a client handed over, else the library that `CUDA_DRIVER_PATH` names, else the `libcuda.so.1` that the
//! process has loaded or that the loader finds.
//!
//! # Safety
//!
//! The driver's functions are called with pointers to variables that live through the call, and with handles that clients
//! passed as what the header says.

use crate::abi::Code;
use crate::failure::{Failure, Result};
use cuda_sys::{CUcontext, CUdriverProcAddressQueryResult, CUresult, DriverApi, DriverFns, MissingSymbol, SYMBOLS};
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The first bytes of the UUID of every software device.
const SOFTWARE_UUID: &[u8] = b"cuda-sim";

/// The type of `cuGetProcAddress_v2`.
pub(crate) type ProcAddress =
    unsafe extern "C" fn(*const c_char, *mut *mut c_void, c_int, u64, *mut CUdriverProcAddressQueryResult) -> CUresult;

static DRIVER: OnceLock<DriverApi> = OnceLock::new();
/// Held while the driver is chosen.
static CHOOSING: Mutex<()> = Mutex::new(());

/// Opens a driver and requires that it is a software device.
fn choose(open: impl FnOnce() -> Result<DriverApi>) -> Result<&'static DriverApi> {
    if let Some(driver) = DRIVER.get() {
        return Ok(driver);
    }
    let _choosing = CHOOSING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(driver) = DRIVER.get() {
        return Ok(driver);
    }
    let driver = open()?;
    let mut uuid = cuda_sys::CUuuid::default();
    // SAFETY: the function takes a number.
    check("cuInit", unsafe { (driver.cuInit()?)(0) })?;
    // SAFETY: the UUID lives through the call.
    check("cuDeviceGetUuid", unsafe { (driver.cuDeviceGetUuid_v2()?)(&raw mut uuid, 0) })?;
    let bytes = uuid.bytes.map(|byte| byte as u8);
    if !bytes.starts_with(SOFTWARE_UUID) {
        return Err(Failure::new(
            Code::ncclInvalidUsage,
            format!(
                "{} drives a GPU; this library works with software devices only, use NVIDIA's NCCL",
                driver.origin()
            ),
        ));
    }
    Ok(DRIVER.get_or_init(|| driver))
}

/// Returns the driver.
pub(crate) fn driver() -> Result<&'static DriverApi> {
    choose(|| {
        let named = DriverApi::from_environment().transpose();
        named
            .unwrap_or_else(DriverApi::load)
            .map_err(|error| Failure::new(Code::ncclUnhandledCudaError, error.to_string()))
    })
}

/// Makes the driver whose `cuGetProcAddress_v2` this is the one in use: for programs that contain the software device.
///
/// # Safety
///
/// The function is that of a CUDA driver.
pub(crate) unsafe fn adopt(lookup: ProcAddress) -> Result<()> {
    choose(|| {
        let mut fns = DriverFns::default();
        macro_rules! take {
            ($($name:ident),* $(,)?) => { $(
                let symbol = SYMBOLS.iter().find(|symbol| symbol.name == stringify!($name)).expect("it is in the table");
                let base = CString::new(symbol.base).expect("C identifiers hold no zero byte");
                let (mut address, mut found) = (std::ptr::null_mut(), CUdriverProcAddressQueryResult::default());
                // SAFETY: the text and the outputs live through the call; the flag asks for the legacy default stream.
                let status = unsafe { lookup(base.as_ptr(), &raw mut address, symbol.version, 1, &raw mut found) };
                if status == CUresult::CUDA_SUCCESS && !address.is_null() {
                    // SAFETY: the driver returns the function of this name and version, which has the table's type.
                    fns.$name = Some(unsafe { std::mem::transmute_copy::<*mut c_void, _>(&address) });
                }
            )* };
        }
        take!(
            cuInit, cuDeviceGetUuid_v2, cuDeviceGetCount, cuDeviceGet, cuDevicePrimaryCtxRetain,
            cuDevicePrimaryCtxRelease_v2, cuCtxGetCurrent, cuCtxGetDevice, cuCtxPushCurrent_v2, cuCtxPopCurrent_v2,
            cuMemAlloc_v2, cuMemFree_v2, cuPointerGetAttribute, cuStreamGetCtx, cuStreamGetCaptureInfo_v2,
            cuStreamAddCallback, cuLaunchHostFunc, cuStreamWaitEvent, cuEventCreate, cuEventRecord, cuEventDestroy_v2,
            cuUserObjectCreate, cuUserObjectRelease, cuGraphRetainUserObject,
        );
        // SAFETY: each function is the driver's of that name and version.
        Ok(unsafe { DriverApi::from_fns(&fns) })
    })
    .map(drop)
}

impl From<MissingSymbol> for Failure {
    fn from(missing: MissingSymbol) -> Failure {
        Failure::new(Code::ncclUnhandledCudaError, missing.to_string())
    }
}

/// Turns a driver's code into a failure.
pub(crate) fn check(call: &str, status: CUresult) -> Result<()> {
    if status == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    Err(Failure::new(Code::ncclUnhandledCudaError, format!("Cuda failure {} '{status:?}' of {call}", status.0)))
}

/// Calls a driver's function and turns its code into a failure.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let function = crate::driver::driver()?.$name()?;
        // SAFETY: pointers among the arguments lead to variables that live through the call, and handles are the client's
        // or this library's own.
        crate::driver::check(stringify!($name), unsafe { function($($argument),*) })
    }};
}

pub(crate) use call;

/// Returns the device of the calling thread's context; 0 without one, as the CUDA runtime does.
pub(crate) fn current_device() -> Result<c_int> {
    let mut context = std::ptr::null_mut();
    call!(cuCtxGetCurrent(&raw mut context))?;
    if context.is_null() {
        return Ok(0);
    }
    let mut device = 0;
    call!(cuCtxGetDevice(&raw mut device))?;
    Ok(device)
}

/// Returns the number of devices.
pub(crate) fn device_count() -> Result<c_int> {
    let mut count = 0;
    call!(cuDeviceGetCount(&raw mut count))?;
    Ok(count)
}

/// A device's retained primary context.
#[derive(Debug)]
pub(crate) struct Context {
    raw: usize,
    device: c_int,
}

impl Context {
    pub(crate) fn retain(device: c_int) -> Result<Context> {
        let mut raw: CUcontext = std::ptr::null_mut();
        call!(cuDevicePrimaryCtxRetain(&raw mut raw, device))?;
        Ok(Context { raw: raw.expose_provenance(), device })
    }

    /// Runs `body` with this context as the thread's current one.
    pub(crate) fn within<T>(&self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        call!(cuCtxPushCurrent_v2(std::ptr::with_exposed_provenance_mut(self.raw)))?;
        let ended = body();
        let mut popped: CUcontext = std::ptr::null_mut();
        call!(cuCtxPopCurrent_v2(&raw mut popped))?;
        ended
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // The driver refuses where host functions run; then the context stays until the process ends.
        let release = || call!(cuDevicePrimaryCtxRelease_v2(self.device));
        drop(release());
    }
}
