//! Common code of the tests of the driver's functions: calls through the table, and child processes.
//!
//! # Safety
//!
//! Every call passes pointers to live locals, as CUDA's documentation asks.
#![allow(dead_code, unused_macros, reason = "each test file uses a part")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "the header's argument holds for each call")]
#![allow(clippy::allow_attributes, reason = "which part is unused differs from file to file")]

use cuda_sys::*;
use std::ffi::{CStr, c_char};
use std::process::Command;
use std::ptr::null_mut;

macro_rules! call {
    ($name:ident($($arg:expr),* $(,)?)) => {{
        let function = cuda_tests_support::driver_api().$name().expect(stringify!($name));
        unsafe { function($($arg),*) }
    }};
}

macro_rules! ok {
    ($name:ident($($arg:expr),* $(,)?)) => {
        assert_eq!(call!($name($($arg),*)), CUresult::CUDA_SUCCESS, stringify!($name))
    };
}

/// Asserts that a call returns a code, given by its name without prefix.
macro_rules! gives {
    ($code:ident, $name:ident($($arg:expr),* $(,)?)) => {
        assert_eq!(call!($name($($arg),*)), CUresult::$code, stringify!($name))
    };
}

pub(crate) const CHILD: &str = "CUDA_SIM_TEST_CHILD";

/// Runs a test of this file again in a child process with this environment, of which a variable of the software device chooses
/// that device. Returns true in the child itself.
pub(crate) fn in_child(test: &str, environment: &[(&str, &str)]) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let mut child = child(test);
    cuda_tests_support::set_variables(&mut child, environment.iter().map(|(name, value)| (*name, value.as_ref())));
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{}: {text}{errors}", output.status);
    false
}

/// Returns the command of a child process that runs one test of this file.
pub(crate) fn child(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1");
    command
}

/// Makes the primary context of a device the current one.
pub(crate) fn primary(device: CUdevice) -> CUcontext {
    ok!(cuInit(0));
    let mut context = null_mut();
    ok!(cuDevicePrimaryCtxRetain(&mut context, device));
    ok!(cuCtxSetCurrent(context));
    context
}

/// Loads a text and returns one of its functions.
pub(crate) fn function(text: &CStr, name: &CStr) -> CUfunction {
    let (mut module, mut f) = (null_mut(), null_mut());
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    ok!(cuModuleGetFunction(&mut f, module, name.as_ptr()));
    f
}

pub(crate) fn attribute(which: CUdevice_attribute, device: CUdevice) -> i32 {
    let mut value = -1;
    ok!(cuDeviceGetAttribute(&mut value, which, device));
    value
}

/// Returns an attribute of a launch, made of 32-bit words.
pub(crate) fn launch_attribute(id: CUlaunchAttributeID, words: &[u32]) -> CUlaunchAttribute {
    let mut value = CUlaunchAttributeValue { pad: [0; 64] };
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    let pad = unsafe { &mut value.pad };
    bytes.zip(pad).for_each(|(byte, to)| *to = byte as c_char);
    CUlaunchAttribute { id, pad: [0; 4], value }
}

/// Returns the configuration of a launch of this many blocks of 64 threads.
pub(crate) fn launch_config(blocks: u32, attributes: &mut [CUlaunchAttribute], stream: CUstream) -> CUlaunchConfig {
    CUlaunchConfig {
        gridDimX: blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 64,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
    }
}
