//! Bit operations under CUDA's names. Rust's own methods (`count_ones`, `rotate_left` and so on) work as well where they
//! exist.

use crate::kir::{TernaryOp, UnaryOp};
use crate::typeinfo::{Intrinsic, ScalarType};

/// An integer of 32 or 64 bits.
///
/// Sealed: it is for types with [`ScalarType`] alone.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{BitWord, popc};
///
/// fn is_power_of_two<T: BitWord>(value: T) -> bool {
///     popc(value) == 1
/// }
/// assert!(is_power_of_two(64_u32) && !is_power_of_two(-1_i64));
/// ```
pub trait BitWord: ScalarType {
    #[doc(hidden)]
    #[must_use]
    fn reversed(self) -> Self;
}

macro_rules! words {
    ($($ty:ty)*) => { $( impl BitWord for $ty { fn reversed(self) -> Self { self.reverse_bits() } } )* };
}

words! { i32 u32 i64 u64 isize usize }

/// A number's bits, and their count.
fn wide<T: BitWord>(value: T) -> (u64, u32) {
    (value.bits() as u64, T::SCALAR.bits())
}

/// The number of one bits; `value.count_ones()`.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::popc;
///
/// assert_eq!((popc(0b1011_u32), popc(-1_i64)), (3, 64));
/// ```
pub fn popc<T: BitWord>(value: T) -> u32 {
    wide(value).0.count_ones()
}

/// The number of leading zero bits, all of them for 0; `value.leading_zeros()`.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::clz;
///
/// assert_eq!((clz(1_u32), clz(0_u64), clz(-1_i32)), (31, 64, 0));
/// ```
pub fn clz<T: BitWord>(value: T) -> u32 {
    let (bits, width) = wide(value);
    bits.leading_zeros() - (64 - width)
}

/// The position of the lowest one bit, counted from 1; 0 for 0.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::ffs;
///
/// assert_eq!((ffs(0b1000_u32), ffs(0_u64), ffs(i64::MIN)), (4, 0, 64));
/// ```
pub fn ffs<T: BitWord>(value: T) -> u32 {
    match wide(value).0 {
        0 => 0,
        bits => bits.trailing_zeros() + 1,
    }
}

/// The bits in the opposite order; `value.reverse_bits()`.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::brev;
///
/// assert_eq!(brev(0b0110_u32), 0b0110 << 28);
/// ```
pub fn brev<T: BitWord>(value: T) -> T {
    value.reversed()
}

/// Selects four of the eight bytes of `low` (bytes 0 to 3) and `high` (4 to 7) by the lowest four nibbles of `selector`. If
/// bit 3 of a nibble is set, the byte's sign bit is replicated to all bits of the result byte.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::byte_perm;
///
/// assert_eq!(byte_perm(0x3322_1100, 0x7766_5544, 0x7250), 0x7722_5500);
/// assert_eq!(byte_perm(0x8000_0000, 0, 0x000b), 0xff);
/// ```
pub fn byte_perm(low: u32, high: u32, selector: u32) -> u32 {
    let bytes = (u64::from(high) << 32 | u64::from(low)).to_le_bytes();
    let picked = [0, 4, 8, 12].map(|at| {
        let nibble = selector >> at;
        let byte = bytes[(nibble & 7) as usize];
        match nibble & 8 {
            0 => byte,
            _ => (byte.cast_signed() >> 7).cast_unsigned(),
        }
    });
    u32::from_le_bytes(picked)
}

/// The upper word of `high:low`, shifted left by `shift` modulo 32.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{funnelshift_l, funnelshift_r};
///
/// assert_eq!(funnelshift_l(0x8765_4321, 0xfedc_ba98, 8), 0xdcba_9887);
/// assert_eq!(funnelshift_r(0x8765_4321, 0xfedc_ba98, 8), 0x9887_6543);
/// ```
pub fn funnelshift_l(low: u32, high: u32, shift: u32) -> u32 {
    ((u64::from(high) << 32 | u64::from(low)) << (shift % 32) >> 32) as u32
}

/// The lower word of `high:low`, shifted right by `shift` modulo 32.
pub fn funnelshift_r(low: u32, high: u32, shift: u32) -> u32 {
    ((u64::from(high) << 32 | u64::from(low)) >> (shift % 32)) as u32
}

/// An integer whose four bytes can be multiplied separately: `i32` and `u32`.
///
/// Sealed: it is for types with [`ScalarType`] alone.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::{Bytes4, dp4a};
///
/// fn squares<T: Bytes4 + Default>(bytes: T) -> T {
///     dp4a(bytes, bytes, T::default())
/// }
/// assert_eq!((squares(0x0102_0304_u32), squares(-1_i32)), (30, 4));
/// ```
pub trait Bytes4: BitWord {
    #[doc(hidden)]
    #[must_use]
    fn dot(self, other: Self, sum: Self) -> Self;
}

impl Bytes4 for u32 {
    fn dot(self, other: Self, sum: Self) -> Self {
        let products = self.to_le_bytes().into_iter().zip(other.to_le_bytes());
        products.fold(sum, |sum, (a, b)| sum.wrapping_add(u32::from(a) * u32::from(b)))
    }
}

impl Bytes4 for i32 {
    fn dot(self, other: Self, sum: Self) -> Self {
        let products = self.to_le_bytes().into_iter().zip(other.to_le_bytes());
        products.fold(sum, |sum, (a, b)| sum.wrapping_add(i32::from(a as i8) * i32::from(b as i8)))
    }
}

/// The dot product of the four bytes of `a` and `b`, added to `sum`; the bytes are signed if the type is.
///
/// # Examples
///
/// ```
/// use cuda_jit::device::dp4a;
///
/// assert_eq!(dp4a(0x0102_0304_u32, 0x0101_0101, 100), 110);
/// assert_eq!(dp4a(-1_i32, 0x0203_0405, 0), -14);
/// ```
pub fn dp4a<T: Bytes4>(a: T, b: T, sum: T) -> T {
    a.dot(b, sum)
}

calls! {
    <T: ScalarType> popc(T) -> u32 => Intrinsic::Bits(UnaryOp::CountOnes);
    <T: ScalarType> clz(T) -> u32 => Intrinsic::Bits(UnaryOp::LeadingZeros);
    <T: ScalarType> ffs(T) -> u32 => Intrinsic::FindFirstSet;
    <T: ScalarType> brev(T) -> T => Intrinsic::Bits(UnaryOp::ReverseBits);
    byte_perm(u32, u32, u32) -> u32 => Intrinsic::Ternary(TernaryOp::BytePerm);
    funnelshift_l(u32, u32, u32) -> u32 => Intrinsic::Ternary(TernaryOp::FunnelLeft);
    funnelshift_r(u32, u32, u32) -> u32 => Intrinsic::Ternary(TernaryOp::FunnelRight);
    <T: ScalarType> dp4a(T, T, T) -> T => Intrinsic::Ternary(TernaryOp::DotBytes);
}
