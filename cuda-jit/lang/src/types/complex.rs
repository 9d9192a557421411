//! `num_complex::Complex` in kernels: its operators and methods as `#[device]` functions of this crate.
//!
//! Sums, products and quotients agree with num-complex's to the bit if products are not fused. Functions based on the sine
//! and other transcendental functions are as close to the host's as those of `f32` and `f64` are. There is no separate
//! type: users write num-complex's.
//!
//! # Safety
//!
//! The only unsafe code is the implementations that describe the types here to the compiler.

use num_complex::Complex;

use crate::device;
use crate::num::Float;
use crate::num::floats::Bits;
use crate::typeinfo::{
    Arithmetic, Callee, DeviceFn, DeviceType, ElementType, Field, KernelParam, Key, Operator, Returned, StructTy, Ty,
    ValueType, ty_of,
};

/// `f32` or `f64`: the component type of complex numbers.
///
/// Sealed, as [`Float`] is.
pub trait Real: Float + Bits {
    /// Infinity.
    const INFINITY: Self;
    /// Not a number.
    const NAN: Self;
    /// The natural logarithm of 2.
    const LN_2: Self;
    /// The natural logarithm of 10.
    const LN_10: Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Returns true if it is infinite.
    fn is_infinite(self) -> bool;
    /// Returns true if it is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Returns true if its sign bit is set.
    fn is_sign_negative(self) -> bool;
    /// This number with the sign of another.
    fn copysign(self, sign: Self) -> Self;
}

macro_rules! reals {
    ($($ty:ident)*) => { $(
        impl Real for $ty {
            const INFINITY: Self = $ty::INFINITY;
            const NAN: Self = $ty::NAN;
            const LN_2: Self = std::$ty::consts::LN_2;
            const LN_10: Self = std::$ty::consts::LN_10;
            fn sinh(self) -> Self { $ty::sinh(self) }
            fn cosh(self) -> Self { $ty::cosh(self) }
            fn is_infinite(self) -> bool { $ty::is_infinite(self) }
            fn is_finite(self) -> bool { $ty::is_finite(self) }
            fn is_sign_negative(self) -> bool { $ty::is_sign_negative(self) }
            fn copysign(self, sign: Self) -> Self { $ty::copysign(self, sign) }
        }
    )* };
}

reals! { f32 f64 }

// SAFETY: `ty` describes the type whose key this is: the same numbers, in the same order.
unsafe impl<T: Real> Key for Complex<T> {
    fn ty() -> Ty {
        let field = |name, offset| Field { name, ty: ty_of::<T>(), offset };
        Ty::Struct(std::sync::Arc::new(StructTy {
            name: std::any::type_name::<Self>(),
            fields: vec![field("re", 0), field("im", size_of::<T>())],
            size: size_of::<Self>(),
            align: align_of::<Self>(),
            operators: operators::<T>,
            arithmetic: Arithmetic::Complex(T::SCALAR),
        }))
    }
}

// SAFETY: the key describes this very type.
#[diagnostic::do_not_recommend]
unsafe impl<T: Real> DeviceType for Complex<T> {
    type K = Self;

    fn __cells(&self, push: &mut dyn FnMut(u128)) {
        push(self.re.bits());
        push(self.im.bits());
    }

    fn __variants() -> Vec<Option<Self>> {
        vec![Some(Complex::new(T::NAN, T::NAN))]
    }
}

// SAFETY: the cells are the real and the imaginary part, in the order of the key's fields.
unsafe impl<T: Real> ValueType for Complex<T> {
    const CELLS: usize = 2;
}

// SAFETY: it is a `repr(C)` struct of two floats of one type, without padding; every bit pattern of a float is a value.
#[diagnostic::do_not_recommend]
unsafe impl<T: Real> ElementType for Complex<T> {}
#[diagnostic::do_not_recommend]
impl<T: Real> KernelParam for Complex<T> {}

/// The hidden counterparts of the functions that are called by the type's path, for calls and as values.
///
/// Nothing unsafe relies on an implementation: the front end checks the types of the arguments, and refuses types that it
/// does not know.
pub trait ForeignFunctions<T: Real>: Sized {
    /// `Complex::new`
    fn __call_new(_re: T, _im: T) -> Returned<new<T>, Self> {
        Returned::new()
    }

    /// `Complex::new`
    fn __fn_new() -> Callee<new<T>> {
        Callee::new()
    }

    /// `Complex::i`
    fn __call_i() -> Returned<i<T>, Self> {
        Returned::new()
    }

    /// `Complex::i`
    fn __fn_i() -> Callee<i<T>> {
        Callee::new()
    }

    /// `Complex::cis`
    fn __call_cis(_phase: T) -> Returned<cis<T>, Self> {
        Returned::new()
    }

    /// `Complex::cis`
    fn __fn_cis() -> Callee<cis<T>> {
        Callee::new()
    }

    /// `Complex::from_polar`
    fn __call_from_polar(_r: T, _theta: T) -> Returned<from_polar<T>, Self> {
        Returned::new()
    }

    /// `Complex::from_polar`
    fn __fn_from_polar() -> Callee<from_polar<T>> {
        Callee::new()
    }
}

impl<T: Real> ForeignFunctions<T> for Complex<T> {}

/// The operators, by the names of their traits; the last ones have a real left operand.
fn operators<T: Real>() -> Vec<Operator> {
    macro_rules! list {
        ($($name:literal $left:expr, $right:ty, $function:ident;)*) => {
            vec![$(Operator {
                name: $name,
                left: $left,
                right: ty_of::<$right>(),
                instance: $function::<T>::instance(),
            }),*]
        };
    }
    let real = || Some(ty_of::<T>());
    list! {
        "Add" None, Complex<T>, add;
        "Sub" None, Complex<T>, sub;
        "Mul" None, Complex<T>, mul;
        "Div" None, Complex<T>, div;
        "Neg" None, Complex<T>, neg;
        "Add" None, T, add_real;
        "Sub" None, T, sub_real;
        "Mul" None, T, scale;
        "Div" None, T, unscale;
        "Add" real(), Complex<T>, real_add;
        "Sub" real(), Complex<T>, real_sub;
        "Mul" real(), Complex<T>, real_mul;
        "Div" real(), Complex<T>, real_div;
    }
}

/// The hidden methods of complex numbers.
///
/// Nothing unsafe relies on an implementation.
pub trait ComplexMethods<T: Real>: Sized {
    cuda_jit_macros::device_methods! {
        fn acos(self) -> Self = acos<T>;
        fn acosh(self) -> Self = acosh<T>;
        fn arg(self) -> T = arg<T>;
        fn asin(self) -> Self = asin<T>;
        fn asinh(self) -> Self = asinh<T>;
        fn atan(self) -> Self = atan<T>;
        fn atanh(self) -> Self = atanh<T>;
        fn conj(&self) -> Self = conj<T>;
        fn cos(self) -> Self = cos<T>;
        fn cosh(self) -> Self = cosh<T>;
        fn exp(self) -> Self = exp<T>;
        fn exp2(self) -> Self = exp2<T>;
        fn expf(self, base: T) -> Self = expf<T>;
        fn inv(&self) -> Self = inv<T>;
        fn is_finite(self) -> bool = is_finite<T>;
        fn is_infinite(self) -> bool = is_infinite<T>;
        fn is_nan(self) -> bool = is_nan<T>;
        fn l1_norm(&self) -> T = l1_norm<T>;
        fn ln(self) -> Self = ln<T>;
        fn log(self, base: T) -> Self = log<T>;
        fn log10(self) -> Self = log10<T>;
        fn log2(self) -> Self = log2<T>;
        fn norm(self) -> T = norm<T>;
        fn norm_sqr(&self) -> T = norm_sqr<T>;
        fn powc(self, exponent: Self) -> Self = powc<T>;
        fn powf(self, exponent: T) -> Self = powf<T>;
        fn powi(&self, exponent: i32) -> Self = powi<T>;
        fn powu(&self, exponent: u32) -> Self = powu<T>;
        fn scale(&self, by: T) -> Self = scale<T>;
        fn sin(self) -> Self = sin<T>;
        fn sinh(self) -> Self = sinh<T>;
        fn sqrt(self) -> Self = sqrt<T>;
        fn tan(self) -> Self = tan<T>;
        fn tanh(self) -> Self = tanh<T>;
        fn to_polar(self) -> (T, T) = to_polar<T>;
        fn unscale(&self, by: T) -> Self = unscale<T>;
    }
}

impl<T: Real> ComplexMethods<T> for Complex<T> {}

macro_rules! functions {
    ($($(#[doc = $doc:literal])* fn $name:ident($($param:ident: $ty:ty),*) -> $result:ty $body:block)*) => { $(
        $(#[doc = $doc])*
        #[device]
        pub fn $name<T: Real>($($param: $ty),*) -> $result $body
    )* };
}

functions! {
    /// `re + im i`
    fn new(re: T, im: T) -> Complex<T> {
        Complex { re, im }
    }

    /// `i`
    fn i() -> Complex<T> {
        Complex { re: T::ZERO, im: T::ONE }
    }

    /// The number with modulus 1 and this argument.
    fn cis(phase: T) -> Complex<T> {
        Complex { re: phase.cos(), im: phase.sin() }
    }

    /// The number with this modulus and argument.
    fn from_polar(r: T, theta: T) -> Complex<T> {
        Complex { re: r * theta.cos(), im: r * theta.sin() }
    }

    /// `a + b`
    fn add(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        Complex { re: a.re + b.re, im: a.im + b.im }
    }

    /// `a - b`
    fn sub(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        Complex { re: a.re - b.re, im: a.im - b.im }
    }

    /// `a * b`
    fn mul(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        Complex { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re }
    }

    /// `a / b`
    fn div(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        let square = b.re * b.re + b.im * b.im;
        Complex { re: (a.re * b.re + a.im * b.im) / square, im: (a.im * b.re - a.re * b.im) / square }
    }

    /// `-a`
    fn neg(a: Complex<T>) -> Complex<T> {
        Complex { re: -a.re, im: -a.im }
    }

    /// `a + b` where `b` is real.
    fn add_real(a: Complex<T>, b: T) -> Complex<T> {
        Complex { re: a.re + b, im: a.im }
    }

    /// `a - b` where `b` is real.
    fn sub_real(a: Complex<T>, b: T) -> Complex<T> {
        Complex { re: a.re - b, im: a.im }
    }

    /// `a + b` where `a` is real.
    fn real_add(a: T, b: Complex<T>) -> Complex<T> {
        Complex { re: a + b.re, im: b.im }
    }

    /// `a - b` where `a` is real.
    fn real_sub(a: T, b: Complex<T>) -> Complex<T> {
        Complex { re: a - b.re, im: T::ZERO - b.im }
    }

    /// `a * b` where `a` is real.
    fn real_mul(a: T, b: Complex<T>) -> Complex<T> {
        Complex { re: a * b.re, im: a * b.im }
    }

    /// `a / b` where `a` is real.
    fn real_div(a: T, b: Complex<T>) -> Complex<T> {
        let square = b.re * b.re + b.im * b.im;
        Complex { re: a * b.re / square, im: T::ZERO - a * b.im / square }
    }

    /// `z * by` where `by` is real.
    fn scale(z: Complex<T>, by: T) -> Complex<T> {
        Complex { re: z.re * by, im: z.im * by }
    }

    /// `z / by` where `by` is real.
    fn unscale(z: Complex<T>, by: T) -> Complex<T> {
        Complex { re: z.re / by, im: z.im / by }
    }

    /// The complex conjugate.
    fn conj(z: Complex<T>) -> Complex<T> {
        Complex { re: z.re, im: -z.im }
    }

    /// `1 / z`
    fn inv(z: Complex<T>) -> Complex<T> {
        let square = norm_sqr(z);
        Complex { re: z.re / square, im: -z.im / square }
    }

    /// The square of the modulus.
    fn norm_sqr(z: Complex<T>) -> T {
        z.re * z.re + z.im * z.im
    }

    /// The modulus.
    fn norm(z: Complex<T>) -> T {
        z.re.hypot(z.im)
    }

    /// The sum of the components' absolute values.
    fn l1_norm(z: Complex<T>) -> T {
        z.re.abs() + z.im.abs()
    }

    /// The argument, from -π to π.
    fn arg(z: Complex<T>) -> T {
        z.im.atan2(z.re)
    }

    /// Modulus and argument.
    fn to_polar(z: Complex<T>) -> (T, T) {
        (norm(z), arg(z))
    }

    /// e to this power.
    fn exp(z: Complex<T>) -> Complex<T> {
        let length = z.re.exp();
        if z.im == T::ZERO {
            return Complex { re: length, im: z.im };
        }
        // the modulus is infinite or NaN, at an undefined argument
        if z.re.is_infinite() && !z.im.is_finite() {
            return if z.re < T::ZERO { Complex { re: T::ZERO, im: T::ZERO } } else { Complex { re: length, im: T::NAN } };
        }
        from_polar(length, z.im)
    }

    /// The natural logarithm.
    fn ln(z: Complex<T>) -> Complex<T> {
        Complex { re: norm(z).ln(), im: arg(z) }
    }

    /// The logarithm in a base.
    fn log(z: Complex<T>, base: T) -> Complex<T> {
        unscale(ln(z), base.ln())
    }

    /// 2 to this power.
    fn exp2(z: Complex<T>) -> Complex<T> {
        from_polar(z.re.exp2(), z.im * T::LN_2)
    }

    /// The logarithm in base 2.
    fn log2(z: Complex<T>) -> Complex<T> {
        unscale(ln(z), T::LN_2)
    }

    /// The logarithm in base 10.
    fn log10(z: Complex<T>) -> Complex<T> {
        unscale(ln(z), T::LN_10)
    }

    /// The square root with a positive real part.
    fn sqrt(z: Complex<T>) -> Complex<T> {
        // exact on the axes
        if z.im == T::ZERO {
            if z.re.is_sign_negative() {
                return Complex { re: T::ZERO, im: (-z.re).sqrt().copysign(z.im) };
            }
            return Complex { re: z.re.sqrt(), im: z.im };
        }
        if z.re == T::ZERO {
            let part = (z.im.abs() / (T::ONE + T::ONE)).sqrt();
            return Complex { re: part, im: part.copysign(z.im) };
        }
        from_polar(norm(z).sqrt(), arg(z) / (T::ONE + T::ONE))
    }

    /// This to a real power.
    fn powf(z: Complex<T>, exponent: T) -> Complex<T> {
        if exponent == T::ZERO {
            return Complex { re: T::ONE, im: T::ZERO };
        }
        from_polar(norm(z).powf(exponent), arg(z) * exponent)
    }

    /// This to a non-negative integer power.
    fn powu(z: Complex<T>, exponent: u32) -> Complex<T> {
        let mut power = Complex { re: T::ONE, im: T::ZERO };
        let mut begun = false;
        let (mut square, mut left) = (z, exponent);
        while left != 0 {
            if left & 1 == 1 {
                power = if begun { mul(power, square) } else { square };
                begun = true;
            }
            left >>= 1;
            if left != 0 {
                square = mul(square, square);
            }
        }
        power
    }

    /// This to an integer power.
    fn powi(z: Complex<T>, exponent: i32) -> Complex<T> {
        if exponent < 0 { powu(inv(z), exponent.unsigned_abs()) } else { powu(z, exponent as u32) }
    }

    /// This to a complex power.
    fn powc(z: Complex<T>, exponent: Complex<T>) -> Complex<T> {
        if exponent.re == T::ZERO && exponent.im == T::ZERO {
            return Complex { re: T::ONE, im: T::ZERO };
        }
        exp(mul(exponent, ln(z)))
    }

    /// A real number to this power.
    fn expf(z: Complex<T>, base: T) -> Complex<T> {
        from_polar(base.powf(z.re), z.im * base.ln())
    }

    /// The sine.
    fn sin(z: Complex<T>) -> Complex<T> {
        Complex { re: z.re.sin() * z.im.cosh(), im: z.re.cos() * z.im.sinh() }
    }

    /// The cosine.
    fn cos(z: Complex<T>) -> Complex<T> {
        Complex { re: z.re.cos() * z.im.cosh(), im: -(z.re.sin() * z.im.sinh()) }
    }

    /// The tangent.
    fn tan(z: Complex<T>) -> Complex<T> {
        let (x, y) = (z.re + z.re, z.im + z.im);
        unscale(Complex { re: x.sin(), im: y.sinh() }, x.cos() + y.cosh())
    }

    /// The hyperbolic sine.
    fn sinh(z: Complex<T>) -> Complex<T> {
        Complex { re: z.re.sinh() * z.im.cos(), im: z.re.cosh() * z.im.sin() }
    }

    /// The hyperbolic cosine.
    fn cosh(z: Complex<T>) -> Complex<T> {
        Complex { re: z.re.cosh() * z.im.cos(), im: z.re.sinh() * z.im.sin() }
    }

    /// The hyperbolic tangent.
    fn tanh(z: Complex<T>) -> Complex<T> {
        let (x, y) = (z.re + z.re, z.im + z.im);
        unscale(Complex { re: x.sinh(), im: y.sin() }, x.cosh() + y.cos())
    }

    /// `i z`
    fn turned(z: Complex<T>) -> Complex<T> {
        Complex { re: -z.im, im: z.re }
    }

    /// `-i z`
    fn turned_back(z: Complex<T>) -> Complex<T> {
        Complex { re: z.im, im: -z.re }
    }

    /// The square root of `1 - z²`.
    fn other_leg(z: Complex<T>) -> Complex<T> {
        sqrt(real_sub(T::ONE, mul(z, z)))
    }

    /// The arc sine.
    fn asin(z: Complex<T>) -> Complex<T> {
        turned_back(ln(add(other_leg(z), turned(z))))
    }

    /// The arc cosine.
    fn acos(z: Complex<T>) -> Complex<T> {
        turned_back(ln(add(turned(other_leg(z)), z)))
    }

    /// The arc tangent.
    fn atan(z: Complex<T>) -> Complex<T> {
        if z.re == T::ZERO && z.im.abs() == T::ONE {
            return Complex { re: T::ZERO, im: T::INFINITY.copysign(z.im) };
        }
        turned_back(atanh(turned(z)))
    }

    /// The area hyperbolic sine.
    fn asinh(z: Complex<T>) -> Complex<T> {
        ln(add(z, sqrt(real_add(T::ONE, mul(z, z)))))
    }

    /// The area hyperbolic cosine.
    fn acosh(z: Complex<T>) -> Complex<T> {
        let two = T::ONE + T::ONE;
        let (above, below) = (sqrt(unscale(add_real(z, T::ONE), two)), sqrt(unscale(sub_real(z, T::ONE), two)));
        scale(ln(add(above, below)), two)
    }

    /// The area hyperbolic tangent.
    fn atanh(z: Complex<T>) -> Complex<T> {
        if z.im == T::ZERO && z.re.abs() == T::ONE {
            return Complex { re: T::INFINITY.copysign(z.re), im: T::ZERO };
        }
        unscale(sub(ln(real_add(T::ONE, z)), ln(real_sub(T::ONE, z))), T::ONE + T::ONE)
    }

    /// Returns true if a component is NaN.
    fn is_nan(z: Complex<T>) -> bool {
        z.re.is_nan() || z.im.is_nan()
    }

    /// Returns true if a component is infinite and none is NaN.
    fn is_infinite(z: Complex<T>) -> bool {
        !is_nan(z) && (z.re.is_infinite() || z.im.is_infinite())
    }

    /// Returns true if both components are neither infinite nor NaN.
    fn is_finite(z: Complex<T>) -> bool {
        z.re.is_finite() && z.im.is_finite()
    }
}
