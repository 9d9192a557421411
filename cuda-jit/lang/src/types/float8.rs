//! 8-bit floats: [`e4m3`] and [`e5m2`] of OCP's FP8, and [`e8m0`], the scales of its microscaling formats.
//!
//! They are storage formats: numbers are converted to `f32` or `f16` for arithmetic, and back. The conversions agree with
//! CUDA's to the bit (`cuda_fp8.h`), on the host and on every device: they use the instructions of targets from compute
//! capability 8.9 on, and the code below elsewhere. Rust's `float8` crate always saturates, and lacks [`e8m0`].

#![expect(non_camel_case_types, reason = "they are named as Rust names its numbers")]

use std::cmp::Ordering;
use std::fmt;

use cuda_mem_element::{Exchanged, NumberKind};
use half::{bf16, f16};

use super::{bf16x2, f16x2, f32x2};
use crate::DeviceType;
use crate::device;
use crate::device::{compute_capability, narrow_e4m3, narrow_e5m2, widen_e4m3, widen_e5m2};
use crate::num::to_odd;
use crate::typeinfo::{DeviceFn, Instance};

/// The first compute capability with the instructions.
const CONVERTS: u32 = 89;

/// The bits of a NaN without a payload.
const NAN: u32 = 0x7fff_ffff;

/// The encoding of the nearest number, ties to even, of at most `most`; NaN is encoded beyond that.
#[device]
fn narrowed(v: f32, fraction: u32, bias: u32, most: u32) -> u8 {
    let bits = v.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return 0x7f;
    }
    let dropped = 23 - fraction;
    let code = if magnitude >= (128 - bias) << 23 {
        // a carry out of the fraction increments the exponent
        let half = (1 << (dropped - 1)) - 1 + (magnitude >> dropped & 1);
        ((magnitude + half) >> dropped) - ((127 - bias) << fraction)
    } else {
        // in the sum, the last bit has the weight of a subnormal's last bit
        let unit = f32::from_bits((151 - bias - fraction) << 23);
        (f32::from_bits(magnitude) + unit).to_bits() - unit.to_bits()
    };
    (bits >> 24 & 0x80 | code.min(most)) as u8
}

/// The number of an encoding; `largest` is the encoding of the largest finite number.
#[device]
fn widened(code: u8, fraction: u32, bias: u32, largest: u32) -> f32 {
    let magnitude = (code & 0x7f) as u32;
    if magnitude > largest {
        // only one of the two formats has an infinity
        return f32::from_bits(if magnitude == 0x7c { 0x7f80_0000 | (code as u32 & 0x80) << 24 } else { NAN });
    }
    let number = if magnitude >> fraction == 0 {
        magnitude as f32 * f32::from_bits((128 - bias - fraction) << 23)
    } else {
        f32::from_bits((magnitude << (23 - fraction)) + ((127 - bias) << 23))
    };
    if code >= 0x80 { -number } else { number }
}

/// The encoding of a scale: the exponent of the magnitude, rounded up if `up` and the fraction is not zero, and at most
/// `most`.
#[device]
fn exponent(v: f32, up: bool, most: u32) -> u8 {
    let magnitude = v.to_bits() & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return 0xff;
    }
    // half the smallest normal number is the smallest scale
    let lost = magnitude & 0x7f_ffff != 0 && magnitude > 0x40_0000;
    ((magnitude >> 23) + (up && lost) as u32).min(most) as u8
}

/// Defines the methods of all types that store a number in one byte.
macro_rules! bytes {
    ($($name:ident)*) => { $(
        #[device]
        impl $name {
            /// The number of these bits.
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// Its bits.
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The number as `f64`, exactly.
            pub fn to_f64(self) -> f64 {
                self.to_f32() as f64
            }

            /// Returns true for NaN.
            pub fn is_nan(self) -> bool {
                self.to_f32().is_nan()
            }
        }

        #[device]
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }

        impl From<$name> for f32 {
            fn from(number: $name) -> f32 {
                number.to_f32()
            }
        }

        impl From<$name> for f64 {
            fn from(number: $name) -> f64 {
                number.to_f64()
            }
        }
    )* };
}

bytes! { e4m3 e5m2 e8m0 }

macro_rules! floats {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident $pair:ident
        fraction $fraction:literal bias $bias:literal largest $largest:literal beyond $beyond:literal nan $nan:literal
        $narrow:ident $widen:ident $narrowed:ident $widened:ident $quiet:ident;
    )*) => { $(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Default, DeviceType)]
        #[operators(PartialEq)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// Zero.
            pub const ZERO: Self = Self(0);
            /// One.
            pub const ONE: Self = Self($bias << $fraction);
            /// The largest finite number.
            pub const MAX: Self = Self($largest);
            /// The smallest finite number.
            pub const MIN: Self = Self($largest | 0x80);
            /// The smallest positive normal number.
            pub const MIN_POSITIVE: Self = Self(1 << $fraction);
            /// The smallest positive number.
            pub const MIN_POSITIVE_SUBNORMAL: Self = Self(1);
            /// The difference between one and the next larger number.
            pub const EPSILON: Self = Self(($bias - $fraction) << $fraction);
            /// Not a number.
            pub const NAN: Self = Self(0x7f);
        }

        #[device]
        fn $narrowed(v: f32, most: u32) -> $name {
            $name::from_bits(narrowed(v, $fraction, $bias, most))
        }

        /// The exact value.
        #[device]
        pub(crate) fn $widened(v: $name) -> f32 {
            widened(v.to_bits(), $fraction, $bias, $largest)
        }

        /// The conversion of a 64-bit NaN: as in CUDA's headers, it keeps its sign, and the part of its payload that fits.
        #[device]
        fn $quiet(v: f64) -> $name {
            let bits = v.to_bits();
            $name::from_bits((bits >> 56 & 0x80 | $nan | bits >> 50 & 3) as u8)
        }

        #[device]
        impl $name {
            /// The nearest number, ties to even. Numbers beyond the largest become the largest (CUDA's `__NV_SATFINITE`),
            /// and NaN is NaN.
            pub fn from_f32(v: f32) -> Self {
                if compute_capability() >= CONVERTS { Self::from_bits($narrow(v, 0.0) as u8) } else { $narrowed(v, $largest) }
            }

            /// The nearest number; numbers beyond the largest become infinity, or NaN if the format has no infinity (CUDA's
            /// `__NV_NOSAT`).
            pub fn from_f32_nosat(v: f32) -> Self {
                $narrowed(v, $beyond)
            }

            /// As [`from_f32`](Self::from_f32), rounded once.
            pub fn from_f64(v: f64) -> Self {
                if v.is_nan() { $quiet(v) } else { Self::from_f32(to_odd(v)) }
            }

            /// As [`from_f32_nosat`](Self::from_f32_nosat), rounded once.
            pub fn from_f64_nosat(v: f64) -> Self {
                if v.is_nan() { $quiet(v) } else { Self::from_f32_nosat(to_odd(v)) }
            }

            /// As [`from_f32`](Self::from_f32).
            pub fn from_f16(v: f16) -> Self {
                Self::from_f32(v.to_f32())
            }

            /// As [`from_f32_nosat`](Self::from_f32_nosat).
            pub fn from_f16_nosat(v: f16) -> Self {
                Self::from_f32_nosat(v.to_f32())
            }

            /// As [`from_f32`](Self::from_f32).
            pub fn from_bf16(v: bf16) -> Self {
                Self::from_f32(v.to_f32())
            }

            /// As [`from_f32_nosat`](Self::from_f32_nosat).
            pub fn from_bf16_nosat(v: bf16) -> Self {
                Self::from_f32_nosat(v.to_f32())
            }

            /// The number as `f32`, exactly.
            pub fn to_f32(self) -> f32 {
                if compute_capability() >= CONVERTS { self.to_f16().to_f32() } else { $widened(self) }
            }

            /// The number as `f16`, exactly.
            pub fn to_f16(self) -> f16 {
                if compute_capability() >= CONVERTS {
                    return $widen(self.to_bits() as u16).0;
                }
                f16::from_f32($widened(self))
            }

            /// The number as `bf16`, exactly.
            pub fn to_bf16(self) -> bf16 {
                bf16::from_f32(self.to_f32())
            }
        }

        impl From<$name> for f16 {
            fn from(number: $name) -> f16 {
                number.to_f16()
            }
        }

        impl From<$name> for bf16 {
            fn from(number: $name) -> bf16 {
                number.to_bf16()
            }
        }

        #[doc = concat!("Two [`", stringify!($name), "`], which are converted by one instruction where there is one.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, DeviceType)]
        #[repr(C, align(2))]
        pub struct $pair {
            /// The first number.
            pub x: $name,
            /// The second number.
            pub y: $name,
        }

        #[device]
        impl $pair {
            /// The pair of two numbers.
            pub const fn new(x: $name, y: $name) -> Self {
                Self { x, y }
            }

            /// The bits of both; those of the first are the lower ones.
            pub const fn to_bits(self) -> u16 {
                self.x.to_bits() as u16 | (self.y.to_bits() as u16) << 8
            }

            /// The pair of these bits.
            pub const fn from_bits(bits: u16) -> Self {
                Self { x: $name::from_bits(bits as u8), y: $name::from_bits((bits >> 8) as u8) }
            }

            #[doc = concat!("Each as by [`", stringify!($name), "::from_f32`].")]
            pub fn from_f32x2(v: f32x2) -> Self {
                if compute_capability() >= CONVERTS {
                    return Self::from_bits($narrow(v.x, v.y));
                }
                Self { x: $name::from_f32(v.x), y: $name::from_f32(v.y) }
            }

            #[doc = concat!("Each as by [`", stringify!($name), "::from_f32_nosat`].")]
            pub fn from_f32x2_nosat(v: f32x2) -> Self {
                Self { x: $name::from_f32_nosat(v.x), y: $name::from_f32_nosat(v.y) }
            }

            #[doc = concat!("Each as by [`", stringify!($name), "::from_f16`].")]
            pub fn from_f16x2(v: f16x2) -> Self {
                Self::from_f32x2(f32x2 { x: v.x.to_f32(), y: v.y.to_f32() })
            }

            #[doc = concat!("Each as by [`", stringify!($name), "::from_f16_nosat`].")]
            pub fn from_f16x2_nosat(v: f16x2) -> Self {
                Self { x: $name::from_f16_nosat(v.x), y: $name::from_f16_nosat(v.y) }
            }

            #[doc = concat!("Each as by [`", stringify!($name), "::from_bf16`].")]
            pub fn from_bf16x2(v: bf16x2) -> Self {
                Self::from_f32x2(f32x2 { x: v.x.to_f32(), y: v.y.to_f32() })
            }

            #[doc = concat!("Each as by [`", stringify!($name), "::from_bf16_nosat`].")]
            pub fn from_bf16x2_nosat(v: bf16x2) -> Self {
                Self { x: $name::from_bf16_nosat(v.x), y: $name::from_bf16_nosat(v.y) }
            }

            /// The same numbers as `f16`.
            pub fn to_f16x2(self) -> f16x2 {
                if compute_capability() >= CONVERTS {
                    let (x, y) = $widen(self.to_bits());
                    return f16x2 { x, y };
                }
                f16x2 { x: self.x.to_f16(), y: self.y.to_f16() }
            }

            /// The same numbers as `f32`.
            pub fn to_f32x2(self) -> f32x2 {
                if compute_capability() >= CONVERTS {
                    let halves = self.to_f16x2();
                    return f32x2 { x: halves.x.to_f32(), y: halves.y.to_f32() };
                }
                f32x2 { x: self.x.to_f32(), y: self.y.to_f32() }
            }

            /// The same numbers as `bf16`.
            pub fn to_bf16x2(self) -> bf16x2 {
                let wide = self.to_f32x2();
                bf16x2 { x: bf16::from_f32(wide.x), y: bf16::from_f32(wide.y) }
            }
        }
    )* };
}

floats! {
    /// A float with 4 bits of exponent and 3 of fraction, OCP's E4M3 (CUDA's `__nv_fp8_e4m3`): up to 448, no infinity.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{device::grid, e4m3, kernel};
    ///
    /// #[kernel]
    /// fn quantize(scale: f32, x: &[f32], out: &mut [e4m3]) {
    ///     let i = grid::<1>();
    ///     if i < out.len() {
    ///         out[i] = e4m3::from_f32(x[i] * scale);
    ///     }
    /// }
    ///
    /// let context = cuda_driver::Driver::new(cuda_sim::driver_api())?.device(0)?.primary_context()?;
    /// let x = cuda_mem::from_slice(&context, &[1.0, 1.06, -1e9])?;
    /// let mut out = cuda_mem::from_slice(&context, &[e4m3::ZERO; 3])?;
    /// quantize::launch((1, 32), 2.0, &x, &mut out)?;
    /// assert_eq!(out.copy_to_host()?.to_vec(), [2.0, 2.0, -448.0].map(e4m3::from_f32));
    /// assert!(quantize::compile_ptx((9, 0))?.contains("cvt.rn.satfinite.e4m3x2.f32"));
    /// # Ok::<(), cuda_jit::Error>(())
    /// ```
    e4m3 e4m3x2
    fraction 3 bias 7 largest 0x7e beyond 0x7f nan 0x7f
    narrow_e4m3 widen_e4m3 narrowed_e4m3 widened_e4m3 e4m3_nan;
    /// A float with 5 bits of exponent and 2 of fraction, OCP's E5M2 (CUDA's `__nv_fp8_e5m2`): the upper half of an `f16`.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::{e5m2, e5m2x2, f16, f32x2};
    ///
    /// // Numbers beyond the largest finite one become it, or infinity.
    /// assert_eq!((e5m2::from_f32(1e9).to_f32(), e5m2::from_f32_nosat(1e9).to_f32()), (57344.0, f32::INFINITY));
    /// assert_eq!(e5m2::from_f16(f16::from_f32(0.3)).to_f64(), 0.3125);
    /// assert!(e5m2::from_f64(f64::NAN).is_nan());
    /// let pair = e5m2x2::from_f32x2(f32x2::new(1.0, -2.0));
    /// assert_eq!(pair.to_bits(), 0xc03c);
    /// assert_eq!(pair.to_f32x2(), f32x2::new(1.0, -2.0));
    /// ```
    e5m2 e5m2x2
    fraction 2 bias 15 largest 0x7b beyond 0x7c nan 0x7e
    narrow_e5m2 widen_e5m2 narrowed_e5m2 widened_e5m2 e5m2_nan;
}

impl e5m2 {
    /// Infinity.
    ///
    /// # Examples
    ///
    /// ```
    /// use cuda_jit::e5m2;
    ///
    /// assert_eq!(e5m2::INFINITY.to_f32(), f32::INFINITY);
    /// assert_eq!(e5m2::NEG_INFINITY, e5m2::from_f32_nosat(-1e9));
    /// ```
    pub const INFINITY: Self = Self(0x7c);
    /// Negative infinity.
    pub const NEG_INFINITY: Self = Self(0xfc);
}

/// A power of two from 2⁻¹²⁷ to 2¹²⁷, or NaN: the scale of a block of smaller floats (CUDA's `__nv_fp8_e8m0`). It has
/// neither sign nor zero; conversions use the magnitude.
///
/// `from_f32` and the other conversions round up, as CUDA's constructors do; those that end in `_rz` round down. Numbers
/// beyond the largest scale become the largest, or NaN by those that end in `_nosat`.
///
/// # Examples
///
/// ```
/// use cuda_jit::{bf16, e8m0, f16};
///
/// // The smallest power of two that is not less, and the largest that is not greater.
/// assert_eq!((e8m0::from_f32(3.0).to_f32(), e8m0::from_f32_rz(3.0).to_f32()), (4.0, 2.0));
/// assert_eq!((e8m0::ONE.to_f16(), e8m0::ONE.to_bf16()), (f16::ONE, bf16::ONE));
/// assert_eq!((e8m0::MIN.to_f32(), e8m0::MAX.to_f32()), (2_f32.powi(-127), 2_f32.powi(127)));
/// assert!(e8m0::NAN.is_nan());
/// ```
#[derive(Clone, Copy, Default, DeviceType)]
#[operators(PartialEq)]
#[repr(transparent)]
pub struct e8m0(u8);

impl e8m0 {
    /// 2⁻¹²⁷
    pub const MIN: Self = Self(0);
    /// One.
    pub const ONE: Self = Self(127);
    /// 2¹²⁷
    pub const MAX: Self = Self(254);
    /// Not a number.
    pub const NAN: Self = Self(255);
}

/// Defines the conversions to a scale from a type, which is converted to `f32` first.
macro_rules! scales {
    ($($from:ty, |$v:ident| $single:expr, $up:ident $up_nosat:ident $down:ident $down_nosat:ident;)*) => {
        #[device]
        impl e8m0 {
            $(
                /// The smallest power of two that is not less; numbers beyond the largest become the largest.
                pub fn $up($v: $from) -> Self {
                    Self::from_bits(exponent($single, true, 0xfe))
                }

                /// The smallest power of two that is not less; numbers beyond the largest become NaN.
                pub fn $up_nosat($v: $from) -> Self {
                    Self::from_bits(exponent($single, true, 0xff))
                }

                /// The largest power of two that is not greater; infinity becomes the largest.
                pub fn $down($v: $from) -> Self {
                    Self::from_bits(exponent($single, false, 0xfe))
                }

                /// The largest power of two that is not greater; infinity becomes NaN.
                pub fn $down_nosat($v: $from) -> Self {
                    Self::from_bits(exponent($single, false, 0xff))
                }
            )*
        }
    };
}

scales! {
    f32, |v| v, from_f32 from_f32_nosat from_f32_rz from_f32_rz_nosat;
    f64, |v| to_odd(v), from_f64 from_f64_nosat from_f64_rz from_f64_rz_nosat;
    f16, |v| v.to_f32(), from_f16 from_f16_nosat from_f16_rz from_f16_rz_nosat;
    bf16, |v| v.to_f32(), from_bf16 from_bf16_nosat from_bf16_rz from_bf16_rz_nosat;
}

/// The exact value.
#[device]
pub(crate) fn widened_e8m0(v: e8m0) -> f32 {
    let code = v.to_bits() as u32;
    f32::from_bits(if code == 0xff {
        NAN
    } else if code == 0 {
        0x40_0000
    } else {
        code << 23
    })
}

#[device]
impl e8m0 {
    /// The number as `f32`, exactly.
    pub fn to_f32(self) -> f32 {
        widened_e8m0(self)
    }

    /// The number as `bf16`, exactly.
    pub fn to_bf16(self) -> bf16 {
        bf16::from_f32(self.to_f32())
    }

    /// The nearest `f16`, which may be zero or infinite.
    pub fn to_f16(self) -> f16 {
        f16::from_f32(self.to_f32())
    }
}

impl From<e8m0> for bf16 {
    fn from(number: e8m0) -> bf16 {
        number.to_bf16()
    }
}

/// Two [`e8m0`].
///
/// # Examples
///
/// ```
/// use cuda_jit::{bf16x2, e8m0, e8m0x2, f32x2};
///
/// let scales = e8m0x2::from_f32x2(f32x2::new(0.5, 3.0));
/// assert_eq!(scales, e8m0x2::new(e8m0::from_f32(0.5), e8m0::from_f32(4.0)));
/// assert_eq!(scales.to_f32x2(), f32x2::new(0.5, 4.0));
/// assert_eq!(e8m0x2::from_bf16x2(scales.to_bf16x2()), scales);
/// // Numbers beyond the largest scale.
/// let large = f32x2::splat(f32::INFINITY);
/// assert_eq!(e8m0x2::from_f32x2(large).x, e8m0::MAX);
/// assert!(e8m0x2::from_f32x2_nosat(large).x.is_nan());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceType)]
#[repr(C, align(2))]
pub struct e8m0x2 {
    /// The first number.
    pub x: e8m0,
    /// The second number.
    pub y: e8m0,
}

#[device]
impl e8m0x2 {
    /// The pair of two numbers.
    pub const fn new(x: e8m0, y: e8m0) -> Self {
        Self { x, y }
    }

    /// Both converted as by [`e8m0::from_f32`].
    pub fn from_f32x2(v: f32x2) -> Self {
        Self { x: e8m0::from_f32(v.x), y: e8m0::from_f32(v.y) }
    }

    /// Both converted as by [`e8m0::from_f32_nosat`].
    pub fn from_f32x2_nosat(v: f32x2) -> Self {
        Self { x: e8m0::from_f32_nosat(v.x), y: e8m0::from_f32_nosat(v.y) }
    }

    /// Both converted as by [`e8m0::from_bf16`].
    pub fn from_bf16x2(v: bf16x2) -> Self {
        Self { x: e8m0::from_bf16(v.x), y: e8m0::from_bf16(v.y) }
    }

    /// The same numbers as `f32`.
    pub fn to_f32x2(self) -> f32x2 {
        f32x2 { x: self.x.to_f32(), y: self.y.to_f32() }
    }

    /// The same numbers as `bf16`.
    pub fn to_bf16x2(self) -> bf16x2 {
        bf16x2 { x: self.x.to_bf16(), y: self.y.to_bf16() }
    }
}

/// The function that converts a type of this file to `f32`, for operations that only `f32` has.
#[doc(hidden)]
pub fn widening(name: &str) -> Option<Instance> {
    macro_rules! pick {
        ($($ty:ty => $function:ident),*) => {
            match name {
                $(_ if name == std::any::type_name::<$ty>() => Some($function::instance()),)*
                _ => None,
            }
        };
    }
    pick! { e4m3 => widened_e4m3, e5m2 => widened_e5m2, e8m0 => widened_e8m0 }
}

/// Implements `Element`, with the names of DLPack.
macro_rules! exchanged {
    ($($name:ident $pair:ident $kind:ident;)*) => { $(
        impl Exchanged for $name {
            const KIND: NumberKind = NumberKind::$kind;
        }

        impl Exchanged for $pair {
            const KIND: NumberKind = NumberKind::$kind;
            const LANES: u16 = 2;
        }
    )* };
}

exchanged! {
    e4m3 e4m3x2 Float8E4M3;
    e5m2 e5m2x2 Float8E5M2;
    e8m0 e8m0x2 Float8E8M0;
}
