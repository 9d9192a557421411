//! NVRTC, NVIDIA's runtime compiler for CUDA C++, opened by its path.
//!
//! # Safety
//!
//! The library's functions are called with the signatures of its header, `nvrtc.h`, and with pointers to values that outlive
//! the call. The caller that names the folder vouches that it contains NVRTC.

use std::ffi::{CString, c_char, c_int};
use std::path::Path;
use std::ptr;

use anyhow::{Context as _, Result, ensure};
use libloading::Library;

/// The handle of an NVRTC program.
type Program = *mut std::ffi::c_void;

type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;

/// The loaded compiler.
pub(crate) struct Nvrtc {
    create: Create,
    compile: Compile,
    ptx: (Size, Text),
    log: (Size, Text),
    destroy: Destroy,
    /// The libraries that contain the functions.
    _libraries: [Library; 2],
}

impl Nvrtc {
    /// Opens NVRTC 13 in a folder.
    pub(crate) fn open(folder: &Path) -> Result<Nvrtc> {
        let open = |name: &str| {
            let file = folder.join(name);
            // SAFETY: the initialisers of NVIDIA's libraries are sound to run.
            unsafe { Library::new(&file) }.with_context(|| format!("cannot open {}", file.display()))
        };
        // NVRTC loads this one by its bare name, which then finds the open library.
        let builtins = open("libnvrtc-builtins.so.13.0")?;
        let library = open("libnvrtc.so.13")?;
        Ok(Nvrtc {
            create: symbol(&library, "nvrtcCreateProgram")?,
            compile: symbol(&library, "nvrtcCompileProgram")?,
            ptx: (symbol(&library, "nvrtcGetPTXSize")?, symbol(&library, "nvrtcGetPTX")?),
            log: (symbol(&library, "nvrtcGetProgramLogSize")?, symbol(&library, "nvrtcGetProgramLog")?),
            destroy: symbol(&library, "nvrtcDestroyProgram")?,
            _libraries: [builtins, library],
        })
    }

    /// Compiles a program to PTX for compute capability 9.0, with otherwise default options.
    pub(crate) fn ptx(&self, source: &str) -> Result<String> {
        let (source, name) = (CString::new(source)?, c"kernel.cu");
        let mut program = ptr::null_mut();
        // SAFETY: `program` is a live variable, the texts end with a zero, and there are no headers.
        let code = unsafe { (self.create)(&mut program, source.as_ptr(), name.as_ptr(), 0, ptr::null(), ptr::null()) };
        ensure!(code == 0, "nvrtcCreateProgram: {code}");
        let options = [c"--gpu-architecture=compute_90".as_ptr()];
        // SAFETY: the program has just been created, and there is one option, which ends with a zero.
        let code = unsafe { (self.compile)(program, 1, options.as_ptr()) };
        let text = text(program, if code == 0 { self.ptx } else { self.log });
        // SAFETY: the program is not used after this call.
        unsafe { (self.destroy)(&mut program) };
        ensure!(code == 0, "nvrtcCompileProgram: {code}\n{}", text?);
        text
    }
}

/// A function of the library, which must have the type `T`.
fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T> {
    // SAFETY: each caller passes the type that the header declares for the function of that name.
    let symbol = unsafe { library.get::<T>(name.as_bytes()) };
    Ok(*symbol.with_context(|| format!("NVRTC has no {name}"))?)
}

/// Reads the PTX or the log of a program.
fn text(program: Program, (size, text): (Size, Text)) -> Result<String> {
    let mut length = 0;
    // SAFETY: the program is live, and the length is a live variable.
    let code = unsafe { size(program, &mut length) };
    ensure!(code == 0, "NVRTC has no text: {code}");
    let mut bytes = vec![0_u8; length];
    // SAFETY: the buffer has the size that NVRTC returned.
    let code = unsafe { text(program, bytes.as_mut_ptr().cast()) };
    ensure!(code == 0, "NVRTC has no text: {code}");
    // The last byte is a zero.
    bytes.pop();
    Ok(String::from_utf8(bytes)?)
}
