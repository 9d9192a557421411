//! `printf!` on the host: produces the text of a kernel's `printf!` with the standard library.
//!
//! Integers and `bool` print as in Rust. Floats print as C's `vprintf` prints them on the device: `%g` for `{}`, `%f` with
//! a precision, `%e` for `{:e}`. Only `write_digits` runs on a device, whose format string is built by the compiler's front
//! end.

use std::fmt::Write;

use crate::device;
use crate::kir::Scalar;
use crate::syntax::{Conversion, Form};

/// A number or `bool`, as `printf!` prints it.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// `true` or `false`.
    Bool(bool),
    /// An integer: true if it is negative, its absolute value, and its bits as an unsigned number.
    Integer(bool, u128, u128),
    /// A float, and the number of significant digits that distinguishes any two of its type.
    Float(f64, u32),
}

/// A type that `{:?}` prints in a kernel, and that panic messages can contain: numbers, `bool`, tuples, arrays, `Option`
/// and `Result` of such, C-like enums.
///
/// Nothing unsafe relies on an implementation: only the host calls it.
#[diagnostic::on_unimplemented(
    message = "kernels print numbers, `bool`, tuples, arrays, `Option` and `Result` of such, and C-like enums, not `{Self}`",
    label = "print its fields, with one `{{}}` for each"
)]
pub trait PrintedDebug {
    /// The text.
    fn debug(&self, conversion: Conversion) -> String;
}

/// A type that `{}` prints in a kernel: numbers, `bool`, and references to them.
///
/// Nothing unsafe relies on an implementation: only the host calls it.
#[diagnostic::on_unimplemented(
    message = "`printf!` prints numbers and `bool`, not `{Self}`",
    label = "print its fields, with one `{{}}` for each, or `{{:?}}` of tuples, arrays, `Option` and enums"
)]
pub trait Printed: PrintedDebug {
    /// The number.
    fn number(&self) -> Number;
}

/// A type that `{:x}`, `{:X}` and `{:o}` print in a kernel.
///
/// Nothing unsafe relies on an implementation: only the host calls it.
#[diagnostic::on_unimplemented(
    message = "`{{:x}}`, `{{:X}}` and `{{:o}}` print integers, not `{Self}`",
    label = "write `{{}}`, or print the float's `to_bits()`"
)]
pub trait PrintedInteger: Printed {}

/// A type that `{:e}` and `{:E}` print in a kernel.
///
/// Nothing unsafe relies on an implementation: only the host calls it.
#[diagnostic::on_unimplemented(
    message = "`{{:e}}` and `{{:E}}` print floats, not `{Self}`",
    label = "write `{{}}`, or cast it `as f64`"
)]
pub trait PrintedFloat: Printed {}

macro_rules! numbers {
    ($ty:ty) => {
        impl PrintedDebug for $ty {
            fn debug(&self, conversion: Conversion) -> String {
                text(self.number(), conversion)
            }
        }
    };
}

macro_rules! integers {
    ($($ty:ident as $unsigned:ident)*) => { $(
        impl Printed for $ty {
            fn number(&self) -> Number {
                let signed = i128::try_from(*self);
                let magnitude = signed.map_or(*self as u128, i128::unsigned_abs);
                Number::Integer(signed.is_ok_and(i128::is_negative), magnitude, *self as $unsigned as u128)
            }
        }
        impl PrintedInteger for $ty {}
        numbers!($ty);
    )* };
}

integers! {
    i8 as u8 i16 as u16 i32 as u32 i64 as u64 i128 as u128 isize as u64
    u8 as u8 u16 as u16 u32 as u32 u64 as u64 u128 as u128 usize as u64
}

numbers!(bool);

impl Printed for bool {
    fn number(&self) -> Number {
        Number::Bool(*self)
    }
}

macro_rules! floats {
    ($($ty:ty => $scalar:ident;)*) => { $(
        impl Printed for $ty {
            fn number(&self) -> Number { Number::Float(f64::from(*self), significant(Scalar::$scalar)) }
        }
        impl PrintedFloat for $ty {}
        numbers!($ty);
    )* };
}

floats! {
    f32 => F32; f64 => F64; half::f16 => F16; half::bf16 => Bf16;
    // 8-bit floats are printed as the `f32` that they are converted to
    crate::e4m3 => F32; crate::e5m2 => F32; crate::e8m0 => F32;
}

macro_rules! references {
    ($($name:ident)*) => { $(
        impl<T: $name + ?Sized> $name for &T where Self: Printed {}
        impl<T: $name + ?Sized> $name for &mut T where Self: Printed {}
    )* };
}

references! { PrintedInteger PrintedFloat }

impl<T: Printed + ?Sized> Printed for &T {
    fn number(&self) -> Number {
        (**self).number()
    }
}

impl<T: Printed + ?Sized> Printed for &mut T {
    fn number(&self) -> Number {
        (**self).number()
    }
}

macro_rules! debug_value {
    ($(&$($mutable:ident)?)*) => { $(
        impl<T: PrintedDebug + ?Sized> PrintedDebug for &$($mutable)? T {
            fn debug(&self, conversion: Conversion) -> String {
                (**self).debug(conversion)
            }
        }
    )* };
    ($(($($name:ident $index:tt),*))*) => { $(
        impl<$($name: PrintedDebug),*> PrintedDebug for ($($name,)*) {
            fn debug(&self, _conversion: Conversion) -> String {
                let parts: &[String] = &[$(self.$index.debug(_conversion)),*];
                listed("(", parts, if parts.len() == 1 { ",)" } else { ")" })
            }
        }
    )* };
}

impl PrintedDebug for str {
    fn debug(&self, _: Conversion) -> String {
        self.to_owned()
    }
}

debug_value! { & }
debug_value! { &mut }
debug_value! {
    () (A 0) (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5) (A 0, B 1, C 2, D 3, E 4, F 5, G 6) (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}

impl<T: PrintedDebug, const N: usize> PrintedDebug for [T; N] {
    fn debug(&self, conversion: Conversion) -> String {
        let elements: Vec<String> = self.iter().map(|element| element.debug(conversion)).collect();
        listed("[", &elements, "]")
    }
}

impl<T: PrintedDebug> PrintedDebug for Option<T> {
    fn debug(&self, conversion: Conversion) -> String {
        self.as_ref().map_or_else(|| "None".to_owned(), |held| format!("Some({})", held.debug(conversion)))
    }
}

impl<T: PrintedDebug, E: PrintedDebug> PrintedDebug for Result<T, E> {
    fn debug(&self, conversion: Conversion) -> String {
        match self {
            Ok(value) => format!("Ok({})", value.debug(conversion)),
            Err(error) => format!("Err({})", error.debug(conversion)),
        }
    }
}

impl PrintedDebug for std::array::TryFromSliceError {
    fn debug(&self, _: Conversion) -> String {
        format!("{self:?}")
    }
}

impl PrintedDebug for std::num::TryFromIntError {
    fn debug(&self, _: Conversion) -> String {
        format!("{self:?}")
    }
}

impl PrintedDebug for std::cmp::Ordering {
    fn debug(&self, _: Conversion) -> String {
        format!("{self:?}")
    }
}

impl PrintedDebug for device::Dim3 {
    fn debug(&self, conversion: Conversion) -> String {
        let [x, y, z] = [self.x, self.y, self.z].map(|extent| extent.debug(conversion));
        format!("Dim3 {{ x: {x}, y: {y}, z: {z} }}")
    }
}

/// Joins texts with commas.
fn listed(begin: &str, texts: &[String], end: &str) -> String {
    format!("{begin}{}{end}", texts.join(", "))
}

/// In the typing probe: checks that a value of a panic's message is printable.
pub fn printable<T: PrintedDebug>(value: &T) -> &T {
    value
}

/// In the probe of a device library function: a value that a panic's message contains if kernels print values of its type.
pub fn debug_value<T: std::fmt::Debug>(value: &T) -> &T {
    value
}

/// Writes a number's digits in a base at the end of a text, padded with zeros to `width` and followed by a NUL; returns
/// where they begin. The device uses it for conversions that `vprintf` lacks. A `sign` of 0 is omitted.
#[device]
pub fn write_digits(magnitude: u128, sign: u8, (base, upper): (usize, bool), width: usize, text: &mut [u8]) -> usize {
    let end = text.len() - 1;
    let (mut start, mut rest) = (end, magnitude);
    text[end] = 0;
    while rest != 0 || start == end || end - start + ((sign != 0) as usize) < width {
        let digit = (rest % base as u128) as u8;
        rest /= base as u128;
        start -= 1;
        let letter = if upper { b'A' } else { b'a' };
        text[start] = if digit < 10 { b'0' + digit } else { letter - 10 + digit };
    }
    if sign != 0 {
        start -= 1;
        text[start] = sign;
    }
    start
}

/// The number of significant digits that distinguishes any two floats of a type.
pub fn significant(float: Scalar) -> u32 {
    // the decimal digits of this number of bits, plus one for a partial digit and one for the remainder
    (float.fraction_bits() + 1) * 30_103 / 100_000 + 2
}

/// The precision of a float if none is given: C's default.
const DIGITS: u32 = 6;

/// The text of `{:?}`.
pub fn debug<T: PrintedDebug>(value: &T, conversion: Conversion) -> String {
    value.debug(conversion)
}

/// The text of `{}`.
pub fn plain<T: Printed>(value: &T, conversion: Conversion) -> String {
    text(value.number(), conversion)
}

/// The text of `{:x}`, `{:X}` or `{:o}`.
pub fn digits<T: PrintedInteger>(value: &T, conversion: Conversion) -> String {
    text(value.number(), conversion)
}

/// The text of `{:e}` or `{:E}`.
pub fn exponent<T: PrintedFloat>(value: &T, conversion: Conversion) -> String {
    text(value.number(), conversion)
}

fn text(number: Number, conversion: Conversion) -> String {
    let Conversion { form, plus, prefix, left, zeros, width, precision } = conversion;
    let positive = if plus { "+" } else { "" };
    match number {
        Number::Bool(value) => {
            let most = precision.map_or(usize::MAX, |precision| precision as usize);
            let text: String = value.to_string().chars().take(most).collect();
            pad("", &text, left.unwrap_or(true), false, width)
        }
        Number::Integer(negative, magnitude, bits) => {
            let (sign, digits) = match form {
                Form::LowerHex => (if prefix { "0x" } else { "" }, format!("{bits:x}")),
                Form::UpperHex => (if prefix { "0x" } else { "" }, format!("{bits:X}")),
                Form::Octal => (if prefix { "0o" } else { "" }, format!("{bits:o}")),
                Form::Binary => (if prefix { "0b" } else { "" }, format!("{bits:b}")),
                _ => (if negative { "-" } else { positive }, magnitude.to_string()),
            };
            pad(sign, &digits, left.unwrap_or(false), zeros, width)
        }
        Number::Float(value, exact) => {
            let sign = if value.is_sign_negative() { "-" } else { positive };
            let digits = float(value.abs(), form, precision, exact);
            pad(sign, &digits, !zeros && left.unwrap_or(false), zeros && value.is_finite(), width)
        }
    }
}

/// The text of a non-negative float.
fn float(value: f64, form: Form, precision: Option<u32>, exact: u32) -> String {
    if !value.is_finite() {
        let text = if value.is_nan() { "nan" } else { "inf" };
        return if form == Form::UpperExp { text.to_uppercase() } else { text.to_owned() };
    }
    match (form, precision) {
        (Form::LowerExp, precision) => scientific(value, precision.unwrap_or(DIGITS) as usize),
        (Form::UpperExp, precision) => scientific(value, precision.unwrap_or(DIGITS) as usize).to_uppercase(),
        (_, Some(precision)) => format!("{value:.*}", precision as usize),
        (Form::Debug, None) => general(value, exact as i32),
        (_, None) => general(value, DIGITS as i32),
    }
}

/// C's `%.Ne`: an exponent has a sign and at least two digits.
fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{mantissa}e{sign}{exponent:0>2}")
}

/// C's `%.Ng`: fixed or with an exponent, whichever is shorter, without zeros at the end.
fn general(value: f64, digits: i32) -> String {
    let scientific = scientific(value, digits as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = exponent.parse().unwrap_or_default();
    if power < -4 || power >= digits {
        return format!("{}e{exponent}", without_zeros(mantissa));
    }
    without_zeros(&format!("{value:.*}", (digits - 1 - power) as usize)).to_owned()
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A number's text with its sign, padded to `width` characters.
pub fn pad(sign: &str, digits: &str, left: bool, zeros: bool, width: u32) -> String {
    let missing = (width as usize).saturating_sub(sign.len() + digits.len());
    let (blank, zero) = if zeros { (0, missing) } else { (missing, 0) };
    let (before, behind) = if left { (0, blank) } else { (blank, 0) };
    let mut text = String::with_capacity(width as usize);
    let written = write!(text, "{:before$}{sign}{:0<zero$}{digits}{:behind$}", "", "", "");
    written.map_or_else(|_| String::new(), |()| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Conversion = Conversion {
        form: Form::Plain,
        plus: false,
        prefix: false,
        left: None,
        zeros: false,
        width: 0,
        precision: None,
    };

    #[test]
    fn integers_print_as_rust_prints_them() {
        let hex = Conversion { form: Form::LowerHex, ..PLAIN };
        assert_eq!(plain(&-7, PLAIN), format!("{}", -7));
        assert_eq!(plain(&-7, Conversion { width: 5, ..PLAIN }), format!("{:5}", -7));
        assert_eq!(plain(&-7, Conversion { width: 5, left: Some(true), ..PLAIN }), format!("{:<5}", -7));
        assert_eq!(plain(&-7, Conversion { width: 5, zeros: true, ..PLAIN }), format!("{:05}", -7));
        assert_eq!(digits(&-7_i8, hex), format!("{:x}", -7_i8));
        let prefix = Conversion { prefix: true, width: 10, zeros: true, ..hex };
        assert_eq!(digits(&255, prefix), format!("{:#010x}", 255));
        assert_eq!(plain(&true, Conversion { width: 6, ..PLAIN }), format!("{:6}", true));
        assert_eq!(plain(&true, Conversion { precision: Some(2), ..PLAIN }), format!("{:.2}", true));
        assert_eq!(plain(&u64::MAX, PLAIN), u64::MAX.to_string());
        assert_eq!(plain(&i128::MIN, PLAIN), i128::MIN.to_string());
        let plus = Conversion { plus: true, width: 6, zeros: true, ..PLAIN };
        assert_eq!([plain(&7u8, plus), plain(&-7, plus)], [format!("{:+06}", 7u8), format!("{:+06}", -7)]);
        let binary = Conversion { form: Form::Binary, prefix: true, width: 14, zeros: true, ..PLAIN };
        assert_eq!(digits(&-7_i8, binary), format!("{:#014b}", -7_i8));
        assert_eq!(digits(&u128::MAX, hex), format!("{:x}", u128::MAX));
    }

    #[test]
    fn floats_print_as_c_prints_them() {
        let shown = [0.0, 1.0, 0.1, 1e20, 123456.0, 1234567.0, 0.0001, 0.00001, f64::NAN, f64::INFINITY, -2.5];
        let texts = shown.map(|value| plain(&value, PLAIN));
        let c = ["0", "1", "0.1", "1e+20", "123456", "1.23457e+06", "0.0001", "1e-05", "nan", "inf", "-2.5"];
        assert_eq!(texts, c);
        assert_eq!(plain(&0.1_f32, Conversion { form: Form::Debug, ..PLAIN }), "0.100000001");
        assert_eq!(plain(&2.0_f32, Conversion { precision: Some(3), width: 8, zeros: true, ..PLAIN }), "0002.000");
        assert_eq!(exponent(&1500.0, Conversion { form: Form::LowerExp, ..PLAIN }), "1.500000e+03");
        assert_eq!(exponent(&1e-300, Conversion { form: Form::UpperExp, precision: Some(1), ..PLAIN }), "1.0E-300");
        assert_eq!(plain(&f32::INFINITY, Conversion { width: 6, zeros: true, ..PLAIN }), "   inf");
    }
}
