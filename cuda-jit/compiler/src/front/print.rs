//! `printf!`: lowers Rust's format pieces to a format of C's `vprintf` and its arguments.

use super::builder::Builder;
use super::format_args::Part;
use super::function::{Lowering, Result};
use super::range::unsigned;
use super::types::Val;
use crate::kir::{CompareOp, Op, Scalar, Space, Type, UnaryOp, Value};
use crate::libcalls::{significant, write_digits};
use crate::syntax::{Conversion, Expr, Form, Piece, Pos};
use crate::typeinfo::{DeviceFn, Memory, Ty};

/// The buffer size for every 128-bit number: 128 binary digits and a terminating zero.
const WIDEST: u64 = 129;
/// The largest number of arguments of `vprintf`.
const MOST_VALUES: usize = 32;

impl Lowering<'_> {
    /// Lowers `printf!(pieces, args)`: every argument is evaluated once, in order.
    pub(super) fn print(&mut self, at: Pos, pieces: &'static [Piece], args: &'static [Expr]) -> Result<Val> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            let ty = self.ty_of(arg);
            values.push((arg.0, self.operand_in_place(arg, ty.as_ref())?));
        }
        let parts = self.format_parts(pieces, &values)?;
        if Part::values(&parts) > MOST_VALUES {
            return Err(self.error(at, format!("a device prints at most {MOST_VALUES} values at once")));
        }
        self.each_case(at, parts, &mut |lowering, parts| lowering.print_parts(at, parts))?;
        Ok(Val::unit())
    }

    fn print_parts(&mut self, at: Pos, parts: &[Part]) -> Result<()> {
        let (mut format, mut passed) = (String::new(), Vec::new());
        for part in parts {
            match part {
                Part::Text(text) => format.push_str(&text.replace('%', "%%")),
                Part::Value(value, scalar, conversion) => {
                    format.push_str(&conversion_of(*conversion, *scalar));
                    passed.push(match is_written(*conversion, *scalar) {
                        true => self.digits(at, *value, *scalar, *conversion)?,
                        false => self.build.promoted(*value, *scalar, *conversion),
                    });
                }
                Part::Choice(..) => {}
            }
        }
        self.build.effect(Op::Print(format.into(), passed));
        Ok(())
    }

    /// Writes a number for which `vprintf` has no conversion to a local buffer; returns the address of its first digit.
    fn digits(&mut self, at: Pos, value: Value, scalar: Scalar, conversion: Conversion) -> Result<Value> {
        let Conversion { form, plus, zeros, width, .. } = conversion;
        let (base, upper) = match form {
            Form::LowerHex => (16, false),
            Form::UpperHex => (16, true),
            Form::Octal => (8, false),
            Form::Binary => (2, false),
            _ => (10, false),
        };
        let (wide, zero, narrow) = (Scalar::U128, self.build.constant(scalar, 0), unsigned(scalar));
        let plus = self.build.constant(Scalar::U8, if plus { u64::from(b'+') } else { 0 });
        let (magnitude, sign) = match base {
            10 if scalar.is_signed() => {
                let negative = self.build.compare(CompareOp::Lt, value, zero);
                let minus = self.build.constant(Scalar::U8, u64::from(b'-'));
                (
                    self.build.unary_value(UnaryOp::Abs, value, scalar),
                    self.build.select(negative, minus, plus, Scalar::U8),
                )
            }
            _ => (value, plus),
        };
        let magnitude = self.build.cast_value(magnitude, scalar, narrow);
        let magnitude = self.build.cast_value(magnitude, narrow, wide);
        let width = if zeros { u64::from(width.saturating_sub(before(conversion).len() as u32)) } else { 0 };
        let (byte, len) = (Ty::Scalar(Scalar::U8), WIDEST.max(width + 2));
        let text = self.build.new_array("digits", &Ty::Array(Box::new(byte.clone()), len)).only();
        let [base, width, len] = [base, width, len].map(|number| self.build.constant(Scalar::U64, number));
        let upper = self.build.constant(Scalar::Bool, upper.into());
        let arguments = vec![
            Val::scalar(wide, magnitude),
            Val::scalar(Scalar::U8, sign),
            Val { ty: Ty::Tuple(vec![Ty::INDEX, Ty::Scalar(Scalar::Bool)]), leaves: vec![base, upper] },
            Val::scalar(Scalar::U64, width),
            Val { ty: Ty::Slice(Box::new(byte), Memory::Write(Space::Local)), leaves: vec![text, len] },
        ];
        let start = self.call_instance(at, &write_digits::instance(), arguments)?.only();
        Ok(self.build.value(Op::Offset(text, start), Type::Ptr(Space::Local, Scalar::U8.into())))
    }
}

impl Builder {
    /// Promotes a value for `vprintf`: integers to at least 32 bits, floats to `f64`, hexadecimal digits to unsigned.
    fn promoted(&mut self, value: Value, scalar: Scalar, Conversion { form, plus, .. }: Conversion) -> Value {
        let unsigned = match scalar {
            Scalar::I8 => Scalar::U8,
            Scalar::I16 => Scalar::U16,
            Scalar::I32 => Scalar::U32,
            Scalar::I64 => Scalar::U64,
            other => other,
        };
        let (value, scalar) = match form {
            Form::LowerHex | Form::UpperHex | Form::Octal => (self.cast_value(value, scalar, unsigned), unsigned),
            _ => (value, scalar),
        };
        let wide = match scalar {
            Scalar::F32 | Scalar::F16 | Scalar::Bf16 => Scalar::F64,
            Scalar::I8 | Scalar::I16 => Scalar::I32,
            Scalar::U8 | Scalar::U16 | Scalar::U32 if plus => Scalar::I64,
            Scalar::U8 | Scalar::U16 => Scalar::U32,
            other => other,
        };
        self.cast_value(value, scalar, wide)
    }
}

/// The prefix that `#` writes.
fn before(conversion: Conversion) -> &'static str {
    match (conversion.prefix, conversion.form) {
        (true, Form::Octal) => "0o",
        (true, Form::Binary) => "0b",
        (true, _) => "0x",
        _ => "",
    }
}

/// Returns true if C has no conversion for a number, so that the thread writes the digits itself.
fn is_written(Conversion { form, plus, .. }: Conversion, scalar: Scalar) -> bool {
    scalar.is_integer() && (scalar.bits() == 128 || form == Form::Binary || plus && scalar == Scalar::U64)
}

/// C's conversion for a value of a type.
fn conversion_of(conversion: Conversion, scalar: Scalar) -> String {
    let Conversion { form, plus, left, zeros, width, precision, .. } = conversion;
    let own_text = scalar == Scalar::Bool || is_written(conversion, scalar);
    // C has no `+` for unsigned numbers
    let signed = plus && scalar.is_integer() && !scalar.is_signed();
    let (letter, upper) = match (form, scalar) {
        _ if own_text => ('s', false),
        (Form::LowerExp, _) => ('e', false),
        (Form::UpperExp, _) => ('e', true),
        (Form::LowerHex, _) => ('x', false),
        (Form::UpperHex, _) => ('x', true),
        (Form::Octal, _) => ('o', false),
        (_, float) if float.is_float() => (if precision.is_some() { 'f' } else { 'g' }, false),
        (_, integer) => (if integer.is_signed() || signed { 'd' } else { 'u' }, false),
    };
    let precision = match (form, scalar) {
        (Form::Debug, float) if float.is_float() => precision.or(Some(significant(float))),
        _ => precision,
    };
    let before = before(conversion);
    let zeros = zeros && !own_text;
    let left = !zeros && left.unwrap_or(scalar == Scalar::Bool);
    let mut text = format!("{before}%{}", if plus && !own_text { "+" } else { "" });
    if width > 0 {
        text.push_str(if zeros { "0" } else { "" });
        text.push_str(if left { "-" } else { "" });
        text.push_str(&width.saturating_sub(before.len() as u32).max(1).to_string());
    }
    match precision {
        // integers have no precision in Rust
        Some(precision) if !scalar.is_integer() => text.push_str(&format!(".{precision}")),
        _ => {}
    }
    if !own_text && scalar.is_integer() && (scalar.bits() == 64 || signed) {
        text.push_str("ll");
    }
    text.push(if upper { letter.to_ascii_uppercase() } else { letter });
    text
}
