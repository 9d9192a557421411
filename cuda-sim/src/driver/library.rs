//! Libraries and their kernels: modules that need no context of their own.
//!
//! There is one context, so a library is a module under another handle, and a kernel's handle is its function's, as
//! CUDA lets clients take one for the other in a launch.
//!
//! # Safety
//!
//! See the parent module: pointers are C's, null or valid; handles are looked up.

use super::jit_log::Logs;
use super::module::{attribute, enumerate, function, get_function, global, load, module, param_info, set_attribute};
use super::state::{device, handle, ready};
use super::{Status, api, put, text};
use cuda_sys::{
    CUdevice, CUdeviceptr, CUfunc_cache, CUfunction, CUfunction_attribute, CUjit_option, CUkernel, CUlibrary,
    CUlibraryOption, CUmodule, CUresult,
};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_void};

/// The module of each library.
static LIBRARIES: Lazy<Mutex<HashMap<usize, usize>>> = Lazy::new(Mutex::default);

fn module_of(library: CUlibrary) -> Result<CUmodule, CUresult> {
    let found = LIBRARIES.lock().get(&library.addr()).copied();
    found.map(std::ptr::without_provenance_mut).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

fn load_library(out: *mut CUlibrary, code: *const c_void, logs: &Logs) -> Status {
    let mut loaded: CUmodule = std::ptr::null_mut();
    load(&mut loaded, code, logs)?;
    let new = handle();
    put(out, std::ptr::without_provenance_mut(new))?;
    LIBRARIES.lock().insert(new, loaded.addr());
    Ok(())
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
        ready()?;
        load_library(out, code, &Logs::new(count, options, values)?)
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
        ready()?;
        let bytes = std::fs::read(text(path)?).map_err(|_| CUresult::CUDA_ERROR_FILE_NOT_FOUND)?;
        let data = [bytes.as_slice(), &[0; 4]].concat();
        load_library(out, data.as_ptr().cast(), &Logs::new(count, options, values)?)
    }
    fn cuLibraryUnload(library: CUlibrary) {
        ready()?;
        let old = LIBRARIES.lock().remove(&library.addr()).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        super::module::unload(std::ptr::without_provenance_mut(old))
    }
    fn cuLibraryGetKernel(out: *mut CUkernel, library: CUlibrary, name: *const c_char) {
        ready()?;
        get_function(out.cast::<CUfunction>(), module_of(library)?, text(name)?)
    }
    fn cuLibraryGetKernelCount(count: *mut c_uint, library: CUlibrary) {
        ready()?;
        put(count, module(module_of(library)?)?.module.image.names.len() as c_uint)
    }
    fn cuLibraryEnumerateKernels(out: *mut CUkernel, count: c_uint, library: CUlibrary) {
        ready()?;
        enumerate(out.cast::<CUfunction>(), count, module_of(library)?)
    }
    fn cuLibraryGetModule(out: *mut CUmodule, library: CUlibrary) {
        ready()?;
        put(out, module_of(library)?)
    }
    fn cuLibraryGetGlobal(address: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) {
        ready()?;
        global(address, bytes, module_of(library)?, text(name)?)
    }
    fn cuLibraryGetManaged(address: *mut CUdeviceptr, bytes: *mut usize, library: CUlibrary, name: *const c_char) {
        ready()?;
        let from = module_of(library)?;
        // Only variables with the attribute are found under this call.
        if !module(from)?.module.is_managed(text(name)?) {
            return Err(CUresult::CUDA_ERROR_NOT_FOUND);
        }
        global(address, bytes, from, text(name)?)
    }
    fn cuKernelGetFunction(out: *mut CUfunction, kernel: CUkernel) {
        ready()?;
        function(kernel.cast())?;
        put(out, kernel.cast())
    }
    fn cuKernelGetLibrary(out: *mut CUlibrary, kernel: CUkernel) {
        ready()?;
        let from = function(kernel.cast())?.module_handle;
        let found = LIBRARIES.lock().iter().find(|(_, module)| **module == from).map(|(library, _)| *library);
        put(out, std::ptr::without_provenance_mut(found.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?))
    }
    fn cuKernelGetAttribute(value: *mut c_int, which: CUfunction_attribute, of: CUkernel, on: CUdevice) {
        ready()?;
        device(on)?;
        put(value, attribute(&*function(of.cast())?, which)?)
    }
    fn cuKernelSetAttribute(which: CUfunction_attribute, value: c_int, of: CUkernel, on: CUdevice) {
        ready()?;
        device(on)?;
        set_attribute(&*function(of.cast())?, which, value)
    }
    fn cuKernelSetCacheConfig(of: CUkernel, _config: CUfunc_cache, on: CUdevice) {
        ready()?;
        device(on)?;
        function(of.cast()).map(|_| ())
    }
    fn cuKernelGetName(name: *mut *const c_char, of: CUkernel) {
        ready()?;
        // The string belongs to the kernel, which lives as long as its library is loaded.
        put(name, function(of.cast())?.kernel.name.as_ptr())
    }
    fn cuKernelGetParamInfo(of: CUkernel, index: usize, offset: *mut usize, bytes: *mut usize) {
        ready()?;
        param_info(&*function(of.cast())?, index, offset, bytes)
    }
}
