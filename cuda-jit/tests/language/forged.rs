//! Hidden functions of the macros that were written by hand, without unsafe code: they are never compiled.
//!
//! Those that rustc refuses are in `tests/refused/forged.rs`.

use cuda_jit::typeinfo::CapturedBody;
use cuda_jit::{DeviceType, Kernel, device, kernel};

#[device]
trait Reads {
    fn read(x: &[u64], i: u64) -> u64;
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Honest(u64);

#[device]
impl Reads for Honest {
    fn read(x: &[u64], i: u64) -> u64 {
        x[i as usize]
    }
}

/// The definition belongs to another function than the type information.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Forged(u64);

impl Reads for Forged {
    fn read(_: &[u64], i: u64) -> u64 {
        i
    }

    fn write_device_before_trait_and_impl(method: &str) -> Option<CapturedBody> {
        let (_, probe) = Honest::write_device_before_trait_and_impl(method)?;
        Some((other::definition(), probe))
    }
}

/// No body is returned.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Without(u64);

impl Reads for Without {
    fn read(_: &[u64], i: u64) -> u64 {
        i
    }

    fn write_device_before_trait_and_impl(_: &str) -> Option<CapturedBody> {
        None
    }
}

#[kernel]
fn other(x: &[u64], out: &mut [u64]) {
    out[0] = x[1];
}

#[kernel]
fn reads<R: Reads>(_reader: R, x: &[u64], out: &mut [u64]) {
    out[0] = R::read(x, 0);
}

#[test]
fn type_information_must_belong_to_the_function() {
    assert!(reads::<Honest>::compile_ptx((9, 0)).is_ok());
    let compiled = std::panic::catch_unwind(|| reads::<Forged>::compile_ptx((9, 0)));
    let message = compiled.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(*message, "what rustc reported of `other` is another function's");
    let compiled = std::panic::catch_unwind(|| reads::<Without>::compile_ptx((9, 0)));
    let message = compiled.unwrap_err().downcast::<String>().unwrap();
    assert_eq!(*message, "an `impl` without `#[device]` returns no body of its method `read`");
}
