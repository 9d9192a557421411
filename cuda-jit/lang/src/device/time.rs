//! Clocks, and sleeping.
//!
//! On the host the clocks are the program's own: they advance, but say nothing about a device.

use std::time::Instant;

use std::sync::LazyLock;

use crate::kir::Clock;
use crate::typeinfo::Intrinsic;

/// The low 32 bits of [`clock64`].
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::clock, kernel};
///
/// #[kernel]
/// fn cycles(out: &mut [u32]) {
///     let start = clock();
///     out[0] = clock().wrapping_sub(start);
/// }
/// assert!(cycles::compile_ptx((9, 0))?.contains("%clock"));
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub fn clock() -> u32 {
    clock64() as u32
}

/// The cycle counter of the thread's multiprocessor; only differences between two readings of one thread are meaningful.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{clock64, nanosleep}, kernel};
///
/// #[kernel]
/// fn wait(cycles: &mut [u64]) {
///     let start = clock64();
///     nanosleep(100);
///     cycles[0] = clock64() - start;
/// }
///
/// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
/// let mut cycles = cuda_mem::zeros(&context, 1)?;
/// wait::launch((1, 1), &mut cycles)?;
/// assert!(cycles.copy_to_host()?[0] > 0);
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub fn clock64() -> u64 {
    globaltimer()
}

/// A nanosecond clock of the whole device; its resolution depends on the device.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::globaltimer;
///
/// // The host has a clock of its own.
/// let start = globaltimer();
/// assert!(globaltimer() >= start);
/// ```
pub fn globaltimer() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Sleeps for about this many nanoseconds, between zero and twice as many, at most a millisecond: for polling loops.
///
/// Devices before compute capability 7.0 do not sleep, and neither does the host.
pub fn nanosleep(_nanoseconds: u32) {}

calls! {
    clock() -> u32 => Intrinsic::Clock(Clock::CyclesLow);
    clock64() -> u64 => Intrinsic::Clock(Clock::Cycles);
    globaltimer() -> u64 => Intrinsic::Clock(Clock::Nanoseconds);
    nanosleep(u32) => Intrinsic::Sleep;
}
