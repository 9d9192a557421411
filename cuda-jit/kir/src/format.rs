//! The formats of [`Op::Print`](super::Op::Print): C's, of which only what a value's type decides is let through.

use super::Scalar;

/// What a conversion of a format takes.
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
    /// `%s`: a `bool`, written as `true` or `false`; or a pointer to `u8` in the thread's own memory, where a text begins
    /// that ends in a zero.
    Bool,
}

impl Printed {
    /// The type of the value that it takes.
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

/// The conversions of a format, in order; `None` if it is none of KIR's: a conversion is `%`, then `+` before what has a
/// sign, `-` or `0`, a width, `.` and a precision, each or none, and one of the letters of [`Printed`]. `%%` writes a `%`.
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

/// The conversion that a text begins with, behind its `%`, and the rest.
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
