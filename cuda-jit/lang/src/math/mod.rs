//! The mathematical functions that kernels call where NVIDIA's libdevice is not used: Rust of this crate's own, captured
//! as any `#[device]` function is.
//!
//! The `f64` functions compute in pairs of `f64` and round once at the end; the `f32` functions are the `f64` ones,
//! rounded. They trade speed for accuracy: on devices with few units for `f64`, libdevice's are much faster. What the
//! tests find, against values that are correctly rounded:
//!
//! | functions | most error in ulp, `f64` | `f32` |
//! |---|---|---|
//! | `sin` `cos` `tan` `asin` `acos` `atan` `atan2` | 0.56 | 0.501 |
//! | `exp` `exp2` `exp_m1` `ln` `log2` `log10` `ln_1p` `powf` `cbrt` `hypot` | 0.62 | 0.501 |
//! | `sinh` `cosh` `tanh` `asinh` `acosh` `atanh` | 0.56 | 0.501 |
//!
//! Where a result is subnormal it may be off by one more unit. `powi` multiplies, as Rust's does on the host, with an
//! error that grows with the exponent; the others here (`round`, `rem_euclid` and so on) are Rust's definitions, exact
//! to the bit.
//!
//! Invariant: none needs anything from outside the module that is compiled.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "`!(x < limit)` is how NaN goes the way of what is too large")]
#![expect(clippy::approx_constant, reason = "a constant's first part stands beside its second")]

mod double;
mod exponential;
mod plain;
mod single;
mod trigonometric;

use crate::harvest::{DeviceFn, Instance};
use crate::kir::Scalar;

/// The function that stands for a method of a float, if it is one of these.
pub fn instance(method: &str, ty: Scalar) -> Option<Instance> {
    macro_rules! pick {
        ($($module:ident: $($name:ident)*;)*) => {
            match (method, ty) {
                $($(
                    (stringify!($name), Scalar::F32) => single::$name::instance(),
                    (stringify!($name), _) => $module::$name::instance(),
                )*)*
                _ => return None,
            }
        };
    }
    Some(pick! {
        exponential: exp exp2 exp_m1 ln log2 log10 ln_1p powf cbrt sinh cosh tanh asinh acosh atanh;
        trigonometric: sin cos tan asin acos atan atan2 hypot;
    })
}

/// The function for a method that neither a library nor an instruction has.
pub fn plain(method: &str, ty: Scalar) -> Option<Instance> {
    macro_rules! pick {
        ($($name:ident)*) => {
            match (method, ty) {
                $(
                    (stringify!($name), Scalar::F32) => plain::f32::$name::instance(),
                    (stringify!($name), _) => plain::f64::$name::instance(),
                )*
                _ => return None,
            }
        };
    }
    Some(pick! { round powi rem_euclid div_euclid to_degrees to_radians })
}
