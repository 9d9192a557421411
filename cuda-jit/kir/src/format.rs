//! The formats of [`Op::Print`](super::Op::Print): the subset of C's in which a value's type determines its conversion.

use super::Scalar;

/// The argument of a conversion.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Printed, Scalar};
///
/// assert_eq!(Printed::Float.scalar(), Scalar::F64);
/// assert_eq!(Printed::UnsignedLong.scalar(), Scalar::U64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// `%d`: an `i32`.
    Signed,
    /// `%u`, `%x`, `%X`, `%o`: a `u32`.
    Unsigned,
    /// `%lld`: an `i64`.
    SignedLong,
    /// `%llu`, `%llx`, `%llX`, `%llo`: a `u64`.
    UnsignedLong,
    /// `%f`, `%g`, `%e`, `%E`: an `f64`.
    Float,
    /// `%s`: a `bool`, printed as `true` or `false`; or a pointer to `u8` in local memory, to a zero-terminated text.
    Bool,
}

impl Printed {
    /// The type of the argument.
    pub fn scalar(self) -> Scalar {
        match self {
            Printed::Signed => Scalar::I32,
            Printed::Unsigned => Scalar::U32,
            Printed::SignedLong => Scalar::I64,
            Printed::UnsignedLong => Scalar::U64,
            Printed::Float => Scalar::F64,
            Printed::Bool => Scalar::Bool,
        }
    }
}

/// The conversions of a format, in order; `None` if the format is invalid: a conversion is `%`, then optionally `+` for
/// signed types, `-` or `0`, a width, `.` and a precision, and one of the letters of [`Printed`]. `%%` prints a `%`.
///
/// # Examples
///
/// ```
/// use cuda_jit_kir::{Printed, conversions};
///
/// assert_eq!(conversions("100 %% of %5d: %.3f\n"), Some(vec![Printed::Signed, Printed::Float]));
/// assert_eq!(conversions("%p"), None);
/// ```
pub fn conversions(format: &str) -> Option<Vec<Printed>> {
    let mut found = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let tail = &rest[at + 1..];
        if let Some(after) = tail.strip_prefix('%') {
            rest = after;
            continue;
        }
        let (printed, after) = conversion(tail)?;
        found.push(printed);
        rest = after;
    }
    (!format.contains('\0')).then_some(found)
}

/// Parses the conversion that a text starts with, after its `%`; returns the rest too.
fn conversion(text: &str) -> Option<(Printed, &str)> {
    const MOST_DIGITS: usize = 4;
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).filter(|&count| count <= MOST_DIGITS);
    let signed = text.starts_with('+');
    let text = text.strip_prefix('+').unwrap_or(text);
    let text = text.strip_prefix(['-', '0']).unwrap_or(text);
    let text = &text[digits(text)?..];
    let text = match text.strip_prefix('.') {
        Some(precision) => &precision[digits(precision)?..],
        None => text,
    };
    let (long, text) = match text.strip_prefix("ll") {
        Some(text) => (true, text),
        None => (false, text),
    };
    let mut chars = text.chars();
    let printed = match (chars.next()?, long) {
        ('d', false) => Printed::Signed,
        ('d', true) => Printed::SignedLong,
        ('f' | 'g' | 'e' | 'E', false) => Printed::Float,
        _ if signed => return None,
        ('u' | 'x' | 'X' | 'o', false) => Printed::Unsigned,
        ('u' | 'x' | 'X' | 'o', true) => Printed::UnsignedLong,
        ('s', false) => Printed::Bool,
        _ => return None,
    };
    Some((printed, chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        use Printed::{Bool, Float, Signed, Unsigned, UnsignedLong};
        let all = conversions("100%% %d, %-5u|%08.3f %.9g\n%0x%08llx %-6s");
        assert_eq!(all, Some(vec![Signed, Unsigned, Float, Float, Unsigned, UnsignedLong, Bool]));
        assert_eq!(conversions("é {}"), Some(Vec::new()));
        assert_eq!(conversions("%+-6d %+.2f"), Some(vec![Signed, Float]));
        for wrong in
            ["%", "%+u", "%+s", "%-+d", "100%", "%n", "%*d", "%ld", "%lls", "%12345d", "%5", "%5%", "%p", "\0", "%-.d%"]
        {
            assert_eq!(conversions(wrong), None, "{wrong:?}");
        }
    }
}
