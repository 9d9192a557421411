//! The part of OpenCL that running a kernel needs, from the library that the system's loader finds.
//!
//! # Safety
//!
//! The functions have the signatures of OpenCL 1.2, whose handles are pointers and whose sizes are `size_t`. Handles live
//! as long as the process. A kernel's arguments are set from live values with the size of their type; the queue is in order
//! and every transfer blocks.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

use anyhow::{Context as _, Result, bail, ensure};
use libloading::Library;

type Handle = *mut c_void;

/// The constants of OpenCL's header that are used here.
const PLATFORM_NAME: u32 = 0x0902;
const DEVICE_TYPE_CPU: u64 = 2;
const PROGRAM_BUILD_LOG: u32 = 0x1183;
const MEM_READ_WRITE: u64 = 1;
const TRUE: u32 = 1;

/// A device with a queue.
pub(super) struct OpenCl {
    library: &'static Library,
    device: Handle,
    context: Handle,
    queue: Handle,
}

/// Calls a function of the library: `call!(library, name(type: argument, ..) -> type)`.
macro_rules! call {
    ($library:expr, $name:ident($($type:ty: $argument:expr),* $(,)?) -> $result:ty) => {{
        type Function = unsafe extern "C" fn($($type),*) -> $result;
        // SAFETY: the signature is the header's.
        let function = unsafe { $library.get::<Function>(stringify!($name)) }
            .context(concat!("OpenCL has no `", stringify!($name), "`"))?;
        // SAFETY: handles are live, and pointers are to live values of the types that OpenCL's header declares.
        unsafe { function($($argument),*) }
    }};
}

/// Converts a status to a result.
fn check(status: i32, what: &str) -> Result<()> {
    ensure!(status == 0, "OpenCL: {what} gives {status}");
    Ok(())
}

impl OpenCl {
    /// Opens the CPU device of the platform with that name.
    pub(super) fn open(platform: &str) -> Result<OpenCl> {
        // SAFETY: initialising OpenCL's loader has no preconditions.
        let library = unsafe { Library::new("libOpenCL.so.1") }.context("there is no OpenCL here")?;
        // Handles are never released, so the library stays open.
        let library: &'static Library = Box::leak(Box::new(library));
        let platform = find(library, platform)?;
        let (mut device, mut status) = (null_mut(), 0);
        let code = call!(library, clGetDeviceIDs(Handle: platform, u64: DEVICE_TYPE_CPU, u32: 1, *mut Handle: &mut device,
            *mut u32: null_mut()) -> i32);
        check(code, "clGetDeviceIDs")?;
        let context = call!(library, clCreateContext(*const isize: null(), u32: 1, *const Handle: &device,
            *const c_void: null(), *mut c_void: null_mut(), *mut i32: &mut status) -> Handle);
        check(status, "clCreateContext")?;
        let queue = call!(library, clCreateCommandQueue(Handle: context, Handle: device, u64: 0,
            *mut i32: &mut status) -> Handle);
        check(status, "clCreateCommandQueue")?;
        Ok(OpenCl { library, device, context, queue })
    }

    /// Compiles a program.
    pub(super) fn build(&self, source: &str, options: &str) -> Result<Program<'_>> {
        let (text, length, mut status) = (source.as_ptr().cast::<c_char>(), source.len(), 0);
        let options = CString::new(options)?;
        let program = call!(self.library, clCreateProgramWithSource(Handle: self.context, u32: 1,
            *const *const c_char: &text, *const usize: &length, *mut i32: &mut status) -> Handle);
        check(status, "clCreateProgramWithSource")?;
        let status = call!(self.library, clBuildProgram(Handle: program, u32: 1, *const Handle: &self.device,
            *const c_char: options.as_ptr(), *const c_void: null(), *mut c_void: null_mut()) -> i32);
        if status != 0 {
            let mut log = vec![0_u8; 4096];
            let code = call!(self.library, clGetProgramBuildInfo(Handle: program, Handle: self.device,
                u32: PROGRAM_BUILD_LOG, usize: log.len() - 1, *mut u8: log.as_mut_ptr(), *mut usize: null_mut()) -> i32);
            check(code, "clGetProgramBuildInfo")?;
            bail!("OpenCL refuses the program: {}", CStr::from_bytes_until_nul(&log)?.to_string_lossy());
        }
        Ok(Program { opencl: self, program })
    }

    /// Creates a buffer with these values.
    pub(super) fn buffer(&self, values: &[f32]) -> Result<Buffer> {
        let (bytes, mut status) = (size_of_val(values), 0);
        let memory = call!(self.library, clCreateBuffer(Handle: self.context, u64: MEM_READ_WRITE, usize: bytes,
            *mut c_void: null_mut(), *mut i32: &mut status) -> Handle);
        check(status, "clCreateBuffer")?;
        let status = call!(self.library, clEnqueueWriteBuffer(Handle: self.queue, Handle: memory, u32: TRUE, usize: 0,
            usize: bytes, *const f32: values.as_ptr(), u32: 0, *const Handle: null(), *mut Handle: null_mut()) -> i32);
        check(status, "clEnqueueWriteBuffer")?;
        Ok(Buffer { memory, length: values.len() })
    }

    /// Reads the values of a buffer.
    pub(super) fn read(&self, buffer: &Buffer) -> Result<Vec<f32>> {
        let mut values = vec![0.0_f32; buffer.length];
        let status = call!(self.library, clEnqueueReadBuffer(Handle: self.queue, Handle: buffer.memory, u32: TRUE,
            usize: 0, usize: size_of_val(&*values), *mut f32: values.as_mut_ptr(), u32: 0, *const Handle: null(),
            *mut Handle: null_mut()) -> i32);
        check(status, "clEnqueueReadBuffer")?;
        Ok(values)
    }
}

/// Finds the platform with this name.
fn find(library: &Library, wanted: &str) -> Result<Handle> {
    let (mut platforms, mut count) = ([null_mut(); 16], 0_u32);
    let status = call!(library, clGetPlatformIDs(u32: 16, *mut Handle: platforms.as_mut_ptr(),
        *mut u32: &mut count) -> i32);
    check(status, "clGetPlatformIDs")?;
    for platform in platforms.into_iter().take(count as usize) {
        let mut name = [0_u8; 128];
        let status = call!(library, clGetPlatformInfo(Handle: platform, u32: PLATFORM_NAME, usize: name.len() - 1,
            *mut u8: name.as_mut_ptr(), *mut usize: null_mut()) -> i32);
        check(status, "clGetPlatformInfo")?;
        if CStr::from_bytes_until_nul(&name)?.to_bytes() == wanted.as_bytes() {
            return Ok(platform);
        }
    }
    bail!("OpenCL has {count} platform(s) and none is `{wanted}`")
}

/// Device memory of floats.
pub(super) struct Buffer {
    memory: Handle,
    length: usize,
}

/// A compiled program.
pub(super) struct Program<'a> {
    opencl: &'a OpenCl,
    program: Handle,
}

/// An argument of a kernel.
pub(super) enum Argument<'a> {
    Memory(&'a Buffer),
    Long(u64),
    Float(f32),
}

impl<'a> Program<'a> {
    /// Creates a kernel with its arguments, for that many threads in blocks of that size.
    pub(super) fn kernel(
        &self,
        name: &str,
        arguments: &[Argument<'_>],
        threads: &[usize],
        block: &[usize],
    ) -> Result<Kernel<'a>> {
        let (c_name, mut status) = (CString::new(name)?, 0);
        let kernel = call!(self.opencl.library, clCreateKernel(Handle: self.program, *const c_char: c_name.as_ptr(),
            *mut i32: &mut status) -> Handle);
        check(status, name)?;
        for (index, argument) in arguments.iter().enumerate() {
            let (bytes, value): (usize, *const c_void) = match argument {
                Argument::Memory(buffer) => (size_of::<Handle>(), (&raw const buffer.memory).cast()),
                Argument::Long(value) => (8, std::ptr::from_ref(value).cast()),
                Argument::Float(value) => (4, std::ptr::from_ref(value).cast()),
            };
            let status = call!(self.opencl.library, clSetKernelArg(Handle: kernel, u32: index as u32, usize: bytes,
                *const c_void: value) -> i32);
            check(status, "clSetKernelArg")?;
        }
        Ok(Kernel { opencl: self.opencl, kernel, threads: threads.to_vec(), block: block.to_vec() })
    }
}

/// A kernel ready to run.
pub(super) struct Kernel<'a> {
    opencl: &'a OpenCl,
    kernel: Handle,
    threads: Vec<usize>,
    block: Vec<usize>,
}

impl Kernel<'_> {
    /// Runs the kernel and waits for it.
    pub(super) fn run(&self) -> Result<()> {
        let (library, queue) = (self.opencl.library, self.opencl.queue);
        let status = call!(library, clEnqueueNDRangeKernel(Handle: queue, Handle: self.kernel,
            u32: self.threads.len() as u32, *const usize: null(), *const usize: self.threads.as_ptr(),
            *const usize: self.block.as_ptr(), u32: 0, *const Handle: null(), *mut Handle: null_mut()) -> i32);
        check(status, "clEnqueueNDRangeKernel")?;
        check(call!(library, clFinish(Handle: queue) -> i32), "clFinish")
    }
}
