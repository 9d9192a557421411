//! The functions of NVIDIA's libdevice: their names and signatures, maintained by hand and compared with the real file
//! by a test. [libdevice's manual](https://docs.nvidia.com/cuda/libdevice-users-guide/) states each function's result
//! and accuracy.
//!
//! The functions `nan` and `nanf`, which take a C string, are excluded.

use super::Scalar;

/// The kind of a parameter.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{LibArg, LibFn, Scalar};
///
/// let norm = LibFn::find("norm").unwrap();
/// assert_eq!(norm.args, [LibArg::Slice(Scalar::F64)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LibArg {
    /// A number; one value.
    Number(Scalar),
    /// A slice of numbers: its length as an `i32`, and a pointer to the first.
    Slice(Scalar),
}

/// A function of libdevice.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{LibFn, Scalar};
///
/// let sincosf = LibFn::of_float("sincos", Scalar::F32).unwrap();
/// assert_eq!((sincosf.name, sincosf.symbol()), ("sincosf", "__nv_sincosf".to_owned()));
/// assert_eq!((sincosf.result, sincosf.outs), (None, [Scalar::F32, Scalar::F32].as_slice()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LibFn {
    /// Its name, without `__nv_`.
    pub name: &'static str,
    /// Its parameters.
    pub args: &'static [LibArg],
    /// Its result type.
    pub result: Option<Scalar>,
    /// Its output parameters, pointers to local memory that follow the arguments.
    pub outs: &'static [Scalar],
}

impl LibFn {
    /// Finds a function by name.
    pub fn find(name: &str) -> Option<LibFn> {
        LibFn::ALL.iter().find(|function| function.name == name).copied()
    }

    /// Finds the function of that name on a float type; for `f32` the name ends in `f`.
    pub fn of_float(name: &str, ty: Scalar) -> Option<LibFn> {
        if ty == Scalar::F32 { LibFn::find(&format!("{name}f")) } else { LibFn::find(name) }
    }

    /// Its symbol in libdevice.
    pub fn symbol(self) -> String {
        format!("__nv_{}", self.name)
    }
}

/// Maps a word to a scalar type; `real` is the type that precedes it.
macro_rules! scalar {
    ($real:ident real) => {
        scalar!($real $real)
    };
    ($_:ident f32) => {
        Scalar::F32
    };
    ($_:ident f64) => {
        Scalar::F64
    };
    ($_:ident i32) => {
        Scalar::I32
    };
    ($_:ident u32) => {
        Scalar::U32
    };
    ($_:ident i64) => {
        Scalar::I64
    };
    ($_:ident u64) => {
        Scalar::U64
    };
    ($_:ident u16) => {
        Scalar::U16
    };
}

macro_rules! arg {
    ($real:ident [$ty:ident]) => {
        LibArg::Slice(scalar!($real $ty))
    };
    ($real:ident $ty:ident) => {
        LibArg::Number(scalar!($real $ty))
    };
}

macro_rules! result {
    ($real:ident) => {
        None
    };
    ($real:ident $ty:ident) => {
        Some(scalar!($real $ty))
    };
}

macro_rules! function {
    ($real:ident $name:ident($($arg:tt),*) -> ($($result:ident)?) $(out($($out:ident),*))?) => {
        LibFn {
            name: stringify!($name),
            args: &[$(arg!($real $arg)),*],
            result: result!($real $($result)?),
            outs: &[$($(scalar!($real $out)),*)?],
        }
    };
}

macro_rules! table {
    (
        both { $($of_both:literal $double:ident $single:ident $args:tt -> $result:tt $(out $outs:tt)?;)* }
        rounded { $($of_rounded:literal $down:ident $nearest:ident $up:ident $zero:ident $takes:tt -> $gives:tt;)* }
        alone { $($of_alone:literal $name:ident $taken:tt -> $given:tt $(out $more:tt)?;)* }
    ) => {
        impl LibFn {
            /// Every function.
            pub const ALL: &'static [LibFn] = &[
                $(
                    function!(f64 $double $args -> $result $(out $outs)?),
                    function!(f32 $single $args -> $result $(out $outs)?),
                )*
                $(
                    function!(f64 $down $takes -> $gives),
                    function!(f64 $nearest $takes -> $gives),
                    function!(f64 $up $takes -> $gives),
                    function!(f64 $zero $takes -> $gives),
                )*
                $(function!(f64 $name $taken -> $given $(out $more)?),)*
            ];
        }
    };
}

/// Calls a macro with the whole table: each function's result in words, name, arguments, result and output parameters. It
/// has the functions that exist on both `f64` and `f32`, which are `real`, those of each rounding mode (toward negative
/// infinity, to nearest even, toward positive infinity, toward zero), and all others.
#[doc(hidden)]
#[macro_export]
macro_rules! with_libdevice {
    ($then:ident) => {
        $then! {
            both {
                "the arc cosine, in radians" acos acosf(real) -> (real);
                "the inverse hyperbolic cosine" acosh acoshf(real) -> (real);
                "the arc sine, in radians" asin asinf(real) -> (real);
                "the inverse hyperbolic sine" asinh asinhf(real) -> (real);
                "the arc tangent, in radians" atan atanf(real) -> (real);
                "the angle of the point (`b`, `a`), in radians" atan2 atan2f(real, real) -> (real);
                "the inverse hyperbolic tangent" atanh atanhf(real) -> (real);
                "the cube root" cbrt cbrtf(real) -> (real);
                "the least whole number that is not smaller" ceil ceilf(real) -> (real);
                "`a` with the sign of `b`" copysign copysignf(real, real) -> (real);
                "the cosine of an angle in radians" cos cosf(real) -> (real);
                "the hyperbolic cosine" cosh coshf(real) -> (real);
                "the cosine of `a` half turns" cospi cospif(real) -> (real);
                "the modified Bessel function of the first kind of order 0" cyl_bessel_i0 cyl_bessel_i0f(real) -> (real);
                "the modified Bessel function of the first kind of order 1" cyl_bessel_i1 cyl_bessel_i1f(real) -> (real);
                "the error function" erf erff(real) -> (real);
                "one less the error function" erfc erfcf(real) -> (real);
                "the inverse of `erfc`" erfcinv erfcinvf(real) -> (real);
                "`erfc`, times e to the square of `a`" erfcx erfcxf(real) -> (real);
                "the inverse of `erf`" erfinv erfinvf(real) -> (real);
                "e to the power of `a`" exp expf(real) -> (real);
                "10 to the power of `a`" exp10 exp10f(real) -> (real);
                "2 to the power of `a`" exp2 exp2f(real) -> (real);
                "e to the power of `a`, less one" expm1 expm1f(real) -> (real);
                "the absolute value" fabs fabsf(real) -> (real);
                "`a` less `b`, or 0 if that is negative" fdim fdimf(real, real) -> (real);
                "the greatest whole number that is not larger" floor floorf(real) -> (real);
                "`a * b + c`, rounded once" fma fmaf(real, real, real) -> (real);
                "the larger; of a number and NaN the number" fmax fmaxf(real, real) -> (real);
                "the smaller; of a number and NaN the number" fmin fminf(real, real) -> (real);
                "the remainder of `a / b`, rounded toward zero" fmod fmodf(real, real) -> (real);
                "the fraction from 0.5 to 1 and the power of two that it is times" frexp frexpf(real) -> (real) out(i32);
                "the length of the hypotenuse" hypot hypotf(real, real) -> (real);
                "the exponent as an integer" ilogb ilogbf(real) -> (i32);
                "the Bessel function of the first kind of order 0" j0 j0f(real) -> (real);
                "the Bessel function of the first kind of order 1" j1 j1f(real) -> (real);
                "the Bessel function of the first kind of order `a`" jn jnf(i32, real) -> (real);
                "`a` times 2 to the power of `b`" ldexp ldexpf(real, i32) -> (real);
                "the logarithm of the absolute value of the gamma function" lgamma lgammaf(real) -> (real);
                "the nearest integer, ties to even" llrint llrintf(real) -> (i64);
                "the nearest integer, ties away from zero" llround llroundf(real) -> (i64);
                "the natural logarithm" log logf(real) -> (real);
                "the logarithm in base 10" log10 log10f(real) -> (real);
                "the natural logarithm of `a` and one" log1p log1pf(real) -> (real);
                "the logarithm in base 2" log2 log2f(real) -> (real);
                "the exponent as a float" logb logbf(real) -> (real);
                "the fraction and the whole part, both with the sign of `a`" modf modff(real) -> (real) out(real);
                "the nearest whole number, ties to even" nearbyint nearbyintf(real) -> (real);
                "the next number from `a` toward `b`" nextafter nextafterf(real, real) -> (real);
                "the square root of the sum of the squares" norm normf([real]) -> (real);
                "the square root of the sum of the squares" norm3d norm3df(real, real, real) -> (real);
                "the square root of the sum of the squares" norm4d norm4df(real, real, real, real) -> (real);
                "the distribution function of the standard normal distribution" normcdf normcdff(real) -> (real);
                "the inverse of `normcdf`" normcdfinv normcdfinvf(real) -> (real);
                "`a` to the power of `b`" pow powf(real, real) -> (real);
                "`a` to a whole power" powi powif(real, i32) -> (real);
                "one by the cube root" rcbrt rcbrtf(real) -> (real);
                "the remainder of `a / b`, rounded to nearest even" remainder remainderf(real, real) -> (real);
                "the remainder of `a / b`, rounded to nearest even, and low bits of that quotient" remquo remquof(real, real) -> (real) out(i32);
                "one by the length of the hypotenuse" rhypot rhypotf(real, real) -> (real);
                "the nearest whole number, ties to even" rint rintf(real) -> (real);
                "one by the square root of the sum of the squares" rnorm rnormf([real]) -> (real);
                "one by the square root of the sum of the squares" rnorm3d rnorm3df(real, real, real) -> (real);
                "one by the square root of the sum of the squares" rnorm4d rnorm4df(real, real, real, real) -> (real);
                "the nearest whole number, ties away from zero" round roundf(real) -> (real);
                "one by the square root" rsqrt rsqrtf(real) -> (real);
                "`a` times 2 to the power of `b`" scalbn scalbnf(real, i32) -> (real);
                "the sine of an angle in radians" sin sinf(real) -> (real);
                "the sine and the cosine of an angle in radians" sincos sincosf(real) -> () out(real, real);
                "the sine and the cosine of `a` half turns" sincospi sincospif(real) -> () out(real, real);
                "the hyperbolic sine" sinh sinhf(real) -> (real);
                "the sine of `a` half turns" sinpi sinpif(real) -> (real);
                "the square root" sqrt sqrtf(real) -> (real);
                "the tangent of an angle in radians" tan tanf(real) -> (real);
                "the hyperbolic tangent" tanh tanhf(real) -> (real);
                "the gamma function" tgamma tgammaf(real) -> (real);
                "the whole part" trunc truncf(real) -> (real);
                "the Bessel function of the second kind of order 0" y0 y0f(real) -> (real);
                "the Bessel function of the second kind of order 1" y1 y1f(real) -> (real);
                "the Bessel function of the second kind of order `a`" yn ynf(i32, real) -> (real);
            }
            rounded {
                "the sum" dadd_rd dadd_rn dadd_ru dadd_rz(f64, f64) -> (f64);
                "the quotient" ddiv_rd ddiv_rn ddiv_ru ddiv_rz(f64, f64) -> (f64);
                "the product" dmul_rd dmul_rn dmul_ru dmul_rz(f64, f64) -> (f64);
                "as an `f32`" double2float_rd double2float_rn double2float_ru double2float_rz(f64) -> (f32);
                "as an integer" double2int_rd double2int_rn double2int_ru double2int_rz(f64) -> (i32);
                "as an integer" double2ll_rd double2ll_rn double2ll_ru double2ll_rz(f64) -> (i64);
                "as an integer" double2uint_rd double2uint_rn double2uint_ru double2uint_rz(f64) -> (u32);
                "as an integer" double2ull_rd double2ull_rn double2ull_ru double2ull_rz(f64) -> (u64);
                "one by `a`" drcp_rd drcp_rn drcp_ru drcp_rz(f64) -> (f64);
                "the square root" dsqrt_rd dsqrt_rn dsqrt_ru dsqrt_rz(f64) -> (f64);
                "the difference" dsub_rd dsub_rn dsub_ru dsub_rz(f64, f64) -> (f64);
                "the sum" fadd_rd fadd_rn fadd_ru fadd_rz(f32, f32) -> (f32);
                "the quotient" fdiv_rd fdiv_rn fdiv_ru fdiv_rz(f32, f32) -> (f32);
                "as an integer" float2int_rd float2int_rn float2int_ru float2int_rz(f32) -> (i32);
                "as an integer" float2ll_rd float2ll_rn float2ll_ru float2ll_rz(f32) -> (i64);
                "as an integer" float2uint_rd float2uint_rn float2uint_ru float2uint_rz(f32) -> (u32);
                "as an integer" float2ull_rd float2ull_rn float2ull_ru float2ull_rz(f32) -> (u64);
                "`a * b + c`" fma_rd fma_rn fma_ru fma_rz(f64, f64, f64) -> (f64);
                "`a * b + c`" fmaf_rd fmaf_rn fmaf_ru fmaf_rz(f32, f32, f32) -> (f32);
                "the product" fmul_rd fmul_rn fmul_ru fmul_rz(f32, f32) -> (f32);
                "one by `a`" frcp_rd frcp_rn frcp_ru frcp_rz(f32) -> (f32);
                "the square root" fsqrt_rd fsqrt_rn fsqrt_ru fsqrt_rz(f32) -> (f32);
                "the difference" fsub_rd fsub_rn fsub_ru fsub_rz(f32, f32) -> (f32);
                "as an `f32`" int2float_rd int2float_rn int2float_ru int2float_rz(i32) -> (f32);
                "as an `f64`" ll2double_rd ll2double_rn ll2double_ru ll2double_rz(i64) -> (f64);
                "as an `f32`" ll2float_rd ll2float_rn ll2float_ru ll2float_rz(i64) -> (f32);
                "as an `f32`" uint2float_rd uint2float_rn uint2float_ru uint2float_rz(u32) -> (f32);
                "as an `f64`" ull2double_rd ull2double_rn ull2double_ru ull2double_rz(u64) -> (f64);
                "as an `f32`" ull2float_rd ull2float_rn ull2float_ru ull2float_rz(u64) -> (f32);
            }
            alone {
                "the absolute value" abs(i32) -> (i32);
                "the bits in the opposite order" brev(u32) -> (u32);
                "the bits in the opposite order" brevll(u64) -> (u64);
                "four of eight bytes, by number" byte_perm(u32, u32, u32) -> (u32);
                "how many leading bits are zero" clz(i32) -> (i32);
                "how many leading bits are zero" clzll(i64) -> (i32);
                "the upper 32 bits" double2hiint(f64) -> (i32);
                "the lower 32 bits" double2loint(f64) -> (i32);
                "the bits" double_as_longlong(f64) -> (i64);
                "the cosine of an angle in radians, approximated by instructions" fast_cosf(f32) -> (f32);
                "10 to the power of `a`, approximated by instructions" fast_exp10f(f32) -> (f32);
                "e to the power of `a`, approximated by instructions" fast_expf(f32) -> (f32);
                "`a / b`, approximated" fast_fdividef(f32, f32) -> (f32);
                "the logarithm in base 10, approximated by instructions" fast_log10f(f32) -> (f32);
                "the logarithm in base 2, approximated by instructions" fast_log2f(f32) -> (f32);
                "the natural logarithm, approximated by instructions" fast_logf(f32) -> (f32);
                "`a` to the power of `b`, approximated by instructions" fast_powf(f32, f32) -> (f32);
                "the sine and the cosine of an angle in radians, approximated by instructions" fast_sincosf(f32) -> () out(f32, f32);
                "the sine of an angle in radians, approximated by instructions" fast_sinf(f32) -> (f32);
                "the tangent of an angle in radians, approximated by instructions" fast_tanf(f32) -> (f32);
                "the hyperbolic tangent, approximated by instructions" fast_tanhf(f32) -> (f32);
                "the place of the lowest bit that is one, from 1 on; 0 for 0" ffs(i32) -> (i32);
                "the place of the lowest bit that is one, from 1 on; 0 for 0" ffsll(i64) -> (i32);
                "whether it is finite: 1 or 0" finitef(f32) -> (i32);
                "the bits of the nearest `f16`" float2half_rn(f32) -> (u16);
                "the bits" float_as_int(f32) -> (i32);
                "the bits" float_as_uint(f32) -> (u32);
                "`a * b + c`, rounded toward negative infinity, subnormal numbers kept" fmaf_ieee_rd(f32, f32, f32) -> (f32);
                "`a * b + c`, rounded to nearest even, subnormal numbers kept" fmaf_ieee_rn(f32, f32, f32) -> (f32);
                "`a * b + c`, rounded toward positive infinity, subnormal numbers kept" fmaf_ieee_ru(f32, f32, f32) -> (f32);
                "`a * b + c`, rounded toward zero, subnormal numbers kept" fmaf_ieee_rz(f32, f32, f32) -> (f32);
                "one by the square root, rounded to nearest even" frsqrt_rn(f32) -> (f32);
                "the mean, rounded down" hadd(i32, i32) -> (i32);
                "the number of these bits of an `f16`" half2float(u16) -> (f32);
                "the number of these bits, upper and lower" hiloint2double(i32, i32) -> (f64);
                "as an `f64`, rounded to nearest even" int2double_rn(i32) -> (f64);
                "the number of these bits" int_as_float(i32) -> (f32);
                "whether it is finite: 1 or 0" isfinited(f64) -> (i32);
                "whether it is infinite: 1 or 0" isinfd(f64) -> (i32);
                "whether it is infinite: 1 or 0" isinff(f32) -> (i32);
                "whether it is NaN: 1 or 0" isnand(f64) -> (i32);
                "whether it is NaN: 1 or 0" isnanf(f32) -> (i32);
                "the absolute value" llabs(i64) -> (i64);
                "the larger" llmax(i64, i64) -> (i64);
                "the smaller" llmin(i64, i64) -> (i64);
                "the number of these bits" longlong_as_double(i64) -> (f64);
                "the larger" max(i32, i32) -> (i32);
                "the smaller" min(i32, i32) -> (i32);
                "the product of the lower 24 bits, of which the lower 32" mul24(i32, i32) -> (i32);
                "the upper half of the product" mul64hi(i64, i64) -> (i64);
                "the upper half of the product" mulhi(i32, i32) -> (i32);
                "how many bits are one" popc(u32) -> (i32);
                "how many bits are one" popcll(u64) -> (i32);
                "about one by `a`, of which only the upper half is there" rcp64h(f64) -> (f64);
                "the mean, rounded up" rhadd(i32, i32) -> (i32);
                "the absolute difference of `a` and `b`, and `c`" sad(i32, i32, u32) -> (u32);
                "the nearest number from 0 to 1" saturatef(f32) -> (f32);
                "whether its sign is negative" signbitd(f64) -> (i32);
                "whether its sign is negative" signbitf(f32) -> (i32);
                "the mean, rounded down" uhadd(u32, u32) -> (u32);
                "as an `f64`, rounded to nearest even" uint2double_rn(u32) -> (f64);
                "the number of these bits" uint_as_float(u32) -> (f32);
                "the larger" ullmax(u64, u64) -> (u64);
                "the smaller" ullmin(u64, u64) -> (u64);
                "the larger" umax(u32, u32) -> (u32);
                "the smaller" umin(u32, u32) -> (u32);
                "the product of the lower 24 bits, of which the lower 32" umul24(u32, u32) -> (u32);
                "the upper half of the product" umul64hi(u64, u64) -> (u64);
                "the upper half of the product" umulhi(u32, u32) -> (u32);
                "the mean, rounded up" urhadd(u32, u32) -> (u32);
                "the absolute difference of `a` and `b`, and `c`" usad(u32, u32, u32) -> (u32);
            }
        }
    };
}
with_libdevice! { table }

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_name_is_in_the_table_once() {
        let names: HashSet<_> = LibFn::ALL.iter().map(|function| function.name).collect();
        assert_eq!((names.len(), LibFn::ALL.len()), (347, 347));
        assert_eq!(LibFn::find("sinf").map(|function| function.result), Some(Some(Scalar::F32)));
        assert_eq!(LibFn::of_float("sin", Scalar::F64).map(|function| function.name), Some("sin"));
        assert_eq!(LibFn::find("sine"), None);
    }
}
