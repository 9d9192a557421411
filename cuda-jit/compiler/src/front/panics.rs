//! Panicking macros: a test, and a panic with its message if the test fails. The message's arguments are evaluated only
//! then.

use super::builder::Builder;
use super::compare::{By, is_compared_by_parts};
use super::format_args::Part;
use super::function::{Lowering, Result};
use super::types::{Val, strip_refs};
use crate::kir::{Op, Scalar, Terminator, Value};
use crate::syntax::{BinaryOp, Conversion, Expr, Form, Message, Piece, Pos};
use crate::typeinfo::{Memory, Ty};

/// The largest number of values that a panic record holds.
const MOST_VALUES: usize = 8;

/// The format of the operands of a failed comparison.
const SIDE: Conversion =
    Conversion { form: Form::Debug, plus: false, prefix: false, left: None, zeros: false, width: 0, precision: None };

impl Lowering<'_> {
    /// Lowers `panic!(message)`.
    pub(super) fn panic_with(&mut self, at: Pos, message: &'static Message) -> Result<()> {
        let mut parts = Vec::new();
        self.push_message(&mut parts, message)?;
        self.panic_with_parts(at, parts)
    }

    /// Emits a panic with a message; one for each combination of choices in it.
    fn panic_with_parts(&mut self, at: Pos, parts: Vec<Part>) -> Result<()> {
        if Part::values(&parts) > MOST_VALUES {
            return Err(self.error(at, format!("the message of a panic has at most {MOST_VALUES} values")));
        }
        self.each_case(at, parts, &mut |lowering, parts| {
            let (mut text, mut values) = (String::new(), Vec::new());
            for part in parts {
                match part {
                    Part::Value(value, scalar, conversion) => {
                        text.push_str(&format!("{{{}:{scalar}:{}}}", values.len(), spec(*conversion)));
                        let bits = lowering.build.bits_of(*value, *scalar);
                        values.push(bits);
                    }
                    Part::Text(plain) => text.push_str(&plain.replace('{', "{{").replace('}', "}}")),
                    Part::Choice(..) => {}
                }
            }
            lowering.panic(at, &text, &values);
            Ok(())
        })?;
        // every case has ended its block
        self.build.end(Terminator::Return(None));
        Ok(())
    }

    /// Lowers `assert!(condition, message)`.
    pub(super) fn assert(&mut self, at: Pos, condition: &'static Expr, message: &'static Message) -> Result<Val> {
        let condition = self.expr(condition, Some(&Ty::Scalar(Scalar::Bool)))?;
        let (good, bad) = self.build.fork(condition.only());
        self.build.select_block(bad);
        self.panic_with(at, message)?;
        self.build.select_block(good);
        Ok(Val::unit())
    }

    /// Lowers `assert_eq!(left, right, message)` and `assert_ne!`. The message shows the operands if the panic record
    /// has room for them.
    pub(super) fn assert_compare(
        &mut self,
        at: Pos,
        op: BinaryOp,
        [left, right]: [&'static Expr; 2],
        message: &'static Message,
    ) -> Result<Val> {
        let known = self.ty_of(left).or_else(|| self.ty_of(right)).map(strip_refs);
        let mut operands = None;
        let holds = match &known {
            Some(ty) if !shows_operands(ty) => self.binary(at, op, left, right, None)?,
            known => {
                let left = self.operand_in_place(left, known.as_ref())?;
                let right = self.operand_in_place(right, Some(&left.ty))?;
                let holds = self.compare_values(at, op, left.clone(), right.clone())?;
                operands = Some([left, right])
                    .filter(|operand_parts| operand_parts.iter().all(|side| shows_operands(&side.ty)));
                holds
            }
        };
        let (good, bad) = self.build.fork(holds.only());
        self.build.select_block(bad);
        let text = if op == BinaryOp::Eq { "left == right" } else { "left != right" };
        let mut parts = vec![Part::Text(format!("assertion `{text}` failed"))];
        if !message.pieces.is_empty() {
            parts.push(Part::Text(": ".to_owned()));
            self.push_message(&mut parts, message)?;
        }
        let mut operand_parts = Vec::new();
        for (name, side) in ["\n  left: ", "\n right: "].into_iter().zip(operands.into_iter().flatten()) {
            operand_parts.push(Part::Text(name.to_owned()));
            operand_parts.extend(self.debug_parts(at, side, SIDE)?);
        }
        if Part::values(&parts) + Part::values(&operand_parts) <= MOST_VALUES {
            parts.extend(operand_parts);
        }
        self.panic_with_parts(at, parts)?;
        self.build.select_block(good);
        Ok(Val::unit())
    }

    /// Appends a message, whose arguments are evaluated in order.
    fn push_message(&mut self, parts: &mut Vec<Part>, message: &'static Message) -> Result<()> {
        let mut values = Vec::with_capacity(message.args.len());
        for arg in message.args {
            let ty = self.ty_of(arg);
            values.push((arg.0, self.operand_in_place(arg, ty.as_ref())?));
        }
        parts.extend(self.format_parts(message.pieces, &values)?);
        Ok(())
    }

    /// The parts of a format string and its arguments.
    pub(super) fn format_parts(&mut self, pieces: &'static [Piece], values: &[(Pos, Val)]) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => parts.push(Part::Text((*text).to_owned())),
                Piece::Value(index, conversion) => {
                    let (at, value) = values[*index as usize].clone();
                    if self.frame().definition.options.library && !has_known_debug(&value.ty) {
                        parts.push(Part::Text(crate::typeinfo::layout::ty_name(&strip_refs(value.ty))));
                        continue;
                    }
                    parts.extend(self.debug_parts(at, value, *conversion)?);
                }
            }
        }
        Ok(parts)
    }
}

impl Builder {
    /// A number's bits as a `u64`.
    fn bits_of(&mut self, value: Value, scalar: Scalar) -> Value {
        let unsigned = if scalar.is_float() { scalar.unsigned() } else { scalar };
        let bits = match scalar.is_float() {
            true => self.value(Op::Bitcast(value, unsigned), unsigned),
            false => value,
        };
        self.cast_value(bits, unsigned, Scalar::U64)
    }
}

/// Returns true if a failed comparison shows its operands of this type.
fn shows_operands(ty: &Ty) -> bool {
    let whole = matches!(ty, Ty::Scalar(_) | Ty::Tuple(_) | Ty::Array(..) | Ty::Enum(..));
    (whole || is_compared_by_parts(ty, By::Equality)) && ty.is_printable()
}

/// Returns true if the type's `Debug` output is known; that of structs and of enums with fields may be hand-written.
fn has_known_debug(ty: &Ty) -> bool {
    match ty {
        Ty::Ref(_, Memory::Text(_)) | Ty::Unit | Ty::Scalar(_) | Ty::Enum(..) => true,
        Ty::Tuple(types) => types.iter().all(has_known_debug),
        Ty::Sum(of) => !ty.lists_operators() && of.fields().all(has_known_debug),
        Ty::Ref(inner, _) | Ty::Array(inner, _) => has_known_debug(inner),
        _ => false,
    }
}

/// A conversion in Rust's format syntax.
fn spec(conversion: Conversion) -> String {
    let Conversion { form, plus, prefix, left, zeros, width, precision } = conversion;
    let plus = if plus { "+" } else { "" };
    let align = left.map_or("", |left| if left { "<" } else { ">" });
    let (prefix, zeros) = (if prefix { "#" } else { "" }, if zeros { "0" } else { "" });
    let width = if width == 0 { String::new() } else { width.to_string() };
    let precision = precision.map_or_else(String::new, |precision| format!(".{precision}"));
    let form = match form {
        Form::Plain => "",
        Form::Debug => "?",
        Form::LowerHex => "x",
        Form::UpperHex => "X",
        Form::Octal => "o",
        Form::Binary => "b",
        Form::LowerExp => "e",
        Form::UpperExp => "E",
    };
    [align, plus, prefix, zeros, &width, &precision, form].concat()
}
