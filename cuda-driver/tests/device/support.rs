//! A context of the software device, its memory, and two kernels.
//!
//! # Safety
//!
//! Each test owns its memory, which is freed after the test has waited for the work that uses it.

use std::ops::Deref;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuda_driver::{Context, Driver, Function, Module, driver_call};
use cuda_sys::CUdeviceptr;

/// `add(x, value)`: adds a number to each of 32 numbers. `nothing()`.
const PTX: &str = "
    .version 7.0
    .target sm_75
    .address_size 64
    .visible .global .align 4 .b8 scale[4];
    .visible .entry add(.param .u64 x, .param .u32 value) {
        .reg .b32 %r<4>;
        .reg .b64 %rd<3>;
        mov.u32 %r1, %tid.x;
        ld.param.u64 %rd1, [x];
        mul.wide.u32 %rd2, %r1, 4;
        add.u64 %rd1, %rd1, %rd2;
        ld.param.u32 %r2, [value];
        ld.global.u32 %r3, [%rd1];
        add.u32 %r3, %r3, %r2;
        st.global.u32 [%rd1], %r3;
        ret;
    }
    .visible .entry nothing() {
        ret;
    }";

/// The context of the device, locked for this test: a capture keeps other threads from synchronising it.
pub(crate) struct Turn {
    context: Context,
    _turn: MutexGuard<'static, ()>,
}

impl Deref for Turn {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

pub(crate) fn driver() -> Driver {
    Driver::new(cuda_tests_support::driver_api()).unwrap()
}

pub(crate) fn context() -> Turn {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Turn { context: driver().device(0).unwrap().primary_context().unwrap(), _turn: turn }
}

/// Runs a test again in a process with `value` in its environment; returns true in that process. A variable of the software device
/// chooses that device.
pub(crate) fn with_variable(test: &str, variable: &str, value: &str) -> bool {
    let marker = "CUDA_DRIVER_TESTS_CHILD";
    if std::env::var_os(marker).is_some() {
        return true;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture"]).env(marker, "1");
    cuda_tests_support::set_variables(&mut child, [(variable, value.as_ref())]);
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}

pub(crate) fn function(context: &Context, name: &str) -> Function {
    // SAFETY: the functions access only the memory behind their parameters.
    unsafe { Module::load_ptx(context, PTX) }.unwrap().function(name).unwrap()
}

/// 32 numbers on the device.
pub(crate) struct Numbers {
    context: Context,
    pub(crate) address: CUdeviceptr,
}

pub(crate) const BYTES: usize = 32 * 4;

impl Numbers {
    /// All zero.
    pub(crate) fn new(context: &Context) -> Self {
        let mut address = 0;
        // SAFETY: `address` lives through the call.
        unsafe { driver_call!(context, cuMemAlloc_v2(&mut address, BYTES)) }.unwrap();
        // SAFETY: the memory is that large.
        unsafe { driver_call!(context, cuMemsetD8_v2(address, 0, BYTES)) }.unwrap();
        // The driver sets memory in the order of the default stream, for which other streams do not wait.
        context.default_stream().synchronize().unwrap();
        Numbers { context: context.clone(), address }
    }

    /// All of them, which are equal.
    pub(crate) fn value(&self) -> u32 {
        let mut host = [0_u32; 32];
        // SAFETY: both sides are that large.
        unsafe { driver_call!(&self.context, cuMemcpyDtoH_v2(host.as_mut_ptr().cast(), self.address, BYTES)) }.unwrap();
        assert!(host.iter().all(|value| *value == host[0]), "{host:?}");
        host[0]
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        // SAFETY: the test has waited for what uses the memory.
        unsafe { driver_call!(&self.context, cuMemFree_v2(self.address)) }.unwrap();
    }
}
