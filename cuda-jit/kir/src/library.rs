//! The functions of NVIDIA's libdevice: their names and signatures, maintained by hand and compared with the real file
//! by a test. [libdevice's manual](https://docs.nvidia.com/cuda/libdevice-users-guide/) states each function's result
//! and accuracy.
//!
//! The functions `nan` and `nanf`, which take a C string, are excluded. Invariant: the table is sorted by name.

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
        let at = LibFn::ALL.binary_search_by_key(&name, |function| function.name).ok()?;
        Some(LibFn::ALL[at])
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

/// Maps a word to a scalar type.
macro_rules! scalar {
    (f32) => {
        Scalar::F32
    };
    (f64) => {
        Scalar::F64
    };
    (i32) => {
        Scalar::I32
    };
    (u32) => {
        Scalar::U32
    };
    (i64) => {
        Scalar::I64
    };
    (u64) => {
        Scalar::U64
    };
    (u16) => {
        Scalar::U16
    };
}

macro_rules! arg {
    ([$ty:ident]) => {
        LibArg::Slice(scalar!($ty))
    };
    ($ty:ident) => {
        LibArg::Number(scalar!($ty))
    };
}

macro_rules! result {
    () => {
        None
    };
    ($ty:ident) => {
        Some(scalar!($ty))
    };
}

macro_rules! table {
    ($($doc:literal $name:ident($($arg:tt),*) -> ($($result:ident)?) $(, out $out:ident)*;)*) => {
        impl LibFn {
            /// Every function, by name.
            pub const ALL: &'static [LibFn] = &[
                $(LibFn {
                    name: stringify!($name),
                    args: &[$(arg!($arg)),*],
                    result: result!($($result)?),
                    outs: &[$(scalar!($out)),*],
                },)*
            ];
        }
    };
}

/// Calls a macro with the whole table: each function's result, name, arguments and output parameters.
#[doc(hidden)]
#[macro_export]
macro_rules! with_libdevice {
    ($then:ident) => {
        $then! {
            "the absolute value" abs(i32) -> (i32);
            "the arc cosine, in radians" acos(f64) -> (f64);
            "the arc cosine, in radians" acosf(f32) -> (f32);
            "the inverse hyperbolic cosine" acosh(f64) -> (f64);
            "the inverse hyperbolic cosine" acoshf(f32) -> (f32);
            "the arc sine, in radians" asin(f64) -> (f64);
            "the arc sine, in radians" asinf(f32) -> (f32);
            "the inverse hyperbolic sine" asinh(f64) -> (f64);
            "the inverse hyperbolic sine" asinhf(f32) -> (f32);
            "the arc tangent, in radians" atan(f64) -> (f64);
            "the angle of the point (`b`, `a`), in radians" atan2(f64, f64) -> (f64);
            "the angle of the point (`b`, `a`), in radians" atan2f(f32, f32) -> (f32);
            "the arc tangent, in radians" atanf(f32) -> (f32);
            "the inverse hyperbolic tangent" atanh(f64) -> (f64);
            "the inverse hyperbolic tangent" atanhf(f32) -> (f32);
            "the bits in the opposite order" brev(u32) -> (u32);
            "the bits in the opposite order" brevll(u64) -> (u64);
            "four of eight bytes, by number" byte_perm(u32, u32, u32) -> (u32);
            "the cube root" cbrt(f64) -> (f64);
            "the cube root" cbrtf(f32) -> (f32);
            "the least whole number that is not smaller" ceil(f64) -> (f64);
            "the least whole number that is not smaller" ceilf(f32) -> (f32);
            "how many leading bits are zero" clz(i32) -> (i32);
            "how many leading bits are zero" clzll(i64) -> (i32);
            "`a` with the sign of `b`" copysign(f64, f64) -> (f64);
            "`a` with the sign of `b`" copysignf(f32, f32) -> (f32);
            "the cosine of an angle in radians" cos(f64) -> (f64);
            "the cosine of an angle in radians" cosf(f32) -> (f32);
            "the hyperbolic cosine" cosh(f64) -> (f64);
            "the hyperbolic cosine" coshf(f32) -> (f32);
            "the cosine of `a` half turns" cospi(f64) -> (f64);
            "the cosine of `a` half turns" cospif(f32) -> (f32);
            "the modified Bessel function of the first kind of order 0" cyl_bessel_i0(f64) -> (f64);
            "the modified Bessel function of the first kind of order 0" cyl_bessel_i0f(f32) -> (f32);
            "the modified Bessel function of the first kind of order 1" cyl_bessel_i1(f64) -> (f64);
            "the modified Bessel function of the first kind of order 1" cyl_bessel_i1f(f32) -> (f32);
            "the sum, rounded toward negative infinity" dadd_rd(f64, f64) -> (f64);
            "the sum, rounded to nearest even" dadd_rn(f64, f64) -> (f64);
            "the sum, rounded toward positive infinity" dadd_ru(f64, f64) -> (f64);
            "the sum, rounded toward zero" dadd_rz(f64, f64) -> (f64);
            "the quotient, rounded toward negative infinity" ddiv_rd(f64, f64) -> (f64);
            "the quotient, rounded to nearest even" ddiv_rn(f64, f64) -> (f64);
            "the quotient, rounded toward positive infinity" ddiv_ru(f64, f64) -> (f64);
            "the quotient, rounded toward zero" ddiv_rz(f64, f64) -> (f64);
            "the product, rounded toward negative infinity" dmul_rd(f64, f64) -> (f64);
            "the product, rounded to nearest even" dmul_rn(f64, f64) -> (f64);
            "the product, rounded toward positive infinity" dmul_ru(f64, f64) -> (f64);
            "the product, rounded toward zero" dmul_rz(f64, f64) -> (f64);
            "as an `f32`, rounded toward negative infinity" double2float_rd(f64) -> (f32);
            "as an `f32`, rounded to nearest even" double2float_rn(f64) -> (f32);
            "as an `f32`, rounded toward positive infinity" double2float_ru(f64) -> (f32);
            "as an `f32`, rounded toward zero" double2float_rz(f64) -> (f32);
            "the upper 32 bits" double2hiint(f64) -> (i32);
            "as an integer, rounded toward negative infinity" double2int_rd(f64) -> (i32);
            "as an integer, rounded to nearest even" double2int_rn(f64) -> (i32);
            "as an integer, rounded toward positive infinity" double2int_ru(f64) -> (i32);
            "as an integer, rounded toward zero" double2int_rz(f64) -> (i32);
            "as an integer, rounded toward negative infinity" double2ll_rd(f64) -> (i64);
            "as an integer, rounded to nearest even" double2ll_rn(f64) -> (i64);
            "as an integer, rounded toward positive infinity" double2ll_ru(f64) -> (i64);
            "as an integer, rounded toward zero" double2ll_rz(f64) -> (i64);
            "the lower 32 bits" double2loint(f64) -> (i32);
            "as an integer, rounded toward negative infinity" double2uint_rd(f64) -> (u32);
            "as an integer, rounded to nearest even" double2uint_rn(f64) -> (u32);
            "as an integer, rounded toward positive infinity" double2uint_ru(f64) -> (u32);
            "as an integer, rounded toward zero" double2uint_rz(f64) -> (u32);
            "as an integer, rounded toward negative infinity" double2ull_rd(f64) -> (u64);
            "as an integer, rounded to nearest even" double2ull_rn(f64) -> (u64);
            "as an integer, rounded toward positive infinity" double2ull_ru(f64) -> (u64);
            "as an integer, rounded toward zero" double2ull_rz(f64) -> (u64);
            "the bits" double_as_longlong(f64) -> (i64);
            "one by `a`, rounded toward negative infinity" drcp_rd(f64) -> (f64);
            "one by `a`, rounded to nearest even" drcp_rn(f64) -> (f64);
            "one by `a`, rounded toward positive infinity" drcp_ru(f64) -> (f64);
            "one by `a`, rounded toward zero" drcp_rz(f64) -> (f64);
            "the square root, rounded toward negative infinity" dsqrt_rd(f64) -> (f64);
            "the square root, rounded to nearest even" dsqrt_rn(f64) -> (f64);
            "the square root, rounded toward positive infinity" dsqrt_ru(f64) -> (f64);
            "the square root, rounded toward zero" dsqrt_rz(f64) -> (f64);
            "the difference, rounded toward negative infinity" dsub_rd(f64, f64) -> (f64);
            "the difference, rounded to nearest even" dsub_rn(f64, f64) -> (f64);
            "the difference, rounded toward positive infinity" dsub_ru(f64, f64) -> (f64);
            "the difference, rounded toward zero" dsub_rz(f64, f64) -> (f64);
            "the error function" erf(f64) -> (f64);
            "one less the error function" erfc(f64) -> (f64);
            "one less the error function" erfcf(f32) -> (f32);
            "the inverse of `erfc`" erfcinv(f64) -> (f64);
            "the inverse of `erfc`" erfcinvf(f32) -> (f32);
            "`erfc`, times e to the square of `a`" erfcx(f64) -> (f64);
            "`erfc`, times e to the square of `a`" erfcxf(f32) -> (f32);
            "the error function" erff(f32) -> (f32);
            "the inverse of `erf`" erfinv(f64) -> (f64);
            "the inverse of `erf`" erfinvf(f32) -> (f32);
            "e to the power of `a`" exp(f64) -> (f64);
            "10 to the power of `a`" exp10(f64) -> (f64);
            "10 to the power of `a`" exp10f(f32) -> (f32);
            "2 to the power of `a`" exp2(f64) -> (f64);
            "2 to the power of `a`" exp2f(f32) -> (f32);
            "e to the power of `a`" expf(f32) -> (f32);
            "e to the power of `a`, less one" expm1(f64) -> (f64);
            "e to the power of `a`, less one" expm1f(f32) -> (f32);
            "the absolute value" fabs(f64) -> (f64);
            "the absolute value" fabsf(f32) -> (f32);
            "the sum, rounded toward negative infinity" fadd_rd(f32, f32) -> (f32);
            "the sum, rounded to nearest even" fadd_rn(f32, f32) -> (f32);
            "the sum, rounded toward positive infinity" fadd_ru(f32, f32) -> (f32);
            "the sum, rounded toward zero" fadd_rz(f32, f32) -> (f32);
            "the cosine of an angle in radians, approximated by instructions" fast_cosf(f32) -> (f32);
            "10 to the power of `a`, approximated by instructions" fast_exp10f(f32) -> (f32);
            "e to the power of `a`, approximated by instructions" fast_expf(f32) -> (f32);
            "`a / b`, approximated" fast_fdividef(f32, f32) -> (f32);
            "the logarithm in base 10, approximated by instructions" fast_log10f(f32) -> (f32);
            "the logarithm in base 2, approximated by instructions" fast_log2f(f32) -> (f32);
            "the natural logarithm, approximated by instructions" fast_logf(f32) -> (f32);
            "`a` to the power of `b`, approximated by instructions" fast_powf(f32, f32) -> (f32);
            "the sine and the cosine of an angle in radians, approximated by instructions" fast_sincosf(f32) -> (), out f32, out f32;
            "the sine of an angle in radians, approximated by instructions" fast_sinf(f32) -> (f32);
            "the tangent of an angle in radians, approximated by instructions" fast_tanf(f32) -> (f32);
            "the hyperbolic tangent, approximated by instructions" fast_tanhf(f32) -> (f32);
            "`a` less `b`, or 0 if that is negative" fdim(f64, f64) -> (f64);
            "`a` less `b`, or 0 if that is negative" fdimf(f32, f32) -> (f32);
            "the quotient, rounded toward negative infinity" fdiv_rd(f32, f32) -> (f32);
            "the quotient, rounded to nearest even" fdiv_rn(f32, f32) -> (f32);
            "the quotient, rounded toward positive infinity" fdiv_ru(f32, f32) -> (f32);
            "the quotient, rounded toward zero" fdiv_rz(f32, f32) -> (f32);
            "the place of the lowest bit that is one, from 1 on; 0 for 0" ffs(i32) -> (i32);
            "the place of the lowest bit that is one, from 1 on; 0 for 0" ffsll(i64) -> (i32);
            "whether it is finite: 1 or 0" finitef(f32) -> (i32);
            "the bits of the nearest `f16`" float2half_rn(f32) -> (u16);
            "as an integer, rounded toward negative infinity" float2int_rd(f32) -> (i32);
            "as an integer, rounded to nearest even" float2int_rn(f32) -> (i32);
            "as an integer, rounded toward positive infinity" float2int_ru(f32) -> (i32);
            "as an integer, rounded toward zero" float2int_rz(f32) -> (i32);
            "as an integer, rounded toward negative infinity" float2ll_rd(f32) -> (i64);
            "as an integer, rounded to nearest even" float2ll_rn(f32) -> (i64);
            "as an integer, rounded toward positive infinity" float2ll_ru(f32) -> (i64);
            "as an integer, rounded toward zero" float2ll_rz(f32) -> (i64);
            "as an integer, rounded toward negative infinity" float2uint_rd(f32) -> (u32);
            "as an integer, rounded to nearest even" float2uint_rn(f32) -> (u32);
            "as an integer, rounded toward positive infinity" float2uint_ru(f32) -> (u32);
            "as an integer, rounded toward zero" float2uint_rz(f32) -> (u32);
            "as an integer, rounded toward negative infinity" float2ull_rd(f32) -> (u64);
            "as an integer, rounded to nearest even" float2ull_rn(f32) -> (u64);
            "as an integer, rounded toward positive infinity" float2ull_ru(f32) -> (u64);
            "as an integer, rounded toward zero" float2ull_rz(f32) -> (u64);
            "the bits" float_as_int(f32) -> (i32);
            "the bits" float_as_uint(f32) -> (u32);
            "the greatest whole number that is not larger" floor(f64) -> (f64);
            "the greatest whole number that is not larger" floorf(f32) -> (f32);
            "`a * b + c`, rounded once" fma(f64, f64, f64) -> (f64);
            "`a * b + c`, rounded toward negative infinity" fma_rd(f64, f64, f64) -> (f64);
            "`a * b + c`, rounded to nearest even" fma_rn(f64, f64, f64) -> (f64);
            "`a * b + c`, rounded toward positive infinity" fma_ru(f64, f64, f64) -> (f64);
            "`a * b + c`, rounded toward zero" fma_rz(f64, f64, f64) -> (f64);
            "`a * b + c`, rounded once" fmaf(f32, f32, f32) -> (f32);
            "`a * b + c`, rounded toward negative infinity, subnormal numbers kept" fmaf_ieee_rd(f32, f32, f32) -> (f32);
            "`a * b + c`, rounded to nearest even, subnormal numbers kept" fmaf_ieee_rn(f32, f32, f32) -> (f32);
            "`a * b + c`, rounded toward positive infinity, subnormal numbers kept" fmaf_ieee_ru(f32, f32, f32) -> (f32);
            "`a * b + c`, rounded toward zero, subnormal numbers kept" fmaf_ieee_rz(f32, f32, f32) -> (f32);
            "`a * b + c`, rounded toward negative infinity" fmaf_rd(f32, f32, f32) -> (f32);
            "`a * b + c`, rounded to nearest even" fmaf_rn(f32, f32, f32) -> (f32);
            "`a * b + c`, rounded toward positive infinity" fmaf_ru(f32, f32, f32) -> (f32);
            "`a * b + c`, rounded toward zero" fmaf_rz(f32, f32, f32) -> (f32);
            "the larger; of a number and NaN the number" fmax(f64, f64) -> (f64);
            "the larger; of a number and NaN the number" fmaxf(f32, f32) -> (f32);
            "the smaller; of a number and NaN the number" fmin(f64, f64) -> (f64);
            "the smaller; of a number and NaN the number" fminf(f32, f32) -> (f32);
            "the remainder of `a / b`, rounded toward zero" fmod(f64, f64) -> (f64);
            "the remainder of `a / b`, rounded toward zero" fmodf(f32, f32) -> (f32);
            "the product, rounded toward negative infinity" fmul_rd(f32, f32) -> (f32);
            "the product, rounded to nearest even" fmul_rn(f32, f32) -> (f32);
            "the product, rounded toward positive infinity" fmul_ru(f32, f32) -> (f32);
            "the product, rounded toward zero" fmul_rz(f32, f32) -> (f32);
            "one by `a`, rounded toward negative infinity" frcp_rd(f32) -> (f32);
            "one by `a`, rounded to nearest even" frcp_rn(f32) -> (f32);
            "one by `a`, rounded toward positive infinity" frcp_ru(f32) -> (f32);
            "one by `a`, rounded toward zero" frcp_rz(f32) -> (f32);
            "the fraction from 0.5 to 1 and the power of two that it is times" frexp(f64) -> (f64), out i32;
            "the fraction from 0.5 to 1 and the power of two that it is times" frexpf(f32) -> (f32), out i32;
            "one by the square root, rounded to nearest even" frsqrt_rn(f32) -> (f32);
            "the square root, rounded toward negative infinity" fsqrt_rd(f32) -> (f32);
            "the square root, rounded to nearest even" fsqrt_rn(f32) -> (f32);
            "the square root, rounded toward positive infinity" fsqrt_ru(f32) -> (f32);
            "the square root, rounded toward zero" fsqrt_rz(f32) -> (f32);
            "the difference, rounded toward negative infinity" fsub_rd(f32, f32) -> (f32);
            "the difference, rounded to nearest even" fsub_rn(f32, f32) -> (f32);
            "the difference, rounded toward positive infinity" fsub_ru(f32, f32) -> (f32);
            "the difference, rounded toward zero" fsub_rz(f32, f32) -> (f32);
            "the mean, rounded down" hadd(i32, i32) -> (i32);
            "the number of these bits of an `f16`" half2float(u16) -> (f32);
            "the number of these bits, upper and lower" hiloint2double(i32, i32) -> (f64);
            "the length of the hypotenuse" hypot(f64, f64) -> (f64);
            "the length of the hypotenuse" hypotf(f32, f32) -> (f32);
            "the exponent as an integer" ilogb(f64) -> (i32);
            "the exponent as an integer" ilogbf(f32) -> (i32);
            "as an `f64`, rounded to nearest even" int2double_rn(i32) -> (f64);
            "as an `f32`, rounded toward negative infinity" int2float_rd(i32) -> (f32);
            "as an `f32`, rounded to nearest even" int2float_rn(i32) -> (f32);
            "as an `f32`, rounded toward positive infinity" int2float_ru(i32) -> (f32);
            "as an `f32`, rounded toward zero" int2float_rz(i32) -> (f32);
            "the number of these bits" int_as_float(i32) -> (f32);
            "whether it is finite: 1 or 0" isfinited(f64) -> (i32);
            "whether it is infinite: 1 or 0" isinfd(f64) -> (i32);
            "whether it is infinite: 1 or 0" isinff(f32) -> (i32);
            "whether it is NaN: 1 or 0" isnand(f64) -> (i32);
            "whether it is NaN: 1 or 0" isnanf(f32) -> (i32);
            "the Bessel function of the first kind of order 0" j0(f64) -> (f64);
            "the Bessel function of the first kind of order 0" j0f(f32) -> (f32);
            "the Bessel function of the first kind of order 1" j1(f64) -> (f64);
            "the Bessel function of the first kind of order 1" j1f(f32) -> (f32);
            "the Bessel function of the first kind of order `a`" jn(i32, f64) -> (f64);
            "the Bessel function of the first kind of order `a`" jnf(i32, f32) -> (f32);
            "`a` times 2 to the power of `b`" ldexp(f64, i32) -> (f64);
            "`a` times 2 to the power of `b`" ldexpf(f32, i32) -> (f32);
            "the logarithm of the absolute value of the gamma function" lgamma(f64) -> (f64);
            "the logarithm of the absolute value of the gamma function" lgammaf(f32) -> (f32);
            "as an `f64`, rounded toward negative infinity" ll2double_rd(i64) -> (f64);
            "as an `f64`, rounded to nearest even" ll2double_rn(i64) -> (f64);
            "as an `f64`, rounded toward positive infinity" ll2double_ru(i64) -> (f64);
            "as an `f64`, rounded toward zero" ll2double_rz(i64) -> (f64);
            "as an `f32`, rounded toward negative infinity" ll2float_rd(i64) -> (f32);
            "as an `f32`, rounded to nearest even" ll2float_rn(i64) -> (f32);
            "as an `f32`, rounded toward positive infinity" ll2float_ru(i64) -> (f32);
            "as an `f32`, rounded toward zero" ll2float_rz(i64) -> (f32);
            "the absolute value" llabs(i64) -> (i64);
            "the larger" llmax(i64, i64) -> (i64);
            "the smaller" llmin(i64, i64) -> (i64);
            "the nearest integer, ties to even" llrint(f64) -> (i64);
            "the nearest integer, ties to even" llrintf(f32) -> (i64);
            "the nearest integer, ties away from zero" llround(f64) -> (i64);
            "the nearest integer, ties away from zero" llroundf(f32) -> (i64);
            "the natural logarithm" log(f64) -> (f64);
            "the logarithm in base 10" log10(f64) -> (f64);
            "the logarithm in base 10" log10f(f32) -> (f32);
            "the natural logarithm of `a` and one" log1p(f64) -> (f64);
            "the natural logarithm of `a` and one" log1pf(f32) -> (f32);
            "the logarithm in base 2" log2(f64) -> (f64);
            "the logarithm in base 2" log2f(f32) -> (f32);
            "the exponent as a float" logb(f64) -> (f64);
            "the exponent as a float" logbf(f32) -> (f32);
            "the natural logarithm" logf(f32) -> (f32);
            "the number of these bits" longlong_as_double(i64) -> (f64);
            "the larger" max(i32, i32) -> (i32);
            "the smaller" min(i32, i32) -> (i32);
            "the fraction and the whole part, both with the sign of `a`" modf(f64) -> (f64), out f64;
            "the fraction and the whole part, both with the sign of `a`" modff(f32) -> (f32), out f32;
            "the product of the lower 24 bits, of which the lower 32" mul24(i32, i32) -> (i32);
            "the upper half of the product" mul64hi(i64, i64) -> (i64);
            "the upper half of the product" mulhi(i32, i32) -> (i32);
            "the nearest whole number, ties to even" nearbyint(f64) -> (f64);
            "the nearest whole number, ties to even" nearbyintf(f32) -> (f32);
            "the next number from `a` toward `b`" nextafter(f64, f64) -> (f64);
            "the next number from `a` toward `b`" nextafterf(f32, f32) -> (f32);
            "the square root of the sum of the squares" norm([f64]) -> (f64);
            "the square root of the sum of the squares" norm3d(f64, f64, f64) -> (f64);
            "the square root of the sum of the squares" norm3df(f32, f32, f32) -> (f32);
            "the square root of the sum of the squares" norm4d(f64, f64, f64, f64) -> (f64);
            "the square root of the sum of the squares" norm4df(f32, f32, f32, f32) -> (f32);
            "the distribution function of the standard normal distribution" normcdf(f64) -> (f64);
            "the distribution function of the standard normal distribution" normcdff(f32) -> (f32);
            "the inverse of `normcdf`" normcdfinv(f64) -> (f64);
            "the inverse of `normcdf`" normcdfinvf(f32) -> (f32);
            "the square root of the sum of the squares" normf([f32]) -> (f32);
            "how many bits are one" popc(u32) -> (i32);
            "how many bits are one" popcll(u64) -> (i32);
            "`a` to the power of `b`" pow(f64, f64) -> (f64);
            "`a` to the power of `b`" powf(f32, f32) -> (f32);
            "`a` to a whole power" powi(f64, i32) -> (f64);
            "`a` to a whole power" powif(f32, i32) -> (f32);
            "one by the cube root" rcbrt(f64) -> (f64);
            "one by the cube root" rcbrtf(f32) -> (f32);
            "about one by `a`, of which only the upper half is there" rcp64h(f64) -> (f64);
            "the remainder of `a / b`, rounded to nearest even" remainder(f64, f64) -> (f64);
            "the remainder of `a / b`, rounded to nearest even" remainderf(f32, f32) -> (f32);
            "the remainder of `a / b`, rounded to nearest even, and low bits of that quotient" remquo(f64, f64) -> (f64), out i32;
            "the remainder of `a / b`, rounded to nearest even, and low bits of that quotient" remquof(f32, f32) -> (f32), out i32;
            "the mean, rounded up" rhadd(i32, i32) -> (i32);
            "one by the length of the hypotenuse" rhypot(f64, f64) -> (f64);
            "one by the length of the hypotenuse" rhypotf(f32, f32) -> (f32);
            "the nearest whole number, ties to even" rint(f64) -> (f64);
            "the nearest whole number, ties to even" rintf(f32) -> (f32);
            "one by the square root of the sum of the squares" rnorm([f64]) -> (f64);
            "one by the square root of the sum of the squares" rnorm3d(f64, f64, f64) -> (f64);
            "one by the square root of the sum of the squares" rnorm3df(f32, f32, f32) -> (f32);
            "one by the square root of the sum of the squares" rnorm4d(f64, f64, f64, f64) -> (f64);
            "one by the square root of the sum of the squares" rnorm4df(f32, f32, f32, f32) -> (f32);
            "one by the square root of the sum of the squares" rnormf([f32]) -> (f32);
            "the nearest whole number, ties away from zero" round(f64) -> (f64);
            "the nearest whole number, ties away from zero" roundf(f32) -> (f32);
            "one by the square root" rsqrt(f64) -> (f64);
            "one by the square root" rsqrtf(f32) -> (f32);
            "the absolute difference of `a` and `b`, and `c`" sad(i32, i32, u32) -> (u32);
            "the nearest number from 0 to 1" saturatef(f32) -> (f32);
            "`a` times 2 to the power of `b`" scalbn(f64, i32) -> (f64);
            "`a` times 2 to the power of `b`" scalbnf(f32, i32) -> (f32);
            "whether its sign is negative" signbitd(f64) -> (i32);
            "whether its sign is negative" signbitf(f32) -> (i32);
            "the sine of an angle in radians" sin(f64) -> (f64);
            "the sine and the cosine of an angle in radians" sincos(f64) -> (), out f64, out f64;
            "the sine and the cosine of an angle in radians" sincosf(f32) -> (), out f32, out f32;
            "the sine and the cosine of `a` half turns" sincospi(f64) -> (), out f64, out f64;
            "the sine and the cosine of `a` half turns" sincospif(f32) -> (), out f32, out f32;
            "the sine of an angle in radians" sinf(f32) -> (f32);
            "the hyperbolic sine" sinh(f64) -> (f64);
            "the hyperbolic sine" sinhf(f32) -> (f32);
            "the sine of `a` half turns" sinpi(f64) -> (f64);
            "the sine of `a` half turns" sinpif(f32) -> (f32);
            "the square root" sqrt(f64) -> (f64);
            "the square root" sqrtf(f32) -> (f32);
            "the tangent of an angle in radians" tan(f64) -> (f64);
            "the tangent of an angle in radians" tanf(f32) -> (f32);
            "the hyperbolic tangent" tanh(f64) -> (f64);
            "the hyperbolic tangent" tanhf(f32) -> (f32);
            "the gamma function" tgamma(f64) -> (f64);
            "the gamma function" tgammaf(f32) -> (f32);
            "the whole part" trunc(f64) -> (f64);
            "the whole part" truncf(f32) -> (f32);
            "the mean, rounded down" uhadd(u32, u32) -> (u32);
            "as an `f64`, rounded to nearest even" uint2double_rn(u32) -> (f64);
            "as an `f32`, rounded toward negative infinity" uint2float_rd(u32) -> (f32);
            "as an `f32`, rounded to nearest even" uint2float_rn(u32) -> (f32);
            "as an `f32`, rounded toward positive infinity" uint2float_ru(u32) -> (f32);
            "as an `f32`, rounded toward zero" uint2float_rz(u32) -> (f32);
            "the number of these bits" uint_as_float(u32) -> (f32);
            "as an `f64`, rounded toward negative infinity" ull2double_rd(u64) -> (f64);
            "as an `f64`, rounded to nearest even" ull2double_rn(u64) -> (f64);
            "as an `f64`, rounded toward positive infinity" ull2double_ru(u64) -> (f64);
            "as an `f64`, rounded toward zero" ull2double_rz(u64) -> (f64);
            "as an `f32`, rounded toward negative infinity" ull2float_rd(u64) -> (f32);
            "as an `f32`, rounded to nearest even" ull2float_rn(u64) -> (f32);
            "as an `f32`, rounded toward positive infinity" ull2float_ru(u64) -> (f32);
            "as an `f32`, rounded toward zero" ull2float_rz(u64) -> (f32);
            "the larger" ullmax(u64, u64) -> (u64);
            "the smaller" ullmin(u64, u64) -> (u64);
            "the larger" umax(u32, u32) -> (u32);
            "the smaller" umin(u32, u32) -> (u32);
            "the product of the lower 24 bits, of which the lower 32" umul24(u32, u32) -> (u32);
            "the upper half of the product" umul64hi(u64, u64) -> (u64);
            "the upper half of the product" umulhi(u32, u32) -> (u32);
            "the mean, rounded up" urhadd(u32, u32) -> (u32);
            "the absolute difference of `a` and `b`, and `c`" usad(u32, u32, u32) -> (u32);
            "the Bessel function of the second kind of order 0" y0(f64) -> (f64);
            "the Bessel function of the second kind of order 0" y0f(f32) -> (f32);
            "the Bessel function of the second kind of order 1" y1(f64) -> (f64);
            "the Bessel function of the second kind of order 1" y1f(f32) -> (f32);
            "the Bessel function of the second kind of order `a`" yn(i32, f64) -> (f64);
            "the Bessel function of the second kind of order `a`" ynf(i32, f32) -> (f32);
        }
    };
}
with_libdevice! { table }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(LibFn::ALL.is_sorted_by(|a, b| a.name < b.name));
        assert_eq!(LibFn::find("sinf").map(|function| function.result), Some(Some(Scalar::F32)));
        assert_eq!(LibFn::of_float("sin", Scalar::F64).map(|function| function.name), Some("sin"));
        assert_eq!(LibFn::find("sine"), None);
    }
}
