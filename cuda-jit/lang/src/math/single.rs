//! The functions on `f32`: the rounded results of those on `f64`. Of the two roundings, the first is far finer than the
//! second.

use super::{exponential, trigonometric};
use crate::device;

macro_rules! single {
    ($($module:ident: $($name:ident($($param:ident),*))*;)*) => { $($(
        #[device]
        pub(crate) fn $name($($param: f32),*) -> f32 {
            $module::$name($($param as f64),*) as f32
        }
    )*)* };
}

single! {
    exponential: exp(x) exp2(x) exp_m1(x) ln(x) log2(x) log10(x) ln_1p(x) powf(x, y) cbrt(x) sinh(x) cosh(x) tanh(x)
        asinh(x) acosh(x) atanh(x);
    trigonometric: sin(x) cos(x) tan(x) asin(x) acos(x) atan(x) atan2(y, x) hypot(x, y);
}
