//! Faults that lose a context, each in a process of its own.

use std::ffi::c_void;

use cuda_driver::cuda_sys::CUresult;
use cuda_driver::{Context, Module};
use cuda_prelude::*;

use crate::support::in_own_process;
use cuda_tests_support::POKE;

fn poke(context: &Context, mut address: u64) -> cuda_driver::Result<()> {
    // SAFETY: loading runs nothing; the launch below passes the address that the kernel writes to.
    let function = unsafe { Module::load_ptx(context, POKE) }?.function("poke")?;
    let mut params = [(&raw mut address).cast::<c_void>()];
    // SAFETY: the one parameter is an address of eight bytes. The device has no memory at the address, so no memory of this
    // process is written.
    unsafe { function.launch(&LaunchConfig::new(1, 1), &context.default_stream(), &mut params) }?;
    context.synchronize()
}

#[kernel]
fn out_of_bounds(x: &mut [u32], index: usize) {
    x[index] = 1;
}

/// The mistakes are planted, so that the checkers would be right to report them.
const UNCHECKED: [(&str, Option<&str>); 1] = [("CUDA_SIM_CHECK", None)];

/// A panic often precedes the fault that it leads to, and must not be lost with the context.
#[test]
fn a_panic_before_a_fault_is_reported_when_the_process_ends() {
    let test = "faults::a_panic_before_a_fault_is_reported_when_the_process_ends";
    let text = in_own_process(test, &UNCHECKED, || {
        let (s, mut x) = (stream().unwrap(), zeros::<u32, _>(8).unwrap());
        out_of_bounds::launch((1, 1, &s), &mut x, 77).unwrap();
        while !s.query().unwrap() {
            std::thread::yield_now();
        }
        poke(s.context(), 64).expect_err("nothing is allocated there");
        assert!(s.synchronize().unwrap_err().is_sticky());
    });
    assert!(text.is_empty() || text.contains("the len is 8 but the index is 77"), "{text}");
}

#[test]
fn an_illegal_address_loses_the_context_with_its_error_code() {
    let test = "faults::an_illegal_address_loses_the_context_with_its_error_code";
    in_own_process(test, &UNCHECKED, || {
        let context = current_context().expect("there is a device");
        let error = poke(&context, 64).expect_err("nothing is allocated there");
        assert_eq!(error.code(), Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS), "{error}");
        assert!(error.is_sticky());
        // Every later call names the first cause.
        let later = zeros::<f32, _>(16).expect_err("the context is lost").to_string();
        assert!(later.contains("CUDA_ERROR_ILLEGAL_ADDRESS") && later.contains("only a new process"), "{later}");
        let again = synchronize().expect_err("the context is lost").to_string();
        assert!(again.contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{again}");
    });
}
