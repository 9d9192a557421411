//! The lexer.
//!
//! It works on bytes. Text that is not ASCII outside of comments and strings is an error with a position. Invariant:
//! each call consumes at least one byte or returns `End`, so lexing always terminates.

use std::borrow::Cow;

use super::ast::Position;
use super::{Error, Result};

/// A token. Names borrow the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// A name such as `%r1`, `$L__BB0_1`, `add`.
    Ident(&'a str),
    /// `.name` without the dot, including `::`.
    Dot(&'a str),
    /// An integer.
    Int(u64),
    F32(u32),
    F64(u64),
    Str(&'a str),
    Punct(u8),
    /// A two-character operator, such as `<<`.
    Operator(&'a str),
    End,
}

pub(crate) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
    line_start: usize,
    /// True if the last integer ends in `U`.
    is_unsigned: bool,
}

/// The two-character operators.
const OPERATORS: [&[u8]; 8] = [b"<<", b">>", b"<=", b">=", b"==", b"!=", b"&&", b"||"];

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%')
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Lexer { text: text.as_bytes(), at: 0, line: 1, line_start: 0, is_unsigned: false }
    }

    /// Returns the number of bytes consumed.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Returns true if the last integer that was read ends in `U`.
    pub(crate) fn is_unsigned(&self) -> bool {
        self.is_unsigned
    }

    /// Returns the text from an offset up to the current position.
    pub(crate) fn text_from(&self, offset: usize) -> Cow<'a, str> {
        String::from_utf8_lossy(&self.text[offset..self.at])
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn position(&self) -> Position {
        Position { line: self.line, column: (self.at - self.line_start) as u32 + 1 }
    }

    fn bump(&mut self) {
        if self.peek(0) == b'\n' {
            self.line += 1;
            self.line_start = self.at + 1;
        }
        self.at += 1;
    }

    fn skip_blank(&mut self) -> Result<()> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b' ' | b'\t' | b'\r' | b'\n' | 0x0c | 0x0b, _) => self.bump(),
                // A trailing NUL ends the text: drivers get C strings.
                (0, _) if self.at + 1 == self.text.len() => self.at += 1,
                (b'/', b'/') => {
                    while self.at < self.text.len() && self.peek(0) != b'\n' {
                        self.at += 1;
                    }
                }
                (b'/', b'*') => {
                    let start = self.position();
                    self.at += 2;
                    while !(self.peek(0) == b'*' && self.peek(1) == b'/') {
                        if self.at >= self.text.len() {
                            return Err(Error::new(start, "this comment is not closed"));
                        }
                        self.bump();
                    }
                    self.at += 2;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Returns the text between two offsets. Token boundaries are ASCII, so the slice is always valid.
    fn slice(&self, start: usize, end: usize) -> &'a str {
        std::str::from_utf8(&self.text[start..end]).unwrap_or("")
    }

    pub(crate) fn next(&mut self) -> Result<(Token<'a>, Position)> {
        self.skip_blank()?;
        let position = self.position();
        if self.at >= self.text.len() {
            return Ok((Token::End, position));
        }
        let first = self.peek(0);
        let start = self.at;
        let token = match first {
            b'0'..=b'9' => self.number(position)?,
            b'.' if self.is_fraction() => self.number(position)?,
            b'.' if is_name(self.peek(1)) => {
                self.at += 1;
                while is_name(self.peek(0)) || (self.peek(0) == b':' && self.peek(1) == b':') {
                    self.at += if self.peek(0) == b':' { 2 } else { 1 };
                }
                Token::Dot(self.slice(start + 1, self.at))
            }
            b'"' => {
                self.at += 1;
                while self.peek(0) != b'"' {
                    if self.at >= self.text.len() || self.peek(0) == b'\n' {
                        return Err(Error::new(position, "this string is not closed"));
                    }
                    self.at += if self.peek(0) == b'\\' { 2 } else { 1 };
                }
                self.at += 1;
                let end = self.at.min(self.text.len()) - 1;
                Token::Str(std::str::from_utf8(&self.text[start + 1..end]).unwrap_or(""))
            }
            _ if is_name(first) => {
                while is_name(self.peek(0)) {
                    self.at += 1;
                }
                Token::Ident(self.slice(start, self.at))
            }
            _ if OPERATORS.contains(&[first, self.peek(1)].as_slice()) => {
                self.at += 2;
                Token::Operator(self.slice(start, self.at))
            }
            b'{' | b'}' | b'[' | b']' | b'(' | b')' | b',' | b';' | b':' | b'+' | b'-' | b'!' | b'@' | b'|' | b'<'
            | b'>' | b'=' | b'~' | b'*' | b'/' | b'.' | b'?' | b'&' | b'^' => {
                self.at += 1;
                Token::Punct(first)
            }
            _ => {
                let shown = char::from(first).escape_default().to_string();
                return Err(Error::new(position, format!("the character '{shown}' does not belong in PTX")));
            }
        };
        Ok((token, position))
    }

    /// Returns true if a number without digits before its point begins here: `.5`, but not `.1d`.
    fn is_fraction(&self) -> bool {
        let digits = (1..).take_while(|at| self.peek(*at).is_ascii_digit()).count();
        digits > 0 && !is_name(self.peek(1 + digits))
    }

    fn digits(&mut self, radix: u32, skip: usize, position: Position) -> Result<u64> {
        self.at += skip;
        let start = self.at;
        while char::from(self.peek(0)).is_digit(radix) {
            self.at += 1;
        }
        let text = self.slice(start, self.at);
        let value = u64::from_str_radix(text, radix)
            .map_err(|_| Error::new(position, format!("the number '{text}' does not fit 64 bits")))?;
        self.is_unsigned = self.peek(0) == b'U';
        if self.is_unsigned {
            self.at += 1;
        }
        if is_name(self.peek(0)) {
            return Err(Error::new(position, "a number runs into a name"));
        }
        Ok(value)
    }

    fn number(&mut self, position: Position) -> Result<Token<'a>> {
        if self.peek(0) == b'0' {
            match self.peek(1) {
                b'f' | b'F' => return Ok(Token::F32(self.exact_hex(8, position)? as u32)),
                b'd' | b'D' => return Ok(Token::F64(self.exact_hex(16, position)?)),
                b'x' | b'X' => return Ok(Token::Int(self.digits(16, 2, position)?)),
                b'b' | b'B' => return Ok(Token::Int(self.digits(2, 2, position)?)),
                b'0'..=b'7' => return Ok(Token::Int(self.digits(8, 1, position)?)),
                _ => {}
            }
        }
        let mut end = self.at;
        let byte = |at: usize| self.text.get(at).copied().unwrap_or(0);
        while byte(end).is_ascii_digit() {
            end += 1;
        }
        let exponent = matches!(byte(end), b'e' | b'E');
        let power = matches!(byte(end + 1), b'e' | b'E') && matches!(byte(end + 2), b'0'..=b'9' | b'+' | b'-');
        let fraction = power || byte(end + 1).is_ascii_digit() || !is_name(byte(end + 1));
        if !(exponent || byte(end) == b'.' && fraction) {
            return Ok(Token::Int(self.digits(10, 0, position)?));
        }
        while byte(end).is_ascii_digit()
            || matches!(byte(end), b'.' | b'e' | b'E')
            || (matches!(byte(end), b'+' | b'-') && matches!(byte(end - 1), b'e' | b'E'))
        {
            end += 1;
        }
        let text = self.slice(self.at, end);
        self.at = end;
        let value: f64 = text.parse().map_err(|_| Error::new(position, format!("'{text}' is not a number")))?;
        Ok(Token::F64(value.to_bits()))
    }

    fn exact_hex(&mut self, count: usize, position: Position) -> Result<u64> {
        let start = self.at + 2;
        let value = self.digits(16, 2, position)?;
        if self.at - start != count {
            return Err(Error::new(position, format!("a floating-point constant needs {count} hexadecimal digits")));
        }
        Ok(value)
    }

    /// Returns the text between two positions of a line, for messages.
    pub(crate) fn between(&self, from: Position, to: Position) -> &'a str {
        let line = std::str::from_utf8(self.text).unwrap_or("").lines().nth(from.line as usize - 1).unwrap_or("");
        let start = from.column as usize - 1;
        let end = if to.line == from.line { to.column as usize - 1 } else { line.len() };
        line.get(start..end).unwrap_or("")
    }

    /// Skips to the end of the line and returns the skipped text, for `.loc` and `.file`.
    pub(crate) fn rest_of_line(&mut self) -> &'a str {
        let start = self.at;
        while self.at < self.text.len() && self.peek(0) != b'\n' {
            self.at += 1;
        }
        std::str::from_utf8(&self.text[start..self.at]).unwrap_or("")
    }
}
