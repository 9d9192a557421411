//! The linker, libraries and kernels as a C client calls them, and the output of kernels.
//!
//! Output and failed assertions are observed from outside, in a child process.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![expect(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]

#[macro_use]
mod common;

use common::{CHILD, child};
use cuda_sys::*;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null_mut;

const HEADER: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";
const CALLER: &str = ".extern .func (.param .b32 r) seven();
.extern .global .align 4 .u32 bias;
.visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd1; ld.param.u64 %rd1, [out];
  { .param .b32 r; call.uni (r), seven; ld.param.b32 %r1, [r]; } ld.global.u32 %r2, [bias];
  add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1; ret; }";
const CALLEE: &str = ".visible .global .align 4 .u32 bias = 30;
.visible .func (.param .b32 r) seven() { st.param.b32 [r], 7; ret; }";

fn context() {
    ok!(cuInit(0));
    let mut context = null_mut();
    ok!(cuDevicePrimaryCtxRetain(&mut context, 0));
    ok!(cuCtxSetCurrent(context));
}

fn launch(f: CUfunction, mut pointer: CUdeviceptr) -> CUresult {
    let mut params: [*mut c_void; 1] = [(&raw mut pointer).cast()];
    call!(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()))
}

fn add(state: CUlinkState, kind: CUjitInputType, text: &str) -> CUresult {
    let text = CString::new(text).unwrap();
    let (data, size) = (text.as_ptr().cast_mut().cast(), text.as_bytes_with_nul().len());
    call!(cuLinkAddData_v2(state, kind, data, size, c"part.ptx".as_ptr(), 0, null_mut(), null_mut()))
}

struct Log {
    text: Box<[c_char; 2048]>,
    values: Box<[*mut c_void; 2]>,
}

/// Creates a link whose errors go to a log.
fn link() -> (CUlinkState, Log) {
    let mut log = Log { text: Box::new([0; 2048]), values: Box::new([null_mut(); 2]) };
    log.values[0] = log.text.as_mut_ptr().cast();
    log.values[1] = std::ptr::without_provenance_mut(2048);
    let mut options = [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut state = null_mut();
    ok!(cuLinkCreate_v2(2, options.as_mut_ptr(), log.values.as_mut_ptr(), &mut state));
    (state, log)
}

impl Log {
    fn text(&self) -> String {
        unsafe { CStr::from_ptr(self.text.as_ptr()) }.to_str().unwrap().to_owned()
    }
}

/// Clients may free a link's option values once it is created: only the text is written later.
#[test]
fn the_values_of_options_are_the_clients_again() {
    context();
    let (state, mut log) = link();
    let marker = std::ptr::without_provenance_mut(0x5a5a);
    log.values.fill(marker);
    let ptx = CUjitInputType::CU_JIT_INPUT_PTX;
    assert_eq!(add(state, ptx, "nonsense"), CUresult::CUDA_ERROR_INVALID_PTX);
    assert_eq!(add(state, ptx, &format!("{HEADER}{CALLEE}")), CUresult::CUDA_SUCCESS);
    let (mut cubin, mut size) = (null_mut(), 0);
    ok!(cuLinkComplete(state, &mut cubin, &mut size));
    assert_eq!(*log.values, [marker; 2]);
    assert!(!log.text().is_empty());
    ok!(cuLinkDestroy(state));
}

#[test]
fn two_texts_and_a_library_link_to_a_module() {
    context();
    let (state, _log) = link();
    let ptx = CUjitInputType::CU_JIT_INPUT_PTX;
    assert_eq!(add(state, ptx, &format!("{HEADER}{CALLER}")), CUresult::CUDA_SUCCESS);
    let path = std::env::temp_dir().join(format!("cuda-sim-{}.ptx", std::process::id()));
    std::fs::write(&path, format!("{HEADER}{CALLEE}")).unwrap();
    let c_path = CString::new(path.to_str().unwrap()).unwrap();
    ok!(cuLinkAddFile_v2(state, ptx, c_path.as_ptr(), 0, null_mut(), null_mut()));
    std::fs::remove_file(&path).unwrap();
    let library = CUjitInputType::CU_JIT_INPUT_LIBRARY;
    let mut archive = *b"!<arch>\n";
    let named = |name: &CStr, data: &mut [u8]| {
        let at = data.as_mut_ptr().cast();
        call!(cuLinkAddData_v2(state, library, at, 8, name.as_ptr(), 0, null_mut(), null_mut()))
    };
    assert_eq!(named(c"libcudadevrt.a", &mut archive), CUresult::CUDA_SUCCESS);
    assert_eq!(named(c"libother.a", &mut archive), CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU);
    let (mut cubin, mut size) = (null_mut(), 0);
    ok!(cuLinkComplete(state, &mut cubin, &mut size));
    assert!(size > 100);
    let (mut module, mut f, mut out) = (null_mut(), null_mut(), 0);
    ok!(cuModuleLoadData(&mut module, cubin));
    ok!(cuLinkDestroy(state));
    assert_eq!(call!(cuLinkDestroy(state)), CUresult::CUDA_ERROR_INVALID_HANDLE);
    ok!(cuModuleGetFunction(&mut f, module, c"k".as_ptr()));
    ok!(cuMemAlloc_v2(&mut out, 4));
    assert_eq!(launch(f, out), CUresult::CUDA_SUCCESS);
    let mut value = 0u32;
    ok!(cuMemcpyDtoH_v2((&raw mut value).cast(), out, 4));
    assert_eq!(value, 37);
}

#[test]
fn what_does_not_link_has_a_log() {
    context();
    let ptx = CUjitInputType::CU_JIT_INPUT_PTX;
    let (state, log) = link();
    assert_eq!(add(state, ptx, &format!("{HEADER}.visible .entry k() {{ frob; }}")), CUresult::CUDA_ERROR_INVALID_PTX);
    assert!(log.text().contains("part.ptx") && log.text().contains("line 4"), "{}", log.text());
    assert_eq!(add(state, ptx, &format!("{HEADER}{CALLER}")), CUresult::CUDA_SUCCESS);
    let (mut cubin, mut size) = (null_mut(), 0);
    assert_eq!(call!(cuLinkComplete(state, &mut cubin, &mut size)), CUresult::CUDA_ERROR_INVALID_IMAGE);
    let undefined = ["bias", "seven"].map(|name| format!("error   : Undefined reference to '{name}' in 'part.ptx'\n"));
    assert!(log.text().ends_with(&undefined.concat()), "{}", log.text());
    ok!(cuLinkDestroy(state));
    let (state, log) = link();
    for _ in 0..2 {
        assert_eq!(add(state, ptx, &format!("{HEADER}{CALLEE}")), CUresult::CUDA_SUCCESS);
    }
    assert_eq!(call!(cuLinkComplete(state, &mut cubin, &mut size)), CUresult::CUDA_ERROR_INVALID_IMAGE);
    assert_eq!(log.text(), "error   : Multiple definition of 'bias' in 'part.ptx', first defined in 'part.ptx'\n");
    ok!(cuLinkDestroy(state));
}

#[test]
fn libraries_give_kernels() {
    context();
    let text = CString::new(format!(
        "{HEADER}.global .attribute(.managed) .align 4 .u32 shared_word = 5; .global .align 4 .u32 word = 6;
        .visible .entry k(.param .u64 out, .param .u32 n) {{ .reg .b64 %rd1; ld.param.u64 %rd1, [out];
        st.global.u32 [%rd1], 9; ret; }}"
    ));
    let (mut library, mut kernel, mut f, mut module) = (null_mut(), null_mut(), null_mut(), null_mut());
    let code = text.unwrap();
    let none = (null_mut(), null_mut());
    ok!(cuLibraryLoadData(&mut library, code.as_ptr().cast(), none.0, none.1, 0, null_mut(), null_mut(), 0));
    ok!(cuLibraryGetKernel(&mut kernel, library, c"k".as_ptr()));
    let missing = call!(cuLibraryGetKernel(&mut kernel.clone(), library, c"nothing".as_ptr()));
    assert_eq!(missing, CUresult::CUDA_ERROR_NOT_FOUND);
    ok!(cuKernelGetFunction(&mut f, kernel));
    ok!(cuLibraryGetModule(&mut module, library));
    let mut same = null_mut();
    ok!(cuModuleGetFunction(&mut same, module, c"k".as_ptr()));
    assert_eq!(f, same);
    let (mut name, mut back, mut count, mut value) = (std::ptr::null(), null_mut(), 0, 0);
    ok!(cuKernelGetName(&mut name, kernel));
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"k");
    ok!(cuKernelGetLibrary(&mut back, kernel));
    assert_eq!(back, library);
    ok!(cuLibraryGetKernelCount(&mut count, library));
    assert_eq!(count, 1);
    let dynamic = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    ok!(cuKernelSetAttribute(dynamic, 1024, kernel, 0));
    ok!(cuKernelGetAttribute(&mut value, dynamic, kernel, 0));
    assert_eq!(value, 1024);
    let (mut offset, mut bytes) = (0, 0);
    ok!(cuKernelGetParamInfo(kernel, 1, &mut offset, &mut bytes));
    assert_eq!((offset, bytes), (8, 4));
    let mut address = 0;
    ok!(cuLibraryGetGlobal(&mut address, &mut bytes, library, c"word".as_ptr()));
    assert_eq!(bytes, 4);
    let (mut n, mut word) = (0u32, 0u32);
    let mut params: [*mut c_void; 2] = [(&raw mut address).cast(), (&raw mut n).cast()];
    ok!(cuLaunchKernel(kernel.cast(), 1, 1, 1, 1, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()));
    ok!(cuMemcpyDtoH_v2((&raw mut word).cast(), address, 4));
    assert_eq!(word, 9);
    ok!(cuLibraryGetManaged(&mut address, &mut bytes, library, c"shared_word".as_ptr()));
    let plain = call!(cuLibraryGetManaged(&mut address, &mut bytes, library, c"word".as_ptr()));
    assert_eq!(plain, CUresult::CUDA_ERROR_NOT_FOUND);
    ok!(cuLibraryUnload(library));
    assert_eq!(call!(cuLibraryUnload(library)), CUresult::CUDA_ERROR_INVALID_HANDLE);
}

const TALK: &str = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 g, .param .b64 s);
.global .align 1 .b8 pattern[17] = {116, 37, 100, 32, 120, 61, 37, 46, 50, 102, 32, 37, 115, 33, 10, 0, 0};
.global .align 1 .b8 word[4] = {97, 98, 99, 0};
.visible .entry say(.param .u64 out) { .local .align 8 .b8 d[32]; .reg .b64 %rd<6>; .reg .b32 %r<3>;
  mov.u32 %r1, %tid.x; st.local.u32 [d], %r1; st.local.f64 [d+8], 0d3FF8000000000000; mov.u64 %rd1, word;
  st.local.u64 [d+16], %rd1; mov.u64 %rd2, pattern; mov.u64 %rd3, d; cvta.local.u64 %rd3, %rd3;
  { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd2; st.param.b64 [a], %rd3;
  call.uni (r), vprintf, (f, a); ld.param.b32 %r2, [r]; } ld.param.u64 %rd4, [out]; st.global.u32 [%rd4], %r2; ret; }
.visible .entry fail(.param .u64 out) { .reg .b64 %rd<3>; mov.u64 %rd1, word; mov.u64 %rd2, 1;
  { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 g; .param .b64 s; st.param.b64 [m], %rd1;
  st.param.b64 [f], %rd1; st.param.b32 [l], 12; st.param.b64 [g], %rd1; st.param.b64 [s], %rd2;
  call.uni __assertfail, (m, f, l, g, s); } ret; }";

#[test]
fn kernels_print_and_assert() {
    let child = child("output_in_a_process_of_its_own").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
    assert!(child.status.success(), "{out}\n{err}");
    let lines: Vec<&str> = out.lines().filter(|line| line.contains("x=")).collect();
    assert_eq!(lines, ["t0 x=1.50 abc!", "t1 x=1.50 abc!", "t2 x=1.50 abc!"]);
    assert!(out.find("t2 x").unwrap() < out.find("all was said").unwrap(), "{out}");
    assert!(err.contains("abc:12: abc: block: [0,0,0], thread: [0,0,0] Assertion `abc` failed."), "{err}");
}

#[test]
fn output_in_a_process_of_its_own() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    context();
    let text = CString::new(format!("{HEADER}{TALK}")).unwrap();
    let (mut module, mut say, mut fail, mut out) = (null_mut(), null_mut(), null_mut(), 0);
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    ok!(cuModuleGetFunction(&mut say, module, c"say".as_ptr()));
    ok!(cuModuleGetFunction(&mut fail, module, c"fail".as_ptr()));
    ok!(cuMemAlloc_v2(&mut out, 4));
    let mut params: [*mut c_void; 1] = [(&raw mut out).cast()];
    ok!(cuLaunchKernel(say, 1, 1, 1, 3, 1, 1, 0, null_mut(), params.as_mut_ptr(), null_mut()));
    ok!(cuCtxSynchronize());
    println!("all was said");
    let mut count = 0u32;
    ok!(cuMemcpyDtoH_v2((&raw mut count).cast(), out, 4));
    assert_eq!(count, 3);
    assert_eq!(launch(fail, out), CUresult::CUDA_SUCCESS);
    assert_eq!(call!(cuCtxSynchronize()), CUresult::CUDA_ERROR_ASSERT);
    assert_eq!(call!(cuMemAlloc_v2(&mut out, 4)), CUresult::CUDA_ERROR_ASSERT);
}
