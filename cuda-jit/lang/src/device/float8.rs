//! The compute capability of the target, and the instructions of newer devices for 8-bit floats.
//!
//! The instructions are internal to this crate: [`e4m3`](crate::e4m3) and the other types use them if the target has them.

use half::f16;

use crate::kir::Float8;
use crate::typeinfo::Intrinsic;

/// The compute capability of the target, its major number times ten plus its minor one: 75, 90, 120.
///
/// It is a constant, so that code for other targets is removed. On the host it is 0.
///
/// # Examples
///
/// ```
/// use cuda_jit::{device::{compute_capability, grid}, kernel};
///
/// #[kernel]
/// fn which(out: &mut [u32]) {
///     out[grid::<1>()] = if compute_capability() >= 90 { 1 } else { 0 };
/// }
///
/// assert!(!which::compile_ptx((9, 0))?.contains("selp"), "nothing is chosen when it runs");
/// # Ok::<(), cuda_jit::Error>(())
/// ```
pub fn compute_capability() -> u32 {
    0
}

macro_rules! instructions {
    ($($narrow:ident $widen:ident $float:ident;)*) => {
        $(
            #[doc(hidden)]
            pub fn $narrow(_low: f32, _high: f32) -> u16 {
                unreachable!("no host has compute capability 8.9")
            }

            #[doc(hidden)]
            pub fn $widen(_pair: u16) -> (f16, f16) {
                unreachable!("no host has compute capability 8.9")
            }
        )*

        calls! {
            compute_capability() -> u32 => Intrinsic::ComputeCapability;
            $(
                $narrow(f32, f32) -> u16 => Intrinsic::Narrow(Float8::$float);
                $widen(u16) -> (f16, f16) => Intrinsic::Widen(Float8::$float);
            )*
        }
    };
}

instructions! {
    narrow_e4m3 widen_e4m3 E4m3;
    narrow_e5m2 widen_e5m2 E5m2;
}
