//! NVRTC, NVIDIA's compiler of CUDA C++ at run time, as a library that is opened by its path.
//!
//! # Safety
//!
//! The library's functions are called by the signatures of its header, `nvrtc.h`, with pointers to values that outlive
//! the call. That the file is NVRTC is for who names it to know.

use std::ffi::{CString, c_char, c_int};
use std::path::Path;
use std::ptr;

use anyhow::{Context as _, Result, ensure};
use libloading::Library;

/// A program under compilation, NVRTC's own.
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

/// The compiler, loaded.
pub(super) struct Nvrtc {
    create: Create,
    compile: Compile,
    ptx: (Size, Text),
    log: (Size, Text),
    destroy: Destroy,
    /// What the functions are in.
    _libraries: [Library; 2],
}

impl Nvrtc {
    /// Opens version 13 of it in a folder.
    pub(super) fn open(folder: &Path) -> Result<Nvrtc> {
        let open = |name: &str| {
            let file = folder.join(name);
            // SAFETY: NVIDIA's libraries do nothing when they are loaded but what their own constructors need.
            unsafe { Library::new(&file) }.with_context(|| format!("cannot open {}", file.display()))
        };
        // It asks for this one by its name alone, and then finds the one that is there already.
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

    /// Compiles a program to PTX for compute capability 9.0, with the default options but for that.
    pub(super) fn ptx(&self, source: &str) -> Result<String> {
        let (source, name) = (CString::new(source)?, c"kernel.cu");
        let mut program = ptr::null_mut();
        // SAFETY: the program is a place to write, the texts end with a zero, and there are no headers.
        let code = unsafe { (self.create)(&mut program, source.as_ptr(), name.as_ptr(), 0, ptr::null(), ptr::null()) };
        ensure!(code == 0, "nvrtcCreateProgram: {code}");
        let options = [c"--gpu-architecture=compute_90".as_ptr()];
        // SAFETY: the program has just been made, and there is one option, which ends with a zero.
        let code = unsafe { (self.compile)(program, 1, options.as_ptr()) };
        let text = text(program, if code == 0 { self.ptx } else { self.log });
        // SAFETY: nobody uses the program from here on.
        unsafe { (self.destroy)(&mut program) };
        ensure!(code == 0, "nvrtcCompileProgram: {code}\n{}", text?);
        text
    }
}

/// A function of the library; its type is for who calls this to know.
fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T> {
    // SAFETY: each caller asks for the type that the header gives the function of that name.
    let symbol = unsafe { library.get::<T>(name.as_bytes()) };
    Ok(*symbol.with_context(|| format!("NVRTC has no {name}"))?)
}

/// One of a program's texts.
fn text(program: Program, (size, text): (Size, Text)) -> Result<String> {
    let mut length = 0;
    // SAFETY: the program is alive, and the length a place to write.
    let code = unsafe { size(program, &mut length) };
    ensure!(code == 0, "NVRTC has no text: {code}");
    let mut bytes = vec![0_u8; length];
    // SAFETY: there is room for as many bytes as NVRTC said.
    let code = unsafe { text(program, bytes.as_mut_ptr().cast()) };
    ensure!(code == 0, "NVRTC has no text: {code}");
    // The last one is a zero.
    bytes.pop();
    Ok(String::from_utf8(bytes)?)
}
