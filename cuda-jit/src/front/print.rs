//! `printf!`: from Rust's pieces and rustc's types to a format of C's `vprintf` and the values for it.

use super::function::{Lowering, Result};
use super::types::Val;
use crate::kir::{Op, Scalar, Value};
use crate::print::significant;
use crate::syntax::{Conversion, Expr, Form, Piece};

impl Lowering<'_> {
    /// `printf!(pieces, args)`: every argument is evaluated once, in order.
    pub(super) fn print(&mut self, pieces: &'static [Piece], args: &'static [Expr]) -> Result<Val> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            let value = self.operand(arg, None)?;
            let scalar = self.number(arg.0, &value)?;
            values.push((value.only(), scalar));
        }
        let (mut format, mut passed) = (String::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Text(text) => format.push_str(&text.replace('%', "%%")),
                Piece::Value(index, conversion) => {
                    let (value, scalar) = values[*index as usize];
                    format.push_str(&conversion_of(*conversion, scalar));
                    passed.push(self.promoted(value, scalar, conversion.form));
                }
            }
        }
        self.build.effect(Op::Print(format.into(), passed));
        Ok(Val::unit())
    }

    /// A value as `vprintf` takes it: at least 32 bits wide, floats as `f64`, digits of hexadecimals without a sign.
    fn promoted(&mut self, value: Value, scalar: Scalar, form: Form) -> Value {
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
            Scalar::U8 | Scalar::U16 => Scalar::U32,
            other => other,
        };
        self.cast_value(value, scalar, wide)
    }
}

/// The conversion of C's that writes a value of a type.
fn conversion_of(conversion: Conversion, scalar: Scalar) -> String {
    let Conversion { form, prefix, left, zeros, width, precision } = conversion;
    let (letter, upper) = match (form, scalar) {
        (_, Scalar::Bool) => ('s', false),
        (Form::LowerExp, _) => ('e', false),
        (Form::UpperExp, _) => ('e', true),
        (Form::LowerHex, _) => ('x', false),
        (Form::UpperHex, _) => ('x', true),
        (Form::Octal, _) => ('o', false),
        (_, float) if float.is_float() => (if precision.is_some() { 'f' } else { 'g' }, false),
        (_, integer) => (if integer.is_signed() { 'd' } else { 'u' }, false),
    };
    let precision = match (form, scalar) {
        (Form::Debug, float) if float.is_float() => precision.or(Some(significant(float))),
        _ => precision,
    };
    let before = match (prefix, letter) {
        (true, 'x') => "0x",
        (true, _) => "0o",
        _ => "",
    };
    let zeros = zeros && scalar != Scalar::Bool;
    let left = !zeros && left.unwrap_or(scalar == Scalar::Bool);
    let mut text = format!("{before}%");
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
    if scalar.is_integer() && scalar.bits() == 64 {
        text.push_str("ll");
    }
    text.push(if upper { letter.to_ascii_uppercase() } else { letter });
    text
}
