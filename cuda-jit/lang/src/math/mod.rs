//! The mathematical functions that kernels call if NVIDIA's libdevice is not used: Rust code of this crate, captured as any
//! `#[device]` function is.
//!
//! The `f64` functions compute in pairs of `f64` and round once at the end. The `f32` functions compute in `f64`: `exp`,
//! `exp2`, `ln`, `log2`, `log10`, `sin` and `cos` by short polynomials, the others as the `f64` ones. They trade speed for
//! accuracy: on devices with few `f64` units, libdevice's are much faster. Errors measured by the tests against correctly
//! rounded values:
//!
//! | functions | maximum error in ulp, `f64` | `f32` |
//! |---|---|---|
//! | `sin` `cos` `tan` `asin` `acos` `atan` `atan2` | 0.56 | 0.501 |
//! | `exp` `exp2` `exp_m1` `ln` `log2` `log10` `ln_1p` `powf` `cbrt` `hypot` | 0.62 | 0.501 |
//! | `sinh` `cosh` `tanh` `asinh` `acosh` `atanh` | 0.56 | 0.501 |
//!
//! A subnormal result may be off by one more unit. `powi` multiplies, as Rust's does on the host, with an error that grows
//! with the exponent; the other functions here (`round`, `rem_euclid` and so on) are Rust's definitions, exact to the bit.
//!
//! Invariant: none depends on anything outside the compiled module.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "`!(x < limit)` is how NaN goes the way of what is too large")]
#![expect(clippy::approx_constant, reason = "a constant's first part stands beside its second")]

pub(crate) mod division;
mod double;
mod exponential;
mod plain;
mod single;
mod trigonometric;

use crate::kir::{LibFn, Scalar};
use crate::typeinfo::{DeviceFn, Instance, Math};

/// The functions: those that libdevice has, with its name, and those that exist neither there nor as an instruction.
macro_rules! functions {
    ([$($module:ident: $($variant:ident $name:ident $library:literal,)*;)*] [$($plain:ident $function:ident,)*]) => {
        /// The function of libdevice, if it has one.
        pub fn of_libdevice(function: Math, ty: Scalar) -> Option<LibFn> {
            let name = match function {
                $($(Math::$variant => $library,)*)*
                $(Math::$plain)|* => return None,
            };
            LibFn::of_float(name, ty)
        }

        /// The function in Rust.
        pub fn instance(function: Math, ty: Scalar) -> Instance {
            match (function, ty) {
                $($(
                    (Math::$variant, Scalar::F32) => single::$name::instance(),
                    (Math::$variant, _) => $module::$name::instance(),
                )*)*
                $(
                    (Math::$plain, Scalar::F32) => plain::f32::$function::instance(),
                    (Math::$plain, _) => plain::f64::$function::instance(),
                )*
            }
        }
    };
}

functions! {
    [
        exponential: Exp exp "exp", Exp2 exp2 "exp2", ExpM1 exp_m1 "expm1", Ln ln "log", Log2 log2 "log2",
            Log10 log10 "log10", Ln1p ln_1p "log1p", Powf powf "pow", Cbrt cbrt "cbrt", Sinh sinh "sinh",
            Cosh cosh "cosh", Tanh tanh "tanh", Asinh asinh "asinh", Acosh acosh "acosh", Atanh atanh "atanh",;
        trigonometric: Sin sin "sin", Cos cos "cos", Tan tan "tan", Asin asin "asin", Acos acos "acos",
            Atan atan "atan", Atan2 atan2 "atan2", Hypot hypot "hypot",;
    ]
    [
        Round round, Powi powi, RemEuclid rem_euclid, DivEuclid div_euclid, ToDegrees to_degrees,
        ToRadians to_radians,
    ]
}
