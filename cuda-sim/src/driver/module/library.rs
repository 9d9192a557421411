//! Libraries and their kernels: code that belongs to no context.
//!
//! A library is an image that was read and checked. It gets a module in each context in which one of its kernels or
//! variables is requested; the module ends with the context or the library. A kernel's handle is accepted as a
//! function; it means the function in the current context. Attributes that are set for a kernel on a device apply to
//! its functions in all contexts of that device.
//!
//! Managed variables belong to the library: all contexts share one copy.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract (see the `driver` module).

use super::jit_log::Logs;
use super::{
    attribute, get_function, global, insert, logged, param_info, read_file, read_image, set_attribute, variable,
};
use crate::driver::state::{Context, Limits, OBJECTS, device, free_handle, healthy, initialised};
use crate::driver::{Status, api, put, text};
use crate::module::{Image, Kernel, Module, Variables};
use cuda_sys::{
    CUdevice, CUdeviceptr, CUfunc_cache, CUfunction, CUfunction_attribute, CUjit_option, CUkernel, CUlibrary,
    CUlibraryOption, CUmodule, CUresult,
};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

struct Library {
    image: Arc<Image>,
    managed: Arc<Variables>,
    /// Its module in each context, by context id; handles in contexts that were reset are stale.
    modules: Mutex<HashMap<u32, usize>>,
    /// Handles of its kernels, by name, so that repeated queries return the same one.
    kernels: Mutex<HashMap<String, usize>>,
}

struct KernelObject {
    library: usize,
    kernel: Arc<Kernel>,
    /// The attributes that were set, for each device.
    limits: Vec<Arc<Limits>>,
}

#[derive(Default)]
struct State {
    libraries: HashMap<usize, Arc<Library>>,
    kernels: HashMap<usize, Arc<KernelObject>>,
}

static STATE: Lazy<Mutex<State>> = Lazy::new(Mutex::default);

const UNKNOWN: CUresult = CUresult::CUDA_ERROR_INVALID_HANDLE;

fn library(handle: CUlibrary) -> Result<Arc<Library>, CUresult> {
    initialised()?;
    STATE.lock().libraries.get(&handle.addr()).cloned().ok_or(UNKNOWN)
}

fn kernel(handle: CUkernel) -> Result<Arc<KernelObject>, CUresult> {
    initialised()?;
    STATE.lock().kernels.get(&handle.addr()).cloned().ok_or(UNKNOWN)
}

fn load(out: *mut CUlibrary, code: *const c_void, logs: &Logs) -> Status {
    if out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let image = logged(logs, || read_image(code))?;
    let new = free_handle();
    let managed = Arc::new(Variables::managed(&image).ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?);
    let library = Library { image, managed, modules: Mutex::default(), kernels: Mutex::default() };
    STATE.lock().libraries.insert(new, Arc::new(library));
    put(out, std::ptr::without_provenance_mut(new))
}

fn unload(handle: CUlibrary) -> Status {
    initialised()?;
    let mut state = STATE.lock();
    let old = state.libraries.remove(&handle.addr()).ok_or(UNKNOWN)?;
    state.kernels.retain(|_, kernel| kernel.library != handle.addr());
    drop(state);
    for module in std::mem::take(&mut *old.modules.lock()).into_values() {
        // The module of a context that was reset is gone already.
        let _ = super::unload(std::ptr::without_provenance_mut(module));
    }
    Ok(())
}

impl Library {
    /// Returns its module in a context, which is the current one, and loads it if there is none yet.
    fn module(&self, context: &Context) -> Result<CUmodule, CUresult> {
        let mut modules = self.modules.lock();
        let known = modules.get(&context.id).copied().filter(|handle| OBJECTS.lock().modules.contains_key(handle));
        let handle = match known {
            Some(handle) => handle,
            None => {
                let module = Module::with(Arc::clone(&self.image), Arc::clone(&self.managed));
                insert(module.ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?)
            }
        };
        modules.insert(context.id, handle);
        Ok(std::ptr::without_provenance_mut(handle))
    }
}

/// Returns the handle of a library's kernel.
fn named(of: CUlibrary, name: &str) -> Result<usize, CUresult> {
    let library = library(of)?;
    let found = library.image.kernels.get(name).ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
    let mut kernels = library.kernels.lock();
    let handle = kernels.entry(name.to_owned()).or_insert_with(|| {
        let limits = (0..*crate::device::DEVICES).map(|_| Arc::new(Limits::of(found))).collect();
        let object = KernelObject { library: of.addr(), kernel: Arc::clone(found), limits };
        let new = free_handle();
        STATE.lock().kernels.insert(new, Arc::new(object));
        new
    });
    Ok(*handle)
}

/// Returns true if a function handle is that of a library's kernel.
pub(in crate::driver) fn is_kernel(handle: CUfunction) -> bool {
    kernel(handle.cast()).is_ok()
}

/// Returns the function of a kernel in the current context; `None` if the handle is not a kernel's.
pub(in crate::driver) fn function_of(handle: CUfunction) -> Result<Option<CUfunction>, CUresult> {
    let Ok(kernel) = kernel(handle.cast()) else { return Ok(None) };
    let context = healthy()?;
    let library = library(std::ptr::without_provenance_mut(kernel.library))?;
    let module = library.module(&context)?;
    let limits = Arc::clone(&kernel.limits[context.device]);
    get_function(module, &kernel.kernel.signature().name, || limits).map(Some)
}

/// Returns a kernel and a device number.
fn on_device(of: CUkernel, on: CUdevice) -> Result<(Arc<KernelObject>, usize), CUresult> {
    let kernel = kernel(of)?;
    Ok((kernel, device(on)?))
}

/// Returns the current context's module of a library.
fn current_module(of: CUlibrary) -> Result<CUmodule, CUresult> {
    let context = healthy()?;
    library(of)?.module(&context)
}

api! {
    fn cuLibraryLoadData(
        out: *mut CUlibrary,
        code: *const c_void,
        options: *mut CUjit_option,
        values: *mut *mut c_void,
        count: c_uint,
        _library_options: *mut CUlibraryOption,
        _library_values: *mut *mut c_void,
        _library_count: c_uint,
    ) {
        initialised()?;
        load(out, code, &Logs::new(count, options, values)?)
    }
    fn cuLibraryLoadFromFile(
        out: *mut CUlibrary,
        path: *const c_char,
        options: *mut CUjit_option,
        values: *mut *mut c_void,
        count: c_uint,
        _library_options: *mut CUlibraryOption,
        _library_values: *mut *mut c_void,
        _library_count: c_uint,
    ) {
        initialised()?;
        let data = read_file(text(path)?)?;
        load(out, data.as_ptr().cast(), &Logs::new(count, options, values)?)
    }
    fn cuLibraryUnload(old: CUlibrary) { unload(old) }
    fn cuLibraryGetKernel(out: *mut CUkernel, of: CUlibrary, name: *const c_char) {
        library(of)?;
        put(out, std::ptr::without_provenance_mut(named(of, text(name)?)?))
    }
    fn cuLibraryGetKernelCount(count: *mut c_uint, of: CUlibrary) {
        put(count, library(of)?.image.names.len() as c_uint)
    }
    fn cuLibraryEnumerateKernels(out: *mut CUkernel, count: c_uint, of: CUlibrary) {
        let names = library(of)?.image.names.clone();
        names.iter().take(count as usize).enumerate().try_for_each(|(i, name)| {
            put(out.wrapping_add(i), std::ptr::without_provenance_mut(named(of, name)?))
        })
    }
    fn cuLibraryGetModule(out: *mut CUmodule, of: CUlibrary) { put(out, current_module(of)?) }
    fn cuLibraryGetGlobal(address: *mut CUdeviceptr, bytes: *mut usize, of: CUlibrary, name: *const c_char) {
        global(address, bytes, current_module(of)?, text(name)?)
    }
    fn cuLibraryGetManaged(address: *mut CUdeviceptr, bytes: *mut usize, of: CUlibrary, name: *const c_char) {
        // Managed variables belong to no context, so none has to be current.
        let library = library(of)?;
        let found = library.image.managed(text(name)?);
        variable(address, bytes, found.map(|(offset, bytes)| (library.managed.address() + offset, bytes)))
    }
    fn cuLibraryGetUnifiedFunction(out: *mut *mut c_void, of: CUlibrary, name: *const c_char) {
        library(of)?;
        text(name)?;
        if out.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // Functions with one address on host and device cannot be written in PTX.
        Err(CUresult::CUDA_ERROR_NOT_FOUND)
    }
    fn cuKernelGetFunction(out: *mut CUfunction, of: CUkernel) {
        kernel(of)?;
        put(out, function_of(of.cast())?.ok_or(UNKNOWN)?)
    }
    fn cuKernelGetLibrary(out: *mut CUlibrary, of: CUkernel) {
        put(out, std::ptr::without_provenance_mut(kernel(of)?.library))
    }
    fn cuKernelGetAttribute(value: *mut c_int, which: CUfunction_attribute, of: CUkernel, on: CUdevice) {
        let (kernel, device) = on_device(of, on)?;
        put(value, attribute(&kernel.kernel, &kernel.limits[device], which)?)
    }
    fn cuKernelSetAttribute(which: CUfunction_attribute, value: c_int, of: CUkernel, on: CUdevice) {
        let (kernel, device) = on_device(of, on)?;
        set_attribute(&kernel.kernel, &kernel.limits[device], which, value)
    }
    fn cuKernelSetCacheConfig(of: CUkernel, config: CUfunc_cache, on: CUdevice) {
        on_device(of, on)?;
        super::checked_cache(config)
    }
    fn cuKernelGetName(name: *mut *const c_char, of: CUkernel) {
        initialised()?;
        if of.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // The string belongs to the kernel, which lives as long as its library is loaded.
        put(name, kernel(of)?.kernel.name.as_ptr())
    }
    fn cuKernelGetParamInfo(of: CUkernel, index: usize, offset: *mut usize, bytes: *mut usize) {
        param_info(&kernel(of)?.kernel, index, offset, bytes)
    }
}
