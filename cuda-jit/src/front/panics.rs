//! The macros that panic: a test, and behind it, where it fails, what the panic says. The values that it says are
//! evaluated there only.

use super::function::{Lowering, Result};
use super::types::{Val, behind};
use crate::harvest::Ty;
use crate::kir::{Op, Scalar, Value};
use crate::syntax::{BinaryOp, Conversion, Expr, Form, Message, Piece, Pos};

/// What a panic says, as a site's message, and the values that are in it.
#[derive(Default)]
struct Said {
    text: String,
    values: Vec<Value>,
}

impl Lowering<'_> {
    /// `panic!(message)`
    pub(super) fn panic_with(&mut self, at: Pos, message: &'static Message) -> Result<()> {
        let mut said = Said::default();
        self.say(&mut said, message)?;
        self.panic(at, &said.text, &said.values);
        Ok(())
    }

    /// `assert!(condition, message)`
    pub(super) fn assert(&mut self, at: Pos, condition: &'static Expr, message: &'static Message) -> Result<Val> {
        let condition = self.expr(condition, Some(&Ty::Scalar(Scalar::Bool)))?;
        let (good, bad) = self.fork(condition.only());
        self.build.select_block(bad);
        self.panic_with(at, message)?;
        self.build.select_block(good);
        Ok(Val::unit())
    }

    /// `assert_eq!(left, right, message)` and `assert_ne!`. It says the values where they are numbers.
    pub(super) fn assert_compare(
        &mut self,
        at: Pos,
        op: BinaryOp,
        [left, right]: [&'static Expr; 2],
        message: &'static Message,
    ) -> Result<Val> {
        let known = self.ty_of(left).or_else(|| self.ty_of(right)).map(behind);
        let mut operands = None;
        let holds = match &known {
            Some(Ty::Scalar(_)) | None => {
                let left = self.operand(left, known.as_ref())?;
                let right = self.operand(right, Some(&left.ty))?;
                let holds = self.compare_values(at, op, left.clone(), right.clone())?;
                operands = left.ty.as_scalar().map(|scalar| (scalar, left.only(), right.only()));
                holds
            }
            _ => self.binary(at, op, left, right, None)?,
        };
        let (good, bad) = self.fork(holds.only());
        self.build.select_block(bad);
        let text = if op == BinaryOp::Eq { "left == right" } else { "left != right" };
        let mut said = Said { text: format!("assertion `{text}` failed"), values: Vec::new() };
        if !message.pieces.is_empty() {
            said.text.push_str(": ");
            self.say(&mut said, message)?;
        }
        if let Some((scalar, left, right)) = operands {
            for (name, value) in [("\n  left: ", left), ("\n right: ", right)] {
                said.text.push_str(name);
                let hole = format!("{{{}:{scalar}:?}}", said.values.len());
                said.text.push_str(&hole);
                let bits = self.bits_of(value, scalar);
                said.values.push(bits);
            }
        }
        self.panic(at, &said.text, &said.values);
        self.build.select_block(good);
        Ok(Val::unit())
    }

    /// Adds a message, whose values are evaluated in order.
    fn say(&mut self, said: &mut Said, message: &'static Message) -> Result<()> {
        let first = said.values.len();
        let mut types = Vec::with_capacity(message.args.len());
        for arg in message.args {
            let value = self.operand(arg, None)?;
            let scalar = self.number(arg.0, &value)?;
            types.push(scalar);
            let bits = self.bits_of(value.only(), scalar);
            said.values.push(bits);
        }
        for piece in message.pieces {
            match piece {
                Piece::Text(text) => said.text.push_str(&text.replace('{', "{{").replace('}', "}}")),
                Piece::Value(index, conversion) => {
                    let (number, scalar) = (first + *index as usize, types[*index as usize]);
                    said.text.push_str(&format!("{{{number}:{scalar}:{}}}", spec(*conversion)));
                }
            }
        }
        Ok(())
    }

    /// A number's bits in 64.
    fn bits_of(&mut self, value: Value, scalar: Scalar) -> Value {
        let unsigned = if scalar.is_float() { scalar.unsigned() } else { scalar };
        let bits = match scalar.is_float() {
            true => self.build.value(Op::Bitcast(value, unsigned), unsigned),
            false => value,
        };
        self.cast_value(bits, unsigned, Scalar::U64)
    }
}

/// A conversion in Rust's words.
fn spec(conversion: Conversion) -> String {
    let Conversion { form, prefix, left, zeros, width, precision } = conversion;
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
        Form::LowerExp => "e",
        Form::UpperExp => "E",
    };
    [align, prefix, zeros, &width, &precision, form].concat()
}
