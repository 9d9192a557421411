//! Element types, and reductions over the ranks' contributions.
//!
//! A reduction goes through the ranks in ascending order, whatever the algorithm, so that every rank and every function that
//! reduces gets the same bits. Integers wrap. Floating-point numbers of 16 and 8 bits are reduced in single precision and
//! rounded once, at the end. An average is the sum divided by the number of ranks: integers truncate, as in C.
//!
//! # Safety
//!
//! Contributions are read from, and results written to, addresses whose ranges the caller vouches for: slots of the shared
//! memory, and device memory that was checked when the call was enqueued. They may be unaligned.

use cuda_sys::nccl::ncclDataType_t;
use half::{bf16, f16};
use std::ffi::c_int;

/// The greatest element size in bytes.
pub(crate) const LARGEST: usize = 8;

/// `ncclDataType_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataType(u8);

/// The bytes of an element of each type, by its number.
const SIZES: [usize; 12] = [1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1];

impl DataType {
    /// Returns the type of a client's number.
    pub(crate) fn of(raw: c_int) -> Option<DataType> {
        u8::try_from(raw).ok().filter(|raw| usize::from(*raw) < SIZES.len()).map(DataType)
    }

    pub(crate) fn raw(self) -> u64 {
        u64::from(self.0)
    }

    /// Returns the bytes of an element.
    pub(crate) fn size(self) -> usize {
        SIZES[usize::from(self.0)]
    }

    pub(crate) fn name(self) -> &'static str {
        ncclDataType_t(self.0.into()).name().expect("the header has the types of `SIZES`")
    }
}

/// An operator of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Sum,
    Product,
    Max,
    Min,
    Average,
    /// A sum of contributions that each rank multiplies by its own number first.
    Scaled(Scale),
}

/// The factor of a scaled sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// The element's bytes.
    Immediate([u8; LARGEST]),
    /// The address of the element, which is read when the operation runs.
    Device(u64),
}

impl Operator {
    /// Returns the built-in operator of a client's number.
    pub(crate) fn of(raw: c_int) -> Option<Operator> {
        Some(match raw {
            0 => Operator::Sum,
            1 => Operator::Product,
            2 => Operator::Max,
            3 => Operator::Min,
            4 => Operator::Average,
            _ => return None,
        })
    }

    /// Returns the number that ranks compare; the factors of scaled sums may differ.
    pub(crate) fn raw(self) -> u64 {
        match self {
            Operator::Sum => 0,
            Operator::Product => 1,
            Operator::Max => 2,
            Operator::Min => 3,
            Operator::Average => 4,
            Operator::Scaled(_) => 5,
        }
    }

    /// Returns the name of an operator's number.
    pub(crate) fn name(raw: u64) -> &'static str {
        ["ncclSum", "ncclProd", "ncclMax", "ncclMin", "ncclAvg", "a pre-multiplied sum"]
            .get(raw as usize)
            .copied()
            .unwrap_or("an unknown operator")
    }
}

/// An element, and the type that it is reduced in.
trait Element: Copy {
    type Wide: Copy + Default;
    fn widen(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;
    fn sum(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    fn product(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    fn max(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    fn min(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    fn divide(a: Self::Wide, by: usize) -> Self::Wide;
}

macro_rules! integers {
    ($($name:ident),*) => { $(impl Element for $name {
        type Wide = $name;
        fn widen(self) -> $name { self }
        fn narrow(wide: $name) -> $name { wide }
        fn sum(a: $name, b: $name) -> $name { a.wrapping_add(b) }
        fn product(a: $name, b: $name) -> $name { a.wrapping_mul(b) }
        fn max(a: $name, b: $name) -> $name { a.max(b) }
        fn min(a: $name, b: $name) -> $name { a.min(b) }
        fn divide(a: $name, by: usize) -> $name { a / by as $name }
    })* };
}

macro_rules! floats {
    ($($name:ty, $wide:ident, $widen:expr, $narrow:expr;)*) => { $(impl Element for $name {
        type Wide = $wide;
        fn widen(self) -> $wide { $widen(self) }
        fn narrow(wide: $wide) -> $name { $narrow(wide) }
        fn sum(a: $wide, b: $wide) -> $wide { a + b }
        fn product(a: $wide, b: $wide) -> $wide { a * b }
        fn max(a: $wide, b: $wide) -> $wide { a.max(b) }
        fn min(a: $wide, b: $wide) -> $wide { a.min(b) }
        fn divide(a: $wide, by: usize) -> $wide { a / by as $wide }
    })* };
}

integers!(i8, u8, i32, u32, i64, u64);
floats! {
    f32, f32, |x| x, |x| x;
    f64, f64, |x| x, |x| x;
    f16, f32, f16::to_f32, f16::from_f32;
    bf16, f32, bf16::to_f32, bf16::from_f32;
    E4m3, f32, |x: E4m3| E4M3.widen(x.0), |x| E4m3(E4M3.narrow(x));
    E5m2, f32, |x: E5m2| E5M2.widen(x.0), |x| E5m2(E5M2.narrow(x));
}

/// A number with 4 bits of exponent and 3 of mantissa.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct E4m3(u8);

/// A number with 5 bits of exponent and 2 of mantissa.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct E5m2(u8);

/// A format of 8 bits.
struct Float8 {
    mantissa: u32,
    bias: i32,
    /// The code of the greatest finite number, and of NaN; values beyond saturate, as CUDA's conversions do.
    largest: u8,
    nan: u8,
    /// The code of infinity, if there is one.
    infinity: Option<u8>,
}

const E4M3: Float8 = Float8 { mantissa: 3, bias: 7, largest: 0x7e, nan: 0x7f, infinity: None };
const E5M2: Float8 = Float8 { mantissa: 2, bias: 15, largest: 0x7b, nan: 0x7f, infinity: Some(0x7c) };

impl Float8 {
    fn widen(&self, code: u8) -> f32 {
        let sign = if code & 0x80 == 0 { 1.0 } else { -1.0 };
        let code = code & 0x7f;
        if Some(code) == self.infinity {
            return sign * f32::INFINITY;
        }
        if code > self.largest {
            return f32::NAN;
        }
        let (exponent, fraction) = (i32::from(code >> self.mantissa), f32::from(code & ((1 << self.mantissa) - 1)));
        let unit = 2f32.powi(exponent.max(1) - self.bias - self.mantissa.cast_signed());
        let hidden = if exponent == 0 { 0.0 } else { f32::from(1u8 << self.mantissa) };
        sign * (hidden + fraction) * unit
    }

    /// Rounds to the nearest number, ties to even; beyond the greatest one it saturates, as `__nv_cvt_float_to_fp8` with
    /// `__NV_SATFINITE` does.
    fn narrow(&self, value: f32) -> u8 {
        let sign = if value.is_sign_negative() { 0x80 } else { 0 };
        if value.is_nan() {
            return sign | self.nan;
        }
        let size = value.abs();
        if size >= self.widen(self.largest) {
            return sign | self.largest;
        }
        // The exponent of the number, at least that of subnormal numbers.
        let exponent = ((size.to_bits() >> 23).cast_signed() - 127).max(1 - self.bias);
        let steps = (size * 2f32.powi(self.mantissa.cast_signed() - exponent)).round_ties_even() as u32;
        // A normal number's steps contain its hidden bit, which adds to the exponent's code, also where rounding carries.
        let code = ((exponent + self.bias - 1) as u32 * (1 << self.mantissa)) + steps;
        sign | (code as u8).min(self.largest)
    }
}

/// Calls a generic function for a data type.
macro_rules! for_type {
    ($kind:expr, $function:ident ( $($argument:expr),* )) => {
        match $kind.0 {
            0 => $function::<i8>($($argument),*),
            1 => $function::<u8>($($argument),*),
            2 => $function::<i32>($($argument),*),
            3 => $function::<u32>($($argument),*),
            4 => $function::<i64>($($argument),*),
            5 => $function::<u64>($($argument),*),
            6 => $function::<f16>($($argument),*),
            7 => $function::<f32>($($argument),*),
            8 => $function::<f64>($($argument),*),
            9 => $function::<bf16>($($argument),*),
            10 => $function::<E4m3>($($argument),*),
            _ => $function::<E5m2>($($argument),*),
        }
    };
}

/// Reads the element at an index.
///
/// # Safety
///
/// The element is readable.
unsafe fn read<T: Element>(from: *const u8, at: usize) -> T {
    // SAFETY: the caller promises that the element is readable; each of its bit patterns is valid.
    unsafe { from.cast::<T>().wrapping_add(at).read_unaligned() }
}

/// Writes the element at an index.
///
/// # Safety
///
/// The element is writable.
unsafe fn write<T: Element>(to: *mut u8, at: usize, value: T) {
    // SAFETY: the caller promises that the element is writable.
    unsafe { to.cast::<T>().wrapping_add(at).write_unaligned(value) };
}

/// The number of elements that are reduced at once; they stay in the processor's first cache.
const BATCH: usize = 512;

/// Reduces `count` elements of all contributions, in their order, to `to`, which may be one of them.
///
/// # Safety
///
/// Each contribution is readable and `to` is writable for `count` elements of the type.
pub(crate) unsafe fn reduce(kind: DataType, operator: Operator, from: &[*const u8], to: *mut u8, count: usize) {
    for_type!(kind, reduce_as(operator, from, to, count))
}

fn reduce_as<T: Element>(operator: Operator, from: &[*const u8], to: *mut u8, count: usize) {
    match operator {
        Operator::Product => reduce_with::<T>(T::product, from, to, count, None),
        Operator::Max => reduce_with::<T>(T::max, from, to, count, None),
        Operator::Min => reduce_with::<T>(T::min, from, to, count, None),
        Operator::Average => reduce_with::<T>(T::sum, from, to, count, Some(from.len())),
        Operator::Sum | Operator::Scaled(_) => reduce_with::<T>(T::sum, from, to, count, None),
    }
}

fn reduce_with<T: Element>(
    combine: impl Fn(T::Wide, T::Wide) -> T::Wide,
    from: &[*const u8],
    to: *mut u8,
    count: usize,
    divisor: Option<usize>,
) {
    let mut batch = [T::Wide::default(); BATCH];
    for start in (0..count).step_by(BATCH) {
        let batch = &mut batch[..BATCH.min(count - start)];
        for (rank, contribution) in from.iter().enumerate() {
            for (at, wide) in batch.iter_mut().enumerate() {
                // SAFETY: `reduce`'s caller promises that all elements are readable.
                let own = unsafe { read::<T>(*contribution, start + at) }.widen();
                *wide = if rank == 0 { own } else { combine(*wide, own) };
            }
        }
        for (at, wide) in batch.iter().enumerate() {
            let result = T::narrow(divisor.map_or(*wide, |by| T::divide(*wide, by)));
            // SAFETY: `reduce`'s caller promises that all elements are writable.
            unsafe { write::<T>(to, start + at, result) };
        }
    }
}

/// Multiplies `count` elements by a factor into `to`.
///
/// # Safety
///
/// `from` is readable and `to` writable for `count` elements of the type, and a factor on the device is readable.
pub(crate) unsafe fn scale(kind: DataType, factor: Scale, from: *const u8, to: *mut u8, count: usize) {
    for_type!(kind, scale_as(factor, from, to, count))
}

fn scale_as<T: Element>(factor: Scale, from: *const u8, to: *mut u8, count: usize) {
    let place = match &factor {
        Scale::Immediate(bytes) => bytes.as_ptr(),
        Scale::Device(address) => *address as *const u8,
    };
    // SAFETY: `scale`'s caller promises that the factor is readable.
    let factor = unsafe { read::<T>(place, 0) }.widen();
    for at in 0..count {
        // SAFETY: `scale`'s caller promises that all elements are readable.
        let own = unsafe { read::<T>(from, at) }.widen();
        // SAFETY: `scale`'s caller promises that all elements are writable.
        unsafe { write::<T>(to, at, T::narrow(T::product(own, factor))) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_8_bits_are_read_as_they_were_rounded() {
        for format in [&E4M3, &E5M2] {
            for code in 0..=255u8 {
                let value = format.widen(code);
                let again = format.narrow(value);
                match value.is_finite() {
                    true => assert_eq!(again, code, "{value}"),
                    false if value.is_nan() => assert_eq!(again & 0x7f, format.nan),
                    false => assert_eq!(again & 0x7f, format.largest),
                }
            }
        }
    }

    #[test]
    fn numbers_of_8_bits_round_to_the_nearest_even_and_saturate() {
        let e4m3 = |value: f32| E4M3.widen(E4M3.narrow(value));
        assert_eq!([e4m3(448.0), e4m3(1e9), e4m3(-500.0)], [448.0, 448.0, -448.0]);
        // 17 and 19 lie between 16, 18 and 20.
        assert_eq!([e4m3(17.0), e4m3(19.0), e4m3(17.1)], [16.0, 20.0, 18.0]);
        // The least numbers: 2^-9 and half of it.
        assert_eq!(
            [e4m3(2f32.powi(-9)), e4m3(2f32.powi(-10)), e4m3(1.01 * 2f32.powi(-10))],
            [2f32.powi(-9), 0.0, 2f32.powi(-9)]
        );
        let e5m2 = |value: f32| E5M2.widen(E5M2.narrow(value));
        assert_eq!([e5m2(57344.0), e5m2(60000.0), e5m2(2f32.powi(-16))], [57344.0, 57344.0, 2f32.powi(-16)]);
    }

    fn reduced<T: Element + Default>(kind: c_int, operator: Operator, from: &[&[T]]) -> Vec<T> {
        let mut to = vec![T::default(); from[0].len()];
        let places: Vec<_> = from.iter().map(|x| x.as_ptr().cast::<u8>()).collect();
        let kind = DataType::of(kind).expect("a type");
        // SAFETY: the slices live through the call and have as many elements.
        unsafe { reduce(kind, operator, &places, to.as_mut_ptr().cast(), from[0].len()) };
        to
    }

    #[test]
    fn operators_combine_in_the_order_of_ranks() {
        let long: Vec<f32> = (0..1300).map(|x| x as f32 * 0.1).collect();
        let big = vec![1e8f32; 1300];
        let expected: Vec<f32> = long.iter().map(|x| (x + 1e8) + -1e8).collect();
        assert_eq!(reduced(7, Operator::Sum, &[&long, &big, &vec![-1e8; 1300]]), expected);
        assert_eq!(reduced::<i8>(0, Operator::Sum, &[&[100, -7], &[100, 0]]), [-56, -7]);
        assert_eq!(reduced::<i32>(2, Operator::Average, &[&[-7, 7], &[0, 0]]), [-3, 3]);
        assert_eq!(reduced::<u64>(5, Operator::Product, &[&[3], &[u64::MAX], &[2]]), [6u64.wrapping_neg()]);
        assert_eq!(reduced::<f64>(8, Operator::Max, &[&[1.0, f64::NAN], &[2.0, 3.0]]), [2.0, 3.0]);
        assert_eq!(reduced::<f64>(8, Operator::Min, &[&[1.0], &[-2.0]]), [-2.0]);
    }

    #[test]
    fn halves_are_rounded_once() {
        // In half precision 2048 + 1 is 2048; in single precision the sum of three ones is not lost.
        let half = |x: f32| f16::from_f32(x);
        let sum = reduced(6, Operator::Sum, &[&[half(2048.0)], &[half(1.0)], &[half(1.0)], &[half(1.0)]]);
        assert_eq!(sum[0].to_f32(), 2052.0);
    }
}
