//! Helpers that round to narrow floating-point formats, exactly and in every mode.
//!
//! They are leaf functions on numbers that compiled code calls where there is no instruction. Each splits the exact
//! value into sign, integer significand and exponent, and rounds once.

/// A floating-point format of at most 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    F16,
    Bf16,
    /// Saturating: there is no infinity, and values that are too large become the largest number.
    E4m3,
    /// Saturating as PTX uses it, although the format has an infinity.
    E5m2,
}

/// The rounding mode. Compiled code passes these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Nearest = 0,
    Down = 1,
    Up = 2,
    Zero = 3,
    /// To nearest, ties away from zero.
    Away = 4,
}

/// Encodes format and mode as one number.
pub(crate) fn encode_mode(format: Format, mode: Mode) -> u32 {
    (format as u32) << 4 | mode as u32
}

struct Parameters {
    /// Bits of the significand, including the hidden one.
    precision: i32,
    /// Exponent of the last bit of subnormal numbers.
    least: i32,
    /// The largest finite number.
    largest: u32,
    /// The result for values that are too large.
    overflow: u32,
    sign: u32,
    nan: u32,
}

fn parameters(how: u32) -> Parameters {
    let (precision, least, largest, overflow, sign, nan) = match how >> 4 {
        0 => (11, -24, 0x7bff, 0x7c00, 1 << 15, 0x7fff),
        1 => (8, -133, 0x7f7f, 0x7f80, 1 << 15, 0x7fff),
        2 => (4, -9, 0x7e, 0x7e, 1 << 7, 0x7f),
        _ => (3, -16, 0x7b, 0x7b, 1 << 7, 0x7f),
    };
    Parameters { precision, least, largest, overflow, sign, nan }
}

/// Returns true if a value is rounded away from zero, given the bits that are cut off, in units of `1 << shift`.
fn goes_up(mode: u32, negative: bool, kept: u64, lost: u64, half: u64) -> bool {
    match mode & 7 {
        1 => negative && lost != 0,
        2 => !negative && lost != 0,
        3 => false,
        4 => lost >= half && lost != 0,
        _ => lost > half || (lost == half && lost != 0 && kept & 1 != 0),
    }
}

/// Rounds `significand * 2^exponent`.
fn round(negative: bool, significand: u64, exponent: i32, how: u32) -> u32 {
    let p = parameters(how);
    let sign = if negative { p.sign } else { 0 };
    if significand == 0 {
        return sign;
    }
    let length = 64 - significand.leading_zeros() as i32;
    // The exponent of the last bit that is kept.
    let last = (exponent + length - p.precision).max(p.least);
    let shift = last - exponent;
    let mut kept = match shift {
        64.. => 0,
        1.. => significand >> shift,
        _ => significand << -shift,
    };
    let (lost, half) = match shift {
        // All bits are below half of the last bit.
        65.. => (1, 2),
        64 => (significand, 1 << 63),
        1.. => (significand & ((1 << shift) - 1), 1 << (shift - 1)),
        _ => (0, 1),
    };
    kept += u64::from(goes_up(how, negative, kept, lost, half));
    // Subnormal numbers count up from 0; each exponent adds one to the bits above the significand.
    let field = i64::from(last - p.least) << (p.precision - 1);
    let bits = u64::try_from(field + kept as i64).unwrap_or(0);
    if bits <= u64::from(p.largest) {
        return sign | bits as u32;
    }
    let saturates = p.overflow == p.largest;
    let inward = matches!((how & 7, negative), (3, _) | (1, false) | (2, true));
    sign | if inward && !saturates { p.largest } else { p.overflow }
}

pub(crate) extern "C" fn from_f64(value: f64, how: u32) -> u32 {
    let p = parameters(how);
    if value.is_nan() {
        return p.nan;
    }
    if value.is_infinite() {
        return p.overflow | if value < 0.0 { p.sign } else { 0 };
    }
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let (significand, exponent) = if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
    round(value.is_sign_negative(), significand, exponent, how)
}

pub(super) extern "C" fn from_s64(value: i64, how: u32) -> u32 {
    round(value < 0, value.unsigned_abs(), 0, how)
}

pub(super) extern "C" fn from_u64(value: u64, how: u32) -> u32 {
    round(false, value, 0, how)
}

/// Rounds an `f32` to 10 bits of fraction; the other bits are 0.
pub(super) extern "C" fn tf32(bits: u32, mode: u32) -> u32 {
    let value = f32::from_bits(bits);
    if value.is_nan() {
        return 0x7fff_ffff;
    }
    if value.is_infinite() {
        return bits;
    }
    let (kept, lost) = (bits >> 13, bits & 0x1fff);
    let up = goes_up(mode, false, u64::from(kept), u64::from(lost), 0x1000);
    (kept + u32::from(up)) << 13
}

/// Returns the scale of a number: the code of a power of two, from 2^-127 on, that is the next one not smaller than its
/// magnitude, or not larger. Values out of range have the code `most`, NaN has 255.
pub(super) extern "C" fn scale(value: f32, up: u32, most: u32) -> u32 {
    if value.is_nan() {
        return 255;
    }
    let (magnitude, least) = (f64::from(value.abs()), f64::powi(2.0, -127));
    if magnitude <= least {
        return 0;
    }
    let bits = magnitude.to_bits();
    let lost = bits & ((1 << 52) - 1) != 0;
    let exponent = (bits >> 52) as u32 + u32::from(up != 0 && lost);
    (exponent + 127 - 1023).min(most)
}

/// Converts an 8-bit number to `f32`: `e4m3` for format 0, `e5m2` for 1.
pub(super) extern "C" fn widen_f8(byte: u32, format: u32) -> f32 {
    let (fraction_bits, bias) = if format == 0 { (3, 7) } else { (2, 15) };
    let (field, fraction) = (byte >> fraction_bits & ((0x80 >> fraction_bits) - 1), byte & ((1 << fraction_bits) - 1));
    let sign = if byte & 0x80 != 0 { -1.0 } else { 1.0 };
    let special = match format {
        0 => byte & 0x7f == 0x7f,
        _ => field == 31,
    };
    if special {
        return if format != 0 && fraction == 0 { sign * f32::INFINITY } else { f32::NAN };
    }
    let (significand, exponent) =
        if field == 0 { (fraction, 1 - bias) } else { (fraction | 1 << fraction_bits, field as i32 - bias) };
    sign * significand as f32 * f32::powi(2.0, exponent - fraction_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_in_every_mode() {
        let f16 = |value, mode| from_f64(value, encode_mode(Format::F16, mode));
        assert_eq!(f16(1.0, Mode::Nearest), 0x3c00);
        assert_eq!(f16(65504.0, Mode::Nearest), 0x7bff);
        assert_eq!(f16(65519.9, Mode::Nearest), 0x7bff);
        assert_eq!(f16(65520.0, Mode::Nearest), 0x7c00);
        assert_eq!(f16(1e10, Mode::Zero), 0x7bff);
        assert_eq!(f16(-1e10, Mode::Up), 0xfbff);
        assert_eq!(f16(2f64.powi(-25), Mode::Nearest), 0);
        assert_eq!(f16(2f64.powi(-25) * 1.0001, Mode::Nearest), 1);
        assert_eq!(f16(-1e-300, Mode::Down), 0x8001);
        assert_eq!(from_u64(u64::MAX, encode_mode(Format::Bf16, Mode::Zero)), 0x5f7f);
        assert_eq!(from_u64(u64::MAX, encode_mode(Format::Bf16, Mode::Nearest)), 0x5f80);
        assert_eq!(from_s64(i64::MIN, encode_mode(Format::F16, Mode::Zero)), 0xfbff);
    }

    #[test]
    fn scales_are_exponents() {
        let (least, most) = (f32::powi(2.0, -127), f32::powi(2.0, 127));
        assert_eq!([scale(0.0, 1, 254), scale(-least, 1, 254), scale(least.next_up(), 1, 254)], [0, 0, 1]);
        assert_eq!([scale(1.0, 1, 254), scale(-1.5, 1, 254), scale(1.5, 0, 254)], [127, 128, 127]);
        assert_eq!([scale(most, 1, 255), scale(f32::MAX, 1, 254), scale(f32::MAX, 1, 255)], [254, 254, 255]);
        assert_eq!(
            [scale(f32::INFINITY, 0, 254), scale(f32::INFINITY, 0, 255), scale(f32::NAN, 0, 254)],
            [254, 255, 255]
        );
    }

    #[test]
    fn bytes_saturate_and_return() {
        assert_eq!(from_f64(1e9, encode_mode(Format::E4m3, Mode::Nearest)), 0x7e);
        assert_eq!(from_f64(f64::NEG_INFINITY, encode_mode(Format::E5m2, Mode::Nearest)), 0xfb);
        for byte in 0..=255u32 {
            for (index, format) in [(0, Format::E4m3), (1, Format::E5m2)] {
                let value = widen_f8(byte, index);
                if value.is_finite() {
                    assert_eq!(from_f64(f64::from(value), encode_mode(format, Mode::Nearest)), byte, "{value}");
                }
            }
        }
    }
}
