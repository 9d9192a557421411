//! The linker: combines several PTX texts into one, which can be loaded like any other.
//!
//! The result is called a cubin but is PTX, which this device runs. Machine code is refused. NVIDIA's own device
//! libraries are accepted and ignored: the device provides their functions itself.
//!
//! # Safety
//!
//! Pointers come from C callers and are null or valid for the call, by CUDA's contract. Data is read for the length
//! that the client gives.

use super::jit_log::Logs;
use super::{check_header, ptx_log};
use crate::driver::state::{handle, ready};
use crate::driver::{Status, api, put, text};
use crate::link::{LinkError, link, with_library};
use crate::{ir, ptx};
use cuda_sys::{CUjit_option, CUjitInputType, CUlinkState, CUresult};
use once_cell::sync::Lazy;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{c_char, c_uint, c_void};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

struct Link {
    modules: Vec<ptx::Module>,
    /// The names that the client gave the modules.
    names: Vec<String>,
    /// The linked text with its NUL, which the client may read until the link is destroyed.
    image: Vec<u8>,
    info: String,
    error: String,
    logs: Logs,
    began: Instant,
}

static LINKS: Lazy<Mutex<HashMap<usize, Arc<Mutex<Link>>>>> = Lazy::new(Mutex::default);

fn find(state: CUlinkState) -> Result<Arc<Mutex<Link>>, CUresult> {
    LINKS.lock().get(&state.addr()).cloned().ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

fn create(count: c_uint, options: *mut CUjit_option, values: *mut *mut c_void, out: *mut CUlinkState) -> Status {
    ready()?;
    let logs = Logs::of_link(count, options, values)?;
    let new = handle();
    let (info, error) = (String::new(), String::new());
    let (modules, names, image) = (Vec::new(), Vec::new(), Vec::new());
    let link = Link { modules, names, image, info, error, logs, began: Instant::now() };
    put(out, std::ptr::without_provenance_mut(new))?;
    LINKS.lock().insert(new, Arc::new(Mutex::new(link)));
    Ok(())
}

impl Link {
    /// Stores an error, and updates the client's log buffers.
    fn fail(&mut self, code: CUresult, message: &str) -> Status {
        tracing::error!("linking: {message}");
        self.error.push_str(message);
        self.error.push('\n');
        self.logs.finish(&self.info, &self.error, self.began)?;
        Err(code)
    }

    fn add(&mut self, kind: CUjitInputType, data: &[u8], name: &str) -> Status {
        match kind {
            CUjitInputType::CU_JIT_INPUT_PTX => self.add_ptx(data, name),
            // A cubin made by this linker is text.
            CUjitInputType::CU_JIT_INPUT_CUBIN if data.starts_with(b".version") => self.add_ptx(data, name),
            CUjitInputType::CU_JIT_INPUT_LIBRARY if name.contains("cudadevrt") => {
                self.info.push_str(&format!("{name}: the device has these functions itself\n"));
                Ok(())
            }
            CUjitInputType::CU_JIT_INPUT_CUBIN
            | CUjitInputType::CU_JIT_INPUT_FATBINARY
            | CUjitInputType::CU_JIT_INPUT_OBJECT
            | CUjitInputType::CU_JIT_INPUT_LIBRARY => self.fail(
                CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
                &format!("{name} holds machine code; the software device links PTX only"),
            ),
            _ => self.fail(CUresult::CUDA_ERROR_INVALID_VALUE, &format!("{name} is of a kind that cannot be linked")),
        }
    }

    fn add_ptx(&mut self, data: &[u8], name: &str) -> Status {
        let data = data.split(|byte| *byte == 0).next().unwrap_or(&[]);
        let Ok(text) = std::str::from_utf8(data) else {
            return self.fail(CUresult::CUDA_ERROR_INVALID_PTX, &format!("{name} is not text"));
        };
        if let Err((code, message)) = check_header(text) {
            return self.fail(code, &message);
        }
        match ptx::parse(text) {
            Ok(module) => {
                self.modules.push(module);
                self.names.push(name.to_owned());
                Ok(())
            }
            Err(error) => self.fail(CUresult::CUDA_ERROR_INVALID_PTX, &format!("{name}: {}", ptx_log(&error))),
        }
    }

    fn complete(&mut self) -> Status {
        let count = self.modules.len();
        if count == 0 {
            return self.fail(CUresult::CUDA_ERROR_INVALID_VALUE, "nothing was added to the link");
        }
        let linked = match link(std::mem::take(&mut self.modules)) {
            Ok(linked) => linked,
            Err(errors) => {
                let line = |error: &LinkError| format!("error   : {}", error.text(&self.names));
                let lines = errors.iter().map(line).collect::<Vec<_>>().join("\n");
                return self.fail(CUresult::CUDA_ERROR_INVALID_IMAGE, &lines);
            }
        };
        let mut image = linked.to_string().into_bytes();
        // Errors are reported now rather than when the result is loaded.
        if let Err(error) = ir::lower::lower(&with_library(linked)) {
            return self.fail(CUresult::CUDA_ERROR_INVALID_IMAGE, &format!("error   : {}", error.message));
        }
        image.push(0);
        self.image = image;
        self.info.push_str(&format!("software device: {count} module(s) linked\n"));
        self.logs.finish(&self.info, &self.error, self.began)
    }
}

fn add_data(state: CUlinkState, kind: CUjitInputType, data: *mut c_void, size: usize, name: *const c_char) -> Status {
    ready()?;
    let link = find(state)?;
    if data.is_null() || isize::try_from(size).is_err() {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let name = if name.is_null() { "the input" } else { text(name)? };
    // SAFETY: the pointer is not null, and by CUDA's contract valid for the given length, which is at most
    // `isize::MAX`.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast_const().cast::<u8>(), size) };
    link.lock().add(kind, bytes, name)
}

fn add_file(state: CUlinkState, kind: CUjitInputType, path: *const c_char) -> Status {
    ready()?;
    let link = find(state)?;
    let path = text(path)?;
    let bytes = std::fs::read(path).map_err(|_| CUresult::CUDA_ERROR_FILE_NOT_FOUND)?;
    let name = Path::new(path).file_name().map_or(path.into(), |n| n.to_string_lossy());
    link.lock().add(kind, &bytes, &name)
}

api! {
    fn cuLinkCreate_v2(
        count: c_uint,
        options: *mut CUjit_option,
        values: *mut *mut c_void,
        out: *mut CUlinkState,
    ) {
        create(count, options, values, out)
    }
    fn cuLinkCreate(
        count: c_uint,
        options: *mut CUjit_option,
        values: *mut *mut c_void,
        out: *mut CUlinkState,
    ) {
        create(count, options, values, out)
    }
    fn cuLinkAddData_v2(
        state: CUlinkState,
        kind: CUjitInputType,
        data: *mut c_void,
        size: usize,
        name: *const c_char,
        _count: c_uint,
        _options: *mut CUjit_option,
        _values: *mut *mut c_void,
    ) {
        add_data(state, kind, data, size, name)
    }
    fn cuLinkAddData(
        state: CUlinkState,
        kind: CUjitInputType,
        data: *mut c_void,
        size: usize,
        name: *const c_char,
        _count: c_uint,
        _options: *mut CUjit_option,
        _values: *mut *mut c_void,
    ) {
        add_data(state, kind, data, size, name)
    }
    fn cuLinkAddFile_v2(
        state: CUlinkState,
        kind: CUjitInputType,
        path: *const c_char,
        _count: c_uint,
        _options: *mut CUjit_option,
        _values: *mut *mut c_void,
    ) {
        add_file(state, kind, path)
    }
    fn cuLinkAddFile(
        state: CUlinkState,
        kind: CUjitInputType,
        path: *const c_char,
        _count: c_uint,
        _options: *mut CUjit_option,
        _values: *mut *mut c_void,
    ) {
        add_file(state, kind, path)
    }
    fn cuLinkComplete(state: CUlinkState, out: *mut *mut c_void, size: *mut usize) {
        ready()?;
        let link = find(state)?;
        let mut link = link.lock();
        link.complete()?;
        put(out, link.image.as_mut_ptr().cast())?;
        if size.is_null() { Ok(()) } else { put(size, link.image.len()) }
    }
    fn cuLinkDestroy(state: CUlinkState) {
        ready()?;
        LINKS.lock().remove(&state.addr()).map(|_| ()).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }
}
