//! Helpers that compiled code calls: transcendental functions, and arithmetic under the directed rounding modes.
//!
//! # Safety
//!
//! The helpers take and return numbers only.

use super::narrow;
use crate::cpu::directed::*;
use crate::exec::{bulk, copies, mbarrier};
use crate::service;
use std::ffi::c_void;

/// Converts an unsigned number: it is halved with its lost bit kept sticky, converted and doubled, which rounds once.
fn unsigned(a: u64) -> Result<i64, i64> {
    i64::try_from(a).map_err(|_| ((a >> 1) | (a & 1)) as i64)
}

extern "C" fn u64_f32(a: u64, mode: u32) -> f32 {
    unsigned(a).map_or_else(|half| s64_f32(half, mode) * 2.0, |a| s64_f32(a, mode))
}

extern "C" fn u64_f64(a: u64, mode: u32) -> f64 {
    unsigned(a).map_or_else(|half| s64_f64(half, mode) * 2.0, |a| s64_f64(a, mode))
}

macro_rules! through_double {
    ($($name:ident = $function:expr;)+) => {
        $(extern "C" fn $name(x: f32) -> f32 {
            let function: fn(f64) -> f64 = $function;
            function(f64::from(x)) as f32
        })+
    };
}

through_double! {
    sin = f64::sin;
    cos = f64::cos;
    lg2 = f64::log2;
    ex2 = f64::exp2;
    tanh = f64::tanh;
}

/// Returns the position of the `offset`-th set bit from `base` on, by the manual's loop.
extern "C" fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    let set = |at: i64| (0..32).contains(&at) && mask >> at & 1 != 0;
    let base = i64::from(base);
    if offset == 0 {
        return if set(base) { base as u32 } else { u32::MAX };
    }
    let mut wanted = offset.unsigned_abs();
    let mut at = base;
    while (0..32).contains(&at) {
        wanted -= u32::from(set(at));
        if wanted == 0 {
            return at as u32;
        }
        at += i64::from(offset.signum());
    }
    u32::MAX
}

/// Yields to other threads of the host: a device thread that sleeps is waiting for one.
extern "C" fn yield_now() {
    std::thread::yield_now();
}

extern "C" fn globaltimer() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |d| d.as_nanos() as u64)
}

unsafe extern "C" {
    fn memcpy(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
    fn memmove(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
    fn memset(to: *mut c_void, byte: i32, bytes: usize) -> *mut c_void;
    fn fma(a: f64, b: f64, c: f64) -> f64;
    fn fmaf(a: f32, b: f32, c: f32) -> f32;
}

macro_rules! symbols {
    ($($name:literal = $function:expr),+ $(,)?) => {
        /// Returns every symbol that compiled code may refer to, with its address.
        pub(crate) fn symbols() -> Vec<(&'static str, usize)> {
            vec![$(($name, $function as *const () as usize)),+]
        }
    };
}

symbols! {
    "sim.add.f32" = add_f32, "sim.sub.f32" = sub_f32, "sim.mul.f32" = mul_f32, "sim.div.f32" = div_f32,
    "sim.add.f64" = add_f64, "sim.sub.f64" = sub_f64, "sim.mul.f64" = mul_f64, "sim.div.f64" = div_f64,
    "sim.sqrt.f32" = sqrt_f32, "sim.sqrt.f64" = sqrt_f64, "sim.fma.f32" = fma_f32, "sim.fma.f64" = fma_f64,
    "sim.f64.f32" = f64_f32, "sim.s64.f32" = s64_f32, "sim.s64.f64" = s64_f64, "sim.u64.f32" = u64_f32,
    "sim.u64.f64" = u64_f64, "sim.sin.f32" = sin, "sim.cos.f32" = cos, "sim.lg2.f32" = lg2, "sim.ex2.f32" = ex2,
    "sim.tanh.f32" = tanh, "sim.globaltimer" = globaltimer, "sim.fns" = fns, "sim.yield" = yield_now,
    "sim.narrow.f64" = narrow::from_f64, "sim.narrow.s64" = narrow::from_s64, "sim.narrow.u64" = narrow::from_u64,
    "sim.narrow.tf32" = narrow::tf32, "sim.narrow.scale" = narrow::scale, "sim.widen.f8" = narrow::widen_f8, "sim.printf" = service::printf,
    "sim.assertfail" = service::assertfail, "sim.malloc" = service::malloc, "sim.free" = service::free, "memcpy" = memcpy, "memmove" = memmove,
    "memset" = memset, "fma" = fma, "fmaf" = fmaf, "sim.switch" = crate::cpu::switch, "sim.mapped" = service::mapped, "sim.stop" = service::stopped,
    "sim.breakpoint" = service::breakpoint,
    "sim.copies.start" = copies::start, "sim.copies.commit" = copies::commit, "sim.copies.wait" = copies::wait,
    "sim.copies.arrive" = copies::arrive, "sim.bulk.to_shared" = bulk::to_shared, "sim.bulk.to_global" = bulk::to_global, "sim.mbarrier.init" = mbarrier::init, "sim.mbarrier.inval" = mbarrier::inval,
    "sim.mbarrier.expect" = mbarrier::expect,
    "sim.mbarrier.complete" = mbarrier::complete, "sim.mbarrier.arrive" = mbarrier::arrive, "sim.mbarrier.test" = mbarrier::test,
    "sim.check" = crate::check::access, "sim.check.fence" = crate::check::fence, "sim.check.batch" = crate::check::batched,
    "sim.check.arrived" = crate::check::arrived, "sim.check.passed" = crate::check::passed,
    "sim.access" = crate::exec::search::access, "sim.tick" = crate::exec::search::tick,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_conversion_rounds_once() {
        assert_eq!(u64_f32(u64::MAX, 3), 18446742974197923840.0);
        assert_eq!(u64_f32(u64::MAX, 2), 18446744073709551616.0);
        assert_eq!(u64_f64(u64::MAX, 1), 18446744073709549568.0);
    }
}
