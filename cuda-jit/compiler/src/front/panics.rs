//! The macros that panic: a test, and behind it, where it fails, what the panic says. The values that it says are
//! evaluated there only.

use super::builder::Builder;
use super::compare::{By, is_compared_by_parts};
use super::format_args::Part;
use super::function::{Lowering, Result};
use super::types::{Val, behind};
use crate::kir::{Op, Scalar, Terminator, Value};
use crate::syntax::{BinaryOp, Conversion, Expr, Form, Message, Piece, Pos};
use crate::typeinfo::{Memory, Ty};

/// As many values a panic's record takes along.
const MOST_VALUES: usize = 8;

/// How a panic shows the sides of a comparison.
const SIDE: Conversion =
    Conversion { form: Form::Debug, plus: false, prefix: false, left: None, zeros: false, width: 0, precision: None };

impl Lowering<'_> {
    /// `panic!(message)`
    pub(super) fn panic_with(&mut self, at: Pos, message: &'static Message) -> Result<()> {
        let mut said = Vec::new();
        self.say(&mut said, message)?;
        self.panic_saying(at, said)
    }

    /// A panic that says so, of which each choice makes one.
    fn panic_saying(&mut self, at: Pos, said: Vec<Part>) -> Result<()> {
        if Part::values(&said) > MOST_VALUES {
            return Err(self.error(at, format!("a panic takes along at most {MOST_VALUES} values")));
        }
        self.each_case(at, said, &mut |walk, said| {
            let (mut text, mut values) = (String::new(), Vec::new());
            for part in said {
                match part {
                    Part::Value(value, scalar, conversion) => {
                        text.push_str(&format!("{{{}:{scalar}:{}}}", values.len(), spec(*conversion)));
                        let bits = walk.build.bits_of(*value, *scalar);
                        values.push(bits);
                    }
                    Part::Text(plain) => text.push_str(&plain.replace('{', "{{").replace('}', "}}")),
                    Part::Choice(..) => {}
                }
            }
            walk.panic(at, &text, &values);
            Ok(())
        })?;
        // no case goes on
        self.build.end(Terminator::Return(None));
        Ok(())
    }

    /// `assert!(condition, message)`
    pub(super) fn assert(&mut self, at: Pos, condition: &'static Expr, message: &'static Message) -> Result<Val> {
        let condition = self.expr(condition, Some(&Ty::Scalar(Scalar::Bool)))?;
        let (good, bad) = self.build.fork(condition.only());
        self.build.select_block(bad);
        self.panic_with(at, message)?;
        self.build.select_block(good);
        Ok(Val::unit())
    }

    /// `assert_eq!(left, right, message)` and `assert_ne!`. It says the values where a panic's record has room for them.
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
            Some(ty) if !is_told(ty) => self.binary(at, op, left, right, None)?,
            known => {
                let left = self.operand_in_place(left, known.as_ref())?;
                let right = self.operand_in_place(right, Some(&left.ty))?;
                let holds = self.compare_values(at, op, left.clone(), right.clone())?;
                operands = Some([left, right]).filter(|sides| sides.iter().all(|side| is_told(&side.ty)));
                holds
            }
        };
        let (good, bad) = self.build.fork(holds.only());
        self.build.select_block(bad);
        let text = if op == BinaryOp::Eq { "left == right" } else { "left != right" };
        let mut said = vec![Part::Text(format!("assertion `{text}` failed"))];
        if !message.pieces.is_empty() {
            said.push(Part::Text(": ".to_owned()));
            self.say(&mut said, message)?;
        }
        let mut sides = Vec::new();
        for (name, side) in ["\n  left: ", "\n right: "].into_iter().zip(operands.into_iter().flatten()) {
            sides.push(Part::Text(name.to_owned()));
            sides.extend(self.parts_shown(at, side, SIDE)?);
        }
        if Part::values(&said) + Part::values(&sides) <= MOST_VALUES {
            said.extend(sides);
        }
        self.panic_saying(at, said)?;
        self.build.select_block(good);
        Ok(Val::unit())
    }

    /// Adds a message, whose values are evaluated in order.
    fn say(&mut self, said: &mut Vec<Part>, message: &'static Message) -> Result<()> {
        let mut values = Vec::with_capacity(message.args.len());
        for arg in message.args {
            let ty = self.ty_of(arg);
            values.push((arg.0, self.operand_in_place(arg, ty.as_ref())?));
        }
        said.extend(self.pieces_shown(message.pieces, &values)?);
        Ok(())
    }

    /// The parts of a text and of the values in it.
    pub(super) fn pieces_shown(&mut self, pieces: &'static [Piece], values: &[(Pos, Val)]) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => parts.push(Part::Text((*text).to_owned())),
                Piece::Value(index, conversion) => {
                    let (at, value) = values[*index as usize].clone();
                    if self.frame().definition.options.library && !has_known_debug(&value.ty) {
                        parts.push(Part::Text(crate::typeinfo::layout::ty_name(&behind(value.ty))));
                        continue;
                    }
                    parts.extend(self.parts_shown(at, value, *conversion)?);
                }
            }
        }
        Ok(parts)
    }
}

impl Builder {
    /// A number's bits in 64.
    fn bits_of(&mut self, value: Value, scalar: Scalar) -> Value {
        let unsigned = if scalar.is_float() { scalar.unsigned() } else { scalar };
        let bits = match scalar.is_float() {
            true => self.value(Op::Bitcast(value, unsigned), unsigned),
            false => value,
        };
        self.cast_value(bits, unsigned, Scalar::U64)
    }
}

/// Whether a panic shows the sides of a comparison of such a type.
fn is_told(ty: &Ty) -> bool {
    let whole = matches!(ty, Ty::Scalar(_) | Ty::Tuple(_) | Ty::Array(..) | Ty::Enum(..));
    (whole || is_compared_by_parts(ty, By::Equality)) && ty.is_printable()
}

/// Returns true if what `Debug` writes of a type's values is known: of structs, and of enums with fields, it may be anything.
fn has_known_debug(ty: &Ty) -> bool {
    match ty {
        Ty::Ref(_, Memory::Text(_)) | Ty::Unit | Ty::Scalar(_) | Ty::Enum(..) => true,
        Ty::Tuple(types) => types.iter().all(has_known_debug),
        Ty::Sum(of) => !ty.lists_operators() && of.fields().all(has_known_debug),
        Ty::Ref(inner, _) | Ty::Array(inner, _) => has_known_debug(inner),
        _ => false,
    }
}

/// A conversion in Rust's words.
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
