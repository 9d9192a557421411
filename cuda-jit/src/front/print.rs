//! `printf!`: from Rust's pieces and rustc's types to a format of C's `vprintf` and the values for it.

use super::function::{Lowering, Result};
use super::types::Val;
use crate::harvest::{DeviceFn, Memory, Ty};
use crate::kir::{CompareOp, Op, Scalar, Space, Type, UnaryOp, Value};
use crate::print::{self, significant};
use crate::syntax::{Conversion, Expr, Form, Piece, Pos};
use crate::types::widening;

/// So many bytes hold every number of 128 bits: 43 octal digits, or 39 decimal ones with a sign, and the zero at the end.
const WIDEST: u64 = 44;

impl Lowering<'_> {
    /// `printf!(pieces, args)`: every argument is evaluated once, in order.
    pub(super) fn print(&mut self, pieces: &'static [Piece], args: &'static [Expr]) -> Result<Val> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            let mut value = self.operand(arg, None)?;
            if let Ty::Struct(of) = &value.ty
                && let Some(widening) = widening(of.name)
            {
                value = self.call_instance(arg.0, &widening, vec![value.clone()])?;
            }
            let scalar = self.number(arg.0, &value)?;
            values.push((arg.0, value.only(), scalar));
        }
        let (mut format, mut passed) = (String::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Text(text) => format.push_str(&text.replace('%', "%%")),
                Piece::Value(index, conversion) => {
                    let (at, value, scalar) = values[*index as usize];
                    format.push_str(&conversion_of(*conversion, scalar));
                    passed.push(match scalar.bits() {
                        128 => self.digits(at, value, scalar, *conversion)?,
                        _ => self.promoted(value, scalar, conversion.form),
                    });
                }
            }
        }
        self.build.effect(Op::Print(format.into(), passed));
        Ok(Val::unit())
    }

    /// The text of a number that `vprintf` has no conversion for, which the thread writes itself: where it begins.
    fn digits(&mut self, at: Pos, value: Value, scalar: Scalar, conversion: Conversion) -> Result<Value> {
        let Conversion { form, zeros, width, .. } = conversion;
        let (base, upper) = match form {
            Form::LowerHex => (16, false),
            Form::UpperHex => (16, true),
            Form::Octal => (8, false),
            _ => (10, false),
        };
        let (wide, zero) = (Scalar::U128, self.constant(scalar, 0));
        let (magnitude, negative) = match base {
            10 if scalar.is_signed() => {
                (self.unary_value(UnaryOp::Abs, value, scalar), self.compare(CompareOp::Lt, value, zero))
            }
            _ => (value, self.constant(Scalar::Bool, 0)),
        };
        let magnitude = self.cast_value(magnitude, scalar, wide);
        let width = if zeros { u64::from(width.saturating_sub(before(conversion).len() as u32)) } else { 0 };
        let (byte, len) = (Ty::Scalar(Scalar::U8), WIDEST.max(width + 2));
        let text = self.new_array("digits", &Ty::Array(Box::new(byte.clone()), len)).only();
        let [base, width, len] = [base, width, len].map(|number| self.constant(Scalar::U64, number));
        let upper = self.constant(Scalar::Bool, upper.into());
        let arguments = vec![
            Val::scalar(wide, magnitude),
            Val::scalar(Scalar::Bool, negative),
            Val { ty: Ty::Tuple(vec![Ty::INDEX, Ty::Scalar(Scalar::Bool)]), leaves: vec![base, upper] },
            Val::scalar(Scalar::U64, width),
            Val { ty: Ty::Slice(Box::new(byte), Memory::Write(Space::Local)), leaves: vec![text, len] },
        ];
        let start = self.call_instance(at, &print::write_digits::instance(), arguments)?.only();
        Ok(self.build.value(Op::Offset(text, start), Type::Ptr(Space::Local, Scalar::U8.into())))
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

/// What `#` writes before the digits.
fn before(conversion: Conversion) -> &'static str {
    match (conversion.prefix, conversion.form) {
        (true, Form::Octal) => "0o",
        (true, _) => "0x",
        _ => "",
    }
}

/// The conversion of C's that writes a value of a type.
fn conversion_of(conversion: Conversion, scalar: Scalar) -> String {
    let Conversion { form, left, zeros, width, precision, .. } = conversion;
    let own_text = matches!(scalar, Scalar::Bool | Scalar::I128 | Scalar::U128);
    let (letter, upper) = match (form, scalar) {
        _ if own_text => ('s', false),
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
    let before = before(conversion);
    let zeros = zeros && !own_text;
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
