//! Module management: modules, their functions and variables, and the logs of failed loads.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract. A module's image is a
//! NUL-terminated text unless its first bytes say that it is a binary.

pub(super) mod jit_log;
pub(super) mod library;
pub(super) mod link;

use super::graph::capture;
use super::state::{FunctionObject, Limits, ModuleObject, OBJECTS, handle, ready};
use super::{Status, api, get, put, text};
use crate::codegen::object::WHOLE;
use crate::device::{PROFILE, REGISTERS_PER_THREAD};
use crate::module::{Image, Kernel, Module, image};
use crate::ptx;
use cuda_sys::{
    CUdeviceptr, CUfunc_cache, CUfunction, CUfunction_attribute, CUfunctionLoadingState, CUjit_option, CUmodule,
    CUmoduleLoadingMode, CUresult,
};
use jit_log::Logs;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Returns a function, or a library's kernel in the current context.
pub(super) fn function(function: CUfunction) -> Result<Arc<FunctionObject>, CUresult> {
    let known = |handle: CUfunction| OBJECTS.lock().functions.get(&handle.addr()).cloned();
    let found =
        known(function).map_or_else(|| library::function_of(function).map(|f| f.and_then(known)), |f| Ok(Some(f)));
    found?.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

pub(super) fn module(module: CUmodule) -> Result<Arc<ModuleObject>, CUresult> {
    OBJECTS.lock().modules.get(&module.addr()).cloned().ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

/// Returns the format of an image that is not PTX.
pub(super) fn binary(image: *const c_void) -> Result<Option<&'static str>, CUresult> {
    let first: u8 = get(image.cast())?;
    // The magic numbers of ELF, of a fat binary and of its wrapper begin with bytes that no text begins with. Further
    // bytes are read only after one of those.
    if !matches!(first, 0x7f | 0x50 | 0xb1) {
        return Ok(None);
    }
    let magic: u32 = get(image.cast())?;
    Ok(match magic {
        0x464c_457f => Some("a cubin"),
        0xba55_ed50 | 0x4662_43b1 => Some("a fat binary"),
        _ => None,
    })
}

/// Parses a target as `(number, letter)`.
fn target(name: &str) -> Option<(u32, Option<char>)> {
    let digits = name.strip_prefix("sm_")?;
    let letter = digits.chars().last().filter(char::is_ascii_alphabetic);
    digits.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok().map(|n| (n, letter))
}

/// Returns the line of a directive of a text, and what follows it.
fn directive<'t>(text: &'t str, name: &str) -> Option<(usize, &'t str)> {
    text.lines().enumerate().find_map(|(i, l)| l.trim_start().strip_prefix(name).map(|r| (i + 1, r)))
}

/// Returns the line of a text's target directive, and the target.
fn target_of(text: &str) -> Option<(usize, &str)> {
    let (number, rest) = directive(text, ".target")?;
    let name = rest.split([',', ' ', '\t', '/']).find(|word| !word.is_empty()).unwrap_or("").trim_end_matches(';');
    Some((number, name))
}

/// The newest major version of PTX that is read.
const PTX_MAJOR: u32 = 9;

/// Refuses PTX of a newer version, or for a newer device, with a code and a log.
pub(super) fn check_header(text: &str) -> Result<(), (CUresult, String)> {
    let version = directive(text, ".version").map(|(number, rest)| (number, rest.split_whitespace().next()));
    if let Some((number, Some(version))) = version
        && version.split('.').next().and_then(|major| major.parse().ok()).is_some_and(|major: u32| major > PTX_MAJOR)
    {
        let log = format!(
            "ptxas application ptx input, line {number}; fatal   : Unsupported .version {version}; the software device \
             reads versions up to {PTX_MAJOR}.x"
        );
        return Err((CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION, log));
    }
    check_target(text).map_err(|log| (CUresult::CUDA_ERROR_INVALID_PTX, log))
}

fn check_target(text: &str) -> Result<(), String> {
    let Some((number, name)) = target_of(text) else { return Ok(()) };
    let Some((wanted, letter)) = target(name) else { return Ok(()) };
    let own = PROFILE.capability.0 * 10 + PROFILE.capability.1;
    if wanted > own || (letter == Some('a') && wanted != own) {
        return Err(format!(
            "ptxas application ptx input, line {number}; fatal   : SM version specified by .target ({name}) is higher \
             than what the device has (sm_{own}); CUDA_SIM_PROFILE chooses another device"
        ));
    }
    Ok(())
}

pub(super) fn ptx_log(error: &ptx::Error) -> String {
    let ptx::Position { line, column } = error.position;
    format!(
        "ptxas application ptx input, line {line}; error   : column {column}: {}\nptxas fatal   : Ptx assembly aborted \
         due to errors",
        error.message
    )
}

/// Reads an image; the error is a code and a log.
pub(super) fn read_image(data: *const c_void) -> Result<Arc<Image>, (CUresult, String)> {
    if data.is_null() {
        return Err((CUresult::CUDA_ERROR_INVALID_VALUE, String::new()));
    }
    if let Some(what) = binary(data).map_err(|code| (code, String::new()))? {
        let log = format!("the image is {what}, which holds machine code; the software device runs PTX only");
        return Err((CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU, log));
    }
    let text = text(data.cast()).map_err(|_| {
        (CUresult::CUDA_ERROR_INVALID_IMAGE, "the image is neither PTX text nor a known binary format".to_owned())
    })?;
    check_header(text)?;
    image(text).map_err(|error| (CUresult::CUDA_ERROR_INVALID_PTX, ptx_log(&error)))
}

/// Reads a file and appends a terminator.
pub(super) fn read_file(path: &str) -> Result<Vec<u8>, CUresult> {
    let bytes = std::fs::read(path).map_err(|_| CUresult::CUDA_ERROR_FILE_NOT_FOUND)?;
    Ok([bytes.as_slice(), &[0; 4]].concat())
}

/// Reads an image and writes its log to the option buffers.
pub(super) fn logged(
    logs: &Logs,
    read: impl FnOnce() -> Result<Arc<Image>, (CUresult, String)>,
) -> Result<Arc<Image>, CUresult> {
    let began = Instant::now();
    match read() {
        Ok(image) => {
            let count = image.names.len();
            logs.finish(&format!("software device: {count} kernel(s) ready to be compiled for this CPU"), "", began)?;
            Ok(image)
        }
        Err((code, log)) => {
            tracing::error!("loading a module: {log}");
            logs.finish("", &log, began)?;
            Err(code)
        }
    }
}

/// Inserts a module under a new handle of the current context.
pub(super) fn insert(module: Module) -> usize {
    let new = handle();
    let object = ModuleObject { module: Arc::new(module), functions: Mutex::new(HashMap::new()) };
    OBJECTS.lock().modules.insert(new, Arc::new(object));
    new
}

fn load(out: *mut CUmodule, data: *const c_void, logs: &Logs) -> Status {
    ready()?;
    capture::check_permitted()?;
    if out.is_null() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let image = logged(logs, || read_image(data))?;
    let module = Module::new(image).ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
    put(out, std::ptr::without_provenance_mut(insert(module)))
}

/// Checks a preference between first-level cache and shared memory.
pub(super) fn checked_cache(config: CUfunc_cache) -> Status {
    if config.0 > 3 { Err(CUresult::CUDA_ERROR_INVALID_VALUE) } else { Ok(()) }
}

/// Returns an attribute of a kernel.
pub(super) fn attribute(kernel: &Kernel, limits: &Limits, attribute: CUfunction_attribute) -> Result<i32, CUresult> {
    use CUfunction_attribute as A;
    let function = kernel.signature();
    let capability = PROFILE.capability.0 * 10 + PROFILE.capability.1;
    Ok(match attribute {
        A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => threads_of(kernel) as i32,
        A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => function.shared_bytes as i32,
        A::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES => function.constant_bytes as i32,
        A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => kernel.local_bytes() as i32,
        A::CU_FUNC_ATTRIBUTE_NUM_REGS => REGISTERS_PER_THREAD as i32,
        // the PTX version of the text, by which libraries choose among their kernels
        A::CU_FUNC_ATTRIBUTE_PTX_VERSION => {
            let target = target_of(kernel.text()).and_then(|(_, name)| target(name));
            target.map_or(capability, |(version, _)| version) as i32
        }
        A::CU_FUNC_ATTRIBUTE_BINARY_VERSION => capability as i32,
        A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => limits.dynamic_shared.load(Ordering::Relaxed) as i32,
        A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => limits.carveout.load(Ordering::Relaxed),
        A::CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET => function.clusters.explicit.into(),
        A::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => limits.non_portable.load(Ordering::Relaxed).into(),
        A::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
            limits.cluster_policy.load(Ordering::Relaxed) as i32
        }
        _ if let Some(axis) = cluster_axis(attribute) => {
            let set = limits.cluster[axis].load(Ordering::Relaxed);
            function.clusters.required.map_or(set, |extents| extents[axis]) as i32
        }
        _ if attribute.0 < A::CU_FUNC_ATTRIBUTE_MAX.0 => 0,
        _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    })
}

/// Returns the largest block size of this function, in threads.
pub(super) fn max_threads(object: &FunctionObject) -> u32 {
    threads_of(&object.kernel)
}

fn threads_of(kernel: &Kernel) -> u32 {
    let limit = u64::from(crate::device::MAX_THREADS);
    kernel.signature().max_threads.map_or(limit, |n| n.min(limit)) as u32
}

/// Sets an attribute of a kernel, if it can be set.
pub(super) fn set_attribute(kernel: &Kernel, limits: &Limits, which: CUfunction_attribute, value: c_int) -> Status {
    match which {
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => {
            let room = u64::from(PROFILE.shared_per_block_optin).saturating_sub(kernel.signature().shared_bytes);
            let bytes = u32::try_from(value).ok().filter(|b| u64::from(*b) <= room);
            let bytes = bytes.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
            limits.dynamic_shared.store(bytes, Ordering::Relaxed);
            Ok(())
        }
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
            if !(-1..=100).contains(&value) {
                return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
            }
            limits.carveout.store(value, Ordering::Relaxed);
            Ok(())
        }
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED => {
            let allowed = small(value, 1)? != 0;
            limits.non_portable.store(allowed, Ordering::Relaxed);
            Ok(())
        }
        CUfunction_attribute::CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
            limits.cluster_policy.store(small(value, 2)?, Ordering::Relaxed);
            Ok(())
        }
        _ => {
            let axis = cluster_axis(which).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
            if kernel.signature().clusters.required.is_some() {
                return Err(CUresult::CUDA_ERROR_NOT_PERMITTED);
            }
            // The extents are checked together by a launch, when all of them are set.
            limits.cluster[axis].store(small(value, i32::MAX as u32)?, Ordering::Relaxed);
            Ok(())
        }
    }
}

/// Returns a number that must be between 0 and `most`.
fn small(value: c_int, most: u32) -> Result<u32, CUresult> {
    u32::try_from(value).ok().filter(|n| *n <= most).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
}

/// Returns the axis of an attribute that is a cluster extent.
fn cluster_axis(which: CUfunction_attribute) -> Option<usize> {
    use CUfunction_attribute as A;
    let axes = [
        A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
        A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        A::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
    ];
    axes.iter().position(|axis| *axis == which)
}

/// Writes the offset and size of a parameter.
pub(super) fn param_info(kernel: &Kernel, index: usize, offset: *mut usize, bytes: *mut usize) -> Status {
    let param = kernel.signature().params.get(index).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
    put(offset, param.offset as usize)?;
    if bytes.is_null() { Ok(()) } else { put(bytes, param.bytes as usize) }
}

/// Writes the address and size of a module's variable.
pub(super) fn global(address: *mut CUdeviceptr, bytes: *mut usize, from: CUmodule, name: &str) -> Status {
    variable(address, bytes, module(from)?.module.global(name))
}

/// Writes the requested properties of a variable that was looked up.
pub(super) fn variable(address: *mut CUdeviceptr, bytes: *mut usize, found: Option<(u64, u64)>) -> Status {
    let (at, size) = found.ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
    if !address.is_null() {
        put(address, at)?;
    }
    if bytes.is_null() { Ok(()) } else { put(bytes, size as usize) }
}

/// Writes `count` functions of a module.
fn enumerate(out: *mut CUfunction, count: c_uint, of: CUmodule) -> Status {
    let names = module(of)?.module.image.names.clone();
    for (i, name) in names.iter().take(count as usize).enumerate() {
        put(out.wrapping_add(i), module_function(of, name)?)?;
    }
    Ok(())
}

/// Removes a module and its functions.
pub(super) fn unload(old: CUmodule) -> Status {
    capture::check_permitted()?;
    let mut objects = OBJECTS.lock();
    let object = objects.modules.remove(&old.addr()).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
    objects.functions.retain(|_, function| function.module_handle != old.addr());
    drop(objects);
    drop(object);
    Ok(())
}

/// Returns a function of a module. `limits` is called when its handle is new.
pub(super) fn get_function(
    from: CUmodule,
    name: &str,
    limits: impl FnOnce() -> Arc<Limits>,
) -> Result<CUfunction, CUresult> {
    let object = module(from)?;
    let kernel = object.module.image.kernels.get(name).ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
    let mut functions = object.functions.lock();
    let known = functions.entry(name.to_owned()).or_insert_with(|| {
        let new = handle();
        let (kernel, module) = (Arc::clone(kernel), Arc::clone(&object.module));
        let function = FunctionObject { handle: new, kernel, module, module_handle: from.addr(), limits: limits() };
        OBJECTS.lock().functions.insert(new, Arc::new(function));
        new
    });
    Ok(std::ptr::without_provenance_mut(*known))
}

fn module_function(from: CUmodule, name: &str) -> Result<CUfunction, CUresult> {
    let kernel = module(from)?.module.image.kernels.get(name).cloned().ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
    get_function(from, name, || Arc::new(Limits::of(&kernel)))
}

api! {
    fn cuModuleLoadData(out: *mut CUmodule, data: *const c_void) { load(out, data, &Logs::default()) }
    fn cuModuleLoadDataEx(
        out: *mut CUmodule,
        data: *const c_void,
        count: c_uint,
        options: *mut CUjit_option,
        values: *mut *mut c_void,
    ) {
        ready()?;
        load(out, data, &Logs::new(count, options, values)?)
    }
    fn cuModuleLoadFatBinary(_out: *mut CUmodule, _data: *const c_void) {
        ready()?;
        tracing::error!("loading a module: a fat binary holds machine code; the software device runs PTX only");
        Err(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU)
    }
    fn cuModuleLoad(out: *mut CUmodule, path: *const c_char) {
        ready()?;
        let data = read_file(text(path)?)?;
        load(out, data.as_ptr().cast(), &Logs::default())
    }
    fn cuModuleUnload(old: CUmodule) {
        super::state::require_releasable()?;
        unload(old)
    }
    fn cuModuleGetLoadingMode(mode: *mut CUmoduleLoadingMode) {
        put(mode, CUmoduleLoadingMode::CU_MODULE_LAZY_LOADING)
    }
    fn cuModuleGetFunction(out: *mut CUfunction, from: CUmodule, name: *const c_char) {
        ready()?;
        module(from)?;
        put(out, module_function(from, text(name)?)?)
    }
    fn cuModuleGetFunctionCount(count: *mut c_uint, of: CUmodule) {
        ready()?;
        put(count, module(of)?.module.image.names.len() as c_uint)
    }
    fn cuModuleEnumerateFunctions(out: *mut CUfunction, count: c_uint, of: CUmodule) {
        ready()?;
        enumerate(out, count, of)
    }
    fn cuModuleGetGlobal_v2(address: *mut CUdeviceptr, bytes: *mut usize, from: CUmodule, name: *const c_char) {
        ready()?;
        module(from)?;
        global(address, bytes, from, text(name)?)
    }
    fn cuFuncGetAttribute(value: *mut c_int, which: CUfunction_attribute, of: CUfunction) {
        ready()?;
        let object = function(of)?;
        put(value, attribute(&object.kernel, &object.limits, which)?)
    }
    fn cuFuncSetAttribute(of: CUfunction, which: CUfunction_attribute, value: c_int) {
        ready()?;
        let object = function(of)?;
        set_attribute(&object.kernel, &object.limits, which, value)
    }
    fn cuFuncSetCacheConfig(of: CUfunction, config: CUfunc_cache) {
        ready()?;
        function(of)?;
        checked_cache(config)
    }
    fn cuFuncGetModule(out: *mut CUmodule, of: CUfunction) {
        ready()?;
        put(out, std::ptr::without_provenance_mut(function(of)?.module_handle))
    }
    fn cuFuncGetName(name: *mut *const c_char, of: CUfunction) {
        ready()?;
        if of.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // The string belongs to the kernel, which lives as long as its module is loaded.
        put(name, function(of)?.kernel.name.as_ptr())
    }
    fn cuFuncGetParamInfo(of: CUfunction, index: usize, offset: *mut usize, bytes: *mut usize) {
        ready()?;
        param_info(&function(of)?.kernel, index, offset, bytes)
    }
    fn cuFuncIsLoaded(state: *mut CUfunctionLoadingState, of: CUfunction) {
        ready()?;
        function(of)?;
        put(state, CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_LOADED)
    }
    fn cuFuncLoad(of: CUfunction) {
        ready()?;
        // Most blocks have rows of this multiple.
        super::launch::compiled(&*function(of)?, &[], [WHOLE, 1, 1], false)?;
        Ok(())
    }
}
