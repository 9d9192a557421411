//! Constant expressions, which are evaluated during parsing.
//!
//! A value is a signed or unsigned 64-bit integer or a floating-point number; the two do not mix. Signedness follows
//! ptxas: an operation with an unsigned operand is unsigned, and so are `~` and `%`. Shifts, whose amounts count modulo
//! 64, and selections keep the signedness of the value.

use super::{MAX_DEPTH, Parser};
use crate::ptx::ast::Operand;
use crate::ptx::lexer::Token;
use crate::ptx::{Error, Position, Result};

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Constant {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    /// `0f3F800000`, which is not allowed in expressions.
    Bits(u32),
}

impl Constant {
    fn operand(self) -> Operand {
        match self {
            Constant::Signed(value) => Operand::Int(value.into()),
            Constant::Unsigned(value) => Operand::Int(value.into()),
            Constant::Float(value) => Operand::F64(value.to_bits()),
            Constant::Bits(bits) => Operand::F32(bits),
        }
    }

    /// Returns the bits of an integer.
    fn bits(self) -> Option<u64> {
        match self {
            Constant::Signed(value) => Some(value as u64),
            Constant::Unsigned(value) => Some(value),
            Constant::Float(_) | Constant::Bits(_) => None,
        }
    }

    /// Returns an integer with the signedness of this one.
    fn with_bits(self, bits: u64) -> Constant {
        if matches!(self, Constant::Unsigned(_)) { Constant::Unsigned(bits) } else { Constant::Signed(bits as i64) }
    }
}

/// Returns the precedence of a binary operator; `None` for other tokens.
fn binding(token: Token<'_>) -> Option<(&str, u32)> {
    let name = match token {
        Token::Operator(name) => name,
        Token::Ident("%") => "%",
        Token::Punct(b'|') => "|",
        Token::Punct(b'^') => "^",
        Token::Punct(b'&') => "&",
        Token::Punct(b'<') => "<",
        Token::Punct(b'>') => ">",
        Token::Punct(b'+') => "+",
        Token::Punct(b'-') => "-",
        Token::Punct(b'*') => "*",
        Token::Punct(b'/') => "/",
        _ => return None,
    };
    let strength = match name {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        _ => 10,
    };
    Some((name, strength))
}

/// Applies an operator to integers; `None` for a division by zero.
fn integers(operator: &str, left: Constant, right: Constant, a: u64, b: u64) -> Option<Constant> {
    let is_unsigned = [left, right].iter().any(|side| matches!(side, Constant::Unsigned(_)));
    let (x, y) = (a as i64, b as i64);
    let number = |bits: u64| if is_unsigned { Constant::Unsigned(bits) } else { Constant::Signed(bits as i64) };
    let truth = |holds: bool| Constant::Signed(holds.into());
    let less = |a: u64, b: u64| if is_unsigned { a < b } else { (a as i64) < b as i64 };
    Some(match operator {
        "*" => number(a.wrapping_mul(b)),
        "/" | "%" if b == 0 => return None,
        "/" if is_unsigned => number(a / b),
        "/" => number(x.wrapping_div(y) as u64),
        "%" => Constant::Unsigned(a % b),
        "+" => number(a.wrapping_add(b)),
        "-" => number(a.wrapping_sub(b)),
        "<<" => left.with_bits(a.wrapping_shl(b as u32)),
        ">>" if matches!(left, Constant::Unsigned(_)) => number(a.wrapping_shr(b as u32)),
        ">>" => Constant::Signed(x.wrapping_shr(b as u32)),
        "<" => truth(less(a, b)),
        ">" => truth(less(b, a)),
        "<=" => truth(!less(b, a)),
        ">=" => truth(!less(a, b)),
        "==" => truth(a == b),
        "!=" => truth(a != b),
        "&" => number(a & b),
        "^" => number(a ^ b),
        "|" => number(a | b),
        "&&" => truth(a != 0 && b != 0),
        _ => truth(a != 0 || b != 0),
    })
}

/// Applies an operator to floating-point numbers; `None` if it is not defined for them.
fn floats(operator: &str, a: f64, b: f64) -> Option<Constant> {
    Some(match operator {
        "*" => Constant::Float(a * b),
        "/" => Constant::Float(a / b),
        "+" => Constant::Float(a + b),
        "-" => Constant::Float(a - b),
        "<" => Constant::Signed((a < b).into()),
        ">" => Constant::Signed((a > b).into()),
        "<=" => Constant::Signed((a <= b).into()),
        ">=" => Constant::Signed((a >= b).into()),
        "==" => Constant::Signed((a == b).into()),
        "!=" => Constant::Signed((a != b).into()),
        _ => return None,
    })
}

fn binary(operator: &str, left: Constant, right: Constant, position: Position) -> Result<Constant> {
    let zero = Error::new(position, "a constant expression divides by zero");
    let result = match (left, right, left.bits().zip(right.bits())) {
        (_, _, Some((a, b))) => return integers(operator, left, right, a, b).ok_or(zero),
        (Constant::Float(_), Constant::Float(b), _) if operator == "/" && b == 0.0 => return Err(zero),
        (Constant::Float(a), Constant::Float(b), _) => floats(operator, a, b),
        _ => None,
    };
    result.ok_or_else(|| {
        let (left, right) = (left.operand(), right.operand());
        Error::new(position, format!("'{operator}' does not take '{left}' and '{right}'"))
    })
}

impl Parser<'_> {
    /// Returns true if the next token begins a constant.
    pub(super) fn is_constant(&self) -> bool {
        match self.token {
            Token::Int(_) | Token::F32(_) | Token::F64(_) | Token::Ident("WARP_SZ") => true,
            Token::Punct(byte) => matches!(byte, b'-' | b'+' | b'~' | b'!' | b'('),
            _ => false,
        }
    }

    /// Parses a constant expression.
    pub(super) fn constant(&mut self) -> Result<Operand> {
        self.choice(0).map(Constant::operand)
    }

    /// Parses a constant expression whose first operator was read.
    pub(super) fn constant_behind(&mut self, operator: u8, position: Position) -> Result<Operand> {
        let value = self.unary(1)?;
        let value = unary_of(operator, value, position)?;
        let value = self.operators(value, 1, 0)?;
        self.choice_of(value, 0).map(Constant::operand)
    }

    /// Parses `a ? b : c`, or an expression that binds more tightly.
    fn choice(&mut self, depth: u32) -> Result<Constant> {
        let left = self.unary(depth)?;
        let value = self.operators(left, 1, depth)?;
        self.choice_of(value, depth)
    }

    fn choice_of(&mut self, condition: Constant, depth: u32) -> Result<Constant> {
        let position = self.position;
        if !self.eat(b'?')? {
            return Ok(condition);
        }
        let first = self.choice(depth + 1)?;
        self.expect(b':')?;
        let second = self.choice(depth + 1)?;
        match (condition.bits(), first.bits(), second.bits()) {
            (Some(holds), Some(_), Some(_)) => Ok(if holds != 0 { first } else { second }),
            _ => Err(Error::new(position, "the operands of '?' must be integers")),
        }
    }

    /// Parses the operators after a value whose precedence is at least `least`.
    fn operators(&mut self, mut left: Constant, least: u32, depth: u32) -> Result<Constant> {
        while let Some((operator, strength)) = binding(self.token).filter(|(_, strength)| *strength >= least) {
            let position = self.position;
            self.advance()?;
            let mut right = self.unary(depth)?;
            right = self.operators(right, strength + 1, depth)?;
            left = binary(operator, left, right, position)?;
        }
        Ok(left)
    }

    fn unary(&mut self, depth: u32) -> Result<Constant> {
        let position = self.position;
        if depth > MAX_DEPTH {
            return Err(Error::new(position, "this constant expression is nested too deeply"));
        }
        let value = match self.token {
            Token::Int(value) if self.lexer.is_unsigned() => Constant::Unsigned(value),
            Token::Int(value) => i64::try_from(value).map_or(Constant::Unsigned(value), Constant::Signed),
            Token::F32(bits) => Constant::Bits(bits),
            Token::F64(bits) => Constant::Float(f64::from_bits(bits)),
            Token::Ident("WARP_SZ") => Constant::Signed(32),
            Token::Punct(b'(') => return self.parenthesis(depth),
            Token::Punct(operator @ (b'-' | b'+' | b'~' | b'!')) => {
                self.advance()?;
                let value = self.unary(depth + 1)?;
                return unary_of(operator, value, position);
            }
            _ => return self.expected("a constant"),
        };
        self.advance()?;
        Ok(value)
    }

    /// Parses `(expression)`, or a cast: `(.u64) value`.
    fn parenthesis(&mut self, depth: u32) -> Result<Constant> {
        let position = self.position;
        self.expect(b'(')?;
        let Token::Dot(ty) = self.token else {
            let value = self.choice(depth + 1)?;
            self.expect(b')')?;
            return Ok(value);
        };
        self.advance()?;
        self.expect(b')')?;
        let value = self.unary(depth + 1)?;
        match (ty, value.bits()) {
            ("u64", Some(bits)) => Ok(Constant::Unsigned(bits)),
            ("s64", Some(bits)) => Ok(Constant::Signed(bits as i64)),
            _ => Err(Error::new(position, format!("'(.{ty})' is not a cast: the casts are (.u64) and (.s64)"))),
        }
    }
}

fn unary_of(operator: u8, value: Constant, position: Position) -> Result<Constant> {
    Ok(match (operator, value, value.bits()) {
        (b'+', ..) => value,
        (b'-', _, Some(bits)) => value.with_bits(bits.wrapping_neg()),
        (b'-', Constant::Float(number), _) => Constant::Float(-number),
        (b'-', Constant::Bits(bits), _) => Constant::Bits(bits ^ 1 << 31),
        (b'~', _, Some(bits)) => Constant::Unsigned(!bits),
        (b'!', _, Some(bits)) => Constant::Signed((bits == 0).into()),
        _ => {
            let message = format!("'{}' takes an integer, '{}' found", char::from(operator), value.operand());
            return Err(Error::new(position, message));
        }
    })
}
