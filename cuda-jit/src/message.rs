//! Panic messages: a site's message with the values from the record, formatted by the standard library.

use std::fmt::Write;

use crate::kir::Scalar;
use cuda_jit_lang::print::pad;

/// Renders a site's message with its arguments. `{0}` is an unsigned number, `{0i}` a signed one, `{0:f32:08.3}` one of
/// that type in Rust's format; doubled braces are literal.
pub(crate) fn render(message: &str, args: &[u64]) -> String {
    let mut text = String::with_capacity(message.len() + 16);
    let mut rest = message;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let tail = &rest[at..];
        if let Some(doubled) = ["{{", "}}"].into_iter().find(|doubled| tail.starts_with(doubled)) {
            text.push_str(&doubled[..1]);
            rest = &tail[2..];
            continue;
        }
        let hole = tail
            .find('}')
            .filter(|_| tail.starts_with('{'))
            .and_then(|end| Some((end, argument(&tail[1..end], args)?)));
        let (length, value) = hole.map_or((1, tail[..1].to_owned()), |(end, value)| (end + 1, value));
        text.push_str(&value);
        rest = &tail[length..];
    }
    text.push_str(rest);
    text
}

/// The text of an argument.
fn argument(hole: &str, args: &[u64]) -> Option<String> {
    let mut parts = hole.splitn(3, ':');
    let (number, scalar, spec) = (parts.next()?, parts.next(), parts.next().unwrap_or_default());
    let (number, signed) = number.strip_suffix('i').map_or((number, false), |number| (number, true));
    let bits = *args.get(number.parse::<usize>().ok()?)?;
    let scalar = match scalar {
        Some(name) => Scalar::ALL.into_iter().find(|scalar| scalar.name() == name)?,
        None if signed => Scalar::I64,
        None => Scalar::U64,
    };
    Some(formatted(scalar, bits, spec))
}

/// A value in Rust's format `[<|>][+][#][0][width][.precision][form]`.
fn formatted(scalar: Scalar, bits: u64, spec: &str) -> String {
    let left = spec.starts_with('<');
    let (aligned, spec) = (spec.starts_with(['<', '>']), spec.trim_start_matches(['<', '>']));
    let (plus, spec) = spec.strip_prefix('+').map_or((false, spec), |spec| (true, spec));
    let (prefix, spec) = spec.strip_prefix('#').map_or((false, spec), |spec| (true, spec));
    let (zeros, spec) = spec.strip_prefix('0').map_or((false, spec), |spec| (true, spec));
    let (width, spec) = number(spec);
    let (precision, form) = spec.strip_prefix('.').map_or((None, spec), |spec| {
        let (precision, form) = number(spec);
        (Some(precision), form)
    });
    let plain = match scalar {
        Scalar::Bool => (bits != 0).to_string().chars().take(precision.unwrap_or(usize::MAX)).collect(),
        Scalar::F64 => float(f64::from_bits(bits), precision, form),
        Scalar::F32 => float(f32::from_bits(bits as u32), precision, form),
        Scalar::F16 => float(half::f16::from_bits(bits as u16).to_f32(), precision, form),
        Scalar::Bf16 => float(half::bf16::from_bits(bits as u16).to_f32(), precision, form),
        integer => self::integer(integer, bits, form),
    };
    let base = match form {
        "x" | "X" if prefix => "0x",
        "o" if prefix => "0o",
        "b" if prefix => "0b",
        _ if plus && scalar != Scalar::Bool && plain != "NaN" => "+",
        _ => "",
    };
    let (sign, digits) = plain.strip_prefix('-').map_or((base, &*plain), |digits| ("-", digits));
    let left = if aligned { left } else { scalar == Scalar::Bool };
    let zeros = zeros && scalar != Scalar::Bool;
    pad(sign, digits, left && !zeros, zeros, width as u32)
}

/// Parses a number at the beginning of a text, or 0; also returns the rest.
fn number(text: &str) -> (usize, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].parse().unwrap_or_default(), &text[end..])
}

fn float<T: std::fmt::Display + std::fmt::Debug + std::fmt::LowerExp + std::fmt::UpperExp>(
    value: T,
    precision: Option<usize>,
    form: &str,
) -> String {
    let mut text = String::new();
    let written = match (form, precision) {
        ("?", None) => write!(text, "{value:?}"),
        ("?", Some(digits)) => write!(text, "{value:.digits$?}"),
        ("e", None) => write!(text, "{value:e}"),
        ("e", Some(digits)) => write!(text, "{value:.digits$e}"),
        ("E", None) => write!(text, "{value:E}"),
        ("E", Some(digits)) => write!(text, "{value:.digits$E}"),
        (_, None) => write!(text, "{value}"),
        (_, Some(digits)) => write!(text, "{value:.digits$}"),
    };
    written.map_or_else(|_| String::new(), |()| text)
}

fn integer(scalar: Scalar, bits: u64, form: &str) -> String {
    let unused = 64 - scalar.bits();
    let unsigned = bits << unused >> unused;
    match form {
        "x" => format!("{unsigned:x}"),
        "X" => format!("{unsigned:X}"),
        "o" => format!("{unsigned:o}"),
        "b" => format!("{unsigned:b}"),
        _ if scalar.is_signed() => ((bits << unused).cast_signed() >> unused).to_string(),
        _ => unsigned.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_take_their_arguments() {
        assert_eq!(render("index {0} of {1}", &[7, 5]), "index 7 of 5");
        assert_eq!(render("{1i} is not {0i}", &[u64::MAX, 3]), "3 is not -1");
        assert_eq!(render("assertion failed: {{ x }} > {0", &[1, 2]), "assertion failed: { x } > {0");
        assert_eq!(render("{7} {x} {}", &[1, 2]), "{7} {x} {}");
    }

    #[test]
    fn values_are_formatted_as_rust_does() {
        let one = |scalar: &str, bits: u64, spec: &str| render(&format!("{{0:{scalar}:{spec}}}"), &[bits]);
        let (x, y) = (-1.5f32, 1e21f64);
        assert_eq!(one("f32", x.to_bits().into(), ""), format!("{x}"));
        assert_eq!(one("f32", x.to_bits().into(), "?"), format!("{x:?}"));
        assert_eq!(one("f32", x.to_bits().into(), "08.3"), format!("{x:08.3}"));
        assert_eq!(one("f32", x.to_bits().into(), "<9.1?"), format!("{x:<9.1?}"));
        assert_eq!(one("f64", y.to_bits(), ""), format!("{y}"));
        assert_eq!(one("f64", y.to_bits(), "?"), format!("{y:?}"));
        assert_eq!(one("f64", y.to_bits(), "12.2e"), format!("{y:12.2e}"));
        assert_eq!(one("f64", f64::NAN.to_bits(), "06"), format!("{:06}", f64::NAN));
        assert_eq!(one("f64", f64::INFINITY.to_bits(), "06"), format!("{:06}", f64::INFINITY));
        assert_eq!(one("f16", half::f16::from_f32(0.1).to_bits().into(), ".3"), "0.100");
        assert_eq!(one("i16", 0xffff, "5"), format!("{:5}", -1i16));
        assert_eq!(one("i16", 0xffff, "#010x"), format!("{:#010x}", -1i16));
        assert_eq!(one("u8", 0xab, "X"), format!("{:X}", 0xabu8));
        assert_eq!(one("i16", 7, "+06"), format!("{:+06}", 7i16));
        assert_eq!(one("f32", 1.5f32.to_bits().into(), "+.2"), format!("{:+.2}", 1.5f32));
        assert_eq!(one("f64", f64::NAN.to_bits(), "+"), format!("{:+}", f64::NAN));
        assert_eq!(one("i8", 0xf9, "#012b"), format!("{:#012b}", -7i8));
        assert_eq!(one("u64", u64::MAX, "#o"), format!("{:#o}", u64::MAX));
        assert_eq!(one("bool", 1, "6"), format!("{:6}", true));
        assert_eq!(one("bool", 0, ">6.2"), format!("{:>6.2}", false));
    }
}
